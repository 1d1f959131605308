// Builds expressions over distributed blocks and evaluates them for the rows that each rank needs.
#include "comm/expression.h"

#include <map>

#include "core/error.h"
#include "tape/record/record.h"
#include "tape/record/recorded.h"
#include "tape/tape.h"

namespace unisono::comm {

namespace {

/// Larger expressions are evaluated when they are made: recursion and repeated work stay bounded.
constexpr int most_nodes = 64;
/// Halos up to this many rows are kept beside any block, however small.
constexpr std::int64_t small_halo = 16;

/// As what an operand counts in rules about dtypes.
Arg typed(const Node& n) {
    if (n.kind == Node::Kind::Local) return {n.array.view(), n.weak};
    return {{nullptr, nullptr, 0, n.dtype}, Weak::None};
}

NodePtr operation(Node::Kind kind, const char* what, std::span<const NodePtr> args, DType dtype) {
    auto n = std::make_shared<Node>();
    n->kind = kind;
    n->dtype = dtype;
    n->inputs = static_cast<std::uint8_t>(args.size());
    Dims shapes[3];
    for (std::size_t k = 0; k < args.size(); ++k) {
        shapes[k] = args[k]->dims();
        n->in[k] = args[k];
        n->size += args[k]->size;
    }
    n->shape = broadcast_shapes(what, {shapes, args.size()});
    return n;
}

Mesh* mesh_of(const Node& n) {
    if (n.block) return &n.block->mesh();
    for (int k = 0; k < n.inputs; ++k) {
        if (Mesh* m = mesh_of(*n.in[k])) return m;
    }
    return nullptr;
}

NodePtr bounded(NodePtr n) {
    if (n->size > most_nodes) {
        Mesh* mesh = mesh_of(*n);
        settle(*mesh, n);
    }
    return n;
}

/// Whether the first axis of `n` runs along that of an enclosing expression of the given shape.
bool shares_first_axis(const Node& n, Dims outer) {
    return !outer.empty() && n.shape.size() == outer.size() && n.shape[0] == outer[0];
}

/// What each rank needs of a part of an expression, if it needs `needed` of the expression.
Ranges needed_of(const Node& n, Dims outer, const Ranges& needed) {
    if (shares_first_axis(n, outer)) return needed;
    Ranges all(needed.size());
    std::int64_t extent = n.shape.empty() ? 1 : n.shape[0];
    for (std::size_t r = 0; r < needed.size(); ++r) {
        if (!needed[r].empty()) all[r] = {0, extent};
    }
    return all;
}

Array first_axis(const Array& a, Range range) {
    if (a.rank() == 0 || range == Range{0, a.shape()[0]}) return a;
    IndexItem item{IndexItem::Kind::Slice, range.begin, range.end, 1, true, true};
    return index(a, {&item, 1});
}

/// Evaluates for what each rank needs; the result is this rank's part.
///
/// Three walks in the same order: what halos all leaves of a block need together, so that it is
/// exchanged once; the leaves' local windows, with the messages that other leaves need; then the
/// local operations, which follow each other on the tape without a message between them and fuse.
class Evaluator {
  public:
    explicit Evaluator(Mesh& mesh) : me_(static_cast<std::size_t>(mesh.rank())) {}

    /// `shared_out`: every row is needed by exactly one rank; operations then keep their results.
    Array run(const NodePtr& n, const Ranges& needed, bool shared_out) {
        collect(*n, needed);
        for (const Halo& h : halos_) h.block->ensure_halo(h.before, h.after);
        resolve(*n, needed);
        return combine(n, needed, shared_out);
    }

  private:
    Recorded recorded_;
    struct Halo {
        Block* block;
        std::int64_t before, after;
    };

    void collect(const Node& n, const Ranges& needed) {
        for (int k = 0; k < n.inputs; ++k) collect(*n.in[k], needed_of(*n.in[k], n.dims(), needed));
        if (n.kind != Node::Kind::Leaf || n.array.size() == 0) return;
        RowMap map = n.block->map(n.array);
        if (map.axis != 0) return;
        auto need = halo_of(n, map, needed);
        if (!need) return;
        for (Halo& h : halos_) {
            if (h.block != n.block.get()) continue;
            h.before = std::max(h.before, need->before);
            h.after = std::max(h.after, need->after);
            return;
        }
        halos_.push_back(*need);
    }

