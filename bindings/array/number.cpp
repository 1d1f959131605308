// Number slots and comparisons of the array type.
#include <optional>
#include <string_view>

#include "array/beside.h"
#include "array/known_values.h"
#include "array/object.h"
#include "array/subclasses.h"
#include "functions/by_numpy.h"
#include "functions/linalg.h"
#include "ops/scalar_eval.h"
#include "reference.h"
#include "tape/tape.h"

namespace unisono::python {

namespace {

template <class F>
PyObject* recorded(F&& f) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        note_line();
        return wrap_made(f);
    });
}

/// Our arrays and Python's floats and small integers, without a call.
bool quick_operand(PyObject* o, Arg& arg) {
    if (plain_operand(o, arg)) return true;
    std::int64_t value;
    if (!small_integer(o, value)) return false;
    arg.view.storage = nullptr;
    arg.view.offset = value;
    arg.view.dtype = DType::Int64;
    arg.weak = Weak::Int;
    return true;
}

/// An operand of an operator; lists and tuples of numbers are operands too, and what NumPy's
/// protocols make an array of, unless its class has the operator.
bool operator_operand(PyObject* o, bool has_operator, Arg& arg, Array& keep) {
    if (is_of_numpys(o)) return false;
    if (operand(o, arg, keep)) return true;
    const auto is_array_like = [&] {
        return !has_operator && !PyType_Check(o) &&
               (PyObject_HasAttrString(o, "__array__") ||
                PyObject_HasAttrString(o, "__array_interface__"));
    };
    if (!PyList_Check(o) && !PyTuple_Check(o) && !is_array_like()) return false;
    keep = to_array(o, true);
    arg = keep.arg();
    return true;
}

/// Whether `list * value` is to repeat the list, as it does with Python's and NumPy's integers.
bool repeats(PyObject* sequence, PyObject* times) {
    return (PyList_Check(sequence) || PyTuple_Check(sequence)) && is_number(times);
}

/// The slot of an operator; null for comparisons.
template <Op op>
constexpr binaryfunc PyNumberMethods::*slot_of() {
    switch (op) {
        case Op::Add: return &PyNumberMethods::nb_add;
        case Op::Sub: return &PyNumberMethods::nb_subtract;
        case Op::Mul: return &PyNumberMethods::nb_multiply;
        case Op::Div: return &PyNumberMethods::nb_true_divide;
        case Op::FloorDiv: return &PyNumberMethods::nb_floor_divide;
        case Op::Mod: return &PyNumberMethods::nb_remainder;
        case Op::And: return &PyNumberMethods::nb_and;
        case Op::Or: return &PyNumberMethods::nb_or;
        case Op::Xor: return &PyNumberMethods::nb_xor;
        case Op::Shl: return &PyNumberMethods::nb_lshift;
        case Op::Shr: return &PyNumberMethods::nb_rshift;
        default: return nullptr;
    }
}

/// Whether the right operand of a computed value is an instance of a subclass of the array type
/// that defines this operator: then Python must call that one, as it does if both are arrays.
template <Op op>
bool defers(PyObject* a, PyObject* b) {
    if (Py_TYPE(a) == array_type || Py_TYPE(b) == array_type) return false;
    if ((!is_value_object(a) && !is_scalar(a)) || !is_array(b)) return false;
    const PyTypeObject* theirs = Py_TYPE(b);
    if constexpr (op == Op::Power) {
        return theirs->tp_as_number->nb_power != array_type->tp_as_number->nb_power;
    } else if constexpr (slot_of<op>() != nullptr) {
        return theirs->tp_as_number->*slot_of<op>() != array_type->tp_as_number->*slot_of<op>();
    } else {
        return theirs->tp_richcompare != array_type->tp_richcompare;
    }
}

