// Decides whether two strided windows share elements.
//
// Both views are sums of (stride * index) terms over the same memory. After the quick tests (equal,
// bounds apart, a common step that never meets) the largest stride S that is common is peeled: if
// in both views all other terms stay inside one period of S, the views are boxes in (row, column)
// coordinates and are disjoint if either coordinate's ranges are apart; columns are then compared
// by the same rule with the remaining terms.
#include "tape/record/hazards.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace unisono {

namespace {

struct Term {
    std::int64_t stride;  // positive, in bytes
    std::int64_t count;   // number of steps beyond the first: extent - 1
};

/// A view as first byte (lowest), bytes per element and positive terms, largest stride first.
struct Box {
    std::int64_t low = 0;
    std::int64_t width = 1;
    Term terms[max_rank];
    int n = 0;
    std::int64_t span_of(int from) const {
        std::int64_t total = width - 1;
        for (int i = from; i < n; ++i) total += terms[i].stride * terms[i].count;
        return total;
    }
};

Box box_of(const View& v) {
    Box b;
    b.width = size_of(v.dtype);
    b.low = (v.offset + v.layout->lowest()) * b.width;
    Dims shape = v.layout->shape(), strides = v.layout->strides();
    for (std::size_t a = 0; a < shape.size(); ++a) {
        if (shape[a] > 1 && strides[a] != 0) {
            b.terms[b.n++] = {std::abs(strides[a]) * b.width, shape[a] - 1};
        }
    }
    std::sort(b.terms, b.terms + b.n,
              [](const Term& x, const Term& y) { return x.stride > y.stride; });
    return b;
}

bool steps_never_meet(const Box& a, const Box& b) {
    std::int64_t g = 0;
    for (int i = 0; i < a.n; ++i) g = std::gcd(g, a.terms[i].stride);
    for (int i = 0; i < b.n; ++i) g = std::gcd(g, b.terms[i].stride);
    if (g == 0) return false;  // single elements: the bounds have decided
    std::int64_t d = (b.low - a.low) % g;
    if (d < 0) d += g;
    // Element of a occupies [0, width) modulo g, of b [d, d + width).
    return d >= a.width && d + b.width <= g;
}

bool disjoint(const Box& a, const Box& b, int depth);

/// Splits off the rows of period s counted from base; false if the rest does not stay inside one
/// period.
bool peel(Box& v, std::int64_t s, std::int64_t base, std::int64_t& first_row,
          std::int64_t& last_row) {
    first_row = last_row = (v.low - base) / s;
    v.low = (v.low - base) % s;
    if (v.n && v.terms[0].stride == s) {
        last_row += v.terms[0].count;
        std::copy(v.terms + 1, v.terms + v.n, v.terms);
        --v.n;
    }
    return v.low + v.span_of(0) < s;
}

bool apart_in_rows(Box a, Box b, std::int64_t s, std::int64_t base, int depth) {
    std::int64_t a0, a1, b0, b1;
    bool inside = peel(a, s, base, a0, a1);
    inside = peel(b, s, base, b0, b1) && inside;
    return inside && (a1 < b0 || b1 < a0 || disjoint(a, b, depth + 1));
}

bool disjoint(const Box& a, const Box& b, int depth) {
    if (a.low + a.span_of(0) < b.low || b.low + b.span_of(0) < a.low) return true;
    if (steps_never_meet(a, b)) return true;
    if (depth >= max_rank || (a.n == 0 && b.n == 0)) return false;
    std::int64_t s = std::max(a.n ? a.terms[0].stride : 0, b.n ? b.terms[0].stride : 0);
    // Rows may begin anywhere: tried are the first byte of the earlier view, and multiples of the
    // row's length from the start of the storage, where the rows of a whole array begin.
    std::int64_t low = std::min(a.low, b.low);
    return apart_in_rows(a, b, s, low, depth) || apart_in_rows(a, b, s, low / s * s, depth);
}

/// A view of one axis at most, or of a packed window: elements `step` bytes apart.
struct Strip {
    std::int64_t low, step, count, width;  ///< count: steps beyond the first
    std::int64_t high() const { return low + step * count + width - 1; }
    bool is_dense() const { return step == width || count == 0; }
};

std::optional<Strip> strip_of(const View& v) {
    Dims shape = v.layout->shape(), strides = v.layout->strides();
    const std::int64_t width = size_of(v.dtype);
    Strip s{(v.offset + v.layout->lowest()) * width, 0, 0, width};
    for (std::size_t a = shape.size(); a-- > 0;) {
        if (shape[a] == 1 || strides[a] == 0) continue;
        const std::int64_t step = std::abs(strides[a]) * width;
        if (s.count == 0) {
            s.step = step;
            s.count = shape[a] - 1;
        } else if (step == s.step * (s.count + 1)) {
            s.count = shape[a] * (s.count + 1) - 1;
        } else {
            return {};
        }
    }
    return s;
}

/// Whether some element of the strip lies in a dense run of bytes; their bounds meet.
bool reaches_into(const Strip& strip, const Strip& run) {
    const std::int64_t before = run.low - strip.low - strip.width;  // the last byte that misses
    const std::int64_t k = before < 0 ? 0 : before / strip.step + 1;
    return k <= strip.count && strip.low + k * strip.step <= run.high();
}

/// Whether strips are apart, where that is quickly seen.
std::optional<bool> apart(const Strip& a, const Strip& b) {
    if (a.high() < b.low || b.high() < a.low) return true;
    if (a.is_dense() && b.is_dense()) return false;
    if (a.is_dense()) return !reaches_into(b, a);
    if (b.is_dense()) return !reaches_into(a, b);
    if (a.step != b.step) return {};
    std::int64_t d = (b.low - a.low) % a.step;
    if (d < 0) d += a.step;
    return d >= a.width && d + b.width <= a.step;
}

/// Whether the same windows `apart` elements from each other share none because they move by less
/// than their shortest step, as slices along the last axis do.
bool interleave(const Layout& l, std::int64_t apart) {
    Dims shape = l.shape(), strides = l.strides();
    std::int64_t span = 0;  // of the axes behind
    for (std::size_t a = shape.size(); a-- > 0;) {
        if (shape[a] == 1) continue;
        const std::int64_t step = std::abs(strides[a]);
        if (step <= span + apart) return false;
        span += step * (shape[a] - 1);
    }
    return true;
}

/// Recent answers: a program that repeats itself compares the same pairs of views.
struct Answer {
    const Layout* a = nullptr;
    const Layout* b = nullptr;
    std::int64_t a_offset = 0, b_offset = 0;
    std::uint32_t generation = 0;  ///< of layouts
    DType a_dtype{}, b_dtype{};
    bool disjoint = false;

