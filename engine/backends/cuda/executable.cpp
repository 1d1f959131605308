// Loads PTX and launches its kernels.
#include "backends/cuda/executable.h"

#include <algorithm>

#include "backends/cuda/ptx.h"
#include "core/error.h"
#include "ir/evaluate.h"
#include "passes/lower.h"

namespace unisono::cuda {

CudaExecutable::CudaExecutable(CudaDevice& device, ir::Module module, const CompileOptions& options)
    : device_(device), module_(lower_for_device(std::move(module), &host_)) {
    sites_ = passes::all_sites(module_);
    std::size_t arrays = 0, scalars = 0;
    for (const ir::Param& p : module_.entry().params)
        position_.push_back(p.is_array() ? arrays++ : scalars++);
    ptx_ = write_ptx(module_, device.architecture(), device.ptx_version(), options.use_cache);
    try {
        load();
    } catch (...) {
        release();  // the destructor does not run
        throw;
    }
}

CudaExecutable::~CudaExecutable() { release(); }

void CudaExecutable::release() noexcept {
    if (loaded_ && device_.is_usable()) device_.api().module_unload(loaded_);
}

void CudaExecutable::load() {
    device_.enter();
    constexpr int error_log = 5, error_log_bytes = 6;  // CU_JIT_ERROR_LOG_BUFFER and its size
    std::string log(4096, '\0');
    int keys[] = {error_log, error_log_bytes};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    const Api& api = device_.api();
    if (api.module_load_data(&loaded_, ptx_.c_str(), 2, keys, values) != 0) {
        fail(ErrorKind::Internal,
             "cuda: the driver refused the generated PTX: " + log.substr(0, log.find('\0')));
    }
    for (std::size_t k = 0; k < module_.functions.size(); ++k) {
        const ir::Function& f = module_.functions[k];
        if (!codegen::is_device_kernel(f)) continue;
        Kernel kernel{k, nullptr, 1, codegen::scratch_of(f)};
        std::string name = codegen::kernel_symbol + ("_" + std::to_string(k));
        device_.check(api.module_get_function(&kernel.handle, loaded_, name.c_str()),
                      "cuModuleGetFunction");
        int most = 1;
        device_.check(
            api.function_get_attribute(&most, function_max_threads_per_block, kernel.handle),
            "cuFuncGetAttribute");
        kernel.max_group = most;
        results_ = std::max(results_, f.results.size());
        kernels_.push_back(std::move(kernel));
    }
}

CudaExecutable::LaunchState CudaExecutable::prepare() const {
    LaunchMemory& memory = device_.launch_memory();
    LaunchState state{memory.take(sizeof(codegen::DeviceFault)),
                      memory.take(static_cast<std::int64_t>(8 * results_)),
                      {}};
    for (const Kernel& kernel : kernels_) {
        for (const codegen::Scratch& s : kernel.scratch) {
            if (!state.scratch.contains(s.array)) state.scratch[s.array] = memory.take(s.bytes);
        }
    }
    return state;
}

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
    NDRange range;
    range.dimensions = static_cast<int>(f.grid.size());
    for (std::size_t k = 0; k < f.grid.size(); ++k) {
        range.global[k] =
            std::max<std::int64_t>(0, ir::evaluate(f.grid[k], read).as<std::int64_t>());
    }
    return range;
}

