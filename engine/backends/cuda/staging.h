// Pinned memory of the host, by which copies go to and from a device without waiting for it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "backends/queue.h"
#include "core/threads/fork.h"

namespace unisono::cuda {

class CudaDevice;

class Staging {
  public:
    explicit Staging(CudaDevice& device) : device_(device) {}

    struct Piece {
        char* data = nullptr;
        std::int64_t bytes = 0;
    };
    /// The most that one piece has; who copies more takes several.
    static constexpr std::int64_t most = std::int64_t{4} << 20;

    /// At least that many bytes. The caller has entered the device.
    Piece take(std::int64_t bytes);
    /// Once that is done.
    void give(Piece piece, const Completion& used) noexcept;
    void give(Piece piece) noexcept { give(piece, {}); }

  private:
    struct Used {
        Piece piece;
        Completion completion;
    };
    void take_back();
    CudaDevice& device_;
    ProcessMutex mutex_;
    std::map<std::int64_t, std::vector<Piece>> free_;  ///< by size; for good
    std::deque<Used> used_;
};

}  // namespace unisono::cuda
