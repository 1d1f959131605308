// How it works. A method is a function from its arguments to a word or to nothing, by its name in
// one table; what it does not know (letters beyond ASCII, odd arguments, no memory) the caller asks
// Python for. Parts of a text share its memory.
#include "runtime/text_methods.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <optional>
#include <unordered_map>

#include "runtime/objects.h"
#include "runtime/tables.h"

namespace unisono {

namespace {

using View = std::u32string_view;
using Word = std::optional<std::int64_t>;
using Arguments = std::span<const TextArgument>;

bool is_ascii(View text) {
    char32_t all = 0;
    for (char32_t c : text) all |= c;
    return all < 128;
}
bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_upper(char32_t c) { return c >= U'A' && c <= U'Z'; }
bool is_lower(char32_t c) { return c >= U'a' && c <= U'z'; }
bool is_letter(char32_t c) { return is_upper(c) || is_lower(c); }
bool is_space(char32_t c) { return (c >= 9 && c <= 13) || (c >= 28 && c <= 32); }
char32_t lower(char32_t c) { return is_upper(c) ? c + 32 : c; }
char32_t upper(char32_t c) { return is_lower(c) ? c - 32 : c; }

View text_of(Arguments args, std::size_t k = 0) { return text_at(args[k].value).view(); }

/// Whether argument k is there, as a text.
bool has_text(Arguments args, std::size_t k) { return args.size() > k && !args[k].is_number; }

/// A part of argument 0, which shares its memory; the whole as it is.
Word part(Arguments args, View found) {
    const View whole = text_of(args);
    if (found.size() == whole.size()) return args[0].value;
    Heap* heap = Heap::current();
    void* head = heap ? heap->object(sizeof(Text)) : nullptr;
    if (!head) return {};
    return handle_of(new (head) Text{static_cast<std::int64_t>(found.size()), 0, found.data()});
}

template <class F>
Word mapped(Arguments args, F f) {
    const View text = text_of(args);
    Heap* heap = Heap::current();
    if (args.size() != 1 || !heap || !is_ascii(text)) return {};
    const auto length = static_cast<std::int64_t>(text.size());
    char32_t* data = heap->points(length);
    void* head = data ? heap->object(sizeof(Text)) : nullptr;
    if (!head) return {};
    for (std::size_t k = 0; k < text.size(); ++k) data[k] = f(text[k], k);
    return handle_of(new (head) Text{length, 0, data});
}

template <class F>
Word all_are(Arguments args, F f) {
    const View text = text_of(args);
    if (args.size() != 1 || !is_ascii(text)) return {};
    return !text.empty() && std::all_of(text.begin(), text.end(), f);
}

/// Whether there are letters, and none of the other case.
template <class F>
Word cased(Arguments args, F is_other) {
    const View text = text_of(args);
    if (args.size() != 1 || !is_ascii(text)) return {};
    return std::any_of(text.begin(), text.end(), is_letter) &&
           std::none_of(text.begin(), text.end(), is_other);
}

Word stripped(Arguments args, bool in_front, bool behind) {
    View text = text_of(args);
    if (args.size() > 2 || (args.size() == 2 && args[1].is_number)) return {};
    const bool is_given = args.size() == 2;
    if (!is_given && !is_ascii(text)) return {};
    const View chars = is_given ? text_of(args, 1) : View();
    auto goes = [&](char32_t c) { return is_given ? chars.find(c) != View::npos : is_space(c); };
    while (in_front && !text.empty() && goes(text.front())) text.remove_prefix(1);
    while (behind && !text.empty() && goes(text.back())) text.remove_suffix(1);
    return part(args, text);
}

/// The part that bounds behind argument 1 choose, and where it begins; nothing where it begins
/// behind the end.
struct Range {
    View text;
    std::int64_t begin = 0;
    bool is_inside = true;
};
std::optional<Range> range_of(Arguments args) {
    const View text = text_of(args);
    const auto n = static_cast<std::int64_t>(text.size());
    if (!has_text(args, 1) || args.size() > 4) return {};
    std::array<std::int64_t, 2> bounds{0, n};
    for (std::size_t k = 2; k < args.size(); ++k) {
        if (!args[k].is_number) return {};
        std::int64_t i = args[k].value;
        bounds[k - 2] = i < 0 ? std::max<std::int64_t>(i + n, 0) : i;
    }
    const std::int64_t begin = bounds[0], end = std::min(bounds[1], n);
    if (begin > end) return Range{{}, begin, false};
    return Range{
        text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)), begin,
        true};
}

