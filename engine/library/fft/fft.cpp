// Runs transforms over the lines of an array: several lines at once in the lanes of vectors, groups
// of lines on threads; a long line is cut into a matrix of short ones (the four-step method).
#include "library/fft/fft.h"

#include <algorithm>
#include <atomic>

#include "backends/device_libraries.h"
#include "core/error.h"
#include "core/limits.h"
#include "core/pool.h"
#include "core/threads/parallel.h"
#include "library/fft/fft_plan.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"

namespace unisono::library {

namespace {

using fft::Cx;
using fft::Plan;
using fft::Roots;

/// Scratch memory from the pool, which keeps its pages.
template <class T>
class Cells {
  public:
    explicit Cells(std::int64_t n)
        : bytes_(std::max<std::int64_t>(1, n) * std::int64_t{sizeof(Cx<T>)}) {
        data_ = static_cast<Cx<T>*>(pool::allocate(bytes_));
    }
    Cells(const Cells&) = delete;
    Cells& operator=(const Cells&) = delete;
    ~Cells() { pool::free(data_, bytes_); }
    Cx<T>* get() const { return data_; }
    Cx<T>& operator[](std::int64_t k) const { return data_[k]; }

  private:
    std::int64_t bytes_;
    Cx<T>* data_;
};

/// parallel_for whose body may find no memory.
template <class F>
void parallel_allocating(std::int64_t n, std::int64_t grain, F&& body) {
    std::atomic<bool> failed{false};
    parallel_for(0, n, grain, [&](std::int64_t first, std::int64_t last) {
        try {
            body(first, last);
        } catch (const Error&) {
            failed = true;
        }
    });
    if (failed) fail(ErrorKind::Memory, "fft: no memory for the work space");
}

/// Lines of which several lie in the lanes of a vector: load(begin(line), j) gives a cell,
/// take(line, count, get) uses the cells get(l, k) of `count` lines from `line` on.
template <class T, class Begin, class Load, class Take>
void run_groups(const Plan<T>& plan, std::int64_t lines, Begin&& begin, Load&& load, Take&& take) {
    using V = fft::Vector<T>;
    constexpr int width = fft::lanes<T>;
    std::int64_t n = plan.length(), groups = (lines + width - 1) / width;
    auto run = [&](std::int64_t first, std::int64_t last) {
        Cells<V> data(n), scratch(plan.scratch());
        for (std::int64_t line = first * width; line < std::min(lines, last * width);
             line += width) {
            int count = static_cast<int>(std::min<std::int64_t>(width, lines - line));
            decltype(begin(line)) bases[width]{};
            for (int l = 0; l < count; ++l) bases[l] = begin(line + l);
            // Lanes are written and read one by one in memory: as elements of vectors they would
            // go through the stack.
            T* to = reinterpret_cast<T*>(data.get());
            if (count < width) std::fill(to, to + 2 * width * n, T(0));
            for (std::int64_t j = 0; j < n; ++j, to += 2 * width) {
                for (int l = 0; l < count; ++l) {
                    Cx<T> x = load(bases[l], j);
                    to[l] = x.re;
                    to[width + l] = x.im;
                }
            }
            const T* from = reinterpret_cast<const T*>(plan.run(data.get(), scratch.get()));
            take(line, count, [from](int l, std::int64_t k) {
                const T* x = from + 2 * fft::lanes<T> * k + l;
                return Cx<T>{x[0], x[fft::lanes<T>]};
            });
        }
    };
    parallel_allocating(groups, std::max<std::int64_t>(1, limits::thread_cells / (n * width)), run);
}

/// Few short lines: one after the other, without vectors.
template <class T, class Begin, class Load, class Take>
void run_single(const Plan<T>& plan, std::int64_t lines, Begin&& begin, Load&& load, Take&& take) {
    std::int64_t n = plan.length();
    Cells<T> data(n), scratch(plan.scratch());
    for (std::int64_t line = 0; line < lines; ++line) {
        auto base = begin(line);
        for (std::int64_t j = 0; j < n; ++j) data[j] = load(base, j);
        const Cx<T>* made = plan.run(data.get(), scratch.get());
        take(line, 1, [made](int, std::int64_t k) { return made[k]; });
    }
}

/// A line of n1 * n2 cells as a matrix: transforms of its columns, roots of unity, transforms of
/// its rows. The result is packed in `out`.
template <class T, class Load>
void run_long_line(std::int64_t n, std::int64_t n1, Load&& load, Cx<T>* out) {
    std::int64_t n2 = n / n1;
    auto columns = Plan<T>::of(n1), rows = Plan<T>::of(n2);
    auto roots = Roots<T>::of(n);
    Cells<T> kept(n);
    Cx<T>* between = kept.get();
    run_groups<T>(
        *columns, n2, [](std::int64_t j2) { return j2; },
        [&](std::int64_t j2, std::int64_t j1) { return load(j1 * n2 + j2); },
        [&](std::int64_t j2, int count, auto get) {
            for (std::int64_t k1 = 0; k1 < n1; ++k1) {
                for (int l = 0; l < count; ++l)
                    between[k1 * n2 + j2 + l] = fft::times(get(l, k1), (*roots)(k1 * (j2 + l)));
            }
        });
    run_groups<T>(
        *rows, n1, [&](std::int64_t k1) { return between + k1 * n2; },
        [](const Cx<T>* row, std::int64_t j2) { return row[j2]; },
        [&](std::int64_t k1, int count, auto get) {
            for (std::int64_t k2 = 0; k2 < n2; ++k2) {
                for (int l = 0; l < count; ++l) out[k1 + l + n1 * k2] = get(l, k2);
            }
        });
}

/// All lines: emit(line, get, first, last) writes the outputs [first, last) of a line.
template <class T, class Begin, class Load, class Emit>
void run_lines(std::int64_t n, std::int64_t lines, std::int64_t outputs, Begin&& begin, Load&& load,
               Emit&& emit) {
    auto whole = [&](std::int64_t line, int count, auto get) {
        for (int l = 0; l < count; ++l) {
            auto of_line = [&get, l](std::int64_t k) { return get(l, k); };
            emit(line + l, of_line, std::int64_t{0}, outputs);
        }
    };
    // Vectors of whole lines stay in the second cache up to this length.
    bool few = lines < fft::lanes<T>;
    std::int64_t longest = few ? 512 : 4096;
    std::int64_t n1 = n > longest ? fft::middle_divisor(n) : 1;
    if (n1 < 16) {
        auto plan = Plan<T>::of(n);
        if (few) return run_single<T>(*plan, lines, begin, load, whole);
        return run_groups<T>(*plan, lines, begin, load, whole);
    }
    auto transform_line = [&](std::int64_t line, Cx<T>* made) {
        auto base = begin(line);
        auto load_cell = [&](std::int64_t j) { return load(base, j); };
        run_long_line<T>(n, n1, load_cell, made);
        auto get = [made](std::int64_t k) { return made[k]; };
        parallel_for(0, outputs, limits::thread_elements,
                     [&](std::int64_t first, std::int64_t last) { emit(line, get, first, last); });
    };
    if (few) {  // threads share each line
        Cells<T> made(n);
        for (std::int64_t line = 0; line < lines; ++line) transform_line(line, made.get());
        return;
    }
    parallel_allocating(lines, 1, [&](std::int64_t first, std::int64_t last) {
        Cells<T> made(n);
        for (std::int64_t line = first; line < last; ++line) transform_line(line, made.get());
    });
}

/// One side of a transform: where each line begins and how its elements follow, in units of T.
template <class T>
struct Side {
    T* data;
    std::int64_t stride, count;  ///< along the axis
    bool complex;
    std::vector<std::int64_t> extents, strides;  ///< of the other axes

