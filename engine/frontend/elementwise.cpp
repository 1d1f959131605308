// Lowers array expressions to loop nests: an operation on arrays only notes how an element is
// computed; the assignment that takes it makes one nest.
//
// NumPy reads the right side before it writes the left one. Where that can be seen (an array of the
// right side overlaps the target in other places) the elements go through memory of their own;
// whether they overlap is a test in front of the nest where it is not known earlier. The same test
// asks whether all extents that could be 1 and be repeated are equal, as they nearly always are.
#include <algorithm>
#include <cstdlib>

#include "frontend/arrays.h"
#include "frontend/lazy.h"

namespace unisono::frontend {

using ir::LoopKind;
using ir::StrideClass;

/// Bytes from which a result is stored past the caches: it would not stay there for its reader, and
/// to write it the processor need not read it first.
static constexpr std::int64_t streams_from = 16 << 20;

std::vector<E> Arrays::extents_of(const Value& v) {
    if (v.lazy) return v.lazy->extents;
    std::vector<E> list;
    if (v.type.is_array()) list = describe_array(v.array).extents;
    return list;
}

/// Whether all elements along an axis are one in memory, as along the axes that keepdims leaves.
bool Arrays::is_repeated(const Value& v, std::size_t axis) const {
    return v.type.is_array() && !v.lazy && v.type.strides[axis] == StrideClass::Zero;
}

/// The element of an operand at an index of the result, to whose last axes its own belong.
Value Arrays::element_of(const Value& v, std::span<const E> index, std::span<const E> extents,
                         bool repeats) {
    if (!v.type.is_array()) return v;
    std::vector<E> own = extents_of(v);
    std::vector<E> where;
    std::size_t skip = index.size() - own.size();
    for (std::size_t k = 0; k < own.size(); ++k) {
        E i = index[skip + k];
        bool is_one = constant_int(own[k]) == 1;
        bool is_equal = same_expr(own[k], extents[skip + k]);
        if (is_repeated(v, k) || (is_one && !is_equal)) {
            i = i64(0);
        } else if (!is_equal && repeats) {
            i = b_->select(b_->binary(Op::Eq, own[k], i64(1)), i64(0), i);
        }
        where.push_back(i);
    }
    if (v.lazy) return v.lazy->element(where, repeats);
    auto copy = stand_ins_.find(v.array);
    const std::int32_t array = copy == stand_ins_.end() ? v.array : copy->second;
    return scalar(b_->load(array, where, ir::Access::Inside));
}

/// Joins extents of a result with those of one more operand; tests that they fit.
void Arrays::broadcast(std::vector<E>& extents, std::vector<E> own, const Place& place) {
    if (own.size() > extents.size())
        extents.insert(extents.begin(), own.size() - extents.size(), i64(1));
    std::size_t skip = extents.size() - own.size();
    for (std::size_t k = 0; k < own.size(); ++k) {
        E& n = extents[skip + k];
        E m = own[k];
        if (same_expr(n, m) || constant_int(m) == 1) continue;
        if (constant_int(n) == 1) {
            n = m;
            continue;
        }
        auto is_one = [&](E e) { return op_binary(Op::Eq, e, i64(1)); };
        E fits =
            op_binary(Op::Or, op_binary(Op::Eq, n, m), op_binary(Op::Or, is_one(n), is_one(m)));
        fault_if(op_unary(Op::Not, fits), ErrorKind::Value,
                 "operands could not be broadcast together: axis " + std::to_string(skip + k) +
                     " has extents {0} and {1}",
                 place, {n, m});
        n = pinned(b_->select(is_one(n), m, n));
    }
}

/// Whether a result of these extents is known to repeat the value along an axis.
bool Arrays::is_spread(const Value& v, std::span<const E> extents) {
    std::vector<E> own = extents_of(v);
    if (own.size() < extents.size()) return true;
    for (std::size_t k = 0; k < own.size(); ++k) {
        if (constant_int(own[k]) == 1 && constant_int(extents[k]) != 1) return true;
    }
    return false;
}

/// An elementwise operation of scalars and at least one array.
Value Arrays::elementwise(const std::vector<Value>& operands,
                          const std::function<Value(std::span<const Value>)>& operation,
                          const Place& place) {
    auto lazy = std::make_shared<Lazy>();
    std::vector<Value> kept = operands;
    for (Value& v : kept) {
        if (v.type.is_scalar()) v.expr = settle(v.expr);
        broadcast(lazy->extents, extents_of(v), place);
    }
    lazy->by_elements = true;
    for (Value& v : kept) {
        // What is repeated along an axis is computed once.
        if (v.lazy && v.lazy->waits && is_spread(v, lazy->extents)) v = made(v, place);
        if (v.lazy && !v.lazy->by_elements) lazy->by_elements = false;
    }
    for (const Value& v : kept) {
        if (!v.type.is_array()) continue;
        if (v.lazy) {
            lazy->equal.insert(lazy->equal.end(), v.lazy->equal.begin(), v.lazy->equal.end());
            lazy->reads.insert(lazy->reads.end(), v.lazy->reads.begin(), v.lazy->reads.end());
            lazy->elsewhere.insert(lazy->elsewhere.end(), v.lazy->elsewhere.begin(),
                                   v.lazy->elsewhere.end());
        } else {
            lazy->reads.push_back(v.array);
        }
        std::vector<E> own = extents_of(v);
        std::size_t skip = lazy->extents.size() - own.size();
        for (std::size_t k = 0; k < own.size(); ++k) {
            E n = lazy->extents[skip + k];
            if (!is_repeated(v, k) && !same_expr(own[k], n) && constant_int(own[k]) != 1)
                lazy->equal.push_back(op_binary(Op::Eq, own[k], n));
        }
    }
    lazy->element = [this, kept, operation, extents = lazy->extents](std::span<const E> index,
                                                                     bool repeats) {
        std::vector<Value> items;
        for (const Value& v : kept) items.push_back(element_of(v, index, extents, repeats));
        return operation(items);
    };
    Value result;
    result.lazy = lazy;
    // What type the elements have: asked of the operation, whose statements are dropped.
    Type type;
    std::vector<E> origin(lazy->extents.size(), i64(0));
    auto saved = checkpoint();
    collect([&] { type = lazy->element(origin, false).type; });
    restore(saved);
    if (!type.is_scalar())
        refuse(place, "the elements of this expression are not numbers", "use numbers");
    at(place);
    result.type =
        Type::array(type.dtype, std::vector<StrideClass>(origin.size(), StrideClass::Other), false);
    return result;
}

/// Loops over all indices; the outermost one in parallel where nothing around is.
void Arrays::nest(std::span<const E> extents, const std::function<void(std::span<const E>)>& body,
                  const Place& place) {
    std::vector<std::int32_t> vars;
    std::vector<E> index;
    for (std::size_t k = 0; k < extents.size(); ++k) {
        vars.push_back(b_->var("i", DType::Int64));
        index.push_back(b_->read(vars.back()));
        lower_bounds_[vars.back()] = 0;
    }
    bool is_shared = parallel_depth_ == 0;
    parallel_depth_ += 1;
    std::vector<S> list = collect([&] { body(index); });
    parallel_depth_ -= 1;
    at(place);
    S inner = b_->block(list);
    for (std::size_t k = extents.size(); k-- > 0;) {
        auto kind = k == 0 && is_shared       ? ir::LoopKind::Parallel
                    : k + 1 == extents.size() ? ir::LoopKind::Vector
                                              : ir::LoopKind::Serial;
        inner = b_->loop(kind, vars[k], i64(0), extents[k], i64(1), inner);
    }
    emit(inner);
}

/// Addresses [first, last] of an array's elements; in kernels, where devices do not tell addresses,
/// as bytes from the start of its memory.
std::pair<E, E> Arrays::range_of(std::int32_t array) {
    Descriptor d = describe_array(array);
    E size = i64(size_of(function_->arrays[static_cast<std::size_t>(array)].dtype));
    E low = nullptr, high = nullptr;
    for (std::size_t k = 0; k < d.extents.size(); ++k) {
        E reach = op_binary(Op::Mul, op_binary(Op::Sub, d.extents[k], i64(1)), d.strides[k]);
        if (d.classes[k] == StrideClass::One) {
            high = high ? op_binary(Op::Add, high, reach) : reach;
            continue;
        }
        E below = op_binary(Op::Min, reach, i64(0)), above = op_binary(Op::Max, reach, i64(0));
        low = low ? op_binary(Op::Add, low, below) : below;
        high = high ? op_binary(Op::Add, high, above) : above;
    }
    E start = op_binary(Op::Mul, d.offset, size);
    if (!source_.is_kernel) start = op_binary(Op::Add, b_->address(d.root), start);
    auto from = [&](E by) {
        return by ? op_binary(Op::Add, start, op_binary(Op::Mul, by, size)) : start;
    };
    return {from(low), from(high)};
}

/// Whether writing `target` while `array` is read could be seen: null for never, else a test. Of
/// an array that is read at the index that is written, the element itself does not matter.
E Arrays::may_overlap(std::int32_t target, std::int32_t array, bool reads_elsewhere) {
    Descriptor a = describe_array(target), b = describe_array(array);
    const ir::Array& x = function_->arrays[static_cast<std::size_t>(a.root)];
    const ir::Array& y = function_->arrays[static_cast<std::size_t>(b.root)];
    if (is_same_array(target, array)) return reads_elsewhere ? b_->boolean(true) : nullptr;
    if (a.root != b.root) {
        if (source_.is_kernel) return nullptr;  // work-items answer for memory that they share
        bool are_params = x.param >= 0 && y.param >= 0 && instance_.noalias;
        if (are_params || x.name == "made" || y.name == "made" || are_apart(a.root, b.root))
            return nullptr;
    }
    // Views of one vector a few elements apart (`x[1:] = x[:-1] + 1`): only those of fewer elements
    // do not overlap.
    constexpr std::int64_t few = 4;
    auto is_vector = [](const Descriptor& d) {
        return d.classes.size() == 1 && d.classes[0] == StrideClass::One;
    };
    if (a.root == b.root && is_vector(a) && is_vector(b) && same_expr(a.extents[0], b.extents[0])) {
        auto distance = constant_int(op_binary(Op::Sub, a.offset, b.offset));
        if (distance && *distance != 0 && std::abs(*distance) <= few) return b_->boolean(true);
    }
    auto p = range_of(target), q = range_of(array);
    E meet = op_binary(Op::And, op_binary(Op::Le, p.first, q.second),
                       op_binary(Op::Le, q.first, p.second));
    if (reads_elsewhere) return meet;
    if (E apart = are_apart_or_same(target, array))
        meet = op_binary(Op::And, meet, op_unary(Op::Not, apart));
    return meet;
}

/// The same of one of the arrays that an expression reads.
E Arrays::may_overlap_read(std::int32_t target, const Value& value, std::int32_t array) {
    bool is_elsewhere = value.lazy && std::ranges::count(value.lazy->elsewhere, array) > 0;
    return may_overlap(target, array, is_elsewhere);
}

/// Of views with equal strides: whether they are the same one, or lie between each other as columns
/// of a matrix do: all strides are multiples of the last one, their distance is not. Null where
/// neither can be.
E Arrays::are_apart_or_same(std::int32_t x, std::int32_t y) {
    Descriptor a = describe_array(x), b = describe_array(y);
    bool is_same_kind =
        a.root == b.root && function_->arrays[static_cast<std::size_t>(x)].dtype ==
                                function_->arrays[static_cast<std::size_t>(y)].dtype;
    if (!is_same_kind || a.strides.empty() ||
        !std::equal(a.strides.begin(), a.strides.end(), b.strides.begin(), b.strides.end(),
                    same_expr)) {
        return nullptr;
    }
    E distance = op_binary(Op::Sub, a.offset, b.offset);
    E same = op_binary(Op::Eq, distance, i64(0));
    for (std::size_t k = 0; k < a.extents.size(); ++k) {
        if (!same_expr(a.extents[k], b.extents[k]))
            same = op_binary(Op::And, same, op_binary(Op::Eq, a.extents[k], b.extents[k]));
    }
    if (a.classes.back() != StrideClass::Other) return same;
    E step = a.strides.back();
    auto is_multiple = [&](E e) { return op_binary(Op::Eq, op_binary(Op::Mod, e, step), i64(0)); };
    E apart = op_unary(Op::Not, is_multiple(distance));
    for (std::size_t k = 0; k + 1 < a.strides.size(); ++k)
        apart = op_binary(Op::And, apart, is_multiple(a.strides[k]));
    return op_binary(Op::Or, same, apart);
}

/// The array with so many axes: those in front of them have an extent of one.
Value Arrays::without_leading(const Value& given, int rank, const Place& place) {
    Value array = made(given, place);
    Descriptor d = describe_array(array.array);
    const std::size_t more = d.extents.size() - static_cast<std::size_t>(rank);
    for (std::size_t k = 0; k < more; ++k)
        fault_if(op_binary(Op::Ne, d.extents[k], i64(1)), ErrorKind::Value,
                 "could not broadcast input array: axis " + std::to_string(k) +
                     " has extent {0}, the target has " + std::to_string(rank) + " axes",
                 place, {d.extents[k]});
    const auto count = static_cast<std::ptrdiff_t>(more);
    d.extents.erase(d.extents.begin(), d.extents.begin() + count);
    d.strides.erase(d.strides.begin(), d.strides.begin() + count);
    d.classes.erase(d.classes.begin(), d.classes.begin() + count);
    return view("row", d);
}

/// target[...] = value, with NumPy's meaning.
void Arrays::assign_elements(const Value& target, const Value& given, const Place& place) {
    const Value value = given.type.is_list()    ? as_array(given)
                        : given.type.is_tuple() ? as_array(given, place)
                                                : given;
    Descriptor d = describe_array(target.array);
    if (!d.writable) refuse_readonly(target);
    DType t = target.type.dtype;
    bool loses_part = is_complex(value.type.dtype) && !is_complex(t) && !is_bool(t);
    if (loses_part && (value.type.is_scalar() || value.type.is_array()))
        refuse(place, "complex numbers do not fit an array of " + std::string(name(t)),
               "store .real, .imag or abs(...)");
    if (value.type.is_array() && value.type.rank > target.type.rank)
        return assign_elements(target, without_leading(value, target.type.rank, place), place);
    E all_equal = nullptr, overlaps = nullptr;
    std::map<std::int32_t, std::int32_t> copies;
    Value from = value;
    if (value.type.is_scalar()) {
        from.expr = settle(to_type(value, t, place));
        from.type = Type::numpy(t);
    } else if (!value.type.is_array()) {
        refuse(place, "a value of type " + describe(value.type) + " cannot be stored into an array",
               "store numbers or arrays");
    } else {
        auto require = [&](E test) {
            all_equal = all_equal ? op_binary(Op::And, all_equal, test) : test;
        };
        std::vector<E> own = extents_of(value);
        std::size_t skip = d.extents.size() - own.size();
        for (std::size_t k = 0; k < own.size(); ++k) {
            E n = d.extents[skip + k];
            if (same_expr(own[k], n) || constant_int(own[k]) == 1) continue;
            E equal = op_binary(Op::Eq, own[k], n);
            E fits = op_binary(Op::Or, equal, op_binary(Op::Eq, own[k], i64(1)));
            fault_if(op_unary(Op::Not, fits), ErrorKind::Value,
                     "could not broadcast input array: axis " + std::to_string(skip + k) +
                         " has extent {0}, the target {1}",
                     place, {own[k], n});
            if (!is_repeated(value, k)) require(equal);
        }
        std::vector<std::int32_t> reads{value.array};
        if (value.lazy) {
            for (E test : value.lazy->equal) require(test);
            reads = value.lazy->reads;
        }
        for (std::int32_t array : reads) {
            if (value.lazy && value.lazy->by_elements && is_narrow(target.array, array)) {
                if (copies.count(array) > 0) continue;
                Value read;
                read.array = array;
                read.type = Type::array(function_->arrays[static_cast<std::size_t>(array)].dtype,
                                        describe_array(array).classes, false);
                copies[array] = copied(read, place).array;
                continue;
            }
            E test = may_overlap_read(target.array, value, array);
            if (test && constant_int(test) == 1) overlaps = test;
            if (!test || (overlaps && constant_int(overlaps) == 1)) continue;
            overlaps = overlaps ? op_binary(Op::Or, overlaps, test) : test;
        }
    }
    auto copy = [&](const Value& source, std::int32_t into, bool repeats, bool streams = false) {
        nest(
            d.extents,
            [&](std::span<const E> index) {
                Value item = element_of(source, index, d.extents, repeats);
                at(place);
                emit(b_->store(into, index, cast(item.expr, t), ir::Access::Inside, streams));
            },
            place);
    };
    auto direct = [&] {
        if (!is_result_ || is_complex(t)) return copy(from, target.array, false);
        E count = i64(1);
        for (E n : d.extents) count = op_binary(Op::Mul, count, n);
        std::vector<S> past = collect([&] { copy(from, target.array, false, true); });
        std::vector<S> into = collect([&] { copy(from, target.array, false); });
        at(place);
        emit(b_->branch(op_binary(Op::Ge, count, i64(streams_from / size_of(t))), b_->block(past),
                        b_->block(into)));
    };
    if (overlaps && source_.is_kernel) {
        fault_if(overlaps, ErrorKind::Value,
                 "a kernel cannot store an array into one that shares its memory elsewhere", place);
        overlaps = nullptr;
    }
    bool is_through_memory = overlaps && constant_int(overlaps) == 1;
    E plain = all_equal;
    if (overlaps) {
        E apart = op_unary(Op::Not, overlaps);
        plain = plain ? op_binary(Op::And, plain, apart) : apart;
    }
    std::swap(stand_ins_, copies);
    if (!plain) {
        direct();
        std::swap(stand_ins_, copies);
        return;
    }
    std::vector<S> fast = is_through_memory ? std::vector<S>{} : collect(direct);
    std::vector<S> slow = collect([&] {
        if (!overlaps) return copy(from, target.array, true);
        std::vector<E> extents = d.extents;
        Value made = make_array(t, extents, place);
        if (all_equal) {
            std::vector<S> same = collect([&] { copy(from, made.array, false); });
            std::vector<S> repeated = collect([&] { copy(from, made.array, true); });
            at(place);
            emit(b_->branch(all_equal, b_->block(same), b_->block(repeated)));
        } else {
            copy(from, made.array, true);
        }
        copy(made, target.array, false);
    });
    at(place);
    emit(is_through_memory ? b_->block(slow) : b_->branch(plain, b_->block(fast), b_->block(slow)));
    std::swap(stand_ins_, copies);
}

/// Whether an array is a row or a column of the one that the target is part of: to copy it before
/// the target is written costs little (`a[:] = minimum(a, outer sums of a[:, k] and a[k])`).
bool Arrays::is_narrow(std::int32_t target, std::int32_t array) {
    Descriptor a = describe_array(target), b = describe_array(array);
    if (a.root != b.root || is_same_array(target, array)) return false;
    if (b.extents.size() < a.extents.size()) return !b.extents.empty();
    for (std::size_t k = 0; k < a.extents.size() && k < b.extents.size(); ++k) {
        if (constant_int(b.extents[k]) == 1 && constant_int(a.extents[k]) != 1) return true;
    }
    return false;
}

/// An array of its own for an expression; other values as they are.
Value Arrays::made(const Value& value, const Place& place) {
    if (!value.lazy) return value;
    if (value.lazy->view) return value.lazy->view();
    if (source_.is_kernel) {
        refuse(place, "a kernel cannot keep a whole array that it computes",
               "store it at once, as in r[:] = a + b, or compute with elements: each work-item has "
               "its own");
    }
    Value array = make_array(value.type.dtype, value.lazy->extents, place);
    assign_elements(array, value, place);
    if (!value.lazy->is_field) return array;
    Descriptor d = describe_array(array.array);
    d.writable = false;
    return view("numbers", d);
}

Value Arrays::converted_array(const Value& a, DType t, const Place& place) {
    return elementwise(
        {a},
        [this, t, place](std::span<const Value> v) {
            bool narrows = v[0].type.is_complex() && !is_complex(t);
            return scalar(narrows ? cast(v[0].expr, t) : to_type(v[0], t, place), Weak::None);
        },
        place);
}

/// Loops over all indices on this thread, in row-major order.
void Arrays::in_order(std::span<const E> extents,
                      const std::function<void(std::span<const E>)>& body) {
    std::vector<E> index;
    std::function<void(std::size_t)> level = [&](std::size_t k) {
        if (k == extents.size()) return body(index);
        counted(LoopKind::Serial, i64(0), extents[k], [&](E i) {
            index.push_back(i);
            level(k + 1);
            index.pop_back();
        });
    };
    level(0);
}

}  // namespace unisono::frontend
