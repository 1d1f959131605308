// Array expressions that a name holds without memory: their elements are computed where later
// statements of the same block read them.
//
// A temporary array costs memory traffic and a loop nest of its own. Where an expression is cheap
// and all reads of its name stand in array expressions of the same straight run of statements, no
// array is made. What it reads must stay as it is until the last of them: stores in between go to
// arrays that are known to lie elsewhere, and no name that it needs is assigned.
#include <algorithm>

#include "frontend/expressions.h"
#include "frontend/lazy.h"

namespace unisono::frontend {

namespace {

/// Operations and loads per element that may be repeated rather than kept in memory.
constexpr std::int64_t most_repeated = 32;
/// A load of an element that has a cache line of its own.
constexpr std::int64_t cost_apart = 8;

/// Whether a call combines the elements of its first argument, or of the array whose method it is,
/// in one pass: `np.sum(x * y, axis=0)`, `x.max()`.
bool is_reduction(const Node& n) {
    static const std::set<std::string> names = {"sum",  "prod", "max", "min", "amax",
                                                "amin", "mean", "any", "all", "count_nonzero"};
    const Node& callee = n.children[0];
    if (callee.kind == NodeKind::Attribute) {
        NodeKind of = callee.children[0].kind;
        bool is_array = of == NodeKind::BinOp || of == NodeKind::UnaryOp || of == NodeKind::Compare;
        if (!is_array || names.count(callee.text) == 0) return false;
    } else {
        bool is_numpy = callee.kind == NodeKind::Builtin &&
                        (callee.text.rfind("np.", 0) == 0 || callee.text.rfind("un.", 0) == 0);
        if (!is_numpy || names.count(callee.text.substr(3)) == 0 || n.children.size() < 2)
            return false;
    }
    return std::none_of(n.children.begin() + 1, n.children.end(), [](const Node& arg) {
        return arg.kind == NodeKind::Starred ||
               (arg.kind == NodeKind::Keyword && arg.text != "axis" && arg.text != "keepdims");
    });
}

/// What a reduction combines.
const Node& reduced_by(const Node& call) {
    const Node& callee = call.children[0];
    return callee.kind == NodeKind::Attribute ? callee.children[0] : call.children[1];
}

/// How an expression reads a name: how often, and whether by elements only.
struct Reads {
    const std::string& name;
    std::int64_t count = 0;
    bool by_elements = true;

