// Looks at the accesses of a loop, writes the test and both forms of the body.
#include "passes/kernels/pack_elements.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "passes/cleanup/iteration_copy.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t most_nodes = 1024;  ///< of all copies together
/// Packs that a row must have: fewer leave lanes of a warp without work.
constexpr std::int64_t fewest_packs = 32;
/// Work-items that run in lockstep, and elements of one of them that is no pack.
constexpr std::int64_t warp = 32, least_apart = 4;
/// Runs of a warp that a row must have: the last one may leave work-items without work.
constexpr std::int64_t fewest_runs = 4;

/// What a body accesses along the loop's variable.
class Accesses final : public Visitor {
  public:
    Accesses(const Function& f, S loop)
        : f_(f), loop_(loop), written_(f.vars.size()), declared_(f.vars.size()) {
        for (S s : loop->body) {
            mark_written(s, written_);
            stmt(s);
        }
        for (std::size_t v = 0; v < written_.size(); ++v)
            fits = fits && written_[v] <= declared_[v];
    }

    bool fits = true;               ///< plain statements, accesses to neighbours only
    std::set<std::int32_t> arrays;  ///< those whose elements go by the variable
    std::vector<E> indices;         ///< of these accesses
    std::int64_t nodes = 0;

    void expr(E e) override {
        if (e->kind == ExprKind::Load) access(e->id, e->args[0], false);
        fits = fits && e->kind != ExprKind::WorkItem && e->kind != ExprKind::Memory;
        ++nodes;
        children(e);
    }
    void stmt(S s) override {
        switch (s->kind) {
            case StmtKind::Block:
            case StmtKind::Assign: break;
            case StmtKind::Declare: declared_[static_cast<std::size_t>(s->id)] = true; break;
            case StmtKind::If: ++conditions_; break;
            case StmtKind::Store: access(s->id, s->args[0], true); break;
            default: fits = false;
        }
        children(s);
        if (s->kind == StmtKind::If) --conditions_;
    }

  private:
    void access(std::int32_t id, E index, bool is_store) {
        const Array& a = f_.arrays[static_cast<std::size_t>(id)];
        fits = fits && conditions_ == 0 && a.param >= 0 && !a.is_slot && !a.is_view();
        if (changes(index)) {
            arrays.insert(id);
            indices.push_back(index);
        } else {
            fits = fits && !is_store;
        }
    }
    bool changes(E e) const {
        if (e->kind == ExprKind::Load) return true;
        if (e->kind == ExprKind::Var && written_[static_cast<std::size_t>(e->id)]) return true;
        if (e->kind == ExprKind::Var && e->id == loop_->id) return true;
        return std::any_of(e->args.begin(), e->args.end(), [&](E a) { return changes(a); });
    }

    const Function& f_;
    S loop_;
    std::vector<bool> written_, declared_;
    int conditions_ = 0;
};

/// Whether an index is the variable and multiples of the size of a pack, if `factors` are such.
class Steps {
  public:
    Steps(std::int32_t var, std::int64_t size) : var_(var), size_(size) {}
    std::vector<E> factors;

    bool walks(E index) {
        found_ = 0;
        return sum(index) && found_ == 1;
    }

  private:
    bool sum(E e) {
        if (e->kind == ExprKind::Var && e->id == var_) {
            ++found_;
            return true;
        }
        if (e->kind == ExprKind::Binary && e->op == Op::Add)
            return sum(e->args[0]) && sum(e->args[1]);
        return is_multiple(e);
    }
    bool is_multiple(E e) {
        if (e->kind == ExprKind::Const) return static_cast<std::int64_t>(e->bits) % size_ == 0;
        if (e->kind != ExprKind::Binary) return false;
        if (e->op == Op::Add || e->op == Op::Sub)
            return is_multiple(e->args[0]) && is_multiple(e->args[1]);
        if (e->op != Op::Mul || reads(e)) return false;
        for (E a : e->args) {
            if (a->kind == ExprKind::Const && is_multiple(a)) return true;
        }
        for (E a : e->args) {
            if (a->kind != ExprKind::Param) continue;
            auto is_it = [&](E known) { return same(known, a); };
            if (std::none_of(factors.begin(), factors.end(), is_it)) factors.push_back(a);
            return true;
        }
        return false;
    }
    bool reads(E e) const {
        return (e->kind == ExprKind::Var && e->id == var_) ||
               std::any_of(e->args.begin(), e->args.end(), [&](E a) { return reads(a); });
    }

    std::int32_t var_;
    std::int64_t size_;
    int found_ = 0;
};

class Packs {
  public:
    Packs(Function& f, S loop, std::int64_t size, const Accesses& accesses)
        : f_(f),
          b_(f),
          loop_(loop),
          size_(size),
          apart_(accesses.nodes * least_apart > most_nodes ? size : std::max(size, least_apart)) {
        b_.line = loop->line;
        const std::string name = f.vars[static_cast<std::size_t>(loop->id)].name;
        item_ = b_.var(name + "_item", DType::Int64);
        first_ = b_.var(name + "_first", DType::Int64);
        end_ = b_.var(name + "_end", DType::Int64);
        is_packed_ = b_.binary(Op::Ge, n(), b_.i64(fewest_packs * size));
        is_long_ = b_.binary(Op::Ge, n(), b_.i64(fewest_runs * run()));
        for (std::int32_t id : accesses.arrays) {
            const DType t = f.arrays[static_cast<std::size_t>(id)].dtype;
            require_multiple(b_.address(id), size * size_of(t));
        }
    }

