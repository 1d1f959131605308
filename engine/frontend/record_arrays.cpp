// Structured arrays that compiled code makes or returns: bytes, whose last axis is one record, and
// a view of them for each field.
#include <mutex>

#include "frontend/lazy.h"
#include "frontend/objects.h"
#include "frontend/records.h"

namespace unisono::frontend {

/// The elements of a field: its numbers, or the unsigned integers that they are pieces of.
static DType unit_of(const Record::Field& f) {
    if (f.pieces == 0) return f.dtype;
    switch (size_of(f.dtype) / f.pieces) {
        case 1: return DType::UInt8;
        case 2: return DType::UInt16;
        case 4: return DType::UInt32;
        default: return DType::UInt64;
    }
}

/// Whether every field can be read, of records inside too.
bool is_readable(const Record& record) {
    return std::all_of(record.fields.begin(), record.fields.end(), [](const Record::Field& f) {
        return f.odd.empty() && (!f.inner || is_readable(*f.inner));
    });
}

Value Objects::field_in(const Descriptor& bytes, const Record::Field& f) {
    const DType unit = unit_of(f);
    Descriptor d = bytes;
    look_as(d, 1, unit, f.offset, "field");
    d.extents.pop_back();
    d.strides.pop_back();
    for (E& stride : d.strides)
        stride = pinned(op_binary(Op::FloorDiv, stride, i64(size_of(unit))));
    const std::size_t rank = d.extents.size();
    const std::vector<std::int64_t> own =
        f.pieces > 0 ? std::vector<std::int64_t>{f.pieces} : f.shape;
    std::int64_t step = 1;
    for (std::size_t k = own.size(); k-- > 0; step *= own[k]) {
        d.extents.insert(d.extents.begin() + static_cast<std::ptrdiff_t>(rank), i64(own[k]));
        d.strides.insert(d.strides.begin() + static_cast<std::ptrdiff_t>(rank), i64(step));
    }
    d.classes.assign(d.extents.size(), ir::StrideClass::Other);
    if (!own.empty()) d.classes.back() = ir::StrideClass::One;
    return view(f.name, d);
}

/// The records that bytes hold.
Value Objects::records_in(const Value& bytes, const std::shared_ptr<const Record>& record) {
    const Descriptor whole = describe_array(bytes.array);
    Value all;
    std::vector<Type> types;
    for (const Record::Field& f : record->fields) {
        Value& item = all.items.emplace_back();
        if (f.inner)
            item = records_in(bytes, f.inner);
        else if (f.odd.empty())
            item = field_in(whole, f);
        else
            item.type.kind = Type::Kind::None;
        types.push_back(item.type);
    }
    const int rank = static_cast<int>(whole.extents.size()) - 1;
    all.type = Type::of_record(Type::Kind::Records, record, rank, types);
    return all;
}

Value Objects::new_records(const std::shared_ptr<const Record>& record, std::vector<E> extents,
                           bool is_zero, const Place& place) {
    if (!is_readable(*record)) {
        refuse(place,
               "an array of these records cannot be made in compiled code: not all of their fields "
               "are numbers",
               "make it outside and pass it as an argument");
    }
    extents.push_back(i64(record->step));
    Value bytes = make_array(DType::UInt8, std::move(extents), place);
    if (is_zero) assign_elements(bytes, scalar(b_->zero(DType::UInt8)), place);
    return records_in(bytes, record);
}

/// Field by field, as they lie.
void Objects::fill_records(const Value& to, const Value& from, const Place& place) {
    for (std::size_t k = 0; k < to.items.size(); ++k) {
        if (to.items[k].type.is_records())
            fill_records(to.items[k], from.items[k], place);
        else
            assign_elements(to.items[k], from.items[k], place);
    }
}

/// A number into every field.
void Objects::fill_fields(const Value& records, const Value& value, const Place& place) {
    if (!value.type.is_scalar())
        refuse(place, "all of a " + describe(records.type) + " cannot be " + describe(value.type),
               "give a number, or fill the fields of what np.zeros makes");
    for (std::size_t k = 0; k < records.items.size(); ++k) {
        const Record::Field& field = records.type.record->fields[k];
        const Value& to = records.items[k];
        if (to.type.is_records()) {
            fill_fields(to, value, place);
        } else if (field.pieces > 0) {
            E number = settle(
                to_type(want_number(value, place, "the value of a field"), field.dtype, place));
            nest(
                extents_of(whole_numbers(to)),
                [&](std::span<const E> index) {
                    store_pieces({to, field, nullptr}, {index.begin(), index.end()}, number);
                },
                place);
        } else {
            assign_elements(to, value, place);
        }
    }
}

/// The bytes that records lie in, whose last axis is one of them; they have a readable field.
Value Objects::record_bytes(const Value& records, const Place& place) {
    const Value* held = &records;
    const Record::Field* field = nullptr;
    while (held->type.is_records()) {
        std::size_t k = 0;
        while (!held->items[k].type.is_array() && !held->items[k].type.is_records()) ++k;
        field = &held->type.record->fields[k];
        held = &held->items[k];
    }
    at(place);
    const std::int64_t size = size_of(held->type.dtype);
    Descriptor d = describe_array(held->array);
    look_as(d, size, DType::UInt8, -field->offset, "records");
    const auto rank = static_cast<std::size_t>(records.type.rank);
    d.extents.resize(rank);
    d.strides.resize(rank);
    for (E& stride : d.strides) stride = pinned(op_binary(Op::Mul, stride, i64(size)));
    d.extents.push_back(i64(records.type.record->step));
    d.strides.push_back(i64(1));
    d.classes.assign(rank + 1, ir::StrideClass::Other);
    d.classes.back() = ir::StrideClass::One;
    return view("records", d);
}

std::shared_ptr<const Record> without_dtype(const Record& record) {
    static std::mutex guard;
    std::scoped_lock lock(guard);
    if (record.variants.empty()) {
        auto apart = std::make_shared<Record>(record);
        apart->dtype.clear();
        record.variants.push_back(std::move(apart));
    }
    return record.variants.front();
}

/// What zeros, empty, ones, full, those like another array and copy make of records; nothing of
/// numbers.
std::optional<Value> Objects::records_made(const Given& given) {
    const Place& place = given.node.place;
    auto begins = [&](std::string_view word) { return given.base.rfind(word, 0) == 0; };
    const bool is_zero = begins("zeros"), is_one = begins("ones"), is_full = begins("full");
    const bool is_known = is_zero || is_one || is_full || begins("empty");
    auto new_filled = [&](const std::shared_ptr<const Record>& record, std::vector<E> extents) {
        Value made = new_records(record, std::move(extents), is_zero, place);
        if (is_one) fill_fields(made, scalar(i64(1), Weak::Int), place);
        if (is_full) fill_fields(made, given.at("fill_value"), place);
        return made;
    };
    if (const Value* like = given.find("a"); like && like->type.is_records()) {
        const bool is_copy = given.base == "copy";
        if ((!is_copy && !is_known) || given.find("dtype")) return std::nullopt;
        Value made = new_filled(like->type.record, extents_of(record_shape(*like, place)));
        if (is_copy) fill_records(made, *like, place);
        return made;
    }
    const Value* t = given.find("dtype");
    if (!t || t->type.kind != Type::Kind::DTypeName || !t->type.record) return std::nullopt;
    if (!is_known || !given.find("shape"))
        refuse_call(given, "makes no structured arrays in a compiled function",
                    "fill the fields of what np.zeros makes");
    return new_filled(t->type.record, shape_argument(given.at("shape"), place));
}

}  // namespace unisono::frontend
