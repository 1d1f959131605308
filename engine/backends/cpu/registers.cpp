// Takes the names behind % and brings those of one register's parts to one name.
#include "backends/cpu/registers.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace unisono::cpu {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// "a" of rax, eax, ax, ah and al; "r8" of r8d; "v3" of xmm3, ymm3 and zmm3.
std::string whole_register(std::string name) {
    if (name.size() > 3 && name.substr(1, 2) == "mm" && is_digit(name[3]))
        return "v" + name.substr(3);
    if (name.size() > 1 && name[0] == 'r' && is_digit(name[1])) {
        if (!is_digit(name.back())) name.pop_back();
        return name;
    }
    if (name.size() == 3 && (name[0] == 'r' || name[0] == 'e')) name.erase(0, 1);
    const bool is_pointer = name.size() > 2;  // sil, dil, bpl, spl
    const char last = name.back();
    if (is_pointer ? last == 'l' : name.size() == 2 && (last == 'x' || last == 'l' || last == 'h'))
        name.pop_back();
    return name;
}

}  // namespace

int registers_in(std::string_view assembly) {
    std::set<std::string> seen;
    for (std::size_t at = assembly.find('%'); at != std::string_view::npos;
         at = assembly.find('%', at)) {
        const std::string_view rest = assembly.substr(++at);
        const auto end = std::find_if_not(rest.begin(), rest.end(), is_word);
        const std::string name(rest.begin(), end);
        if (!name.empty() && name != "rip") seen.insert(whole_register(name));
    }
    return static_cast<int>(seen.size());
}

}  // namespace unisono::cpu
