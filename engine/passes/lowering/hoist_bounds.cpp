// Chooses the loops to duplicate and writes the test in front of each; the knowledge comes from
// index_ranges.
#include "passes/lowering/hoist_bounds.h"

#include <algorithm>
#include <set>

#include "ir/atomics.h"
#include "passes/analysis/intervals/index_ranges.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

// No test may wrap around: symbols are at most this large, by degree of the terms in which they
// occur.
constexpr std::int64_t largest[] = {std::int64_t{1} << 40, std::int64_t{1} << 40,
                                    std::int64_t{1} << 30, std::int64_t{1} << 19};

/// Writes polynomials as IR and collects what must hold.
class TestWriter {
  public:
    TestWriter(Builder& b, const std::vector<Symbol>& symbols) : b_(b), symbols_(symbols) {}

    void add(const AccessTest& test, int first_local) {
        for (const auto& ways : test.conditions) {
            if (!seen_.insert(key(ways)).second) continue;
            E any = nullptr;
            for (const Proof& p : ways) {
                E all = proof(p, first_local);
                any = any ? b_.binary(Op::Or, any, all) : all;
            }
            require(any);
        }
    }

    /// The whole test; guards come first.
    E result() {
        E all = nullptr;
        for (const auto& [s, degree] : guarded_) {
            for (E guard : guards(s, degree)) all = all ? b_.binary(Op::And, all, guard) : guard;
        }
        for (E e : required_) all = all ? b_.binary(Op::And, all, e) : e;
        return all ? all : b_.boolean(true);
    }

  private:
    using Key = std::vector<std::pair<std::vector<Poly>, std::set<int>>>;
    static Key key(const std::vector<Proof>& ways) {
        Key k;
        for (const Proof& p : ways) k.emplace_back(p.tests, p.used);
        return k;
    }

    void require(E e) {
        if (e->kind == ExprKind::Const && e->bits != 0) return;
        required_.push_back(e);
    }

    E proof(const Proof& p, int first_local) {
        for (int s : p.used) {
            const Symbol& symbol = symbols_[static_cast<std::size_t>(s)];
            // Extents are no larger than memory: alone they need no guard.
            if (s >= first_local || (symbol.is_extent && p.degree <= 1)) continue;
            std::size_t& degree = guarded_[s];
            degree = std::max(degree, p.degree);
        }
        E all = nullptr;
        for (const Poly& t : p.tests) {
            E one = at_least_zero(t);
            all = all ? b_.binary(Op::And, all, one) : one;
        }
        return all ? all : b_.boolean(true);
    }

    std::vector<E> guards(int s, std::size_t degree) {
        const Symbol& symbol = symbols_[static_cast<std::size_t>(s)];
        std::int64_t limit = largest[degree];
        std::vector<E> all{b_.binary(Op::Le, symbol.read, b_.i64(limit))};
        if (!symbol.is_extent) all.push_back(b_.binary(Op::Ge, symbol.read, b_.i64(-limit)));
        return all;
    }

    /// p >= 0 with negative terms on the other side.
    E at_least_zero(const Poly& p) {
        E left = nullptr;
        E right = nullptr;
        for (const auto& [product, factor] : p.terms()) {
            E term = b_.i64(factor < 0 ? -factor : factor);
            for (int s : product) {
                term = simplified(b_, b_.mul(symbols_[static_cast<std::size_t>(s)].read, term));
            }
            E& side = factor < 0 ? right : left;
            side = side ? simplified(b_, b_.add(side, term)) : term;
        }
        return simplified(b_,
                          b_.binary(Op::Ge, left ? left : b_.i64(0), right ? right : b_.i64(0)));
    }

    Builder& b_;
    const std::vector<Symbol>& symbols_;
    std::map<int, std::size_t> guarded_;  // symbol, degree
    std::set<Key> seen_;
    std::vector<E> required_;
};

/// For each loop, whether it is duplicated: the outermost one at which no access is known less well
/// than deeper inside.
class Choice {
  public:
    Choice(const FunctionFacts& facts, bool may_duplicate)
        : facts_(facts), chosen_(facts.loops.size()), accesses_in_(facts.loops.size()) {
        if (!may_duplicate) return;
        for (const AccessFacts& a : facts.accesses) {
            for (int loop : a.loops) accesses_in_[static_cast<std::size_t>(loop)].push_back(&a);
        }
        for (std::size_t l = 0; l < facts.loops.size(); ++l) {
            if (facts.loops[l].parent < 0) choose(static_cast<int>(l));
        }
    }
    bool operator[](int loop) const { return chosen_[static_cast<std::size_t>(loop)]; }

  private:
    void choose(int loop) {
        bool known_here = false;
        bool known_deeper = false;
        for (const AccessFacts* a : accesses_in_[static_cast<std::size_t>(loop)]) {
            if (a->is_proven) continue;
            auto k = std::find(a->loops.begin(), a->loops.end(), loop) - a->loops.begin();
            if (a->tests[static_cast<std::size_t>(k)]) {
                known_here = true;
            } else {
                known_deeper =
                    known_deeper || std::any_of(a->tests.begin() + k, a->tests.end(),
                                                [](const auto& t) { return t.has_value(); });
            }
        }
        if (known_here && !known_deeper) {
            chosen_[static_cast<std::size_t>(loop)] = true;
            return;
        }
        for (int child : facts_.loops[static_cast<std::size_t>(loop)].children) choose(child);
    }

    const FunctionFacts& facts_;
    std::vector<bool> chosen_;
    std::vector<std::vector<const AccessFacts*>> accesses_in_;  // per loop
};

