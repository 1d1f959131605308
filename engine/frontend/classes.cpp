// Objects that are their fields' values: frozen dataclasses and named tuples. Methods are compiled
// functions that get the object first.
#include <algorithm>

#include "frontend/assignments.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

using Form = Record::Form;

Value Objects::object_of(std::shared_ptr<const Record> record, std::vector<Value> items) {
    Value v = tuple_of(std::move(items));
    if (record->form == Form::Data) v.type.kind = Type::Kind::Record;
    v.type.record = std::move(record);
    return v;
}

/// Point(1, y=2)
Value Objects::construct(const Node& node, const ClassUse& use) {
    if (use.record->form == Form::Instance) return new_object(node, use);
    std::vector<Value> items = field_arguments(node, use);
    for (std::size_t k = 0; k < items.size(); ++k) {
        items[k] = all_made(items[k], node.place);
        const Type& type = items[k].type;
        if (type.kind == Type::Kind::DTypeName)
            refuse(node.place,
                   "field '" + use.record->fields[k].name + "' would hold a " + describe(type) +
                       ", which compiled functions cannot",
                   "use numbers, arrays and tuples of them");
    }
    return object_of(use.record, std::move(items));
}

/// What a call of the class gives its fields.
std::vector<Value> Objects::field_arguments(const Node& node, const ClassUse& use) {
    const Record& record = *use.record;
    if (!record.no_call.empty())
        refuse(node.place, record.name + " cannot be made in compiled code: " + record.no_call,
               "make it outside, and pass it");
    auto [by_position, by_name] = given(node, true);
    if (by_position.size() > record.positional) {
        refuse(node.place,
               record.name + " takes " + std::to_string(record.positional) +
                   " arguments by position; " + std::to_string(by_position.size()) + " are given",
               "leave the extra ones out");
    }
    std::vector<std::optional<Value>> slots(record.fields.size());
    std::copy(by_position.begin(), by_position.end(), slots.begin());
    for (const auto& [name, value] : by_name) {
        auto k = record.find(name);
        if (!k) refuse(node.place, record.name + " has no field '" + name + "'", "check the name");
        if (slots[*k])
            refuse(node.place, record.name + " gets field '" + name + "' twice", "give it once");
        slots[*k] = value;
    }
    std::vector<Value> items;
    for (std::size_t k = 0; k < slots.size(); ++k) {
        auto held = use.defaults.find(k);
        if (!slots[k] && !record.fields[k].made.empty()) {
            // A list, dict or set of its own for each object, whose items this call tells.
            const void* origin = reinterpret_cast<const char*>(&node) + 1 + k;
            Tables tables(*this, node.place);
            const std::string& made = record.fields[k].made;
            items.push_back(made == "list"   ? tables.list_of(origin, {})
                            : made == "dict" ? tables.empty(origin, TableKind::Dict)
                                             : tables.empty(origin, TableKind::Set));
            continue;
        }
        if (!slots[k] && held == use.defaults.end()) {
            refuse(node.place, record.name + " needs a value for '" + record.fields[k].name + "'",
                   "pass it");
        }
        items.push_back(slots[k] ? *slots[k] : expression(held->second));
    }
    return items;
}

/// dataclasses.replace(p, x=1) and p._replace(x=1); the arguments begin with child `first`.
Value Objects::replaced(const Node& node, const Value& object, std::size_t first) {
    bool is_data = object.type.is_instance() && object.type.record->is_data;
    bool is_value = object.type.record && (object.type.is_record() || object.type.is_tuple());
    if (!is_data && !is_value) {
        refuse(node.place,
               "only dataclasses and named tuples can be replaced; got " + describe(object.type),
               "make a new object");
    }
    std::vector<Value> items = is_data ? field_values(object, node.place) : object.items;
    for (std::size_t i = first; i < node.children.size(); ++i) {
        const Node& arg = node.children[i];
        auto k = arg.kind == NodeKind::Keyword ? object.type.record->find(arg.text) : std::nullopt;
        if (!k)
            refuse(arg.place, "replace takes fields of " + object.type.record->name + " by name",
                   "write replace(p, x=1)");
        items[*k] = all_made(expression(arg.children[0]), arg.place);
    }
    if (is_data) return object_of_values(object.type.record, std::move(items), node.place);
    return object_of(object.type.record, std::move(items));
}

