// Lowers calls of the functions that a compiled function knows: Python's, math's, NumPy's and those
// of kernels.
#include <algorithm>

#include "frontend/calls.h"
#include "frontend/interpreted.h"
#include "frontend/lazy.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

/// A call that compiled code does not know, but functions of arrays do, goes to the interpreter:
/// the function is then lowered again.
Value Calls::call(const Node& node) {
    bool may_ask = inference() && !source_.is_kernel && parallel_depth_ == 0 && !region_;
    if (!may_ask || Tables::path_of(node).empty()) return known_call(node);
    if (auto learnt = learnt_.interpreted.find(&node); learnt != learnt_.interpreted.end())
        return Tables(*this, node.place).interpreted(node, learnt->second);
    std::size_t mark = module_.size();
    try {
        return known_call(node);
    } catch (const Error& refusal) {
        if (refusal.kind() != ErrorKind::Compile) throw;
        module_.shrink(mark);
        if (learns_by_survey()) throw Restart{};
        if (surveys_) throw;
        learnt_.interpreted.emplace(&node, refusal);
        throw Restart{};
    }
}

Value Calls::known_call(const Node& node) {
    const Node& callee = node.children[0];
    if (callee.text == "un.these_arguments")  // of numpy_library.py
        refuse(callee.place, source_.name + " does not take these arguments in compiled code",
               "call it outside of compiled code, or in `with un.python():`");
    if (callee.kind == NodeKind::Builtin) return call_builtin(node, callee.text);
    if (callee.kind == NodeKind::Function) {
        const Source& source = named_function(callee);
        return call_function(node, source, captures_of(callee, source));
    }
    if (callee.kind == NodeKind::Class)
        return construct(node, source_.classes.at(static_cast<std::size_t>(callee.index)));
    if (callee.kind == NodeKind::Opaque) {
        bool is_foreign = callee.note.find(" a ctypes function ") != std::string::npos ||
                          callee.note.find(" a cffi function ") != std::string::npos;
        refuse(callee.place,
               "'" + callee.text + "' cannot be called from a compiled function" +
                   (callee.note.empty() ? "" : ": " + callee.note),
               is_foreign ? "declare it with types of numbers and pointers, or write C around it: "
                            "un.c_module(text, libraries=[...])"
                          : "decorate it with @un.jit if it is a Python function, or call it "
                            "outside");
    }
    if (callee.kind == NodeKind::Attribute) {
        if (auto v = ufunc_method(node)) return *v;
        const Node& owner = callee.children[0];
        if (owner.kind == NodeKind::Class)
            return object_method(
                node, *source_.classes.at(static_cast<std::size_t>(owner.index)).record, nullptr);
        const Node* first = &owner;
        while (first->kind == NodeKind::Attribute) first = &first->children[0];
        const bool is_value = first->kind == NodeKind::Subscript || first->kind == NodeKind::Call ||
                              first->kind == NodeKind::BinOp;
        const bool is_known =
            first->kind == NodeKind::Name ? env_.names.contains(first->text) : is_value;
        if (owner.kind != NodeKind::Builtin && (!source_.is_kernel || is_known)) {
            Value object = this->owner(maybe_none(owner), callee.text, callee.place);
            if (std::any_of(node.children.begin() + 1, node.children.end(), assigns_names))
                object = held(all_made(object, node.place));
            if (object.type.record && !object.type.is_records())
                return object_method(node, *object.type.record, &object);
            if (auto v = array_method(node, object)) return *v;
            if (auto v = number_view(node, object)) return *v;
            if (callee.text == "bit_length" && object.type.weak == Weak::Int &&
                arguments(node).empty())
                return bit_length(object);
            if (auto v = library_method(node, object)) return *v;
        }
        refuse(callee.place, "method '" + callee.text + "' cannot be called in a compiled function",
               "write it as a loop over elements, or call it outside and pass the result");
    }
    return call_value(node, expression(callee));
}

