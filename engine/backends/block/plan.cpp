// Prepares a group: loops and registers per node, once; then where each value lives, per class of
// strides.
//
// An output may be written by its node's own loop (directly) only if no input of the group is read
// in place by a later node, since the output may be that input. Outputs that are not written
// directly are stored after all nodes of the block have run; an input that such a store still reads
// while another output may overwrite it is loaded into a register first (must_load).
#include <algorithm>
#include <limits>

#include "backends/block/program.h"
#include "core/error.h"
#include "ops/math.h"
#include "tape/block_program.h"

namespace unisono::block {
namespace {

constexpr int never = -1;

void prepare_node(const Group& group, std::size_t k, Instruction& out) {
    const Group::Node& node = group.nodes[k];
    auto check = [&](std::uint16_t operand) { UNISONO_ASSERT(operand < k); };
    out.kind = node.kind;
    out.bytes = static_cast<std::uint8_t>(size_of(node.dtype));
    out.operand[0] = node.a;
    out.operand[1] = node.b;
    out.operand[2] = node.c;
    switch (node.kind) {
        case Group::Kind::Input: UNISONO_ASSERT(node.a < group.inputs.size()); return;
        case Group::Kind::Scalar: UNISONO_ASSERT(node.a < group.scalars.size()); return;
        case Group::Kind::Iota: return;
        case Group::Kind::Cast:
            out.operands = 1;
            check(node.a);
            out.loops = loops().cast(group.nodes[node.a].dtype, node.dtype);
            break;
        case Group::Kind::Select:
            out.operands = 3;
            check(node.b);
            check(node.c);
            out.loops = loops().select(node.dtype);
            break;
        case Group::Kind::Op:
            out.operands = info(node.op).arity;
            if (out.operands == 2) check(node.b);
            check(node.a);
            out.loops = loops().operation(node.op, group.nodes[node.a].dtype);
            if (node.op == Op::Exp || node.op == Op::Sin) math::require();
            break;
    }
    check(node.a);
    UNISONO_ASSERT(out.loops != nullptr);
    // Unused operands name the first, so that every operand of a call has an address.
    for (int i = out.operands; i < 3; ++i) out.operand[i] = out.operand[0];
}

bool is_computed(const Instruction& node) {
    return node.kind != Group::Kind::Input && node.kind != Group::Kind::Scalar;
}

/// Gives registers to values: one is free again after the last read of its value. A loop may write
/// over an operand of the same element size only.
void assign_registers(Program& program, const std::vector<int>& last_read) {
    std::vector<std::uint16_t> free;
    std::vector<std::vector<std::uint16_t>> dying(program.nodes.size());
    for (std::size_t k = 0; k < program.nodes.size(); ++k) {
        if (last_read[k] >= 0 && last_read[k] < static_cast<int>(program.nodes.size()))
            dying[static_cast<std::size_t>(last_read[k])].push_back(static_cast<std::uint16_t>(k));
    }
    auto take = [&]() -> std::uint16_t {
        if (free.empty()) return static_cast<std::uint16_t>(program.registers++);
        std::uint16_t reg = free.back();
        free.pop_back();
        return reg;
    };
    // Loads happen before the first call: inputs hold their registers from the start.
    for (Instruction& node : program.nodes) {
        if (node.kind == Group::Kind::Input || node.kind == Group::Kind::Iota) node.reg = take();
    }
    for (std::size_t k = 0; k < program.nodes.size(); ++k) {
        Instruction& node = program.nodes[k];
        bool needs_register = is_computed(node) && node.kind != Group::Kind::Iota;
        bool taken = !needs_register;
        for (std::uint16_t dead : dying[k]) {
            if (program.nodes[dead].kind == Group::Kind::Scalar) continue;
            if (!taken && program.nodes[dead].bytes == node.bytes) {
                node.reg = program.nodes[dead].reg;
                taken = true;
            }
        }
        if (!taken) node.reg = take();
        for (std::uint16_t dead : dying[k]) {
            if (program.nodes[dead].kind == Group::Kind::Scalar) continue;
            if (!needs_register || program.nodes[dead].reg != node.reg)
                free.push_back(program.nodes[dead].reg);
        }
    }
    for (OutputInfo& output : program.outputs) {
        if (output.reduces) output.reg = static_cast<std::uint16_t>(program.registers++);
    }
}

void prepare_outputs(const Group& group, Program& program, std::vector<int>& last_read) {
    const int end = static_cast<int>(program.nodes.size());
    int last_in_place_read = never;  // of any input
    for (int k = 0; k < end; ++k) {
        if (program.nodes[static_cast<std::size_t>(k)].kind == Group::Kind::Input)
            last_in_place_read =
                std::max(last_in_place_read, last_read[static_cast<std::size_t>(k)]);
    }
    bool any_in_place = false;
    for (const Group::Output& from : group.outputs) {
        UNISONO_ASSERT(from.node < end);
        OutputInfo output;
        output.node = from.node;
        output.dtype = from.dtype;
        output.bytes = static_cast<std::uint8_t>(size_of(from.dtype));
        output.reduces = from.reduces;
        output.op = from.op;
        output.in_place = from.same_as_input >= 0;
        any_in_place |= output.in_place;
        if (output.reduces) {
            output.leaf = loops().leaf(from.op, from.dtype);
            output.leaves = loops().leaves(from.op, from.dtype);
            UNISONO_ASSERT(output.leaf != nullptr && group.reduce_axis >= 0);
            output.merge = loops().operation(from.op, from.dtype)[0];
        }
        program.outputs.push_back(output);
        last_read[from.node] = end;
    }
    for (std::size_t o = 0; o < program.outputs.size(); ++o) {
        const OutputInfo& output = program.outputs[o];
        Instruction& node = program.nodes[output.node];
        if (node.kind == Group::Kind::Input && any_in_place) node.must_load = true;
        if (output.reduces || !is_computed(node) || node.kind == Group::Kind::Iota) continue;
        bool safe = !output.in_place || static_cast<int>(output.node) >= last_in_place_read;
        if (safe && node.direct_output < 0) node.direct_output = static_cast<std::int16_t>(o);
    }
}

}  // namespace

void* Arena::take_from_heap(std::size_t bytes) {
    heap_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes + 63));
    auto address = reinterpret_cast<std::uintptr_t>(heap_.back().get());
    return reinterpret_cast<void*>((address + 63) & ~std::uintptr_t{63});
}

