// Reductions of distributed arrays by the published tree (ops/reduction_tree.h): the same bits as
// on one rank.
//
// All axes but the split one lie whole on a rank and are reduced there, innermost first. Along the
// split one ("rows") each rank cuts its range into the largest nodes of the tree that it holds
// whole, reduces each, and sends these and the raw rows of the leaves that its ends cut to all
// ranks; every rank finishes the same tree. A rank sends at most 2 log2(leaves) nodes and one leaf
// at each end.
#include "comm/reduce.h"

#include <algorithm>
#include <bit>

#include "comm/pieces.h"
#include "ops/reduction_tree.h"

namespace unisono::comm {

namespace {

/// Rows that a rank sends as one node of the tree, or one by one (level -1).
struct Piece {
    int level;
    Range rows;
    int owner;              ///< the part
    std::int64_t slot = 0;  ///< first row of the gathered array that holds it
    std::int64_t slots() const { return level < 0 ? rows.size() : 1; }
};

Range slice_of(const Piece& p) { return {p.slot, p.slot + p.slots()}; }

void cut(Range own, int owner, std::int64_t n, std::int64_t leaf, std::vector<Piece>& pieces) {
    std::int64_t at = own.begin;
    while (at < own.end) {
        if (at % leaf != 0) {  // the rest of a leaf that another rank begins
            std::int64_t end = std::min(own.end, (at / leaf + 1) * leaf);
            pieces.push_back({-1, {at, end}, owner});
            at = end;
            continue;
        }
        std::int64_t first = at / leaf;
        bool last_leaf_short = own.end == n && n - at < leaf;
        if (own.end - at < leaf && !last_leaf_short) {
            pieces.push_back({-1, {at, own.end}, owner});
            break;
        }
        // The largest node that begins here and ends inside; the array's last leaf may be short.
        std::int64_t whole = last_leaf_short ? 1 : (own.end - at) / leaf;
        int level = std::bit_width(static_cast<std::uint64_t>(whole)) - 1;
        if (first > 0) level = std::min(level, std::countr_zero(static_cast<std::uint64_t>(first)));
        std::int64_t end = std::min(own.end, at + (leaf << level));
        pieces.push_back({level, {at, end}, owner});
        at = end;
    }
}

/// Combines nodes that come in order of their rows, of any level.
class Tree {
  public:
    explicit Tree(Op op) : op_(op) {}
    void push(int level, std::int64_t index, Array value) {
        while (!nodes_.empty() && nodes_.back().level == level && nodes_.back().index % 2 == 0 &&
               nodes_.back().index + 1 == index) {
            value = combine(nodes_.back().value, value);
            nodes_.pop_back();
            ++level;
            index /= 2;
        }
        nodes_.push_back({level, index, std::move(value)});
    }
    Array result() {
        Array value = nodes_.back().value;
        for (std::size_t k = nodes_.size() - 1; k-- > 0;) value = combine(nodes_[k].value, value);
        return value;
    }

