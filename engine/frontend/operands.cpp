// The operands and arguments of calls, as the program gives them.
#include "frontend/emission.h"

#include <algorithm>

namespace unisono::frontend {

bool assigns_names(const Node& node) {
    return node.kind == NodeKind::NamedExpr || node.kind == NodeKind::Let ||
           std::any_of(node.children.begin(), node.children.end(), assigns_names);
}

bool may_act(const Node& node) {
    bool is_call = node.kind == NodeKind::Call && node.children[0].kind != NodeKind::Builtin;
    return is_call || node.kind == NodeKind::NamedExpr || node.kind == NodeKind::Let ||
           std::any_of(node.children.begin(), node.children.end(), may_act);
}

/// Statements that the evaluation needs, and what they change.
Emission::Later Emission::later(const std::function<void()>& evaluate) {
    std::size_t vars = function_->vars.size(), arrays = function_->arrays.size();
    Later found{collect(evaluate), {}};
    auto may_store = [this](std::int32_t callee) { return module_.may_store(callee); };
    found.effects = effects_of(*function_, found.made, vars, arrays, may_store);
    return found;
}

/// Evaluates what stands behind other values: these are kept as they were before.
void Emission::behind(std::span<Value> before, const std::function<void()>& evaluate) {
    Later found = later(evaluate);
    if (found.made.empty()) return;
    for (Value& v : before) v = kept(v, found.effects);
    out_->insert(out_->end(), found.made.begin(), found.made.end());
}

/// Evaluates in order.
std::vector<Value> Emission::operands(std::span<const Node* const> nodes, bool take_none) {
    std::vector<Value> values;
    for (const Node* node : nodes) {
        Value next;
        behind(values, [&] { next = take_none ? maybe_none(*node) : expression(*node); });
        values.push_back(std::move(next));
    }
    return values;
}

/// The values given, by position and by name; tuples behind a star are written out.
std::pair<std::vector<Value>, std::map<std::string, Value>> Emission::given(const Node& node,
                                                                            bool take_none) {
    std::vector<const Node*> nodes;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
        const Node& arg = node.children[i];
        bool is_plain = arg.kind != NodeKind::Keyword && arg.kind != NodeKind::Starred;
        nodes.push_back(is_plain ? &arg : &arg.children[0]);
    }
    std::vector<Value> values = operands(nodes, take_none);
    std::vector<Value> by_position;
    std::map<std::string, Value> by_name;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Node& arg = node.children[i + 1];
        if (arg.kind == NodeKind::Keyword) {
            if (!by_name.emplace(arg.text, values[i]).second)
                refuse(arg.place, "keyword argument '" + arg.text + "' is given twice",
                       "give it once");
        } else if (arg.kind == NodeKind::Starred) {
            auto items = star_items(values[i], arg.place);
            by_position.insert(by_position.end(), items.begin(), items.end());
        } else {
            by_position.push_back(values[i]);
        }
    }
    return {std::move(by_position), std::move(by_name)};
}

std::vector<Value> Emission::star_items(const Value& value, const Place& place) {
    if (!value.type.is_tuple()) {
        refuse(place, "* takes a tuple; got " + describe(value.type),
               "its number of items must be known when the function is compiled");
    }
    return value.items;
}

Value Emission::tuple_of(std::vector<Value> items) {
    Value v;
    std::vector<Type> types;
    for (const Value& item : items) types.push_back(item.type);
    v.type = Type::tuple(std::move(types));
    v.items = std::move(items);
    return v;
}

std::vector<Value> Emission::arguments(const Node& node, bool take_none) {
    for (const Node& arg : node.children) {
        if (arg.kind != NodeKind::Keyword) continue;
        refuse(
            arg.place,
            node.children[0].text + " takes no keyword '" + arg.text + "' in a compiled function",
            "give the arguments by position");
    }
    return given(node, take_none).first;
}

}  // namespace unisono::frontend
