// Ranges of rows: blocks of any number of ranks, and which indices of a view lie in them.
#include <gtest/gtest.h>

#include "comm/ranges.h"

namespace unisono::comm {
namespace {

TEST(CommRanges, RowBlocksCoverAllRowsInOrder) {
    for (std::int64_t n : {0, 1, 2, 3, 5, 12, 31, 1000}) {
        for (int p : {1, 2, 3, 4, 7, 40}) {
            Ranges rows = row_blocks(n, p);
            ASSERT_EQ(rows.size(), static_cast<std::size_t>(p));
            std::int64_t at = 0;
            for (std::int64_t r = 0; r < p; ++r) {
                EXPECT_EQ(rows[static_cast<std::size_t>(r)].begin, at);
                EXPECT_EQ(rows[static_cast<std::size_t>(r)].begin, n * r / p);
                at = rows[static_cast<std::size_t>(r)].end;
            }
            EXPECT_EQ(at, n);
        }
    }
}

TEST(CommRanges, RowBlocksOfManyRowsDoNotOverflow) {
    std::int64_t n = std::int64_t{1} << 62;
    EXPECT_EQ(row_blocks(n, 64).back().end, n);
}

TEST(CommRanges, IndicesAreThoseWhoseRowsLieInTheBlock) {
    for (std::int64_t step : {-3, -2, -1, 1, 2, 5}) {
        for (std::int64_t count = 1; count < 7; ++count) {
            std::int64_t start = step > 0 ? 2 : 20;
            for (std::int64_t begin = 0; begin < 40; ++begin) {
                for (std::int64_t end = begin; end < 40; end += 3) {
                    Range expected{0, 0};
                    for (std::int64_t i = 0; i < count; ++i) {
                        std::int64_t row = start + step * i;
                        if (row < begin || row >= end) continue;
                        if (expected.empty()) expected = {i, i};
                        expected.end = i + 1;
                    }
                    EXPECT_EQ(indices_in({begin, end}, start, step, count), expected)
                        << start << " " << step << " " << count << " [" << begin << ", " << end
                        << ")";
                }
            }
        }
    }
}

}  // namespace
}  // namespace unisono::comm