template <Op op>
bool has_operator(PyObject* o) {
    const PyNumberMethods* slots = Py_TYPE(o)->tp_as_number;
    if constexpr (op == Op::Power) {
        return slots && slots->nb_power;
    } else if constexpr (slot_of<op>() != nullptr) {
        return slots && slots->*slot_of<op>();
    } else {
        return Py_TYPE(o)->tp_richcompare != PyBaseObject_Type.tp_richcompare;
    }
}

/// The operator's name in Python's module `operator`.
template <Op op>
constexpr const char* operator_name() {
    switch (op) {
        case Op::Add: return "operator.add";
        case Op::Sub: return "operator.sub";
        case Op::Mul: return "operator.mul";
        case Op::Div: return "operator.truediv";
        case Op::FloorDiv: return "operator.floordiv";
        case Op::Mod: return "operator.mod";
        case Op::Power: return "operator.pow";
        case Op::And: return "operator.and_";
        case Op::Or: return "operator.or_";
        case Op::Xor: return "operator.xor";
        case Op::Shl: return "operator.lshift";
        case Op::Shr: return "operator.rshift";
        case Op::Lt: return "operator.lt";
        case Op::Le: return "operator.le";
        case Op::Gt: return "operator.gt";
        case Op::Ge: return "operator.ge";
        case Op::Eq: return "operator.eq";
        default: return "operator.ne";
    }
}

/// NumPy's result of an operator that failed, where an operand is NumPy's own.
template <Op op>
[[gnu::cold, gnu::noinline]] PyObject* by_theirs(PyObject* a, PyObject* b) noexcept {
    PyObject* const operands[] = {a, b};
    return by_numpy(operator_name<op>(), operands, 2, nullptr);
}

/// Whether the class claims operators beside NumPy's arrays.
bool has_priority(PyObject* o) {
    return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__array_priority__") !=
           0;
}

/// Whether NumPy leaves the operator to the operand's class, or no array of objects is made of it.
bool is_no_element(PyObject* o) {
    return PyType_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o) ||
           (PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__array_ufunc__") &&
            !has_priority(o));
}

/// What NumPy gives where an operand's class has the operator: that of the class, where it claims
/// NumPy's arrays and takes ours; else elementwise on an array of objects.
template <Op op>
[[gnu::cold, gnu::noinline]] PyObject* beside_theirs(PyObject* a, PyObject* b) noexcept {
    PyObject* other = is_array(a) ? b : a;
    if ((!is_array(a) && !is_array(b)) || !has_operator<op>(other) || is_no_element(other))
        Py_RETURN_NOTIMPLEMENTED;
    return operated_by_numpy(operator_name<op>(), a, b);
}

/// Whether a number of ours stands beside an array of NumPy's: a number makes none of it ours.
bool is_number_beside_numpys(PyObject* a, PyObject* b) {
    return (is_number(a) && is_numpys_with_axes(b)) || (is_number(b) && is_numpys_with_axes(a));
}

/// NumPy's result of an operator between a number of ours and an array of NumPy's.
template <Op op>
[[gnu::noinline]] PyObject* beside_numpys(PyObject* a, PyObject* b) noexcept {
    constexpr std::string_view prefix = "operator.";
    static PyObject* known = nullptr;
    PyObject* function = kept(known, "operator", operator_name<op>() + prefix.size());
    Ref x(function ? as_numpys_number(a) : nullptr);
    Ref y(x.p ? as_numpys_number(b) : nullptr);
    return y.p ? PyObject_CallFunctionObjArgs(function, x.p, y.p, nullptr) : nullptr;
}

/// As `guarded`; what fails is NumPy's to try. Nothing is asked where nothing is thrown.
template <Op op, class F>
PyObject* guarded_operator(PyObject* a, PyObject* b, F&& f) noexcept {
    try {
        return f();
    } catch (...) {
        set_current_error();
        return by_theirs<op>(a, b);
    }
}

