// Lowers array variables: views made by slices, arrays that variables share, new arrays.
//
// A view is a row of the function's table of arrays: a slot or parameter and where in it, as
// expressions. What a name holds is a view of its parameter where that never changes, else a view
// of the name's own slot, described by the name's own variables, so that paths can meet and names
// can be swapped.
#include <algorithm>

#include "frontend/lazy.h"
#include "frontend/module.h"
#include "frontend/selections.h"
#include "frontend/uniform.h"

namespace unisono::frontend {

using ir::StrideClass;

Arrays::Descriptor Arrays::describe_array(std::int32_t array) {
    const ir::Array& a = function_->arrays[static_cast<std::size_t>(array)];
    Descriptor d{a.is_view() ? a.base : array,
                 a.is_view() ? a.offset : i64(0),
                 {},
                 {},
                 a.strides,
                 a.writable};
    for (int k = 0; k < a.rank; ++k) {
        d.extents.push_back(b_->extent(array, k));
        d.strides.push_back(b_->stride(array, k));
    }
    return d;
}

Value Arrays::view(const std::string& name, const Descriptor& d) {
    Value v;
    v.array = b_->view(name, d.root, d.offset, d.extents, d.strides, d.classes, d.writable);
    v.type = Type::array(function_->arrays[static_cast<std::size_t>(d.root)].dtype, d.classes,
                         d.writable);
    return v;
}

/// Computed from parameters and constants alone, without faults: may be evaluated at the entry.
bool Arrays::is_known_at_entry(E e) const {
    if (e->kind == ir::ExprKind::Var) {
        return std::any_of(hoisted_.begin(), hoisted_.end(),
                           [&](const auto& h) { return h.second == e->id; });
    }
    bool kind = e->kind == ir::ExprKind::Const || e->kind == ir::ExprKind::Param ||
                e->kind == ir::ExprKind::Binary || e->kind == ir::ExprKind::Select ||
                e->kind == ir::ExprKind::Cast;
    return kind &&
           std::all_of(e->args.begin(), e->args.end(), [&](E a) { return is_known_at_entry(a); });
}

/// An expression that reads the value and stays as it is; equal values of parameters become equal
/// expressions.
E Arrays::pinned(E e) {
    if (is_trivial(e)) return e;
    if (!is_known_at_entry(e) || source_.is_kernel) return temporary(e, "n");
    for (const auto& [known, var] : hoisted_) {
        if (same_expr(known, e)) return b_->read(var);
    }
    std::int32_t var = b_->var("n", e->dtype);
    frames_.front().declares.push_back(b_->declare(var, e));
    hoisted_.emplace_back(e, var);
    return b_->read(var);
}

bool Arrays::is_same_array(std::int32_t a, std::int32_t b) {
    if (a == b) return true;
    Descriptor x = describe_array(a), y = describe_array(b);
    auto equal = [](const std::vector<E>& p, const std::vector<E>& q) {
        return std::equal(p.begin(), p.end(), q.begin(), q.end(), same_expr);
    };
    return x.root == y.root && same_expr(x.offset, y.offset) && equal(x.extents, y.extents) &&
           equal(x.strides, y.strides);
}

bool Arrays::is_same(const Value& a, const Value& b) {
    if (a.type.is_array() && b.type.is_array() && !a.lazy && !b.lazy)
        return a.type == b.type && is_same_array(a.array, b.array);
    if (a.type.is_list() && b.type.is_list() && a.list >= 0)
        return a.type == b.type && a.list == b.list;
    bool has_items = a.type.is_tuple() || a.type.is_optional();
    if (!has_items || a.type != b.type) return same_value(a, b);
    return a.type == b.type &&
           std::equal(a.items.begin(), a.items.end(), b.items.begin(),
                      [&](const Value& x, const Value& y) { return is_same(x, y); });
}

/// A parameter, or a view of one that no assignment can change.
bool Arrays::is_fixed(const Value& array) {
    Descriptor d = describe_array(array.array);
    if (function_->arrays[static_cast<std::size_t>(d.root)].is_slot) return false;
    auto known = [&](E e) { return is_known_at_entry(e); };
    return known(d.offset) && std::all_of(d.extents.begin(), d.extents.end(), known) &&
           std::all_of(d.strides.begin(), d.strides.end(), known);
}

/// The same elements, kept apart from later changes of the variables that they were found by.
Value Arrays::snapshot(const Value& array) {
    if (is_fixed(array)) return array;
    Descriptor d = describe_array(array.array);
    const ir::Array& root = function_->arrays[static_cast<std::size_t>(d.root)];
    if (root.is_slot) {
        std::int32_t slot = b_->slot("held", root.dtype, root.writable);
        emit(b_->point(slot, d.root));
        d.root = slot;
    }
    auto keep = [&](E& e) { e = is_known_at_entry(e) ? e : temporary(e, "n"); };
    keep(d.offset);
    std::for_each(d.extents.begin(), d.extents.end(), keep);
    std::for_each(d.strides.begin(), d.strides.end(), keep);
    return view("held", d);
}

/// Moves an array into the slot and variables of a name.
Value Arrays::move_array(const std::string& name, const Value& value, const Type& type,
                         const Place& place) {
    Descriptor d = describe_array(value.array);
    // A work-item has no slots: a name in a kernel stands for parts of one array.
    const bool keeps_root = source_.is_kernel;
    if (keeps_root && function_->arrays[static_cast<std::size_t>(d.root)].is_slot) {
        refuse(place, "'" + name + "' would hold one of several arrays, which kernels cannot do",
               "index the array itself");
    }
    Frame& f = home(name);
    std::string key = name + "/" + describe(type) + (type.writable ? "w" : "r");
    if (keeps_root) key += std::to_string(d.root);
    for (StrideClass c : type.strides) key += std::to_string(static_cast<int>(c));
    auto [it, is_new] = f.arrays.emplace(key, -1);
    if (is_new) {
        // New arrays are told by their slot's name.
        Descriptor own{
            keeps_root ? d.root
                       : b_->slot(name == "made" ? "made.held" : name, type.dtype, type.writable),
            nullptr,
            {},
            {},
            type.strides,
            type.writable};
        own.offset = b_->read(variable(name + ".offset", DType::Int64));
        for (std::size_t k = 0; k < d.extents.size(); ++k) {
            std::string axis = std::to_string(k);
            own.extents.push_back(b_->read(variable(name + ".shape" + axis, DType::Int64)));
            own.strides.push_back(type.strides[k] == StrideClass::One
                                      ? i64(1)
                                      : b_->read(variable(name + ".stride" + axis, DType::Int64)));
        }
        it->second = view(name, own).array;
    }
    std::int32_t id = it->second;
    Value moved;
    moved.type = type;
    moved.array = id;
    if (value.array == id) return moved;
    if (!keeps_root) {
        note_fresh(function_->arrays[static_cast<std::size_t>(id)].base, d.root);
        emit(b_->point(function_->arrays[static_cast<std::size_t>(id)].base, d.root));
    }
    set_variable(name + ".offset", d.offset);
    for (std::size_t k = 0; k < d.extents.size(); ++k) {
        std::string axis = std::to_string(k);
        set_variable(name + ".shape" + axis, d.extents[k]);
        if (type.strides[k] != StrideClass::One)
            set_variable(name + ".stride" + axis, d.strides[k]);
    }
    return moved;
}

// ---- Slices

/// The index counted from the start, tested.
E Arrays::tested_index(E i, E size, int axis, const Place& place) {
    i = settle(i);
    E at = i;
    E outside = nullptr;
    auto known = constant_int(i);
    if (known && *known < 0) {
        at = op_binary(Op::Add, size, i);
        outside = op_binary(Op::Lt, at, i64(0));
    } else if (lower_bound(i).value_or(-1) >= 0) {
        outside = op_binary(Op::Ge, i, size);
    } else {
        at = temporary(b_->select(b_->binary(Op::Lt, i, i64(0)), b_->add(i, size), i), "index");
        outside = op_binary(Op::Or, op_binary(Op::Lt, at, i64(0)), op_binary(Op::Ge, at, size));
    }
    fault_if(outside, ErrorKind::Index,
             "index {0} is out of bounds for axis " + std::to_string(axis) + " with size {1}",
             place, {i, size});
    return at;
}

/// One bound of a slice, clipped to [low, high] as Python does.
E Arrays::slice_bound(E given, E size, E low, E high) {
    auto known = constant_int(given);
    bool forward = constant_int(low) == 0;
    if (known && *known >= 0) return op_binary(Op::Min, high, given);
    if (known) return op_binary(Op::Max, op_binary(Op::Add, size, given), low);
    given = settle(given);
    if (forward && lower_bound(given).value_or(-1) >= 0) return op_binary(Op::Min, high, given);
    E counted = b_->select(b_->binary(Op::Lt, given, i64(0)), b_->add(given, size), given);
    return b_->binary(Op::Min, high, b_->binary(Op::Max, counted, low));
}

/// max(e, 0)
static E positive(ir::Builder& b, E e) {
    if (e->kind == ir::ExprKind::Const)
        return static_cast<std::int64_t>(e->bits) < 0 ? b.i64(0) : e;
    return b.binary(Op::Max, e, b.i64(0));
}

Arrays::Cut Arrays::cut(E begin, E end, E step_given, E size, const Place& place) {
    auto step = step_given ? constant_int(step_given) : std::optional<std::int64_t>(1);
    if (step == 0)
        refuse(place, "the step of a slice must not be zero", "write the step as a number");
    if (!step) {  // only the run tells its sign
        E width = pinned(step_given);
        fault_if(op_binary(Op::Eq, width, i64(0)), ErrorKind::Value, "slice step cannot be zero",
                 place);
        E is_up = pinned(op_binary(Op::Gt, width, i64(0)));
        E low = pinned(b_->select(is_up, i64(0), i64(-1)));
        E high = pinned(op_binary(Op::Add, size, low));
        auto bound = [&](E given, E first, E second) {
            return pinned(given ? slice_bound(given, size, low, high)
                                : b_->select(is_up, first, second));
        };
        E from = bound(begin, low, high), to = bound(end, high, low);
        E distance = b_->select(is_up, b_->sub(to, from), b_->sub(from, to));
        E apart = pinned(b_->select(is_up, width, op_unary(Op::Neg, width)));
        E last = op_binary(Op::Add, positive(*b_, distance), op_binary(Op::Sub, apart, i64(1)));
        return {from, width, pinned(op_binary(Op::FloorDiv, last, apart))};
    }
    if (*step == 1) {
        auto first = begin ? constant_int(begin) : std::optional<std::int64_t>(0);
        auto last = end ? constant_int(end) : std::nullopt;
        // Common forms keep simple extents, so that equal ones are seen to be equal.
        if (first && *first >= 0 && (!end || (last && *last < 0))) {
            std::int64_t less = *first - (end ? *last : 0);
            E count = less == 0 ? size : positive(*b_, op_binary(Op::Sub, size, i64(less)));
            return {i64(*first), i64(1), pinned(count)};
        }
    }
    E low = *step > 0 ? i64(0) : i64(-1);
    E high = *step > 0 ? size : op_binary(Op::Sub, size, i64(1));
    E from = begin ? slice_bound(begin, size, low, high) : *step > 0 ? low : high;
    E to = end ? slice_bound(end, size, low, high) : *step > 0 ? high : low;
    from = pinned(from);
    to = pinned(to);
    E distance = *step > 0 ? op_binary(Op::Sub, to, from) : op_binary(Op::Sub, from, to);
    E count = positive(*b_, distance);
    std::int64_t width = *step > 0 ? *step : -*step;
    if (width > 1)
        count = op_binary(Op::FloorDiv, op_binary(Op::Add, count, i64(width - 1)), i64(width));
    return {from, i64(*step), pinned(count)};
}

/// The slice of an axis as it is written: each bound is an integer, or left out.
Arrays::Cut Arrays::cut(const Node& slice, E size) {
    bool is_forward = slice.children.at(2).kind == NodeKind::NoneValue;
    auto bound = [&](std::size_t part) -> E {
        const Node& given = slice.children.at(part);
        if (given.kind == NodeKind::NoneValue) return nullptr;
        Value v = maybe_none(given);
        if (v.type.kind == Type::Kind::None) return nullptr;
        if (v.type.is_optional() && is_forward && v.items[1].type.is_scalar()) {
            E none = part == 0 ? i64(0) : size;
            E there = cast(v.items[1].expr, DType::Int64);
            v = scalar(b_->select(v.items[0].expr, there, none), v.items[1].type.weak);
        } else if (v.type.is_optional()) {
            refuse(given.place, "a bound of a slice that may be None, beside a step",
                   "test it with `is None` first");
        }
        if (!v.type.is_scalar() || !is_integer(v.type.dtype)) {
            refuse(given.place, "a bound of a slice must be an integer; got " + describe(v.type),
                   "convert it with int(...)");
        }
        return cast(v.expr, DType::Int64);
    };
    E begin = bound(0), end = bound(1), step = bound(2);
    at(slice.place);
    return cut(begin, end, step, size, slice.place);
}

// ---- New arrays

/// An array of its own memory, contents undefined.
Value Arrays::own_array(std::string name, DType t, std::span<const std::int64_t> shape,
                        ir::Space space) {
    std::vector<E> lengths;
    for (std::int64_t n : shape) lengths.push_back(i64(n));
    const std::int32_t id =
        b_->local_array(std::move(name), t, static_cast<int>(shape.size()), space);
    emit(b_->allocate(id, lengths));
    ir::Array& array = function_->arrays[static_cast<std::size_t>(id)];
    array.extents = lengths;
    Value v;
    v.type = Type::array(t, array.strides, true);
    v.array = id;
    return v;
}

/// Of an array that a function with barriers makes, which a kernel calls: a slot would be one for
/// all work-items of a group. Empty where that is no constant, small one.
std::vector<std::int64_t> Arrays::shape_across_barriers(DType t, std::span<const E> extents) const {
    constexpr std::int64_t most_bytes = 16 << 10;
    if (!module_.is_kernel || extents.empty() || !reaches_barrier(source_)) return {};
    std::vector<std::int64_t> shape;
    std::int64_t bytes = size_of(t);
    for (E e : extents) {
        const auto known = constant_int(e);
        if (!known || *known < 1 || *known > most_bytes) return {};
        shape.push_back(*known);
        bytes *= *known;
        if (bytes > most_bytes) return {};
    }
    return shape;
}

Value Arrays::make_array(DType t, std::vector<E> extents, const Place& place) {
    if (source_.is_kernel) {
        refuse(place, "a kernel cannot make arrays",
               "use un.local_array, or pass one as an argument");
    }
    if (const auto shape = shape_across_barriers(t, extents); !shape.empty())
        return own_array("made", t, shape, ir::Space::Private);
    Descriptor d{b_->slot("made", t, true), i64(0), {}, {}, {}, true};
    E count = i64(1);
    E negative = nullptr;
    for (E& e : extents) {
        e = pinned(e);
        E below = op_binary(Op::Lt, e, i64(0));
        if (lower_bound(e).value_or(-1) < 0 && !constant_int(below))
            negative = negative ? op_binary(Op::Or, negative, below) : below;
        else if (constant_int(below) == 1)
            negative = below;
    }
    if (negative)
        fault_if(negative, ErrorKind::Value, "negative dimensions are not allowed", place);
    d.strides.resize(extents.size());
    for (std::size_t k = extents.size(); k-- > 0;) {
        d.strides[k] = count;
        count = pinned(op_binary(Op::Mul, count, extents[k]));
    }
    d.extents = extents;
    d.classes.assign(extents.size(), StrideClass::Other);
    if (!extents.empty()) d.classes.back() = StrideClass::One;
    at(place);
    emit(b_->make(d.root, within_memory(count, extents)));
    return view("made", d);
}

/// The product of these numbers, or -1 where it is larger than any memory: it may have overflowed.
E Arrays::within_memory(E product, std::span<const E> factors) {
    std::vector<E> open;
    for (E e : factors) {
        if (constant_int(e).value_or(0) != 1) open.push_back(e);
    }
    const bool is_known = std::all_of(open.begin(), open.end(), [&](E e) {
        return e->kind == ir::ExprKind::Param && e->field == ir::Field::Extent &&
               e->id == open.front()->id;  // of one array
    });
    if (open.size() < 2 || is_known || constant_int(product)) return product;
    constexpr double most = 281474976710656.0;  // 2 ** 48
    E size = cast(open[0], DType::Float64);
    for (std::size_t k = 1; k < open.size(); ++k)
        size = op_binary(Op::Mul, size, cast(open[k], DType::Float64));
    return b_->select(op_binary(Op::Le, size, b_->number(DType::Float64, most)), product, i64(-1));
}

/// What the memory of two slots or parameters can have in common is nothing.
bool Arrays::are_apart(std::int32_t a, std::int32_t b) const {
    auto is_alone = [&](std::int32_t root) {
        const ir::Array& x = function_->arrays[static_cast<std::size_t>(root)];
        return (x.param >= 0 && instance_.noalias) || x.name == "made" || fresh_.count(root) > 0;
    };
    return a != b && is_alone(a) && is_alone(b);
}

/// A name's slot gets the memory of another one. A name that only ever gets new arrays shares their
/// memory with names that are assigned from it at most; that it does is assumed until an assignment
/// is seen that gives it another one.
void Arrays::note_fresh(std::int32_t slot, std::int32_t root) {
    const std::string& name = function_->arrays[static_cast<std::size_t>(slot)].name;
    auto share = [&](const std::string& whose) {
        learnt_.shared_names.insert(whose);
        bool was_assumed = std::any_of(fresh_.begin(), fresh_.end(), [&](std::int32_t f) {
            return function_->arrays[static_cast<std::size_t>(f)].name == whose;
        });
        if (was_assumed) must_restart_ = true;
    };
    if (function_->arrays[static_cast<std::size_t>(root)].name != "made") return share(name);
    auto [owner, is_first] = owners_.emplace(root, slot);
    if (!is_first && owner->second != slot) {  // a = b = zeros(n)
        share(function_->arrays[static_cast<std::size_t>(owner->second)].name);
        return share(name);
    }
    bool is_param =
        std::find(source_.params.begin(), source_.params.end(), name) != source_.params.end();
    if (!is_param && !learnt_.shared_names.count(name)) fresh_.insert(slot);
}

}  // namespace unisono::frontend
