// Virtual ranks: whose turn it is, what waits for whom, and clocks.
#include "comm/virtual/world.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "core/error.h"

namespace unisono::comm {
namespace {

/// Runs the program on each rank; gives the errors of the ranks, empty where there was none.
std::vector<std::string> run(const std::shared_ptr<World>& world,
                             const std::function<void(Transport&)>& program) {
    std::vector<std::string> errors(static_cast<std::size_t>(world->living()));
    std::vector<std::thread> threads;
    for (int k = 0; k < world->living(); ++k) {
        threads.emplace_back([&, k] {
            try {
                world->begin(k);
                program(*world->transport(world, k));
            } catch (const Error& error) {
                errors[static_cast<std::size_t>(k)] = error.what();
            }
            world->end(k);
        });
    }
    world->start();
    for (std::thread& t : threads) t.join();
    return errors;
}

std::shared_ptr<World> world_of(int size, double latency = 1e-6, double bandwidth = 1e9,
                                std::vector<int> sampled = {}) {
    WorldOptions options;
    options.size = size;
    options.latency = latency;
    options.bandwidth = bandwidth;
    options.sampled = std::move(sampled);
    return std::make_shared<World>(options);
}

Stamp stamp(std::uint64_t number, const std::string& text = "step", std::uint64_t hash = 7) {
    return {number, hash + number, text, 0, number};
}

TEST(VirtualRanks, RunInTheSameOrderEachTime) {
    std::vector<int> order[2];
    for (auto& seen : order) {
        auto world = world_of(3);
        const auto errors = run(world, [&](Transport& t) {
            for (std::uint64_t k = 1; k < 20; ++k) {
                seen.push_back(t.rank());
                char mine = static_cast<char>(t.rank()), got = -1;
                const int next = (t.rank() + 1) % 3, before = (t.rank() + 2) % 3;
                const Part out{next, 0, 1}, in{before, 0, 1};
                t.exchange(stamp(k), &mine, {&out, 1}, &got, {&in, 1}, false);
                EXPECT_EQ(got, before);
            }
            t.finish(stamp(20, "the end"));
        });
        EXPECT_EQ(errors, std::vector<std::string>(3));
    }
    EXPECT_EQ(order[0], order[1]);
    EXPECT_EQ(order[0].size(), 57u);
}

TEST(VirtualRanks, NameWhoWaitsForWhomWhereNobodyCanRun) {
    const auto errors = run(world_of(3), [](Transport& t) {
        char byte = 0;
        const Part in{(t.rank() + 1) % 3, 0, 1};
        t.exchange(stamp(1, "halo at a.py:3"), nullptr, {}, &byte, {&in, 1}, false);
    });
    for (const std::string& e : errors) {
        EXPECT_NE(e.find("rank 1 waits for a message from rank 2: operation 1, halo at a.py:3"),
                  std::string::npos)
            << e;
        EXPECT_NE(e.find("in a circle: 0 -> 1 -> 2 -> 0"), std::string::npos) << e;
    }
}

TEST(VirtualRanks, NameWhoRunsAnotherProgram) {
    const auto errors = run(world_of(4), [](Transport& t) {
        const bool other = t.rank() == 2;
        t.exchange(stamp(1, other ? "b" : "a", other ? 9 : 7), nullptr, {}, nullptr, {}, true);
    });
    for (const std::string& e : errors)
        EXPECT_NE(e.find("operation number 1 is [a] on rank 0, 1, 3 but [b] on rank 2"),
                  std::string::npos)
            << e;
}

TEST(VirtualRanks, EndWithTheFirstThatFails) {
    auto world = world_of(2);
    std::string second;
    std::thread other([&] {
        try {
            world->begin(1);
            world->transport(world, 1)->exchange(stamp(1), nullptr, {}, nullptr, {}, true);
        } catch (const Error& error) {
            second = error.what();
        }
        world->end(1);
    });
    std::thread failing([&] {
        world->begin(0);
        world->end(0, "rank 0 ended by an error");
    });
    world->start();
    failing.join();
    other.join();
    EXPECT_EQ(second, "rank 0 ended by an error");
}

TEST(VirtualRanks, WaitForMessagesOnTheirClocks) {
    // 1000 bytes at 1000 bytes a second, twice over one link, and half a second of latency.
    auto world = world_of(2, 0.5, 1e3);
    run(world, [](Transport& t) {
        std::vector<char> bytes(1000);
        const Part out{1, 0, 1000}, in{0, 0, 1000};
        for (std::uint64_t k = 1; k <= 2; ++k) {
            if (t.rank() == 0)
                t.exchange(stamp(k), bytes.data(), {&out, 1}, nullptr, {}, false);
            else
                t.exchange(stamp(k), nullptr, {}, bytes.data(), {&in, 1}, false);
        }
    });
    EXPECT_EQ(world->account(0).messages, 2);
    EXPECT_EQ(world->account(0).bytes, 2000);
    EXPECT_EQ(world->account(0).waiting, 0);
    EXPECT_NEAR(world->account(1).clock(), 2.5, .2);
}

TEST(VirtualRanks, SampledOnesReceiveZerosAndWaitForNobody) {
    auto world = world_of(100'000, 0.5, 1e3, {70'000});
    const auto errors = run(world, [](Transport& t) {
        EXPECT_EQ(t.rank(), 70'000);
        EXPECT_EQ(t.size(), 100'000);
        std::vector<char> bytes(1000, 'x');
        const Part out{70'001, 0, 1000}, in{69'999, 0, 1000};
        t.exchange(stamp(1), bytes.data(), {&out, 1}, bytes.data(), {&in, 1}, false);
        EXPECT_EQ(bytes, std::vector<char>(1000));
    });
    EXPECT_EQ(errors, std::vector<std::string>(1));
    EXPECT_EQ(world->account(0).bytes, 1000);
    EXPECT_NEAR(world->account(0).clock(), 1.5, .2);
}

}  // namespace
}  // namespace unisono::comm
