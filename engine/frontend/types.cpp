// Names, joins and promotions of the types of compiled Python.
#include "frontend/types.h"

#include <algorithm>

#include "frontend/records.h"

namespace unisono::frontend {

using ir::E;
using ir::ExprKind;

static std::string python_name(Weak w) {
    return w == Weak::Bool    ? "bool"
           : w == Weak::Int   ? "int"
           : w == Weak::Float ? "float"
                              : "complex";
}

std::string describe(const Type& t) {
    switch (t.kind) {
        case Type::Kind::None: return "None";
        case Type::Kind::Scalar:
            return t.is_weak() ? python_name(t.weak)
                               : std::string(name(t.dtype)) + " (NumPy scalar)";
        case Type::Kind::Array:
            if (is_byte_array(t)) return "bytes";
            return std::string(name(t.dtype)) + " array of rank " + std::to_string(t.rank);
        case Type::Kind::DTypeName: return "dtype";
        case Type::Kind::Text: return "str";
        case Type::Kind::Exception: return "caught exception";
        case Type::Kind::List:
            return is_byte_list(t) ? t.items[0].name : "list of " + describe(t.items[0]);
        case Type::Kind::Table: {
            static const char* names[] = {"dict of ",
                                          "set of ",
                                          "keys of a dict of ",
                                          "values of a dict of ",
                                          "items of a dict of ",
                                          "list of "};
            if (t.items.empty())
                return t.is_object_list() ? "empty list" : t.rank == 1 ? "empty set" : "empty dict";
            return names[t.rank] + describe(t.items[0]) +
                   (t.items.size() > 1 ? " to " + describe(t.items[1]) : "");
        }
        case Type::Kind::Function: return "function '" + t.name + "'";
        case Type::Kind::Record: return t.record->name;
        case Type::Kind::Records:
            return (t.rank == 0 ? "record ("
                                : "structured array of rank " + std::to_string(t.rank) + " (") +
                   t.record->field_names() + ")";
        case Type::Kind::Instance: return t.record->name + (t.rank ? " or None" : "");
        case Type::Kind::Optional: return describe(t.items[1]) + " or None";
        case Type::Kind::Tuple:
            if (t.record) return t.record->name;
            break;
    }
    std::string s = "tuple (";
    for (std::size_t i = 0; i < t.items.size(); ++i) s += (i ? ", " : "") + describe(t.items[i]);
    return s + (t.items.size() == 1 ? ",)" : ")");
}

static int kind_order(const Type& t) {
    if (t.is_weak()) return static_cast<int>(t.weak);
    return is_bool(t.dtype)      ? static_cast<int>(Weak::Bool)
           : is_float(t.dtype)   ? static_cast<int>(Weak::Float)
           : is_complex(t.dtype) ? static_cast<int>(Weak::Complex)
                                 : static_cast<int>(Weak::Int);
}

static std::optional<Type> join_scalars(const Type& a, const Type& b) {
    if (a == b) return a;
    if (a.is_weak() && b.is_weak()) {
        // True is not a number to its author: a flag that turns into a count is more often a slip
        // than meant.
        if (a.weak == Weak::Bool || b.weak == Weak::Bool) return std::nullopt;
        return Type::python(std::max(a.weak, b.weak));
    }
    if (!a.is_weak() && !b.is_weak()) {
        // Towards Python's float and complex, as Python's numbers, and to the one of two types of a
        // kind that holds the values of both; other pairs compute differently.
        const DType both = promote(a.dtype, b.dtype);
        const bool same_kind =
            kind_order(a) == kind_order(b) && is_bool(a.dtype) == is_bool(b.dtype);
        if (same_kind && (both == a.dtype || both == b.dtype)) return Type::numpy(both);
        auto becomes = [](DType from, DType to) {
            return (to == DType::Float64 && is_integer(from)) ||
                   (to == DType::Complex128 && (is_integer(from) || from == DType::Float64));
        };
        if (becomes(a.dtype, b.dtype)) return b;
        return becomes(b.dtype, a.dtype) ? std::optional(a) : std::nullopt;
    }
    const Type& weak = a.is_weak() ? a : b;
    const Type& typed = a.is_weak() ? b : a;
    if (weak.weak == Weak::Bool && !is_bool(typed.dtype)) return std::nullopt;
    if (kind_order(weak) <= kind_order(typed)) return typed;
    if (is_bool(typed.dtype)) return std::nullopt;
    return weak;
}

static std::optional<Type> join_arrays(const Type& a, const Type& b) {
    if (a.dtype != b.dtype || a.rank != b.rank) return std::nullopt;
    Type t = a;
    t.writable = a.writable && b.writable;
    if (b.weak == Weak::None) t.weak = Weak::None;
    for (std::size_t k = 0; k < t.strides.size(); ++k) {
        if (a.strides[k] != b.strides[k] || a.strides[k] != ir::StrideClass::One)
            t.strides[k] = ir::StrideClass::Other;
    }
    return t;
}

/// A variable can hold such a value or none. Lists that grow are shared by the variables that hold
/// them, and cannot.
static bool may_be_missing(const Type& t) {
    bool fits = t.is_scalar() || t.is_array() || t.is_text() || t.is_tuple() || t.is_record() ||
                t.is_table() || t.is_none() || t.is_instance() || t.is_optional();
    return fits && (t.is_table() || std::all_of(t.items.begin(), t.items.end(), may_be_missing));
}

/// None and a type, or what may be None and another.
static std::optional<Type> join_optional(const Type& a, const Type& b) {
    const Type& x = a.is_optional() ? a.items[1] : a;
    const Type& y = b.is_optional() ? b.items[1] : b;
    if (x.is_none() || y.is_none()) {
        const Type& there = x.is_none() ? y : x;
        return may_be_missing(there) ? std::optional(Type::optional(there)) : std::nullopt;
    }
    auto joined = join(x, y);
    return joined ? std::optional(Type::optional(*joined)) : std::nullopt;
}

std::optional<Type> join(const Type& a, const Type& b) {
    if (a == b) return a;
    if (a.is_optional() || b.is_optional()) return join_optional(a, b);
    if (a.is_instance() || b.is_instance()) {
        Type t = a.is_instance() ? a : b;
        const Type& other = a.is_instance() ? b : a;
        bool fits =
            other.kind == Type::Kind::None || (other.is_instance() && other.record == t.record);
        if (fits) t.rank = std::max({a.rank, b.rank, int(other.kind == Type::Kind::None)});
        return fits ? std::optional(t) : std::nullopt;
    }
    if (a.is_none() || b.is_none()) return join_optional(a, b);
    if (a.kind != b.kind) return std::nullopt;
    if (a.is_scalar()) return join_scalars(a, b);
    if (a.is_array()) return join_arrays(a, b);
    if (a.is_function() && (a.function != b.function || a.name != b.name)) return std::nullopt;
    if (a.record != b.record || (a.is_records() && a.rank != b.rank)) return std::nullopt;
    bool has_items = (a.is_table() && a.rank == b.rank) || a.is_tuple() || a.is_function() ||
                     a.is_list() || a.is_record() || a.is_records();
    if (!has_items || a.items.size() != b.items.size()) return std::nullopt;
    std::vector<Type> items;
    for (std::size_t i = 0; i < a.items.size(); ++i) {
        auto t = join(a.items[i], b.items[i]);
        if (!t) return std::nullopt;
        items.push_back(*t);
    }
    Type t = a;
    t.items = std::move(items);
    if ((t.is_list() || t.is_table()) && t.items != a.items) return std::nullopt;
    return t;
}

int depth_of(const Type& t) {
    int inside = 0;
    for (const Type& item : t.items) inside = std::max(inside, depth_of(item));
    return 1 + inside;
}

Type promote_types(const Type& a, const Type& b) {
    if (a.is_weak() && b.is_weak()) return Type::python(std::max(a.weak, b.weak));
    if (a.is_weak()) return Type::numpy(promote_weak(b.dtype, a.weak));
    if (b.is_weak()) return Type::numpy(promote_weak(a.dtype, b.weak));
    return Type::numpy(promote(a.dtype, b.dtype));
}

bool same_expr(E a, E b) {
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind || a->dtype != b->dtype || a->id != b->id ||
        a->axis != b->axis || a->bits != b->bits || a->op != b->op || a->field != b->field ||
        a->query != b->query || a->args.size() != b->args.size() || a->kind == ExprKind::Load) {
        return false;
    }
    for (std::size_t i = 0; i < a->args.size(); ++i) {
        if (!same_expr(a->args[i], b->args[i])) return false;
    }
    return true;
}