/// Fills local sizes that are 0: 256 work-items a group, along axis 0 first. The kernels test their
/// range, so a group may reach beyond it.
void CudaExecutable::choose_local(const Kernel& kernel, NDRange& range) const {
    const DeviceInfo& info = device_.info();
    std::int64_t most = std::min(info.max_work_group_size, kernel.max_group);
    std::int64_t left = std::min<std::int64_t>(256, most), items = 1;
    for (int d = 0; d < range.dimensions; ++d) {
        auto k = static_cast<std::size_t>(d);
        if (range.local[k] < 0 || range.global[k] < 0) {
            fail(ErrorKind::Value, module_.entry().name + ": a size is negative; got global " +
                                       std::to_string(range.global[k]) + ", local " +
                                       std::to_string(range.local[k]) +
                                       "; expected sizes of at least 1");
        }
        if (range.local[k] == 0) {
            range.local[k] = d == 0 ? std::clamp<std::int64_t>(range.global[k], 1, left) : 1;
        }
        items *= range.local[k];
        if (range.local[k] > info.max_work_item_sizes[k] || items > most) {
            fail(ErrorKind::Value,
                 module_.entry().name + ": a work-group has too many work-items; got " +
                     std::to_string(items) + "; expected at most " + std::to_string(most) +
                     " for this kernel on '" + info.name + "'; give smaller local sizes, or none");
        }
    }
}

/// Work-groups along each axis.
static std::array<unsigned, 3> groups_of(const std::string& name, const NDRange& range) {
    std::array<unsigned, 3> groups{1, 1, 1};
    for (std::size_t k = 0; k < 3; ++k) {
        std::int64_t size = std::max<std::int64_t>(range.local[k], 1);
        std::int64_t count = (range.global[k] + size - 1) / size;
        std::int64_t limit = k == 0 ? 0x7fffffff : 0xffff;
        if (count > limit) {
            fail(ErrorKind::Value, name + ": the range is too long on axis " + std::to_string(k) +
                                       "; got " + std::to_string(count) +
                                       " work-groups; expected at most " + std::to_string(limit) +
                                       "; use larger work-groups, or axis 0 for the longest range");
        }
        groups[k] = static_cast<unsigned>(count);
    }
    return groups;
}

void CudaExecutable::check(const LaunchArgs& args) const {
    if (host_) return;  // it chooses ranges that fit
    for (const Kernel& kernel : kernels_) {
        NDRange range = range_of(kernel, args);
        auto is_empty = [](std::int64_t n) { return n == 0; };
        if (std::any_of(range.global.begin(), range.global.begin() + range.dimensions, is_empty))
            continue;
        choose_local(kernel, range);
        groups_of(module_.functions[kernel.function].name, range);
    }
}

void CudaExecutable::start(const Kernel& kernel, const NDRange& range, const LaunchArgs& args,
                           const LaunchState& state) {
    const ir::Function& f = module_.functions[kernel.function];
    std::vector<std::uint64_t> values{state.fault.memory().handle, state.results.memory().handle};
    for (const auto* sizes : {&range.global, &range.local, &range.offset}) {
        for (std::int64_t v : *sizes) values.push_back(static_cast<std::uint64_t>(v));
    }
    for (std::size_t p = 0; p < f.params.size(); ++p) {
        if (!f.params[p].is_array()) {
            values.push_back(args.scalars[position_[p]]);
            continue;
        }
        const ArrayArg& a = args.arrays[position_[p]];
        values.push_back(a.memory.handle + static_cast<std::uint64_t>(a.offset));
        for (std::int64_t v : a.shape) values.push_back(static_cast<std::uint64_t>(v));
        for (std::int64_t v : a.strides) values.push_back(static_cast<std::uint64_t>(v));
    }
    for (const codegen::Scratch& s : kernel.scratch)
        values.push_back(state.scratch.at(s.array).memory().handle);
    std::vector<void*> pointers;
    for (std::uint64_t& v : values) pointers.push_back(&v);
    const auto groups = groups_of(f.name, range);
    unsigned local[3] = {1, 1, 1};
    for (std::size_t k = 0; k < 3; ++k)
        local[k] = static_cast<unsigned>(std::max<std::int64_t>(range.local[k], 1));
    device_.check(
        device_.api().launch_kernel(kernel.handle, groups[0], groups[1], groups[2], local[0],
                                    local[1], local[2], 0, nullptr, pointers.data(), nullptr),
        "cuLaunchKernel");
}

