// Lowers statements other than loops: assignments, branches, return, raise, assert.
#include <algorithm>
#include <tuple>

#include "frontend/lowerer.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

void FunctionLowerer::statements(const Node& block) {
    Spot outer = spot_;
    for (std::size_t k = 0; k < block.children.size() && env_.reachable; ++k) {
        spot_ = {&block, k};
        try_statement(block.children[k]);
        if (!waiting_.empty()) forget_waiting(block.children[k]);
    }
    spot_ = outer;
}

/// A path that calls the function itself before any of its returns is known is left for the next
/// attempt, which knows more.
void FunctionLowerer::try_statement(const Node& node) {
    auto* list = out_;
    std::size_t frames = frames_.size(), loops = loops_.size();
    int depth = parallel_depth_;
    try {
        statement(node);
    } catch (const Unresolved& call) {
        out_ = list;
        while (frames_.size() > frames) frames_.pop_back();
        loops_.resize(loops);
        parallel_depth_ = depth;
        env_.reachable = false;
        unresolved_ = call.place;
    }
}

void FunctionLowerer::statement(const Node& node) {
    at(node.place);
    switch (node.kind) {
        case NodeKind::Assign: return assign(node);
        case NodeKind::AugAssign: return assign_augmented(node);
        case NodeKind::For: return loop_for(node);
        case NodeKind::While: return loop_while(node);
        case NodeKind::If: return branch(node);
        case NodeKind::Region: return region(node);
        case NodeKind::Return: return give_back(node);
        case NodeKind::Break: return leave_loop(node);
        case NodeKind::Continue: return next_iteration(node);
        case NodeKind::Raise: return raise(node);
        case NodeKind::Try:
        case NodeKind::Finally: return lower_try(node);
        case NodeKind::Assert: return assertion(node);
        case NodeKind::Pass: return;
        case NodeKind::Delete:
            for (const Node& name : node.children) {
                read_name(name);
                env_.names.erase(name.text);
            }
            return;
        case NodeKind::Evaluate:
            if (node.children[0].kind != NodeKind::Text) expression(node.children[0]);
            return;
        case NodeKind::Unsupported:
            refuse(node.place, node.text + " is not supported in a compiled function", node.note);
        default: UNISONO_ASSERT(!"a statement");
    }
}

void Assignments::assign(const Node& node) {
    bool is_single = node.children.size() == 2;
    if (is_single && assign_under_mask(node.children[0], "", node.children[1], node.place)) return;
    Value value = expression(node.children.back());
    // The first of several targets may change what the value reads.
    if (node.children.size() > 2) value = all_made(value, node.place);
    if (node.children.size() > 2 && value.type.is_scalar()) value.expr = settle(value.expr);
    for (std::size_t i = 0; i + 1 < node.children.size(); ++i) assign_to(node.children[i], value);
}

/// Items that are assigned together must all be read before the first is written: a, b = b, a.
static bool needs_copies(const Value& value) {
    return std::any_of(value.items.begin(), value.items.end(), [](const Value& item) {
        return !item.items.empty() || item.type.is_array() || item.type.is_instance() ||
               (item.type.is_scalar() && !is_invariant(item.expr));
    });
}

