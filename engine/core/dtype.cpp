// NumPy's dtype names and promotion rules.
#include "core/dtype.h"

#include "core/error.h"
#include "core/promotion.h"

namespace unisono {

DType dtype_from_name(std::string_view wanted, bool& found) {
    for (int i = 0; i < dtype_count; ++i) {
        if (dtype_infos[i].name == wanted) {
            found = true;
            return static_cast<DType>(i);
        }
    }
    found = false;
    return DType::Float64;
}

DType promote(DType a, DType b) {
    if (a == b) return a;
    if (is_bool(a)) return b;
    if (is_bool(b)) return a;
    if (is_complex(a) || is_complex(b)) {
        DType part = promote(part_dtype(a), part_dtype(b));
        bool single = is_float(part) && size_of(part) <= 4;
        return single ? DType::Complex64 : DType::Complex128;
    }
    if (is_float(a) || is_float(b)) {
        // A float of twice the size holds every integer; beyond 32 bits float64 has to do.
        auto float_of = [](DType t) {
            if (is_float(t)) return t;
            return size_of(t) == 1   ? DType::Float16
                   : size_of(t) == 2 ? DType::Float32
                                     : DType::Float64;
        };
        DType x = float_of(a), y = float_of(b);
        return size_of(x) >= size_of(y) ? x : y;
    }
    if (info(a).kind == info(b).kind) return size_of(a) > size_of(b) ? a : b;
    DType with_sign = is_signed(a) ? a : b, without = is_signed(a) ? b : a;
    if (size_of(with_sign) > size_of(without)) return with_sign;
    return size_of(without) == 8 ? DType::Float64 : dtype_of('i', 2 * size_of(without));
}

DType promote(std::span<const DType> all) {
    UNISONO_ASSERT(!all.empty());
    auto is_inexact = [](DType t) { return is_float(t) || is_complex(t); };
    DType common = DType::Bool;  // which changes no other
    for (DType t : all) {
        if (is_inexact(t)) common = promote(common, t);
    }
    for (DType t : all) {
        if (!is_inexact(t)) common = promote(common, t);
    }
    return common;
}

DType promote_weak(DType t, Weak kind) {
    switch (kind) {
        case Weak::None:
        case Weak::Bool: return t;
        case Weak::Int: return is_bool(t) ? DType::Int64 : t;
        case Weak::Float: return is_float(t) || is_complex(t) ? t : DType::Float64;
        case Weak::Complex: return promote(DType::Complex64, promote_weak(t, Weak::Float));
    }
    return t;
}

DType default_dtype(Weak kind) {
    switch (kind) {
        case Weak::Bool: return DType::Bool;
        case Weak::Int: return DType::Int64;
        case Weak::Complex: return DType::Complex128;
        default: return DType::Float64;
    }
}

void refuse_complex() {
    fail(ErrorKind::Unsupported,
         "this operation is not supported for complex dtypes; work on .real and .imag, or convert "
         "with "
         "np.asarray");
}

}  // namespace unisono
