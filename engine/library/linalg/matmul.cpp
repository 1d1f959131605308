// Records products of matrices, and runs those of few elements at once.
//
// Operands pass to the loops of multiply.cpp where they lie if one of their last two axes is dense;
// others are packed first.
#include "library/linalg/matmul.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/error.h"
#include "library/linalg/matvec.h"
#include "library/linalg/multiply.h"
#include "library/linalg/vector_products.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono::library {

namespace {

void run(const View& a, const View& b, const View& out) {
    multiply_stacks(out.dtype, {a.data(), a.layout->shape(), a.layout->strides()},
                    {b.data(), b.layout->shape(), b.layout->strides()}, out.data());
}

Array with_axis(const Array& a, std::size_t place) {
    std::vector<std::int64_t> shape(a.shape().begin(), a.shape().end());
    std::vector<std::int64_t> strides(a.strides().begin(), a.strides().end());
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(place), 1);
    strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(place), 0);
    View v = a.view();
    v.layout = Layout::make(shape, strides);
    return Array::of(v);
}

/// The array with its last two axes as the loops can take them.
Array prepared(const Array& a) {
    Dims shape = a.shape(), strides = a.strides();
    std::size_t rank = shape.size();
    auto t = transposition(shape[rank - 2], shape[rank - 1], strides[rank - 2], strides[rank - 1]);
    return t.letter ? a : copy(a);
}

Array with_leading(const Array& a, std::vector<std::int64_t> leading) {
    Dims shape = a.shape();
    leading.insert(leading.end(), shape.end() - 2, shape.end());
    return std::equal(shape.begin(), shape.end(), leading.begin(), leading.end())
               ? a
               : broadcast_to(a, leading);
}

[[noreturn]] void mismatch(const Array& a, const Array& b, std::int64_t got, std::int64_t other) {
    fail(ErrorKind::Value,
         "matmul: the last axis of the first operand and the last but one of the "
         "second differ; got shapes " +
             shape_text(a.shape()) + " and " + shape_text(b.shape()) + "; expected " +
             std::to_string(got) + ", got " + std::to_string(other));
}

/// Makes the operand of a small product ready: computing that at once costs less than recording it.
/// False where its memory is not the host's.
bool settle(const Array& a) {
    Storage* s = a.view().storage;
    if (!s->addressable()) return false;
    Tape::current().complete(s, FlushReason::Read);
    s->allocate();
    return true;
}

void check_operand(const Array& a, const char* which) {
    if (a.rank() == 0) {
        fail(ErrorKind::Value, std::string("matmul: the ") + which +
                                   " operand is 0-dimensional; expected at least one axis; "
                                   "multiply by scalars with *");
    }
}

void check_result(Dims shape, DType t, const Array& out) {
    if (!std::equal(shape.begin(), shape.end(), out.shape().begin(), out.shape().end())) {
        fail(ErrorKind::Value, "matmul: out= has the wrong shape; got " + shape_text(out.shape()) +
                                   ", expected " + shape_text(shape));
    }
    check_in_place_cast("matmul", t, out.dtype());
}

/// The product of two finished vectors of one dtype, whose scalar the handle can hold.
Array small_dot(const Array& a, const Array& b) {
    return Array::known(dot_of(a.dtype(), a.size(), {a.view().data(), a.strides()[0]},
                               {b.view().data(), b.strides()[0]}));
}

/// The last two axes of a vector or matrix as those of a factor; `row`: a vector is one row.
struct Factor {
    std::int64_t rows, columns, row_step, column_step;
};

Factor factor_of(const Array& a, bool row) {
    Dims shape = a.shape(), strides = a.strides();
    if (a.rank() == 2) return {shape[0], shape[1], strides[0], strides[1]};
    return row ? Factor{1, shape[0], 0, strides[0]} : Factor{shape[0], 1, strides[0], 0};
}

/// Whether the loops of a small product take the factor where it lies.
bool lies_well(const Factor& f) {
    return transposition(f.rows, f.columns, f.row_step, f.column_step).letter != 0;
}

/// A small product of a matrix with a matrix or a vector, computed now: false where it is none.
bool multiply_small(const Array& first, const Array& second, Array& made) {
    if (first.rank() > 2 || second.rank() > 2 || first.rank() + second.rank() < 3) return false;
    if (first.dtype() != second.dtype()) return false;
    const Factor a = factor_of(first, true), b = factor_of(second, false);
    const Sizes s{a.rows, b.columns, a.columns};
    if (s.k != b.rows || s.m * s.n * s.k == 0) return false;
    if (double(s.m) * double(s.n) * double(s.k) > 8192 || (s.m == 1 && s.n == 1)) return false;
    if (!lies_well(a) || !lies_well(b) || !settle(first) || !settle(second)) return false;
    const std::int64_t shape[] = {s.m, s.n};
    const std::size_t rank = first.rank() + second.rank() == 4 ? 2 : 1;
    made = empty({first.rank() == 1 ? shape + 1 : shape, rank}, first.dtype(), nullptr);
    made.view().storage->allocate();
    multiply_matrices(first.dtype(), s, {first.view().data(), a.row_step, a.column_step},
                      {second.view().data(), b.row_step, b.column_step}, made.view().data());
    return true;
}

