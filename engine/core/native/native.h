// Functions of the engine that compiled code calls by name: products, sorts, decompositions.
//
// Values are int64: numbers, addresses, extents and strides in elements; a float goes as its bits.
// A function replaces the first ones by its results: value 0 is 0 where it went well, else a
// positive number whose meaning is the function's own, or native_out_of_memory. It runs on any
// thread, throws nothing and touches no Python object.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace unisono {

using NativeFunction = void (*)(std::int64_t* values);

inline constexpr std::int64_t native_out_of_memory = -1;

/// Adds functions to the table; names are string literals. Called while the engine is loaded.
bool add_natives(std::initializer_list<std::pair<std::string_view, NativeFunction>> functions);
/// Null where there is none of that name.
NativeFunction find_native(std::string_view name) noexcept;

/// What lies at an address among the values.
template <class T>
T* native_memory(std::int64_t address) {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

/// Runs f, which gives value 0; no exception leaves compiled code's frame.
template <class F>
void guarded_native(std::int64_t* values, F f) noexcept {
    try {
        values[0] = f();
    } catch (...) {
        values[0] = native_out_of_memory;
    }
}

}  // namespace unisono