/// x.view(dtype) and x.item() of a NumPy scalar; nothing for anything else.
std::optional<Value> Calls::number_view(const Node& node, const Value& object) {
    const std::string& name = node.children[0].text;
    bool is_number = object.type.is_scalar() && !object.type.is_complex();
    if (object.type.is_complex() && name == "item" && node.children.size() == 1)
        return scalar(cast(object.expr, DType::Complex128), Weak::Complex);
    if (object.type.is_scalar() && !object.type.is_weak() && name == "astype" &&
        node.children.size() == 2) {
        auto to = dtype_of(node.children[1]);
        if (to) return scalar(cast(object.expr, *to), Weak::None);
    }
    if (!is_number || (name != "view" && name != "item")) return std::nullopt;
    const DType from = object.type.dtype;
    if (name == "item" && node.children.size() == 1) {
        Weak weak = is_bool(from) ? Weak::Bool : is_float(from) ? Weak::Float : Weak::Int;
        return scalar(cast(object.expr, default_dtype(weak)), weak);
    }
    if (name != "view" || node.children.size() != 2) return std::nullopt;
    auto to = dtype_of(node.children[1]);
    if (!to || size_of(*to) != size_of(from) || is_complex(*to) || is_bool(*to) || is_bool(from)) {
        refuse(node.place,
               "a number is viewed as a dtype of its own size; it is " + describe(object.type),
               "write it as in np.float32(x).view(np.int32)");
    }
    return scalar(from == *to ? object.expr : b_->bitcast(object.expr, *to), Weak::None);
}

/// How many binary digits an int has: halves of the word that hold some are gone through.
Value Calls::bit_length(const Value& number) {
    E n = settle(number.expr);
    // Of the least int the size is one more than the greatest.
    E x = temporary(
        cast(b_->select(op_binary(Op::Lt, n, i64(0)), op_unary(Op::Neg, n), n), DType::UInt64));
    E count = i64(0);
    for (int shift : {32, 16, 8, 4, 2, 1}) {
        E limit = b_->constant(Scalar::of(DType::UInt64, std::uint64_t{1} << shift));
        E is_more = settle(op_binary(Op::Ge, x, limit));
        E rest = b_->constant(Scalar::of(DType::UInt64, std::uint64_t(shift)));
        x = temporary(b_->select(is_more, op_binary(Op::Shr, x, rest), x));
        count = temporary(op_binary(Op::Add, count, b_->select(is_more, i64(shift), i64(0))));
    }
    return scalar(op_binary(Op::Add, count, cast(x, DType::Int64)), Weak::Int);
}

/// A method that is written in Python, which the callee's second child names.
std::optional<Value> Calls::library_method(const Node& node, const Value& object) {
    const Node& callee = node.children[0];
    const bool is_any_list = object.type.is_list() || object.type.is_object_list();
    bool is_known = callee.children.size() > 1 &&
                    (object.type.is_text() || object.type.is_tuple() || object.type.is_scalar() ||
                     (object.type.is_array() && callee.text == "tolist") ||
                     are_bytes(object.type) || (is_any_list && callee.text == "index"));
    if (!is_known) return std::nullopt;
    return call_function(node, named_function(callee.children[1]), {}, &object);
}

/// object.method(...), by the table of array functions.
std::optional<Value> Calls::array_method(const Node& node, const Value& object) {
    const Node& callee = node.children[0];
    const std::string& name = callee.text;
    const bool conjugates = name == "conjugate" || name == "conj";
    if (source_.is_kernel && !(conjugates && object.type.is_scalar())) return std::nullopt;
    if (object.type.is_text()) return Texts(*this, node.place).method(node, object);
    if (object.type.is_table()) return Tables(*this, node.place).method(node, object);
    if (object.type.is_list()) return list_method(node, object);
    if (conjugates && node.children.size() == 1) {
        if (auto v = complex_function("conj", object, node.place)) return *v;
    }
    const bool is_records = object.type.is_records() && name == "copy";
    if (!object.type.is_array() && !is_records) return std::nullopt;
    at(node.place);
    return array_function(node, callee.text, &object);
}

