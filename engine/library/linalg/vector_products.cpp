// Finds what products with vectors have in common.
#include "library/linalg/vector_products.h"
#include "core/limits.h"

#include <cstdlib>
#include <memory>
#include <vector>

namespace unisono::library {

template <class T>
VectorProduct<T> vector_product(const ProductOperands& o) {
    VectorProduct<T> p;
    const bool is_column = o.n == 1;
    if (is_column == (o.m == 1)) return p;
    const std::int64_t rows = is_column ? o.m : o.k, columns = is_column ? o.k : o.n;
    const auto t = is_column ? transposition(rows, columns, o.a_row, o.a_column)
                             : transposition(rows, columns, o.b_row, o.b_column);
    if (!t.letter) return p;
    const bool is_plain = t.letter == 'N';
    p.a = {static_cast<const T*>(is_column ? o.a : o.b), is_plain ? rows : columns,
           is_plain ? columns : rows, t.leading};
    p.x = static_cast<const T*>(is_column ? o.b : o.a);
    p.x_stride = is_column ? o.b_row : o.a_column;
    p.out = static_cast<T*>(o.out);
    p.forward = is_column == is_plain;
    return p;
}

namespace {

/// The operands have two axes; `a.data` is null where this is no such product.
template <class T>
VectorProduct<T> vector_product(const View* in, const View& out) {
    if (in[0].layout->rank() != 2) return {};
    Dims as = in[0].layout->shape(), ad = in[0].layout->strides();
    Dims bs = in[1].layout->shape(), bd = in[1].layout->strides();
    return library::vector_product<T>(
        {as[0], bs[1], as[1], in[0].data(), ad[0], ad[1], in[1].data(), bd[0], bd[1], out.data()});
}

/// Whether the products are of parts of one matrix that several vectors can share, on one side.
template <class T>
bool shares_matrix(const VectorProduct<T>& p, const VectorProduct<T>& q, PartProduct<T>& part) {
    if (!q.a.data || p.forward != q.forward || p.a.leading != q.a.leading) return false;
    if (q.a.rows * q.a.columns < limits::shared_matrix_elements) return false;
    // From the first element of one to that of the other there are rows (a x) or columns (x a).
    const auto apart =
        reinterpret_cast<std::intptr_t>(q.a.data) - reinterpret_cast<std::intptr_t>(p.a.data);
    const auto elements = apart / static_cast<std::intptr_t>(sizeof(T));
    if (apart % static_cast<std::intptr_t>(sizeof(T)) != 0) return false;
    if (p.forward ? p.a.columns != q.a.columns || elements % p.a.leading != 0
                  : p.a.rows != q.a.rows || std::abs(elements) >= p.a.leading)
        return false;
    part = {q.x, q.x_stride, p.forward ? elements / p.a.leading : elements,
            p.forward ? q.a.rows : q.a.columns, q.out};
    return true;
}

}  // namespace

template <class T>
std::uint64_t multiply_several(std::span<const VectorProduct<T>> products,
                               std::span<const bool> is_ready) {
    const auto& p = products.front();
    std::vector<PartProduct<T>> parts;
    std::uint64_t done = 0;
    std::int64_t first = 0;
    for (std::size_t k = 0; k < products.size(); ++k) {
        PartProduct<T> part;
        if (!is_ready[k] || !shares_matrix(p, products[k], part)) continue;
        first = std::min(first, part.first);
        parts.push_back(part);
        done |= std::uint64_t{1} << k;
    }
    if (parts.size() < 2) return 0;
    // The matrix that they all lie in, as far as they reach.
    DenseRows<T> a = p.a;
    a.data += p.forward ? first * a.leading : first;
    std::int64_t end = 0;
    for (auto& part : parts) {
        part.first -= first;
        end = std::max(end, part.first + part.count);
    }
    (p.forward ? a.rows : a.columns) = end;
    p.forward ? matrix_times_vectors<T>(a, parts) : vectors_times_matrix<T>(a, parts);
    return done;
}

namespace {

/// The first product, and others of the same matrix: in one pass.
template <class T>
std::uint64_t multiply_together_typed(std::span<const CallOperands> calls) {
    constexpr std::int64_t in_cache = 1 << 19;
    std::vector<VectorProduct<T>> products;
    auto is_ready = std::make_unique<bool[]>(calls.size());
    const View& out = *calls[0].out;
    auto vector_of = [](const CallOperands& c) -> const View& {
        return c.in[c.in[0].layout->shape()[0] == 1 ? 0 : 1];
    };
    for (std::size_t k = 0; k < calls.size(); ++k) {
        const bool is_same = calls[k].out->dtype == out.dtype;
        products.push_back(is_same ? vector_product<T>(calls[k].in, *calls[k].out)
                                   : VectorProduct<T>());
        is_ready[k] =
            calls[k].in[0].storage != out.storage && calls[k].in[1].storage != out.storage;
    }
    const auto& p = products.front();
    if (!p.a.data) return 0;
    if (auto done = multiply_several<T>(products, {is_ready.get(), calls.size()})) return done;
    if (p.a.rows * p.a.columns * std::int64_t{sizeof(T)} < in_cache) return 0;
    for (std::size_t k = 1; k < calls.size(); ++k) {
        const auto& q = products[k];
        if (p.a.data != q.a.data || p.a.rows != q.a.rows || p.a.columns != q.a.columns ||
            p.a.leading != q.a.leading || p.forward == q.forward)
            continue;
        // Each row's element of the first result is ready when the second multiplies by it; any
        // other way of depending on it needs all of it.
        if (vector_of(calls[k]).storage == out.storage &&
            !(p.forward && q.x == p.out && q.x_stride == 1))
            continue;
        const auto &f = p.forward ? p : q, &b = p.forward ? q : p;
        multiply_both<T>(p.a, {f.x, f.x_stride, f.out, b.x, b.x_stride, b.out});
        return 1 | std::uint64_t{1} << k;
    }
    return 0;
}

}  // namespace

std::uint64_t multiply_together(std::span<const CallOperands> calls) {
    switch (calls[0].out->dtype) {
        case DType::Float64: return multiply_together_typed<double>(calls);
        case DType::Float32: return multiply_together_typed<float>(calls);
        default: return 0;
    }
}

template VectorProduct<float> vector_product(const ProductOperands&);
template VectorProduct<double> vector_product(const ProductOperands&);
template std::uint64_t multiply_several(std::span<const VectorProduct<float>>,
                                        std::span<const bool>);
template std::uint64_t multiply_several(std::span<const VectorProduct<double>>,
                                        std::span<const bool>);

}  // namespace unisono::library
