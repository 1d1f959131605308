// Lowers calls of compiled functions: arguments are matched, the callee is lowered for their types,
// results unpacked.
#include <algorithm>

#include "frontend/calls.h"
#include "frontend/lazy.h"
#include "frontend/shapes.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

std::vector<Value> Calls::call_operands(const Node& node, const Source& callee,
                                        const std::vector<Value>& captured, const Value* self) {
    auto [by_position, by_name] = given(node, true);
    if (self) by_position.insert(by_position.begin(), *self);
    std::size_t own = callee.params.size() - callee.captures;
    std::vector<std::optional<Value>> slots(own);
    std::vector<Value> rest;
    for (std::size_t i = 0; i < by_position.size(); ++i) {
        if (i < callee.positional) {
            slots[i] = by_position[i];
        } else if (callee.vararg >= 0) {
            rest.push_back(by_position[i]);
        } else {
            refuse(node.place,
                   callee.name + " takes " + std::to_string(callee.positional) +
                       " arguments by position; " + std::to_string(by_position.size()) +
                       " are given",
                   "leave the extra ones out");
        }
    }
    if (callee.vararg >= 0) slots[static_cast<std::size_t>(callee.vararg)] = tuple_of(rest);
    for (const auto& [name, value] : by_name) {
        auto end = callee.params.begin() + static_cast<std::ptrdiff_t>(own);
        auto slot = static_cast<std::size_t>(std::find(callee.params.begin(), end, name) -
                                             callee.params.begin());
        if (slot == own || static_cast<int>(slot) == callee.vararg) {
            refuse(node.place, callee.name + " has no parameter '" + name + "'", "check the name");
        }
        if (slots[slot])
            refuse(node.place, callee.name + " gets parameter '" + name + "' twice",
                   "give it once");
        slots[slot] = value;
    }
    std::vector<Value> values;
    for (std::size_t i = 0; i < own; ++i) {
        auto held = callee.defaults.find(i);
        if (!slots[i] && held == callee.defaults.end()) {
            refuse(node.place, callee.name + " needs an argument for '" + callee.params[i] + "'",
                   "pass it");
        }
        values.push_back(slots[i] ? *slots[i] : expression(held->second));
    }
    if (captured.size() != callee.captures)
        refuse(node.place,
               callee.name + " reads '" +
                   callee.params[own].substr(0, callee.params[own].find('.')) +
                   "' around it, which cannot be passed here",
               "pass it as an argument");
    values.insert(values.end(), captured.begin(), captured.end());
    return values;
}

/// Constant texts as values like any other.
static Value with_texts(Value v, Texts texts) {
    if (v.type.is_text()) v = Texts::of(texts.handle(v));
    for (Value& item : v.items) item = with_texts(item, texts);
    return v;
}

static void flatten(ir::Builder& b, const Value& v, std::vector<E>& scalars,
                    std::vector<std::int32_t>& arrays) {
    if (v.type.is_complex()) {
        scalars.push_back(b.part(v.expr, 0));
        scalars.push_back(b.part(v.expr, 1));
    } else if (v.type.is_word() || v.type.is_instance()) {
        scalars.push_back(v.expr);
    }
    if (v.type.is_array() || v.type.is_list()) arrays.push_back(v.array);
    for (const Value& item : v.items) flatten(b, item, scalars, arrays);
}

/// An error inside of the callee also says where it was called from: its types come from there.
const Instance& Calls::instance_of(const Node& node, const Source& callee,
                                   const std::vector<Type>& types, bool noalias,
                                   bool passes_blocks) {
    bool recurs = &callee == &source_ || module_.calls_back(callee, source_);
    if (recurs && module_.open_count(callee) > deepest_type)
        refuse(node.place,
               "the types of the arguments of '" + callee.name +
                   "' grow with each call of it by itself",
               "pass lists, or write the recursion as a loop");
    try {
        const Instance& made = module_.instance(callee, types, noalias, recurs, passes_blocks);
        if (!made.is_done && !made.has_result) throw Unresolved{node.place};
        return made;
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::Compile) throw;
        throw Error(e.kind(), std::string(e.what()) + "\n" + called_from(source_, node.place),
                    e.place());
    }
}

