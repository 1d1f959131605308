// Chooses how a primitive is run on a mesh, and runs it along an independent axis.
#include "comm/parts/primitive.h"

#include <algorithm>

#include "comm/parts/exchange.h"
#include "comm/pieces.h"
#include "comm/redistribute.h"
#include "core/error.h"
#include "core/limits.h"
#include "core/threads/threads.h"
#include "primitives/signature.h"
#include "tape/record/record.h"

namespace unisono::comm {

namespace {

/// Along which axis of each operand and result the ranks share a call; -1: none, all of it.
struct SharedAxes {
    std::vector<int> operands, results;
    std::int64_t extent = 0;
    bool is_single = false;  ///< there are such axes, but all are of extent 1
};

/// How primitives are run that leave no axis independent.
struct Rule {
    std::string_view id;
    void (*run)(Partition&, const Entry&);  ///< null: every rank gets all operands
    int most_axes = 1;                      ///< of the first operand
};
constexpr Rule rules[] = {
    {"sort", sort_parts},
    {"argsort", argsort_parts},
    {"unique", unique_parts},
    {"argmax", extreme_of_parts},
    {"argmin", extreme_of_parts},
    {"select", select_parts, max_rank},
    {"nonzero", nonzero_parts, max_rank},
    {"fill", fill_parts, max_rank},
    {"combine_at", combine_parts},
    {"random_numbers", draw_parts, max_rank},
    {"random_integers", draw_parts, max_rank},
    {"random_permutations", nullptr, max_rank},
    {"count_numbers", count_parts},
    {"count_in_bins", count_parts},
    {"scan", scan_parts},
    {"matmul", matmul_parts, 2},
    {"qr", qr_parts, 2},
    {"svd", svd_parts, 2},
    {"lstsq", lstsq_parts, 2},
    {"partition", partition_parts},
    {"argpartition", argpartition_parts},
    {"top_k", top_k_parts},
    {"search_sorted", search_parts},
    {"reduce_segments", segment_parts},
    // Matrices of which every rank gets all, and vectors whose algorithm over parts is yet to come.
    {"solve", nullptr, 2},
    {"inv", nullptr, 2},
    {"det", nullptr, 2},
    {"cholesky", nullptr, 2},
    {"eigh", nullptr, 2},
    {"eig", nullptr, 2},
    {"fft", nullptr, 1},
    {"slide", nullptr, 1},
    {"matmul_scaled", nullptr, 2},
    {"repeat", nullptr, 1},
    {"count_repeats", nullptr, 1},
};

const Rule* rule_of(const Entry& e) {
    const auto* call = dynamic_cast<const library::PrimitiveCall*>(e.call);
    if (!call) return nullptr;
    const auto found = std::ranges::find(rules, call->row().id, &Rule::id);
    if (found == std::end(rules)) return nullptr;
    const View& first = e.inputs > 0 ? e.in[0] : e.out;
    return first.layout->rank() <= found->most_axes ? found : nullptr;
}

std::vector<int> ranks_of(std::span<const View> views) {
    std::vector<int> ranks;
    for (const View& v : views) ranks.push_back(v.layout->rank());
    return ranks;
}

/// `preferred`: the axis that each operand is split along, or -1.
SharedAxes shared_axes(const library::PrimitiveCall& call, std::span<const View> operands,
                       std::span<const View> results, std::span<const int> preferred) {
    const primitives::Independence free = primitives::independent_axes(
        call.row(), call.attributes(), ranks_of(operands), ranks_of(results));
    SharedAxes best;
    best.is_single = free.loops > 0;
    bool is_preferred = false;
    for (int loop = 0; loop < free.loops; ++loop) {
        SharedAxes axes;
        auto axis_of = [&](const primitives::LoopAxes& own, Dims shape) {
            const int k = loop - (free.loops - static_cast<int>(own.size()));
            if (k < 0) return -1;
            const int axis = own[static_cast<std::size_t>(k)];
            const std::int64_t n = shape[static_cast<std::size_t>(axis)];
            if (n == 1) return -1;  // is broadcast
            axes.extent = n;
            return axis;
        };
        bool wanted = false, is_everywhere = true;
        for (std::size_t k = 0; k < operands.size(); ++k) {
            axes.operands.push_back(axis_of(free.operands[k], operands[k].layout->shape()));
            wanted = wanted || (preferred[k] >= 0 && preferred[k] == axes.operands.back());
        }
        for (std::size_t k = 0; k < results.size(); ++k) {
            axes.results.push_back(axis_of(free.results[k], results[k].layout->shape()));
            is_everywhere = is_everywhere && axes.results.back() >= 0;
        }
        if (axes.extent == 0) continue;
        best.is_single = false;
        if (!is_everywhere) continue;
        if (best.operands.empty() || (wanted && !is_preferred) ||
            (wanted == is_preferred && axes.extent > best.extent)) {
            best = axes;
            is_preferred = wanted;
        }
    }
    return best;
}

/// How a large result is computed in runs of rows that stay in a cache; null where that does not
/// go, or leaves too few rows to a run.
std::optional<ComputedRows> rows_of_call(const library::PrimitiveCall& call, const Sharing& shared,
                                         std::span<const Array> local, std::span<const View> out,
                                         int rank) {
    constexpr std::int64_t least_rows = 8, least_runs = 2;
    if (out.size() != 1 || local.size() > library::most_inputs || call.together) return {};
    if (call.row().peeks != Primitive::Peeks::Never || shared.results[0].split.axis != 0) return {};
    auto is_by_rows = [](const Held& h) {
        return h.kind != Held::Kind::Along || h.split.axis == 0;
    };
    if (!std::ranges::all_of(shared.operands, is_by_rows)) return {};
    const Box part = shared.results[0].box(rank, out[0].layout->shape());
    const std::int64_t rows = part[0].size();
    const std::int64_t bytes = elements_of(part) * size_of(out[0].dtype);
    if (bytes < least_runs * limits::moved_run_bytes) return {};
    const std::int64_t at_once = rows * limits::moved_run_bytes / bytes * thread_count();
    if (at_once < least_rows * thread_count() || at_once * least_runs > rows) return {};
    return ComputedRows{out[0].dtype, at_once, [&call, &shared, local](Range run) {
                            std::vector<Array> some(local.begin(), local.end());
                            for (std::size_t k = 0; k < some.size(); ++k) {
                                if (shared.operands[k].kind == Held::Kind::Along)
                                    some[k] = rows_of(some[k], run);
                            }
                            return library::detail::record(call.row(), call.attributes(), some,
                                                           nullptr, nullptr);
                        }};
}

SharedAxes shared_axes_of(const Entry& e) {
    const std::vector<View> in = reads_of(e), out = writes_of(e);
    const std::vector<int> none(in.size(), -1);
    return shared_axes(call_of(e), in, out, none);
}

}  // namespace

std::vector<View> reads_of(const Entry& e) {
    std::vector<View> all;
    for_each_read(e, [&](const View& v) { all.push_back(v); });
    return all;
}

std::vector<View> writes_of(const Entry& e) {
    std::vector<View> all;
    for_each_write(e, [&](const View& v) { all.push_back(v); });
    return all;
}

std::optional<Sharing> sharing_of(Partition& p, const Entry& e) {
    const auto* call = dynamic_cast<const library::PrimitiveCall*>(e.call);
    if (!call || call->row().effect != Primitive::Effect::New || e.inputs == 0) return {};
    const std::vector<View> in = reads_of(e), out = writes_of(e);
    std::vector<int> preferred;
    std::vector<Held> has;
    for (const View& v : in) {
        has.push_back(p.held(v));
        preferred.push_back(has.back().kind == Held::Kind::Along ? has.back().split.axis : -1);
    }
    const SharedAxes axes = shared_axes(*call, in, out, preferred);
    if (axes.operands.empty()) return {};
    Split parts = Split::even(0, axes.extent, p.mesh().size());
    for (std::size_t k = in.size(); k-- > 0;) {
        if (axes.operands[k] >= 0 && axes.operands[k] == preferred[k]) parts = has[k].split;
    }
    auto share = [&](int axis) {
        if (axis < 0) return Held::all(p.mesh().size());
        Split s = parts;
        s.axis = axis;
        return Held::along(s);
    };
    Sharing made;
    for (int axis : axes.operands) made.operands.push_back(share(axis));
    for (int axis : axes.results) made.results.push_back(share(axis));
    return made;
}

void run_everywhere(Partition& p, const Entry& e) {
    const Held all = Held::all(p.mesh().size());
    std::vector<Array> local;
    for (const View& v : reads_of(e)) local.push_back(p.part(v, all));
    const std::vector<Array> made =
        library::detail::record_wide(call_of(e).row(), call_of(e).attributes(), local);
    const std::vector<View> out = writes_of(e);
    for (std::size_t k = 0; k < out.size(); ++k)
        p.store(out[k], made[k], all, "result of " + call_of(e).name());
}

Array call_locally(const Entry& e, std::span<const Array> operands) {
    return library::detail::record(call_of(e).row(), call_of(e).attributes(), operands, nullptr,
                                   nullptr);
}

void check_primitive(const Entry& e) {
    if (moves_positions(e)) return;
    const auto* call = dynamic_cast<const library::PrimitiveCall*>(e.call);
    if (call && rule_of(e)) return;
    if (call && call->row().effect == Primitive::Effect::New && e.inputs > 0) {
        const SharedAxes axes = shared_axes_of(e);
        if (!axes.operands.empty() || axes.is_single) return;
    }
    const View& first = e.inputs > 0 ? e.in[0] : e.out;
    fail(ErrorKind::Unsupported, (e.call ? e.call->name() : std::string("statement")) +
                                     ": is not computed on a mesh; got an array of shape " +
                                     shape_text(first.layout->shape()) +
                                     "; move it to the host with .to_device(\"cpu\") first");
}

void Partition::primitive(const Entry& e) {
    if (moves_positions(e)) return move_positions(*this, e);
    const Rule* rule = rule_of(e);
    // Values are independent of each other, but all ranks would need all that is searched.
    if (rule && rule->run == search_parts && !is_few(e.in[0])) return search_parts(*this, e);
    const std::optional<Sharing> shared = sharing_of(*this, e);
    if (!shared) return rule && rule->run ? rule->run(*this, e) : run_everywhere(*this, e);
    const library::PrimitiveCall& call = call_of(e);
    const std::vector<View> in = reads_of(e), out = writes_of(e);
    std::vector<Array> local;
    for (std::size_t k = 0; k < in.size(); ++k) {
        const Held& wanted = shared->operands[k];
        // Host functions take packed operands; a part of what every rank has is a window on it.
        const Array part =
            operand_part(in[k], wanted, wanted.box(mesh_.rank(), in[k].layout->shape()));
        local.push_back(part.view().layout->contiguous() ? part : copy(part));
    }
    const std::string what = "result of " + call.name();
    if (const auto rows = rows_of_call(call, *shared, local, out, mesh_.rank())) {
        if (const auto wanted = moves_to(out[0], shared->results[0])) {
            Block& block = *operand(out[0]).block;
            return block.adopt(planned_.at(&block), move_parts(mesh_, *rows, out[0].layout->shape(),
                                                               shared->results[0], *wanted, what));
        }
    }
    std::vector<Array> made;
    auto compute = [&] {
        if (out.size() == 1 && in.size() <= library::most_inputs)
            made = {library::detail::record(call.row(), call.attributes(), local, call.together,
                                            nullptr)};
        else
            made = library::detail::record_wide(call.row(), call.attributes(), local);
    };
    // What looks at data may refuse that of one rank.
    if (call.row().peeks == Primitive::Peeks::Never)
        compute();
    else
        agree(mesh_, call.name(), compute);
    for (std::size_t k = 0; k < out.size(); ++k) store(out[k], made[k], shared->results[k], what);
}

}  // namespace unisono::comm
