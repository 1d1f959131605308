// Functions of one number, and over arrays where there are no vectors for them.
#include "ops/math.h"

#include "core/error.h"
#include "ops/functions/loops.h"
#include "ops/functions/table.h"

namespace unisono::math {
namespace {

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
    fail(ErrorKind::Internal, "math: no function " + std::string(name(op)));
}

template <class T>
void run_each(Op op, Operand<T> x, Operand<T> y, T* out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        T b = y.at == nullptr ? T{0} : y.at[y.is_one ? 0 : i];
        out[i] = call(op, x.at[x.is_one ? 0 : i], b);
    }
}

}  // namespace

double call(Op op, double x, double y) { return call_any(op, x, y); }
float call(Op op, float x, float y) { return call_any(op, x, y); }

void run(Op op, Operand<double> x, Operand<double> y, double* out, std::int64_t count) {
#if defined(__x86_64__)
    if (auto* loop = functions::double_loop(op)) return loop(x, y, out, count);
#endif
    run_each(op, x, y, out, count);
}
void run(Op op, Operand<float> x, Operand<float> y, float* out, std::int64_t count) {
#if defined(__x86_64__)
    if (auto* loop = functions::float_loop(op)) return loop(x, y, out, count);
#endif
    run_each(op, x, y, out, count);
}

}  // namespace unisono::math
