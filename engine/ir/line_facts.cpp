// One walk over the IR, with the loops around it on a stack.
#include "ir/line_facts.h"

#include <algorithm>
#include <map>

#include "ir/atomics.h"
#include "ir/rewrite.h"

namespace unisono::ir {

namespace {

using Facts = std::map<std::pair<std::uint16_t, std::int32_t>, LineFacts>;

class Walk final : public Visitor {
  public:
    Walk(const Function& f, Facts& facts) : f_(f), facts_(facts) {}

    void stmt(S s) override {
        if (s->line.line > 0) line_ = s->line;
        Line here = line_;
        bool is_loop = s->kind == StmtKind::For || s->kind == StmtKind::While;
        if (is_loop) {
            loops_.push_back(s);
            written_.emplace_back(f_.vars.size(), false);
            for (S b : s->body) mark_written(b, written_.back());
        }
        LineFacts& l = at(here);
        switch (s->kind) {
            case StmtKind::For: add_loop(l, loop_word(s->loop)); break;
            case StmtKind::While: add_loop(l, "while"); break;
            case StmtKind::Store:
            case StmtKind::Atomic:
                access(s->access, s->args.first(index_count(*s)));
                if (!loops_.empty()) l.computed += operations(s->args.back());
                break;
            case StmtKind::Make: ++l.arrays; break;
            case StmtKind::Call: ++l.calls; break;
            case StmtKind::Native:
                if (f_.natives[static_cast<std::size_t>(s->id)] == "python_block")
                    ++l.interpreted;
                else
                    ++l.natives;
                break;
            case StmtKind::Return:
                if (s->fault < 0 || site(s->fault).kind != ErrorKind::Index) break;
                ++l.tests;
                l.test_depth = std::max(l.test_depth, static_cast<int>(loops_.size()));
                break;
            default: break;
        }
        for (E a : s->args) expr(a);
        for (S b : s->body) stmt(b);
        for (S b : s->orelse) stmt(b);
        if (is_loop) {
            loops_.pop_back();
            written_.pop_back();
        }
        line_ = here;
    }

    void expr(E e) override {
        LineFacts& l = at(e->line.line > 0 ? e->line : line_);
        switch (e->kind) {
            case ExprKind::Load: access(e->access, e->args); break;
            case ExprKind::Fma: ++l.arithmetic; break;
            case ExprKind::Unary:
            case ExprKind::Binary: ++(is_costly(e->op) ? l.costly : l.arithmetic); break;
            default: break;
        }
        children(e);
    }

  private:
    /// Number of operations of a value, without those of its indices.
    static int operations(E e) {
        if (e->kind == ExprKind::Load) return 0;
        int sum = e->kind == ExprKind::Unary || e->kind == ExprKind::Binary ||
                          e->kind == ExprKind::Fma || e->kind == ExprKind::Select
                      ? 1
                      : 0;
        for (E a : e->args) sum += operations(a);
        return sum;
    }

    static const char* loop_word(LoopKind kind) {
        switch (kind) {
            case LoopKind::Serial: return "serial";
            case LoopKind::Parallel: return "parallel";
            case LoopKind::Vector: return "vector";
            case LoopKind::Unroll: return "unroll";
            case LoopKind::Group: return "groups";
            case LoopKind::Item: return "items";
        }
        return "";
    }

    static void add_loop(LineFacts& l, const std::string& kind) {
        if (l.loops.find(kind) != std::string::npos) return;
        l.loops += (l.loops.empty() ? "" : " ") + kind;
    }

    LineFacts& at(Line line) {
        LineFacts& l = facts_[{line.file, line.line}];
        l.file = line.file;
        l.line = line.line;
        l.depth = std::max(l.depth, static_cast<int>(loops_.size()));
        return l;
    }

    const FaultSite& site(std::int32_t k) const { return f_.sites[static_cast<std::size_t>(k)]; }

    void access(Access kind, std::span<const E> indices) {
        LineFacts& l = at(line_);
        ++l.accesses;
        if (kind != Access::Checked && kind != Access::Wrapped) return;
        ++l.tested;
        for (E i : indices) {
            std::string why = reason(i);
            if (l.why.empty()) l.why = why;
        }
    }

    /// Why the range of an index cannot be told in front of the loops around; empty where it can.
    std::string reason(E e) const {
        switch (e->kind) {
            case ExprKind::Const:
            case ExprKind::Param: return "";
            case ExprKind::Load: return "an index is read from an array";
            case ExprKind::Var: return reason_of_variable(e->id);
            case ExprKind::Cast:
                return is_float(e->args[0]->dtype) ? "an index is computed from a float"
                                                   : reason(e->args[0]);
            case ExprKind::Binary: {
                bool linear = e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul;
                if (!linear && !loops_.empty())
                    return "an index is not linear in the loops' variables";
                break;
            }
            default: break;
        }
        for (E a : e->args) {
            std::string why = reason(a);
            if (!why.empty()) return why;
        }
        return "";
    }

    std::string reason_of_variable(std::int32_t id) const {
        for (S loop : loops_) {
            if (loop->kind == StmtKind::For && loop->id == id) return "";
        }
        for (const auto& written : written_) {
            if (written[static_cast<std::size_t>(id)])
                return "the loop changes '" + f_.vars[static_cast<std::size_t>(id)].name +
                       "', which an index is made of";
        }
        return "";
    }

    const Function& f_;
    Facts& facts_;
    Line line_;
    std::vector<S> loops_;
    std::vector<std::vector<bool>> written_;
};

}  // namespace

std::vector<LineFacts> line_facts(const Module& module) {
    Facts facts;
    for (const Function& f : module.functions) {
        if (f.body && !f.is_deferred) Walk(f, facts).stmt(f.body);
    }
    std::vector<LineFacts> list;
    for (auto& [place, l] : facts) {
        if (l.line > 0) list.push_back(std::move(l));
    }
    return list;
}

}  // namespace unisono::ir
