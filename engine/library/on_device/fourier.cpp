// Discrete Fourier transforms on devices: lines of short lengths four at a time; a long line as a
// matrix of short ones (the four-step method), like the host's; lengths with a large prime factor
// as a convolution (Bluestein).
#include <algorithm>

#include "library/fft/fft_plan.h"
#include "library/on_device/device_work.h"
#include "library/on_device/vendor/vendor.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

using primitives::FftKind;
using primitives::FftStep;

/// Elements of a device in an array's order.
struct Cells {
    DeviceVector storage;
    std::int64_t first;
    Dims shape, strides;
};
Cells cells_of(const View& v) {
    return {storage_of(v), v.offset, v.layout->shape(), v.layout->strides()};
}

/// The lines of one side of a transform, in real numbers: cell j of a line has its real part at
/// first + base + j * stride + re_at. Cells from have_re (have_im) on are zero, or not written.
struct Side {
    DeviceVector numbers;
    std::int64_t first, stride, re_at, im_at, have_re, have_im;
    std::vector<std::int64_t> extents, strides;  ///< of the axes that number the lines

    void swap_parts() { std::swap(re_at, im_at); }
    /// With lines along one more axis.
    Side cut(std::int64_t extent, std::int64_t step) const {
        Side s = *this;
        s.extents.push_back(extent);
        s.strides.push_back(step);
        return s;
    }
};

struct Scales {
    double re, im;
};

/// All roots of unity of an order as products of two from short tables.
struct Roots {
    DeviceVector fine, coarse;
    std::int64_t shift = 0;
};

class Transform {
  public:
    Transform(DeviceWork& work, DType real, std::int64_t lines)
        : work_(work), real_(real), lines_(lines) {}

    Side side(const Cells& cells, int axis) const;
    void run(std::int64_t n, const Side& from, const Side& to, Scales scales);
    void run_complex(const FftStep& step, Side from, Side to);
    void run_real_forward(const FftStep& step, const Side& from, const Side& to);
    void run_real_backward(const FftStep& step, const Side& from, const Side& to);
    void run_odd_backward(const FftStep& step, const Side& from, const Side& to);

  private:
    Scalar real(double x) const { return Scalar::of(real_, x); }
    DeviceVector bases(const Side& s) const { return work_.offsets(s.extents, s.strides); }
    DeviceVector roots(std::int64_t n, std::int64_t count, std::int64_t step) const;
    Roots all_roots(std::int64_t n) const;
    /// New packed lines of n cells.
    Side packed(std::int64_t n) const;
    void short_lines(std::int64_t n, std::int64_t lines, const Side& from, const Side& to,
                     Scales scales, std::int64_t turned_columns);
    void long_lines(std::int64_t n, std::int64_t n1, const Side& from, const Side& to,
                    Scales scales);
    void convolve(std::int64_t n, const Side& from, const Side& to, Scales scales);
    void gather(const Side& from, const Side& to, std::int64_t n, std::int64_t m, bool chirps);
    void scatter(const Side& from, const Side& to, std::int64_t n, std::int64_t m, bool chirps,
                 Scales scales);

    DeviceWork& work_;
    DType real_;
    std::int64_t lines_;
};

Side Transform::side(const Cells& cells, int axis) const {
    const std::int64_t unit = is_complex(cells.storage.dtype) ? 2 : 1;
    Side s{cells.storage.as(real_), cells.first * unit, 0, 0, 1, 0, 0, {}, {}};
    for (std::size_t k = 0; k < cells.shape.size(); ++k) {
        const std::int64_t extent = cells.shape[k], stride = cells.strides[k] * unit;
        if (static_cast<int>(k) == axis) {
            s.stride = stride;
            s.have_re = extent;
            s.have_im = unit == 2 ? extent : 0;
        } else {
            s.extents.push_back(extent);
            s.strides.push_back(stride);
        }
    }
    return s;
}

Side Transform::packed(std::int64_t n) const {
    return {work_.scratch(real_, 2 * n * lines_), 0, 2, 0, 1, n, n, {lines_}, {2 * n}};
}

DeviceVector Transform::roots(std::int64_t n, std::int64_t count, std::int64_t step) const {
    DeviceVector made = work_.scratch(real_, 2 * count);
    work_.run("roots_of_unity", {made, n, step, real(1)}, {count});
    return made;
}

Roots Transform::all_roots(std::int64_t n) const {
    std::int64_t shift = 0;
    while ((std::int64_t{1} << (2 * shift)) < n) ++shift;
    const std::int64_t few = std::int64_t{1} << shift;
    return {roots(n, few, 1), roots(n, n / few + 1, few), shift};
}

std::int64_t largest_factor(std::int64_t n) {
    std::int64_t largest = 1;
    for (std::int64_t p = 2; p * p <= n; ++p) {
        while (n % p == 0) largest = p, n /= p;
    }
    return std::max(largest, n);
}

