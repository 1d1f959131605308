// Functions as values: compiled ones, those defined inside of others with what they capture, and
// those that the front end knows by name.
#include <algorithm>

#include "frontend/calls.h"

namespace unisono::frontend {

/// The compiled function that a Function node names.
const Source& Calls::named_function(const Node& node) {
    const Source* source = function_of(source_, node);
    if (!source)
        refuse(node.place, "'" + node.text + "', which calls this function, has changed",
               "call recompile() of both");
    return *source;
}

Value Calls::function_value(const Node& node) {
    Value v;
    if (node.kind == NodeKind::Builtin) v.type = Type::of_function(nullptr, node.text);
    if (node.kind == NodeKind::Function) {
        const Source& source = named_function(node);
        v.type = Type::of_function(source.shared_from_this(), source.name);
        v.items = captures_of(node, source);
        for (const Value& item : v.items) v.type.items.push_back(item.type);
    }
    if (node.kind == NodeKind::Closure || node.kind == NodeKind::KeptClosure) {
        auto source = source_.nested.at(static_cast<std::size_t>(node.index));
        v.type = Type::of_function(source, source->name);
        if (node.kind == NodeKind::Closure) v = capturing(v, node);
    }
    return v;
}

/// What a compiled function that is named takes behind its arguments: what it captured. A call of
/// this function itself passes on what it took.
std::vector<Value> Calls::captures_of(const Node& named, const Source& source) {
    std::vector<Value> values;
    if (&source != &source_ && named.children.size() == source.captures) {
        for (const Node& array : named.children) values.push_back(expression(array));
        return values;
    }
    // In a circle of functions they have the same names everywhere.
    for (std::size_t i = source.params.size() - source.captures; i < source.params.size(); ++i) {
        auto held = env_.names.find(source.params[i]);
        if (held != env_.names.end()) values.push_back(held->second.value);
    }
    return values;
}

/// The function with the values of the names that it reads around it.
Value Calls::capturing(Value function, const Node& names) {
    std::vector<const Node*> nodes;
    for (const Node& child : names.children) nodes.push_back(&child);
    function.items = operands(nodes, true);
    function.type.items.clear();
    for (Value& item : function.items) {
        item = all_made(item, names.place);
        function.type.items.push_back(item.type);
    }
    return function;
}

/// Calls what an expression stands for.
Value Calls::call_value(const Node& node, const Value& callee) {
    const Place& place = node.children[0].place;
    if (callee.type.kind == Type::Kind::DTypeName ||
        (callee.type.is_function() && !callee.type.function)) {
        // The functions known by name read their arguments from the call's node.
        bool is_dtype = callee.type.kind == Type::Kind::DTypeName;
        std::string text =
            is_dtype ? "dtype:" + std::string(name(callee.type.dtype)) : callee.type.name;
        auto [it, is_new] = learnt_.calls_by_name.emplace(std::pair(&node, text), nullptr);
        if (is_new) {
            it->second = std::make_unique<Node>(node);
            it->second->children[0] = Node{NodeKind::Builtin, place, text, {}, {}, {}, 0, {}};
        }
        return call_builtin(*it->second, text);
    }
    if (has_method(callee, "__call__"))
        return call_function(node, *callee.type.record->find_method("__call__")->source, {},
                             &callee);
    if (!callee.type.is_function()) {
        refuse(place, "a value of type " + describe(callee.type) + " cannot be called",
               "call functions only");
    }
    const Source& source = *callee.type.function;
    // The depth of a recursion is counted where the functions name each other.
    if (&source != &source_ && module_.is_open(source) && !module_.calls_back(source, source_)) {
        refuse(place, "'" + source.name + "' is called by functions that it calls, as a value",
               "let them call it by its name, or write the functions as one");
    }
    if (callee.type.is_bound()) return call_function(node, source, {}, &callee.items[0]);
    return call_function(node, source, callee.items);
}

}  // namespace unisono::frontend
