// Calls of small functions with arrays: `square(x)` where `def square(x): return x * x`.
//
// A function that only returns a formula of its parameters is no call for arrays: as an expression
// of the caller's it makes no array of its own and fuses with what reads it.
#include <algorithm>

#include "frontend/calls.h"
#include "frontend/scope.h"

namespace unisono::frontend {

namespace {

bool is_formula(const Node& n, const std::vector<std::string>& params) {
    auto all = [&](std::size_t first) {
        return std::all_of(n.children.begin() + static_cast<std::ptrdiff_t>(first),
                           n.children.end(),
                           [&](const Node& child) { return is_formula(child, params); });
    };
    switch (n.kind) {
        case NodeKind::Const: return true;
        case NodeKind::Name:
            return n.children.empty() &&
                   std::find(params.begin(), params.end(), n.text) != params.end();
        case NodeKind::BinOp: return n.text != "@" && all(0);
        case NodeKind::UnaryOp: return n.text != "not" && all(0);
        case NodeKind::Compare: return n.children.size() == 2 && all(0);
        case NodeKind::Call: return is_elementwise_call(n) && all(1);
        default: return false;
    }
}

/// Whether nothing but the formula tells what a call gives.
bool has_plain_parameters(const Source& f) {
    auto is_given = [](const Declared& d) { return d.is_given; };
    return !f.native && !f.is_kernel && f.captures == 0 && f.vararg < 0 && f.locals.empty() &&
           f.signatures.empty() && !f.result.is_given &&
           std::none_of(f.declared.begin(), f.declared.end(), is_given);
}

/// The formula of the caller: names as `renamed` tells, errors at the call.
Node at_call(const Node& n, const std::string& prefix, const Place& place) {
    Node copy = n;
    copy.place = place;
    if (copy.kind == NodeKind::Name) copy.text = prefix + copy.text;
    for (Node& child : copy.children) child = at_call(child, prefix, place);
    return copy;
}

}  // namespace

/// What the call gives, as an expression of the caller's; nothing where the function is no formula
/// of arrays.
std::optional<Value> Calls::formula(const Node& node, const Source& callee,
                                    const std::vector<Value>& values) {
    const auto& body = callee.body.children;
    bool is_small = !body.empty() && body.back().kind == NodeKind::Return &&
                    body.back().children.size() == 1 &&
                    std::all_of(body.begin(), body.end() - 1,
                                [](const Node& s) { return s.kind == NodeKind::Pass; });
    if (!is_small || source_.is_kernel || callee.options != source_.options ||
        !has_plain_parameters(callee))
        return std::nullopt;
    bool any =
        std::any_of(values.begin(), values.end(), [](const Value& v) { return v.type.is_array(); });
    bool all = std::all_of(values.begin(), values.end(),
                           [](const Value& v) { return v.type.is_array() || v.type.is_scalar(); });
    const Node& result = body.back().children[0];
    if (!any || !all || result.kind == NodeKind::Name || !is_formula(result, callee.params))
        return std::nullopt;
    const std::string prefix = callee.name + "()";
    formulas_.push_back(at_call(result, prefix, node.place));
    for (std::size_t i = 0; i < values.size(); ++i)
        env_.names[prefix + callee.params[i]] = Binding{values[i], node.place};
    Value made = expression(formulas_.back());
    for (const std::string& name : callee.params) env_.names.erase(prefix + name);
    return made;
}

}  // namespace unisono::frontend
