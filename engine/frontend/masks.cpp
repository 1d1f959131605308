// Lowers masks of their array's own rank: a[mask] reads the chosen elements in row-major order,
// a[mask] = value writes them.
#include <algorithm>

#include "frontend/lazy.h"
#include "frontend/lowerer.h"

namespace unisono::frontend {

/// The mask, where it is the whole index and as deep as the array.
std::optional<Value> FunctionLowerer::mask_of(const Value& array,
                                              std::span<const Node* const> items) {
    if (items.size() != 1) return std::nullopt;
    Type type;
    auto saved = checkpoint();
    collect([&] { type = expression(*items[0]).type; });
    restore(saved);
    if (!type.is_array() || !is_bool(type.dtype) || type.rank != array.type.rank)
        return std::nullopt;
    Value mask = expression(*items[0]);
    // Its elements are read once each, in the walk.
    if (mask.lazy && !mask.lazy->equal.empty()) mask = made(mask, items[0]->place);
    std::vector<E> own = extents_of(mask), extents = extents_of(array);
    for (std::size_t k = 0; k < own.size(); ++k) {
        if (same_expr(own[k], extents[k])) continue;
        fault_if(op_binary(Op::Ne, own[k], extents[k]), ErrorKind::Index,
                 "boolean index did not match indexed array along axis " + std::to_string(k) +
                     "; size of axis is {0} but size of corresponding boolean axis is {1}",
                 items[0]->place, {extents[k], own[k]});
    }
    return mask;
}

/// The elements where the mask is set, in row-major order.
Value FunctionLowerer::compressed(const Value& array, const Value& mask, const Place& place) {
    std::vector<E> extents = extents_of(array);
    Value out = make_array(array.type.dtype, {size_of_array(array)}, place);
    std::int32_t count = declared("count", i64(0));
    // Every element is written where the next one goes, which the mask moves on: no branch.
    in_order(extents, [&](std::span<const E> index) {
        E is_set = element_of(mask, index, extents, false).expr;
        set_item(out.array, {b_->read(count)}, element_of(array, index, extents, false).expr);
        emit(b_->assign(count, b_->add(b_->read(count), cast(is_set, DType::Int64))));
    });
    at(place);
    E found = temporary(b_->read(count), "found");
    lower_bounds_[found->id] = 0;
    Descriptor d = describe_array(out.array);
    d.extents = {found};
    return view("made", d);
}

/// array[mask] = value, for a number or as many values as the mask has true elements.
void FunctionLowerer::assign_masked(const Value& array, const Value& mask, const Value& value,
                                    const Place& place) {
    std::vector<E> extents = extents_of(array);
    DType t = array.type.dtype;
    if (value.type.is_scalar()) {
        E item = settle(to_type(value, t, place));
        Value held = mask;
        // The mask must not change while elements are written.
        if (mask.lazy) held = made(mask, place);
        nest(
            extents,
            [&](std::span<const E> index) {
                E is_set = element_of(held, index, extents, false).expr;
                S store = b_->store(array.array, index, item, ir::Access::Inside);
                emit(b_->branch(is_set, b_->block({store})));
            },
            place);
        return;
    }
    Value held = made(mask, place), items = made(value, place);
    if (!items.type.is_array() || items.type.rank > 1) {
        refuse(
            place,
            "the elements chosen by a mask take a number or a vector; got " + describe(value.type),
            "index the value by the same mask");
    }
    if (may_overlap(array.array, items.array)) items = copied(items, place);
    E n = items.type.rank == 1 ? settle(extents_of(items)[0]) : i64(1);
    std::int32_t total = declared("total", i64(0));
    in_order(extents, [&](std::span<const E> index) {
        E is_set = element_of(held, index, extents, false).expr;
        emit(b_->assign(total, b_->add(b_->read(total), cast(is_set, DType::Int64))));
    });
    E is_one = settle(op_binary(Op::Eq, n, i64(1)));
    E fits = op_binary(Op::Or, is_one, op_binary(Op::Eq, n, b_->read(total)));
    fault_if(op_unary(Op::Not, fits), ErrorKind::Value,
             "NumPy boolean array indexing assignment cannot assign {0} input values to the {1} "
             "output values where the mask is true",
             place, {n, b_->read(total)});
    std::int32_t count = declared("count", i64(0));
    in_order(extents, [&](std::span<const E> index) {
        E is_set = element_of(held, index, extents, false).expr;
        std::vector<S> store = collect([&] {
            std::vector<E> from;
            if (items.type.rank == 1) from.push_back(b_->select(is_one, i64(0), b_->read(count)));
            E item = b_->load(items.array, from, ir::Access::Inside);
            emit(b_->store(array.array, index, cast(item, t), ir::Access::Inside));
            emit(b_->assign(count, b_->add(b_->read(count), i64(1))));
        });
        emit(b_->branch(is_set, b_->block(store)));
    });
}

}  // namespace unisono::frontend
