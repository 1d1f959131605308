// The table itself.
#include "api/handle.h"
#include "api/tables.h"

namespace unisono::api {

const un_functions& functions() {
    static const un_functions table = {
        .abi = UN_ABI,
        .bytes = sizeof(un_functions),
        .last_error = last_error,
        .set_error = set_error,
        .device_count = device_count,
        .device_at = device_at,
        .find_device = find_device,
        .device_info = device_info,
        .native = native,
        .synchronize = synchronize,
        .empty = empty,
        .full = full,
        .arange = arange,
        .from_memory = from_memory,
        .share = share,
        .release = release,
        .describe = describe,
        .evaluate = evaluate,
        .value = value,
        .open = open,
        .close = close,
        .operation = operation,
        .apply = apply,
        .where = where,
        .reduce = reduce,
        .matmul = matmul,
        .index = index,
        .assign = assign,
        .reshape = reshape,
        .transpose = transpose,
        .broadcast_to = broadcast_to,
        .astype = astype,
        .copy = copy,
        .to_device = to_device,
        .make_context = make_context,
        .free_context = free_context,
        .enter_context = enter_context,
    };
    return table;
}

}  // namespace unisono::api

const un_functions* unisono_functions(uint32_t abi) {
    return abi == UN_ABI ? &unisono::api::functions() : nullptr;
}
