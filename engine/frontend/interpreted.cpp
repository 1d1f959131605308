// Calls of functions of NumPy that compiled code does not know, or not with these arguments. The
// interpreter runs those of arrays; what they give is inferred from arguments of the same types.
#include "frontend/interpreted.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "frontend/lowerer.h"
#include "frontend/tables.h"

namespace unisono::frontend {

namespace {

Inference the_inference = nullptr;

std::string quoted(const std::string& text) {
    std::string s = "'";
    for (char c : text) {
        if (c == '\\' || c == '\'') s += '\\';
        if (c == '\n') {
            s += "\\n";
        } else {
            s += c;
        }
    }
    return s + "'";
}

std::string number_text(const Value& v) {
    ir::E e = v.expr;
    if (auto known = constant_int(e))
        return is_bool(v.type.dtype) ? (*known ? "True" : "False") : std::to_string(*known);
    if (e->kind == ir::ExprKind::Const && v.type.dtype == DType::Float64) {
        auto x = std::bit_cast<double>(e->bits);
        if (std::isinf(x)) return x < 0 ? "-1e999" : "1e999";
        char text[32];
        if (x == x && std::snprintf(text, sizeof text, "%.17g", x) > 0)
            return std::string(text).find_first_of(".e") == std::string::npos
                       ? std::string(text) + ".0"
                       : text;
    }
    return "None";
}

/// How the inference is told of an argument; nothing where the interpreter cannot get it.
std::optional<std::string> description_of(const Value& v) {
    const Type& t = v.type;
    if (t.is_array())
        return "('array','" + std::string(name(t.dtype)) + "'," + std::to_string(t.rank) +
               (t.writable ? ",True)" : ",False)");
    if (t.is_scalar()) {
        std::string kind = t.weak == Weak::Int     ? "int"
                           : t.weak == Weak::Bool  ? "bool"
                           : t.weak == Weak::Float ? "float"
                           : t.weak == Weak::None  ? ""
                                                   : "complex";
        return "('scalar','" + std::string(name(t.dtype)) + "','" + kind + "'," + number_text(v) +
               ")";
    }
    if (t.kind == Type::Kind::None) return "('none',)";
    if (t.kind == Type::Kind::DTypeName && !t.record)
        return "('dtype','" + std::string(name(t.dtype)) + "')";
    if (t.is_text()) return v.expr ? "('text',None)" : "('text'," + quoted(v.text) + ")";
    if (!t.is_tuple() || t.record) return std::nullopt;
    std::string s = "('tuple',(";
    for (const Value& item : v.items) {
        auto part = description_of(item);
        if (!part) return std::nullopt;
        s += *part + ",";
    }
    return s + "))";
}

/// What is passed when the program runs; the rest is known to the block.
void add_passed(const Value& v, std::vector<Value>& passed) {
    const Type& t = v.type;
    if (t.is_tuple()) {
        for (const Value& item : v.items) add_passed(item, passed);
    } else if (t.is_array() || t.is_scalar() || (t.is_text() && v.expr)) {
        passed.push_back(v);
    }
}

}  // namespace

void set_inference(Inference inference) { the_inference = inference; }
Inference inference() { return the_inference; }

/// Where the function that is called has a path: as a function of arrays, or as their method.
std::string Tables::path_of(const Node& node) {
    const Node& callee = node.children[0];
    if (callee.kind == NodeKind::Builtin || callee.kind == NodeKind::Function) return callee.note;
    if (callee.kind != NodeKind::Attribute) return "";
    const Node& owner = callee.children[0];
    if (owner.kind == NodeKind::Builtin)  // np.add.at
        return owner.note.empty() ? "" : owner.note + "." + callee.text;
    return owner.kind == NodeKind::Class ? "" : "." + callee.text;
}

std::string Tables::shown_name(const Node& node, const std::string& name) {
    const std::string path = path_of(node);
    const bool is_of_module = name.starts_with("np.") || name.starts_with("un.");
    return is_of_module && !path.empty() && path[0] != '.' ? name.substr(0, 3) + path : name;
}

/// The call by the interpreter; fails with the refusal where it cannot be.
Value Tables::interpreted(const Node& node, const Error& refusal) {
    const Node& callee = node.children[0];
    std::string path = path_of(node);
    std::vector<const Node*> nodes;
    std::vector<std::string> names;
    if (path[0] == '.') {
        nodes.push_back(&callee.children[0]);
        names.emplace_back();
    }
    for (std::size_t k = 1; k < node.children.size(); ++k) {
        const Node& arg = node.children[k];
        if (arg.kind == NodeKind::Starred) throw Error(refusal);
        bool is_named = arg.kind == NodeKind::Keyword;
        nodes.push_back(is_named ? &arg.children[0] : &arg);
        names.push_back(is_named ? arg.text : "");
    }
    std::vector<Value> values = f_.operands(nodes);
    if (path[0] == '.' && !values[0].type.is_array()) throw Error(refusal);
    std::string text = "(";
    std::vector<Value> passed;
    for (std::size_t k = 0; k < values.size(); ++k) {
        Value v = values[k];
        if (has_numbers(v.type)) v = numbers(v);
        v = f_.all_made(f_.as_array(v), place_);
        auto part = description_of(v);
        if (!part) throw Error(refusal);
        text += "(" + quoted(names[k]) + "," + *part + "),";
        add_passed(v, passed);
    }
    auto found = inference()(path, text + ")");
    if (!found) throw Error(refusal);
    std::string shown = (path[0] == '.' ? "array" : "np.") + path;
    std::string line = std::to_string(place_.line);
    f_.report_ += "  interpreter: " + shown + " at line " + line + "\n";
    std::string why = refusal.what();
    why = why.substr(0, why.find('\n'));
    why = why.substr(why.find(": ") + 2);
    if (f_.module_.refuses_interpreter) {
        f_.refuse(place_, "only the interpreter can run " + shown + " (" + why + ")",
                  "call it outside of the compiled function, write it out, or allow such calls: "
                  "leave out nopython=True and UNISONO_NOPYTHON=1");
    }
    const bool is_in_loop = !f_.loops_.empty();
    f_.warnings_.insert(f_.source_.name + ": the interpreter runs " + shown +
                        (is_in_loop ? " in a loop" : "") +
                        ", some 5 microseconds a call beside its own time\n  " + f_.source_.file +
                        ":" + line + ": " + why + "\n  what to do: " +
                        (is_in_loop ? "call it before the loop, or write it out"
                                    : "write it out, or call it outside of the compiled function") +
                        "; un.jit(nopython=True) and UNISONO_NOPYTHON=1 refuse such calls");
    lends_ = true;
    return run_block(f_.i64(found->block), passed, {{shown, found->result}}).items[0];
}

}  // namespace unisono::frontend