Word found(Arguments args, bool from_end) {
    auto range = range_of(args);
    if (!range) return {};
    if (!range->is_inside) return -1;
    const View wanted = text_of(args, 1);
    const std::size_t at = from_end ? range->text.rfind(wanted) : range->text.find(wanted);
    return at == View::npos ? -1 : range->begin + static_cast<std::int64_t>(at);
}

Word counted(Arguments args) {
    auto range = range_of(args);
    if (!range) return {};
    const View wanted = text_of(args, 1);
    if (!range->is_inside) return 0;
    if (wanted.empty()) return static_cast<std::int64_t>(range->text.size()) + 1;
    std::int64_t n = 0;
    for (std::size_t at = range->text.find(wanted); at != View::npos;
         at = range->text.find(wanted, at + wanted.size()))
        ++n;
    return n;
}

Word at_end(Arguments args, bool behind) {
    auto range = range_of(args);
    if (!range) return {};
    const View wanted = text_of(args, 1);
    if (!range->is_inside) return 0;
    return behind ? range->text.ends_with(wanted) : range->text.starts_with(wanted);
}

Word removed(Arguments args, bool behind) {
    if (args.size() != 2 || !has_text(args, 1)) return {};
    View text = text_of(args), other = text_of(args, 1);
    if (behind && text.ends_with(other)) text.remove_suffix(other.size());
    if (!behind && text.starts_with(other)) text.remove_prefix(other.size());
    return part(args, text);
}

Word replaced(Arguments args) {
    if (args.size() != 3 || !has_text(args, 1) || !has_text(args, 2)) return {};
    const View text = text_of(args), old = text_of(args, 1), other = text_of(args, 2);
    if (old.empty()) return {};
    std::u32string made;
    std::size_t from = 0;
    for (std::size_t at = text.find(old); at != View::npos; at = text.find(old, from)) {
        made.append(text.substr(from, at - from)).append(other);
        from = at + old.size();
    }
    if (from == 0) return args[0].value;
    const Text* all = make_text(made.append(text.substr(from)));
    if (!all) return {};
    return handle_of(all);
}

/// A list of texts.
class Parts {
  public:
    Parts() : list_(make_table({0, 1, static_cast<std::uint64_t>(WordKind::Text), 0, true})) {}
    void add(std::int64_t word) {
        if (list_) list_->insert(list_->rows(), &word);
    }
    bool add(Arguments args, View found) {
        Word word = part(args, found);
        if (word) add(*word);
        return word.has_value();
    }
    Word handle() const {
        if (!list_) return {};
        return handle_of(list_);
    }

  private:
    Table* list_;
};

Word split(Arguments args) {
    View text = text_of(args);
    Parts parts;
    if (args.size() == 1) {
        if (!is_ascii(text)) return {};
        for (std::size_t k = 0; k < text.size();) {
            if (is_space(text[k])) {
                ++k;
                continue;
            }
            std::size_t end = k;
            while (end < text.size() && !is_space(text[end])) ++end;
            if (!parts.add(args, text.substr(k, end - k))) return {};
            k = end;
        }
        return parts.handle();
    }
    if (args.size() != 2 || !has_text(args, 1) || text_of(args, 1).empty()) return {};
    const View separator = text_of(args, 1);
    std::size_t from = 0;
    for (std::size_t at = text.find(separator); at != View::npos; at = text.find(separator, from)) {
        if (!parts.add(args, text.substr(from, at - from))) return {};
        from = at + separator.size();
    }
    if (!parts.add(args, text.substr(from))) return {};
    return parts.handle();
}

Word characters(Arguments args) {
    Parts parts;
    for (char32_t c : text_of(args)) parts.add(handle_of(character(c)));
    return parts.handle();
}