/// Walks as index_ranges does, counting accesses and loops.
class HoistBounds final : public Rewriter {
  public:
    HoistBounds(Function& f, FunctionFacts facts, bool may_duplicate)
        : Rewriter(f), facts_(std::move(facts)), chosen_(facts_, may_duplicate) {}

    E expr(E e) override {
        e = children(e);
        if (is_remainder(e)) return without_division(e);
        if (e->kind != ExprKind::Load || !is_tested(e->access)) return e;
        b_.line = e->line;
        const AccessFacts& facts = facts_.accesses[next_access_++];
        if (!is_inside(facts)) return e;
        Expr changed = *e;
        changed.access = Access::Inside;
        changed.args = inside(e->id, e->args, facts);
        return b_.own(changed);
    }

    /// a % n where that is a, or one step of n away.
    E without_division(E e) {
        const Remainder known = facts_.remainders[next_remainder_++];
        const E a = e->args[0], n = e->args[1];
        if (known == Remainder::Unknown || !costs_little(a) || !costs_little(n)) return e;
        if (known == Remainder::Itself) return a;
        b_.line = e->line;
        if (known == Remainder::Above)
            return b_.select(b_.binary(Op::Ge, a, n), b_.binary(Op::Sub, a, n), a);
        return b_.select(b_.binary(Op::Lt, a, b_.i64(0)), b_.binary(Op::Add, a, n), a);
    }

    S stmt(S s) override {
        switch (s->kind) {
            case StmtKind::Store:
            case StmtKind::Atomic: return store(s);
            case StmtKind::For: return loop(s);
            case StmtKind::If:
                if (is_zero_test(s) && facts_.never_zero[next_zero_test_++]) return nullptr;
                return children(s);
            default: return children(s);
        }
    }

  private:
    static bool is_tested(Access a) { return a == Access::Checked || a == Access::Wrapped; }

    /// In the fast version of a nest, all accesses that its test covers.
    bool is_inside(const AccessFacts& a) const {
        if (a.is_proven || fast_ < 0) return a.is_proven;
        auto at = std::find(a.loops.begin(), a.loops.end(), fast_);
        return at != a.loops.end() &&
               a.tests[static_cast<std::size_t>(at - a.loops.begin())].has_value();
    }

    std::span<const E> inside(std::int32_t array, std::span<const E> indices,
                              const AccessFacts& facts) {
        std::vector<E> at(indices.begin(), indices.end());
        for (std::size_t k = 0; k < at.size(); ++k) {
            if (facts.counts_from[k] == CountsFrom::Start) continue;
            E from_end = simplified(b_, b_.add(b_.extent(array, static_cast<int>(k)), at[k]));
            at[k] = facts.counts_from[k] == CountsFrom::End
                        ? from_end
                        : b_.select(b_.binary(Op::Lt, at[k], b_.i64(0)), from_end, at[k]);
        }
        return b_.list(std::span<const E>(at));
    }

    S store(S s) {
        s = children(s);
        if (!is_tested(s->access)) return s;
        b_.line = s->line;
        const AccessFacts& facts = facts_.accesses[next_access_++];
        if (!is_inside(facts)) return s;
        Stmt changed = *s;
        const std::size_t count = index_count(*s);
        auto at = inside(s->id, s->args.first(count), facts);
        std::vector<E> args(at.begin(), at.end());
        auto values = s->args.subspan(count);
        args.insert(args.end(), values.begin(), values.end());
        changed.access = Access::Inside;
        changed.args = b_.list(std::span<const E>(args));
        return b_.own(changed);
    }

    S loop(S s) {
        std::vector<E> args(s->args.begin(), s->args.end());
        for (E& a : args) a = expr(a);
        s = with_args(s, args);
        int number = next_loop_++;
        if (!chosen_[number]) return with_body(s, each(s->body), {});
        const std::size_t first_access = next_access_, first_remainder = next_remainder_,
                          first_zero_test = next_zero_test_;
        int first_loop = next_loop_;
        fast_ = number;
        S fast = with_body(s, each(s->body), {});
        fast_ = -1;
        std::size_t end_access = next_access_;
        next_access_ = first_access;
        next_remainder_ = first_remainder;
        next_zero_test_ = first_zero_test;
        next_loop_ = first_loop;
        S checked = with_body(s, each(s->body), {});
        b_.line = s->line;
        Stmt choice = *b_.branch(test(number, first_access, end_access), fast, checked);
        choice.rare = true;
        return b_.own(choice);
    }

    E test(int loop, std::size_t first_access, std::size_t end_access) {
        TestWriter writer(b_, facts_.symbols);
        for (std::size_t a = first_access; a < end_access; ++a) {
            const AccessFacts& facts = facts_.accesses[a];
            if (facts.is_proven) continue;
            auto at = std::find(facts.loops.begin(), facts.loops.end(), loop) - facts.loops.begin();
            const auto& test = facts.tests[static_cast<std::size_t>(at)];
            if (test) writer.add(*test, facts_.loops[static_cast<std::size_t>(loop)].first_symbol);
        }
        return writer.result();
    }

    FunctionFacts facts_;
    Choice chosen_;
    std::size_t next_access_ = 0, next_remainder_ = 0, next_zero_test_ = 0;
    int next_loop_ = 0;
    int fast_ = -1;  // the loop whose fast version is being written
};

}  // namespace

void hoist_bounds(Module& module, bool may_duplicate) {
    for (Function& f : module.functions) HoistBounds(f, find_index_ranges(f), may_duplicate).run();
}

}  // namespace unisono::passes
