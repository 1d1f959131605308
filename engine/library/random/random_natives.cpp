// Random numbers of compiled code: two streams for each thread, NumPy's and Python's, with the
// numbers that np.random and the module random draw after the same seed.
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <random>

#include "core/native/native.h"
#include "library/random/legacy_samplers.h"

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

/// What the module random draws from.
struct PythonStream {
    std::unique_ptr<BitStream> bits = make_bit_stream("mt19937");
    std::optional<double> next_gauss;

    void seed(std::uint64_t key) {
        std::array<std::uint32_t, 2> words{static_cast<std::uint32_t>(key),
                                           static_cast<std::uint32_t>(key >> 32)};
        seed_legacy(*bits, {words.data(), words[1] ? 2U : 1U}, true);
        next_gauss.reset();
    }
    PythonStream() { seed(std::random_device{}()); }
};

PythonStream& python_stream() {
    thread_local PythonStream* made = nullptr;  // known without a look at whether it was made
    if (!made) {
        thread_local PythonStream own;
        made = &own;
    }
    return *made;
}

/// [seed]
void python_seed(std::int64_t* v) {
    auto key = static_cast<std::uint64_t>(v[0]);
    python_stream().seed(v[0] < 0 ? ~key + 1 : key);
}

/// []: as of random_double
void python_double(std::int64_t* v) {
    v[0] = std::bit_cast<std::int64_t>(python_stream().bits->next_double());
}

/// [how many, at most 63]: [an integer of so many bits], the lower half drawn first
void python_bits(std::int64_t* v) {
    std::uint64_t made = 0;
    for (std::int64_t left = v[0], at = 0; left > 0; left -= 32, at += 32) {
        std::uint64_t word = python_stream().bits->next32();
        if (left < 32) word >>= 32 - left;
        made |= word << at;
    }
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
        double angle = s.bits->next_double() * 2.0 * std::numbers::pi;
        double radius = std::sqrt(-2.0 * std::log(1.0 - s.bits->next_double()));
        z = std::cos(angle) * radius;
        s.next_gauss = std::sin(angle) * radius;
    }
    v[0] = std::bit_cast<std::int64_t>(z);
}

[[maybe_unused]] const bool natives = add_natives({{"random_seed", random_seed},
                                                   {"random_double", random_double},
                                                   {"random_normal", random_normal},
                                                   {"random_integer", random_integer},
                                                   {"random_python_seed", python_seed},
                                                   {"random_python_double", python_double},
                                                   {"random_python_bits", python_bits},
                                                   {"random_python_gauss", python_gauss}});

}  // namespace

BitStream& compiled_stream() { return *stream(); }

}  // namespace unisono::library
