// Lists that keep few elements in themselves, on both sides of the limit.
#include "core/few.h"

#include <gtest/gtest.h>

#include <vector>

namespace unisono {

TEST(Few, KeepsItsElementsWhenItOutgrowsItself) {
    Few<int, 2> few{1, 2};
    few.push_back(3);
    few.insert(few.begin() + 1, 9);
    EXPECT_EQ(std::vector<int>(few.begin(), few.end()), (std::vector<int>{1, 9, 2, 3}));
    const Few<int, 2> copy = few;
    few.erase(few.begin());
    few.resize(2);  // back inside
    EXPECT_EQ(few, (Few<int, 2>{9, 2}));
    few.resize(3, 7);
    EXPECT_EQ(few, (Few<int, 2>{9, 2, 7}));
    EXPECT_EQ(copy.size(), 4u);
    EXPECT_EQ(copy.back(), 3);
    few.assign(1, 5);
    EXPECT_EQ(few, (Few<int, 2>{5}));
    few.pop_back();
    EXPECT_TRUE(few.empty());
}

}  // namespace unisono