void Transform::run(std::int64_t n, const Side& from, const Side& to, Scales scales) {
    constexpr std::int64_t largest_radix = 61;  // as on the host
    if (largest_factor(n) > largest_radix) return convolve(n, from, to, scales);
    const std::int64_t longest = lines_ < 4 ? 512 : 4096;
    const std::int64_t n1 = n > longest ? fft::middle_divisor(n) : 1;
    if (n1 < 16) return short_lines(n, lines_, from, to, scales, 0);
    if (from.have_re < n || from.have_im < n) {
        const Side whole = packed(n);
        gather(from, whole, n, n, false);
        return run(n, whole, to, scales);
    }
    if (to.have_re < n || to.have_im < n) {
        const Side whole = packed(n);
        run(n, from, whole, {1, 1});
        return scatter(whole, to, n, n, false, scales);
    }
    long_lines(n, n1, from, to, scales);
}

void Transform::short_lines(std::int64_t n, std::int64_t lines, const Side& from, const Side& to,
                            Scales scales, std::int64_t turned_columns) {
    const std::int64_t all = (lines + 3) / 4;
    constexpr std::int64_t least = 1 << 12, most_scratch = 1 << 24;  // cells
    const std::int64_t most = std::max<std::int64_t>(1, most_scratch / n);
    const std::int64_t wanted = std::min({all, most, work_.pieces(4 * all * n, least)});
    const std::int64_t groups = (all + wanted - 1) / wanted, items = (all + groups - 1) / groups;
    const DeviceVector w = roots(n, n, 1);
    const Roots turn = turned_columns ? all_roots(n * turned_columns) : Roots{w, w};
    const DeviceVector s = work_.scratch(real_, items * 8 * n),
                       t = work_.scratch(real_, items * 8 * n);
    work_.run_pieces("transform_lines",
                     {from.numbers,
                      bases(from),
                      from.first,
                      from.stride,
                      from.re_at,
                      from.im_at,
                      from.have_re,
                      from.have_im,
                      to.numbers,
                      bases(to),
                      to.first,
                      to.stride,
                      to.re_at,
                      to.im_at,
                      to.have_re,
                      to.have_im,
                      w,
                      turn.fine,
                      turn.coarse,
                      turn.shift,
                      turned_columns,
                      s,
                      t,
                      n,
                      lines,
                      groups,
                      real(scales.re),
                      real(scales.im)},
                     items);
}

/// Element j1 * n2 + j2 of a line is in row j1 of a matrix: its columns are transformed, multiplied
/// by roots of unity, then its rows. Result k1 + n1 * k2 is in column k2 of row k1.
void Transform::long_lines(std::int64_t n, std::int64_t n1, const Side& from, const Side& to,
                           Scales scales) {
    const std::int64_t n2 = n / n1;
    const DeviceVector between = work_.scratch(real_, 2 * n * lines_);
    Side columns = from.cut(n2, from.stride), rows = to.cut(n1, to.stride);
    columns.stride *= n2;
    columns.have_re = columns.have_im = n1;
    rows.stride *= n1;
    rows.have_re = rows.have_im = n2;
    short_lines(n1, lines_ * n2, columns,
                {between, 0, 2 * n2, 0, 1, n1, n1, {lines_, n2}, {2 * n, 2}}, {1, 1}, n2);
    short_lines(n2, lines_ * n1, {between, 0, 2, 0, 1, n2, n2, {lines_ * n1}, {2 * n2}}, rows,
                scales, 0);
}

void Transform::gather(const Side& from, const Side& to, std::int64_t n, std::int64_t m,
                       bool chirps) {
    work_.run("gather_lines",
              {from.numbers, bases(from), from.first, from.stride, from.re_at, from.im_at,
               std::min(n, from.have_re), std::min(n, from.have_im), to.numbers, n, m,
               std::int64_t{chirps}, real(1)},
              {lines_, m});
}

void Transform::scatter(const Side& from, const Side& to, std::int64_t n, std::int64_t m,
                        bool chirps, Scales scales) {
    work_.run("scatter_lines",
              {from.numbers, to.numbers, bases(to), to.first, to.stride, to.re_at, to.im_at,
               to.have_im, n, m, std::int64_t{chirps}, real(1), real(scales.re), real(scales.im)},
              {lines_, to.have_re});
}

void Transform::convolve(std::int64_t n, const Side& from, const Side& to, Scales scales) {
    const std::int64_t m = fft::good_length(2 * n - 1);
    Transform one(work_, real_, 1);
    Side filter = one.packed(m);
    const Side chirp = one.packed(m);
    work_.run("chirp_filter", {chirp.numbers, n, m, real(1)}, {m});
    one.run(m, chirp, filter, {1, 1});
    Side lines = packed(m), spectra = packed(m);
    gather(from, lines, n, m, true);
    run(m, lines, spectra, {1, 1});
    work_.run("multiply_spectra",
              {spectra.numbers, filter.numbers, m, real(1 / static_cast<double>(m))}, {lines_, m});
    lines.swap_parts();
    spectra.swap_parts();
    run(m, spectra, lines, {1, 1});
    scatter(lines, to, n, m, true, scales);
}

