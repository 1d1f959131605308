// Lowers carray and farray: arrays over what a pointer parameter points to.
#include <algorithm>

#include "frontend/calls.h"

namespace unisono::frontend {

/// un.carray(pointer, shape): the same memory with a shape; nothing where the name is another.
std::optional<Value> Calls::pointer_view(const Node& node, const std::string& name) {
    bool by_columns = name == "un.farray";
    if (!by_columns && name != "un.carray") return std::nullopt;
    auto args = arguments(node);
    at(node.place);
    if (args.size() != 2 || !args[0].type.is_array() || args[0].type.rank != 1) {
        refuse(node.place, name + " takes a pointer and a shape in a compiled function",
               "give a parameter of type CPointer, and an int or a tuple of ints");
    }
    std::vector<E> extents = shape_argument(args[1], node.place);
    if (by_columns) std::reverse(extents.begin(), extents.end());
    Descriptor d = describe_array(made(args[0], node.place).array);
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

}  // namespace unisono::frontend