Value Calls::call_builtin(const Node& node, const std::string& name) {
    const Place& place = node.place;
    if (auto v = work_item(node, name)) return *v;
    if (name == "un.local_array") return local_array(node, ir::Space::Local);
    if (name == "un.private_array") return local_array(node, ir::Space::Private);
    if (name == "un.pointed_records") return pointed_records(node);
    if (name.rfind("atomic.", 0) == 0) return atomic(node, after_dot(name));
    if (name == "range" || name == "un.prange") {
        refuse(place, after_dot(name) + " can only be looped over",
               "write `for i in " + after_dot(name) + "(...)`");
    }
    if (name == "print") return call_print(node);
    if (name == "python_block") return Tables(*this, place).python_block(node);
    if (auto v = array_function(node, name)) return *v;
    if (name == "un.in_kernel") return scalar(b_->boolean(module_.is_kernel), Weak::Bool);
    if (name == "isinstance") {
        if (node.children.size() != 3)
            refuse(place, "isinstance takes a value and a type", "write isinstance(x, int)");
        Value v = maybe_none(node.children[1]);
        if (!v.type.is_optional())
            return scalar(b_->boolean(is_instance(v.type, node.children[2])), Weak::Bool);
        bool fits = is_instance(v.type.items[1], node.children[2]);
        return fits ? v.items[0] : scalar(b_->boolean(false), Weak::Bool);
    }
    if (name == "has_attribute") {  // of the object's class, or of one of the types that follow
        Value v = maybe_none(node.children[1]);
        const Type& t = v.type.is_optional() ? v.type.items[1] : v.type;
        const std::string& wanted = node.children[2].text;
        bool is_member = t.record && (t.record->find(wanted) ||
                                      (t.record->find_method && t.record->find_method(wanted)));
        bool has = is_member || (!t.record && is_instance(t, node.children[3]));
        return v.type.is_optional() && has ? v.items[0] : scalar(b_->boolean(has), Weak::Bool);
    }
    if (name == "np.isscalar" && node.children.size() == 2) {
        const Type t = maybe_none(node.children[1]).type;
        return scalar(b_->boolean(t.is_scalar() || t.is_text()), Weak::Bool);
    }
    if (name == "class_name") return class_name(maybe_none(node.children[1]), place);
    if (name == "tuple_items") {  // a list does as well, where the number is not known
        Value v = expression(node.children[1]);
        if (v.type.is_tuple()) return tuple_of(v.items);
        return v.type.is_text() ? Texts(*this, place).characters(v) : list_value(v, place);
    }
    if (name == "tuple_grown") {  // a tuple of one item more
        Value v = expression(node.children[1]);
        v.items.push_back(made(expression(node.children[2]), place));
        return tuple_of(v.items);
    }
    if (name == "assigned") {  // a name that has a value here, though not on every path
        auto held = env_.names.find(node.children[1].text);
        bool is_known = held != env_.names.end() && held->second.state == Binding::State::Maybe;
        return is_known ? held->second.value : maybe_none(node.children[1]);
    }
    if (name == "holds_objects") {  // other items than numbers
        Type t = maybe_none(node.children[1]).type;
        bool are_values = t.is_table() && t.rank == static_cast<int>(TableKind::Values);
        bool holds = t.is_table() && t.rank != static_cast<int>(TableKind::Dict) &&
                     t.items.size() > are_values && !t.items[are_values].is_scalar();
        return scalar(b_->boolean(holds), Weak::Bool);
    }
    if (name == "holds_instances") {
        Type t = maybe_none(node.children[1]).type;
        return scalar(b_->boolean(t.is_object_list() && t.items[0].record), Weak::Bool);
    }
    if (name == "is_exception") {
        Value v = maybe_none(node.children[1]);
        bool is_caught = v.type.kind == Type::Kind::Exception;
        E test =
            is_caught ? is_of_class(v.items[1].expr, node.children[2].text) : b_->boolean(false);
        return scalar(test, Weak::Bool);
    }
    if (name == "type_is" || name == "same_type") {
        Type t = maybe_none(node.children[1]).type;
        bool is_same = name == "type_is" ? is_exactly(t, node.children[2])
                                         : t == maybe_none(node.children[2]).type;
        return scalar(b_->boolean(is_same), Weak::Bool);
    }
    if (name == "type" && node.children.size() == 2)
        return class_of(maybe_none(node.children[1]).type, place);
    if (name == "dataclasses.replace" && node.children.size() > 1)
        return replaced(node, expression(node.children[1]), 2);
    bool takes_none =
        name == "str" || name == "repr" || name == "bool" || name == "iteration" || name == "len";
    const bool is_extreme = name == "max" || name == "min";
    const bool has_star =
        is_extreme && node.children.size() == 2 && node.children[1].kind == NodeKind::Starred;
    std::vector<Value> args;
    if (has_star) {
        Value items = expression(node.children[1].children[0]);
        if (!items.type.is_tuple()) {  // as many as there are: the same as of the items themselves
            E count = settle(length(items, place).expr);
            fault_if(op_binary(Op::Eq, count, i64(0)), ErrorKind::Type,
                     name + " expected at least 1 argument, got 0", place);
            fault_if(op_binary(Op::Eq, count, i64(1)), ErrorKind::Type,
                     "the only argument of " + name + " is not iterable", place);
            args = {items};
        } else {
            args = items.items;
        }
    } else if (const Node& last = node.children.back();
               last.kind == NodeKind::Keyword && last.text == "out" && is_table_function(name)) {
        Node by_position = node;
        by_position.children.back() = Node(last.children[0]);
        args = arguments(by_position, takes_none);
    } else {
        args = arguments(node, takes_none);
    }
    at(place);
    static const std::map<std::string, std::string> methods = {{"abs", "__abs__"},
                                                               {"float", "__float__"},
                                                               {"int", "__int__"},
                                                               {"complex", "__complex__"},
                                                               {"round", "__round__"}};
    if (auto found = methods.find(name); found != methods.end() && args.size() == 1) {
        if (auto v = special_method(nullptr, found->second, {args[0]}, place)) return *v;
    }
    static const std::set<std::string> take_items = {
        "list", "sum", "min", "max", "any", "all", "sorted", "set", "np.array", "np.asarray"};
    if (args.size() == 1 && take_items.count(name)) {
        if (auto v = special_method(nullptr, "=list", {args[0]}, place)) args[0] = *v;
    }
    if ((name == "len" || name == "iteration") && args.size() == 1)
        args[0] = present(args[0],
                          name == "len" ? "object of type 'NoneType' has no len()"
                                        : "'NoneType' object is not iterable",
                          place);
    if (name.rfind("np.", 0) == 0 || name.rfind("un.", 0) == 0) {
        bool makes_array = name.substr(3) == "array" || name.substr(3) == "asarray";
        if (makes_array && args.size() == 1 && Tables::has_numbers(args[0].type))
            args[0] = Tables(*this, place).numbers(args[0], true);
        if (makes_array && args.size() == 1 && args[0].type.is_list())
            return copied(as_array(args[0]), place);
        for (Value& v : args) {
            if (Tables::has_numbers(v.type)) v = Tables(*this, place).numbers(v, true);
            v = as_array(v);
        }
    }
    if (name == "delete_item") return delete_item(args, place);
    if (auto v = sharing(name, args, place)) return *v;
    if (auto v = messages(name, args, place)) return *v;
    if (auto v = matrices(name, args, place)) return *v;
    auto want = [&](std::size_t n) {
        if (args.size() != n) {
            refuse(place,
                   name + " takes " + std::to_string(n) + " argument" + (n == 1 ? "" : "s") +
                       " in a compiled function; got " + std::to_string(args.size()),
                   "give " + std::to_string(n));
        }
    };
    if (auto v = fold(node, name, args)) return *v;
    std::string base = after_dot(name);
    bool is_plain = base == name;
    if (is_plain && name == "complex") return complex_call(args, place);
    if (is_plain && name == "round") {
        if (args.size() != 1)
            refuse(place,
                   "round takes a number and digits; got " + std::to_string(args.size()) +
                       " arguments",
                   "write round(x) or round(x, digits)");
        return to_python_int(want_scalar(args[0], place, "the argument of round"), place,
                             op_from_numpy_name("rint"));
    }
    bool is_size = base == "abs" || base == "absolute";
    if (is_size && args.size() == 1 && args[0].type.is_complex())
        return complex_absolute(args[0], place);
    if (name.rfind("cmath.", 0) == 0) return cmath_function(base, args, place);
    if (!is_plain && args.size() == 1 && name.rfind("math.", 0) != 0) {
        if (auto v = complex_function(base, args[0], place)) return *v;
    }
    if (name == "int_of_text") {
        want(2);
        return Texts(*this, place).number_in_base(args[0], args[1]);
    }
    if (is_plain && name == "pow") {
        want(2);
        return binary("**", args[0], args[1], place);
    }
    if (is_plain && name == "divmod") {
        want(2);
        Value v;
        v.items = {binary("//", args[0], args[1], place), binary("%", args[0], args[1], place)};
        v.type = Type::tuple({v.items[0].type, v.items[1].type});
        return v;
    }
    if (!is_plain && !dtype_of(node.children[0])) return call_table(node, name, args);
    want(1);
    const Value& a = args[0];
    if (name == "list" && a.type.is_text()) return Texts(*this, place).characters(a);
    if (name == "list") return list_value(a, place);
    if (name == "bytes" || name == "bytearray") return bytes_value(a, name, place);
    if (name == "tuple" && a.type.is_tuple()) return tuple_of(a.items);
    if (name == "tuple" && !a.type.is_scalar())
        refuse(place,
               "how many items a tuple has must be known when compiling; got " + describe(a.type),
               "use a list, or write (x[0], x[1])");
    if (name == "dict" && a.type.is_table() && a.type.rank == static_cast<int>(TableKind::Dict))
        return Tables(*this, place).copy(a);
    if (name == "iteration" && a.type.is_table())
        return scalar(Tables(*this, place).loop(a), Weak::Int);
    bool has_items = a.type.is_array() || a.type.is_list() || a.type.is_tuple() ||
                     (a.type.is_records() && a.type.rank > 0) || has_method(a, "__getitem__");
    bool is_text = a.type.is_text();
    if (name == "str") return Texts(*this, place).shown(a);
    if (name == "chr") return Texts(*this, place).of_point(a);
    if (name == "ord") return Texts(*this, place).point(a);
    if (is_text && (name == "int" || name == "float"))
        return Texts(*this, place).number(a, name == "int");
    if (name == "iteration" && !is_text && !has_items) {
        refuse(place, "a compiled function cannot loop over a value of type " + describe(a.type),
               "loop over a range, an array, or enumerate, zip and reversed of them");
    }
    if (name == "len" || name == "iteration") return length(a, place);
    bool is_conversion = name.rfind("dtype:", 0) == 0 && dtype_of(node.children[0]);
    if (a.type.is_array() && (name == "abs" || is_conversion)) {
        if (is_conversion) return converted_array(a, *dtype_of(node.children[0]), place);
        return elementwise(
            {a}, [this, place](auto v) { return absolute(v[0], place); }, place);
    }
    if (name == "bool") return scalar(truth(a, place), Weak::Bool);
    if (is_conversion && a.type.is_complex()) {
        DType t = *dtype_of(node.children[0]);
        return scalar(is_bool(t) ? cast(a.expr, t) : to_type(a, t, place), Weak::None);
    }
    want_scalar(a, place, "the argument of " + base);
    if (name == "int") return to_python_int(a, place, std::nullopt);
    if (name == "float") return scalar(cast(a.expr, DType::Float64), Weak::Float);
    if (auto t = dtype_of(node.children[0])) return scalar(to_type(a, *t, place), Weak::None);
    if (name == "abs") return absolute(a, place);
    refuse(place, Tables::shown_name(node, name) + " is not supported in a compiled function",
           "compute it outside");
}

