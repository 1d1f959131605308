// Launches: arguments, ranges, sizes of blocks, slices of long ranges, faults.
#include "backends/cuda/executable.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/cuda/ptx.h"
#include "backends/pending_launch.h"
#include "core/error.h"
#include "ir/evaluate.h"
#include "passes/lower.h"

namespace unisono::cuda {

namespace {

constexpr std::array<std::int64_t, 3> most_groups{0x7fffffff, 0xffff, 0xffff};

bool is_empty(const NDRange& range) {
    return std::any_of(range.global.begin(), range.global.begin() + range.dimensions,
                       [](std::int64_t n) { return n == 0; });
}

}  // namespace

CudaExecutable::CudaExecutable(CudaDevice& device, ir::Module lowered,
                               std::shared_ptr<const passes::HostProgram> host, std::string ptx,
                               const CompileOptions& options)
    : device_(device),
      module_(std::move(lowered)),
      host_(std::move(host)),
      ptx_(std::move(ptx)),
      loaded_(device.load(ptx_, options)) {
    sites_ = passes::all_sites(module_);
    std::size_t arrays = 0, scalars = 0;
    for (const ir::Param& p : module_.entry().params)
        position_.push_back(p.is_array() ? arrays++ : scalars++);
    find_kernels();
}

/// The code stays as long as launches of it are under way.
CudaExecutable::~CudaExecutable() {
    if (device_.is_usable()) device_.keep(loaded_);
}

/// What a kernel takes fits the space that devices have for parameters.
static void check_parameters(const ir::Function& f, std::size_t further) {
    std::size_t words = 3 + codegen::range_slots + further;
    for (const ir::Param& p : f.params) {
        const auto array = static_cast<std::size_t>(p.array);
        words += p.is_array() ? 1 + 2 * static_cast<std::size_t>(f.arrays[array].rank) : 1;
    }
    constexpr std::size_t most = 4096 / 8;
    if (words <= most) return;
    fail(ErrorKind::Unsupported, f.name +
                                     ": a kernel takes too many arguments on this device; got " +
                                     std::to_string(8 * words) +
                                     " bytes of addresses, sizes and numbers; expected at most " +
                                     std::to_string(8 * most) + "; give it fewer arrays");
}

void CudaExecutable::find_kernels() {
    const CudaDevice::Entered entered(device_);
    const Api& api = device_.api();
    for (std::size_t k = 0; k < module_.functions.size(); ++k) {
        const ir::Function& f = module_.functions[k];
        if (!codegen::is_device_kernel(f)) continue;
        Kernel kernel{k, nullptr, 1, 1, 1, codegen::scratch_of(f), codegen::slots_of(f)};
        check_parameters(f, kernel.scratch.size() + kernel.slots.size());
        const std::string name = codegen::kernel_symbol + ("_" + std::to_string(k));
        device_.check(api.module_get_function(&kernel.handle, loaded_->module, name.c_str()),
                      "cuModuleGetFunction");
        int most = 1;
        device_.check(
            api.function_get_attribute(&most, function_max_threads_per_block, kernel.handle),
            "cuFuncGetAttribute");
        kernel.max_group = std::min<std::int64_t>(most, device_.info().max_work_group_size);
        find_groups(kernel);
        results_ = std::max(results_, f.results.size());
        kernels_.push_back(std::move(kernel));
    }
}

/// The smallest and the largest block that keep as many threads of a multiprocessor busy as any.
void CudaExecutable::find_groups(Kernel& kernel) const {
    kernel.group = kernel.large_group = std::min<std::int64_t>(32, kernel.max_group);
    std::int64_t busy = 0;
    for (const int size : {128, 256, 512}) {
        if (size > kernel.max_group) break;
        int blocks = 0;
        device_.check(device_.api().occupancy(&blocks, kernel.handle, size, 0),
                      "cuOccupancyMaxActiveBlocksPerMultiprocessor");
        const std::int64_t now = std::int64_t{blocks} * size;
        if (now >= busy) kernel.large_group = size;
        if (now > busy) kernel.group = size;
        busy = std::max(busy, now);
    }
}

/// A multiprocessor starts blocks one after the other: of long ranges they shall be large.
std::int64_t CudaExecutable::group_for(const Kernel& kernel, const NDRange& range) const {
    constexpr std::int64_t many_groups_per_unit = 256;
    std::int64_t items = 1;
    for (int d = 0; d < range.dimensions; ++d)
        items *= std::max<std::int64_t>(1, range.global[static_cast<std::size_t>(d)]);
    const bool is_long = items / kernel.group > many_groups_per_unit * device_.info().compute_units;
    return is_long ? kernel.large_group : kernel.group;
}

CudaExecutable::LaunchState CudaExecutable::prepare() const {
    LaunchMemory& memory = device_.here().launch_memory();
    LaunchState state;
    if (!sites_.empty()) state.fault = memory.take(sizeof(codegen::DeviceFault));
    if (results_ > 0) state.results = memory.take(static_cast<std::int64_t>(8 * results_));
    for (const Kernel& kernel : kernels_) {
        for (const codegen::Scratch& s : kernel.scratch) {
            if (!state.scratch.contains(s.array)) state.scratch[s.array] = memory.take(s.bytes);
        }
    }
    if (const ir::NotedLines* noted = module_.noted.get())
        state.lines.emplace(module_, device_, state.scratch.at(noted->counts).memory(),
                            state.scratch.at(noted->words).memory());
    return state;
}

// ---- Ranges

NDRange CudaExecutable::range_of(const Kernel& kernel, const LaunchArgs& args) const {
    const ir::Function& f = module_.functions[kernel.function];
    if (f.grid.empty()) return args.range;
    auto read = [&](std::int32_t param, ir::Field field, std::int32_t axis) -> std::uint64_t {
        std::size_t position = position_[static_cast<std::size_t>(param)];
        if (field == ir::Field::Value) return args.scalars[position];
        const ArrayArg& a = args.arrays[position];
        auto k = static_cast<std::size_t>(axis);
        return static_cast<std::uint64_t>(field == ir::Field::Extent ? a.shape[k] : a.strides[k]);
    };
    auto address = [&](ir::E memory) -> std::uint64_t {
        const auto param = f.arrays[static_cast<std::size_t>(memory->id)].param;
        const ArrayArg& a = args.arrays[position_[static_cast<std::size_t>(param)]];
        return a.memory.handle + static_cast<std::uint64_t>(a.offset);
    };
    NDRange range;
    range.dimensions = static_cast<int>(f.grid.size());
    for (std::size_t k = 0; k < f.grid.size(); ++k) {
        range.global[k] =
            std::max<std::int64_t>(0, ir::evaluate(f.grid[k], read, address).as<std::int64_t>());
    }
    return range;
}

/// Whether arrays begin at different places of one memory, as the windows of a stencil do.
static bool has_windows(std::span<const ArrayArg> arrays) {
    return std::ranges::any_of(arrays, [&](const ArrayArg& a) {
        return a.memory.handle == arrays.front().memory.handle && a.offset != arrays.front().offset;
    });
}

/// Fills local sizes that are 0: powers of two, along axis 0 first, then where there is room. The
/// kernels test their range, so a group may reach beyond it. Of windows a group has several rows,
/// which its multiprocessor's cache keeps for each other.
void CudaExecutable::choose_local(const Kernel& kernel, std::span<const ArrayArg> arrays,
                                  NDRange& range) const {
    constexpr std::int64_t warp = 32, group_of_windows = 256;
    const DeviceInfo& info = device_.info();
    const bool has_rows = range.dimensions > 1 && range.global[1] >= group_of_windows / warp &&
                          kernel.max_group >= group_of_windows && has_windows(arrays);
    std::int64_t left = has_rows ? group_of_windows : group_for(kernel, range), items = 1;
    for (int d = 0; d < range.dimensions; ++d) {
        auto k = static_cast<std::size_t>(d);
        if (range.local[k] < 0 || range.global[k] < 0) {
            fail(ErrorKind::Value,
                 module_.entry().name + ": a size of axis " + std::to_string(d) +
                     " is negative; got global " + std::to_string(range.global[k]) + ", local " +
                     std::to_string(range.local[k]) + "; expected sizes of at least 1");
        }
        if (range.local[k] > 0) left /= range.local[k];
    }
    for (int d = 0; d < range.dimensions; ++d) {
        auto k = static_cast<std::size_t>(d);
        if (range.local[k] == 0) {
            std::int64_t chosen = 1;
            const std::int64_t most = has_rows && d == 0 ? warp : left;
            while (chosen < range.global[k] && 2 * chosen <= most &&
                   2 * chosen <= info.max_work_item_sizes[k])
                chosen *= 2;
            range.local[k] = chosen;
            left /= chosen;
        }
        items *= range.local[k];
        if (range.local[k] > info.max_work_item_sizes[k] || items > kernel.max_group) {
            fail(ErrorKind::Value,
                 module_.entry().name + ": a work-group has too many work-items; got " +
                     std::to_string(items) + "; expected at most " +
                     std::to_string(kernel.max_group) + " (on axis " + std::to_string(d) + " " +
                     std::to_string(info.max_work_item_sizes[k]) + ") for this kernel on '" +
                     info.name + "'; give smaller local sizes, or none");
        }
    }
}

void CudaExecutable::check(const LaunchArgs& args) {
    if (host_) return;  // it chooses ranges that fit
    NDRange range = range_of(kernels_.front(), args);
    choose_local(kernels_.front(), args.arrays, range);
}

// ---- Kernels

void CudaExecutable::start_kernel(const Kernel& kernel, const LaunchArgs& args,
                                  const LaunchState& state) {
    NDRange range = range_of(kernel, args);
    choose_local(kernel, args.arrays, range);
    if (!is_empty(range)) enqueue(kernel, range, args, state);
}

/// A range of more groups than a grid may have is launched in slices, one behind the other.
void CudaExecutable::enqueue(const Kernel& kernel, const NDRange& range, const LaunchArgs& args,
                             const LaunchState& state) {
    const ir::Function& f = module_.functions[kernel.function];
    auto address_of = [](const LaunchMemory::Block& block) {
        return block ? static_cast<std::uint64_t>(block.memory().handle) : 0;
    };
    std::vector<std::uint64_t> values{address_of(state.fault),
                                      static_cast<std::uint64_t>(state.number),
                                      address_of(state.results)};
    auto add = [&](std::int64_t v) { values.push_back(static_cast<std::uint64_t>(v)); };
    for (std::int64_t v : range.global) add(v);
    const std::size_t first_group = values.size();
    values.resize(values.size() + 3, 0);
    for (std::int64_t v : range.offset) add(v);
    for (std::size_t p = 0; p < f.params.size(); ++p) {
        if (!f.params[p].is_array()) {
            values.push_back(args.scalars[position_[p]]);
            continue;
        }
        const ArrayArg& a = args.arrays[position_[p]];
        add(static_cast<std::int64_t>(a.memory.handle) + a.offset);
        for (std::int64_t v : a.shape) add(v);
        for (std::int64_t v : a.strides) add(v);
    }
    for (const codegen::Scratch& s : kernel.scratch)
        values.push_back(address_of(state.scratch.at(s.array)));
    for (const std::int32_t slot : kernel.slots) {
        const SlotMemory& at = state.slots[static_cast<std::size_t>(slot)];
        add(static_cast<std::int64_t>(at.memory.handle) + at.offset);
    }
    std::array<std::int64_t, 3> local{1, 1, 1}, groups{1, 1, 1};
    for (std::size_t k = 0; k < static_cast<std::size_t>(range.dimensions); ++k) {
        local[k] = range.local[k];
        groups[k] = (range.global[k] + local[k] - 1) / local[k];
    }
    std::array<std::int64_t, 3> begin{0, 0, 0};
    CudaQueue& queue = device_.here();
    Command command;
    command.function = kernel.handle;
    command.module = loaded_.get();
    auto launch_slice = [&] {
        for (std::size_t k = 0; k < 3; ++k) {
            values[first_group + k] = static_cast<std::uint64_t>(begin[k]);
            command.grid[k] = static_cast<unsigned>(std::min(groups[k] - begin[k], most_groups[k]));
            command.block[k] = static_cast<unsigned>(local[k]);
        }
        queue.add(command, values);
    };
    for (begin[2] = 0; begin[2] < groups[2]; begin[2] += most_groups[2]) {
        for (begin[1] = 0; begin[1] < groups[1]; begin[1] += most_groups[1]) {
            for (begin[0] = 0; begin[0] < groups[0]; begin[0] += most_groups[0]) launch_slice();
        }
    }
}

// ---- Faults

/// What the kernels of one launch report, copied to pinned memory behind them, and how its host
/// program ended. The queue keeps it until that is done.
class CudaExecutable::Faults final : public PendingFault {
  public:
    Faults(CudaDevice& device, bool has_record) : device_(device) {
        if (!has_record) return;
        piece_ = device.staging().take(sizeof(codegen::DeviceFault));
        const codegen::DeviceFault none;
        std::memcpy(piece_.data, &none, sizeof none);
    }
    ~Faults() override { device_.staging().give(piece_); }
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;

