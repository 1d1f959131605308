// Counting in parts: the numbers are cut into parts by their count alone; each part has a table of
// its own, and the tables are added in order, so that sums of weights do not depend on threads.
#include "library/gather/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/threads/parallel.h"
#include "library/lanes.h"

namespace unisono::library {

namespace {

constexpr std::int64_t part_elements = 1 << 16;
constexpr std::int64_t most_parts = 16;
constexpr std::int64_t most_table_elements = 1 << 22;  ///< of all tables together

std::int64_t parts_for(std::int64_t n, std::int64_t bins) {
    std::int64_t parts = std::min(most_parts, n / part_elements);
    return std::max<std::int64_t>(1, std::min(parts, most_table_elements / bins));
}

/// Adds into tables of `bins` elements: fill(table, begin, end) for each part, then their sum.
template <class C, class F>
void in_parts(std::int64_t n, std::int64_t bins, C* out, F fill) {
    std::int64_t parts = parts_for(n, bins);
    if (parts == 1) {
        std::fill_n(out, bins, C{0});
        fill(out, std::int64_t{0}, n);
        return;
    }
    std::vector<std::vector<C>> tables(static_cast<std::size_t>(parts));
    parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
            auto& table = tables[static_cast<std::size_t>(p)];
            table.assign(static_cast<std::size_t>(bins), C{0});
            fill(table.data(), p * n / parts, (p + 1) * n / parts);
        }
    });
    for (std::int64_t b = 0; b < bins; ++b) {
        C sum = tables[0][static_cast<std::size_t>(b)];
        for (std::size_t p = 1; p < tables.size(); ++p)
            sum += tables[p][static_cast<std::size_t>(b)];
        out[b] = sum;
    }
}

/// Bins by rising edges: a guess where they are evenly spaced, put right by looking at the edges.
class Bins {
  public:
    Bins(const double* edges, std::int64_t count, bool uniform)
        : edges_(edges, edges + count), bins_(count - 1) {
        first_ = edges_.front();
        last_ = edges_.back();
        scale_ = static_cast<double>(bins_) / (last_ - first_);
        // Ranges near the ends of the format have no useful scale: their bins are searched.
        uniform_ = uniform && scale_ > 0 && scale_ < std::numeric_limits<double>::max();
        // How far, in bins, a guess may be from the truth: the rounding of guess and edges.
        doubt_ = static_cast<double>(bins_) * 0x1p-50;
        for (std::int64_t b = 0; b <= bins_ && uniform_; ++b) {
            double even = (edges_[static_cast<std::size_t>(b)] - first_) * scale_;
            doubt_ = std::max(doubt_, 2 * std::abs(even - static_cast<double>(b)));
        }
        // The last bin is closed: nothing lies beyond its edge.
        edges_.back() = std::numeric_limits<double>::infinity();
    }
    /// The number of the bin of each of `count` elements, at most `step`; bins() for those outside.
    template <int step>
    void find(const double* x, std::int64_t count, std::int32_t* bin) const {
        if (uniform_ && count == step) return guess<step>(x, bin);
        if (uniform_) {
            double padded[step] = {};
            std::copy_n(x, count, padded);
            return guess<step>(padded, bin);
        }
        for (std::int64_t j = 0; j < count; ++j) {
            bool inside = x[j] >= first_ && x[j] <= last_;
            auto after = std::upper_bound(edges_.begin(), edges_.end(), x[j]);
            bin[j] = inside ? static_cast<std::int32_t>(after - edges_.begin()) - 1
                            : static_cast<std::int32_t>(bins_);
        }
    }
    std::int64_t bins() const { return bins_; }

  private:
    /// Numbers of bins by their distance from the first edge. Written without branches, in doubles
    /// and integers as wide, so that the compiler makes vectors of it.
    template <int step>
    void guess(const double* x, std::int32_t* bin) const {
        const double first = first_, last = last_, scale = scale_, doubt = doubt_;
        const auto outside = static_cast<double>(bins_);
        std::int64_t doubtful = 0;
        for (int j = 0; j < step; ++j) {
            const double v = x[j];
            double guess = (v - first) * scale;
            guess = v >= first ? guess : 0.5;
            guess = v <= last ? guess : 0.5;
            const double whole = std::floor(guess);
            const double into = guess - whole;
            doubtful |= into < doubt ? std::int64_t{1} : std::int64_t{0};
            doubtful |= into > 1 - doubt ? std::int64_t{1} : std::int64_t{0};
            double b = whole < outside - 1 ? whole : outside - 1;
            b = v >= first ? b : outside;
            b = v <= last ? b : outside;
            bin[j] = static_cast<std::int32_t>(b);
        }
        if (!doubtful) return;
        for (int j = 0; j < step; ++j) {
            std::int32_t b = bin[j];
            if (b == static_cast<std::int32_t>(bins_)) continue;
            b -= x[j] < edges_[static_cast<std::size_t>(b)];
            b += x[j] >= edges_[static_cast<std::size_t>(b) + 1];
            bin[j] = b;
        }
    }