/// del container[index]
Value Calls::delete_item(const std::vector<Value>& args, const Place& place) {
    if (args[0].type.is_table()) {
        Tables(*this, place).remove(args[0], args[1]);
    } else if (args[0].type.is_list()) {
        pop(args[0], &args[1], place);
    } else {
        refuse(place, "an item of " + describe(args[0].type) + " cannot be deleted",
               "make an array without it");
    }
    return {};
}

/// isinstance as the types of values tell it.
bool Calls::is_instance(const Type& t, const Node& wanted) {
    if (wanted.kind == NodeKind::Tuple) {
        return std::any_of(wanted.children.begin(), wanted.children.end(),
                           [&](const Node& w) { return is_instance(t, w); });
    }
    if (wanted.kind == NodeKind::Class)
        return t.record &&
               same_class(t.record.get(),
                          source_.classes.at(static_cast<std::size_t>(wanted.index)).record.get());
    const std::string& name = wanted.text;
    bool is_numpy = t.is_scalar() && !t.is_weak();
    // Of bytes and of lists, which are arrays here, the items are numbers, they are not.
    if (name == "int") return t.is_scalar() && (t.weak == Weak::Int || t.weak == Weak::Bool);
    if (name == "float")
        return t.is_scalar() && (t.weak == Weak::Float || (is_numpy && t.dtype == DType::Float64));
    if (name == "bool") return t.is_scalar() && t.weak == Weak::Bool;
    if (name == "complex") return t.is_complex() && t.dtype == DType::Complex128;
    if (name == "bytes" || name == "bytearray")
        return is_byte_list(t) ? t.items[0].name == name : is_byte_array(t) && name == "bytes";
    if (name == "list") return (t.is_list() && !is_byte_list(t)) || t.is_object_list();
    if (name == "dict" || name == "set")
        return t.is_table() && t.rank == static_cast<int>(name == "set");
    if (name == "str") return t.is_text();
    if (name == "range") return t.is_record() && t.record->name == name;
    if (name == "tuple") return t.is_tuple();
    if (name == "np.ndarray") return t.is_array();
    if (name == "np.integer") return is_numpy && is_integer(t.dtype);
    if (name == "np.floating") return is_numpy && is_float(t.dtype);
    if (auto dtype = dtype_of(wanted)) return is_numpy && t.dtype == *dtype;
    refuse(wanted.place, "isinstance of '" + name + "' is not known when compiling",
           "ask for int, float, bool, complex, list, tuple, np.ndarray or a dtype");
}

