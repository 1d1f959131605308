# The C interface for Cython: `cimport unisono as cun`, then cun.un_import() once in the module.
# What each does says unisono/unisono.h. Where a function returns NULL or -1, `cun.un_raise()`
# raises the exception that belongs to it. Operators are in `unisono.cpp`, for Cython in C++ mode.
from libc.stdint cimport int64_t, uint64_t, uintptr_t

cdef extern from "unisono/python.h":
    ctypedef enum un_dtype:
        UN_BOOL, UN_INT8, UN_UINT8, UN_INT16, UN_UINT16, UN_INT32, UN_UINT32, UN_INT64, UN_UINT64
        UN_FLOAT16, UN_FLOAT32, UN_FLOAT64, UN_COMPLEX64, UN_COMPLEX128
    ctypedef enum un_error_kind:
        UN_VALUE_ERROR, UN_TYPE_ERROR, UN_INDEX_ERROR, UN_ZERO_DIVISION_ERROR, UN_OVERFLOW_ERROR
        UN_MEMORY_ERROR, UN_RUNTIME_ERROR, UN_ASSERTION_ERROR, UN_COMPILE_ERROR, UN_DEVICE_ERROR
        UN_UNSUPPORTED_ERROR, UN_COMM_ERROR, UN_INTERNAL_ERROR, UN_KEYBOARD_INTERRUPT, \
        UN_LINALG_ERROR
    ctypedef struct un_error:
        un_error_kind kind
        const char *message
        const char *file
        int line
    ctypedef struct un_array
    ctypedef struct un_device
    ctypedef struct un_device_info:
        const char *name
        const char *kind
        const char *vendor
        const char *description
        int compute_units
        int64_t memory_bytes
        int host_memory
    ctypedef struct un_native:
        const char *interface_name
        void *context
        void *device
        void *queue
    ctypedef struct un_description:
        un_dtype dtype
        int rank
        const int64_t *shape
        const int64_t *strides
        int64_t size
        const un_device *device
        int readonly
    enum: UN_READ
    enum: UN_WRITE
    ctypedef struct un_contents:
        void *data
        uintptr_t handle
        int64_t offset_bytes
        un_description array
    ctypedef struct un_operand
    ctypedef struct un_scalar:
        un_dtype dtype
        int64_t integer
        uint64_t natural
        double real
        double imaginary
    ctypedef struct un_index
    int64_t UN_OPEN

    un_operand un_ref(const un_array *array)
    un_operand un_real(double value)
    un_operand un_integer(int64_t value)
    un_operand un_truth(int value)
    un_index un_at(int64_t position)
    un_index un_slice(int64_t start, int64_t stop, int64_t step)

    const un_error *un_last_error()
    void un_set_error(un_error_kind kind, const char *message, const char *file, int line)
    int un_device_count()
    const un_device *un_device_at(int index)
    const un_device *un_find_device(const char *name)
    int un_get_device_info(const un_device *device, un_device_info *out)
    int un_get_native(const un_device *device, un_native *out)
    int un_synchronize(const un_device *device)
    un_array *un_empty(int rank, const int64_t *shape, un_dtype dtype, const un_device *device)
    un_array *un_full(int rank, const int64_t *shape, un_operand value, un_dtype dtype, const un_device *device)
    un_array *un_arange(int64_t count, const un_device *device)
    un_array *un_from_memory(void *data, int rank, const int64_t *shape, const int64_t *strides, un_dtype dtype,
                             int readonly, void *owner, void (*release)(void *) noexcept)
    un_array *un_share(const un_array *array)
    void un_release(un_array *array)
    int un_describe(const un_array *array, un_description *out)
    int un_evaluate(const un_array **arrays, int count)
    int un_value(const un_array *array, un_scalar *out)
    int un_open(const un_array *array, int access, un_contents *out)
    void un_close(un_contents *contents)
    int un_operation(const char *numpy_name)
    un_array *un_apply(int operation, const un_operand *operands, int count, const un_array *out)
    un_array *un_where(un_operand condition, un_operand a, un_operand b)
    un_array *un_reduce(int operation, const un_array *array, const int *axes, int count, int keepdims)
    un_array *un_matmul(const un_array *a, const un_array *b)
    un_array *un_get(const un_array *array, const un_index *items, int count)
    int un_assign(const un_array *target, un_operand value)
    un_array *un_reshape(const un_array *array, int rank, const int64_t *shape)
    un_array *un_transpose(const un_array *array, const int *axes)
    un_array *un_broadcast_to(const un_array *array, int rank, const int64_t *shape)
    un_array *un_astype(const un_array *array, un_dtype dtype)
    un_array *un_copy(const un_array *array)
    un_array *un_to_device(const un_array *array, const un_device *device)

    int un_import() except -1
    bint un_check(object o)
    un_array *un_from_object(object o) except NULL
    object un_to_object(un_array *taken)
    int un_device_from_object(object o, const un_device **out) except -1
    object un_device_to_object(const un_device *device)
    int un_dtype_from_object(object o, un_dtype *out) except -1
    object un_dtype_to_object(un_dtype dtype)
    object un_raise()
