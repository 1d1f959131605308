// MT19937 and PCG64, and NumPy's ways from their bits to integers, fractions and orders.
#include "library/random/bit_stream.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/random/samplers.h"
#include "library/random/twister.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"

namespace unisono::library {

namespace {

__extension__ using Wide = unsigned __int128;

class Pcg64 final : public BitStream {
  public:
    std::uint64_t next64() override {
        step();
        return output(state_);
    }
    std::uint32_t next32() override {
        if (has_half_) {
            has_half_ = false;
            return half_;
        }
        std::uint64_t both = next64();
        has_half_ = true;
        half_ = static_cast<std::uint32_t>(both >> 32);
        return static_cast<std::uint32_t>(both);
    }
    double next_double() override { return fraction(next64()); }
    // As the base class has them, without calls by way of a table.
    std::uint64_t bits() { return next64(); }
    double uniform() { return next_double(); }
    double positive() { return 1.0 - next_double(); }
    /// Each takes one step, so pieces start anywhere: threads jump ahead to theirs.
    void next_doubles(std::span<double> to) override {
        each_step(static_cast<std::int64_t>(to.size()), [&](std::int64_t k, std::uint64_t bits) {
            to[static_cast<std::size_t>(k)] = fraction(bits);
        });
    }
    /// Each takes half of a step.
    void next_floats(std::span<float> to) override {
        each_half(to, [](std::uint32_t half) { return fraction(half); });
    }
    /// The next steps' outputs.
    void fill(std::span<std::uint64_t> to) {
        each_step(static_cast<std::int64_t>(to.size()), [&](std::int64_t k, std::uint64_t bits) {
            to[static_cast<std::size_t>(k)] = bits;
        });
    }
    /// Their halves, the lower first.
    void fill(std::span<std::uint32_t> to) {
        each_half(to, [](std::uint32_t half) { return half; });
    }
    std::vector<std::uint64_t> state() const override {
        return {static_cast<std::uint64_t>(state_ >> 64),
                static_cast<std::uint64_t>(state_),
                static_cast<std::uint64_t>(increment_ >> 64),
                static_cast<std::uint64_t>(increment_),
                has_half_,
                half_};
    }
    /// Six words set the state; four words of a seed sequence seed it.
    void set_state(std::span<const std::uint64_t> w) override {
        if (w.size() != 4 && w.size() != 6)
            fail(ErrorKind::Value, "state: PCG64 has six words, and is seeded by four");
        Wide first = Wide{w[0]} << 64 | w[1], second = Wide{w[2]} << 64 | w[3];
        if (w.size() == 6) {
            state_ = first;
            increment_ = second;
            has_half_ = w[4] != 0;
            half_ = static_cast<std::uint32_t>(w[5]);
            return;
        }
        has_half_ = false;
        state_ = 0;
        increment_ = second << 1 | 1;
        step();
        state_ += first;
        step();
    }

  private:
    static constexpr Wide factor = Wide{0x2360ed051fc65da4} << 64 | 0x4385df649fccf645;
    static constexpr std::int64_t piece = 8192;  ///< steps of a thread at once

