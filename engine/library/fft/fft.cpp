// Runs transforms over the lines of an array: several lines at once in the lanes of vectors, groups
// of lines on threads; a long line is cut into a matrix of short ones (the four-step method).
#include "library/fft/fft.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "backends/device_libraries.h"
#include "core/caches.h"
#include "core/error.h"
#include "core/limits.h"
#include "core/pool.h"
#include "core/threads/parallel.h"
#include "core/threads/threads.h"
#include "library/fft/fft_cells.h"
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

/// Which of a transform's sides has lines whose elements of one index lie beside each other in
/// memory, as columns do.
struct Beside {
    bool in = false, out = false;
};

/// Groups of lines whose cells are moved together where lines lie beside each other: longer runs of
/// memory, of which each cache line is used once.
constexpr int most_together = 4;
template <class T>
constexpr int most_lines = most_together* fft::lanes<T>;

/// The cells of several groups have to stay in the second cache, and all threads to get some.
template <class T>
std::int64_t groups_together(std::int64_t n, std::int64_t groups) {
    const std::int64_t bytes = n * std::int64_t{sizeof(Cx<fft::Vector<T>>)};
    const std::int64_t fit = second_level_cache() * 3 / 4 / bytes - 1;
    return std::clamp<std::int64_t>(std::min(fit, groups / thread_count()), 1, most_together);
}

/// Of lines beside each other, so many cells of each group in turn: their rows stay in the first
/// cache.
constexpr std::int64_t rows_at_once = 8;

/// What several groups of lines have become.
template <class T>
struct Made {
    Cx<fft::Vector<T>>* const* groups;
    Cx<T> operator()(int l, std::int64_t k) const {
        constexpr int width = fft::lanes<T>;
        const T* x = reinterpret_cast<const T*>(groups[l / width] + k) + l % width;
        return {x[0], x[width]};
    }
};

/// What a single line has become.
template <class T>
struct MadeLine {
    const Cx<T>* line;
    Cx<T> operator()(int, std::int64_t k) const { return line[k]; }
};

/// Lines of which several lie in the lanes of a vector: load(begin(line), j) gives a cell,
/// take(line, count, get) uses the cells get(l, k) of `count` lines from `line` on, most_lines at
/// most. load.vectors(lines, j, end, cells), if there is one, moves cells j, j + 1, ... of as many
/// lines as a vector has lanes, and returns up to where.
template <class T, class Begin, class Load, class Take>
void run_groups(const Plan<T>& plan, std::int64_t lines, Beside beside, Begin&& begin, Load&& load,
                Take&& take) {
    using V = fft::Vector<T>;
    constexpr int width = fft::lanes<T>;
    const std::int64_t n = plan.length(), groups = (lines + width - 1) / width;
    const std::int64_t together = beside.in || beside.out ? groups_together<T>(n, groups) : 1;
    auto run = [&](std::int64_t first, std::int64_t last) {
        Cells<V> data(n * together), scratch(plan.scratch());
        Cx<V>* cells[most_together];
        for (std::int64_t g = 0; g < together; ++g) cells[g] = data.get() + n * g;
        Cx<V>* spare = scratch.get();
        const std::int64_t end = std::min(lines, last * width);
        for (std::int64_t line = first * width; line < end; line += together * width) {
            const int count = static_cast<int>(std::min(together * width, end - line));
            const int used = (count + width - 1) / width;
            decltype(begin(line)) bases[most_lines<T>]{};
            for (int l = 0; l < count; ++l) bases[l] = begin(line + l);
            // Lanes are written one by one in memory: as elements of vectors they would go through
            // the stack.
            auto fill = [&](int g, std::int64_t j, std::int64_t to_j) {
                const auto* from = bases + g * width;
                const int many = std::min(width, count - g * width);
                if constexpr (requires { load.vectors(from, j, to_j, cells[g]); }) {
                    if (many == width) j = load.vectors(from, j, to_j, cells[g]);
                }
                for (; j < to_j; ++j) {
                    T* to = reinterpret_cast<T*>(cells[g] + j);
                    for (int l = 0; l < many; ++l) {
                        const Cx<T> x = load(from[l], j);
                        to[l] = x.re;
                        to[width + l] = x.im;
                    }
                }
            };
            if (count % width) {
                T* cell = reinterpret_cast<T*>(cells[used - 1]);
                std::fill(cell, cell + 2 * width * n, T(0));
            }
            const std::int64_t step = beside.in ? rows_at_once : n;
            for (std::int64_t j = 0; j < n; j += step) {
                for (int g = 0; g < used; ++g) fill(g, j, std::min(n, j + step));
            }
            for (int g = 0; g < used; ++g) {
                Cx<V>* made = plan.run(cells[g], spare);
                if (made == spare) std::swap(cells[g], spare);
            }
            const int at_once = beside.out ? used : 1;
            for (int g = 0; g < used; g += at_once)
                take(line + g * width, std::min(at_once * width, count - g * width),
                     Made<T>{cells + g});
        }
    };
    const std::int64_t grain = limits::thread_cells / (n * width * together);
    parallel_allocating(groups, std::max<std::int64_t>(1, grain) * together, run);
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
        take(line, 1, MadeLine<T>{made});
    }
}

