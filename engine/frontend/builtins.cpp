// Lowers calls of the functions that a compiled function knows: Python's, math's, NumPy's and those
// of kernels.
#include <algorithm>

#include "frontend/calls.h"
#include "frontend/tables.h"
#include "frontend/texts.h"
#include "passes/split_complex.h"

namespace unisono::frontend {

std::vector<Value> Emission::arguments(const Node& node) {
    for (const Node& arg : node.children) {
        if (arg.kind != NodeKind::Keyword) continue;
        refuse(
            arg.place,
            node.children[0].text + " takes no keyword '" + arg.text + "' in a compiled function",
            "give the arguments by position");
    }
    return given(node).first;
}

Value Calls::call(const Node& node) {
    const Node& callee = node.children[0];
    if (callee.kind == NodeKind::Builtin) return call_builtin(node, callee.text);
    if (callee.kind == NodeKind::Function) {
        const Source& source = named_function(callee);
        return call_function(node, source,
                             &source == &source_ ? own_captures() : std::vector<Value>());
    }
    if (callee.kind == NodeKind::Class)
        return construct(node, source_.classes.at(static_cast<std::size_t>(callee.index)));
    if (callee.kind == NodeKind::Opaque) {
        refuse(callee.place,
               "'" + callee.text + "' cannot be called from a compiled function" +
                   (callee.note.empty() ? "" : ": " + callee.note),
               "decorate it with @un.jit if it is a Python function, or call it outside");
    }
    if (callee.kind == NodeKind::Attribute) {
        if (auto v = ufunc_method(node)) return *v;
        const Node& owner = callee.children[0];
        if (owner.kind == NodeKind::Class)
            return object_method(
                node, *source_.classes.at(static_cast<std::size_t>(owner.index)).record, nullptr);
        bool is_known = owner.kind == NodeKind::Name && env_.names.contains(owner.text);
        if (owner.kind != NodeKind::Builtin && (!source_.is_kernel || is_known)) {
            Value object = expression(owner);
            if (object.type.record && !object.type.is_records())
                return object_method(node, *object.type.record, &object);
            if (auto v = array_method(node, object)) return *v;
        }
        refuse(callee.place, "method '" + callee.text + "' cannot be called in a compiled function",
               "write it as a loop over elements, or call it outside and pass the result");
    }
    return call_value(node, expression(callee));
}

/// object.method(...), by the table of array functions.
std::optional<Value> Calls::array_method(const Node& node, const Value& object) {
    const Node& callee = node.children[0];
    if (source_.is_kernel) return std::nullopt;
    const std::string& name = callee.text;
    if (object.type.is_text()) return Texts(*this, node.place).method(node, object);
    if (object.type.is_table()) return Tables(*this, node.place).method(node, object);
    if (object.type.is_list()) return list_method(node, object);
    if ((name == "conjugate" || name == "conj") && node.children.size() == 1) {
        if (auto v = complex_function("conj", object, node.place)) return *v;
    }
    if (!object.type.is_array()) return std::nullopt;
    at(node.place);
    return array_function(node, callee.text, &object);
}

static std::string after_dot(const std::string& name) {
    auto dot = name.find('.');
    return dot == std::string::npos ? name : name.substr(dot + 1);
}

Value Calls::call_builtin(const Node& node, const std::string& name) {
    const Place& place = node.place;
    if (auto v = work_item(node, name)) return *v;
    if (name == "un.local_array") return local_array(node);
    if (name.rfind("atomic.", 0) == 0) return atomic(node, after_dot(name));
    if (name == "range" || name == "un.prange") {
        refuse(place, after_dot(name) + " can only be looped over",
               "write `for i in " + after_dot(name) + "(...)`");
    }
    if (name == "print") return call_print(node);
    if (name == "python_block") return Tables(*this, place).python_block(node);
    if (auto v = array_function(node, name)) return *v;
    if (auto v = pointer_view(node, name)) return *v;
    if (name == "isinstance") {
        if (node.children.size() != 3)
            refuse(place, "isinstance takes a value and a type", "write isinstance(x, int)");
        Type type = expression(node.children[1]).type;
        return scalar(b_->boolean(is_instance(type, node.children[2])), Weak::Bool);
    }
    if (name == "dataclasses.replace" && node.children.size() > 1)
        return replaced(node, expression(node.children[1]), 2);
    auto args = arguments(node);
    at(place);
    if (name.rfind("np.", 0) == 0 || name.rfind("un.", 0) == 0) {
        bool makes_array = name.substr(3) == "array" || name.substr(3) == "asarray";
        if (makes_array && args.size() == 1 && Tables::has_numbers(args[0].type))
            args[0] = Tables(*this, place).numbers(args[0]);
        if (makes_array && args.size() == 1 && args[0].type.is_list())
            return copied(as_array(args[0]), place);
        for (Value& v : args) {
            if (Tables::has_numbers(v.type)) v = Tables(*this, place).numbers(v);
            v = as_array(v);
        }
    }
    if (name == "delete_item") return delete_item(args, place);
    if (auto v = sharing(name, args, place)) return *v;
    auto want = [&](std::size_t n) {
        if (args.size() != n) {
            refuse(place,
                   name + " takes " + std::to_string(n) + " argument" + (n == 1 ? "" : "s") +
                       " in a compiled function; got " + std::to_string(args.size()),
                   "give " + std::to_string(n));
        }
    };
    if (auto v = fold(node, name, args)) return *v;
    std::string base = after_dot(name);
    bool is_plain = base == name;
    if (is_plain && name == "complex") return complex_call(args, place);
    if (is_plain && name == "round") {
        if (args.size() != 1)
            refuse(place, "round takes one number in a compiled function",
                   "round to digits outside, or write round(x * 100) / 100");
        return to_python_int(want_scalar(args[0], place, "the argument of round"), place,
                             op_from_numpy_name("rint"));
    }
    bool is_size = base == "abs" || base == "absolute";
    if (is_size && args.size() == 1 && args[0].type.is_complex())
        return complex_absolute(args[0], place);
    if (name.rfind("cmath.", 0) == 0) return cmath_function(base, args, place);
    if (!is_plain && args.size() == 1 && name.rfind("math.", 0) != 0) {
        if (auto v = complex_function(base, args[0], place)) return *v;
    }
    if (is_plain && name == "pow") {
        want(2);
        return binary("**", args[0], args[1], place);
    }
    if (is_plain && name == "divmod") {
        want(2);
        Value v;
        v.items = {binary("//", args[0], args[1], place), binary("%", args[0], args[1], place)};
        v.type = Type::tuple({v.items[0].type, v.items[1].type});
        return v;
    }
    if (!is_plain && !dtype_of(node.children[0])) return call_table(node, name, args);
    want(1);
    const Value& a = args[0];
    if (name == "list") return list_value(a, place);
    if (name == "dict" && a.type.is_table() && a.type.rank == static_cast<int>(TableKind::Dict))
        return Tables(*this, place).copy(a);
    if (name == "iteration" && a.type.is_table())
        return scalar(Tables(*this, place).loop(a), Weak::Int);
    bool has_items = a.type.is_array() || a.type.is_list() || a.type.is_tuple() ||
                     (a.type.is_records() && a.type.rank > 0) || has_method(a, "__getitem__");
    bool is_text = a.type.is_text();
    if (name == "str") return Texts(*this, place).shown(a);
    if (name == "chr") return Texts(*this, place).of_point(a);
    if (name == "ord") return Texts(*this, place).point(a);
    if (is_text && (name == "int" || name == "float"))
        return Texts(*this, place).number(a, name == "int");
    if (name == "iteration" && !is_text && !has_items) {
        refuse(place, "a compiled function cannot loop over a value of type " + describe(a.type),
               "loop over a range, an array, or enumerate, zip and reversed of them");
    }
    if (name == "len" || name == "iteration") return length(a, place);
    bool is_conversion = name.rfind("dtype:", 0) == 0 && dtype_of(node.children[0]);
    if (a.type.is_array() && (name == "abs" || is_conversion)) {
        if (is_conversion) return converted_array(a, *dtype_of(node.children[0]), place);
        return elementwise(
            {a}, [this, place](auto v) { return absolute(v[0], place); }, place);
    }
    if (name == "bool") return scalar(truth(a, place), Weak::Bool);
    if (is_conversion && a.type.is_complex()) {
        DType t = *dtype_of(node.children[0]);
        return scalar(is_bool(t) ? cast(a.expr, t) : to_type(a, t, place), Weak::None);
    }
    want_scalar(a, place, "the argument of " + base);
    if (name == "int") return to_python_int(a, place, std::nullopt);
    if (name == "float") return scalar(cast(a.expr, DType::Float64), Weak::Float);
    if (auto t = dtype_of(node.children[0])) return scalar(to_type(a, *t, place), Weak::None);
    if (name == "abs") return absolute(a, place);
    refuse(place, name + " is not supported in a compiled function", "compute it outside");
}

/// del container[index]
Value Calls::delete_item(const std::vector<Value>& args, const Place& place) {
    if (args[0].type.is_table()) {
        Tables(*this, place).remove(args[0], args[1]);
    } else if (args[0].type.is_list()) {
        pop(args[0], &args[1], place);
    } else {
        refuse(place, "an item of " + describe(args[0].type) + " cannot be deleted",
               "make an array without it");
    }
    return {};
}

/// isinstance as the types of values tell it.
bool Calls::is_instance(const Type& t, const Node& wanted) {
    if (wanted.kind == NodeKind::Tuple) {
        return std::any_of(wanted.children.begin(), wanted.children.end(),
                           [&](const Node& w) { return is_instance(t, w); });
    }
    if (wanted.kind == NodeKind::Class)
        return t.record &&
               same_class(t.record.get(),
                          source_.classes.at(static_cast<std::size_t>(wanted.index)).record.get());
    const std::string& name = wanted.text;
    bool is_numpy = t.is_scalar() && !t.is_weak();
    if (name == "int") return t.weak == Weak::Int || (t.is_scalar() && t.weak == Weak::Bool);
    if (name == "float") return t.weak == Weak::Float || (is_numpy && t.dtype == DType::Float64);
    if (name == "bool") return t.is_scalar() && t.weak == Weak::Bool;
    if (name == "complex") return t.is_complex() && t.dtype == DType::Complex128;
    if (name == "list") return t.is_list() || t.is_object_list();
    if (name == "dict" || name == "set")
        return t.is_table() && t.rank == static_cast<int>(name == "set");
    if (name == "str") return t.is_text();
    if (name == "tuple") return t.is_tuple();
    if (name == "np.ndarray") return t.is_array();
    if (name == "np.integer") return is_numpy && is_integer(t.dtype);
    if (name == "np.floating") return is_numpy && is_float(t.dtype);
    if (auto dtype = dtype_of(wanted)) return is_numpy && t.dtype == *dtype;
    refuse(wanted.place, "isinstance of '" + name + "' is not known when compiling",
           "ask for int, float, bool, complex, list, tuple, np.ndarray or a dtype");
}

/// Names by which C, Python and the array API know rows of the table of operations.
static std::string numpy_spelling(const std::string& name) {
    static const std::map<std::string, std::string> others = {
        {"abs", "absolute"},
        {"pow", "power"},
        {"asin", "arcsin"},
        {"acos", "arccos"},
        {"atan", "arctan"},
        {"atan2", "arctan2"},
        {"asinh", "arcsinh"},
        {"acosh", "arccosh"},
        {"atanh", "arctanh"},
        {"true_divide", "divide"},
        {"mod", "remainder"},
        {"bitwise_not", "invert"},
        {"bitwise_invert", "invert"},
        {"bitwise_left_shift", "left_shift"},
        {"bitwise_right_shift", "right_shift"}};
    auto it = others.find(name);
    return it == others.end() ? name : it->second;
}

/// logical_and and its kind: of truth values.
static std::optional<Op> logical_op(const std::string& name) {
    if (name == "logical_not") return Op::Not;
    if (name == "logical_and") return Op::And;
    if (name == "logical_or") return Op::Or;
    return name == "logical_xor" ? std::optional(Op::Xor) : std::nullopt;
}

/// math.NAME, np.NAME, un.NAME: any elementwise row of the table of operations.
Value Operators::call_table(const Node& node, const std::string& name,
                            const std::vector<Value>& args) {
    const Place& place = node.place;
    std::string base = after_dot(name);
    bool is_math = name.rfind("math.", 0) == 0;
    if (is_math && (base == "floor" || base == "ceil" || base == "trunc")) base = "math." + base;
    auto op = op_from_numpy_name(numpy_spelling(base));
    bool is_logical = !is_math && base.rfind("logical_", 0) == 0;
    if (is_logical) op = logical_op(base);
    if (base == "fabs" && !op) op = Op::Abs;
    // C's remainder rounds to nearest; NumPy's is Python's %.
    bool is_other = is_math && base == "remainder";
    std::size_t arity = op ? info(*op).arity : 1;
    if (!op || is_other) {
        if (base.rfind("math.", 0) != 0) {
            refuse(place, name + " is not supported in a compiled function", "compute it outside");
        }
    }
    bool has_out =
        args.size() == arity + 1 && args.back().array >= 0 && !is_math && op && !source_.is_kernel;
    if (has_out) {
        std::vector<Value> operands(args.begin(), args.end() - 1);
        assign_elements(args.back(), call_table(node, name, operands), place);
        return args.back();
    }
    if (args.size() != arity) {
        refuse(place,
               name + " takes " + std::to_string(arity) + " argument" + (arity == 1 ? "" : "s") +
                   " in a compiled function; got " + std::to_string(args.size()),
               "give " + std::to_string(arity));
    }
    bool has_array =
        std::any_of(args.begin(), args.end(), [](const Value& v) { return v.type.is_array(); });
    if (has_array && op && !is_math) {
        for (const Value& v : args) {
            if (!v.type.is_array()) want_number(v, place, "an argument of " + after_dot(name));
        }
        return elementwise(
            args,
            [this, op = *op, base, place](std::span<const Value> v) {
                return numpy_function(op, base, {v.begin(), v.end()}, place);
            },
            place);
    }
    for (const Value& a : args) {
        if (is_math || base.rfind("math.", 0) == 0) {
            want_scalar(a, place, "an argument of " + after_dot(name));
        } else {
            want_number(a, place, "an argument of " + after_dot(name));
        }
    }
    if (base == "math.floor") return to_python_int(args[0], place, Op::Floor);
    if (base == "math.ceil") return to_python_int(args[0], place, Op::Ceil);
    if (base == "math.trunc") return to_python_int(args[0], place, Op::Trunc);
    return is_math ? python_math(*op, base, args, place) : numpy_function(*op, base, args, place);
}

Value Calls::length(const Value& a, const Place& place) {
    if (a.type.is_tuple()) return scalar(i64(static_cast<std::int64_t>(a.items.size())), Weak::Int);
    if (a.type.is_list()) return scalar(list_length(a), Weak::Int);
    if (a.type.is_table()) return scalar(Tables(*this, place).size(a), Weak::Int);
    if (a.type.is_records() && a.type.rank > 0)
        return scalar(b_->extent(any_field(a, place).array, 0), Weak::Int);
    if (auto v = special_method(nullptr, "__len__", {a}, place)) return *v;
    if (a.type.is_text()) return scalar(Texts(*this, place).length(a), Weak::Int);
    if (a.type.is_array() && a.type.rank > 0) {
        if (a.lazy) return scalar(extents_of(a)[0], Weak::Int);
        const ir::Array& info = function_->arrays[static_cast<std::size_t>(a.array)];
        if (info.param >= 0 || info.is_view()) return scalar(b_->extent(a.array, 0), Weak::Int);
    }
    refuse(place, "len of " + describe(a.type) + " is not defined",
           "take len of an array argument or of a tuple");
}

Value Numbers::absolute(const Value& a, const Place& place) {
    if (a.type.is_complex()) return complex_absolute(a, place);
    Weak weak = a.type.weak == Weak::Bool ? Weak::Int : a.type.weak;
    return scalar(op_unary(Op::Abs, weak == Weak::Int ? cast(a.expr, DType::Int64) : a.expr), weak);
}

/// NumPy's functions give NumPy scalars.
Value Operators::numpy_function(Op op, const std::string& name, const std::vector<Value>& args,
                                const Place& place) {
    if (name.rfind("logical_", 0) == 0) {
        E x = cast(args[0].expr, DType::Bool);
        return scalar(args.size() == 1 ? op_unary(op, x)
                                       : op_binary(op, x, cast(args[1].expr, DType::Bool)));
    }
    Type t = args.size() == 1 ? args[0].type : promote_types(args[0].type, args[1].type);
    bool rounds = op == Op::Floor || op == Op::Ceil || op == Op::Trunc;
    if (rounds && !is_float(t.dtype)) return scalar(args[0].expr, Weak::None);
    if (is_complex(t.dtype) && (op == Op::Power || !passes::splits(op) || name == "fabs")) {
        if (op == Op::Power) return complex_power(args[0], args[1], t, place);
        refuse(place, "np." + name + " of complex numbers is not supported in a compiled function",
               "compute it outside");
    }
    auto compute = name == "fabs" && !is_float(t.dtype) ? std::optional(DType::Float64)
                                                        : compute_dtype(op, t.dtype);
    if (!compute) {
        refuse(place, "np." + name + " is not defined for " + describe(t),
               "convert the operands to another dtype");
    }
    E x = to_type(args[0], *compute, place);
    if (args.size() == 1) return scalar(op_unary(op, x), Weak::None);
    return apply(op, x, to_type(args[1], *compute, place), Weak::None);
}

/// Python keeps the first unless the next is strictly better, which decides NaN and signed zero.
Value Operators::better(bool is_min, const Value& a, const Value& b) {
    want_scalar(a, {}, "what min and max compare");
    want_scalar(b, {}, "what min and max compare");
    Type t = promote_types(a.type, b.type);
    E x = cast(a.expr, t.dtype), y = cast(b.expr, t.dtype);
    if (!is_float(t.dtype)) return apply(is_min ? Op::Min : Op::Max, x, y, t.weak);
    x = settle(x);
    y = settle(y);
    return scalar(b_->select(op_binary(is_min ? Op::Lt : Op::Gt, y, x), y, x), t.weak);
}

/// start combined with the elements of an array of one axis from `begin` on, in order.
Value Calls::fold_array(const Value& array, Value start, E begin,
                        const std::function<Value(const Value&, const Value&)>& combine,
                        const Place& place) {
    E end = b_->extent(array.array, 0);
    std::int32_t k = b_->var("k", DType::Int64);
    Weak weak = array.type.weak;
    auto element = [&] {
        return scalar(b_->load(array.array, {b_->read(k)}, ir::Access::Inside), weak);
    };
    Type type = start.type;
    collect([&] {
        Value next = combine(start, element());
        auto joined = join(start.type, next.type);
        type = joined ? *joined : next.type;
    });
    std::int32_t result = b_->var("fold", type.dtype);
    emit(b_->declare(result, cast(start.expr, type.dtype)));
    Value so_far = scalar(b_->read(result), type.weak);
    std::vector<S> body = collect([&] {
        Value next = combine(so_far, element());
        emit(b_->assign(result, cast(next.expr, type.dtype)));
    });
    at(place);
    emit(b_->loop(ir::LoopKind::Serial, k, begin, end, i64(1), b_->block(body)));
    return so_far;
}

/// Python's min, max, sum, any and all.
std::optional<Value> Calls::fold(const Node& node, const std::string& name,
                                 const std::vector<Value>& args) {
    const Place& place = node.place;
    bool is_min = name == "min", is_order = is_min || name == "max";
    bool is_any = name == "any", is_truth = is_any || name == "all";
    if (!is_order && !is_truth && name != "sum") return std::nullopt;
    std::size_t most = name == "sum" ? 2 : 1;
    if (args.empty() || (!is_order && args.size() > most)) {
        refuse(place, name + " takes one array or tuple" + (is_order ? " or several numbers" : ""),
               "give it what it combines");
    }
    if (args[0].type.is_table() && (args.size() == 1 || !is_order)) {
        std::vector<Value> held = args;
        Tables tables(*this, place);
        if (!held[0].type.is_object_list()) held[0] = tables.listed(held[0]);
        if (!held[0].type.is_list()) {
            if (!Tables::has_numbers(held[0].type))
                refuse(place, name + " of a " + describe(args[0].type) + " is not supported",
                       "write a loop");
            held[0] = tables.numbers(held[0]);
        }
        return fold(node, name, held);
    }
    if (args[0].type.is_list()) {
        std::vector<Value> held = args;
        held[0] = as_array(held[0]);
        return fold(node, name, held);
    }
    bool is_array = args[0].type.is_array() && (args.size() == 1 || name == "sum");
    if (is_array && args[0].lazy) {
        std::vector<Value> held = args;
        held[0] = made(held[0], place);
        return fold(node, name, held);
    }
    if (is_array && args[0].type.rank != 1) {
        refuse(place,
               name + " of an array of rank " + std::to_string(args[0].type.rank) +
                   " combines its rows, which compiled functions cannot do",
               "loop over the elements");
    }
    auto combine = [&](const Value& a, const Value& b) {
        if (is_order) return better(is_min, a, b);
        if (is_truth) return apply(is_any ? Op::Or : Op::And, a.expr, truth(b, place), Weak::Bool);
        return binary("+", a, b, place);
    };
    Value start = is_truth           ? scalar(b_->boolean(!is_any), Weak::Bool)
                  : args.size() == 2 ? args[1]
                                     : scalar(i64(0), Weak::Int);
    if (is_array && is_order) {
        E size = b_->extent(args[0].array, 0);
        fault_if(op_binary(Op::Eq, size, i64(0)), ErrorKind::Value,
                 name + "() arg is an empty sequence", place);
        E first = temporary(b_->load(args[0].array, {i64(0)}, ir::Access::Inside), "first");
        return fold_array(args[0], scalar(first, args[0].type.weak), i64(1), combine, place);
    }
    if (is_array) return fold_array(args[0], start, i64(0), combine, place);
    bool is_tuple = args[0].type.is_tuple() && (args.size() == 1 || name == "sum");
    std::vector<Value> items = is_tuple ? args[0].items : args;
    if ((!is_tuple && (!is_order || args.size() == 1)) || (is_order && items.empty())) {
        refuse(place, name + " of " + (is_tuple ? "nothing" : "one number") + " is not defined",
               "give it an array, a tuple or several numbers");
    }
    std::size_t from = 0;
    if (is_order) start = want_scalar(items[from++], place, "an argument of " + name);
    for (; from < items.size(); ++from)
        start = combine(start, want_number(items[from], place, "an argument of " + name));
    return start;
}

Value Numbers::to_python_int(const Value& a, const Place& place, std::optional<Op> rounding) {
    if (!is_float(a.type.dtype)) return scalar(cast(a.expr, DType::Int64), Weak::Int);
    E x = settle(cast(a.expr, DType::Float64));
    fault_if(op_binary(Op::Ne, x, x), ErrorKind::Value, "cannot convert float NaN to integer",
             place);
    if (rounding) x = settle(op_unary(*rounding, x));
    auto limit = [&](double v) { return b_->constant(Scalar::of(DType::Float64, v)); };
    E outside = op_binary(Op::Or, op_binary(Op::Lt, x, limit(-0x1p63)),
                          op_binary(Op::Ge, x, limit(0x1p63)));
    fault_if(outside, ErrorKind::Overflow, "float is too large for a 64-bit integer", place);
    return scalar(cast(x, DType::Int64), Weak::Int);
}

/// math's functions raise where NumPy's give inf and NaN: NaN made of none is outside of the
/// domain, and so is an infinity made of finite numbers, but where the function grows without
/// bound.
Value Numbers::python_math(Op op, const std::string& name, const std::vector<Value>& args,
                           const Place& place) {
    static const std::set<std::string> growing = {"exp",   "exp2",  "expm1", "sinh", "cosh",
                                                  "hypot", "ldexp", "gamma", "pow"};
    std::vector<E> x;
    for (const Value& a : args) x.push_back(settle(cast(a.expr, DType::Float64)));
    if (!result_dtype(op, DType::Float64)) {
        refuse(place, "math." + name + " is for integers, which compiled functions cannot do yet",
               "compute it outside");
    }
    E result = x.size() == 1 ? op_unary(op, x[0]) : op_binary(op, x[0], x[1]);
    if (is_bool(result->dtype)) return scalar(result, Weak::Bool);
    if (op == Op::Abs || name == "copysign") return scalar(result, Weak::Float);
    result = settle(result);
    E infinity = b_->constant(Scalar::of(DType::Float64, __builtin_inf()));
    auto all = [&](const std::function<E(E)>& test) {
        E both = test(x[0]);
        return x.size() == 1 ? both : op_binary(Op::And, both, test(x[1]));
    };
    E numbers = all([&](E e) { return op_binary(Op::Eq, e, e); });
    E is_nan = op_binary(Op::Ne, result, result);
    fault_if(op_binary(Op::And, is_nan, numbers), ErrorKind::Value, "math domain error", place);
    if (op == Op::Sqrt || op == Op::Sin) return scalar(result, Weak::Float);
    E finite = all([&](E e) { return op_binary(Op::Lt, op_unary(Op::Abs, e), infinity); });
    E overflows =
        op_binary(Op::And, finite, op_binary(Op::Eq, op_unary(Op::Abs, result), infinity));
    if (name == "pow") {
        E is_pole = op_binary(Op::Eq, x[0], b_->zero(DType::Float64));
        fault_if(op_binary(Op::And, overflows, is_pole), ErrorKind::Value, "math domain error",
                 place);
    }
    bool grows = growing.count(name) > 0;
    fault_if(overflows, grows ? ErrorKind::Overflow : ErrorKind::Value,
             grows ? "math range error" : "math domain error", place);
    return scalar(result, Weak::Float);
}

std::optional<Value> Calls::work_item(const Node& node, const std::string& name) {
    if (name == "un.thread_id" || name == "un.team_size") {
        if (!region_) {
            refuse(node.place, after_dot(name) + " is only defined in a parallel region",
                   "write it inside of `with un.parallel():`");
        }
        bool is_id = name == "un.thread_id";
        if (is_id && parallel_depth_ == 0)
            refuse(node.place, "thread_id in what all threads of the region share",
                   "use it in the region's own statements");
        return scalar(is_id ? b_->read(region_->lane) : region_->threads, Weak::Int);
    }
    static const std::map<std::string, ir::WorkItemQuery> queries = {
        {"un.global_id", ir::WorkItemQuery::GlobalId},
        {"un.local_id", ir::WorkItemQuery::LocalId},
        {"un.group_id", ir::WorkItemQuery::GroupId},
        {"un.global_size", ir::WorkItemQuery::GlobalSize},
        {"un.local_size", ir::WorkItemQuery::LocalSize},
        {"un.num_groups", ir::WorkItemQuery::GroupCount},
    };
    auto it = queries.find(name);
    bool is_barrier = name == "un.barrier", is_local = name == "un.local_array";
    if (it == queries.end() && !is_barrier && !is_local) return std::nullopt;
    if (!source_.is_kernel) {
        refuse(node.place, after_dot(name) + " is only defined in a kernel",
               "decorate the function with @un.kernel");
    }
    if (is_local) return std::nullopt;
    auto args = arguments(node);
    at(node.place);
    if (is_barrier) {
        if (!args.empty()) refuse(node.place, "barrier takes no arguments", "write un.barrier()");
        emit(b_->barrier());
        return Value{};
    }
    auto axis =
        args.size() == 1 && args[0].type.is_scalar() ? constant_int(args[0].expr) : std::nullopt;
    if (!axis || *axis < 0 || *axis > 2) {
        refuse(node.place, after_dot(name) + " takes one constant axis: 0, 1 or 2",
               "write un." + after_dot(name) + "(0)");
    }
    if (*axis >= dimensions_) {
        refuse(node.place,
               after_dot(name) + "(" + std::to_string(*axis) + ") in a launch of " +
                   std::to_string(dimensions_) + " dimension" + (dimensions_ == 1 ? "" : "s"),
               "launch the kernel over as many sizes as axes it uses, as in f[ny, nx](...)");
    }
    return scalar(b_->work_item(it->second, static_cast<int>(*axis)), Weak::Int);
}

Value Calls::local_array(const Node& node) {
    auto args = arguments(node);
    if (!source_.is_kernel)
        refuse(node.place, "local_array is only defined in a kernel",
               "decorate the function with @un.kernel");
    if (frames_.size() > 1)
        refuse(node.place, "local_array inside of a branch or a loop",
               "make it at the top of the kernel");
    if (args.size() != 2 || args[1].type.kind != Type::Kind::DTypeName) {
        refuse(node.place, "local_array takes a shape and a dtype",
               "write un.local_array((16, 16), np.float32)");
    }
    std::vector<Value> shape =
        args[0].type.is_tuple() ? args[0].items : std::vector<Value>{args[0]};
    std::vector<E> extents;
    for (const Value& v : shape) {
        auto known = v.type.is_scalar() ? constant_int(v.expr) : std::nullopt;
        if (!known || *known <= 0) {
            refuse(node.place, "the shape of a local array must be positive constants",
                   "write numbers, or names of global constants");
        }
        extents.push_back(i64(*known));
    }
    at(node.place);
    DType t = args[1].type.dtype;
    std::int32_t id =
        b_->local_array("local", t, static_cast<int>(extents.size()), ir::Space::Local);
    emit(b_->allocate(id, extents));
    Value v;
    v.type = Type::array(t, function_->arrays[static_cast<std::size_t>(id)].strides, true);
    v.array = id;
    return v;
}

}  // namespace unisono::frontend
