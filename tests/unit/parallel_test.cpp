// Parallel loops: every iteration once, the same chunks for any thread count, nesting, concurrent
// callers, fork, routines that are abandoned.
#include "core/threads/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/threads/run_abandonable.h"

namespace unisono {

TEST(Parallel, EachIterationOnce) {
    for (int threads : {1, 2, 3, 5}) {
        ThreadCountScope scope(threads);
        std::vector<std::atomic<int>> seen(1003);
        parallel_for(3, 1003, 7, [&](std::int64_t b, std::int64_t e) {
            for (std::int64_t i = b; i < e; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i < 3 ? 0 : 1) << i;
    }
}

TEST(Parallel, ChunksDoNotDependOnThreads) {
    std::set<std::pair<std::int64_t, std::int64_t>> chunks[2];
    for (int k : {0, 1}) {
        ThreadCountScope scope(k == 0 ? 1 : 3);
        std::mutex mutex;
        parallel_for(5, 100, 10, [&](std::int64_t b, std::int64_t e) {
            std::lock_guard lock(mutex);
            chunks[k].insert({b, e});
        });
    }
    EXPECT_EQ(chunks[0], chunks[1]);
    EXPECT_EQ(chunks[0].size(), 10u);
    EXPECT_EQ(*chunks[0].rbegin(), (std::pair<std::int64_t, std::int64_t>(95, 100)));
}

TEST(Parallel, EmptyRangeCallsNothing) {
    parallel_for(4, 4, 1, [&](std::int64_t, std::int64_t) { FAIL(); });
    parallel_for(4, 3, 1, [&](std::int64_t, std::int64_t) { FAIL(); });
}

TEST(Parallel, NestedLoopsRunInTheirThread) {
    ThreadCountScope scope(3);
    std::atomic<int> total{0}, strayed{0};
    parallel_for(0, 8, 1, [&](std::int64_t, std::int64_t) {
        EXPECT_TRUE(in_parallel());
        auto self = std::this_thread::get_id();
        parallel_for(0, 100, 3, [&](std::int64_t b, std::int64_t e) {
            if (std::this_thread::get_id() != self) ++strayed;
            total += static_cast<int>(e - b);
        });
    });
    EXPECT_FALSE(in_parallel());
    EXPECT_EQ(total, 800);
    EXPECT_EQ(strayed, 0);
}

TEST(Parallel, ConcurrentCallers) {
    std::atomic<std::int64_t> total{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c) {
        callers.emplace_back([&] {
            ThreadCountScope scope(3);
            for (int k = 0; k < 50; ++k) {
                parallel_for(0, 64, 1, [&](std::int64_t b, std::int64_t e) { total += e - b; });
            }
        });
    }
    for (auto& t : callers) t.join();
    EXPECT_EQ(total, 4 * 50 * 64);
}

TEST(Parallel, FailureKeepsAllEarlierChunks) {
    for (int threads : {1, 2, 3}) {
        ThreadCountScope scope(threads);
        std::atomic<int> done[100] = {};
        parallel_chunks(
            0, 100, 1,
            [](void* context, std::int64_t b, std::int64_t) {
                ++static_cast<std::atomic<int>*>(context)[b];
                return b != 40 && b != 80;
            },
            done);
        for (int i = 0; i <= 40; ++i) EXPECT_EQ(done[i], 1) << i;
        for (int i = 41; i < 100; ++i) EXPECT_LE(done[i], threads == 1 ? 0 : 1) << i;
    }
}

TEST(Parallel, MoreThreadsThanParts) {
    ThreadCountScope scope(70);
    std::vector<std::atomic<int>> seen(1000);
    parallel_for(0, 1000, 1,
                 [&](std::int64_t b, std::int64_t) { ++seen[static_cast<std::size_t>(b)]; });
    for (auto& count : seen) EXPECT_EQ(count, 1);
}

TEST(Parallel, ForkedChildGoesOn) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
#endif
    ThreadCountScope scope(3);
    std::atomic<std::int64_t> total{0};
    auto sum = [&](std::int64_t b, std::int64_t e) { total += e - b; };
    parallel_for(0, 1000, 1, sum);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(30);
        total = 0;
        parallel_for(0, 1000, 1, sum);
        _exit(total == 1000 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    parallel_for(0, 1000, 1, sum);
    EXPECT_EQ(total, 2000);
}

TEST(Threads, AbandonedRoutineEndsWithItsMemory) {
    auto released = std::make_shared<std::atomic<bool>>(false);
    auto memory = std::make_shared<int>(0);
    std::weak_ptr<int> watched = memory;
    auto work = [released, memory] {
        while (!*released) std::this_thread::yield();
        *memory = 1;
    };
    memory.reset();
    auto asks = [](void*) { return true; };
    EXPECT_THROW(run_abandonable(std::move(work), asks, nullptr), Error);
    EXPECT_FALSE(watched.expired());  // the routine still runs
    *released = true;
    while (!watched.expired()) std::this_thread::yield();
}

TEST(Threads, RoutineThatIsNotAbandonedIsWaitedFor) {
    int asked = 0;
    std::atomic<bool> released{false};
    struct Asked {
        int& count;
        std::atomic<bool>& released;
    } asked_of{asked, released};
    auto asks = [](void* context) {
        auto& given = *static_cast<Asked*>(context);
        if (++given.count == 2) given.released = true;
        return false;
    };
    bool ended = false;
    auto work = [&] {
        while (!released) std::this_thread::yield();
        ended = true;
    };
    run_abandonable(work, asks, &asked_of);
    EXPECT_TRUE(ended);
    EXPECT_GE(asked, 2);
}

TEST(Threads, CountIsASetting) {
    int before = thread_count();
    EXPECT_GE(before, 1);
    set_thread_count(3);
    EXPECT_EQ(thread_count(), 3);
    {
        ThreadCountScope scope(2);
        EXPECT_EQ(thread_count(), 2);
        ThreadCountScope none(0);
        EXPECT_EQ(thread_count(), 2);
    }
    EXPECT_EQ(thread_count(), 3);
    EXPECT_THROW(set_thread_count(0), Error);
    set_thread_count(before);
}

}  // namespace unisono
