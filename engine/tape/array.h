// The array handle: a view with shared ownership, or a scalar value known on the host.
#pragma once

#include <utility>

#include "tape/storage.h"

namespace unisono {

/// What an operation takes: a borrowed view (or a known scalar), and for Python scalars their kind.
struct Arg {
    View view{};  ///< storage null: a scalar, bits in offset
    Weak weak = Weak::None;
    bool is_scalar() const { return view.storage == nullptr; }
    Scalar scalar() const { return {static_cast<std::uint64_t>(view.offset), view.dtype}; }
};

class Array {
  public:
    Array() = default;
    Array(const Array& o) : view_(o.view_), value_(o.value_), readonly_(o.readonly_) { retain(); }
    Array(Array&& o) noexcept
        : view_(std::exchange(o.view_, View{})), value_(o.value_), readonly_(o.readonly_) {}
    Array& operator=(Array o) noexcept {
        std::swap(view_, o.view_);
        std::swap(value_, o.value_);
        std::swap(readonly_, o.readonly_);
        return *this;
    }
    ~Array() {
        if (view_.storage) view_.release();
    }

    /// A handle on the view; takes references of its own. `value`: NumPy's scalar, immutable and a
    /// snapshot.
    static Array of(const View& v, bool value = false) {
        Array a;
        a.view_ = v;
        a.value_ = value;
        a.retain();
        return a;
    }
    /// A handle on new memory, made in place field by field.
    Array(Storage* storage, const Layout* layout, DType dtype, bool value) : value_(value) {
        view_.storage = storage;
        view_.layout = layout;
        view_.dtype = dtype;
        view_.retain();
    }
    static Array known(Scalar s) {
        Array a;
        a.view_ = {nullptr, Layout::scalar(), static_cast<std::int64_t>(s.bits), s.dtype};
        a.value_ = true;
        return a;
    }

    const View& view() const { return view_; }
    Arg arg() const { return {view_, Weak::None}; }
    bool is_known() const { return view_.storage == nullptr; }
    Scalar scalar() const {
        return {static_cast<std::uint64_t>(view_.offset), view_.dtype};
    }  ///< if known
    bool is_value() const { return value_; }
    bool readonly() const {
        return readonly_ || value_ || (view_.storage && view_.storage->readonly);
    }
    void set_readonly() { readonly_ = true; }
    DType dtype() const { return view_.dtype; }
    Dims shape() const { return view_.layout->shape(); }
    Dims strides() const { return view_.layout->strides(); }
    int rank() const { return view_.layout->rank(); }
    std::int64_t size() const { return view_.layout->size(); }
    /// Null for the host.
    Device* device() const { return view_.storage ? view_.storage->device : nullptr; }

  private:
    void retain() {
        if (view_.storage) view_.retain();
    }
    View view_{};
    bool value_ = false;
    bool readonly_ = false;
};

}  // namespace unisono
