// Values as arrays and as numbers, and what refuses those that are neither.
#include <algorithm>

#include "frontend/arrays.h"
#include "frontend/lazy.h"
#include "frontend/tables.h"

namespace unisono::frontend {

using ir::StrideClass;

/// The numbers of tuples within tuples, where they form a rectangle.
static bool nested_numbers(const Value& v, std::size_t depth, std::vector<std::size_t>& shape,
                           std::vector<Value>& leaves) {
    if (!v.type.is_tuple()) {
        leaves.push_back(v);
        return v.type.is_scalar() && depth == shape.size();
    }
    if (depth == shape.size() && leaves.empty()) shape.push_back(v.items.size());
    if (depth >= shape.size() || v.items.size() != shape[depth]) return false;
    return std::all_of(v.items.begin(), v.items.end(), [&](const Value& item) {
        return nested_numbers(item, depth + 1, shape, leaves);
    });
}

/// What np.FUNCTION makes of an array_like: a number or a tuple of numbers becomes an array.
Value Arrays::as_array(const Value& v, const Place& place) {
    if (v.type.is_scalar()) {
        E e = settle(v.expr);
        return computed({}, v.type.dtype, {},
                        [this, e](std::span<const E>, bool) { return scalar(e); });
    }
    if (Tables::has_numbers(v.type)) return as_array(Tables(*this, place).numbers(v, true));
    std::vector<std::size_t> shape;
    std::vector<Value> leaves;
    if (!v.type.is_tuple() || !nested_numbers(v, 0, shape, leaves) || leaves.empty()) return v;
    Type t = leaves[0].type;
    for (const Value& item : leaves) t = promote_types(t, item.type);
    std::vector<E> extents;
    for (std::size_t n : shape) extents.push_back(i64(static_cast<std::int64_t>(n)));
    Value array = make_array(t.dtype, extents, place);
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        std::vector<E> index(shape.size());
        std::size_t rest = k;
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            index[axis] = i64(static_cast<std::int64_t>(rest % shape[axis]));
            rest /= shape[axis];
        }
        set_item(array.array, index, to_type(leaves[k], t.dtype, place));
    }
    return array;
}

/// The items as an array whose elements are of the items' kind.
Value Arrays::as_array(const Value& list) const {
    if (!list.type.is_list()) return list;
    Value v = list;
    const ir::Array& a = function_->arrays[static_cast<std::size_t>(list.array)];
    v.type = Type::array(list.type.dtype, a.strides, a.writable);
    v.type.weak = list.type.items[0].weak;
    v.list = -1;
    return v;
}

std::vector<E> Arrays::shape_argument(const Value& v, const Place& place) {
    std::vector<E> extents;
    for (const Value& item : v.type.is_tuple() ? v.items : std::vector<Value>{v}) {
        if (!item.type.is_scalar() || !is_integer(item.type.dtype)) {
            refuse(place, "a shape consists of integers; got " + describe(v.type),
                   "give an int or a tuple of ints");
        }
        extents.push_back(settle(cast(item.expr, DType::Int64)));
    }
    return extents;
}

Value Arrays::computed(std::vector<E> extents, DType t, std::vector<std::int32_t> reads,
                       std::function<Value(std::span<const E>, bool)> element,
                       std::vector<std::int32_t> elsewhere) {
    auto lazy = std::make_shared<Lazy>();
    for (E& e : extents) e = pinned(e);
    lazy->elsewhere = std::move(elsewhere);
    lazy->extents = std::move(extents);
    lazy->reads = std::move(reads);
    lazy->element = std::move(element);
    Value v;
    v.type =
        Type::array(t, std::vector<StrideClass>(lazy->extents.size(), StrideClass::Other), false);
    v.lazy = std::move(lazy);
    return v;
}

Value Arrays::copied(const Value& array, const Place& place) {
    if (array.lazy && !array.lazy->view) return made(array, place);
    Value result = make_array(array.type.dtype, extents_of(array), place);
    assign_elements(result, array, place);
    return result;
}

Value Arrays::all_made(Value value, const Place& place) {
    value = made(value, place);
    for (Value& item : value.items) item = all_made(item, place);
    return value;
}

