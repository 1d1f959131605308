// Segments in flight: threads that flush at the same time, in one context whose engine is one lock.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "context/context.h"
#include "core/error.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono {
namespace {

constexpr std::int64_t many = 1 << 16;  // elements: enough for a step to let go of the engine

/// A context whose engine is a mutex, as Python's is the interpreter lock.
class Shared {
  public:
    Shared() {
        Context::Scope inside(context);
        HostHooks& hooks = Tape::current().hooks;
        hooks.leave_engine = [] {
            engine.unlock();
            return static_cast<void*>(nullptr);
        };
        hooks.enter_engine = [](void*) { engine.lock(); };
        hooks.interrupted = [] { return interrupted.load(); };
    }

    /// Runs the work in the context, with the engine held.
    template <class F>
    void run(F&& work) {
        std::lock_guard held(engine);
        Context::Scope inside(context);
        work();
    }

    static inline std::mutex engine;
    static inline std::atomic<bool> interrupted = false;
    Context context;
};

/// A gate that calls of the tape pass: tells who arrived, and lets them go when it is opened.
struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    int arrived = 0;
    int opens_at = 1 << 30;  ///< arrivals

    void pass() {
        std::unique_lock lock(mutex);
        ++arrived;
        changed.notify_all();
        changed.wait(lock, [&] { return arrived >= opens_at; });
    }
    void wait_for(int n) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return arrived >= n; });
    }
    void open() {
        std::lock_guard lock(mutex);
        opens_at = 0;
        changed.notify_all();
    }
};

struct ThroughGate {
    std::uintptr_t gate;  ///< its address: attributes have no pointers
    bool fails = false;
};

/// out = in[0] + 1, once the gate opens.
void add_one(const ThroughGate& through, Views in, Views outs) {
    const View& out = outs[0];
    reinterpret_cast<Gate*>(through.gate)->pass();
    if (through.fails) fail(ErrorKind::Value, "gate: on purpose");
    const auto* from = reinterpret_cast<const std::int64_t*>(in[0].data());
    auto* to = reinterpret_cast<std::int64_t*>(out.data());
    for (std::int64_t i = 0; i < out.layout->size(); ++i) to[i] = from[i] + 1;
}

constexpr Primitive facts{"gated",
                          "gated",
                          Primitive::Effect::New,
                          Primitive::Peeks::Never,
                          Primitive::Work::Elements,
                          "()->()",
                          "each element and one"};
constexpr Row<ThroughGate> gated{facts, primitives::rules::like_operand, add_one};

Array through_gate(const Array& a, Gate& gate, bool fails = false) {
    const Array in[] = {a};
    return library::call(gated, in, {reinterpret_cast<std::uintptr_t>(&gate), fails});
}

Array plus(const Array& a, std::int64_t n) {
    Arg args[] = {a.arg(), {scalar_operand(Scalar::of(DType::Int64, n)), Weak::Int}};
    return apply(Op::Add, args);
}

Array evaluated(Array a) {
    host_data(a, false);
    return a;
}

std::int64_t last(const Array& a) {
    return reinterpret_cast<const std::int64_t*>(host_data(a, false))[a.size() - 1];
}

std::int64_t waited() { return Context::current().total(&Counters::flushes_that_waited); }

TEST(FlightsThreads, TwoFlushesOfOneTapeRunAtTheSameTime) {
    Shared shared;
    Gate gate;
    gate.opens_at = 2;  // each waits until the other is there
    std::vector<std::thread> threads;
    for (int k : {0, 1}) {
        threads.emplace_back([&, k] {
            shared.run([&] {
                Array x = evaluated(plus(iota(many, nullptr), k));
                EXPECT_EQ(last(plus(through_gate(x, gate), 10)), many + k + 10);
            });
        });
    }
    for (std::thread& t : threads) t.join();
    shared.run([] { EXPECT_EQ(waited(), 0); });
}

/// Runs `held` in a thread whose flush waits at the gate, and meanwhile `work`.
template <class Held, class Work>
void while_in_flight(Shared& shared, Gate& gate, Held&& held, Work&& work) {
    std::thread other([&] { shared.run(held); });
    gate.wait_for(1);
    shared.run([&] { work(); });
    other.join();
}

/// Opens the gate once some flush of the context waits for another thread.
std::thread open_when_somebody_waits(Shared& shared, Gate& gate, std::int64_t waits_before) {
    return std::thread([&shared, &gate, waits_before] {
        while (shared.context.total(&Counters::flushes_that_waited) == waits_before)
            std::this_thread::yield();
        gate.open();
    });
}

