// What a back end implements: discovery of devices, memory, compilation and launch.
//
// A back end is a folder under backends/. It registers one Backend at load time (a static
// Registration) and loads its vendor library when it is first asked for devices. Nothing outside
// the folder includes anything of it. All calls may throw Error; none is made while Python's lock
// is needed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/memory/device_pool.h"
#include "backends/queue.h"
#include "core/threads/fork.h"
#include "ir/ir.h"

namespace unisono {

struct Listing;         // backends/listing.h
struct DeviceProperty;  // backends/properties.h

/// Memory of one device. For host back ends `handle` is the address; other back ends choose (an
/// OpenCL buffer, a CUDA address) and never do arithmetic on it outside their folder.
struct Memory {
    std::uintptr_t handle = 0;
    std::int64_t bytes = 0;
};

struct DeviceInfo {
    std::string name;  ///< "cpu", "opencl:cpu:0", "cuda:0", "interp": what device= takes
    std::string kind;  ///< "cpu", "gpu", "accelerator"
    std::string vendor;
    std::string description;
    int compute_units = 1;
    std::int64_t memory_bytes = 0;
    std::int64_t max_work_group_size = 1;
    std::array<std::int64_t, 3> max_work_item_sizes{1, 1, 1};
    std::int64_t local_memory_bytes = 0;
    int warp = 0;  ///< work-items that follow each other and may shuffle (ir/shuffle.h); 0: none
    bool has_float64 = true;
    bool has_int64_atomics = true;
    bool host_memory = false;  ///< Memory::handle is an address that the host can use
};

/// One array argument: element [0, 0, ...] lies `offset` bytes into memory; strides are in
/// elements.
struct ArrayArg {
    Memory memory;
    std::int64_t offset = 0;
    std::span<const std::int64_t> shape;
    std::span<const std::int64_t> strides;
};

/// How a launch ended. site is an index into Executable::sites, or -1: no fault.
struct Fault {
    std::int64_t site = -1;
    std::int64_t iteration = 0;  ///< of the outermost parallel loop
    std::int64_t values[4] = {0, 0, 0, 0};
};

struct NDRange {
    int dimensions = 0;
    std::array<std::int64_t, 3> global{1, 1, 1};
    std::array<std::int64_t, 3> local{0, 0, 0};  ///< 0: the back end chooses
    std::array<std::int64_t, 3> offset{0, 0, 0};
};

/// Arguments of one launch: arrays and scalars each in the order of the entry's params.
struct LaunchArgs {
    std::span<const ArrayArg> arrays;
    std::span<const std::uint64_t> scalars;  ///< as Scalar::bits
    std::span<std::uint64_t> results;        ///< of the entry's results; host back ends only
    NDRange range;                           ///< for is_kernel functions
    int threads = 0;                         ///< 0: the setting
};

/// What a launch that was submitted may still report.
class PendingFault {
  public:
    virtual ~PendingFault() = default;
    /// How it ended; asked when it is done.
    virtual Fault read() const = 0;
};

/// A compiled module. Launching is safe from several threads at once.
class Executable {
  public:
    virtual ~Executable() = default;
    virtual Fault launch(const LaunchArgs& args) = 0;
    /// The same of a launch without results, which does not wait for a device; null where nothing
    /// can go wrong any more.
    virtual std::shared_ptr<const PendingFault> submit(const LaunchArgs& args);
    /// Throws where sizes and ranges are such that launch would; it asks for no memory.
    virtual void check(const LaunchArgs& /*args*/) {}
    /// How many values launch_packed takes; 0 where the arguments must come through launch.
    virtual std::size_t packed_slots() const { return 0; }
    /// As launch, of arguments that lie as the code reads them, in the order of the entry's params:
    /// of an array the address of element [0, 0, ...], extents, strides; of a number its bits.
    /// Behind them the results, zeros before.
    virtual Fault launch_packed(std::int64_t* packed, int threads);
    /// What Fault::site counts: the fault sites of the lowered module (those that passes add
    /// included), function after function; a fault in a called function keeps its own number on its
    /// way out. Empty where no launch faults.
    virtual std::span<const ir::FaultSite> sites() const = 0;
    /// The address of the entry with C's calling convention (arrays are pointers), as long as this
    /// object lives; null where it was not asked for. Its faults go to the callback hook.
    virtual void* callback() const { return nullptr; }
    /// The generated code for people: LLVM IR, OpenCL C, PTX (empty where there is none).
    virtual std::string source() const { return {}; }
    /// The machine's instructions as assembly; empty where the back end cannot tell.
    virtual std::string assembly() const { return {}; }
    /// The same with the lines that it comes from; generated anew.
    virtual Listing listing() const;
};

/// What callbacks do with a fault before they return to C: set once, by the language above the
/// engine. Called on the thread that called back.
using CallbackFault = void (*)(const void* callback, const Fault& fault);
void set_callback_hook(CallbackFault hook);
void report_callback_fault(const void* callback, const Fault* fault) noexcept;

struct CompileOptions {
    bool fastmath = false;  ///< floats may be re-associated, contracted and approximated
    bool use_cache = true;
    bool debug = false;                 ///< debuggers and profilers see the code's lines
    bool callback = false;              ///< callable from C too: Executable::callback
    std::uint64_t callback_failed = 0;  ///< bits that a callback returns after a fault
};

/// The vendor's own objects; which they are says unisono/unisono.h.
struct NativeHandles {
    const char* interface_name = "";
    void *context = nullptr, *device = nullptr, *queue = nullptr;
};

class Device {
  public:
    virtual ~Device() = default;
    virtual const DeviceInfo& info() const = 0;
    /// What else the driver tells of it.
    virtual std::vector<DeviceProperty> properties();
    /// Parts of it that are devices, of so many compute units each; they live as long as the
    /// process. Throws where it cannot be divided so.
    virtual std::vector<Device*> divided(std::span<const int> units);
    /// Its own among the devices of the process, from 1 on.
    std::uint32_t number() const { return number_; }
    /// Whether a driver works here: its threads exist in the process that found the device, and not
    /// in a child of fork.
    bool is_usable() const;
    /// Throws a Device error where it does not.
    void require_usable() const;
    /// Memory that is taken and given again, and counted.
    DevicePool& pool() { return pool_; }
    /// From the driver.
    virtual Memory allocate(std::int64_t bytes) = 0;
    /// After the work on it that was submitted so far; does not wait for that.
    virtual void free(Memory memory) noexcept = 0;
    virtual void copy_in(Memory to, std::int64_t offset, const void* from, std::int64_t bytes) = 0;
    virtual void copy_out(void* to, Memory from, std::int64_t offset, std::int64_t bytes) = 0;
    virtual void copy(Memory to, std::int64_t to_offset, Memory from, std::int64_t from_offset,
                      std::int64_t bytes) = 0;
    /// Takes the module as it comes from the tape or the front end; runs passes::lower for its
    /// target itself.
    virtual std::unique_ptr<Executable> compile(ir::Module module,
                                                const CompileOptions& options) = 0;
    virtual void synchronize() = 0;
    /// Where launches and copies go by default; null where they end before they return.
    virtual Queue* own_queue() { return nullptr; }
    /// Where those of the calling thread go.
    Queue* queue() {
        QueueScope* scope = QueueScope::of(*this);
        return scope ? &scope->queue() : own_queue();
    }
    /// Where copies between the host and the device go, beside what is computed.
    virtual Queue* copy_queue() { return own_queue(); }
    /// A further queue, which lives as long as the process. Throws where there are none.
    virtual Queue& make_queue(const QueueOptions& options);
    virtual NativeHandles native() { return {}; }

  private:
    static std::uint32_t next_number();
    const std::uint32_t number_ = next_number();
    const unsigned forks_ = LongMutex::forks();  ///< when the device was found
    DevicePool pool_{*this};
};

class Backend {
  public:
    virtual ~Backend() = default;
    virtual std::string_view name() const = 0;
    /// Devices present, found once; empty where the vendor library or a device is missing.
    virtual std::vector<Device*> devices() = 0;
    /// What was searched and found, one line each, for `python -m unisono doctor`.
    virtual std::vector<std::string> report() = 0;
};

struct Registration {
    explicit Registration(Backend& backend);
};

std::span<Backend* const> backends();
Backend* find_backend(std::string_view name);
/// All devices: cpu first, then by back end; "interp" and "null" only when asked by name.
std::vector<Device*> all_devices();
/// The device of that name ("cpu", "opencl", "opencl:cpu:0", "gpu", "interp"...); throws a Device
/// error that lists those present.
Device& find_device(std::string_view name);

}  // namespace unisono
