// Runs primitives along their independent axes.
#include "comm/primitive_parts.h"

#include "comm/partition.h"
#include "comm/redistribute.h"
#include "core/error.h"
#include "primitives/signature.h"
#include "tape/record/record.h"

namespace unisono::comm {

namespace {

const library::PrimitiveCall* call_of(const Entry& e) {
    return dynamic_cast<const library::PrimitiveCall*>(e.call);
}

std::vector<int> ranks_of(std::span<const View> views) {
    std::vector<int> ranks;
    for (const View& v : views) ranks.push_back(v.layout->rank());
    return ranks;
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

void check_primitive(const Entry& e) {
    const library::PrimitiveCall* call = call_of(e);
    const std::string name = e.call ? e.call->name() : std::string("statement");
    auto refuse = [&] {
        fail(ErrorKind::Unsupported,
             name + ": is not computed on a mesh; got an array of shape " +
                 shape_text(reads_of(e).empty() ? e.out.layout->shape() : e.in[0].layout->shape()) +
                 "; move it to the host with .to_device(\"cpu\") first");
    };
    if (!call || call->row().effect != Primitive::Effect::New) refuse();
    const std::vector<View> in = reads_of(e), out = writes_of(e);
    const std::vector<int> none(in.size(), -1);
    if (in.empty() || shared_axes(*call, in, out, none).operands.empty()) refuse();
}

SharedAxes shared_axes(const library::PrimitiveCall& call, std::span<const View> operands,
                       std::span<const View> results, std::span<const int> preferred) {
    const primitives::Independence free = primitives::independent_axes(
        call.row(), call.attributes(), ranks_of(operands), ranks_of(results));
    SharedAxes best;
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
        if (axes.extent == 0 || !is_everywhere) continue;
        if (best.operands.empty() || (wanted && !is_preferred) ||
            (wanted == is_preferred && axes.extent > best.extent)) {
            best = axes;
            is_preferred = wanted;
        }
    }
    return best;
}

void Partition::primitive(const Entry& e) {
    const library::PrimitiveCall& call = *call_of(e);
    const std::vector<View> in = reads_of(e), out = writes_of(e);
    std::vector<int> preferred;
    std::vector<Held> has;
    for (const View& v : in) {
        has.push_back(held(v));
        preferred.push_back(has.back().kind == Held::Kind::Along ? has.back().split.axis : -1);
    }
    const SharedAxes axes = shared_axes(call, in, out, preferred);
    Split parts = Split::even(0, axes.extent, mesh_.size());
    for (std::size_t k = in.size(); k-- > 0;) {
        if (axes.operands[k] >= 0 && axes.operands[k] == preferred[k]) parts = has[k].split;
    }
    auto share = [&](int axis) {
        if (axis < 0) return Held::all(mesh_.size());
        Split s = parts;
        s.axis = axis;
        return Held::along(s);
    };
    std::vector<Array> local;
    for (std::size_t k = 0; k < in.size(); ++k) {
        const Held wanted = share(axes.operands[k]);
        local.push_back(
            operand_part(in[k], wanted, wanted.box(mesh_.rank(), in[k].layout->shape())));
    }
    const std::string what = "result of " + call.name();
    if (out.size() == 1 && in.size() <= library::most_inputs) {
        const Array made =
            library::detail::record(call.row(), call.attributes(), local, call.together, nullptr);
        return store(out[0], made, share(axes.results[0]), what);
    }
    const std::vector<Array> made =
        library::detail::record_wide(call.row(), call.attributes(), local);
    for (std::size_t k = 0; k < out.size(); ++k)
        store(out[k], made[k], share(axes.results[k]), what);
}

}  // namespace unisono::comm
