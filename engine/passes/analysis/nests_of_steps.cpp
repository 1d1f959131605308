// Takes the statements of a loop one by one, and gives up at the first that does something else.
#include "passes/analysis/nests_of_steps.h"

#include <algorithm>
#include <utility>

#include "passes/cleanup/replace_reads.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

bool has_memory_of(E e, const std::vector<bool>& slots) {
    return (e->kind == ExprKind::Memory && slots[static_cast<std::size_t>(e->id)]) ||
           std::any_of(e->args.begin(), e->args.end(),
                       [&](E a) { return has_memory_of(a, slots); });
}

}  // namespace

NestsOfSteps::NestsOfSteps(const Function& f, const Memories& memories, S loop)
    : f_(f),
      memories_(memories),
      loop_(loop),
      written_(f.vars.size()),
      read_(f.vars.size()),
      varies_(f.vars.size()),
      loaded_(f.vars.size()),
      inner_(f.vars.size()),
      used_(f.arrays.size()),
      changed_(f.arrays.size()) {
    mark_written(loop, written_);
    varies_[static_cast<std::size_t>(loop->id)] = true;
}

bool NestsOfSteps::find() {
    std::int64_t step = 0;
    if (loop_->kind != StmtKind::For || loop_->loop != LoopKind::Serial ||
        !loop_->reductions.empty() || loop_->numbers || loop_->any_order ||
        !is_constant(loop_->args[2], step) || step == 0)
        return false;
    std::vector<S> all;
    flatten(loop_->body, all);
    if (!std::all_of(all.begin(), all.end(), [&](S s) { return take(s); })) return false;
    if (nests.empty() || varies(row_count()) || !is_same_range()) return false;
    return loads_are_apart() && memories_are_known() && gains();
}

bool NestsOfSteps::is_stored(std::int32_t array) const {
    return std::any_of(touched.begin(), touched.end(), [&](const Touched& t) {
        return std::any_of(t.accesses.begin(), t.accesses.end(), [&](const RowAccess& a) {
            return a.is_store && memories_.of(a.array) == memories_.of(array);
        });
    });
}

bool NestsOfSteps::reads(E e, const std::vector<bool>& vars) {
    return (e->kind == ExprKind::Var && vars[static_cast<std::size_t>(e->id)]) ||
           std::any_of(e->args.begin(), e->args.end(), [&](E a) { return reads(a, vars); });
}

bool NestsOfSteps::take(S s) {
    switch (s->kind) {
        case StmtKind::Declare: return !s->args.empty() && take_value(s, declared);
        // The value is the same in each step, and none reads an older one.
        case StmtKind::Assign:
            return !varies(s->args[0]) && !has_load(s->args[0]) && take_value(s, once);
        case StmtKind::Make:
            if (varies(s->args[0]) || has_load(s->args[0]) || !change(s->id)) return false;
            mark_read(s->args[0], read_);
            once.push_back(s);
            return true;
        // New memory of this step.
        case StmtKind::Point:
            if (s->arrays.empty() || !changed_[static_cast<std::size_t>(s->arrays[0])] ||
                !change(s->id))
                return false;
            once.push_back(s);
            return true;
        case StmtKind::For: return take_nest(s);
        case StmtKind::If: return only_raises(s) ? assume(s->args[0], false) : take_chosen(s);
        default: return false;
    }
}

bool NestsOfSteps::change(std::int32_t slot) {
    const auto k = static_cast<std::size_t>(slot);
    if (used_[k] || changed_[k]) return false;
    return changed_[k] = true;
}

bool NestsOfSteps::take_value(S s, std::vector<S>& list) {
    const auto var = static_cast<std::size_t>(s->id);
    mark_read(s->args[0], read_);
    if (read_[var] || taken_.count(s->id)) return false;
    taken_.insert(s->id);
    const bool loads = has_load(s->args[0]);
    varies_[var] = loads || varies(s->args[0]);
    loaded_[var] = loads || is_loaded(s->args[0]);
    (varies_[var] ? list : once).push_back(s);
    note_addresses(s->args[0]);
    return true;
}

bool NestsOfSteps::assume(E test, bool holds) {
    if (has_load(test) || is_loaded(test)) return false;
    mark_read(test, read_);
    note_addresses(test);
    known.push_back({test, holds});
    return true;
}

