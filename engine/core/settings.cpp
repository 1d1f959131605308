// Reads settings from the environment and keeps their current values.
#include "core/settings.h"

#include <cstdio>
#include <cstdlib>
#include <map>

#include "core/error.h"

namespace unisono {

static std::map<std::string_view, std::string>& values() {
    static auto* table = [] {
        auto* t = new std::map<std::string_view, std::string>;
        for (const SettingInfo& s : setting_infos) {
            const char* given = std::getenv(std::string(s.variable).c_str());
            (*t)[s.name] = given ? given : std::string(s.fallback);
        }
        return t;
    }();
    return *table;
}

static int cached_debug_level = -1;
static int generation = 0;

const std::string& setting(std::string_view name) {
    auto found = values().find(name);
    if (found == values().end())
        fail(ErrorKind::Internal, "settings: no setting is called " + std::string(name));
    return found->second;
}

void set_setting(std::string_view name, std::string value) {
    setting(name);
    values().find(name)->second = std::move(value);
    cached_debug_level = -1;
    ++generation;
}

int settings_generation() { return generation; }

int debug_level() {
    if (cached_debug_level < 0) cached_debug_level = std::atoi(setting("debug").c_str());
    return cached_debug_level;
}

void debug_log(const std::string& text) { std::fprintf(stderr, "unisono: %s\n", text.c_str()); }

}  // namespace unisono
