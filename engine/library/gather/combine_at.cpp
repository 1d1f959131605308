// One position after the other, on one thread: the order is part of the result.
#include "library/gather/combine_at.h"

#include <cstring>
#include <type_traits>

#include "library/lanes.h"
#include "library/reduce/combine_pair.h"
#include "ops/scalar_eval.h"
#include "primitives/primitive.h"
#include "tape/record/dtype_rules.h"
#include "tape/record/record.h"

namespace unisono::library {

namespace {

/// What is done to an element: cast, combined with a value, cast back. Casts of a dtype to itself
/// are null.
struct Step {
    ScalarFunction op;
    CastFunction to, from;
    std::uint64_t operator()(std::uint64_t element, std::uint64_t value) const {
        if (to) element = to(element);
        element = op(element, value);
        return from ? from(element) : element;
    }
};

/// T and V: unsigned integers of the sizes of elements and values; scalars are bits from the
/// lowest.
template <class T, class V>
void combine_by_step(const Step& step, const View& table, const View& positions,
                     const View& values) {
    T* to = elements<T>(table);
    const V* value = elements<const V>(values);
    const auto* at = elements<const std::int64_t>(positions);
    const std::int64_t n = positions.layout->size();
    for (std::int64_t k = 0; k < n; ++k) to[at[k]] = static_cast<T>(step(to[at[k]], value[k]));
}

/// Without a call for each element; false where the dtype has its own rules.
template <Op op>
bool combine_numbers(DType t, const View& table, const View& positions, const View& values) {
    constexpr bool bits = op == Op::And || op == Op::Or || op == Op::Xor;
    bool done = false;
    dispatch(t, [&]<class T>() {
        constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
        if constexpr (is_number && (!bits || std::is_integral_v<T>)) {
            T* to = elements<T>(table);
            const T* value = elements<const T>(values);
            const auto* at = elements<const std::int64_t>(positions);
            const std::int64_t n = positions.layout->size();
            for (std::int64_t k = 0; k < n; ++k)
                to[at[k]] = library::combine<op, T>(to[at[k]], value[k]);
            done = true;
        }
    });
    return done;
}

bool combine_numbers(Op op, DType t, const View& table, const View& positions, const View& values) {
    switch (op) {
        case Op::Add: return combine_numbers<Op::Add>(t, table, positions, values);
        case Op::Sub: return combine_numbers<Op::Sub>(t, table, positions, values);
        case Op::Mul: return combine_numbers<Op::Mul>(t, table, positions, values);
        case Op::Min: return combine_numbers<Op::Min>(t, table, positions, values);
        case Op::Max: return combine_numbers<Op::Max>(t, table, positions, values);
        case Op::And: return combine_numbers<Op::And>(t, table, positions, values);
        case Op::Or: return combine_numbers<Op::Or>(t, table, positions, values);
        case Op::Xor: return combine_numbers<Op::Xor>(t, table, positions, values);
        default: return false;
    }
}

template <class F>
void for_size(std::int64_t bytes, F f) {
    switch (bytes) {
        case 1: return f.template operator()<std::uint8_t>();
        case 2: return f.template operator()<std::uint16_t>();
        case 4: return f.template operator()<std::uint32_t>();
        default: return f.template operator()<std::uint64_t>();
    }
}

}  // namespace

void host::combine_at(const primitives::Combining& combining, Views in, Views out) {
    const DType t = out[0].dtype, compute = combining.compute;
    if (t == compute && combine_numbers(combining.op, t, out[0], in[0], in[1])) return;
    const Step step{scalar_function(combining.op, compute),
                    t == compute ? nullptr : cast_function(t, compute),
                    t == compute ? nullptr : cast_function(compute, t)};
    for_size(size_of(t), [&]<class T>() {
        for_size(size_of(compute),
                 [&]<class V>() { combine_by_step<T, V>(step, out[0], in[0], in[1]); });
    });
}

bool combines_at(Op op, DType target, DType values) {
    const DType common = promote(target, values);
    op = bool_form(op, common);
    if (is_complex(common) || is_comparison(op) || info(op).arity != 2) return false;
    // Arrays' quotients of infinite operands are made of more than this operation (record.cpp).
    if (op == Op::FloorDiv && is_float(common)) return false;
    const std::optional<DType> t = compute_dtype(op, common);
    return t && scalar_function(op, *t) && result_dtype(op, *t) == *t;
}

void combine_at(Op op, const Array& target, const Array& positions, const Array& values) {
    if (positions.size() == 0) return;
    const DType t = target.dtype(), common = promote(t, values.dtype());
    op = bool_form(op, common);
    const DType compute = *compute_dtype(op, common);
    Array in[] = {packed(positions), packed(astype(values, compute, false))};
    call_into(primitives::combine_at, in, target, {op, compute});
}

}  // namespace unisono::library
