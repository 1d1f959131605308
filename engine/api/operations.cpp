// Operations of the C interface: each is a call of tape/record/record.h.
#include <string>
#include <vector>

#include "api/handle.h"
#include "api/tables.h"
#include "core/error.h"
#include "library/linalg/matmul.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono::api {

Arg operand(const un_operand& o) {
    switch (o.kind) {
        case UN_OPERAND_ARRAY: return o.is.array->array.arg();
        case UN_OPERAND_BOOL:
            return {scalar_operand(Scalar::of(DType::Bool, o.is.integer != 0)), Weak::Bool};
        case UN_OPERAND_INTEGER:
            return {scalar_operand(Scalar::of(DType::Int64, o.is.integer)), Weak::Int};
        case UN_OPERAND_REAL:
            return {scalar_operand(Scalar::of(DType::Float64, o.is.real)), Weak::Float};
        default: break;
    }
    fail(ErrorKind::Type, "operand: " + std::to_string(o.kind) + " is not an un_operand_kind");
}

namespace {

Op to_op(int operation) {
    if (operation < 0 || operation >= op_count)
        fail(ErrorKind::Value, "operation: unknown; un_operation(name) was not checked");
    return static_cast<Op>(operation);
}

IndexItem to_item(const un_index& i) {
    IndexItem made{IndexItem::Kind::Integer, i.start};
    switch (i.kind) {
        case UN_AT: return made;
        case UN_NEWAXIS: made.kind = IndexItem::Kind::NewAxis; return made;
        case UN_ELLIPSIS: made.kind = IndexItem::Kind::Ellipsis; return made;
        case UN_SLICE: break;
        default:
            fail(ErrorKind::Type, "index: " + std::to_string(i.kind) + " is not an un_index_kind");
    }
    return {IndexItem::Kind::Slice, i.start, i.stop, i.step, i.start != UN_OPEN, i.stop != UN_OPEN};
}

}  // namespace

int operation(const char* numpy_name) noexcept {
    return remembering(-1, [&] {
        const auto op = op_from_numpy_name(numpy_name);
        if (!op) {
            fail(ErrorKind::Value, std::string("operation: there is no '") + numpy_name +
                                       "'; expected a NumPy name of one or two operands, as "
                                       "'add', 'arctan2' or 'exp'");
        }
        return static_cast<int>(*op);
    });
}

un_array* apply(int operation, const un_operand* operands, int count,
                const un_array* out) noexcept {
    return remembering<un_array*>(nullptr, [&] {
        const Op op = to_op(operation);
        if (count != info(op).arity) {
            fail(ErrorKind::Type, std::string(info(op).numpy_name) + ": expected " +
                                      std::to_string(info(op).arity) + " operands; got " +
                                      std::to_string(count));
        }
        Arg args[2];
        for (int k = 0; k < count; ++k) args[k] = operand(operands[k]);
        return handle(unisono::apply(op, {args, static_cast<std::size_t>(count)},
                                     out ? &out->array : nullptr));
    });
}

un_array* where(un_operand condition, un_operand a, un_operand b) noexcept {
    return remembering<un_array*>(nullptr, [&] {
        return handle(unisono::where(operand(condition), operand(a), operand(b)));
    });
}

un_array* reduce(int operation, const un_array* a, const int* axes, int count,
                 int keepdims) noexcept {
    return remembering<un_array*>(nullptr, [&] {
        const Op op = to_op(operation);
        if (info(op).identity == "none") {
            fail(ErrorKind::Type, "reduce: '" + std::string(info(op).numpy_name) +
                                      "' does not combine elements; expected one as 'add', "
                                      "'multiply', 'maximum' or 'bitwise_or'");
        }
        std::optional<std::vector<int>> chosen;
        if (axes) chosen.emplace(axes, axes + count);
        return handle(unisono::reduce(op, a->array, std::move(chosen), keepdims != 0));
    });
}

un_array* matmul(const un_array* a, const un_array* b) noexcept {
    return remembering<un_array*>(nullptr,
                                  [&] { return handle(library::matmul(a->array, b->array)); });
}

un_array* index(const un_array* a, const un_index* items, int count) noexcept {
    return remembering<un_array*>(nullptr, [&] {
        std::vector<IndexItem> all;
        for (int k = 0; k < count; ++k) all.push_back(to_item(items[k]));
        return handle(unisono::index(a->array, all));
    });
}

int assign(const un_array* target, un_operand value) noexcept {
    return remembering(-1, [&] {
        unisono::assign(target->array, operand(value));
        return 0;
    });
}

un_array* reshape(const un_array* a, int rank, const std::int64_t* shape) noexcept {
    return remembering<un_array*>(nullptr, [&] {
        return handle(unisono::reshape(a->array, {shape, shape + rank}));
    });
}

un_array* transpose(const un_array* a, const int* axes) noexcept {
    return remembering<un_array*>(nullptr, [&] {
        const auto rank = static_cast<std::size_t>(a->array.rank());
        return handle(axes ? unisono::transpose(a->array, {axes, rank})
                           : unisono::transpose(a->array));
    });
}

un_array* broadcast_to(const un_array* a, int rank, const std::int64_t* shape) noexcept {
    return remembering<un_array*>(nullptr, [&] {
        return handle(unisono::broadcast_to(a->array, {shape, static_cast<std::size_t>(rank)}));
    });
}

un_array* astype(const un_array* a, un_dtype t) noexcept {
    return remembering<un_array*>(
        nullptr, [&] { return handle(unisono::astype(a->array, to_dtype(t), true)); });
}

un_array* copy(const un_array* a) noexcept {
    return remembering<un_array*>(nullptr, [&] { return handle(unisono::copy(a->array)); });
}

un_array* to_device(const un_array* a, const un_device* device) noexcept {
    return remembering<un_array*>(
        nullptr, [&] { return handle(unisono::to_device(a->array, device_of(device))); });
}

}  // namespace unisono::api
