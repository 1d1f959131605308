// Values that may be None: a bool that tells whether one is there, and the value, which is a
// stand-in where none is. What cannot work with None asks for the value and raises TypeError where
// it is missing; behind a test of a name (`is None`, its truth) the name holds what the test says.
#include "frontend/exceptions.h"
#include "frontend/operators.h"
#include "frontend/texts.h"

namespace unisono::frontend {

/// What stands in a variable of the type while it holds None.
Value Objects::stand_in(const Type& type) {
    Value v;
    v.type = type;
    if (type.is_text()) {
        v.expr = Texts(*this, {}).handle(Texts::constant(""));
    } else if (type.is_complex()) {
        E zero = b_->zero(part_dtype(type.dtype));
        v.expr = b_->pair(zero, zero);
    } else if (type.is_word()) {
        v.expr = b_->zero(type.dtype);
    } else if (type.is_instance()) {
        return converted_value({}, Type::of_record(type.kind, type.record, 1, type.items));
    } else if (type.is_array()) {
        std::vector<E> extents(static_cast<std::size_t>(type.rank), i64(0));
        std::vector<E> strides;
        for (ir::StrideClass c : type.strides) strides.push_back(i64(c == ir::StrideClass::One));
        Descriptor d{b_->slot("none", type.dtype, type.writable),
                     i64(0),
                     extents,
                     strides,
                     type.strides,
                     type.writable};
        emit(b_->adopt(d.root, i64(0), i64(0)));
        return view("none", d);
    }
    if (type.is_table()) return v;
    for (const Type& item : type.items) v.items.push_back(stand_in(item));
    return v;
}

/// The value as one that may be None.
Value Objects::as_optional(const Value& value, const Type& type) {
    Value v;
    v.type = type;
    if (value.type.is_optional()) {
        v.items = {value.items[0], converted_value(value.items[1], type.items[1])};
        return v;
    }
    bool is_there = !value.type.is_none();
    v.items = {scalar(b_->boolean(is_there), Weak::Bool),
               is_there ? converted_value(value, type.items[1]) : stand_in(type.items[1])};
    return v;
}

/// The value that is there; TypeError with the message where none is.
Value Objects::present(const Value& value, const std::string& message, const Place& place) {
    if (!value.type.is_optional()) return value;
    fault_if(op_unary(Op::Not, value.items[0].expr), ErrorKind::Type, message, place);
    return value.items[1];
}

Value Objects::owner(const Value& value, const std::string& attribute, const Place& place) {
    if (!value.type.is_optional()) return value;
    at(place);
    S raised = b_->raise(
        b_->site(ErrorKind::Runtime, "'NoneType' object has no attribute '" + attribute + "'",
                 exception_number("AttributeError")),
        {});
    emit(b_->branch(op_unary(Op::Not, value.items[0].expr), b_->block({raised})));
    return value.items[1];
}

/// As CPython's messages name the class of a value.
static std::string class_of(const Type& t) {
    switch (t.kind) {
        case Type::Kind::None: return "NoneType";
        case Type::Kind::Scalar:
            return t.is_weak() ? describe(t) : "numpy." + std::string(name(t.dtype));
        case Type::Kind::Array: return "numpy.ndarray";
        case Type::Kind::Text: return "str";
        case Type::Kind::List: return "list";
        case Type::Kind::Table: {
            static const char* names[] = {"dict",        "set",        "dict_keys",
                                          "dict_values", "dict_items", "list"};
            return names[t.rank];
        }
        case Type::Kind::Optional: return class_of(t.items[1]);
        default: return t.record ? t.record->name : "tuple";
    }
}

/// Both operands of an operator that does not take None.
std::array<Value, 2> Operators::present_operands(const std::string& op, const Value& a,
                                                 const Value& b, const Place& place) {
    bool is_order = op == "<" || op == "<=" || op == ">" || op == ">=";
    auto message = [&](const std::string& x, const std::string& y) {
        std::string sign = op == "**" ? "** or pow()" : op;
        return is_order
                   ? "'" + op + "' not supported between instances of '" + x + "' and '" + y + "'"
                   : "unsupported operand type(s) for " + sign + ": '" + x + "' and '" + y + "'";
    };
    std::string x = class_of(a.type), y = class_of(b.type), none = "NoneType";
    if (a.type.is_optional() && b.type.is_optional()) {
        E both = op_binary(Op::Or, a.items[0].expr, b.items[0].expr);
        fault_if(op_unary(Op::Not, both), ErrorKind::Type, message(none, none), place);
    }
    return {present(a, message(none, y), place), present(b, message(x, none), place)};
}

/// Comparisons with == != is, of which one side may be None.
std::optional<Value> Operators::compare_optional(const std::string& op, const Value& a,
                                                 const Value& b, const Place& place) {
    if (!a.type.is_optional() && !b.type.is_optional()) return std::nullopt;
    bool is_equal = op == "==" || op == "is";
    if (!is_equal && op != "!=" && op != "is not") return std::nullopt;
    E there_a = a.type.is_optional() ? a.items[0].expr : b_->boolean(!a.type.is_none());
    E there_b = b.type.is_optional() ? b.items[0].expr : b_->boolean(!b.type.is_none());
    auto result = [&](E same) {
        return scalar(is_equal ? same : op_unary(Op::Not, same), Weak::Bool);
    };
    if (a.type.is_none() || b.type.is_none())
        return result(op_unary(Op::Not, a.type.is_none() ? there_b : there_a));
    const Value& x = a.type.is_optional() ? a.items[1] : a;
    const Value& y = b.type.is_optional() ? b.items[1] : b;
    if (x.type.is_array() || y.type.is_array())
        refuse(place, "an array that may be None is compared", "test it with `is None` first");
    auto no = [&] { return scalar(b_->boolean(false), Weak::Bool); };
    auto value = [&] {
        std::string same = op == "is" || op == "==" ? op : op == "!=" ? "==" : "is";
        return scalar(truth(compare_two(same, x, y, place), place), Weak::Bool);
    };
    auto with_a = [&] { return choose(there_b, value, no, place); };
    auto without = [&] { return scalar(op_unary(Op::Not, there_b), Weak::Bool); };
    return result(choose(there_a, with_a, without, place).expr);
}

/// Binds the names that a test tells about to what they hold where it comes out so; adds what they
/// held to `before`, if given.
void Operators::assume(const Node& test, bool outcome, std::map<std::string, Binding>* before) {
    if (test.kind == NodeKind::UnaryOp && test.text == "not")
        return assume(test.children[0], !outcome, before);
    if (test.kind == NodeKind::BoolOp) {
        if ((test.text == "and") != outcome) return;
        for (const Node& part : test.children) assume(part, outcome, before);
        return;
    }
    const Node* subject = &test;
    bool is_there = outcome;
    if (test.kind == NodeKind::Compare) {
        bool is_test = test.children.size() == 2 && test.children[1].kind == NodeKind::NoneValue;
        bool is_none = test.text == "is" || test.text == "==";
        if (!is_test || (!is_none && test.text != "is not" && test.text != "!=")) return;
        subject = &test.children[0];
        is_there = is_none != outcome;
    } else if (!outcome) {
        return;  // 0 is false, too
    }
    if (subject->kind == NodeKind::NamedExpr) subject = &subject->children[0];
    if (subject->kind != NodeKind::Name) return;
    auto held = env_.names.find(subject->text);
    if (held == env_.names.end() || held->second.state != Binding::State::Defined) return;
    if (!held->second.value.type.is_optional()) return;
    Binding known = held->second;
    if (before) before->emplace(subject->text, known);
    known.value = is_there ? Value(known.value.items[1]) : Value{};
    env_.names[subject->text] = known;
}

/// What `made` gives, where a test came out so.
Value Operators::assuming(const Node& test, bool outcome, const std::function<Value()>& made) {
    std::map<std::string, Binding> before;
    assume(test, outcome, &before);
    Value v = made();
    for (auto& [name, binding] : before) env_.names[name] = binding;
    return v;
}

}  // namespace unisono::frontend
