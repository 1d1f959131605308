// with parallel(): a block that logical threads run, each with variables of its own.
//
// The block is cut at its barriers; each piece is a parallel loop over the threads, so that no
// thread ever waits for another. What a thread's variables hold from one piece to the next lies in
// arrays with an element per thread. A loop over prange is shared out among the threads, and the
// block is cut behind it where what it writes is used later. A serial loop or branch that holds a
// barrier runs around the pieces. What makes tasks runs once, between pieces; the tasks themselves
// are a loop over prange.
#include <algorithm>

#include "core/threads/threads.h"
#include "frontend/control_flow.h"

namespace unisono::frontend {

static bool is_call_of(const Node& n, const std::string& name) {
    return n.kind == NodeKind::Call && n.children[0].kind == NodeKind::Builtin &&
           n.children[0].text == name;
}
static bool is_barrier(const Node& s) {
    return s.kind == NodeKind::Evaluate && is_call_of(s.children[0], "un.barrier");
}
static bool is_shared_loop(const Node& s) {
    return s.kind == NodeKind::For && is_call_of(s.children[1], "un.prange");
}
static bool has_barrier(const Node& s) {
    return is_barrier(s) || s.kind == NodeKind::Single ||
           std::any_of(s.children.begin(), s.children.end(), has_barrier);
}
static bool has_shared_loop(const Node& s) {
    return is_shared_loop(s) || std::any_of(s.children.begin(), s.children.end(), has_shared_loop);
}

/// Names of arrays whose items the subtree stores into.
static void written_arrays(const Node& n, std::set<std::string>& names) {
    auto note = [&](const Node& target, auto&& self) -> void {
        if (target.kind == NodeKind::Subscript && target.children[0].kind == NodeKind::Name)
            names.insert(target.children[0].text);
        if (target.kind == NodeKind::Tuple)
            for (const Node& item : target.children) self(item, self);
    };
    if (n.kind == NodeKind::Assign)
        for (std::size_t i = 0; i + 1 < n.children.size(); ++i) note(n.children[i], note);
    if (n.kind == NodeKind::AugAssign) note(n.children[0], note);
    if (n.kind == NodeKind::Call) {  // a function may write what it is given
        for (std::size_t i = 1; i < n.children.size(); ++i)
            if (n.children[i].kind == NodeKind::Name) names.insert(n.children[i].text);
    }
    for (const Node& child : n.children) written_arrays(child, names);
}

/// The block without what runs once for all threads: names assigned there are no thread's own.
static Node without_singles(const Node& n) {
    Node made = n;
    std::erase_if(made.children, [](const Node& c) { return c.kind == NodeKind::Single; });
    for (Node& child : made.children) child = without_singles(child);
    return made;
}

void ControlFlow::region(const Node& node) {
    const Node& body = node.children[1];
    if (parallel_depth_ > 0) {
        refuse(node.place, "parallel() inside of a parallel loop or region",
               "use prange and range inside");
    }
    Region r;
    r.node = &node;
    Value threads = expression(node.children[0]);
    if (threads.type.kind == Type::Kind::None) {
        r.threads = i64(thread_count());
    } else {
        want_scalar(threads, node.place, "num_threads");
        if (!is_integer(threads.type.dtype))
            refuse(node.place, "num_threads must be an integer; got " + describe(threads.type),
                   "give the number of threads");
        r.threads = temporary(cast(threads.expr, DType::Int64), "threads");
        fault_if(op_binary(Op::Lt, r.threads, i64(1)), ErrorKind::Value,
                 "num_threads must be at least 1; got {0}", node.place, {r.threads});
    }
    std::set<std::string> outer;
    for (const auto& [name, b] : env_.names) {
        if (b.state == Binding::State::Defined || b.state == Binding::State::Maybe)
            outer.insert(name);
    }
    r.plan = plan_names(source_, without_singles(body), outer);
    r.outer = outer;
    for (const auto& [name, op] : r.plan.reductions) {
        Binding& b = env_.names.at(name);
        want_number(b.value, node.place, "the reduction variable '" + name + "'");
        want_reducible(b.value, op, node.place);
        auto wider = learnt_.guesses[&node].emplace(name, b.value.type).first;
        auto joined = join(wider->second, b.value.type);
        if (joined) b.value = move_into(name, b.value, *joined);
    }
    report_ += source_.name + ": parallel region at line " + std::to_string(node.place.line) + "\n";
    for (const std::string& name : r.plan.privates) {
        Binding b;
        b.state = Binding::State::Private;
        b.loop = &node;
        b.origin = node.place;
        env_.names[name] = b;
    }
    std::vector<S> pieces = collect([&] {
        region_ = &r;
        region_block(body.children);
        region_ = nullptr;
    });
    out_->insert(out_->end(), r.prologue.begin(), r.prologue.end());
    out_->insert(out_->end(), pieces.begin(), pieces.end());
    for (const std::string& name : r.plan.privates) {
        Binding b;
        b.state = Binding::State::AfterPrange;
        b.loop = &node;
        b.origin = node.place;
        env_.names[name] = b;
    }
}

/// Cuts statements into pieces and lowers them.
void ControlFlow::region_block(std::span<const Node> statements) {
    std::vector<const Node*> piece;
    auto finish = [&] {
        if (!piece.empty()) region_piece(piece);
        piece.clear();
    };
    for (std::size_t i = 0; i < statements.size(); ++i) {
        const Node& s = statements[i];
        if (is_barrier(s)) {
            finish();
            continue;
        }
        if (s.kind == NodeKind::Single) {
            finish();
            run_once(s);
            continue;
        }
        bool is_cut_inside = !is_shared_loop(s) && (has_barrier(s) || has_shared_loop(s)) &&
                             (s.kind == NodeKind::For || s.kind == NodeKind::If);
        if (is_cut_inside) {
            finish();
            region_around(s);
            continue;
        }
        if (has_barrier(s)) {
            refuse(s.place, "a barrier or tasks() that not every thread of the region may reach",
                   "put it at the top of the region, or into a serial loop over a range there");
        }
        piece.push_back(&s);
        if (!is_shared_loop(s)) continue;
        // Behind a loop that is shared out the others wait where its results are used.
        std::set<std::string> written;
        written_arrays(s, written);
        bool is_used = region_->loop_depth > 0 || s.text == "tasks";
        for (std::size_t k = i + 1; k < statements.size(); ++k) {
            for (const std::string& name : written) {
                bool is_own = region_->plan.privates.count(name) > 0;
                is_used = is_used || (!is_own && mentions(statements[k], name));
            }
        }
        if (is_used) finish();
    }
    finish();
}

/// Statements between pieces: they run once, with the names that all threads share.
void ControlFlow::run_once(const Node& s) {
    const Node& block = s.children[0];
    if (has_shared_loop(block))
        refuse(s.place, "a loop over prange among the statements of tasks()",
               "write range, or put the loop in front of the block");
    for (const std::string& name : assigned_names(block)) {
        if (region_->loop_depth > 0 && region_->outer.count(name))
            refuse(
                s.place,
                "'" + name + "' from before the region is assigned by a block of tasks() in a loop",
                "give the block names of its own, and count in an array");
        bool is_reduced = region_->plan.reductions.count(name) > 0;
        if (!is_reduced && !region_->plan.privates.count(name)) continue;
        refuse(s.place,
               "'" + name + "' is assigned by each thread of the region and by a block of tasks()",
               "give the block, which one thread runs, names of its own");
    }
    for (const Node& inner : block.children) {
        if (env_.reachable) try_statement(inner);
    }
}

/// A serial loop or branch around pieces: the same for all threads.
void ControlFlow::region_around(const Node& s) {
    if (s.kind == NodeKind::If) {
        E test = settle(condition(s.children[0]));
        Env before = env_;
        std::vector<S> yes = collect([&] { region_block(s.children[1].children); });
        env_ = before;
        std::vector<S> no = collect([&] { region_block(s.children[2].children); });
        env_ = before;
        at(s.place);
        emit(b_->branch(test, b_->block(yes), no.empty() ? nullptr : b_->block(no)));
        return;
    }
    if (s.children.size() > 3 || s.children[0].kind != NodeKind::Name) {
        refuse(s.place, "this loop holds a barrier or a loop over prange",
               "write `for k in range(...)` without else");
    }
    Range range = loop_range(s);
    std::int32_t var = b_->var(s.children[0].text, DType::Int64);
    if (auto first = constant_int(range.begin); first && constant_int(range.step).value_or(0) > 0)
        lower_bounds_[var] = *first;
    const std::string& target = s.children[0].text;
    Binding held = env_.names[target];
    region_->uniform.insert(target);
    env_.names[target] = Binding{scalar(b_->read(var), Weak::Int), s.children[0].place};
    ++region_->loop_depth;
    std::vector<S> inside = collect([&] { region_block(s.children[2].children); });
    --region_->loop_depth;
    walk(s, [&](const Node& n) {  // the loop may not have run
        if (n.kind != NodeKind::Single) return;
        for (const std::string& name : assigned_names(n)) env_.names.erase(name);
    });
    region_->uniform.erase(target);
    env_.names[target] = held;
    at(s.place);
    emit(
        b_->loop(ir::LoopKind::Serial, var, range.begin, range.end, range.step, b_->block(inside)));
}

/// One piece: a parallel loop over the threads.
void ControlFlow::region_piece(const std::vector<const Node*>& piece) {
    Region& r = *region_;
    const Node& body = r.node->children[1];
    Env before = env_;
    r.lane = b_->var("thread", DType::Int64);
    lower_bounds_[r.lane] = 0;
    std::set<std::string> privates = r.plan.privates;
    for (const std::string& name : r.uniform) privates.erase(name);
    std::vector<S> list;
    auto* outer = std::exchange(out_, &list);
    r.frame = frames_.size();
    frames_.push_back(Frame{&body, &list, {}, privates, {}, {}});
    ++parallel_depth_;
    for (const auto& [name, kept] : r.kept) {
        E value = b_->load(kept.view, {b_->read(r.lane)}, ir::Access::Inside);
        set_variable(name, value);
        E held = b_->read(variable(name, kept.type.dtype));
        env_.names[name] = Binding{scalar(held, kept.type.weak), r.node->place};
    }
    for (const Node* s : piece) {
        if (env_.reachable) try_statement(*s);
    }
    if (!env_.reachable)
        refuse(piece.back()->place, "the region is left early here",
               "let every thread reach its end");
    for (const std::string& name : privates) {
        Binding& b = env_.names[name];
        if (b.state == Binding::State::Defined) keep_for_threads(name, b);
    }
    --parallel_depth_;
    std::vector<S> all = std::move(frames_.back().declares);
    frames_.pop_back();
    all.insert(all.end(), list.begin(), list.end());
    out_ = outer;
    std::vector<ir::Reduction> reductions;
    for (const auto& [name, op] : r.plan.reductions) {
        const Binding &was = before.names.at(name), &is = env_.names.at(name);
        if (is.value.type != was.value.type) {
            // The variable starts with the type that it gets: known when all is lowered again.
            if (auto joined = join(was.value.type, is.value.type)) {
                learnt_.guesses[r.node][name] = *joined;
                region_ = nullptr;
                throw Restart{};
            }
            refuse(is.origin,
                   "the reduction variable '" + name + "' becomes " + describe(is.value.type),
                   "start it as " + describe(is.value.type), {{was.origin, "it starts here"}});
        }
        want_reducible(is.value, op, is.origin);
        reductions.push_back({was.value.expr->id, op});
    }
    at(r.node->place);
    emit(b_->loop(ir::LoopKind::Parallel, r.lane, i64(0), r.threads, i64(1), b_->block(all),
                  reductions));
    // What the threads hold is read again at the head of the next piece.
    Env after = env_;
    env_ = before;
    for (const std::string& name : privates) {
        if (!r.kept.count(name)) env_.names[name] = after.names[name];
    }
}

/// Whether a serial loop around pieces assigns the name: its iterations read what the last one
/// left.
static bool is_assigned_in_loop(const Node& block, const std::string& name) {
    return std::any_of(block.children.begin(), block.children.end(), [&](const Node& s) {
        bool is_around = !is_shared_loop(s) && (has_barrier(s) || has_shared_loop(s));
        return is_around && assigned_names(s).count(name) > 0;
    });
}

/// Puts a thread's variable into its element of an array. Arrays of its own end with the piece.
void ControlFlow::keep_for_threads(const std::string& name, Binding& b) {
    Region& r = *region_;
    if (!b.value.type.is_scalar()) {
        b.state = Binding::State::AfterPrange;
        b.loop = r.node;
        return;
    }
    bool is_constant = is_invariant(b.value.expr) && r.loop_depth == 0;
    if (is_constant && !r.kept.count(name) && !is_assigned_in_loop(r.node->children[1], name))
        return;
    auto it = r.kept.find(name);
    if (it == r.kept.end()) {
        Region::Kept kept;
        kept.type = b.value.type;
        std::int32_t slot = b_->slot(name + ".threads", kept.type.dtype, true);
        kept.view = b_->view(name + ".threads", slot, i64(0), {r.threads}, {i64(1)},
                             {ir::StrideClass::One}, true);
        r.prologue.push_back(b_->make(slot, r.threads));
        it = r.kept.emplace(name, kept).first;
    }
    if (it->second.type != b.value.type) {
        refuse(b.origin,
               "the thread's variable '" + name + "' is " + describe(it->second.type) +
                   " before a barrier and " + describe(b.value.type) + " behind it",
               "give it one type");
    }
    emit(b_->store(it->second.view, std::vector<E>{b_->read(r.lane)}, b.value.expr,
                   ir::Access::Inside));
}

/// The thread's share of a loop: a run of iterations, or every so many chunks.
S ControlFlow::shared_out(const Range& range, std::int32_t var, S inside) {
    E count = trip_count(range);
    E thread = b_->read(region_->lane);
    auto at_iteration = [&](E k) {
        return op_binary(Op::Add, range.begin, op_binary(Op::Mul, k, range.step));
    };
    auto divided = [&](E a, E b) {
        return op_binary(Op::FloorDiv, op_binary(Op::Sub, op_binary(Op::Add, a, b), i64(1)), b);
    };
    bool is_dealt_out = range.chunk || range.schedule == "dynamic" || range.schedule == "guided";
    E size = range.chunk ? range.chunk : i64(1);
    if (!is_dealt_out) size = temporary(divided(count, region_->threads), "share");
    std::int32_t chunk = b_->var("chunk", DType::Int64);
    E first = op_binary(Op::Mul, b_->read(chunk), size);
    E last = op_binary(Op::Min, op_binary(Op::Add, first, size), count);
    S of_chunk = b_->loop(ir::LoopKind::Serial, var, at_iteration(first), at_iteration(last),
                          range.step, inside);
    if (!is_dealt_out) {
        E end = op_binary(Op::Add, thread, i64(1));
        return b_->loop(ir::LoopKind::Serial, chunk, thread, end, i64(1), b_->block({of_chunk}));
    }
    E chunks = temporary(divided(count, size), "chunks");
    return b_->loop(ir::LoopKind::Serial, chunk, thread, chunks, region_->threads,
                    b_->block({of_chunk}));
}

}  // namespace unisono::frontend
