// Minima and maxima of packed rows: NaN is found, and never made up from what the stack held.
#include "backends/block/folds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace unisono {

namespace {

/// Fills the stack below the caller's frame: a variable that is spilled there in part reads it.
__attribute__((noinline)) void fill_stack() {
    volatile unsigned char bytes[1 << 14];
    for (auto& b : bytes) b = 0xFF;
}

template <class T>
void check(DType dtype) {
    for (Op op : {Op::Min, Op::Max}) {
        const block::RowFold fold = block::fold(op, block::FoldOf::Value, dtype, dtype);
        if (!fold) GTEST_SKIP() << "no folds on this processor";
        for (int n : {1, 7, 15, 16, 17, 64, 84, 100, 257}) {
            std::vector<T> x(static_cast<std::size_t>(n));
            for (int k = 0; k < n; ++k) x[static_cast<std::size_t>(k)] = static_cast<T>(k + 1);
            T found = 0;
            auto run = [&] {
                fill_stack();
                EXPECT_TRUE(fold(reinterpret_cast<char*>(&found),
                                 reinterpret_cast<const char*>(x.data()), n));
                return found;
            };
            EXPECT_EQ(run(), op == Op::Min ? T(1) : T(n)) << n;
            for (int at : {0, n / 2, n - 1}) {
                const T kept = x[static_cast<std::size_t>(at)];
                x[static_cast<std::size_t>(at)] = std::numeric_limits<T>::quiet_NaN();
                EXPECT_TRUE(std::isnan(run())) << n << " " << at;
                x[static_cast<std::size_t>(at)] = kept;
            }
        }
    }
}

}  // namespace

TEST(Folds, ExtremesOfFloatsDoNotReadTheStack) { check<float>(DType::Float32); }
TEST(Folds, ExtremesOfDoublesDoNotReadTheStack) { check<double>(DType::Float64); }

}  // namespace unisono
