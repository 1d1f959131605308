// How the iterations of prange are shared out: schedules, chunks, threads; arrays that a loop
// reduces; atomic operations.
//
// A chunk is a serial loop over iterations that belong together, the parallel loop runs over
// chunks. With a number of threads it runs over that many lanes, each of which takes every so many
// chunks. What a loop computes follows from the program alone: a reduction combines chunk by chunk.
#include "core/settings.h"
#include "frontend/control_flow.h"

namespace unisono::frontend {

/// Parts of a loop that reduces arrays; each has a copy of the arrays.
constexpr std::int64_t most_parts = 16;
constexpr std::int64_t cache_line = 64;

void ControlFlow::read_schedule(const Node& keyword, Range& range) {
    const Node& given = keyword.children[0];
    if (keyword.text == "schedule") {
        if (given.kind == NodeKind::NoneValue) return;
        bool is_known =
            given.kind == NodeKind::Text &&
            (given.text == "static" || given.text == "dynamic" || given.text == "guided");
        if (!is_known) {
            refuse(given.place, "schedule is 'static', 'dynamic' or 'guided'",
                   "write one of them as a text");
        }
        range.schedule = given.text;
        return;
    }
    Value v = expression(given);
    if (v.type.kind == Type::Kind::None) return;
    bool is_integer_value = v.type.is_scalar() && is_integer(v.type.dtype);
    std::optional<std::int64_t> known;
    if (is_integer_value) known = constant_int(v.expr);
    std::string got = describe(v.type);
    if (known) got = std::to_string(*known);
    if (!is_integer_value || (known && *known < 1)) {
        refuse(given.place, keyword.text + " must be a positive integer; got " + got,
               "give a number of at least 1");
    }
    E e = settle(cast(v.expr, DType::Int64));
    if (!known) {
        fault_if(op_binary(Op::Lt, e, i64(1)), ErrorKind::Value,
                 keyword.text + " must be at least 1; got {0}", given.place, {e});
    }
    (keyword.text == "num_threads" ? range.threads : range.chunk) = e;
}

/// Iterations of the range.
E ControlFlow::trip_count(const Range& range) {
    auto step = constant_int(range.step);
    E span = op_binary(Op::Sub, range.end, range.begin);
    auto rounded = [&](std::int64_t up) {
        E last = op_binary(Op::Sub, op_binary(Op::Add, span, range.step), i64(up));
        return op_binary(Op::FloorDiv, last, range.step);
    };
    E count = !step ? b_->select(op_binary(Op::Gt, range.step, i64(0)), rounded(1), rounded(-1))
              : *step > 0 ? rounded(1)
                          : rounded(-1);
    return temporary(op_binary(Op::Max, count, i64(0)), "count");
}

/// The loop over chunks around the loop over a chunk's iterations.
S ControlFlow::scheduled(const Range& range, std::int32_t var, S inside,
                         const std::vector<ir::Reduction>& reductions, const Parts& parts) {
    bool is_plain = !parts.count && !range.threads && !range.chunk &&
                    (range.schedule.empty() || range.schedule == "static");
    if (is_plain)
        return b_->loop(ir::LoopKind::Parallel, var, range.begin, range.end, range.step, inside,
                        reductions);
    E count = trip_count(range);
    auto divided = [&](E a, E b) {
        E up = op_binary(Op::Sub, op_binary(Op::Add, a, b), i64(1));
        return op_binary(Op::FloorDiv, up, b);
    };
    E lanes = parts.count ? parts.count : range.threads;
    E size = range.chunk ? range.chunk : i64(1);
    if (parts.count || (!range.chunk && (range.schedule.empty() || range.schedule == "static")))
        size = op_binary(Op::Max, divided(count, lanes), i64(1));
    else if (range.schedule == "guided")
        size = op_binary(Op::Max, divided(count, i64(64)), size);
    size = is_trivial(size) ? size : temporary(size, "chunk_size");
    E chunks = temporary(divided(count, size), "chunks");

    std::int32_t chunk =
        parts.var >= 0 && !range.threads ? parts.var : b_->var("chunk", DType::Int64);
    if (parts.count) chunk = parts.var;
    E first = op_binary(Op::Mul, b_->read(chunk), size);
    E last = op_binary(Op::Min, op_binary(Op::Add, first, size), count);
    auto at_iteration = [&](E k) {
        return op_binary(Op::Add, range.begin, op_binary(Op::Mul, k, range.step));
    };
    S of_chunk = b_->loop(ir::LoopKind::Serial, var, at_iteration(first), at_iteration(last),
                          range.step, inside);
    if (parts.count || !range.threads)
        return b_->loop(ir::LoopKind::Parallel, chunk, i64(0), chunks, i64(1),
                        b_->block({of_chunk}), reductions);
    std::int32_t lane = b_->var("lane", DType::Int64);
    E used = temporary(op_binary(Op::Min, lanes, chunks), "lanes");
    S of_lane =
        b_->loop(ir::LoopKind::Serial, chunk, b_->read(lane), chunks, lanes, b_->block({of_chunk}));
    return b_->loop(ir::LoopKind::Parallel, lane, i64(0), used, i64(1), b_->block({of_lane}),
                    reductions);
}

/// Copies of the arrays that the loop reduces, one per part, holding what changes nothing.
ControlFlow::Parts ControlFlow::make_parts(const ParallelPlan& plan, const Range& range,
                                           const Place& place) {
    Parts parts;
    if (plan.array_reductions.empty()) return parts;
    parts.var = b_->var("part", DType::Int64);
    lower_bounds_[parts.var] = 0;
    parts.count = temporary(
        op_binary(Op::Max, op_binary(Op::Min, trip_count(range), i64(most_parts)), i64(1)),
        "parts");
    for (const auto& [name, op] : plan.array_reductions) {
        const Value& array = env_.names.at(name).value;
        if (!array.type.is_array()) {
            refuse(place, "'" + name + "' is written by several iterations of prange",
                   "use an array, or range for this loop");
        }
        if (!array.type.writable) refuse_readonly(array);
        std::vector<E> extents{parts.count};
        for (E e : extents_of(array)) extents.push_back(e);
        DType t = array.type.dtype;
        Value all = make_array(t, extents, place);
        E none = op == Op::Add && is_float(t) ? b_->number(t, -0.0) : b_->identity(op, t);
        if (op == Op::Add && is_complex(t)) {
            E zero = b_->number(part_dtype(t), -0.0);
            none = b_->pair(zero, zero);
        }
        assign_elements(all, scalar(none), place);
        parts.arrays.emplace(name, all);
    }
    return parts;
}

Value ControlFlow::copy_for_part(const Value& all, E number) {
    Descriptor d = describe_array(all.array);
    d.offset = op_binary(Op::Add, d.offset, op_binary(Op::Mul, number, d.strides[0]));
    d.extents.erase(d.extents.begin());
    d.strides.erase(d.strides.begin());
    d.classes.erase(d.classes.begin());
    return view("part", d);
}

void ControlFlow::add_parts(const Parts& parts, const ParallelPlan& plan, const Place& place) {
    for (const auto& [name, array_of_parts] : parts.arrays) {
        const auto& all = array_of_parts;  // clang 14 captures no structured binding
        const Value& array = env_.names.at(name).value;
        Op op = plan.array_reductions.at(name);
        list_loop(i64(0), parts.count, [&](E k) {
            Value sum = elementwise(
                {array, copy_for_part(all, k)},
                [this, op](std::span<const Value> v) {
                    return apply(op, v[0].expr, v[1].expr, Weak::None);
                },
                place);
            assign_elements(array, sum, place);
        });
    }
}

/// Chunks that are shorter than a cache line make threads write the same lines.
void ControlFlow::warn_of_sharing(const Node& node, const Range& range, const ParallelPlan& plan) {
    bool is_dealt_out = range.chunk || range.schedule == "dynamic";
    if (!is_dealt_out || range.schedule == "guided") return;
    auto chunk = range.chunk ? constant_int(range.chunk) : std::optional<std::int64_t>(1);
    if (!chunk) return;
    for (const auto& [name, place] : plan.neighbours) {
        auto held = env_.names.find(name);
        if (held == env_.names.end() || !held->second.value.type.is_array()) continue;
        std::int64_t size = size_of(held->second.value.type.dtype);
        if (*chunk * size >= cache_line) continue;
        std::string text = source_.name + ": threads write the same cache lines of '" + name +
                           "'\n  " + source_.file + ":" + std::to_string(place.line) +
                           ": chunks of " + std::to_string(*chunk) + " of the prange at line " +
                           std::to_string(node.place.line) + " are " +
                           std::to_string(*chunk * size) + " bytes long; a cache line is " +
                           std::to_string(cache_line) +
                           "\n  what to do: give chunk=" + std::to_string(cache_line / size) +
                           " or more, or schedule=\"static\"";
        warnings_.insert(text);
        report_ += "  false sharing: chunks of " + std::to_string(*chunk) + " write '" + name +
                   "' at line " + std::to_string(place.line) + "\n";
    }
}

}  // namespace unisono::frontend
