// A queue of a CUDA device: streams, whose submissions are numbered.
//
// A queue in order is one stream. Events are recorded where somebody asks for a submission, and
// every so often: an event behind later work tells as well that earlier work is done. A queue out
// of order is a few streams, which take submissions in turn, each with an event of its own.
//
// While a thread runs a segment (backends/segment_scope.h), a queue in order holds back the kernels
// and copies that it is given: they have their numbers, and go to the driver at the end of the
// segment, as one graph where the same came before (graphs.h). Whoever waits for one of them, lets
// another stream wait, or gives the queue something else has them handed over first.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/cuda/api.h"
#include "backends/cuda/graphs.h"
#include "backends/memory/launch_memory.h"
#include "backends/passing_polls.h"
#include "backends/segment_scope.h"

namespace unisono::cuda {

class CudaDevice;

class CudaQueue final : public Queue, public HoldingQueue {
  public:
    CudaQueue(CudaDevice& device, QueueOptions options);
    /// Of a stream that others own, and give work of their own.
    CudaQueue(CudaDevice& device, Stream stream);

    /// Submits what f(stream) gives the driver, behind what the thread's QueueScope says.
    template <class F>
    std::uint64_t submit(const char* call, F&& f) {
        Turn turn(*this);
        check(f(turn.stream()), call);
        return turn.end();
    }
    /// The same of a command that may be held back.
    void add(const Command& command, std::span<const std::uint64_t> values);
    /// Gives the driver what is held back.
    void hand_over() override;
    /// Keeps an object until all that was submitted so far is done.
    void keep(std::shared_ptr<const void> object);
    /// What a stream is given later comes behind that submission, which the driver has; behind all
    /// that it has.
    void let_wait(Stream stream, std::uint64_t number);
    void let_wait(Stream stream);
    /// What the queue is given later comes behind what the stream was given so far.
    void come_behind(Stream stream);
    /// Of the launches on this queue.
    LaunchMemory& launch_memory() { return launch_memory_; }
    /// The first one of a queue out of order.
    Stream stream() const { return lanes_.front().stream; }

    unisono::Device& device() override;
    bool prefers_segments() const override { return true; }
    QueueOptions options() const override { return options_; }
    std::uint64_t submitted() override;
    bool has_passed(std::uint64_t number) override;
    bool wait_for(std::uint64_t number, std::chrono::milliseconds most) override;
    std::uint64_t mark() override;
    std::uint64_t fence() override;
    void wait_on(const Completion& c) override;
    std::uint64_t record() override;
    QueueTimes times(std::uint64_t number) override;
    void forget_times(std::uint64_t number) override;

  private:
    struct Lane {
        Stream stream = nullptr;
        std::uint64_t last = 0;  ///< submission
    };
    /// An event behind a submission; of a queue in order also behind all before it.
    struct Mark {
        std::uint64_t number = 0;
        Event event = nullptr;
        std::size_t lane = 0;
        bool is_done = false;
    };
    struct Recorded {
        Event first = nullptr, last = nullptr;  ///< with times
        std::int64_t queued = 0, submit = 0;    ///< ns of the host's clock
    };

    /// One submission: the lane that takes it has been told what to wait for.
    class Turn {
      public:
        explicit Turn(CudaQueue& queue);
        Stream stream() const { return queue_.lanes_[lane_].stream; }
        std::uint64_t end();

      private:
        CudaQueue& queue_;
        const std::span<const Completion> after_;
        std::lock_guard<std::mutex> order_;
        std::size_t lane_ = 0;
    };

    void check(Result result, const char* call) const;
    std::span<const Completion> after_which() const;
    void let_lane_wait(std::size_t lane, std::span<const Completion> after);
    void hand_over(std::uint64_t number);
    void give_held();
    void note_handed_over(std::size_t lane);
    void advance_scope(std::uint64_t number);
    std::size_t choose_lane(std::span<const Completion> after);
    void note_first(std::size_t lane);
    std::uint64_t submit_marker(Event timed);
    Event mark_lane(std::uint64_t number, std::size_t lane);
    Event mark_behind(std::uint64_t number);
    Mark* find_mark(std::uint64_t number);
    bool has_ended(Result result, const char* call);
    bool is_done(Mark& mark);
    bool is_idle(Stream stream);
    bool is_done(std::uint64_t number, bool waits);
    bool poll(std::uint64_t number, bool waits);
    void drop_passed();

    CudaDevice& device_;
    const QueueOptions options_;
    std::vector<Lane> lanes_;  ///< their streams live as long as the process
    LaunchMemory launch_memory_;
    std::mutex order_;  ///< numbers are in the order of the driver's
    std::size_t next_lane_ = 0;
    CommandList held_;  ///< behind all that the driver has
    Graphs graphs_;
    /// The last one that the driver has. All have lower numbers or are held back.
    std::atomic<std::uint64_t> handed_over_ = 0;
    std::mutex mutex_;        ///< of what follows, and of events that are recorded
    std::deque<Mark> marks_;  ///< by number, those that were not seen to be done
    std::uint64_t submitted_ = 0, passed_ = 0;  ///< the last ones
    std::deque<std::pair<std::uint64_t, std::shared_ptr<const void>>> kept_;
    int polls_ = 0;  ///< since the last event that was asked for
    PassingPolls passing_;
    Recorded since_;  ///< the last record, where the queue profiles
    std::map<std::uint64_t, Recorded> recorded_;
};

}  // namespace unisono::cuda
