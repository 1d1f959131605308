// Settings read from the environment once, by the one table settings.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unisono {

struct SettingInfo {
    std::string_view name, variable, fallback, accepted, meaning;
};
inline constexpr SettingInfo setting_infos[] = {
#define UNISONO_SETTING(name, variable, fallback, accepted, meaning) \
    {#name, variable, fallback, accepted, meaning},
#include "core/settings.def"
};

/// Throws a Value error for the first environment variable whose value the table does not accept.
void check_settings();
/// Messages about environment variables that resemble settings but are unknown, one each.
std::vector<std::string> misspelt_settings();
/// Current text of a setting (environment, else default, else what set_setting gave). Throws as
/// check_settings does.
const std::string& setting(std::string_view name);
void set_setting(std::string_view name, std::string value);
/// Grows with each set_setting: hot paths keep what they derived from a setting until it changes.
int settings_generation();
/// The DEBUG ladder's level, cheap enough for hot paths.
int debug_level();
/// Writes a line of the debug log to standard error.
void debug_log(const std::string& text);

}  // namespace unisono
