// The engine for C programs and for native extensions of Python: arrays, operations, devices,
// errors.
//
// All calls go through one table of functions, `un_table`, which un_load() fills (a program that
// links libunisono) or un_import() of unisono/python.h (an extension of Python, which links
// nothing). The names un_full, un_apply... below are macros for the table's entries.
//
//     un_operand two = un_real(2), x = un_ref(a);
//     un_array* doubled = un_apply(un_operation("multiply"), (un_operand[]){x, two}, 2, NULL);
//     if (!doubled) fprintf(stderr, "%s\n", un_last_error()->message);
//     un_release(doubled);
//
// Operations are recorded and run when a value leaves (un_open, un_value, un_evaluate), on the
// device where their operands live; a chain is one kernel. A function that fails returns NULL or -1
// and leaves the reason in un_last_error(). An un_array is a handle: the caller that receives one
// from a function releases it by un_release(). Extents, offsets and strides count elements unless
// they say bytes.
//
// Threads: one at a time may call (in Python the one that holds the interpreter's lock). The engine
// releases that lock while it computes. In a program without Python, threads may call at the same
// time that each have a context of their own (un_make_context).
#ifndef UNISONO_UNISONO_H
#define UNISONO_UNISONO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Grows when an entry changes its meaning; entries that are added at the end do not count.
#define UN_ABI 1
/// The last of each enum, so that C++ takes any int of a C caller for one, and tests it.
#define UN_INT_MIN (-0x7fffffff - 1)

/// In the order of NumPy's kinds and sizes.
typedef enum {
    UN_BOOL,
    UN_INT8,
    UN_UINT8,
    UN_INT16,
    UN_UINT16,
    UN_INT32,
    UN_UINT32,
    UN_INT64,
    UN_UINT64,
    UN_FLOAT16,
    UN_FLOAT32,
    UN_FLOAT64,
    UN_COMPLEX64,
    UN_COMPLEX128,
    UN_DTYPE_INT = UN_INT_MIN
} un_dtype;

/// Each is an exception of Python: ValueError... KeyboardInterrupt, NumPy's LinAlgError, and
/// unisono's own.
typedef enum {
    UN_VALUE_ERROR,
    UN_TYPE_ERROR,
    UN_INDEX_ERROR,
    UN_ZERO_DIVISION_ERROR,
    UN_OVERFLOW_ERROR,
    UN_MEMORY_ERROR,
    UN_RUNTIME_ERROR,
    UN_ASSERTION_ERROR,
    UN_COMPILE_ERROR,
    UN_DEVICE_ERROR,
    UN_UNSUPPORTED_ERROR,
    UN_COMM_ERROR,
    UN_INTERNAL_ERROR,
    UN_KEYBOARD_INTERRUPT,
    UN_LINALG_ERROR,
    UN_ERROR_KIND_INT = UN_INT_MIN
} un_error_kind;

/// file and line: the user's place, where the failed operation was recorded; line 0 if unknown.
typedef struct {
    un_error_kind kind;
    const char *message, *file;
    int line;
} un_error;

typedef struct un_array un_array;
typedef struct un_device un_device;

typedef struct {
    const char *name, *kind, *vendor, *description;
    int compute_units;
    int64_t memory_bytes;
    int host_memory;  ///< its arrays lie where the host can read them
} un_device_info;

/// The vendor's own objects, for code that queues its own kernels beside ours.
/// "opencl": a cl_context, cl_device_id, cl_command_queue (in order; ours run on it too).
/// "cuda": a CUcontext, a CUdevice as a number, a CUstream. "": there are none.
typedef struct {
    const char* interface_name;
    void *context, *device, *queue;
} un_native;

/// What an array is, without computing it. The pointers live as long as the handle.
typedef struct {
    un_dtype dtype;
    int rank;
    const int64_t *shape, *strides;
    int64_t size;
    const un_device* device;
    int readonly;
} un_description;

enum { UN_READ = 0, UN_WRITE = 1 };

