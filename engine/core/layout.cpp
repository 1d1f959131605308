// The table of interned layouts, and arithmetic on shapes.
#include "core/layout.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>

#include "context/context.h"
#include "core/error.h"
#include "core/threads/fork.h"

namespace unisono {

namespace {

/// An odd number for each axis, of random bits (splitmix64).
constexpr auto factors = [] {
    std::array<std::uint64_t, 2 * max_rank> made{};
    std::uint64_t state = 0;
    for (auto& f : made) {
        std::uint64_t z = state += 0x9E3779B97F4A7C15ull;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        f = (z ^ (z >> 31)) | 1;
    }
    return made;
}();

/// Products without a dependence chain: every slice needs a layout. Layouts that differ in
/// their first extent by one are neighbours in the table, as the slices of a loop are (`x[:k]`).
std::uint64_t hash_of(Dims shape, Dims strides) {
    std::uint64_t h = shape.size() + 1;
    for (std::size_t a = 0; a < shape.size(); ++a) {
        if (a > 0) h += static_cast<std::uint64_t>(shape[a]) * factors[2 * a];
        h += static_cast<std::uint64_t>(strides[a]) * factors[2 * a + 1];
    }
    h ^= h >> 32;
    h *= 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
    return h + (shape.empty() ? 0 : static_cast<std::uint64_t>(shape[0]));
}

/// How far apart the places lie that are tried for a hash: each family of neighbours has its own.
std::size_t step_of(std::uint64_t hash) { return (hash >> 40) | 1; }

/// Rank and stride classes, the last axis first, as a number below 2^63. Those of few axes are its
/// digits; longer ones are numbered as they come.
std::uint64_t class_number(std::span<const char> classes) {
    constexpr std::size_t most_digits = 28;
    if (classes.size() <= most_digits) {
        std::uint64_t code = classes.size();
        for (char c : classes) code = code * 4 + static_cast<std::uint64_t>(c);
        return code;
    }
    // Plans of all contexts depend on the numbers.
    static auto* numbers = new std::map<std::string, std::uint64_t>;
    static ProcessMutex& mutex = *new ProcessMutex;
    const std::string key(classes.begin(), classes.end());
    std::lock_guard lock(mutex);
    return std::uint64_t{1} << 62 | numbers->try_emplace(key, numbers->size()).first->second;
}

void packed_strides(Dims shape, std::int64_t* strides) {
    std::int64_t step = 1;
    for (std::size_t a = shape.size(); a-- > 0;) {
        strides[a] = step;
        step *= shape[a] > 0 ? shape[a] : 1;
    }
}

}  // namespace

/// The layouts of a context, by open addressing; memory of a layout is one block that also holds
/// its dims.
class LayoutTable final : public Context::Part {
  public:
    static constexpr Context::Slot slot = Context::Slot::Layouts;

    LayoutTable() : slots_(1024) {}
    ~LayoutTable() override {
        for (const Layout* l : layouts()) ::operator delete(const_cast<Layout*>(l));
    }

    const Layout* scalar() {
        if (!scalar_) {
            scalar_ = intern({}, {});
            scalar_->retain();
        }
        return scalar_;
    }

    const Layout* intern(Dims shape, Dims strides) {
        std::uint64_t h = hash_of(shape, strides);
        for (std::size_t i = h & mask(); slots_[i].layout; i = (i + step_of(h)) & mask()) {
            if (slots_[i].hash != h) continue;
            const Layout* l = slots_[i].layout;
            if (equal(*l, shape, strides)) {
                l->last_used_ = collections_;
                return l;
            }
        }
        return insert(h, shape, strides);
    }
    std::size_t count() const { return count_; }

    bool due() const { return count_ >= collect_from_; }
    std::uint32_t generation() const { return collections_; }
    void touch(const Layout* l) const { l->last_used_ = collections_; }

    void collect() {
        if (!due()) return;
        std::vector<const Layout*> old = layouts();
        std::unordered_set<const Layout*> keep;
        for (const Layout* l : old) {
            // A packed layout lives as long as one that names it.
            if (l->refs_ > 0 || collections_ - l->last_used_ < 2) keep.insert({l, l->packed_});
        }
        std::size_t size = 1024;
        while (size < 4 * keep.size()) size *= 2;
        rebuild({keep.begin(), keep.end()}, size);
        for (const Layout* l : old) {
            if (!keep.count(l)) ::operator delete(const_cast<Layout*>(l));
        }
        ++collections_;
        collect_from_ = count_ + 4096;
    }

