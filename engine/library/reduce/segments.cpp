// Each segment is reduced as a vector of its own; threads share segments.
#include "library/reduce/segments.h"

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/lanes.h"
#include "library/reduce/combine_pair.h"
#include "ops/reduction_tree.h"
#include "primitives/primitive.h"
#include "tape/record/float_errors.h"
#include "tape/record/record.h"

namespace unisono::library {

namespace {

template <Op op, class T>
T reduced(const T* x, std::int64_t count) {
    auto combined = [](T a, T b) { return combine<op, T>(a, b); };
    if (count <= reduction::lanes)
        return reduction::combine_short_leaf(x, static_cast<int>(count), combined);
    if (count <= reduction::leaf_elements) return reduction::combine_leaf(x, count, combined);
    reduction::TreeFold<T, decltype(combined)> fold(combined);
    for (std::int64_t k = 0; k < count; k += reduction::leaf_elements) {
        const std::int64_t leaf = std::min(reduction::leaf_elements, count - k);
        fold.push(reduction::combine_leaf(x + k, leaf, combined));
    }
    return fold.result();
}

template <Op op>
void reduce_all(const View& in, const View& begins, const View& out) {
    const auto* at = elements<const std::int64_t>(begins);
    const std::int64_t n = in.layout->size(), count = out.layout->size();
    const std::int64_t grain = std::max<std::int64_t>(1, limits::thread_elements / (n / count + 1));
    dispatch_all_native(out.dtype, [&]<class T>() {
        constexpr bool bits = op == Op::And || op == Op::Or || op == Op::Xor;
        if constexpr (!bits || std::integral<T>) {
            const T* x = elements<const T>(in);
            T* to = elements<T>(out);
            parallel_for(0, count, grain, [=](std::int64_t first, std::int64_t last) {
                for (std::int64_t k = first; k < last; ++k) {
                    const std::int64_t end = k + 1 < count ? at[k + 1] : n;
                    to[k] = reduced<op, T>(x + at[k], std::max<std::int64_t>(1, end - at[k]));
                }
            });
        }
    });
}

}  // namespace

void host::reduce_segments(const primitives::Segments& segments, Views in, Views outs) {
    const View& out = outs[0];
    switch (segments.op) {
        case Op::Add: return reduce_all<Op::Add>(in[0], in[1], out);
        case Op::Mul: return reduce_all<Op::Mul>(in[0], in[1], out);
        case Op::Min: return reduce_all<Op::Min>(in[0], in[1], out);
        case Op::Max: return reduce_all<Op::Max>(in[0], in[1], out);
        case Op::And: return reduce_all<Op::And>(in[0], in[1], out);
        case Op::Or: return reduce_all<Op::Or>(in[0], in[1], out);
        default: return reduce_all<Op::Xor>(in[0], in[1], out);
    }
}

Array reduce_segments(Op op, const Array& a, const Array& begins, std::optional<DType> dtype) {
    if (float_errors::is_checked()) [[unlikely]] {
        float_errors::Unchecked guard;
        Array made = reduce_segments(op, a, begins, dtype);
        float_errors::check_reduction(a, made, "reduceat");
        return made;
    }
    DType t = reduced_dtype(op, a.dtype(), dtype);
    // In float32 to the end, then rounded.
    if (is_half(t)) return astype(reduce_segments(op, a, begins, DType::Float32), t, false);
    Array in[] = {packed(astype(a, t, false)), packed(begins)};
    return call(primitives::reduce_segments, in, {op});
}

}  // namespace unisono::library