/// The operands of most statements: arrays of this rank with memory, or one and a Python float.
/// False, with nothing set, for all others.
bool plain_pair(PyObject* a, PyObject* b, Arg* args) {
    if (owners_exist) [[unlikely]]
        return false;
    const auto is_memory = [](PyObject* o) {
        return Py_TYPE(o) == array_type && array_of(o).view().storage;
    };
    const bool first = is_memory(a), second = is_memory(b);
    if (!(first || PyFloat_CheckExact(a)) || !(second || PyFloat_CheckExact(b)) ||
        !(first || second))
        return false;
    return plain_operand(a, args[0]) && plain_operand(b, args[1]);
}

template <Op op>
PyObject* binary(PyObject* a, PyObject* b) noexcept {
    Arg plain[2];
    if (plain_pair(a, b, plain)) [[likely]] {
        return guarded_operator<op>(a, b, [&] {
            note_line();
            return wrap_made([&] { return apply(op, plain); });
        });
    }
    if constexpr (op != Op::FloorDiv) {
        if (PyObject* made = of_known_values<op>(a, b)) return made;
    }
    if (defers<op>(a, b)) Py_RETURN_NOTIMPLEMENTED;
    return guarded_operator<op>(a, b, [&]() -> PyObject* {
        Arg args[2];
        Array keep[2];
        if (op == Op::Mul && (repeats(a, b) || repeats(b, a))) Py_RETURN_NOTIMPLEMENTED;
        const bool quick[] = {quick_operand(a, args[0]), quick_operand(b, args[1])};
        if (!(quick[0] && quick[1]) && is_number_beside_numpys(a, b))
            return beside_numpys<op>(a, b);
        if ((!quick[0] && !operator_operand(a, has_operator<op>(a), args[0], keep[0])) ||
            (!quick[1] && !operator_operand(b, has_operator<op>(b), args[1], keep[1])))
            return beside_theirs<op>(a, b);
        if (keep[0].view().storage || keep[1].view().storage) {
            PyObject* const given[] = {a, b};
            bring_together(given, args, keep);
        }
        if (op != Op::FloorDiv && !float_errors::is_checked() && args[0].is_scalar() &&
            args[1].is_scalar()) {
            Scalar made;
            if (apply_known(op, args, made)) return wrap_value(made.dtype, made.bits);
        }
        note_line();
        return wrap_made([&] { return apply(op, args); });
    });
}

/// a of= b, where b is neither an array of ours nor a plain number.
template <Op op>
[[gnu::noinline]] PyObject* in_place_of_other(PyObject* a, PyObject* b) {
    const Array& self = used_array(a);
    Arg args[2] = {self.arg(), {}};
    Array keep[2];
    if (!(is_of_numpys(b) && operand(b, args[1], keep[1])) &&
        !operator_operand(b, has_operator<op>(b), args[1], keep[1])) {
        if (has_operator<op>(b) && !is_no_element(b) && !has_priority(b))
            fail(ErrorKind::Type,
                 "array operator: cannot write results of " + std::string(Py_TYPE(b)->tp_name) +
                     " objects into an array of " + std::string(name(self.dtype())) +
                     "; write x = x + y for x += y");
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (keep[1].view().storage) {
        PyObject* const given[] = {a, b};
        bring_together(given, args, keep);
    }
    note_line();
    apply(op, args, &self);
    return Py_NewRef(a);
}

template <Op op>
PyObject* in_place(PyObject* a, PyObject* b) noexcept {
    const Array& self = array_of(a);
    if (self.is_value()) return binary<op>(a, b);  // values are immutable: the name is bound anew
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Arg args[2] = {used_array(a).arg(), {}};
        if (!quick_operand(b, args[1])) return in_place_of_other<op>(a, b);
        note_line();
        apply(op, args, &self);
        return Py_NewRef(a);
    });
}

template <Op op>
PyObject* unary(PyObject* a) noexcept {
    if (PyObject* made = of_known_value<op>(a)) return made;
    return recorded([&] {
        const Array x = array_in(a);
        Arg args[] = {x.arg()};
        return apply(op, args);
    });
}

