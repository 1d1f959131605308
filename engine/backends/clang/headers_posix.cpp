// Headers that C text includes less often: signals, locales, wide characters, and some of POSIX.
#include "backends/clang/headers.h"

namespace unisono::codegen {

static const Header headers[] = {
    {"signal.h", R"(#pragma once
typedef int sig_atomic_t;
#define SIGHUP 1
#define SIGINT 2
#define SIGILL 4
#define SIGABRT 6
#define SIGFPE 8
#define SIGSEGV 11
#define SIGTERM 15
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_ERR ((void (*)(int))-1)
void (*signal(int, void (*)(int)))(int); int raise(int);
)"},
    {"setjmp.h", R"(#pragma once
typedef struct { long __registers[8]; int __has_mask; unsigned long __mask[16]; } jmp_buf[1];
int _setjmp(jmp_buf) __attribute__((returns_twice));
void longjmp(jmp_buf, int) __attribute__((noreturn));
#define setjmp(buffer) _setjmp(buffer)
)"},
    {"locale.h", R"(#pragma once
#define LC_CTYPE 0
#define LC_NUMERIC 1
#define LC_TIME 2
#define LC_COLLATE 3
#define LC_MONETARY 4
#define LC_ALL 6
char* setlocale(int, const char*);
)"},
    {"fenv.h", R"(#pragma once
typedef struct { unsigned __words[8]; } fenv_t; typedef unsigned short fexcept_t;
#define FE_INVALID 1
#define FE_DIVBYZERO 4
#define FE_OVERFLOW 8
#define FE_UNDERFLOW 16
#define FE_INEXACT 32
#define FE_ALL_EXCEPT 61
#define FE_TONEAREST 0
#define FE_DOWNWARD 0x400
#define FE_UPWARD 0x800
#define FE_TOWARDZERO 0xc00
int feclearexcept(int); int feraiseexcept(int); int fetestexcept(int);
int fegetround(void); int fesetround(int);
int fegetenv(fenv_t*); int fesetenv(const fenv_t*); int feholdexcept(fenv_t*); int feupdateenv(const fenv_t*);
)"},
    {"wchar.h", R"(#pragma once
#include <stddef.h>
typedef unsigned int wint_t;
#define WEOF 0xffffffffu
size_t wcslen(const wchar_t*); wchar_t* wcscpy(wchar_t*, const wchar_t*);
wchar_t* wcsncpy(wchar_t*, const wchar_t*, size_t); wchar_t* wcscat(wchar_t*, const wchar_t*);
int wcscmp(const wchar_t*, const wchar_t*); int wcsncmp(const wchar_t*, const wchar_t*, size_t);
wchar_t* wcschr(const wchar_t*, wchar_t); wchar_t* wcsstr(const wchar_t*, const wchar_t*);
size_t mbstowcs(wchar_t*, const char*, size_t); size_t wcstombs(char*, const wchar_t*, size_t);
)"},
    {"wctype.h", R"(#pragma once
#include <wchar.h>
int iswalpha(wint_t); int iswdigit(wint_t); int iswalnum(wint_t); int iswspace(wint_t);
int iswupper(wint_t); int iswlower(wint_t); int iswpunct(wint_t);
wint_t towlower(wint_t); wint_t towupper(wint_t);
)"},
    {"tgmath.h", R"(#pragma once
#include <complex.h>
#include <math.h>
#define __unisono_real(n, x) _Generic((x), float: n##f, default: n)(x)
#define __unisono_any(n, x) \
    _Generic((x), float: n##f, float complex: c##n##f, double complex: c##n, default: n)(x)
#define __unisono_two(n, x, y) _Generic((x) + (y), float: n##f, default: n)(x, y)
#define sin(x) __unisono_any(sin, x)
#define cos(x) __unisono_any(cos, x)
#define tan(x) __unisono_any(tan, x)
#define sinh(x) __unisono_any(sinh, x)
#define cosh(x) __unisono_any(cosh, x)
#define tanh(x) __unisono_any(tanh, x)
#define asin(x) __unisono_any(asin, x)
#define acos(x) __unisono_any(acos, x)
#define atan(x) __unisono_any(atan, x)
#define exp(x) __unisono_any(exp, x)
#define log(x) __unisono_any(log, x)
#define sqrt(x) __unisono_any(sqrt, x)
#define fabs(x) _Generic((x), float: fabsf, float complex: cabsf, double complex: cabs, default: fabs)(x)
#define exp2(x) __unisono_real(exp2, x)
#define expm1(x) __unisono_real(expm1, x)
#define log2(x) __unisono_real(log2, x)
#define log10(x) __unisono_real(log10, x)
#define log1p(x) __unisono_real(log1p, x)
#define cbrt(x) __unisono_real(cbrt, x)
#define floor(x) __unisono_real(floor, x)
#define ceil(x) __unisono_real(ceil, x)
#define trunc(x) __unisono_real(trunc, x)
#define round(x) __unisono_real(round, x)
#define rint(x) __unisono_real(rint, x)
#define erf(x) __unisono_real(erf, x)
#define erfc(x) __unisono_real(erfc, x)
#define tgamma(x) __unisono_real(tgamma, x)
#define lgamma(x) __unisono_real(lgamma, x)
#define atan2(x, y) __unisono_two(atan2, x, y)
#define hypot(x, y) __unisono_two(hypot, x, y)
#define fmod(x, y) __unisono_two(fmod, x, y)
#define fmax(x, y) __unisono_two(fmax, x, y)
#define fmin(x, y) __unisono_two(fmin, x, y)
#define copysign(x, y) __unisono_two(copysign, x, y)
#define pow(x, y) _Generic((x) + (y), float: powf, float complex: cpowf, double complex: cpow, default: pow)(x, y)
)"},
    {"strings.h", R"(#pragma once
#include <stddef.h>
int strcasecmp(const char*, const char*); int strncasecmp(const char*, const char*, size_t);
void bzero(void*, size_t); int ffs(int);
)"},
    {"memory.h", "#pragma once\n#include <string.h>\n"},
    {"malloc.h", "#pragma once\n#include <stdlib.h>\n"},
    {"sys/types.h", R"(#pragma once
#include <stddef.h>
typedef long ssize_t; typedef long off_t; typedef int pid_t; typedef unsigned int uid_t, gid_t, mode_t;
)"},
    {"sys/time.h", R"(#pragma once
#include <time.h>
struct timeval { long tv_sec; long tv_usec; };
int gettimeofday(struct timeval*, void*);
)"},
    {"unistd.h", R"(#pragma once
#include <sys/types.h>
pid_t getpid(void); unsigned int sleep(unsigned int); int usleep(unsigned int);
ssize_t read(int, void*, size_t); ssize_t write(int, const void*, size_t); int close(int); int unlink(const char*);
)"},
};

std::span<const Header> more_headers() { return headers; }

}  // namespace unisono::codegen
