// Runs the host program of a module of device kernels: the loops, branches and returns around them.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "backends/backend.h"
#include "backends/listing.h"
#include "core/native/block.h"
#include "passes/kernels/map_to_grid.h"

namespace unisono {

/// Where the memory of a slot is.
struct SlotMemory {
    Memory memory;
    std::int64_t offset = 0;  ///< bytes
};

/// A function of core/native/native.h done on a device, where memory stays. Addresses among its
/// values are made by argument_address of numbers in `memories`: see memory_at. It may throw.
using DeviceNative = void (*)(Device& device, std::span<const SlotMemory> memories,
                              std::int64_t* values);
/// Adds functions to the table; names are string literals. Called while the engine is loaded.
bool add_device_natives(std::initializer_list<std::pair<std::string_view, DeviceNative>> functions);
/// Null where only the host has the function.
DeviceNative find_device_native(std::string_view name) noexcept;

/// Memory of a device that a host program made: `data` is its handle.
struct DeviceBlock : Block {
    Device* device;
    bool is_taken = false;  ///< somebody else gives the memory back
};
/// With one reference; memory of the device's pool, in use by the calling thread's queue.
DeviceBlock* make_device_block(Device& device, std::int64_t bytes);
bool is_device_block(const Block& block);

/// Addresses in the memory of an array argument: which one, the first of those that lie in that
/// memory, and how far from its first element, in bytes. Of memory with a block the address is the
/// offset.
constexpr std::int64_t argument_address(std::size_t array) {
    return (static_cast<std::int64_t>(array + 1) << 48) + (std::int64_t{1} << 47);
}
constexpr std::size_t argument_at(std::int64_t address) {
    return static_cast<std::size_t>(address >> 48) - 1;
}

inline SlotMemory memory_at(std::span<const SlotMemory> memories, std::int64_t address) {
    const std::size_t k = argument_at(address);
    return {memories[k].memory, memories[k].offset + address - argument_address(k)};
}

/// What a back end does for a host program.
class KernelLauncher {
  public:
    virtual ~KernelLauncher() = default;
    /// Starts a kernel behind those started before; `function` is its number in the module.
    /// `scalars`: the launch's, then the variables that are passed to kernels. `slots`: by array.
    virtual void start(std::size_t function, std::span<const std::uint64_t> scalars,
                       std::span<const SlotMemory> slots) = 0;
    /// Waits for what was started and reads the first element of a global array without a
    /// parameter; nothing where a kernel failed.
    virtual std::optional<std::uint64_t> read(std::int32_t array) = 0;
    /// Waits for what was started, and prints what it has noted; false where a kernel failed.
    virtual bool wait() = 0;
    virtual Device& device() = 0;
};

/// How a host program ended.
struct HostEnd {
    Fault fault;               ///< of the program itself
    bool has_failed = false;   ///< a kernel failed: its own record tells how
    bool has_results = false;  ///< the program gave the results; else the last kernel did
};

/// What explanations say of a host program: its text, and remarks.
Listing listing_of(const passes::HostProgram& program);
/// The pass in these remarks, and their names: for loops of the host program, for functions that
/// only the host has, and for loops of one work-item.
inline constexpr const char* host_program_pass = "map_to_grid";
inline constexpr const char* host_loop_remark = "HostLoop";
inline constexpr const char* host_function_remark = "HostFunction";
inline constexpr const char* one_work_item_remark = "OneWorkItem";

/// args.results take what the program returns itself.
HostEnd run_host_program(const passes::HostProgram& program, const LaunchArgs& args,
                         KernelLauncher& launcher);

}  // namespace unisono