    bool is_for(const View& x, const View& y, std::uint32_t now) const {
        return a == x.layout && b == y.layout && a_offset == x.offset && b_offset == y.offset &&
               a_dtype == x.dtype && b_dtype == y.dtype && generation == now;
    }
};

class Answers final : public Context::Part {
  public:
    static constexpr Context::Slot slot = Context::Slot::Overlaps;
    static constexpr std::size_t count = 4096;
    Answer& operator[](std::size_t k) { return table_[k]; }

  private:
    std::unique_ptr<Answer[]> table_ = std::make_unique<Answer[]>(count);
};

Answer& answer_of(const View& x, const View& y) {
    static_assert(Answers::count == std::size_t{1} << (64 - 52));
    auto address = [](const Layout* l) { return reinterpret_cast<std::uintptr_t>(l) >> 4; };
    std::uint64_t h = address(x.layout) + address(y.layout) * 0x9E3779B97F4A7C15ull;
    h ^= static_cast<std::uint64_t>(x.offset) * 0xD6E8FEB86659FD93ull;
    h ^= static_cast<std::uint64_t>(y.offset) * 0xA0761D6478BD642Full;
    return current<Answers>()[(h ^ h >> 29) * 0x9E3779B97F4A7C15ull >> 52];
}

}  // namespace

Overlap overlap(const View& a, const View& b) {
    if (a.storage != b.storage) return Overlap::Disjoint;
    if (a.layout->size() == 0 || b.layout->size() == 0) return Overlap::Disjoint;
    if (a.same_as(b)) return overlaps_itself(a) ? Overlap::Partial : Overlap::Same;
    if (a.layout == b.layout && a.layout->rank() == 1 && a.dtype == b.dtype) {
        std::int64_t step = std::abs(a.layout->strides()[0]);
        std::int64_t apart = std::abs(a.offset - b.offset);
        bool meet = step == 0 ? apart == 0 : apart % step == 0 && apart / step < a.layout->size();
        return meet ? Overlap::Partial : Overlap::Disjoint;
    }
    if (a.layout == b.layout && a.dtype == b.dtype &&
        interleave(*a.layout, std::abs(a.offset - b.offset)))
        return Overlap::Disjoint;
    if (auto x = strip_of(a)) {
        if (auto y = strip_of(b)) {
            if (auto are_apart = apart(*x, *y))
                return *are_apart ? Overlap::Disjoint : Overlap::Partial;
        }
    }
    Answer& known = answer_of(a, b);
    std::uint32_t now = Layout::generation();
    if (!known.is_for(a, b, now)) {
        known = {a.layout, b.layout, a.offset, b.offset,
                 now,      a.dtype,  b.dtype,  disjoint(box_of(a), box_of(b), 0)};
    }
    return known.disjoint ? Overlap::Disjoint : Overlap::Partial;
}

bool overlaps_itself(const View& v) { return v.layout->overlaps_itself(); }

}  // namespace unisono
