#include "tape/run/bands/lower_tiles.h"

#include <algorithm>
#include <list>
#include <string>
#include <vector>

#include "context/context.h"
#include "core/threads/fork.h"
#include "tape/plan/group_values.h"

namespace unisono {

using ir::Builder;
using ir::E;
using ir::LoopKind;
using ir::S;

namespace {

/// What a step computes and stores at a point, whose indices are new variables.
S at_point(Builder& b, GroupValues& values, const TileStep& step,
           std::vector<std::int32_t>& index) {
    const Group& group = step.kernel->group();
    std::vector<E> point;
    for (int axis = 0; axis < step.shape.rank; ++axis) {
        index.push_back(b.var("i" + std::to_string(axis), DType::Int64));
        point.push_back(b.read(index.back()));
    }
    std::vector<S> statements = values.compute(point, values.outputs().front());
    for (std::size_t k = 0; k < group.outputs.size(); ++k)
        statements.push_back(
            b.store(values.outputs()[k], point, values.value(group.outputs[k].node)));
    return b.block(statements);
}

/// The loops of a step over its rows from `from` to before `to`.
S loops_of(Builder& b, GroupValues& values, const TileStep& step, E from, E to) {
    const int rank = step.shape.rank;
    std::vector<std::int32_t> index;
    S body = at_point(b, values, step, index);
    const std::int32_t like = values.outputs().front();
    for (int axis = rank - 1; axis >= 0; --axis) {
        const bool is_last = axis == rank - 1;
        body = b.loop(is_last ? LoopKind::Vector : LoopKind::Serial,
                      index[static_cast<std::size_t>(axis)], axis == 0 ? from : b.i64(0),
                      axis == 0 ? to : b.extent(like, axis), b.i64(1), body);
    }
    return body;
}

/// All points of a step, which the work-items of a group share: those along its axis 0 the last
/// axis, those along its axis 1 the axis before, where there is one.
S shared_by_group(Builder& b, GroupValues& values, const TileStep& step) {
    using ir::WorkItemQuery;
    const int rank = step.shape.rank;
    std::vector<std::int32_t> index;
    S body = at_point(b, values, step, index);
    const auto id = [&](int axis) { return b.work_item(WorkItemQuery::LocalId, axis); };
    const auto [width, height] = group_of_rounds;
    for (int axis = rank - 1; axis >= 0; --axis) {
        E first = b.i64(0), distance = b.i64(1);
        if (rank == 1) {
            first = b.add(b.mul(id(1), b.i64(width)), id(0));
            distance = b.i64(width * height);
        } else if (axis >= rank - 2) {
            first = id(rank - 1 - axis);
            distance = b.i64(axis == rank - 1 ? width : height);
        }
        body = b.loop(LoopKind::Serial, index[static_cast<std::size_t>(axis)], first,
                      b.extent(values.outputs().front(), axis), distance, body);
    }
    return body;
}

/// Declares the arrays and scalars of each step.
std::vector<GroupValues> values_of(Builder& b, std::span<const TileStep> steps) {
    std::vector<GroupValues> values;
    values.reserve(steps.size());
    for (const TileStep& step : steps) {
        GroupValues& own = values.emplace_back(b, step.kernel->group(), step.shape);
        for (std::size_t k = 0; k < step.in_place.size(); ++k) {
            own.add_output(k, step.shape.rank);
            if (step.in_place[k]) own.read_from_output(k);
        }
        own.add_scalars();
    }
    for (ir::Array& a : b.function().arrays) a.noalias = false;  // steps read what others store
    return values;
}

}  // namespace

ir::Module lower_rounds(std::span<const TileStep> steps) {
    ir::Module module;
    ir::Function& f = module.functions.emplace_back("rounds");
    f.is_kernel = true;
    Builder b(f);
    std::vector<GroupValues> values = values_of(b, steps);
    const E count = b.param(b.scalar_param("count", DType::Int64));
    const auto period = static_cast<std::int64_t>(steps.size());
    const std::int32_t done = b.var("done", DType::Int64);
    std::vector<S> turns;
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const E number = b.add(b.read(done), b.i64(static_cast<std::int64_t>(k)));
        turns.push_back(
            b.branch(b.binary(Op::Lt, number, count), shared_by_group(b, values[k], steps[k])));
        turns.push_back(b.barrier());
    }
    f.body = b.block({b.loop(LoopKind::Serial, done, b.i64(0), count, b.i64(period),
                             b.block(std::span<const S>(turns)))});
    return module;
}

