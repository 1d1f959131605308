// Finds nests that follow each other in a list of statements, and joins them.
#include "passes/loops/rows_together.h"

#include <algorithm>
#include <utility>

#include "passes/analysis/nests.h"
#include "passes/cleanup/replace_reads.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// A nest that runs where conditions hold: tests of few rows, of equal shapes.
struct Version {
    std::vector<Condition> conditions;
    S nest = nullptr;
};

std::size_t count_loops(S s) {
    std::size_t n = s->kind == StmtKind::For ? 1 : 0;
    for (S b : s->body) n += count_loops(b);
    for (S b : s->orelse) n += count_loops(b);
    return n;
}

/// A test whether results are so large that they bypass the caches. Rows that lie in them need not.
bool asks_for_streaming(S s) {
    auto streams = [](std::span<const S> list) {
        return std::any_of(list.begin(), list.end(), has_streaming_store);
    };
    return s->kind == StmtKind::If && streams(s->body) && !streams(s->orelse);
}

/// What remains of a statement where the condition is known.
class Known final : public Rewriter {
  public:
    Known(Function& f, const Condition& condition) : Rewriter(f), known_(condition) {}
    E expr(E e) override { return e; }
    S stmt(S s) override {
        if (s->kind == StmtKind::For) return s;
        if (s->kind != StmtKind::If || !same(s->args[0], known_.test)) return children(s);
        return as_one(b_, each(known_.holds ? s->body : s->orelse));
    }

  private:
    Condition known_;
};

/// Whether statements may be moved before a nest that precedes them.
class Movable {
  public:
    Movable(const Function& f, const Memories& memories, const Touched& nest)
        : f_(f), memories_(memories), nest_(nest) {}

    bool operator()(S s) const {
        const bool has_loads = std::any_of(s->args.begin(), s->args.end(), has_load);
        if (has_loads) return false;
        switch (s->kind) {
            case StmtKind::Declare:
            case StmtKind::Assign: return !nest_.reads[static_cast<std::size_t>(s->id)];
            case StmtKind::Make: return stores_are_own() && !touches(s->id);
            case StmtKind::Point: return !touches(s->id);
            case StmtKind::If: return stores_are_own() && raises_only(s);
            default: return false;
        }
    }

  private:
    static bool raises_only(S s) {
        std::vector<S> taken;
        flatten(s->body, taken);
        return only_raises(s) &&
               std::none_of(taken[0]->args.begin(), taken[0]->args.end(), has_load);
    }
    /// The slot itself is what the nest's views see.
    bool touches(std::int32_t slot) const {
        return std::any_of(nest_.accesses.begin(), nest_.accesses.end(), [&](const auto& a) {
            const Array& array = f_.arrays[static_cast<std::size_t>(a.array)];
            return a.array == slot || array.base == slot;
        });
    }
    /// All that the nest stores to dies with the function where that ends here.
    bool stores_are_own() const {
        return std::none_of(nest_.accesses.begin(), nest_.accesses.end(), [&](const auto& a) {
            return a.is_store && !memories_.is_own(a.array);
        });
    }

    const Function& f_;
    const Memories& memories_;
    const Touched& nest_;
};

/// What an iteration of joined loops does, nest by nest.
struct Part {
    LoopKind loop;  ///< of the innermost joined loop in the nest that it comes from
    std::vector<S> body;
};

struct Joined {
    std::size_t outer;  ///< loops that were joined
    E length;           ///< elements of a row
    std::vector<Part> parts;
};

/// Writes joined loops as nests over a few rows each: what a row waits for overlaps with the work
/// on others, and numbers that each row has one of are computed side by side.
class InStrips final : public Rewriter {
  public:
    InStrips(Function& f, const std::unordered_map<S, Joined>& joined)
        : Rewriter(f), joined_(joined) {}

    E expr(E e) override { return e; }
    S stmt(S s) override {
        auto found = joined_.find(s);
        return found == joined_.end() ? children(s) : strips(s, found->second);
    }

