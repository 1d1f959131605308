// Lowers for over range and prange, while, break and continue.
#include <algorithm>

#include "frontend/control_flow.h"
#include "frontend/records.h"
#include "frontend/tuples.h"

namespace unisono::frontend {

using State = Binding::State;

ControlFlow::Range ControlFlow::loop_range(const Node& node) {
    const Node& iterable = node.children[1];
    const Node* callee = iterable.kind == NodeKind::Call ? &iterable.children[0] : nullptr;
    bool is_range = callee && callee->kind == NodeKind::Builtin &&
                    (callee->text == "range" || callee->text == "un.prange");
    if (callee && callee->kind == NodeKind::Opaque) expression(*callee);  // says what it is
    if (!is_range) {
        refuse(iterable.place, "a compiled function loops over range(...) or un.prange(...) only",
               "write `for i in range(len(a))` and index with i");
    }
    std::vector<const Node*> nodes, keywords;
    for (std::size_t i = 1; i < iterable.children.size(); ++i) {
        if (iterable.children[i].kind == NodeKind::Keyword) {
            static const std::set<std::string> known = {"schedule", "chunk", "chunksize",
                                                        "num_threads"};
            if (callee->text == "un.prange" && known.count(iterable.children[i].text)) {
                keywords.push_back(&iterable.children[i]);
                continue;
            }
            refuse(iterable.children[i].place,
                   callee->text + " takes no keyword '" + iterable.children[i].text + "'",
                   "give begin, end and step by position");
        }
        nodes.push_back(&iterable.children[i]);
    }
    if (nodes.empty() || nodes.size() > 3) {
        refuse(iterable.place, "range takes 1 to 3 arguments; got " + std::to_string(nodes.size()),
               "write range(end), range(begin, end) or range(begin, end, step)");
    }
    auto values = operands(nodes);
    std::vector<E> e;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Value& v = want_scalar(values[i], nodes[i]->place, "an argument of range");
        if (is_float(v.type.dtype)) {
            refuse(nodes[i]->place,
                   "an argument of range must be an integer; got " + describe(v.type),
                   "use // instead of /, or convert it with int(...)");
        }
        e.push_back(settle(cast(v.expr, DType::Int64)));
    }
    Range r{e.size() == 1 ? i64(0) : e[0], e.size() == 1 ? e[0] : e[1],
            e.size() == 3 ? e[2] : i64(1), false,
            callee->text == "un.prange" && (region_ || !source_.options.runs_serially)};
    r.schedule = source_.options.schedule;
    if (source_.options.chunk > 0) r.chunk = i64(source_.options.chunk);
    for (const Node* keyword : keywords) read_schedule(*keyword, r);
    auto step = constant_int(r.step);
    if (step && *step == 0)
        refuse(nodes[2]->place, "the step of a range must not be zero", "give another step");
    if (!step) {
        fault_if(op_binary(Op::Eq, r.step, i64(0)), ErrorKind::Value,
                 "range() arg 3 must not be zero", nodes[2]->place);
    }
    auto begin = constant_int(r.begin), end = constant_int(r.end);
    bool is_short = callee->text == "range" && nodes.size() == 1;
    if (is_short && may_change(*nodes[0], node.children[2], r)) return r;
    r.runs = begin && end && step && (*step > 0 ? *begin < *end : *begin > *end);
    return r;
}

/// Whether the body, by an item of the loop's tuple of texts, names fields of records.
static bool names_fields(const Names<Binding>& names, const Node& body, const Node& visit) {
    bool found = false;
    auto is_key = [&](const Node& n, const std::string& name) {
        if (n.kind != NodeKind::Subscript || n.children.size() != 2) return;
        if (n.children[1].kind != NodeKind::Name || n.children[1].text != name) return;
        const Node* root = &n.children[0];
        while (root->kind != NodeKind::Name && !root->children.empty()) root = &root->children[0];
        auto held = root->kind == NodeKind::Name ? names.find(root->text) : names.end();
        found = found || (held != names.end() && holds_records(held->second.value.type));
    };
    walk(body, [&](const Node& n) {
        if (n.kind != NodeKind::Assign || n.children.size() != 2) return;
        bool takes = false;
        walk(n.children[1], [&](const Node& value) { takes = takes || &value == &visit; });
        if (!takes) return;
        walk(n.children[0], [&](const Node& target) {
            if (target.kind == NodeKind::Name)
                walk(body, [&](const Node& key) { is_key(key, target.text); });
        });
    });
    return found;
}