    static std::uint64_t output(Wide state) {
        auto high = static_cast<std::uint64_t>(state >> 64),
             low = static_cast<std::uint64_t>(state);
        return std::rotr(high ^ low, static_cast<int>(high >> 58));
    }
    static double fraction(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
    static float fraction(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }

    void step() { state_ = state_ * factor + increment_; }
    /// The state after so many steps: F. Brown, "Random number generation with arbitrary stride"
    /// (1994).
    Wide after(std::uint64_t steps) const {
        Wide power = factor, sum = increment_, all_powers = 1, all_sums = 0;
        for (; steps > 0; steps >>= 1) {
            if (steps & 1) {
                all_powers *= power;
                all_sums = all_sums * power + sum;
            }
            sum *= power + 1;
            power *= power;
        }
        return all_powers * state_ + all_sums;
    }
    /// f(k, output of step k) for the next n steps, by all threads.
    template <class F>
    void each_step(std::int64_t n, F&& f) {
        parallel_for(0, (n + piece - 1) / piece, 1, [&](std::int64_t begin, std::int64_t end) {
            Wide state = after(static_cast<std::uint64_t>(begin * piece));
            for (std::int64_t k = begin * piece; k < std::min(end * piece, n); ++k) {
                state = state * factor + increment_;
                f(k, output(state));
            }
        });
        state_ = after(static_cast<std::uint64_t>(n));
    }
    /// to[k] = f(half of a step), as calls of next32 give the halves.
    template <class T, class F>
    void each_half(std::span<T> to, F&& f) {
        if (has_half_ && !to.empty()) {
            to[0] = f(next32());
            to = to.subspan(1);
        }
        const auto steps = static_cast<std::int64_t>(to.size() / 2);
        each_step(steps, [&](std::int64_t k, std::uint64_t bits) {
            auto at = static_cast<std::size_t>(2 * k);
            to[at] = f(static_cast<std::uint32_t>(bits));
            to[at + 1] = f(static_cast<std::uint32_t>(bits >> 32));
        });
        // A half that is used up stays in the state, which programs can read.
        if (steps > 0) half_ = static_cast<std::uint32_t>(output(state_) >> 32);
        if (to.size() % 2 != 0) to.back() = f(next32());
    }
    Wide state_ = 0, increment_ = 1;
    bool has_half_ = false;
    std::uint32_t half_ = 0;
};

/// f(the stream as what it is), so that its steps are inlined. PCG64 is drawn from as a copy, whose
/// state can stay in registers.
template <class F>
auto with_type(BitStream& s, F&& f) {
    if (auto* pcg = dynamic_cast<Pcg64*>(&s)) {
        Pcg64 copy = *pcg;
        f(copy);
        *pcg = copy;
        return;
    }
    if (auto* twister = dynamic_cast<Twister*>(&s)) return f(*twister);
    return f(s);
}

/// The stream's next 32- or 64-bit numbers; those of PCG64 by all threads.
template <class Stream, class Word>
void fill_words(Stream& s, std::span<Word> to) {
    if constexpr (std::is_same_v<Stream, Pcg64>) {
        s.fill(to);
    } else {
        for (Word& word : to) {
            if constexpr (sizeof(Word) == 4) {
                word = s.next32();
            } else {
                word = s.next64();
            }
        }
    }
}

std::uint64_t mask_of(std::uint64_t span) {
    for (int shift : {1, 2, 4, 8, 16, 32}) span |= span >> shift;
    return span;
}

template <class Stream>
std::uint64_t below_of(Stream& s, IntegerMethod method, std::uint64_t span) {
    bool narrow = span <= 0xffffffffU;
    if (span == 0) return 0;
    if (span == 0xffffffffU) return s.next32();
    if (span == ~std::uint64_t{0}) return s.next64();
    if (method == IntegerMethod::Masked) {
        std::uint64_t mask = mask_of(span), value;
        do {
            value = (narrow ? s.next32() : s.next64()) & mask;
        } while (value > span);
        return value;
    }
    if (narrow) {
        auto n = static_cast<std::uint32_t>(span + 1);
        std::uint64_t product = std::uint64_t{s.next32()} * n;
        if (static_cast<std::uint32_t>(product) < n) {
            std::uint32_t threshold = (0xffffffffU - static_cast<std::uint32_t>(span)) % n;
            while (static_cast<std::uint32_t>(product) < threshold)
                product = std::uint64_t{s.next32()} * n;
        }
        return product >> 32;
    }
    std::uint64_t n = span + 1;
    Wide product = Wide{s.next64()} * n;
    if (static_cast<std::uint64_t>(product) < n) {
        std::uint64_t threshold = (~std::uint64_t{0} - span) % n;
        while (static_cast<std::uint64_t>(product) < threshold) product = Wide{s.next64()} * n;
    }
    return static_cast<std::uint64_t>(product >> 64);
}

/// put(k, value), k = 0, ..., n-1, of the same for 8 and 16 bits: pieces of 32-bit numbers, the
/// lowest first. A piece that is rejected is put where the next one goes: branches that depend on
/// random numbers would be predicted wrongly.
template <int Width, class Stream, class Put>
void narrow_below(Stream& s, IntegerMethod method, std::uint32_t span, std::int64_t n, Put&& put) {
    constexpr std::uint32_t all = (1U << Width) - 1;
    constexpr int pieces = 32 / Width;
    std::int64_t k = 0;
    auto draw = [&](auto&& take) {
        while (k + pieces <= n) {
            std::uint32_t word = s.next32();
            for (int j = 0; j < pieces; ++j, word >>= Width) take(word & all);
        }
        while (k < n) {
            std::uint32_t word = s.next32();
            for (int j = 0; j < pieces && k < n; ++j, word >>= Width) take(word & all);
        }
    };
    if (span == 0) {
        for (; k < n; ++k) put(k, 0U);
    } else if (span != all && method == IntegerMethod::Masked) {
        const auto mask = static_cast<std::uint32_t>(mask_of(span));
        draw([&](std::uint32_t piece) {
            put(k, piece & mask);
            k += (piece & mask) <= span;
        });
    } else {
        const std::uint32_t count = span + 1, threshold = (all - span) % count;
        draw([&](std::uint32_t piece) {
            const std::uint32_t product = piece * count;
            put(k, product >> Width);
            k += (product & all) >= threshold;
        });
    }
}

/// Uniform over all values of T: the stream's bits as they come.
template <class T, class Stream>
void all_values(Stream& s, std::int64_t low, T* to, std::int64_t n) {
    using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr std::int64_t pieces = sizeof(Word) / sizeof(T);
    const std::int64_t whole = n / pieces;
    fill_words(s, std::span(reinterpret_cast<Word*>(to), static_cast<std::size_t>(whole)));
    if (whole * pieces < n) {
        std::uint32_t word = s.next32();
        std::memcpy(to + whole * pieces, &word,
                    static_cast<std::size_t>(n - whole * pieces) * sizeof(T));
    }
    if (low == 0) return;
    for (std::int64_t k = 0; k < n; ++k)
        to[k] = static_cast<T>(static_cast<std::uint64_t>(low) + static_cast<std::uint64_t>(to[k]));
}

/// low + Lemire's product of 32-bit numbers, whose rejected numbers are left out. They are rare: a
/// block is converted as if it had none, and again if it has.
template <class T, class Stream>
void multiplied_below(Stream& s, std::uint32_t span, std::int64_t low, T* to, std::int64_t n) {
    constexpr std::int64_t few = 256, block = 1 << 16;
    std::uint32_t room[few];
    std::unique_ptr<std::uint32_t[]> larger;
    if (n > few)
        larger = std::make_unique_for_overwrite<std::uint32_t[]>(
            static_cast<std::size_t>(std::min(n, block)));
    std::uint32_t* words = larger ? larger.get() : room;
    const std::uint32_t count = span + 1, threshold = (~0U - span) % count;
    auto put = [&](std::int64_t at, std::uint64_t product) {
        to[at] = static_cast<T>(static_cast<std::uint64_t>(low) + (product >> 32));
    };
    for (std::int64_t k = 0; k < n;) {
        const std::int64_t m = std::min(n - k, block);
        fill_words(s, std::span(words, static_cast<std::size_t>(m)));
        std::uint32_t least = ~0U;
        for (std::int64_t j = 0; j < m; ++j) {
            const std::uint64_t product = std::uint64_t{words[j]} * count;
            least = std::min(least, static_cast<std::uint32_t>(product));
            put(k + j, product);
        }
        if (least >= threshold) {
            k += m;
            continue;
        }
        for (std::int64_t j = 0; j < m; ++j) {
            const std::uint64_t product = std::uint64_t{words[j]} * count;
            put(k, product);
            k += static_cast<std::uint32_t>(product) >= threshold;
        }
    }
}

Array made(Dims shape, DType t) {
    Array a = empty(shape, t, nullptr);
    a.view().storage->allocate();
    return a;
}
Array finished(const Array& a) { return a.rank() == 0 ? to_value(a) : a; }

template <class F>
Array doubles_by(Dims shape, F&& f) {
    Array a = made(shape, DType::Float64);
    auto* to = reinterpret_cast<double*>(a.view().data());
    for (std::int64_t k = 0; k < a.size(); ++k) to[k] = f();
    return finished(a);
}

}  // namespace

std::uint64_t below(BitStream& s, IntegerMethod method, std::uint64_t span) {
    return below_of(s, method, span);
}

std::unique_ptr<BitStream> make_bit_stream(std::string_view kind) {
    if (kind == "mt19937") return std::make_unique<Twister>();
    if (kind == "pcg64") return std::make_unique<Pcg64>();
    fail(ErrorKind::Internal, "random: unknown bit generator " + std::string(kind));
}

void seed_legacy(BitStream& twister, std::span<const std::uint32_t> words, bool sequence) {
    auto& t = dynamic_cast<Twister&>(twister);
    if (!sequence) return t.seed(words[0]);
    t.seed(words);
}

Array stream_doubles(BitStream& s, double low, double width, Dims shape, DType dtype) {
    Array a = made(shape, dtype == DType::Float32 ? dtype : DType::Float64);
    const auto n = static_cast<std::size_t>(a.size());
    if (dtype == DType::Float32) {
        s.next_floats({reinterpret_cast<float*>(a.view().data()), n});
        return finished(a);
    }
    auto* to = reinterpret_cast<double*>(a.view().data());
    s.next_doubles({to, n});
    if (low != 0 || width != 1) {
        parallel_for(0, a.size(), limits::thread_elements,
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t k = begin; k < end; ++k) to[k] = low + width * to[k];
                     });
    }
    return finished(a);
}