/// Items of a value that no memory holds cannot be assigned.
void Arrays::refuse_computed(const Value& array, const Place& place) {
    if (!array.lazy) return;
    refuse(place, "cannot assign to a part of numbers that are not aligned in their dtype",
           "make the dtype with align=True, or write a loop");
}

void Arrays::refuse_readonly(const Value& array) {
    std::int32_t root = describe_array(array.array).root;
    const ir::Array& held = function_->arrays[static_cast<std::size_t>(root)];
    if (held.param < 0) {
        fail(ErrorKind::Value,
             source_.name + ": " + (held.name == "made" ? "an array" : "'" + held.name + "'") +
                 " is written, but it is a read-only copy; got numbers of a field that is not "
                 "aligned in its dtype, or what NumPy gives as a view; expected an array of its "
                 "own; write the elements of the original in a loop, or copy it");
    }
    fail(ErrorKind::Value, source_.name + ": '" + held.name +
                               "' is written, but the array given is read-only; got a read-only "
                               "buffer; expected a writable array; pass a copy");
}

/// Where element [0, 0, ...] of an array lies.
E Arrays::address_of(const Value& array) {
    Descriptor d = describe_array(array.array);
    return op_binary(Op::Add, b_->address(d.root),
                     op_binary(Op::Mul, d.offset, i64(size_of(array.type.dtype))));
}

const Value& Arrays::want_scalar(const Value& v, const Place& place, const std::string& role) {
    if (!v.type.is_scalar() || v.type.is_complex()) {
        refuse(
            place, role + " must be a number; got " + describe(v.type),
            v.type.is_array()
                ? "index the array down to one element; whole-array operations belong outside of "
                  "compiled functions"
            : v.type.is_complex() ? "use its real part or its size here"
                                  : "use a number here");
    }
    return v;
}

std::optional<DType> Arrays::dtype_of(const Node& node) {
    if (node.kind != NodeKind::Builtin) return std::nullopt;
    if (node.text == "float") return DType::Float64;
    if (node.text == "int") return DType::Int64;
    if (node.text == "bool") return DType::Bool;
    if (node.text == "complex") return DType::Complex128;
    if (node.text.rfind("dtype:", 0) != 0) return std::nullopt;
    bool found = true;
    DType t = dtype_from_name(node.text.substr(6), found);
    return found ? std::optional(t) : std::nullopt;
}

const Value& Arrays::want_number(const Value& v, const Place& place, const std::string& role) {
    return v.type.is_complex() ? v : want_scalar(v, place, role);
}

/// A number as an item of bytes.
E Arrays::byte_of(const Value& v, const Place& place) {
    if (!v.type.is_scalar() || !(is_integer(v.type.dtype) || is_bool(v.type.dtype)))
        refuse(place, "an item of bytes is an integer; got " + describe(v.type),
               "convert it with int(...)");
    if (v.expr->dtype == DType::UInt8) return v.expr;
    E x = settle(cast(v.expr, DType::Int64));
    fault_if(op_binary(Op::Or, op_binary(Op::Lt, x, i64(0)), op_binary(Op::Gt, x, i64(255))),
             ErrorKind::Value, "byte must be in range(0, 256)", place);
    return cast(x, DType::UInt8);
}

/// The value as an operand of dtype t. NumPy refuses a Python integer that the dtype cannot hold.
E Arrays::to_type(const Value& v, DType t, const Place& place) {
    if (v.type.is_complex() && !is_complex(t) && !is_bool(t)) {
        refuse(place, "a complex number does not fit " + std::string(name(t)),
               "use .real, .imag or abs(...)");
    }
    if (v.type.weak == Weak::Int && is_integer(t)) {
        auto known = constant_int(v.expr);
        if (known && Scalar::of(t, *known).as<std::int64_t>() != *known) {
            refuse(place,
                   "Python integer " + std::to_string(*known) + " is out of bounds for " +
                       std::string(name(t)),
                   "convert the other operand to a wider dtype, as in np.int64(x)");
        }
    }
    return cast(v.expr, t);
}

}  // namespace unisono::frontend
