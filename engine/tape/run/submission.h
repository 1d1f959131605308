// Work on devices: which queue it goes to, what it waits for there, and what may yet go wrong.
//
// A queue takes a step while those before it still run. A step waits for what wrote the memory that
// it reads, and for what uses the memory that it writes; on one queue in order that needs nothing.
// What fails when it runs is known late: it belongs to what the step wrote, and to what depends on
// that, until whole storages are written anew.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/few.h"
#include "tape/line.h"
#include "tape/storage.h"

namespace unisono {

/// What may yet go wrong with submitted work. Used with the engine held.
class LateFault {
  public:
    /// Asked once the work is done; throws what went wrong.
    class Check {
      public:
        virtual ~Check() = default;
        virtual void operator()() const = 0;
    };
    /// Without a check, only what the work depends on may have failed.
    LateFault(Completion done, std::unique_ptr<const Check> check, const LineRef& line,
              std::vector<std::shared_ptr<LateFault>> before);
    ~LateFault();
    LateFault(const LateFault&) = delete;
    LateFault& operator=(const LateFault&) = delete;

    void wait() const { done_.wait(); }
    bool is_done() const { return is_known_ || done_.is_done(); }
    /// Whether the work, or what it depends on, went wrong. It must be done.
    bool has_failed();
    /// Whether the work itself failed and nobody has met that so far. It must be done.
    bool is_unmet() { return has_failed() && is_own_ && !failure_->is_met; }
    /// Throws what went wrong. It must be done.
    void raise();

  private:
    Completion done_;
    std::unique_ptr<const Check> check_;
    LineRef line_;  ///< of the work, if it has a check; retained
    void (*release_line_)(void*) = nullptr;
    std::vector<std::shared_ptr<LateFault>> before_;
    struct Failure {
        Error error;
        bool is_met = false;
    };
    std::shared_ptr<Failure> failure_;  ///< shared with what depends on the work
    bool is_known_ = false, is_own_ = false;
};

/// What queues were given to do with a storage's memory on a device.
struct QueueUse {
    Completion written;                ///< what wrote it last
    std::vector<Completion> read;      ///< what has read it since
    std::shared_ptr<LateFault> fault;  ///< of what wrote it
    LineRef line;                      ///< of the statement that wrote it last; retained
    bool is_known_outside = false;     ///< others were given the memory
};
/// The storage's, made if there is none.
QueueUse& use_of(Storage& s);

/// One step. Its operands are named before it runs, with the engine held; so is its end.
class Submission {
  public:
    explicit Submission(Queue* queue) : queue_(queue) {
        if (queue) limit_backlog();
    }

    void reads(Storage& s);
    void writes(Storage& s, bool is_whole);
    void reads(const View& v) { reads(*v.storage); }
    void writes(const View& v) {
        writes(*v.storage,
               v.layout->contiguous() && v.layout->size() * size_of(v.dtype) == v.storage->bytes);
    }
    /// Does the work, whose commands go to the queue; the engine need not be held.
    template <class F>
    void run(F&& work) {
        if (!queue_) return work();
        backlog_.wait();
        for (const Completion& c : elsewhere_) c.wait();
        QueueScope scope(*queue_, after_);
        work();
        last_ = scope.last();
        if (last_.queue || !queue_->options().in_order) return;
        // It gave the queue nothing, but later steps will wait for this one alone.
        for (const Completion& c : after_) c.wait();
        last_ = {queue_, queue_->submitted()};
    }
    /// Whether what is written to one storage is computed from what is read of another.
    using Needs = std::function<bool(const Storage& written, const Storage& read)>;
    /// Notes what the step, of that line, does with its operands' memory. Returns what may yet go
    /// wrong with it. Without `needs`, all that it writes is computed from all that it reads.
    std::shared_ptr<LateFault> end(std::unique_ptr<const LateFault::Check> check,
                                   const LineRef& line, const Needs& needs = {});
    Completion last() const { return last_; }
    /// Of work that the host has waited for: throws what went wrong with what it depends on.
    void raise_faults();

  private:
    void limit_backlog();
    void wait_for(const Completion& c);
    std::vector<std::shared_ptr<LateFault>> faults_for(const Storage& written,
                                                       const Needs& needs) const;

    Queue* queue_;
    std::vector<Completion> after_, elsewhere_;
    Few<Storage*, 8> read_, written_;
    struct FaultOf {
        const Storage* storage;
        std::shared_ptr<LateFault> fault;
    };
    std::vector<FaultOf> faults_;  ///< of what is read, and of what is written in part
    Completion last_;
    Completion backlog_;  ///< what has to be done before more is submitted
    std::int64_t bytes_written_ = 0;
};

/// Copies from a device to the host behind what writes the memory, and not behind other work.
/// Throws what went wrong with that. To be called with the engine held, which it lets go of.
void read_memory(Storage& s, void* to, std::int64_t offset, std::int64_t bytes);
/// Others are about to give the device's own queue work on the memory: it must come behind ours.
void begin_outside_use(Storage& s);
/// They gave it: our work must come behind theirs.
void note_outside_use(Storage& s);
/// Waits for what writes the memory; throws what went wrong with that.
void wait_for_memory(Storage& s);

}  // namespace unisono
