// The C headers as C++ takes them, and those of C++ that only give their names a namespace. What
// has classes or templates comes from the system, where it has them.
#include "backends/clang/headers.h"

namespace unisono::codegen {

static const Header headers[] = {
    {"cstddef", R"(#pragma once
#include <stddef.h>
namespace std { using ::size_t; using ::ptrdiff_t; using ::max_align_t; using nullptr_t = decltype(nullptr); }
)"},
    {"cstdint", R"(#pragma once
#include <stdint.h>
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::intptr_t; using ::intmax_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; using ::uintmax_t;
}
)"},
    {"cstdlib", R"(#pragma once
#include <stdlib.h>
namespace std {
using ::malloc; using ::calloc; using ::realloc; using ::free; using ::abs; using ::labs; using ::rand; using ::srand;
using ::abort; using ::exit; using ::atoi; using ::atof; using ::strtod; using ::strtol; using ::qsort; using ::size_t;
inline double abs(double x) { return __builtin_fabs(x); }
inline float abs(float x) { return __builtin_fabsf(x); }
}
)"},
    {"cstring", R"(#pragma once
#include <string.h>
namespace std {
using ::memcpy; using ::memmove; using ::memset; using ::memcmp; using ::strlen; using ::strcpy; using ::strncpy;
using ::strcmp; using ::strncmp; using ::strchr; using ::strstr; using ::size_t;
}
)"},
    {"cstdio", R"(#pragma once
#include <stdio.h>
namespace std { using ::printf; using ::fprintf; using ::snprintf; using ::puts; using ::putchar; using ::fflush; }
)"},
    {"climits", "#pragma once\n#include <limits.h>\n"},
    {"cfloat", "#pragma once\n#include <float.h>\n"},
    {"cassert", "#include <assert.h>\n"},
    {"cmath", R"(#pragma once
#include <math.h>
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
namespace std {
#define __UNARY(n) using ::n; inline float n(float x) { return ::n##f(x); }
#define __BINARY(n) using ::n; inline float n(float x, float y) { return ::n##f(x, y); }
__UNARY(sin) __UNARY(cos) __UNARY(tan) __UNARY(asin) __UNARY(acos) __UNARY(atan) __BINARY(atan2)
__UNARY(sinh) __UNARY(cosh) __UNARY(tanh) __UNARY(asinh) __UNARY(acosh) __UNARY(atanh)
__UNARY(exp) __UNARY(exp2) __UNARY(expm1) __UNARY(log) __UNARY(log2) __UNARY(log10) __UNARY(log1p)
__BINARY(pow) __UNARY(sqrt) __UNARY(cbrt) __BINARY(hypot) __UNARY(fabs)
__UNARY(floor) __UNARY(ceil) __UNARY(trunc) __UNARY(round) __UNARY(rint) __UNARY(nearbyint)
__BINARY(fmod) __BINARY(remainder) __BINARY(copysign) __BINARY(fmax) __BINARY(fmin) __BINARY(fdim)
__UNARY(erf) __UNARY(erfc) __UNARY(tgamma) __UNARY(lgamma)
#undef __UNARY
#undef __BINARY
using ::ldexp; using ::frexp; using ::fma; using ::lround;
inline int abs(int x) { return x < 0 ? -x : x; }
inline long abs(long x) { return x < 0 ? -x : x; }
inline double abs(double x) { return __builtin_fabs(x); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }
}
)"},
};

std::span<const Header> cpp_headers() { return headers; }

std::string header_for_cpp(const Header& header) {
    std::string name = header.name, text = header.text;
    // Words of the language there.
    for (const char* odd : {"stdbool.h", "stdalign.h", "stdnoreturn.h", "iso646.h"}) {
        if (name == odd) return "#pragma once\n";
    }
    if (name == "stddef.h") {
        return R"(#pragma once
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __WINT_TYPE__ wint_t;
#ifndef _GXX_MAX_ALIGN_T
typedef struct { long long __a __attribute__((aligned(8))); long double __b; } max_align_t;
#endif
#define NULL __null
#define offsetof(type, member) __builtin_offsetof(type, member)
)";
    }
    if (name == "stdarg.h") text += "typedef __builtin_va_list __gnuc_va_list;\n";
    if (name == "complex.h") return "#error \"complex.h is C's; use pairs of numbers\"\n";
    if (name == "limits.h" || name == "float.h") return text;
    return "#define restrict __restrict\n#define _Static_assert static_assert\nextern \"C\" {\n" +
           text + "}\n#undef restrict\n";
}

}  // namespace unisono::codegen
