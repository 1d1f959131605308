// Texts in compiled functions: constants, joins, parts, comparisons, methods.
//
// Most operations are calls of the run-time part. Methods are Python's own, called with its lock:
// they know Unicode.
#include "frontend/texts.h"

#include <algorithm>

#include "frontend/tables.h"

namespace unisono::frontend {

Value Texts::of(E handle) {
    Value v;
    v.type = Type::text();
    v.expr = handle;
    return v;
}

Value Texts::constant(const std::string& text) {
    Value v;
    v.type = Type::text();
    v.text = text;
    return v;
}

std::vector<E> Texts::packed(const std::string& bytes) {
    std::vector<E> words;
    for (std::size_t k = 0; k < bytes.size(); k += 8) {
        std::uint64_t word = 0;
        for (std::size_t j = k; j < std::min(k + 8, bytes.size()); ++j)
            word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[j]))
                    << (8 * (j - k));
        words.push_back(f_.i64(static_cast<std::int64_t>(word)));
    }
    return words;
}

E Texts::handle(const Value& text) {
    if (text.expr) return text.expr;
    auto [it, is_new] = f_.texts_.emplace(text.text, -1);
    auto& head = f_.frames_.front().declares;
    if (is_new) {
        it->second = f_.b_->var("text", DType::Int64);
        head.push_back(f_.b_->declare(it->second, f_.i64(0)));
    }
    const std::int32_t var = it->second;
    std::vector<E> values{f_.i64(static_cast<std::int64_t>(text.text.size()))};
    for (E e : packed(text.text)) values.push_back(e);
    std::int32_t outs[] = {var};
    S made = f_.b_->native("text_constant", values, outs);
    if (f_.parallel_depth_ > 0) {  // threads do not assign what all of them read
        if (f_.texts_at_entry_.insert(var).second) head.push_back(made);
    } else if (!f_.texts_at_entry_.contains(var)) {
        // Many are only needed in messages: a call that raises nothing makes none.
        E is_missing = f_.op_binary(Op::Eq, f_.b_->read(var), f_.i64(0));
        f_.emit(f_.b_->branch(is_missing, f_.b_->block({made})));
    }
    return f_.b_->read(var);
}

Value Texts::checked(const std::string& name, const std::vector<E>& values) {
    return checked({one(name, values)});
}

/// What a native function of one result made, or of two, of which -2 tells why a format is refused.
Value Texts::checked(const std::vector<E>& found) {
    if (f_.parallel_depth_ > 0) {
        refuse("a text cannot be made inside of prange",
               "print it, or make it after the loop from what the loop stored");
    }
    E made = found[0];
    if (found.size() > 1)
        f_.fault_if(f_.op_binary(Op::Eq, made, f_.i64(-2)), ErrorKind::Value, "{0t}", place_,
                    {found[1]});
    std::vector<S> failed = f_.collect([&] {
        f_.fault_if(f_.op_binary(Op::Lt, made, f_.i64(0)), ErrorKind::Runtime,
                    "a text cannot be made by the threads of a parallel loop", place_);
        f_.emit(f_.b_->raise(f_.b_->site(ErrorKind::Memory, "out of memory for a text"), {}));
    });
    f_.emit(f_.b_->branch(f_.op_binary(Op::Le, made, f_.i64(0)), f_.b_->block(failed)));
    return of(made);
}

E Texts::integer(const Value& v, const std::string& role) {
    f_.want_scalar(v, place_, role);
    if (is_float(v.type.dtype))
        refuse(role + " must be an integer; got " + describe(v.type), "convert it with int(...)");
    return f_.settle(f_.cast(v.expr, DType::Int64));
}