    void resolve(const Node& n, const Ranges& needed) {
        for (int k = 0; k < n.inputs; ++k) resolve(*n.in[k], needed_of(*n.in[k], n.dims(), needed));
        if (n.kind == Node::Kind::Leaf) leaves_.push_back(leaf(n, needed));
    }

    Array combine(const NodePtr& n, const Ranges& needed, bool shared_out) {
        if (auto seen = done_.find(n.get()); seen != done_.end()) {
            // Met before in this walk, and a leaf since then.
            next_ += seen->second;
            return leaf(*n, needed);
        }
        if (n->kind == Node::Kind::Leaf) return leaves_[next_++];
        if (n->kind == Node::Kind::Local) {
            if (n->array.is_known()) return n->array;
            return first_axis(n->array, needed[me_]);
        }
        std::size_t first = next_;
        Array values[3];
        Arg args[3];
        for (int k = 0; k < n->inputs; ++k) {
            bool along = shares_first_axis(*n->in[k], n->dims());
            values[k] =
                combine(n->in[k], needed_of(*n->in[k], n->dims(), needed), shared_out && along);
            args[k] = {values[k].view(), n->in[k]->weak};
        }
        Array made = needed[me_].empty() ? nothing(*n) : compute(*n, args, values[0]);
        if (shared_out && !n->shape.empty()) {
            keep(n, needed, made);
            done_[n.get()] = next_ - first;
        }
        return made;
    }

    static Array nothing(const Node& n) {
        std::vector<std::int64_t> shape = n.shape;
        if (!shape.empty()) shape[0] = 0;
        return empty(shape, n.dtype, nullptr);
    }

    static Array compute(const Node& n, const Arg* args, const Array& first) {
        if (n.kind == Node::Kind::Map) return apply(n.op, {args, n.inputs});
        if (n.kind == Node::Kind::Select) return where(args[0], args[1], args[2]);
        return astype(first, n.dtype, true);
    }

    /// The node becomes a leaf over its result.
    static void keep(const NodePtr& n, const Ranges& needed, const Array& made) {
        Mesh* mesh = mesh_of(*n);
        auto block = std::make_shared<Block>(*mesh, n->dims(), needed, made);
        n->kind = Node::Kind::Leaf;
        n->array = block->whole();
        n->block = block;
        n->size = 1;
        n->inputs = 0;
        for (auto& child : n->in) child.reset();
        block->add_reader(n);
    }

    Array leaf(const Node& n, const Ranges& needed) {
        if (n.array.size() == 0) {
            std::vector<std::int64_t> shape = n.shape;
            shape[0] = needed[me_].size();
            return empty(shape, n.dtype, nullptr);
        }
        RowMap map = n.block->map(n.array);
        if (map.axis < 0) return one_row(n, map, needed);
        if (map.axis > 0) return across(n, map, needed);
        if (!halo_of(n, map, needed)) {
            Array rows = n.block->fetch(n.array, map, needed, "redistribution", false);
            return needed[me_].empty() ? nothing(n) : rows;
        }
        return needed[me_].empty() ? nothing(n) : n.block->part(n.array, map, needed[me_]);
    }

    /// How far needed rows lie outside the blocks, or nothing if that is too far to keep them
    /// there.
    static std::optional<Halo> halo_of(const Node& n, const RowMap& map, const Ranges& needed) {
        Halo h{n.block.get(), 0, 0};
        std::int64_t most = small_halo;
        for (std::size_t r = 0; r < needed.size(); ++r) {
            Range own = n.block->rows()[r];
            most = std::max(most, own.size());
            if (needed[r].empty()) continue;
            std::int64_t a = map.start + map.step * needed[r].begin;
            std::int64_t b = map.start + map.step * (needed[r].end - 1);
            h.before = std::max(h.before, own.begin - std::min(a, b));
            h.after = std::max(h.after, std::max(a, b) + 1 - own.end);
        }
        if (h.before > most || h.after > most) return {};
        return h;
    }

