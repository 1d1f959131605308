// Launches: arguments, ranges, work-group sizes, faults.
#include "backends/opencl/executable.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "backends/pending_launch.h"
#include "core/error.h"
#include "ir/evaluate.h"
#include "passes/lower.h"

namespace unisono::opencl {
using c_source::Argument;
using c_source::FaultRecord;
using c_source::Number;

OpenCLExecutable::OpenCLExecutable(OpenCLDevice& device, ir::Module module,
                                   std::shared_ptr<const passes::HostProgram> host,
                                   c_source::Program program, const CompileOptions& options,
                                   Version version)
    : device_(device),
      module_(std::move(module)),
      host_(std::move(host)),
      program_(std::move(program)),
      options_(options),
      version_(version) {
    sites_ = passes::all_sites(module_);
    std::int32_t arrays = 0, scalars = 0;
    for (const ir::Param& p : module_.entry().params)
        position_.push_back(p.is_array() ? arrays++ : scalars++);
    if (!version_.builds_late) make_ready();
}

void OpenCLExecutable::make_ready() {
    std::call_once(built_once_, [this] { build(); });
}

void OpenCLExecutable::build() {
    built_ = device_.build(program_.source, options_);
    try {
        create_kernels();
    } catch (...) {
        release();
        throw;
    }
}

OpenCLExecutable::~OpenCLExecutable() { release(); }

void OpenCLExecutable::release() noexcept {
    for (Kernel& k : kernels_) {
        if (k.kernel && device_.is_usable()) api().clReleaseKernel(k.kernel);
    }
    kernels_.clear();
}

void OpenCLExecutable::create_kernels() {
    kernel_of_.resize(module_.functions.size());
    for (const c_source::Kernel& text : program_.kernels) {
        kernel_of_[text.function] = kernels_.size();
        cl_int code = CL_SUCCESS;
        Kernel made;
        made.kernel = api().clCreateKernel(built_->program, text.name.c_str(), &code);
        device_.check(code, "clCreateKernel");
        kernels_.push_back(made);
        std::size_t group = 1;
        device_.check(
            api().clGetKernelWorkGroupInfo(made.kernel, device_.id(), CL_KERNEL_WORK_GROUP_SIZE,
                                           sizeof group, &group, nullptr),
            "clGetKernelWorkGroupInfo");
        kernels_.back().max_group = static_cast<std::int64_t>(group);
        check_local_memory(made.kernel, text.local_bytes);
    }
}

/// Drivers differ in what they do with work-groups that need more than there is: PoCL ends the
/// process. Some know what a kernel needs only when it is launched.
void OpenCLExecutable::check_local_memory(cl_kernel kernel, std::int64_t declared) const {
    cl_ulong bytes = 0;
    device_.check(api().clGetKernelWorkGroupInfo(kernel, device_.id(), CL_KERNEL_LOCAL_MEM_SIZE,
                                                 sizeof bytes, &bytes, nullptr),
                  "clGetKernelWorkGroupInfo");
    bytes = std::max(bytes, static_cast<cl_ulong>(declared));
    const auto most = static_cast<cl_ulong>(device_.info().local_memory_bytes);
    if (bytes > most)
        fail(ErrorKind::Unsupported, "kernel '" + module_.entry().name + "': a work-group needs " +
                                         std::to_string(bytes) + " bytes of local memory; " +
                                         device_.info().name + " has " + std::to_string(most) +
                                         "; make its local or shared arrays smaller");
}

OpenCLExecutable::LaunchState OpenCLExecutable::prepare() const {
    LaunchState state;
    LaunchMemory& memory = device_.here().launch_memory();
    for (const c_source::Kernel& kernel : program_.kernels) {
        for (const Argument& a : kernel.arguments) {
            if (a.kind == Argument::Kind::Fault) state.may_fault = true;
            if (a.kind == Argument::Kind::Results && !state.results)
                state.results = memory.take(a.bytes);
            if (a.kind == Argument::Kind::Scratch && !state.scratch.contains(a.array))
                state.scratch[a.array] = memory.take(a.bytes);
        }
    }
    if (const ir::NotedLines* noted = module_.noted.get())
        state.lines.emplace(module_, device_, state.scratch.at(noted->counts).memory(),
                            state.scratch.at(noted->words).memory());
    return state;
}

/// Those that are set to what they were stay: a call of the driver takes as long as the rest.
void OpenCLExecutable::set_arguments(std::size_t index, const LaunchArgs& args,
                                     const LaunchState& state) {
    const c_source::Kernel& text = program_.kernels[index];
    Kernel& kernel = kernels_[index];
    const std::uint64_t released = device_.released();
    std::vector<std::uintptr_t> buffers = std::exchange(kernel.set, {});  // not known until the end
    // A buffer may lie where another one was: drivers may know them apart.
    const bool are_known = buffers.size() == text.arguments.size() && kernel.released == released;
    buffers.resize(text.arguments.size());
    cl_uint position = 0;
    auto set = [&](std::size_t size, const void* value) {
        device_.check(api().clSetKernelArg(kernel.kernel, position, size, value), "clSetKernelArg");
    };
    auto set_memory = [&](Memory m) {
        if (are_known && buffers[position] == m.handle) return;
        buffers[position] = m.handle;
        auto* handle = reinterpret_cast<void*>(m.handle);  // a cl_mem
        set(sizeof handle, &handle);
    };
    auto position_of = [&](std::int32_t param) {
        return static_cast<std::size_t>(position_[static_cast<std::size_t>(param)]);
    };
    for (const Argument& a : text.arguments) {
        switch (a.kind) {
            case Argument::Kind::Memory:
                set_memory(a.param < 0 ? state.slots[static_cast<std::size_t>(a.array)].memory
                                       : args.arrays[position_of(a.param)].memory);
                break;
            case Argument::Kind::Scratch: set_memory(state.scratch.at(a.array).memory()); break;
            case Argument::Kind::Results: set_memory(state.results.memory()); break;
            case Argument::Kind::Fault: set_memory(state.fault_memory); break;
            case Argument::Kind::Numbers:
                if (gather_numbers(index, a.bytes, args, state) || !are_known)
                    set(kernel.numbers.size(), kernel.numbers.data());
                break;
        }
        ++position;
    }
    kernel.set = std::move(buffers);
    kernel.released = released;
}

/// Into the kernel's memory for them; returns whether one changed.
bool OpenCLExecutable::gather_numbers(std::size_t index, std::int64_t bytes, const LaunchArgs& args,
                                      const LaunchState& state) {
    std::vector<std::byte>& numbers = kernels_[index].numbers;
    numbers.resize(static_cast<std::size_t>(bytes));
    bool has_changed = false;
    for (const Number& number : program_.kernels[index].numbers) {
        const std::int64_t value = value_of(number, args, state);
        const auto size = static_cast<std::size_t>(size_of(number.dtype));
        has_changed = has_changed || std::memcmp(numbers.data() + number.at, &value, size) != 0;
        std::memcpy(numbers.data() + number.at, &value, size);
    }
    return has_changed;
}

/// Its bits, in the first bytes.
std::int64_t OpenCLExecutable::value_of(const Number& number, const LaunchArgs& args,
                                        const LaunchState& state) const {
    const auto axis = static_cast<std::size_t>(number.axis);
    if (number.kind == Number::Kind::RangeEnd)
        return args.range.offset[axis] + args.range.global[axis];
    if (number.kind == Number::Kind::Launch) return state.number;
    if (number.param < 0) {
        const auto slot = static_cast<std::size_t>(number.array);
        return state.slots[slot].offset / size_of(module_.entry().arrays[slot].dtype);
    }
    const auto param = static_cast<std::size_t>(number.param);
    const auto position = static_cast<std::size_t>(position_[param]);
    if (number.kind == Number::Kind::Value)
        return static_cast<std::int64_t>(args.scalars[position]);
    const ArrayArg& array = args.arrays[position];
    if (number.kind == Number::Kind::Offset)
        return array.offset / size_of(module_.entry().params[param].dtype);
    return number.kind == Number::Kind::Extent ? array.shape[axis] : array.strides[axis];
}

/// The range of a kernel: its grid's sizes, or what the user launched.
NDRange OpenCLExecutable::range_of(std::size_t index, const LaunchArgs& args) const {
    const ir::Function& f = module_.functions[program_.kernels[index].function];
    if (f.grid.empty()) {
        NDRange range = args.range;
        for (std::size_t d = 0; d < 3; ++d) {
            auto axis = static_cast<std::size_t>(program_.kernels[index].axes[d]);
            range.global[d] = args.range.global[axis];
            range.local[d] = args.range.local[axis];
            range.offset[d] = args.range.offset[axis];
        }
        return range;
    }
    auto read = [&](std::int32_t param, ir::Field field, std::int32_t axis) -> std::uint64_t {
        auto position = static_cast<std::size_t>(position_[static_cast<std::size_t>(param)]);
        auto k = static_cast<std::size_t>(axis);
        switch (field) {
            case ir::Field::Value: return args.scalars[position];
            case ir::Field::Extent:
                return static_cast<std::uint64_t>(args.arrays[position].shape[k]);
            case ir::Field::Stride:
                return static_cast<std::uint64_t>(args.arrays[position].strides[k]);
        }
        return 0;
    };
    NDRange range;
    range.dimensions = static_cast<int>(f.grid.size());
    for (std::size_t i = 0; i < f.grid.size(); ++i) {
        range.global[i] =
            std::max<std::int64_t>(0, ir::evaluate(f.grid[i], read).as<std::int64_t>());
    }
    return range;
}

/// Fills local sizes that are 0. Most kernels test their range, so that their global size can be
/// rounded up and few local sizes (which some drivers compile for) serve all shapes; others need
/// divisors of the global size.
void OpenCLExecutable::choose_local(std::size_t index, NDRange& range) const {
    const bool tests_range = program_.kernels[index].tests_range;
    const NDRange asked = range;
    fill_local(tests_range || version_.fills_groups, kernels_[index].max_group, range);
    if (tests_range || range.global == asked.global) return;
    range = asked;
    fill_local(false, kernels_[index].max_group, range);
}

bool OpenCLExecutable::fills_groups(const LaunchArgs& args) const {
    const NDRange asked = range_of(0, args);
    NDRange range = asked;
    fill_local(true, device_.info().max_work_group_size, range);
    return range.global == asked.global;
}

void OpenCLExecutable::fill_local(bool may_round, std::int64_t most, NDRange& range) const {
    const DeviceInfo& info = device_.info();
    std::int64_t left = std::min({group_items(range), most, info.max_work_group_size});
    for (int d = 0; d < range.dimensions; ++d) {
        auto k = static_cast<std::size_t>(d);
        if (range.local[k] != 0) {
            left = std::max<std::int64_t>(1, left / range.local[k]);
            continue;
        }
        std::int64_t chosen = std::min(left, info.max_work_item_sizes[k]);
        if (may_round) {
            // Powers of 4 up to the axis's size, where that leaves another axis room for the rest.
            while (chosen > 1 && chosen > range.global[k] && d + 1 < range.dimensions) chosen /= 4;
            chosen = std::max<std::int64_t>(1, chosen);
            if (range.global[k] == 1) chosen = 1;
            range.global[k] = (range.global[k] + chosen - 1) / chosen * chosen;
        } else {
            while (range.global[k] % chosen != 0) --chosen;
        }
        range.local[k] = chosen;
        left = std::max<std::int64_t>(1, left / chosen);
    }
}

/// Work-items of a group: 256, but 16 where a CPU's cores would have too few groups to share.
std::int64_t OpenCLExecutable::group_items(const NDRange& range) const {
    constexpr std::int64_t large = 256, small = 16, groups_per_core = 8;
    std::int64_t items = 1;
    for (int d = 0; d < range.dimensions; ++d) items *= range.global[static_cast<std::size_t>(d)];
    bool is_small = items / large < groups_per_core * device_.info().compute_units;
    return device_.info().kind == "cpu" && is_small ? small : large;
}

void OpenCLExecutable::check_local(std::size_t index, const NDRange& range) const {
    const c_source::Kernel& kernel = program_.kernels[index];
    const DeviceInfo& info = device_.info();
    const auto refuse = [&](const std::string& what) {
        fail(ErrorKind::Value, kernel.name + ": " + what);
    };
    std::int64_t items = 1;
    for (int d = 0; d < range.dimensions; ++d) {
        auto k = static_cast<std::size_t>(d);
        const std::int64_t global = range.global[k], local = range.local[k];
        const auto axis = [&] { return " of axis " + std::to_string(kernel.axes[k]); };
        if (local < 0 || global < 0) {
            refuse("a size" + axis() + " is negative; got global " + std::to_string(global) +
                   ", local " + std::to_string(local) + "; expected sizes of at least 1");
        }
        if (local > 0 && global % local != 0) {
            refuse("the local size" + axis() + " does not divide the global size; got " +
                   std::to_string(local) + " and " + std::to_string(global) +
                   "; round the global size up and test the id in the kernel, or give no local "
                   "size");
        }
        if (local > info.max_work_item_sizes[k]) {
            refuse("the local size" + axis() + " is above the device's limit; got " +
                   std::to_string(local) + "; expected at most " +
                   std::to_string(info.max_work_item_sizes[k]) + " on '" + info.name + "'");
        }
        items *= std::max<std::int64_t>(1, local);
    }
    std::int64_t limit = std::min(info.max_work_group_size, kernels_[index].max_group);
    if (items > limit) {
        refuse("a work-group has too many work-items; got " + std::to_string(items) +
               "; expected at most " + std::to_string(limit) + " for this kernel on '" + info.name +
               "'; give smaller local sizes, or none");
    }
}

void OpenCLExecutable::enqueue(std::size_t index, const NDRange& range) {
    std::array<std::size_t, 3> global{1, 1, 1}, local{1, 1, 1}, offset{0, 0, 0};
    for (std::size_t k = 0; k < 3; ++k) {
        global[k] = static_cast<std::size_t>(range.global[k]);
        local[k] = static_cast<std::size_t>(range.local[k]);
        offset[k] = static_cast<std::size_t>(range.offset[k]);
    }
    bool has_offset = offset != std::array<std::size_t, 3>{0, 0, 0};
    OpenCLQueue& q = device_.here();
    q.submit_kernel(
        "clEnqueueNDRangeKernel", [&](cl_uint n, const cl_event* after, cl_event* event) {
            return api().clEnqueueNDRangeKernel(
                q.handle(), kernels_[index].kernel, static_cast<cl_uint>(range.dimensions),
                has_offset ? offset.data() : nullptr, global.data(), local.data(), n, after, event);
        });
}

/// What the kernels of one launch report, and its host program. The records lie in memory that the
/// device and the host share, or are copied to the host behind the kernels.
class OpenCLExecutable::Faults final : public PendingFault {
  public:
    Faults(OpenCLDevice& device, std::size_t kernels)
        : device_(device),
          shared_(kernels ? device.take_shared(bytes_of(kernels)) : std::nullopt),
          copied_(shared_ ? 0 : kernels),
          records_(copied_) {
        if (!shared_) return;
        records_ = {reinterpret_cast<FaultRecord*>(shared_->host), kernels};
        std::fill(records_.begin(), records_.end(), FaultRecord{});
    }
    /// The queue has kept this until the kernels were done.
    ~Faults() override {
        if (shared_) device_.give_back(*shared_);
    }
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;

