// A cuFFT for tests: transforms by factors, in long double, with all arguments checked.
//
// Stricter than NVIDIA's: plans have work areas of the caller's, which is set before each call.
#include <map>
#include <memory>
#include <mutex>
#include <numbers>

#include "cuda_driver/libraries/library.h"

namespace {

using namespace cuda_libraries;
constexpr Codes codes{4, 6};  // CUFFT_INVALID_VALUE, CUFFT_EXEC_FAILED

using Number = std::complex<long double>;
using Line = std::vector<Number>;

struct Plan : Bound {
    bool is_made = false, is_automatic = true;
    int type = 0;
    long long n = 0, from_stride = 0, from_step = 0, to_stride = 0, to_step = 0, count = 0;
    std::int64_t bytes = 0;
    void* work = nullptr;
};
std::mutex mutex;
std::map<int, std::unique_ptr<Plan>>& plans() {
    static auto& all = *new std::map<int, std::unique_ptr<Plan>>;
    return all;
}
int plans_made = 0;

Plan* find(int number) {
    std::lock_guard lock(mutex);
    const auto known = plans().find(number);
    return known == plans().end() ? nullptr : known->second.get();
}

/// `roots[k * step]` is the root of order n to the power k.
Line transformed(const Line& x, const Line& roots) {
    const std::size_t n = x.size(), all = roots.size(), step = all / n;
    std::size_t p = 2;
    while (p < n && n % p != 0) ++p;
    if (n == 1) return x;
    const std::size_t m = n / p;
    std::vector<Line> parts(p, Line(m));
    for (std::size_t k = 0; k < n; ++k) parts[k % p][k / p] = x[k];
    for (Line& part : parts) part = transformed(part, roots);
    Line made(n);
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t r = 0; r < p; ++r) made[k] += parts[r][k % m] * roots[r * k % n * step];
    }
    return made;
}

Line roots_of(std::size_t n, int direction) {
    Line roots(n);
    for (std::size_t k = 0; k < n; ++k) {
        const long double angle = direction * 2 * std::numbers::pi_v<long double> *
                                  static_cast<long double>(k) / static_cast<long double>(n);
        roots[k] = {std::cos(angle), std::sin(angle)};
    }
    return roots;
}

template <class T>
std::int64_t span_of(long long cells, long long stride, long long step, long long count) {
    return ((cells - 1) * stride + (count - 1) * step + 1) * static_cast<std::int64_t>(sizeof(T));
}

/// From and To are real or complex; a real side has n cells, the other n / 2 + 1.
template <class From, class To>
int run(const char* what, int type, int number, void* from, void* to, int direction) {
    constexpr bool reads_real = std::is_floating_point_v<From>,
                   writes_real = std::is_floating_point_v<To>;
    using Real = std::conditional_t<sizeof(From) == 16 || sizeof(To) == 16, double, float>;
    Plan* p = find(number);
    if (!p || !p->is_made) return violation(1, std::string(what) + ": no plan");
    if (p->type != type || (direction != 1 && direction != -1))
        return violation(codes.wrong, std::string(what) + ": the plan is for something else");
    if (p->is_automatic || !p->work)
        return violation(codes.wrong, std::string(what) + ": no work area was set");
    for (void* address : {from, to}) {
        if (reinterpret_cast<std::uintptr_t>(address) % (2 * sizeof(Real)))
            return violation(codes.wrong, std::string(what) + ": memory is not aligned");
    }
    const Plan plan = *p;
    const long long half = plan.n / 2 + 1, reads = writes_real ? half : plan.n,
                    writes = reads_real ? half : plan.n;
    return submit(
        codes, what, plan,
        {{from, span_of<From>(reads, plan.from_stride, plan.from_step, plan.count)},
         {to, span_of<To>(writes, plan.to_stride, plan.to_step, plan.count), true},
         {plan.work, plan.bytes, true}},
        [=] {
            const Line roots = roots_of(static_cast<std::size_t>(plan.n), direction);
            for (long long line = 0; line < plan.count; ++line) {
                Line x(static_cast<std::size_t>(plan.n));
                for (long long k = 0; k < reads; ++k) {
                    const From v =
                        static_cast<From*>(from)[line * plan.from_step + k * plan.from_stride];
                    Number value(std::real(v), std::imag(v));
                    // The imaginary parts of the first and the middle number do not count.
                    if (writes_real && (k == 0 || 2 * k == plan.n)) value = std::real(v);
                    x[static_cast<std::size_t>(k)] = value;
                    if (writes_real && k > 0 && 2 * k != plan.n)
                        x[static_cast<std::size_t>(plan.n - k)] = std::conj(value);
                }
                const Line made = transformed(x, roots);
                for (long long k = 0; k < writes; ++k) {
                    const Number v = made[static_cast<std::size_t>(k)];
                    To& target = static_cast<To*>(to)[line * plan.to_step + k * plan.to_stride];
                    if constexpr (writes_real)
                        target = static_cast<To>(v.real());
                    else
                        target = To(static_cast<Real>(v.real()), static_cast<Real>(v.imag()));
                }
            }
        });
}

}  // namespace

