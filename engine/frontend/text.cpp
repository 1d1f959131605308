// Lowers text that tells values: messages of exceptions, and print.
//
// A template is what the run-time part fills in (bindings/jit/values/text.cpp): {0f|.3f} stands for
// value 0, a float, in that format; braces of the text itself are doubled. Values are int64: a
// float goes as its bits, an array as address, extents and strides.
#include <algorithm>

#include "frontend/calls.h"
#include "frontend/texts.h"
#include "ir/noted_lines.h"

namespace unisono::frontend {

static std::string escape_braces(const std::string& text) {
    std::string s;
    for (char c : text) {
        s += c;
        if (c == '{' || c == '}') s += c;
    }
    return s;
}

/// Python's repr of a constant text.
static std::string quoted(const std::string& text) {
    bool has_single = text.find('\'') != std::string::npos;
    char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
    std::string s(1, quote);
    for (char c : text) {
        if (c == quote || c == '\\') s += '\\';
        if (c == '\n' || c == '\r' || c == '\t')
            s += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
        else
            s += c;
    }
    return s + quote;
}

/// How the run-time part reads the bits of a number.
static std::string kind_of_number(DType t) {
    if (t == DType::Float32) return "h";
    return is_bool(t) ? "b" : is_float(t) ? "f" : is_unsigned(t) ? "u" : "";
}

E Calls::bits_of(const Value& v) {
    E e = is_float(v.type.dtype) ? b_->bitcast(cast(v.expr, DType::Float64), DType::Int64)
                                 : cast(v.expr, DType::Int64);
    return settle(e);
}

/// An array or list: its items follow as address, extents and strides.
void Calls::write_items(Template& to, const Value& given, const Place& place) {
    Value v = given.type.is_list() ? given : made(given, place);
    bool is_list = v.type.is_list();
    if (is_list && !v.type.items[0].is_weak()) {
        refuse(place, "a list of NumPy scalars cannot be printed in a compiled function",
               "print its items in a loop");
    }
    int rank = is_list ? 1 : v.type.rank;
    at(place);
    to.text += "{" + std::to_string(to.values.size()) + (is_list ? "L" : "A") +
               std::to_string(static_cast<int>(v.type.dtype)) + "," + std::to_string(rank) + "}";
    Descriptor d = describe_array(v.array);
    to.values.push_back(settle(address_of(as_array(v))));
    for (E e : d.extents) to.values.push_back(settle(e));
    for (E e : d.strides) to.values.push_back(settle(e));
}

/// Adds str(v), repr(v), or v as f"{v:format}" shows it.
void Calls::write(Template& to, const Value& v, Shown how, const std::string& format,
                  const Place& place) {
    const Type& type = v.type;
    if (type.is_optional() && !format.empty()) {
        std::string message = "unsupported format string passed to NoneType.__format__";
        return write(to, present(v, message, place), how, format, place);
    }
    if (type.is_optional()) {
        auto shown = [&] {
            Template there;
            there.takes_arrays = to.takes_arrays;
            there.role = to.role;
            write(there, v.items[1], how == Shown::Format ? Shown::Str : how, "", place);
            return Texts(*this, place).filled(there);
        };
        auto none = [&] { return Texts::constant("None"); };
        return write(to, choose(v.items[0].expr, shown, none, place), Shown::Str, "", place);
    }
    bool is_repr = how == Shown::Repr;
    if (v.expr && type.is_text()) {
        to.text += "{" + std::to_string(to.values.size()) + (is_repr ? "T" : "t") +
                   (format.empty() ? "}" : "|" + format + "}");
        to.values.push_back(settle(v.expr));
        return;
    }
    auto is_odd = [](char c) { return c < ' ' || c > '~'; };
    bool has_odd = std::any_of(v.text.begin(), v.text.end(), is_odd);
    if (type.is_text() && (!format.empty() || (is_repr && has_odd)))
        return write(to, Texts::of(Texts(*this, place).handle(v)), how, format, place);
    if (type.kind == Type::Kind::Text) {
        to.text += escape_braces(is_repr ? quoted(v.text) : v.text);
        return;
    }
    if (type.kind == Type::Kind::None && format.empty()) {
        to.text += "None";
        return;
    }
    if (type.record && format.empty()) {
        for (const char* method : {"__str__", "__repr__"}) {
            if (is_repr && std::string_view(method) == "__str__") continue;
            if (auto text = special_method(nullptr, method, {v}, place))
                return write(to, *text, Shown::Str, "", place);
        }
    }
    if (type.is_tuple() && format.empty()) {
        to.text += "(";
        for (std::size_t i = 0; i < v.items.size(); ++i) {
            if (i > 0) to.text += ", ";
            write(to, v.items[i], Shown::Repr, "", place);
        }
        to.text += v.items.size() == 1 ? ",)" : ")";
        return;
    }
    if ((type.is_array() || type.is_list()) && format.empty() && to.takes_arrays &&
        (!is_repr || type.is_list()))
        return write_items(to, v, place);
    if (type.kind == Type::Kind::Exception && format.empty()) {
        to.text += "{" + std::to_string(to.values.size()) + (is_repr ? "R}" : "E}");
        for (std::size_t k = 1; k < v.items.size(); ++k) to.values.push_back(v.items[k].expr);
        return;
    }
    if (type.is_table() && format.empty()) {
        std::string code = table_code(type);
        bool is_view = type.rank > static_cast<int>(TableKind::Set) && !type.is_object_list();
        if (is_view || code.find('N') != std::string::npos)
            refuse(place, "a " + describe(type) + " cannot be shown in a compiled function",
                   "print its entries in a loop");
        to.text += "{" + std::to_string(to.values.size()) + "O" + code + "}";
        to.values.push_back(settle(v.expr));
        return;
    }
    std::string end = format.empty() ? "}" : "|" + format + "}";
    std::string number = "{" + std::to_string(to.values.size());
    if (type.is_complex() && type.is_weak()) {
        to.text += number + "c" + end;
        auto [re, im] = parts_of(v.expr);
        for (E part : {re, im}) to.values.push_back(bits_of(scalar(part, Weak::Float)));
        return;
    }
    want_scalar(v, place, to.role);
    std::string kind = kind_of_number(type.dtype);
    if (how == Shown::Format && kind == "h") kind = "f";  // NumPy formats a float32 as a float
    bool names_type = is_repr && !type.is_weak();
    if (names_type && kind == "b") {
        to.text += number + "B}";
    } else {
        std::string before = names_type ? "np." + std::string(name(type.dtype)) + "(" : "";
        to.text += before + number + kind + end + (names_type ? ")" : "");
    }
    to.values.push_back(bits_of(v));
}

/// Adds a constant text, an f-string or, where the place allows it, any other value. In order: what
/// stands before a value that may change it is shown first.
void Calls::write_node(Template& to, const Node& node, bool in_order) {
    if (node.kind != NodeKind::Format)
        return write(to, maybe_none(node), Shown::Str, "", node.place);
    for (const Node& part : node.children) {
        if (part.kind == NodeKind::Text) {
            to.text += escape_braces(part.text);
            continue;
        }
        if (part.text.find('}') != std::string::npos)
            refuse(part.place, "a format that is computed is not supported", "write it as a text");
        if (in_order && !to.values.empty() && may_act(part)) {
            Value shown = Texts(*this, part.place).filled(to);
            to.text.clear();
            to.values.clear();
            write(to, shown, Shown::Str, "", part.place);
        }
        if (part.children.size() > 1) {
            write_formatted(to, part);
            continue;
        }
        Shown how = part.note == "r" ? Shown::Repr : part.note == "s" ? Shown::Str : Shown::Format;
        write(to, maybe_none(part.children[0]), how, part.text, part.place);
    }
}

/// A value in a format that is computed: the format is a text in front of it.
void Calls::write_formatted(Template& to, const Node& part) {
    const Node* nodes[] = {&part.children[0], &part.children[1]};
    std::vector<Value> values = operands(nodes);
    E format = Texts(*this, part.place).handle(values[1]);
    Template one;
    one.role = to.role;
    write(one, values[0], Shown::Format, "?", part.place);
    std::string kind = one.text.substr(2, one.text.size() - 5);
    to.text += "{" + std::to_string(to.values.size()) + "S" + kind + "}";
    to.values.push_back(settle(format));
    to.values.insert(to.values.end(), one.values.begin(), one.values.end());
}

/// The text of an exception with the values that it tells.
std::pair<std::string, std::vector<E>> Calls::message_of(const Node& node,
                                                         const std::string& where) {
    Template message;
    bool is_text = node.kind == NodeKind::Text || node.kind == NodeKind::Format;
    if (!is_text && where == "an exception") {
        Value v = expression(node);
        if (!v.type.is_scalar() && v.type.kind != Type::Kind::Text)
            refuse(node.place, "an exception tells a text or a number; got " + describe(v.type),
                   "write a text with values, as in f\"got {n}\"");
        write(message, v, Shown::Str, "", node.place);
        return {message.text, message.values};
    }
    if (!is_text) {
        refuse(node.place, "the message of " + where + " must be a text in a compiled function",
               "write it out, with values as in f\"got {n}\"");
    }
    write_node(message, node);
    if (message.values.size() <= 4) return {message.text, message.values};
    if (source_.is_kernel || parallel_depth_ > 0)
        refuse(node.place, "a message tells at most four values here", "leave some out");
    return {"{0t}", {Texts(*this, node.place).filled(message).expr}};
}

/// print(...): one call of the run-time part with the text, eight bytes to a value.
Value Calls::call_print(const Node& node) {
    Template line;
    line.takes_arrays = true;
    line.role = "what is printed";
    Value separator = Texts::constant(" "), last = Texts::constant("\n");
    bool flushes = false;
    std::vector<const Node*> nodes;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
        const Node& arg = node.children[i];
        if (arg.kind != NodeKind::Keyword) {
            nodes.push_back(&arg);
            continue;
        }
        Value v = arg.text == "file" ? Value{} : expression(arg.children[0]);
        bool is_none = v.type.kind == Type::Kind::None;
        if ((arg.text == "sep" || arg.text == "end") &&
            (is_none || v.type.kind == Type::Kind::Text)) {
            if (!is_none) (arg.text == "sep" ? separator : last) = v;
        } else if (auto flag = v.type.is_scalar() ? constant_int(v.expr) : std::nullopt;
                   arg.text == "flush" && flag) {
            flushes = *flag != 0;
        } else {
            refuse(arg.place, "print takes sep, end and a constant flush in a compiled function",
                   "print to other files outside of it");
        }
    }
    // Where one may change others, all are evaluated before the first is shown.
    std::vector<Value> shown;
    if (std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return may_act(*n); })) {
        std::vector<const Node*> given;
        for (const Node* n : nodes)
            given.push_back(n->kind == NodeKind::Starred ? &n->children[0] : n);
        shown = operands(given, true);
    }
    bool is_first = true;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        const Node* arg = nodes[k];
        std::vector<Value> items;
        bool is_starred = arg->kind == NodeKind::Starred;
        bool is_value = is_starred || !shown.empty();
        if (!shown.empty()) items = {shown[k]};
        if (is_starred)
            items = star_items(shown.empty() ? expression(arg->children[0]) : items[0], arg->place);
        for (std::size_t i = 0; i < (is_value ? items.size() : 1); ++i) {
            if (!is_first) write(line, separator, Shown::Str, "", node.place);
            is_first = false;
            is_value ? write(line, items[i], Shown::Str, "", arg->place) : write_node(line, *arg);
        }
    }
    write(line, last, Shown::Str, "", node.place);
    at(node.place);
    auto count = [&](std::size_t n) { return i64(static_cast<std::int64_t>(n)); };
    std::vector<E> values{count(line.text.size()), i64(flushes), count(line.values.size())};
    for (std::size_t k = 0; k < line.text.size(); k += 8) {
        std::uint64_t word = 0;
        for (std::size_t j = k; j < std::min(k + 8, line.text.size()); ++j)
            word |= static_cast<std::uint64_t>(static_cast<unsigned char>(line.text[j]))
                    << (8 * (j - k));
        values.push_back(i64(static_cast<std::int64_t>(word)));
    }
    values.insert(values.end(), line.values.begin(), line.values.end());
    E status = native("print", values, 1)[0];
    fault_if(op_binary(Op::Ne, status, i64(0)), ErrorKind::Runtime, ir::print_failed, node.place);
    return {};
}

}  // namespace unisono::frontend