PyObject* positive(PyObject* a) noexcept {
    return recorded([&] {
        const Array x = array_in(a);
        if (is_bool(x.dtype()))
            fail(ErrorKind::Type, "positive: not defined for dtype bool; use .copy() for a copy");
        return x.rank() == 0 ? to_value(copy(x)) : copy(x);
    });
}

/// x ** exponent for the exponents that have an operation of their own; nothing for all others.
std::optional<Array> special_power(const Array& x, PyObject* exponent_object) {
    double exponent = PyFloat_AsDouble(exponent_object);
    if (exponent == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();  // what a power cannot take, the general way refuses
        return {};
    }
    const bool fits = PyLong_Check(exponent_object) || is_float(x.dtype());
    Arg xx[] = {x.arg(), x.arg()};
    if (is_bool(x.dtype())) return {};
    if (exponent == 1.0 && fits) return copy(x);
    if (exponent == 2.0 && fits) return apply(Op::Mul, xx);
    if (exponent == 3.0 && is_integer(x.dtype()) && PyLong_Check(exponent_object)) {
        Array square = apply(Op::Mul, xx);
        Arg with_x[] = {square.arg(), x.arg()};
        return apply(Op::Mul, with_x);
    }
    if (auto op = op_of_half_power(exponent); op && !is_complex(x.dtype())) {
        if (is_float(x.dtype())) return apply(*op, {xx, 1});
        const Array wide = astype(x, DType::Float64, false);
        const Arg base[] = {wide.arg()};
        return apply(*op, base);
    }
    if (exponent == 0.5) return apply(Op::Sqrt, {xx, 1});
    if (exponent == -1.0 && is_float(x.dtype())) {
        Arg inverse[] = {{scalar_operand(Scalar::of(DType::Float64, 1.0)), Weak::Float}, x.arg()};
        return apply(Op::Div, inverse);
    }
    return {};
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) noexcept {
    if (modulus != Py_None) {
        if (!PyLong_Check(a) || !PyLong_Check(b) || !PyLong_Check(modulus))
            Py_RETURN_NOTIMPLEMENTED;
        return PyLong_Type.tp_as_number->nb_power(a, b, modulus);  // Python's integers
    }
    if (const KnownValue x = known_value(a); x && x.dtype == DType::Float64) {
        std::int64_t exponent;
        if (small_integer(b, exponent) && exponent == 2) {
            if (PyObject* made = of_known_values<Op::Mul>(a, a)) return made;
        }
    }
    // NumPy's float64 has a dtype of its own, other than Python's float.
    const bool is_weak = PyFloat_CheckExact(b) || (PyLong_Check(b) && !is_value_object(b));
    if ((!is_array(a) && !is_value_object(a)) || is_array(b)) return binary<Op::Power>(a, b);
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const Array x = array_in(a);
        if (!is_weak && !(PyFloat_Check(b) && x.dtype() == DType::Float64))
            return binary<Op::Power>(a, b);
        note_line();
        if (auto made = special_power(x, b)) return wrap(std::move(*made));
        return binary<Op::Power>(a, b);
    });
}

PyObject* in_place_power(PyObject* a, PyObject* b, PyObject* modulus) noexcept {
    PyObject* result = power(a, b, modulus);
    if (!result || result == Py_NotImplemented || array_of(a).is_value()) return result;
    PyObject* same = guarded<PyObject*>(nullptr, [&] {
        const Array made = array_in(result);
        check_in_place_cast("power", made.dtype(), array_of(a).dtype());
        assign(array_of(a), made.arg());
        return Py_NewRef(a);
    });
    Py_DECREF(result);
    return same;
}

