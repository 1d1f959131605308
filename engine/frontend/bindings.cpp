// Names get values: what needs no variable keeps none.
#include "frontend/bindings.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

/// Puts a value under the variables of a name and returns the value that reads them. What needs no
/// variable keeps none.
Value Bindings::store_value(const std::string& name, const Value& value, const Place& origin) {
    Value stored = value;
    if (value.type.is_optional()) {
        stored.items = {store_value(name + ".given", value.items[0], origin),
                        store_value(name, value.items[1], origin)};
        return stored;
    }
    if (value.type.is_instance())
        return given_objects_.count(describe_array(value.array).root)
                   ? value
                   : move_object(name, value, value.type);
    if (value.type.is_array() && !is_fixed(value))
        return move_array(name, value, value.type, origin);
    if (value.type.is_word() && value.expr && !is_invariant(value.expr)) {
        set_variable(name, value.expr);
        stored.expr = b_->read(variable(name, value.expr->dtype));
    }
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        stored.items[i] = store_value(name + "." + std::to_string(i), value.items[i], origin);
    }
    return stored;
}

void Bindings::bind(const std::string& name, const Value& value, const Place& origin) {
    auto declared = source_.locals.find(name);
    Value wanted = value;
    if (declared != source_.locals.end())
        wanted = declared_value(value, declared->second, origin, "variable '" + name + "'");
    note_assigned(name, wanted.type);
    if (wanted.type.is_list() && learnt_.boxed_names.count(name))
        wanted = Tables(*this, origin).storable(wanted);
    if (lets_wait(name, wanted, origin)) return;
    wanted = made(wanted, origin);
    // An item may read what is stored under the name before it.
    if (wanted.items.size() > 1) wanted = kept_apart(wanted);
    if (bind_for_handlers(name, wanted, origin)) return;
    env_.names[name] = Binding{store_value(name, wanted, origin), origin};
}

/// As store_value, but always into variables of the given type (which holds the value's).
Value Bindings::move_into(const std::string& name, const Value& value, const Type& type) {
    if (type.is_optional()) {
        Value moved = as_optional(value, type);
        moved.items[1] = move_into(name, moved.items[1], type.items[1]);
        moved.items[0] = move_into(name + ".given", moved.items[0], type.items[0]);
        return moved;
    }
    if (type.is_array()) return move_array(name, value, type, {});
    if (type.is_list()) return move_list(name, value);
    if (type.is_instance()) return move_object(name, value, type);
    Value moved = value;
    moved.type = type;
    if (type.is_text()) {
        set_variable(name, Texts(*this, {}).handle(value));
        moved.text.clear();
        moved.expr = b_->read(variable(name, DType::Int64));
    }
    if (type.is_table()) {
        set_variable(name, value.expr);
        moved.expr = b_->read(variable(name, DType::Int64));
    }
    if (type.is_scalar()) {
        set_variable(name, cast(value.expr, type.dtype));
        moved.expr = b_->read(variable(name, type.dtype));
    }
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        moved.items[i] = move_into(name + "." + std::to_string(i), value.items[i], type.items[i]);
    }
    return moved;
}

/// Lowers a block into one statement. Its locals are declared at its head where their first
/// assignment is not at its top level; names at home in it are forgotten at its end.
S Bindings::nested(const Node& block, const std::set<std::string>& privates,
                   const std::function<void()>& prologue) {
    std::vector<S> list;
    auto* outer = std::exchange(out_, &list);
    frames_.push_back(Frame{&block, &list, {}, privates, {}, {}});
    if (prologue) prologue();
    statements(block);
    std::vector<S> all = std::move(frames_.back().declares);
    frames_.pop_back();
    all.insert(all.end(), list.begin(), list.end());
    out_ = outer;
    forget_names_of(block, env_);
    return all.size() == 1 && all[0]->kind == ir::StmtKind::Block ? all[0] : b_->block(all);
}

/// A name that handlers may read: its value goes to the variable that they know.
bool Bindings::bind_for_handlers(const std::string& name, const Value& value, const Place& origin) {
    std::map<std::string, Type>* held = nullptr;
    for (auto* guess : protected_) {
        if (guess->count(name)) held = guess;
    }
    if (!held) return false;
    Type type = held->at(name);
    Binding now{value, origin};
    auto joined = join(type, value.type);
    if (!joined) refuse_join(name, env_.names[name], now);
    if (*joined != type) {
        for (auto* guess : protected_) {
            if (guess->count(name)) guess->at(name) = *joined;
        }
        throw Restart{};
    }
    env_.names[name] = now;
    arrive({{name, type}});
    return true;
}

}  // namespace unisono::frontend