    static std::unique_ptr<const Layout, Layout::Free> unshared(Dims shape) {
        std::int64_t strides[max_rank];
        packed_strides(shape, strides);
        const Dims steps{strides, shape.size()};
        return std::unique_ptr<const Layout, Layout::Free>(
            create(hash_of(shape, steps), shape, steps));
    }

  private:
    /// The hash lies beside the pointer, so that a probe touches the layout it looks for alone.
    struct Slot {
        std::uint64_t hash = 0;
        const Layout* layout = nullptr;
    };
    std::size_t mask() const { return slots_.size() - 1; }

    static bool equal(const Layout& l, Dims shape, Dims strides) {
        const std::size_t rank = shape.size();
        if (static_cast<std::size_t>(l.rank_) != rank) return false;
        const std::int64_t* have = l.dims();
        for (std::size_t a = 0; a < rank; ++a) {
            if (have[a] != shape[a] || have[rank + a] != strides[a]) return false;
        }
        return true;
    }

    const Layout* insert(std::uint64_t h, Dims shape, Dims strides) {
        if (2 * (count_ + 1) > slots_.size()) {
            std::size_t wanted = slots_.size() * 2;
            rebuild(layouts(), wanted);
        }
        const Layout* l = create(h, shape, strides);
        l->last_used_ = collections_;
        place(l);
        ++count_;
        return l;
    }

    void place(const Layout* l) {
        std::size_t i = l->hash_ & mask();
        while (slots_[i].layout) i = (i + step_of(l->hash_)) & mask();
        slots_[i] = {l->hash_, l};
    }

    void rebuild(const std::vector<const Layout*>& layouts, std::size_t size) {
        slots_.assign(size, {});
        count_ = 0;
        for (const Layout* l : layouts) {
            place(l);
            ++count_;
        }
    }

    std::vector<const Layout*> layouts() const {
        std::vector<const Layout*> all;
        for (const Slot& s : slots_) {
            if (s.layout) all.push_back(s.layout);
        }
        return all;
    }

    static Layout* create(std::uint64_t h, Dims shape, Dims strides) {
        std::size_t n = shape.size();
        void* block = ::operator new(sizeof(Layout) + 2 * n * sizeof(std::int64_t));
        Layout* l = new (block) Layout;
        l->rank_ = static_cast<std::int32_t>(n);
        l->hash_ = h;
        std::copy(shape.begin(), shape.end(), l->dims());
        std::copy(strides.begin(), strides.end(), l->dims() + n);
        describe(*l);
        return l;
    }

    static void describe(Layout& l) {
        l.size_ = element_count(l.shape());
        bool packed = true;
        std::int64_t expected = 1;
        char classes[max_rank];
        std::size_t count = 0;
        for (int a = l.rank_ - 1; a >= 0; --a) {
            std::int64_t extent = l.shape()[static_cast<std::size_t>(a)];
            std::int64_t stride = l.strides()[static_cast<std::size_t>(a)];
            if (stride != expected) packed = false;
            expected *= extent > 0 ? extent : 1;
            if (l.size_ > 0) (stride < 0 ? l.lowest_ : l.highest_) += stride * (extent - 1);
            classes[count++] = stride == 0 ? 0 : stride == 1 ? 1 : stride == -1 ? 2 : 3;
        }
        l.class_code_ = class_number({classes, count}) * 2 + (packed ? 1 : 0);
        l.overlaps_itself_ = !packed && l.size_ > 0 && has_repeated_element(l);
        if (packed) {
            l.packed_ = &l;
        } else {
            std::vector<std::int64_t> shape(l.shape().begin(), l.shape().end());
            l.packed_ = Layout::contiguous(shape);
        }
    }

