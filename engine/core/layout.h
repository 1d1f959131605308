// Layouts: interned pairs of shape and strides, so that equal layouts are the same pointer.
//
// A Layout is immutable and shared within its context, which owns the table. References are counted
// without atomics: layouts, storages and the tape belong to whoever holds the engine (in Python:
// the global interpreter lock). Layouts that nobody references stay in the table until many have
// gathered, so that a loop that makes and drops a view does not allocate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace unisono {

inline constexpr int max_rank = 64;  ///< NumPy's, and that of buffers
using Dims = std::span<const std::int64_t>;

class Layout {
  public:
    int rank() const { return rank_; }
    std::int64_t size() const { return size_; }  ///< number of elements
    Dims shape() const { return {dims(), static_cast<std::size_t>(rank_)}; }
    Dims strides() const {
        return {dims() + rank_, static_cast<std::size_t>(rank_)};
    }                                                    ///< in elements
    bool contiguous() const { return packed_ == this; }  ///< row-major, no gaps
    /// The contiguous layout of the same shape: two layouts have equal shapes if and only if these
    /// are equal.
    const Layout* packed() const { return packed_; }
    /// Lowest and highest element relative to the first one (both 0 for an empty layout).
    std::int64_t lowest() const { return lowest_; }
    std::int64_t highest() const { return highest_; }
    /// Whether two points are one element (a stride of 0 as made by broadcasting, or windows that
    /// slide by less than their length).
    bool overlaps_itself() const { return overlaps_itself_; }
    /// Rank and stride classes in one number: what a compiled kernel depends on.
    std::uint64_t class_code() const { return class_code_; }

    void retain() const { ++refs_; }
    void release() const { --refs_; }

    static const Layout* make(Dims shape, Dims strides);
    static const Layout* contiguous(Dims shape);
    static const Layout* scalar();  ///< rank 0
    struct Free {
        void operator()(const Layout* layout) const noexcept;
    };
    /// The packed layout of a shape, not in the table and equal to no other pointer: for memory
    /// that one run uses, made by threads that do not hold the engine.
    static std::unique_ptr<const Layout, Free> unshared(Dims shape);
    static std::size_t interned();  ///< how many layouts are alive in the table
    /// Frees layouts without references, if many have gathered. A layout that was handed out lately
    /// stays, so that code which has one in hand and has not retained it yet is safe.
    static void collect();
    static bool collection_due();
    /// Grows when layouts are freed: until then no other layout has the address of one handed out.
    static std::uint32_t generation();
    void touch() const;  ///< as if handed out now

  private:
    friend class LayoutTable;
    Layout() = default;
    const std::int64_t* dims() const { return reinterpret_cast<const std::int64_t*>(this + 1); }
    std::int64_t* dims() { return reinterpret_cast<std::int64_t*>(this + 1); }

    const Layout* packed_ = nullptr;
    std::int64_t size_ = 1;
    std::int64_t lowest_ = 0;
    std::int64_t highest_ = 0;
    std::uint64_t hash_ = 0;
    std::uint64_t class_code_ = 0;
    mutable std::uint32_t refs_ = 0;
    mutable std::uint32_t last_used_ = 0;  ///< collection in whose time it was last handed out
    std::int32_t rank_ = 0;
    bool overlaps_itself_ = false;
};

/// Number of elements of a shape; throws a Memory error if it overflows.
std::int64_t element_count(Dims shape);

/// NumPy's broadcast of shapes; throws a Value error that names the operation and the shapes.
std::vector<std::int64_t> broadcast_shapes(const char* what, std::span<const Dims> shapes);

/// "(3, 4)", as Python prints a shape.
std::string shape_text(Dims shape);

}  // namespace unisono