    Fault read() const override {
        for (const FaultRecord& record : records_) {
            if (!record.failed) continue;
            Fault fault;
            fault.site = record.site;
            fault.iteration = record.iteration;
            std::copy(std::begin(record.values), std::end(record.values), fault.values);
            return fault;
        }
        return own_;
    }
    /// The host program failed itself, behind what it had started.
    void note_own(const Fault& fault) { own_ = fault; }
    bool has_record() const {
        return std::any_of(records_.begin(), records_.end(),
                           [](const FaultRecord& r) { return r.failed != 0; });
    }
    /// Before the kernels: where they find the records.
    Memory memory(LaunchMemory::Block& block) {
        if (shared_) return {reinterpret_cast<std::uintptr_t>(shared_->buffer), bytes()};
        block = device_.here().launch_memory().take(bytes());
        device_.start_copy_in(block.memory(), records_.data(), bytes());
        return block.memory();
    }
    /// Behind the kernels.
    void fetch(Memory from) {
        if (!shared_) device_.start_copy_out(records_.data(), from, bytes());
    }

  private:
    static std::int64_t bytes_of(std::size_t kernels) {
        return static_cast<std::int64_t>(kernels * sizeof(FaultRecord));
    }
    std::int64_t bytes() const { return bytes_of(records_.size()); }