Array stream_integers(BitStream& s, IntegerMethod method, std::int64_t low, std::uint64_t span,
                      Dims shape, DType dtype) {
    Array a = made(shape, dtype);
    dispatch_native(dtype, [&]<class T>() {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            T* to = reinterpret_cast<T*>(a.view().data());
            auto put = [&](std::int64_t k, std::uint64_t value) {
                to[k] = static_cast<T>(static_cast<std::uint64_t>(low) + value);
            };
            with_type(s, [&](auto& stream) {
                constexpr auto all =
                    static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(-1));
                if (span == all) {
                    all_values(stream, low, to, a.size());
                } else if constexpr (sizeof(T) < 4) {
                    narrow_below<8 * sizeof(T)>(stream, method, static_cast<std::uint32_t>(span),
                                                a.size(), put);
                } else if (method == IntegerMethod::Multiplied && span != 0 && span < 0xffffffffU) {
                    multiplied_below(stream, static_cast<std::uint32_t>(span), low, to, a.size());
                } else {
                    for (std::int64_t k = 0; k < a.size(); ++k)
                        put(k, below_of(stream, method, span));
                }
            });
        } else {
            fail(ErrorKind::Type, "random: integers of dtype " + std::string(name(dtype)) +
                                      " are not drawn from NumPy's streams");
        }
    });
    return finished(a);
}

