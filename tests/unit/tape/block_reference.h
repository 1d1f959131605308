// Plain reference for groups: one point at a time by ops/scalar_eval.h, reductions by recursion.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "core/error.h"
#include "core/scalar.h"
#include "ops/scalar_eval.h"
#include "tape/plan/group.h"

namespace block_reference {

using namespace unisono;

/// An operand with memory of its own around it.
struct Array {
    DType dtype = DType::Float64;
    std::vector<char> memory;
    std::vector<std::int64_t> strides;
    std::int64_t origin = 0;  ///< of element [0, 0, ...], in elements

    char* data() { return memory.data() + origin * size_of(dtype); }
    Scalar get(const std::vector<std::int64_t>& index) const {
        Scalar s{0, dtype};
        std::memcpy(&s.bits, memory.data() + place(index),
                    static_cast<std::size_t>(size_of(dtype)));
        return s;
    }
    void set(const std::vector<std::int64_t>& index, Scalar s) {
        std::memcpy(memory.data() + place(index), &s.bits,
                    static_cast<std::size_t>(size_of(dtype)));
    }
    std::size_t place(const std::vector<std::int64_t>& index) const {
        std::int64_t at = origin;
        for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * strides[axis];
        return static_cast<std::size_t>(at * size_of(dtype));
    }
};

/// The root of the tree over leaves [begin, end), which lie inside one node of `width` leaves that
/// starts at `start`.
inline Scalar tree(const std::vector<Scalar>& leaves, std::size_t start, std::size_t width, Op op) {
    if (width == 1) return leaves[start];
    std::size_t half = width / 2;
    Scalar left = tree(leaves, start, half, op);
    if (start + half >= leaves.size()) return left;
    return eval(op, left, tree(leaves, start + half, half, op));
}

inline Scalar tree(const std::vector<Scalar>& leaves, Op op) {
    std::size_t width = 1;
    while (width < leaves.size()) width *= 2;
    return tree(leaves, 0, width, op);
}

inline Scalar leaf_in_lanes(const std::vector<Scalar>& x, Op op) {
    std::vector<Scalar> lane;
    for (std::size_t j = 0; j < x.size(); ++j) {
        if (j < 32)
            lane.push_back(x[j]);
        else
            lane[j % 32] = eval(op, lane[j % 32], x[j]);
    }
    for (std::size_t half : {16, 8, 4, 2, 1}) {
        for (std::size_t l = 0; l < half && l + half < lane.size(); ++l)
            lane[l] = eval(op, lane[l], lane[l + half]);
        lane.resize(std::min(lane.size(), half));
    }
    return lane[0];
}

inline Scalar leaf_in_order(const std::vector<Scalar>& x, Op op) {
    Scalar sum = x[0];
    for (std::size_t j = 1; j < x.size(); ++j) sum = eval(op, sum, x[j]);
    return sum;
}

inline Scalar reduce(const std::vector<Scalar>& x, Op op, DType t, bool innermost) {
    if (x.empty()) return identity(op, t);
    const std::size_t size = innermost ? 512 : 8;
    std::vector<Scalar> leaves;
    for (std::size_t j = 0; j < x.size(); j += size) {
        std::vector<Scalar> leaf(
            x.begin() + static_cast<std::ptrdiff_t>(j),
            x.begin() + static_cast<std::ptrdiff_t>(std::min(x.size(), j + size)));
        leaves.push_back(innermost ? leaf_in_lanes(leaf, op) : leaf_in_order(leaf, op));
    }
    return tree(leaves, op);
}

inline void for_each_index(const std::vector<std::int64_t>& shape,
                           const std::function<void(const std::vector<std::int64_t>&)>& f) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
    std::vector<std::int64_t> index(shape.size(), 0);
    for (;;) {
        f(index);
        std::size_t axis = shape.size();
        while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
        if (axis == 0) return;
    }
}

/// Values of all nodes at one point.
inline std::vector<Scalar> evaluate(const Group& group, const std::vector<Array>& inputs,
                                    const std::vector<std::uint64_t>& scalars,
                                    const std::vector<std::int64_t>& shape,
                                    const std::vector<std::int64_t>& index) {
    std::vector<Scalar> v;
    for (const Group::Node& n : group.nodes) {
        switch (n.kind) {
            case Group::Kind::Input: v.push_back(inputs[n.a].get(index)); break;
            case Group::Kind::Scalar: v.push_back({scalars[n.a], n.dtype}); break;
            case Group::Kind::Op:
                v.push_back(info(n.op).arity == 1 ? eval(n.op, v[n.a])
                                                  : eval(n.op, v[n.a], v[n.b]));
                break;
            case Group::Kind::Cast: v.push_back(cast(v[n.a], n.dtype)); break;
            case Group::Kind::Select: v.push_back(v[n.a].get<bool>() ? v[n.b] : v[n.c]); break;
            case Group::Kind::Function: UNISONO_ASSERT(false); break;
            case Group::Kind::Iota: {
                std::int64_t linear = 0;
                for (std::size_t axis = 0; axis < shape.size(); ++axis)
                    linear = linear * shape[axis] + index[axis];
                v.push_back(Scalar::of(DType::Int64, linear));
            }
        }
    }
    return v;
}

/// Runs the group into outputs; `inputs` stay as they were, whatever same_as_input says.
inline void run(const Group& group, const std::vector<std::int64_t>& shape,
                const std::vector<Array>& inputs, const std::vector<std::uint64_t>& scalars,
                std::vector<Array>& outputs) {
    for_each_index(shape, [&](const auto& index) {
        std::vector<Scalar> v = evaluate(group, inputs, scalars, shape, index);
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            if (!group.outputs[o].reduces) outputs[o].set(index, v[group.outputs[o].node]);
        }
    });
    if (group.reduce_axis < 0) return;
    const auto axis = static_cast<std::size_t>(group.reduce_axis);
    std::vector<std::int64_t> rest = shape;
    rest[axis] = 1;
    for_each_index(rest, [&](std::vector<std::int64_t> index) {
        std::vector<std::vector<Scalar>> columns(outputs.size());
        for (std::int64_t r = 0; r < shape[axis]; ++r) {
            index[axis] = r;
            std::vector<Scalar> v = evaluate(group, inputs, scalars, shape, index);
            for (std::size_t o = 0; o < outputs.size(); ++o)
                columns[o].push_back(v[group.outputs[o].node]);
        }
        index[axis] = 0;
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            const Group::Output& output = group.outputs[o];
            if (output.reduces)
                outputs[o].set(
                    index, reduce(columns[o], output.op, output.dtype, axis + 1 == shape.size()));
        }
    });
}

/// Equal bits, or both NaN.
inline bool same(Scalar a, Scalar b) {
    if (a.dtype == DType::Float64 && std::isnan(a.get<double>()))
        return std::isnan(b.get<double>());
    if (a.dtype == DType::Float32 && std::isnan(a.get<float>())) return std::isnan(b.get<float>());
    return a == b;
}

}  // namespace block_reference
