// Declarations for x86-64 Linux with glibc, written from the C11 standard and the ABI.
#include "backends/clang/headers.h"

namespace unisono::codegen {

static const Header headers[] = {
    {"stddef.h", R"(#pragma once
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __WCHAR_TYPE__ wchar_t;
typedef struct { long long __a __attribute__((aligned(8))); long double __b; } max_align_t;
#define NULL ((void*)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
)"},
    {"stdarg.h", R"(#pragma once
typedef __builtin_va_list va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_copy(to, from) __builtin_va_copy(to, from)
)"},
    {"stdbool.h", R"(#pragma once
#define bool _Bool
#define true 1
#define false 0
#define __bool_true_false_are_defined 1
)"},
    {"stdalign.h", R"(#pragma once
#define alignas _Alignas
#define alignof _Alignof
)"},
    {"stdnoreturn.h", "#pragma once\n#define noreturn _Noreturn\n"},
    {"iso646.h", R"(#pragma once
#define and &&
#define or ||
#define not !
#define xor ^
#define bitand &
#define bitor |
#define compl ~
#define and_eq &=
#define or_eq |=
#define xor_eq ^=
#define not_eq !=
)"},
    {"stdint.h", R"(#pragma once
typedef signed char int8_t; typedef unsigned char uint8_t;
typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t;
typedef long int64_t; typedef unsigned long uint64_t;
typedef int8_t int_least8_t; typedef uint8_t uint_least8_t;
typedef int16_t int_least16_t; typedef uint16_t uint_least16_t;
typedef int32_t int_least32_t; typedef uint32_t uint_least32_t;
typedef int64_t int_least64_t; typedef uint64_t uint_least64_t;
typedef int8_t int_fast8_t; typedef uint8_t uint_fast8_t;
typedef long int_fast16_t; typedef unsigned long uint_fast16_t;
typedef long int_fast32_t; typedef unsigned long uint_fast32_t;
typedef long int_fast64_t; typedef unsigned long uint_fast64_t;
typedef long intptr_t; typedef unsigned long uintptr_t;
typedef long intmax_t; typedef unsigned long uintmax_t;
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_MIN (-INT64_MAX - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
#define INTPTR_MAX INT64_MAX
#define INTPTR_MIN INT64_MIN
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MAX INT64_MAX
#define INTMAX_MIN INT64_MIN
#define UINTMAX_MAX UINT64_MAX
#define SIZE_MAX UINT64_MAX
#define PTRDIFF_MAX INT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define INT8_C(x) x
#define INT16_C(x) x
#define INT32_C(x) x
#define INT64_C(x) x##L
#define UINT8_C(x) x
#define UINT16_C(x) x
#define UINT32_C(x) x##U
#define UINT64_C(x) x##UL
)"},
    {"inttypes.h", R"(#pragma once
#include <stdint.h>
#define PRId8 "d"
#define PRId16 "d"
#define PRId32 "d"
#define PRId64 "ld"
#define PRIi64 "li"
#define PRIu8 "u"
#define PRIu16 "u"
#define PRIu32 "u"
#define PRIu64 "lu"
#define PRIx8 "x"
#define PRIx16 "x"
#define PRIx32 "x"
#define PRIx64 "lx"
#define SCNd64 "ld"
#define SCNu64 "lu"
)"},
    {"limits.h", R"(#pragma once
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
#define PATH_MAX 4096
)"},
    {"float.h", R"(#pragma once
#define FLT_RADIX __FLT_RADIX__
#define FLT_MANT_DIG __FLT_MANT_DIG__
#define DBL_MANT_DIG __DBL_MANT_DIG__
#define FLT_DIG __FLT_DIG__
#define DBL_DIG __DBL_DIG__
#define FLT_MIN __FLT_MIN__
#define DBL_MIN __DBL_MIN__
#define FLT_MAX __FLT_MAX__
#define DBL_MAX __DBL_MAX__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_EPSILON __DBL_EPSILON__
#define FLT_MIN_EXP __FLT_MIN_EXP__
#define FLT_MAX_EXP __FLT_MAX_EXP__
#define DBL_MIN_EXP __DBL_MIN_EXP__
#define DBL_MAX_EXP __DBL_MAX_EXP__
)"},
    {"assert.h", R"(#undef assert
void __assert_fail(const char*, const char*, unsigned, const char*) __attribute__((noreturn));
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : __assert_fail(#e, __FILE__, __LINE__, __func__))
#endif
#define static_assert _Static_assert
)"},
    {"errno.h", R"(#pragma once
int* __errno_location(void) __attribute__((const));
#define errno (*__errno_location())
#define EDOM 33
#define ERANGE 34
#define EINVAL 22
#define ENOMEM 12
)"},
    {"ctype.h", R"(#pragma once
int isalnum(int); int isalpha(int); int isblank(int); int iscntrl(int); int isdigit(int);
int isgraph(int); int islower(int); int isprint(int); int ispunct(int); int isspace(int);
int isupper(int); int isxdigit(int); int tolower(int); int toupper(int);
)"},
    {"stdlib.h", R"(#pragma once
#include <stddef.h>
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
void* malloc(size_t); void* calloc(size_t, size_t); void* realloc(void*, size_t); void free(void*);
void* aligned_alloc(size_t, size_t);
int posix_memalign(void**, size_t, size_t);
int rand(void); void srand(unsigned); int rand_r(unsigned*); long random(void); void srandom(unsigned);
double drand48(void); void srand48(long);
int abs(int); long labs(long); long long llabs(long long);
div_t div(int, int); ldiv_t ldiv(long, long); lldiv_t lldiv(long long, long long);
double atof(const char*); int atoi(const char*); long atol(const char*); long long atoll(const char*);
double strtod(const char*, char**); float strtof(const char*, char**);
long strtol(const char*, char**, int); unsigned long strtoul(const char*, char**, int);
long long strtoll(const char*, char**, int); unsigned long long strtoull(const char*, char**, int);
void qsort(void*, size_t, size_t, int (*)(const void*, const void*));
void* bsearch(const void*, const void*, size_t, size_t, int (*)(const void*, const void*));
void abort(void) __attribute__((noreturn)); void exit(int) __attribute__((noreturn));
int atexit(void (*)(void)); char* getenv(const char*); int system(const char*);
)"},
    {"string.h", R"(#pragma once
#include <stddef.h>
void* memcpy(void* restrict, const void* restrict, size_t); void* memmove(void*, const void*, size_t);
void* memset(void*, int, size_t); int memcmp(const void*, const void*, size_t);
void* memchr(const void*, int, size_t);
size_t strlen(const char*); size_t strnlen(const char*, size_t);
char* strcpy(char* restrict, const char* restrict); char* strncpy(char* restrict, const char* restrict, size_t);
char* strcat(char* restrict, const char* restrict); char* strncat(char* restrict, const char* restrict, size_t);
int strcmp(const char*, const char*); int strncmp(const char*, const char*, size_t);
char* strchr(const char*, int); char* strrchr(const char*, int); char* strstr(const char*, const char*);
size_t strspn(const char*, const char*); size_t strcspn(const char*, const char*);
char* strpbrk(const char*, const char*); char* strtok(char* restrict, const char* restrict);
char* strdup(const char*); char* strerror(int);
)"},
    {"stdio.h", R"(#pragma once
#include <stdarg.h>
#include <stddef.h>
typedef struct _IO_FILE FILE;
extern FILE *stdin, *stdout, *stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr
#define EOF (-1)
#define BUFSIZ 8192
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
int printf(const char* restrict, ...) __attribute__((format(printf, 1, 2)));
int fprintf(FILE* restrict, const char* restrict, ...) __attribute__((format(printf, 2, 3)));
int sprintf(char* restrict, const char* restrict, ...) __attribute__((format(printf, 2, 3)));
int snprintf(char* restrict, size_t, const char* restrict, ...) __attribute__((format(printf, 3, 4)));
int vprintf(const char*, va_list); int vfprintf(FILE*, const char*, va_list);
int vsnprintf(char*, size_t, const char*, va_list);
int scanf(const char* restrict, ...); int sscanf(const char* restrict, const char* restrict, ...);
int fscanf(FILE* restrict, const char* restrict, ...);
int puts(const char*); int putchar(int); int fputs(const char*, FILE*); int fputc(int, FILE*);
int getchar(void); int fgetc(FILE*); char* fgets(char*, int, FILE*);
FILE* fopen(const char*, const char*); int fclose(FILE*); int fflush(FILE*);
size_t fread(void*, size_t, size_t, FILE*); size_t fwrite(const void*, size_t, size_t, FILE*);
int fseek(FILE*, long, int); long ftell(FILE*); void rewind(FILE*); int feof(FILE*); int ferror(FILE*);
int remove(const char*); int rename(const char*, const char*); void perror(const char*);
)"},
    {"time.h", R"(#pragma once
#include <stddef.h>
typedef long time_t; typedef long clock_t;
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
            long tm_gmtoff; const char* tm_zone; };
struct timespec { time_t tv_sec; long tv_nsec; };
#define CLOCKS_PER_SEC 1000000L
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
time_t time(time_t*); clock_t clock(void); double difftime(time_t, time_t);
int clock_gettime(int, struct timespec*);
struct tm* localtime(const time_t*); struct tm* gmtime(const time_t*); time_t mktime(struct tm*);
size_t strftime(char*, size_t, const char*, const struct tm*);
)"},
    {"math.h", R"(#pragma once
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
typedef float float_t; typedef double double_t;
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define fpclassify(x) __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x)
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf_sign(x)
#define isfinite(x) __builtin_isfinite(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x) __builtin_signbit(x)
#define isgreater(x, y) __builtin_isgreater(x, y)
#define isgreaterequal(x, y) __builtin_isgreaterequal(x, y)
#define isless(x, y) __builtin_isless(x, y)
#define islessequal(x, y) __builtin_islessequal(x, y)
#define islessgreater(x, y) __builtin_islessgreater(x, y)
#define isunordered(x, y) __builtin_isunordered(x, y)
#define __UNARY(n) double n(double); float n##f(float);
#define __BINARY(n) double n(double, double); float n##f(float, float);
__UNARY(sin) __UNARY(cos) __UNARY(tan) __UNARY(asin) __UNARY(acos) __UNARY(atan) __BINARY(atan2)
__UNARY(sinh) __UNARY(cosh) __UNARY(tanh) __UNARY(asinh) __UNARY(acosh) __UNARY(atanh)
__UNARY(exp) __UNARY(exp2) __UNARY(expm1) __UNARY(log) __UNARY(log2) __UNARY(log10) __UNARY(log1p)
__UNARY(logb) __BINARY(pow) __UNARY(sqrt) __UNARY(cbrt) __BINARY(hypot) __UNARY(fabs)
__UNARY(floor) __UNARY(ceil) __UNARY(trunc) __UNARY(round) __UNARY(rint) __UNARY(nearbyint)
__BINARY(fmod) __BINARY(remainder) __BINARY(copysign) __BINARY(nextafter) __BINARY(fdim)
__BINARY(fmax) __BINARY(fmin) __UNARY(erf) __UNARY(erfc) __UNARY(tgamma) __UNARY(lgamma)
__UNARY(j0) __UNARY(j1) __UNARY(y0) __UNARY(y1)
#undef __UNARY
#undef __BINARY
double fma(double, double, double); float fmaf(float, float, float);
double ldexp(double, int); float ldexpf(float, int); double frexp(double, int*); float frexpf(float, int*);
double modf(double, double*); float modff(float, float*); double scalbn(double, int); int ilogb(double);
long lround(double); long long llround(double); long lrint(double); long long llrint(double);
long lroundf(float); long lrintf(float); double nan(const char*);
double j0(double); double j1(double); double jn(int, double);
double y0(double); double y1(double); double yn(int, double);
)"},
    {"complex.h", R"(#pragma once
#define complex _Complex
#define _Complex_I ((float _Complex){0.0f, 1.0f})
#define I _Complex_I
#define __REAL(n) double n(double complex); float n##f(float complex);
#define __UNARY(n) double complex n(double complex); float complex n##f(float complex);
__REAL(creal) __REAL(cimag) __REAL(cabs) __REAL(carg)
__UNARY(conj) __UNARY(cproj) __UNARY(cexp) __UNARY(clog) __UNARY(csqrt)
__UNARY(csin) __UNARY(ccos) __UNARY(ctan) __UNARY(casin) __UNARY(cacos) __UNARY(catan)
__UNARY(csinh) __UNARY(ccosh) __UNARY(ctanh) __UNARY(casinh) __UNARY(cacosh) __UNARY(catanh)
#undef __REAL
#undef __UNARY
double complex cpow(double complex, double complex); float complex cpowf(float complex, float complex);
)"},
};

std::span<const Header> standard_headers() { return headers; }

}  // namespace unisono::codegen
