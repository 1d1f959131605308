// argmax and argmin: each chunk of a lane gives its extreme value; the first chunk with the best
// one is searched for its place.
#include "library/reduce/extremes.h"

#include <cstring>
#include <vector>

#include "core/threads/parallel.h"
#include "core/vectors.h"
#include "library/lanes.h"
#include "library/sort/order.h"
#include "tape/eager/block_loops.h"

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

/// Over numbers that the processor compares itself, at the speed of memory.
template <bool largest, class T>
Extreme<T> extreme_of_numbers(const T* x, std::int64_t n) {
    constexpr DType t = dtype_of(std::is_floating_point_v<T> ? 'f'
                                 : std::is_signed_v<T>       ? 'i'
                                                             : 'u',
                                 sizeof(T));
    static const block_loops::Fold fold = block_loops::fold(largest ? Op::Max : Op::Min, t, t);
    T value = x[0];
    if (fold && n >= 16) {
        // Where zeros of both signs are there it gives one of them, which serves here.
        fold(reinterpret_cast<char*>(&value), reinterpret_cast<const char*>(x), n);
        return {value, value != value};
    }
    bool nan = value != value;
    for (std::int64_t k = 1; k < n; ++k) {
        nan |= x[k] != x[k];
        value = (largest ? x[k] > value : x[k] < value) ? x[k] : value;
    }
    return {value, nan};
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

/// Of numbers in whole vectors first; elements of the value are there.
template <class T>
std::int64_t place_of_number(const T* x, std::int64_t n, T value) {
    using Vector = typename VectorOf<T, 32>::type;
    constexpr int width = 32 / static_cast<int>(sizeof(T)), rows = 4;
    std::int64_t k = 0;
    for (; k + rows * width <= n; k += rows * width) {
        auto equal = Vector{} != Vector{};
        for (int r = 0; r < rows; ++r) {
            Vector v;
            std::memcpy(&v, x + k + r * width, sizeof(v));
            equal |= v == value - Vector{};
        }
        std::int64_t parts[4];
        std::memcpy(parts, &equal, sizeof(parts));
        if ((parts[0] | parts[1]) | (parts[2] | parts[3])) break;
    }
    while (x[k] != value) ++k;
    return k;
}

template <class T>
std::int64_t first_place(const T* x, std::int64_t n, const Extreme<T>& e) {
    std::int64_t k = 0;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        if (!e.nan) return place_of_number(x, n, e.value);
    }
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
    return first + first_place(x + first, std::min(chunk_elements, n - first), found[best]);
}

/// Of bools the first one that is wanted, else the first.
template <bool largest>
std::int64_t place_of_bool(const bool* x, std::int64_t n) {
    const void* found = std::memchr(x, largest ? 1 : 0, static_cast<std::size_t>(n));
    return found ? static_cast<const bool*>(found) - x : 0;
}

template <bool largest, class T>
void places(const View& in, const View& out) {
    const T* x = elements<const T>(in);
    auto* place = elements<std::int64_t>(out);
    std::int64_t n = lane_extent(in), lanes = in.layout->size() / n;
    if constexpr (std::is_same_v<T, bool>) {
        for (std::int64_t k = 0; k < lanes; ++k) place[k] = place_of_bool<largest>(x + k * n, n);
        return;
    }
    if (lanes == 1 || n >= 8 * chunk_elements) {
        for (std::int64_t k = 0; k < lanes; ++k)
            place[k] = place_in_long_lane<largest>(x + k * n, n);
        return;
    }
    parallel_for(0, lanes, std::max<std::int64_t>(1, chunk_elements / n),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t k = begin; k < end; ++k)
                         place[k] = first_place(x + k * n, n, extreme_of<largest>(x + k * n, n));
                 });
}

}  // namespace

void host::argmax(const NoAttributes&, Views in, Views out) {
    dispatch_all(in[0].dtype, [&]<class T>() { places<true, T>(in[0], out[0]); });
}

void host::argmin(const NoAttributes&, Views in, Views out) {
    dispatch_all(in[0].dtype, [&]<class T>() { places<false, T>(in[0], out[0]); });
}

Array arg_extreme(const Array& a, int axis, bool largest) {
    std::string what = largest ? "argmax" : "argmin";
    axis = checked_axis(what, axis, a.rank());
    if (a.shape()[static_cast<std::size_t>(axis)] == 0) {
        fail(ErrorKind::Value, what + ": attempt to get " + what +
                                   " of an empty sequence; got shape " + shape_text(a.shape()));
    }
    Array lanes = lanes_of(a, axis);
    Array made = call(largest ? primitives::argmax : primitives::argmin, {&lanes, 1}, {});
    return made.rank() == 0 ? to_value(made) : made;
}

}  // namespace unisono::library
