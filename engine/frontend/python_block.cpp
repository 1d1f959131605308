// What compiled code hands to the interpreter and takes from it: blocks of Python, and arguments of
// exceptions.
#include <algorithm>
#include <functional>

#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

std::pair<std::string, std::vector<E>> Tables::exception_arguments(const Node& node) {
    std::vector<const Node*> nodes;
    for (const Node& child : node.children) nodes.push_back(&child);
    Value all = f_.tuple_of(f_.operands(nodes));
    std::function<bool(const Type&)> is_plain = [&](const Type& t) {
        if (t.is_tuple() && !t.record) return std::all_of(t.items.begin(), t.items.end(), is_plain);
        return t.is_scalar() || t.is_text();
    };
    bool fits = words_of(all.type) <= 4 &&
                std::all_of(all.type.items.begin(), all.type.items.end(), is_plain);
    if (!fits)
        refuse("an exception takes one text, or up to four numbers and texts",
               "put the values into the text, as in f\"got {n}\"");
    std::vector<E> words;
    put(all, words);
    return {"\2" + table_code(all.type), words};
}

namespace {

/// What the run-time part can pass: numbers, texts, arrays and tuples of these.
bool can_pass(const Type& t) {
    if (t.is_optional()) return can_pass(t.items[1]);
    if (t.is_tuple() && !t.record) return std::all_of(t.items.begin(), t.items.end(), can_pass);
    return t.is_scalar() || t.is_text() || t.is_array() || t.kind == Type::Kind::None;
}

}  // namespace

/// Children: the function's number, names that it takes. Its text: the names that it gives back.
Value Tables::python_block(const Node& node) {
    if (f_.source_.is_kernel)
        refuse("a kernel cannot run Python", "run it before or after the kernel");
    if (f_.parallel_depth_ > 0)
        refuse("un.python() cannot stand inside of prange: iterations run on threads",
               "run it before or after the loop");
    std::vector<Given> outs;
    std::string names = node.children[2].text;
    for (std::size_t at = 0; at < names.size();) {
        std::size_t end = std::min(names.find(' ', at), names.size());
        std::string name = names.substr(at, end - at);
        at = end + 1;
        auto said = f_.source_.locals.find(name);
        auto held = f_.env_.names.find(name);
        bool is_known = said != f_.source_.locals.end();
        bool is_held = held != f_.env_.names.end() && held->second.state == Binding::State::Defined;
        if (!is_known && !is_held)
            refuse("the type of '" + name + "', which un.python() assigns, is not known",
                   "annotate it, as in `" + name + ": float = ...`, or assign it before the block");
        outs.push_back({name, is_known ? said->second.type : held->second.value.type});
        if (!can_pass(outs.back().type))
            refuse("un.python() cannot give back '" + name + "', a " + describe(outs.back().type),
                   "numbers, texts, arrays and tuples of these come back");
    }
    std::vector<Value> passed;
    for (std::size_t k = 3; k < node.children.size(); ++k) {
        Value v = f_.all_made(f_.maybe_none(node.children[k]), place_);
        if (!can_pass(v.type))
            refuse("un.python() cannot read '" + node.children[k].text + "', a " + describe(v.type),
                   "it reads numbers, texts, arrays and tuples of these");
        passed.push_back(v);
    }
    return run_block(f_.expression(node.children[1]).expr, passed, outs);
}

/// A call of the interpreter: what it gives, in a tuple.
Value Tables::run_block(E number, const std::vector<Value>& passed,
                        const std::vector<Given>& outs) {
    std::string code;
    std::vector<E> words;
    for (const Value& v : passed) {
        code += table_code(v.type);
        put(v, words);
    }
    std::string back;
    std::vector<Type> types;
    int count = 0;
    for (const Given& o : outs) {
        back += o.name + ":" + table_code(o.type) + " ";
        types.push_back(o.type);
        count += words_of(o.type);
    }
    // The function, what it takes and gives, each with its bytes; then the words.
    auto size = [&](const std::string& s) { return f_.i64(static_cast<std::int64_t>(s.size())); };
    std::vector<E> values{number, size(code), size(back)};
    for (const std::string& s : {code, back}) {
        for (E e : Texts(f_, place_).packed(s)) values.push_back(e);
    }
    values.insert(values.end(), words.begin(), words.end());
    auto found = call("python_block", values, 1 + static_cast<std::size_t>(count));
    f_.fault_if(f_.op_binary(Op::Ne, found[0], f_.i64(0)), ErrorKind::Runtime,
                "un.python() raised an exception", place_);
    std::size_t at = 1;
    std::vector<Value> items;
    for (const Type& t : types) items.push_back(taken(t, found, at, true));
    return f_.tuple_of(std::move(items));
}

}  // namespace unisono::frontend
