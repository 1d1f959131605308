#include "jit/effects.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ir/rewrite.h"

namespace unisono::python {

namespace {

/// Variables that are as their declaration says: to which nothing is assigned.
class Declared final : public ir::Visitor {
  public:
    explicit Declared(const ir::Function& f) : values_(f.vars.size()), written_(f.vars.size()) {
        if (f.body) stmt(f.body);
    }
    /// The value; null where it may have others.
    ir::E value(std::int32_t var) const {
        const auto at = static_cast<std::size_t>(var);
        return written_[at] == 1 ? values_[at] : nullptr;
    }

    void expr(ir::E) override {}
    void stmt(ir::S s) override {
        if (s->kind == ir::StmtKind::Declare && !s->args.empty())
            values_[static_cast<std::size_t>(s->id)] = s->args[0];
        const bool writes = s->kind == ir::StmtKind::Declare || s->kind == ir::StmtKind::Assign ||
                            s->kind == ir::StmtKind::For;
        if (writes) ++written_[static_cast<std::size_t>(s->id)];
        for (std::int32_t out : s->outs) ++written_[static_cast<std::size_t>(out)];
        children(s);
    }

  private:
    std::vector<ir::E> values_;
    std::vector<int> written_;
};

/// How long a launch may take: how deep loops over extents of its arguments nest, where it has no
/// other loops, does not recurse, and calls none that does.
class Length {
  public:
    explicit Length(const ir::Module& module)
        : module_(module), in_progress_(module.functions.size()), declared_(module.entry()) {}

    std::optional<int> of_entry() { return depth(0); }

  private:
    static constexpr int most_calls = 50;
    static constexpr std::int64_t few_steps = 16;

    std::optional<int> depth(std::int32_t index) {
        auto at = static_cast<std::size_t>(index);
        const ir::Function& f = module_.functions[at];
        if (f.native) return f.is_short ? std::optional(0) : std::nullopt;
        if (index > 0 && !f.natives.empty()) return std::nullopt;
        if (in_progress_[at] || f.is_kernel || f.is_deferred || !f.body) return std::nullopt;
        in_progress_[at] = true;
        const auto found = depth(f.body);
        in_progress_[at] = false;
        // Arrays that a function is given may be others than the launch's arguments.
        return index > 0 && found != 0 ? std::nullopt : found;
    }

    std::optional<int> depth(ir::S s) {
        if (s->kind == ir::StmtKind::While) return std::nullopt;
        if (s->kind == ir::StmtKind::Call && (++calls_ > most_calls || !depth(s->id)))
            return std::nullopt;
        int inside = 0;
        for (const auto list : {s->body, s->orelse}) {
            for (ir::S b : list) {
                const auto found = depth(b);
                if (!found) return std::nullopt;
                inside = std::max(inside, *found);
            }
        }
        if (s->kind != ir::StmtKind::For) return inside;
        const bool is_bounded = is_from_zero(s->args[0]) && is_extent(s->args[1]) &&
                                s->args[2]->kind == ir::ExprKind::Const &&
                                static_cast<std::int64_t>(s->args[2]->bits) > 0;
        return is_bounded && !in_callee() ? std::optional(inside + 1) : std::nullopt;
    }

    bool in_callee() const {
        return std::count(in_progress_.begin(), in_progress_.end(), true) > 1;
    }
    static bool is_from_zero(ir::E e) {
        return e->kind == ir::ExprKind::Const && static_cast<std::int64_t>(e->bits) >= 0;
    }
    /// Whether it is no more than an extent of an argument, or a few.
    bool is_extent(ir::E e) const {
        if (e->kind == ir::ExprKind::Var && !in_callee())
            e = declared_.value(e->id) ? declared_.value(e->id) : e;
        if (e->kind == ir::ExprKind::Param) return e->field == ir::Field::Extent;
        return e->kind == ir::ExprKind::Const && static_cast<std::int64_t>(e->bits) <= few_steps;
    }

    const ir::Module& module_;
    std::vector<bool> in_progress_;
    Declared declared_;
    int calls_ = 0;  ///< followed: their number may double from function to function
};

}  // namespace

/// Whether a function of the module calls a native function of such a name.
template <class Names>
static bool calls_native(const ir::Module& module, Names names) {
    return std::any_of(module.functions.begin(), module.functions.end(), [&](const auto& f) {
        return std::any_of(f.natives.begin(), f.natives.end(), names);
    });
}

/// Whether a function waits for other ranks.
static bool communicates(const ir::Module& module) {
    return calls_native(module, [](const std::string& name) { return name.starts_with("comm_"); });
}

std::optional<int> depth_of_loops(const ir::Module& module) {
    if (communicates(module)) return std::nullopt;
    return Length(module).of_entry();
}

bool may_poll(const ir::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(), [](const auto& f) {
        return !f.natives.empty() || (f.body && (ir::contains(f.body, ir::StmtKind::For) ||
                                                 ir::contains(f.body, ir::StmtKind::While)));
    });
}

bool may_keep_arguments(const ir::Module& module) {
    return calls_native(module, [](const std::string& name) {
        return name == "object_keep" || name == "block_keep";
    });
}

bool may_make_objects(const ir::Module& module) {
    return calls_native(module, [](const std::string& name) {
        return name.rfind("text_", 0) == 0 || name.rfind("table_", 0) == 0 ||
               name.rfind("list_", 0) == 0 || name == "python_block";
    });
}

bool may_print(const ir::Module& module) {
    return calls_native(module, [](const std::string& name) { return name == "print"; });
}

}  // namespace unisono::python