/// Whether the body names an item, by the loop's variable, of a tuple whose items' types differ.
/// Arrays of one dtype and rank count as different where the loop can run once for each, and so do
/// texts that name fields.
static bool visits_mixed_tuple(const Names<Binding>& names, const Node& node, bool leaves) {
    bool found = false;
    walk(node.children[2], [&](const Node& n) {
        if (n.kind != NodeKind::Subscript) return;
        const Node& whole = n.children[0];
        bool is_visit = n.children.size() == 2 && n.children[1].kind == NodeKind::Name &&
                        n.children[1].text == node.children[0].text;
        auto is_text = [](const Node& item) { return item.kind == NodeKind::Text; };
        if (is_visit && !leaves && whole.kind == NodeKind::Tuple &&
            std::all_of(whole.children.begin(), whole.children.end(), is_text))
            found = found || names_fields(names, node.children[2], n);
        auto held = whole.kind == NodeKind::Name ? names.find(whole.text) : names.end();
        if (!is_visit || held == names.end()) return;
        const Type& type = held->second.value.type;
        bool is_alike = has_one_type(type) || (leaves && has_arrays_alike(type));
        bool are_texts = type.is_tuple() && !leaves && !type.items.empty() && has_one_type(type) &&
                         type.items[0].is_text();
        found = found || (type.is_tuple() && !is_alike) ||
                (are_texts && names_fields(names, node.children[2], n));
    });
    return found;
}

/// Whether the body, but for loops in it, adds an item to a tuple.
static bool grows_tuple(const Node& node) {
    if (node.kind == NodeKind::For || node.kind == NodeKind::While) return false;
    if (node.kind == NodeKind::Call && node.children[0].text == "tuple_grown") return true;
    return std::any_of(node.children.begin(), node.children.end(), grows_tuple);
}

