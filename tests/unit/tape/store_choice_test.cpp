// The choice between two kinds of stores, fed with times that no clock measured.
#include "tape/run/store_choice.h"

#include <gtest/gtest.h>

namespace unisono {
namespace {

/// A program that runs a kernel again and again: seconds of a run through and past the caches, and
/// of what the program does between runs after each.
struct Program {
    double run[2], between[2];
    double now = 0;
    int past = 0, slow_first = 0;

    void go(StoreChoice& choice, int runs) {
        for (int k = 0; k < runs; ++k) {
            const bool way = choice.past_caches();
            past += way;
            const double begin = now;
            now += run[way] * (slow_first-- > 0 ? 10 : 1);
            choice.ran(way, begin, now);
            now += between[way];
        }
    }
};

constexpr int timed = StoreChoice::turns * StoreChoice::runs_per_turn;

TEST(StoreChoice, BeginsAsTheSizeSuggestsAndTakesTurns) {
    for (bool suggested : {false, true}) {
        StoreChoice choice(suggested);
        EXPECT_EQ(choice.past_caches(), suggested);
        Program program{{1, 1}, {0, 0}};
        program.go(choice, timed);
        EXPECT_EQ(program.past, timed / 2);
        EXPECT_EQ(choice.past_caches(), suggested);  // no difference: as the size suggests
    }
}

TEST(StoreChoice, KeepsTheFasterWay) {
    for (bool suggested : {false, true}) {
        for (bool faster : {false, true}) {
            StoreChoice choice(suggested);
            Program program{{1, 1}, {.1, .1}};
            program.run[faster] = .8;
            program.slow_first = 2;  // fresh memory, a compiler
            program.go(choice, timed);
            EXPECT_EQ(choice.past_caches(), faster);
            program.past = 0;
            program.go(choice, 100);
            EXPECT_EQ(program.past, faster ? 100 : 0);
        }
    }
}

TEST(StoreChoice, ResultsThatTheProgramReadsAtOnceStayInTheCaches) {
    StoreChoice choice(false);
    Program program{{1, .8}, {1, 1.5}};
    program.go(choice, timed);
    EXPECT_FALSE(choice.past_caches());
}

TEST(StoreChoice, IsMadeAgainAfterManyRuns) {
    StoreChoice choice(false);
    Program program{{1, .8}, {0, 0}};
    program.go(choice, timed);
    EXPECT_TRUE(choice.past_caches());
    program.run[0] = .5;
    program.go(choice, StoreChoice::runs_until_next);
    EXPECT_FALSE(choice.past_caches());
}

TEST(StoreChoice, RunsThatASettingDecidedAreNotCompared) {
    StoreChoice choice(false);
    for (int k = 0; k < 100; ++k) choice.ran(true, k, k + .1);
    EXPECT_FALSE(choice.past_caches());
    EXPECT_EQ(choice.text(), "past the caches (not timed yet)");
}

TEST(StoreChoice, SaysWhatItMeasured) {
    StoreChoice choice(false);
    Program program{{1, .5}, {0, 0}};
    program.go(choice, timed + 1);
    EXPECT_EQ(choice.text(), "past the caches (fastest run 500 ms, through the caches 1e+03 ms)");
}

}  // namespace
}  // namespace unisono