Value Texts::binary(const std::string& op, const Value& a, const Value& b) {
    if (op == "+" && a.type.is_text() && b.type.is_text()) {
        if (!a.expr && !b.expr) return constant(a.text + b.text);
        return checked("text_join", {handle(a), handle(b)});
    }
    if (op == "*" && a.type.is_text() != b.type.is_text()) {
        const Value &text = a.type.is_text() ? a : b, &times = a.type.is_text() ? b : a;
        return checked("text_repeat", {handle(text), integer(times, "a number of repetitions")});
    }
    refuse("'" + op + "' of " + describe(a.type) + " and " + describe(b.type) + " is not supported",
           "join texts with +, or show a value with str(x) or an f-string");
}

Value Texts::compare(const std::string& op, const Value& a, const Value& b) {
    auto given = [&](bool value) { return f_.scalar(f_.b_->boolean(value), Weak::Bool); };
    bool is_equality = op == "==" || op == "!=";
    if (!a.type.is_text() || !b.type.is_text()) {
        if (is_equality) return given(op == "!=");
        refuse("'" + op + "' of " + describe(a.type) + " and " + describe(b.type) +
                   " is not supported",
               "compare texts with texts");
    }
    if (is_equality && !a.expr && !b.expr) return given((a.text == b.text) == (op == "=="));
    E order = one(is_equality ? "text_equal" : "text_compare", {handle(a), handle(b)});
    Op how = op == "<"    ? Op::Lt
             : op == "<=" ? Op::Le
             : op == ">"  ? Op::Gt
             : op == ">=" ? Op::Ge
             : op == "==" ? Op::Ne  // the answer is 1 where they are equal
                          : Op::Eq;
    return f_.scalar(f_.op_binary(how, order, f_.i64(0)), Weak::Bool);
}

Value Texts::contains(const Value& part, const Value& whole) {
    if (!part.type.is_text())
        refuse("'in' a str looks for a str; got " + describe(part.type), "show it with str(x)");
    if (!part.expr && !whole.expr)
        return f_.scalar(f_.b_->boolean(whole.text.find(part.text) != std::string::npos),
                         Weak::Bool);
    E at = one("text_find", {handle(part), handle(whole)});
    return f_.scalar(f_.op_binary(Op::Ge, at, f_.i64(0)), Weak::Bool);
}

E Texts::length(const Value& text) {
    if (!text.expr) {
        auto is_first = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
        return f_.i64(std::count_if(text.text.begin(), text.text.end(), is_first));
    }
    return one("text_length", {text.expr});
}

Value Texts::item(const Value& text, const Node& node) {
    if (node.children.size() != 2)
        refuse("a str has one index", "write text[i] or text[begin:end]");
    E held = handle(text);
    if (node.children[1].kind == NodeKind::Slice) return slice(text, node.children[1]);
    E index = integer(f_.expression(node.children[1]), "an index");
    auto found = f_.native("text_item", {held, index}, 2);
    f_.fault_if(f_.op_binary(Op::Ne, found[0], f_.i64(0)), ErrorKind::Index,
                "string index out of range", place_);
    return of(found[1]);
}

Value Texts::slice(const Value& text, const Node& node) {
    std::vector<E> values{handle(text)};
    std::int64_t given = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        Value bound = f_.expression(node.children[k]);
        bool is_there = bound.type.kind != Type::Kind::None;
        given |= is_there ? std::int64_t{1} << k : 0;
        values.push_back(is_there ? integer(bound, "a bound of a slice") : f_.i64(0));
    }
    if (given & 4) {
        f_.fault_if(f_.op_binary(Op::Eq, values[3], f_.i64(0)), ErrorKind::Value,
                    "slice step cannot be zero", place_);
    }
    values.push_back(f_.i64(given));
    return checked("text_slice", values);
}

/// Whether a format is a text that is known when the program runs only.
static bool has_computed_format(const std::string& text) {
    for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
        std::size_t end = text.find_first_not_of("0123456789", at + 1);
        if (end > at + 1 && end != std::string::npos && text[end] == 'S') return true;
    }
    return false;
}

Value Texts::filled(const Template& made) {
    std::vector<E> values{f_.i64(static_cast<std::int64_t>(made.text.size())), f_.i64(0),
                          f_.i64(static_cast<std::int64_t>(made.values.size()))};
    for (E e : packed(made.text)) values.push_back(e);
    values.insert(values.end(), made.values.begin(), made.values.end());
    if (!has_computed_format(made.text)) return checked("text_of", values);
    return checked(f_.native("text_of", values, 2));
}

