// Lowers functions that call each other in a circle, see module.h.
#include <algorithm>

#include "frontend/lowerer.h"

namespace unisono::frontend {

static bool same_shape(const ResultShape& a, const ResultShape& b) {
    return a.kind == b.kind && a.index == b.index && a.rank == b.rank && a.code == b.code &&
           a.dtype == b.dtype && a.record == b.record &&
           std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_shape);
}

int ModuleLowerer::open_count(const Source& source) const {
    auto is_of = [&](const Instance* i) { return i->source == &source; };
    return static_cast<int>(std::count_if(open_.begin(), open_.end(), is_of));
}

/// Those that are being lowered inside of the one at this place took what is known of its result.
void ModuleLowerer::lean_on(std::size_t place) {
    for (std::size_t k = place + 1; k < open_.size(); ++k)
        open_[k]->leans_on = std::min(open_[k]->leans_on, place);
    if (place + 1 < open_.size()) open_[place]->is_leant_on = true;
}

/// Every attempt but the last has learnt something: a wider result, or one more loop target that is
/// read. Null where more can be learnt only further out.
std::unique_ptr<ir::Function> ModuleLowerer::lower(Instance& instance) {
    struct Open {
        std::vector<Instance*>& list;
        Instance& instance;
        Open(std::vector<Instance*>& all, Instance& one) : list(all), instance(one) {
            instance.place = list.size();
            list.push_back(&instance);
        }
        ~Open() {
            list.pop_back();
            instance.place = Instance::nobody;
        }
    } open(open_, instance);
    if (!instance.learnt) instance.learnt = std::make_shared<Learnt>();
    std::unique_ptr<ir::Function> made;
    constexpr int most_attempts = 10000;  // far more than a function has things to learn
    for (int attempts = 0;; ++attempts) {
        if (attempts == most_attempts)
            fail(ErrorKind::Compile, instance.source->name +
                                         ": its types cannot be inferred, since they change with "
                                         "each attempt; annotate variables, or give the items of "
                                         "lists and dicts one type");
        bool had_result = instance.has_result;
        Type result = instance.result;
        ResultShape shape = instance.shape;
        instance.is_leant_on = false;
        instance.leans_on = Instance::nobody;
        FunctionLowerer attempt(*this, *instance.source, instance, dimensions_, *instance.learnt);
        made = attempt.run();
        bool is_same = had_result == instance.has_result && result == instance.result &&
                       same_shape(shape, instance.shape);
        bool is_settled = made && (is_same || !instance.is_leant_on);
        if (is_settled || (is_same && attempt.waits())) break;
        for (Instance& other : instances_) other.is_current = false;
    }
    // What leans on none further out is done with this one.
    bool is_done = instance.leans_on == Instance::nobody;
    for (Instance& other : instances_) {
        if (other.is_current && other.leans_on >= instance.place) {
            other.is_current = !is_done;
            other.is_done = is_done;
            if (!is_done) other.leans_on = instance.leans_on;
        }
    }
    (is_done ? instance.is_done : instance.is_current) = true;
    if (is_done) instance.learnt.reset();
    return made;
}

const Source* function_of(const Source& source, const Node& node) {
    if (node.index == -1 || node.index == source.self) return &source;
    if (node.index >= 0) {
        auto index = static_cast<std::size_t>(node.index);
        return index < source.callees.size() ? callee_of(source, index) : nullptr;
    }
    auto around = source.around.lock();
    return around ? around->nested.at(static_cast<std::size_t>(-2 - node.index)).get() : nullptr;
}

static void add_called(const Source& source, const Node& node, std::vector<const Source*>& list) {
    auto index = static_cast<std::size_t>(node.index);
    if (node.kind == NodeKind::Function) list.push_back(function_of(source, node));
    if (node.kind == NodeKind::Closure || node.kind == NodeKind::KeptClosure)
        list.push_back(source.nested.at(index).get());
    for (const Node& child : node.children) add_called(source, child, list);
}

bool ModuleLowerer::calls_back(const Source& callee, const Source& caller) {
    auto [it, is_new] = reached_.try_emplace(&callee);
    std::vector<const Source*> list;
    if (is_new) list.push_back(&callee);
    while (!list.empty()) {
        const Source* next = list.back();
        list.pop_back();
        auto [called, is_unread] = called_.try_emplace(next);
        if (is_unread) add_called(*next, next->body, called->second);
        for (const Source* s : called->second) {
            if (s && it->second.insert(s).second) list.push_back(s);
        }
    }
    return it->second.count(&caller) > 0;
}

}  // namespace unisono::frontend