void Assignments::assign_to(const Node& target, const Value& value) {
    at(target.place);
    if (target.kind == NodeKind::Name) return bind(target.text, value, target.place);
    if (target.kind == NodeKind::Tuple) {
        if (!value.type.is_tuple()) {
            refuse(target.place, "cannot unpack a value of type " + describe(value.type),
                   "assign it to one name, or give a tuple on the right");
        }
        auto is_starred = [](const Node& n) { return n.kind == NodeKind::Starred; };
        auto star = std::find_if(target.children.begin(), target.children.end(), is_starred);
        if (star != target.children.end()) return assign_starred(target, *star, value);
        if (value.items.size() != target.children.size()) {
            refuse(target.place,
                   "cannot unpack " + std::to_string(value.items.size()) + " values into " +
                       std::to_string(target.children.size()) + " targets",
                   "give as many targets as there are values");
        }
        std::vector<Value> items = value.items;
        if (needs_copies(value)) {
            for (Value& item : items) {
                if (item.type.is_scalar() && !is_invariant(item.expr))
                    item.expr = temporary(item.expr);
                if (item.type.is_array()) item = snapshot(made(item, target.place));
                if (item.type.is_instance()) item = held_object(item);
            }
        }
        for (std::size_t i = 0; i < items.size(); ++i) assign_to(target.children[i], items[i]);
        return;
    }
    if (target.kind == NodeKind::Subscript) {
        if (auto field = field_access(target)) return store_field(*field, value, target.place);
        Value object = expression(target.children[0]);
        if (object.type.is_records()) return assign_record(target, object, value);
        if (has_method(object, "__setitem__")) {
            special_method(&target, "__setitem__", {object, index_value(target), value},
                           target.place);
            return;
        }
        if (object.type.is_table())
            return Tables(*this, target.place).set(object, index_value(target), value);
        if (object.type.is_list() && object.list < 0)
            refuse(target.place, "a list that was passed to the function cannot change here",
                   "change it under its own name, or make a list, as in list(x), and return it");
        return assign_item(target, made(as_array(object), target.place), value);
    }
    if (target.kind == NodeKind::Attribute) {
        if (auto field = field_access(target)) return store_field(*field, value, target.place);
        if (assign_member(target, value)) return;
        if (target.text != "real" && target.text != "imag") refuse_frozen(target);
    }
    bool is_part = target.kind == NodeKind::Attribute && !source_.is_kernel &&
                   (target.text == "real" || target.text == "imag");
    if (is_part) {
        Value array = made(expression(target.children[0]), target.place);
        if (array.type.is_array()) {
            Value part = array_part(array, target.text == "real" ? 0 : 1, target.place);
            return assign_elements(made(part, target.place), value, target.place);
        }
    }
    bool is_shape = target.kind == NodeKind::Attribute && target.text == "shape" &&
                    target.children[0].kind == NodeKind::Name && !source_.is_kernel;
    if (is_shape) {
        const Node& owner = target.children[0];
        Value array = read_name(owner);
        if (array.type.is_array()) {
            std::vector<E> extents = shape_argument(value, target.place);
            return bind(owner.text, reshaped(array, extents, false, target.place), target.place);
        }
    }
    refuse(target.place, "this target of an assignment is not supported in a compiled function",
           "assign to a name, to array[indices] or to a tuple of them");
}

void Assignments::assign_item(const Node& target, const Value& array, const Value& value) {
    if (!array.type.is_array()) {
        refuse(target.place, "cannot assign to an item of a value of type " + describe(array.type),
               "only items of arrays can be assigned; build a new tuple instead");
    }
    refuse_computed(array, target.place);
    if (!array.type.writable) refuse_readonly(array);
    std::vector<const Node*> parts = index_nodes(target);
    if (has_array_index(parts)) return assign_gathered(target, array, parts, value);
    if (auto items = view_items(target, array)) {
        Value part = index_view(target, array, *items);
        at(target.place);
        return assign_elements(part, value, target.place);
    }
    auto where = indices(target, array);
    E item = to_type(want_number(value, target.place, "the value stored"), array.type.dtype,
                     target.place);
    at(target.place);
    emit(b_->store(array.array, where, item, access_for(where)));
    return;
}

/// Items of a value that no memory holds cannot be assigned.
void Arrays::refuse_computed(const Value& array, const Place& place) {
    if (!array.lazy) return;
    refuse(place, "cannot assign to a part of numbers that are not aligned in their dtype",
           "make the dtype with align=True, or write a loop");
}

/// a, *b, c = tuple: b takes what the others leave, as a list.
void Assignments::assign_starred(const Node& target, const Node& star, const Value& value) {
    std::size_t others = target.children.size() - 1, size = value.items.size();
    if (size < others) {
        refuse(target.place,
               "cannot unpack " + std::to_string(size) + " values into at least " +
                   std::to_string(others) + " targets",
               "give as many values as there are targets without a star");
    }
    auto first = static_cast<std::size_t>(&star - target.children.data());
    Value all = value;
    for (Value& item : all.items) {
        if (item.type.is_scalar()) item.expr = settle(item.expr);
        if (item.type.is_array()) item = snapshot(made(item, target.place));
    }
    auto begin = all.items.begin() + static_cast<std::ptrdiff_t>(first);
    auto end = begin + static_cast<std::ptrdiff_t>(size - others);
    Value rest = tuple_of({begin, end});
    Value list = rest.items.empty() ? new_list(Type::python(Weak::Int), "list")
                                    : list_value(rest, star.place);
    for (std::size_t i = 0; i < target.children.size(); ++i) {
        if (i == first)
            assign_to(star.children[0], list);
        else
            assign_to(target.children[i], all.items[i < first ? i : i + size - others - 1]);
    }
}

void Arrays::refuse_readonly(const Value& array) {
    std::int32_t root = describe_array(array.array).root;
    fail(ErrorKind::Value,
         source_.name + ": '" + function_->arrays[static_cast<std::size_t>(root)].name +
             "' is written, but the array given is read-only; got a read-only buffer; "
             "expected a writable array; pass a copy");
}