    Fault read() const override {
        device_.require_present();
        const codegen::DeviceFault found = record();
        if (found.key == codegen::DeviceFault::none) return own_;
        Fault fault;
        fault.site = static_cast<std::int64_t>(found.key & 0xffff);
        fault.iteration = found.iteration;
        std::copy(std::begin(found.values), std::end(found.values), fault.values);
        return fault;
    }
    /// The host program failed itself, behind what it had started.
    void note_own(const Fault& fault) { own_ = fault; }
    bool has_failed() const { return record().key != codegen::DeviceFault::none; }

    void start_copy_in(Memory to) const {
        copy(Command::Kind::CopyIn, to.handle, reinterpret_cast<std::uintptr_t>(piece_.data));
    }
    void start_copy_out(Memory from) const {
        copy(Command::Kind::CopyOut, reinterpret_cast<std::uintptr_t>(piece_.data), from.handle);
    }

  private:
    codegen::DeviceFault record() const {
        codegen::DeviceFault found;
        if (piece_.data) std::memcpy(&found, piece_.data, sizeof found);
        return found;
    }
    void copy(Command::Kind kind, std::uint64_t to, std::uint64_t from) const {
        const std::uint64_t values[] = {to, from, sizeof(codegen::DeviceFault)};
        Command command;
        command.kind = kind;
        device_.here().add(command, values);
    }
    CudaDevice& device_;
    Staging::Piece piece_;
    Fault own_;
};

/// Starts the kernels of one launch on the calling thread's queue.
class CudaExecutable::Launcher final : public KernelLauncher {
  public:
    Launcher(CudaExecutable& owner, const LaunchArgs& args, LaunchState& state, Faults* faults)
        : owner_(owner),
          args_(args),
          state_(state),
          faults_(faults),
          backlog_(owner.device_.here()) {}

