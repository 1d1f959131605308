// Memory and streams that other libraries made in the device's context, and memory of other
// devices.
#include "backends/cuda/device.h"
#include "core/error.h"

namespace unisono::cuda {

namespace {

/// A stream as others name it: 1 and 2 stand for the legacy and the thread's default stream.
Stream to_stream(void* handle) { return static_cast<Stream>(handle); }

/// Steps on it end before they return (submission.cpp), so nothing is under way when it goes.
struct ForeignBlock final : MemoryBlock {
    explicit ForeignBlock(ForeignMemory theirs) : owner(std::move(theirs.owner)) {
        memory = {reinterpret_cast<std::uintptr_t>(theirs.address), theirs.bytes};
    }
    std::shared_ptr<void> owner;
};

}  // namespace

std::unique_ptr<MemoryBlock> CudaDevice::make_block(MemoryKind kind, std::int64_t /*bytes*/) {
    fail(ErrorKind::Device,
         "device '" + info_.name + "' has no " +
             (kind == MemoryKind::Shared ? "memory that the host can use too" : "pinned memory") +
             "; expected an OpenCL device, or memory=\"device\"");
}

bool CudaDevice::owns(const void* address) {
    const Entered entered(*this);
    int ordinal = -1;
    const Result result = api_.pointer_get_attribute(&ordinal, pointer_device_ordinal,
                                                     reinterpret_cast<std::uintptr_t>(address));
    if (note_lost(result)) check(result, "cuPointerGetAttribute");
    return result == 0 && ordinal == ordinal_;
}

std::unique_ptr<MemoryBlock> CudaDevice::adopt_block(ForeignMemory theirs) {
    if (!theirs.address || !owns(theirs.address)) {
        fail(ErrorKind::Device, "device '" + info_.name +
                                    "': the memory of the array is none of this device; expected "
                                    "memory that CUDA made here");
    }
    if (theirs.queue) come_behind(theirs.queue);
    return std::make_unique<ForeignBlock>(std::move(theirs));
}

void CudaDevice::come_behind(void* stream) {
    const Entered entered(*this);
    own_queue()->come_behind(to_stream(stream));
}

void CudaDevice::let_wait(void* stream) {
    const Entered entered(*this);
    CudaQueue& own = *own_queue();
    own.hand_over();
    own.let_wait(to_stream(stream));
}

Queue& CudaDevice::adopt_queue(void* handle) {
    const Entered entered(*this);
    const Stream stream = to_stream(handle);
    Context context = nullptr;
    const Result result = api_.stream_get_context(stream, &context);
    note_lost(result);
    if (result != 0 || context != context_.load()) {
        fail(ErrorKind::Value, "Queue: the stream does not belong to '" + info_.name +
                                   "'; expected the handle of a stream that lives, of the "
                                   "device's primary context, as CUDA's runtime makes them");
    }
    std::lock_guard lock(mutex_);
    CudaQueue*& known = adopted_[stream];
    if (!known) {
        queues_.push_back(std::make_unique<CudaQueue>(*this, stream));  // for good, as all
        known = queues_.back().get();
    }
    return *known;
}

// ---- Copies between devices

/// Whether the driver copies from that device without the host between.
bool CudaDevice::reaches(CudaDevice& other) {
    std::lock_guard lock(mutex_);
    const auto [known, is_new] = can_reach_.try_emplace(&other, false);
    if (!is_new) return known->second;
    int can = 0;
    check(api_.can_access_peer(&can, device_, other.device_), "cuDeviceCanAccessPeer");
    if (can == 0) return false;
    const Result result = api_.enable_peer_access(other.context(), 0);
    if (result != peer_access_already_enabled) check(result, "cuCtxEnablePeerAccess");
    return known->second = true;
}

bool CudaDevice::copy_from_peer(const Memory& to, unisono::Device& device, const Memory& from,
                                std::int64_t offset, std::int64_t bytes) {
    auto* other = dynamic_cast<CudaDevice*>(&device);
    if (!other || !other->own_queue()) return false;
    const Entered entered(*this);
    if (!reaches(*other)) return false;
    CudaQueue& q = here();
    const std::uint64_t number = q.submit("cuMemcpyPeerAsync", [&](Stream stream) {
        return api_.copy_to_peer(to.handle, context(),
                                 from.handle + static_cast<std::uintptr_t>(offset),
                                 other->context(), static_cast<std::size_t>(bytes), stream);
    });
    // The end of the memory waits for its own device's queues: one of them waits for the copy.
    other->copies_->wait_on({&q, number});
    other->copies_->fence();
    return true;
}

}  // namespace unisono::cuda
