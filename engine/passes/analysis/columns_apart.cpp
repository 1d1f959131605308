// Finds out from the shape of linear indices: `column + (anything) * stride` each, with one stride.
#include "passes/analysis/columns_apart.h"

#include <algorithm>
#include <unordered_map>

#include "passes/analysis/linear_forms.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

class Columns {
  public:
    Columns(Builder& b, const ColumnSum& sum, S rows)
        : b_(b), sum_(sum), written_(b.function().vars.size()) {
        mark_written(rows, written_);
    }

    E test(S rows) {
        if (!is_plain_loop(rows) || !sum_.outside.empty() || !sum_.chosen.empty()) return nullptr;
        E begin = sum_.outer->args[0];
        E end = sum_.outer->args[1];
        if (!is_fixed(begin) || !is_fixed(end) || !collect()) return nullptr;
        E count = b_.sub(end, begin);
        E all = nullptr;
        for (const Access& store : accesses_) {
            if (!store.is_store) continue;
            E stride = nullptr;
            for (const Access& other : accesses_) {
                if (other.array != store.array) {
                    if (!is_alone(other.array) || !is_alone(store.array)) return nullptr;
                    continue;
                }
                int columns = 0;
                if (!is_in_column(other.index, stride, columns) || columns != 1 || !stride)
                    return nullptr;
            }
            E fits = b_.binary(Op::Le, count, stride);
            all = all ? b_.binary(Op::And, all, fits) : fits;
        }
        return all ? simplified(b_, all) : nullptr;
    }

  private:
    struct Access {
        std::int32_t array;
        bool is_store;
        E index;
    };

    bool is_alone(std::int32_t array) const {
        return b_.function().arrays[static_cast<std::size_t>(array)].noalias;
    }

    /// Whether nothing in the loop over rows changes the value.
    bool is_fixed(E e) const {
        if (e->kind == ExprKind::Load) return false;
        if (e->kind == ExprKind::Var && written_[static_cast<std::size_t>(e->id)]) return false;
        return std::all_of(e->args.begin(), e->args.end(), [&](E a) { return is_fixed(a); });
    }

    bool collect() {
        for (const ColumnStep& step : sum_.steps) {
            if (step.is_loop() ? !step.term : !statement(step.statement, step.sum)) return false;
            if (step.term && !loads(step.term)) return false;
            for (S s : step.body) {
                if (!statement(s, -1)) return false;
            }
        }
        return true;
    }
    bool statement(S s, std::int32_t sum) {
        if (s->kind == StmtKind::Declare) {
            if (sum < 0) defined_[s->id] = s->args[0];
        } else if (s->kind == StmtKind::Store && s->access == ir::Access::Linear) {
            accesses_.push_back({s->id, true, s->args[0]});
        } else {
            return false;
        }
        return std::all_of(s->args.begin(), s->args.end(), [&](E a) { return loads(a); });
    }
    bool loads(E e) {
        if (e->kind == ExprKind::Load) {
            if (e->access != ir::Access::Linear) return false;
            accesses_.push_back({e->id, false, e->args[0]});
        }
        return std::all_of(e->args.begin(), e->args.end(), [&](E a) { return loads(a); });
    }

    bool reads_column(E e) const {
        if (e->kind == ExprKind::Load) return true;  // it may be anything
        if (e->kind == ExprKind::Var) {
            if (e->id == sum_.outer->id) return true;
            auto d = defined_.find(e->id);
            return d != defined_.end() && reads_column(d->second);
        }
        return std::any_of(e->args.begin(), e->args.end(), [&](E a) { return reads_column(a); });
    }

    /// Counts columns in a sum whose other terms are multiples of the stride.
    bool is_in_column(E e, E& stride, int& columns) const {
        if (e->kind == ExprKind::Var) {
            if (e->id == sum_.outer->id) return ++columns == 1;
            auto d = defined_.find(e->id);
            return d != defined_.end() && is_in_column(d->second, stride, columns);
        }
        if (e->kind == ExprKind::Const) return e->bits == 0;
        if (e->kind != ExprKind::Binary) return false;
        if (e->op == Op::Add)
            return is_in_column(e->args[0], stride, columns) &&
                   is_in_column(e->args[1], stride, columns);
        if (e->op != Op::Mul) return false;
        for (std::size_t k : {std::size_t{0}, std::size_t{1}}) {
            E factor = e->args[k];
            if (factor->kind != ExprKind::Param || reads_column(e->args[1 - k])) continue;
            if (!stride) stride = factor;
            if (same(factor, stride)) return true;
        }
        return false;
    }

    Builder& b_;
    const ColumnSum& sum_;
    std::vector<bool> written_;
    std::vector<Access> accesses_;
    std::unordered_map<std::int32_t, E> defined_;
};

}  // namespace

bool meets_neighbours(std::span<const NestAccess> all) {
    auto meet = [](const NestAccess& a, const NestAccess& b) {
        std::int64_t columns = 0;
        return a.is_store && a.array == b.array && a.form && b.form && is_one(a.form->outer) &&
               is_one(b.form->outer) &&
               LinearForm{nullptr, nullptr, a.form->inner} ==
                   LinearForm{nullptr, nullptr, b.form->inner} &&
               constant_difference(a.form->rest, b.form->rest, columns) && columns != 0;
    };
    return std::any_of(all.begin(), all.end(), [&](const NestAccess& a) {
        return std::any_of(all.begin(), all.end(), [&](const NestAccess& b) { return meet(a, b); });
    });
}

E columns_apart(Builder& b, const ColumnSum& sum, S rows) {
    return Columns(b, sum, rows).test(rows);
}

}  // namespace unisono::passes