/// The contents of an array, open for code that is not the engine's.
typedef struct {
    void* data;            ///< of element [0, ..., 0]; NULL where the host cannot read the device
    uintptr_t handle;      ///< of the memory: a cl_mem, a CUdeviceptr, an address
    int64_t offset_bytes;  ///< from the handle to element [0, ..., 0]
    un_description array;
    un_array* kept;  ///< the engine's
} un_contents;

typedef enum {
    UN_OPERAND_ARRAY,
    UN_OPERAND_BOOL,
    UN_OPERAND_INTEGER,
    UN_OPERAND_REAL,
    UN_OPERAND_KIND_INT = UN_INT_MIN
} un_operand_kind;

/// An array, or a number whose dtype gives way to the arrays' as a Python number's does.
typedef struct {
    un_operand_kind kind;
    union {
        const un_array* array;
        int64_t integer;
        double real;
    } is;
} un_operand;

/// One element; integer for bool and signed dtypes, real and imaginary for floats and complex ones.
typedef struct {
    un_dtype dtype;
    int64_t integer;
    uint64_t natural;
    double real, imaginary;
} un_scalar;

typedef enum {
    UN_AT,
    UN_SLICE,
    UN_NEWAXIS,
    UN_ELLIPSIS,
    UN_INDEX_KIND_INT = UN_INT_MIN
} un_index_kind;
#define UN_OPEN INT64_MIN  ///< a bound that is not given

/// One item of an index, as Python's: `start` is the position of UN_AT.
typedef struct {
    un_index_kind kind;
    int64_t start, stop, step;
} un_index;

/// All that one thread of a program records and counts; an array belongs to the context in which it
/// was made, and is used and released there.
typedef struct un_context un_context;

typedef struct {
    uint32_t abi;
    uint32_t bytes;  ///< of this table

    const un_error* (*last_error)(void);  ///< of this thread, until its next failure
    /// Sets last_error by hand. file NULL: no place.
    void (*set_error)(un_error_kind kind, const char* message, const char* file, int line);

    // Devices. NULL in place of one: the default (UNISONO_DEVICE, else the CPU).
    int (*device_count)(void);
    const un_device* (*device_at)(int index);
    const un_device* (*find_device)(const char* name);  ///< "cpu", "opencl", "cuda:0"...
    int (*device_info)(const un_device* device, un_device_info* out);
    int (*native)(const un_device* device, un_native* out);
    int (*synchronize)(const un_device* device);  ///< runs and awaits all that was recorded

    // New arrays.
    un_array* (*empty)(int rank, const int64_t* shape, un_dtype dtype, const un_device* device);
    un_array* (*full)(int rank, const int64_t* shape, un_operand value, un_dtype dtype,
                      const un_device* device);
    un_array* (*arange)(int64_t count, const un_device* device);  ///< 0, 1, 2... as int64
    /// An array over host memory of the caller; `release(owner)` is called when it is no longer
    /// used. strides NULL: packed rows.
    un_array* (*from_memory)(void* data, int rank, const int64_t* shape, const int64_t* strides,
                             un_dtype dtype, int readonly, void* owner, void (*release)(void*));

    // Handles.
    un_array* (*share)(const un_array* array);  ///< another handle on the same array
    void (*release)(un_array* array);           ///< NULL is fine
    int (*describe)(const un_array* array, un_description* out);

    // Values. These compute what they need.
    int (*evaluate)(const un_array* const* arrays, int count);
    int (*value)(const un_array* array, un_scalar* out);  ///< of an array of one element
    /// Opens the contents for reading, or for reading and writing. Until close, operations on this
    /// memory run as soon as they are recorded. On devices the work is queued, not awaited: use the
    /// device's own queue, or synchronize first.
    int (*open)(const un_array* array, int access, un_contents* out);
    void (*close)(un_contents* contents);

    // Operations, by NumPy's rules for shapes and dtypes.
    int (*operation)(const char* numpy_name);  ///< "add", "exp"...; -1 if there is none
    /// out: NULL, or the array that takes the result.
    un_array* (*apply)(int operation, const un_operand* operands, int count, const un_array* out);
    un_array* (*where)(un_operand condition, un_operand a, un_operand b);
    /// axes NULL: all.
    un_array* (*reduce)(int operation, const un_array* array, const int* axes, int count,
                        int keepdims);
    un_array* (*matmul)(const un_array* a, const un_array* b);
    un_array* (*index)(const un_array* array, const un_index* items, int count);  ///< a view
    int (*assign)(const un_array* target, un_operand value);  ///< target[...] = value
    un_array* (*reshape)(const un_array* array, int rank, const int64_t* shape);
    un_array* (*transpose)(const un_array* array, const int* axes);  ///< NULL: backwards
    un_array* (*broadcast_to)(const un_array* array, int rank, const int64_t* shape);
    un_array* (*astype)(const un_array* array, un_dtype dtype);
    un_array* (*copy)(const un_array* array);
    un_array* (*to_device)(const un_array* array, const un_device* device);

    // Contexts, for threads that call at the same time.
    un_context* (*make_context)(void);
    /// What was recorded and not computed is dropped. NULL is fine.
    void (*free_context)(un_context* context);
    /// The calling thread works in the context from now on; NULL: in the program's first one.
    /// Returns the context that it worked in before.
    un_context* (*enter_context)(un_context* context);
} un_functions;

