// Walks each function for the arrays that it loads from and stores to, and repeats that until calls
// add nothing more.
#include "passes/analysis/array_effects.h"

#include <utility>

#include "ir/rewrite.h"

namespace unisono::passes {

using namespace ir;

namespace {

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

/// The effects of each array of each function, as far as they are known.
using Known = std::vector<std::vector<ArrayEffect>>;

class Walk final : public Visitor {
  public:
    Walk(const Module& module, std::size_t function, Known& known)
        : module_(module), f_(module.functions[function]), known_(known), own_(known[function]) {}

    /// Whether anything was added.
    bool run() {
        for (const Array& a : f_.arrays) {
            if (!a.is_view()) continue;
            expr(a.offset);
            for (const auto* list : {&a.extents, &a.view_strides}) {
                for (E e : *list) {
                    if (e) expr(e);  // null: a stride of a known class
                }
            }
        }
        stmt(f_.body);
        // What a slot points to is used as the slot is; chains of slots take a round each.
        for (std::size_t round = 0; round < points_.size(); ++round) {
            for (const auto& [slot, target] : points_) add(target, own_[at(slot)]);
        }
        return added_;
    }

    void expr(E e) override {
        if (e->kind == ExprKind::Load) add(e->id, {true, false});
        if (e->kind == ExprKind::Memory) add(e->id, {true, true});
        children(e);
    }

    void stmt(S s) override {
        switch (s->kind) {
            case StmtKind::Store: add(s->id, {false, true}); break;
            case StmtKind::Atomic: add(s->id, {true, true}); break;
            case StmtKind::Retain: add(s->id, {true, true}); break;  // others see it afterwards
            case StmtKind::Point:
                if (!s->arrays.empty()) points_.emplace_back(s->id, root(s->arrays[0]));
                break;
            case StmtKind::Call: call(*s); break;
            default: break;
        }
        children(s);
    }

  private:
    std::int32_t root(std::int32_t array) const {
        const Array& a = f_.arrays[at(array)];
        return a.is_view() ? a.base : array;
    }

    void add(std::int32_t array, ArrayEffect effect) {
        const Array& a = f_.arrays[at(root(array))];
        ArrayEffect& known = own_[at(root(array))];
        const bool reads = known.reads || effect.reads;
        const bool writes = known.writes || (effect.writes && a.writable);
        added_ = added_ || reads != known.reads || writes != known.writes;
        known = {reads, writes};
    }

    void call(const Stmt& s) {
        const Function& callee = module_.functions[at(s.id)];
        std::size_t k = 0;
        for (const Param& p : callee.params) {
            if (p.is_array()) add(s.arrays[k++], known_[at(s.id)][at(p.array)]);
        }
    }

    const Module& module_;
    const Function& f_;
    Known& known_;
    std::vector<ArrayEffect>& own_;
    std::vector<std::pair<std::int32_t, std::int32_t>> points_;
    bool added_ = false;
};

}  // namespace

std::vector<ArrayEffect> array_effects(const Module& module) {
    Known known;
    for (const Function& f : module.functions) {
        auto& own = known.emplace_back(f.arrays.size());
        const bool is_outside = f.native || !f.body;  // a body stands for native code
        for (std::size_t k = 0; k < own.size() && is_outside; ++k)
            own[k] = {true, f.arrays[k].writable};
    }
    for (bool added = true; added;) {
        added = false;
        for (std::size_t f = 0; f < module.functions.size(); ++f) {
            if (!module.functions[f].native && module.functions[f].body)
                added |= Walk(module, f, known).run();
        }
    }
    std::vector<ArrayEffect> found;
    for (const Param& p : module.entry().params) {
        if (p.is_array()) found.push_back(known[0][at(p.array)]);
    }
    return found;
}

}  // namespace unisono::passes