  private:
    S strips(S s, const Joined& j) {
        const std::vector<S> loops = Nest(s).loops;
        S last = loops[j.outer - 1];
        b_.line = last->line;
        // Few enough that memory is read all the time, and that the next nest finds the rows in the
        // nearest cache: 8 rows of up to 16 elements, 4 of up to 128, 2 of up to 512.
        const RowStrips strips(b_, j.length, {512, 128, 16}, last->args[1]);
        std::vector<S> body;
        for (const Part& part : j.parts) {
            const bool is_whole = part.loop == LoopKind::Parallel || part.loop == LoopKind::Vector;
            const bool has_loops = std::any_of(part.body.begin(), part.body.end(), [](S t) {
                return contains(t, StmtKind::For) || contains(t, StmtKind::While);
            });
            body.push_back(b_.loop(is_whole && !has_loops ? LoopKind::Vector : LoopKind::Serial,
                                   last->id, strips.begin(), strips.end(), b_.i64(1),
                                   b_.block(part.body)));
        }
        S nest = strips.loop(last->loop, body);
        for (std::size_t k = j.outer - 1; k-- > 0;) {
            Stmt loop = *loops[k];
            loop.body = b_.list(std::span<const S>({nest}));
            nest = b_.own(loop);
        }
        std::vector<S> all = strips.in_front();
        all.push_back(nest);
        return b_.block(all);
    }

    const std::unordered_map<S, Joined>& joined_;
};

class RowsTogether final : public Rewriter {
  public:
    explicit RowsTogether(Function& f) : Rewriter(f), memories_(f), declared_(f) {}

    E expr(E e) override { return e; }
    S stmt(S s) override {
        s = children(s);
        if (s->body.empty() && s->orelse.empty()) return s;
        return with_body(s, joined(s->body), joined(s->orelse));
    }
    const std::unordered_map<S, Joined>& found() const { return found_; }

  private:
    std::vector<S> joined(std::span<const S> list) {
        std::vector<S> all;
        flatten(list, all);
        std::vector<S> out;
        std::optional<std::size_t> last;  // the latest nest in `out`
        bool changed = false;
        for (S s : all) {
            const bool is_nest = s->kind == StmtKind::For || s->kind == StmtKind::If;
            if (is_nest && last && join(out, *last, s)) {
                last = out.size() - 1;
                changed = true;
                continue;
            }
            out.push_back(s);
            if (is_nest && !versions(s).empty()) last = out.size() - 1;
        }
        return changed ? out : std::vector<S>(list.begin(), list.end());
    }

    /// The nests of a statement that is one, or chooses one by tests of numbers; those first that
    /// are likely to be meant: with loops for any number of elements, without repeated axes.
    std::vector<Version> versions(S s) const {
        std::vector<Condition> around;
        std::vector<Version> all;
        find(s, around, all);
        std::stable_sort(all.begin(), all.end(), [](const Version& a, const Version& b) {
            return count_loops(a.nest) > count_loops(b.nest);
        });
        return all;
    }
    void find(S s, std::vector<Condition>& around, std::vector<Version>& out) const {
        auto among = [&](std::span<const S> list) {
            std::vector<S> all;
            flatten(list, all);
            if (all.size() == 1) find(all[0], around, out);
        };
        if (s->kind == StmtKind::For) out.push_back({around, s});
        if (s->kind != StmtKind::If || has_load(s->args[0])) return;
        if (asks_for_streaming(s)) return among(s->orelse);
        const std::size_t before = out.size();
        around.push_back({s->args[0], true});
        among(s->body);
        const std::size_t middle = out.size();
        around.back().holds = false;
        among(s->orelse);
        around.pop_back();
        // Where it is a nest in special cases only, as small products are, it stays as it is.
        auto is_joined = [&](const Version& v) { return found_.count(v.nest) > 0; };
        if ((middle == before || out.size() == middle) &&
            std::none_of(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(), is_joined))
            out.resize(before);
    }

    bool join(std::vector<S>& out, std::size_t at, S second) {
        const std::vector<Version> here = versions(out[at]), there = versions(second);
        const std::span<const S> between = std::span<const S>(out).subspan(at + 1);
        for (const Version& a : here) {
            for (const Version& b : there) {
                S nest = joined(a.nest, b.nest, between);
                if (!nest || !stay(a.conditions, between)) continue;
                S first = out[at];
                out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
                out.push_back(chosen(a, b, nest, first, second));
                return true;
            }
        }
        return false;
    }

