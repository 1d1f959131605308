// Our functions over arrays in vectors of 4 float64, and the choice between instruction sets.
#if defined(__x86_64__)

#include "core/processor.h"

#define UNISONO_LANES 4
#include "ops/functions/loops_body.h"

namespace unisono::functions {

namespace {

template <Op O>
__m128d long_pair(__m128d x, __m128d otherwise) {
    double a[2], b[2];
    _mm_storeu_pd(a, x);
    _mm_storeu_pd(b, otherwise);
    for (int l = 0; l < 2; ++l) b[l] = math::call(O, a[l], b[l]);
    return _mm_loadu_pd(b);
}

template <Op O>
double long_single(double x, double otherwise) {
    return math::call(O, x, otherwise);
}

template <bool Narrow>
double power_single(double x, double y) {
    const bool is_few = has_few_factors<Narrow>(x, y) && is_product(y);
    return is_few ? power_by_few_products<Narrow>(x, y) : pow<Narrow>(x, y);
}
template <bool Narrow>
__m128d power_pair(__m128d x, __m128d y) {
    return __m128d{pow<Narrow>(x[0], y[0]), pow<Narrow>(x[1], y[1])};
}

}  // namespace

Loop<double> double_loop_avx2(Op op) { return loop_for<double>(op); }
Loop<float> float_loop_avx2(Op op) { return loop_for<float>(op); }

void* long_form_avx2(Op op) {
    switch (op) {
        case Op::SinLong: return reinterpret_cast<void*>(&long_lanes<Op::Sin>);
        case Op::CosLong: return reinterpret_cast<void*>(&long_lanes<Op::Cos>);
        default: return reinterpret_cast<void*>(&long_lanes<Op::Tan>);
    }
}

Loop<double> double_loop(Op op) {
    return has_avx512() ? double_loop_avx512(op) : double_loop_avx2(op);
}
Loop<float> float_loop(Op op) { return has_avx512() ? float_loop_avx512(op) : float_loop_avx2(op); }

template <Op O>
static void* long_form_of(std::string_view lanes_text) {
    if (lanes_text == "_8") return long_form_avx512(O);
    if (lanes_text == "_4") return long_form_avx2(O);
    if (lanes_text == "_2") return reinterpret_cast<void*>(&long_pair<O>);
    return lanes_text == "_1" ? reinterpret_cast<void*>(&long_single<O>) : nullptr;
}

void* power_avx2(bool narrow) {
    return narrow ? reinterpret_cast<void*>(&power_lanes<true>)
                  : reinterpret_cast<void*>(&power_lanes<false>);
}

template <bool Narrow>
static void* power_of(std::string_view lanes_text) {
    if (lanes_text == "_8") return power_avx512(Narrow);
    if (lanes_text == "_4") return power_avx2(Narrow);
    if (lanes_text == "_2") return reinterpret_cast<void*>(&power_pair<Narrow>);
    return lanes_text == "_1" ? reinterpret_cast<void*>(&power_single<Narrow>) : nullptr;
}

void* called_function(std::string_view name) {
    auto ends = [&](std::string_view stem) { return name.substr(stem.size()); };
    constexpr std::string_view power = "unisono_power", narrow = "_narrow";
    if (name.starts_with(power)) {
        const std::string_view rest = ends(power);
        return rest.starts_with(narrow) ? power_of<true>(rest.substr(narrow.size()))
                                        : power_of<false>(rest);
    }
    if (name.starts_with("unisono_sin_long"))
        return long_form_of<Op::SinLong>(ends("unisono_sin_long"));
    if (name.starts_with("unisono_cos_long"))
        return long_form_of<Op::CosLong>(ends("unisono_cos_long"));
    if (name.starts_with("unisono_tan_long"))
        return long_form_of<Op::TanLong>(ends("unisono_tan_long"));
    return nullptr;
}

}  // namespace unisono::functions

#endif
