// Runs of a few packed points: the usual plan with its addresses filled in, one call per node.
#include "backends/block/program.h"
#include "core/limits.h"
#include "tape/run/block_program.h"

namespace unisono {

namespace {
constexpr std::size_t most_nodes = 64;
constexpr std::size_t register_room = 16 * 1024;
}  // namespace

bool BlockProgram::run_packed(std::int64_t points, char* const* data,
                              const std::uint64_t* scalars) const {
    const block::Program& p = *program_;
    const block::Plan& plan = p.usual;
    const std::size_t nodes = p.nodes.size();
    const auto stride = (static_cast<std::size_t>(points) * p.widest + 63) & ~std::size_t{63};
    if (points > limits::packed_points || nodes > most_nodes || p.reduce_axis >= 0 ||
        !plan.loads.empty() || !plan.stores.empty() || !plan.iotas.empty() ||
        static_cast<std::size_t>(p.registers) * stride > register_room) {
        return false;
    }
    if (points == 0) return true;  // loops read the first element ahead
    alignas(64) char registers[register_room];
    char* at[most_nodes];
    for (std::size_t k = 0; k < nodes; ++k) at[k] = registers + p.nodes[k].reg * stride;
    for (std::uint16_t k : p.scalar_nodes) {
        at[k] = const_cast<char*>(reinterpret_cast<const char*>(&scalars[p.nodes[k].operand[0]]));
    }
    for (const block::Moving& m : plan.moving) at[m.node] = data[m.operand];
    for (const block::Call& c : plan.calls) c.run(at, points);
    return true;
}

}  // namespace unisono
