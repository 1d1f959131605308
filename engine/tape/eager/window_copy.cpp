// Loops that copy the elements of strided windows, a few at a time.
#include "tape/eager/window_copy.h"

#include <cstring>

#include "core/element_copies.h"
#include "core/limits.h"

namespace unisono {

namespace {

/// The axes of a window: those of extent 1 left out, neighbours joined where one step leads through
/// both.
struct Axes {
    int rank = 0;
    std::int64_t shape[max_rank], strides[max_rank];

    explicit Axes(const Layout& l) {
        const Dims extents = l.shape(), steps = l.strides();
        for (std::size_t k = 0; k < extents.size(); ++k) {
            if (extents[k] == 1) continue;
            if (rank > 0 && strides[rank - 1] == steps[k] * extents[k]) {
                shape[rank - 1] *= extents[k];
                strides[rank - 1] = steps[k];
            } else {
                shape[rank] = extents[k];
                strides[rank++] = steps[k];
            }
        }
    }
};

template <class T>
[[gnu::always_inline]] inline void copy_row(T* to, const T* from, std::int64_t n) {
    if (n * static_cast<std::int64_t>(sizeof(T)) > limits::row_copy_bytes) {
        std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(n) * sizeof(T));
    } else {
        for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
    }
}

template <class T>
[[gnu::always_inline]] inline void gather_row(T* to, const T* from, std::int64_t n,
                                              std::int64_t step) {
    if (step == 1) {
        copy_row(to, from, n);
    } else if (step == 0) {
        const T value = *from;
        for (std::int64_t i = 0; i < n; ++i) to[i] = value;
    } else {
#pragma GCC unroll 4
        for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * step];
    }
}

/// Copies a strided window, from an axis on, to elements side by side; returns their end.
template <class T>
T* gather(T* to, const T* from, const Axes& axes, int axis = 0) {
    const int left = axes.rank - axis;
    if (left == 0) {
        *to = *from;
        return to + 1;
    }
    const std::int64_t n = axes.shape[axis], step = axes.strides[axis];
    if (left == 1) {
        gather_row(to, from, n, step);
        return to + n;
    }
    if (step == 0) {  // the same rows again and again
        T* const first = to;
        to = gather(to, from, axes, axis + 1);
        const std::int64_t all = to - first;
        for (std::int64_t i = 1; i < n; ++i, to += all) copy_row(to, first, all);
        return to;
    }
    if (left > 2) {
        for (std::int64_t i = 0; i < n; ++i) to = gather(to, from + i * step, axes, axis + 1);
        return to;
    }
    const std::int64_t width = axes.shape[axis + 1], inner = axes.strides[axis + 1];
    if (inner == 0 && spread_few(to, from, n, step, width)) return to + n * width;
    for (std::int64_t i = 0; i < n; ++i, to += width) gather_row(to, from + i * step, width, inner);
    return to;
}

/// The other way; a source step of 0 spreads one element.
template <class T>
const T* scatter(T* to, const T* from, std::int64_t from_step, const Axes& axes, int axis = 0) {
    if (axis == axes.rank) {
        *to = *from;
        return from + from_step;
    }
    const std::int64_t n = axes.shape[axis], step = axes.strides[axis];
    if (axis + 1 < axes.rank) {
        for (std::int64_t i = 0; i < n; ++i)
            from = scatter(to + i * step, from, from_step, axes, axis + 1);
        return from;
    }
    if (step == 1 && from_step == 1) {
        copy_row(to, from, n);
    } else if (step == 1) {
        const T value = *from;
        for (std::int64_t i = 0; i < n; ++i) to[i] = value;
    } else {
        for (std::int64_t i = 0; i < n; ++i) to[i * step] = from[i * from_step];
    }
    return from + n * from_step;
}

}  // namespace

void gather_view(char* to, const View& v) {
    const Axes axes(*v.layout);
    with_size(size_of(v.dtype), [&]<class T>() {
        gather(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(v.data()), axes);
    });
}

void scatter_view(const View& v, const char* from, bool one) {
    const Axes axes(*v.layout);
    with_size(size_of(v.dtype), [&]<class T>() {
        scatter(reinterpret_cast<T*>(v.data()), reinterpret_cast<const T*>(from), one ? 0 : 1,
                axes);
    });
}

}  // namespace unisono