/// The cells of one line: load(j), and vectors of those that lie beside each other, where the
/// loader of all lines has them.
template <class Load, class Base>
struct CellsOfLine {
    const Load& load;
    Base base;

    auto operator()(std::int64_t j) const { return load(base, j); }
    bool has_vector(std::int64_t j) const requires requires { load.has_vector(j); }
    { return load.has_vector(j); }
    void prefetch(std::int64_t j) const requires requires { load.prefetch(base, j); }
    { load.prefetch(base, j); }
    auto vector(std::int64_t j) const requires requires { load.vector(base, j); }
    { return load.vector(base, j); }
};

/// A line as a matrix of rows of n2 cells: its columns, which lie beside each other.
template <class T, class Load>
struct ColumnsOfLine {
    const Load& load;
    std::int64_t n2;

    Cx<T> operator()(std::int64_t j2, std::int64_t j1) const { return load(j1 * n2 + j2); }
    std::int64_t vectors(const std::int64_t* columns, std::int64_t j1, std::int64_t end,
                         Cx<fft::Vector<T>>* cells) const requires requires {
        load.vector(j1);
    }
    {
        for (; j1 < end && load.has_vector(j1 * n2 + columns[0]); ++j1) {
            load.prefetch((j1 + rows_at_once) * n2 + columns[0]);
            cells[j1] = load.vector(j1 * n2 + columns[0]);
        }
        return j1;
    }
};

/// Packed rows.
template <class T>
struct Rows {
    Cx<T> operator()(const Cx<T>* row, std::int64_t j) const { return row[j]; }
    std::int64_t vectors(const Cx<T>* const* rows, std::int64_t j, std::int64_t end,
                         Cx<fft::Vector<T>>* cells) const {
        const T* lines[fft::lanes<T>];
        for (int l = 0; l < fft::lanes<T>; ++l) lines[l] = reinterpret_cast<const T*>(rows[l]);
        for (; j + fft::run<T> <= end; j += fft::run<T>) fft::load_runs(lines, 2 * j, cells + j);
        return j;
    }
};

/// A line of n1 * n2 cells as a matrix: transforms of its columns, roots of unity, transforms of
/// its rows. The result is packed in `out`.
template <class T, class Load>
void run_long_line(std::int64_t n, std::int64_t n1, Load&& load, Cx<T>* out) {
    constexpr int width = fft::lanes<T>;
    std::int64_t n2 = n / n1;
    auto columns = Plan<T>::of(n1), rows = Plan<T>::of(n2);
    auto roots = Roots<T>::of(n);
    Cells<T> kept(n);
    Cx<T>* between = kept.get();
    run_groups<T>(
        *columns, n2, {true, true}, [](std::int64_t j2) { return j2; },
        ColumnsOfLine<T, std::remove_reference_t<Load>>{load, n2},
        [&](std::int64_t j2, int count, auto get) {
            for (std::int64_t k1 = 0; k1 < n1; ++k1) {
                Cx<T>* to = between + k1 * n2 + j2;
                int l = 0;
                for (; l + width <= count; l += width) {
                    __builtin_prefetch(to + l + rows_at_once * n2, 1);
                    const auto w = fft::load_roots(*roots, k1 * (j2 + l), k1);
                    fft::store_beside(reinterpret_cast<T*>(to + l),
                                      fft::times(get.groups[l / width][k1], w));
                }
                for (; l < count; ++l) to[l] = fft::times(get(l, k1), (*roots)(k1 * (j2 + l)));
            }
        });
    run_groups<T>(
        *rows, n1, {false, true},
        [&](std::int64_t k1) -> const Cx<T>* { return between + k1 * n2; }, Rows<T>{},
        [&](std::int64_t k1, int count, auto get) {
            for (std::int64_t k2 = 0; k2 < n2; ++k2) {
                Cx<T>* to = out + k1 + n1 * k2;
                int l = 0;
                for (; l + width <= count; l += width)
                    fft::store_beside(reinterpret_cast<T*>(to + l), get.groups[l / width][k2]);
                for (; l < count; ++l) to[l] = get(l, k2);
            }
        });
}

