// Messages between ranks: calls of engine/comm/natives.cpp.
#include <algorithm>
#include <map>

#include "comm/messages.h"
#include "frontend/calls.h"
#include "frontend/diagnose.h"
#include "frontend/native.h"

namespace unisono::frontend {

namespace {

/// Whether MPI combines such elements, as in engine/comm/mpi/calls.cpp.
bool combines(comm::Combine how, DType dtype) {
    using comm::Combine;
    if (is_bool(dtype) || how == Combine::Replace || how == Combine::Nothing) return true;
    if (how == Combine::Sum || how == Combine::Product) return !is_half(dtype);
    if (how == Combine::Max || how == Combine::Min) return !is_half(dtype) && !is_complex(dtype);
    return is_integer(dtype);
}

}  // namespace

/// The number of an operation: none is a sum. Functions of mpi_library.py stand for those of
/// un.mpi.
Value Calls::combination(const Value& given, DType dtype, const Place& place) {
    using comm::Combine;
    static const std::map<std::string, Combine> known = {
        {"SUM", Combine::Sum},  {"PROD", Combine::Product},    {"MAX", Combine::Max},
        {"MIN", Combine::Min},  {"LAND", Combine::And},        {"BAND", Combine::And},
        {"LOR", Combine::Or},   {"BOR", Combine::Or},          {"LXOR", Combine::Xor},
        {"BXOR", Combine::Xor}, {"REPLACE", Combine::Replace}, {"NO_OP", Combine::Nothing}};
    auto found = known.begin();
    const bool is_sum = given.type.kind == Type::Kind::None;
    const std::string name = !is_sum && given.type.function ? given.type.function->name : "SUM";
    found = is_sum || given.type.function ? known.find(name) : known.end();
    if (found == known.end())
        refuse(place, "no operation on buffers; got " + describe(given.type),
               "give SUM, PROD, MAX, MIN, LAND, LOR, LXOR, BAND, BOR or BXOR of un.mpi");
    const bool is_logical = name == "LAND" || name == "LOR" || name == "LXOR";
    if (is_logical && !is_bool(dtype))
        refuse(place, name + " takes elements of bool; got " + std::string(unisono::name(dtype)),
               "convert them with .astype(bool)");
    if (!combines(found->second, dtype))
        refuse(place, name + " does not combine elements of " + std::string(unisono::name(dtype)),
               "convert them with .astype first");
    return scalar(i64(static_cast<std::int64_t>(found->second)), Weak::Int);
}

void Calls::push_memory(std::vector<E>& values, const Value& array) {
    values.push_back(address_of(array));
    values.push_back(settle(size_of_array(array)));
    values.push_back(i64(static_cast<std::int64_t>(array.type.dtype)));
}

/// Functions that python/unisono/_jit/mpi_library.py calls: those of the engine, and
/// comm_operation(op, buffer); comm_buffer(x): the array, or None for IN_PLACE; comm_like(x,
/// element): the element as a number of x's type; comm_objects() and comm_others(), which are
/// refused.
std::optional<Value> Calls::messages(const std::string& name, const std::vector<Value>& args,
                                     const Place& place) {
    if (name.rfind("un.comm_", 0) != 0) return std::nullopt;
    if (source_.is_kernel)
        refuse(place, "a kernel cannot send messages", "send them before or after the launch");
    if (name == "un.comm_objects")
        refuse(place, "objects travel by pickle between ranks, which compiled code does not do",
               "send arrays: Send, Recv, Sendrecv");
    if (name == "un.comm_others")
        refuse(place, "this call of a communicator is not compiled",
               "call it outside of compiled code, or in `with un.python():`");
    if (name == "un.comm_buffer") {
        const Value& v = args.at(0);
        const bool is_in_place = v.type.function && v.type.function->name == "IN_PLACE";
        if (is_in_place || v.type.kind == Type::Kind::None) return Value{};
        if (!v.type.is_array())
            refuse(place, "ranks send and receive the memory of arrays; got " + describe(v.type),
                   "put it into an array, as in np.array([x])");
        return v;
    }
    if (name == "un.comm_like" && !args.at(0).type.is_scalar())
        refuse(place, "ranks combine numbers; got " + describe(args[0].type),
               "send arrays: Bcast, Allreduce, Allgather");
    if (name == "un.comm_operation") return combination(args.at(0), args.at(1).type.dtype, place);
    if (name == "un.comm_like") {
        Value v = args.at(0);
        v.expr = cast(args.at(1).expr, v.type.dtype);
        return v;
    }
    std::vector<E> values{i64(0)};
    for (const Value& v : args) {
        if (v.type.is_array()) {
            push_memory(values, v);
        } else if (v.type.kind == Type::Kind::None) {
            for (std::int64_t word : {0, 0, -1}) values.push_back(i64(word));
        } else if (v.type.is_scalar() && is_integer(v.type.dtype)) {
            values.push_back(settle(cast(v.expr, DType::Int64)));
        } else {
            refuse(place, "ranks, tags and roots are integers; got " + describe(v.type),
                   "convert it with int()");
        }
    }
    // Numbers that they give.
    static const std::map<std::string, int> told = {
        {"un.comm_rank", 1},       {"un.comm_size", 1},          {"un.comm_receive", 3},
        {"un.comm_start_send", 1}, {"un.comm_start_receive", 1}, {"un.comm_finish", 4},
        {"un.comm_finish_any", 1}};
    const auto row = told.find(name);
    const int count = row == told.end() ? 0 : row->second;
    const std::vector<E> found = native(name.substr(3), values, 1 + count);
    fault_if(op_binary(Op::Ne, found[0], i64(0)), ErrorKind::Runtime, cpp_exception, place);
    if (count == 0) return Value{};
    std::vector<Value> numbers;
    for (int k = 1; k <= count; ++k)
        numbers.push_back(scalar(found[static_cast<std::size_t>(k)], Weak::Int));
    return count == 1 ? numbers[0] : tuple_of(std::move(numbers));
}

}  // namespace unisono::frontend
