// Lowers statements: blocks, branches, assert, and what each other statement calls.
#include <tuple>

#include "frontend/lowerer.h"

namespace unisono::frontend {

void FunctionLowerer::statements(const Node& block) {
    Spot outer = spot_;
    for (std::size_t k = 0; k < block.children.size() && env_.reachable; ++k) {
        spot_ = {&block, k};
        try_statement(block.children[k]);
        if (!waiting_.empty()) forget_waiting(block.children[k]);
    }
    spot_ = outer;
}

/// A path that calls the function itself before any of its returns is known is left for the next
/// attempt, which knows more.
void FunctionLowerer::try_statement(const Node& node) {
    auto* list = out_;
    std::size_t frames = frames_.size(), loops = loops_.size();
    int depth = parallel_depth_;
    auto leave = [&] {
        out_ = list;
        while (frames_.size() > frames) frames_.pop_back();
        loops_.resize(loops);
        parallel_depth_ = depth;
    };
    try {
        statement(node);
    } catch (const Unresolved& call) {
        leave();
        if (surveys_) return survey(node);
        env_.reachable = false;
        unresolved_ = call.place;
    } catch (const Error& e) {
        if (!surveys_ || e.kind() != ErrorKind::Compile) throw;
        leave();
        survey(node);
    }
}

/// The blocks of a statement that cannot be lowered itself.
void FunctionLowerer::survey(const Node& node) {
    env_.reachable = true;
    for (const Node& child : node.children) {
        if (child.kind != NodeKind::Block) continue;
        Env before = env_;
        statements(child);
        env_ = before;
    }
}

void FunctionLowerer::statement(const Node& node) {
    at(node.place);
    switch (node.kind) {
        case NodeKind::Assign: return assign(node);
        case NodeKind::AugAssign: return assign_augmented(node);
        case NodeKind::For: return loop_for(node);
        case NodeKind::While: return loop_while(node);
        case NodeKind::If: return branch(node);
        case NodeKind::Region: return region(node);
        case NodeKind::Return: return give_back(node);
        case NodeKind::Break: return leave_loop(node);
        case NodeKind::Continue: return next_iteration(node);
        case NodeKind::Raise: return raise(node);
        case NodeKind::Try:
        case NodeKind::Finally: return lower_try(node);
        case NodeKind::Assert: return assertion(node);
        case NodeKind::Pass: return;
        case NodeKind::Delete:
            for (const Node& name : node.children) {
                if (name.kind == NodeKind::Subscript) {
                    delete_slice(name);
                    continue;
                }
                read_name(name);
                env_.names.erase(name.text);
            }
            return;
        case NodeKind::Evaluate:
            if (deletes_parts(node.children[0])) return;
            if (node.children[0].kind != NodeKind::Text) {
                statement_ = &node.children[0];
                Value v = maybe_none(node.children[0]);
                // What nobody takes is read all the same: its index may be out of range.
                if (v.type.is_scalar() && v.expr && has_load(v.expr)) (void)temporary(v.expr);
            }
            return;
        case NodeKind::Unsupported:
            refuse(node.place, node.text + " is not supported in a compiled function", node.note);
        default: UNISONO_ASSERT(!"a statement");
    }
}

void ControlFlow::branch(const Node& node) {
    E test = condition(node.children[0]);
    if (auto known = constant_int(test)) {
        statements(node.children[*known ? 1 : 2]);
        return;
    }
    Env before = env_;
    assume(node.children[0], true);
    Env known_yes = env_;
    S yes = nested(node.children[1]);
    Env after_yes = std::exchange(env_, before);
    assume(node.children[0], false);
    Env known_no = env_;
    S no = nested(node.children[2]);
    Env after_no = env_;
    forget_assumed(before, {known_yes, known_no}, {&after_yes, &after_no});
    std::vector<S> yes_list(yes->body.begin(), yes->body.end());
    std::vector<S> no_list(no->body.begin(), no->body.end());
    env_ = merge_branches(yes_list, after_yes, no_list, after_no);
    at(node.place);
    emit(b_->branch(test, b_->block(yes_list), no_list.empty() ? nullptr : b_->block(no_list)));
}

/// What a test told of names that neither branch has changed is forgotten behind both.
void ControlFlow::forget_assumed(const Env& before, const std::array<Env, 2>& known,
                                 const std::array<Env*, 2>& after) {
    if (!after[0]->reachable || !after[1]->reachable) return;
    std::set<std::string> names;
    for (const Env& env : known) {
        env.names.with_different(before.names, [&](const auto& part, const auto&) {
            for (const auto& [name, binding] : part) {
                auto was = before.names.find(name);
                if (was != before.names.end() && was->second.value.type != binding.value.type)
                    names.insert(name);
            }
        });
    }
    for (const std::string& name : names) {
        auto stays = [&](std::size_t k) {
            auto now = after[k]->names.find(name);
            return now != after[k]->names.end() && now->second.state == Binding::State::Defined &&
                   is_same(now->second.value, known[k].names.at(name).value);
        };
        if (!stays(0) || !stays(1)) continue;
        for (Env* env : after) env->names[name] = before.names.at(name);
    }
}

void ControlFlow::assertion(const Node& node) {
    E test = condition(node.children[0]);
    std::string message;
    std::vector<E> values;
    if (auto known = constant_int(test); known && *known) return;
    std::vector<S> failed = collect([&] {
        if (node.children.size() > 1)
            std::tie(message, values) = message_of(node.children[1], "an assert");
        at(node.place);
        emit(b_->raise(b_->site(ErrorKind::Assertion, message), values));
    });
    at(node.place);
    emit(b_->branch(op_unary(Op::Not, test), b_->block(failed)));
    assume(node.children[0], true);
}

}  // namespace unisono::frontend