    void all(const Node& n) {
        for (const Node& child : n.children) visit(child);
    }
    void visit(const Node& n) {
        bool is_plain = false;
        switch (n.kind) {
            case NodeKind::Name: count += n.text == name; return;
            case NodeKind::BinOp: is_plain = n.text != "@"; break;
            case NodeKind::UnaryOp: is_plain = n.text != "not"; break;
            case NodeKind::Compare:
                is_plain =
                    n.text.find(' ') == std::string::npos && n.text != "in" && n.text != "is";
                break;
            case NodeKind::Call:
                if (is_reduction(n)) return combined(n);
                is_plain = is_elementwise_call(n);
                break;
            case NodeKind::Subscript: return part(n);
            case NodeKind::Tuple: return items(n);
            default: break;
        }
        if (is_plain) return all(n);
        if (mentions(n, name)) by_elements = false;
    }
    /// (sum(x), y): items that are arrays of the name itself would keep it.
    void items(const Node& tuple) {
        for (const Node& item : tuple.children) {
            bool is_bare = item.kind == NodeKind::Name || item.kind == NodeKind::Subscript;
            if (is_bare && mentions(item, name)) by_elements = false;
            visit(item);
        }
    }
    void combined(const Node& call) {
        const Node& whole = reduced_by(call);
        visit(whole);
        for (std::size_t k = 1; k < call.children.size(); ++k) {
            if (&call.children[k] != &whole && mentions(call.children[k], name))
                by_elements = false;
        }
    }
    /// name[1:, ::2] reads it; other items need memory.
    void part(const Node& n) {
        const Node& owner = n.children[0];
        bool is_own = owner.kind == NodeKind::Name && owner.text == name;
        count += is_own;
        for (std::size_t k = is_own ? 1 : 0; k < n.children.size(); ++k) {
            const Node& item = n.children[k];
            bool is_slices = item.kind == NodeKind::Slice ||
                             (item.kind == NodeKind::Tuple &&
                              std::all_of(item.children.begin(), item.children.end(),
                                          [](const Node& i) { return i.kind == NodeKind::Slice; }));
            if (mentions(item, name) || (is_own && !is_slices)) by_elements = false;
        }
    }
};

/// Whether evaluating it changes nothing.
bool is_pure(const Node& n) {
    if (n.kind == NodeKind::NamedExpr || n.kind == NodeKind::Let) return false;
    if (n.kind == NodeKind::Call && !is_elementwise_call(n) && !is_reduction(n)) return false;
    return std::all_of(n.children.begin(), n.children.end(), is_pure);
}

/// Whether each read of the name is of what an assignment before it in the same block, or in one
/// around, gave it, so that no value leaves a block or goes from one iteration to another.
bool stays_in_blocks(const Node& block, const std::string& name) {
    bool is_held = false;
    for (const Node& s : block.children) {
        if (!mentions(s, name)) continue;
        bool is_store = s.kind == NodeKind::Assign && s.children.size() == 2 &&
                        s.children[0].kind == NodeKind::Name && s.children[0].text == name;
        if (is_store) {
            if (!is_held && mentions(s.children[1], name)) return false;
            is_held = true;
            continue;
        }
        bool is_compound =
            s.kind == NodeKind::For || s.kind == NodeKind::While || s.kind == NodeKind::If;
        if (!is_compound || assigned_names(s).count(name) == 0) {
            if (!is_held || assigned_names(s).count(name)) return false;
            continue;
        }
        for (const Node& child : s.children) {
            bool fits = child.kind == NodeKind::Block ? stays_in_blocks(child, name)
                                                      : !mentions(child, name);
            if (!fits) return false;
        }
        is_held = false;
    }
    return true;
}

void names_read(E e, const std::map<std::int32_t, std::string>& variables,
                std::set<std::string>& names) {
    if (e->kind == ir::ExprKind::Var) {
        auto found = variables.find(e->id);
        if (found != variables.end()) names.insert(found->second);
    }
    for (E a : e->args) names_read(a, variables, names);
}

}  // namespace

/// Cost of an element: about the operations and loads in it.
std::int64_t Arrays::element_cost(E e) const {
    std::int64_t cost = 0;
    switch (e->kind) {
        case ir::ExprKind::Load: {
            const auto& strides = function_->arrays[static_cast<std::size_t>(e->id)].strides;
            cost = !strides.empty() && strides.back() == ir::StrideClass::Other ? cost_apart : 1;
            return cost;  // its indices are the loop's
        }
        case ir::ExprKind::Unary:
        case ir::ExprKind::Binary:
            cost = is_math(e->op) || e->op == Op::FloorDiv || e->op == Op::Mod ? most_repeated + 1
                   : e->op == Op::Div || e->op == Op::Sqrt                     ? 4
                                                                               : 1;
            break;
        case ir::ExprKind::Select:
        case ir::ExprKind::Fma: cost = 1; break;
        default: break;
    }
    for (E a : e->args) cost += element_cost(a);
    return cost;
}

/// Whether a statement between the expression and its last read leaves alone what it reads.
bool Bindings::leaves_alone(const Node& s, const Value& value, const std::set<std::string>& names) {
    bool is_return = s.kind == NodeKind::Return && s.children.size() == 1;
    bool is_assignment = s.kind == NodeKind::Assign && s.children.size() == 2;
    if (!is_return && !is_assignment && s.kind != NodeKind::AugAssign) return false;
    if (!is_pure(s)) return false;
    if (is_return) return true;
    const Node& target = s.children[0];
    if (is_assignment && target.kind == NodeKind::Name) return names.count(target.text) == 0;
    const Node& owner = target.kind == NodeKind::Subscript ? target.children[0] : target;
    if (owner.kind != NodeKind::Name || names.count(owner.text)) return false;
    auto held = env_.names.find(owner.text);
    bool is_known = held != env_.names.end() && held->second.state == Binding::State::Defined &&
                    held->second.value.type.is_array() && !held->second.value.lazy;
    if (!is_known) return false;
    std::int32_t root = describe_array(held->second.value.array).root;
    return std::all_of(value.lazy->reads.begin(), value.lazy->reads.end(),
                       [&](std::int32_t a) { return are_apart(root, describe_array(a).root); });
}

/// The last statement that reads the name, where its expression may wait for its reads; else null.
const Node* Bindings::last_read(const std::string& name, const Value& value) {
    if (!value.lazy || !value.lazy->by_elements || !spot_.block || !protected_.empty())
        return nullptr;
    const auto& list = spot_.block->children;
    const Node& own = list[spot_.index];
    bool is_own = own.kind == NodeKind::Assign && own.children.size() == 2 &&
                  own.children[0].kind == NodeKind::Name && own.children[0].text == name;
    bool is_here = frames_.back().block == spot_.block && stays_in_blocks(source_.body, name);
    if (!is_own || !is_here || source_.locals.count(name) || !source_.classes.empty())
        return nullptr;
    bool takes_objects =
        std::any_of(instance_.args.begin(), instance_.args.end(), [](const Type& t) {
            return !t.is_scalar() && !t.is_array() && t.kind != Type::Kind::None;
        });
    if (takes_objects) return nullptr;

    // What an element costs, and the names that it needs.
    std::map<std::int32_t, std::string> variables;
    for (const Frame& f : frames_) {
        for (const auto& [key, id] : f.vars)
            variables.emplace(id, key.first.substr(0, key.first.find('.')));
    }
    std::set<std::string> names;
    std::int64_t cost = 0;
    bool is_plain = true;
    auto saved = checkpoint();
    auto take = [&](E e) {
        cost += element_cost(e);
        names_read(e, variables, names);
    };
    std::vector<E> origin(value.lazy->extents.size(), i64(0));
    std::vector<S> steps = collect([&] { take(value.lazy->element(origin, false).expr); });
    for (S s : steps) {
        is_plain = is_plain && s->kind == ir::StmtKind::Declare;
        for (E e : s->args) take(e);
    }
    for (E e : value.lazy->extents) names_read(e, variables, names);
    for (std::int32_t a : value.lazy->reads) {
        Descriptor d = describe_array(a);
        const ir::Array& root = function_->arrays[static_cast<std::size_t>(d.root)];
        if (root.is_slot) names.insert(root.name);
    }
    restore(saved);
    if (!is_plain) return nullptr;

    std::int64_t reads = 0;
    const Node* last = nullptr;
    std::size_t end = list.size();
    for (std::size_t k = spot_.index + 1; k < end; ++k) {
        const Node& s = list[k];
        if (!mentions(s, name)) continue;
        if (s.kind != NodeKind::Assign && s.kind != NodeKind::AugAssign &&
            s.kind != NodeKind::Return)
            return nullptr;
        if (s.children.empty()) return nullptr;
        const Node& from = s.children.back();
        Reads here{name};
        here.visit(from);
        // y = x and y = x[1:] share memory.
        bool is_held = s.kind == NodeKind::Return ||
                       (s.kind == NodeKind::Assign && s.children[0].kind == NodeKind::Name);
        bool is_bare = from.kind == NodeKind::Name || from.kind == NodeKind::Subscript;
        if (!here.by_elements || (here.count > 0 && is_bare && is_held)) return nullptr;
        bool assigns = s.kind == NodeKind::Assign && s.children.size() == 2 &&
                       s.children[0].kind == NodeKind::Name && s.children[0].text == name;
        for (std::size_t i = 0; i + 1 < s.children.size(); ++i) {
            if (!assigns && mentions(s.children[i], name)) return nullptr;
        }
        reads += here.count;
        if (here.count > 0) last = &s;
        if (assigns) break;
    }
    if (!last || (reads > 1 && cost * reads > most_repeated)) return nullptr;
    for (std::size_t k = spot_.index + 1;; ++k) {
        if (!leaves_alone(list[k], value, names)) return nullptr;
        if (&list[k] == last) return last;
    }
}

/// Whether the name now holds the expression itself.
bool Bindings::lets_wait(const std::string& name, const Value& value, const Place& origin) {
    const Node* last = last_read(name, value);
    if (!last) return false;
    waiting_.push_back({name, last});
    auto lazy = std::make_shared<Lazy>(*value.lazy);
    lazy->waits = true;
    Value held = value;
    held.lazy = lazy;
    env_.names[name] = Binding{held, origin};
    report_ += source_.name + ": array '" + name + "' at line " + std::to_string(origin.line) +
               "\n  no array is made: computed where it is read\n";
    return true;
}

/// Behind their last read the expressions are forgotten.
void Bindings::forget_waiting(const Node& statement) {
    std::erase_if(waiting_, [&](const Waiting& w) {
        if (w.last != &statement) return false;
        auto held = env_.names.find(w.name);
        bool is_own = held != env_.names.end() && held->second.value.lazy;
        bool assigns_again = std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& o) {
            return o.name == w.name && o.last != &statement;
        });
        if (is_own && !assigns_again) env_.names.erase(w.name);
        return true;
    });
}

/// value[slices] of an expression that waits.
Value Expressions::sliced(const Node& node, const Value& value) {
    std::vector<const Node*> items = index_nodes(node);
    std::size_t rank = value.lazy->extents.size();
    if (items.size() > rank) return element(node, made(value, node.place));
    auto lazy = std::make_shared<Lazy>(*value.lazy);
    std::vector<std::pair<E, E>> maps;  // from, step
    for (std::size_t k = 0; k < items.size(); ++k) {
        Cut c = cut(*items[k], value.lazy->extents[k]);
        lazy->extents[k] = c.count;
        maps.emplace_back(c.from, c.step);
    }
    lazy->elsewhere = lazy->reads;
    lazy->element = [this, maps, whole = value.lazy](std::span<const E> index, bool repeats) {
        std::vector<E> where(index.begin(), index.end());
        for (std::size_t k = 0; k < maps.size(); ++k)
            where[k] =
                op_binary(Op::Add, op_binary(Op::Mul, where[k], maps[k].second), maps[k].first);
        return whole->element(where, repeats);
    };
    Value result = value;
    result.lazy = lazy;
    return result;
}

}  // namespace unisono::frontend