/// The entry that computes the matrix as another one times a number, where it was recorded last: a
/// product may read the other one, and the scaled one, if nobody else wants it, is never stored.
const Entry* scaling_of(const Array& a) {
    const auto pending = Tape::current().pending();
    if (pending.empty() || a.rank() != 2 || !(is_float(a.dtype()) && !is_half(a.dtype())))
        return nullptr;
    const Entry& e = pending.back();
    const bool scales = e.kind == EntryKind::Map && e.op == Op::Mul && e.compute == a.dtype() &&
                        e.inputs == 2 && !e.in[0].storage != !e.in[1].storage &&
                        e.out.same_as(a.view());
    if (!scales) return nullptr;
    const View& matrix = e.in[0].storage ? e.in[0] : e.in[1];
    const Dims steps = matrix.layout->strides();
    const bool in_place = matrix.storage == e.out.storage;  // the matrix is no more what it was
    const bool fits = !in_place && !e.out.storage->shared_outside() && matrix.dtype == a.dtype() &&
                      matrix.storage->addressable() && steps[1] == 1 && steps[0] >= a.shape()[1] &&
                      a.shape()[0] > 1 && a.shape()[1] >= wide_from;
    return fits ? &e : nullptr;
}

}  // namespace

/// (factor * in[0]) @ in[1].
void host::matmul_scaled(const primitives::Scaling& scaling, Views in, Views out) {
    auto multiply_rows = [&]<class T>() {
        const Layout& l = *in[0].layout;
        scaled_matrix_times_vector<T>(
            {reinterpret_cast<const T*>(in[0].data()), l.shape()[0], l.shape()[1], l.strides()[0]},
            scaling.factor.get<T>(), reinterpret_cast<const T*>(in[1].data()),
            in[1].layout->strides()[0], reinterpret_cast<T*>(out[0].data()));
    };
    if (in[0].dtype == DType::Float64)
        multiply_rows.template operator()<double>();
    else
        multiply_rows.template operator()<float>();
}

void host::matmul(const primitives::Product&, Views in, Views out) { run(in[0], in[1], out[0]); }

void host::matmul_into(const NoAttributes&, Views in, Views out) { run(in[0], in[1], out[0]); }

namespace {

/// (number * matrix) @ vector; nothing where the matrix is no such product.
std::optional<Array> scaled_product(const Array& a, const Array& x) {
    if (x.rank() != 1 || x.dtype() != a.dtype() || a.rank() != 2 || x.size() != a.shape()[1] ||
        !x.view().storage || !x.view().storage->addressable())
        return {};
    const Entry* e = scaling_of(a);
    if (!e) return {};
    const bool first = e->in[0].storage != nullptr;
    const Scalar factor{static_cast<std::uint64_t>(e->in[first ? 1 : 0].offset), a.dtype()};
    const Array operands[] = {Array::of(e->in[first ? 0 : 1]), x};
    Tape::current().expect_dead();
    return call(primitives::matmul_scaled, operands, {factor});
}

}  // namespace

Array matmul(const Array& first, const Array& second, const Array* out) {
    check_operand(first, "first");
    check_operand(second, "second");
    DType t = promote(first.dtype(), second.dtype());
    if (is_half(t)) {
        // Sums of products are float32's; the result is rounded once.
        Array wide = matmul(astype(first, DType::Float32, false), second, nullptr);
        Array made = astype(wide, t, false);
        if (!out) return made;
        check_result(made.shape(), t, *out);
        assign(*out, made.arg());
        return *out;
    }
    bool row = first.rank() == 1, column = second.rank() == 1;
    if (row && column && !out && first.dtype() == second.dtype() && first.size() == second.size() &&
        first.size() <= 8192 && !is_complex(t) && settle(first) && settle(second)) {
        return small_dot(first, second);
    }
    if (Array made; !out && multiply_small(first, second, made)) return made;
    if (!out) {
        if (auto made = scaled_product(first, second)) return *made;
    }
    Array a = row ? with_axis(first, 0) : first;
    Array b = column ? with_axis(second, 1) : second;
    Dims as = a.shape(), bs = b.shape();
    std::int64_t k = as.back(), n = bs.back(), m = as[as.size() - 2];
    if (bs[bs.size() - 2] != k) mismatch(first, second, k, bs[bs.size() - 2]);
    Dims leading[] = {as.first(as.size() - 2), bs.first(bs.size() - 2)};
    std::vector<std::int64_t> shape = broadcast_shapes("matmul", leading);
    a = with_leading(prepared(astype(a, t, false)), shape);
    b = with_leading(prepared(astype(b, t, false)), shape);
    if (!row) shape.push_back(m);
    if (!column) shape.push_back(n);
    Array operands[] = {a, b};
    if (out) {
        check_result(shape, t, *out);
        const bool is_direct = out->dtype() == t && out->view().layout->contiguous();
        if (is_direct && !windows_of(*out)) {
            call_into(primitives::matmul_into, operands, *out, {});
            return *out;
        }
    } else if (double(m) * double(n) * double(k) <= 8192 && a.rank() == 2 && settle(a) &&
               settle(b)) {
        Array made = empty(shape, t, nullptr);
        made.view().storage->allocate();
        run(a.view(), b.view(), made.view());
        return shape.empty() ? to_value(made) : made;
    }
    bool is_vector = a.rank() == 2 && (m == 1) != (n == 1) && is_float(t);
    Array made =
        call(primitives::matmul, operands, {row, column}, is_vector ? multiply_together : nullptr);
    if (shape.empty()) made = to_value(made);
    if (!out) return made;
    assign(*out, made.arg());
    return *out;
}

}  // namespace unisono::library
