// Structured arrays: an array per field. Elements are known by where they lie; reading one field
// touches that field alone.
#include "frontend/records.h"

#include <algorithm>

#include "frontend/assignments.h"
#include "frontend/lazy.h"

namespace unisono::frontend {

/// The field that a.x, a["x"] or a[k] with a name of a constant text names, or null.
const std::string* Objects::key_of(const Node& node) const {
    if (node.kind == NodeKind::Attribute) return &node.text;
    if (node.kind != NodeKind::Subscript || node.children.size() != 2) return nullptr;
    const Node& key = node.children[1];
    if (key.kind == NodeKind::Text) return &key.text;
    if (key.kind != NodeKind::Name) return nullptr;
    auto held = env_.names.find(key.text);
    bool is_known = held != env_.names.end() && held->second.state == Binding::State::Defined &&
                    held->second.value.type.is_text() && !held->second.value.expr;
    return is_known ? &held->second.value.text : nullptr;
}

/// A name, or fields of one: evaluating it twice costs nothing.
bool Objects::is_path(const Node& node) const {
    return node.kind == NodeKind::Name || (key_of(node) && is_path(node.children[0]));
}

bool holds_records(const Type& t) {
    return t.is_records() || std::any_of(t.items.begin(), t.items.end(), holds_records);
}

Objects::FieldAccess Objects::field_of(const Value& records, const std::string& key,
                                       const Node* index, const Place& place) {
    auto k = records.type.record->find(key);
    if (!k) {
        refuse(place, "there is no field '" + key + "' in a " + describe(records.type),
               "check the name");
    }
    const Record::Field& field = records.type.record->fields[*k];
    if (!field.odd.empty())
        refuse(place, "field '" + key + "' cannot be used in compiled code: " + field.odd,
               "use the other fields, or convert it outside");
    return {records.items[*k], field, index};
}

/// a[index].x, a[index]["x"], a["x"], r.x and so on; nothing where the node is anything else.
std::optional<Objects::FieldAccess> Objects::field_access(const Node& node) {
    const std::string* key = key_of(node);
    if (!key) {
        // a["x"][index] of numbers in pieces, which are no array
        bool is_item = node.kind == NodeKind::Subscript && key_of(node.children[0]);
        auto field = is_item ? field_access(node.children[0]) : std::nullopt;
        if (!field || field->field.pieces == 0 || field->index) return std::nullopt;
        if (has_array_index(index_nodes(node)) || view_items(node, whole_numbers(field->array)))
            return std::nullopt;
        return FieldAccess{field->array, field->field, &node};
    }
    const Node& owner = node.children[0];
    if (key_of(owner)) {
        if (auto outer = field_access(owner)) {
            if (!outer->array.type.is_records()) return std::nullopt;
            return field_of(outer->array, *key, outer->index, node.place);
        }
    }
    bool is_item = owner.kind == NodeKind::Subscript && !key_of(owner);
    const Node& base = is_item ? owner.children[0] : owner;
    if (!is_path(base)) return std::nullopt;
    const Node* root = &base;
    while (root->kind != NodeKind::Name) root = &root->children[0];
    auto held = env_.names.find(root->text);
    if (held == env_.names.end() || !holds_records(held->second.value.type)) return std::nullopt;
    Value records = expression(base);
    bool is_attribute_of_all = node.kind == NodeKind::Attribute && !is_item &&
                               records.type.rank > 0 && records.type.is_records() &&
                               !records.type.record->find(*key);
    if (!records.type.is_records() || is_attribute_of_all) return std::nullopt;
    if (is_item && records.type.rank == 0) return std::nullopt;
    return field_of(records, *key, is_item ? &owner : nullptr, node.place);
}

// ---- numbers in pieces

/// The array without its last axis, which counts the pieces of a number.
Value Objects::whole_numbers(const Value& pieces) {
    Descriptor d = describe_array(pieces.array);
    d.extents.pop_back();
    d.strides.pop_back();
    d.classes.pop_back();
    return view("numbers", d);
}

static DType unsigned_of(int size) {
    return size == 8 ? DType::UInt64 : size == 4 ? DType::UInt32 : DType::UInt16;
}

E Objects::joined_pieces(const FieldAccess& f, std::span<const E> where) {
    const int unit = size_of(f.array.type.dtype);
    const DType part = part_dtype(f.field.dtype), whole = unsigned_of(size_of(part));
    auto joined = [&](int first) {
        E all = nullptr;
        for (int p = 0; p < size_of(part) / unit; ++p) {
            std::vector<E> index(where.begin(), where.end());
            index.push_back(i64(first + p));
            E piece = cast(b_->load(f.array.array, index, access_for(index)), whole);
            E count = b_->constant(Scalar::of(whole, p * 8 * unit));
            if (p > 0) piece = op_binary(Op::Shl, piece, count);
            all = all ? op_binary(Op::Or, all, piece) : piece;
        }
        return part == whole ? all : b_->bitcast(all, part);
    };
    if (!is_complex(f.field.dtype)) return joined(0);
    return b_->pair(joined(0), joined(f.field.pieces / 2));
}

/// The index of one number, as the program gives it.
std::vector<E> Objects::index_of_pieces(const FieldAccess& f) {
    std::vector<E> where;
    Value numbers = whole_numbers(f.array);
    if (f.index) {
        if (has_array_index(index_nodes(*f.index)) || view_items(*f.index, numbers)) {
            refuse(f.index->place,
                   "field '" + f.field.name +
                       "' is not aligned in its dtype: only single numbers of it can be indexed",
                   "make the dtype with align=True");
        }
        where = indices(*f.index, numbers);
        for (E& e : where) e = settle(e);
    }
    return where;
}

void Objects::store_pieces(const FieldAccess& f, std::vector<E> where, E number) {
    const DType unit = f.array.type.dtype, part = part_dtype(f.field.dtype);
    const DType whole = unsigned_of(size_of(part));
    std::vector<E> parts{number};
    if (is_complex(f.field.dtype)) {
        auto [re, im] = parts_of(number);
        parts = {re, im};
    }
    for (E& e : parts) e = temporary(part == whole ? e : b_->bitcast(e, whole), "bits");
    const int each = size_of(part) / size_of(unit);
    where.emplace_back();
    for (int p = 0; p < f.field.pieces; ++p) {
        where.back() = i64(p);
        E bits = parts[static_cast<std::size_t>(p / each)];
        E count = b_->constant(Scalar::of(whole, p % each * 8 * size_of(unit)));
        E piece = p % each > 0 ? op_binary(Op::Shr, bits, count) : bits;
        emit(b_->store(f.array.array, where, cast(piece, unit), access_for(where)));
    }
}

void Assignments::store_field(const FieldAccess& f, const Value& value, const Place& place) {
    if (f.array.type.is_records()) {
        if (f.index) return assign_record(*f.index, f.array, value);
        return copy_record(f.array, value, place);
    }
    if (!f.array.type.writable) refuse_readonly(f.array);
    if (f.field.pieces > 0) {
        const bool is_whole = !f.index && f.array.type.rank > 1;
        if (is_whole && !source_.is_kernel) {
            const std::vector<E> extents = extents_of(whole_numbers(f.array));
            Value numbers = make_array(f.field.dtype, extents, place);
            assign_elements(numbers, value, place);
            return nest(
                extents,
                [&](std::span<const E> index) {
                    store_pieces(f, {index.begin(), index.end()},
                                 element_of(numbers, index, extents, false).expr);
                },
                place);
        }
        if (is_whole) {
            refuse(place,
                   "field '" + f.field.name +
                       "' is not aligned in its dtype: it cannot be "
                       "assigned as a whole",
                   "make the dtype with align=True, or write a loop");
        }
        E number = to_type(want_number(value, place, "the value stored"), f.field.dtype, place);
        return store_pieces(f, index_of_pieces(f), number);
    }
    if (f.index) return assign_item(*f.index, f.array, value);
    if (f.array.type.rank > 0) return assign_elements(f.array, value, place);
    E number = to_type(want_number(value, place, "the value stored"), f.array.type.dtype, place);
    at(place);
    emit(b_->store(f.array.array, std::vector<E>{}, number, ir::Access::Inside));
}

void Assignments::augment_field(const Node& node, const FieldAccess& f) {
    const Place& place = node.children[0].place;
    if (!f.array.type.is_records() && f.field.pieces == 0 && f.index)
        return augment_item(node, *f.index, f.array);
    Value old = field_value(f, place);
    if (old.type.is_records())
        refuse(place, "'" + node.text + "=' is not defined for records", "name one of its fields");
    Value change;
    behind({&old, 1}, [&] { change = expression(node.children[1]); });
    at(node.place);
    if (old.type.is_array() && f.field.pieces == 0) return assign_in_place(node, old, change);
    Value result = binary(node.text, old, change, node.place);
    refuse_cast(node.text + "=", result.type.dtype, old.type.dtype, node.place);
    store_field(f, result, node.place);
}

Value Objects::field_value(const FieldAccess& f, const Place& place) {
    at(place);
    if (f.array.type.is_records()) return f.index ? record_item(*f.index, f.array) : f.array;
    if (f.field.pieces > 0) {
        if (f.index || f.array.type.rank == 1) {
            std::vector<E> where = index_of_pieces(f);
            return scalar(joined_pieces(f, where));
        }
        Descriptor d = describe_array(whole_numbers(f.array).array);
        Value numbers = computed(
            d.extents, f.field.dtype, {f.array.array},
            [this, f](std::span<const E> index, bool) { return scalar(joined_pieces(f, index)); });
        auto lazy = std::make_shared<Lazy>(*numbers.lazy);
        lazy->is_field = true;
        numbers.lazy = std::move(lazy);
        return numbers;
    }
    if (f.index) return element(*f.index, f.array);
    if (f.array.type.rank > 0) return f.array;
    return scalar(b_->load(f.array.array, std::vector<E>{}, ir::Access::Inside));
}

// ---- records

/// An array of any field, whose first axes are those of the records.
const Value& Objects::any_field(const Value& records, const Place& place) {
    for (const Value& item : records.items) {
        if (item.type.is_array()) return item;
    }
    for (const Value& item : records.items) {
        if (item.type.is_records()) return any_field(item, place);
    }
    refuse(place, "a structured array without numbers cannot be used in compiled code",
           "pass arrays of its fields");
}

static bool has_call(const Node& node) {
    bool found = false;
    walk(node, [&](const Node& n) { found = found || n.kind == NodeKind::Call; });
    return found;
}

/// An array with the axes of the records and without those of a field's own.
Value Objects::record_shape(const Value& records, const Place& place) {
    Descriptor d = describe_array(any_field(records, place).array);
    auto rank = static_cast<std::size_t>(records.type.rank);
    d.extents.resize(rank);
    d.strides.resize(rank);
    d.classes.resize(rank);
    return view("records", d);
}

/// The subscript with values in place of what calls functions, which it does once for all fields.
const Node& Objects::with_known_items(const Node& node) {
    if (!has_call(node.children[1]) && node.children.size() == 2) return node;
    std::vector<const Node*> items = index_nodes(node);
    if (std::none_of(items.begin(), items.end(), [](const Node* n) { return has_call(*n); }))
        return node;
    Node& written = learnt_.indices.emplace_back();
    written.kind = NodeKind::Subscript;
    written.place = node.place;
    written.children = {node.children[0]};
    for (const Node* item : items) written.children.push_back(*item);
    for (std::size_t k = 0; k < items.size(); ++k) {
        if (!has_call(*items[k])) continue;
        Value value = made(expression(*items[k]), items[k]->place);
        if (value.type.is_scalar()) value.expr = pinned(value.expr);
        chosen_[&written.children[k + 1]] = value;
    }
    return written;
}

/// a[index]: the same index for every field.
Value Objects::record_item(const Node& given, const Value& records) {
    const Node& node = with_known_items(given);
    std::vector<const Node*> parts = index_nodes(node);
    bool is_gathered = has_array_index(parts);
    Value all = record_shape(records, node.place);
    auto items = is_gathered ? std::optional<std::vector<const Node*>>() : view_items(node, all);
    std::vector<E> where;
    if (!is_gathered && !items) {
        where = indices(node, all);
        for (std::size_t k = 0; k < where.size(); ++k)
            where[k] = tested_index(where[k], b_->extent(all.array, static_cast<int>(k)),
                                    static_cast<int>(k), node.place);
    }
    int less = 0;
    std::function<Value(const Value&)> pick = [&](const Value& v) -> Value {
        if (v.type.is_records()) {
            Value made = v;
            for (Value& item : made.items) item = pick(item);
            for (std::size_t k = 0; k < made.items.size(); ++k)
                made.type.items[k] = made.items[k].type;
            made.type.rank = v.type.rank - less;
            return made;
        }
        if (!v.type.is_array()) return v;
        if (is_gathered || items) {
            Value part = is_gathered ? made(gather(node, v, parts), node.place)
                                     : index_view(node, v, *items);
            less = v.type.rank - part.type.rank;
            return part;
        }
        less = records.type.rank;
        Descriptor d = describe_array(v.array);
        for (E e : where) {
            d.offset = op_binary(Op::Add, d.offset, op_binary(Op::Mul, e, d.strides.front()));
            d.extents.erase(d.extents.begin());
            d.strides.erase(d.strides.begin());
            d.classes.erase(d.classes.begin());
        }
        // A view reads no work-item's id, which is a variable once the kernel is a loop.
        d.offset = module_.is_kernel ? temporary(d.offset, "at") : pinned(d.offset);
        return view("record", d);
    };
    Value picked = pick(records);
    if (!is_gathered || source_.is_kernel) return picked;
    // Elements that lie apart become records of their own.
    if (!is_readable(*records.type.record)) {
        picked.type.record = without_dtype(*records.type.record);
        return picked;
    }
    const std::vector<E> extents = extents_of(record_shape(picked, node.place));
    Value own = new_records(records.type.record, extents, false, node.place);
    fill_records(own, picked, node.place);
    return own;
}

/// a[index] = value
void Assignments::assign_record(const Node& target, const Value& records, const Value& value) {
    if (key_of(target))
        return store_field(field_of(records, *key_of(target), nullptr, target.place), value,
                           target.place);
    copy_record(record_item(target, records), value, target.place);
}

/// Field after field; all are read before the first is written.
void Assignments::copy_record(const Value& to, const Value& from, const Place& place) {
    bool fits = (from.type.is_records() || from.type.is_tuple() || from.type.is_record()) &&
                from.items.size() == to.items.size();
    if (!fits) {
        refuse(place, "a " + describe(to.type) + " cannot take " + describe(from.type),
               "assign a record of the same fields, or a tuple with a value for each");
    }
    const bool are_alike = from.type.is_records() && from.type.record == to.type.record;
    if (are_alike && to.type.rank > 0 && !source_.is_kernel && is_readable(*to.type.record)) {
        Value own =
            new_records(to.type.record, extents_of(record_shape(from, place)), false, place);
        fill_records(own, from, place);
        return fill_records(to, own, place);
    }
    // Fields of two records are the same memory or apart: kernels, which make no arrays, copy them
    // as they lie.
    auto is_apart = [&](const Value& v) {
        return source_.is_kernel && from.type.is_records() && v.type.is_array() && !v.lazy;
    };
    std::vector<Value> values;
    for (std::size_t k = 0; k < to.items.size(); ++k) {
        const Record::Field& field = to.type.record->fields[k];
        if (!field.odd.empty())
            refuse(place,
                   "field '" + field.name + "' cannot be copied in compiled code: " + field.odd,
                   "assign the other fields one by one");
        Value v = from.items[k];
        if (from.type.is_records())
            v = field_value(field_of(from, from.type.record->fields[k].name, nullptr, place),
                            place);
        if (v.type.is_scalar()) v.expr = settle(v.expr);
        if (v.type.is_array() && !is_apart(v)) v = copied(made(v, place), place);
        values.push_back(v);
    }
    for (std::size_t k = 0; k < to.items.size(); ++k) {
        const Value& target = to.items[k];
        if (!is_apart(values[k]) || !target.type.is_array()) {
            store_field({target, to.type.record->fields[k], nullptr}, values[k], place);
            continue;
        }
        if (!target.type.writable) refuse_readonly(target);
        const std::vector<E> extents = extents_of(target), own = extents_of(values[k]);
        bool fits = own.size() == extents.size();
        for (std::size_t axis = 0; fits && axis < own.size(); ++axis) {
            E differs = op_binary(Op::Ne, own[axis], extents[axis]);
            fits = constant_int(differs) != 1;
            if (fits && !constant_int(differs))
                fault_if(differs, ErrorKind::Value, "fields of other shapes", place);
        }
        if (!fits)
            refuse(place, "field '" + to.type.record->fields[k].name + "' has another shape",
                   "assign its elements");
        auto copy = [&](std::span<const E> index) {
            Value item = element_of(values[k], index, extents, false);
            E number = cast(item.expr, target.type.dtype);
            at(place);
            emit(b_->store(target.array, index, number, ir::Access::Inside));
        };
        nest(extents, copy, place);
    }
}

}  // namespace unisono::frontend
