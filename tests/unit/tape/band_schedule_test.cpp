// Distances between kernels that take turns, against the elements that their rows touch.
#include "tape/run/bands/band_schedule.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <vector>

namespace unisono {
namespace {

struct Kernel {
    std::vector<std::int64_t> space;
    std::vector<View> operands;  // the result last
};

using Elements = std::set<std::int64_t>;

/// Bytes that a view touches at one row of a step.
Elements bytes_at(const View& v, const BandSchedule::Step& step, std::int64_t row) {
    std::vector<std::int64_t> found = {v.offset};
    for (std::size_t axis = 0; axis < v.layout->shape().size(); ++axis) {
        const bool is_row = !step.is_one_row && axis == step.axis;
        std::vector<std::int64_t> more;
        for (std::int64_t e : found) {
            const std::int64_t from = is_row ? row : 0;
            const std::int64_t to = is_row ? row + 1 : v.layout->shape()[axis];
            for (std::int64_t i = from; i < to; ++i)
                more.push_back(e + i * v.layout->strides()[axis]);
        }
        found = std::move(more);
    }
    Elements bytes;
    for (std::int64_t e : found) {
        for (std::int64_t b = 0; b < size_of(v.dtype); ++b) bytes.insert(e * size_of(v.dtype) + b);
    }
    return bytes;
}

bool meet(const Elements& a, const Elements& b) {
    for (std::int64_t e : a) {
        if (b.count(e)) return true;
    }
    return false;
}

std::int64_t below(std::mt19937& random, std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

constexpr std::int64_t rows = 9, columns = 7;

/// A window of that shape, on a field of rows by columns.
View window(Storage* s, const std::vector<std::int64_t>& shape, std::mt19937& random) {
    std::vector<std::int64_t> strides;
    std::int64_t offset = 0;
    if (shape.size() == 1) {  // a row, a column, or the whole
        const bool is_row = below(random, 2) == 0;
        strides = {is_row ? 1 : columns};
        const std::int64_t last = (rows - 1) * columns + columns - 1 - (shape[0] - 1) * strides[0];
        offset = below(random, last + 1);
    } else {
        strides = {columns, 1};
        offset =
            below(random, rows - shape[0] + 1) * columns + below(random, columns - shape[1] + 1);
        const std::int64_t kind = below(random, 8);
        if (kind == 0) {  // the rows backwards
            offset += (shape[0] - 1) * columns;
            strides[0] = -columns;
        } else if (kind == 1) {  // one row for all
            strides[0] = 0;
        } else if (kind == 2 && shape[0] <= columns && shape[1] <= rows) {  // turned
            strides = {1, columns};
            offset = 0;
        }
    }
    return {s, Layout::make(shape, strides), offset, DType::Float64};
}

TEST(BandSchedule, KeepsTheOrderOfWhatMeets) {
    std::mt19937 random(5);
    std::int64_t taken = 0, shifted = 0;
    for (int round = 0; round < 3000; ++round) {
        std::vector<std::unique_ptr<Storage>> storages;
        for (int k = 0; k < 2; ++k) {
            storages.push_back(std::make_unique<Storage>());
            storages.back()->bytes = rows * columns * 8;
        }
        BandSchedule schedule;
        std::vector<Kernel> kernels;
        while (kernels.size() < 5) {
            Kernel kernel;
            kernel.space = below(random, 6) == 0
                               ? std::vector<std::int64_t>{1 + below(random, columns)}
                               : std::vector{1 + below(random, rows), 1 + below(random, columns)};
            for (int o = 0; o < 3; ++o) {
                Storage* s = storages[static_cast<std::size_t>(below(random, 2))].get();
                View v = window(s, kernel.space, random);
                while (o == 2 && v.layout->strides()[0] <= 0) v = window(s, kernel.space, random);
                kernel.operands.push_back(v);
            }
            if (!schedule.take(Dims(kernel.space), kernel.operands, 2)) break;
            kernels.push_back(kernel);
        }
        const auto steps = schedule.steps();
        ASSERT_EQ(steps.size(), kernels.size());
        taken += kernels.size() > 1;
        for (std::size_t k = 1; k < kernels.size(); ++k) {
            shifted += steps[k].shift > 0;
            for (std::size_t j = 0; j < k; ++j) {
                for (std::int64_t r = 0; r < steps[k].rows; ++r) {
                    for (std::int64_t q = 0; q < steps[j].rows; ++q) {
                        bool conflict = false;
                        for (std::size_t a = 0; a < 3 && !conflict; ++a) {
                            for (std::size_t b = 0; b < 3 && !conflict; ++b) {
                                const View &later = kernels[k].operands[a],
                                           &earlier = kernels[j].operands[b];
                                conflict = (a == 2 || b == 2) && later.storage == earlier.storage &&
                                           meet(bytes_at(later, steps[k], r),
                                                bytes_at(earlier, steps[j], q));
                            }
                        }
                        if (!conflict) continue;
                        const std::int64_t now = steps[k].first + r + steps[k].shift;
                        const std::int64_t before = steps[j].first + q + steps[j].shift;
                        ASSERT_LE(before, now)
                            << "round " << round << ", kernels " << j << ", " << k;
                        const std::int64_t down = steps[k].shift_down - steps[k].first - r;
                        ASSERT_LE(steps[j].shift_down - steps[j].first - q, down)
                            << "round " << round << ", kernels " << j << ", " << k;
                        const bool own = steps[k].first + r == steps[j].first + q;
                        ASSERT_TRUE(own || steps[k].has_others);
                    }
                }
            }
        }
    }
    EXPECT_GT(taken, 1000);
    EXPECT_GT(shifted, 300);
}

TEST(BandSchedule, ASweepIsOneRowBehindTheOneBefore) {
    Storage u, v;
    u.bytes = v.bytes = rows * columns * 8;
    const std::int64_t space[] = {rows - 2, columns}, strides[] = {columns, 1};
    const Layout* layout = Layout::make(space, strides);
    BandSchedule schedule;
    for (int sweep = 0; sweep < 4; ++sweep) {
        Storage *from = sweep % 2 ? &v : &u, *to = sweep % 2 ? &u : &v;
        const View operands[] = {{from, layout, 0, DType::Float64},
                                 {from, layout, 2 * columns, DType::Float64},
                                 {to, layout, columns, DType::Float64}};
        ASSERT_TRUE(schedule.take(space, operands, 2));
        EXPECT_EQ(schedule.steps().back().shift, sweep);
        EXPECT_EQ(schedule.steps().back().shift_down, sweep);
    }
    EXPECT_EQ(schedule.window(schedule.fields()[0], 4).rows, 4);
}

}  // namespace
}  // namespace unisono
