// Collects tests in front of each statement while its expressions are rewritten.
#include "passes/lowering/lower_access.h"

#include <map>

#include "ir/atomics.h"
#include "ir/rewrite.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

class LowerAccess final : public Rewriter {
  public:
    LowerAccess(Function& f, bool keep_axes)
        : Rewriter(f), keep_axes_(keep_axes), extents_(f.arrays.size()) {}

    E expr(E e) override {
        E changed = children(e);
        if (changed->kind != ExprKind::Load || changed->access == Access::Linear) return changed;
        place(e->line);
        Expr load = *changed;
        std::vector<E> at = element(load.id, changed->args, load.access);
        load.access = lowered_access(load.id);
        load.args = b_.list(std::span<const E>(at));
        load.id = memory_of(load.id);
        return b_.own(load);
    }

    S stmt(S s) override {
        if (s->kind == StmtKind::Block) return with_body(s, each(s->body), {});
        std::vector<S> outer;
        std::vector<Test> outer_tests;
        outer.swap(before_);
        outer_tests.swap(tests_);
        statement_line_ = s->line;
        S changed = statement(s);
        std::vector<S> all;
        all.swap(before_);
        before_.swap(outer);
        tests_.swap(outer_tests);
        if (all.empty()) return changed;
        all.push_back(changed);
        return b_.block(std::span<const S>(all));
    }

  private:
    /// An index that was tested for this statement, and the variable that holds it.
    struct Test {
        std::int32_t array;
        std::size_t axis;
        Access access;
        E index;
        E tested;
    };

    /// The statement, with what must come before it in before_.
    S statement(S s) {
        switch (s->kind) {
            case StmtKind::Store:
            case StmtKind::Atomic: return store(s);
            case StmtKind::Allocate: return allocate(s);
            case StmtKind::While: return loop_while(s);
            default: break;
        }
        std::vector<E> args(s->args.begin(), s->args.end());
        for (E& a : args) a = expr(a);
        s = with_args(s, args);
        if (s->body.empty() && s->orelse.empty()) return s;
        std::vector<S> tests;
        tests.swap(before_);  // those of the operands come first, whatever the bodies add
        s = with_body(s, each(s->body), each(s->orelse));
        before_.swap(tests);
        return s;
    }

    S store(S s) {
        const std::size_t count = index_count(*s);
        std::vector<E> values(s->args.begin() + static_cast<std::ptrdiff_t>(count), s->args.end());
        for (E& v : values) v = expr(v);
        std::vector<E> indices(s->args.begin(),
                               s->args.begin() + static_cast<std::ptrdiff_t>(count));
        for (E& i : indices) i = expr(i);
        if (s->access == Access::Linear) {
            indices.insert(indices.end(), values.begin(), values.end());
            return with_args(s, indices);
        }
        place(s->line);
        indices = element(s->id, indices, s->access);
        indices.insert(indices.end(), values.begin(), values.end());
        Stmt changed = *s;
        changed.access = lowered_access(s->id);
        changed.id = memory_of(s->id);
        changed.args = b_.list(std::span<const E>(indices));
        return b_.own(changed);
    }

    /// Extents that are no constants are kept in variables: linear indices need them again.
    S allocate(S s) {
        place(s->line);
        std::vector<E> extents(s->args.begin(), s->args.end());
        for (E& e : extents) {
            e = expr(e);
            if (e->kind == ExprKind::Const || e->kind == ExprKind::Param) continue;
            std::int32_t v = b_.var("extent", DType::Int64);
            before_.push_back(b_.declare(v, e));
            e = b_.read(v);
        }
        extents_[static_cast<std::size_t>(s->id)] = extents;
        return with_args(s, extents);
    }

    S loop_while(S s) {
        E condition = expr(s->args[0]);
        std::vector<S> tests;
        tests.swap(before_);
        std::vector<S> body = each(s->body);
        if (tests.empty()) {
            E args[] = {condition};
            return with_body(with_args(s, args), body, {});
        }
        place(s->line);
        tests.push_back(b_.branch(b_.unary(Op::Not, condition), b_.leave()));
        tests.insert(tests.end(), body.begin(), body.end());
        return b_.loop_while(b_.boolean(true), b_.block(std::span<const S>(tests)));
    }

    /// New nodes and sites carry the access's line, else the statement's.
    void place(Line line) { b_.line = line.line > 0 ? line : statement_line_; }

