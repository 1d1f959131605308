// Scans: a lane is cut into blocks of 512 elements. Inside a block elements are combined in order;
// what precedes a block is combined with each of its results.
//
// carry(0) is nothing, carry(b + 1) = op(carry(b), total(b)): so the carries need the totals of the
// blocks only, which all threads compute first where a lane is long. Several blocks are in work at
// once, because within one block each operation waits for the one before.
#include "library/reduce/scan.h"

#include <memory>

#include "core/caches.h"
#include "core/limits.h"
#include "core/streams.h"
#include "core/threads/parallel.h"
#include "library/lanes.h"
#include "library/reduce/combine_pair.h"
#include "ops/scalar_eval.h"
#include "tape/record/float_errors.h"
#include "tape/windows.h"

namespace unisono::library {

namespace {

constexpr std::int64_t block = scan_block;
constexpr std::int64_t together = 8;  ///< blocks in work at once

/// Scans `count` <= together whole blocks, each from its own start; their totals go to `total`.
template <Op op, bool store, class T>
void scan_blocks(const T* x, T* out, std::int64_t count, T* total) {
    constexpr std::int64_t tile = 64 / sizeof(T) < 4 ? 4 : 64 / sizeof(T);
    T last[together];
    for (std::int64_t b = 0; b < count; ++b) {
        last[b] = x[b * block];
        if (store) out[b * block] = last[b];
    }
    for (std::int64_t i = 0; i < block; i += tile) {
        for (std::int64_t b = 0; b < count; ++b) {
            T value = last[b];
            for (std::int64_t j = b * block + std::max<std::int64_t>(i, 1);
                 j < b * block + i + tile; ++j) {
                value = combine<op>(value, x[j]);
                if (store) out[j] = value;
            }
            last[b] = value;
        }
    }
    for (std::int64_t b = 0; b < count; ++b) total[b] = last[b];
}

template <Op op, class T>
void carry_into(T carry, T* out, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) out[k] = combine<op>(carry, out[k]);
}

/// Scans [0, n) of a lane after `before_it` (null: nothing).
template <Op op, bool streams, class T>
void scan_piece(const T* x, T* out, std::int64_t n, const T* before_it) {
    bool any = before_it != nullptr;
    T carry = any ? *before_it : T{};
    T held[streams ? together * block : 1];
    for (std::int64_t k = 0; k < n;) {
        std::int64_t count = std::min(together, (n - k) / block), length = count * block;
        T* to = streams ? held : out + k;
        T total[together];
        if (count > 0) {
            scan_blocks<op, true>(x + k, to, count, total);
        } else {
            count = 1;
            length = n - k;
            to[0] = x[k];
            for (std::int64_t j = 1; j < length; ++j) to[j] = combine<op>(to[j - 1], x[k + j]);
            total[0] = to[length - 1];
        }
        for (std::int64_t b = 0; b < count; ++b) {
            if (any) carry_into<op>(carry, to + b * block, std::min(block, length - b * block));
            carry = any ? combine<op>(carry, total[b]) : total[b];
            any = true;
        }
        if (streams)
            copy_stream(reinterpret_cast<char*>(out + k), reinterpret_cast<const char*>(held),
                        static_cast<std::size_t>(length) * sizeof(T));
        k += length;
    }
    if (streams) finish_streams();
}

constexpr std::int64_t chunk_blocks = 64;

/// The totals of whole blocks, by all threads.
template <Op op, class T>
void find_totals(const T* x, std::int64_t whole, T* totals) {
    parallel_for(0, (whole + chunk_blocks - 1) / chunk_blocks, 1,
                 [&](std::int64_t begin, std::int64_t end) {
                     const std::int64_t last = std::min(whole, end * chunk_blocks);
                     for (std::int64_t b = begin * chunk_blocks; b < last; b += together)
                         scan_blocks<op, false>(x + b * block, static_cast<T*>(nullptr),
                                                std::min(together, last - b), totals + b);
                 });
}

template <Op op, class T>
void find_carries(const T* totals, std::int64_t whole, const T* before, T* carries) {
    for (std::int64_t b = 0; b < whole; ++b) {
        carries[b] = before ? combine<op>(*before, totals[b]) : totals[b];
        before = carries + b;
    }
}

/// After `before` (null: nothing), by all threads. Parts are so long that what their
/// totals were made of is still in the caches when it is scanned.
template <Op op, bool streams, class T>
void scan_long_lane(const T* x, T* out, std::int64_t n, const T* before) {
    constexpr std::int64_t chunk = chunk_blocks * block;
    const std::int64_t in_caches = last_level_cache() / 4 / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t part = std::max(chunk, in_caches / chunk * chunk);
    auto carries = std::make_unique<T[]>(
        static_cast<std::size_t>(std::max<std::int64_t>(std::min(n, part) / block, 1)));
    T carry{};
    for (std::int64_t done = 0; done < n; done += part) {
        const std::int64_t length = std::min(part, n - done), whole = length / block;
        find_totals<op>(x + done, whole, carries.get());
        find_carries<op>(carries.get(), whole, before, carries.get());
        parallel_for(0, (length + chunk - 1) / chunk, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t c = begin; c < end; ++c) {
                const std::int64_t first = done + c * chunk;
                scan_piece<op, streams>(x + first, out + first, std::min(chunk, n - first),
                                        c > 0 ? carries.get() + c * chunk_blocks - 1 : before);
            }
        });
        carry = carries[static_cast<std::size_t>(std::max<std::int64_t>(whole, 1) - 1)];
        before = &carry;
    }
}

