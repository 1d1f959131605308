// Cuts reducing loops into chunks, innermost loops first.
#include "passes/lowering/reductions.h"

#include "ir/rewrite.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// Replaces variables by others of the same dtype.
class Rename final : public Rewriter {
  public:
    Rename(Function& f, std::vector<std::int32_t> names) : Rewriter(f), names_(std::move(names)) {}

    E expr(E e) override {
        if (e->kind != ExprKind::Var || renamed(e->id) == e->id) return children(e);
        Expr changed = *e;
        changed.id = renamed(e->id);
        return b_.own(changed);
    }

    S stmt(S s) override {
        s = children(s);
        bool has_var =
            s->kind == StmtKind::Declare || s->kind == StmtKind::Assign || s->kind == StmtKind::For;
        bool same_id = !has_var || renamed(s->id) == s->id;
        bool same_outs = true;
        std::vector<std::int32_t> outs(s->outs.begin(), s->outs.end());
        for (std::int32_t& v : outs) {
            same_outs = same_outs && renamed(v) == v;
            v = renamed(v);
        }
        if (same_id && same_outs) return s;
        Stmt changed = *s;
        if (has_var) changed.id = renamed(s->id);
        changed.outs = function().arena->copy(std::span<const std::int32_t>(outs));
        return b_.own(changed);
    }

  private:
    std::int32_t renamed(std::int32_t id) const {
        return static_cast<std::size_t>(id) < names_.size() ? names_[static_cast<std::size_t>(id)]
                                                            : id;
    }
    std::vector<std::int32_t> names_;
};

/// The value x with op(x, y) == y for every y, bit for bit.
E exact_identity(Builder& b, Op op, DType t) {
    if (op != Op::Add || is_integer(t)) return b.identity(op, t);
    E zero = b.number(part_dtype(t), -0.0);
    return is_complex(t) ? b.pair(zero, zero) : zero;
}