bool NestsOfSteps::take_chosen(S s) {
    const auto before = known.size();
    auto only = [&](std::span<const S> list) {
        std::vector<S> all;
        flatten(list, all);
        return all.size() == 1 && (all[0]->kind == StmtKind::For ||
                                   (all[0]->kind == StmtKind::If && !only_raises(all[0])))
                   ? all[0]
                   : nullptr;
    };
    for (const bool holds : {true, false}) {
        S chosen = only(holds ? s->body : s->orelse);
        if (!chosen || has_streaming_store(chosen)) continue;
        if (!assume(s->args[0], holds)) return false;
        if (chosen->kind == StmtKind::For ? take_nest(chosen) : take_chosen(chosen)) return true;
        known.resize(before);
    }
    return false;
}

bool NestsOfSteps::take_nest(S s) {
    Nest nest(s);
    if (nest.loops.empty()) return false;
    Touched t(f_, s);
    if (!t.is_simple) return false;
    for (const RowAccess& a : t.accesses) {
        const Array& seen = array(a.array);
        used_[static_cast<std::size_t>(seen.is_view() ? seen.base : a.array)] = true;
    }
    mark_written(s, inner_);
    for (std::size_t v = 0; v < read_.size(); ++v) {
        read_[v] = read_[v] || t.reads[v];
        varies_[v] = varies_[v] || inner_[v];
    }
    nests.push_back(std::move(nest));
    touched.push_back(std::move(t));
    return true;
}

void NestsOfSteps::note_addresses(E e) {
    if (e->kind == ExprKind::Memory) {
        used_[static_cast<std::size_t>(e->id)] = true;
        asked_.push_back(e);
    }
    for (E a : e->args) note_addresses(a);
}

bool NestsOfSteps::is_same_range() const {
    return std::none_of(loop_->args.begin(), loop_->args.end(),
                        [&](E e) { return has_load(e) || reads(e, written_); });
}

bool NestsOfSteps::loads_are_apart() const {
    auto is_apart = [&](auto& self, E e) -> bool {
        if (e->kind == ExprKind::Load &&
            (e->access != Access::Inside || is_stored(e->id) || changed_[base(e->id)]))
            return false;
        return std::all_of(e->args.begin(), e->args.end(), [&](E a) { return self(self, a); });
    };
    return std::all_of(declared.begin(), declared.end(),
                       [&](S s) { return is_apart(is_apart, s->args[0]); });
}

bool NestsOfSteps::memories_are_known() const {
    if (std::any_of(asked_.begin(), asked_.end(), [&](E e) { return has_memory_of(e, changed_); }))
        return false;
    std::unordered_map<std::size_t, std::size_t> starts;
    for (std::size_t n = 0; n < nests.size(); ++n) {
        for (const RowAccess& a : touched[n].accesses) {
            if (!is_stored(a.array)) continue;
            const Array& seen = array(a.array);
            if (a.indices.empty() || a.indices[0]->kind != ExprKind::Var ||
                a.indices[0]->id != nests[n].loops[0]->id || (!seen.is_view() && seen.param < 0) ||
                !is_known_in_front(seen))
                return false;
            auto [start, is_new] = starts.try_emplace(memories_.of(a.array), base(a.array));
            if (!memories_.is_own(a.array) && start->second != base(a.array)) return false;
        }
    }
    return true;
}

bool NestsOfSteps::is_known_in_front(const Array& a) const {
    auto is_known = [&](E e) { return !e || !(reads(e, inner_) || is_loaded(e)); };
    return is_known(a.offset) && std::all_of(a.extents.begin(), a.extents.end(), is_known) &&
           std::all_of(a.view_strides.begin(), a.view_strides.end(), is_known);
}

bool NestsOfSteps::gains() const {
    const bool stores = std::any_of(touched.begin(), touched.end(), [](const Touched& t) {
        return std::any_of(t.accesses.begin(), t.accesses.end(),
                           [](const RowAccess& a) { return a.is_store; });
    });
    if (!stores) return false;
    for (const Touched& t : touched) {
        for (const RowAccess& a : t.accesses) {
            const Array& seen = array(a.array);
            if (!seen.is_view() || !seen.offset || !varies(seen.offset)) continue;
            if (std::all_of(seen.strides.begin(), seen.strides.end(),
                            [](StrideClass c) { return c == StrideClass::Other; }))
                return true;
        }
    }
    return false;
}

}  // namespace unisono::passes
