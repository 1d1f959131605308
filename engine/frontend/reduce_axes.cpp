// Reductions over the axes of an array, by the loops of fold.cpp.
#include <algorithm>

#include "frontend/array_functions.h"
#include "ops/reduction_tree.h"

namespace unisono::frontend {

using ir::LoopKind;

std::vector<E> ArrayFunctions::without(std::span<const E> list, std::span<const int> axes) {
    std::vector<E> rest;
    for (std::size_t k = 0; k < list.size(); ++k) {
        if (std::find(axes.begin(), axes.end(), static_cast<int>(k)) == axes.end())
            rest.push_back(list[k]);
    }
    return rest;
}

/// The array combined along its last axis that counts; a scalar where it has no other.
Value ArrayFunctions::reduced_last(const Value& v, const Accumulation& how, int axis,
                                   const Place& place) {
    std::vector<E> extents = extents_of(v);
    for (E& e : extents) e = settle(e);
    E n = extents[static_cast<std::size_t>(axis)];
    std::vector<E> kept = without(extents, std::vector<int>{axis});
    Value out;
    std::int32_t result = -1;
    if (kept.empty()) {
        result = b_->var("total", how.type);
        emit(b_->declare(result, nullptr));
    } else {
        out = make_array(how.type, kept, place);
        kept = extents_of(out);
    }
    auto all = [&](bool repeats) {
        auto at_index = [&](std::span<const E> others, E along) {
            std::vector<E> index(others.begin(), others.end());
            index.insert(index.begin() + axis, along);
            return cast(element_of(v, index, extents, repeats).expr, how.type);
        };
        if (kept.empty()) {
            E total = fold_long(
                n, how, [&](E i) { return at_index(std::span<const E>{}, i); }, place);
            emit(b_->assign(result, total));
            return;
        }
        auto fold_rows_by = [&](const std::function<E(const std::function<E(E)>&)>& fold) {
            nest(
                kept,
                [&](std::span<const E> index) {
                    E total = fold([&](E i) { return at_index(index, i); });
                    set_item(out.array, {index.begin(), index.end()}, total);
                },
                place);
        };
        auto by_lanes = [&] {
            fold_rows_by([&](const auto& element) { return fold_lanes(n, how, element); });
        };
        if (repeats || is_complex(how.type)) return by_lanes();
        // Rows of a few elements, as points and colours have, take no array of lanes.
        std::vector<S> few = collect(
            [&] { fold_rows_by([&](const auto& element) { return fold_few(n, how, element); }); });
        std::vector<S> many = collect(by_lanes);
        at(place);
        E is_few = op_binary(Op::And, op_binary(Op::Gt, n, i64(0)),
                             op_binary(Op::Le, n, i64(few_elements)));
        emit(b_->branch(is_few, b_->block(few), b_->block(many)));
    };
    with_repeats(v, all, place);
    return kept.empty() ? scalar(b_->read(result)) : out;
}

/// The array combined along axes in front of its last one, in one nest of loops.
Value ArrayFunctions::reduced_rows(const Value& v, const Accumulation& how,
                                   std::span<const int> axes, const Place& place) {
    std::vector<E> extents = extents_of(v);
    for (E& e : extents) e = settle(e);
    Value out = make_array(how.type, without(extents, axes), place);
    std::vector<E> kept = extents_of(out);
    std::vector<RowAxis> along;
    for (int axis : axes) along.push_back(row_axis(extents[static_cast<std::size_t>(axis)]));
    auto strips_of = [&](const std::vector<RowAxis>& rows_of,
                         const std::vector<std::int64_t>& widths, bool repeats) {
        std::vector<E> firsts, ends;  // the first column and the last strip's number of each width
        E column = i64(0), count = i64(0);
        for (std::int64_t width : widths) {
            E strips = settle(
                op_binary(Op::FloorDiv, op_binary(Op::Sub, kept.back(), column), i64(width)));
            firsts.push_back(
                settle(op_binary(Op::Sub, column, op_binary(Op::Mul, count, i64(width)))));
            column = settle(op_binary(Op::Add, column, op_binary(Op::Mul, strips, i64(width))));
            count = settle(op_binary(Op::Add, count, strips));
            ends.push_back(count);
        }
        std::vector<E> loops = kept;
        loops.back() = count;
        nest(
            loops,
            [&](std::span<const E> index) {
                auto strip = [&](std::size_t w) {
                    E first = temporary(op_binary(Op::Add, firsts[w],
                                                  op_binary(Op::Mul, index.back(), i64(widths[w]))),
                                        "first");
                    auto others = [&](E l) {
                        std::vector<E> list(index.begin(), index.end());
                        list.back() = op_binary(Op::Add, first, l);
                        return list;
                    };
                    auto element = [&](std::span<const E> rows, E l) {
                        std::vector<E> where = others(l);
                        for (std::size_t k = 0; k < axes.size(); ++k)
                            where.insert(where.begin() + axes[k],
                                         k < rows.size() ? rows[k] : i64(0));
                        return cast(element_of(v, where, extents, repeats).expr, how.type);
                    };
                    std::int32_t sums = fold_rows(rows_of, {}, widths[w], how, element);
                    counted(LoopKind::Vector, i64(0), i64(widths[w]), [&](E l) {
                        set_item(out.array, others(l), private_array_item(sums, l));
                    });
                };
                std::function<void(std::size_t)> choose_width = [&](std::size_t w) {
                    if (w + 1 == widths.size()) return strip(w);
                    std::vector<S> these = collect([&] { strip(w); });
                    std::vector<S> narrower = collect([&] { choose_width(w + 1); });
                    at(place);
                    emit(b_->branch(op_binary(Op::Lt, index.back(), ends[w]), b_->block(these),
                                    b_->block(narrower)));
                };
                choose_width(0);
            },
            place);
    };
    // Strips of several widths, none of which varies: of short axes, which need no tree, in more
    // of them.
    auto all = [&](bool repeats) {
        if (repeats) return strips_of(along, {16, 1}, true);
        if (axes.size() == 1) return strips_of(along, {64, 16, 4, 1}, false);
        E is_short = nullptr;
        std::vector<RowAxis> leaves = along;
        for (RowAxis& axis : leaves) {
            axis.leaves = nullptr;
            E fits = op_binary(Op::And, op_binary(Op::Gt, axis.n, i64(0)),
                               op_binary(Op::Le, axis.n, i64(reduction::leaf_rows)));
            is_short = is_short ? op_binary(Op::And, is_short, fits) : fits;
        }
        // A last axis of one element adds nothing to it.
        E is_one = op_binary(Op::Eq, leaves.back().n, i64(1));
        std::vector<S> quick = collect([&] {
            std::vector<S> all_axes = collect([&] { strips_of(leaves, {16, 4, 2, 1}, false); });
            leaves.pop_back();
            std::vector<S> fewer = collect([&] { strips_of(leaves, {16, 4, 2, 1}, false); });
            at(place);
            emit(b_->branch(is_one, b_->block(fewer), b_->block(all_axes)));
        });
        std::vector<S> any = collect([&] { strips_of(along, {16, 4, 1}, false); });
        at(place);
        emit(b_->branch(is_short, b_->block(quick), b_->block(any)));
    };
    with_repeats(v, all, place);
    return out;
}

/// The array combined along axes, which are in order.
Value ArrayFunctions::reduced_axes(const Value& given, const Accumulation& how,
                                   std::span<const int> axes, const Place& place) {
    Value v = given;
    while (!axes.empty()) {
        std::vector<E> extents = extents_of(v);
        // Axes of extent 1 behind it do not count.
        bool is_last = std::all_of(extents.begin() + axes.back() + 1, extents.end(),
                                   [](E e) { return constant_int(e) == 1; });
        if (!is_last) return reduced_rows(v, how, axes, place);
        v = reduced_last(v, how, axes.back(), place);
        axes = axes.first(axes.size() - 1);
    }
    return v;
}

}  // namespace unisono::frontend
