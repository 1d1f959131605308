// Lowers return: one type and shape for what all returns of a function leave.
#include "frontend/control_flow.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

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

/// How the caller finds the value, and the results that it finds it in. Arrays other than arguments
/// are told by address; their memory outlives the function.
void ControlFlow::shape_result(const Value& value, ResultShape& shape, std::vector<E>& scalars) {
    shape.dtype = value.type.dtype;
    shape.index = static_cast<int>(scalars.size());
    if (value.type.is_records()) shape.record = value.type.record;
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
    } else if (value.type.kind == Type::Kind::DTypeName) {
        shape.kind = ResultShape::Kind::DTypeName;
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
        const bool is_described = learnt_.describes_results && !shape.record->dtype.empty();
        for (const ir::Param& p : function_->params) {
            if (p.array == field.array && !is_described) return;
            shape.index += p.is_array();
        }
        if (shape.record->dtype.empty())
            refuse(last_return_,
                   "the " + describe(value.type) + " cannot be returned: its fields lie apart",
                   "return its fields, or fill an array that is passed in");
        shape.kind = ResultShape::Kind::Records;
        shape_result(record_bytes(value, last_return_), shape.items.emplace_back(), scalars);
    } else if (value.type.is_function()) {  // what it captured
        shape.kind = ResultShape::Kind::Tuple;
        for (const Value& item : value.items)
            shape_result(item, shape.items.emplace_back(), scalars);
    } else if (value.type.is_optional()) {
        shape.kind = ResultShape::Kind::Optional;
        for (const Value& item : value.items)
            shape_result(item, shape.items.emplace_back(), scalars);
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
        if (value.type.is_list()) shape.code = value.type.items[0].name;
        if (is_byte_array(value.type)) shape.code = value.type.writable ? "bytearray" : "bytes";
        if (is_slot) emit(b_->retain(d.root));
        scalars.push_back(op_binary(Op::Add, b_->address(d.root),
                                    op_binary(Op::Mul, d.offset, i64(size_of(value.type.dtype)))));
        scalars.push_back(is_slot ? b_->block_of(d.root) : i64(0));
        scalars.insert(scalars.end(), d.extents.begin(), d.extents.end());
        scalars.insert(scalars.end(), d.strides.begin(), d.strides.end());
    }
}

void ControlFlow::give_back(const Node& node) {
    Value value;
    if (!node.children.empty()) {
        value = maybe_none(node.children[0]);
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
    give(declared_value(value, result_wanted_, place, "the result"), place);
}

static bool holds_function(const Type& t) {
    return t.is_function() || std::any_of(t.items.begin(), t.items.end(), holds_function);
}

/// What is returned empty learns its items from what is returned elsewhere, and the function starts
/// again.
void ControlFlow::learn_from_return(const Value& value, const Type& elsewhere, const Place& place) {
    if (value.type.is_tuple() && elsewhere.is_tuple() &&
        value.items.size() == elsewhere.items.size()) {
        for (std::size_t k = 0; k < value.items.size(); ++k)
            learn_from_return(value.items[k], elsewhere.items[k], place);
    }
    if (const Node* literal = open_literal(value)) {
        if (elsewhere.is_object_list()) {
            learnt_.table_items[literal].value = elsewhere.items.back();
            learnt_.result.reset();
            box_literal(literal);
        }
        if (elsewhere.is_list()) {
            learnt_.list_items[literal] = elsewhere.items[0];
            learnt_.guesses.clear();
            learnt_.result.reset();
            throw Restart{};
        }
    }
    Tables tables(*this, place);
    bool is_open = value.type.is_table() && elsewhere.is_table() && tables.is_open(value);
    if (is_open && value.type.rank == elsewhere.rank && value.type != elsewhere) {
        learnt_.result.reset();
        tables.agreed(value, elsewhere);
    }
}

static bool holds_list(const Value& v) {
    return (v.type.is_list() && v.list >= 0) ||
           std::any_of(v.items.begin(), v.items.end(), holds_list);
}

/// Lists of numbers in a result become lists of objects where they are made.
void ControlFlow::share_lists(const Value& value) {
    share_list(value);
    for (const Value& item : value.items) share_lists(item);
}

/// Leaves the function with a value, of a type that holds this one and those of other returns.
void ControlFlow::give(Value value, const Place& place) {
    if (module_.is_entry(instance_) && holds_function(value.type))
        refuse(place, "a " + describe(value.type) + " cannot be returned to Python",
               "call it here, or return its result: compiled functions return functions to each "
               "other only");
    if (value.type.kind == Type::Kind::Exception)
        refuse(place, "a " + describe(value.type) + " cannot be returned",
               "return numbers, texts, arrays or tuples of them");
    if (learnt_.result && learnt_.result->is_table())
        value = Tables(*this, place).agreed(value, *learnt_.result);
    // What a finally changes is what the function gives.
    if (!learnt_.shares_result && final_before(0) && holds_list(value)) {
        learnt_.shares_result = true;
        learnt_.result.reset();
        throw Restart{};
    }
    if (learnt_.shares_result) {
        share_lists(value);
        if (value.type.is_list() && value.list >= 0) value = Tables(*this, place).storable(value);
    }
    if (!learnt_.result) {
        learnt_.result = value.type;
    } else if (*learnt_.result != value.type) {
        auto joined = join(*learnt_.result, value.type);
        if (!joined) {
            const Type elsewhere = *learnt_.result;
            learn_from_return(value, elsewhere, place);
            for (const Value& other : returned_) learn_from_return(other, value.type, place);
        }
        bool is_list = value.type.is_list() || learnt_.result->is_list();
        bool is_none = value.type.is_none() || learnt_.result->is_none();
        bool is_shared = Tables::has_numbers(value.type) || Tables::has_numbers(*learnt_.result);
        if (!joined && is_list && (is_none || is_shared) && !learnt_.shares_result) {
            learnt_.shares_result = true;
            learnt_.result.reset();
            throw Restart{};
        }
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
        if (*joined != *learnt_.result && depth_of(*joined) > deepest_type)
            refuse(place, "the type of the result grows with each call of the function by itself",
                   "return a list, or write the recursion as a loop");
        if (*joined != *learnt_.result) must_restart_ = true;
        learnt_.result = joined;
    }
    returned_.push_back(value);
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
    if (!learnt_.result) learnt_.result = Type::none();
    if (learnt_.result->is_none()) {
        instance_.result = Type::none();
        instance_.shape = {};
        instance_.has_result = true;
        return;
    }
    give({}, source_.body.children.back().place);
}

}  // namespace unisono::frontend
