// Names that may be read before they are assigned: they start with a stand-in, and a flag tells at
// each read whether there is a value. They are few, so a function is lowered without flags first;
// the first such read restarts it.
#include <algorithm>

#include "frontend/bindings.h"
#include "frontend/exceptions.h"

namespace unisono::frontend {

/// Whether threads or functions inside share the name: what it holds is theirs to say.
static bool is_shared(const Source& source, const std::string& name) {
    bool found = false;
    walk(source.body, [&](const Node& n) {
        bool is_closure = n.kind == NodeKind::Closure || n.kind == NodeKind::KeptClosure;
        bool is_parallel = n.kind == NodeKind::Region;
        if (n.kind == NodeKind::For && n.children[1].kind == NodeKind::Call)
            is_parallel = n.children[1].children[0].text == "un.prange";
        found |= (is_closure || is_parallel) && mentions(n, name);
    });
    return found;
}

/// Starts again with a name that may be unassigned where it is read, if it can be one.
void Objects::try_late(const std::string& name, const Type& type) {
    auto held = type.is_optional() || type.is_none() ? std::nullopt : join(Type::none(), type);
    if (!held || source_.is_kernel || is_shared(source_, name)) return;
    if (learnt_.late_names.emplace(name, type).second) throw Restart{};
}

void Objects::note_assigned(const std::string& name, const Type& type) {
    assigned_types_.insert_or_assign(name, type);
    auto flag = is_assigned_.find(name);
    if (flag != is_assigned_.end()) emit(b_->assign(flag->second, b_->boolean(true)));
}

void Objects::want_assigned(const std::string& name, const Place& place) {
    auto flag = is_assigned_.find(name);
    if (flag == is_assigned_.end()) return;
    at(place);
    std::string message =
        "cannot access local variable '" + name + "' where it is not associated with a value";
    S raised =
        b_->raise(b_->site(ErrorKind::Runtime, message, exception_number("UnboundLocalError")), {});
    emit(b_->branch(op_unary(Op::Not, b_->read(flag->second)), b_->block({raised})));
}

void Bindings::declare_late_names() {
    for (const auto& [name, type] : learnt_.late_names) {
        Place origin = definition_place(source_);
        bind(name, stand_in(type), origin);
        std::int32_t flag = b_->var("has_" + name, DType::Bool);
        emit(b_->declare(flag, b_->boolean(false)));
        is_assigned_.emplace(name, flag);
    }
}

}  // namespace unisono::frontend