/// Ends where the target is an attribute of an object that cannot change.
void Assignments::refuse_frozen(const Node& target) {
    const Node& owner = target.children[0];
    if (owner.kind != NodeKind::Name && owner.kind != NodeKind::Attribute) return;
    Value object = expression(owner);
    bool is_value = object.type.is_record() || (object.type.is_tuple() && object.type.record);
    if (!is_value) return;
    refuse(target.place,
           "'" + target.text + "' cannot be assigned: " + object.type.record->name + " is frozen",
           "make a new object, as in dataclasses.replace(p, " + target.text + "=...)");
}

std::optional<Value> Objects::object_attribute(const Node& node, const Value& object) {
    const auto& record = object.type.record;
    if (!record || object.type.is_records()) return std::nullopt;
    if (object.type.is_record() || object.type.is_tuple()) {
        if (auto k = record->find(node.text)) return object.items[*k];
        if (node.text == "_fields" && record->form == Form::Named) {
            std::vector<Value> names;
            for (const Record::Field& f : record->fields) names.push_back(Texts::constant(f.name));
            return tuple_of(std::move(names));
        }
    }
    if (object.type.is_instance()) {
        if (auto k = record->find(node.text))
            return read_member(object, record->fields[*k], node.place);
        want_object(object, node.text, node.place);
    }
    auto method = record->find_method ? record->find_method(node.text) : std::nullopt;
    if (method && method->kind == Record::Method::Kind::Property)
        return call_with(node, *method->source, {object});
    if (method) {
        bool is_static = method->kind == Record::Method::Kind::Static;
        Value v;
        v.type = Type::of_function(method->source, method->source->name);
        if (is_static) return v;
        v.items = {kept_apart(object)};
        v.type.items = {object.type};
        v.type.rank = 1;
        return v;
    }
    std::string names = record->field_names();
    refuse(node.place, record->name + " has no attribute '" + node.text + "'",
           names.empty() ? "check the name" : "its fields are " + names);
}

/// object.method(...), and, where no object is given, Class.method(...) of a static method.
Value Objects::object_method(const Node& node, const Record& known, const Value* object) {
    const Node& callee = node.children[0];
    const Record* record = &known;
    if (callee.text == "_replace" && record->form == Form::Named && object)
        return replaced(node, *object, 1);
    auto method = record->find_method ? record->find_method(callee.text) : std::nullopt;
    if (!method) {
        refuse(callee.place, record->name + " has no method '" + callee.text + "'",
               "check the name");
    }
    bool takes_self = method->kind != Record::Method::Kind::Static;
    if (!object && takes_self)
        refuse(callee.place, "'" + callee.text + "' is not a static method of " + record->name,
               "call it through an object");
    if (method->kind == Record::Method::Kind::Property)
        refuse(callee.place, "'" + callee.text + "' is a property of " + record->name,
               "leave out the parentheses");
    at(node.place);
    if (object && object->type.is_instance()) want_object(*object, callee.text, callee.place);
    const bool is_communicator = known.is_address && known.fields[0].name == "_address";
    if (is_communicator)  // methods stand in our library: errors name the line of the program
        native("comm_at", {i64(b_->line.line), i64(b_->line.file)}, 0);
    return call_function(node, *method->source, {}, takes_self ? object : nullptr);
}

bool Objects::has_method(const Value& object, const std::string& name) const {
    const auto& record = object.type.record;
    return record && !object.type.is_records() && record->find_method &&
           record->find_method(name).has_value();
}

/// What stands between the brackets: one value, or a tuple.
Value Objects::index_value(const Node& node) {
    std::vector<const Node*> nodes;
    for (std::size_t i = 1; i < node.children.size(); ++i) nodes.push_back(&node.children[i]);
    std::vector<Value> values = operands(nodes);
    return values.size() == 1 ? values[0] : tuple_of(std::move(values));
}

/// A method such as __add__ of the first value; nothing where it has none.
std::optional<Value> Objects::special_method(const Node* node, const std::string& name,
                                             const std::vector<Value>& values, const Place& place) {
    const auto& record = values[0].type.record;
    if (!record || values[0].type.is_records() || !record->find_method) return std::nullopt;
    auto method = record->find_method(name);
    if (!method) return std::nullopt;
    Node here;
    here.kind = NodeKind::Call;
    here.place = place;
    return call_with(node ? *node : here, *method->source, values);
}

