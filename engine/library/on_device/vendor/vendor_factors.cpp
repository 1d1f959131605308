// Factorisations by the vendor's library. It takes columns: a packed matrix is its transpose there.
#include <limits>
#include <vector>

#include "backends/device_libraries.h"
#include "library/linalg/matrix_stack.h"
#include "library/on_device/linalg/factoring.h"
#include "library/on_device/vendor/vendor.h"
#include "primitives/small_matrices.h"

namespace unisono::library {

namespace {

using primitives::QrMode;
using primitives::SvdMode;

/// A call over a stack of matrices, and what each of them answered.
class Factoring {
  public:
    Factoring(DeviceWork& work, DeviceFactors& libraries, const View& in)
        : work(work),
          libraries(libraries),
          stack(in),
          t(in.dtype),
          answers_(work.scratch(DType::Int32, stack.count)) {}

    LibraryVector info(std::int64_t matrix) const { return {answers_.memory, matrix}; }
    /// The first matrix whose answer is not 0, or -1. Waits.
    std::int64_t first_failed() {
        std::vector<std::int32_t> answers(static_cast<std::size_t>(stack.count));
        work.device().copy_out(answers.data(), answers_.memory, 0, stack.count * 4);
        for (std::int64_t k = 0; k < stack.count; ++k) {
            if (answers[static_cast<std::size_t>(k)] != 0) return k;
        }
        return -1;
    }
    void copy(const DeviceVector& from, const DeviceVector& to) const {
        const std::int64_t size = size_of(from.dtype);
        work.device().copy(to.memory, to.offset * size, from.memory, from.offset * size,
                           from.size * size);
    }
    DeviceVector copy_of(const View& v) const {
        const DeviceVector made = work.scratch(v.dtype, v.layout->size());
        copy(vector_of(v), made);
        return made;
    }
    /// to[column][row] = conj(from[row][column]) of each matrix.
    void turn(const DeviceVector& from, const DeviceVector& to, std::int64_t rows,
              std::int64_t columns, const char* conj = "same_number") const {
        // What take_adjoint calls rows and columns are those of `from`.
        work.run("take_adjoint", {from, to, conj, rows, columns}, {to.size});
    }

    DeviceWork& work;
    DeviceFactors& libraries;
    const Stack stack;
    const DType t;