/// x op= change for a whole array or a view; NumPy's casts within a kind.
void Assignments::assign_in_place(const Node& node, const Value& array, const Value& change) {
    Value target = made(array, node.place);
    Value result = binary(node.text, target, change, node.place);
    refuse_cast(node.text, result.type.dtype, array.type.dtype, node.place);
    assign_elements(target, result, node.place);
}

void Emission::refuse_cast(const std::string& op, DType from, DType to, const Place& place) {
    bool fits = is_complex(to) || (!is_complex(from) && (is_float(to) || !is_float(from)));
    if (is_bool(to) && !is_bool(from)) fits = false;
    if (!fits) {
        refuse(place,
               "'" + op + "=' gives " + std::string(name(from)) + ", which an array of " +
                   std::string(name(to)) + " does not take in place",
               "assign to a new name, or convert the operand");
    }
}

void Assignments::assign_augmented(const Node& node) {
    const Node& target = node.children[0];
    if (assign_under_mask(target, node.text, node.children[1], node.place)) return;
    if (target.kind == NodeKind::Name) {
        Value old = read_name(target);
        Value change = expression(node.children[1]);
        at(node.place);
        if (old.type.is_array()) return assign_in_place(node, old, change);
        if (old.type.is_table() && Tables(*this, node.place).update(node.text, old, change)) return;
        if (old.type.is_list() && node.text == "+") return extend(old, change, node.place);
        return bind(target.text, binary(node.text, old, change, node.place), target.place);
    }
    if (auto field = field_access(target)) return augment_field(node, *field);
    bool is_part = target.kind == NodeKind::Attribute && !source_.is_kernel &&
                   (target.text == "real" || target.text == "imag");
    if (is_part) {
        if (augment_member(node)) return;
        Value part = expression(target);
        Value change = expression(node.children[1]);
        at(node.place);
        if (part.type.is_array()) return assign_in_place(node, part, change);
    }
    if (target.kind == NodeKind::Attribute) {
        if (augment_member(node)) return;
        refuse_frozen(target);
    }
    if (target.kind != NodeKind::Subscript) {
        refuse(target.place, "this target of an augmented assignment is not supported",
               "use a name or array[indices]");
    }
    Value object = expression(target.children[0]);
    if (object.type.is_table()) return Tables(*this, node.place).augment(node, object);
    if (has_method(object, "__getitem__") && has_method(object, "__setitem__")) {
        Value index = kept_apart(index_value(target));
        Value old = *special_method(&target, "__getitem__", {object, index}, target.place);
        Value change = expression(node.children[1]);
        at(node.place);
        Value result = binary(node.text, old, change, node.place);
        special_method(&target, "__setitem__", {object, index, result}, target.place);
        return;
    }
    if (object.type.is_list() && object.list < 0)
        refuse(target.place, "a list that was passed to the function cannot change here",
               "change it under its own name, or make a list, as in list(x), and return it");
    augment_item(node, target, made(as_array(object), target.place));
}

void Assignments::augment_item(const Node& node, const Node& target, const Value& array) {
    if (!array.type.is_array())
        refuse(target.place, "cannot assign to an item of a value of type " + describe(array.type),
               "only items of arrays can be assigned; build a new tuple instead");
    refuse_computed(array, target.place);
    if (!array.type.writable) refuse_readonly(array);
    std::vector<const Node*> parts = index_nodes(target);
    if (has_array_index(parts)) {
        if (auto mask = mask_of(array, parts)) {
            Value held = made(*mask, target.place);
            Value old = compressed(array, held, target.place);
            Value change = expression(node.children[1]);
            Value result = made(binary(node.text, old, change, node.place), node.place);
            refuse_cast(node.text, result.type.dtype, array.type.dtype, node.place);
            return assign_masked(array, held, result, node.place);
        }
        Gather g = gathering(target, array, parts);
        Value old = made(gathered(g), target.place);
        Value change = expression(node.children[1]);
        Value result = binary(node.text, old, change, node.place);
        refuse_cast(node.text, result.type.dtype, array.type.dtype, node.place);
        return scatter(g, result, node.place);
    }
    if (auto items = view_items(target, array)) {
        Value part = index_view(target, array, *items);
        Value change = expression(node.children[1]);
        at(node.place);
        return assign_in_place(node, part, change);
    }
    auto where = indices(target, array);
    for (E& index : where) {
        if (has_load(index)) index = temporary(index);
    }
    at(target.place);
    Value old = scalar(b_->load(array.array, where, access_for(where)), array.type.weak);
    Value change = expression(node.children[1]);
    at(node.place);
    Value result = binary(node.text, old, change, node.place);
    emit(b_->store(array.array, where, to_type(result, array.type.dtype, node.place),
                   access_for(where)));
}

