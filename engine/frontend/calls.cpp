// Lowers calls of compiled functions: arguments are matched, the callee is lowered for their types,
// results unpacked.
#include <algorithm>

#include "frontend/lowerer.h"

namespace unisono::frontend {

std::vector<Value> FunctionLowerer::call_operands(const Node& node, const Source& callee) {
    std::vector<const Node*> slots(callee.params.size(), nullptr);
    std::vector<const Node*> in_order;
    std::size_t given = 0;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
        const Node& arg = node.children[i];
        std::size_t slot = given;
        if (arg.kind == NodeKind::Keyword) {
            slot = static_cast<std::size_t>(
                std::find(callee.params.begin(), callee.params.end(), arg.text) -
                callee.params.begin());
            if (slot == callee.params.size()) {
                refuse(arg.place, callee.name + " has no parameter '" + arg.text + "'",
                       "check the name");
            }
        } else {
            ++given;
        }
        if (slot >= slots.size()) {
            refuse(arg.place,
                   callee.name + " takes " + std::to_string(slots.size()) +
                       " arguments; more are given",
                   "leave the extra ones out");
        }
        if (slots[slot])
            refuse(arg.place, callee.name + " gets parameter '" + callee.params[slot] + "' twice",
                   "give it once");
        slots[slot] = arg.kind == NodeKind::Keyword ? &arg.children[0] : &arg;
        in_order.push_back(slots[slot]);
    }
    std::size_t first_default = callee.params.size() - callee.defaults.size();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i]) continue;
        if (i < first_default) {
            refuse(node.place, callee.name + " needs an argument for '" + callee.params[i] + "'",
                   "give it");
        }
        slots[i] = &callee.defaults[i - first_default];
        in_order.push_back(slots[i]);
    }
    std::vector<Value> values = operands(in_order);
    std::vector<Value> by_slot;
    for (const Node* slot : slots) {
        auto at = std::find(in_order.begin(), in_order.end(), slot) - in_order.begin();
        by_slot.push_back(values[static_cast<std::size_t>(at)]);
    }
    return by_slot;
}

static void flatten(const Value& v, std::vector<E>& scalars, std::vector<std::int32_t>& arrays) {
    if (v.type.is_scalar()) scalars.push_back(v.expr);
    if (v.type.is_array()) arrays.push_back(v.array);
    for (const Value& item : v.items) flatten(item, scalars, arrays);
}

/// An error inside of the callee also says where it was called from: its types come from there.
const Instance& FunctionLowerer::instance_of(const Node& node, const Source& callee,
                                             const std::vector<Type>& types, bool noalias) {
    bool is_self = &callee == &source_;
    try {
        const Instance& made = module_.instance(callee, types, noalias, is_self);
        if (!made.is_done && !made.has_result) throw Unresolved{node.place};
        return made;
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::Compile) throw;
        throw Error(e.kind(), std::string(e.what()) + "\n" + called_from(source_, node.place),
                    e.place());
    }
}

Value FunctionLowerer::call_function(const Node& node, const Source& callee) {
    if (callee.is_kernel) {
        refuse(node.place, "a kernel cannot be called from compiled code",
               "decorate '" + callee.name + "' with @un.jit");
    }
    std::vector<Value> values = call_operands(node, callee);
    for (Value& v : values) v = all_made(v, node.place);
    std::vector<Type> types;
    for (const Value& v : values) {
        if (v.type.kind == Type::Kind::Text || v.type.kind == Type::Kind::DTypeName ||
            v.type.kind == Type::Kind::None) {
            refuse(node.place, "a " + describe(v.type) + " cannot be passed to a compiled function",
                   "pass numbers or arrays");
        }
        types.push_back(v.type);
    }
    std::vector<E> scalars;
    std::vector<std::int32_t> arrays;
    for (const Value& v : values) flatten(v, scalars, arrays);
    bool noalias = instance_.noalias;
    std::set<std::int32_t> roots;
    for (std::int32_t array : arrays) {
        const ir::Array& a = function_->arrays[static_cast<std::size_t>(array)];
        if (a.param < 0 && !a.is_view()) {
            refuse(node.place, "a local array cannot be passed to a function yet",
                   "write the function's body here");
        }
        std::int32_t root = a.is_view() ? a.base : array;
        bool is_param = function_->arrays[static_cast<std::size_t>(root)].param >= 0;
        noalias = noalias && is_param && roots.insert(root).second;
    }
    const Instance& made = instance_of(node, callee, types, noalias);
    if (made.counts_depth) scalars.push_back(depth_ ? op_binary(Op::Add, depth_, i64(1)) : i64(1));
    std::vector<DType> results;
    leaf_types(made.shape, results);
    at(node.place);
    std::vector<std::int32_t> outs;
    for (DType t : results) {
        outs.push_back(b_->var(callee.name + "_result", t));
        emit(b_->declare(outs.back(), nullptr));
    }
    emit(b_->call(made.index, scalars, arrays, outs));
    return result_of_call(made.result, made.shape, outs, arrays);
}

Value FunctionLowerer::result_of_call(const Type& type, const ResultShape& shape,
                                      const std::vector<std::int32_t>& outs,
                                      const std::vector<std::int32_t>& arrays) {
    Value v;
    v.type = type;
    auto index = static_cast<std::size_t>(shape.index);
    if (shape.kind == ResultShape::Kind::Scalar) v.expr = b_->read(outs.at(index));
    if (shape.kind == ResultShape::Kind::Argument) v.array = arrays.at(index);
    if (shape.kind == ResultShape::Kind::Array) {
        auto rank = static_cast<std::size_t>(shape.rank);
        Descriptor d{b_->slot("result", type.dtype, type.writable),
                     i64(0),
                     {},
                     {},
                     type.strides,
                     type.writable};
        emit(b_->adopt(d.root, b_->read(outs.at(index)), b_->read(outs.at(index + 1))));
        for (std::size_t k = 0; k < rank; ++k) {
            d.extents.push_back(b_->read(outs.at(index + 2 + k)));
            bool is_one = type.strides[k] == ir::StrideClass::One;
            d.strides.push_back(is_one ? i64(1) : b_->read(outs.at(index + 2 + rank + k)));
        }
        return view("result", d);
    }
    for (std::size_t i = 0; i < shape.items.size(); ++i) {
        v.items.push_back(result_of_call(type.items[i], shape.items[i], outs, arrays));
    }
    return v;
}

}  // namespace unisono::frontend
