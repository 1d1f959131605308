// Where the locals of a Python function live in IR: homes, variables per dtype, temporaries,
// checkpoints.
#include "frontend/bindings.h"
#include "frontend/texts.h"

namespace unisono::frontend {

Emission::Emission(ModuleLowerer& module, const Source& source, Instance& instance, int dimensions,
                   Learnt& learnt)
    : module_(module),
      source_(source),
      instance_(instance),
      dimensions_(dimensions),
      learnt_(learnt),
      function_(std::make_unique<ir::Function>(source.name)),
      b_(std::make_unique<ir::Builder>(*function_)),
      file_(module.file(source.file)),
      homes_(home_blocks(source.body, source.params)) {
    for (const auto& [name, block] : homes_) names_at_home_.emplace(block, &name);
}

void Emission::at(const Place& place) {
    b_->line.file = file_;
    b_->line.line = place.line;
    b_->line.column = static_cast<std::uint16_t>(place.column);
}

Emission::Checkpoint Emission::checkpoint() const {
    Checkpoint c{function_->vars.size(),
                 function_->sites.size(),
                 function_->arrays.size(),
                 out_->size(),
                 report_.size(),
                 0,
                 {}};
    for (const Frame& f : frames_) {
        c.declares.push_back(f.declares.size());
    }
    return c;
}

void Emission::restore(const Checkpoint& saved) {
    function_->vars.resize(saved.vars);
    lower_bounds_.erase(lower_bounds_.lower_bound(static_cast<std::int32_t>(saved.vars)),
                        lower_bounds_.end());
    function_->sites.resize(saved.sites);
    function_->arrays.resize(saved.arrays);
    out_->resize(saved.list);
    report_.resize(saved.report);
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        frames_[i].declares.resize(saved.declares[i]);
        std::erase_if(frames_[i].vars, [&](const auto& v) { return saved.is_later_var(v.second); });
        std::erase_if(frames_[i].arrays,
                      [&](const auto& a) { return saved.is_later_array(a.second); });
    }
}

void Arrays::restore(const Checkpoint& saved) {
    Emission::restore(saved);
    std::erase_if(fresh_, [&](std::int32_t slot) { return saved.is_later_array(slot); });
    std::erase_if(owners_, [&](const auto& o) {
        return saved.is_later_array(o.first) || saved.is_later_array(o.second);
    });
    std::erase_if(hoisted_, [&](const auto& h) { return saved.is_later_var(h.second); });
}

Objects::Checkpoint Objects::checkpoint() const {
    Checkpoint c = ArrayFunctions::checkpoint();
    c.lists = lists_.size();
    return c;
}

void Objects::restore(const Checkpoint& saved) {
    ArrayFunctions::restore(saved);
    lists_.resize(saved.lists);
    std::erase_if(lists_of_names_, [&](const auto& held) {
        return held.second >= static_cast<std::int32_t>(saved.lists);
    });
    std::erase_if(texts_, [&](const auto& held) { return saved.is_later_var(held.second); });
    std::erase_if(members_, [&](const auto& m) {
        const Value& v = m.second;
        return v.type.is_scalar() ? saved.is_later_var(v.expr->id) : saved.is_later_array(v.array);
    });
}

/// "x" of "x.0": the items of a tuple variable live where the variable does.
static std::string root_name(const std::string& name) { return name.substr(0, name.find('.')); }

/// Names at home in the block end with it.
void Emission::forget_names_of(const Node& block, Env& env) const {
    auto [first, last] = names_at_home_.equal_range(&block);
    for (auto it = first; it != last; ++it) env.names.erase(*it->second);
}

Emission::Frame& Emission::home(const std::string& name) {
    std::string root = root_name(name);
    auto found = homes_.find(root);
    for (auto f = frames_.rbegin(); f != frames_.rend(); ++f) {
        if (f->privates.count(root) || (found != homes_.end() && f->block == found->second))
            return *f;
    }
    return frames_.front();
}

std::int32_t Emission::variable(const std::string& name, DType t) {
    Frame& f = home(name);
    auto [it, is_new] = f.vars.emplace(std::pair(name, t), -1);
    if (is_new) {
        it->second = b_->var(name, t);
        f.declares.push_back(b_->declare(it->second, nullptr));
    }
    return it->second;
}

void Emission::set_variable(const std::string& name, E value) {
    Frame& f = home(name);
    auto [it, is_new] = f.vars.emplace(std::pair(name, value->dtype), -1);
    if (!is_new) {
        if (value->kind == ir::ExprKind::Var && value->id == it->second) return;
        emit(b_->assign(it->second, value));
        return;
    }
    it->second = b_->var(name, value->dtype);
    if (f.list == out_) {
        emit(b_->declare(it->second, value));
    } else {
        f.declares.push_back(b_->declare(it->second, nullptr));
        emit(b_->assign(it->second, value));
    }
}

E Emission::temporary(E value, const char* hint) {
    std::int32_t id = b_->var(hint, value->dtype);
    emit(b_->declare(id, value));
    return b_->read(id);
}

/// Puts a value under the variables of a name and returns the value that reads them. What needs no
/// variable keeps none.
Value Bindings::store_value(const std::string& name, const Value& value, const Place& origin) {
    Value stored = value;
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

/// The value with its numbers in temporaries, where later statements may change what they read.
Value Objects::kept_apart(Value value) {
    if (value.type.is_instance()) value = held_object(value);
    if (value.type.is_word() && value.expr && !is_invariant(value.expr))
        value.expr = temporary(value.expr);
    for (Value& item : value.items) item = kept_apart(item);
    return value;
}

void Bindings::bind(const std::string& name, const Value& value, const Place& origin) {
    auto declared = source_.locals.find(name);
    Value wanted = value;
    if (declared != source_.locals.end())
        wanted = declared_value(value, declared->second, origin, "variable '" + name + "'");
    if (lets_wait(name, wanted, origin)) return;
    wanted = made(wanted, origin);
    // An item may read what is stored under the name before it.
    if (wanted.items.size() > 1) wanted = kept_apart(wanted);
    if (bind_for_handlers(name, wanted, origin)) return;
    env_.names[name] = Binding{store_value(name, wanted, origin), origin};
}

/// As store_value, but always into variables of the given type (which holds the value's).
Value Bindings::move_into(const std::string& name, const Value& value, const Type& type) {
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

/// Runs emit_body with an empty statement list and returns what it emitted.
std::vector<S> Emission::collect(const std::function<void()>& emit_body) {
    std::vector<S> list;
    auto* outer = std::exchange(out_, &list);
    emit_body();
    out_ = outer;
    return list;
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

}  // namespace unisono::frontend