double BitStream::legacy_normal() {
    has_gauss = !has_gauss;
    if (!has_gauss) return gauss;
    double x, y, r;
    do {
        x = 2.0 * next_double() - 1.0;
        y = 2.0 * next_double() - 1.0;
        r = x * x + y * y;
    } while (r >= 1.0 || r == 0.0);
    double f = std::sqrt(-2.0 * std::log(r) / r);
    gauss = f * x;
    return f * y;
}

Array stream_legacy_normal(BitStream& s, double mean, double deviation, Dims shape) {
    return doubles_by(shape, [&] { return mean + deviation * s.legacy_normal(); });
}

Array stream_legacy_exponential(BitStream& s, double scale, Dims shape) {
    return doubles_by(shape, [&] { return scale * -std::log(1.0 - s.next_double()); });
}

Array stream_permutation(BitStream& s, IntegerMethod method, std::int64_t n) {
    std::int64_t shape[] = {n};
    Array a = made(shape, DType::Int64);
    auto* p = reinterpret_cast<std::int64_t*>(a.view().data());
    for (std::int64_t k = 0; k < n; ++k) p[k] = k;
    for (std::int64_t k = n - 1; k > 0; --k)
        std::swap(p[k], p[below(s, method, static_cast<std::uint64_t>(k))]);
    return a;
}

