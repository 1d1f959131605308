// Products of spread matrices.
//
// C = A B. Where the common axis is split in both, each rank multiplies its parts, and the products
// are added in the order of the ranks. Else the rows of A are split and the rows of B go from rank
// to rank, a panel at a time (SUMMA on a grid of one column): C takes in B's panels in the order of
// the ranks that have them. No rank ever holds all of A or B.
#include "comm/parts/primitive.h"
#include "comm/pieces.h"
#include "comm/redistribute.h"
#include "comm/reduce.h"
#include "library/linalg/matmul.h"
#include "tape/record/record.h"

namespace unisono::comm {

namespace {

/// Adds the products of parts of a common axis.
void add_products(Partition& p, const Entry& e, const Held& along_k, const Held& rows_k) {
    Mesh& mesh = p.mesh();
    const std::string what = "sum of products of parts";
    const Array local[] = {p.part(e.in[0], along_k), p.part(e.in[1], rows_k)};
    const Array product = call_locally(e, local);
    std::vector<std::int64_t> shape(product.shape().begin(), product.shape().end());
    shape.insert(shape.begin(), 1);
    // Each rank adds the parts of the result that it keeps.
    std::vector<std::int64_t> all(product.shape().begin(), product.shape().end());
    all.insert(all.begin(), mesh.size());
    const Held terms = Held::along(Split::even(0, mesh.size(), mesh.size()));
    const int rows = static_cast<int>(shape.size()) > 1 ? 1 : 0;
    if (rows == 0) {
        const Array sum =
            reduce_along(mesh, Op::Add, reshape(product, {1}), terms.split, true, product.dtype());
        return p.store(e.out, sum, Held::all(mesh.size()), what);
    }
    const Held mine = Held::along(Split::even(1, all[1], mesh.size()));
    const Array moved = move_parts(mesh, reshape(product, shape), all, terms, mine, what);
    p.store(e.out, reduce(Op::Add, moved, {{0}}, false, product.dtype()),
            Held::along(Split::even(0, all[1], mesh.size())), what);
}

}  // namespace

void matmul_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const View &a = e.in[0], &b = e.in[1];
    const auto& product = attributes_of<primitives::Product>(e);
    const Held has_a = p.held(a), has_b = p.held(b);
    const std::int64_t m = a.layout->shape()[0], k = a.layout->shape()[1];
    auto is_along = [](const Held& h, int axis) {
        return h.kind == Held::Kind::Along && h.split.axis == axis && !h.split.cycle;
    };
    const Held along_k = is_along(has_a, 1)   ? has_a
                         : is_along(has_b, 0) ? has_b
                                              : Held::along(Split::even(0, k, mesh.size()));
    auto on_axis = [](Held h, int axis) {
        h.split.axis = axis;
        return h;
    };
    if (product.row || m == 1 || (is_along(has_a, 1) && is_along(has_b, 0)))
        return add_products(p, e, on_axis(along_k, 1), on_axis(along_k, 0));
    const Held rows = is_along(has_a, 0) ? has_a : Held::along(Split::even(0, m, mesh.size()));
    const Array mine = p.part(a, rows);
    if (has_b.kind == Held::Kind::All) {
        const Array local[] = {mine, p.part(b, has_b)};
        return p.store(e.out, call_locally(e, local), rows, "product");
    }
    const Held panels = is_along(has_b, 0) ? has_b : Held::along(Split::even(0, k, mesh.size()));
    const Array own = p.part(b, panels);
    std::vector<int> order;
    for (int r = 0; r < mesh.size(); ++r) {
        if (!panels.split.range(r).empty()) order.push_back(r);
    }
    if (order.empty()) order.push_back(0);
    auto panel_of = [&](int r) {
        const std::int64_t shape[] = {panels.split.range(r).size(), b.layout->shape()[1]};
        return move_parts(mesh, own, shape, Held::at(r), Held::all(mesh.size()),
                          "panel of a product");
    };
    Array sum, next = panel_of(order[0]);
    for (std::size_t i = 0; i < order.size(); ++i) {
        // A panel is on its way before the last one is used: nobody waits for who computes longer.
        const Array panel = next;
        if (i + 1 < order.size()) next = panel_of(order[i + 1]);
        const Array local[] = {slice(mine, 1, panels.split.range(order[i])), panel};
        const Array part = call_locally(e, local);
        if (sum.is_known()) {
            sum = part;
        } else {
            const Arg both[] = {sum.arg(), part.arg()};
            sum = apply(Op::Add, both);
        }
    }
    p.store(e.out, sum, rows, "product");
}

}  // namespace unisono::comm
