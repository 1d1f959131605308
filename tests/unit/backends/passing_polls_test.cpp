// Who asks in passing is seldom answered by the driver, who waits soon.
#include "backends/passing_polls.h"

#include <gtest/gtest.h>

using unisono::PassingPolls;

TEST(PassingPolls, OfASubmittingProgramAreAnsweredSeldom) {
    PassingPolls polls;
    int queries = 0;
    for (std::uint64_t submitted = 1; submitted <= 1280; ++submitted) {
        queries += polls.ask(submitted);
        for (int k = 0; k < 4; ++k) queries += polls.ask(submitted - submitted / 2, submitted);
    }
    EXPECT_EQ(queries, 10);
}

TEST(PassingPolls, OfAWaitingProgramAreAnsweredSoon) {
    PassingPolls polls;
    int asked = 1;
    while (!polls.ask(7, 7)) ++asked;
    EXPECT_EQ(asked, 16);
    for (asked = 1; !polls.ask(7, 7); ++asked) {
    }
    EXPECT_EQ(asked, 4);
}
