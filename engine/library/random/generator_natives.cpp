// What compiled code draws from a Generator of NumPy: the numbers that the Generator would draw, by
// the functions that NumPy's bit generators hand to C, and its samplers where it exports them.
#include <bit>

#include "core/error.h"
#include "core/native/borrowed_draws.h"
#include "core/native/native.h"
#include "library/random/bit_stream.h"
#include "library/random/samplers.h"

namespace unisono::library {

namespace {

class Borrowed final : public BitStream {
  public:
    explicit Borrowed(std::int64_t address)
        : from_(*reinterpret_cast<BitGenerator*>(static_cast<std::uintptr_t>(address))) {}
    std::uint32_t next32() override { return from_.next_uint32(from_.state); }
    std::uint64_t next64() override { return from_.next_uint64(from_.state); }
    double next_double() override { return from_.next_double(from_.state); }
    std::vector<std::uint64_t> state() const override { return {}; }
    void set_state(std::span<const std::uint64_t>) override {}

  private:
    BitGenerator& from_;
};

/// The same for samplers, which ask for words and numbers only.
class BorrowedWords {
  public:
    explicit BorrowedWords(std::int64_t address)
        : from_(reinterpret_cast<BitGenerator*>(static_cast<std::uintptr_t>(address))) {}
    explicit BorrowedWords(BitGenerator* from) : from_(from) {}
    std::uint64_t bits() const { return from_->next_uint64(from_->state); }
    double uniform() const { return from_->next_double(from_->state); }
    double positive() const { return 1.0 - uniform(); }

  private:
    BitGenerator* from_;
};

/// [bit generator]: [bits of a double in [0, 1)]
void random_of_double(std::int64_t* v) {
    v[0] = std::bit_cast<std::int64_t>(Borrowed(v[0]).next_double());
}

/// [bit generator]: [bits of a float in [0, 1), as a double]
void random_of_single(std::int64_t* v) {
    v[0] = std::bit_cast<std::int64_t>(static_cast<double>(Borrowed(v[0]).next_float()));
}

/// [bit generator, low, most above it, whether numbers are masked and rejected, as for orders]:
/// [an integer from low on]
void random_of_integer(std::int64_t* v) {
    Borrowed s(v[0]);
    auto method = v[3] ? IntegerMethod::Masked : IntegerMethod::Multiplied;
    std::uint64_t more = below(s, method, static_cast<std::uint64_t>(v[2]));
    v[0] = static_cast<std::int64_t>(static_cast<std::uint64_t>(v[1]) + more);
}

constexpr std::size_t row_count = 0
#define UNISONO_DISTRIBUTION(Name, name, ...) +1
#include "library/random/distributions.def"
    ;

/// NumPy's own functions, by rows of the table; null where their addresses are not set.
void* addresses[row_count] = {};

template <class Result>
Result call_numpy(void* function, int count, std::int64_t generator, const double* p) {
    auto* state = reinterpret_cast<BitGenerator*>(static_cast<std::uintptr_t>(generator));
    using S = BitGenerator*;
    if (count == 0) return reinterpret_cast<Result (*)(S)>(function)(state);
    if (count == 1) return reinterpret_cast<Result (*)(S, double)>(function)(state, p[0]);
    if (count == 2)
        return reinterpret_cast<Result (*)(S, double, double)>(function)(state, p[0], p[1]);
    return reinterpret_cast<Result (*)(S, double, double, double)>(function)(state, p[0], p[1],
                                                                             p[2]);
}

/// The numbers of whole ones that take them as integers.
std::int64_t count_of_numpy(Distribution what, void* function, int count, std::int64_t generator,
                            const double* p) {
    auto* state = reinterpret_cast<BitGenerator*>(static_cast<std::uintptr_t>(generator));
    auto whole = [&](int k) { return static_cast<std::int64_t>(p[k]); };
    if (what == Distribution::Binomial) {
        // numpy/random/distributions.h: binomial_t, of 21 words. It keeps what follows from the
        // last parameters, which loops rarely change.
        static thread_local std::int64_t prepared[64];
        return reinterpret_cast<std::int64_t (*)(BitGenerator*, double, std::int64_t, void*)>(
            function)(state, p[1], whole(0), prepared);
    }
    if (what == Distribution::Hypergeometric)
        return reinterpret_cast<std::int64_t (*)(BitGenerator*, std::int64_t, std::int64_t,
                                                 std::int64_t)>(function)(state, whole(0), whole(1),
                                                                          whole(2));
    return call_numpy<std::int64_t>(function, count, generator, p);
}

/// [bit generator, three parameters as bits]: [bits of a number, or a whole number]
template <Distribution what, int parameters, bool is_whole>
void random_of(std::int64_t* v) {
    const double p[] = {std::bit_cast<double>(v[1]), std::bit_cast<double>(v[2]),
                        std::bit_cast<double>(v[3])};
    if (void* function = addresses[static_cast<std::size_t>(what)]) {
        if constexpr (is_whole) {
            v[0] = count_of_numpy(what, function, parameters, v[0], p);
        } else {
            v[0] = std::bit_cast<std::int64_t>(call_numpy<double>(function, parameters, v[0], p));
        }
        return;
    }
    BorrowedWords d(v[0]);
    double drawn = 0;
    switch (what) {
        // clang-format off
#define UNISONO_DISTRIBUTION(Name, name, count, whole, expression) \
        case Distribution::Name: drawn = static_cast<double>(expression); break;
#include "library/random/distributions.def"
        // clang-format on
    }
    v[0] = is_whole ? static_cast<std::int64_t>(drawn) : std::bit_cast<std::int64_t>(drawn);
}

[[maybe_unused]] const bool draws =
    set_borrowed_draws({[]() -> const ZigguratLayers* { return &Ziggurat::normal(); },
                        [](BitGenerator* from, std::uint64_t first) {
                            const Ziggurat& z = Ziggurat::normal();
                            BorrowedWords d(from);
                            return rest_of_normal(d, z, normal_point(z, first));
                        }},
                       {[]() -> const ZigguratLayers* { return &Ziggurat::exponential(); },
                        [](BitGenerator* from, std::uint64_t first) {
                            const Ziggurat& z = Ziggurat::exponential();
                            BorrowedWords d(from);
                            return rest_of_exponential(d, z, exponential_point(z, first));
                        }});

[[maybe_unused]] const bool natives = add_natives({
    {"random_of_double", random_of_double},
    {"random_of_single", random_of_single},
    {"random_of_integer", random_of_integer},
#define UNISONO_DISTRIBUTION(Name, name, count, whole, ...) \
    {(whole) ? "random_count_of_" name : "random_of_" name, \
     random_of<Distribution::Name, count, whole>},
#include "library/random/distributions.def"
});

}  // namespace

void tell_numpy_sampler(std::string_view name, void* function) {
    addresses[static_cast<std::size_t>(distribution_named(name))] = function;
}

}  // namespace unisono::library