int truth(PyObject* o) noexcept {
    const View& v = array_of(o).view();
    if (!v.storage && v.dtype == DType::Float64)
        return std::bit_cast<double>(v.offset) != 0.0 ? 1 : 0;
    if (!v.storage && !is_float(v.dtype) && !is_complex(v.dtype)) return v.offset != 0 ? 1 : 0;
    return guarded(-1, [&] {
        const Array& a = used_array(o);
        if (a.size() != 1) {
            fail(ErrorKind::Value, "bool: the truth value of an array with " +
                                       std::to_string(a.size()) +
                                       " elements is ambiguous; use a.any() or a.all()");
        }
        if (is_complex(a.dtype())) return complex_item(a) != 0.0 ? 1 : 0;
        return cast(item(a), DType::Bool).get<bool>() ? 1 : 0;
    });
}

void refuse_complex_number(const char* what, const Array& a) {
    if (!is_complex(a.dtype())) return;
    fail(ErrorKind::Type, std::string(what) + ": a complex number cannot be converted; got dtype " +
                              std::string(name(a.dtype())) + "; use .real, or complex(x)");
}

PyObject* to_float(PyObject* o) noexcept {
    const Array& known = array_of(o);
    if (known.is_known() && known.dtype() == DType::Float64)
        return PyFloat_FromDouble(known.scalar().get<double>());
    return guarded<PyObject*>(nullptr, [&] {
        refuse_complex_number("float", array_of(o));
        return PyFloat_FromDouble(item(used_array(o)).as<double>());
    });
}

/// A value of an integer dtype as a Python integer; null without an error for all else.
PyObject* known_integer(PyObject* o) noexcept {
    const KnownValue v = known_value(o);
    std::int64_t value;
    if (!v || !integer_of(v.dtype, v.bits, value)) return nullptr;
    return PyLong_FromLongLong(value);
}

PyObject* to_int(PyObject* o) noexcept {
    if (PyObject* made = known_integer(o)) return made;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        refuse_complex_number("int", array_of(o));
        Scalar s = item(used_array(o));
        if (is_float(s.dtype)) return PyLong_FromDouble(s.as<double>());
        return to_python(is_bool(s.dtype) ? cast(s, DType::Int64) : s);
    });
}

PyObject* to_index(PyObject* o) noexcept {
    if (PyObject* made = known_integer(o)) return made;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const Array& a = used_array(o);
        if (a.rank() != 0 || !is_integer(a.dtype())) {
            fail(ErrorKind::Type,
                 "index: only integer scalar arrays can be converted to an index; got dtype " +
                     std::string(name(a.dtype())) + " and shape " + shape_text(a.shape()));
        }
        return to_python(item(a));
    });
}

/// What no number equals: NumPy compares it with each element.
bool equals_no_number(PyObject* o) {
    return o == Py_None || PyUnicode_Check(o) || PyBytes_Check(o);
}

/// Whether its class neither compares nor forbids that NumPy does: then it equals no number.
bool compares_as_plain_object(PyObject* o) {
    return Py_TYPE(o)->tp_richcompare == PyBaseObject_Type.tp_richcompare && !PyType_Check(o) &&
           !PyObject_HasAttrString(o, "__array_ufunc__");
}

PyObject* compare(PyObject* a, PyObject* b, int how) noexcept {
    const bool equality = (how == Py_EQ || how == Py_NE) && is_array(a) && !array_of(a).is_value();
    auto unequal = [&] {
        return recorded([&] {
            const Array& x = array_of(a);
            return full(x.shape(), Scalar::of(DType::Bool, how == Py_NE), x.device());
        });
    };
    if (equality && equals_no_number(b)) return unequal();
    PyObject* made = nullptr;
    switch (how) {
        case Py_LT: return binary<Op::Lt>(a, b);
        case Py_LE: return binary<Op::Le>(a, b);
        case Py_GT: return binary<Op::Gt>(a, b);
        case Py_GE: return binary<Op::Ge>(a, b);
        case Py_EQ: made = binary<Op::Eq>(a, b); break;
        default: made = binary<Op::Ne>(a, b);
    }
    if (made != Py_NotImplemented || !equality || !compares_as_plain_object(b)) return made;
    Py_DECREF(made);
    return unequal();
}