    void start(std::size_t function, std::span<const std::uint64_t> scalars,
               std::span<const SlotMemory> slots) override {
        backlog_.limit();
        auto is_it = [&](const Kernel& k) { return k.function == function; };
        LaunchArgs args = args_;
        args.scalars = scalars;
        state_.slots = slots;
        ++state_.number;
        owner_.start_kernel(*std::find_if(owner_.kernels_.begin(), owner_.kernels_.end(), is_it),
                            args, state_);
    }
    unisono::Device& device() override { return owner_.device_; }

    bool wait() override {
        CudaQueue& q = owner_.device_.here();
        if (faults_) faults_->start_copy_out(state_.fault.memory());
        Completion{&q, q.submitted()}.wait();
        owner_.device_.require_present();
        return (!state_.lines || state_.lines->print()) && (!faults_ || !faults_->has_failed());
    }

    std::optional<std::uint64_t> read(std::int32_t array) override {
        if (faults_) faults_->start_copy_out(state_.fault.memory());
        const DType t = owner_.module_.entry().arrays[static_cast<std::size_t>(array)].dtype;
        std::uint64_t bits = 0;
        owner_.device_.copy_out(&bits, state_.scratch.at(array).memory(), 0, size_of(t));
        if (faults_ && faults_->has_failed()) return std::nullopt;
        return bits;
    }

