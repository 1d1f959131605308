// Element types: the enum, its properties (from dtype.def) and NumPy's promotion rules.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>

#include "core/half.h"

namespace unisono {

enum class DType : std::uint8_t {
#define UNISONO_DTYPE(Name, ...) Name,
#include "core/dtype.def"
};

inline constexpr int dtype_count = 0
#define UNISONO_DTYPE(...) +1
#include "core/dtype.def"
    ;

/// Those before the complex ones.
inline constexpr int real_dtype_count = 0
#define UNISONO_DTYPE(...) +1
#define UNISONO_COMPLEX_DTYPE(...)
#include "core/dtype.def"
    ;

struct DTypeInfo {
    std::string_view name;
    char kind;  ///< b bool, i signed, u unsigned, f float, c complex
    std::uint8_t bytes;
    std::string_view c_name;
    const char* format;  ///< PEP 3118 format of the buffer protocol
    char letter;         ///< NumPy's one-letter name
};

inline constexpr DTypeInfo dtype_infos[] = {
#define UNISONO_DTYPE(Name, ctype, name, kind, bytes, c_name, format, letter) \
    {name, kind, bytes, c_name, format, letter},
#include "core/dtype.def"
};

constexpr const DTypeInfo& info(DType t) { return dtype_infos[static_cast<int>(t)]; }
constexpr std::int64_t size_of(DType t) { return info(t).bytes; }
constexpr std::string_view name(DType t) { return info(t).name; }
constexpr bool is_float(DType t) { return info(t).kind == 'f'; }
/// Computed in float32 and rounded after each operation.
constexpr bool is_half(DType t) { return t == DType::Float16; }
constexpr bool is_integer(DType t) { return info(t).kind == 'i' || info(t).kind == 'u'; }
constexpr bool is_complex(DType t) { return info(t).kind == 'c'; }
constexpr bool is_signed(DType t) { return info(t).kind == 'i'; }
constexpr bool is_unsigned(DType t) { return info(t).kind == 'u'; }
constexpr bool is_bool(DType t) { return t == DType::Bool; }

/// The dtype of that NumPy name, or -1 cast to DType is never returned: found is set to false.
DType dtype_from_name(std::string_view name, bool& found);

/// The dtype of that kind and size; there must be one.
constexpr DType dtype_of(char kind, std::int64_t bytes) {
    for (int i = 0; i < dtype_count; ++i) {
        if (dtype_infos[i].kind == kind && dtype_infos[i].bytes == bytes)
            return static_cast<DType>(i);
    }
    return DType::Float64;
}

/// That of the parts of a complex dtype; any other dtype itself.
constexpr DType part_dtype(DType t) { return is_complex(t) ? dtype_of('f', size_of(t) / 2) : t; }

/// NumPy's result_type of two dtypes (both of arrays or NumPy scalars).
DType promote(DType a, DType b);

/// Kinds of Python scalars, which adapt to the dtype that they meet (NEP 50).
enum class Weak : std::uint8_t { None, Bool, Int, Float, Complex };

/// The dtype that a Python scalar of that kind takes beside an operand of dtype t.
DType promote_weak(DType t, Weak kind);

/// The dtype of a Python scalar alone: bool, int64, float64 or complex128.
DType default_dtype(Weak kind);

template <DType T>
struct CTypeOf;
#define UNISONO_DTYPE(Name, ctype, ...) \
    template <>                         \
    struct CTypeOf<DType::Name> {       \
        using type = ctype;             \
    };
#include "core/dtype.def"
template <DType T>
using ctype_of = typename CTypeOf<T>::type;

[[noreturn]] void refuse_complex();

/// Calls f.template operator()<ctype>() with the C++ type of t, which must be real: throws
/// Unsupported for complex dtypes.
template <class F>
decltype(auto) dispatch(DType t, F&& f) {
    switch (t) {
        // The formatter would join the #include to the macro.
        // clang-format off
#define UNISONO_DTYPE(Name, ctype, ...) \
    case DType::Name: return f.template operator()<ctype>();
#define UNISONO_COMPLEX_DTYPE(...)
#include "core/dtype.def"
        // clang-format on
        default: break;
    }
    refuse_complex();
}

/// The same for dtypes that C++ computes with: not for float16, which callers turn into float32.
template <class F>
decltype(auto) dispatch_native(DType t, F&& f) {
    switch (t) {
        // clang-format off
#define UNISONO_DTYPE(Name, ctype, ...) \
    case DType::Name: return f.template operator()<ctype>();
#define UNISONO_COMPLEX_DTYPE(...)
#define UNISONO_HALF_DTYPE(...)
#include "core/dtype.def"
        // clang-format on
        default: break;
    }
    refuse_complex();
}

/// The same for all dtypes, and for all but float16.
template <class F>
decltype(auto) dispatch_all(DType t, F&& f) {
    if (t == DType::Complex64) return f.template operator()<std::complex<float>>();
    if (t == DType::Complex128) return f.template operator()<std::complex<double>>();
    return dispatch(t, f);
}
template <class F>
decltype(auto) dispatch_all_native(DType t, F&& f) {
    if (t == DType::Complex64) return f.template operator()<std::complex<float>>();
    if (t == DType::Complex128) return f.template operator()<std::complex<double>>();
    return dispatch_native(t, f);
}

}  // namespace unisono
