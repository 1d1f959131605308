// What vendors' libraries compute on devices in front of the portable algorithms: the few routines
// that those share, by the names of BLAS and LAPACK.
//
// Matrices are of columns, as there: cell (row, column) lies at first + row + column * leading.
// Each function returns false where the libraries do not offer what is asked for, and has done
// nothing then. All goes to the calling thread's queue of the device; nothing waits.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "core/dtype.h"

namespace unisono {

/// Elements of a device's memory from one on.
struct LibraryVector {
    Memory memory;
    std::int64_t first = 0;
};

/// A stack of matrices, `step` elements from one to the next; or of their transposes.
struct LibraryMatrix {
    Memory memory;
    std::int64_t first = 0, leading = 1, step = 0;
    bool is_transposed = false;
};

/// c = a @ b for each of `count` matrices of m rows and n columns; c is not transposed.
struct LibraryProduct {
    DType dtype;
    std::int64_t m, n, k, count;
    LibraryMatrix a, b, c;
};

/// Transforms of `boxes` boxes of up to three axes. In elements of the side's own dtype, cell
/// (i, j, k) of box b lies at first + b * step + ((i * extents[1] + j) * extents[2] + k) * stride.
/// Boxes of one axis are lines.
struct LibraryTransform {
    using Lengths = std::array<std::int64_t, 3>;
    struct Side {
        Memory memory;
        std::int64_t first, stride, step;
        Lengths extents;
    };
    DType real;  ///< of the parts
    int axes;
    Lengths lengths;  ///< of the first `axes` axes; a spectrum of reals has the half of the last
    std::int64_t boxes;
    bool is_forward, reads_real, writes_real;  ///< reals are written by transforms of lines only
    Side from, to;
};

/// `count` uniform or normal numbers of the library's own, from number `offset` of the generator's
/// sequence on. Normal ones come in pairs: `count` is even.
struct LibraryDraw {
    int generator;  ///< 1 Philox4x32-10, 2 XORWOW, 3 MRG32k3a
    std::uint64_t seed, offset;
    bool is_normal;
    DType dtype;  ///< float32 or float64
    LibraryVector to;
    std::int64_t count;
    double mean, deviation;  ///< of normal ones; uniform ones lie in (0, 1]
};

/// Factorisations of packed matrices of `t`; `info` is an int32 with LAPACK's meaning, `pivots` are
/// int32 from 1 on.
class DeviceFactors {
  public:
    virtual ~DeviceFactors() = default;
    virtual void potrf(DType t, bool upper, std::int64_t n, LibraryVector a,
                       LibraryVector info) = 0;
    virtual void getrf(DType t, std::int64_t n, LibraryVector a, LibraryVector pivots,
                       LibraryVector info) = 0;
    virtual void getrs(DType t, bool transposed, std::int64_t n, std::int64_t sides,
                       LibraryVector a, LibraryVector pivots, LibraryVector b,
                       LibraryVector info) = 0;
    virtual void geqrf(DType t, std::int64_t m, std::int64_t n, LibraryVector a, LibraryVector tau,
                       LibraryVector info) = 0;
    /// The first n columns of the product of k reflectors.
    virtual void orgqr(DType t, std::int64_t m, std::int64_t n, std::int64_t k, LibraryVector a,
                       LibraryVector tau, LibraryVector info) = 0;
    /// Of at least as many rows as columns; overwrites a. job: 'A' all columns of u and rows of vt,
    /// 'S' those that singular values have, 'N' none.
    virtual void gesvd(DType t, char job, std::int64_t m, std::int64_t n, LibraryVector a,
                       LibraryVector s, LibraryVector u, LibraryVector vt, LibraryVector info) = 0;
    /// Eigenvectors come in the place of a.
    virtual void syevd(DType t, bool vectors, bool upper, std::int64_t n, LibraryVector a,
                       LibraryVector values, LibraryVector info) = 0;
};

class DeviceLibraries {
  public:
    virtual ~DeviceLibraries() = default;
    /// Where each library was found, or why it is missing.
    virtual std::vector<std::string> report() = 0;

    virtual bool multiply(const LibraryProduct& product) = 0;
    /// Whether there are transforms, which are not scaled.
    virtual bool transforms() { return false; }
    virtual bool transform(const LibraryTransform& /*transform*/) { return false; }
    /// Whether there are random numbers.
    virtual bool draws() { return false; }
    virtual void draw(const LibraryDraw& /*draw*/) {}
    /// Null where there are no factorisations of `t`.
    virtual DeviceFactors* factors(DType /*t*/) { return nullptr; }
};

/// A device whose vendor has such libraries implements this beside Device.
class LibrarySource {
  public:
    virtual ~LibrarySource() = default;
    /// Null where the setting UNISONO_DEVICE_LIBRARIES wants none, or none is found.
    virtual DeviceLibraries* libraries() = 0;
};

/// Those of a device; null where it has none.
inline DeviceLibraries* libraries_of(Device& device) {
    auto* source = dynamic_cast<LibrarySource*>(&device);
    return source ? source->libraries() : nullptr;
}

/// Where vendors' packages lie that the language above the engine knows of, such as Python's
/// site-packages/nvidia; set once.
extern std::vector<std::string> (*library_folders)();

}  // namespace unisono
