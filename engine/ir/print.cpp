// The printed form of IR: one statement a line, indented as Python is; golden tests and dumps
// compare it.
//
// Names are those of the tables; where a name is taken already, later holders get a suffix: x, x.2,
// x.3. Literals carry their dtype unless it is int64, float64 or bool: 3, 3i32, 3u8, 0.5, 0.5f,
// true.
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "ir/atomics.h"
#include "ir/build.h"
#include "ir/fence.h"
#include "ir/shuffle.h"

namespace unisono::ir {
namespace {

std::string_view access_name(Access a) {
    switch (a) {
        case Access::Inside: return "";
        case Access::Checked: return ".checked";
        case Access::Wrapped: return ".wrapped";
        case Access::Linear: return ".linear";
    }
    return "";
}

std::string_view loop_name(LoopKind k) {
    switch (k) {
        case LoopKind::Serial: return "for";
        case LoopKind::Parallel: return "parallel";
        case LoopKind::Vector: return "vector";
        case LoopKind::Unroll: return "unroll";
        case LoopKind::Group: return "group";
        case LoopKind::Item: return "item";
    }
    return "";
}

std::string_view query_name(WorkItemQuery q) {
    switch (q) {
        case WorkItemQuery::GlobalId: return "global_id";
        case WorkItemQuery::LocalId: return "local_id";
        case WorkItemQuery::GroupId: return "group_id";
        case WorkItemQuery::GlobalSize: return "global_size";
        case WorkItemQuery::LocalSize: return "local_size";
        case WorkItemQuery::GroupCount: return "group_count";
        case WorkItemQuery::GlobalOffset: return "global_offset";
    }
    return "";
}

std::string_view space_name(Space s) {
    return s == Space::Global ? "global" : s == Space::Local ? "local" : "private";
}

std::string_view error_name(ErrorKind k) {
    switch (k) {
        case ErrorKind::Value: return "ValueError";
        case ErrorKind::Type: return "TypeError";
        case ErrorKind::Index: return "IndexError";
        case ErrorKind::ZeroDivision: return "ZeroDivisionError";
        case ErrorKind::Overflow: return "OverflowError";
        case ErrorKind::Memory: return "MemoryError";
        case ErrorKind::Runtime: return "RuntimeError";
        case ErrorKind::Assertion: return "AssertionError";
        default: return "InternalError";
    }
}

/// Infix spelling, or empty: printed as a call.
std::string_view infix(Op op) {
    switch (op) {
        case Op::Add: return "+";
        case Op::Sub: return "-";
        case Op::Mul: return "*";
        case Op::Div: return "/";
        case Op::FloorDiv: return "//";
        case Op::Mod: return "%";
        case Op::And: return "&";
        case Op::Or: return "|";
        case Op::Xor: return "^";
        case Op::Shl: return "<<";
        case Op::Shr: return ">>";
        case Op::Lt: return "<";
        case Op::Le: return "<=";
        case Op::Gt: return ">";
        case Op::Ge: return ">=";
        case Op::Eq: return "==";
        case Op::Ne: return "!=";
        default: return "";
    }
}

template <class T>
std::string shortest(T value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    char text[40];
    auto end = std::to_chars(text, text + sizeof text, value).ptr;
    std::string s(text, end);
    return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

std::string literal(Scalar s) {
    switch (s.dtype) {
        case DType::Bool: return s.get<bool>() ? "true" : "false";
        case DType::Int64: return std::to_string(s.get<std::int64_t>());
        case DType::Float16: return shortest(s.as<float>()) + "f16";
        case DType::Float32: return shortest(s.get<float>()) + "f";
        case DType::Float64: return shortest(s.get<double>());
        default: break;
    }
    std::string digits = is_signed(s.dtype) ? std::to_string(s.as<std::int64_t>())
                                            : std::to_string(s.as<std::uint64_t>());
    return digits + info(s.dtype).kind + std::to_string(8 * size_of(s.dtype));
}

class Printer {
  public:
    Printer(const Function& f, const Module* module) : f_(f), module_(module) {
        for (const Param& p : f.params) params_.push_back(unique(p.name));
        for (const Array& a : f.arrays) {
            arrays_.push_back(a.param >= 0 ? params_.at(static_cast<std::size_t>(a.param))
                                           : unique(a.name));
        }
        for (const Var& v : f.vars) vars_.push_back(unique(v.name));
    }

    std::string function() {
        std::string head = f_.is_kernel     ? "kernel "
                           : f_.is_deferred ? "deferred function "
                                            : "function ";
        head += f_.name + "(" + parameters() + ")";
        if (f_.is_kernel) head += " over " + std::to_string(f_.dimensions);
        for (std::size_t i = 0; i < f_.results.size(); ++i) {
            head += (i == 0 ? " -> " : ", ") + std::string(name(f_.results[i]));
        }
        if (f_.native) head += " native " + f_.native->key + " " + f_.symbol;
        out_ = head + "\n";
        for (std::size_t i = 0; i < f_.grid.size(); ++i) {
            out_ += "  grid " + std::to_string(i) + ": " + expr(f_.grid[i]) + "\n";
        }
        for (std::size_t i = 0; i < f_.sites.size(); ++i) {
            const FaultSite& s = f_.sites[i];
            out_ += "  fault " + std::to_string(i) + ": " + std::string(error_name(s.kind)) +
                    " \"" + s.message + "\"" +
                    (s.exception ? " exception " + std::to_string(s.exception) : "") +
                    place(s.line) + "\n";
        }
        if (f_.body) stmt(f_.body, 1);
        return out_;
    }

    /// An operand: infix forms stand in parentheses.
    std::string operand(E e) {
        std::string s = expr(e);
        bool bare = !(e->kind == ExprKind::Binary && !infix(e->op).empty());
        return bare ? s : "(" + s + ")";
    }

    std::string expr(E e) {
        switch (e->kind) {
            case ExprKind::Const: return literal({e->bits, e->dtype});
            case ExprKind::Var: return name_of(vars_, e->id);
            case ExprKind::Param:
                if (e->field == Field::Value) return name_of(params_, e->id);
                return name_of(params_, e->id) +
                       (e->field == Field::Extent ? ".shape[" : ".stride[") +
                       std::to_string(e->axis) + "]";
            case ExprKind::Load:
                return name_of(arrays_, e->id) + std::string(access_name(e->access)) + "[" +
                       list(e->args) + "]" + part_of(e->id, e->dtype, e->axis);
            case ExprKind::Unary:
                if (e->op == Op::Neg) return "-" + operand(e->args[0]);
                return std::string(name(e->op)) + "(" + list(e->args) + ")";
            case ExprKind::Binary:
                if (infix(e->op).empty())
                    return std::string(name(e->op)) + "(" + list(e->args) + ")";
                return operand(e->args[0]) + " " + std::string(infix(e->op)) + " " +
                       operand(e->args[1]);
            case ExprKind::Select: return "select(" + list(e->args) + ")";
            case ExprKind::Cast: return std::string(name(e->dtype)) + "(" + list(e->args) + ")";
            case ExprKind::Bitcast:
                return "bits_as_" + std::string(name(e->dtype)) + "(" + list(e->args) + ")";
            case ExprKind::Fma: return "fma(" + list(e->args) + ")";
            case ExprKind::Part:
                return std::string(e->axis == 0 ? "real(" : "imag(") + list(e->args) + ")";
            case ExprKind::Pair: return "complex(" + list(e->args) + ")";
            case ExprKind::Memory:
                return (e->axis == 0 ? "address(" : "block(") + name_of(arrays_, e->id) + ")";
            case ExprKind::WorkItem:
                return std::string(query_name(e->query)) + "(" + std::to_string(e->axis) + ")";
        }
        return "?";
    }

  private:
    std::string unique(const std::string& wanted) {
        std::string base = wanted.empty() ? "_" : wanted;
        int& count = uses_[base];
        std::string chosen = ++count == 1 ? base : base + "." + std::to_string(count);
        while (!taken_.insert(chosen).second) chosen = base + "." + std::to_string(++count);
        return chosen;
    }

    /// Tolerates ids out of range: dumps must show broken trees too.
    static std::string name_of(const std::vector<std::string>& names, std::int32_t id) {
        if (id < 0 || static_cast<std::size_t>(id) >= names.size())
            return "<bad id " + std::to_string(id) + ">";
        return names[static_cast<std::size_t>(id)];
    }

    std::string place(Line l) const {
        if (l.line == 0) return "";
        std::string file = l.file == 0 ? "" : " of file " + std::to_string(l.file);
        return "  # line " + std::to_string(l.line) + file;
    }

    std::string parameters() {
        std::string s;
        for (std::size_t i = 0; i < f_.params.size(); ++i) {
            const Param& p = f_.params[i];
            s += (i == 0 ? "" : ", ") + params_[i] + ": " + std::string(name(p.dtype));
            if (p.is_array()) s += array_type(f_.arrays.at(static_cast<std::size_t>(p.array)));
        }
        return s;
    }

    /// "[s, 1]": the stride per axis, s where it is not known; then what is promised.
    static std::string array_type(const Array& a) {
        std::string s = "[";
        for (std::size_t i = 0; i < a.strides.size(); ++i) {
            s += i == 0 ? "" : ", ";
            switch (a.strides[i]) {
                case StrideClass::Zero: s += "0"; break;
                case StrideClass::One: s += "1"; break;
                case StrideClass::MinusOne: s += "-1"; break;
                case StrideClass::Other: s += "s"; break;
            }
        }
        return s + "]" + (a.writable ? "" : " readonly") + (a.noalias ? " noalias" : "");
    }

    std::string list(std::span<const E> items) {
        std::string s;
        for (E e : items) s += (s.empty() ? "" : ", ") + expr(e);
        return s;
    }

    std::string atomic(S s) {
        static constexpr std::string_view words[] = {"", "exchange", "compare", "count up",
                                                     "count down"};
        const bool combines = atomic_form(*s) == AtomicForm::Combine;
        std::string text = s->outs.empty() ? "" : name_of(vars_, s->outs[0]) + " = ";
        text += "atomic " + std::string(combines ? name(s->op) : words[s->axis]) + " ";
        text += name_of(arrays_, s->id) + std::string(access_name(s->access)) + "[" +
                list(s->args.first(index_count(*s))) + "]";
        return text + ", " + list(s->args.subspan(index_count(*s)));
    }

    std::string target(S s) {
        return name_of(arrays_, s->id) + std::string(access_name(s->access)) + "[" +
               list(s->args.first(index_count(*s))) + "]" +
               part_of(s->id, s->args.back()->dtype, s->axis);
    }

    /// ".real" behind an access of a part of complex elements.
    std::string part_of(std::int32_t array, DType accessed, std::int32_t part) const {
        bool known = array >= 0 && static_cast<std::size_t>(array) < f_.arrays.size();
        if (!known || !is_complex(f_.arrays[static_cast<std::size_t>(array)].dtype)) return "";
        return is_complex(accessed) ? "" : part == 0 ? ".real" : ".imag";
    }

    void line(int depth, const std::string& text, Line l) {
        out_ += std::string(static_cast<std::size_t>(depth) * 2, ' ') + text + place(l) + "\n";
    }

    void nested(std::span<const S> body, int depth) {
        std::size_t before = out_.size();
        for (S b : body) stmt(b, depth);
        if (out_.size() == before) line(depth, "pass", {});
    }

    std::string loop_head(S s) {
        std::string head = std::string(loop_name(s->loop)) + " " + name_of(vars_, s->id) + " in " +
                           expr(s->args[0]) + " to " + expr(s->args[1]);
        E step = s->args[2];
        if (step->kind != ExprKind::Const || step->bits != 1) head += " step " + expr(step);
        if (s->loop == LoopKind::Group || s->loop == LoopKind::Item)
            head += " axis " + std::to_string(s->axis);
        for (const Reduction& r : s->reductions) {
            head += " reduce " + std::string(name(r.op)) + " " + name_of(vars_, r.var);
        }
        if (s->any_order) head += " any order";
        return head + ":";
    }

    std::string call(S s) {
        std::string text;
        for (std::int32_t v : s->outs) text += (text.empty() ? "" : ", ") + name_of(vars_, v);
        if (!text.empty()) text += " = ";
        bool known =
            module_ && s->id >= 0 && static_cast<std::size_t>(s->id) < module_->functions.size();
        text += "call " + (known ? module_->functions[static_cast<std::size_t>(s->id)].name
                                 : "function " + std::to_string(s->id));
        std::string args;
        for (std::int32_t a : s->arrays) args += (args.empty() ? "" : ", ") + name_of(arrays_, a);
        if (!args.empty() && !s->args.empty()) args += "; ";
        return text + "(" + args + list(s->args) + ")";
    }

    std::string allocation(S s) {
        std::string text = "allocate " + name_of(arrays_, s->id) + ": ";
        if (s->id < 0 || static_cast<std::size_t>(s->id) >= f_.arrays.size()) return text + "?";
        const Array& a = f_.arrays[static_cast<std::size_t>(s->id)];
        return text + std::string(name(a.dtype)) + "[" + list(s->args) + "] " +
               std::string(space_name(a.space));
    }

    void branch(S s, int depth) {
        line(depth, "if " + expr(s->args[0]) + ":", s->line);
        nested(s->body, depth + 1);
        if (s->orelse.empty()) return;
        line(depth, s->rare ? "else rarely:" : "else:", {});
        nested(s->orelse, depth + 1);
    }

    void stmt(S s, int depth) {
        switch (s->kind) {
            case StmtKind::Block:
                for (S b : s->body) stmt(b, depth);
                break;
            case StmtKind::Declare: {
                bool known = s->id >= 0 && static_cast<std::size_t>(s->id) < f_.vars.size();
                std::string text = "var " + name_of(vars_, s->id);
                if (known)
                    text +=
                        ": " + std::string(name(f_.vars[static_cast<std::size_t>(s->id)].dtype));
                if (!s->args.empty()) text += " = " + expr(s->args[0]);
                line(depth, text, s->line);
                break;
            }
            case StmtKind::Assign:
                line(depth, name_of(vars_, s->id) + " = " + expr(s->args[0]), s->line);
                break;
            case StmtKind::Store:
                line(depth,
                     target(s) + (s->streaming ? " = streaming " : " = ") + expr(s->args.back()),
                     s->line);
                break;
            case StmtKind::Atomic: line(depth, atomic(s), s->line); break;
            case StmtKind::Allocate: line(depth, allocation(s), s->line); break;
            case StmtKind::Make:
                line(depth, "make " + name_of(arrays_, s->id) + "[" + list(s->args) + "]", s->line);
                break;
            case StmtKind::Point:
                line(depth,
                     "point " + name_of(arrays_, s->id) + " to " +
                         (s->arrays.empty() ? list(s->args) : name_of(arrays_, s->arrays[0])),
                     s->line);
                break;
            case StmtKind::Retain: line(depth, "retain " + name_of(arrays_, s->id), s->line); break;
            case StmtKind::For:
                line(depth, loop_head(s), s->line);
                nested(s->body, depth + 1);
                break;
            case StmtKind::While:
                line(depth, "while " + expr(s->args[0]) + ":", s->line);
                nested(s->body, depth + 1);
                break;
            case StmtKind::If: branch(s, depth); break;
            case StmtKind::Break: line(depth, "break", s->line); break;
            case StmtKind::Continue: line(depth, "continue", s->line); break;
            case StmtKind::Return: {
                std::string text = s->fault >= 0              ? "raise " + std::to_string(s->fault)
                                   : s->fault == raised_again ? "raise again"
                                                              : "return";
                if (!s->args.empty()) text += " " + list(s->args);
                line(depth, text, s->line);
                break;
            }
            case StmtKind::Try: {
                std::string outs;
                for (std::int32_t v : s->outs)
                    outs += (outs.empty() ? "" : ", ") + name_of(vars_, v);
                line(depth, outs + " = try:", s->line);
                nested(s->body, depth + 1);
                break;
            }
            case StmtKind::Prefetch: line(depth, "prefetch " + list(s->args), s->line); break;
            case StmtKind::Barrier:
                if (is_shuffle(s))
                    line(depth, name_of(vars_, s->outs[0]) + " = shuffle " + list(s->args),
                         s->line);
                else if (is_counted(s))
                    line(depth,
                         "barrier, raise " + std::to_string(s->fault) +
                             " unless all: " + list(s->args),
                         s->line);
                else if (is_vote(s) && !s->outs.empty())
                    line(depth, name_of(vars_, s->outs[0]) + " = vote " + list(s->args), s->line);
                else
                    line(depth,
                         is_fence(s)          ? "fence"
                         : is_vote(s)         ? "barrier of the warp"
                         : is_grid_barrier(s) ? "barrier of the grid"
                                              : "barrier",
                         s->line);
                break;
            case StmtKind::Call: line(depth, call(s), s->line); break;
            case StmtKind::Native: {
                std::string outs;
                for (std::int32_t v : s->outs)
                    outs += (outs.empty() ? "" : ", ") + name_of(vars_, v);
                line(depth,
                     outs + " = native " + f_.natives.at(static_cast<std::size_t>(s->id)) + "(" +
                         list(s->args) + ")",
                     s->line);
                break;
            }
        }
    }

    const Function& f_;
    const Module* module_;
    std::map<std::string, int> uses_;
    std::set<std::string> taken_;
    std::vector<std::string> params_, arrays_, vars_;
    std::string out_;
};

}  // namespace

std::string print(const Module& module) {
    std::string out;
    for (const Function& f : module.functions) {
        out += (out.empty() ? "" : "\n") + Printer(f, &module).function();
    }
    return out;
}

std::string print(const Function& function) { return Printer(function, nullptr).function(); }
std::string print(const Function& function, E e) { return Printer(function, nullptr).expr(e); }

}  // namespace unisono::ir
