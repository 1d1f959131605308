// What the back ends whose devices are the host itself share: memory from the pool.
#pragma once

#include <cstring>
#include <string>

#include "backends/backend.h"
#include "core/pool.h"

namespace unisono {

class HostDevice : public Device {
  public:
    explicit HostDevice(std::string name) {
        info_.name = std::move(name);
        info_.kind = "cpu";
        info_.memory_bytes = pool::limit();
        info_.max_work_group_size = 1024;
        info_.max_work_item_sizes = {1024, 1024, 1024};
        info_.local_memory_bytes = 1 << 20;
        info_.host_memory = true;
    }

    const DeviceInfo& info() const override { return info_; }
    Memory allocate(std::int64_t bytes) override {
        return {reinterpret_cast<std::uintptr_t>(pool::allocate(bytes)), bytes};
    }
    void free(Memory m) noexcept override {
        pool::free(reinterpret_cast<void*>(m.handle), m.bytes);
    }
    void copy_in(Memory to, std::int64_t offset, const void* from, std::int64_t bytes) override {
        std::memmove(at(to, offset), from, static_cast<std::size_t>(bytes));
    }
    void copy_out(void* to, Memory from, std::int64_t offset, std::int64_t bytes) override {
        std::memmove(to, at(from, offset), static_cast<std::size_t>(bytes));
    }
    void copy(Memory to, std::int64_t to_offset, Memory from, std::int64_t from_offset,
              std::int64_t bytes) override {
        std::memmove(at(to, to_offset), at(from, from_offset), static_cast<std::size_t>(bytes));
    }
    void synchronize() override {}

  protected:
    DeviceInfo info_;

  private:
    static char* at(Memory m, std::int64_t offset) {
        return reinterpret_cast<char*>(m.handle) + offset;
    }
};

}  // namespace unisono
