// Factors of matrices: calls of engine/runtime/matrix_natives.cpp.
#include "frontend/calls.h"

namespace unisono::frontend {

/// Functions that python/unisono/_jit/numpy_linalg.py calls with packed arrays, integers and
/// floats: each gives 0, or 1 where LAPACK gave up.
std::optional<Value> Calls::matrices(const std::string& name, const std::vector<Value>& args,
                                     const Place& place) {
    if (name.rfind("un.lapack_", 0) != 0) return std::nullopt;
    if (source_.is_kernel)
        refuse(place, "a kernel cannot factorise matrices", "do it before or after the launch");
    std::vector<E> values{i64(0)};
    for (const Value& v : args) {
        if (v.type.is_array()) {
            push_memory(values, v);
        } else if (v.type.kind == Type::Kind::None) {  // of a call that always raises
            values.push_back(i64(0));
        } else if (want_scalar(v, place, "an argument"); is_float(v.type.dtype)) {
            values.push_back(b_->bitcast(cast(v.expr, DType::Float64), DType::Int64));
        } else {
            values.push_back(settle(cast(v.expr, DType::Int64)));
        }
    }
    E status = native(name.substr(3), values, 1)[0];
    fault_if(op_binary(Op::Lt, status, i64(0)), ErrorKind::Memory,
             "out of memory for a decomposition", place);
    return scalar(status, Weak::Int);
}

}  // namespace unisono::frontend
