// Where the locals of a Python function live in IR: homes, variables per dtype, temporaries,
// checkpoints.
#include "frontend/bindings.h"

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
    for (const auto& [name, type] : learnt.late_names) homes_[name] = &source.body;
    for (const auto& [name, block] : homes_) names_at_home_.emplace(block, &name);
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
    texts_at_entry_.clear();  // what was put at the entry since is gone; once more does no harm
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

/// A variable of the statement's own, which it may change.
std::int32_t Emission::declared(const char* name, E value) {
    std::int32_t id = b_->var(name, value->dtype);
    emit(b_->declare(id, value));
    return id;
}

std::int32_t Emission::private_array(const char* name, DType t, std::int64_t count) {
    std::int32_t id = b_->local_array(name, t, 1, ir::Space::Private);
    emit(b_->allocate(id, std::vector<E>{i64(count)}));
    return id;
}

}  // namespace unisono::frontend