void ControlFlow::branch(const Node& node) {
    E test = condition(node.children[0]);
    if (auto known = constant_int(test)) {
        statements(node.children[*known ? 1 : 2]);
        return;
    }
    Env before = env_;
    S yes = nested(node.children[1]);
    Env after_yes = std::exchange(env_, before);
    S no = nested(node.children[2]);
    Env after_no = env_;
    std::vector<S> yes_list(yes->body.begin(), yes->body.end());
    std::vector<S> no_list(no->body.begin(), no->body.end());
    env_ = merge_branches(yes_list, after_yes, no_list, after_no);
    at(node.place);
    emit(b_->branch(test, b_->block(yes_list), no_list.empty() ? nullptr : b_->block(no_list)));
}

/// How the caller finds the value, and the results that it finds it in. Arrays other than arguments
/// are told by address; their memory outlives the function.
void ControlFlow::shape_result(const Value& value, ResultShape& shape, std::vector<E>& scalars) {
    shape.dtype = value.type.dtype;
    shape.index = static_cast<int>(scalars.size());
    if (value.type.is_instance()) {
        shape.kind = ResultShape::Kind::Object;
        shape.record = value.type.record;
        scalars.push_back(temporary(object_address(value), "address"));
        scalars.push_back(kept_object(value));
    } else if (value.type.is_scalar()) {
        shape.kind =
            value.type.is_complex() ? ResultShape::Kind::Complex : ResultShape::Kind::Scalar;
        if (!value.type.is_complex()) return scalars.push_back(value.expr);
        auto [re, im] = parts_of(value.expr);
        Weak weak = value.type.is_weak() ? Weak::Float : Weak::None;
        for (E part : {re, im})
            shape_result(scalar(part, weak), shape.items.emplace_back(), scalars);
    } else if (value.type.is_text()) {
        shape.kind = ResultShape::Kind::Text;
        scalars.push_back(Texts(*this, {}).handle(value));
    } else if (value.type.is_table()) {
        if (value.type.rank > static_cast<int>(TableKind::Set) && !value.type.is_object_list())
            refuse(last_return_, "the " + describe(value.type) + " cannot be returned",
                   "return the dict, or a list of them");
        shape.kind = ResultShape::Kind::Table;
        shape.code = table_code(value.type);
        scalars.push_back(value.expr);
    } else if (value.type.is_records()) {
        const Value& field = any_field(value, {});
        shape.kind = ResultShape::Kind::Owner;
        shape.index = 0;
        for (const ir::Param& p : function_->params) {
            if (p.array == field.array) return;
            shape.index += p.is_array();
        }
        refuse(last_return_,
               "only structured arrays that were given to the function can be returned",
               "return its fields, or fill an array that is passed in");
    } else if (value.type.is_tuple() || value.type.is_record()) {
        shape.kind = value.type.is_tuple() ? ResultShape::Kind::Tuple : ResultShape::Kind::Record;
        shape.record = value.type.record;
        for (const Value& item : value.items)
            shape_result(item, shape.items.emplace_back(), scalars);
    } else if (value.type.is_array() || value.type.is_list()) {
        bool is_list = value.type.is_list() && value.list >= 0;
        if (!is_list && !learnt_.describes_results &&
            function_->arrays[static_cast<std::size_t>(value.array)].param >= 0) {
            shape.kind = ResultShape::Kind::Argument;
            shape.index = 0;
            for (const ir::Param& p : function_->params) {
                if (p.array == value.array) break;
                shape.index += p.is_array();
            }
            return;
        }
        Descriptor d = describe_array(value.array);
        bool is_slot = function_->arrays[static_cast<std::size_t>(d.root)].is_slot;
        shape.kind = value.type.is_list() ? ResultShape::Kind::List : ResultShape::Kind::Array;
        shape.rank = static_cast<int>(d.extents.size());
        if (is_slot) emit(b_->retain(d.root));
        scalars.push_back(op_binary(Op::Add, b_->address(d.root),
                                    op_binary(Op::Mul, d.offset, i64(size_of(value.type.dtype)))));
        scalars.push_back(is_slot ? b_->block_of(d.root) : i64(0));
        scalars.insert(scalars.end(), d.extents.begin(), d.extents.end());
        scalars.insert(scalars.end(), d.strides.begin(), d.strides.end());
    }
}

