// Views of spread arrays, axis by axis: which elements of the packed array they show, and how its
// split looks through them.
#pragma once

#include <optional>
#include <vector>

#include "comm/split.h"
#include "tape/array.h"

namespace unisono::comm {

/// A part of an index space: a range of each axis.
using Box = std::vector<Range>;

Box whole_box(Dims shape);
bool is_empty(const Box& box);
Box intersect(const Box& a, const Box& b);
std::int64_t elements_of(const Box& box);
std::vector<std::int64_t> shape_of(const Box& box);

/// Index j of view axis k is index start[axis[k]] + step[k] * j of axis axis[k] of the array.
struct Steps {
    /// A further axis of the array that a view axis moves along: of a diagonal.
    struct Further {
        int view_axis, axis;
        std::int64_t step;
    };
    std::vector<int> axis;            ///< -1 where the view stays where it is
    std::vector<std::int64_t> step;   ///< of each axis of the view
    std::vector<std::int64_t> start;  ///< of each axis of the array
    std::vector<Further> further;
};

/// Null where a view does not step along the axes of the array: the rows of a matrix seen as one
/// vector, or windows that slide.
std::optional<Steps> steps_of(const View& view, Dims shape);

/// Who has which elements of a view.
struct Held {
    enum class Kind : std::uint8_t {
        All,    ///< every rank has all
        Along,  ///< parts along an axis of the view
        At,     ///< one rank has all
    } kind = Kind::All;
    Split split;    ///< Along
    int owner = 0;  ///< At

    static Held all(int ranks) { return {Kind::All, Split::everywhere(ranks), 0}; }
    static Held at(int rank) { return {Kind::At, {}, rank}; }
    static Held along(const Split& split) { return {Kind::Along, split, 0}; }
    /// What the rank has of a view of that shape.
    Box box(int rank, Dims shape) const;
    bool operator==(const Held& o) const {
        if (kind != o.kind) return false;
        if (kind == Kind::Along) return split.axis == o.split.axis && split.same_parts(o.split);
        return kind == Kind::All || owner == o.owner;
    }
};

Held held_by(const Split& split, const View& view, const Steps& steps);

/// How an array must be split so that the view shows it as `wanted`; null where that cannot be.
std::optional<Split> split_for(const Held& wanted, const Steps& steps, Dims shape);

/// How far beyond its own part each rank reads along the split axis of an array.
struct Halo {
    std::int64_t before = 0, after = 0;
    bool none() const { return before == 0 && after == 0; }
    /// Seen from the other end.
    Halo turned() const { return {after, before}; }
};
/// Of a rank that has `wanted` to compute and reads the same indices of a view held as `held`, of
/// an array split so; null where the parts do not run in parallel.
std::optional<Halo> halo_between(const Held& held, const Held& wanted, const Split& split);
/// By how many indices of the base what is read lies behind what is computed; null as above.
std::optional<std::int64_t> shift_between(const Held& held, const Held& wanted);

}  // namespace unisono::comm
