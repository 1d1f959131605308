// Memory for the time of a call.
#pragma once

#include "tape/storage.h"

namespace unisono {

/// A view of memory that lives as long as this object.
class Temporary {
  public:
    Temporary(const Layout* layout, DType t, Device* device)
        : view{Storage::create(device, layout->size() * size_of(t)), layout, 0, t} {
        view.storage->retain();
        view.storage->allocate();
    }
    Temporary(Temporary&& other) noexcept : view(other.view) { other.view.storage = nullptr; }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        if (view.storage) view.storage->release();
    }
    View view;
};

}  // namespace unisono