/// The table of the library that is linked; NULL if it is older than this header.
const un_functions* unisono_functions(uint32_t abi);

#ifdef __cplusplus
}
inline const un_functions* un_table = nullptr;
#else
static const un_functions* un_table;
#endif

#ifdef UNISONO_LINKED
/// 0, or -1 where the library is older than this header.
static inline int un_load(void) {
    un_table = unisono_functions(UN_ABI);
    return un_table ? 0 : -1;
}
#endif

static inline un_operand un_ref(const un_array* array) {
    un_operand made;
    made.kind = UN_OPERAND_ARRAY;
    made.is.array = array;
    return made;
}
static inline un_operand un_real(double value) {
    un_operand made;
    made.kind = UN_OPERAND_REAL;
    made.is.real = value;
    return made;
}
static inline un_operand un_integer(int64_t value) {
    un_operand made;
    made.kind = UN_OPERAND_INTEGER;
    made.is.integer = value;
    return made;
}
static inline un_operand un_truth(int value) {
    un_operand made = un_integer(value != 0);
    made.kind = UN_OPERAND_BOOL;
    return made;
}
static inline un_index un_at(int64_t position) {
    un_index made = {UN_AT, position, UN_OPEN, 1};
    return made;
}
static inline un_index un_slice(int64_t start, int64_t stop, int64_t step) {
    un_index made = {UN_SLICE, start, stop, step};
    return made;
}

#define un_last_error un_table->last_error
#define un_set_error un_table->set_error
#define un_device_count un_table->device_count
#define un_device_at un_table->device_at
#define un_find_device un_table->find_device
#define un_get_device_info un_table->device_info
#define un_get_native un_table->native
#define un_synchronize un_table->synchronize
#define un_empty un_table->empty
#define un_full un_table->full
#define un_arange un_table->arange
#define un_from_memory un_table->from_memory
#define un_share un_table->share
#define un_release un_table->release
#define un_describe un_table->describe
#define un_evaluate un_table->evaluate
#define un_value un_table->value
#define un_open un_table->open
#define un_close un_table->close
#define un_operation un_table->operation
#define un_apply un_table->apply
#define un_where un_table->where
#define un_reduce un_table->reduce
#define un_matmul un_table->matmul
#define un_get un_table->index
#define un_assign un_table->assign
#define un_reshape un_table->reshape
#define un_transpose un_table->transpose
#define un_broadcast_to un_table->broadcast_to
#define un_astype un_table->astype
#define un_copy un_table->copy
#define un_to_device un_table->to_device
#define un_make_context un_table->make_context
#define un_free_context un_table->free_context
#define un_enter_context un_table->enter_context

#endif
