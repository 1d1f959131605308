// What handlers ask of the exception that they caught: its class's name and its arguments.
#include "frontend/calls.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

/// type(v).__name__
Value Calls::class_name(const Value& v, const Place& place) {
    const Type& t = v.type;
    if (t.kind == Type::Kind::Exception) {
        Template told;
        told.text = "{0N}";
        told.values = {v.items[1].expr};
        return Texts(*this, place).filled(told);
    }
    if (t.is_optional())
        refuse(place, "the type of what may be None is not known when compiling",
               "ask with `is None` first");
    std::string said = t.record ? t.record->name : describe(t);
    if (!t.record && t.is_scalar() && !t.is_weak()) said = std::string(name(t.dtype));
    if (!t.record && t.is_tuple()) said = "tuple";
    if (t.is_list() || t.is_object_list()) said = "list";
    if (t.is_table() && !t.is_object_list())
        said = t.rank == static_cast<int>(TableKind::Set) ? "set" : "dict";
    if (t.is_array()) said = "ndarray";
    if (t.is_function()) said = "function";
    if (t.is_none()) said = "NoneType";
    return Texts::constant(said);
}

/// e.args, as the raises in sight tell their types.
Value Calls::exception_arguments(const Value& e, const Place& place) {
    if (e.text.find('?') != std::string::npos)
        refuse(place, "the arguments of this exception have several types",
               "raise it with arguments of the same types, or read its text: str(e)");
    auto asked = [&](std::int64_t which, char kind) {
        std::vector<E> values;
        for (std::size_t k = 1; k < e.items.size(); ++k) values.push_back(e.items[k].expr);
        values.push_back(i64(which));
        values.push_back(i64(kind));
        return native("text_argument", values, 2);
    };
    const char* odd = "e.args of this exception has other types than those that raise gives here";
    auto count = asked(-1, 'i');
    auto wanted = static_cast<std::int64_t>(e.text.size());
    fault_if(op_binary(Op::Ne, count[1], i64(wanted)), ErrorKind::Type, odd, place);
    std::vector<Value> items;
    for (char kind : e.text) {
        auto found = asked(static_cast<std::int64_t>(items.size()), kind);
        fault_if(op_binary(Op::Ne, found[0], i64(0)), ErrorKind::Type, odd, place);
        if (kind == 't') items.push_back(Texts::of(found[1]));
        if (kind == 'i') items.push_back(scalar(found[1], Weak::Int));
        if (kind == 'b') items.push_back(scalar(op_binary(Op::Ne, found[1], i64(0)), Weak::Bool));
        if (kind == 'f')
            items.push_back(scalar(b_->bitcast(found[1], DType::Float64), Weak::Float));
    }
    return tuple_of(std::move(items));
}

}  // namespace unisono::frontend
