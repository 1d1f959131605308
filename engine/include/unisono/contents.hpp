// Elements of an array for code that is not the engine's; included by unisono.hpp.
#pragma once

#include "unisono/unisono.hpp"

namespace un {

/// The contents of an array in host memory.
template <class T>
class Contents {
  public:
    explicit Contents(const Array& a) {
        detail::checked(detail::engine().open(
            a.handle(), std::is_const_v<T> || std::is_void_v<T> ? UN_READ : UN_WRITE, &c_));
        try {
            check();
        } catch (...) {
            un_table->close(&c_);
            throw;
        }
    }
    Contents(const Array& a, int access) {
        detail::checked(detail::engine().open(a.handle(), access, &c_));
    }
    Contents(Contents&& o) noexcept : c_(o.c_) { o.c_.kept = nullptr; }
    Contents& operator=(Contents&&) = delete;
    ~Contents() {
        if (c_.kept) un_table->close(&c_);
    }

    T* data() const { return static_cast<T*>(c_.data); }
    std::int64_t shape(int axis) const { return c_.array.shape[axis]; }
    std::int64_t stride(int axis) const { return c_.array.strides[axis]; }
    std::int64_t size() const { return c_.array.size; }
    /// The element at a full index, not checked; negative ones do not count from the end.
    template <std::integral... I>
    auto& operator()(I... items) const {
        const std::int64_t* step = c_.array.strides;
        std::int64_t offset = 0;
        ((offset += static_cast<std::int64_t>(items) * *step++), ...);
        return data()[offset];
    }
    /// Handle, offset and device too.
    const un_contents& raw() const { return c_; }

  private:
    void check() const {
        if (c_.array.dtype != dtype_of<T>)
            throw Error(UN_TYPE_ERROR, "open: the array's elements are of another dtype; use "
                                       "astype first");
        if (!c_.data)
            throw Error(UN_DEVICE_ERROR, "open: the array is on " +
                                             Device(c_.array.device).name() +
                                             "; copy it with .to(\"cpu\") first");
    }
    un_contents c_{};
};

template <class T>
Contents<T> Array::open() const {
    return Contents<T>(*this);
}
inline Contents<void> Array::open(int access) const { return Contents<void>(*this, access); }

}  // namespace un