Py_hash_t hash(PyObject* o) noexcept {
    const Array& a = array_of(o);
    if (!a.is_value()) {
        PyErr_SetString(
            PyExc_TypeError,
            "unhashable type: 'unisono.ndarray'; arrays are mutable, use a.tobytes() or id(a) as a "
            "key; pass a.to_numpy() to libraries that expect NumPy's arrays");
        return -1;
    }
    PyObject* value = guarded<PyObject*>(nullptr, [&] { return to_python(a); });
    if (!value) return -1;
    Py_hash_t h = PyObject_Hash(value);
    Py_DECREF(value);
    return h;
}

}  // namespace

PyType_Slot number_slots[] = {
    {Py_nb_add, reinterpret_cast<void*>(binary<Op::Add>)},
    {Py_nb_subtract, reinterpret_cast<void*>(binary<Op::Sub>)},
    {Py_nb_multiply, reinterpret_cast<void*>(binary<Op::Mul>)},
    {Py_nb_matrix_multiply, reinterpret_cast<void*>(matrix_multiply)},
    {Py_nb_inplace_matrix_multiply, reinterpret_cast<void*>(matrix_multiply_in_place)},
    {Py_nb_true_divide, reinterpret_cast<void*>(binary<Op::Div>)},
    {Py_nb_floor_divide, reinterpret_cast<void*>(binary<Op::FloorDiv>)},
    {Py_nb_remainder, reinterpret_cast<void*>(binary<Op::Mod>)},
    {Py_nb_and, reinterpret_cast<void*>(binary<Op::And>)},
    {Py_nb_or, reinterpret_cast<void*>(binary<Op::Or>)},
    {Py_nb_xor, reinterpret_cast<void*>(binary<Op::Xor>)},
    {Py_nb_lshift, reinterpret_cast<void*>(binary<Op::Shl>)},
    {Py_nb_rshift, reinterpret_cast<void*>(binary<Op::Shr>)},
    {Py_nb_power, reinterpret_cast<void*>(power)},
    {Py_nb_inplace_power, reinterpret_cast<void*>(in_place_power)},
    {Py_nb_inplace_add, reinterpret_cast<void*>(in_place<Op::Add>)},
    {Py_nb_inplace_subtract, reinterpret_cast<void*>(in_place<Op::Sub>)},
    {Py_nb_inplace_multiply, reinterpret_cast<void*>(in_place<Op::Mul>)},
    {Py_nb_inplace_true_divide, reinterpret_cast<void*>(in_place<Op::Div>)},
    {Py_nb_inplace_floor_divide, reinterpret_cast<void*>(in_place<Op::FloorDiv>)},
    {Py_nb_inplace_remainder, reinterpret_cast<void*>(in_place<Op::Mod>)},
    {Py_nb_inplace_and, reinterpret_cast<void*>(in_place<Op::And>)},
    {Py_nb_inplace_or, reinterpret_cast<void*>(in_place<Op::Or>)},
    {Py_nb_inplace_xor, reinterpret_cast<void*>(in_place<Op::Xor>)},
    {Py_nb_inplace_lshift, reinterpret_cast<void*>(in_place<Op::Shl>)},
    {Py_nb_inplace_rshift, reinterpret_cast<void*>(in_place<Op::Shr>)},
    {Py_nb_negative, reinterpret_cast<void*>(unary<Op::Neg>)},
    {Py_nb_positive, reinterpret_cast<void*>(positive)},
    {Py_nb_absolute, reinterpret_cast<void*>(unary<Op::Abs>)},
    {Py_nb_invert, reinterpret_cast<void*>(unary<Op::Invert>)},
    {Py_nb_bool, reinterpret_cast<void*>(truth)},
    {Py_nb_float, reinterpret_cast<void*>(to_float)},
    {Py_nb_int, reinterpret_cast<void*>(to_int)},
    {Py_nb_index, reinterpret_cast<void*>(to_index)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_hash, reinterpret_cast<void*>(hash)},
    {0, nullptr},
};

}  // namespace unisono::python
