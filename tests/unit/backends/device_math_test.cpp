// What is written for PTX, run on the host: fmod, exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "backends/backend.h"
#include "backends/codegen/plugin.h"
#include "backends/cpu/loader.h"
#include "backends/cpu/runtime.h"
#include "ir/build.h"
#include "ops/scalar_eval.h"
#include "passes/lower.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// out[i] = op(a[i], b[i]), with the functions written for PTX.
template <class T>
std::vector<T> run(Op op, DType t, std::vector<T> a, std::vector<T> b) {
    Module m;
    Builder builder(m.functions.emplace_back("f"));
    auto x = builder.array_param("a", t, 1, false), y = builder.array_param("b", t, 1, false);
    auto out = builder.array_param("out", t, 1, true);
    auto i = builder.var("i", DType::Int64);
    E at[] = {builder.read(i)};
    E value = info(op).arity == 1 ? builder.unary(op, builder.load(x, at))
                                  : builder.binary(op, builder.load(x, at), builder.load(y, at));
    builder.function().body =
        builder.block({builder.loop(LoopKind::Serial, i, builder.i64(0), builder.extent(out, 0),
                                    builder.i64(1), builder.store(out, at, value))});
    passes::lower(m, {});
    codegen::Target target;
    target.portable_math = true;
    std::string why;
    auto code = cpu::load_object(codegen::compile(m, target).code, codegen::kernel_symbol,
                                 cpu::find_import, why);
    EXPECT_NE(code, nullptr) << why;
    std::vector<T> result(a.size());
    auto n = static_cast<std::int64_t>(a.size());
    std::int64_t args[] = {reinterpret_cast<std::int64_t>(a.data()),      n, 1,
                           reinterpret_cast<std::int64_t>(b.data()),      n, 1,
                           reinterpret_cast<std::int64_t>(result.data()), n, 1};
    Fault fault;
    auto entry = reinterpret_cast<std::int64_t (*)(std::int64_t*, Fault*)>(code->entry());
    EXPECT_EQ(entry(args, &fault), -1);
    return result;
}

template <class T>
void check_modulo(DType t) {
    using L = std::numeric_limits<T>;
    std::vector<T> values{T(0),
                          T(1),
                          T(1.5),
                          T(3),
                          T(0.1),
                          T(7),
                          T(1e10),
                          L::max(),
                          L::min(),
                          L::denorm_min(),
                          L::denorm_min() * 3,
                          L::min() * T(1.25),
                          L::infinity(),
                          L::quiet_NaN(),
                          L::epsilon()};
    std::size_t count = values.size();
    for (std::size_t k = 0; k < count; ++k) values.push_back(-values[k]);
    std::mt19937_64 random(5);
    for (int k = 0; k < 40; ++k)
        values.push_back(std::ldexp(T(random() % 100000), static_cast<int>(random() % 200) - 100));
    std::vector<T> a, b;
    for (T x : values) {
        for (T y : values) {
            a.push_back(x);
            b.push_back(y);
        }
    }
    for (Op op : {Op::Mod, Op::FloorDiv}) {
        std::vector<T> got = run<T>(op, t, a, b);
        for (std::size_t k = 0; k < a.size(); ++k) {
            T want = eval(op, Scalar::of(t, a[k]), Scalar::of(t, b[k])).template get<T>();
            bool same = want == got[k] ? std::signbit(want) == std::signbit(got[k])
                                       : want != want && got[k] != got[k];
            ASSERT_TRUE(same) << name(op) << " " << a[k] << ", " << b[k] << " gave " << got[k]
                              << ", want " << want;
        }
    }
}

}  // namespace

TEST(DeviceMath, ModuloIsExact) {
    check_modulo<double>(DType::Float64);
    check_modulo<float>(DType::Float32);
}
