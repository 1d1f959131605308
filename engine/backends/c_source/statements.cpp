// Statements as C text, one a line.
#include <algorithm>

#include "backends/c_source/helpers.h"
#include "backends/c_source/writer.h"
#include "ir/atomics.h"
#include "ir/fence.h"
#include "ir/shuffle.h"
#include "ir/streaming.h"

namespace unisono::c_source {
using namespace ir;

/// "  // 12" where the line differs from the one last named, else nothing.
std::string Writer::line_comment(Line where) {
    if (where.line <= 0 || (where.line == last_line_.line && where.file == last_line_.file))
        return {};
    last_line_ = where;
    bool is_other_file = where.file > 0 && where.file < f().files.size();
    return "  // " + (is_other_file ? f().files[where.file] + ":" : "") +
           std::to_string(where.line);
}

void Writer::line(const std::string& text, Line where) {
    text_ +=
        std::string(static_cast<std::size_t>(4 * indent_), ' ') + text + line_comment(where) + "\n";
}

void Writer::statements(std::span<const S> list) {
    if (guards_barriers_ && !in_run_) {
        statements_between_barriers(list);
    } else {
        for (S s : list) statement(s);
    }
}

/// The statements between braces that the caller opened.
void Writer::braced(std::span<const S> list) {
    ++indent_;
    statements(list);
    --indent_;
}

void Writer::statement(S s) {
    switch (s->kind) {
        case StmtKind::Block:  // no scope
            statements(s->body);
            return;
        case StmtKind::Declare: {
            auto v = static_cast<std::size_t>(s->id);
            const std::string& name = var_names_.at(s->id);
            std::string head = std::string(c_type(f().vars[v].dtype)) + " " + name;
            if (!s->args.empty() && usage().assignments[v] == 1)
                var_magnitudes_[s->id] = magnitude(s->args[0]);
            if (s->args.empty()) {
                line(head + ";", s->line);
            } else {
                line((usage().assignments[v] == 1 ? "const " : "") + head + " = " +
                         value(s->args[0]) + ";",
                     s->line);
            }
            return;
        }
        case StmtKind::Assign:
            line(var_names_.at(s->id) + " = " + value(s->args[0]) + ";", s->line);
            return;
        case StmtKind::Store: {
            auto indices = s->args.first(s->args.size() - 1);
            line(element(s->id, indices, s->access, s->axis) + " = " + value(s->args.back()) + ";",
                 s->line);
            return;
        }
        case StmtKind::Atomic: write_atomic(s); return;
        case StmtKind::Allocate: return;  // declared at the top of the function
        case StmtKind::Make:
        case StmtKind::Point:
        case StmtKind::Retain:
            unsupported(s->line,
                        "in a parallel loop on this device an array variable must stay one array, "
                        "and an array that is made must have a constant, small size");
        case StmtKind::Try: unsupported(s->line, "exceptions are caught on the host only");
        case StmtKind::Native:
            unsupported(s->line,
                        "a function that only the host has cannot be called in a loop that runs "
                        "on this device; call it before the loop");
        case StmtKind::For: write_for(s); return;
        case StmtKind::While:
            line("while (" + unless_ended(value(s->args[0]), true) + ") {", s->line);
            braced(s->body);
            line("}");
            return;
        case StmtKind::If: write_if(s, false); return;
        case StmtKind::Break: line("break;", s->line); return;
        case StmtKind::Continue: line("continue;", s->line); return;
        case StmtKind::Return: write_return(s); return;
        case StmtKind::Prefetch: {
            const E load = s->args[0];
            const std::string name = "un_prefetch";
            if (helpers_.emplace(name, prefetch_helper(name)).second) helper_order_.push_back(name);
            line(name + "(&" + element(load->id, load->args, load->access) + ");", s->line);
            return;
        }
        case StmtKind::Barrier:
            if (is_fence(s))
                line(std::string(fence()), s->line);
            else if (is_shuffle(s) || is_vote(s))
                fail(ErrorKind::Internal, "c_source: a shuffle for a device without warps");
            else
                write_barrier(s->line);
            return;
        case StmtKind::Call: write_call(s); return;
    }
}

/// True if e keeps its value while a loop runs: no load, no variable that is assigned more than
/// once.
static bool is_stable(E e, const Usage& usage) {
    if (e->kind == ExprKind::Load) return false;
    if (e->kind == ExprKind::Var && usage.assignments[static_cast<std::size_t>(e->id)] > 1)
        return false;
    for (E a : e->args) {
        if (!is_stable(a, usage)) return false;
    }
    return true;
}

/// Moves elements past the caches, in whole lines.
void Writer::write_streaming_copy(S loop, S store) {
    const DType t = f().arrays[static_cast<std::size_t>(store->id)].dtype;
    const std::string name = "un_stream_" + std::string(unisono::name(t));
    if (helpers_.emplace(name, streaming_helper(name, t)).second) helper_order_.push_back(name);
    const std::string& var = var_names_.at(loop->id);
    const E from = store->args.back();
    line("{", loop->line);
    ++indent_;
    line("const long " + var + " = " + value(loop->args[0]) + ";");
    line(name + "(&" + element(store->id, store->args.first(1), store->access) + ", &" +
         element(from->id, from->args, from->access) + ", " + value(loop->args[1], 7) + " - " +
         var + ");");
    --indent_;
    line("}");
}

void Writer::write_for(S s) {
    UNISONO_ASSERT(s->reductions.empty());
    if (const S store = streaming_copy(s)) return write_streaming_copy(s, store);
    const std::string& var = var_names_.at(s->id);
    var_magnitudes_[s->id] = std::max(magnitude(s->args[0]), magnitude(s->args[1]));
    std::string end = value(s->args[1], 7);
    std::string step = value(s->args[2], 7);
    std::string begin = zero_if_ended(value(s->args[0]));
    bool in_block = false;
    auto fix = [&](std::string& text, const char* suffix) {
        if (!in_block) {
            line("{", s->line);
            ++indent_;
            in_block = true;
        }
        std::string name = names_->unique(var + suffix);
        line("const long " + name + " = " + zero_if_ended(text) + ";");
        text = name;
    };
    if (!is_stable(s->args[1], usage())) fix(end, "_end");
    E step_value = s->args[2];
    bool is_constant_step = step_value->kind == ExprKind::Const;
    if (!is_constant_step && !is_stable(step_value, usage())) fix(step, "_step");
    std::string test, advance;
    if (is_constant_step) {
        auto n = static_cast<std::int64_t>(step_value->bits);
        test = var + (n > 0 ? " < " : " > ") + end;
        advance = n == 1 ? "++" + var : n == -1 ? "--" + var : var + " += " + step;
    } else {
        test = step + " > 0 ? " + var + " < " + end + " : " + var + " > " + end;
        advance = var + " += " + step;
    }
    line("for (long " + var + " = " + begin + "; " + unless_ended(test, true) + "; " + advance +
             ") {",
         s->line);
    braced(s->body);
    line("}");
    if (in_block) {
        --indent_;
        line("}");
    }
}

void Writer::write_if(S s, bool chained) {
    std::string head = "if (" + unless_ended(value(s->args[0]), false) + ") {";
    if (chained) {
        // Continues the line that the branch before has left open.
        text_ += head + line_comment(s->line) + "\n";
    } else {
        line(head, s->line);
    }
    braced(s->body);
    std::span<const S> orelse = s->orelse;
    while (orelse.size() == 1 && orelse[0]->kind == StmtKind::Block) orelse = orelse[0]->body;
    if (orelse.empty()) {
        line("}");
    } else if (orelse.size() == 1 && orelse[0]->kind == StmtKind::If) {
        text_ += std::string(static_cast<std::size_t>(4 * indent_), ' ') + "} else ";
        write_if(orelse[0], true);
    } else {
        line("} else {");
        braced(orelse);
        line("}");
    }
}

/// The value's Scalar::bits as a long.
std::string Writer::bits_of(const std::string& text, DType t) {
    switch (t) {
        case DType::Float64: return bits_as(text, t, DType::Int64);
        case DType::Float32: return "(long)(uint)" + bits_as(text, t, DType::Int32);
        case DType::Int32: return "(long)(uint)(" + text + ")";
        case DType::Int16: return "(long)(ushort)(" + text + ")";
        case DType::Int8: return "(long)(uchar)(" + text + ")";
        default: return "(long)(" + text + ")";
    }
}

void Writer::write_return(S s) {
    bool kernel = is_kernel(current_);
    if (s->fault >= 0) {
        std::string call =
            "un_raise(" + faults_name_ + ", " +
            std::to_string(site_base_[current_] + static_cast<std::size_t>(s->fault));
        for (std::size_t i = 0; i < 4; ++i)
            call += ", " + (i < s->args.size() ? value(s->args[i]) : std::string("0"));
        line(call + ");", s->line);
        leave_after_fault();
        return;
    }
    for (std::size_t r = 0; r < s->args.size(); ++r) {
        std::string text = value(s->args[r]);
        if (kernel) {
            line(results_name_ + "[" + std::to_string(r) + "] = " + bits_of(text, f().results[r]) +
                     ";",
                 s->line);
        } else {
            line("*" + result_names_[r] + " = " + text + ";", s->line);
        }
    }
    line(kernel || !usage().can_fault ? "return;" : "return false;", s->line);
}

void Writer::write_call(S s) {
    auto callee_index = static_cast<std::size_t>(s->id);
    const Function& callee = module_.functions[callee_index];
    if (callee.native) return write_native_call(s);
    const Usage& needs = usage_[callee_index];
    std::string out;
    auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
    std::size_t next_scalar = 0, next_array = 0;
    for (std::size_t p = 0; p < callee.params.size(); ++p) {
        if (!callee.params[p].is_array()) {
            add(value(s->args[next_scalar++]));
            continue;
        }
        std::int32_t id = s->arrays[next_array++];
        const Array& a = f().arrays[static_cast<std::size_t>(id)];
        if (a.is_view())
            unsupported(s->line, "a view cannot be passed to a function on this device");
        if (a.space != Space::Global && !has_generic_pointers()) {
            unsupported(s->line,
                        "array '" + a.name +
                            "' of a work-group or work-item cannot be passed to function '" +
                            callee.name +
                            "' on this device; write its elements where they are used");
        }
        add(array_names_.at(id));
        for (auto [param, field, axis] : needs.parts) {
            if (param != static_cast<std::int32_t>(p) || field == Field::Value) continue;
            StrideClass known = a.strides[static_cast<std::size_t>(axis)];
            if (a.param < 0) {
                // Row-major and contiguous: extents from its allocation, strides from those after
                // the axis.
                S allocation = usage().allocations.at(id);
                auto k = static_cast<std::size_t>(axis);
                std::string text = field == Field::Extent ? value(allocation->args[k]) : "1";
                for (std::size_t j = k + 1; field == Field::Stride && j < allocation->args.size();
                     ++j) {
                    text += " * " + value(allocation->args[j], 9);
                }
                add(text);
            } else if (field == Field::Stride && known != StrideClass::Other) {
                add(known == StrideClass::Zero ? "0" : known == StrideClass::One ? "1" : "-1");
            } else {
                add(part(a.param, field, axis));
            }
        }
    }
    for (std::int32_t var : s->outs) add("&" + var_names_.at(var));
    if (needs.can_fault) add(faults_name_);
    std::string call = function_names_[callee_index] + "(" + out + ")";
    if (!needs.can_fault) {
        line(call + ";", s->line);
    } else {
        line("if (" + call + ") {", s->line);
        ++indent_;
        leave_after_fault();
        --indent_;
        line("}");
    }
}

/// C functions take pointers to bytes and unsigned integers; behind the numbers come the offsets of
/// arrays (passes/kernels/inline_calls.cpp).
void Writer::write_native_call(S s) {
    const Function& callee = module_.functions[static_cast<std::size_t>(s->id)];
    const std::size_t first_offset = s->args.size() - s->arrays.size();
    std::vector<Space> spaces;
    std::string out;
    std::size_t next = 0;
    for (std::size_t p = 0; p + s->arrays.size() < callee.params.size(); ++p) {
        out += out.empty() ? "" : ", ";
        if (callee.params[p].is_array()) {
            const std::int32_t id = s->arrays[spaces.size()];
            const Array& a = f().arrays[static_cast<std::size_t>(id)];
            out += "(" + pointer(a.space, DType::UInt8, true) + ")(" + array_names_.at(id) + " + " +
                   value(s->args[first_offset + spaces.size()]) + ")";
            spaces.push_back(a.space);
            continue;
        }
        const DType t = callee.params[p].dtype;
        const std::string text = value(s->args[next++], 9);
        const bool is_number = is_float(t) || is_bool(t);
        out += is_number ? text
                         : "(" + std::string(storage_type(dtype_of('u', size_of(t)))) + ")" + text;
    }
    const std::string call = native_name(s->id, spaces, s->line) + "(" + out + ")";
    if (s->outs.empty()) return line(call + ";", s->line);
    const std::string type(c_type(callee.results.front()));
    line(var_names_.at(s->outs.front()) + " = (" + type + ")" + call + ";", s->line);
}

/// Each combination of the spaces of its arrays is a function of its own.
const std::string& Writer::native_name(std::int32_t function, const std::vector<Space>& spaces,
                                       Line line) {
    auto [found, is_new] = native_names_.try_emplace({function, spaces});
    if (!is_new) return found->second;
    const Function& callee = module_.functions[static_cast<std::size_t>(function)];
    found->second = global_names_.unique_function(callee.symbol + "_c");
    const codegen::NativeText made = native_text(callee, found->second, spaces);
    if (made.has_float64) need_type(DType::Float64, line, "the C function '" + callee.symbol + "'");
    natives_text_ += "\n" + made.text;
    return found->second;
}

void Writer::write_atomic(S s) {
    const Array& a = f().arrays[static_cast<std::size_t>(s->id)];
    static constexpr std::string_view forms[] = {"", "exchange", "compare", "count_up",
                                                 "count_down"};
    const bool combines = atomic_form(*s) == AtomicForm::Combine;
    std::string name =
        "un_atomic_" + std::string(combines ? unisono::name(s->op) : forms[s->axis]) + "_" +
        std::string(unisono::name(a.dtype)) + (a.space == Space::Global ? "" : "_local") +
        (s->outs.empty() ? "" : "_before");
    if (!helpers_.contains(name)) {
        need_atomic(a, s->line);
        std::string text = atomic_helper(name, s, a.dtype, a.space);
        helpers_.emplace(name, text);
        helper_order_.push_back(name);  // after the helpers that its text calls
    }
    auto indices = s->args.first(index_count(*s));
    std::string call = name + "(&" + element(s->id, indices, s->access);
    for (E v : s->args.subspan(indices.size())) call += ", " + value(v);
    if (!s->outs.empty()) call = var_names_.at(s->outs.front()) + " = " + call;
    line(call + ");", s->line);
}

std::int64_t Writer::constant_count(std::int32_t array, S allocation) const {
    const Array& a = f().arrays[static_cast<std::size_t>(array)];
    std::int64_t count = 1;
    for (E extent : allocation->args) {
        if (extent->kind != ExprKind::Const) {
            unsupported(allocation->line, "array '" + a.name +
                                              "' must have a constant shape on a device; give its "
                                              "shape as numbers, or pass an array as an argument");
        }
        count *= static_cast<std::int64_t>(extent->bits);
    }
    return std::max<std::int64_t>(count, 1);
}

void Writer::declare_array(std::int32_t array, S allocation) {
    const Array& a = f().arrays[static_cast<std::size_t>(array)];
    need_type(a.dtype, allocation->line, "array '" + a.name + "'");
    std::int64_t count = constant_count(array, allocation);
    if (a.space == Space::Global) {
        if (is_kernel(current_)) return;  // an argument
        unsupported(
            allocation->line,
            "a parallel loop with a reduction inside a called function cannot run on a device; "
            "write a serial loop there, or reduce in the function that is launched");
    }
    if (a.space == Space::Local && is_kernel(current_))
        program_.kernels.back().local_bytes += count * size_of(a.dtype);
    line(std::string(array_qualifier(a.space)) + std::string(storage_type(a.dtype)) + " " +
             array_names_.at(array) + "[" + std::to_string(count) + "];",
         allocation->line);
}

}  // namespace unisono::c_source
