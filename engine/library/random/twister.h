// Matsumoto and Nishimura's twister, MT19937, word for word as NumPy and Python draw it.
#pragma once

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/native/drawn_words.h"
#include "library/random/bit_stream.h"

namespace unisono::library {

class Twister final : public BitStream {
  public:
    std::uint32_t next32() override {
        if (drawn_.place == size) refill();
        return drawn_.words[drawn_.place++];
    }
    std::uint64_t next64() override {
        std::uint64_t high = next32();
        return high << 32 | next32();
    }
    double next_double() override {
        std::uint32_t a = next32(), b = next32();
        return fraction(a, b);
    }
    void next_doubles(std::span<double> to) override {
        std::size_t done = 0;
        while (done < to.size()) {
            if (drawn_.place == size) refill();
            const std::size_t place = drawn_.place;
            const std::size_t pairs = std::min((size - place) / 2, to.size() - done);
            for (std::size_t k = 0; k < pairs; ++k)
                to[done + k] =
                    fraction(drawn_.words[place + 2 * k], drawn_.words[place + 2 * k + 1]);
            drawn_.place += 2 * pairs;
            done += pairs;
            if (pairs == 0) to[done++] = next_double();  // across the end of the words
        }
    }
    std::vector<std::uint64_t> state() const override {
        std::vector<std::uint64_t> words(key_.begin(), key_.end());
        words.push_back(drawn_.place);
        return words;
    }
    void set_state(std::span<const std::uint64_t> words) override {
        if (words.size() != size + 1 || words[size] > size)
            fail(ErrorKind::Value, "state: MT19937 has 624 words and a position up to 624");
        for (std::size_t k = 0; k < size; ++k) key_[k] = static_cast<std::uint32_t>(words[k]);
        temper();
        drawn_.place = words[size];
        has_gauss = false;
    }
    DrawnWords& drawn() { return drawn_; }
    void seed(std::uint32_t word) {
        for (std::uint32_t k = 0; k < size; ++k) {
            key_[k] = word;
            word = 1812433253U * (word ^ word >> 30) + k + 1;
        }
        drawn_.place = size;
        has_gauss = false;
    }
    void seed(std::span<const std::uint32_t> words) {
        seed(19650218U);
        std::size_t i = 1, j = 0;
        auto mixed = [&](std::uint32_t factor) {
            return key_[i] ^ (key_[i - 1] ^ key_[i - 1] >> 30) * factor;
        };
        auto advance = [&] {
            if (++i == size) {
                key_[0] = key_[size - 1];
                i = 1;
            }
        };
        for (std::size_t k = std::max(size, words.size()); k > 0; --k) {
            key_[i] = mixed(1664525U) + words[j] + static_cast<std::uint32_t>(j);
            advance();
            if (++j == words.size()) j = 0;
        }
        for (std::size_t k = size - 1; k > 0; --k) {
            key_[i] = mixed(1566083941U) - static_cast<std::uint32_t>(i);
            advance();
        }
        key_[0] = 0x80000000U;
    }

  private:
    static constexpr std::size_t size = DrawnWords::count;
    static double fraction(std::uint32_t a, std::uint32_t b) {
        return ((a >> 5) * 67108864.0 + (b >> 6)) / 9007199254740992.0;
    }
    void refill() {
        auto twist = [](std::uint32_t high, std::uint32_t low) {
            std::uint32_t y = (high & 0x80000000U) | (low & 0x7fffffffU);
            return y >> 1 ^ ((~(y & 1) + 1) & 0x9908b0dfU);
        };
        constexpr std::size_t ahead = 397, wrap = size - ahead;
        for (std::size_t k = 0; k < wrap; ++k)
            key_[k] = key_[k + ahead] ^ twist(key_[k], key_[k + 1]);
        for (std::size_t k = wrap; k < size - 1; ++k)
            key_[k] = key_[k - wrap] ^ twist(key_[k], key_[k + 1]);
        key_[size - 1] = key_[ahead - 1] ^ twist(key_[size - 1], key_[0]);
        temper();
        drawn_.place = 0;
    }
    /// All words at once, as vectors.
    void temper() {
        for (std::size_t k = 0; k < size; ++k) {
            std::uint32_t y = key_[k];
            y ^= y >> 11;
            y ^= (y << 7) & 0x9d2c5680U;
            y ^= (y << 15) & 0xefc60000U;
            drawn_.words[k] = y ^ y >> 18;
        }
    }
    std::array<std::uint32_t, size> key_{};  ///< the state
    DrawnWords drawn_;                       ///< the numbers made of it
};

}  // namespace unisono::library