    E extent(std::int32_t array, std::size_t axis) {
        const Array& a = function().arrays[static_cast<std::size_t>(array)];
        if (a.param >= 0 || a.is_view()) {
            return b_.extent(array, static_cast<int>(axis));
        }
        return extents_[static_cast<std::size_t>(array)].at(axis);
    }

    bool is_view(std::int32_t array) {
        return function().arrays[static_cast<std::size_t>(array)].is_view();
    }
    /// Accesses of views become accesses of what they see.
    std::int32_t memory_of(std::int32_t array) {
        return is_view(array) ? function().arrays[static_cast<std::size_t>(array)].base : array;
    }
    Access lowered_access(std::int32_t array) {
        return keep_axes_ && !is_view(array) ? Access::Inside : Access::Linear;
    }

    /// Indices of the lowered access, tests emitted.
    std::vector<E> element(std::int32_t array, std::span<const E> indices, Access access) {
        std::vector<E> at(indices.begin(), indices.end());
        if (access == Access::Checked || access == Access::Wrapped) {
            for (std::size_t k = 0; k < at.size(); ++k) at[k] = tested(array, k, at[k], access);
        }
        if (!keep_axes_ || is_view(array)) at = {linear_index(array, at)};
        return at;
    }

    E linear_index(std::int32_t array, std::span<const E> at) {
        const Array& a = function().arrays[static_cast<std::size_t>(array)];
        bool is_param = a.param >= 0 || a.is_view();
        E sum = a.is_view() && !(a.offset->kind == ExprKind::Const && a.offset->bits == 0)
                    ? a.offset
                    : nullptr;
        for (std::size_t k = 0; k < at.size(); ++k) {
            if (is_param) {
                E term = simplified(b_, b_.mul(at[k], b_.stride(array, static_cast<int>(k))));
                sum = sum ? simplified(b_, b_.add(sum, term)) : term;
            } else {
                sum = sum ? simplified(b_,
                                       b_.add(simplified(b_, b_.mul(sum, extent(array, k))), at[k]))
                          : at[k];
            }
        }
        return sum ? sum : b_.i64(0);
    }

    /// Emits the test of one index and returns the index in [0, extent).
    E tested(std::int32_t array, std::size_t axis, E index, Access access) {
        for (const Test& t : tests_) {
            if (t.array == array && t.axis == axis && t.access == access && same(t.index, index))
                return t.tested;
        }
        E size = extent(array, axis);
        const E given = index;
        std::int64_t constant = 0;
        bool is_const = is_constant(index, constant);
        if (!is_const) index = named(index);
        E at = index;
        if (access == Access::Wrapped && is_const && constant < 0) {
            at = named(simplified(b_, b_.add(size, index)));
        } else if (access == Access::Wrapped && !is_const) {
            at = named(b_.select(b_.binary(Op::Lt, index, b_.i64(0)), b_.add(index, size), index));
        }
        E below = b_.binary(Op::Lt, at, b_.i64(0));
        E above = b_.binary(Op::Ge, at, size);
        E values[] = {index, size};
        before_.push_back(b_.branch(
            simplified(b_, b_.binary(Op::Or, simplified(b_, below), simplified(b_, above))),
            b_.raise(site(axis), values)));
        tests_.push_back({array, axis, access, given, at});
        return at;
    }

    /// A variable that holds the value; nothing to do where it is one already.
    E named(E e) {
        if (e->kind == ExprKind::Const || e->kind == ExprKind::Var || e->kind == ExprKind::Param)
            return e;
        std::int32_t v = b_.var("index", DType::Int64);
        before_.push_back(b_.declare(v, e));
        return b_.read(v);
    }

    /// One site per line and axis.
    std::int32_t site(std::size_t axis) {
        auto key = std::tuple(b_.line.file, b_.line.line, axis);
        auto found = sites_.find(key);
        if (found != sites_.end()) return found->second;
        return sites_[key] = b_.site(ErrorKind::Index, "index {0} is out of bounds for axis " +
                                                           std::to_string(axis) + " with size {1}");
    }

    bool keep_axes_;
    std::vector<std::vector<E>> extents_;  // of allocated arrays
    std::vector<S> before_;
    std::vector<Test> tests_;
    std::map<std::tuple<std::uint16_t, std::int32_t, std::size_t>, std::int32_t> sites_;
    Line statement_line_;
};

}  // namespace

void lower_access(Module& module, bool keep_axes) {
    for (Function& f : module.functions) LowerAccess(f, keep_axes).run();
}

}  // namespace unisono::passes