    OpenCLDevice& device_;
    std::optional<SharedBytes> shared_;
    std::vector<FaultRecord> copied_;
    std::span<FaultRecord> records_;
    Fault own_;
};

/// Starts the kernels of one launch on the calling thread's queue.
class OpenCLExecutable::Launcher final : public KernelLauncher {
  public:
    Launcher(OpenCLExecutable& owner, const LaunchArgs& args, LaunchState& state, Faults* faults)
        : owner_(owner),
          args_(args),
          state_(state),
          faults_(faults),
          backlog_(owner.device_.here()) {}

    void start(std::size_t function, std::span<const std::uint64_t> scalars,
               std::span<const SlotMemory> slots) override {
        backlog_.limit();
        LaunchArgs args = args_;
        args.scalars = scalars;
        state_.slots = slots;
        ++state_.number;
        owner_.start_kernel(owner_.kernel_of_[function], args, state_);
    }
    Device& device() override { return owner_.device_; }

    bool wait() override {
        OpenCLQueue& q = owner_.device_.here();
        if (faults_) faults_->fetch(state_.fault_memory);
        Completion{&q, q.submitted()}.wait();
        return (!state_.lines || state_.lines->print()) && (!faults_ || !faults_->has_record());
    }

    std::optional<std::uint64_t> read(std::int32_t array) override {
        OpenCLDevice& device = owner_.device_;
        if (faults_) faults_->fetch(state_.fault_memory);
        const DType t = owner_.module_.entry().arrays[static_cast<std::size_t>(array)].dtype;
        std::uint64_t bits = 0;
        device.copy_out(&bits, state_.scratch.at(array).memory(), 0, size_of(t));
        if (faults_ && faults_->has_record()) return std::nullopt;
        return bits;
    }