void ControlFlow::loop_for(const Node& node) {
    if (node.children[0].kind != NodeKind::Name) {
        refuse(node.children[0].place, "the target of a for loop must be a name",
               "unpack inside of the loop");
    }
    Range range = loop_range(node);
    // A loop over a tuple whose items have several types runs once for each, with its own types.
    constexpr std::int64_t most_items = 64;
    auto count = constant_int(range.end);
    bool is_short = !range.is_parallel && constant_int(range.begin) == 0 && count &&
                    *count <= most_items && constant_int(range.step) == 1;
    bool leaves = false;
    walk(node.children[2], [&](const Node& n) {
        leaves |= n.kind == NodeKind::Break || n.kind == NodeKind::Continue;
    });
    const bool grows = grows_tuple(node.children[2]);
    if (grows && !is_short)
        refuse(node.place, "how many items a tuple has must be known when compiling, up to 64",
               "use a list, or write (x[0], x[1])");
    if (is_short && (grows || visits_mixed_tuple(env_.names, node, leaves && !source_.is_kernel))) {
        walk(node.children[2], [&](const Node& n) {
            if (n.kind == NodeKind::Break || n.kind == NodeKind::Continue)
                refuse(n.place, "break or continue in a loop over a tuple of several types",
                       "write the test around the statements");
        });
        for (std::int64_t k = 0; k < *count && env_.reachable; ++k) {
            auto [it, is_new] = learnt_.calls_by_name.emplace(
                std::pair(&node, "item " + std::to_string(k)), nullptr);
            if (is_new) it->second = std::make_unique<Node>(node.children[2]);
            env_.names[node.children[0].text] =
                Binding{scalar(i64(k), Weak::Int), node.children[0].place};
            note_assigned(node.children[0].text, Type::python(Weak::Int));
            emit(nested(*it->second));
        }
        if (node.children.size() > 3 && env_.reachable) emit(nested(node.children[3]));
        return;
    }
    const ParallelPlan* plan = nullptr;
    if (range.is_parallel) {
        auto it = learnt_.plans.find(&node);
        if (it == learnt_.plans.end()) {
            std::set<std::string> outer;
            for (const auto& [name, b] : env_.names) {
                if (b.state == State::Defined || b.state == State::Maybe) outer.insert(name);
            }
            it = learnt_.plans.emplace(&node, plan_parallel(source_, node, outer)).first;
        }
        // Arrays that are combined as a whole are reduced as arrays.
        for (auto r = it->second.reductions.begin(); r != it->second.reductions.end();) {
            auto held = env_.names.find(r->first);
            bool is_array = held != env_.names.end() && held->second.value.type.is_array();
            if (is_array) it->second.array_reductions.insert(*r);
            walk(node.children[2], [&](const Node& n) {
                bool rebinds = n.kind == NodeKind::Assign && n.children[0].kind == NodeKind::Name &&
                               n.children[0].text == r->first;
                if (is_array && rebinds) it->second.rebound.insert(r->first);
            });
            r = is_array ? it->second.reductions.erase(r) : std::next(r);
        }
        plan = &it->second;
        auto& guess = learnt_.guesses[&node];
        for (const auto& [name, op] : plan->reductions) {
            Value start = read_name(*occurrences(node, name)[0].node);
            if (start.type.is_array()) continue;
            want_number(start, node.place, "the reduction variable '" + name + "'");
            want_reducible(start, op, node.place);
            if (!guess.count(name)) guess[name] = start.type;
        }
        report_ += describe(source_, node, *plan, parallel_depth_ > 0);
        if (parallel_depth_ == 0 || region_) warn_of_sharing(node, range, *plan);
        // The new array of `m = np.maximum(m, a)` is made once, and combined in place.
        if (parallel_depth_ == 0) {
            in_place_ = plan->rebound;
            for (const std::string& name : in_place_) {
                Value start = made(env_.names.at(name).value, node.place);
                Value own = make_array(start.type.dtype, extents_of(start), node.place);
                assign_elements(own, start, node.place);
                bind(name, own, node.place);
            }
        }
    }
    const std::string& target = node.children[0].text;
    auto held = env_.names.find(target);
    if (learnt_.targets_read_after.count(&node) && held != env_.names.end() &&
        held->second.state == State::Defined) {
        Binding counter{scalar(range.begin, Weak::Int), node.children[0].place};
        if (held->second.value.type != counter.value.type)
            refuse_join(target, held->second, counter);
        learnt_.guesses[&node][target] = counter.value.type;
    }
    auto saved = checkpoint();
    Env before = env_;
    while (!try_for(node, range, plan)) {
        restore(saved);
        env_ = before;
    }
    if (parallel_depth_ == 0) in_place_.clear();
}

/// Calls visit(name, binding) for what `now` has and `before` has not.
template <class F>
static void each_new(const Names<Binding>& before, const Names<Binding>& now, F&& visit) {
    now.with_different(Names<Binding>(before), [&](const auto& part, const auto& known) {
        for (const auto& [name, b] : part) {
            if (!known.count(name)) visit(name, b);
        }
    });
}

static std::vector<ir::Reduction> reductions_of(const ParallelPlan& plan, const Env& header) {
    std::vector<ir::Reduction> list;
    for (const auto& [name, op] : plan.reductions)
        list.push_back({header.names.at(name).value.expr->id, op});
    return list;
}

/// Sums of complex numbers are sums of their parts; their products have no number to begin with.
void ControlFlow::want_reducible(const Value& v, Op op, const Place& place) {
    if (!v.type.is_complex() || op == Op::Add) return;
    refuse(place, "prange combines complex numbers by += only",
           "store the numbers into an array and combine them behind the loop");
}