Program::Program(const Group& group)
    : nodes(group.nodes.size()),
      inputs(static_cast<int>(group.inputs.size())),
      reduce_axis(group.reduce_axis) {
    UNISONO_ASSERT(nodes.size() < std::numeric_limits<std::uint16_t>::max());
    for (DType t : group.inputs) input_bytes.push_back(static_cast<std::uint8_t>(size_of(t)));
    std::vector<int> last_read(nodes.size(), never);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        prepare_node(group, k, nodes[k]);
        for (int i = 0; i < nodes[k].operands; ++i)
            last_read[nodes[k].operand[i]] = static_cast<int>(k);
        if (nodes[k].kind == Group::Kind::Scalar)
            scalar_nodes.push_back(static_cast<std::uint16_t>(k));
        if (group.nodes[k].kind == Group::Kind::Op) {
            Op op = group.nodes[k].op;
            costly_calls += op == Op::Exp || op == Op::Sin || op == Op::FloorDiv || op == Op::Mod;
        }
    }
    prepare_outputs(group, *this, last_read);
    assign_registers(*this, last_read);

    std::vector<std::int64_t> one(static_cast<std::size_t>(std::max(reduce_axis, 0)) + 1, 1);
    std::vector<GroupRun::Operand> operands(std::max(group.inputs.size(), outputs.size()),
                                            {nullptr, one});
    GroupRun contiguous{one,
                        std::span(operands).first(group.inputs.size()),
                        std::span(operands).first(outputs.size()),
                        {}};
    usual_memory.resize(64 * 10 +
                        nodes.size() * (sizeof(Call) + sizeof(Moving) + sizeof(Load) + 8) +
                        outputs.size() * (sizeof(Store) + sizeof(Value) + 8 + sizeof(Moving)));
    Arena arena(usual_memory);
    usual = plan(contiguous, false, false, arena);
}