using Method = Word (*)(Arguments);

const std::unordered_map<std::string_view, Method>& methods() {
    static const auto* all = new std::unordered_map<std::string_view, Method>{
        {"isascii",
         [](Arguments a) -> Word {
             if (a.size() != 1) return {};
             return is_ascii(text_of(a));
         }},
        {"isdigit", [](Arguments a) { return all_are(a, is_digit); }},
        {"isdecimal", [](Arguments a) { return all_are(a, is_digit); }},
        {"isnumeric", [](Arguments a) { return all_are(a, is_digit); }},
        {"isalpha", [](Arguments a) { return all_are(a, is_letter); }},
        {"isalnum",
         [](Arguments a) {
             return all_are(a, [](char32_t c) { return is_letter(c) || is_digit(c); });
         }},
        {"isspace", [](Arguments a) { return all_are(a, is_space); }},
        {"isupper", [](Arguments a) { return cased(a, is_lower); }},
        {"islower", [](Arguments a) { return cased(a, is_upper); }},
        {"lower", [](Arguments a) { return mapped(a, [](char32_t c, auto) { return lower(c); }); }},
        {"casefold",
         [](Arguments a) { return mapped(a, [](char32_t c, auto) { return lower(c); }); }},
        {"upper", [](Arguments a) { return mapped(a, [](char32_t c, auto) { return upper(c); }); }},
        {"swapcase",
         [](Arguments a) {
             return mapped(a, [](char32_t c, auto) { return is_upper(c) ? lower(c) : upper(c); });
         }},
        {"capitalize",
         [](Arguments a) {
             return mapped(a, [](char32_t c, auto k) { return k == 0 ? upper(c) : lower(c); });
         }},
        {"strip", [](Arguments a) { return stripped(a, true, true); }},
        {"lstrip", [](Arguments a) { return stripped(a, true, false); }},
        {"rstrip", [](Arguments a) { return stripped(a, false, true); }},
        {"find", [](Arguments a) { return found(a, false); }},
        {"rfind", [](Arguments a) { return found(a, true); }},
        {"count", counted},
        {"startswith", [](Arguments a) { return at_end(a, false); }},
        {"endswith", [](Arguments a) { return at_end(a, true); }},
        {"removeprefix", [](Arguments a) { return removed(a, false); }},
        {"removesuffix", [](Arguments a) { return removed(a, true); }},
        {"replace", replaced},
        {"split", split},
        {"list", characters},
    };
    return *all;
}

View without_spaces(View text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

}  // namespace

bool text_method(std::string_view name, Arguments args, std::int64_t& result) {
    auto known = methods().find(name);
    if (known == methods().end() || args.empty() || args[0].is_number) return false;
    const Word word = known->second(args);
    if (word) result = *word;
    return word.has_value();
}

bool text_integer(View text, std::int64_t& result) noexcept {
    text = without_spaces(text);
    const bool is_negative = !text.empty() && text.front() == U'-';
    if (!text.empty() && (is_negative || text.front() == U'+')) text.remove_prefix(1);
    if (text.empty() || text.size() > 18 || !std::all_of(text.begin(), text.end(), is_digit))
        return false;
    std::int64_t n = 0;
    for (char32_t c : text) n = 10 * n + static_cast<std::int64_t>(c - U'0');
    result = is_negative ? -n : n;
    return true;
}

bool text_float(View text, double& result) noexcept {
    text = without_spaces(text);
    std::array<char, 64> digits;
    if (text.empty() || text.size() > digits.size()) return false;
    const bool has_plus = text.front() == U'+';
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char32_t c = text[k];
        if (!is_digit(c) && c != U'.' && c != U'-' && c != U'+' && c != U'e' && c != U'E')
            return false;
        digits[k] = static_cast<char>(c);
    }
    const char *begin = digits.data() + has_plus, *end = digits.data() + text.size();
    if (begin == end || (has_plus && *begin == '-')) return false;
    const auto read = std::from_chars(begin, end, result);
    return read.ec == std::errc() && read.ptr == end;  // out of range: Python knows
}

}  // namespace unisono
