// The entries of un_functions, by file; what each does says unisono/unisono.h.
#pragma once

#include "unisono/unisono.h"

namespace unisono::api {

// errors.cpp
const un_error* last_error() noexcept;
void set_error(un_error_kind kind, const char* message, const char* file, int line) noexcept;

// devices.cpp
int device_count() noexcept;
const un_device* device_at(int index) noexcept;
const un_device* find_device(const char* name) noexcept;
int device_info(const un_device* device, un_device_info* out) noexcept;
int native(const un_device* device, un_native* out) noexcept;
int synchronize(const un_device* device) noexcept;

// arrays.cpp
un_array* empty(int rank, const std::int64_t* shape, un_dtype t, const un_device* device) noexcept;
un_array* full(int rank, const std::int64_t* shape, un_operand value, un_dtype t,
               const un_device* device) noexcept;
un_array* arange(std::int64_t count, const un_device* device) noexcept;
un_array* from_memory(void* data, int rank, const std::int64_t* shape, const std::int64_t* strides,
                      un_dtype t, int readonly, void* owner, void (*release)(void*)) noexcept;
un_array* share(const un_array* a) noexcept;
void release(un_array* a) noexcept;
int describe(const un_array* a, un_description* out) noexcept;
int evaluate(const un_array* const* arrays, int count) noexcept;
int value(const un_array* a, un_scalar* out) noexcept;
int open(const un_array* a, int access, un_contents* out) noexcept;
void close(un_contents* contents) noexcept;

// contexts.cpp
un_context* make_context() noexcept;
void free_context(un_context* context) noexcept;
un_context* enter_context(un_context* context) noexcept;

// operations.cpp
int operation(const char* numpy_name) noexcept;
un_array* apply(int operation, const un_operand* operands, int count, const un_array* out) noexcept;
un_array* where(un_operand condition, un_operand a, un_operand b) noexcept;
un_array* reduce(int operation, const un_array* a, const int* axes, int count,
                 int keepdims) noexcept;
un_array* matmul(const un_array* a, const un_array* b) noexcept;
un_array* index(const un_array* a, const un_index* items, int count) noexcept;
int assign(const un_array* target, un_operand value) noexcept;
un_array* reshape(const un_array* a, int rank, const std::int64_t* shape) noexcept;
un_array* transpose(const un_array* a, const int* axes) noexcept;
un_array* broadcast_to(const un_array* a, int rank, const std::int64_t* shape) noexcept;
un_array* astype(const un_array* a, un_dtype t) noexcept;
un_array* copy(const un_array* a) noexcept;
un_array* to_device(const un_array* a, const un_device* device) noexcept;

}  // namespace unisono::api