Value Calls::call_function(const Node& node, const Source& callee,
                           const std::vector<Value>& captured, const Value* self) {
    if (callee.is_kernel) {
        refuse(node.place, "a kernel cannot be called from compiled code",
               "decorate '" + callee.name + "' with @un.jit");
    }
    std::vector<Value> values = call_operands(node, callee, captured, self);
    auto is_array = [](const Value& v) { return v.type.is_array(); };
    if (callee.options.by_elements && std::any_of(values.begin(), values.end(), is_array))
        return call_by_elements(node, callee, values);
    return call_with(node, callee, std::move(values));
}

/// The function of vectorize for each element of arrays, as an array expression; at once, one
/// element after the other, where their order tells.
Value Calls::call_by_elements(const Node& node, const Source& callee,
                              const std::vector<Value>& values) {
    auto call = [this, &node, &callee](std::span<const Value> elements) {
        return call_with(node, callee, {elements.begin(), elements.end()});
    };
    int before = instance_.in_order;
    Value made = elementwise(values, call, node.place);
    if (instance_.in_order > before) {
        Value array = make_array(made.type.dtype, made.lazy->extents, node.place);
        in_order(made.lazy->extents, [&](std::span<const E> index) {
            Value item = made.lazy->element(index, !made.lazy->equal.empty());
            emit(b_->store(array.array, index, item.expr, ir::Access::Inside));
        });
        return array;
    }
    auto lazy = std::make_shared<Lazy>(*made.lazy);
    lazy->by_elements = false;  // a call is made once
    made.lazy = lazy;
    return made;
}

/// A list of numbers that the callee changes becomes a list of objects, which both share, where it
/// gets its name.
void Calls::share_changed(const Source& callee, const std::vector<Value>& values) {
    for (std::size_t i = 0; i < values.size() && i < callee.params.size(); ++i) {
        const Value& v = values[i];
        if (!v.type.is_list() || v.list < 0 || !callee.changed.count(callee.params[i])) continue;
        bool is_new = false;
        for (const auto& [name, b] : env_.names) {
            if (b.value.type.is_list() && b.value.list == v.list)
                is_new = learnt_.boxed_names.insert(name).second || is_new;
        }
        share_list(v);
        if (!is_new) continue;
        learnt_.guesses.clear();
        throw Restart{};
    }
}

/// Of what is empty so far, what the callee stores tells the types.
void Calls::learn_from(const Source& callee, const std::vector<Value>& values, const Place& place) {
    Tables tables(*this, place);
    auto is_open = [&](const Value& v) { return v.type.is_table() && tables.is_open(v); };
    bool may_ask = !callee.native && module_.open_count(callee) <= deepest_type;
    if (!may_ask || std::none_of(values.begin(), values.end(), is_open)) return;
    std::vector<Type> types;
    for (const Value& v : values) {
        types.push_back(v.type);
        if (is_open(v)) types.back().items.clear();
    }
    std::size_t mark = module_.size();
    std::string report = module_.report;
    std::vector<std::string> warnings = module_.warnings;
    std::vector<Type> told;
    try {
        told = module_.instance(callee, types, false).told;
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::Compile) throw;
    }
    module_.shrink(mark);
    module_.report = report;
    module_.warnings = warnings;
    for (std::size_t i = 0; i < told.size(); ++i) {
        if (told[i].is_none() || !is_open(values[i])) continue;
        bool is_dict = told[i].rank == static_cast<int>(TableKind::Dict);
        if (!is_dict || told[i].items.size() > 1)
            tables.declared(values[i], told[i], "an argument of '" + callee.name + "'");
        std::optional<Type>& key = learnt_.table_items[tables.origin_of(values[i])].key;
        if (key) continue;
        key = told[i].items[0];
        learnt_.guesses.clear();
        throw Restart{};
    }
}