Value Texts::shown(const Value& v) {
    if (v.type.is_text()) return v;
    Template made;
    made.takes_arrays = true;
    made.role = "what is shown as text";
    f_.write(made, v, FunctionLowerer::Shown::Str, "", place_);
    return filled(made);
}

Value Texts::formatted(const Node& node) {
    Template made;
    made.takes_arrays = true;
    made.role = "a value in an f-string";
    f_.write_node(made, node, true);
    return filled(made);
}

Value Texts::point(const Value& text) {
    if (!text.type.is_text())
        refuse("ord takes a text of one character; got " + describe(text.type), "give a str");
    E c = one("text_point", {handle(text)});
    f_.fault_if(f_.op_binary(Op::Lt, c, f_.i64(0)), ErrorKind::Type,
                "ord() expected a character, but string of length {0} found", place_,
                {length(text)});
    return f_.scalar(c, Weak::Int);
}

Value Texts::of_point(const Value& number) {
    E c = integer(number, "the argument of chr");
    E outside = f_.op_binary(Op::Or, f_.op_binary(Op::Lt, c, f_.i64(0)),
                             f_.op_binary(Op::Gt, c, f_.i64(0x10FFFF)));
    f_.fault_if(outside, ErrorKind::Value, "chr() arg not in range(0x110000)", place_);
    return of(one("text_of_point", {c}));
}

Value Texts::number(const Value& text, bool is_int) {
    auto found = f_.native("text_number", {handle(text), f_.i64(is_int ? 11 : 0)}, 2);
    f_.fault_if(f_.op_binary(Op::Eq, found[0], f_.i64(1)), ErrorKind::Value,
                is_int ? "invalid literal for int() with base 10: {0T}"
                       : "could not convert string to float: {0T}",
                place_, {handle(text)});
    f_.fault_if(f_.op_binary(Op::Eq, found[0], f_.i64(2)), ErrorKind::Overflow,
                "int() of a text does not fit in 64 bits", place_);
    if (is_int) return f_.scalar(found[1], Weak::Int);
    return f_.scalar(f_.b_->bitcast(found[1], DType::Float64), Weak::Float);
}

/// int(text, base)
Value Texts::number_in_base(const Value& text, const Value& base) {
    if (!text.type.is_text())
        refuse("int with a base takes a str; got " + describe(text.type), "leave the base out");
    E in_base = integer(base, "the base of int");
    E is_odd = f_.op_binary(Op::Or, f_.op_binary(Op::Lt, in_base, f_.i64(0)),
                            f_.op_binary(Op::Or, f_.op_binary(Op::Eq, in_base, f_.i64(1)),
                                         f_.op_binary(Op::Gt, in_base, f_.i64(36))));
    f_.fault_if(is_odd, ErrorKind::Value, "int() base must be >= 2 and <= 36, or 0", place_);
    auto found =
        f_.native("text_number", {handle(text), f_.op_binary(Op::Add, in_base, f_.i64(1))}, 2);
    f_.fault_if(f_.op_binary(Op::Eq, found[0], f_.i64(1)), ErrorKind::Value,
                "invalid literal for int() with base {1}: {0T}", place_, {handle(text), in_base});
    f_.fault_if(f_.op_binary(Op::Eq, found[0], f_.i64(2)), ErrorKind::Overflow,
                "int() of a text does not fit in 64 bits", place_);
    return f_.scalar(found[1], Weak::Int);
}

