// Tries the program that kernel_intervals writes, and removes the tests that it covers.
#include "passes/kernels/prove_accesses.h"

#include <algorithm>

#include "ir/atomics.h"
#include "passes/analysis/intervals/kernel_intervals.h"
#include "passes/analysis/intervals/wide_index.h"
#include "passes/analysis/nests.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// Numbers of a launch that proves what any may: one group of many work-items, of which the first
/// one runs, and long arrays.
Interval of_trial(const LaunchInput& input) {
    constexpr std::int64_t size = 64, length = std::int64_t{1} << 31;
    if (input.kind == LaunchInput::Kind::Value) return {size, size};
    if (input.kind == LaunchInput::Kind::Extent) return {length, length};
    switch (input.query) {
        case WorkItemQuery::GlobalSize:
        case WorkItemQuery::LocalSize: return {size, size};
        case WorkItemQuery::GroupCount: return {1, 1};
        default: return {0, 0};
    }
}

/// Leaves out the proofs that depend on elements of arrays and the like: no launch would pass.
std::vector<bool> possible_proofs(IntervalProgram& program, std::int32_t proofs) {
    std::vector<bool> possible(static_cast<std::size_t>(proofs), true);
    std::vector<Interval> values;
    for (const LaunchInput& input : program.inputs) values.push_back(of_trial(input));
    for (;;) {
        const std::int32_t failed = program.run(values);
        if (failed < 0) return possible;
        possible[static_cast<std::size_t>(failed)] = false;
        std::erase_if(program.steps, [&](const IntervalStep& s) { return s.proof == failed; });
        number_loops(program);
    }
}

bool is_tested(Access a) { return a == Access::Checked || a == Access::Wrapped; }

class DropTests final : public Rewriter {
  public:
    DropTests(Function& f, const KernelIntervals& known, const std::vector<bool>& proven)
        : Rewriter(f), known_(known), proven_(proven) {}

    E expr(E e) override {
        e = children(e);
        if (e->kind != ExprKind::Load || !is_tested(e->access)) return e;
        if (!is_proven(known_.accesses[next_access_++])) return e;
        b_.line = e->line;
        Expr changed = *e;
        changed.access = Access::Inside;
        changed.args = inside(e->id, e->args, e->access);
        return b_.own(changed);
    }

    S stmt(S s) override {
        if (only_raises(s)) {
            const std::int32_t proof = known_.raises[next_raise_++];
            s = children(s);
            return is_proven(proof) ? nullptr : s;
        }
        s = children(s);
        if (s->kind != StmtKind::Store && s->kind != StmtKind::Atomic) return s;
        if (!is_tested(s->access) || !is_proven(known_.accesses[next_access_++])) return s;
        b_.line = s->line;
        Stmt changed = *s;
        const std::size_t count = index_count(*s);
        const auto at = inside(s->id, s->args.first(count), s->access);
        std::vector<E> args(at.begin(), at.end());
        args.insert(args.end(), s->args.begin() + static_cast<std::ptrdiff_t>(count),
                    s->args.end());
        changed.access = Access::Inside;
        changed.args = b_.list(std::span<const E>(args));
        return b_.own(changed);
    }

  private:
    bool is_proven(std::int32_t proof) const {
        return proof >= 0 && proven_[static_cast<std::size_t>(proof)];
    }

    std::span<const E> inside(std::int32_t array, std::span<const E> indices, Access access) {
        std::vector<E> at;
        for (std::size_t k = 0; k < indices.size(); ++k) {
            E index = wide_index(b_, indices[k], {});
            if (counts_from_end(indices[k], access))
                index = simplified(b_, b_.add(extent_of(array, k), index));
            at.push_back(index);
        }
        return b_.list(std::span<const E>(at));
    }
    E extent_of(std::int32_t array, std::size_t axis) {
        return b_.extent(array, static_cast<int>(axis));
    }

    const KernelIntervals& known_;
    const std::vector<bool>& proven_;
    std::size_t next_access_ = 0, next_raise_ = 0;
};

}  // namespace

std::unique_ptr<const IntervalProgram> prove_accesses(Module& module) {
    Function& f = module.entry();
    if (!f.is_kernel) return nullptr;
    std::optional<KernelIntervals> known = find_kernel_intervals(f);
    if (!known || known->proofs == 0) return nullptr;
    const std::vector<bool> proven = possible_proofs(known->program, known->proofs);
    if (std::find(proven.begin(), proven.end(), true) == proven.end()) return nullptr;
    DropTests(f, *known, proven).run();
    return std::make_unique<const IntervalProgram>(std::move(known->program));
}

}  // namespace unisono::passes
