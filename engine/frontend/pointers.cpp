// Lowers carray and farray: arrays over what a pointer parameter points to, of numbers or of
// records.
#include <algorithm>

#include "frontend/calls.h"
#include "frontend/records.h"

namespace unisono::frontend {

/// un.carray(pointer, shape, dtype): the same memory with a shape; a pointer to void has no dtype
/// of its own.
Value ArrayFunctions::call_pointed(const Given& given) {
    const Place& place = given.node.place;
    bool by_columns = given.base == "farray";
    const Value& pointer = given.at("ptr");
    at(place);
    if (!pointer.type.is_array() || pointer.type.rank != 1) {
        refuse(place, given.name + " takes a pointer and a shape in a compiled function",
               "give a parameter of type CPointer, and an int or a tuple of ints");
    }
    std::vector<E> extents = shape_argument(given.at("shape"), place);
    if (by_columns) std::reverse(extents.begin(), extents.end());
    Descriptor d = describe_array(made(pointer, place).array);
    auto dtype = want_dtype(given);
    if (dtype && *dtype != pointer.type.dtype) look_as(d, size_of(pointer.type.dtype), *dtype);
    d.extents = extents;
    d.strides.assign(extents.size(), i64(1));
    d.classes.assign(extents.size(), ir::StrideClass::Other);
    for (std::size_t k = extents.size(); k-- > 1;)
        d.strides[k - 1] = pinned(b_->mul(d.strides[k], extents[k]));
    if (by_columns) {
        std::reverse(d.extents.begin(), d.extents.end());
        std::reverse(d.strides.begin(), d.strides.end());
    }
    if (!extents.empty() && (!by_columns || extents.size() == 1))
        d.classes.back() = ir::StrideClass::One;
    return view("pointed", d);
}

/// carray of records, as the flattener writes it: un.pointed_records(pointer, shape, bytes of a
/// record, fields).
Value Calls::pointed_records(const Node& node) {
    Value pointer = expression(node.children[1]);
    at(node.place);
    if (!pointer.type.is_array() || pointer.type.rank != 1) {
        refuse(node.place, "carray takes a pointer and a shape in a compiled function",
               "give a parameter of type CPointer, and an int or a tuple of ints");
    }
    const std::vector<E> extents = shape_argument(expression(node.children[2]), node.place);
    const auto step = constant_int(expression(node.children[3]).expr);
    UNISONO_ASSERT(step);
    return records_at(made(pointer, node.place), extents, *step, node.children[4]);
}

/// An array for each of the fields: (name, dtype, offset, shape), or (name, fields) of records
/// inside, whose offsets count from the whole record.
Value Calls::records_at(const Value& pointer, const std::vector<E>& extents, std::int64_t step,
                        const Node& fields) {
    auto record = std::make_shared<Record>();
    record->form = Record::Form::Fields;
    record->step = step;
    Value all;
    std::vector<Type> types;
    for (const Node& field : fields.children) {
        Record::Field& f = record->fields.emplace_back();
        f.name = field.children[0].text;
        if (field.children.size() == 2) {
            all.items.push_back(records_at(pointer, extents, step, field.children[1]));
        } else {
            f.dtype = expression(field.children[1]).type.dtype;
            f.offset = *constant_int(expression(field.children[2]).expr);
            const std::int64_t size = size_of(f.dtype);
            Descriptor d = describe_array(pointer.array);
            look_as(d, size_of(pointer.type.dtype), f.dtype, f.offset, "field");
            d.extents = extents;
            for (const Value& n : expression(field.children[3]).items)
                d.extents.push_back(cast(n.expr, DType::Int64));
            const std::size_t rank = d.extents.size();
            d.strides.assign(rank, i64(1));
            d.classes.assign(rank, ir::StrideClass::Other);
            if (rank > extents.size()) d.classes.back() = ir::StrideClass::One;
            for (std::size_t k = rank; k-- > 0;) {
                const bool is_last = k + 1 == extents.size();
                if (is_last)
                    d.strides[k] = i64(step / size);
                else if (k + 1 < rank)
                    d.strides[k] = pinned(b_->mul(d.strides[k + 1], d.extents[k + 1]));
            }
            all.items.push_back(view(f.name, d));
        }
        types.push_back(all.items.back().type);
    }
    all.type =
        Type::of_record(Type::Kind::Records, record, static_cast<int>(extents.size()), types);
    return all;
}

}  // namespace unisono::frontend
