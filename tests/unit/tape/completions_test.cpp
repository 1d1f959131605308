// Arrays on a device that computes while its host goes on: a stand-in whose queue is a thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/backend.h"
#include "context/context.h"
#include "core/error.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono {
namespace {

/// Runs what it is given on a thread of its own, while it is not held.
class ThreadQueue final : public Queue {
  public:
    explicit ThreadQueue(Device& device) : device_(device), thread_([this] { run(); }) {}
    Device& device() override { return device_; }
    ~ThreadQueue() override {
        submit([this] { ends_ = true; });
        hold(false);
        thread_.join();
    }
    void submit(std::function<void()> work) {
        std::vector<Completion> after;
        QueueScope* scope = QueueScope::of(device_);
        if (scope && &scope->queue() == this)
            after.assign(scope->after().begin(), scope->after().end());
        std::lock_guard lock(mutex_);
        waiting_.push_back([after, work = std::move(work)] {
            for (const Completion& c : after) c.wait();
            work();
        });
        ++submitted_;
        if (scope && &scope->queue() == this) scope->advance(submitted_);
        changed_.notify_all();
    }
    void hold(bool held) {
        std::lock_guard lock(mutex_);
        held_ = held;
        waits_ = 0;
        changed_.notify_all();
    }
    std::uint64_t submitted() override {
        std::lock_guard lock(mutex_);
        return submitted_;
    }
    bool has_passed(std::uint64_t number) override {
        std::lock_guard lock(mutex_);
        return passed_ >= number;
    }
    bool wait_for(std::uint64_t number, std::chrono::milliseconds most) override {
        std::unique_lock lock(mutex_);
        if (held_) ++waits_;
        changed_.notify_all();
        return changed_.wait_for(lock, most, [&] { return passed_ >= number; });
    }
    void wait_until_held_up() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return waits_ > 0; });
    }

  private:
    void run() {
        while (!ends_) {
            std::function<void()> work;
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [&] { return !held_ && !waiting_.empty(); });
                work = std::move(waiting_.front());
                waiting_.pop_front();
            }
            work();
            std::lock_guard lock(mutex_);
            ++passed_;
            changed_.notify_all();
        }
    }

    Device& device_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> waiting_;
    std::uint64_t submitted_ = 0, passed_ = 0;
    int waits_ = 0;  ///< since it is held
    bool held_ = false;
    bool ends_ = false;  ///< of the thread
    std::thread thread_;
};

/// Its kernels run in the interpreter; the host takes its memory for foreign.
class ThreadDevice final : public Device {
  public:
    ThreadDevice() : interpreter_(find_device("interp")) {
        info_ = interpreter_.info();
        info_.name = "thread";
        info_.host_memory = false;
    }
    const DeviceInfo& info() const override { return info_; }
    Memory allocate(std::int64_t bytes) override { return interpreter_.allocate(bytes); }
    void free(Memory memory) noexcept override {
        here().submit([this, memory] { interpreter_.free(memory); });
    }
    void copy_in(Memory to, std::int64_t offset, const void* from, std::int64_t bytes) override {
        wait_for([&] { interpreter_.copy_in(to, offset, from, bytes); });
    }
    void copy_out(void* to, Memory from, std::int64_t offset, std::int64_t bytes) override {
        wait_for([&] { interpreter_.copy_out(to, from, offset, bytes); });
    }
    void copy(Memory to, std::int64_t to_offset, Memory from, std::int64_t from_offset,
              std::int64_t bytes) override {
        here().submit([=, this] { interpreter_.copy(to, to_offset, from, from_offset, bytes); });
    }
    void synchronize() override {
        wait_for([] {});
    }
    std::unique_ptr<Executable> compile(ir::Module module, const CompileOptions& options) override;
    ThreadQueue* own_queue() override { return &queue_; }
    Queue& make_queue(const QueueOptions&) override { return *new ThreadQueue(*this); }
    ThreadQueue& here() { return static_cast<ThreadQueue&>(*queue()); }

  private:
    void wait_for(const std::function<void()>& work) {
        here().submit(work);
        const std::uint64_t number = here().submitted();
        while (!here().wait_for(number, std::chrono::milliseconds(1000))) {
        }
    }

    Device& interpreter_;
    DeviceInfo info_;
    ThreadQueue queue_{*this};
};

class ThreadExecutable final : public Executable {
  public:
    ThreadExecutable(ThreadDevice& device, std::shared_ptr<Executable> code)
        : device_(device), code_(std::move(code)) {}
    Fault launch(const LaunchArgs& args) override {
        struct Array {
            Memory memory;
            std::int64_t offset;
            std::vector<std::int64_t> shape, strides;
        };
        std::vector<Array> arrays;
        for (const ArrayArg& a : args.arrays)
            arrays.push_back({a.memory,
                              a.offset,
                              {a.shape.begin(), a.shape.end()},
                              {a.strides.begin(), a.strides.end()}});
        std::vector<std::uint64_t> scalars(args.scalars.begin(), args.scalars.end());
        device_.here().submit([code = code_, arrays, scalars, range = args.range] {
            std::vector<ArrayArg> own;
            for (const Array& a : arrays) own.push_back({a.memory, a.offset, a.shape, a.strides});
            code->launch({own, scalars, {}, range, 1});
        });
        return {};
    }
    std::span<const ir::FaultSite> sites() const override { return code_->sites(); }

