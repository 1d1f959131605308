// Views of spread arrays, axis by axis: which elements of the packed array they show, and how its
// split looks through them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/split.h"
#include "core/few.h"
#include "tape/array.h"

namespace unisono::comm {

/// A part of an index space: a range of each axis.
using Box = Few<Range>;

Box whole_box(Dims shape);
bool is_empty(const Box& box);
Box intersect(const Box& a, const Box& b);
std::int64_t elements_of(const Box& box);
Few<std::int64_t> shape_of(const Box& box);

/// Index j of view axis k is index start[axis[k]] + step[k] * j of axis axis[k] of the array.
struct Steps {
    /// A further axis of the array that a view axis moves along: of a diagonal.
    struct Further {
        int view_axis, axis;
        std::int64_t step;
    };
    Few<int> axis;            ///< -1 where the view stays where it is
    Few<std::int64_t> step;   ///< of each axis of the view
    Few<std::int64_t> start;  ///< of each axis of the array
    std::vector<Further> further;
};

/// Null where a view does not step along the axes of the array: the rows of a matrix seen as one
/// vector, or windows that slide.
std::optional<Steps> steps_of(const View& view, Dims shape);

/// Who has which elements of a view, or of an array.
struct Held {
    enum class Kind : std::uint8_t {
        All,    ///< every rank has all
        Along,  ///< parts along an axis of the view
        At,     ///< one rank has all
        Grid    ///< parts along several axes, or parts that several ranks have
    } kind = Kind::All;
    Split split;    ///< Along
    int owner = 0;  ///< At
    /// Grid: of each side of the grid along which parts differ.
    std::shared_ptr<const std::vector<Split>> grid;

    static Held all(int ranks) { return {Kind::All, Split::everywhere(ranks), 0, nullptr}; }
    static Held at(int rank) { return {Kind::At, {}, rank, nullptr}; }
    static Held along(const Split& split) { return {Kind::Along, split, 0, nullptr}; }
    /// Of these splits, as the simplest kind; `size` ranks in all.
    static Held of_grid(std::vector<Split> splits, int size);

    /// The splits of all axes that have one; and, of a grid, of what the view lies in one part of.
    std::span<const Split> splits() const {
        if (kind == Kind::Grid) return *grid;
        return kind == Kind::Along ? std::span(&split, 1) : std::span<const Split>();
    }
    /// Whether parts along one axis follow from two splits: of a diagonal across a grid of ranks.
    bool crosses() const;
    /// Of the axis, the first; null where it is whole.
    const Split* split_along(int axis) const;
    /// Whether the rank has anything, where its box is not empty.
    bool takes_part(int rank) const;
    /// What the rank has of a view of that shape.
    Box box(int rank, Dims shape) const;
    bool operator==(const Held& o) const;
    /// Whether parts go round along any axis.
    bool is_cyclic() const {
        return std::ranges::any_of(splits(), [](const Split& s) { return s.cycle > 0; });
    }
    /// Indices, in the order of the part, that the rank has along an axis of that extent.
    std::vector<std::int64_t> indices(int rank, int axis, std::int64_t extent) const;
};

/// Whether the view cuts what goes round to more than a slice: it must lie in consecutive parts.
bool is_awkward(const Held& array, const View& view, const Steps& steps);

/// What an array that is held so shows in a view.
Held held_by(const Held& array, const View& view, const Steps& steps);

/// How an array must be held so that the view shows it as `wanted`; null where that cannot be.
std::optional<Held> held_for(const Held& wanted, const Steps& steps, Dims shape);

/// How far beyond its own part each rank reads along a split axis of an array.
struct Halo {
    std::int64_t before = 0, after = 0;
    bool none() const { return before == 0 && after == 0; }
    /// Seen from the other end.
    Halo turned() const { return {after, before}; }
};
/// Of each of an array's splits.
inline constexpr std::size_t most_splits = 4;
struct Halos {
    std::array<Halo, most_splits> of{};
    Halos() = default;
    Halos(Halo first) { of[0] = first; }
    Halo& operator[](std::size_t k) { return of[k]; }
    const Halo& operator[](std::size_t k) const { return of[k]; }
    bool none() const {
        return std::all_of(of.begin(), of.end(), [](const Halo& h) { return h.none(); });
    }
};
/// Of a rank that has `wanted` to compute and reads the same indices of a view held as `held`, of
/// an array held so; null where the parts do not run in parallel.
std::optional<Halos> halos_between(const Held& held, const Held& wanted, const Held& array);
/// By how many indices of the base what is read lies behind what is computed; null as above, and
/// on grids.
std::optional<std::int64_t> shift_between(const Held& held, const Held& wanted);

}  // namespace unisono::comm
