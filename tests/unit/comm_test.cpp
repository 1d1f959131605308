// Splits: parts of any number of ranks, who owns an index, and what a view sees of them.
#include <gtest/gtest.h>

#include "comm/split.h"

namespace unisono::comm {
namespace {

TEST(CommSplit, EvenPartsCoverAllIndicesInOrder) {
    for (std::int64_t n : {0, 1, 2, 3, 5, 12, 31, 1000}) {
        for (int p : {1, 2, 3, 4, 7, 40}) {
            const Split split = Split::even(0, n, p);
            std::int64_t at = 0;
            for (int r = 0; r < p; ++r) {
                EXPECT_EQ(split.range(r).begin, at);
                EXPECT_EQ(split.range(r).begin, n * r / p);
                at = split.range(r).end;
                for (std::int64_t i = split.range(r).begin; i < at; ++i)
                    EXPECT_EQ(split.owner(i), r);
            }
            EXPECT_EQ(at, n);
        }
    }
}

TEST(CommSplit, EvenPartsOfManyIndicesDoNotOverflow) {
    const std::int64_t n = std::int64_t{1} << 62;
    const Split split = Split::even(0, n, 64);
    EXPECT_EQ(split.range(63).end, n);
    EXPECT_EQ(split.range(63).begin, n / 64 * 63);
    EXPECT_EQ(split.owner(n - 1), 63);
    EXPECT_EQ(split.owner(n / 64 * 63 - 1), 62);
}

TEST(CommSplit, AViewSeesTheIndicesThatItsElementsHave) {
    for (std::int64_t n : {1, 5, 12, 40}) {
        for (int p : {1, 2, 3, 7, 50}) {
            const Split split = Split::even(1, n, p);
            for (std::int64_t step : {-3, -2, -1, 1, 2, 5}) {
                for (std::int64_t from = 0; from < n; ++from) {
                    const std::int64_t most = step > 0 ? (n - 1 - from) / step : from / -step;
                    const Split seen = split.seen(0, most + 1, from, step);
                    std::int64_t owned = 0;
                    for (int r = 0; r < p; ++r) {
                        const Range range = seen.range(r);
                        owned += range.size();
                        for (std::int64_t j = range.begin; j < range.end; ++j) {
                            const std::int64_t i = from + step * j;
                            EXPECT_EQ(split.owner(i), r)
                                << n << " " << p << " " << step << " " << i;
                            EXPECT_EQ(seen.owner(j), r);
                        }
                    }
                    EXPECT_EQ(owned, most + 1);
                }
            }
        }
    }
}

TEST(CommSplit, IrregularPartsAndWhatLiesBeyondTheirEnds) {
    Split split = Split::even(0, 9, 3);
    split.bounds =
        std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{0, 4, 4, 9});
    EXPECT_EQ(split.range(0), (Range{0, 4}));
    EXPECT_TRUE(split.range(1).empty());
    EXPECT_EQ(split.range(2), (Range{4, 9}));
    EXPECT_EQ(split.owner(3), 0);
    EXPECT_EQ(split.owner(4), 2);
    // A longer array, aligned with the middle of it: the ends go to the owners of its ends.
    const Split longer = split.seen(0, 13, -2, 1);
    EXPECT_EQ(longer.range(0), (Range{0, 6}));
    EXPECT_EQ(longer.range(2), (Range{6, 13}));
    EXPECT_EQ(longer.owner(0), 0);
    EXPECT_EQ(longer.owner(12), 2);
}

}  // namespace
}  // namespace unisono::comm
