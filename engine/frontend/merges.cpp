// Joins of environments where paths meet: after branches, at the head of loops and behind them.
#include <algorithm>

#include "frontend/bindings.h"
#include "frontend/tables.h"

namespace unisono::frontend {

using State = Binding::State;

void Bindings::refuse_join(const std::string& name, const Binding& a, const Binding& b) {
    std::string what = "variable '" + name + "' is " + describe(a.value.type) +
                       " on one path and " + describe(b.value.type) + " on another";
    std::string way_out =
        "give it one type on every path: start from a value of the type that it gets later, or use "
        "another name";
    if (a.value.type.is_list() && b.value.type.is_list()) {
        what = "variable '" + name + "' is a " + describe(a.value.type) + " on one path and a " +
               describe(b.value.type) + " on another";
    }
    if (source_.is_kernel && a.value.type.is_array() && b.value.type.is_array()) {
        what = "variable '" + name + "' stands for different arrays on different paths";
        way_out = "index the one that is meant on each path";
    }
    refuse(b.origin, what, way_out,
           {{a.origin, "'" + name + "' is " + describe(a.value.type) + " from here"}});
}

static Binding mixed(const Binding& a, const Binding& b) {
    Binding made;
    made.state = State::Mixed;
    made.origin = b.origin;
    made.mix = std::make_shared<const Mix>(Mix{a, b});
    return made;
}

/// Whether values of the type may change behind another name, as lists do: what is known of one
/// must hold on all paths.
static bool is_changed_by_others(const Type& t) {
    return t.is_list() || t.kind == Type::Kind::Table || t.kind == Type::Kind::Instance ||
           std::any_of(t.items.begin(), t.items.end(), is_changed_by_others);
}

/// Adds to the guess what lets one variable hold a and b: whether the guess grew, or nothing does.
Bindings::Joined Bindings::learn(std::map<std::string, Type>& guess, const std::string& name,
                                 const Binding& a, const Binding& b) {
    auto never = [&] {
        if (is_changed_by_others(a.value.type) || is_changed_by_others(b.value.type))
            refuse_join(name, a, b);
        return Joined::Never;
    };
    auto there = [](const Value& v) { return v.type.is_optional() ? v.items[1] : v; };
    Tables(*this, b.origin).agree(there(a.value), there(b.value));
    auto joined = join(a.value.type, b.value.type);
    if (!joined && a.value.type.is_object_list()) box_names(b.value);
    if (!joined && b.value.type.is_object_list()) box_names(a.value);
    if (!joined && a.value.type.is_none()) share_list(b.value);
    if (!joined && b.value.type.is_none()) share_list(a.value);
    if (!joined) return never();
    if (depth_of(*joined) > deepest_type)
        refuse(b.origin, "the type of variable '" + name + "' grows with each iteration",
               "keep the values in a list");
    auto it = guess.find(name);
    if (it != guess.end()) {
        auto wider = join(*joined, it->second);
        if (!wider) return never();
        joined = wider;
        if (*joined == it->second) return Joined::Known;
    }
    std::function<bool(const Type&)> holds_array = [&](const Type& t) {
        return t.is_array() || std::any_of(t.items.begin(), t.items.end(), holds_array);
    };
    std::function<bool(const Value&, const Value&)> are_of_one = [&](const Value& x,
                                                                     const Value& y) {
        if (x.type.is_array() && y.type.is_array())
            return x.array >= 0 && y.array >= 0 &&
                   describe_array(x.array).root == describe_array(y.array).root;
        return std::equal(x.items.begin(), x.items.end(), y.items.begin(), y.items.end(),
                          are_of_one);
    };
    if (source_.is_kernel && holds_array(*joined) && !are_of_one(a.value, b.value)) return never();
    guess[name] = *joined;
    return Joined::Wider;
}

/// Moves what the guess names into its variables, as this edge leaves.
void Bindings::arrive(const std::map<std::string, Type>& guess) {
    keep_lists(guess);
    for (const auto& [name, type] : guess) {
        auto it = env_.names.find(name);
        if (it == env_.names.end() || it->second.state != State::Defined) continue;
        if (join(it->second.value.type, type) != type)
            continue;  // the guess is too small: found when it is resolved
        Value moved = move_into(name, it->second.value, type);
        env_.names[name].value = moved;
    }
}

/// The state of a name that is sure on one path only.
static Binding maybe(Binding b) {
    if (b.state == State::Defined) b.state = State::Maybe;
    if (b.state == State::LoopLast) b.is_maybe = true;
    return b;
}

Env Bindings::merge_branches(std::vector<S>& then_list, const Env& then_env,
                             std::vector<S>& else_list, const Env& else_env) {
    if (!then_env.reachable) return else_env;
    if (!else_env.reachable) return then_env;
    std::map<std::string, Type> guess;
    std::map<std::string, Binding> apart;
    then_env.names.with_different(else_env.names, [&](const auto& then, const auto& other) {
        for (const auto& [name, a] : then) {
            auto it = other.find(name);
            if (it == other.end()) continue;
            const Binding& b = it->second;
            if (a.state == State::Defined && b.state == State::Defined &&
                !is_same(a.value, b.value) && learn(guess, name, a, b) == Joined::Never)
                apart[name] = mixed(a, b);
        }
    });
    auto* outer = out_;
    auto close = [&](std::vector<S>& list, const Env& env) {
        out_ = &list;
        env_ = env;
        arrive(guess);
        return env_;
    };
    Env yes = close(then_list, then_env), no = close(else_list, else_env);
    out_ = outer;
    Env merged = no;
    merged.reachable = true;
    yes.names.with_different(no.names, [&](const auto& then, const auto& other) {
        for (const auto& [name, a] : then) {
            auto there = other.find(name);
            if (there == other.end())
                merged.names[name] = maybe(a);
            else if (a.state != State::Defined && there->second.state != State::Mixed)
                merged.names[name] = a;
        }
        for (const auto& [name, b] : other) {
            if (!then.count(name)) merged.names[name] = maybe(b);
        }
    });
    for (const auto& [name, b] : apart) merged.names[name] = b;
    return merged;
}

Env Bindings::loop_header(Loop& loop) {
    arrive(*loop.guess);
    Env header = env_;
    for (const auto& [name, b] : learnt_.mixed[loop.node]) header.names[name] = b;
    if (loop.plan) {
        for (const std::string& name : loop.plan->privates) {
            Binding b;
            b.state = State::Private;
            b.loop = loop.node;
            b.origin = loop.node->place;
            header.names[name] = b;
        }
    }
    return header;
}

/// Compares the back edges with the head; false if the guess grew and the loop must be walked
/// again.
bool Bindings::resolve_header(Loop& loop) {
    bool grew = false;
    for (const Env& edge : loop.back) {
        loop.header.names.with_different(edge.names, [&](const auto& heads, const auto& ends) {
            for (const auto& [name, head] : heads) {
                if (head.state != State::Defined) continue;
                auto it = ends.find(name);
                if (it == ends.end()) continue;
                if (it->second.state == State::LoopLast) {
                    // Its last value comes around to a name that has one already.
                    must_restart_ |= learnt_.targets_read_after.insert(it->second.loop).second;
                    continue;
                }
                if (it->second.state == State::Mixed) {
                    learnt_.mixed[loop.node][name] = it->second;
                    grew = true;
                    continue;
                }
                if (is_same(head.value, it->second.value)) continue;
                Joined joined = learn(*loop.guess, name, head, it->second);
                if (joined == Joined::Never)
                    learnt_.mixed[loop.node][name] = mixed(head, it->second);
                grew |= joined != Joined::Known;
            }
        });
    }
    return !grew;
}

/// Merges the normal exit with the breaks into env_; false if the guess grew. Values of breaks are
/// already moved into the guess's variables; those of the normal exit are where the head left them.
bool Bindings::resolve_exit(Loop& loop, Env normal, bool has_normal) {
    std::vector<Env*> edges;
    if (has_normal) edges.push_back(&normal);
    for (Env& e : loop.breaks) edges.push_back(&e);
    if (edges.empty()) {
        env_.reachable = false;
        return true;
    }
    Env merged = *edges[0];
    bool grew = false;
    for (std::size_t i = 1; i < edges.size(); ++i) {
        const Env so_far = merged;
        so_far.names.with_different(edges[i]->names, [&](const auto& known, const auto& more) {
            for (const auto& [name, b] : more) {
                auto it = known.find(name);
                if (it == known.end()) {
                    merged.names[name] = maybe(b);
                    continue;
                }
                const Binding& a = it->second;
                if (a.state == State::Defined && b.state == State::Defined) {
                    if (is_same(a.value, b.value)) continue;
                    Joined joined = learn(*loop.guess, name, a, b);
                    if (joined == Joined::Never) merged.names[name] = mixed(a, b);
                    grew |= joined == Joined::Wider;
                } else if (a.state == State::Defined || b.state == State::Mixed) {
                    merged.names[name] = b;
                }
            }
            for (const auto& [name, a] : known) {
                if (!more.count(name)) merged.names[name] = maybe(a);
            }
        });
    }
    merged.reachable = true;
    env_ = merged;
    return !grew;
}

}  // namespace unisono::frontend
