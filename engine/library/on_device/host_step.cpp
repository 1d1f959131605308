// Memory of host steps.
#include "library/on_device/host_step.h"

#include <algorithm>

#include "context/context.h"
#include "core/error.h"
#include "core/pool.h"

namespace unisono::library {

HostCopy::HostCopy(const View& far, Device& device)
    : storage_(std::make_unique<Storage>()), far_(far), near_(far), device_(&device) {
    UNISONO_ASSERT(far.layout->contiguous());
    storage_->bytes = std::max<std::int64_t>(1, bytes());
    storage_->memory = {reinterpret_cast<std::uintptr_t>(pool::allocate(storage_->bytes)),
                        storage_->bytes};
    near_.storage = storage_.get();
    near_.offset = 0;
}

HostCopy::~HostCopy() {
    if (storage_) pool::free(storage_->data(), storage_->memory.bytes);
}

void HostCopy::copy_out() const {
    count_apart(counters_apart().bytes_copied, bytes());
    device_->copy_out(storage_->data(), far_.storage->memory, far_.offset * size_of(far_.dtype),
                      bytes());
}

void HostCopy::copy_in() const {
    count_apart(counters_apart().bytes_copied, bytes());
    device_->copy_in(far_.storage->memory, far_.offset * size_of(far_.dtype), storage_->data(),
                     bytes());
}

}  // namespace unisono::library
