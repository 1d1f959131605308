// Maps the memory of a device for runs on the host.
#include "tape/run/first_runs.h"

namespace unisono {

MappedOperands::MappedOperands(const GroupKernel::Call& call, HostShared& device)
    : far_(call), device_(device) {
    views_.reserve(call.inputs.size() + call.outputs.size());
    for (const View& v : call.inputs) views_.push_back(on_host(v));
    for (const View& v : call.outputs) views_.push_back(on_host(v));
}

MappedOperands::~MappedOperands() {
    for (auto& [far, near] : mapped_) device_.unmap(far->memory, near.data());
}

View MappedOperands::on_host(const View& far) {
    if (far.storage->addressable()) return far;
    View near = far;
    for (auto& [known, storage] : mapped_) {
        if (known != far.storage) continue;
        near.storage = &storage;
        return near;
    }
    auto& [known, storage] = mapped_.emplace_back();
    try {
        known = far.storage;
        storage.bytes = known->bytes;
        storage.memory = {reinterpret_cast<std::uintptr_t>(device_.map(known->memory)),
                          known->memory.bytes};
    } catch (...) {
        mapped_.pop_back();  // the others are given back by hand: this object is not whole yet
        for (auto& [other, seen] : mapped_) device_.unmap(other->memory, seen.data());
        throw;
    }
    near.storage = &storage;
    return near;
}

GroupKernel::Call MappedOperands::call() const {
    const std::span<const View> all = views_;
    return {far_.space, all.first(far_.inputs.size()), all.subspan(far_.inputs.size()),
            far_.scalars, nullptr};
}

}  // namespace unisono
