// Runs launches at once, behind what they wait for, or on a device's queue.
#include "jit/launch/launch.h"

#include "array/object.h"
#include "backends/timeline.h"
#include "core/threads/interrupt.h"
#include "jit/values/device_copies.h"

namespace unisono::python {

namespace {

Fault run_call(const Specialisation& made, Arguments& arguments, LaunchArgs& launch) {
    launch.arrays = arguments.array_args();
    timeline::Scope span;
    if (timeline::is_on() && !made.queue_device)
        span.begin(timeline::Kind::Launch, made.code->name, made.code->place);
    if (made.keeps_lock) return made.executable->launch(launch);
    WithoutLock unlocked;
    InterruptScope asks(in_main_thread());
    return made.executable->launch(launch);
}

/// Finds out how a launch on a queue ended.
class LaunchCheck final : public LateFault::Check {
  public:
    LaunchCheck(std::shared_ptr<Specialisation> made, std::shared_ptr<const PendingFault> fault)
        : made_(std::move(made)), fault_(std::move(fault)) {}
    void operator()() const override {
        if (const Fault fault = fault_->read(); fault.site >= 0) throw_late_fault(*made_, fault);
    }

  private:
    std::shared_ptr<Specialisation> made_;
    std::shared_ptr<const PendingFault> fault_;
};

/// A launch on a queue, with numbers and sizes as they were when it was recorded.
class QueuedLaunch final : public Launch {
  public:
    QueuedLaunch(std::shared_ptr<Specialisation> made, const LaunchArgs& launch)
        : Launch(*made->code),
          made_(std::move(made)),
          scalars_(launch.scalars.begin(), launch.scalars.end()),
          range_(launch.range),
          threads_(launch.threads) {}

    void run(std::span<const View> in, std::span<const View> out) override {
        std::vector<ArrayArg> arrays;
        arrays.reserve(made_->effects.size());
        std::size_t reads = 0, writes = 0;
        for (const passes::ArrayEffect& e : made_->effects) {
            const bool is_read = e.reads || !e.writes;
            const View& v = is_read ? in[reads] : out[writes];
            reads += is_read;
            writes += e.writes;
            arrays.push_back({v.storage->memory, v.offset * size_of(v.dtype), v.layout->shape(),
                              v.layout->strides()});
        }
        fault_ = made_->executable->submit({arrays, scalars_, {}, range_, threads_});
    }
    std::unique_ptr<const LateFault::Check> take_check() override {
        if (!fault_) return nullptr;
        return std::make_unique<LaunchCheck>(made_, std::move(fault_));
    }
    /// A fault must show, whoever uses the results.
    bool is_kept() const override { return !made_->executable->sites().empty(); }
    bool may_take_long() const override { return true; }

  private:
    std::shared_ptr<Specialisation> made_;
    std::vector<std::uint64_t> scalars_;
    NDRange range_;
    int threads_;
    std::shared_ptr<const PendingFault> fault_;
};

}  // namespace

bool submit_now(const std::shared_ptr<Specialisation>& made, const LaunchArgs& launch,
                std::span<const LaunchOperand> operands) {
    Queue* queue = direct_queue(*made->queue_device);
    if (!queue) return false;
    note_line();
    submit_launch(*queue, *made->code, operands, [&]() -> std::unique_ptr<const LateFault::Check> {
        auto fault = made->executable->submit(launch);
        if (!fault) return nullptr;
        return std::make_unique<LaunchCheck>(made, std::move(fault));
    });
    return true;
}

void record_launch(const std::shared_ptr<Specialisation>& made, Arguments& arguments,
                   LaunchArgs& launch) {
    launch.arrays = arguments.array_args();
    if (arguments.may_launch(made->effects)) {
        LaunchOperands operands;
        arguments.add_operands(made->effects, operands);
        if (submit_now(made, launch, operands.all())) return;
    }
    made->executable->check(launch);
    auto call = std::make_unique<QueuedLaunch>(made, launch);
    Entry entry = launch_entry(*call);
    arguments.add_operands(made->effects, entry);
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
    LaunchOperands operands;
    arguments.add_operands(made.effects, operands);
    evaluation = Tape::current().begin_launch(operands.all(), *made.code).evaluation;
    if (!made.queue_device) return run_call(made, arguments, launch);
    Fault fault;
    run_on_queue(*made.queue_device, *made.code, operands.all(), [&] {
        DeviceCopies copies(arguments);
        copies.bring();
        fault = run_call(made, arguments, launch);
        copies.take_back(made.effects);
    });
    return fault;
}

PyObject* Dispatch::call_waiting(const QuickCall& quick, const frontend::Source& source,
                                 PyObject* const* args, std::size_t count,
                                 PackedArguments& packed) {
    note_line();
    LaunchOperands operands;
    quick.add_operands(args, operands);
    const Specialisation& made = quick.specialisation();
    const LaunchStart start = Tape::current().begin_launch(operands.all(), *made.code);
    if (!start.left_engine) {
        quick.put_addresses(args, packed);
    } else if (quick.pack(args, count, packed) != QuickCall::Packed::Ready) {
        // Another thread changed them.
        return call_any(source, args, count, nullptr, nullptr, false);
    }
    return run_packed(*this, made, packed.slots, packed.extent, source.options.threads);
}

}  // namespace unisono::python