    T* line(std::int64_t index) const {
        std::int64_t offset = 0;
        for (std::size_t k = extents.size(); k-- > 0;) {
            offset += index % extents[k] * strides[k];
            index /= extents[k];
        }
        return data + offset;
    }
};

template <class T>
Side<T> side_of(const View& v, int axis) {
    std::int64_t unit = info(v.dtype).kind == 'c' ? 2 : 1;
    Side<T> s{reinterpret_cast<T*>(v.data()), 0, 0, unit == 2, {}, {}};
    for (int k = 0; k < v.layout->rank(); ++k) {
        auto at = static_cast<std::size_t>(k);
        std::int64_t extent = v.layout->shape()[at], stride = v.layout->strides()[at] * unit;
        if (k == axis) {
            s.count = extent;
            s.stride = stride;
        } else {
            s.extents.push_back(extent);
            s.strides.push_back(stride);
        }
    }
    return s;
}

template <class T>
struct Job {
    Side<T> in, out;
    std::int64_t lines, n;
    T scale;
    bool forward;
    auto begin() const {
        return [this](std::int64_t line) -> const T* { return in.line(line); };
    }
};

template <class T>
void run_complex(const Job<T>& job) {
    const auto& in = job.in;
    std::int64_t have = std::min(in.count, job.n);
    run_lines<T>(
        job.n, job.lines, job.n, job.begin(),
        [&](const T* p, std::int64_t j) -> Cx<T> {
            if (j >= have) return {0, 0};
            const T* x = p + j * in.stride;
            T re = x[0], im = in.complex ? x[1] : T(0);
            return job.forward ? Cx<T>{re, im} : Cx<T>{im, re};
        },
        [&](std::int64_t line, auto get, std::int64_t first, std::int64_t last) {
            T* p = job.out.line(line);
            for (std::int64_t k = first; k < last; ++k) {
                Cx<T> x = get(k);
                p[k * job.out.stride] = (job.forward ? x.re : x.im) * job.scale;
                p[k * job.out.stride + 1] = (job.forward ? x.im : x.re) * job.scale;
            }
        });
}

/// An even number of reals as half as many complex numbers; the spectrum is put together after.
template <class T>
void run_real_forward(const Job<T>& job) {
    std::int64_t n = job.n, half = n / 2, have = std::min(job.in.count, n);
    auto w = Roots<T>::of(n);
    T sign = job.forward ? T(1) : T(-1);  // a backward transform of reals is the conjugate
    run_lines<T>(
        half, job.lines, half + 1, job.begin(),
        [&](const T* p, std::int64_t j) -> Cx<T> {
            std::int64_t s = job.in.stride;
            return {2 * j < have ? p[2 * j * s] : T(0),
                    2 * j + 1 < have ? p[(2 * j + 1) * s] : T(0)};
        },
        [&](std::int64_t line, auto get, std::int64_t first, std::int64_t last) {
            T* p = job.out.line(line);
            T scale = job.scale / 2;
            for (std::int64_t k = first; k < last; ++k) {
                Cx<T> a = get(k == half ? 0 : k), b = get(k == 0 ? 0 : half - k);
                Cx<T> even{a.re + b.re, a.im - b.im}, odd{a.im + b.im, b.re - a.re};
                Cx<T> x = even + fft::times(odd, (*w)(k));
                p[k * job.out.stride] = x.re * scale;
                p[k * job.out.stride + 1] = sign * x.im * scale;
            }
        });
}

template <class T>
void run_real_backward(const Job<T>& job) {
    std::int64_t n = job.n, half = n / 2, have = std::min(job.in.count, half + 1);
    auto w = Roots<T>::of(n);
    T sign = job.forward ? T(-1) : T(1);
    auto spectrum = [&](const T* p, std::int64_t k) -> Cx<T> {
        if (k >= have) return {0, 0};
        const T* x = p + k * job.in.stride;
        return {x[0], job.in.complex && k > 0 && k < half ? sign * x[1] : T(0)};
    };
    run_lines<T>(
        half, job.lines, half, job.begin(),
        [&](const T* p, std::int64_t k) -> Cx<T> {
            Cx<T> a = spectrum(p, k), b = spectrum(p, half - k);
            Cx<T> even{a.re + b.re, a.im - b.im}, odd{a.re - b.re, a.im + b.im};
            Cx<T> turned = fft::times(odd, std::conj((*w)(k)));
            // even + i turned, swapped: the transform is backward.
            return {even.im + turned.re, even.re - turned.im};
        },
        [&](std::int64_t line, auto get, std::int64_t first, std::int64_t last) {
            T* p = job.out.line(line);
            for (std::int64_t k = first; k < last; ++k) {
                Cx<T> x = get(k);
                p[2 * k * job.out.stride] = x.im * job.scale;
                p[(2 * k + 1) * job.out.stride] = x.re * job.scale;
            }
        });
}

/// Odd lengths go through the complex transform.
template <class T>
void run_odd_real(const Job<T>& job, FftKind kind) {
    std::int64_t n = job.n, half = n / 2 + 1;
    bool spectrum = kind == FftKind::RealBackward;
    std::int64_t have = std::min(job.in.count, spectrum ? half : n);
    bool swaps = !job.forward;
    run_lines<T>(
        n, job.lines, spectrum ? n : half, job.begin(),
        [&](const T* p, std::int64_t j) -> Cx<T> {
            bool mirrored = spectrum && j >= half;
            std::int64_t at = mirrored ? n - j : j;
            if (at >= have) return {0, 0};
            const T* x = p + at * job.in.stride;
            T re = x[0], im = job.in.complex && at > 0 ? (mirrored ? -x[1] : x[1]) : T(0);
            return swaps ? Cx<T>{im, re} : Cx<T>{re, im};
        },
        [&](std::int64_t line, auto get, std::int64_t first, std::int64_t last) {
            T* p = job.out.line(line);
            for (std::int64_t k = first; k < last; ++k) {
                Cx<T> x = get(k);
                if (swaps) std::swap(x.re, x.im);
                p[k * job.out.stride] = x.re * job.scale;
                if (!spectrum) p[k * job.out.stride + 1] = x.im * job.scale;
            }
        });
}

template <class T>
void run(const FftStep& step, const View& in, const View& out) {
    Job<T> job{side_of<T>(in, step.axis),
               side_of<T>(out, step.axis),
               1,
               step.length,
               static_cast<T>(step.scale),
               step.forward};
    for (std::int64_t extent : job.out.extents) job.lines *= extent;
    if (job.lines == 0) return;
    if (step.kind == FftKind::Complex) return run_complex(job);
    if (step.length % 2 == 1) return run_odd_real(job, step.kind);
    if (step.kind == FftKind::RealForward) return run_real_forward(job);
    run_real_backward(job);
}

}  // namespace

void host::fft(const FftStep& step, Views in, Views out) {
    const bool is_single = part_dtype(in[0].dtype) == DType::Float32;
    is_single ? run<float>(step, in[0], out[0]) : run<double>(step, in[0], out[0]);
}

Array transform(const Array& x, const FftStep& step) {
    if (step.length < 1) {
        fail(ErrorKind::Value, "fft: Invalid number of FFT data points (" +
                                   std::to_string(step.length) +
                                   ") specified; expected at least 1");
    }
    Array in[] = {x};
    return call(primitives::fft, in, step);
}

bool transforms_together(const Array& x) {
    Device* device = x.device();
    if (!device) return false;
    DeviceLibraries* libraries = libraries_of(*device);
    return libraries && libraries->transforms();
}

template <class T>
void fft_line(std::int64_t n, bool forward, const T* in, T* out) {
    auto* data = const_cast<T*>(in);  // read only
    Job<T> job{{data, 2, n, true, {}, {}}, {out, 2, n, true, {}, {}}, 1, n, T(1), forward};
    run_complex(job);
}
template void fft_line<float>(std::int64_t, bool, const float*, float*);
template void fft_line<double>(std::int64_t, bool, const double*, double*);

}  // namespace unisono::library
