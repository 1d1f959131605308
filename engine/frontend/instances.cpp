// Objects of compiled classes: counted memory, which names share as in Python.
//
// The memory is a run of words. Word 0 holds the object's own block, word 1 how many of the words
// from the second on hold blocks that the object keeps alive: those of arrays and of other objects.
// Behind them lie the fields: a number in a word; of an array the address, the extents and the
// strides; of an object its address; in objects of dataclasses, which live as long as the call,
// also what a table would hold. core/native/object.cpp makes and ends such memory.
#include "frontend/assignments.h"
#include "frontend/tables.h"

namespace unisono::frontend {

using ir::StrideClass;

static bool is_counted(const Type& t) { return t.is_array() || t.is_instance(); }
static bool is_number(const Type& t) { return t.is_scalar() && !t.is_complex(); }

void lay_out(Record& record) {
    int counted = 0;
    for (const Record::Field& f : record.fields) counted += is_counted(f.type);
    int word = 2 + counted, next_counted = 2;
    record.counted = counted;
    for (Record::Field& f : record.fields) {
        f.word = word;
        f.block = is_counted(f.type) ? next_counted++ : -1;
        word += f.type.is_array()      ? 1 + 2 * f.type.rank
                : f.type.is_instance() ? 1
                                       : words_of(f.type);
    }
    record.words = word;
}

static Type object_type(const std::shared_ptr<const Record>& record, bool may_be_none) {
    return Type::of_record(Type::Kind::Instance, record, may_be_none, {});
}

Value Objects::object_in(std::int32_t slot, const Type& type) {
    Value v;
    v.type = type;
    v.array = b_->view(type.record->name, slot, i64(0), {i64(type.record->words)}, {i64(1)},
                       {StrideClass::One}, true);
    return v;
}

E Objects::object_address(const Value& object) {
    if (object.type.kind == Type::Kind::None) return i64(0);
    return b_->address(describe_array(object.array).root);
}

/// Parameters that are objects come as addresses; whoever calls keeps them alive.
void Objects::open_objects(Value& value) {
    if (value.type.is_instance()) {
        std::int32_t slot = b_->slot(value.type.record->name, DType::Int64, true);
        frames_.front().declares.push_back(b_->adopt(slot, value.expr, i64(0)));
        given_objects_.insert(slot);
        value = object_in(slot, value.type);
        return;
    }
    for (Value& item : value.items) open_objects(item);
}

/// For calls: an object goes as its address.
void Objects::address_objects(Value& value) {
    if (value.type.is_instance()) value.expr = object_address(value);
    for (Value& item : value.items) address_objects(item);
}

/// The same object, whatever its variable holds later.
Value Objects::held_object(const Value& object) {
    std::int32_t root = describe_array(object.array).root;
    if (given_objects_.count(root)) return object;
    std::int32_t slot = b_->slot("held", DType::Int64, true);
    emit(b_->point(slot, root));
    return object_in(slot, object.type);
}

/// A name's own variable gets the object.
Value Objects::move_object(const std::string& name, const Value& value, const Type& type) {
    Frame& f = home(name);
    std::string key = name + "/" + type.record->name + (type.rank ? "?" : "");
    auto [it, is_new] = f.arrays.emplace(key, -1);
    if (is_new) it->second = object_in(b_->slot(name, DType::Int64, true), type).array;
    Value moved;
    moved.type = type;
    moved.array = it->second;
    std::int32_t slot = describe_array(moved.array).root;
    if (value.type.kind == Type::Kind::None) {
        emit(b_->adopt(slot, i64(0), i64(0)));
        return moved;
    }
    std::int32_t from = describe_array(value.array).root;
    if (from != slot) emit(b_->point(slot, from));
    return moved;
}

/// Memory of an object whose fields are 0.
Value Objects::new_instance(const std::shared_ptr<const Record>& record, const Place& place) {
    at(place);
    auto made = native("object_new", {i64(0), i64(record->words), i64(record->counted)}, 3);
    fault_if(op_binary(Op::Ne, made[0], i64(0)), ErrorKind::Memory, "out of memory for an object",
             place);
    std::int32_t slot = b_->slot(record->name, DType::Int64, true);
    emit(b_->adopt(slot, made[1], made[2]));
    return object_in(slot, object_type(record, false));
}

Value Objects::new_object(const Node& node, const ClassUse& use) {
    if (source_.is_kernel)
        refuse(node.place, "a kernel cannot make objects", "pass what it needs as arguments");
    const Record& record = *use.record;
    if (record.is_data) return data_object(node, use);
    Value object = new_instance(use.record, node.place);
    auto init = record.find_method("__init__");
    if (init) {
        call_function(node, *init->source, {}, &object);
    } else if (node.children.size() > 1) {
        refuse(node.place, record.name + " takes no arguments: it has no __init__",
               "leave them out, or write one");
    }
    return object;
}

/// None has no attributes.
void Objects::want_object(const Value& object, const std::string& field, const Place& place) {
    if (object.type.rank == 0) return;
    fault_if(op_binary(Op::Eq, object_address(object), i64(0)), ErrorKind::Type,
             "'NoneType' object has no attribute '" + field + "'", place);
}

// ---- fields

E Objects::word_of(const Value& object, int word) {
    return b_->load(object.array, {i64(word)}, ir::Access::Inside);
}

void Objects::set_word(const Value& object, int word, E value) {
    emit(b_->store(object.array, std::vector<E>{i64(word)}, value, ir::Access::Inside));
}

static DType word_bits(DType t) {
    switch (size_of(t)) {
        case 1: return DType::UInt8;
        case 2: return DType::UInt16;
        case 4: return DType::UInt32;
        default: return DType::Int64;
    }
}

E Objects::number_of_word(E word, DType t) {
    if (is_bool(t)) return op_binary(Op::Ne, word, i64(0));
    if (!is_float(t)) return cast(word, t);
    return b_->bitcast(cast(word, word_bits(t)), t);
}

Value Objects::read_member(const Value& object, const Record::Field& f, const Place& place) {
    want_object(object, f.name, place);
    std::int32_t slot = describe_array(object.array).root;
    bool is_known = given_objects_.count(slot) && object.type.rank == 0 &&
                    is_constant_field(f.name) && !source_.is_kernel &&
                    (is_number(f.type) || is_counted(f.type));
    if (!is_known) {
        Value v = load_member(object, f);
        want_assigned(v, f, place);
        return v;
    }
    auto [it, is_new] = members_.emplace(std::pair(slot, f.name), Value{});
    if (is_new) {
        // Nothing changes it while the function runs: read once, where it begins.
        Value v;
        std::vector<S> made = collect([&] {
            v = load_member(object, f);
            if (v.type.is_scalar()) v.expr = temporary(v.expr, "member");
        });
        auto& head = frames_.front().declares;
        head.insert(head.end(), made.begin(), made.end());
        it->second = v;
    }
    // An array that was never assigned is empty: every index of it fails.
    if (it->second.type.is_instance()) want_assigned(it->second, f, place);
    return it->second;
}

/// What was never assigned has no memory.
void Objects::want_assigned(const Value& v, const Record::Field& f, const Place& place) {
    if (!is_counted(v.type) || (v.type.is_instance() && v.type.rank == 1)) return;
    E address = b_->address(describe_array(v.array).root);
    fault_if(op_binary(Op::Eq, address, i64(0)), ErrorKind::Type,
             "attribute '" + f.name + "' has not been assigned", place);
}

Value Objects::load_member(const Value& object, const Record::Field& f) {
    if (!is_number(f.type) && !is_counted(f.type)) {
        std::vector<E> words;
        for (int k = 0; k < words_of(f.type); ++k)
            words.push_back(temporary(word_of(object, f.word + k), "word"));
        std::size_t at = 0;
        return Tables(*this, {}).taken(f.type, words, at, false);
    }
    if (f.type.is_scalar())
        return scalar(number_of_word(word_of(object, f.word), f.type.dtype), f.type.weak);
    E block = word_of(object, f.block);
    E address = temporary(word_of(object, f.word), "address");
    E kept = native("block_keep", {i64(0), block, address}, 2)[1];
    if (f.type.is_instance()) {
        std::int32_t slot = b_->slot(f.name, DType::Int64, true);
        emit(b_->adopt(slot, address, kept));
        return object_in(slot, f.type);
    }
    Descriptor d{b_->slot(f.name, f.type.dtype, true), i64(0), {}, {}, f.type.strides, true};
    emit(b_->adopt(d.root, address, kept));
    for (int k = 0; k < f.type.rank; ++k)
        d.extents.push_back(temporary(word_of(object, f.word + 1 + k), "n"));
    for (int k = 0; k < f.type.rank; ++k) {
        bool is_one = f.type.strides[static_cast<std::size_t>(k)] == StrideClass::One;
        int word = f.word + 1 + f.type.rank + k;
        d.strides.push_back(is_one ? i64(1) : temporary(word_of(object, word), "stride"));
    }
    return view(f.name, d);
}

/// The counted block of an array's memory, where it is known; else 0.
E Objects::block_of_array(std::int32_t array) {
    std::int32_t root = describe_array(array).root;
    if (function_->arrays[static_cast<std::size_t>(root)].is_slot) return b_->block_of(root);
    auto it = blocks_of_params_.find(root);
    if (it != blocks_of_params_.end()) return it->second;
    instance_.keeps_arrays = true;
    return i64(0);
}

/// The same with one more reference; of an array that the program passed in its owner's.
E Objects::kept_block(const Value& array, const Place& place) {
    auto kept = native("block_keep", {i64(0), block_of_array(array.array), address_of(array)}, 2);
    fault_if(op_binary(Op::Ne, kept[0], i64(0)), ErrorKind::Runtime,
             "an object cannot keep this array: its owner is not known here; copy it first", place);
    return kept[1];
}

/// The object's block with one more reference; 0 for None.
E Objects::kept_object(const Value& object) {
    return native("object_keep", {i64(0), object_address(object)}, 2)[1];
}

void Objects::store_member(const Value& object, const Record::Field& f, const Value& given,
                           const Place& place) {
    if (parallel_depth_ > 0 && !is_number(f.type)) {
        refuse(place,
               "an attribute that holds an array, an object or a text is assigned inside of prange",
               "assign it before or after the loop");
    }
    Declared wanted;
    wanted.type = f.type;
    wanted.is_given = true;
    std::string role = "attribute '" + f.name + "' of " + object.type.record->name;
    want_object(object, f.name, place);
    if (!is_number(f.type) && !is_counted(f.type)) {
        Tables tables(*this, place);
        Value v = tables.as_type(tables.storable(given), f.type, role);
        std::vector<E> words;
        tables.put(v, words);
        for (std::size_t k = 0; k < words.size(); ++k)
            set_word(object, f.word + static_cast<int>(k), words[k]);
        return;
    }
    if (f.type.is_scalar()) {
        E x = declared_value(given, wanted, place, role).expr;
        DType t = f.type.dtype;
        if (is_float(t)) x = b_->bitcast(x, word_bits(t));
        return set_word(object, f.word, cast(x, DType::Int64));
    }
    std::vector<std::pair<int, E>> words;
    E block = nullptr;
    if (f.type.is_instance()) {
        bool fits = given.type.kind == Type::Kind::None
                        ? f.type.rank == 1
                        : given.type.record == f.type.record && given.type.is_instance();
        if (!fits)
            refuse(place,
                   role + " is declared " + describe(f.type) + "; got " + describe(given.type),
                   "assign an object of that class");
        if (given.type.rank == 1 && f.type.rank == 0)
            fault_if(op_binary(Op::Eq, object_address(given), i64(0)), ErrorKind::Type,
                     role + " cannot be None", place);
        words.emplace_back(f.word, temporary(object_address(given), "address"));
        block = kept_object(given);
    } else {
        Value value = given;
        if (given.type.is_array() || given.type.is_list()) value = made(as_array(given), place);
        value = declared_value(value, wanted, place, role);
        Descriptor d = describe_array(value.array);
        if (!value.type.writable) refuse(place, role + " gets a read-only array", "pass a copy");
        words.emplace_back(f.word, temporary(address_of(value), "address"));
        for (int k = 0; k < f.type.rank; ++k) {
            auto at = static_cast<std::size_t>(k);
            words.emplace_back(f.word + 1 + k, settle(d.extents[at]));
            words.emplace_back(f.word + 1 + f.type.rank + k, settle(d.strides[at]));
        }
        block = kept_block(value, place);
    }
    E old = temporary(word_of(object, f.block), "old");
    set_word(object, f.block, block);
    for (const auto& [word, value] : words) set_word(object, word, value);
    native("block_drop", {i64(0), old}, 1);
}

const Record::Field& Objects::member(const Value& object, const std::string& name,
                                     const Place& place) {
    auto k = object.type.record->find(name);
    if (!k) {
        refuse(place, object.type.record->name + " has no attribute '" + name + "'",
               "its fields are " + object.type.record->field_names() +
                   "; declare others in the class");
    }
    return object.type.record->fields[*k];
}

/// object.name = value; false where the owner is no object.
bool Assignments::assign_member(const Node& target, const Value& value) {
    Value object = expression(target.children[0]);
    if (!object.type.is_instance()) return false;
    auto setter = object.type.record->find(target.text)
                      ? std::nullopt
                      : object.type.record->find_method("=" + target.text);
    if (setter) {
        call_with(target, *setter->source, {object, value});
        return true;
    }
    store_member(object, member(object, target.text, target.place), value, target.place);
    return true;
}

bool Assignments::augment_member(const Node& node) {
    const Node& target = node.children[0];
    Value object = expression(target.children[0]);
    if (!object.type.is_instance()) return false;
    const Record::Field& f = member(object, target.text, target.place);
    Value old = read_member(object, f, target.place);
    if (old.type.is_scalar()) old.expr = settle(old.expr);
    Value change;
    behind({&object, 1}, [&] { change = expression(node.children[1]); });
    at(node.place);
    if (old.type.is_array()) {
        assign_in_place(node, old, change);
        return true;
    }
    store_member(object, f, binary(node.text, old, change, node.place), node.place);
    return true;
}

/// Whether both are one object; nothing where neither is an object.
std::optional<Value> Objects::compare_identity(const std::string& op, const Value& a,
                                               const Value& b, const Place& place) {
    if (!a.type.is_instance() && !b.type.is_instance()) return std::nullopt;
    bool is_identity = op == "is" || op == "is not";
    if (!is_identity && op != "==" && op != "!=") return std::nullopt;
    auto is_object = [](const Value& v) {
        return v.type.is_instance() || v.type.kind == Type::Kind::None;
    };
    bool has_none = a.type.kind == Type::Kind::None || b.type.kind == Type::Kind::None;
    if (!is_identity && !has_none) {
        if (auto v = compare_objects(op, a, b, place)) return v;
    }
    bool is_equality = op == "is" || op == "==";
    E same = is_object(a) && is_object(b) ? op_binary(Op::Eq, object_address(a), object_address(b))
                                          : b_->boolean(false);
    return scalar(is_equality ? same : op_unary(Op::Not, same), Weak::Bool);
}

}  // namespace unisono::frontend
