// Scans: a lane is cut into blocks of 512 elements. Inside a block elements are combined in order;
// what precedes a block is combined with each of its results.
//
// carry(0) is nothing, carry(b + 1) = op(carry(b), total(b)): so the carries need the totals of the
// blocks only, which all threads compute first where a lane is long. Several blocks are in work at
// once, because within one block each operation waits for the one before.
#include "library/reduce/scan.h"

#include <memory>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/lanes.h"
#include "library/reduce/combine_pair.h"
#include "ops/scalar_eval.h"
#include "tape/record/float_errors.h"

namespace unisono::library {

namespace {

constexpr std::int64_t block = 512;
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

/// Scans [0, n) of a lane after `carry` (null: nothing) and returns what follows.
template <Op op, class T>
void scan_piece(const T* x, T* out, std::int64_t n, const T* before_it) {
    bool any = before_it != nullptr;
    T carry = any ? *before_it : T{};
    for (std::int64_t k = 0; k < n;) {
        std::int64_t count = std::min(together, (n - k) / block), length = count * block;
        T total[together];
        if (count > 0) {
            scan_blocks<op, true>(x + k, out + k, count, total);
        } else {
            count = 1;
            length = n - k;
            out[k] = x[k];
            for (std::int64_t j = k + 1; j < n; ++j) out[j] = combine<op>(out[j - 1], x[j]);
            total[0] = out[n - 1];
        }
        for (std::int64_t b = 0; b < count; ++b) {
            if (any)
                carry_into<op>(carry, out + k + b * block, std::min(block, length - b * block));
            carry = any ? combine<op>(carry, total[b]) : total[b];
            any = true;
        }
        k += length;
    }
}

template <Op op, class T>
void scan_long_lane(const T* x, T* out, std::int64_t n) {
    constexpr std::int64_t chunk_blocks = 64;
    std::int64_t whole = n / block,
                 chunks = (n + chunk_blocks * block - 1) / (chunk_blocks * block);
    auto carries =
        std::make_unique<T[]>(static_cast<std::size_t>(std::max<std::int64_t>(whole, 1)));
    T* totals = carries.get();
    parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t last = std::min(whole, end * chunk_blocks);
        for (std::int64_t b = begin * chunk_blocks; b < last; b += together)
            scan_blocks<op, false>(x + b * block, out, std::min(together, last - b), totals + b);
    });
    for (std::int64_t b = 1; b < whole; ++b) totals[b] = combine<op>(totals[b - 1], totals[b]);
    parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
            std::int64_t first = c * chunk_blocks * block;
            scan_piece<op>(x + first, out + first, std::min(chunk_blocks * block, n - first),
                           c > 0 ? totals + c * chunk_blocks - 1 : nullptr);
        }
    });
}

template <Op op, class T>
void scan_lanes(const View& in, const View& out) {
    const T* x = elements<const T>(in);
    T* to = elements<T>(out);
    std::int64_t n = lane_extent(in), lanes = in.layout->size() / n;
    if (n >= limits::all_threads_lane) {
        for (std::int64_t k = 0; k < lanes; ++k) {
            if (in_parallel() || thread_count() == 1) {
                scan_piece<op, T>(x + k * n, to + k * n, n, nullptr);
            } else {
                scan_long_lane<op>(x + k * n, to + k * n, n);
            }
        }
        return;
    }
    parallel_for(0, lanes, std::max<std::int64_t>(1, limits::thread_elements / n),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t k = begin; k < end; ++k)
                         scan_piece<op, T>(x + k * n, to + k * n, n, nullptr);
                 });
}

template <Op op>
void scan_dtype(const View& in, const View& out) {
    dispatch_all_native(out.dtype, [&]<class T>() {
        constexpr bool bits = op == Op::And || op == Op::Or || op == Op::Xor;
        if constexpr (!bits || std::integral<T>) scan_lanes<op, T>(in, out);
    });
}

void run_scan(Op op, const View& in, const View& out) {
    switch (op) {
        case Op::Add: return scan_dtype<Op::Add>(in, out);
        case Op::Mul: return scan_dtype<Op::Mul>(in, out);
        case Op::Min: return scan_dtype<Op::Min>(in, out);
        case Op::Max: return scan_dtype<Op::Max>(in, out);
        case Op::And: return scan_dtype<Op::And>(in, out);
        case Op::Or: return scan_dtype<Op::Or>(in, out);
        default: return scan_dtype<Op::Xor>(in, out);
    }
}

}  // namespace

void host::scan(const primitives::Scanning& scanning, Views in, Views out) {
    run_scan(scanning.op, in[0], out[0]);
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
    Array lanes = lanes_of(astype(a, t, false), axis);
    return axis_back(call(primitives::scan, {&lanes, 1}, {op}), axis);
}

}  // namespace unisono::library
