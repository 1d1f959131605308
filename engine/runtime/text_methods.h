// Methods of str that need no tables of Unicode: of ASCII all, of any text searches and parts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace unisono {

/// One argument of a method: a number, or a text by its handle.
struct TextArgument {
    bool is_number;
    std::int64_t value;
};

/// What a method gives, as a number, a text's or a list's handle; false where Python is to be
/// asked. The first argument is the text itself.
bool text_method(std::string_view name, std::span<const TextArgument> args, std::int64_t& result);

/// int(text) of up to 18 decimal digits, and float(text) of plain decimal numbers; false for
/// anything else.
bool text_integer(std::u32string_view text, std::int64_t& result) noexcept;
bool text_float(std::u32string_view text, double& result) noexcept;

}  // namespace unisono