bool same_value(const Value& a, const Value& b) {
    if (a.type != b.type || a.array != b.array || a.lazy != b.lazy || a.list != b.list ||
        a.text != b.text || a.items.size() != b.items.size())
        return false;
    if (a.type.is_word()) return same_expr(a.expr, b.expr);
    for (std::size_t i = 0; i < a.items.size(); ++i) {
        if (!same_value(a.items[i], b.items[i])) return false;
    }
    return true;
}

static bool is_invariant_within(E e, int depth) {
    switch (e->kind) {
        case ExprKind::Const:
        case ExprKind::WorkItem:
        case ExprKind::Param: return true;
        case ExprKind::Cast:
        case ExprKind::Pair:
        case ExprKind::Binary:
            if (depth == 0) return false;
            if (e->kind == ExprKind::Binary && e->op != Op::Add && e->op != Op::Sub &&
                e->op != Op::Mul)
                return false;
            return std::all_of(e->args.begin(), e->args.end(),
                               [&](E x) { return is_invariant_within(x, depth - 1); });
        default: return false;
    }
}
bool is_invariant(E e) { return is_invariant_within(e, 3); }

bool is_trivial(E e) {
    return e->kind == ExprKind::Const || e->kind == ExprKind::Param || e->kind == ExprKind::Var ||
           e->kind == ExprKind::WorkItem ||
           (e->kind == ExprKind::Pair && is_trivial(e->args[0]) && is_trivial(e->args[1]));
}

bool has_load(E e) {
    return e->kind == ExprKind::Load || std::any_of(e->args.begin(), e->args.end(), has_load);
}

std::optional<std::int64_t> constant_int(E e) {
    if (!e || e->kind != ExprKind::Const || is_float(e->dtype)) return std::nullopt;
    return Scalar{e->bits, e->dtype}.as<std::int64_t>();
}

}  // namespace unisono::frontend