  private:
    const DeviceVector answers_;
};

LibraryVector at(const DeviceVector& v, std::int64_t further = 0) {
    return {v.memory, v.offset + further};
}

/// Null where the portable algorithms are to compute.
DeviceFactors* wanted(DeviceWork& work, const View& in) {
    const Stack a(in);
    if (in.layout->size() == 0 || !primitives::suits_libraries(a.count, a.rows, a.columns))
        return nullptr;
    DeviceLibraries* libraries = libraries_of(work.device());
    return libraries ? libraries->factors(in.dtype) : nullptr;
}

struct Lu {
    DeviceVector matrices, pivots;
};
/// Of the transposes.
Lu factor_lu(Factoring& f, const View& in) {
    const std::int64_t n = f.stack.rows;
    const Lu lu{f.copy_of(in), f.work.scratch(DType::Int32, f.stack.count * n)};
    for (std::int64_t k = 0; k < f.stack.count; ++k)
        f.libraries.getrf(f.t, n, at(lu.matrices, k * n * n), at(lu.pivots, k * n), f.info(k));
    return lu;
}

void require_regular(Factoring& f, const char* what, const View& in) {
    require_none_failed(what, in, f.first_failed());
}

}  // namespace

bool vendor::has_factors(DeviceWork& work, const View& in) { return wanted(work, in) != nullptr; }

bool vendor::solve(DeviceWork& work, Views in, Views out) {
    DeviceFactors* libraries = wanted(work, in[0]);
    if (!libraries || out[0].layout->size() == 0) return false;
    Factoring f(work, *libraries, in[0]);
    const std::int64_t n = f.stack.rows, columns = Stack(in[1]).columns;
    const Lu lu = factor_lu(f, in[0]);
    require_regular(f, "solve", in[0]);
    const DeviceVector x = vector_of(out[0]), sides = work.scratch(f.t, x.size);
    f.turn(vector_of(in[1]), sides, n, columns);
    for (std::int64_t k = 0; k < f.stack.count; ++k)
        libraries->getrs(f.t, true, n, columns, at(lu.matrices, k * n * n), at(lu.pivots, k * n),
                         at(sides, k * n * columns), f.info(k));
    f.turn(sides, x, columns, n);
    return true;
}

bool vendor::inv(DeviceWork& work, Views in, Views out) {
    DeviceFactors* libraries = wanted(work, in[0]);
    if (!libraries) return false;
    Factoring f(work, *libraries, in[0]);
    const std::int64_t n = f.stack.rows;
    const Lu lu = factor_lu(f, in[0]);
    require_regular(f, "inv", in[0]);
    const DeviceVector x = vector_of(out[0]);
    work.run("identities", {x, n, n}, {x.size});
    for (std::int64_t k = 0; k < f.stack.count; ++k)
        libraries->getrs(f.t, false, n, n, at(lu.matrices, k * n * n), at(lu.pivots, k * n),
                         at(x, k * n * n), f.info(k));
    return true;
}

bool vendor::det(DeviceWork& work, Views in, Views out) {
    DeviceFactors* libraries = wanted(work, in[0]);
    if (!libraries) return false;
    Factoring f(work, *libraries, in[0]);
    const Lu lu = factor_lu(f, in[0]);
    const DeviceVector pivots = work.scratch(DType::Int64, lu.pivots.size);
    work.run("count_from_zero", {lu.pivots, pivots}, {pivots.size});
    const DType real = out[2].dtype;
    const bool is_single = real == DType::Float32;
    using Single = std::numeric_limits<float>;
    using Double = std::numeric_limits<double>;
    work.run("determinants",
             {lu.matrices, pivots, vector_of(out[0]), vector_of(out[1]), vector_of(out[2]),
              f.stack.rows, Scalar::of(real, is_single ? double{Single::min()} : Double::min()),
              Scalar::of(real, is_single ? double{Single::max()} : Double::max())},
             {f.stack.count});
    return true;
}

/// Of A = L L^H the library sees A^T = conj(L) L^T: what it calls the upper factor is L in our
/// order, without a conjugate.
bool vendor::cholesky(DeviceWork& work, bool upper, Views in, Views out) {
    DeviceFactors* libraries = wanted(work, in[0]);
    if (!libraries) return false;
    Factoring f(work, *libraries, in[0]);
    const std::int64_t n = f.stack.rows;
    const DeviceVector l = f.copy_of(in[0]), to = vector_of(out[0]);
    for (std::int64_t k = 0; k < f.stack.count; ++k)
        libraries->potrf(f.t, !upper, n, at(l, k * n * n), f.info(k));
    if (upper)
        work.run("take_upper", {l, to, n, n, n}, {to.size});
    else
        work.run("take_lower", {l, to, conjugate_of(f.t), n, std::int64_t{0}}, {to.size});
    require_none_failed("cholesky", in[0], f.first_failed(), "Matrix is not positive definite");
    return true;
}

bool vendor::qr(DeviceWork& work, QrMode mode, Views in, Views out) {
    DeviceFactors* libraries = wanted(work, in[0]);
    if (!libraries) return false;
    Factoring f(work, *libraries, in[0]);
    const std::int64_t m = f.stack.rows, n = f.stack.columns, least = std::min(m, n);
    const std::int64_t count = f.stack.count;
    const DeviceVector columns = work.scratch(f.t, count * m * n),
                       tau = work.scratch(f.t, count * least);
    f.turn(vector_of(in[0]), columns, m, n);
    for (std::int64_t k = 0; k < count; ++k)
        libraries->geqrf(f.t, m, n, at(columns, k * m * n), at(tau, k * least), f.info(k));
    if (mode == QrMode::Raw) {
        f.copy(columns, vector_of(out[0]));
        f.copy(tau, vector_of(out[1]));
        return true;
    }
    const bool wants_q = mode != QrMode::R;
    const std::int64_t width = mode == QrMode::Complete ? m : least;
    const DeviceVector reflectors = work.scratch(f.t, count * m * n),
                       upper = vector_of(out[wants_q ? 1 : 0]);
    f.turn(columns, reflectors, n, m);
    work.run("take_upper", {reflectors, upper, m, n, width}, {upper.size});
    if (!wants_q) return true;
    const DeviceVector q = work.scratch(f.t, count * m * width);
    for (std::int64_t k = 0; k < count; ++k) {
        f.copy(columns.from(k * m * n, m * std::min(n, width)),
               q.from(k * m * width, m * std::min(n, width)));
        libraries->orgqr(f.t, m, width, least, at(q, k * m * width), at(tau, k * least), f.info(k));
    }
    f.turn(q, vector_of(out[0]), width, m);
    return true;
}

/// The library wants at least as many rows as columns. A wide matrix is a tall one in its order: u
/// and vh change places, and lie as they are wanted.
bool vendor::svd(DeviceWork& work, SvdMode mode, Views in, Views out) {
    DeviceFactors* libraries = wanted(work, in[0]);
    if (!libraries) return false;
    Factoring f(work, *libraries, in[0]);
    const std::int64_t m = f.stack.rows, n = f.stack.columns, least = std::min(m, n);
    const std::int64_t tall = std::max(m, n), count = f.stack.count;
    const bool vectors = mode != SvdMode::Values, is_wide = n >= m;
    const char job = !vectors ? 'N' : mode == SvdMode::Full ? 'A' : 'S';
    const std::int64_t kept = mode == SvdMode::Full ? tall : least;
    DeviceVector a = is_wide ? f.copy_of(in[0]) : work.scratch(f.t, count * m * n);
    if (!is_wide) f.turn(vector_of(in[0]), a, m, n);
    const DeviceVector s = vector_of(out[vectors ? 1 : 0]);
    DeviceVector u, vt;  // the library's
    if (vectors && is_wide) {
        u = vector_of(out[2]);
        vt = vector_of(out[0]);
    } else {
        u = work.scratch(f.t, vectors ? count * tall * kept : 1);
        vt = work.scratch(f.t, vectors ? count * least * least : 1);
    }
    for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t k_vectors = vectors ? k : 0;
        libraries->gesvd(f.t, job, tall, least, at(a, k * m * n), at(s, k * least),
                         at(u, k_vectors * tall * kept), at(vt, k_vectors * least * least),
                         f.info(k));
    }
    if (vectors && !is_wide) {
        f.turn(u, vector_of(out[0]), kept, tall);
        f.turn(vt, vector_of(out[2]), least, least);
    }
    require_none_failed("svd", in[0], f.first_failed(), "SVD did not converge");
    return true;
}

/// The library sees the conjugate matrix, whose vectors are the conjugates, in columns.
bool vendor::eigh(DeviceWork& work, const primitives::SymmetricEigen& eigen, Views in, Views out) {
    DeviceFactors* libraries = wanted(work, in[0]);
    if (!libraries) return false;
    Factoring f(work, *libraries, in[0]);
    const std::int64_t n = f.stack.rows;
    const DeviceVector a = f.copy_of(in[0]), values = vector_of(out[0]);
    for (std::int64_t k = 0; k < f.stack.count; ++k)
        libraries->syevd(f.t, eigen.vectors, !eigen.upper, n, at(a, k * n * n), at(values, k * n),
                         f.info(k));
    if (eigen.vectors) f.turn(a, vector_of(out[1]), n, n, conjugate_of(f.t));
    require_none_failed("eigh", in[0], f.first_failed(), "Eigenvalues did not converge");
    return true;
}

}  // namespace unisono::library
