// The definition of un_array, and the translation of errors for the C interface.
#pragma once

#include <utility>

#include "tape/array.h"
#include "unisono/unisono.h"

struct un_array {
    unisono::Array array;
};

namespace unisono::api {

inline un_array* handle(Array a) { return new un_array{std::move(a)}; }
/// The host is the CPU's device here; in the engine it is null.
const un_device* device_handle(Device* device);
/// Null for the host; of NULL the default device.
Device* device_of(const un_device* device);

const un_functions& functions();

DType to_dtype(un_dtype t);
/// A number's dtype gives way as a Python number's does.
Arg operand(const un_operand& o);

/// Keeps the exception being handled (call inside catch (...)) for un_last_error.
void remember_current_error() noexcept;

/// Runs f, which may throw; on an exception remembers it and returns `failed`.
template <class R, class F>
R remembering(R failed, F&& f) noexcept {
    try {
        return f();
    } catch (...) {
        remember_current_error();
        return failed;
    }
}

}  // namespace unisono::api
