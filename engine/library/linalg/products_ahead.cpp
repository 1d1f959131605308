// Products that compiled code computes before it asks for them (passes/loops/products_ahead.h): the
// calls, and the results that wait.
//
// Results wait in memory of the thread, under the operands that they were made from. Who asks gives
// the operands that it has: where they are others, or another loop has taken the memory since, the
// product is computed as if nothing had been done. So the bits are the same either way.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "core/dtype.h"
#include "core/native/native.h"
#include "library/linalg/vector_products.h"

namespace unisono::library {

namespace {

template <class T>
T* memory(std::int64_t address) {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

/// m, n, k, and of both operands address, stride of rows, stride of columns: as "matmul" has them.
using Key = std::array<std::int64_t, 9>;

Key key_at(const std::int64_t* values) {
    Key key;
    std::copy_n(values, key.size(), key.begin());
    return key;
}

ProductOperands operands_of(const Key& k, void* out) {
    return {k[0], k[1], k[2], memory<void>(k[3]), k[4], k[5], memory<void>(k[6]), k[7], k[8], out};
}

/// Where values lie in a call of "matmul" and of those here.
enum Place { status, dtype, operands, out = 11, state, here, last, is_reached, there };
/// Of a state: whose results these are, and how often they were not used.
enum State { owner, misses };

/// Results that wait: of product number q, what `first` and `step` give.
struct Waiting {
    std::int64_t owner = 0;  ///< 0: nobody
    std::int64_t number = 0, count = 0, taken = 0;
    DType t{};
    Key first{}, step{};
    std::int64_t size = 0;  ///< bytes of a result
    std::unique_ptr<char[]> results;
    std::size_t capacity = 0;

    Key key(std::int64_t q) const {
        Key k = first;
        for (std::size_t i = 0; i < k.size(); ++i) k[i] += q * step[i];
        return k;
    }
    char* result(std::int64_t q) const { return results.get() + q * size; }
    void make_room() {
        const auto bytes = static_cast<std::size_t>(count * size);
        if (bytes <= capacity) return;
        results.reset();
        results = std::make_unique_for_overwrite<char[]>(bytes);
        capacity = bytes;
    }
};
thread_local Waiting waiting;

std::int64_t fresh_owner() {
    static std::atomic<std::int64_t> next{0};
    return ++next;
}

/// Copies the result of a product that was computed before; false where it was not.
bool take(const std::int64_t* v, std::int64_t number) {
    const std::int64_t mine = memory<std::int64_t>(v[state])[owner], q = number - waiting.number;
    if (mine == 0 || mine != waiting.owner || q < 0 || q >= waiting.count) return false;
    const Key key = key_at(v + operands);
    if (static_cast<DType>(v[dtype]) != waiting.t || key != waiting.key(q)) return false;
    const std::int64_t bytes = key[0] * key[1] * size_of(waiting.t);
    std::memcpy(memory<char>(v[out]), waiting.result(q), static_cast<std::size_t>(bytes));
    ++waiting.taken;
    return true;
}

void multiply_alone(std::int64_t* v) {
    static const NativeFunction matmul = find_native("matmul");
    std::vector<std::int64_t> values(v, v + out + 1);
    values.push_back(0);
    matmul(values.data());
    v[status] = values[status];
}

/// Computes the products from here on to `last`, as far as they share the matrix.
template <class T>
void multiply_ahead(const std::int64_t* v) {
    constexpr std::int64_t most_bytes = 16 << 20, fewest = 4, most = 64;
    Waiting& w = waiting;
    w.owner = 0;
    w.number = v[here];
    const std::int64_t apart = v[last] - v[here];
    w.first = key_at(v + operands);
    const Key end = key_at(v + there);
    for (std::size_t k = 0; k < end.size(); ++k) {
        if ((end[k] - w.first[k]) % apart != 0) return;
        w.step[k] = (end[k] - w.first[k]) / apart;
    }
    const std::int64_t elements = std::max(w.first[0] * w.first[1], end[0] * end[1]);
    const std::int64_t each = (elements + std::max(w.first[2], end[2])) * std::int64_t{sizeof(T)};
    if (each <= 0) return;
    w.size = elements * std::int64_t{sizeof(T)};
    w.count = std::min({apart + 1, most, most_bytes / each});
    if (w.count < fewest) return;
    w.make_room();
    std::vector<VectorProduct<T>> products;
    for (std::int64_t q = 0; q < w.count; ++q)
        products.push_back(vector_product<T>(operands_of(w.key(q), w.result(q))));
    const auto all_ready = std::make_unique<bool[]>(products.size());
    std::fill_n(all_ready.get(), products.size(), true);
    const std::uint64_t done = multiply_several<T>(products, {all_ready.get(), products.size()});
    w.count = std::min<std::int64_t>(w.count, std::countr_one(done));
    w.taken = 0;
    w.t = static_cast<DType>(v[dtype]);
    if (w.count > 0) w.owner = fresh_owner();
}

template <class F>
void with_float(std::int64_t t, F f) {
    switch (static_cast<DType>(t)) {
        case DType::Float64: f(double()); break;
        case DType::Float32: f(float()); break;
        default: break;
    }
}

/// Runs f; no exception leaves compiled code's frame.
template <class F>
void guarded(std::int64_t* v, F f) noexcept {
    try {
        v[status] = 0;
        f();
    } catch (...) {
        v[status] = native_out_of_memory;
    }
}

/// [status, state]: nothing waits.
void native_begin(std::int64_t* v) noexcept {
    auto* s = memory<std::int64_t>(v[1]);
    s[owner] = s[misses] = 0;
    v[status] = 0;
}

/// ["matmul" up to its result, state, number of this product, of a later one, whether that will be
/// reached, its operands]: this product, perhaps with those up to the later one.
void native_ahead(std::int64_t* v) noexcept {
    constexpr std::int64_t most_misses = 2;
    guarded(v, [&] {
        auto* s = memory<std::int64_t>(v[state]);
        if (take(v, v[here])) return;
        // The second of several was another than foreseen, or others have taken their place.
        if (s[owner] != 0 && (s[owner] != waiting.owner || waiting.taken < 2)) ++s[misses];
        s[owner] = 0;
        if (v[is_reached] && v[last] > v[here] && s[misses] < most_misses) {
            with_float(v[dtype], [&]<class T>(T) { multiply_ahead<T>(v); });
            s[owner] = waiting.owner;
            if (take(v, v[here])) return;
            ++s[misses];
        }
        multiply_alone(v);
    });
}

/// Whether [x, x + count * stride] and the result of p share memory.
template <class T>
bool is_in_result(const VectorProduct<T>& p, const T* x, std::int64_t count, std::int64_t stride) {
    const std::int64_t size = p.forward ? p.a.rows : p.a.columns;
    const T* end = x + (count - 1) * stride;
    return std::max(x, end) >= p.out && std::min(x, end) < p.out + size;
}

/// The first product and the second, whose result waits.
template <class T>
bool multiply_pair(const std::int64_t* v, const Key& second) {
    constexpr std::int64_t in_cache = 1 << 19;
    Waiting& w = waiting;
    w.owner = 0;
    const auto p = vector_product<T>(operands_of(key_at(v + operands), memory<void>(v[out])));
    const auto probe = vector_product<T>(operands_of(second, nullptr));
    if (!p.a.data || !probe.a.data) return false;
    w.first = second;
    w.step = {};
    w.size = second[0] * second[1] * std::int64_t{sizeof(T)};
    w.number = 0;
    w.count = 1;
    w.make_room();
    const auto q = vector_product<T>(operands_of(second, w.result(0)));
    if (is_in_result(p, q.a.data, q.a.rows * q.a.leading, std::int64_t{1})) return false;
    const bool chained = is_in_result(p, q.x, q.forward ? q.a.columns : q.a.rows, q.x_stride);
    if (p.forward == q.forward) {
        const VectorProduct<T> both[] = {p, q};
        const bool are_ready[] = {true, true};
        if (chained || multiply_several<T>(both, are_ready) == 0) return false;
    } else {
        if (p.a.data != q.a.data || p.a.rows != q.a.rows || p.a.columns != q.a.columns ||
            p.a.leading != q.a.leading ||
            p.a.rows * p.a.columns * std::int64_t{sizeof(T)} < in_cache)
            return false;
        // Each row's element of the first result is ready when the second multiplies by it.
        if (chained && !(p.forward && q.x == p.out && q.x_stride == 1)) return false;
        const auto &f = p.forward ? p : q, &b = p.forward ? q : p;
        multiply_both<T>(p.a, {f.x, f.x_stride, f.out, b.x, b.x_stride, b.out});
    }
    w.t = static_cast<DType>(v[dtype]);
    w.owner = fresh_owner();
    return true;
}

/// ["matmul" up to its result, state, whether another product will be reached, its operands]: this
/// product, perhaps with the other one.
void native_pair(std::int64_t* v) noexcept {
    guarded(v, [&] {
        bool done = false;
        if (v[state + 1]) {
            const Key second = key_at(v + state + 2);
            with_float(v[dtype], [&]<class T>(T) { done = multiply_pair<T>(v, second); });
        }
        if (done)
            memory<std::int64_t>(v[state])[owner] = waiting.owner;
        else
            multiply_alone(v);
    });
}

/// ["matmul" up to its result, state]: the other product.
void native_taken(std::int64_t* v) noexcept {
    guarded(v, [&] {
        if (!take(v, 0)) multiply_alone(v);
    });
}

[[maybe_unused]] const bool are_added = add_natives({{"products_begin", native_begin},
                                                     {"matmul_ahead", native_ahead},
                                                     {"matmul_pair", native_pair},
                                                     {"matmul_taken", native_taken}});

}  // namespace

}  // namespace unisono::library