    /// Another axis is split than the one that the result is split along: all rows go to all who
    /// need any.
    Array across(const Node& n, const RowMap& map, const Ranges& needed) {
        Block& block = *n.block;
        if (block.whole().rank() > 1 && block.mesh().size() > 1) {
            fail(ErrorKind::Unsupported,
                 "mesh: an operand's rows lie along axis " + std::to_string(map.axis) +
                     " of the result; got a view of shape " + shape_text(n.array.shape()) + " of " +
                     shape_text(block.whole().shape()) + "; rows must lie along axis 0");
        }
        Ranges all(needed.size());
        for (std::size_t r = 0; r < all.size(); ++r) {
            if (!needed[r].empty()) all[r] = {0, map.count};
        }
        Array rows = block.fetch(n.array, map, all, "spreading", false);
        return needed[me_].empty() ? nothing(n) : first_axis(reshape(rows, n.shape), needed[me_]);
    }

    /// A view inside one row: its owner gives it to the ranks that need it.
    Array one_row(const Node& n, const RowMap& map, const Ranges& needed) {
        Block& block = *n.block;
        Ranges wanted(needed.size());
        bool others = false;
        for (std::size_t r = 0; r < needed.size(); ++r) {
            if (needed[r].empty()) continue;
            wanted[r] = {0, 1};
            others = others || map.indices(block.rows()[r]).empty();
        }
        Array row;
        if (others) row = block.fetch(n.array, map, wanted, "one row", false);
        if (needed[me_].empty()) return nothing(n);
        row = others ? reshape(row, n.shape) : block.part(n.array, map, {0, 1});
        return first_axis(row, needed[me_]);
    }

