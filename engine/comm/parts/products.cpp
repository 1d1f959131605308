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
#include "library/linalg/multiply.h"
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

/// Adds the product of two matrices to what is there.
struct AddProduct final : OpaqueCall {
    void run(std::span<const View> in, std::span<const View> out) override {
        auto matrix = [](const View& v) {
            return library::MatrixStack{v.data(), v.layout->shape(), v.layout->strides()};
        };
        library::add_product(out[0].dtype, matrix(in[0]), matrix(in[1]), out[0].data());
    }
    std::string name() const override { return "product with a panel, added"; }
    std::int64_t work(std::span<const View> in, std::int64_t elements) const override {
        return elements * in[0].layout->shape()[1];
    }
};

void add_product(const Array& a, const Array& b, const Array& sum) {
    const Dims shape = a.shape(), steps = a.strides();
    const bool lies_well = library::takes_strides(shape[0], shape[1], steps[0], steps[1]);
    const Array rows = lies_well ? a : copy(a);
    Entry e{};
    e.kind = EntryKind::Opaque;
    for (const Array* in : {&rows, &b, &sum}) e.in[e.inputs++] = in->view();
    e.out = sum.view();
    e.compute = sum.dtype();
    e.call = std::make_unique<AddProduct>().release();  // owned by the tape
    Tape::current().append(e);
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
    const Array own = library::packed(p.part(b, panels));
    std::vector<int> order;
    for (int r = 0; r < mesh.size(); ++r) {
        if (!panels.split.range(r).empty()) order.push_back(r);
    }
    if (order.empty()) order.push_back(0);
    // The owner sends its panel from where it lies, and uses it there; behind the message, which
    // is recorded as one that writes it: others wait for it.
    auto panel_of = [&](int r) {
        const std::int64_t shape[] = {panels.split.range(r).size(), b.layout->shape()[1]};
        const std::int64_t bytes = shape[0] * shape[1] * size_of(b.dtype);
        const bool is_mine = r == mesh.rank();
        const Array panel = is_mine ? own : empty(shape, b.dtype, nullptr);
        std::vector<Part> sends, receives;
        for (int other = 0; is_mine && other < mesh.size(); ++other) {
            if (other != r && bytes > 0) sends.push_back({other, 0, bytes});
        }
        if (!is_mine && bytes > 0) {
            receives.push_back({r, 0, bytes});
            mesh.count_panel(bytes);
        }
        if (mesh.size() > 1)
            mesh.record("panel of a product", panel.view(), std::move(sends), panel.view(),
                        std::move(receives), false);
        return panel;
    };
    Array sum, next = panel_of(order[0]);
    for (std::size_t i = 0; i < order.size(); ++i) {
        // A panel is on its way before the last one is used: nobody waits for who computes longer.
        const Array panel = next;
        if (i + 1 < order.size()) next = panel_of(order[i + 1]);
        const Array local[] = {slice(mine, 1, panels.split.range(order[i])), panel};
        if (sum.is_known())
            sum = call_locally(e, local);
        else
            add_product(local[0], local[1], sum);
    }
    p.store(e.out, sum, rows, "product");
}

}  // namespace unisono::comm