    /// The two as one nest, or null.
    S joined(S first, S second, std::span<const S> between) {
        const Nest a(first), b(second);
        std::size_t outer = 0;
        while (outer < a.loops.size() && outer < b.loops.size() &&
               same(a.loops[outer]->args[1], b.loops[outer]->args[1]))
            ++outer;
        // Loops over single elements stay loops of their own, which run on vectors.
        if (outer > 0 && !a.has_loops(outer) && !b.has_loops(outer)) --outer;
        const Joined* before = nullptr;
        if (auto known = found_.find(first); known != found_.end()) before = &known->second;
        if (outer == 0 || (before && before->outer != outer)) return nullptr;
        const Touched by_a(function(), first), by_b(function(), second);
        if (!by_a.is_simple || !by_b.is_simple) return nullptr;
        const Movable movable(function(), memories_, by_a);
        if (!std::all_of(between.begin(), between.end(), movable)) return nullptr;
        if (!share_rows_only(b_, memories_, declared_, a, by_a, b, by_b, outer)) return nullptr;
        const std::unordered_set<E> none;
        Replace replace(function(), none);
        for (std::size_t k = 0; k < outer; ++k)
            replace.by[b.loops[k]->id] = b_.read(a.loops[k]->id);
        Joined now{outer, nullptr, {}};
        if (before)
            now = *before;
        else
            now.parts.push_back({a.loops[outer - 1]->loop, inside(a, outer, replace)});
        now.parts.push_back({b.loops[outer - 1]->loop, inside(b, outer, replace)});
        if (!now.length) now.length = length_of_rows(by_a, by_b, outer);
        std::vector<S> body;
        for (const Part& part : now.parts)
            body.insert(body.end(), part.body.begin(), part.body.end());
        S nest = b_.block(body);
        for (std::size_t k = outer; k-- > 0;) {
            Stmt loop = *a.loops[k];
            const bool is_parallel =
                loop.loop == LoopKind::Parallel && b.loops[k]->loop == LoopKind::Parallel;
            loop.loop = is_parallel ? LoopKind::Parallel : LoopKind::Serial;
            loop.body = b_.list(std::span<const S>({nest}));
            nest = b_.own(loop);
        }
        found_[nest] = std::move(now);
        return nest;
    }

    /// What the nest does in an iteration of its outer loops; without loops that run once.
    std::vector<S> inside(const Nest& nest, std::size_t outer, Replace& replace) {
        std::int64_t end = 0;
        std::size_t k = outer;
        for (; k < nest.loops.size() && is_constant(nest.loops[k]->args[1], end) && end == 1; ++k)
            replace.by[nest.loops[k]->id] = b_.i64(0);
        std::vector<S> all;
        for (S s : nest.inside(k)) all.push_back(replace.stmt(s));
        return all;
    }

    /// The number of elements of a row.
    E length_of_rows(const Touched& a, const Touched& b, std::size_t outer) {
        for (const Touched* touched : {&a, &b}) {
            for (const RowAccess& access : touched->accesses) {
                const Array& array = function().arrays[static_cast<std::size_t>(access.array)];
                E length = nullptr;
                for (std::size_t k = outer; k < access.indices.size(); ++k) {
                    E n = b_.extent(access.array, static_cast<int>(k));
                    if (array.strides[k] != StrideClass::Zero)
                        length = length ? b_.mul(length, n) : n;
                }
                if (length && length->kind != ExprKind::Const) return length;
            }
        }
        return b_.i64(1);
    }

    /// Whether conditions that were met in front of the statements are what they are behind them.
    bool stay(const std::vector<Condition>& conditions, std::span<const S> between) {
        std::vector<bool> written(function().vars.size()), read(function().vars.size());
        for (S s : between) mark_written(s, written);
        for (const Condition& c : conditions) mark_read(c.test, read);
        for (std::size_t v = 0; v < read.size(); ++v) {
            if (read[v] && written[v]) return false;
        }
        return true;
    }

    /// The nest where the conditions of both versions hold, else the two statements.
    S chosen(const Version& a, const Version& b, S nest, S first, S second) {
        b_.line = first->line;
        std::vector<Condition> all = a.conditions;
        for (const Condition& c : b.conditions) {
            const bool is_known = std::any_of(all.begin(), all.end(), [&](const Condition& k) {
                return k.holds == c.holds && same(k.test, c.test);
            });
            if (!is_known) all.push_back(c);
        }
        if (all.empty()) return nest;
        if (all.size() == 1) {
            const bool holds = all[0].holds;
            Known other(function(), {all[0].test, !holds});
            S rest = b_.block({other.stmt(first), other.stmt(second)});
            return holds ? b_.branch(all[0].test, nest, rest) : b_.branch(all[0].test, rest, nest);
        }
        E test = nullptr;
        for (const Condition& c : all) {
            E holds = c.holds ? c.test : b_.unary(Op::Not, c.test);
            test = test ? b_.binary(Op::And, test, holds) : holds;
        }
        return b_.branch(test, nest, b_.block({first, second}));
    }

    Memories memories_;
    DeclaredOnce declared_;
    std::unordered_map<S, Joined> found_;
};

}  // namespace

void rows_together(Module& module) {
    for (Function& f : module.functions) {
        if (!f.body) continue;
        RowsTogether rows(f);
        rows.run();
        if (!rows.found().empty()) InStrips(f, rows.found()).run();
    }
}

}  // namespace unisono::passes
