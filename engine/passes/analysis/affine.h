// Polynomials over integer symbols, and bounds of them: what hoist_bounds knows about indices.
//
// A symbol is a value that stays the same where it is known: a parameter, an extent, a variable
// since its last assignment, a loop variable during an iteration. Symbols are numbered as they
// appear, so that the bounds of a symbol mention earlier ones only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/ir.h"

namespace unisono::passes {

/// Sum of coefficient * product of symbols; the empty product is the constant.
class Poly {
  public:
    using Product = std::vector<int>;  // sorted symbols

    Poly() = default;
    explicit Poly(std::int64_t constant) {
        if (constant != 0) terms_[{}] = constant;
    }
    static Poly symbol(int s) {
        Poly p;
        p.terms_[{s}] = 1;
        return p;
    }

    const std::map<Product, std::int64_t>& terms() const { return terms_; }
    bool operator==(const Poly&) const = default;
    bool operator<(const Poly& other) const { return terms_ < other.terms_; }

    bool is_constant() const {
        return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
    }
    std::int64_t constant() const;
    /// The latest symbol, or -1.
    int latest() const;
    std::size_t degree() const;
    void symbols(std::set<int>& out) const;
    /// The symbol, if the polynomial is 1 * symbol + constant; else -1.
    int lone_symbol() const;

    /// a + scale * b, a * b; nothing where numbers or terms grow beyond what is worth following.
    friend std::optional<Poly> sum(const Poly& a, const Poly& b, std::int64_t scale);
    friend std::optional<Poly> product(const Poly& a, const Poly& b);
    /// *this = s * factor + rest; false where s occurs squared.
    bool split(int s, Poly& factor, Poly& rest) const;

  private:
    std::map<Product, std::int64_t> terms_;
};
std::optional<Poly> sum(const Poly& a, const Poly& b, std::int64_t scale = 1);
std::optional<Poly> product(const Poly& a, const Poly& b);

/// A bound that holds where all of `needs` are at least 0.
struct Bound {
    Poly value;
    std::vector<Poly> needs;
    /// What a type of few bits holds, or the number that a condition sets as the least (`if n < 0:
    /// raise`): tests of it seldom pass.
    bool is_loose = false;
};

struct Symbol {
    ir::E read = nullptr;    ///< how the program reads it
    std::int32_t var = -1;   ///< of a variable
    bool is_extent = false;  ///< at least 0
    std::vector<Bound> upper, lower;
};

/// A way to show that something is at least 0: if all `tests` are. `used` are the symbols of the
/// derivation.
struct Proof {
    std::vector<Poly> tests;
    std::set<int> used;
    std::size_t degree = 1;
    bool is_loose = false;  ///< see Bound
};

/// Ways to show p >= 0 with tests that mention symbols before `first_local` only; at most three.
std::vector<Proof> prove_at_least_zero(const std::vector<Symbol>& symbols, const Poly& p,
                                       int first_local);
/// The same of a bound, whose needs become tests, too.
std::vector<Proof> prove_at_least_zero(const std::vector<Symbol>& symbols, const Bound& bound,
                                       int first_local);

/// True without any test: extents are not negative.
bool is_at_least_zero(const std::vector<Symbol>& symbols, const Poly& p);

}  // namespace unisono::passes