/// All lines: emit(line, count, get, first, last) writes the outputs [first, last) of `count`
/// lines.
template <class T, class Begin, class Load, class Emit>
void run_lines(std::int64_t n, std::int64_t lines, std::int64_t outputs, Beside beside,
               Begin&& begin, Load&& load, Emit&& emit) {
    auto whole = [&](std::int64_t line, int count, auto get) {
        emit(line, count, get, std::int64_t{0}, outputs);
    };
    // Vectors of whole lines stay in the second cache up to this length.
    bool few = lines < fft::lanes<T>;
    std::int64_t longest = few ? 512 : 4096;
    std::int64_t n1 = n > longest ? fft::middle_divisor(n) : 1;
    if (n1 < 16) {
        auto plan = Plan<T>::of(n);
        if (few) return run_single<T>(*plan, lines, begin, load, whole);
        return run_groups<T>(*plan, lines, beside, begin, load, whole);
    }
    auto transform_line = [&](std::int64_t line, Cx<T>* made) {
        const CellsOfLine<std::remove_reference_t<Load>, decltype(begin(line))> cells{load,
                                                                                      begin(line)};
        run_long_line<T>(n, n1, cells, made);
        const MadeLine<T> get{made};
        parallel_for(
            0, outputs, limits::thread_elements,
            [&](std::int64_t first, std::int64_t last) { emit(line, 1, get, first, last); });
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
    /// Whether the next line is nearer than the next element of a line.
    bool lines_are_beside() const {
        return !strides.empty() && std::abs(strides.back()) < std::abs(stride);
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
    Beside beside() const { return {in.lines_are_beside(), out.lines_are_beside()}; }
    /// Outputs [first, last) of `count` lines that get has. write(to, l, k) writes output k of line
    /// l, which lies there. Where they are given, columns(lines, cells, k, end) writes outputs k,
    /// k + 1, ... of as many lines as a vector has lanes, and along(to, line, k, end) those of one
    /// line; they return up to where.
    template <class Get, class Write, class Columns, class Along>
    void emit(std::int64_t line, int count, Get get, std::int64_t first, std::int64_t last,
              Write&& write, Columns&& columns, Along&& along) const {
        if constexpr (requires { get.groups; }) {
            emit_groups(line, count, get, first, last, write, columns);
        } else {
            T* to = out.line(line);
            std::int64_t k = first;
            for (; k < last && (k == 0 || k % fft::lanes<T>); ++k) write(to + k * out.stride, 0, k);
            k = along(to, get.line, k, last);
            for (; k < last; ++k) write(to + k * out.stride, 0, k);
        }
    }

  private:
    /// Lines are written side by side, since those beside each other share cache lines.
    template <class Write, class Columns>
    void emit_groups(std::int64_t line, int count, Made<T> get, std::int64_t first,
                     std::int64_t last, Write&& write, Columns&& columns) const {
        constexpr int width = fft::lanes<T>;
        T* to[most_lines<T>];
        for (int l = 0; l < count; ++l) to[l] = out.line(line + l);
        const std::int64_t step = count > width ? rows_at_once : last - first;
        for (std::int64_t from = first; from < last; from += step) {
            const std::int64_t end = std::min(last, from + step);
            for (int l = 0; l < count; l += width) {
                const int many = std::min(count, l + width);
                std::int64_t k = from;
                if (many == l + width) k = columns(to + l, get.groups[l / width], from, end);
                for (; k < end; ++k) {
                    for (int at = l; at < many; ++at) write(to[at] + k * out.stride, at, k);
                }
            }
        }
    }
};

/// No outputs by vectors.
struct OneByOne {
    template <class To, class From>
    std::int64_t operator()(To, From, std::int64_t k, std::int64_t) const {
        return k;
    }
};

/// Complex outputs k, k + 1, ... of as many lines as a vector has lanes: get(k) gives a vector.
template <class T, class Get>
std::int64_t store_columns(T* const* lines, std::int64_t stride, std::int64_t k, std::int64_t end,
                           Get&& get) {
    if (fft::are_beside(lines)) {
        for (; k < end; ++k) fft::store_beside(lines[0] + k * stride, get(k));
    } else if (stride == 2) {
        for (; k + fft::run<T> <= end; k += fft::run<T>) {
            Cx<fft::Vector<T>> next[fft::run<T>];
#pragma GCC unroll 4
            for (int m = 0; m < fft::run<T>; ++m) next[m] = get(k + m);
            fft::store_runs(lines, 2 * k, next);
        }
    }
    return k;
}

/// Complex numbers as they lie in the operand; real and imaginary parts change places on the way
/// into a backward transform.
template <class T>
struct Numbers {
    const Side<T>& side;
    std::int64_t have;  ///< of a line; zeros follow
    bool forward;

    Cx<T> operator()(const T* line, std::int64_t j) const {
        if (j >= have) return {0, 0};
        const T* x = line + j * side.stride;
        const T re = x[0], im = side.complex ? x[1] : T(0);
        return forward ? Cx<T>{re, im} : Cx<T>{im, re};
    }
    /// Whether those of a vector from j on lie beside each other: vector(line, j). prefetch(line,
    /// j) may be of any j.
    bool has_vector(std::int64_t j) const {
        return side.complex && side.stride == 2 && j + fft::lanes<T> <= have;
    }
    void prefetch(const T* line, std::int64_t j) const { __builtin_prefetch(line + 2 * j); }
    Cx<fft::Vector<T>> vector(const T* line, std::int64_t j) const {
        const auto x = fft::load_beside(line + 2 * j);
        return forward ? x : Cx<fft::Vector<T>>{x.im, x.re};
    }
    std::int64_t vectors(const T* const* lines, std::int64_t j, std::int64_t end,
                         Cx<fft::Vector<T>>* cells) const {
        end = std::min(end, have);
        const std::int64_t begin = j;
        if (side.complex && fft::are_beside(lines)) {
            for (; j < end; ++j) cells[j] = fft::load_beside(lines[0] + j * side.stride);
        } else if (side.complex && side.stride == 2) {
            for (; j + fft::run<T> <= end; j += fft::run<T>)
                fft::load_runs(lines, 2 * j, cells + j);
        }
        if (!forward) {
            for (std::int64_t k = begin; k < j; ++k) std::swap(cells[k].re, cells[k].im);
        }
        return j;
    }
};

template <class T>
void run_complex(const Job<T>& job) {
    using V = fft::Vector<T>;
    constexpr int width = fft::lanes<T>;
    const Numbers<T> numbers{job.in, std::min(job.in.count, job.n), job.forward};
    auto scaled = [&](auto x) {
        return job.forward ? decltype(x){x.re * job.scale, x.im * job.scale}
                           : decltype(x){x.im * job.scale, x.re * job.scale};
    };
    run_lines<T>(
        job.n, job.lines, job.n, job.beside(), job.begin(), numbers,
        [&](std::int64_t line, int count, auto get, std::int64_t first, std::int64_t last) {
            job.emit(
                line, count, get, first, last,
                [&](T* to, int l, std::int64_t k) {
                    const Cx<T> x = scaled(get(l, k));
                    to[0] = x.re;
                    to[1] = x.im;
                },
                [&](T* const* lines, const Cx<V>* cells, std::int64_t k, std::int64_t end) {
                    return store_columns(lines, job.out.stride, k, end,
                                         [&](std::int64_t at) { return scaled(cells[at]); });
                },
                [&](T* to, const Cx<T>* made, std::int64_t k, std::int64_t end) {
                    if (job.out.stride != 2) return k;
                    for (; k + width <= end; k += width) {
                        const auto x = fft::load_beside(reinterpret_cast<const T*>(made + k));
                        fft::store_beside(to + 2 * k, scaled(x));
                    }
                    return k;
                });
        });
}

/// Reals of which each two that follow each other are one complex number.
template <class T>
struct PairsOfReals {
    const Side<T>& side;
    std::int64_t have;  ///< reals of a line; zeros follow

    Cx<T> operator()(const T* line, std::int64_t j) const {
        const std::int64_t s = side.stride;
        return {2 * j < have ? line[2 * j * s] : T(0),
                2 * j + 1 < have ? line[(2 * j + 1) * s] : T(0)};
    }
    bool has_vector(std::int64_t j) const {
        return side.stride == 1 && 2 * (j + fft::lanes<T>) <= have;
    }
    void prefetch(const T* line, std::int64_t j) const { __builtin_prefetch(line + 2 * j); }
    Cx<fft::Vector<T>> vector(const T* line, std::int64_t j) const {
        return fft::load_beside(line + 2 * j);
    }
    std::int64_t vectors(const T* const* lines, std::int64_t j, std::int64_t end,
                         Cx<fft::Vector<T>>* cells) const {
        end = std::min(end, have / 2);
        if (fft::are_beside(lines, 1)) {
            for (; j < end; ++j) {
                const T* p = lines[0] + 2 * j * side.stride;
                cells[j] = {fft::load_vector(p), fft::load_vector(p + side.stride)};
            }
        } else if (side.stride == 1) {
            for (; j + fft::run<T> <= end; j += fft::run<T>)
                fft::load_runs(lines, 2 * j, cells + j);
        }
        return j;
    }
};

/// An even number of reals as half as many complex numbers; the spectrum is put together after.
/// Of the spectrum of n reals, from cells a and b that lie opposite to each other: one number.
template <class X, class W>
Cx<X> joined(Cx<X> a, Cx<X> b, const W& w) {
    const Cx<X> even{a.re + b.re, a.im - b.im}, odd{a.im + b.im, b.re - a.re};
    return even + fft::times(odd, w);
}

template <class T>
void run_real_forward(const Job<T>& job) {
    using V = fft::Vector<T>;
    constexpr int width = fft::lanes<T>;
    const std::int64_t n = job.n, half = n / 2;
    const auto w = Roots<T>::of(n);
    const T scale = job.scale / 2;
    // A backward transform of reals is the conjugate.
    const T scale_im = (job.forward ? T(1) : T(-1)) * scale;
    auto scaled = [&](auto x) { return decltype(x){x.re * scale, x.im * scale_im}; };
    run_lines<T>(
        half, job.lines, half + 1, job.beside(), job.begin(),
        PairsOfReals<T>{job.in, std::min(job.in.count, n)},
        [&](std::int64_t line, int count, auto get, std::int64_t first, std::int64_t last) {
            auto opposite = [&](std::int64_t k) { return k == 0 ? 0 : half - k; };
            job.emit(
                line, count, get, first, last,
                [&](T* to, int l, std::int64_t k) {
                    const Cx<T> x =
                        scaled(joined(get(l, k == half ? 0 : k), get(l, opposite(k)), (*w)(k)));
                    to[0] = x.re;
                    to[1] = x.im;
                },
                [&](T* const* lines, const Cx<V>* cells, std::int64_t k, std::int64_t end) {
                    return store_columns(lines, job.out.stride, k, end, [&](std::int64_t at) {
                        return scaled(
                            joined(cells[at == half ? 0 : at], cells[opposite(at)], (*w)(at)));
                    });
                },
                [&](T* to, const Cx<T>* made, std::int64_t k, std::int64_t end) {
                    if (job.out.stride != 2 || k == 0) return k;
                    const T* parts = reinterpret_cast<const T*>(made);
                    for (end = std::min(end, half); k + width <= end; k += width) {
                        const auto a = fft::load_beside(parts + 2 * k),
                                   b = fft::load_backward(parts + 2 * (half - k - width + 1));
                        fft::store_beside(to + 2 * k,
                                          scaled(joined(a, b, fft::load_roots(*w, k, 1))));
                    }
                    return k;
                });
        });
}

/// The numbers whose transform has the reals as its parts, from a spectrum of half + 1 numbers.
template <class T>
struct HalfSpectrum {
    const Side<T>& side;
    std::int64_t half, have;  ///< of a line; zeros follow
    const Roots<T>& roots;
    T sign;

    Cx<T> operator()(const T* line, std::int64_t k) const {
        return turned(number(line, k), number(line, half - k), std::conj(roots(k)));
    }
    bool has_vector(std::int64_t k) const {
        return side.complex && side.stride == 2 && k > 0 && k + fft::lanes<T> <= half &&
               half - k < have && k + fft::lanes<T> <= have;
    }
    void prefetch(const T* line, std::int64_t k) const {
        __builtin_prefetch(line + 2 * k);
        __builtin_prefetch(line + 2 * (half - k));
    }
    Cx<fft::Vector<T>> vector(const T* line, std::int64_t k) const {
        const auto a = fft::load_beside(line + 2 * k),
                   b = fft::load_backward(line + 2 * (half - k - fft::lanes<T> + 1));
        const auto w = fft::load_roots(roots, k, 1);
        return turned(signed_(a), signed_(b), Cx<fft::Vector<T>>{w.re, -w.im});
    }

  private:
    Cx<T> number(const T* line, std::int64_t k) const {
        if (k >= have) return {0, 0};
        const T* x = line + k * side.stride;
        return {x[0], side.complex && k > 0 && k < half ? sign * x[1] : T(0)};
    }
    Cx<fft::Vector<T>> signed_(Cx<fft::Vector<T>> x) const { return {x.re, sign * x.im}; }
    template <class X, class W>
    static Cx<X> turned(Cx<X> a, Cx<X> b, const W& w) {
        const Cx<X> even{a.re + b.re, a.im - b.im}, odd{a.re - b.re, a.im + b.im};
        const Cx<X> turned = fft::times(odd, w);
        // even + i turned, swapped: the transform is backward.
        return {even.im + turned.re, even.re - turned.im};
    }
};

template <class T>
void run_real_backward(const Job<T>& job) {
    constexpr int width = fft::lanes<T>;
    const std::int64_t n = job.n, half = n / 2;
    const auto w = Roots<T>::of(n);
    run_lines<T>(
        half, job.lines, half, job.beside(), job.begin(),
        HalfSpectrum<T>{job.in, half, std::min(job.in.count, half + 1), *w,
                        job.forward ? T(-1) : T(1)},
        [&](std::int64_t line, int count, auto get, std::int64_t first, std::int64_t last) {
            job.emit(
                line, count, get, first, last,
                [&](T* to, int l, std::int64_t k) {
                    const Cx<T> x = get(l, k);
                    to[k * job.out.stride] = x.im * job.scale;
                    to[(k + 1) * job.out.stride] = x.re * job.scale;
                },
                OneByOne{},
                [&](T* to, const Cx<T>* made, std::int64_t k, std::int64_t end) {
                    if (job.out.stride != 1) return k;
                    for (; k + width <= end; k += width) {
                        const auto x = fft::load_beside(reinterpret_cast<const T*>(made + k));
                        fft::store_beside(to + 2 * k, {x.im * job.scale, x.re * job.scale});
                    }
                    return k;
                });
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
        n, job.lines, spectrum ? n : half, job.beside(), job.begin(),
        [&](const T* p, std::int64_t j) -> Cx<T> {
            bool mirrored = spectrum && j >= half;
            std::int64_t at = mirrored ? n - j : j;
            if (at >= have) return {0, 0};
            const T* x = p + at * job.in.stride;
            T re = x[0], im = job.in.complex && at > 0 ? (mirrored ? -x[1] : x[1]) : T(0);
            return swaps ? Cx<T>{im, re} : Cx<T>{re, im};
        },
        [&](std::int64_t line, int count, auto get, std::int64_t first, std::int64_t last) {
            auto write = [&](T* to, int l, std::int64_t k) {
                Cx<T> x = get(l, k);
                if (swaps) std::swap(x.re, x.im);
                to[0] = x.re * job.scale;
                if (!spectrum) to[1] = x.im * job.scale;
            };
            job.emit(line, count, get, first, last, write, OneByOne{}, OneByOne{});
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