template <Op op, bool streams, class T>
void scan_lane_to(const T* x, T* out, std::int64_t n, const T* before) {
    if (n < limits::all_threads_lane || in_parallel() || thread_count() == 1)
        scan_piece<op, streams>(x, out, n, before);
    else
        scan_long_lane<op, streams>(x, out, n, before);
}

template <Op op, class T>
void scan_lane(const T* x, T* out, std::int64_t n, const T* before) {
    if (2 * n * static_cast<std::int64_t>(sizeof(T)) > stream_bytes)
        scan_lane_to<op, true>(x, out, n, before);
    else
        scan_lane_to<op, false>(x, out, n, before);
}

template <Op op, class T>
void scan_lanes(const View& in, const View& out) {
    const T* x = elements<const T>(in);
    T* to = elements<T>(out);
    std::int64_t n = lane_extent(in), lanes = in.layout->size() / n;
    if (n >= limits::all_threads_lane) {
        for (std::int64_t k = 0; k < lanes; ++k)
            scan_lane<op, T>(x + k * n, to + k * n, n, nullptr);
        return;
    }
    parallel_for(0, lanes, std::max<std::int64_t>(1, limits::thread_elements / n),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t k = begin; k < end; ++k)
                         scan_piece<op, false, T>(x + k * n, to + k * n, n, nullptr);
                 });
}

/// Whether work-items of a device best take columns that lie side by side. Where these are few, or
/// lanes lie in one piece each, the axis goes last; so it does for ranks, which share lanes.
bool lies_in_columns(const Array& a, int axis) {
    constexpr std::int64_t least = 32;
    const Dims shape = a.shape();
    return a.device() && !windows_of(a) &&
           element_count(shape.subspan(static_cast<std::size_t>(axis) + 1)) >= least &&
           !transpose(a, axis_last(axis, a.rank())).view().layout->contiguous();
}

/// f<op, T>() of the operation and dtype.
template <class F>
void with_operation(Op op, DType dtype, F&& f) {
    auto with = [&]<Op known>() {
        dispatch_all_native(dtype, [&]<class T>() {
            constexpr bool bits = known == Op::And || known == Op::Or || known == Op::Xor;
            if constexpr (!bits || std::integral<T>) f.template operator()<known, T>();
        });
    };
    switch (op) {
        case Op::Add: return with.template operator()<Op::Add>();
        case Op::Mul: return with.template operator()<Op::Mul>();
        case Op::Min: return with.template operator()<Op::Min>();
        case Op::Max: return with.template operator()<Op::Max>();
        case Op::And: return with.template operator()<Op::And>();
        case Op::Or: return with.template operator()<Op::Or>();
        default: return with.template operator()<Op::Xor>();
    }
}

}  // namespace

void host::scan(const primitives::Scanning& scanning, Views in, Views out) {
    with_operation(scanning.op, out[0].dtype,
                   [&]<Op op, class T>() { scan_lanes<op, T>(in[0], out[0]); });
}

void scan_totals(Op op, const View& part, const View& totals) {
    with_operation(op, part.dtype, [&]<Op known, class T>() {
        find_totals<known>(elements<const T>(part), totals.layout->size(), elements<T>(totals));
    });
}

void scan_carries(Op op, const View& totals, const View* before, const View& carries) {
    with_operation(op, totals.dtype, [&]<Op known, class T>() {
        find_carries<known>(elements<const T>(totals), totals.layout->size(),
                            before ? elements<const T>(*before) : nullptr, elements<T>(carries));
    });
}

void scan_part(Op op, const View& part, const View* before, const View& out) {
    with_operation(op, part.dtype, [&]<Op known, class T>() {
        scan_lane<known, T>(elements<const T>(part), elements<T>(out), part.layout->size(),
                            before ? elements<const T>(*before) : nullptr);
    });
}

Array scan(Op op, const Array& a, int axis, std::optional<DType> dtype) {
    std::string what = "scan by " + std::string(info(op).numpy_name);
    bool known = op == Op::Add || op == Op::Mul || op == Op::Min || op == Op::Max ||
                 op == Op::And || op == Op::Or || op == Op::Xor;
    if (!known) {
        fail(ErrorKind::Type, what +
                                  ": expected add, multiply, minimum, maximum, bitwise_and, "
                                  "bitwise_or or bitwise_xor");
    }
    axis = checked_axis(what, axis, a.rank());
    if (float_errors::is_checked()) [[unlikely]] {
        float_errors::Unchecked guard;
        Array made = scan(op, a, axis, dtype);
        float_errors::check_reduction(a, made, "accumulate");
        return made;
    }
    DType t = reduced_dtype(op, a.dtype(), dtype);
    // In float32 to the end, then rounded.
    if (is_half(t)) return astype(scan(op, a, axis, DType::Float32), t, false);
    const Array given = astype(a, t, false);
    if (lies_in_columns(given, axis)) {
        const Array columns = packed(given);
        return call(primitives::scan, {&columns, 1}, {op, axis});
    }
    const Array lanes = lanes_of(given, axis);
    return axis_back(call(primitives::scan, {&lanes, 1}, {op, a.rank() - 1}), axis);
}

}  // namespace unisono::library
