// Lowers calls of the functions that a compiled function knows: Python's, math's, NumPy's and those
// of kernels.
#include <algorithm>

#include "frontend/lowerer.h"

namespace unisono::frontend {

std::vector<Value> FunctionLowerer::arguments(const Node& node) {
    std::vector<const Node*> nodes;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
        if (node.children[i].kind == NodeKind::Keyword) {
            refuse(node.children[i].place,
                   node.children[0].text + " takes no keyword '" + node.children[i].text +
                       "' in a compiled function",
                   "give the arguments by position");
        }
        nodes.push_back(&node.children[i]);
    }
    return operands(nodes);
}

Value FunctionLowerer::call(const Node& node) {
    const Node& callee = node.children[0];
    if (callee.kind == NodeKind::Builtin) return call_builtin(node, callee.text);
    if (callee.kind == NodeKind::Function) {
        const Source* source = source_.callees.at(static_cast<std::size_t>(callee.index)).get();
        if (!source || module_.is_open(*source)) {
            refuse(node.place,
                   "'" + callee.text + "' calls itself, which compiled functions cannot do yet",
                   "write the recursion as a loop");
        }
        return call_function(node, *source);
    }
    if (callee.kind == NodeKind::Opaque) {
        refuse(callee.place,
               "'" + callee.text + "' cannot be called from a compiled function" +
                   (callee.note.empty() ? "" : ": " + callee.note),
               "decorate it with @un.jit if it is a Python function, or call it outside");
    }
    if (callee.kind == NodeKind::Attribute) {
        refuse(callee.place, "method '" + callee.text + "' cannot be called in a compiled function",
               "write it as a loop over elements, or call it outside and pass the result");
    }
    refuse(callee.place, "this cannot be called in a compiled function",
           "call known functions by name");
}

static std::string after_dot(const std::string& name) {
    auto dot = name.find('.');
    return dot == std::string::npos ? name : name.substr(dot + 1);
}

Value FunctionLowerer::call_builtin(const Node& node, const std::string& name) {
    const Place& place = node.place;
    if (auto v = work_item(node, name)) return *v;
    if (name == "un.local_array") return local_array(node);
    if (name == "range" || name == "un.prange") {
        refuse(place, after_dot(name) + " can only be looped over",
               "write `for i in " + after_dot(name) + "(...)`");
    }
    auto args = arguments(node);
    at(place);
    auto want = [&](std::size_t n) {
        if (args.size() != n) {
            refuse(place,
                   name + " takes " + std::to_string(n) + " argument" + (n == 1 ? "" : "s") +
                       " in a compiled function; got " + std::to_string(args.size()),
                   "give " + std::to_string(n));
        }
    };
    if (name == "min" || name == "max") return minimum(node, name == "min", args);
    std::string base = after_dot(name);
    bool is_math = name.rfind("math.", 0) == 0;
    if (base == "minimum" || base == "maximum") {
        want(2);
        Type t = promote_types(want_scalar(args[0], place, "an argument").type,
                               want_scalar(args[1], place, "an argument").type);
        return apply(base == "minimum" ? Op::Min : Op::Max, to_type(args[0], t.dtype, place),
                     to_type(args[1], t.dtype, place), Weak::None);
    }
    want(1);
    const Value& a = args[0];
    if (name == "len") return length(a, place);
    want_scalar(a, place, "the argument of " + base);
    if (name == "int") return to_python_int(a, place, std::nullopt);
    if (name == "float") return scalar(cast(a.expr, DType::Float64), Weak::Float);
    if (name == "bool") return scalar(cast(a.expr, DType::Bool), Weak::Bool);
    if (auto t = dtype_of(node.children[0])) return scalar(to_type(a, *t, place), Weak::None);
    if (name == "abs" || base == "abs" || base == "absolute") return absolute(a, place);
    if (is_math) return python_math(base, a, place);
    static const std::map<std::string, Op> unaries = {
        {"sqrt", Op::Sqrt}, {"exp", Op::Exp},     {"sin", Op::Sin}, {"floor", Op::Floor},
        {"ceil", Op::Ceil}, {"trunc", Op::Trunc}, {"fabs", Op::Abs}};
    auto it = unaries.find(base);
    if (it == unaries.end())
        refuse(place, name + " is not supported in a compiled function", "compute it outside");
    return numpy_unary(it->second, a, place);
}

