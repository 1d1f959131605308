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

/// carray of records, as the flattener writes it: un.pointed_records(pointer, shape, dtype).
Value Calls::pointed_records(const Node& node) {
    Value pointer = expression(node.children[1]);
    at(node.place);
    if (!pointer.type.is_array() || pointer.type.rank != 1) {
        refuse(node.place, "carray takes a pointer and a shape in a compiled function",
               "give a parameter of type CPointer, and an int or a tuple of ints");
    }
    const auto& record = expression(node.children[3]).type.record;
    UNISONO_ASSERT(record != nullptr);
    Descriptor d = describe_array(made(pointer, node.place).array);
    d.extents = shape_argument(expression(node.children[2]), node.place);
    d.extents.push_back(i64(record->step));
    look_as(d, size_of(pointer.type.dtype), DType::UInt8, 0, "records");
    d.strides.assign(d.extents.size(), i64(1));
    for (std::size_t k = d.extents.size(); k-- > 1;)
        d.strides[k - 1] = pinned(op_binary(Op::Mul, d.strides[k], d.extents[k]));
    d.classes.assign(d.extents.size(), ir::StrideClass::Other);
    d.classes.back() = ir::StrideClass::One;
    return records_in(view("records", d), record);
}

}  // namespace unisono::frontend