class Reductions final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    S stmt(S s) override {
        s = children(s);
        if (s->kind != StmtKind::For || s->reductions.empty()) return s;
        b_.line = s->line;
        if (s->loop == LoopKind::Parallel) return chunked(s);
        Stmt serial = *s;
        serial.loop = LoopKind::Serial;
        serial.reductions = {};
        return b_.own(serial);
    }

  private:
    E value(std::string name, E e, std::vector<S>& out) {
        if (e->kind == ExprKind::Const) return e;
        std::int32_t v = b_.var(std::move(name), e->dtype);
        out.push_back(b_.declare(v, e));
        return b_.read(v);
    }

    /// Iterations of range(begin, end, step); none where the step is 0.
    E trip_count(E begin, E end, E step) {
        E one = b_.i64(1);
        E up = b_.binary(Op::FloorDiv, b_.sub(b_.add(b_.sub(end, begin), step), one), step);
        E down = b_.binary(Op::FloorDiv, b_.add(b_.add(b_.sub(end, begin), step), one), step);
        E count = step->kind != ExprKind::Const
                      ? b_.select(b_.binary(Op::Gt, step, b_.i64(0)), up, down)
                  : static_cast<std::int64_t>(step->bits) > 0 ? up
                                                              : down;
        return b_.binary(Op::Max, count, b_.i64(0));
    }

    S chunked(S s) {
        std::vector<S> out;
        E begin = value("begin", s->args[0], out);
        E step = value("step", s->args[2], out);
        E count = value("count", trip_count(begin, s->args[1], step), out);
        E limit = b_.i64(max_reduction_chunks);
        E size =
            value("chunk_size",
                  b_.binary(Op::FloorDiv, b_.add(count, b_.sub(limit, b_.i64(1))), limit), out);
        E chunks = value("chunks", chunk_count(count, size), out);

        std::vector<std::int32_t> partials;
        for (const Reduction& r : s->reductions) {
            const Var var = function().vars[static_cast<std::size_t>(r.var)];
            partials.push_back(b_.local_array(var.name + ".partials", var.dtype, 1, Space::Global));
            E extent[] = {limit};
            out.push_back(b_.allocate(partials.back(), extent));
        }
        out.push_back(chunk_loop(s, {begin, step, count, size, chunks}, partials));
        out.push_back(combine_loop(s, chunks, partials));
        return b_.block(std::span<const S>(out));
    }

    /// ceil(count / size), at most max_reduction_chunks; both are 0 of an empty loop. Unsigned:
    /// what signed floor division asks for costs more to compile than a small loop.
    E chunk_count(E count, E size) {
        auto natural = [&](E e) { return b_.cast(e, DType::UInt64); };
        E rounded = natural(b_.sub(b_.add(count, size), b_.i64(1)));
        return b_.cast(b_.binary(Op::FloorDiv, rounded, natural(size)), DType::Int64);
    }

    struct Bounds {
        E begin, step, count, size, chunks;
    };

    S chunk_loop(S s, Bounds at, const std::vector<std::int32_t>& partials) {
        std::int32_t chunk = b_.var("chunk", DType::Int64);
        std::vector<S> body;
        std::vector<std::int32_t> names;
        for (std::size_t v = 0; v < function().vars.size(); ++v)
            names.push_back(static_cast<std::int32_t>(v));
        for (const Reduction& r : s->reductions) {
            const Var var = function().vars[static_cast<std::size_t>(r.var)];
            std::int32_t own = b_.var(var.name + ".chunk", var.dtype);
            names[static_cast<std::size_t>(r.var)] = own;
            body.push_back(b_.declare(own, exact_identity(b_, r.op, var.dtype)));
        }
        E first = b_.mul(b_.read(chunk), at.size);
        E last = b_.binary(Op::Min, b_.add(first, at.size), at.count);
        Rename rename(function(), names);
        std::vector<S> iteration;
        for (S b : s->body) iteration.push_back(rename.stmt(b));
        Stmt chunk_iterations =
            *b_.loop(LoopKind::Serial, s->id, b_.add(at.begin, b_.mul(first, at.step)),
                     b_.add(at.begin, b_.mul(last, at.step)), at.step, as_one(b_, iteration));
        // Of a loop from 0 by 1 the variable is the iteration's number; others report their
        // chunk's.
        auto is = [](E e, std::uint64_t value) {
            return e->kind == ExprKind::Const && e->bits == value;
        };
        chunk_iterations.numbers = is(at.begin, 0) && is(at.step, 1);
        body.push_back(b_.own(chunk_iterations));
        for (std::size_t k = 0; k < partials.size(); ++k) {
            E index[] = {b_.read(chunk)};
            std::int32_t own = names[static_cast<std::size_t>(s->reductions[k].var)];
            body.push_back(b_.store(partials[k], index, b_.read(own)));
        }
        return b_.loop(LoopKind::Parallel, chunk, b_.i64(0), at.chunks, b_.i64(1),
                       b_.block(std::span<const S>(body)));
    }

    S combine_loop(S s, E chunks, const std::vector<std::int32_t>& partials) {
        std::int32_t chunk = b_.var("chunk", DType::Int64);
        std::vector<S> body;
        for (std::size_t k = 0; k < partials.size(); ++k) {
            const Reduction& r = s->reductions[k];
            body.push_back(b_.assign(
                r.var, b_.binary(r.op, b_.read(r.var), b_.load(partials[k], {b_.read(chunk)}))));
        }
        E end = b_.binary(Op::Min, chunks, b_.i64(max_reduction_chunks));  // says that it is short
        return b_.loop(LoopKind::Serial, chunk, b_.i64(0), end, b_.i64(1),
                       b_.block(std::span<const S>(body)));
    }
};

}  // namespace

void reductions(Module& module) {
    for (Function& f : module.functions) Reductions(f).run();
}

}  // namespace unisono::passes
