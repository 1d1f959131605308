// One CUDA device, used through the driver and its primary context, which other libraries of the
// process use, too.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/backend.h"
#include "backends/cuda/api.h"
#include "backends/cuda/queue.h"
#include "backends/cuda/staging.h"
#include "backends/device_libraries.h"
#include "backends/memory/memory_block.h"
#include "backends/stream_source.h"
#include "core/threads/fork.h"

namespace unisono::cuda {

class CudaDevice;

/// Machine code in the device, shared by the executables that have the same PTX.
struct LoadedModule : std::enable_shared_from_this<LoadedModule> {
    const CudaDevice& device;
    Module module = nullptr;
    explicit LoadedModule(const CudaDevice& d) : device(d) {}
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;
    ~LoadedModule();
};

class CudaDevice final : public unisono::Device,
                         public BlockSource,
                         public StreamSource,
                         public LibrarySource {
  public:
    CudaDevice(const Api& api, int ordinal);

    const DeviceInfo& info() const override { return info_; }
    Memory allocate(std::int64_t bytes) override;
    void free(Memory memory) noexcept override;
    void copy_in(Memory to, std::int64_t offset, const void* from, std::int64_t bytes) override;
    void copy_out(void* to, Memory from, std::int64_t offset, std::int64_t bytes) override;
    void copy(Memory to, std::int64_t to_offset, Memory from, std::int64_t from_offset,
              std::int64_t bytes) override;
    std::unique_ptr<Executable> compile(ir::Module module, const CompileOptions& options) override;
    void synchronize() override;
    CudaQueue* own_queue() override;
    Queue* copy_queue() override;
    Queue& make_queue(const QueueOptions& options) override;
    std::vector<DeviceProperty> properties() override;
    NativeHandles native() override;

    // foreign.cpp
    std::unique_ptr<MemoryBlock> make_block(MemoryKind kind, std::int64_t bytes) override;
    std::unique_ptr<MemoryBlock> adopt_block(ForeignMemory memory) override;
    Queue& adopt_queue(void* stream) override;
    void come_behind(void* stream) override;
    void let_wait(void* stream) override;
    bool owns(const void* address) override;
    bool copy_from_peer(const Memory& to, unisono::Device& device, const Memory& from,
                        std::int64_t offset, std::int64_t bytes) override;

    DeviceLibraries* libraries() override;  // libraries/

    const Api& api() const { return api_; }
    /// Its version: 12040 is that of CUDA 12.4.
    int driver() const { return driver_; }
    /// Where the calling thread's commands go.
    CudaQueue& here() { return static_cast<CudaQueue&>(*queue()); }
    Staging& staging() { return staging_; }
    /// Throws where result is not 0.
    void check(Result result, const char* call) const;

    /// While it lives, the device's context is the calling thread's current one. Another one that
    /// was current is so again behind it.
    class Entered {
      public:
        explicit Entered(const CudaDevice& device) : Entered(device, true) {}
        ~Entered();
        Entered(const Entered&) = delete;
        Entered& operator=(const Entered&) = delete;

      private:
        friend class CudaDevice;
        Entered(const CudaDevice& device, bool opens);
        const CudaDevice& device_;
        const CudaDevice* const outer_;
        bool is_pushed_ = false;
    };

    bool is_lost() const { return lost_.load(std::memory_order_relaxed) != 0; }
    /// Whether that says that the device is lost, which is remembered.
    bool note_lost(Result result) const;
    /// Work that was promised never came to the device: it counts as lost.
    void lose(Result result) const { lost_.store(result, std::memory_order_relaxed); }
    Context context() const { return context_.load(std::memory_order_acquire); }
    /// Throws a Device error where the device is lost.
    void require_present() const;

    /// Events without times, which are used again.
    Event take_event();
    void give_event(Event event);
    Event make_timed_event();
    void give_timed_event(Event event);
    /// When an event with times was, in ns of the host's clock.
    std::int64_t ns_of(Event event);

    /// Loads what PTX is in machine code, or finds it loaded.
    std::shared_ptr<LoadedModule> load(const std::string& ptx, const CompileOptions& options);
    /// Keeps an object until all that the device's queues were given so far is done.
    void keep(const std::shared_ptr<const void>& object) noexcept;

  private:
    int attribute(DeviceAttribute a) const;
    bool reaches(CudaDevice& other);
    void choose_architecture(int capability);
    void open();
    std::vector<CudaQueue*> queues();
    std::string link(const std::string& ptx) const;
    Result load_image(const std::string& image, Module& module, std::string& log) const;

    const Api& api_;
    cuda::Device device_ = 0;
    const int ordinal_;
    DeviceInfo info_;
    int driver_ = 0, capability_ = 0;
    std::string architecture_, ptx_version_;  ///< what PTX is for: "sm_80", "+ptx70"
    mutable std::atomic<Result> lost_ = 0;

    std::once_flag opened_;
    std::atomic<Context> context_ = nullptr;  ///< null until the device is used
    bool has_pools_ = false;
    /// Memory is made by one stream, which never waits, and let go of by another, which does.
    Stream makes_ = nullptr, frees_ = nullptr;
    ProcessMutex mutex_;  ///< of the lists
    std::vector<std::unique_ptr<CudaQueue>> queues_;
    std::atomic<CudaQueue*> own_ = nullptr;
    CudaQueue* copies_ = nullptr;
    std::map<Stream, CudaQueue*> adopted_;         ///< of others' streams
    std::map<const CudaDevice*, bool> can_reach_;  ///< its memory, by peer access
    std::vector<Event> events_, timed_events_;
    Event clock_ = nullptr;  ///< was at this time of the host
    std::int64_t clock_ns_ = 0;
    Staging staging_{*this};
    std::unique_ptr<DeviceLibraries> libraries_;
    LongMutex modules_mutex_;
    std::map<std::string, std::weak_ptr<LoadedModule>> modules_;  ///< by PTX
};

}  // namespace unisono::cuda
