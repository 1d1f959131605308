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

void* long_form_symbol(std::string_view name) {
    auto ends = [&](std::string_view stem) { return name.substr(stem.size()); };
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
