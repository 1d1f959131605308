// What the C writer makes of a module: text, and the arguments that each of its kernels takes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dtype.h"

#include "ir/ir.h"

namespace unisono::c_source {

/// One argument of a kernel, in the order in which it is passed.
struct Argument {
    enum class Kind : std::uint8_t {
        Memory,   ///< memory of array parameter `param`, or of the slot `array`
        Scratch,  ///< memory of array `array`, which no parameter brings, of `bytes` bytes; the
                  ///< same for all kernels
        Results,  ///< memory for the entry's results (`bytes`), each as Scalar::bits
        Fault,    ///< memory for a FaultRecord of each kernel
        Numbers,  ///< a struct of `bytes` bytes of all numbers, since each argument of a launch
                  ///< costs the driver a call and memory of its own
    };
    Kind kind;
    std::int32_t param = -1;
    std::int32_t array = -1;
    std::int64_t bytes = 0;
};

/// A member of the struct that brings a kernel's numbers.
struct Number {
    enum class Kind : std::uint8_t {
        Offset,    ///< int64: elements from the start of the memory to element [0, 0, ...], of
                   ///< array parameter `param` or of the slot `array`
        Extent,    ///< int64: shape[axis]
        Stride,    ///< int64: strides[axis], in elements
        Value,     ///< a scalar parameter, in its storage type
        RangeEnd,  ///< int64: global offset plus global size of `axis`, as asked for
        Launch,    ///< int64: the launch's number among those of the module, from 1 on
    };
    Kind kind;
    DType dtype = DType::Int64;
    std::int32_t param = -1;
    std::int32_t axis = 0;
    std::int32_t array = -1;
    std::int64_t at = 0;  ///< bytes from the struct's start
};

/// Memory layout of the record in which kernels report a fault (struct un_fault of the text).
struct FaultRecord {
    std::int32_t lock = 0;
    std::int32_t failed = 0;
    std::int64_t order =
        0;  ///< row-major index of the failing work-item in the launched range; the lowest wins
    std::int64_t iteration = 0;  ///< its place on the last axis, which is the outermost loop
    std::int64_t launch = 0;     ///< Argument::Launch, of kernels that are launched repeatedly
    std::int64_t site =
        0;  ///< index into the sites of all functions of the module, one after the other
    std::int64_t values[4] = {0, 0, 0, 0};
};
static_assert(sizeof(FaultRecord) == 72);

struct Kernel {
    std::string name;
    std::size_t function;  ///< index in the module
    std::vector<Argument> arguments;
    std::vector<Number> numbers;
    /// Which axis of the range each of the device's dimensions runs over (0 is the fastest). The
    /// text has its own numbering: get_global_id(d) is the id of axis axes[d].
    std::array<int, 3> axes{0, 1, 2};
    bool can_fault = false;
    bool tests_range =
        false;  ///< work-items beyond the range do nothing: global sizes may be rounded up
    std::int64_t local_bytes = 0;  ///< of the arrays that a work-group shares
};

struct Program {
    std::string source;
    std::vector<Kernel> kernels;  ///< in the order in which they are launched
};

}  // namespace unisono::c_source
