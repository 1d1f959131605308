// Functions of one number: our own, and SLEEF's scalar finz functions, found at first use.
#include "ops/math.h"

#include <dlfcn.h>

#include "core/error.h"
#include "ops/functions/table.h"
#include "ops/math_library.h"

namespace unisono::math {
namespace {

template <class T>
struct Scalars {
    union Function {
        T (*unary)(T);
        T (*binary)(T, T);
    };
    Function of[op_count] = {};
    bool complete = true;

    Scalars() {
        for (int k = 0; k < op_count; ++k) {
            Op op = static_cast<Op>(k);
            if (!is_math(op) || functions::is_own(op)) continue;
            std::string name = library_name(op, sizeof(T) == 8 ? 'd' : 'f', 1, "purecfma");
            complete = find_function(name.c_str(), of[k].unary) && complete;
        }
    }
};

template <class T>
const Scalars<T>& scalars() {
    static const Scalars<T> found;
    return found;
}

template <class T>
T call_any(Op op, T x, T y) {
    switch (op) {
        // clang-format off
#define UNISONO_FUNCTION(Name, name) \
    case Op::Name: return functions::scalar_value<Op::Name>(x, y);
#define UNISONO_FUNCTION2(Name, name) \
    case Op::Name: return functions::scalar_value<Op::Name>(x, y);
#define UNISONO_ANGLE(Name, name, Long)                            \
    case Op::Name: return functions::scalar_value<Op::Name>(x, y); \
    case Op::Long: return functions::scalar_value<Op::Long>(x, y);
#include "ops/functions/functions.def"
        // clang-format on
        default: break;
    }
    require(op);
    auto f = scalars<T>().of[static_cast<std::size_t>(op)];
    return info(op).arity == 1 ? f.unary(x) : f.binary(x, y);
}

}  // namespace

void* library() {
    // The library stays open: compiled kernels call into it until the process ends.
    static void* const handle = dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL);
    return handle;
}

std::string library_name(Op op, char letter, int lanes, const char* extension) {
    std::string stem(op == Op::Power ? "pow" : name(op));
    return "Sleef_finz_" + stem + letter + std::to_string(lanes) +
           (op == Op::Hypot ? "_u05" : "_u10") + extension;
}

bool available() { return scalars<double>().complete && scalars<float>().complete; }

bool is_present(Op op) { return functions::is_own(op) || available(); }

void require(Op op) {
    if (!is_present(op)) {
        fail(ErrorKind::Unsupported,
             "mathematical functions: the library libsleef.so.3 is missing or lacks its finz "
             "functions; got none by that name; expected 3.5 or later; install the package "
             "libsleef3");
    }
}

double call(Op op, double x, double y) { return call_any(op, x, y); }
float call(Op op, float x, float y) { return call_any(op, x, y); }

}  // namespace unisono::math
