// Lowers elementwise groups to loop nests: the outermost axis parallel, the innermost vectorised.
#include "tape/run/lower_group.h"

#include <algorithm>

#include "tape/plan/group_values.h"

namespace unisono {

using ir::Builder;
using ir::E;
using ir::LoopKind;
using ir::S;
using ir::StrideClass;

namespace {

/// Elements of a one-dimensional space that one thread takes at a time: some 10 us of work, whole
/// cache lines. An operand whose elements lie apart costs a cache line for each.
std::int64_t run_length(const Group& group, const GroupShape& shape) {
    constexpr std::int64_t work = 1 << 17, longest = 1 << 14, shortest = 1 << 10;
    auto cost = static_cast<std::int64_t>(group.nodes.size());
    for (StrideClass c : shape.strides) cost += c == StrideClass::Other ? 8 : 0;
    return std::clamp(work / cost & -shortest, shortest, longest);
}

/// Wraps body in loops over the axes of the first array, outermost first.
S nest(Builder& b, const GroupShape& shape, std::span<const std::int32_t> index, std::int32_t like,
       S body) {
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
        bool innermost = axis == shape.rank - 1;
        LoopKind kind = axis == 0         ? LoopKind::Parallel
                        : innermost       ? LoopKind::Vector
                        : shape.on_device ? LoopKind::Parallel
                                          : LoopKind::Serial;
        body = b.loop(kind, index[static_cast<std::size_t>(axis)], b.i64(0), b.extent(like, axis),
                      b.i64(1), body);
    }
    return body;
}

/// A one-dimensional space on the host: runs of whole cache lines shared among threads, each a
/// vector loop.
S runs(Builder& b, std::int32_t i, std::int32_t like, std::int64_t length, S body) {
    E n = b.extent(like, 0);
    std::int32_t r = b.var("run", DType::Int64), end = b.var("end", DType::Int64);
    E first = b.mul(b.read(r), b.i64(length));
    E last = b.binary(Op::Min, b.add(first, b.i64(length)), n);
    S inner = b.loop(LoopKind::Vector, i, first, b.read(end), b.i64(1), body);
    E count = b.binary(Op::FloorDiv, b.add(n, b.i64(length - 1)), b.i64(length));
    return b.loop(LoopKind::Parallel, r, b.i64(0), count, b.i64(1),
                  b.block({b.declare(end, last), inner}));
}

}  // namespace

bool can_stream(const Group::Output& output) {
    return output.same_as_input < 0 && !is_complex(output.dtype);
}

ir::Module lower_map(const Group& group, const GroupShape& shape) {
    ir::Module module;
    ir::Function& f = module.functions.emplace_back("map");
    Builder b(f);
    GroupValues values(b, group, shape);
    for (std::size_t k = 0; k < group.outputs.size(); ++k) values.add_output(k, shape.rank);
    values.add_scalars();
    std::vector<std::int32_t> index;
    for (int axis = 0; axis < shape.rank; ++axis)
        index.push_back(b.var("i" + std::to_string(axis), DType::Int64));
    std::vector<E> point;
    for (auto v : index) point.push_back(b.read(v));
    std::int32_t like = values.outputs().front();
    std::vector<S> body = values.compute(point, like);
    for (std::size_t k = 0; k < group.outputs.size(); ++k) {
        bool streaming = shape.streaming && can_stream(group.outputs[k]);
        body.push_back(b.store(values.outputs()[k], point, values.value(group.outputs[k].node),
                               ir::Access::Inside, streaming));
    }
    S inner = b.block(body);
    bool blocked = shape.rank == 1 && !shape.on_device;
    S loops = blocked ? runs(b, index[0], like, run_length(group, shape), inner)
                      : nest(b, shape, index, like, inner);
    f.body = b.block({loops});
    values.append_functions(module);
    return module;
}

}  // namespace unisono