std::optional<Value> Objects::operator_method(const std::string& op, const Value& a, const Value& b,
                                              const Place& place) {
    static const std::map<std::string, std::string> names = {
        {"+", "add"}, {"-", "sub"},     {"*", "mul"},    {"/", "truediv"}, {"//", "floordiv"},
        {"%", "mod"}, {"**", "pow"},    {"@", "matmul"}, {"&", "and"},     {"|", "or"},
        {"^", "xor"}, {"<<", "lshift"}, {">>", "rshift"}};
    auto it = names.find(op);
    if (it == names.end() || (!a.type.record && !b.type.record)) return std::nullopt;
    if (auto v = special_method(nullptr, "__" + it->second + "__", {a, b}, place)) return v;
    return special_method(nullptr, "__r" + it->second + "__", {b, a}, place);
}

/// Tuples and objects by their items, or by the methods of their class.
std::optional<Value> Objects::compare_objects(const std::string& op, const Value& a, const Value& b,
                                              const Place& place) {
    static const std::map<std::string, std::pair<std::string, std::string>> names = {
        {"==", {"eq", "eq"}}, {"!=", {"ne", "ne"}}, {"<", {"lt", "gt"}},
        {"<=", {"le", "ge"}}, {">", {"gt", "lt"}},  {">=", {"ge", "le"}}};
    auto it = names.find(op);
    if (it == names.end()) return std::nullopt;
    if (a.type.record || b.type.record) {
        if (auto v = special_method(nullptr, "__" + it->second.first + "__", {a, b}, place))
            return v;
        if (auto v = special_method(nullptr, "__" + it->second.second + "__", {b, a}, place))
            return v;
        if (op == "!=") {
            if (auto v = special_method(nullptr, "__eq__", {a, b}, place))
                return scalar(op_unary(Op::Not, truth(*v, place)), Weak::Bool);
        }
    }
    bool are_tuples = a.type.is_tuple() && b.type.is_tuple();
    bool are_data = a.type.is_instance() && b.type.is_instance() && a.type.record->is_data &&
                    a.type.rank == 0 && b.type.rank == 0 &&
                    same_class(a.type.record.get(), b.type.record.get());
    if (are_data && (op == "==" || op == "!=" ? a.type.record->compares : a.type.record->orders))
        return compare_items(op, field_values(a, place), field_values(b, place), place);
    bool are_objects = a.type.is_record() && a.type.record == b.type.record;
    bool is_equality = op == "==" || op == "!=";
    if (a.type.is_record() || b.type.is_record()) {
        if (is_equality && (!are_objects || !a.type.record->compares))
            return scalar(b_->boolean(op == "!="), Weak::Bool);
        if (!is_equality && (!are_objects || !a.type.record->orders)) {
            refuse(place,
                   "'" + op + "' of " + describe(a.type) + " and " + describe(b.type) +
                       " is not defined",
                   "give the class the method, or order=True");
        }
    } else if (!are_tuples) {
        return std::nullopt;
    }
    return compare_items(op, a.items, b.items, place);
}

/// In dictionary order.
Value Objects::compare_items(const std::string& op, const std::vector<Value>& a,
                             const std::vector<Value>& b, const Place& place) {
    auto test = [&](const std::string& how, std::size_t k) {
        return settle(truth(compare_two(how, a[k], b[k], place), place));
    };
    std::size_t common = std::min(a.size(), b.size());
    if (op == "==" || op == "!=") {
        E same = b_->boolean(a.size() == b.size());
        for (std::size_t k = 0; a.size() == b.size() && k < common; ++k)
            same = op_binary(Op::And, same, test("==", k));
        return scalar(op == "==" ? same : op_unary(Op::Not, same), Weak::Bool);
    }
    bool is_strict = op.size() == 1;
    bool shorter_holds = op[0] == '<' ? a.size() < b.size() : a.size() > b.size();
    E holds = b_->boolean(shorter_holds || (a.size() == b.size() && !is_strict));
    std::string strict = op.substr(0, 1);
    for (std::size_t k = common; k-- > 0;) {
        E rest = op_binary(Op::And, test("==", k), holds);
        holds = op_binary(Op::Or, test(strict, k), rest);
    }
    return scalar(holds, Weak::Bool);
}

}  // namespace unisono::frontend
