// Dataclasses whose fields change: objects in memory, as those of compiled classes, with a layout
// for each list of types that their fields have. An annotation that names a type fixes the field's;
// elsewhere the values tell it. They are copied in and back where they are passed.
#include <algorithm>

#include "frontend/objects.h"
#include "frontend/tables.h"

namespace unisono::frontend {

std::shared_ptr<const Record> with_types(const Record& known, const std::vector<Type>& types) {
    const Record& base = known.base ? *known.base : known;
    auto has = [&](const Record& r) {
        for (std::size_t k = 0; k < types.size(); ++k) {
            if (r.fields[k].is_open || r.fields[k].type != types[k]) return false;
        }
        return true;
    };
    if (has(base)) return base.shared_from_this();
    for (const auto& made : base.variants) {
        if (has(*made)) return made;
    }
    auto made = std::make_shared<Record>(base);
    made->variants.clear();
    made->base = base.shared_from_this();
    for (std::size_t k = 0; k < types.size(); ++k) {
        made->fields[k].type = types[k];
        made->fields[k].is_open = false;
    }
    lay_out(*made);
    base.variants.push_back(made);
    return made;
}

/// Whether a field of that type takes the value, if need be converted.
static bool fits(const Type& wanted, const Type& given) {
    auto order = [](const Type& t) {
        return t.is_complex() ? 3 : is_float(t.dtype) ? 2 : is_bool(t.dtype) ? 0 : 1;
    };
    if (wanted.is_scalar() && given.is_scalar())
        return order(given) <= order(wanted) && (order(wanted) == 0) == (order(given) == 0);
    if (wanted.is_optional())
        return given.is_none() ||
               fits(wanted.items[1], given.is_optional() ? given.items[1] : given);
    if (wanted.is_table() && given.is_table()) return wanted.rank == given.rank;
    if (wanted.is_object_list() && given.is_list()) return true;
    auto joined = join(wanted, given);
    return joined && *joined == wanted;
}

/// An object of the class with these values of its fields.
Value Objects::object_of_values(const std::shared_ptr<const Record>& known,
                                std::vector<Value> values, const Place& place) {
    const Record& base = known->base ? *known->base : *known;
    Tables tables(*this, place);
    std::vector<Type> types;
    for (std::size_t k = 0; k < values.size(); ++k) {
        const Record::Field& f = base.fields[k];
        bool is_declared = !f.is_open && fits(f.type, values[k].type);
        if (!is_declared) values[k] = tables.storable(values[k]);
        types.push_back(is_declared ? f.type : values[k].type);
    }
    for (Value& v : values) v = kept_apart(v);
    Value object = new_instance(with_types(base, types), place);
    for (std::size_t k = 0; k < values.size(); ++k)
        store_member(object, object.type.record->fields[k], values[k], place);
    return object;
}

/// Particle(x, mass=1.0)
Value Objects::data_object(const Node& node, const ClassUse& use) {
    const Record& record = *use.record;
    if (record.find_method("__init__")) {
        bool is_open = std::any_of(record.fields.begin(), record.fields.end(),
                                   [](const Record::Field& f) { return f.is_open; });
        if (is_open)
            refuse(node.place,
                   record.name +
                       " has an __init__ of its own, and fields whose annotations name "
                       "no type",
                   "annotate them, as in x: float or a: \"float64[:]\"");
        Value object = new_instance(use.record, node.place);
        call_function(node, *record.find_method("__init__")->source, {}, &object);
        return object;
    }
    Value object = object_of_values(use.record, field_arguments(node, use), node.place);
    if (auto init = record.find_method("__post_init__")) call_with(node, *init->source, {object});
    return object;
}

std::vector<Value> Objects::field_values(const Value& object, const Place& place) {
    std::vector<Value> values;
    for (const Record::Field& f : object.type.record->fields)
        values.push_back(kept_apart(read_member(object, f, place)));
    return values;
}

}  // namespace unisono::frontend
