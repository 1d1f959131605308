// Finds SLEEF's scalar finz functions at first use.
#include "ops/math.h"

#include <dlfcn.h>

#include "core/error.h"

namespace unisono::math {
namespace {

struct Functions {
    double (*exp_d)(double) = nullptr;
    float (*exp_f)(float) = nullptr;
    double (*sin_d)(double) = nullptr;
    float (*sin_f)(float) = nullptr;
    bool complete = false;
};

template <class F>
bool find(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    return function != nullptr;
}

const Functions& functions() {
    // The library stays open: compiled kernels call into it until the process ends.
    static const Functions found = [] {
        Functions f;
        if (void* library = dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL)) {
            f.complete = find(library, "Sleef_finz_expd1_u10purecfma", f.exp_d) &&
                         find(library, "Sleef_finz_expf1_u10purecfma", f.exp_f) &&
                         find(library, "Sleef_finz_sind1_u10purecfma", f.sin_d) &&
                         find(library, "Sleef_finz_sinf1_u10purecfma", f.sin_f);
        }
        return f;
    }();
    return found;
}

const Functions& present() {
    const Functions& f = functions();
    if (!f.complete) {
        fail(ErrorKind::Device,
             "exp, sin: the library libsleef.so.3 (3.5 or later, with FMA) is missing; install "
             "libsleef3");
    }
    return f;
}

}  // namespace

bool available() { return functions().complete; }
double exp(double x) { return present().exp_d(x); }
float exp(float x) { return present().exp_f(x); }
double sin(double x) { return present().sin_d(x); }
float sin(float x) { return present().sin_f(x); }

}  // namespace unisono::math