extern "C" {

int cufftCreate(int* number) {
    auto plan = std::make_unique<Plan>();
    plan->context = current_context();
    if (!plan->context) return violation(11, "cufftCreate: no context is current");
    std::lock_guard lock(mutex);
    *number = ++plans_made;
    plans()[*number] = std::move(plan);
    return 0;
}

int cufftDestroy(int number) {
    if (!find(number)) return violation(1, "cufftDestroy: no plan");
    if (!current_context()) return violation(11, "cufftDestroy: no context is current");
    std::lock_guard lock(mutex);
    plans().erase(number);
    return 0;
}

int cufftSetStream(int number, void* stream) {
    Plan* p = find(number);
    if (!p) return violation(1, "cufftSetStream: no plan");
    p->stream = stream;
    p->has_stream = true;
    return 0;
}

int cufftSetAutoAllocation(int number, int automatic) {
    Plan* p = find(number);
    if (!p || p->is_made) return violation(1, "cufftSetAutoAllocation: no plan, or made already");
    p->is_automatic = automatic != 0;
    return 0;
}

int cufftMakePlanMany64(int number, int rank, long long* n, long long* from_extents,
                        long long from_stride, long long from_step, long long* to_extents,
                        long long to_stride, long long to_step, int type, long long count,
                        std::size_t* bytes) {
    Plan* p = find(number);
    if (!p || p->is_made) return violation(1, "cufftMakePlanMany64: no plan, or made already");
    if (rank != 1 || *n < 1 || !from_extents || !to_extents || from_stride < 1 || to_stride < 1 ||
        from_step < 1 || to_step < 1 || count < 1)
        return violation(codes.wrong, "cufftMakePlanMany64: a wrong size or distance");
    p->is_made = true;
    p->type = type;
    p->n = *n;
    p->from_stride = from_stride;
    p->from_step = from_step;
    p->to_stride = to_stride;
    p->to_step = to_step;
    p->count = count;
    p->bytes = static_cast<std::int64_t>(*n) * 16;
    *bytes = static_cast<std::size_t>(p->bytes);
    return 0;
}

int cufftSetWorkArea(int number, void* memory) {
    Plan* p = find(number);
    if (!p || !p->is_made) return violation(1, "cufftSetWorkArea: no plan");
    p->work = memory;
    return 0;
}

int cufftExecC2C(int plan, void* from, void* to, int direction) {
    using C = std::complex<float>;
    return run<C, C>("cufftExecC2C", 0x29, plan, from, to, direction);
}
int cufftExecZ2Z(int plan, void* from, void* to, int direction) {
    using C = std::complex<double>;
    return run<C, C>("cufftExecZ2Z", 0x69, plan, from, to, direction);
}
int cufftExecR2C(int plan, void* from, void* to) {
    return run<float, std::complex<float>>("cufftExecR2C", 0x2a, plan, from, to, -1);
}
int cufftExecD2Z(int plan, void* from, void* to) {
    return run<double, std::complex<double>>("cufftExecD2Z", 0x6a, plan, from, to, -1);
}
int cufftExecC2R(int plan, void* from, void* to) {
    return run<std::complex<float>, float>("cufftExecC2R", 0x2c, plan, from, to, 1);
}
int cufftExecZ2D(int plan, void* from, void* to) {
    return run<std::complex<double>, double>("cufftExecZ2D", 0x6c, plan, from, to, 1);
}

}  // extern "C"
