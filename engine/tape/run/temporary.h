// Memory for the time of a call.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/pool.h"
#include "tape/storage.h"

namespace unisono {

/// A packed array that lives as long as this object. It touches nothing of the context: threads
/// that run kernels without holding the engine make such ones.
class Temporary {
  public:
    Temporary(Dims shape, DType t, Device* device)
        : layout_(Layout::unshared(shape)), storage_(std::make_unique_for_overwrite<Storage>()) {
        const std::int64_t bytes =
            std::max<std::int64_t>(1, layout_->size() * static_cast<std::int64_t>(size_of(t)));
        storage_->device = device;
        storage_->bytes = bytes;
        storage_->refs = 1;
        const bool on_host = !device || device->info().host_memory;
        storage_->memory = on_host ? on_host_memory(bytes) : device->pool().take(bytes);
        view = {storage_.get(), layout_.get(), 0, t};
    }
    Temporary(Temporary&&) noexcept = default;
    Temporary& operator=(Temporary&&) = delete;
    /// Gives device memory back, which only that work uses, before the object goes.
    void give(std::vector<Completion> users) noexcept {
        storage_->device->pool().give(storage_->memory, std::move(users));
        storage_.reset();
    }
    ~Temporary() {
        if (!storage_) return;
        if (storage_->addressable()) {
            pool::free(storage_->data(), storage_->memory.bytes);
        } else {
            storage_->device->pool().give(storage_->memory);
        }
    }

  private:
    static Memory on_host_memory(std::int64_t bytes) {
        return {reinterpret_cast<std::uintptr_t>(pool::allocate(bytes)), bytes};
    }

    std::unique_ptr<const Layout, Layout::Free> layout_;
    std::unique_ptr<Storage> storage_;

  public:
    View view;
};

}  // namespace unisono
