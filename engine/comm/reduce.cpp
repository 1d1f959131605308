// Reductions of distributed arrays by the published tree (ops/reduction_tree.h): the same bits as
// on one rank.
//
// All axes but the rows lie whole on a rank and are reduced there, innermost first. Along the rows
// each rank cuts its range into the largest nodes of the tree that it holds whole, reduces each,
// and sends these and the raw rows of the leaves that its ends cut to all ranks; every rank
// finishes the same tree. A rank sends at most 2 log2(leaves) nodes and one leaf at each end.
#include <algorithm>
#include <bit>

#include "comm/expression.h"
#include "core/error.h"
#include "ops/reduction_tree.h"
#include "tape/record/record.h"

namespace unisono::comm {

namespace {

/// Rows that a rank sends as one node of the tree, or one by one (level -1).
struct Piece {
    int level;
    Range rows;
    std::size_t owner;
    std::int64_t slot = 0;  ///< first row of the gathered array that holds it
    std::int64_t slots() const { return level < 0 ? rows.size() : 1; }
};

Range slice_of(const Piece& p) { return {p.slot, p.slot + p.slots()}; }

Array rows_of(const Array& a, Range r) {
    IndexItem item{IndexItem::Kind::Slice, r.begin, r.end, 1, true, true};
    return index(a, {&item, 1});
}

void cut(Range own, std::size_t owner, std::int64_t n, std::int64_t leaf,
         std::vector<Piece>& pieces) {
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

Array as_value(const Array& a) { return a.rank() == 0 ? Array::of(copy(a).view(), true) : copy(a); }

/// Reduces the first axis of arrays whose rows `rows[r]` lie on rank r; the result is on all ranks.
Array reduce_rows(Mesh& mesh, Op op, const Array& here, const Ranges& rows, std::int64_t n,
                  DType t) {
    if (n == 0 || mesh.size() == 1) return unisono::reduce(op, here, {{0}}, false, t);
    std::int64_t elements = 1;
    for (std::int64_t extent : here.shape().subspan(1)) elements *= extent;
    // Only along what is then the innermost axis do leaves hold 512 elements.
    std::int64_t leaf = elements == 1 ? reduction::leaf_elements : reduction::leaf_rows;
    std::vector<Piece> pieces;
    for (std::size_t r = 0; r < rows.size(); ++r) cut(rows[r], r, n, leaf, pieces);
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.rows.begin < b.rows.begin; });
    auto me = static_cast<std::size_t>(mesh.rank());
    std::int64_t slots = 0;
    Ranges held(rows.size());
    for (Piece& p : pieces) {
        p.slot = slots;
        slots += p.slots();
        Range& h = held[p.owner];
        h = h.empty() ? Range{p.slot, slots} : Range{h.begin, slots};
    }
    std::vector<std::int64_t> shape(here.shape().begin(), here.shape().end());
    shape[0] = slots;
    Array all = empty(shape, t, nullptr);
    for (const Piece& p : pieces) {
        if (p.owner != me) continue;
        Array mine = rows_of(here, {p.rows.begin - rows[me].begin, p.rows.end - rows[me].begin});
        Array value = p.level < 0 ? mine : unisono::reduce(op, mine, {{0}}, false, t);
        assign(rows_of(all, slice_of(p)), value.arg());
    }
    std::int64_t slot_bytes = elements * size_of(t);
    std::vector<Part> sends, receives;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (r == me) continue;
        int rank = static_cast<int>(r);
        if (!held[me].empty())
            sends.push_back({rank, held[me].begin * slot_bytes, held[me].size() * slot_bytes});
        if (!held[r].empty())
            receives.push_back({rank, held[r].begin * slot_bytes, held[r].size() * slot_bytes});
    }
    mesh.record(std::string(reduction_name(op)) + " over " + std::to_string(n) + " rows of " +
                    std::string(name(t)) + " " + shape_text(here.shape().subspan(1)),
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
        tree.push(0, number, unisono::reduce(op, rows_of(all, slice), {{0}}, false, t));
    }
    return as_value(tree.result());
}

std::vector<int> sorted_axes(Op op, int rank, const std::optional<std::vector<int>>& given) {
    std::vector<int> axes;
    if (!given) {
        for (int k = 0; k < rank; ++k) axes.push_back(k);
        return axes;
    }
    std::string what(info(op).numpy_name);
    for (int axis : *given) {
        int k = axis < 0 ? axis + rank : axis;
        if (k < 0 || k >= rank) {
            fail(ErrorKind::Index, what + ": axis " + std::to_string(axis) +
                                       " is out of bounds for an array of dimension " +
                                       std::to_string(rank));
        }
        if (std::find(axes.begin(), axes.end(), k) != axes.end())
            fail(ErrorKind::Value, what + ": axis " + std::to_string(k) + " is given twice");
        axes.push_back(k);
    }
    std::sort(axes.begin(), axes.end());
    return axes;
}

}  // namespace

Reduced reduce(Mesh& mesh, Op op, NodePtr node, std::optional<std::vector<int>> given,
               bool keepdims, std::optional<DType> dtype) {
    std::vector<int> axes = sorted_axes(op, node->rank(), given);
    bool selects = op == Op::Min || op == Op::Max;
    DType t = reduced_dtype(op, node->dtype, dtype);
    for (int axis : axes) {
        if (selects && node->shape[static_cast<std::size_t>(axis)] == 0) {
            fail(ErrorKind::Value, std::string(info(op).numpy_name) + ": an empty axis has no " +
                                       (op == Op::Min ? "minimum" : "maximum") + "; got shape " +
                                       shape_text(node->dims()));
        }
    }
    auto [rows, here] = evaluate(mesh, node);
    std::vector<std::int64_t> kept = node->shape;
    for (int axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
    std::int64_t n = node->shape[0];
    node.reset();
    bool with_rows = !axes.empty() && axes.front() == 0;
    std::vector<int> inner(axes.begin() + (with_rows ? 1 : 0), axes.end());
    Array local = inner.empty() ? (with_rows ? here : astype(here, t, true))
                                : unisono::reduce(op, here, inner, !with_rows && keepdims, t);
    Reduced result;
    if (with_rows) {
        Array everywhere = reduce_rows(mesh, op, local, rows, n, t);
        result.everywhere = keepdims ? reshape(everywhere, kept) : everywhere;
    } else {
        std::vector<std::int64_t> shape(local.shape().begin(), local.shape().end());
        shape[0] = n;
        auto block = std::make_shared<Block>(mesh, shape, rows, local);
        result.distributed = Window{block, block->whole()};
    }
    return result;
}

}  // namespace unisono::comm
