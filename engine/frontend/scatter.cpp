// Lowers assignments to what index arrays and masks choose.
#include "frontend/assignments.h"
#include "frontend/lazy.h"

namespace unisono::frontend {

void Assignments::scatter(const Gather& g, const Value& given, const Place& place) {
    Value value = given;
    DType t = g.view.type.dtype;
    if (value.type.is_scalar()) {
        value.expr = settle(to_type(value, t, place));
        value.type = Type::numpy(t);
    } else {
        value = made(value, place);
        if (!value.type.is_array())
            refuse(place,
                   "a value of type " + describe(value.type) + " cannot be stored into an array",
                   "store numbers or arrays");
        std::vector<E> own = extents_of(value);
        if (own.size() > g.extents.size()) {
            refuse(place,
                   "an array of rank " + std::to_string(own.size()) +
                       " cannot be stored into one of rank " + std::to_string(g.extents.size()),
                   "index it down to fewer axes");
        }
        std::size_t skip = g.extents.size() - own.size();
        for (std::size_t k = 0; k < own.size(); ++k) {
            E n = g.extents[skip + k];
            if (same_expr(own[k], n) || constant_int(own[k]) == 1) continue;
            E fits =
                op_binary(Op::Or, op_binary(Op::Eq, own[k], n), op_binary(Op::Eq, own[k], i64(1)));
            fault_if(op_unary(Op::Not, fits), ErrorKind::Value,
                     "shape mismatch: axis " + std::to_string(skip + k) +
                         " of the value has extent {0}, of the indexing result {1}",
                     place, {own[k], n});
        }
        if (may_overlap(g.view.array, value.array, true)) value = copied(value, place);
    }
    Gather held = g;
    for (auto& [axis, index] : held.indices) {
        if (index.type.is_array() && may_overlap(g.view.array, index.array, true))
            index = copied(index, place);
    }
    in_order(g.extents, [&](std::span<const E> index) {
        std::vector<E> where = gathered_index(held, index, true);
        E item = element_of(value, index, g.extents, true).expr;
        emit(b_->store(g.view.array, where, cast(item, t), ir::Access::Inside));
    });
}

void Assignments::assign_gathered(const Node& target, const Value& array,
                                  std::span<const Node* const> items, const Value& value) {
    if (auto mask = mask_of(array, items)) {
        at(target.place);
        return assign_masked(array, *mask, value, target.place);
    }
    Gather g = gathering(target, array, items);
    at(target.place);
    scatter(g, value, target.place);
}

/// array[i] = value[i] where the mask is set; value is a number or has an element at each place.
void Assignments::store_chosen(const Value& array, const Value& mask, const Value& value,
                               const Place& place) {
    std::vector<E> extents = extents_of(array);
    DType t = array.type.dtype;
    // Both are read at an element before it is written: arrays that lie elsewhere are read before.
    auto overlap = [&](const Value& v) {
        E any = nullptr;
        if (!v.type.is_array()) return any;
        for (std::int32_t read : v.lazy ? v.lazy->reads : std::vector<std::int32_t>{v.array}) {
            E test = may_overlap_read(array.array, v, read);
            if (test) any = any ? op_binary(Op::Or, any, test) : test;
        }
        return any;
    };
    Value held = mask;
    if (overlap(mask)) held = mask.lazy ? made(mask, place) : copied(mask, place);
    auto store = [&](const Value& from, std::int32_t into) {
        nest(
            extents,
            [&](std::span<const E> index) {
                E is_set = element_of(held, index, extents, false).expr;
                std::vector<S> body = collect([&] {
                    E item = cast(element_of(from, index, extents, false).expr, t);
                    emit(b_->store(into, index, item, ir::Access::Inside));
                });
                emit(b_->branch(is_set, b_->block(body)));
            },
            place);
    };
    E overlaps = overlap(value);
    if (!overlaps) return store(value, array.array);
    std::vector<S> apart = collect([&] { store(value, array.array); });
    std::vector<S> through = collect([&] {
        Value between = make_array(t, extents, place);
        store(value, between.array);
        store(between, array.array);
    });
    at(place);
    emit(b_->branch(overlaps, b_->block(through), b_->block(apart)));
}

/// array[mask] = value, for a number or as many values as the mask has true elements.
void Assignments::assign_masked(const Value& array, const Value& mask, const Value& value,
                                const Place& place) {
    std::vector<E> extents = extents_of(array);
    DType t = array.type.dtype;
    if (value.type.is_scalar()) {
        Value item = scalar(settle(to_type(value, t, place)));
        return store_chosen(array, mask, item, place);
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
