// Arithmetic of polynomials and elimination of symbols by their bounds.
#include "passes/analysis/affine.h"

#include <algorithm>

namespace unisono::passes {

namespace {
constexpr std::size_t most_terms = 12;
constexpr std::size_t most_degree = 3;
constexpr std::size_t most_proofs = 3;

std::size_t test_degree(const Proof& p) {
    std::size_t d = 0;
    for (const Poly& t : p.tests) d = std::max(d, t.degree());
    return d;
}

/// Drops ways that test products where others do not: those hold more often.
void keep_simplest(std::vector<Proof>& proofs) {
    std::stable_sort(proofs.begin(), proofs.end(), [](const Proof& a, const Proof& b) {
        return test_degree(a) < test_degree(b);
    });
    auto worse = [&](const Proof& p) {
        return test_degree(p) > std::max<std::size_t>(1, test_degree(proofs[0]));
    };
    while (!proofs.empty() && (proofs.size() > most_proofs || worse(proofs.back())))
        proofs.pop_back();
}

/// Lets `to` show what `from` shows, too.
void add(const Proof& from, Proof& to) {
    to.tests.insert(to.tests.end(), from.tests.begin(), from.tests.end());
    to.used.insert(from.used.begin(), from.used.end());
    to.degree = std::max(to.degree, from.degree);
    to.is_loose = to.is_loose || from.is_loose;
}
}  // namespace

std::int64_t Poly::constant() const {
    auto found = terms_.find({});
    return found == terms_.end() ? 0 : found->second;
}

int Poly::latest() const {
    int last = -1;
    for (const auto& [product, factor] : terms_) {
        if (!product.empty()) last = std::max(last, product.back());
    }
    return last;
}

std::size_t Poly::degree() const {
    std::size_t d = 0;
    for (const auto& [product, factor] : terms_) d = std::max(d, product.size());
    return d;
}

void Poly::symbols(std::set<int>& out) const {
    for (const auto& [product, factor] : terms_) out.insert(product.begin(), product.end());
}

int Poly::lone_symbol() const {
    int found = -1;
    for (const auto& [product, factor] : terms_) {
        if (product.empty()) continue;
        if (product.size() != 1 || factor != 1 || found >= 0) return -1;
        found = product[0];
    }
    return found;
}

std::optional<Poly> sum(const Poly& a, const Poly& b, std::int64_t scale) {
    Poly out = a;
    for (const auto& [product, factor] : b.terms_) {
        std::int64_t scaled = 0;
        std::int64_t& term = out.terms_[product];
        if (__builtin_mul_overflow(factor, scale, &scaled)) return std::nullopt;
        if (__builtin_add_overflow(term, scaled, &term)) return std::nullopt;
        if (term == 0) out.terms_.erase(product);
    }
    if (out.terms_.size() > most_terms) return std::nullopt;
    return out;
}

std::optional<Poly> product(const Poly& a, const Poly& b) {
    Poly out;
    for (const auto& [pa, fa] : a.terms_) {
        for (const auto& [pb, fb] : b.terms_) {
            Poly term;
            Poly::Product all(pa);
            all.insert(all.end(), pb.begin(), pb.end());
            std::sort(all.begin(), all.end());
            std::int64_t factor = 0;
            if (all.size() > most_degree || __builtin_mul_overflow(fa, fb, &factor))
                return std::nullopt;
            term.terms_[all] = factor;
            auto next = sum(out, term);
            if (!next) return std::nullopt;
            out = std::move(*next);
        }
    }
    return out;
}

bool Poly::split(int s, Poly& factor, Poly& rest) const {
    for (const auto& [product, coefficient] : terms_) {
        auto at = std::find(product.begin(), product.end(), s);
        if (at == product.end()) {
            rest.terms_[product] = coefficient;
            continue;
        }
        Product without(product.begin(), at);
        without.insert(without.end(), at + 1, product.end());
        if (std::find(without.begin(), without.end(), s) != without.end()) return false;
        factor.terms_[without] = coefficient;
    }
    return true;
}

bool is_at_least_zero(const std::vector<Symbol>& symbols, const Poly& p) {
    return std::all_of(p.terms().begin(), p.terms().end(), [&](const auto& term) {
        if (term.second < 0) return false;
        return std::all_of(term.first.begin(), term.first.end(),
                           [&](int s) { return symbols[static_cast<std::size_t>(s)].is_extent; });
    });
}

std::vector<Proof> prove_at_least_zero(const std::vector<Symbol>& symbols, const Poly& p,
                                       int first_local) {
    Proof here;
    p.symbols(here.used);
    here.degree = p.degree();
    int s = p.latest();
    if (s < first_local) {
        if (!is_at_least_zero(symbols, p)) here.tests.push_back(p);
        return {here};
    }
    Poly factor;
    Poly rest;
    if (!p.split(s, factor, rest)) return {};
    const Symbol& symbol = symbols[static_cast<std::size_t>(s)];
    // The sign of a factor that is not constant is that of its terms, which becomes a condition.
    bool rising = std::any_of(factor.terms().begin(), factor.terms().end(),
                              [](const auto& term) { return term.second > 0; });
    auto size = rising ? factor : sum(Poly(0), factor, -1);
    if (!size) return {};
    std::vector<Proof> proofs;
    for (const Bound& bound : rising ? symbol.lower : symbol.upper) {
        if (bound.value.latest() >= s) continue;
        auto scaled = product(factor, bound.value);
        auto next = scaled ? sum(rest, *scaled) : std::nullopt;
        if (!next) continue;
        Bound rest_of_it{std::move(*next), bound.needs, bound.is_loose};
        if (!factor.is_constant()) rest_of_it.needs.push_back(*size);
        for (Proof& way : prove_at_least_zero(symbols, rest_of_it, first_local)) {
            add(here, way);
            proofs.push_back(std::move(way));
        }
    }
    keep_simplest(proofs);
    return proofs;
}

std::vector<Proof> prove_at_least_zero(const std::vector<Symbol>& symbols, const Bound& bound,
                                       int first_local) {
    Proof common;
    common.is_loose = bound.is_loose;
    for (const Poly& need : bound.needs) {
        const auto ways = prove_at_least_zero(symbols, need, first_local);
        if (ways.empty()) return {};
        add(ways[0], common);
    }
    auto proofs = prove_at_least_zero(symbols, bound.value, first_local);
    for (Proof& way : proofs) add(common, way);
    return proofs;
}

}  // namespace unisono::passes