Value FunctionLowerer::length(const Value& a, const Place& place) {
    if (a.type.is_tuple()) return scalar(i64(static_cast<std::int64_t>(a.items.size())), Weak::Int);
    if (a.type.is_array() && a.type.rank > 0 &&
        function_->arrays[static_cast<std::size_t>(a.array)].param >= 0) {
        return scalar(b_->extent(a.array, 0), Weak::Int);
    }
    refuse(place, "len of " + describe(a.type) + " is not defined",
           "take len of an array argument or of a tuple");
}

Value FunctionLowerer::absolute(const Value& a, const Place&) {
    Weak weak = a.type.weak == Weak::Bool ? Weak::Int : a.type.weak;
    return scalar(op_unary(Op::Abs, weak == Weak::Int ? cast(a.expr, DType::Int64) : a.expr), weak);
}

Value FunctionLowerer::numpy_unary(Op op, const Value& a, const Place& place) {
    // NumPy's functions give NumPy scalars; rounding leaves integers alone.
    bool rounds = op == Op::Floor || op == Op::Ceil || op == Op::Trunc;
    if (rounds && !is_float(a.type.dtype)) return scalar(a.expr, Weak::None);
    DType t = is_float(a.type.dtype) ? a.type.dtype : DType::Float64;
    return scalar(op_unary(op, to_type(a, t, place)), Weak::None);
}

Value FunctionLowerer::minimum(const Node& node, bool is_min, const std::vector<Value>& args) {
    const char* name = is_min ? "min" : "max";
    std::vector<Value> items = args.size() == 1 && args[0].type.is_tuple() ? args[0].items : args;
    if (items.empty() || (args.size() == 1 && !args[0].type.is_tuple())) {
        refuse(node.place,
               std::string(name) + " of one argument is not supported in a compiled function",
               "give two or more numbers, or loop over the array");
    }
    Value best = want_scalar(items[0], node.place, std::string("an argument of ") + name);
    for (std::size_t i = 1; i < items.size(); ++i) {
        const Value& next =
            want_scalar(items[i], node.place, std::string("an argument of ") + name);
        Type t = promote_types(best.type, next.type);
        E x = cast(best.expr, t.dtype), y = cast(next.expr, t.dtype);
        if (!is_float(t.dtype)) {
            best = apply(is_min ? Op::Min : Op::Max, x, y, t.weak);
            continue;
        }
        // Python keeps the first unless the next is strictly better, which decides NaN and signed
        // zero.
        x = settle(x);
        y = settle(y);
        best = scalar(b_->select(op_binary(is_min ? Op::Lt : Op::Gt, y, x), y, x), t.weak);
    }
    return best;
}

Value FunctionLowerer::to_python_int(const Value& a, const Place& place,
                                     std::optional<Op> rounding) {
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

Value FunctionLowerer::python_math(const std::string& name, const Value& a, const Place& place) {
    if (name == "floor") return to_python_int(a, place, Op::Floor);
    if (name == "ceil") return to_python_int(a, place, Op::Ceil);
    if (name == "trunc") return to_python_int(a, place, Op::Trunc);
    E x = cast(a.expr, DType::Float64);
    if (name == "fabs") return scalar(op_unary(Op::Abs, x), Weak::Float);
    auto infinity = [&] { return b_->constant(Scalar::of(DType::Float64, __builtin_inf())); };
    x = settle(x);
    if (name == "sqrt") {
        fault_if(op_binary(Op::Lt, x, b_->zero(DType::Float64)), ErrorKind::Value,
                 "math domain error", place);
        return scalar(op_unary(Op::Sqrt, x), Weak::Float);
    }
    if (name == "sin") {
        fault_if(op_binary(Op::Eq, op_unary(Op::Abs, x), infinity()), ErrorKind::Value,
                 "math domain error", place);
        return scalar(op_unary(Op::Sin, x), Weak::Float);
    }
    if (name == "exp") {
        E y = settle(op_unary(Op::Exp, x));
        E overflows =
            op_binary(Op::And, op_binary(Op::Eq, y, infinity()), op_binary(Op::Ne, x, infinity()));
        fault_if(overflows, ErrorKind::Overflow, "math range error", place);
        return scalar(y, Weak::Float);
    }
    refuse(place, "math." + name + " is not supported in a compiled function yet",
           "sqrt, exp, sin, fabs, floor, ceil and trunc are");
}

std::optional<Value> FunctionLowerer::work_item(const Node& node, const std::string& name) {
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

Value FunctionLowerer::local_array(const Node& node) {
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