  private:
    CudaExecutable& owner_;
    const LaunchArgs& args_;
    LaunchState& state_;
    Faults* faults_;
    Backlog backlog_;
};

// ---- Launches

HostEnd CudaExecutable::start(const LaunchArgs& args, LaunchState& state,
                              std::shared_ptr<Faults>& faults) {
    device_.require_usable();
    device_.require_present();
    CudaQueue& q = device_.here();
    // A host program that loops is a segment of its own, where it is not part of one.
    std::optional<SegmentScope> segment;
    if (host_ && !SegmentScope::current()) segment.emplace();
    if (state.fault) {
        faults = std::make_shared<Faults>(device_, true);
        faults->start_copy_in(state.fault.memory());
        q.keep(faults);
    }
    if (state.lines) state.lines->clear();
    HostEnd end;
    if (host_) {
        Launcher launcher(*this, args, state, faults.get());
        end = run_host_program(*host_, args, launcher);
    } else {
        state.number = 1;
        start_kernel(kernels_.front(), args, state);
    }
    if (state.fault) {
        faults->start_copy_out(state.fault.memory());
        q.keep(faults);
    }
    if (segment) segment->end();
    if (end.fault.site >= 0) {
        if (!faults) faults = std::make_shared<Faults>(device_, false);
        faults->note_own(end.fault);
    }
    return end;
}

std::shared_ptr<const PendingFault> CudaExecutable::submit(const LaunchArgs& args) {
    if (module_.noted) return Executable::submit(args);  // what it prints comes in order
    LaunchState state = prepare();
    std::shared_ptr<Faults> faults;
    start(args, state, faults);
    return faults;
}

Fault CudaExecutable::launch(const LaunchArgs& args) {
    LaunchState state = prepare();
    CudaQueue& q = device_.here();
    std::shared_ptr<Faults> faults;
    const HostEnd end = start(args, state, faults);
    // What is read comes behind it on the queue.
    if (!faults && args.results.empty() && !state.lines) return {};
    const std::uint64_t last = q.submitted();
    while (!q.wait_for(last, std::chrono::milliseconds(1000))) {
    }
    device_.require_present();
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

Listing CudaExecutable::listing() const {
    Listing listing = host_ ? listing_of(*host_) : Listing{};
    listing.ir = ptx_;
    if (!kernels_.empty()) listing.resources = resources_of(kernels_.front());
    return listing;
}

Resources CudaExecutable::resources_of(const Kernel& kernel) const {
    const CudaDevice::Entered entered(device_);
    auto told = [&](FunctionAttribute attribute) {
        int value = 0;
        device_.check(device_.api().function_get_attribute(&value, attribute, kernel.handle),
                      "cuFuncGetAttribute");
        return value;
    };
    return {told(function_registers),
            told(function_shared_bytes),
            told(function_local_bytes),
            told(function_constant_bytes),
            told(function_max_threads_per_block),
            told(function_binary_version),
            told(function_ptx_version)};
}

}  // namespace unisono::cuda
