#include "jit/effects.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ir/rewrite.h"

namespace unisono::python {

namespace {

/// Whether a call of the function may take long: it loops, recurses, or calls one that does.
class Length {
  public:
    explicit Length(const ir::Module& module)
        : module_(module), in_progress_(module.functions.size()) {}

    bool is_long(std::int32_t index) {
        auto at = static_cast<std::size_t>(index);
        const ir::Function& f = module_.functions[at];
        if (f.native) return !f.is_short;
        if (index > 0 && !f.natives.empty()) return true;
        if (in_progress_[at] || f.is_kernel || f.is_deferred || !f.body) return true;
        in_progress_[at] = true;
        bool found = is_long(f.body);
        in_progress_[at] = false;
        return found;
    }

  private:
    static constexpr int most_calls = 50;

    bool is_long(ir::S s) {
        if (s->kind == ir::StmtKind::For || s->kind == ir::StmtKind::While) return true;
        if (s->kind == ir::StmtKind::Call && (++calls_ > most_calls || is_long(s->id))) return true;
        auto inside = [&](ir::S b) { return is_long(b); };
        return std::any_of(s->body.begin(), s->body.end(), inside) ||
               std::any_of(s->orelse.begin(), s->orelse.end(), inside);
    }

    const ir::Module& module_;
    std::vector<bool> in_progress_;
    int calls_ = 0;  ///< followed: their number may double from function to function
};

}  // namespace

/// Whether a function waits for other ranks.
static bool communicates(const ir::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(), [](const auto& f) {
        return std::any_of(f.natives.begin(), f.natives.end(),
                           [](const std::string& name) { return name.starts_with("comm_"); });
    });
}

bool may_take_long(const ir::Module& module) {
    return communicates(module) || Length(module).is_long(0);
}

bool may_poll(const ir::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(), [](const auto& f) {
        return !f.natives.empty() || (f.body && (ir::contains(f.body, ir::StmtKind::For) ||
                                                 ir::contains(f.body, ir::StmtKind::While)));
    });
}

bool may_keep_arguments(const ir::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(), [](const auto& f) {
        return std::any_of(f.natives.begin(), f.natives.end(), [](const std::string& name) {
            return name == "object_keep" || name == "block_keep";
        });
    });
}

bool may_make_objects(const ir::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(), [](const auto& f) {
        return std::any_of(f.natives.begin(), f.natives.end(), [](const std::string& name) {
            return name.rfind("text_", 0) == 0 || name.rfind("table_", 0) == 0 ||
                   name.rfind("list_", 0) == 0 || name == "python_block";
        });
    });
}

}  // namespace unisono::python