  private:
    ThreadDevice& device_;
    std::shared_ptr<Executable> code_;
};

std::unique_ptr<Executable> ThreadDevice::compile(ir::Module module,
                                                  const CompileOptions& options) {
    return std::make_unique<ThreadExecutable>(*this,
                                              interpreter_.compile(std::move(module), options));
}

ThreadDevice& device() {
    static auto& made = *new ThreadDevice;  // kernels of its own outlive static objects
    return made;
}

Array plus(const Array& a, std::int64_t n) {
    Arg args[] = {a.arg(), {scalar_operand(Scalar::of(DType::Int64, n)), Weak::Int}};
    return apply(Op::Add, args);
}

std::int64_t at(const Array& a, std::int64_t i) {
    const std::int64_t index[] = {i};
    return item(element(a, index)).as<std::int64_t>();
}

TEST(CompletionsThreads, AnArrayIsInFlightUntilItsQueueHasPassed) {
    ThreadQueue& queue = *device().own_queue();
    Array x = to_device(iota(1000, nullptr), &device());
    Array y = plus(x, 1);
    Storage* s = y.view().storage;
    Tape::current().flush(x.view().storage, FlushReason::Eval);
    queue.hold(true);
    Tape::current().flush(s, FlushReason::Eval);
    EXPECT_EQ(s->pending, 0u);
    EXPECT_FALSE(s->use->written.is_done());
    // More is recorded and submitted meanwhile.
    Array z = plus(y, 1);
    Tape::current().flush(z.view().storage, FlushReason::Eval);
    EXPECT_FALSE(z.view().storage->use->written.is_done());
    queue.hold(false);
    EXPECT_EQ(at(z, 999), 1001);
    EXPECT_TRUE(s->use->written.is_done());
    EXPECT_EQ(at(y, 999), 1000);
}

TEST(CompletionsThreads, TransfersWaitInTheOrderOfTheirEffects) {
    Array x = to_device(iota(1000, nullptr), &device());
    Array before = to_device(x, nullptr);  // recorded, not run
    assign(x, Arg{scalar_operand(Scalar::of(DType::Int64, 7)), Weak::Int});
    Array after = to_device(x, nullptr);
    EXPECT_EQ(at(before, 999), 999);
    EXPECT_EQ(at(after, 999), 7);
}

/// The queue of the statements of a test.
Queue* chosen = nullptr;

class QueuesThreads : public testing::Test {
  protected:
    QueuesThreads() {
        current<Places>().chosen = [] {
            return Places::Choice{chosen != nullptr, &device(), chosen};
        };
        Tape::current().ask_for_queues();
    }
    ~QueuesThreads() override { chosen = nullptr; }

    static void submit(const Array& a) {
        Tape::current().flush(a.view().storage, FlushReason::Queue);
    }
    /// Whether its memory gets no result while others are held.
    static bool is_held_up(const Array& a) {
        const Completion& written = a.view().storage->use->written;
        return !written.queue->wait_for(written.number, std::chrono::milliseconds(20));
    }

    Context context_;
    Context::Scope inside_{context_};
    ThreadQueue& first_ = static_cast<ThreadQueue&>(device().make_queue({}));
    ThreadQueue& second_ = static_cast<ThreadQueue&>(device().make_queue({}));
};

TEST_F(QueuesThreads, WorkWaitsForWhatItReadsOnAnotherQueue) {
    Array x = to_device(iota(1000, nullptr), &device());
    Tape::current().synchronize();
    first_.hold(true);
    chosen = &first_;
    Array y = plus(x, 1);
    submit(y);
    chosen = &second_;
    Array free = plus(x, 5);
    submit(free);
    EXPECT_EQ(at(free, 999), 1004);  // it does not wait for the first queue
    Array z = plus(y, 1);
    submit(z);
    EXPECT_TRUE(is_held_up(z));
    first_.hold(false);
    EXPECT_EQ(at(z, 999), 1001);
}

TEST_F(QueuesThreads, AWriteWaitsForWhatReadsTheMemoryOnAnotherQueue) {
    Array x = to_device(iota(1000, nullptr), &device());
    Tape::current().synchronize();
    first_.hold(true);
    chosen = &first_;
    Array y = plus(x, 1);
    submit(y);
    chosen = &second_;
    assign(x, Arg{scalar_operand(Scalar::of(DType::Int64, 7)), Weak::Int});
    submit(x);
    EXPECT_TRUE(is_held_up(x));
    first_.hold(false);
    EXPECT_EQ(at(y, 999), 1000);
    EXPECT_EQ(at(x, 999), 7);
}