Value Texts::joined(const Value& separator, const Value& parts) {
    if (parts.type.is_object_list() && parts.type.items[0].is_text())
        return Tables(f_, place_).joined(parts, separator);
    bool fits =
        parts.type.is_tuple() && std::all_of(parts.items.begin(), parts.items.end(),
                                             [](const Value& v) { return v.type.is_text(); });
    if (f_.open_literal(parts)) f_.append(parts, constant(""), place_);  // it holds texts
    Tables tables(f_, place_);
    if (parts.type.is_object_list() && tables.is_open(parts))
        return joined(separator, tables.declared(
                                     parts, Type::table(TableKind::List, {Type::text()}), "parts"));
    if (!fits)
        refuse("join takes a tuple or list of texts; got " + describe(parts.type),
               "join them in a loop with +=");
    Value all = constant("");
    for (std::size_t i = 0; i < parts.items.size(); ++i) {
        if (i > 0) all = binary("+", all, separator);
        all = binary("+", all, parts.items[i]);
    }
    return all;
}

Value Texts::characters(const Value& text) {
    if (f_.parallel_depth_ > 0)
        refuse("a list of texts cannot be made inside of prange", "make it before the loop");
    std::vector<E> values{f_.i64(4), f_.i64(1)};
    for (E e : packed("list")) values.push_back(e);
    values.push_back(f_.i64(0));
    values.push_back(handle(text));
    auto found = f_.native("text_method", values, 2);
    f_.fault_if(f_.op_binary(Op::Ne, found[0], f_.i64(0)), ErrorKind::Memory,
                "out of memory for a list", place_);
    return Tables(f_, place_).texts_made(found[1]);
}

Value Texts::method(const Node& node, const Value& text) {
    // What they give: text, int or bool; where they fail, they do for every argument.
    static const std::map<std::string, Weak> methods = {
        {"upper", Weak::None},        {"lower", Weak::None},        {"title", Weak::None},
        {"capitalize", Weak::None},   {"swapcase", Weak::None},     {"casefold", Weak::None},
        {"strip", Weak::None},        {"lstrip", Weak::None},       {"rstrip", Weak::None},
        {"replace", Weak::None},      {"removeprefix", Weak::None}, {"removesuffix", Weak::None},
        {"zfill", Weak::None},        {"ljust", Weak::None},        {"rjust", Weak::None},
        {"center", Weak::None},       {"count", Weak::Int},         {"find", Weak::Int},
        {"rfind", Weak::Int},         {"__hash__", Weak::Int},      {"startswith", Weak::Bool},
        {"endswith", Weak::Bool},     {"isdigit", Weak::Bool},      {"isalpha", Weak::Bool},
        {"isalnum", Weak::Bool},      {"isspace", Weak::Bool},      {"isupper", Weak::Bool},
        {"islower", Weak::Bool},      {"isnumeric", Weak::Bool},    {"isdecimal", Weak::Bool},
        {"isidentifier", Weak::Bool}, {"isascii", Weak::Bool},      {"istitle", Weak::Bool},
        {"isprintable", Weak::Bool}};
    const std::string& name = node.children[0].text;
    bool makes_list = name == "split" || name == "rsplit" || name == "splitlines";
    auto known = methods.find(name);
    if (known == methods.end() && !makes_list && name != "join") {
        if (auto v = f_.library_method(node, text)) return *v;
        refuse("method '" + name + "' of str is not supported in a compiled function",
               "call it outside and pass the result");
    }
    std::vector<Value> args = method_arguments(node);
    f_.at(place_);
    if (name == "join" && args.size() == 1)
        return joined(text, args[0].type.is_text() ? characters(args[0]) : args[0]);
    if ((name == "startswith" || name == "endswith") && !args.empty() && args[0].type.is_tuple())
        return any_method(name, text, args);
    if (known == methods.end() && !makes_list) {
        refuse("method '" + name + "' of str is not supported in a compiled function",
               "call it outside and pass the result");
    }
    bool makes_text = makes_list || known->second == Weak::None;
    if (makes_text && f_.parallel_depth_ > 0) {
        refuse("a text cannot be made inside of prange",
               "make it after the loop from what the loop stored");
    }
    E found = called(name, text, args);
    if (makes_list) return Tables(f_, place_).texts_made(found);
    if (makes_text) return of(found);
    if (known->second == Weak::Int) return f_.scalar(found, Weak::Int);
    return f_.scalar(f_.op_binary(Op::Ne, found, f_.i64(0)), Weak::Bool);
}