/// type(x) as a value, which is called: one of Python's number types, or a dtype.
Value Calls::class_of(const Type& t, const Place& place) {
    Value v;
    if (t.is_scalar() && !t.is_weak()) {
        v.type.kind = Type::Kind::DTypeName;
        v.type.dtype = t.dtype;
        return v;
    }
    const char* name = t.is_text()               ? "str"
                       : !t.is_scalar()          ? ""
                       : t.weak == Weak::Int     ? "int"
                       : t.weak == Weak::Bool    ? "bool"
                       : t.weak == Weak::Float   ? "float"
                       : t.weak == Weak::Complex ? "complex"
                                                 : "";
    if (*name == '\0')
        refuse(place, "type(x) is of numbers and text here; got " + describe(t),
               "compare it, as in type(x) is T, or ask isinstance(x, T)");
    v.type = Type::of_function(nullptr, name);
    return v;
}

/// type(x) is T; of what may be None the answer would come when it runs.
bool Calls::is_exactly(const Type& t, const Node& wanted) {
    if (t.is_optional())
        refuse(wanted.place, "the type of what may be None is not known when compiling",
               "ask with `is None` first");
    if (wanted.text == "int") return t.is_scalar() && t.weak == Weak::Int;
    if (wanted.text == "float") return t.is_scalar() && t.weak == Weak::Float;
    if (wanted.text == "complex") return t.is_scalar() && t.weak == Weak::Complex;
    if (wanted.text == "tuple") return t.is_tuple() && !t.record;
    return is_instance(t, wanted);
}

Value Calls::length(const Value& a, const Place& place) {
    if (a.type.is_tuple()) return scalar(i64(static_cast<std::int64_t>(a.items.size())), Weak::Int);
    if (a.type.is_list()) return scalar(list_length(a), Weak::Int);
    if (a.type.is_table()) return scalar(Tables(*this, place).size(a), Weak::Int);
    if (a.type.is_records() && a.type.rank > 0)
        return scalar(b_->extent(any_field(a, place).array, 0), Weak::Int);
    if (auto v = special_method(nullptr, "__len__", {a}, place)) return *v;
    if (a.type.is_text()) return scalar(Texts(*this, place).length(a), Weak::Int);
    if (a.type.is_array() && a.type.rank > 0) {
        if (a.lazy) return scalar(extents_of(a)[0], Weak::Int);
        return scalar(b_->extent(a.array, 0), Weak::Int);
    }
    refuse(place, "len of " + describe(a.type) + " is not defined",
           "take len of an array argument or of a tuple");
}

}  // namespace unisono::frontend
