// argmax and argmin: each chunk of a lane gives its extreme value; the first chunk with the best
// one is searched for its place.
#include "library/extremes.h"

#include <vector>

#include "core/parallel.h"
#include "library/lanes.h"
#include "library/order.h"

namespace unisono::library {

namespace {

constexpr std::int64_t chunk_elements = 1 << 15;  ///< what a thread takes at once

/// Whether a is a better extreme than b; no NaN is looked at.
template <bool largest, class T>
bool better(T a, T b) {
    return largest ? before(b, a) : before(a, b);
}

template <class T>
struct Extreme {
    T value;
    bool nan;
};

/// Over numbers that the processor compares itself: lanes that the compiler makes vectors of.
template <bool largest, class T>
Extreme<T> extreme_of_numbers(const T* x, std::int64_t n) {
    constexpr int width = 64 / static_cast<int>(sizeof(T)) * 2;
    T best[width];
    bool nan = false;
    if (n < width) {
        best[0] = x[0];
        for (std::int64_t k = 0; k < n; ++k) {
            nan |= x[k] != x[k];
            best[0] = (largest ? x[k] > best[0] : x[k] < best[0]) ? x[k] : best[0];
        }
        return {best[0], nan};
    }
    T odd[width];  // the sum of x - x: NaN if any is NaN or infinite
    for (int l = 0; l < width; ++l) best[l] = x[l], odd[l] = x[l];
    std::int64_t k = width;
    for (; k + width <= n; k += width) {
        for (int l = 0; l < width; ++l) {
            T v = x[k + l];
            best[l] = (largest ? v > best[l] : v < best[l]) ? v : best[l];
            if constexpr (std::floating_point<T>) odd[l] = v == v ? odd[l] : v;
        }
    }
    for (int l = 0; l < width; ++l) nan |= odd[l] != odd[l];
    T result = best[0];
    for (int l = 1; l < width; ++l)
        result = (largest ? best[l] > result : best[l] < result) ? best[l] : result;
    for (; k < n; ++k) {
        nan |= x[k] != x[k];
        result = (largest ? x[k] > result : x[k] < result) ? x[k] : result;
    }
    return {result, nan};
}

template <bool largest, class T>
Extreme<T> extreme_of(const T* x, std::int64_t n) {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        return extreme_of_numbers<largest>(x, n);
    } else {
        Extreme<T> e{x[0], is_nan(x[0])};
        for (std::int64_t k = 1; k < n && !e.nan; ++k) {
            e.nan = is_nan(x[k]);
            if (better<largest>(x[k], e.value)) e.value = x[k];
        }
        return e;
    }
}

template <class T>
std::int64_t first_place(const T* x, const Extreme<T>& e) {
    std::int64_t k = 0;
    if (e.nan) {
        while (!is_nan(x[k])) ++k;
    } else {
        while (before(x[k], e.value) || before(e.value, x[k])) ++k;
    }
    return k;
}

/// One lane in chunks, each a task of its own.
template <bool largest, class T>
std::int64_t place_in_long_lane(const T* x, std::int64_t n) {
    std::int64_t chunks = (n + chunk_elements - 1) / chunk_elements;
    std::vector<Extreme<T>> found(static_cast<std::size_t>(chunks));
    parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
            std::int64_t first = c * chunk_elements;
            found[static_cast<std::size_t>(c)] =
                extreme_of<largest>(x + first, std::min(chunk_elements, n - first));
        }
    });
    std::size_t best = 0;
    for (std::size_t c = 0; c < found.size(); ++c) {
        if (found[c].nan) {
            best = c;
            break;
        }
        if (better<largest>(found[c].value, found[best].value)) best = c;
    }
    std::int64_t first = static_cast<std::int64_t>(best) * chunk_elements;
    return first + first_place(x + first, found[best]);
}

template <bool largest, class T>
void places(const View& in, const View& out) {
    const T* x = elements<const T>(in);
    auto* place = elements<std::int64_t>(out);
    std::int64_t n = lane_extent(in), lanes = in.layout->size() / n;
    if (lanes == 1 || n >= 8 * chunk_elements) {
        for (std::int64_t k = 0; k < lanes; ++k)
            place[k] = place_in_long_lane<largest>(x + k * n, n);
        return;
    }
    parallel_for(0, lanes, std::max<std::int64_t>(1, chunk_elements / n),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t k = begin; k < end; ++k)
                         place[k] = first_place(x + k * n, extreme_of<largest>(x + k * n, n));
                 });
}

}  // namespace

Array arg_extreme(const Array& a, int axis, bool largest) {
    std::string what = largest ? "argmax" : "argmin";
    axis = checked_axis(what, axis, a.rank());
    std::vector<std::int64_t> shape(a.shape().begin(), a.shape().end());
    if (shape[static_cast<std::size_t>(axis)] == 0) {
        fail(ErrorKind::Value, what + ": attempt to get " + what +
                                   " of an empty sequence; got shape " + shape_text(a.shape()));
    }
    shape.erase(shape.begin() + axis);
    Array lanes = lanes_of(a, axis);
    return call(what, {&lanes, 1}, shape, DType::Int64,
                [largest](std::span<const View> in, const View& out) {
                    dispatch(in[0].dtype, [&]<class T>() {
                        largest ? places<true, T>(in[0], out) : places<false, T>(in[0], out);
                    });
                });
}

}  // namespace unisono::library
