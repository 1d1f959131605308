// One OpenCL device: its context and queue, memory and copies, and the programs built for it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "backends/backend.h"
#include "backends/c_source/program.h"
#include "backends/host/shared.h"
#include "backends/memory/memory_block.h"
#include "backends/opencl/api.h"
#include "backends/opencl/host_memory.h"
#include "backends/opencl/libraries.h"
#include "backends/opencl/queue.h"
#include "core/threads/fork.h"

namespace unisono::opencl {

class OpenCLDevice;

/// Built text, shared by the executables that have the same text.
struct BuiltProgram {
    const OpenCLDevice& device;
    cl_program program = nullptr;
    explicit BuiltProgram(const OpenCLDevice& d) : device(d) {}
    BuiltProgram(const BuiltProgram&) = delete;
    BuiltProgram& operator=(const BuiltProgram&) = delete;
    ~BuiltProgram();
};

/// A few bytes that the host reads and writes itself, but for the time of commands that use them.
struct SharedBytes {
    cl_mem buffer = nullptr;
    char* host = nullptr;
    std::int64_t bytes = 0;
};

class OpenCLDevice final : public Device,
                           public HostShared,
                           public BlockSource,
                           public LibrarySource {
  public:
    OpenCLDevice(cl_device_id id, cl_platform_id platform, DeviceInfo info);

    const DeviceInfo& info() const override { return info_; }
    Memory allocate(std::int64_t bytes) override;
    void free(Memory memory) noexcept override;
    std::unique_ptr<MemoryBlock> make_block(MemoryKind kind, std::int64_t bytes) override;
    std::unique_ptr<MemoryBlock> adopt_block(ForeignMemory memory) override;
    void copy_in(Memory to, std::int64_t offset, const void* from, std::int64_t bytes) override;
    void copy_out(void* to, Memory from, std::int64_t offset, std::int64_t bytes) override;
    void copy(Memory to, std::int64_t to_offset, Memory from, std::int64_t from_offset,
              std::int64_t bytes) override;
    std::unique_ptr<Executable> compile(ir::Module module, const CompileOptions& options) override;
    void synchronize() override;
    bool shares_memory() const override { return shares_memory_; }
    void* map(Memory memory) override;
    void unmap(Memory memory, void* address) noexcept override;
    std::int64_t cache_bytes() const override { return cache_bytes_; }
    OpenCLQueue* own_queue() override;
    Queue* copy_queue() override;
    Queue& make_queue(const QueueOptions& options) override;
    std::vector<DeviceProperty> properties() override;
    DeviceLibraries* libraries() override;  // libraries.cpp
    std::vector<std::string> library_report() { return libraries_.report(); }
    std::vector<Device*> divided(std::span<const int> units) override;
    NativeHandles native() override { return {"opencl", context(), id_, here().handle()}; }

    cl_device_id id() const { return id_; }
    /// Where the calling thread's commands go.
    OpenCLQueue& here() { return static_cast<OpenCLQueue&>(*queue()); }
    /// Copies without waiting for it, from bytes and to bytes that live until it is done.
    void start_copy_in(Memory to, const void* from, std::int64_t bytes);
    void start_copy_out(void* to, Memory from, std::int64_t bytes);
    /// So many bytes at least; null where the device's memory is not the host's.
    std::optional<SharedBytes> take_shared(std::int64_t bytes);
    /// Once the commands that use them are done.
    void give_back(SharedBytes shared) noexcept;
    /// Builds text, or returns what was built from the same text and options before.
    std::shared_ptr<BuiltProgram> build(const std::string& source, const CompileOptions& options);
    void check(cl_int code, const char* call) const { opencl::check(code, call, info_.name); }
    void release(cl_mem buffer) noexcept;
    /// How many buffers were released so far.
    std::uint64_t released() const { return released_.load(std::memory_order_acquire); }
    /// A buffer over memory of the host, which is given back once driver and arrays have let go.
    cl_mem buffer_over(HostMemory memory);

  private:
    /// Whether its memory is the host's, so that buffers may lie where the host says.
    bool is_on_host() const;
    /// Whether host and device see each other's bytes there as soon as commands are done.
    bool is_coherent();
    /// Where the host finds the bytes of a buffer that allocate() made; null where it does not.
    const char* address_of(Memory memory);
    /// Bytes of a buffer for so many; throws where that is too large.
    std::int64_t buffer_bytes(std::int64_t bytes) const;
    cl_context context();
    void open();
    std::unique_ptr<OpenCLQueue> open_queue(const QueueOptions& options);
    std::string build_options(const CompileOptions& options) const;
    /// The module, lowered, as text.
    c_source::Program write(const ir::Module& module, bool relaunches, bool fills_groups) const;
    std::string build_log(cl_program program) const;
    cl_program program_of_text(const std::string& source, const std::string& flags);
    cl_program program_of_binary(const std::string& binary, const std::string& flags);
    std::string binary_of(cl_program program) const;
    std::string driver() const;

    cl_device_id id_;
    cl_platform_id platform_;
    DeviceInfo info_;
    const bool shares_memory_;
    const std::int64_t cache_bytes_;
    OpenCLLibraries libraries_{*this};
    std::once_flag opened_;
    // Never released: at exit the driver may be gone before us.
    cl_context context_ = nullptr;
    std::unique_ptr<OpenCLQueue> queue_;
    int parts_ = 0;  ///< that were made of it
    std::once_flag copies_opened_;
    std::unique_ptr<OpenCLQueue> copies_;
    std::atomic<std::uint64_t> released_ = 0;
    std::once_flag coherence_asked_;
    bool is_coherent_ = false;
    std::mutex shared_mutex_;  ///< of what follows
    std::unordered_map<std::uintptr_t, const char*>
        addresses_;                                            ///< of buffers of the host's memory
    std::map<std::int64_t, std::vector<SharedBytes>> shared_;  ///< that are free, by size
    LongMutex programs_mutex_;
    std::map<std::string, std::weak_ptr<BuiltProgram>> programs_;  ///< by options and text
};

/// What clGetDeviceInfo says, as DeviceInfo (without the name).
DeviceInfo describe(cl_device_id id);

}  // namespace unisono::opencl