    void require_multiple(E e, std::int64_t of) {
        E rest = b_.binary(Op::And, e, b_.i64(of - 1));
        is_packed_ = b_.binary(Op::And, is_packed_, b_.binary(Op::Eq, rest, b_.i64(0)));
    }

    S over_items() {
        const E packs = b_.binary(Op::FloorDiv, b_.add(n(), b_.i64(size_ - 1)), b_.i64(size_));
        const E runs = b_.binary(Op::FloorDiv, b_.add(n(), b_.i64(run() - 1)), b_.i64(run()));
        const E items = by_form(packs, b_.mul(runs, b_.i64(warp)), n());
        const E lane = b_.binary(Op::And, b_.read(item_), b_.i64(warp - 1));
        const E of_pack = b_.mul(b_.read(item_), b_.i64(size_));
        const E of_run = b_.add(b_.mul(b_.sub(b_.read(item_), lane), b_.i64(apart_)), lane);
        const E is_whole_pack = b_.binary(Op::Le, b_.add(of_pack, b_.i64(size_)), n());
        const E is_whole_run = b_.binary(Op::Lt, b_.add(of_run, b_.i64(run() - warp)), n());
        const E takes_run = b_.binary(Op::And, b_.unary(Op::Not, is_packed_),
                                      b_.binary(Op::And, is_long_, is_whole_run));
        const S rest = one_by_one(by_form(of_pack, of_run, b_.read(item_)));
        const S body =
            b_.branch(b_.binary(Op::And, is_packed_, is_whole_pack), together(of_pack, size_, 1),
                      b_.branch(takes_run, together(of_run, apart_, warp), rest));
        return b_.loop(loop_->loop, item_, b_.i64(0), items, b_.i64(1), body);
    }

  private:
    E n() const { return loop_->args[1]; }
    std::int64_t run() const { return warp * apart_; }
    E by_form(E packed, E apart, E single) {
        return b_.select(is_packed_, packed, b_.select(is_long_, apart, single));
    }

    /// Each statement for `count` elements, the first one and others so far apart.
    S together(E first, std::int64_t count, std::int64_t distance) {
        std::vector<IterationCopy> lanes;
        for (std::int64_t k = 0; k < count; ++k) {
            E at = b_.read(first_);
            lanes.emplace_back(f_, loop_->id, k == 0 ? at : b_.add(at, b_.i64(k * distance)));
        }
        std::vector<S> list, out{b_.declare(first_, first)};
        flatten(loop_->body, list);
        for (S s : list) {
            if (s->kind == StmtKind::Store) {
                // Their values first: loads behind a store may not move in front of it.
                const std::int32_t value = b_.var("value", s->args.back()->dtype);
                out_of_all(lanes, b_.declare(value, s->args.back()), out);
                E args[] = {s->args[0], b_.read(value)};
                Stmt store = *s;
                store.args = b_.list(std::span<const E>(args));
                s = b_.own(store);
            }
            out_of_all(lanes, s, out);
        }
        return b_.block(std::span<const S>(out));
    }
    static void out_of_all(std::vector<IterationCopy>& lanes, S s, std::vector<S>& out) {
        for (IterationCopy& lane : lanes) out.push_back(lane.stmt(s));
    }

    /// What is left of the last pack or run, or the only element of a work-item.
    S one_by_one(E first) {
        E step = b_.select(is_packed_, b_.i64(1), b_.i64(warp));
        E next = b_.add(b_.read(loop_->id), step);
        std::vector<S> body(loop_->body.begin(), loop_->body.end());
        body.push_back(b_.assign(loop_->id, next));
        E several = b_.binary(Op::Or, is_packed_, is_long_);
        return b_.block(
            {b_.declare(end_, b_.select(several, n(), b_.add(b_.read(item_), b_.i64(1)))),
             b_.declare(loop_->id, first),
             b_.loop_while(b_.binary(Op::Lt, b_.read(loop_->id), b_.read(end_)),
                           b_.block(std::span<const S>(body)))});
    }

    Function& f_;
    Builder b_;
    S loop_;
    std::int64_t size_;   ///< elements of a pack
    std::int64_t apart_;  ///< of a work-item where they lie apart
    std::int32_t item_, first_, end_;
    E is_packed_, is_long_;
};

bool is_constant(E e, std::uint64_t value) {
    return e->kind == ExprKind::Const && e->bits == value;
}

}  // namespace

S in_packs(Function& f, S loop, std::int64_t bytes) {
    const bool is_plain =
        is_constant(loop->args[0], 0) && is_constant(loop->args[2], 1) && loop->reductions.empty();
    if (!is_plain) return loop;
    const Accesses accesses(f, loop);
    if (!accesses.fits || accesses.arrays.empty()) return loop;
    std::int64_t widest = 1;
    for (std::int32_t id : accesses.arrays)
        widest =
            std::max<std::int64_t>(widest, size_of(f.arrays[static_cast<std::size_t>(id)].dtype));
    const std::int64_t size = bytes / widest;
    if (size < 2 || accesses.nodes * size > most_nodes) return loop;
    Steps steps(loop->id, size);
    for (E index : accesses.indices) {
        if (!steps.walks(index)) return loop;
    }
    Packs packs(f, loop, size, accesses);
    for (E factor : steps.factors) packs.require_multiple(factor, size);
    return packs.over_items();
}

}  // namespace unisono::passes