  private:
    struct Entry {
        int level;
        std::int64_t index;
        Array value;
    };
    Array combine(const Array& a, const Array& b) {
        Arg args[] = {a.arg(), b.arg()};
        return apply(op_, args);
    }
    Op op_;
    std::vector<Entry> nodes_;
};

/// As users call the reduction by op.
const char* reduction_name(Op op) {
    switch (op) {
        case Op::Add: return "sum";
        case Op::Mul: return "product";
        case Op::Max: return "maximum";
        case Op::Min: return "minimum";
        case Op::Or: return "any";
        case Op::And: return "all";
        default: return "reduction";
    }
}

}  // namespace

Array reduce_part(Op op, const Array& part, std::vector<int> axes, bool is_innermost, DType t) {
    std::int64_t behind = 1;
    for (int k = axes.back() + 1; k < part.rank(); ++k)
        behind *= part.shape()[static_cast<std::size_t>(k)];
    if (is_innermost || behind != 1) return reduce(op, part, std::move(axes), false, t);
    // One column of several: beside itself, so that it is not taken for the innermost axis.
    std::vector<std::int64_t> shape(part.shape().begin(), part.shape().end());
    shape.push_back(1);
    const Array column = reshape(part, shape);
    shape.back() = 2;
    const Array both = reduce(op, broadcast_to(column, shape), std::move(axes), false, t);
    std::vector<IndexItem> items(static_cast<std::size_t>(both.rank() - 1),
                                 {IndexItem::Kind::Slice});
    items.push_back({IndexItem::Kind::Integer, 0});
    return index(both, items);
}

Array reduce_along(Mesh& mesh, Op op, const Array& here, const Split& split, bool is_innermost,
                   DType t) {
    const int axis = split.axis, me = mesh.rank();
    const std::int64_t n = split.extent;
    auto reduced = [&](const Array& a) { return reduce_part(op, a, {axis}, is_innermost, t); };
    if (n == 0 || split.ranks == 1) return reduced(here);
    std::int64_t elements = 1;
    std::vector<std::int64_t> shape{0};
    for (int k = 0; k < here.rank(); ++k) {
        if (k == axis) continue;
        elements *= here.shape()[static_cast<std::size_t>(k)];
        shape.push_back(here.shape()[static_cast<std::size_t>(k)]);
    }
    const std::int64_t leaf = is_innermost ? reduction::leaf_elements : reduction::leaf_rows;
    std::vector<Piece> pieces;
    const int mine = split.part_of(me);
    for (int part = 0; part < split.ranks; ++part)
        cut(split.range(split.rank_of(part, me)), part, n, leaf, pieces);
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.rows.begin < b.rows.begin; });
    std::int64_t slots = 0;
    std::vector<Range> held(static_cast<std::size_t>(split.ranks));
    for (Piece& p : pieces) {
        p.slot = slots;
        slots += p.slots();
        Range& h = held[static_cast<std::size_t>(p.owner)];
        h = h.empty() ? Range{p.slot, slots} : Range{h.begin, slots};
    }
    shape[0] = slots;
    Array all = empty(shape, t, nullptr);
    const std::int64_t first = split.range(me).begin;
    for (const Piece& p : pieces) {
        if (p.owner != mine) continue;
        const Array rows = slice(here, axis, {p.rows.begin - first, p.rows.end - first});
        assign(rows_of(all, slice_of(p)),
               (p.level < 0 ? axis_first(rows, axis) : reduced(rows)).arg());
    }
    const std::int64_t slot_bytes = elements * size_of(t);
    std::vector<Part> sends, receives;
    const Range& own = held[static_cast<std::size_t>(mine)];
    for (int part = 0; part < split.ranks; ++part) {
        const Range& theirs = held[static_cast<std::size_t>(part)];
        if (part == mine) continue;
        const int r = split.rank_of(part, me);
        if (!own.empty()) sends.push_back({r, own.begin * slot_bytes, own.size() * slot_bytes});
        if (!theirs.empty())
            receives.push_back({r, theirs.begin * slot_bytes, theirs.size() * slot_bytes});
    }
    // Of a grid the parts of a row differ.
    const std::string row =
        split.ranks == mesh.size() ? shape_text(Dims(shape).subspan(1)) : "parts";
    mesh.record(std::string(reduction_name(op)) + " over " + std::to_string(n) + " rows of " +
                    std::string(name(t)) + " " + row,
                all.view(), std::move(sends), all.view(), std::move(receives), true);
    Tree tree(op);
    for (std::size_t k = 0; k < pieces.size();) {
        const Piece& p = pieces[k];
        if (p.level >= 0) {
            IndexItem item{IndexItem::Kind::Integer, p.slot};
            tree.push(p.level, (p.rows.begin / leaf) >> p.level, index(all, {&item, 1}));
            ++k;
            continue;
        }
        // A cut leaf: its rows lie side by side, whoever sent them.
        std::int64_t number = p.rows.begin / leaf;
        Range slice = slice_of(p);
        for (++k; k < pieces.size() && pieces[k].rows.begin / leaf == number; ++k)
            slice.end = slice_of(pieces[k]).end;
        tree.push(0, number, reduced(axis_back(rows_of(all, slice), axis)));
    }
    return copy(tree.result());
}

}  // namespace unisono::comm
