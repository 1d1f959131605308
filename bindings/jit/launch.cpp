// Runs launches at once, behind what they wait for, or on a device's queue.
#include "jit/launch.h"

#include "array/object.h"
#include "core/threads/interrupt.h"

namespace unisono::python {

namespace {

Fault run_call(const Specialisation& made, Arguments& arguments, LaunchArgs& launch) {
    launch.arrays = arguments.array_args();
    if (made.keeps_lock) return made.executable->launch(launch);
    WithoutLock unlocked;
    InterruptScope asks(in_main_thread());
    return made.executable->launch(launch);
}

/// A call with arguments of any types.
class CallLaunch final : public Launch {
  public:
    CallLaunch(const Specialisation& made, Arguments& arguments, LaunchArgs& launch)
        : Launch(*made.code), made_(made), arguments_(arguments), launch_(launch) {}
    void run(std::span<const View>, std::span<const View>) override {
        fault = run_call(made_, arguments_, launch_);
    }

    Fault fault;

  private:
    const Specialisation& made_;
    Arguments& arguments_;
    LaunchArgs& launch_;
};

/// A call of numbers and arrays.
class PackedLaunch final : public Launch {
  public:
    PackedLaunch(const Dispatch& dispatch, const QuickCall& quick, PyObject* const* args,
                 std::size_t count, int threads)
        : Launch(*quick.specialisation().code),
          dispatch_(dispatch),
          quick_(quick),
          args_(args),
          count_(count),
          threads_(threads) {}

    void run(std::span<const View>, std::span<const View>) override {
        PackedArguments packed;
        is_other_ = quick_.pack(args_, count_, packed) != QuickCall::Packed::Ready;
        if (!is_other_)
            result_ = Ref(run_packed(dispatch_, quick_.specialisation(), packed.slots, threads_));
    }

    /// Whether other code is to be called: arguments overlap, or another thread changed them.
    bool is_other() const { return is_other_; }
    PyObject* result() { return result_.release(); }

  private:
    const Dispatch& dispatch_;
    const QuickCall& quick_;
    PyObject* const* args_;
    std::size_t count_;
    int threads_;
    bool is_other_ = false;
    Ref result_;
};

/// A launch on a queue, with numbers and sizes as they were when it was recorded.
class QueuedLaunch final : public Launch {
  public:
    QueuedLaunch(std::shared_ptr<Specialisation> made, const LaunchArgs& launch)
        : Launch(*made->code),
          made_(std::move(made)),
          scalars_(launch.scalars.begin(), launch.scalars.end()),
          range_(launch.range),
          threads_(launch.threads) {
        std::size_t reads = 0, writes = 0;
        for (passes::ArrayEffect& e : effects_) {
            e.reads = e.reads || !e.writes;  // it must be in place
            places_.push_back({!e.reads, e.reads ? reads : writes});
            reads += e.reads;
            writes += e.writes;
        }
    }
    /// Of what the entry says of its arrays.
    std::span<const passes::ArrayEffect> effects() const { return effects_; }

    void run(std::span<const View> in, std::span<const View> out) override {
        std::vector<ArrayArg> arrays;
        for (const Place& p : places_) {
            const View& v = p.is_result ? out[p.number] : in[p.number];
            arrays.push_back({v.storage->memory, v.offset * size_of(v.dtype), v.layout->shape(),
                              v.layout->strides()});
        }
        const Fault fault = made_->executable->launch({arrays, scalars_, {}, range_, threads_});
        if (fault.site >= 0) throw_late_fault(*made_, fault);
    }
    /// A fault must show, whoever uses the results.
    bool is_kept() const override { return !made_->executable->sites().empty(); }
    bool may_take_long() const override { return true; }

  private:
    struct Place {
        bool is_result;
        std::size_t number;  ///< among what the entry reads or writes
    };
    std::shared_ptr<Specialisation> made_;
    std::vector<passes::ArrayEffect> effects_ = made_->effects;
    std::vector<Place> places_;
    std::vector<std::uint64_t> scalars_;
    NDRange range_;
    int threads_;
};

}  // namespace

void record_launch(const std::shared_ptr<Specialisation>& made, Arguments& arguments,
                   LaunchArgs& launch) {
    launch.arrays = arguments.array_args();
    made->executable->check(launch);
    auto call = std::make_unique<QueuedLaunch>(made, launch);
    Entry entry = launch_entry(*call);
    arguments.add_operands(call->effects(), entry);
    note_line();
    Tape& tape = Tape::current();
    Entry& recorded = tape.open();
    recorded = entry;
    call.release();  // the tape's
    tape.close(recorded);
}

Fault launch_ready(const Specialisation& made, Arguments& arguments, LaunchArgs& launch) {
    if (made.writes) arguments.note_launch(made.effects, *made.code);
    return run_call(made, arguments, launch);
}

Fault launch_waiting(const Specialisation& made, Arguments& arguments, LaunchArgs& launch,
                     std::uint32_t& evaluation) {
    note_line();
    CallLaunch call(made, arguments, launch);
    Entry entry = launch_entry(call);
    arguments.add_operands(made.effects, entry);
    Tape::current().perform(entry);
    evaluation = call.evaluation();
    return call.fault;
}

PyObject* Dispatch::call_waiting(const QuickCall& quick, const frontend::Source& source,
                                 PyObject* const* args, std::size_t count) {
    note_line();
    PackedLaunch launch(*this, quick, args, count, source.options.threads);
    Entry entry = launch_entry(launch);
    quick.add_operands(args, entry);
    Tape::current().perform(entry);
    return launch.is_other() ? call_any(source, args, count, nullptr, nullptr, false)
                             : launch.result();
}

}  // namespace unisono::python