/// Those of a method of str, in order; None for those that are left out before others.
std::vector<Value> Texts::method_arguments(const Node& node) {
    static const std::map<std::string, std::vector<std::string>> keywords = {
        {"split", {"sep", "maxsplit"}},
        {"rsplit", {"sep", "maxsplit"}},
        {"splitlines", {"keepends"}}};
    const std::string& name = node.children[0].text;
    auto known = keywords.find(name);
    if (known == keywords.end()) {
        const bool has_keywords =
            std::any_of(node.children.begin(), node.children.end(),
                        [](const Node& n) { return n.kind == NodeKind::Keyword; });
        if (has_keywords) return f_.arguments(node);  // refuses them
    }
    auto [args, by_name] = f_.given(node, true);
    const std::size_t by_position = args.size();
    for (const auto& [keyword, value] : by_name) {
        const auto& names = known->second;
        const auto found = std::find(names.begin(), names.end(), keyword);
        const auto at = static_cast<std::size_t>(found - names.begin());
        if (found == names.end() || at < by_position)
            refuse(name + " takes no keyword '" + keyword + "' here", "give it by position");
        args.resize(std::max(args.size(), at + 1));
        args[at] = value;
    }
    auto is_none = [](const Value& v) { return v.type.kind == Type::Kind::None; };
    while (!args.empty() && is_none(args.back())) args.pop_back();
    // find(text, None, end): bounds that are left out.
    const bool has_bounds = name != "split" && name != "rsplit";
    for (std::size_t k = 1; k < args.size() && has_bounds; ++k) {
        if (is_none(args[k])) args[k] = f_.scalar(f_.i64(0), Weak::Int);
    }
    return std::move(args);
}

/// What a method of str gives, called with Python's lock.
E Texts::called(const std::string& name, const Value& text, std::span<const Value> args) {
    std::vector<E> values{f_.i64(static_cast<std::int64_t>(name.size())),
                          f_.i64(static_cast<std::int64_t>(args.size()) + 1)};
    for (E e : packed(name)) values.push_back(e);
    auto give = [&](const Value& v) {
        const bool is_none = v.type.kind == Type::Kind::None;
        values.push_back(f_.i64(is_none ? 2 : !v.type.is_text()));
        values.push_back(is_none            ? f_.i64(0)
                         : v.type.is_text() ? handle(v)
                                            : integer(v, "an argument of " + name));
    };
    give(text);
    for (const Value& v : args) give(v);
    auto found = f_.native("text_method", values, 2);
    std::vector<S> failed = f_.collect([&] {
        auto raise_if = [&](std::int64_t code, ErrorKind kind) {
            f_.fault_if(f_.op_binary(Op::Eq, found[0], f_.i64(code)), kind, "{0t}", place_,
                        {found[1]});
        };
        raise_if(2, ErrorKind::Value);
        raise_if(3, ErrorKind::Type);
        f_.fault_if(f_.b_->boolean(true), ErrorKind::Runtime, "a method of str failed", place_);
    });
    f_.emit(f_.b_->branch(f_.op_binary(Op::Ne, found[0], f_.i64(0)), f_.b_->block(failed)));
    return found[1];
}

/// text.startswith((a, b)) and endswith: with one of them.
Value Texts::any_method(const std::string& name, const Value& text, std::vector<Value> args) {
    std::vector<Value> parts = args[0].items;
    E any = f_.b_->boolean(false);
    for (const Value& part : parts) {
        if (!part.type.is_text())
            refuse("an item of a tuple for " + name + " must be a str; got " + describe(part.type),
                   "give texts");
        args[0] = part;
        E found = called(name, text, args);
        any = f_.settle(f_.op_binary(Op::Or, any, f_.op_binary(Op::Ne, found, f_.i64(0))));
    }
    return f_.scalar(any, Weak::Bool);
}

}  // namespace unisono::frontend