bool ControlFlow::try_for(const Node& node, const Range& range, const ParallelPlan* plan) {
    const Node& target = node.children[0];
    const Node& body = node.children[2];
    Loop loop{&node, &learnt_.guesses[&node], {}, {}, {}, plan != nullptr, plan, frames_.size()};
    const Node* orelse = node.children.size() > 3 ? &node.children[3] : nullptr;
    if (orelse && !plan) loop.broke = b_->var("broke", DType::Bool);
    loop.header = loop_header(loop);
    Parts parts;
    std::map<std::string, Binding> whole;
    if (plan && parallel_depth_ == 0) {
        parts = make_parts(*plan, range, node.place);
        for (const auto& [name, all] : parts.arrays) {
            whole[name] = loop.header.names.at(name);
            loop.header.names.at(name).value = copy_for_part(all, b_->read(parts.var));
        }
    }
    std::int32_t var = b_->var(target.text, DType::Int64);
    auto first = constant_int(range.begin), step = constant_int(range.step);
    if (first && step && *step > 0) lower_bounds_[var] = *first;

    env_ = loop.header;
    loops_.push_back(&loop);
    parallel_depth_ += loop.is_parallel;
    bool is_read_after = learnt_.targets_read_after.count(&node) > 0 && !plan;
    std::set<std::string> privates;
    if (plan) privates = plan->privates;
    S inside = nested(body, privates, [&] {
        if (range.until) leave_at_end(range, b_->read(var));
        Value counter = scalar(b_->read(var), Weak::Int);
        if (is_read_after) set_variable(target.text, counter.expr);
        env_.names[target.text] = Binding{counter, target.place};
        note_assigned(target.text, counter.type);
        if (is_read_after && assigned_names(body).count(target.text))
            bind(target.text, counter, target.place);
    });
    parallel_depth_ -= loop.is_parallel;
    loops_.pop_back();
    if (env_.reachable) {
        auto* outer = out_;
        std::vector<S> list(inside->body.begin(), inside->body.end());
        out_ = &list;
        arrive(*loop.guess);
        out_ = outer;
        inside = b_->block(list);
        loop.back.push_back(env_);
    }
    for (Env& edge : loop.back) edge.names.erase(target.text);
    if (!resolve_header(loop)) return false;

    Env after = loop.header;
    if (!loop.back.empty()) {
        each_new(after.names, loop.back.back().names, [&](const std::string& name, Binding seen) {
            if (!range.runs && seen.state == State::Defined) seen.state = State::Maybe;
            if (seen.state == State::LoopLast && !range.runs) seen.is_maybe = true;
            after.names[name] = seen;
        });
    }
    bind_target_after(node, after, range.runs && !loop.back.empty());
    S rest = orelse ? otherwise(loop, orelse, after) : nullptr;
    if (!resolve_exit(loop, after, after.reachable)) return false;
    for (const auto& [name, binding] : whole) env_.names[name] = binding;
    if (plan) {
        for (const std::string& name : plan->privates) {
            Binding b;
            b.state = State::AfterPrange;
            b.loop = &node;
            b.origin = node.place;
            env_.names[name] = b;
        }
    }
    at(node.place);
    bool is_outermost = plan && parallel_depth_ == 0;
    std::vector<ir::Reduction> reductions;
    if (is_outermost) reductions = reductions_of(*plan, loop.header);
    if (loop.broke >= 0) emit(b_->declare(loop.broke, b_->boolean(false)));
    bool is_share = plan && region_ && parallel_depth_ == 1;
    emit(is_share ? shared_out(range, var, inside)
         : is_outermost
             ? scheduled(range, var, inside, reductions, parts)
             : b_->loop(ir::LoopKind::Serial, var, range.begin, range.end, range.step, inside));
    if (is_outermost) add_parts(parts, *plan, node.place);
    if (rest) emit(b_->branch(b_->unary(Op::Not, b_->read(loop.broke)), rest));
    return true;
}

/// The else of a loop: runs where no break left it. `after` is the environment of the normal exit.
S ControlFlow::otherwise(Loop& loop, const Node* block, Env& after) {
    if (loop.broke < 0) refuse(loop.node->place, "prange has no else", "write it after the loop");
    env_ = after;
    S made = nested(*block);
    std::vector<S> list(made->body.begin(), made->body.end());
    if (env_.reachable) {
        auto* outer = std::exchange(out_, &list);
        arrive(*loop.guess);
        out_ = outer;
    }
    after = env_;
    return b_->block(list);
}

/// What the target's name stands for behind the loop. Most programs do not read it there, so its
/// last value is kept only once a read has been seen.
void ControlFlow::bind_target_after(const Node& node, Env& after, bool runs) {
    const Node& target = node.children[0];
    auto it = after.names.find(target.text);
    bool was_defined = it != after.names.end() && it->second.state == State::Defined;
    Binding b;
    b.origin = target.place;
    if (learnt_.targets_read_after.count(&node)) {
        b.value = scalar(b_->read(variable(target.text, DType::Int64)), Weak::Int);
        b.state = was_defined || runs ? State::Defined : State::Maybe;
    } else {
        b.state = State::LoopLast;
        b.loop = &node;
        b.is_maybe = !was_defined && !runs;
    }
    after.names[target.text] = b;
}

