// The order in which reductions combine: leaves of fixed size, then a binary tree over leaf
// indices.
//
// The order is part of the contract on bits and the same for any executor, thread and rank count:
//   innermost axis: leaf k holds elements 512 k .. 512 k + 511. Inside a leaf element j goes to
//     lane j % 32; each lane adds in order, starting from its first element. Lanes are combined by
//     halves: lane l takes in lane l + 16, then l + 8, l + 4, l + 2, l + 1; absent lanes are
//     skipped.
//   any other axis: leaf k holds rows 8 k .. 8 k + 7, combined in order, element by element.
//   leaves: node (level, index) covers leaves index * 2^level up to the next multiple of 2^level.
//     It is its left child combined with its right child; an absent right child is skipped.
// Nothing starts from the identity, so a sum of -0.0 is -0.0. The identity is the result of an
// empty axis only; the caller gives it.
//
// How to fold leaves in one pass: keep a stack; after pushing leaf k, combine the two topmost
// values tree_merges(k) times; at the end combine the two topmost until one is left. A part of the
// leaves that starts at a multiple of 2^level may be folded on its own as long as it does not reach
// beyond 2^level leaves: its result is that node's value, and the nodes of one level are folded
// like leaves.
#pragma once

#include <bit>
#include <cstdint>

namespace unisono::reduction {

inline constexpr std::int64_t leaf_elements = 512;  ///< of the innermost axis
inline constexpr int lanes = 32;                    ///< interleaved accumulators inside such a leaf
inline constexpr std::int64_t leaf_rows = 8;        ///< of any other axis
/// Levels that a tree over any number of leaves can have: the stack never holds more values.
inline constexpr int max_levels = 64;

constexpr std::int64_t leaf_count(std::int64_t extent, std::int64_t leaf) {
    return (extent + leaf - 1) / leaf;
}

/// How often to combine the two topmost values of the stack after the value of node `index` (of one
/// level, counted from the first) was pushed.
constexpr int tree_merges(std::int64_t index) {
    return std::countr_one(static_cast<std::uint64_t>(index));
}

/// Combines the lanes 0 .. present - 1 of one leaf by halves; the result is in lane 0.
template <class T, class F>
constexpr T combine_lanes(T* lane, int present, F combine) {
    for (int half = lanes / 2; half > 0; half /= 2) {
        for (int l = 0; l < half && l + half < present; ++l)
            lane[l] = combine(lane[l], lane[l + half]);
    }
    return lane[0];
}

/// Value of a leaf of 1 to 512 elements that lie side by side.
template <class T, class F>
constexpr T combine_leaf(const T* x, std::int64_t count, F combine) {
    T lane[lanes];
    if (count < lanes) {
        for (int l = 0; l < count; ++l) lane[l] = x[l];
        return combine_lanes(lane, static_cast<int>(count), combine);
    }
    for (int l = 0; l < lanes; ++l) lane[l] = x[l];
    std::int64_t j = lanes;
    for (; j + lanes <= count; j += lanes) {
        for (int l = 0; l < lanes; ++l) lane[l] = combine(lane[l], x[j + l]);
    }
    constexpr int few = 8;  // loops of known length, here and below
    int from = 0;
    for (; j + few <= count; j += few, from += few) {
        for (int l = 0; l < few; ++l) lane[from + l] = combine(lane[from + l], x[j + l]);
    }
    for (; j < count; ++j, ++from) lane[from] = combine(lane[from], x[j]);
    return combine_lanes(lane, lanes, combine);
}

/// A leaf of width + 1 to 2 width elements: after the first step all lanes below `width` are there.
template <int width, class T, class F>
constexpr T combine_halves(const T* x, int count, F combine) {
    T lane[width];
    for (int l = 0; l < width; ++l) lane[l] = x[l];
    for (int l = 0; l + width < count; ++l) lane[l] = combine(lane[l], x[l + width]);
    for (int half = width / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; ++l) lane[l] = combine(lane[l], lane[l + half]);
    }
    return lane[0];
}

/// The same value as combine_leaf's of 1 to 32 elements, by loops of known length.
template <class T, class F>
constexpr T combine_short_leaf(const T* x, int count, F combine) {
    if (count == 1) return x[0];
    if (count == 2) return combine_halves<1>(x, count, combine);
    if (count <= 4) return combine_halves<2>(x, count, combine);
    if (count <= 8) return combine_halves<4>(x, count, combine);
    if (count <= 16) return combine_halves<8>(x, count, combine);
    return combine_halves<16>(x, count, combine);
}

/// Folds the values of the nodes of one level, pushed in order from the first on.
template <class T, class F>
class TreeFold {
  public:
    constexpr explicit TreeFold(F combine) : combine_(combine) {}

    constexpr void push(T value) {
        for (int merges = tree_merges(pushed_++); merges > 0; --merges)
            value = combine_(stack_[--depth_], value);
        stack_[depth_++] = value;
    }
    constexpr std::int64_t pushed() const { return pushed_; }
    /// The root of all nodes pushed; at least one was.
    constexpr T result() const {
        T value = stack_[depth_ - 1];
        for (int d = depth_ - 2; d >= 0; --d) value = combine_(stack_[d], value);
        return value;
    }

  private:
    F combine_;
    T stack_[max_levels];
    int depth_ = 0;
    std::int64_t pushed_ = 0;
};

}  // namespace unisono::reduction