/// A backward transform swaps the parts on both sides; one of reals is the conjugate.
void Transform::run_complex(const FftStep& step, Side from, Side to) {
    from.have_re = std::min(step.length, from.have_re);
    from.have_im = std::min(step.length, from.have_im);
    double sign = 1;
    if (!step.forward && from.have_im > 0) {
        from.swap_parts();
        to.swap_parts();
    } else if (!step.forward) {
        sign = -1;
    }
    run(step.length, from, to, {step.scale, sign * step.scale});
}

/// An even number of reals as half as many complex numbers; the spectrum is put together after.
void Transform::run_real_forward(const FftStep& step, const Side& from, const Side& to) {
    const std::int64_t half = step.length / 2, have = std::min(step.length, from.have_re);
    Side pairs = from;
    pairs.stride = 2 * from.stride;
    pairs.im_at = from.stride;
    pairs.have_re = (have + 1) / 2;
    pairs.have_im = have / 2;
    const Side made = packed(half);
    run(half, pairs, made, {1, 1});
    const Roots w = all_roots(step.length);
    work_.run("join_halves",
              {made.numbers, to.numbers, bases(to), to.first, to.stride, w.fine, w.coarse, w.shift,
               half, real(step.forward ? 1 : -1), real(step.scale / 2)},
              {lines_, half + 1});
}

void Transform::run_real_backward(const FftStep& step, const Side& from, const Side& to) {
    const std::int64_t half = step.length / 2;
    const Roots w = all_roots(step.length);
    Side parts = packed(half), pairs = to;
    work_.run("part_spectrum",
              {from.numbers, bases(from), from.first, from.stride, std::min(half + 1, from.have_re),
               std::min(half, from.have_im), parts.numbers, w.fine, w.coarse, w.shift, half,
               real(step.forward ? -1 : 1)},
              {lines_, half});
    parts.swap_parts();
    pairs.stride = 2 * to.stride;
    pairs.re_at = to.stride;
    pairs.im_at = 0;
    pairs.have_re = pairs.have_im = half;
    run(half, parts, pairs, {step.scale, step.scale});
}

/// The real parts of the transform of the whole spectrum.
void Transform::run_odd_backward(const FftStep& step, const Side& from, const Side& to) {
    const std::int64_t n = step.length, half = n / 2 + 1;
    const Side whole = packed(n);
    work_.run("mirror_spectrum",
              {from.numbers, bases(from), from.first, from.stride, std::min(half, from.have_re),
               std::min(half, from.have_im), whole.numbers, n, real(step.forward ? 1 : -1)},
              {lines_, n});
    run(n, whole, to, {step.scale, step.scale});
}

}  // namespace

namespace {

void run_step(DeviceWork& work, const FftStep& step, const Cells& in, const Cells& out) {
    std::int64_t lines = 1;
    for (std::size_t k = 0; k < out.shape.size(); ++k)
        lines *= static_cast<int>(k) == step.axis ? 1 : out.shape[k];
    Transform transform(work, part_dtype(in.storage.dtype), lines);
    const Side from = transform.side(in, step.axis), to = transform.side(out, step.axis);
    if (step.kind == FftKind::Complex || (step.kind == FftKind::RealForward && step.length % 2))
        return transform.run_complex(step, from, to);
    if (step.kind == FftKind::RealForward) return transform.run_real_forward(step, from, to);
    if (step.length % 2) return transform.run_odd_backward(step, from, to);
    transform.run_real_backward(step, from, to);
}

}  // namespace

void on_device::fft(const FftStep& step, Views in, Views out, Device& device) {
    DeviceWork work(device);
    if (vendor::transform(work, step, in, out)) return;
    const Cells to = cells_of(out[0]);
    run_step(work, step, cells_of(in[0]), to);
    if (step.axes == 1) return;
    // No library makes a plan of these axes together. A new result lies side by side.
    const DeviceVector whole = vector_of(out[0]);
    const DeviceVector copy = work.scratch(whole.dtype, whole.size);
    const std::int64_t size = size_of(whole.dtype);
    for (int axis = step.axis - 1; axis > step.axis - step.axes; --axis) {
        device.copy(copy.memory, 0, whole.memory, whole.offset * size, whole.size * size);
        const std::int64_t length = to.shape[static_cast<std::size_t>(axis)];
        run_step(work, {axis, length, 1, step.forward, FftKind::Complex},
                 {copy, 0, to.shape, to.strides}, to);
    }
}

}  // namespace unisono::library
