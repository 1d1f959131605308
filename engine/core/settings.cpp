// Reads settings from the environment and keeps their current values.
#include "core/settings.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "core/edit_distance.h"
#include "core/error.h"
#include "core/threads/fork.h"

namespace unisono {

namespace {

bool is_whole(std::string_view text, long long& value) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

bool accepts(std::string_view accepted, std::string_view text) {
    if (accepted.empty()) return true;
    if (accepted == "number") {
        double value = -1;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) &&
               value >= 0;
    }
    if (std::size_t dots = accepted.find(".."); dots != accepted.npos) {
        long long value = 0, low = 0, high = std::numeric_limits<long long>::max();
        is_whole(accepted.substr(0, dots), low);
        is_whole(accepted.substr(dots + 2), high);
        return is_whole(text, value) && value >= low && value <= high;
    }
    for (std::size_t begin = 0; begin <= accepted.size();) {
        std::size_t end = std::min(accepted.find('|', begin), accepted.size());
        if (accepted.substr(begin, end - begin) == text) return true;
        begin = end + 1;
    }
    return false;
}

/// The accepted values in words.
std::string expectation(std::string_view accepted) {
    if (accepted == "number") return "a number of at least 0";
    if (std::size_t dots = accepted.find(".."); dots != accepted.npos) {
        const std::string low(accepted.substr(0, dots)), high(accepted.substr(dots + 2));
        return "a whole number " +
               (high.empty() ? "of at least " + low : "from " + low + " to " + high);
    }
    std::string words;
    for (std::size_t begin = 0; begin <= accepted.size();) {
        std::size_t end = std::min(accepted.find('|', begin), accepted.size());
        if (begin > 0) words += end == accepted.size() ? " or " : ", ";
        words += accepted.substr(begin, end - begin);
        begin = end + 1;
    }
    return words;
}

/// An empty value stands for the default, as an unset variable does.
void check(const SettingInfo& s, const std::string& text) {
    if (text.empty() || accepts(s.accepted, text)) return;
    fail(ErrorKind::Value, std::string(s.variable) + ": the value is not accepted; got '" + text +
                               "'; expected " + expectation(s.accepted) +
                               "; correct the environment variable or unset it");
}

/// Other threads may read a setting while it is changed: its text stays where it is for good.
const std::string* immortal(std::string text) {
    static ProcessMutex& mutex = *new ProcessMutex;
    static auto& all = *new std::set<std::string>;  // few: settings take few values
    std::lock_guard lock(mutex);
    return &*all.insert(std::move(text)).first;
}

using Value = std::atomic<const std::string*>;

std::map<std::string_view, Value>& values() {
    static auto* table = [] {
        auto t = std::make_unique<std::map<std::string_view, Value>>();
        for (const SettingInfo& s : setting_infos) {
            const char* given = std::getenv(std::string(s.variable).c_str());
            const std::string text = given ? given : "";
            check(s, text);
            (*t)[s.name] = immortal(text.empty() ? std::string(s.fallback) : text);
        }
        return t.release();
    }();
    return *table;
}

}  // namespace

void check_settings() { values(); }

std::vector<std::string> misspelt_settings() {
    std::vector<std::string> found;
    for (char** entry = environ; *entry; ++entry) {
        std::string_view name = *entry;
        name = name.substr(0, name.find('='));
        if (!name.starts_with("UNISONO_")) continue;
        constexpr std::size_t limit = 4;  // edits: others may have variables of their own
        const std::string_view near = nearest_name(name, setting_infos, limit,
                                                   [](const SettingInfo& s) { return s.variable; });
        if (near.empty() || near == name) continue;
        found.push_back("the environment variable " + std::string(name) +
                        " is not a setting; did you mean " + std::string(near) + "?");
    }
    return found;
}

static std::atomic<int> cached_debug_level = -1;
static std::atomic<int> generation = 0;

static Value& value_of(std::string_view name) {
    auto found = values().find(name);
    if (found == values().end())
        fail(ErrorKind::Internal, "settings: unknown setting " + std::string(name));
    return found->second;
}

const std::string& setting(std::string_view name) {
    return *value_of(name).load(std::memory_order_acquire);
}

void set_setting(std::string_view name, std::string value) {
    Value& kept = value_of(name);
    for (const SettingInfo& s : setting_infos) {
        if (s.name == name) check(s, value);
    }
    kept.store(immortal(std::move(value)), std::memory_order_release);
    cached_debug_level.store(-1, std::memory_order_relaxed);
    generation.fetch_add(1, std::memory_order_release);
}

int settings_generation() { return generation.load(std::memory_order_acquire); }

int debug_level() {
    int level = cached_debug_level.load(std::memory_order_relaxed);
    if (level >= 0) return level;
    level = std::atoi(setting("debug").c_str());
    cached_debug_level.store(level, std::memory_order_relaxed);
    return level;
}

void debug_log(const std::string& text) { std::fprintf(stderr, "unisono: %s\n", text.c_str()); }

}  // namespace unisono
