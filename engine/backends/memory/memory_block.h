// Memory of a device that does not come from its pool: what the host uses too, and what others own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "backends/backend.h"

namespace unisono {

enum class MemoryKind : std::uint8_t {
    Device,  ///< from the device's pool
    Host,    ///< from the host's pool
    Pinned,  ///< the host's, from which the device's driver copies without a stage of its own
    Shared,  ///< the device computes on it, and the host can use it while the device does not
};
constexpr std::array<std::string_view, 4> memory_kind_names{"device", "host", "pinned", "shared"};

/// Memory that lives as long as this object and the work that was submitted on it.
struct MemoryBlock {
    MemoryKind kind = MemoryKind::Device;
    Memory memory;         ///< as launches take it; handle 0: only the host computes on it
    char* host = nullptr;  ///< its address for the host, if it has one

    MemoryBlock() = default;
    MemoryBlock(const MemoryBlock&) = delete;
    MemoryBlock& operator=(const MemoryBlock&) = delete;
    virtual ~MemoryBlock() = default;
    /// Waits for what its other owners gave the device to do with it.
    virtual void wait_for_others() {}
};

/// What others have on a device, as the vendor's own objects.
struct ForeignMemory {
    void* buffer = nullptr;   ///< or null, and
    void* address = nullptr;  ///< of memory that host and device use,
    std::int64_t bytes = 0;   ///< and its size
    void* queue = nullptr;    ///< that they use it on, or null
    std::shared_ptr<void> owner;
};

/// A device that has such memory implements this beside Device.
class BlockSource {
  public:
    virtual ~BlockSource() = default;
    /// Of kind Pinned or Shared. Throws a Device error where there is none of that kind.
    virtual std::unique_ptr<MemoryBlock> make_block(MemoryKind kind, std::int64_t bytes) = 0;
    virtual std::unique_ptr<MemoryBlock> adopt_block(ForeignMemory memory) = 0;

    /// Bytes in use.
    std::int64_t in_use(MemoryKind kind) const {
        return in_use_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
    }
    void note_use(MemoryKind kind, std::int64_t bytes) {
        in_use_[static_cast<std::size_t>(kind)].fetch_add(bytes, std::memory_order_relaxed);
    }

  private:
    std::array<std::atomic<std::int64_t>, memory_kind_names.size()> in_use_{};
};

}  // namespace unisono
