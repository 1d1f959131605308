// A cuFFT for tests: transforms by factors, in long double, with all arguments checked.
//
// Stricter than NVIDIA's: plans have work areas of the caller's, which is set before each call.
#include <array>
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

using Lengths = std::array<long long, 3>;

/// One side of a plan: boxes of up to three axes, of which the last one's cells are `stride` apart.
struct Layout {
    Lengths cells{1, 1, 1}, extents{1, 1, 1};
    long long stride = 0, step = 0;

    long long at(long long i, long long j, long long k) const {
        return ((i * extents[1] + j) * extents[2] + k) * stride;
    }
    std::int64_t span(long long count, std::size_t size) const {
        return (at(cells[0] - 1, cells[1] - 1, cells[2] - 1) + (count - 1) * step + 1) *
               static_cast<std::int64_t>(size);
    }
    template <class F>
    void each(F&& f) const {
        for (long long i = 0; i < cells[0]; ++i) {
            for (long long j = 0; j < cells[1]; ++j) {
                for (long long k = 0; k < cells[2]; ++k) f(i, j, k);
            }
        }
    }
};

struct Plan : Bound {
    bool is_made = false, is_automatic = true;
    int type = 0;
    Lengths n{1, 1, 1};  ///< the last axes
    Layout from, to;
    long long count = 0;
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

/// Transforms a box of n[0] x n[1] x n[2] numbers along an axis.
void transform_axis(Line& box, const Lengths& n, std::size_t axis, int direction) {
    const Line roots = roots_of(static_cast<std::size_t>(n[axis]), direction);
    const long long stride = axis == 2 ? 1 : axis == 1 ? n[2] : n[1] * n[2];
    const auto all = static_cast<long long>(box.size());
    for (long long first = 0; first < all; ++first) {
        if (first / stride % n[axis] != 0) continue;
        Line x(static_cast<std::size_t>(n[axis]));
        for (long long k = 0; k < n[axis]; ++k)
            x[static_cast<std::size_t>(k)] = box[static_cast<std::size_t>(first + k * stride)];
        const Line made = transformed(x, roots);
        for (long long k = 0; k < n[axis]; ++k)
            box[static_cast<std::size_t>(first + k * stride)] = made[static_cast<std::size_t>(k)];
    }
}

/// From and To are real or complex; a real side has n cells along the last axis, the other
/// n / 2 + 1.
template <class From, class To>
int run(const char* what, int type, int number, void* from, void* to, int direction) {
    constexpr bool writes_real = std::is_floating_point_v<To>;
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
    const Lengths n = plan.n;
    return submit(codes, what, plan,
                  {{from, plan.from.span(plan.count, sizeof(From))},
                   {to, plan.to.span(plan.count, sizeof(To)), true},
                   {plan.work, plan.bytes, true}},
                  [=] {
                      auto place = [&](long long i, long long j, long long k) {
                          return static_cast<std::size_t>((i * n[1] + j) * n[2] + k);
                      };
                      for (long long b = 0; b < plan.count; ++b) {
                          Line box(static_cast<std::size_t>(n[0] * n[1] * n[2]));
                          const From* in = static_cast<From*>(from) + b * plan.from.step;
                          plan.from.each([&](long long i, long long j, long long k) {
                              const From v = in[plan.from.at(i, j, k)];
                              Number value(std::real(v), std::imag(v));
                              // The imaginary parts of the first and the middle number do not
                              // count.
                              if (writes_real && (k == 0 || 2 * k == n[2])) value = std::real(v);
                              box[place(i, j, k)] = value;
                              if (writes_real && k > 0 && 2 * k != n[2])
                                  box[place(i, j, n[2] - k)] = std::conj(value);
                          });
                          for (std::size_t axis = 0; axis < 3; ++axis)
                              transform_axis(box, n, axis, direction);
                          To* out = static_cast<To*>(to) + b * plan.to.step;
                          plan.to.each([&](long long i, long long j, long long k) {
                              const Number v = box[place(i, j, k)];
                              To& target = out[plan.to.at(i, j, k)];
                              if constexpr (writes_real)
                                  target = static_cast<To>(v.real());
                              else
                                  target =
                                      To(static_cast<Real>(v.real()), static_cast<Real>(v.imag()));
                          });
                      }
                  });
}

/// One side of a plan, with the last of three axes being the last of `rank`; false where it cannot
/// be.
bool describe(Layout& side, int rank, const long long* n, const long long* extents, long long last,
              long long stride, long long step) {
    if (!extents || stride < 1 || step < 1) return false;
    for (int k = 0; k < rank; ++k) {
        const auto at = static_cast<std::size_t>(3 - rank + k);
        side.cells[at] = k == rank - 1 ? last : n[k];
        side.extents[at] = extents[k];
        if (n[k] < 1 || (k > 0 && extents[k] < side.cells[at])) return false;
    }
    side.stride = stride;
    side.step = step;
    return true;
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
    const bool reads_real = (type & 0xf) == 0xa, writes_real = (type & 0xf) == 0xc;
    if (rank < 1 || rank > (writes_real ? 1 : 3) || count < 1)
        return violation(codes.wrong, "cufftMakePlanMany64: a wrong number of axes or boxes");
    const long long last = n[rank - 1], half = last / 2 + 1;
    if (!describe(p->from, rank, n, from_extents, writes_real ? half : last, from_stride,
                  from_step) ||
        !describe(p->to, rank, n, to_extents, reads_real ? half : last, to_stride, to_step))
        return violation(codes.wrong, "cufftMakePlanMany64: a wrong size or distance");
    p->is_made = true;
    p->type = type;
    p->count = count;
    std::copy(n, n + rank, p->n.begin() + 3 - rank);
    p->bytes = p->n[0] * p->n[1] * p->n[2] * 16;
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