Plan Program::plan(const GroupRun& run, bool stream, bool by_rows, Arena& arena) const {
    const std::size_t axis = run.shape.size() - 1;
    // 0: one element for all points of a block; 1: side by side; 2: anything else.
    auto step = [&](const GroupRun::Operand& operand) -> int {
        std::int64_t s = run.shape[axis] == 1 ? 1 : operand.strides[axis];
        if (by_rows) {
            const std::int64_t row = operand.strides[axis - 1];
            if (operand.strides[axis] == 0 && row == 0) return 0;
            return s == 1 && row == run.shape[axis] ? 1 : 2;
        }
        return s == 0 ? 0 : s == 1 ? 1 : 2;
    };
    Call* calls = arena.take<Call>(nodes.size());
    Moving* moving = arena.take<Moving>(nodes.size() + outputs.size());
    Load* loads = arena.take<Load>(nodes.size());
    Store* stores = arena.take<Store>(outputs.size());
    auto* iotas = arena.take<std::uint16_t>(nodes.size());
    auto* values = arena.take<Value>(outputs.size());
    bool* one = arena.take<bool>(nodes.size());  // the value does not vary inside a block
    bool* direct = arena.take<bool>(outputs.size());
    std::size_t n_calls = 0, n_moving = 0, n_loads = 0, n_stores = 0, n_iotas = 0, n_values = 0;
    for (std::size_t o = 0; o < outputs.size(); ++o) direct[o] = false;

    for (std::size_t k = 0; k < nodes.size(); ++k) {
        const Instruction& node = nodes[k];
        const auto id = static_cast<std::uint16_t>(k);
        switch (node.kind) {
            case Group::Kind::Input: {
                const int s = step(run.inputs[node.operand[0]]);
                one[k] = s == 0;
                if (s == 0) {
                    moving[n_moving++] = {id, node.operand[0], 0};
                } else if (s == 1 && !node.must_load) {
                    moving[n_moving++] = {id, node.operand[0], node.bytes};
                } else {
                    loads[n_loads++] = {id, node.operand[0]};
                }
                break;
            }
            case Group::Kind::Scalar: one[k] = true; break;
            case Group::Kind::Iota:
                one[k] = false;
                iotas[n_iotas++] = id;
                break;
            default: {
                unsigned form = 0;
                bool all_one = true;
                for (unsigned i = 0; i < node.operands; ++i) {
                    bool is_one = one[node.operand[i]];
                    form |= static_cast<unsigned>(is_one) << i;
                    all_one &= is_one;
                }
                one[k] = all_one;
                calls[n_calls++] = {node.loops[all_one ? 0 : form],
                                    id,
                                    node.operand[0],
                                    node.operand[1],
                                    node.operand[2],
                                    all_one};
                if (node.direct_output >= 0 && !all_one) {
                    auto o = static_cast<std::uint16_t>(node.direct_output);
                    bool streams = stream && !outputs[o].in_place;
                    if (step(run.outputs[o]) == 1 && !streams) {
                        direct[o] = true;
                        moving[n_moving++] = {id, static_cast<std::uint16_t>(inputs + o),
                                              node.bytes};
                    }
                }
            }
        }
    }
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        const auto id = static_cast<std::uint16_t>(o);
        if (outputs[o].reduces) {
            values[n_values++] = {outputs[o].node, id, one[outputs[o].node]};
        } else if (!direct[o]) {
            stores[n_stores++] = {outputs[o].node, id, one[outputs[o].node],
                                  stream && !outputs[o].in_place && !one[outputs[o].node] &&
                                      step(run.outputs[o]) == 1};
        }
    }
    return {{calls, n_calls}, {moving, n_moving}, {loads, n_loads}, {stores, n_stores},
            {iotas, n_iotas}, {values, n_values}, by_rows};
}

}  // namespace unisono::block

namespace unisono {

BlockProgram::BlockProgram(const Group& group)
    : program_(std::make_unique<const block::Program>(group)) {}
BlockProgram::~BlockProgram() = default;
BlockProgram::BlockProgram(BlockProgram&&) noexcept = default;
BlockProgram& BlockProgram::operator=(BlockProgram&&) noexcept = default;

void BlockProgram::run(const GroupRun& run) const { block::execute(*program_, run); }

void run_block(const Group& group, const GroupRun& run) { BlockProgram(group).run(run); }

}  // namespace unisono