Fault CudaExecutable::read_fault(const NDRange& range, const LaunchState& state) const {
    Fault fault;
    codegen::DeviceFault record;
    device_.copy_out(&record, state.fault.memory(), 0, sizeof record);
    if (record.key == codegen::DeviceFault::none) return fault;
    fault.site = static_cast<std::int64_t>(record.key & 0xffff);
    // The outermost loop is the last axis.
    fault.iteration = static_cast<std::int64_t>(record.key >> 16);
    for (int d = 0; d + 1 < range.dimensions; ++d)
        fault.iteration /= std::max<std::int64_t>(range.global[static_cast<std::size_t>(d)], 1);
    std::copy(std::begin(record.values), std::end(record.values), fault.values);
    return fault;
}

Fault CudaExecutable::run_kernel(const Kernel& kernel, const LaunchArgs& args,
                                 const LaunchState& state) {
    NDRange range = range_of(kernel, args);
    if (std::any_of(range.global.begin(), range.global.begin() + range.dimensions,
                    [](std::int64_t n) { return n == 0; }))
        return {};
    choose_local(kernel, range);
    if (!sites_.empty()) {
        codegen::DeviceFault none;
        device_.copy_in(state.fault.memory(), 0, &none, sizeof none);
    }
    start(kernel, range, args, state);
    device_.own_queue()->note();
    return sites_.empty() ? Fault{} : read_fault(range, state);
}

/// Runs the kernels of one launch, until one fails.
class CudaExecutable::Launcher final : public KernelLauncher {
  public:
    Launcher(CudaExecutable& owner, const LaunchArgs& args, const LaunchState& state)
        : owner_(owner), args_(args), state_(state) {}

    void start(std::size_t function, std::span<const std::uint64_t> scalars,
               std::span<const SlotMemory>) override {
        if (fault_.site >= 0) return;
        auto is_it = [&](const Kernel& k) { return k.function == function; };
        LaunchArgs args = args_;
        args.scalars = scalars;
        fault_ = owner_.run_kernel(
            *std::find_if(owner_.kernels_.begin(), owner_.kernels_.end(), is_it), args, state_);
    }
    std::optional<std::uint64_t> read(std::int32_t array) override {
        if (fault_.site >= 0) return std::nullopt;
        const DType t = owner_.module_.entry().arrays[static_cast<std::size_t>(array)].dtype;
        std::uint64_t bits = 0;
        owner_.device_.copy_out(&bits, state_.scratch.at(array).memory(), 0, size_of(t));
        return bits;
    }
    bool wait() override { return fault_.site < 0; }
    unisono::Device& device() override { return owner_.device_; }
    const Fault& fault() const { return fault_; }

  private:
    CudaExecutable& owner_;
    const LaunchArgs& args_;
    const LaunchState& state_;
    Fault fault_;
};

Fault CudaExecutable::launch(const LaunchArgs& args) {
    device_.enter();
    const LaunchState state = prepare();
    std::vector<std::uint64_t> zeros(args.results.size());
    if (!zeros.empty())
        device_.copy_in(state.results.memory(), 0, zeros.data(),
                        static_cast<std::int64_t>(8 * zeros.size()));
    HostEnd end;
    if (host_) {
        Launcher launcher(*this, args, state);
        end = run_host_program(*host_, args, launcher);
        if (launcher.fault().site >= 0) return launcher.fault();
    } else {
        end.fault = run_kernel(kernels_.front(), args, state);
    }
    if (end.fault.site >= 0) return end.fault;
    if (!args.results.empty() && !end.has_results)
        device_.copy_out(args.results.data(), state.results.memory(), 0,
                         static_cast<std::int64_t>(args.results.size_bytes()));
    return {};
}

Listing CudaExecutable::listing() const {
    Listing listing = host_ ? listing_of(*host_) : Listing{};
    listing.ir = ptx_;
    return listing;
}

}  // namespace unisono::cuda
