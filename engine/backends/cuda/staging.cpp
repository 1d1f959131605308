// Keeps pinned memory: to pin takes the driver long.
#include "backends/cuda/staging.h"

#include "backends/cuda/device.h"

namespace unisono::cuda {

Staging::Piece Staging::take(std::int64_t bytes) {
    std::int64_t size = 256;
    while (size < bytes) size *= 2;
    take_back();
    {
        std::lock_guard lock(mutex_);
        auto& kept = free_[size];
        if (!kept.empty()) {
            const Piece piece = kept.back();
            kept.pop_back();
            return piece;
        }
    }
    const CudaDevice::Entered entered(device_);
    void* made = nullptr;
    device_.check(device_.api().host_allocate(&made, static_cast<std::size_t>(size), 0),
                  "cuMemHostAlloc");
    return {static_cast<char*>(made), size};
}

/// A queue that is asked lets go of what it kept, which may give pieces back: not under the lock.
void Staging::take_back() {
    for (;;) {
        Used used;
        {
            std::lock_guard lock(mutex_);
            if (used_.empty()) return;
            used = used_.front();
            used_.pop_front();
        }
        const bool is_done = used.completion.is_done();
        std::lock_guard lock(mutex_);
        if (!is_done) return used_.push_front(used);
        free_[used.piece.bytes].push_back(used.piece);
    }
}

void Staging::give(Piece piece, const Completion& used) noexcept {
    if (!piece.data) return;
    std::lock_guard lock(mutex_);
    if (used.queue) {
        used_.push_back({piece, used});
    } else {
        free_[piece.bytes].push_back(piece);
    }
}

}  // namespace unisono::cuda
