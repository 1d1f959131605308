// Gives IR objects C identifiers: the user's own names, changed only where C forbids them or they
// are taken.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace unisono::c_source {

class Names {
  public:
    Names() = default;
    /// Names of an inner scope: those of `outer` stay taken.
    explicit Names(const Names& outer, bool) : taken_(outer.taken_) {}
    /// An identifier like `wanted` that no earlier call returned.
    std::string unique(std::string_view wanted);
    /// The same for a function: it must not be called like a built-in function either (a variable
    /// may; it only hides the function).
    std::string unique_function(std::string_view wanted);

  private:
    std::set<std::string, std::less<>> taken_;
};

}  // namespace unisono::c_source