/// Fisher and Yates' shuffle of p[0], ..., p[n - 1], down to position `first`.
static void shuffle_down(BitStream& s, std::int64_t* p, std::int64_t n, std::int64_t first) {
    for (std::int64_t k = n - 1; k >= first; --k)
        std::swap(p[k], p[below(s, IntegerMethod::Multiplied, static_cast<std::uint64_t>(k))]);
}

Array stream_sample(BitStream& s, std::int64_t pool, std::int64_t n, bool shuffled) {
    std::int64_t shape[] = {n};
    Array a = made(shape, DType::Int64);
    auto* p = reinterpret_cast<std::int64_t*>(a.view().data());
    if (pool > 10000 && n > pool / (shuffled ? 50 : 20)) {
        std::vector<std::int64_t> all(static_cast<std::size_t>(pool));
        std::iota(all.begin(), all.end(), 0);
        shuffle_down(s, all.data(), pool, std::max<std::int64_t>(pool - n, 1));
        std::copy(all.end() - n, all.end(), p);
        return a;
    }
    // Floyd's algorithm: where a number was drawn before, the largest one of this step is new.
    std::unordered_set<std::int64_t> drawn;
    drawn.reserve(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t most = pool - n + k;
        const auto j = static_cast<std::int64_t>(
            below(s, IntegerMethod::Multiplied, static_cast<std::uint64_t>(most)));
        p[k] = drawn.insert(j).second ? j : most;
        if (p[k] == most) drawn.insert(most);
    }
    if (shuffled) shuffle_down(s, p, n, 1);
    return a;
}

Array stream_draw(BitStream& s, Distribution what, std::span<const Parameter> given, Dims shape,
                  DType dtype) {
    std::vector<Array> keep;
    const double* inputs[3] = {};
    double p[3] = {};
    for (std::size_t k = 0; k < given.size(); ++k) {
        p[k] = given[k].value;
        if (!given[k].is_array) continue;
        keep.push_back(packed(broadcast_to(given[k].array, shape)));
        inputs[k] = reinterpret_cast<const double*>(host_data(keep.back(), false));
    }
    Array a = made(shape, dtype);
    const bool varies = !keep.empty();
    auto fill_from = [&](auto& source, auto* to) {
        using Out = std::remove_pointer_t<decltype(to)>;
        const std::int64_t n = a.size();
        auto each_from = [&](auto& d, auto&& draw) {
            for (std::int64_t k = 0; k < n; ++k) {
                for (int q = 0; varies && q < 3; ++q) {
                    if (inputs[q]) p[q] = inputs[q][k];
                }
                to[k] = static_cast<Out>(draw(d));
            }
        };
        // A copy that no other distribution's code refers to: its state stays in registers.
        auto each = [&](auto&& draw) {
            if constexpr (std::is_same_v<decltype(source), Pcg64&>) {
                Pcg64 copy = source;
                each_from(copy, draw);
                source = copy;
            } else {
                each_from(source, draw);
            }
        };
        switch (what) {
            // clang-format off
#define UNISONO_DISTRIBUTION(Name, name, count, whole, expression) \
            case Distribution::Name: each([&](auto& d) { return expression; }); break;
#include "library/random/distributions.def"
            // clang-format on
        }
    };
    auto fill = [&](auto* to) { with_type(s, [&](auto& d) { fill_from(d, to); }); };
    if (dtype == DType::Float64) {
        fill(reinterpret_cast<double*>(a.view().data()));
    } else if (dtype == DType::Float32) {
        fill(reinterpret_cast<float*>(a.view().data()));
    } else {
        fill(reinterpret_cast<std::int64_t*>(a.view().data()));
    }
    return finished(a);
}

}  // namespace unisono::library
