// What compiled code passes to C functions that take structs or functions: a struct by value goes
// as its numbers, a pointer to one as the address of a structured array, a function as its address.
#include <algorithm>

#include "frontend/calls.h"

namespace unisono::frontend {

namespace {

using Kind = NativeForm::Kind;

std::string argument(const Source& callee, const NativeForm& form) {
    return callee.name + ": argument '" + form.name + "' is " + form.spelling;
}

std::string fields_of(const NativeForm& form) {
    std::string text;
    for (const NativeForm& f : form.items)
        text += (text.empty() ? "" : ", ") + f.name.substr(f.name.rfind('.') + 1);
    return text;
}

/// The first field of the records that does not lie where C has it, or empty.
std::string misplaced(const Type& records, const NativeForm& form, const std::string& path) {
    for (std::size_t k = 0; k < records.record->fields.size(); ++k) {
        const Record::Field& field = records.record->fields[k];
        const Type& type = records.items[k];
        if (!field.odd.empty()) continue;
        if (type.is_records()) {
            std::string inner = misplaced(type, form, path + field.name + ".");
            if (!inner.empty()) return inner;
            continue;
        }
        std::string name = path + field.name;
        bool fits = std::any_of(form.leaves.begin(), form.leaves.end(), [&](const auto& leaf) {
            return leaf.name == name && leaf.offset == field.offset && leaf.dtype == field.dtype;
        });
        if (!fits) return name;
    }
    return {};
}

/// The first field of numbers, and its place.
const Value* first_numbers(const Value& records, const Record::Field*& field) {
    for (std::size_t k = 0; k < records.items.size(); ++k) {
        const Record::Field& f = records.type.record->fields[k];
        if (!f.odd.empty()) continue;
        const Value& item = records.items[k];
        if (item.type.is_records()) {
            if (const Value* found = first_numbers(item, field)) return found;
        } else if (item.type.is_array()) {
            field = &f;
            return &item;
        }
    }
    return nullptr;
}

}  // namespace

std::vector<Value> Calls::leaves_of(const Source& callee, const std::vector<Value>& values,
                                    const Place& place) {
    std::vector<Value> leaves;
    at(place);
    for (std::size_t k = 0; k < values.size(); ++k)
        add_leaves(callee, callee.native->forms.at(k), values[k], place, leaves);
    return leaves;
}

void Calls::add_leaves(const Source& callee, const NativeForm& form, const Value& value,
                       const Place& place, std::vector<Value>& leaves) {
    auto wrong = [&](const std::string& way_out) {
        refuse(place, argument(callee, form) + "; got " + describe(value.type), way_out);
    };
    switch (form.kind) {
        case Kind::Plain: return leaves.push_back(value);
        case Kind::Address: return leaves.push_back(struct_address(callee, form, value, place));
        case Kind::Callback: return leaves.push_back(callback_address(callee, form, value, place));
        case Kind::Refused:
            refuse(place, callee.name + ": cannot be called in compiled code: " + form.spelling,
                   "write a C function around it that takes its address");
        case Kind::Complex:
            if (!value.type.is_scalar()) wrong("pass a number");
            for (int part : {0, 1}) {
                E number = value.type.is_complex() ? part_of(value, part)
                           : part == 0             ? value.expr
                                                   : b_->number(DType::Float64, 0.0);
                leaves.push_back(scalar(settle(cast(number, DType::Float64)), Weak::Float));
            }
            return;
        case Kind::Struct: {
            const auto& record = value.type.record;
            bool has_names = record && (value.type.is_record() || value.type.is_records() ||
                                        value.type.is_tuple());
            if (value.type.is_records() && value.type.rank > 0)
                wrong("pass one of its elements, a[i]");
            bool fits =
                has_names || (value.type.is_tuple() && value.items.size() == form.items.size());
            for (const NativeForm& f : form.items) {
                std::string name = f.name.substr(f.name.rfind('.') + 1);
                fits = fits && (!has_names || record->find(name));
            }
            if (!fits)
                wrong(
                    "pass a tuple, a frozen dataclass or an element of a structured array with "
                    "the fields " +
                    fields_of(form));
            for (std::size_t k = 0; k < form.items.size(); ++k) {
                const NativeForm& f = form.items[k];
                std::string name = f.name.substr(f.name.rfind('.') + 1);
                Value item = value.type.is_records()
                                 ? field_value(field_of(value, name, nullptr, place), place)
                             : has_names ? value.items[*record->find(name)]
                                         : value.items[k];
                add_leaves(callee, f, item, place, leaves);
            }
            return;
        }
        case Kind::Items: {
            if (value.type.is_tuple() && value.items.size() == form.items.size()) {
                for (std::size_t k = 0; k < form.items.size(); ++k)
                    add_leaves(callee, form.items[k], value.items[k], place, leaves);
                return;
            }
            const NativeForm* inner = &form;
            std::vector<std::size_t> extents;
            for (; inner->kind == Kind::Items; inner = &inner->items[0])
                extents.push_back(inner->items.size());
            if (!value.type.is_array() ||
                static_cast<std::size_t>(value.type.rank) != extents.size())
                wrong("pass a tuple of " + std::to_string(form.items.size()) +
                      " items, or an array");
            std::vector<E> index(extents.size());
            for (std::size_t k = 0; k < extents.size(); ++k) {
                E n = b_->extent(value.array, static_cast<int>(k));
                E wanted = i64(static_cast<std::int64_t>(extents[k]));
                fault_if(op_binary(Op::Ne, n, wanted), ErrorKind::Value,
                         argument(callee, form) + "; got {0} items in place of {1}; pass as many",
                         place, {n, wanted});
            }
            std::function<void(std::size_t)> each = [&](std::size_t axis) {
                if (axis == extents.size())
                    return leaves.push_back(
                        scalar(settle(b_->load(value.array, index, ir::Access::Inside))));
                for (std::size_t k = 0; k < extents[axis]; ++k) {
                    index[axis] = i64(static_cast<std::int64_t>(k));
                    each(axis + 1);
                }
            };
            return each(0);
        }
    }
}

/// The address of a struct, or of the first of several.
Value Calls::struct_address(const Source& callee, const NativeForm& form, const Value& value,
                            const Place& place) {
    const Type& type = value.type;
    if (type.kind == Type::Kind::None) return scalar(i64(0), Weak::Int);
    if (type.is_scalar() && is_integer(type.dtype)) return value;
    std::string what = argument(callee, form) + "; got " + describe(type);
    bool is_bytes = type.is_array() && (type.dtype == DType::UInt8 || type.dtype == DType::Int8);
    bool is_void = form.spelling == "void *" || form.spelling == "const void *";
    const Value whole = is_void && type.is_array() ? made(value, place) : value;
    const Value* numbers = is_bytes || (is_void && type.is_array()) ? &whole : nullptr;
    std::int64_t offset = 0, step = numbers ? size_of(type.dtype) : 1;
    if (type.is_records()) {
        const Record::Field* field = nullptr;
        numbers = first_numbers(value, field);
        if (numbers && !form.leaves.empty()) {
            std::string odd = misplaced(type, form, "");
            if (!odd.empty() || type.record->step != form.size)
                refuse(place,
                       what + (odd.empty() ? ", whose records have other sizes than C's"
                                           : ", whose field '" + odd + "' is not C's"),
                       "make the array with the dtype that the C module has under the struct's "
                       "name");
            offset = field->offset;
            step = form.size;
        }
    }
    if (!numbers || (form.leaves.empty() && !is_bytes && !is_void)) {
        refuse(place, what,
               is_void ? "pass an array, or the address that C gave"
               : form.leaves.empty()
                   ? "pass the address that C gave"
                   : "pass an array of structs, one of its elements, or an address");
    }
    if (form.writes && !numbers->type.writable)
        refuse(place, what + ", which is read-only and C writes through the pointer",
               "pass a copy");
    Descriptor d = describe_array(numbers->array);
    auto rank = static_cast<std::size_t>(type.rank);
    E wanted = i64(step / size_of(numbers->type.dtype));
    for (std::size_t axis = rank; axis-- > 0;) {
        E stride = d.strides[axis];
        E has_gaps = op_binary(Op::And, op_binary(Op::Ne, stride, wanted),
                               op_binary(Op::Gt, d.extents[axis], i64(1)));
        fault_if(has_gaps, ErrorKind::Value,
                 callee.name + ": argument '" + form.name +
                     "' must be contiguous: C sees a pointer; got an array with gaps; pass "
                     "np.ascontiguousarray of it",
                 place);
        wanted = op_binary(Op::Mul, wanted, d.extents[axis]);
    }
    E address = op_binary(Op::Sub, address_of(*numbers), i64(offset));
    return scalar(cast(settle(address), DType::UInt64));
}

/// The address by which C calls a compiled function.
Value Calls::callback_address(const Source& callee, const NativeForm& form, const Value& value,
                              const Place& place) {
    const Type& type = value.type;
    if (type.kind == Type::Kind::None) return scalar(i64(0), Weak::Int);
    if (type.is_scalar() && is_integer(type.dtype)) return value;
    std::string what = argument(callee, form) + "; got " + describe(type);
    if (!type.is_function())
        refuse(place, what, "pass a function made by un.jit or un.cfunc, or an address");
    if (!type.function || !type.function->as_callback || !value.items.empty()) {
        refuse(place,
               what + (type.function ? ", defined inside of another function"
                                     : ", which is not a compiled function"),
               "C calls functions of their own: define it outside, with @un.jit");
    }
    std::int64_t number = 0;
    try {
        number = type.function->as_callback(form.args, form.result);
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::Compile)
            refuse(place, what + ": " + e.what(), "C calls it with the types of its declaration");
        throw Error(e.kind(), std::string(e.what()) + "\n" + called_from(source_, place),
                    e.place());
    }
    // Looked up once, where the function begins.
    std::int32_t status = b_->var("no_callback", DType::Int64);
    std::int32_t address = b_->var("callback", DType::Int64);
    auto& head = frames_.front().declares;
    for (std::int32_t v : {status, address}) head.push_back(b_->declare(v, i64(0)));
    std::vector<E> values{i64(0), i64(number)};
    std::int32_t outs[] = {status, address};
    head.push_back(b_->native("callback_address", values, outs));
    fault_if(
        op_binary(Op::Ne, b_->read(status), i64(0)), ErrorKind::Runtime,
        callee.name + ": the callback '" + form.name + "' is not in this process; pass its address",
        place);
    return scalar(cast(b_->read(address), DType::UInt64));
}

}  // namespace unisono::frontend