    /// Axis by axis from the smallest stride: the elements so far lie within `span`, so the next
    /// axis must step over them. Errs on the side of repetition.
    static bool has_repeated_element(const Layout& l) {
        std::pair<std::int64_t, std::int64_t> steps[max_rank];  // stride, extent - 1
        int n = 0;
        for (int a = 0; a < l.rank_; ++a) {
            auto axis = static_cast<std::size_t>(a);
            if (l.shape()[axis] > 1)
                steps[n++] = {std::abs(l.strides()[axis]), l.shape()[axis] - 1};
        }
        std::sort(steps, steps + n);
        std::int64_t span = 0;
        for (int i = 0; i < n; ++i) {
            if (steps[i].first <= span) return true;
            span += steps[i].first * steps[i].second;
        }
        return false;
    }

    std::vector<Slot> slots_;
    const Layout* scalar_ = nullptr;
    std::size_t count_ = 0;
    std::size_t collect_from_ = 4096;
    std::uint32_t collections_ = 2;
};

/// Strides that no element feels are made those of a packed array, so that contiguous() holds
/// wherever NumPy says so. Writes them to `to` and returns true if there are any.
static bool normal_strides(Dims shape, Dims strides, std::int64_t* to) {
    bool changed = false;
    std::int64_t expected = 1;
    for (std::size_t a = shape.size(); a-- > 0;) {
        to[a] = shape[a] == 1 ? expected : strides[a];
        changed = changed || to[a] != strides[a];
        expected = to[a] * shape[a];
    }
    return changed;
}

const Layout* Layout::make(Dims shape, Dims strides) {
    bool one = false;
    for (std::int64_t extent : shape) {
        if (extent == 0) return contiguous(shape);
        one = one || extent == 1;
    }
    std::int64_t normal[max_rank];
    if (one && normal_strides(shape, strides, normal)) strides = {normal, shape.size()};
    return current<LayoutTable>().intern(shape, strides);
}

const Layout* Layout::contiguous(Dims shape) {
    std::int64_t strides[max_rank];
    packed_strides(shape, strides);
    return current<LayoutTable>().intern(shape, {strides, shape.size()});
}

const Layout* Layout::scalar() { return current<LayoutTable>().scalar(); }

std::unique_ptr<const Layout, Layout::Free> Layout::unshared(Dims shape) {
    return LayoutTable::unshared(shape);
}

void Layout::Free::operator()(const Layout* layout) const noexcept {
    ::operator delete(const_cast<Layout*>(layout));
}

void Layout::collect() { current<LayoutTable>().collect(); }
std::uint32_t Layout::generation() { return current<LayoutTable>().generation(); }
bool Layout::collection_due() { return current<LayoutTable>().due(); }
void Layout::touch() const { current<LayoutTable>().touch(this); }

std::size_t Layout::interned() { return current<LayoutTable>().count(); }

std::int64_t element_count(Dims shape) {
    std::int64_t n = 1;
    bool empty = false;
    for (std::int64_t extent : shape) {
        if (extent < 0) {
            fail(ErrorKind::Value,
                 "array: negative dimensions are not allowed; got shape " + shape_text(shape));
        } else if (extent == 0) {
            empty = true;
        } else if (__builtin_mul_overflow(n, extent, &n)) {
            fail(ErrorKind::Value, "array: too large; got shape " + shape_text(shape) +
                                       ", whose number of elements does not fit in 63 bits");
        }
    }
    return empty ? 0 : n;
}

std::vector<std::int64_t> broadcast_shapes(const char* what, std::span<const Dims> shapes) {
    std::size_t rank = 0;
    for (Dims s : shapes) rank = std::max(rank, s.size());
    std::vector<std::int64_t> out(rank, 1);
    for (Dims s : shapes) {
        for (std::size_t k = 0; k < s.size(); ++k) {
            std::int64_t& have = out[rank - 1 - k];
            std::int64_t want = s[s.size() - 1 - k];
            if (want == have || want == 1) continue;
            if (have == 1) {
                have = want;
                continue;
            }
            std::string all;
            for (Dims t : shapes) all += (all.empty() ? "" : " and ") + shape_text(t);
            fail(ErrorKind::Value,
                 std::string(what) + ": shapes do not broadcast; got " + all +
                     "; expected equal extents, or 1, counted from the last axis");
        }
    }
    return out;
}

std::string shape_text(Dims shape) {
    std::string s = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) s += (i ? ", " : "") + std::to_string(shape[i]);
    return s + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace unisono
