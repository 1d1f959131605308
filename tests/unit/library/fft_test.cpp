// Fourier transforms against the sums that define them, there and back, on every kind of length.
#include "library/fft/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "core/threads/threads.h"
#include "library/fft/fft_plan.h"

namespace unisono::library {
namespace {

template <class T>
std::vector<std::complex<T>> numbers(std::int64_t n) {
    std::vector<std::complex<T>> x;
    std::uint64_t state = 12345;
    auto next = [&] {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<T>(static_cast<double>(state >> 40) / 0x1p24 - 0.5);
    };
    for (std::int64_t k = 0; k < n; ++k) {
        T re = next();
        x.push_back({re, next()});
    }
    return x;
}

template <class T>
std::vector<std::complex<T>> transformed(const std::vector<std::complex<T>>& x, bool forward) {
    std::vector<std::complex<T>> y(x.size());
    fft_line<T>(static_cast<std::int64_t>(x.size()), forward, reinterpret_cast<const T*>(x.data()),
                reinterpret_cast<T*>(y.data()));
    return y;
}

template <class T>
void check_against_sum(std::int64_t n) {
    auto x = numbers<T>(n);
    auto y = transformed(x, true);
    std::vector<std::complex<double>> roots;
    for (std::int64_t k = 0; k < n; ++k) roots.push_back(fft::root<double>(k, n));
    double norm = 0;
    for (auto v : x) norm += std::norm(std::complex<double>(v));
    norm = std::sqrt(norm);
    for (std::int64_t k = 0; k < n; k += std::max<std::int64_t>(1, n / 64)) {
        std::complex<double> sum = 0;
        for (std::int64_t j = 0; j < n; ++j)
            sum += std::complex<double>(x[static_cast<std::size_t>(j)]) *
                   roots[static_cast<std::size_t>(j * k % n)];
        double error = std::abs(sum - std::complex<double>(y[static_cast<std::size_t>(k)]));
        EXPECT_LT(error, norm * (sizeof(T) == 4 ? 2e-6 : 2e-14))
            << "length " << n << ", output " << k;
    }
}

TEST(Fft, SumsForEverySmallLength) {
    for (std::int64_t n = 1; n <= 130; ++n) check_against_sum<double>(n);
    for (std::int64_t n = 1; n <= 130; ++n) check_against_sum<float>(n);
}

TEST(Fft, SumsForLongLines) {
    for (std::int64_t n : {16384, 20000, 30030, 16411, 2 * 8191, 19683, 65536})
        check_against_sum<double>(n);
}

TEST(Fft, ThereAndBack) {
    for (std::int64_t n : {1, 2, 12, 67, 1000, 4099, 100000}) {
        auto x = numbers<double>(n);
        auto y = transformed(transformed(x, true), false);
        double worst = 0;
        for (std::size_t k = 0; k < x.size(); ++k)
            worst = std::max(worst, std::abs(y[k] / static_cast<double>(n) - x[k]));
        EXPECT_LT(worst, 1e-13) << "length " << n;
    }
}

TEST(Fft, SameBitsForAnyThreads) {
    auto x = numbers<double>(50000);
    ThreadCountScope one(1);
    auto y = transformed(x, true);
    for (int threads : {2, 3}) {
        ThreadCountScope scope(threads);
        EXPECT_EQ(transformed(x, true), y);
    }
}

}  // namespace
}  // namespace unisono::library