    std::size_t me_;
    std::vector<Halo> halos_;
    std::vector<Array> leaves_;
    std::size_t next_ = 0;
    std::map<const Node*, std::size_t> done_;  ///< kept in this walk: how many leaves it had
};

/// The rows of the expression that each rank evaluates if nothing else decides: those of the first
/// operand whose rows lie along axis 0.
std::optional<Ranges> natural_rows(const Node& n, Dims outer) {
    if (!shares_first_axis(n, outer)) return {};
    if (n.kind == Node::Kind::Leaf) {
        if (n.array.size() == 0) return {};
        RowMap map = n.block->map(n.array);
        if (map.axis != 0) return {};
        Ranges rows;
        for (Range own : n.block->rows()) rows.push_back(map.indices(own));
        return rows;
    }
    for (int k = 0; k < n.inputs; ++k) {
        if (auto rows = natural_rows(*n.in[k], outer)) return rows;
    }
    return {};
}

}  // namespace

NodePtr leaf(const Window& window) {
    auto n = std::make_shared<Node>();
    n->kind = Node::Kind::Leaf;
    n->dtype = window.view.dtype();
    n->shape.assign(window.view.shape().begin(), window.view.shape().end());
    n->block = window.block;
    n->array = window.view;
    window.block->add_reader(n);
    return n;
}

NodePtr local(const Arg& arg) {
    auto n = std::make_shared<Node>();
    n->kind = Node::Kind::Local;
    n->dtype = arg.view.dtype;
    n->weak = arg.weak;
    if (arg.is_scalar()) {
        n->array = Array::known(arg.scalar());
    } else {
        n->array = copy(to_device(Array::of(arg.view), nullptr));
        n->shape.assign(arg.view.layout->shape().begin(), arg.view.layout->shape().end());
    }
    return n;
}

NodePtr map(Op op, std::span<const NodePtr> args) {
    Arg types[2];
    for (std::size_t k = 0; k < args.size(); ++k) types[k] = typed(*args[k]);
    DType dtype = elementwise_dtype(op, {types, args.size()});
    NodePtr n = operation(Node::Kind::Map, info(op).numpy_name.data(), args, dtype);
    n->op = op;
    return bounded(n);
}

NodePtr select(const NodePtr& condition, const NodePtr& a, const NodePtr& b) {
    NodePtr args[] = {condition, a, b};
    Arg types[] = {typed(*a), typed(*b)};
    return bounded(operation(Node::Kind::Select, "where", args, common_dtype(types)));
}

NodePtr cast(const NodePtr& a, DType dtype) {
    return bounded(operation(Node::Kind::Cast, "astype", {&a, 1}, dtype));
}

Window make_empty(Mesh& mesh, Dims shape, DType dtype) {
    if (shape.empty()) {
        fail(ErrorKind::Value,
             "mesh: a distributed array needs rows; got shape (); expected at least one axis");
    }
    auto block = std::make_shared<Block>(mesh, shape, dtype, row_blocks(shape[0], mesh.size()), 1);
    return {block, block->whole()};
}

Window make_iota(Mesh& mesh, std::int64_t n) {
    std::int64_t shape[] = {n};
    Ranges rows = row_blocks(n, mesh.size());
    Range own = rows[static_cast<std::size_t>(mesh.rank())];
    Arg sum[] = {iota(own.size(), nullptr).arg(),
                 Arg{scalar_operand(Scalar::of(DType::Int64, own.begin))}};
    auto block = std::make_shared<Block>(mesh, shape, rows, apply(Op::Add, sum));
    return {block, block->whole()};
}

Window settle(Mesh& mesh, const NodePtr& node) {
    if (node->kind != Node::Kind::Leaf) {
        if (node->shape.empty()) {
            fail(ErrorKind::Internal, "mesh: an expression without axes is not distributed");
        }
        evaluate(mesh, node);
    }
    return {node->block, node->array};
}

Local evaluate(Mesh& mesh, const NodePtr& node) {
    Ranges rows =
        natural_rows(*node, node->dims()).value_or(row_blocks(node->shape[0], mesh.size()));
    return {rows, Evaluator(mesh).run(node, rows, true)};
}

void write(const Window& target, NodePtr value) {
    Dims to = target.view.shape();
    while (value->shape.size() > to.size() && value->shape[0] == 1) {
        // NumPy drops leading axes of extent 1 of the value.
        IndexItem first{IndexItem::Kind::Integer};
        if (value->kind == Node::Kind::Local) {
            value = local(index(value->array, {&first, 1}).arg());
        } else {
            Window w = settle(target.block->mesh(), value);
            value = leaf({w.block, index(w.view, {&first, 1})});
        }
    }
    Dims shapes[] = {value->dims(), to};
    std::vector<std::int64_t> both = broadcast_shapes("assignment", shapes);
    if (!std::equal(both.begin(), both.end(), to.begin(), to.end())) {
        fail(ErrorKind::Value, "assignment: could not broadcast the value from shape " +
                                   shape_text(value->dims()) + " into shape " + shape_text(to));
    }
    if (target.view.size() == 0) return;
    Block& block = *target.block;
    RowMap map = block.map(target.view);
    if (map.axis > 0) {
        fail(ErrorKind::Unsupported,
             "mesh: cannot write through a view whose rows lie along axis " +
                 std::to_string(map.axis) + "; got shape " + shape_text(to) +
                 "; write through a view whose rows lie along axis 0");
    }
    Ranges owned;
    for (Range rows : block.rows()) {
        Range i = map.indices(rows);
        // A view inside one row is wholly its owner's.
        if (map.axis < 0 && !i.empty() && !to.empty()) i = {0, to[0]};
        owned.push_back(i);
    }
    bool along = shares_first_axis(*value, to);
    Recorded recorded;
    Array here = Evaluator(block.mesh()).run(value, needed_of(*value, to, owned), along);
    Weak weak = value->weak;
    value.reset();
    block.before_write();
    std::size_t me = static_cast<std::size_t>(block.mesh().rank());
    if (!owned[me].empty()) {
        Range range = map.axis < 0 ? Range{0, 1} : owned[me];
        assign(block.part(target.view, map, range), {here.view(), weak});
    }
    block.after_write();
}

Array gather(const Window& window) {
    const Block& block = *window.block;
    std::vector<std::int64_t> shape(window.view.shape().begin(), window.view.shape().end());
    if (window.view.size() == 0) return empty(shape, window.view.dtype(), nullptr);
    RowMap map = block.map(window.view);
    Ranges all(block.rows().size(), Range{0, map.count});
    Array rows = block.fetch(window.view, map, all, "gather", true);
    if (map.axis <= 0) return reshape(rows, shape);
    // The rows came first: put their axis back.
    std::vector<int> axes;
    for (int a = 0; a < window.view.rank(); ++a)
        axes.push_back(a == map.axis ? 0 : a < map.axis ? a + 1 : a);
    return copy(transpose(rows, axes));
}

}  // namespace unisono::comm