TEST(FlightsThreads, AReaderWaitsForWhatIsWrittenInFlight) {
    Shared shared;
    Gate gate;
    Array made;
    while_in_flight(
        shared, gate,
        [&] {
            Array x = evaluated(iota(many, nullptr));
            made = through_gate(x, gate);
            EXPECT_EQ(last(made), many);
        },
        [&] {
            std::thread opener = open_when_somebody_waits(shared, gate, waited());
            EXPECT_EQ(last(plus(made, 5)), many + 5);
            made = Array();
            opener.join();
        });
}

TEST(FlightsThreads, AWriterWaitsForWhatIsReadInFlight) {
    Shared shared;
    Gate gate;
    Array x, made;
    while_in_flight(
        shared, gate,
        [&] {
            x = evaluated(iota(many, nullptr));
            made = through_gate(x, gate);
            EXPECT_EQ(last(made), many);
        },
        [&] {
            std::thread opener = open_when_somebody_waits(shared, gate, waited());
            assign(x, Arg{scalar_operand(Scalar::of(DType::Int64, 7)), Weak::Int});
            EXPECT_EQ(last(x), 7);
            EXPECT_EQ(last(made), many);
            x = made = Array();
            opener.join();
        });
}

TEST(FlightsThreads, ReadersOfTheSameMemoryDoNotWait) {
    Shared shared;
    Gate gate;
    Array x;
    while_in_flight(
        shared, gate,
        [&] {
            x = evaluated(iota(many, nullptr));
            EXPECT_EQ(last(through_gate(x, gate)), many);
        },
        [&] {
            EXPECT_EQ(last(plus(x, 2)), many + 1);
            EXPECT_EQ(waited(), 0);
            gate.open();
            x = Array();
        });
}

TEST(FlightsThreads, WhatIsInFlightKeepsNothingElseAlive) {
    Shared shared;
    Gate gate;
    Array x;
    while_in_flight(
        shared, gate,
        [&] {
            x = evaluated(iota(many, nullptr));
            EXPECT_EQ(last(through_gate(x, gate)), many);
        },
        [&] {
            // Nobody can see the new contents of x: the assignment is dropped, although a segment
            // in flight still reads x.
            assign(x, Arg{scalar_operand(Scalar::of(DType::Int64, 7)), Weak::Int});
            EXPECT_EQ(Tape::current().length(), 1u);
            x = Array();
            Tape::current().expect_dead();
            EXPECT_EQ(last(plus(iota(many, nullptr), 1)), many);
            EXPECT_EQ(Tape::current().length(), 0u);
            EXPECT_EQ(waited(), 0);
            gate.open();
        });
}

TEST(FlightsThreads, AFailureInFlightPoisonsItsResultAndReturnsTheRest) {
    Shared shared;
    Gate gate;
    Array bad, rest;
    while_in_flight(
        shared, gate,
        [&] {
            Array x = evaluated(iota(many, nullptr));
            bad = through_gate(x, gate, true);
            rest = through_gate(plus(x, 1), gate);
            Storage* both[] = {bad.view().storage, rest.view().storage};
            EXPECT_THROW(Tape::current().flush(both, FlushReason::Eval), Error);
        },
        [&] {
            std::thread opener = open_when_somebody_waits(shared, gate, waited());
            EXPECT_THROW(last(plus(bad, 1)), Error);
            EXPECT_EQ(last(rest), many + 1);
            bad = rest = Array();
            opener.join();
        });
}

TEST(FlightsThreads, CtrlCEndsTheWaitAndLosesNothing) {
    Shared shared;
    Gate gate;
    Array made;
    while_in_flight(
        shared, gate,
        [&] {
            Array x = evaluated(iota(many, nullptr));
            made = through_gate(x, gate);
            EXPECT_EQ(last(made), many);
        },
        [&] {
            Shared::interrupted = true;
            Array more = plus(made, 5);
            EXPECT_THROW(last(more), Error);
            Shared::interrupted = false;
            gate.open();
            EXPECT_EQ(last(more), many + 5);
            made = Array();
        });
}

TEST(FlightsThreads, ThreadsComputeTheBitsThatOneComputes) {
    auto program = [](unsigned seed) {
        std::vector<std::int64_t> found;
        Array x = plus(iota(many, nullptr), seed);
        for (int k = 0; k < 200; ++k) {
            x = plus(x, k);
            if (k % 5 == 0) assign(x, plus(x, -1).arg());
            if (k % 3 == 0) found.push_back(last(x));
        }
        return found;
    };
    Shared shared;
    std::vector<std::int64_t> together[4];
    std::vector<std::thread> threads;
    for (unsigned seed : {0u, 1u, 2u, 3u})
        threads.emplace_back([&, seed] { shared.run([&] { together[seed] = program(seed); }); });
    for (std::thread& t : threads) t.join();
    shared.run([&] {
        for (unsigned seed : {0u, 1u, 2u, 3u}) EXPECT_EQ(together[seed], program(seed));
    });
}

}  // namespace
}  // namespace unisono