Value Calls::call_with(const Node& node, const Source& callee, std::vector<Value> values) {
    if (auto result = formula(node, callee, values)) return *result;
    share_changed(callee, values);
    // What has no name, as [0] * n, is made a list that can be shared where it is given.
    for (std::size_t i = 0; i < values.size() && i < callee.params.size(); ++i) {
        Value& v = values[i];
        if (const Node* literal = open_literal(v); literal && !callee.native) box_literal(literal);
        if (!v.type.is_list() || v.list < 0 || !callee.changed.count(callee.params[i])) continue;
        bool is_named = false;
        for (const auto& [name, b] : env_.names)
            is_named = is_named || (b.value.type.is_list() && b.value.list == v.list);
        if (!is_named && !is_byte_list(v.type) && !lists_[static_cast<std::size_t>(v.list)].literal)
            v = Tables(*this, node.place).storable(v);
    }
    learn_from(callee, values, node.place);
    for (Value& v : values) v = with_texts(all_made(v, node.place), Texts(*this, node.place));
    if (callee.native && !callee.native->forms.empty())
        values = leaves_of(callee, values, node.place);
    std::vector<Type> types;
    for (const Value& v : values) types.push_back(v.type);
    if (module_.is_kernel && !callee.native) keep_shapes(callee, values, types);
    // A recursion takes what is empty as the function itself takes it: its stores tell.
    for (std::size_t i = 0; i < values.size() && module_.is_open(callee); ++i) {
        if (values[i].type.is_table() && Tables(*this, node.place).is_open(values[i]))
            types[i].items.clear();
    }
    for (Value& v : values) address_objects(v);
    std::vector<E> scalars;
    std::vector<std::int32_t> arrays;
    for (const Value& v : values) flatten(*b_, v, scalars, arrays);
    bool noalias = instance_.noalias;
    std::set<std::int32_t> roots;
    for (std::int32_t array : arrays) {
        const ir::Array& a = function_->arrays[static_cast<std::size_t>(array)];
        const bool is_of_group = module_.is_kernel && a.space != ir::Space::Global;
        if (a.param < 0 && !a.is_view() && !is_of_group) {
            refuse(node.place, "a local array cannot be passed to a function yet",
                   "write the function's body here");
        }
        std::int32_t root = a.is_view() ? a.base : array;
        bool is_param = function_->arrays[static_cast<std::size_t>(root)].param >= 0;
        noalias = noalias && is_param && roots.insert(root).second;
    }
    bool passes_blocks = !callee.native && may_keep_arrays(callee, types);
    if (passes_blocks) {
        noalias = false;
        for (std::int32_t array : arrays) scalars.push_back(block_of_array(array));
    }
    const Instance* known = &instance_of(node, callee, types, noalias, passes_blocks);
    if (known->keeps_arrays && !passes_blocks && !callee.native) {
        // Learnt from its text: it needs to know who owns what this function made.
        for (std::int32_t array : arrays) scalars.push_back(block_of_array(array));
        known = &instance_of(node, callee, types, false, true);
    }
    const Instance& made = *known;
    instance_.in_order += made.in_order > 0;
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

/// Where the callee gives a view of an array that it was passed, and which this function made, the
/// view holds that array's memory, too.
void Calls::find_owner(std::int32_t block, E address, std::span<const E> extents,
                       const std::vector<std::int32_t>& arrays) {
    E is_empty = b_->boolean(false);
    for (E e : extents) is_empty = op_binary(Op::Or, is_empty, op_binary(Op::Eq, e, i64(0)));
    for (std::int32_t array : arrays) {
        std::int32_t root = describe_array(array).root;
        const ir::Array& a = function_->arrays[static_cast<std::size_t>(root)];
        if (!a.is_slot) continue;
        auto [low, high] = range_of(array);
        E end = op_binary(Op::Add, high, i64(size_of(a.dtype)));
        E is_inside =
            op_binary(Op::And, op_binary(Op::Le, low, address), op_binary(Op::Lt, address, end));
        E is_owner = op_binary(Op::And, op_binary(Op::Eq, b_->read(block), i64(0)),
                               op_binary(Op::Or, is_empty, is_inside));
        emit(b_->branch(is_owner,
                        b_->block({b_->retain(root), b_->assign(block, b_->block_of(root))})));
    }
}

Value Calls::result_of_call(const Type& type, const ResultShape& shape,
                            const std::vector<std::int32_t>& outs,
                            const std::vector<std::int32_t>& arrays) {
    Value v;
    v.type = type;
    auto index = static_cast<std::size_t>(shape.index);
    if (shape.kind == ResultShape::Kind::Object) {
        std::int32_t slot = b_->slot(type.record->name, DType::Int64, true);
        emit(b_->adopt(slot, b_->read(outs.at(index)), b_->read(outs.at(index + 1))));
        return object_in(slot, type);
    }
    if (shape.kind == ResultShape::Kind::Scalar || shape.kind == ResultShape::Kind::Text ||
        shape.kind == ResultShape::Kind::Table)
        v.expr = b_->read(outs.at(index));
    if (shape.kind == ResultShape::Kind::Complex) {
        auto part = [&](std::size_t k) {
            return b_->read(outs.at(static_cast<std::size_t>(shape.items[k].index)));
        };
        v.expr = b_->pair(part(0), part(1));
        return v;
    }
    if (shape.kind == ResultShape::Kind::Argument) v.array = arrays.at(index);
    if (shape.kind == ResultShape::Kind::Owner) {
        // The fields of a structured array follow each other among the arguments.
        std::function<Value(const Type&)> next = [&](const Type& t) {
            Value field;
            field.type = t;
            if (t.is_array()) field.array = arrays.at(index++);
            for (const Type& item : t.items) field.items.push_back(next(item));
            return field;
        };
        return next(type);
    }
    if (shape.kind == ResultShape::Kind::Records) {
        std::vector<ir::StrideClass> classes(static_cast<std::size_t>(type.rank) + 1,
                                             ir::StrideClass::Other);
        classes.back() = ir::StrideClass::One;
        const Type bytes = Type::array(DType::UInt8, std::move(classes), true);
        return records_in(result_of_call(bytes, shape.items[0], outs, arrays), type.record);
    }
    if (shape.kind == ResultShape::Kind::List) {
        Value list = new_list(type.items[0], "list");
        const List& row = growing(list, {});
        emit(b_->adopt(row.slot, b_->read(outs.at(index)), b_->read(outs.at(index + 1))));
        emit(b_->assign(row.length, b_->read(outs.at(index + 2))));
        emit(b_->assign(row.capacity, b_->read(outs.at(index + 2))));
        return list;
    }
    if (shape.kind == ResultShape::Kind::Array) {
        auto rank = static_cast<std::size_t>(shape.rank);
        Descriptor d{b_->slot("result", type.dtype, type.writable),
                     i64(0),
                     {},
                     {},
                     type.strides,
                     type.writable};
        for (std::size_t k = 0; k < rank; ++k) {
            d.extents.push_back(b_->read(outs.at(index + 2 + k)));
            bool is_one = type.strides[k] == ir::StrideClass::One;
            d.strides.push_back(is_one ? i64(1) : b_->read(outs.at(index + 2 + rank + k)));
        }
        E address = b_->read(outs.at(index));
        find_owner(outs.at(index + 1), address, d.extents, arrays);
        emit(b_->adopt(d.root, address, b_->read(outs.at(index + 1))));
        Value array = view("result", d);
        array.type.weak = type.weak;  // a part of bytes
        return array;
    }
    for (std::size_t i = 0; i < shape.items.size(); ++i) {
        v.items.push_back(result_of_call(type.items[i], shape.items[i], outs, arrays));
    }
    return v;
}

}  // namespace unisono::frontend