void ControlFlow::loop_while(const Node& node) {
    auto saved = checkpoint();
    Env before = env_;
    while (!try_while(node)) {
        restore(saved);
        env_ = before;
    }
}

bool ControlFlow::try_while(const Node& node) {
    const Node& body = node.children[1];
    Loop loop{&node, &learnt_.guesses[&node], {}, {}, {}, false, nullptr, frames_.size()};
    const Node* orelse = node.children.size() > 2 ? &node.children[2] : nullptr;
    if (orelse) loop.broke = b_->var("broke", DType::Bool);
    loop.header = loop_header(loop);
    env_ = loop.header;
    E test = nullptr;
    std::vector<S> prologue = collect([&] { test = condition(node.children[0]); });
    auto known = constant_int(test);
    loops_.push_back(&loop);
    assume(node.children[0], true);
    S inside = nested(body);
    loops_.pop_back();
    std::vector<S> list(inside->body.begin(), inside->body.end());
    if (env_.reachable) {
        auto* outer = std::exchange(out_, &list);
        arrive(*loop.guess);
        out_ = outer;
        loop.back.push_back(env_);
    }
    if (!resolve_header(loop)) return false;
    Env after = loop.header;
    if (!loop.back.empty()) {
        each_new(after.names, loop.back.back().names, [&](const std::string& name, Binding seen) {
            if (seen.state == State::Defined) seen.state = State::Maybe;
            if (seen.state == State::LoopLast) seen.is_maybe = true;
            after.names[name] = seen;
        });
    }
    bool is_endless = known && *known;
    after.reachable = !is_endless;
    S rest = orelse && !is_endless ? otherwise(loop, orelse, after) : nullptr;
    if (!resolve_exit(loop, after, after.reachable)) return false;
    at(node.place);
    if (loop.broke >= 0) emit(b_->declare(loop.broke, b_->boolean(false)));
    if (!prologue.empty()) {
        prologue.push_back(b_->branch(op_unary(Op::Not, test), b_->block({b_->leave()})));
        list.insert(list.begin(), prologue.begin(), prologue.end());
        test = b_->boolean(true);
    }
    emit(b_->loop_while(test, b_->block(list)));
    if (rest) emit(b_->branch(b_->unary(Op::Not, b_->read(loop.broke)), rest));
    return true;
}

/// The environment as control leaves the loop's body: names at home in the body end there.
Env ControlFlow::leaving(const Loop& loop) const {
    Env env = env_;
    for (std::size_t i = loop.depth; i < frames_.size(); ++i)
        forget_names_of(*frames_[i].block, env);
    return env;
}

void ControlFlow::leave_loop(const Node& node) {
    if (leaves_by_final(true)) return;
    Loop& loop = *loops_.back();
    if (loop.is_parallel) {
        refuse(node.place, "break inside prange: iterations run in any order",
               "use range, or note the result in a reduction variable");
    }
    arrive(*loop.guess);
    // At a break the target has the value of this iteration; the head does not know it.
    const Node& owner = *loop.node;
    if (owner.kind == NodeKind::For) {
        const std::string& target = owner.children[0].text;
        Binding& b = env_.names[target];
        if (learnt_.targets_read_after.count(&owner)) {
            if (b.value.type == Type::python(Weak::Int))
                b.value = move_into(target, b.value, b.value.type);
        } else {
            b.state = State::LoopLast;
            b.loop = &owner;
        }
    }
    loop.breaks.push_back(leaving(loop));
    at(node.place);
    if (loop.broke >= 0) emit(b_->assign(loop.broke, b_->boolean(true)));
    emit(b_->leave());
    env_.reachable = false;
}

void ControlFlow::next_iteration(const Node& node) {
    if (leaves_by_final(false)) return;
    Loop& loop = *loops_.back();
    arrive(*loop.guess);
    loop.back.push_back(leaving(loop));
    at(node.place);
    emit(b_->next());
    env_.reachable = false;
}

}  // namespace unisono::frontend
