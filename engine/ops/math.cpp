// Finds SLEEF's scalar finz functions at first use.
#include "ops/math.h"

#include <dlfcn.h>

#include "core/error.h"
#include "ops/math_library.h"

namespace unisono::math {
namespace {

struct Functions {
    double (*exp_d)(double) = nullptr;
    float (*exp_f)(float) = nullptr;
    double (*sin_d)(double) = nullptr;
    float (*sin_f)(float) = nullptr;
    bool complete = false;
};

const Functions& functions() {
    static const Functions found = [] {
        Functions f;
        f.complete = find_function("Sleef_finz_expd1_u10purecfma", f.exp_d) &&
                     find_function("Sleef_finz_expf1_u10purecfma", f.exp_f) &&
                     find_function("Sleef_finz_sind1_u10purecfma", f.sin_d) &&
                     find_function("Sleef_finz_sinf1_u10purecfma", f.sin_f);
        return f;
    }();
    return found;
}

const Functions& present() {
    require();
    return functions();
}

}  // namespace

void* library() {
    // The library stays open: compiled kernels call into it until the process ends.
    static void* const handle = dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL);
    return handle;
}

bool available() { return functions().complete; }

void require() {
    if (!available()) {
        fail(ErrorKind::Unsupported,
             "exp, sin: the library libsleef.so.3 is missing or lacks its finz functions; got none "
             "by that name; expected 3.5 or later; install the package libsleef3");
    }
}

double exp(double x) { return present().exp_d(x); }
float exp(float x) { return present().exp_f(x); }
double sin(double x) { return present().sin_d(x); }
float sin(float x) { return present().sin_f(x); }

}  // namespace unisono::math