  private:
    OpenCLExecutable& owner_;
    const LaunchArgs& args_;
    LaunchState& state_;
    Faults* faults_;
    Backlog backlog_;
};

void OpenCLExecutable::check(const LaunchArgs& args) {
    make_ready();
    if (!host_) check_local(0, range_of(0, args));
}

bool OpenCLExecutable::start_kernel(std::size_t index, const LaunchArgs& args,
                                    const LaunchState& state) {
    NDRange range = range_of(index, args);
    check_local(index, range);
    if (std::any_of(range.global.begin(), range.global.begin() + range.dimensions,
                    [](auto n) { return n == 0; }))
        return false;
    choose_local(index, range);
    std::lock_guard lock(mutex_);
    set_arguments(index, args, state);
    enqueue(index, range);
    return true;
}

HostEnd OpenCLExecutable::start(const LaunchArgs& args, LaunchState& state,
                                std::shared_ptr<Faults>& faults) {
    OpenCLQueue& q = device_.here();
    HostEnd end;
    try {
        if (state.may_fault) {
            faults = std::make_shared<Faults>(device_, kernels_.size());
            state.fault_memory = faults->memory(state.fault);
        }
        if (state.lines) state.lines->clear();
        if (host_) {
            Launcher launcher(*this, args, state, faults.get());
            end = run_host_program(*host_, args, launcher);
        } else {
            start_kernel(0, args, state);
        }
        if (faults) faults->fetch(state.fault_memory);
    } catch (...) {
        if (faults) q.keep(faults);  // kernels that were started may use it
        throw;
    }
    if (faults) q.keep(faults);
    if (end.fault.site >= 0) {
        if (!faults) faults = std::make_shared<Faults>(device_, 0);
        faults->note_own(end.fault);
        q.fence();  // a completion, with which the fault is found, also where nothing was started
    }
    q.flush();
    return end;
}

std::shared_ptr<const PendingFault> OpenCLExecutable::submit(const LaunchArgs& args) {
    if (module_.noted) return Executable::submit(args);  // what it prints comes in order
    make_ready();
    LaunchState state = prepare();
    std::shared_ptr<Faults> faults;
    start(args, state, faults);
    return faults;
}

Fault OpenCLExecutable::launch(const LaunchArgs& args) {
    make_ready();
    LaunchState state = prepare();
    OpenCLQueue& q = device_.here();
    std::shared_ptr<Faults> faults;
    const HostEnd end = start(args, state, faults);
    // What is read comes behind it on the queue.
    if (!faults && args.results.empty() && !state.lines) return {};
    const Completion done{&q, q.submitted()};
    while (!q.wait_for(done.number, std::chrono::milliseconds(1000))) {
    }
    if (state.lines && !state.lines->print()) return {.site = state.lines->failed()};
    if (faults) {
        if (Fault fault = faults->read(); fault.site >= 0) return fault;
    }
    if (state.results && !end.has_results) {
        device_.copy_out(args.results.data(), state.results.memory(), 0,
                         static_cast<std::int64_t>(args.results.size_bytes()));
    }
    return {};
}

Listing OpenCLExecutable::listing() const {
    Listing listing = host_ ? listing_of(*host_) : Listing{};
    listing.ir = program_.source;
    return listing;
}

}  // namespace unisono::opencl
