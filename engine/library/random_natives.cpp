// Random numbers of compiled code: NumPy's twister, one stream for each thread, with the numbers
// that NumPy's module draws after the same seed.
#include <bit>
#include <memory>
#include <random>

#include "core/native.h"
#include "library/bit_stream.h"

namespace unisono::library {

namespace {

std::unique_ptr<BitStream> seeded(std::uint32_t word) {
    auto made = make_bit_stream("mt19937");
    seed_legacy(*made, {&word, 1}, false);
    return made;
}

/// A thread's own; begun by the operating system where the program gives no seed.
std::unique_ptr<BitStream>& stream() {
    thread_local std::unique_ptr<BitStream> own = seeded(std::random_device{}());
    return own;
}

/// [seed]
void random_seed(std::int64_t* v) { stream() = seeded(static_cast<std::uint32_t>(v[0])); }

/// []: [bits of a double in [0, 1)]
void random_double(std::int64_t* v) { v[0] = std::bit_cast<std::int64_t>(stream()->next_double()); }

/// []: [bits of a standard normal]
void random_normal(std::int64_t* v) {
    v[0] = std::bit_cast<std::int64_t>(stream()->legacy_normal());
}

/// [low, most above it]: [an integer from low on]
void random_integer(std::int64_t* v) {
    BitStream& s = *stream();
    auto span = static_cast<std::uint64_t>(v[1]);
    std::uint64_t mask = span == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(span), value = 0;
    while (span > 0) {
        value = (span <= 0xffffffffU ? s.next32() : s.next64()) & mask;
        if (value <= span) break;
    }
    v[0] = static_cast<std::int64_t>(static_cast<std::uint64_t>(v[0]) + value);
}

[[maybe_unused]] const bool natives = add_natives({{"random_seed", random_seed},
                                                   {"random_double", random_double},
                                                   {"random_normal", random_normal},
                                                   {"random_integer", random_integer}});

}  // namespace

}  // namespace unisono::library
