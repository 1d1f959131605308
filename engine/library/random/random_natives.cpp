// Random numbers of compiled code: two streams for each thread, NumPy's and Python's, with the
// numbers that np.random and the module random draw after the same seed.
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>

#include "core/native/drawn_words.h"
#include "core/native/native.h"
#include "library/random/legacy_samplers.h"
#include "library/random/twister.h"

namespace unisono::library {

namespace {

struct NumPyStream {
    Twister bits;
    NumPyStream() { bits.seed(std::random_device{}()); }
};

/// A thread's own; begun by the operating system where the program gives no seed.
template <class Stream>
Stream& stream_of_thread() {
    thread_local Stream* made = nullptr;  // known without a look at whether it was made
    if (!made) {
        thread_local Stream own;
        made = &own;
    }
    return *made;
}

Twister& stream() { return stream_of_thread<NumPyStream>().bits; }

/// [seed]
void random_seed(std::int64_t* v) { stream().seed(static_cast<std::uint32_t>(v[0])); }

/// []: [bits of a double in [0, 1)]
void random_double(std::int64_t* v) { v[0] = std::bit_cast<std::int64_t>(stream().next_double()); }

/// []: [bits of a standard normal]
void random_normal(std::int64_t* v) {
    v[0] = std::bit_cast<std::int64_t>(stream().legacy_normal());
}

/// [low, most above it]: [an integer from low on]
void random_integer(std::int64_t* v) {
    Twister& s = stream();
    auto span = static_cast<std::uint64_t>(v[1]);
    std::uint64_t mask = span == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(span), value = 0;
    while (span > 0) {
        value = (span <= 0xffffffffU ? s.next32() : s.next64()) & mask;
        if (value <= span) break;
    }
    v[0] = static_cast<std::int64_t>(static_cast<std::uint64_t>(v[0]) + value);
}

/// What the module random draws from.
struct PythonStream {
    Twister bits;
    std::optional<double> next_gauss;

    void seed(std::uint64_t key) {
        std::array<std::uint32_t, 2> words{static_cast<std::uint32_t>(key),
                                           static_cast<std::uint32_t>(key >> 32)};
        bits.seed({words.data(), words[1] ? 2U : 1U});
        next_gauss.reset();
    }
    PythonStream() { seed(std::random_device{}()); }
};

PythonStream& python_stream() { return stream_of_thread<PythonStream>(); }

/// [seed]
void python_seed(std::int64_t* v) {
    auto key = static_cast<std::uint64_t>(v[0]);
    python_stream().seed(v[0] < 0 ? ~key + 1 : key);
}

/// []: as of random_double
void python_double(std::int64_t* v) {
    v[0] = std::bit_cast<std::int64_t>(python_stream().bits.next_double());
}

/// [how many, at most 63]: [an integer of so many bits], the lower half drawn first
void python_bits(std::int64_t* v) {
    std::int64_t count = v[0];
    if (count == 0) return;
    Twister& bits = python_stream().bits;
    std::uint64_t made = bits.next32();
    if (count <= 32)
        made >>= 32 - count;
    else
        made |= std::uint64_t{bits.next32()} >> (64 - count) << 32;
    v[0] = static_cast<std::int64_t>(made);
}

/// []: [bits of a standard normal]: two by each pair of numbers, as random.gauss makes them
void python_gauss(std::int64_t* v) {
    PythonStream& s = python_stream();
    double z = 0;
    if (s.next_gauss) {
        z = *s.next_gauss;
        s.next_gauss.reset();
    } else {
        double angle = s.bits.next_double() * 2.0 * std::numbers::pi;
        double radius = std::sqrt(-2.0 * std::log(1.0 - s.bits.next_double()));
        z = std::cos(angle) * radius;
        s.next_gauss = std::sin(angle) * radius;
    }
    v[0] = std::bit_cast<std::int64_t>(z);
}

[[maybe_unused]] const bool are_drawn =
    set_drawn_words([] { return &stream().drawn(); }, [] { return &python_stream().bits.drawn(); });

[[maybe_unused]] const bool natives = add_natives({{"random_seed", random_seed},
                                                   {"random_double", random_double},
                                                   {"random_normal", random_normal},
                                                   {"random_integer", random_integer},
                                                   {"random_python_seed", python_seed},
                                                   {"random_python_double", python_double},
                                                   {"random_python_bits", python_bits},
                                                   {"random_python_gauss", python_gauss}});

}  // namespace

BitStream& compiled_stream() { return stream(); }

}  // namespace unisono::library
