// What compiled code draws from a Generator of NumPy: the numbers that the Generator would draw, by
// the functions that NumPy's bit generators hand to C.
#include <bit>

#include "core/error.h"
#include "core/native.h"
#include "library/bit_stream.h"
#include "library/samplers.h"

namespace unisono::library {

namespace {

/// numpy/random/bitgen.h
struct BitGenerator {
    void* state;
    std::uint64_t (*next_uint64)(void* state);
    std::uint32_t (*next_uint32)(void* state);
    double (*next_double)(void* state);
    std::uint64_t (*next_raw)(void* state);
};

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

/// [bit generator]: [bits of a double in [0, 1)]
void random_of_double(std::int64_t* v) {
    v[0] = std::bit_cast<std::int64_t>(Borrowed(v[0]).next_double());
}

/// [bit generator, low, most above it, whether numbers are masked and rejected, as for orders]:
/// [an integer from low on]
void random_of_integer(std::int64_t* v) {
    Borrowed s(v[0]);
    auto method = v[3] ? IntegerMethod::Masked : IntegerMethod::Multiplied;
    std::uint64_t more = below(s, method, static_cast<std::uint64_t>(v[2]));
    v[0] = static_cast<std::int64_t>(static_cast<std::uint64_t>(v[1]) + more);
}

/// [bit generator, three parameters as bits]: [bits of a number]
template <Distribution what>
void random_of(std::int64_t* v) {
    Borrowed d(v[0]);
    const double p[] = {std::bit_cast<double>(v[1]), std::bit_cast<double>(v[2]),
                        std::bit_cast<double>(v[3])};
    double drawn = 0;
    switch (what) {
        // clang-format off
#define UNISONO_DISTRIBUTION(Name, name, count, whole, expression) \
        case Distribution::Name: drawn = static_cast<double>(expression); break;
#include "library/distributions.def"
        // clang-format on
    }
    v[0] = std::bit_cast<std::int64_t>(drawn);
}

[[maybe_unused]] const bool natives = add_natives({
    {"random_of_double", random_of_double},
    {"random_of_integer", random_of_integer},
#define UNISONO_DISTRIBUTION(Name, name, ...) {"random_of_" name, random_of<Distribution::Name>},
#include "library/distributions.def"
});

}  // namespace

}  // namespace unisono::library
