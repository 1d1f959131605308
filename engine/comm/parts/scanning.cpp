// Running sums of a vector that is spread, with the bits of one rank (docs/numbers.md).
//
// Parts begin at multiples of a block. Each rank finds the totals of its blocks; what precedes a
// part is passed on from rank to rank, which takes an operation a block; then each rank scans.
#include <functional>

#include "comm/parts/primitive.h"
#include "comm/pieces.h"
#include "library/reduce/scan.h"
#include "primitives/counting.h"

namespace unisono::comm {

namespace {

using library::scan_block;

/// One of the library's steps over a part, and what precedes it where that is given.
struct ScanStep final : OpaqueCall {
    using Step = void (*)(Op, const View& in, const View* before, const View& out);
    ScanStep(Op op, Step step) : op_(op), step_(step) {}
    void run(std::span<const View> in, std::span<const View> out) override {
        step_(op_, in[0], in.size() > 1 ? &in[1] : nullptr, out[0]);
    }
    std::string name() const override { return "scan of a part"; }

  private:
    Op op_;
    Step step_;
};

Array step_of(Op op, ScanStep::Step step, const Array& in, const Array* before, std::int64_t n) {
    const std::int64_t shape[] = {n};
    Array out = empty(shape, in.dtype(), nullptr);
    if (n == 0) return out;
    Entry e{};
    e.kind = EntryKind::Opaque;
    e.in[e.inputs++] = in.view();
    if (before) e.in[e.inputs++] = before->view();
    e.out = out.view();
    e.compute = out.dtype();
    e.call = std::make_unique<ScanStep>(op, step).release();  // owned by the tape
    Tape::current().append(e);
    return out;
}

/// Parts of whole blocks.
Held by_blocks(std::int64_t n, int ranks) {
    const Split blocks = Split::even(0, (n + scan_block - 1) / scan_block, ranks);
    auto bounds = std::make_shared<std::vector<std::int64_t>>();
    for (int r = 0; r < ranks; ++r)
        bounds->push_back(std::min(n, blocks.range(r).begin * scan_block));
    bounds->push_back(n);
    Split split = Split::even(0, n, ranks);
    split.bounds = std::move(bounds);
    return Held::along(split);
}

}  // namespace

void scan_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const View& v = e.in[0];
    const std::int64_t n = v.layout->size();
    const Op op = attributes_of<primitives::Scanning>(e).op;
    const Held parts = by_blocks(n, mesh.size());
    const Array given = p.part(v, parts);
    const Array part = given.view().layout->contiguous() ? given : copy(given);
    const Range own = parts.split.range(mesh.rank());
    const bool takes_part = !own.empty();
    const int before = takes_part && own.begin > 0 ? parts.split.owner(own.begin - 1) : -1;
    const int after = takes_part && own.end < n ? parts.split.owner(own.end) : -1;
    const std::int64_t one[] = {1};
    const Array carry = empty(one, part.dtype(), nullptr);
    const Array* precedes = before >= 0 ? &carry : nullptr;
    const Array totals = step_of(
        op,
        [](Op op, const View& in, const View*, const View& out) {
            library::scan_totals(op, in, out);
        },
        part, nullptr, own.size() / scan_block);
    mesh.pass_on(
        "scan of " + shape_text(v.layout->shape()), before, carry,
        [&] {
            if (totals.size() == 0) return carry;
            const Array carries =
                step_of(op, library::scan_carries, totals, precedes, totals.size());
            return copy(rows_of(carries, {carries.size() - 1, carries.size()}));
        },
        after);
    p.store(e.out, step_of(op, library::scan_part, part, precedes, own.size()), parts,
            "result of a scan");
}

}  // namespace unisono::comm
