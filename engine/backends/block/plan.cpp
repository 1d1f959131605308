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
#include "tape/record/element_function.h"
#include "tape/run/block_program.h"

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
        case Group::Kind::Function: {
            out.function = group.functions.at(node.function).get();
            out.operands = static_cast<std::uint8_t>(out.function->params().size());
            for (int i = 0; i < out.operands; ++i) check(out.operand[i]);
            for (int i = out.operands; i < 3; ++i) out.operand[i] = out.operand[0];
            return;
        }
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

/// The fold of a group that is one reduction of an input, cast to the dtype of the result or to
/// bool first.
RowFold fold_of(const Group& group) {
    if (group.outputs.size() != 1 || group.inputs.size() != 1 || !group.outputs[0].reduces ||
        group.outputs[0].node + 1u != group.nodes.size() ||
        group.nodes[0].kind != Group::Kind::Input) {
        return nullptr;
    }
    auto of = FoldOf::Value;
    for (std::size_t k = 1; k < group.nodes.size(); ++k) {
        const Group::Node& node = group.nodes[k];
        if (node.kind != Group::Kind::Cast || node.a + 1u != k) return nullptr;
        const bool is_last = k + 1 == group.nodes.size();
        if (is_bool(node.dtype))
            of = FoldOf::NonZero;
        else if (!is_last)
            return nullptr;
    }
    return fold(group.outputs[0].op, of, group.inputs[0], group.outputs[0].dtype);
}

}  // namespace

void Call::run_function(char* const* at, std::int64_t count) const {
    const char* in[] = {at[a], at[b], at[c]};
    function->run(at[out], in, ones, once ? 1 : count);
}

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
        widest = std::max(widest, nodes[k].bytes);
        for (int i = 0; i < nodes[k].operands; ++i)
            last_read[nodes[k].operand[i]] = static_cast<int>(k);
        if (nodes[k].kind == Group::Kind::Scalar)
            scalar_nodes.push_back(static_cast<std::uint16_t>(k));
        if (group.nodes[k].kind == Group::Kind::Op) {
            Op op = group.nodes[k].op;
            costly_calls += is_costly(op);
        }
        costly_calls += nodes[k].function != nullptr;
    }
    prepare_outputs(group, *this, last_read);
    fold = fold_of(group);
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

namespace {

/// How an operand moves from one point of a block to the next.
enum class Step { One, Next, Other };

/// Collects the parts of a plan, node by node.
class Planner {
  public:
    Planner(const Program& program, const GroupRun& run, bool stream, bool by_rows, Arena& arena)
        : program_(program),
          run_(run),
          stream_(stream),
          by_rows_(by_rows),
          calls_(arena, program.nodes.size()),
          moving_(arena, program.nodes.size()),
          loads_(arena, program.nodes.size()),
          stores_(arena, program.outputs.size()),
          iotas_(arena, program.nodes.size()),
          values_(arena, program.outputs.size()),
          one_(arena.take<bool>(program.nodes.size())),
          direct_(arena.take<bool>(program.outputs.size())) {
        for (std::size_t o = 0; o < program.outputs.size(); ++o) direct_[o] = false;
    }

    Plan make() {
        for (std::size_t k = 0; k < program_.nodes.size(); ++k) add_node(k);
        for (std::size_t o = 0; o < program_.outputs.size(); ++o) add_output(o);
        return {calls_.span(), moving_.span(), loads_.span(), stores_.span(),
                iotas_.span(), values_.span(), by_rows_};
    }

  private:
    template <class T>
    struct List {
        List(Arena& arena, std::size_t capacity) : data(arena.take<T>(capacity)) {}
        void add(T value) { data[size++] = value; }
        std::span<T> span() const { return {data, size}; }
        T* data;
        std::size_t size = 0;
    };

    Step step(const GroupRun::Operand& operand) const {
        const std::size_t axis = run_.shape.size() - 1;
        const std::int64_t extent = run_.shape[axis], stride = operand.strides[axis];
        if (by_rows_) {
            const std::int64_t row = operand.strides[axis - 1];
            if (stride == 0 && row == 0) return Step::One;
            return (stride == 1 || extent == 1) && row == extent ? Step::Next : Step::Other;
        }
        if (stride == 1 || extent == 1) return Step::Next;
        return stride == 0 ? Step::One : Step::Other;
    }

    /// Whether an output goes past the caches, by a store of its own.
    bool streams(std::size_t o) const {
        return stream_ && !program_.outputs[o].in_place && step(run_.outputs[o]) == Step::Next;
    }

    void add_node(std::size_t k) {
        const Instruction& node = program_.nodes[k];
        const auto id = static_cast<std::uint16_t>(k);
        one_[k] = false;
        if (node.kind == Group::Kind::Input) {
            const Step s = step(run_.inputs[node.operand[0]]);
            one_[k] = s == Step::One;
            if (s == Step::One)
                moving_.add({id, node.operand[0], 0});
            else if (s == Step::Next && !node.must_load)
                moving_.add({id, node.operand[0], node.bytes});
            else
                loads_.add({id, node.operand[0]});
        } else if (node.kind == Group::Kind::Scalar) {
            one_[k] = true;
        } else if (node.kind == Group::Kind::Iota) {
            iotas_.add(id);
        } else {
            add_call(node, id);
        }
    }

    void add_call(const Instruction& node, std::uint16_t id) {
        unsigned form = 0;
        bool once = true;
        for (unsigned i = 0; i < node.operands; ++i) {
            const bool is_one = one_[node.operand[i]];
            form |= static_cast<unsigned>(is_one) << i;
            once &= is_one;
        }
        one_[id] = once;
        calls_.add({node.function ? nullptr : node.loops[once ? 0 : form], id, node.operand[0],
                    node.operand[1], node.operand[2], once,
                    static_cast<std::uint8_t>(once ? 0 : form), node.function});
        if (node.direct_output < 0 || once) return;
        const auto o = static_cast<std::uint16_t>(node.direct_output);
        if (step(run_.outputs[o]) != Step::Next || streams(o)) return;
        direct_[o] = true;
        moving_.add({id, static_cast<std::uint16_t>(program_.inputs + o), node.bytes});
    }

    void add_output(std::size_t o) {
        const auto id = static_cast<std::uint16_t>(o);
        const std::uint16_t node = program_.outputs[o].node;
        if (program_.outputs[o].reduces)
            values_.add({node, id, one_[node]});
        else if (!direct_[o])
            stores_.add({node, id, one_[node], streams(o) && !one_[node]});
    }

    const Program& program_;
    const GroupRun& run_;
    bool stream_, by_rows_;
    List<Call> calls_;
    List<Moving> moving_;
    List<Load> loads_;
    List<Store> stores_;
    List<std::uint16_t> iotas_;
    List<Value> values_;
    bool* one_;     ///< per node: the value does not vary inside a block
    bool* direct_;  ///< per output: written by its node's loop
};

}  // namespace

Plan Program::plan(const GroupRun& run, bool stream, bool by_rows, Arena& arena) const {
    return Planner(*this, run, stream, by_rows, arena).make();
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