Value Arrays::all_made(Value value, const Place& place) {
    value = made(value, place);
    for (Value& item : value.items) item = all_made(item, place);
    return value;
}

/// Whether both results hold the same array arguments at the same places.
static bool same_arguments(const ResultShape& a, const ResultShape& b) {
    if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
    bool is_argument = a.kind == ResultShape::Kind::Argument || a.kind == ResultShape::Kind::Owner;
    if (is_argument && a.index != b.index) return false;
    for (std::size_t i = 0; i < a.items.size(); ++i) {
        if (!same_arguments(a.items[i], b.items[i])) return false;
    }
    return true;
}

void ControlFlow::give_back(const Node& node) {
    Value value;
    if (!node.children.empty()) {
        value = expression(node.children[0]);
        is_result_ = !source_.is_kernel && parallel_depth_ == 0;
        value = all_made(value, node.place);
        is_result_ = false;
    }
    const Place& place = node.place;
    if (parallel_depth_ > 0) {
        refuse(place, "return inside prange",
               "set a variable or an array element and return after the loop");
    }
    if (source_.is_kernel && value.type.kind != Type::Kind::None) {
        refuse(place, "a kernel returns nothing; got a value of type " + describe(value.type),
               "store the result into an array argument");
    }
    value = declared_value(value, result_wanted_, place, "the result");
    if (value.type.is_function() || value.type.kind == Type::Kind::Exception) {
        refuse(place, "a " + describe(value.type) + " cannot be returned",
               "return numbers, texts, arrays or tuples of them");
    }
    if (learnt_.result && learnt_.result->is_table())
        value = Tables(*this, place).agreed(value, *learnt_.result);
    if (!learnt_.result) {
        learnt_.result = value.type;
    } else if (*learnt_.result != value.type) {
        auto joined = join(*learnt_.result, value.type);
        if (!joined) {
            std::vector<std::pair<Place, std::string>> related;
            if (first_return_)
                related.emplace_back(*first_return_,
                                     "returns " + describe(*learnt_.result) + " here");
            refuse(
                place,
                "the function returns " + describe(value.type) + " here and " +
                    describe(*learnt_.result) + " elsewhere",
                "return one type: convert with float(...) or int(...), or return from every path",
                related);
        }
        if (*joined != *learnt_.result) must_restart_ = true;
        learnt_.result = joined;
    }
    leave_function(converted_value(value, *learnt_.result), place);
}

/// Returns a value of the function's type.
void ControlFlow::leave_function(const Value& value, const Place& place) {
    if (returns_by_final(value)) return;
    ResultShape shape;
    std::vector<E> scalars;
    at(place);
    last_return_ = place;
    shape_result(value, shape, scalars);
    if (first_return_ && !same_arguments(shape, instance_.shape))
        must_restart_ = learnt_.describes_results = true;
    instance_.shape = shape;
    instance_.result = *learnt_.result;
    instance_.has_result = true;
    if (!first_return_) first_return_ = place;
    at(place);
    emit(b_->ret(scalars));
    env_.reachable = false;
}

void ControlFlow::end_of_function() {
    if (!env_.reachable) return;
    if (learnt_.result && learnt_.result->kind != Type::Kind::None) {
        std::vector<std::pair<Place, std::string>> related;
        if (first_return_)
            related.emplace_back(*first_return_, "returns " + describe(*learnt_.result) + " here");
        refuse(source_.body.children.back().place,
               "the end of the function is reached without a return, which gives None",
               "return a value on every path, or raise an exception", related);
    }
    learnt_.result = Type::none();
}

void ControlFlow::assertion(const Node& node) {
    E test = condition(node.children[0]);
    std::string message;
    std::vector<E> values;
    if (auto known = constant_int(test); known && *known) return;
    std::vector<S> failed = collect([&] {
        if (node.children.size() > 1)
            std::tie(message, values) = message_of(node.children[1], "an assert");
        at(node.place);
        emit(b_->raise(b_->site(ErrorKind::Assertion, message), values));
    });
    at(node.place);
    emit(b_->branch(op_unary(Op::Not, test), b_->block(failed)));
}

void Emission::fault_if(E condition, ErrorKind kind, const std::string& message, const Place& place,
                        std::vector<E> values) {
    if (auto known = constant_int(condition); known && !*known) return;
    at(place);
    S raised = b_->raise(b_->site(kind, message), values);
    emit(b_->branch(condition, b_->block({raised})));
}

}  // namespace unisono::frontend
