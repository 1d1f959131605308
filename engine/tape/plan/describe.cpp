// Explains a plan in words: kernels, what fused, why not more, bytes.
#include <algorithm>
#include <sstream>

#include "core/limits.h"
#include "ir/build.h"
#include "ops/reduction_tree.h"
#include "tape/launch.h"
#include "tape/plan/bands.h"
#include "tape/plan/plan.h"
#include "tape/record/element_function.h"
#include "tape/run/run_group.h"
#include "tape/windows.h"

namespace unisono {

namespace {

std::string place_text(const Entry& e, const HostHooks& hooks) {
    if (!e.line.code || !hooks.decode_line) return {};
    SourcePlace p = hooks.decode_line(e.line);
    auto slash = p.file.rfind('/');
    return p.file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" + std::to_string(p.line);
}

std::string plural(std::int64_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// "saxpy (prog.py:12)".
std::string code_text(const LaunchedCode& code) {
    const std::string& file = code.place.file;
    return code.name + " (" + file.substr(file.rfind('/') + 1) + ":" +
           std::to_string(code.place.line) + ")";
}

/// `before`: what stands before the line.
std::string line_text(const char* before, LineRef line, const HostHooks& hooks) {
    const SourcePlace p = hooks.decode_line ? hooks.decode_line(line) : SourcePlace{};
    if (p.line <= 0) return {};
    return before + std::string("line ") + std::to_string(p.line) + " of " + p.file;
}

std::string launch_text(const FlushRecord::LaunchRecord& r, const HostHooks& hooks) {
    return "launch of " + code_text(*r.code) + ": read " + plural(r.reads, "array") + ", wrote " +
           plural(r.writes, "array") + ", " + std::to_string(r.bytes) + " bytes" +
           line_text(", at ", r.line, hooks);
}

std::string flush_text(const FlushRecord& r, const HostHooks& hooks) {
    return std::string(unisono::text(r.reason)) + ": " + std::to_string(r.entries) +
           " operations in " + std::to_string(r.kernels) + " kernels, " + std::to_string(r.bytes) +
           " bytes" + line_text(", up to ", r.line, hooks);
}

std::string row_text(const FlushRecord& r, const HostHooks& hooks) {
    if (!r.launch.code) return flush_text(r, hooks);
    const std::string launch = launch_text(r.launch, hooks);
    return r.entries == 0 ? launch : launch + "; before it: " + flush_text(r, hooks);
}

std::string scalar_text(Scalar s) {
    std::ostringstream text;
    text.precision(17);
    if (is_float(s.dtype)) {
        text << s.as<double>();
    } else if (is_bool(s.dtype)) {
        text << (s.get<bool>() ? "True" : "False");
    } else {
        text << s.as<std::int64_t>();
    }
    return text.str();
}

/// Arrays that a plan reads and did not write, numbered as they appear.
class ArrayNames {
  public:
    std::string source_text(std::int32_t source) {
        if (source >= 0) return "kernel " + std::to_string(source + 1);
        auto known = std::find(storages_.begin(), storages_.end(), source);
        auto number = known - storages_.begin() + 1;
        if (known == storages_.end()) storages_.push_back(source);
        return "array " + std::to_string(number);
    }
    std::string sources_text(const std::vector<std::int32_t>& sources) {
        std::string out;
        for (std::int32_t s : sources) out += (out.empty() ? " of " : ", ") + source_text(s);
        return out;
    }

    bool names(std::int32_t source) const {
        return std::find(storages_.begin(), storages_.end(), source) != storages_.end();
    }

  private:
    std::vector<std::int32_t> storages_;
};

/// The storages of a segment in the order of a plan's numbers (plan.cpp).
std::vector<const Storage*> storages_of(const std::vector<Entry>& segment) {
    std::vector<const Storage*> found;
    auto note = [&](const View& v) {
        if (std::find(found.begin(), found.end(), v.storage) == found.end())
            found.push_back(v.storage);
    };
    for (const Entry& e : segment) {
        for (int k = 0; k < e.inputs; ++k) {
            if (e.in[k].storage) note(e.in[k]);
        }
        note(e.out);
        if (!e.call || !e.call->tail) continue;
        for (const View& v : e.call->tail->reads) note(v);
        for (const View& v : e.call->tail->writes) note(v);
    }
    return found;
}

/// `segment` null: scalars are known by number only.
std::string node_text(const PlanStep& step, std::size_t k, ArrayNames& arrays,
                      const std::vector<Entry>* segment) {
    const Group& g = step.kernel->group();
    const auto& n = g.nodes[k];
    auto value = [](std::uint16_t v) { return "%" + std::to_string(v); };
    switch (n.kind) {
        case Group::Kind::Input:
            return "input " + std::to_string(n.a) + " from " +
                   arrays.source_text(step.sources[n.a]);
        case Group::Kind::Scalar:
            if (!segment) return "scalar " + std::to_string(n.a);
            return scalar_text(
                {static_cast<std::uint64_t>(step.scalars[n.a].in(*segment).offset), n.dtype});
        case Group::Kind::Cast: return "cast " + value(n.a);
        case Group::Kind::Select:
            return "select " + value(n.a) + ", " + value(n.b) + ", " + value(n.c);
        case Group::Kind::Iota: return "index";
        case Group::Kind::Function: {
            const ElementFunction& f = *g.functions[n.function];
            const std::uint16_t operands[] = {n.a, n.b, n.c};
            std::string text = f.name();
            for (std::size_t i = 0; i < f.params().size(); ++i)
                text += (i ? ", " : " ") + value(operands[i]);
            return text;
        }
        case Group::Kind::Op:
            return std::string(name(n.op)) + " " + value(n.a) +
                   (info(n.op).arity > 1 ? ", " + value(n.b) : "");
    }
    return {};
}

std::string indented(const std::string& text) {
    std::string out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) out += "    " + line + "\n";
    return out;
}

/// The group as it is lowered for general strides; a compiled variant knows more of them.
ir::Module lowered(const PlanStep& step, const std::vector<Entry>& segment) {
    const Group& g = step.kernel->group();
    GroupShape shape;
    shape.rank = std::max(1, step.space.in(segment).layout->rank());
    shape.reduce_axis = g.reduce_axis;
    shape.reduce_before = g.reduce_before;
    shape.on_device = true;
    shape.strides.assign(
        (g.inputs.size() + g.outputs.size()) * static_cast<std::size_t>(shape.rank),
        ir::StrideClass::Other);
    if (g.reduce_before > 0) {
        Dims extents = step.space.in(segment).layout->shape();
        auto first = extents.begin() + (g.reduce_axis - g.reduce_before);
        shape.few_rows = std::all_of(first, first + g.reduce_before + 1,
                                     [](std::int64_t n) { return n <= reduction::leaf_rows; });
        return lower_fold(g, shape);
    }
    return g.reduce_axis < 0 ? lower_map(g, shape) : lower_leaves(g, shape);
}

void write_reasons(std::string& out, const PlanStep& step) {
    for (const auto& why : step.why) out += "  not fused with an earlier kernel: it " + why + "\n";
    if (!step.anew.empty())
        out += "  stores in other memory what it also reads at other points, and copies the rest\n";
    if (!step.snapshots.empty()) out += "  copies rows or columns first, of what it also writes\n";
}

/// Of kernels on arrays that the caches do not hold.
void write_turns(std::string& out, const PlanStep& step, const std::vector<Entry>& segment) {
    const std::int64_t points = step.space.in(segment).layout->size();
    if (step.together > 1) {
        const Device* device = step.outputs.front().in(segment).storage->device;
        if (device && has_own_memory(*device)) {
            if (!step.anew.empty())
                out +=
                    "  may have a second memory for the array, and one launch, with the next "
                    "kernels\n";
            return;
        }
    }
    if (step.together < 2 || points * step.together * static_cast<std::int64_t>(sizeof(double)) <
                                 limits::band_traffic / 8)
        return;
    out += "  may take turns on bands of rows with the next kernels, " +
           std::to_string(step.together) + " in all\n";
}

std::string axes_text(const Group& g) {
    if (g.reduce_before == 0) return "axis " + std::to_string(g.reduce_axis);
    return "axes " + std::to_string(g.reduce_axis - g.reduce_before) + " to " +
           std::to_string(g.reduce_axis);
}

void write_nodes(std::string& out, const PlanStep& step, ArrayNames& arrays,
                 const std::vector<Entry>* segment) {
    const Group& g = step.kernel->group();
    for (std::size_t k = 0; k < g.nodes.size(); ++k) {
        out += "    %" + std::to_string(k) + " = " + node_text(step, k, arrays, segment) + " : " +
               std::string(name(g.nodes[k].dtype)) + "\n";
    }
    for (const auto& o : g.outputs) {
        out += o.reduces ? "    reduce-" + std::string(name(o.op)) + " %" + std::to_string(o.node) +
                               " along " + axes_text(g) + "\n"
                         : "    store %" + std::to_string(o.node) + "\n";
    }
    out += "  executor of its last run: " + std::string(step.kernel->executor()) + "\n";
    if (const std::string stores = step.kernel->stores(); !stores.empty())
        out += "  results are stored " + stores + "\n";
}

void write_step(std::string& out, const PlanStep& step, ArrayNames& arrays,
                const std::vector<Entry>& segment, const HostHooks& hooks, bool code) {
    std::int64_t read = 0, written = 0;
    for (const auto& r : step.inputs)
        read += r.in(segment).layout->size() * size_of(r.in(segment).dtype);
    for (const auto& r : step.outputs)
        written += r.in(segment).layout->size() * size_of(r.in(segment).dtype);
    out += " over " + shape_text(step.space.in(segment).layout->shape()) + ": " +
           std::to_string(step.entries.size()) + " operations fused, reads " +
           std::to_string(read) + " bytes in " + std::to_string(step.inputs.size()) +
           " views, writes " + std::to_string(written) + " bytes\n";
    write_reasons(out, step);
    write_turns(out, step, segment);
    std::string lines;
    for (std::uint32_t i : step.entries) {
        std::string p = place_text(segment[i], hooks);
        if (!p.empty() && lines.find(p) == std::string::npos)
            lines += (lines.empty() ? "" : ", ") + p;
    }
    if (!lines.empty()) out += "  lines: " + lines + "\n";
    write_nodes(out, step, arrays, &segment);
    out += "  kernel IR:\n" + indented(ir::print(lowered(step, segment)));
    if (code) out += "  generated code:\n" + indented(step.kernel->source());
}

/// What a launch writes, and the line of a call.
void write_call(std::string& out, const Entry& e, ArrayNames& arrays,
                const std::vector<const Storage*>& storages, const HostHooks& hooks) {
    const bool is_launch = dynamic_cast<const Launch*>(e.call) != nullptr;
    std::string written;
    for_each_write(e, [&](const View& v) {
        if (!is_launch) return;
        const auto n = std::find(storages.begin(), storages.end(), v.storage) - storages.begin();
        written +=
            (written.empty() ? "" : ", ") + arrays.source_text(-1 - static_cast<std::int32_t>(n));
    });
    if (is_launch) out += "  writes: " + written + "\n";
    if (const std::string place = place_text(e, hooks); !place.empty())
        out += "  lines: " + place + "\n";
}

}  // namespace

std::string Plan::text(const std::vector<Entry>& segment, const HostHooks& hooks, bool code,
                       const Origin& origin) const {
    std::string out;
    ArrayNames arrays;
    const std::vector<const Storage*> storages = storages_of(segment);
    int number = 0;
    for (const PlanStep& step : steps) {
        out += "kernel " + std::to_string(++number);
        if (step.opaque >= 0) {
            const Entry& e = segment[static_cast<std::size_t>(step.opaque)];
            out += ": " + e.call->name() + arrays.sources_text(step.sources) + "\n";
            write_call(out, e, arrays, storages, hooks);
        } else {
            write_step(out, step, arrays, segment, hooks, code);
        }
    }
    for (std::uint32_t n = 0; n < storages.size(); ++n) {
        const std::int32_t source = -1 - static_cast<std::int32_t>(n);
        const std::string by = arrays.names(source) ? origin(*storages[n]) : std::string();
        if (!by.empty()) out += arrays.source_text(source) + " was " + by + "\n";
    }
    if (!dead.empty())
        out +=
            std::to_string(dead.size()) + " operations are dropped: their results are not used\n";
    return out;
}

std::string Plan::text(bool code, std::span<const std::string> calls) const {
    std::string out;
    ArrayNames arrays;
    int number = 0;
    auto call = calls.begin();
    for (const PlanStep& step : steps) {
        out += "kernel " + std::to_string(++number);
        if (step.opaque >= 0) {
            const std::string name = call == calls.end() ? "a library call" : *call++;
            out += ": " + name + arrays.sources_text(step.sources) + "\n";
            continue;
        }
        out += ": " + std::to_string(step.entries.size()) + " operations fused, reads " +
               std::to_string(step.inputs.size()) + " views, writes " +
               std::to_string(step.outputs.size()) + "\n";
        write_reasons(out, step);
        write_nodes(out, step, arrays, nullptr);
        if (code) out += "  generated code:\n" + indented(step.kernel->source());
    }
    return out;
}

/// The launch that wrote the storage last; empty where that was no launch, or the log does not go
/// back that far.
std::string Tape::launch_of(const Storage& s) const {
    if (s.evaluation == 0 || s.evaluation == Storage::unrecorded) return {};
    if (const LaunchedCode* by = launched_code(s.evaluation))
        return "written last by a launch of " + code_text(*by) + ", for which nothing had to run";
    for (const FlushRecord& r : log_) {
        if (r.launch.code && r.launch.number == s.evaluation)
            return "written last by a " + launch_text(r.launch, hooks);
    }
    return {};
}

/// What wrote the storage last, as far as the log goes back.
void Tape::describe_finished(std::string& out, const Storage& wanted, bool code) const {
    out += "computed: nothing is pending\n";
    if (wanted.evaluation == Storage::unrecorded) {
        out +=
            "written last by eager execution, without a plan: few elements, in a repeated "
            "statement\n";
    }
    if (const std::string launch = launch_of(wanted); !launch.empty()) out += launch + "\n";
    for (const FlushRecord& r : log_) {
        if (!r.plan || wanted.evaluation == 0 || r.number != wanted.evaluation) continue;
        out += "written last by this evaluation: " + flush_text(r, hooks) + "\n" +
               r.plan->text(code, r.calls);
    }
}

std::string Tape::describe(Storage* wanted, bool code) {
    std::string out;
    Windows* windows = of(wanted->device).windows();
    if (Storage* own = windows ? windows->memory_of(*wanted) : nullptr) {
        wanted = own;
        windows = nullptr;
    }
    if (windows) {
        out += windows->describe();
    } else if (wanted->pending) {
        mark_closure({&wanted, 1}, nullptr);
        std::vector<Entry> segment;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (marked_[i]) segment.push_back(entries_[i]);
        }
        out += std::to_string(segment.size()) + " pending operations\n";
        out += finder_->find(segment, fresh_epochs(), *this)
                   .text(segment, hooks, code, [this](const Storage& s) { return launch_of(s); });
    } else {
        describe_finished(out, *wanted, code);
    }
    auto recent = log();
    std::size_t shown = 0;
    for (std::size_t k = recent.size(); k-- > 0 && shown < 5; ++shown) {
        const FlushRecord& r = recent[k];
        out += (shown == 0 ? "recent evaluations, newest first:\n" : "") + std::string("  ") +
               row_text(r, hooks) + "\n";
    }
    return out;
}

}  // namespace unisono