    std::vector<double> edges_;
    std::int64_t bins_;
    bool uniform_;
    double first_, last_, scale_, doubt_;
};

/// Counts into `all` = bins + 1 cells; the last one takes what lies outside.
template <class C, class Add>
void count_into(const Bins& bins, const double* v, std::int64_t n, C* table, Add add) {
    in_parts(n, bins.bins() + 1, table, [&](C* counts, std::int64_t begin, std::int64_t end) {
        constexpr int step = 64;
        std::int32_t bin[step];
        for (std::int64_t k = begin; k < end; k += step) {
            std::int64_t m = std::min<std::int64_t>(step, end - k);
            bins.find<step>(v + k, m, bin);
            for (std::int64_t j = 0; j < m; ++j) counts[bin[j]] += add(k + j);
        }
    });
}

}  // namespace

void host::count_numbers(const primitives::Counting& counting, Views in, Views outs) {
    const View& out = outs[0];
    const auto* x = elements<const std::int64_t>(in[0]);
    const std::int64_t n = in[0].layout->size(), bins = out.layout->size();
    if (counting.weighted) {
        const auto* w = elements<const double>(in[1]);
        in_parts(n, bins, elements<double>(out),
                 [=](double* table, std::int64_t begin, std::int64_t end) {
                     for (std::int64_t k = begin; k < end; ++k) table[x[k]] += w[k];
                 });
        return;
    }
    in_parts(n, bins, elements<std::int64_t>(out),
             [=](std::int64_t* table, std::int64_t begin, std::int64_t end) {
                 for (std::int64_t k = begin; k < end; ++k) ++table[x[k]];
             });
}

void host::count_in_bins(const primitives::Binning& binning, Views in, Views out) {
    const Bins bins(elements<const double>(in[1]), in[1].layout->size(), binning.uniform);
    const auto* v = elements<const double>(in[0]);
    const std::int64_t n = in[0].layout->size(), all = bins.bins() + 1;
    auto count = [&]<class C>(std::vector<C>& table, auto add) {
        count_into(bins, v, n, table.data(), add);
        std::copy_n(table.data(), all - 1, elements<C>(out[0]));
    };
    if (binning.weighted) {
        const auto* w = elements<const double>(in[2]);
        std::vector<double> table(static_cast<std::size_t>(all));
        count(table, [=](std::int64_t k) { return w[k]; });
    } else {
        std::vector<std::int64_t> table(static_cast<std::size_t>(all));
        count(table, [](std::int64_t) { return std::int64_t{1}; });
    }
}

void count_evenly(const double* x, std::int64_t n, const double* edges, std::int64_t bins,
                  const double* weights, void* out) {
    Bins by(edges, bins + 1, true);
    auto count = [&]<class C>(C* to, auto add) {
        std::vector<C> table(static_cast<std::size_t>(bins + 1));
        count_into(by, x, n, table.data(), add);
        std::copy_n(table.data(), bins, to);
    };
    if (weights) {
        count(static_cast<double*>(out), [=](std::int64_t k) { return weights[k]; });
    } else {
        count(static_cast<std::int64_t*>(out), [](std::int64_t) { return std::int64_t{1}; });
    }
}

Array count_numbers(const Array& numbers, const Array* weights, std::int64_t bins) {
    Array in[] = {packed(numbers), packed(weights ? *weights : numbers)};
    return call(primitives::count_numbers, in, {bins, weights != nullptr});
}

Array count_in_bins(const Array& x, const Array& edges, const Array* weights, bool uniform) {
    Array in[] = {packed(x), packed(edges), packed(weights ? *weights : x)};
    return call(primitives::count_in_bins, in, {weights != nullptr, uniform});
}

}  // namespace unisono::library
