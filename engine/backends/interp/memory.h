// Arrays as the interpreter sees them: bounds, shadow marks, element access.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "backends/backend.h"
#include "backends/interp/shadow.h"

namespace unisono::interp {

/// An array of a running function.
struct View {
    char* data = nullptr;  ///< element [0, 0, ...]
    std::vector<std::int64_t> shape, strides;
    std::int64_t element = 0;         ///< bytes
    std::int64_t low = 0, high = -1;  ///< range of linear indices; empty where the array is
    Shadow* shadow = nullptr;
    bool must_be_written = false;  ///< allocated: holds nothing until it is written

    /// Sets low and high from shape and strides.
    void measure();
};

/// Memory of an Allocate, with its marks.
struct Allocation {
    std::vector<char> bytes;
    std::unique_ptr<Shadow> shadow;
};

/// Marks for the arguments of a launch; arguments that overlap share theirs.
class ArgumentShadows {
  public:
    /// Gives each view its shadow.
    void attach(std::vector<View>& views);

  private:
    std::vector<std::unique_ptr<Shadow>> shadows_;
};

inline std::uint64_t load_bits(const char* at, std::int64_t bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, static_cast<std::size_t>(bytes));
    return bits;
}
inline void store_bits(char* at, std::int64_t bytes, std::uint64_t bits) {
    std::memcpy(at, &bits, static_cast<std::size_t>(bytes));
}

}  // namespace unisono::interp
