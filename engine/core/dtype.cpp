// NumPy's dtype names and promotion rules.
#include "core/dtype.h"

#include <algorithm>

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
    if (is_float(a) != is_float(b)) {
        // float32 holds 8-bit and 16-bit integers exactly; wider ones need float64.
        DType f = is_float(a) ? a : b;
        DType other = is_float(a) ? b : a;
        return size_of(other) <= 2 ? f : DType::Float64;
    }
    return info(a).order > info(b).order ? a : b;
}

DType promote_weak(DType t, Weak kind) {
    switch (kind) {
        case Weak::None:
        case Weak::Bool: return t;
        case Weak::Int: return is_bool(t) ? DType::Int64 : t;
        case Weak::Float: return is_float(t) ? t : DType::Float64;
    }
    return t;
}

DType default_dtype(Weak kind) {
    switch (kind) {
        case Weak::Bool: return DType::Bool;
        case Weak::Int: return DType::Int64;
        default: return DType::Float64;
    }
}

}  // namespace unisono
