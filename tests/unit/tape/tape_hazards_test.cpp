// Overlap of random pairs of views against their sets of elements.
#include "tape/record/hazards.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace unisono {
namespace {

/// A random basic-indexing view of a row-major array.
View random_view(Storage* s, const std::vector<std::int64_t>& base, std::mt19937& random) {
    auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % n); };
    std::vector<std::int64_t> shape, strides;
    std::int64_t offset = 0, step = 1;
    for (std::size_t axis = base.size(); axis-- > 0;) {
        std::int64_t first = below(base[axis]), stride = 1 + below(3);
        std::int64_t count = 1 + below((base[axis] - 1 - first) / stride + 1);
        if (below(3) == 0) {
            first += (count - 1) * stride;
            stride = -stride;
        }
        offset += first * step;
        shape.insert(shape.begin(), count);
        strides.insert(strides.begin(), stride * step);
        step *= base[axis];
    }
    if (shape.size() > 1 && below(3) == 0) {
        std::swap(shape[0], shape[1]);
        std::swap(strides[0], strides[1]);
    }
    return {s, Layout::make(shape, strides), offset, DType::Float64};
}

std::vector<std::int64_t> elements(const View& v) {
    std::vector<std::int64_t> found = {v.offset};
    for (std::size_t axis = 0; axis < v.layout->shape().size(); ++axis) {
        std::vector<std::int64_t> more;
        for (std::int64_t e : found) {
            for (std::int64_t i = 0; i < v.layout->shape()[axis]; ++i)
                more.push_back(e + i * v.layout->strides()[axis]);
        }
        found = std::move(more);
    }
    return found;
}

bool meet(const View& a, const View& b) {
    auto first = elements(a), second = elements(b);
    std::set<std::int64_t> set(first.begin(), first.end());
    for (std::int64_t e : second) {
        if (set.count(e)) return true;
    }
    return false;
}

TEST(TapeHazards, NeverWrongOnRandomViews) {
    std::mt19937 random(7);
    Storage* s = Storage::create(nullptr, 8 * 1000);
    s->retain();
    int disjoint = 0, found = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        std::vector<std::int64_t> base;
        for (unsigned axes = 1 + random() % 3; axes > 0; --axes)
            base.push_back(1 + static_cast<std::int64_t>(random() % 7));
        View a = random_view(s, base, random), b = random_view(s, base, random);
        bool shares = meet(a, b);
        disjoint += !shares;
        switch (overlap(a, b)) {
            case Overlap::Disjoint:
                ASSERT_FALSE(shares) << "trial " << trial;
                ++found;
                break;
            case Overlap::Same: ASSERT_EQ(elements(a), elements(b)) << "trial " << trial; break;
            case Overlap::Partial: break;
        }
    }
    // Partial is allowed in doubt, but doubts are few.
    EXPECT_GE(found, disjoint * 9 / 10);
    s->release();
}

TEST(TapeHazards, ExactOnBoxesAndInterleavedSteps) {
    Storage* s = Storage::create(nullptr, 8 * 100);
    s->retain();
    auto box = [&](std::int64_t y0, std::int64_t y1, std::int64_t x0, std::int64_t x1) {
        std::int64_t shape[] = {y1 - y0, x1 - x0}, strides[] = {10, 1};
        return View{s, Layout::make(shape, strides), y0 * 10 + x0, DType::Float64};
    };
    std::mt19937 random(3);
    auto range = [&](std::int64_t& from, std::int64_t& to) {
        from = random() % 10;
        to = from + 1 + random() % static_cast<unsigned>(10 - from);
    };
    for (int trial = 0; trial < 5000; ++trial) {
        std::int64_t c[8];
        for (int k = 0; k < 8; k += 2) range(c[k], c[k + 1]);
        View a = box(c[0], c[1], c[2], c[3]), b = box(c[4], c[5], c[6], c[7]);
        ASSERT_EQ(overlap(a, b) == Overlap::Disjoint, !meet(a, b)) << "trial " << trial;
    }
    for (std::int64_t step = 2; step <= 5; ++step) {
        for (std::int64_t p = 0; p < step; ++p) {
            std::int64_t shape[] = {15}, strides[] = {step};
            View a{s, Layout::make(shape, strides), 0, DType::Float64};
            View b{s, Layout::make(shape, strides), p, DType::Float64};
            EXPECT_EQ(overlap(a, b), p == 0 ? Overlap::Same : Overlap::Disjoint);
            // Slices along the last of three axes, and every second of them along the middle one.
            for (std::int64_t every = 1; every <= 2; ++every) {
                std::int64_t planes[] = {3, 2}, apart[] = {4 * step, -every * step};
                View c{s, Layout::make(planes, apart), 4 * step, DType::Float64};
                View d{s, Layout::make(planes, apart), 4 * step + p, DType::Float64};
                EXPECT_EQ(overlap(c, d), p == 0 ? Overlap::Same : Overlap::Disjoint);
            }
        }
    }
    s->release();
}

}  // namespace
}  // namespace unisono
