// NumPy's own sequential generators, MT19937 and PCG64, bit for bit, and what NumPy makes of their
// numbers: for programs that must meet numbers that NumPy drew.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "library/random/random.h"

namespace unisono::library {

/// A stream of bits; belongs to whoever holds the engine.
class BitStream {
  public:
    virtual ~BitStream() = default;
    virtual std::uint32_t next32() = 0;
    virtual std::uint64_t next64() = 0;
    virtual double next_double() = 0;
    virtual void next_doubles(std::span<double> to) {
        for (double& x : to) x = next_double();
    }
    virtual void next_floats(std::span<float> to) {
        for (float& x : to) x = next_float();
    }
    virtual float next_float() { return static_cast<float>(next32() >> 8) * 0x1p-24F; }
    /// All that decides the numbers to come.
    virtual std::vector<std::uint64_t> state() const = 0;
    virtual void set_state(std::span<const std::uint64_t> words) = 0;

    // What samplers ask of a source.
    std::uint64_t bits() { return next64(); }
    double uniform() { return next_double(); }
    double positive() { return 1.0 - next_double(); }
    /// Marsaglia's polar method, as RandomState has it: numbers come in pairs.
    double legacy_normal();

    /// Second number of the pair that the legacy normal makes.
    bool has_gauss = false;
    double gauss = 0;
};

/// Matsumoto and Nishimura's twister, "mt19937"; or O'Neill's "pcg64" (XSL-RR of 128 bits).
std::unique_ptr<BitStream> make_bit_stream(std::string_view kind);
/// RandomState(seed): one word, or a sequence of any length, which is mixed otherwise.
void seed_legacy(BitStream& twister, std::span<const std::uint32_t> words, bool sequence);

enum class IntegerMethod : std::uint8_t { Masked, Multiplied };  ///< RandomState's, Generator's

/// Uniform in 0, ..., span, as NumPy draws it for integers of 32 and 64 bits.
std::uint64_t below(BitStream& s, IntegerMethod method, std::uint64_t span);
Array stream_doubles(BitStream& s, double low, double width, Dims shape, DType dtype);
Array stream_integers(BitStream& s, IntegerMethod method, std::int64_t low, std::uint64_t span,
                      Dims shape, DType dtype);
/// RandomState's polar method; Generator's comes from stream_draw.
Array stream_legacy_normal(BitStream& s, double mean, double deviation, Dims shape);
Array stream_legacy_exponential(BitStream& s, double scale, Dims shape);
Array stream_permutation(BitStream& s, IntegerMethod method, std::int64_t n);
/// n of 0, ..., pool - 1, each at most once, as Generator.choice draws them.
Array stream_sample(BitStream& s, std::int64_t pool, std::int64_t n, bool shuffled);
Array stream_draw(BitStream& s, Distribution what, std::span<const Parameter> parameters,
                  Dims shape, DType dtype);

}  // namespace unisono::library
