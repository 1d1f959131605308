// What the nodes of a group are computed from.
#include "tape/plan/group.h"

#include "tape/record/element_function.h"

namespace unisono {

static std::size_t operands_of(const Group& group, const Group::Node& n) {
    switch (n.kind) {
        case Group::Kind::Input:
        case Group::Kind::Scalar:
        case Group::Kind::Iota: return 0;
        case Group::Kind::Cast: return 1;
        case Group::Kind::Op: return info(n.op).arity > 1 ? 2 : 1;
        case Group::Kind::Select: return 3;
        case Group::Kind::Function: return group.functions[n.function]->params().size();
    }
    return 0;
}

void mark_needed(const Group& group, std::vector<bool>& marked) {
    for (std::size_t k = group.nodes.size(); k-- > 0;) {  // nodes come behind their operands
        if (!marked[k]) continue;
        const Group::Node& n = group.nodes[k];
        const std::uint16_t operands[] = {n.a, n.b, n.c};
        const std::size_t count = operands_of(group, n);
        for (std::size_t i = 0; i < count; ++i) marked[operands[i]] = true;
    }
}

}  // namespace unisono
