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

/// The loops of a step over its rows from `from` to before `to`.
S loops_of(Builder& b, GroupValues& values, const TileStep& step, E from, E to) {
    const Group& group = step.kernel->group();
    const int rank = step.shape.rank;
    std::vector<std::int32_t> index;
    std::vector<E> point;
    for (int axis = 0; axis < rank; ++axis) {
        index.push_back(b.var("i" + std::to_string(axis), DType::Int64));
        point.push_back(b.read(index.back()));
    }
    const std::int32_t like = values.outputs().front();
    std::vector<S> statements = values.compute(point, like);
    for (std::size_t k = 0; k < group.outputs.size(); ++k)
        statements.push_back(
            b.store(values.outputs()[k], point, values.value(group.outputs[k].node)));
    S body = b.block(statements);
    for (int axis = rank - 1; axis >= 0; --axis) {
        const bool is_last = axis == rank - 1;
        body = b.loop(is_last ? LoopKind::Vector : LoopKind::Serial,
                      index[static_cast<std::size_t>(axis)], axis == 0 ? from : b.i64(0),
                      axis == 0 ? to : b.extent(like, axis), b.i64(1), body);
    }
    return body;
}

}  // namespace

ir::Module lower_tiles(std::span<const TileStep> steps) {
    ir::Module module;
    ir::Function& f = module.functions.emplace_back("tiles");
    f.is_kernel = true;
    Builder b(f);
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
    for (ir::Array& a : f.arrays) a.noalias = false;  // steps read what others store

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

std::shared_ptr<Executable> tile_code(std::span<const TileStep> steps, Device& device) {
    struct Code {
        Device* device;
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
        return code.device == &device && std::ranges::equal(code.steps, steps);
    });
    if (found != known.codes.end()) {
        known.codes.splice(known.codes.begin(), known.codes, found);
        return found->executable;
    }
    count_apart(counters_apart().kernels_compiled);
    known.codes.push_front(
        {&device, {steps.begin(), steps.end()}, device.compile(lower_tiles(steps), {})});
    if (known.codes.size() > most) known.codes.pop_back();
    return known.codes.front().executable;
}

}  // namespace unisono
