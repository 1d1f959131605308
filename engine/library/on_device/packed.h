// Views on memory of a device that no array has, for what takes views.
#pragma once

#include <memory>

#include "backends/host/program.h"
#include "library/on_device/device_work.h"

namespace unisono::library {

/// A packed view of memory that somebody else holds, for one call.
class Packed {
  public:
    Packed(Device& device, const SlotMemory& at, DType t, Dims shape)
        : storage_(std::make_unique<Storage>()), layout_(Layout::unshared(shape)) {
        storage_->device = &device;
        storage_->memory = at.memory;
        storage_->bytes = at.memory.bytes;
        view_ = {storage_.get(), layout_.get(), at.offset / size_of(t), t};
    }
    Packed(Device& device, const DeviceVector& v, Dims shape)
        : Packed(device, {v.memory, v.offset * size_of(v.dtype)}, v.dtype, shape) {}
    operator const View&() const { return view_; }  // NOLINT(google-explicit-constructor)

  private:
    std::unique_ptr<Storage> storage_;
    std::unique_ptr<const Layout, Layout::Free> layout_;
    View view_{};
};

}  // namespace unisono::library
