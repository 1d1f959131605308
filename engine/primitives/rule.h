// What the rule of a primitive sees and says: shapes and dtypes, never memory. Bindings, devices,
// meshes and C programs share these rules.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/dtype.h"
#include "core/layout.h"

namespace unisono::primitives {

struct Operand {
    Dims shape;
    DType dtype;
};
using Operands = std::span<const Operand>;

/// What a call gives, in order. Short shapes need no memory of the heap.
class Results {
  public:
    static constexpr std::size_t most = 6;  ///< results of one call
    void add(DType dtype, Dims shape) { add(dtype, shape, {}); }
    /// Of shape (*leading, *last).
    void add(DType dtype, Dims leading, std::initializer_list<std::int64_t> last) {
        headers_[count_++] = {dtype, used_, leading.size() + last.size()};
        for (std::int64_t n : leading) push(n);
        for (std::int64_t n : last) push(n);
    }
    std::size_t size() const { return count_; }
    DType dtype(std::size_t k) const { return headers_[k].dtype; }
    Dims shape(std::size_t k) const {
        const Header& h = headers_[k];
        const std::int64_t* from = more_.empty() ? extents_.data() : more_.data();
        return {from + h.first, h.rank};
    }

  private:
    struct Header {
        DType dtype;
        std::size_t first, rank;
    };
    void push(std::int64_t n) {
        if (more_.empty() && used_ < extents_.size()) {
            extents_[used_++] = n;
            return;
        }
        if (more_.empty()) more_.assign(extents_.begin(), extents_.end());
        more_.push_back(n);
        ++used_;
    }
    std::array<Header, most> headers_;
    std::array<std::int64_t, 16> extents_;
    std::vector<std::int64_t> more_;
    std::size_t count_ = 0, used_ = 0;
};

/// A shape as a plain value, for attributes.
struct Extents {
    std::uint8_t rank = 0;
    std::int64_t extent[max_rank];  ///< the first `rank` ones

    static Extents of(Dims shape) {
        Extents e;
        e.rank = static_cast<std::uint8_t>(shape.size());
        std::copy(shape.begin(), shape.end(), e.extent);
        return e;
    }
    Dims shape() const { return {extent, rank}; }
};

/// Of a primitive that depends on its operands alone.
struct NoAttributes {};

namespace detail {
/// Converts to any type but a pointer: what an aggregate without pointers can be made of.
struct NoPointer {
    template <class T>
    requires(!std::is_pointer_v<T> && !std::is_reference_v<T>) operator T()
        const;  // NOLINT(google-explicit-constructor): stands for a member
};
struct Anything {
    template <class T>
    operator T() const;  // NOLINT(google-explicit-constructor)
};
template <class T, class Member, std::size_t... k>
constexpr bool is_made_of(std::index_sequence<k...>) {
    return requires { T{(static_cast<void>(k), Member{})...}; };
}
template <class T, std::size_t count = 0>
constexpr std::size_t member_count() {
    if constexpr (count == 16)
        return count;
    else if constexpr (is_made_of<T, Anything>(std::make_index_sequence<count + 1>()))
        return member_count<T, count + 1>();
    else
        return count;
}
}  // namespace detail

/// Attributes are plain values without pointers: an entry copies them, and they mean the same to
/// another process or device.
template <class T>
constexpr bool are_plain_attributes() {
    if constexpr (!std::is_trivially_copyable_v<T>)
        return false;
    else if constexpr (!std::is_aggregate_v<T> || std::is_empty_v<T>)
        return !std::is_pointer_v<T>;
    else
        return detail::is_made_of<T, detail::NoPointer>(
            std::make_index_sequence<detail::member_count<T>()>());
}

// Rules that several primitives share.
namespace rules {

/// The operand's shape and dtype.
template <class Attributes>
void like_operand(const Attributes&, Operands operands, Results& results) {
    results.add(operands[0].dtype, operands[0].shape);
}
/// Indices in the operand's shape.
template <class Attributes>
void indices(const Attributes&, Operands operands, Results& results) {
    results.add(DType::Int64, operands[0].shape);
}
/// An index for each lane.
template <class Attributes>
void index_of_lane(const Attributes&, Operands operands, Results& results) {
    results.add(DType::Int64, operands[0].shape.first(operands[0].shape.size() - 1));
}
/// Of primitives that write into memory that exists.
template <class Attributes>
void nothing(const Attributes&, Operands, Results&) {}

}  // namespace rules

}  // namespace unisono::primitives