ir::Module lower_tiles(std::span<const TileStep> steps) {
    ir::Module module;
    ir::Function& f = module.functions.emplace_back("tiles");
    f.is_kernel = true;
    Builder b(f);
    std::vector<GroupValues> values = values_of(b, steps);
    auto number = [&](const char* name) { return b.param(b.scalar_param(name, DType::Int64)); };
    E rounds = number("rounds");
    const std::int32_t round = b.var("round", DType::Int64), tile = b.var("tile", DType::Int64);
    std::vector<S> turns;
    for (std::size_t k = 0; k < steps.size(); ++k) {
        E first = number("first"), end = number("end");
        E first_moves = number("first_moves"), end_moves = number("end_moves");
        E apart = b.mul(b.read(tile), number("apart"));
        auto moved = [&](E row, E moves) {
            return b.add(b.add(row, apart), b.mul(b.read(round), moves));
        };
        const std::int32_t from = b.var("from", DType::Int64), to = b.var("to", DType::Int64);
        E extent = b.extent(values[k].outputs().front(), 0);
        turns.push_back(b.declare(from, b.binary(Op::Max, moved(first, first_moves), b.i64(0))));
        turns.push_back(b.declare(to, b.binary(Op::Min, moved(end, end_moves), extent)));
        turns.push_back(loops_of(b, values[k], steps[k], b.read(from), b.read(to)));
    }
    f.body = b.block({b.declare(tile, b.work_item(ir::WorkItemQuery::GlobalId, 0)),
                      b.loop(LoopKind::Serial, round, b.i64(0), rounds, b.i64(1),
                             b.block(std::span<const S>(turns)))});
    return module;
}

std::size_t tile_param_bytes(std::span<const TileStep> steps) {
    constexpr std::size_t word = sizeof(std::int64_t);
    std::size_t words = 2;  // rounds, and the end of the range
    for (const TileStep& step : steps) {
        const Group& group = step.kernel->group();
        const auto rank = static_cast<std::size_t>(step.shape.rank);
        words += (group.inputs.size() + group.outputs.size()) * (2 + 2 * rank) +
                 group.scalars.size() + sizeof(TileRows) / word;
    }
    return words * word;
}

std::shared_ptr<Executable> code_of_turns(std::span<const TileStep> steps, TurnsOf what,
                                          Device& device) {
    struct Code {
        Device* device;
        TurnsOf what;
        std::vector<TileStep> steps;
        std::shared_ptr<Executable> executable;
    };
    struct Known {
        LongMutex mutex;
        std::list<Code> codes;  ///< the one used last first
    };
    constexpr std::size_t most = 64;
    static Known& known = *new Known;
    std::lock_guard lock(known.mutex);
    const auto found = std::ranges::find_if(known.codes, [&](const Code& code) {
        return code.device == &device && code.what == what && std::ranges::equal(code.steps, steps);
    });
    if (found != known.codes.end()) {
        known.codes.splice(known.codes.begin(), known.codes, found);
        return found->executable;
    }
    count_apart(counters_apart().kernels_compiled);
    ir::Module module = what == TurnsOf::Tiles ? lower_tiles(steps) : lower_rounds(steps);
    known.codes.push_front(
        {&device, what, {steps.begin(), steps.end()}, device.compile(std::move(module), {})});
    if (known.codes.size() > most) known.codes.pop_back();
    return known.codes.front().executable;
}

}  // namespace unisono