TEST_F(QueuesThreads, StatementsOfTwoQueuesShareNoKernel) {
    Array x = to_device(iota(1000, nullptr), &device());
    Tape::current().synchronize();
    const std::int64_t before = counters().kernels_launched + counters_apart().kernels_launched;
    chosen = &first_;
    Array y = plus(x, 1);
    chosen = &second_;
    Array z = plus(y, 1);
    y = Array();
    EXPECT_EQ(at(z, 1), 3);
    EXPECT_EQ(counters().kernels_launched + counters_apart().kernels_launched, before + 2);
}

TEST_F(QueuesThreads, AProgramDoesNotRunAheadWithoutLimit) {
    chosen = &first_;
    Array x = to_device(iota(1000, nullptr), &device());
    first_.hold(true);
    // Bytes on a device whose queue does not go on: the program stops, and does not fill the
    // memory.
    std::atomic<int> submitted = 0;
    std::thread program([&] {
        Context::Scope inside(context_);
        for (int k = 0; k < 1600; ++k) {
            x = plus(x, 1);
            submit(x);
            ++submitted;
        }
    });
    first_.wait_until_held_up();
    EXPECT_LT(submitted, 1100);
    first_.hold(false);
    program.join();
    EXPECT_EQ(at(x, 0), 1600);
}

/// A figure and no test (--gtest_also_run_disabled_tests): the host computes while a device's
/// kernel waits without using a core. Of each the shortest of several, since others use the
/// machine's cores too.
TEST_F(QueuesThreads, DISABLED_FigureOfHostAndDeviceAtOnce) {
    using Clock = std::chrono::steady_clock;
    const Array a = iota(1 << 20, nullptr), x = to_device(iota(1000, nullptr), &device());
    Tape::current().synchronize();
    auto on_host = [&] {
        chosen = nullptr;
        Array y = a;
        for (int k = 0; k < 100; ++k) {
            y = plus(y, k);
            Tape::current().flush(y.view().storage, FlushReason::Eval);
        }
    };
    auto shortest = [](auto&& work) {
        double seconds = 1e9;
        for (int k = 0; k < 9; ++k) {
            const auto begin = Clock::now();
            work();
            const std::chrono::duration<double> spent = Clock::now() - begin;
            seconds = std::min(seconds, spent.count());
        }
        return seconds;
    };
    on_host();  // compiles
    const std::chrono::duration<double> length(shortest(on_host));
    auto on_device = [&] {
        chosen = &first_;
        first_.submit([&] { std::this_thread::sleep_for(length); });
        Array y = plus(x, 1);
        submit(y);
        return y;
    };
    at(on_device(), 0);
    const double in_turn = shortest([&] {
        at(on_device(), 0);
        on_host();
    });
    const double at_once = shortest([&] {
        const Array y = on_device();
        on_host();
        at(y, 0);
    });
    std::printf("host alone %.4f s, in turn %.4f s, at once %.4f s, ratio %.3f\n", length.count(),
                in_turn, at_once, at_once / in_turn);
}

std::mutex engine;
std::atomic<bool> interrupted = false;

void use_lock(HostHooks& hooks) {
    hooks.leave_engine = [] {
        engine.unlock();
        return static_cast<void*>(nullptr);
    };
    hooks.enter_engine = [](void*) { engine.lock(); };
    hooks.interrupted = [] { return interrupted.load(); };
}

TEST(CompletionsThreads, WaitingForADeviceLetsGoOfTheEngine) {
    ThreadQueue& queue = *device().own_queue();
    Context context;
    std::thread reader([&] {
        std::lock_guard held(engine);
        Context::Scope inside(context);
        use_lock(Tape::current().hooks);
        Array x = to_device(iota(1000, nullptr), &device());
        Tape::current().flush(x.view().storage, FlushReason::Eval);
        queue.hold(true);
        EXPECT_EQ(at(plus(x, 1), 999), 1000);
    });
    queue.wait_until_held_up();
    {
        std::lock_guard held(engine);  // free, although the reader waits
        Context::Scope inside(context);
        EXPECT_EQ(at(plus(iota(10, nullptr), 1), 9), 10);
        queue.hold(false);
    }
    reader.join();
}

TEST(CompletionsThreads, CtrlCEndsTheWaitForADevice) {
    ThreadQueue& queue = *device().own_queue();
    Context context;
    std::lock_guard held(engine);
    Context::Scope inside(context);
    use_lock(Tape::current().hooks);
    Array x = to_device(iota(1000, nullptr), &device());
    Tape::current().flush(x.view().storage, FlushReason::Eval);
    queue.hold(true);
    Array y = plus(x, 1);
    interrupted = true;
    EXPECT_THROW(at(y, 999), Error);
    EXPECT_THROW(Tape::current().synchronize(), Error);
    interrupted = false;
    queue.hold(false);
    EXPECT_EQ(at(y, 999), 1000);
}

}  // namespace
}  // namespace unisono
