// Functions of NumPy that compiled code does not know: the interpreter runs those of arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "frontend/types.h"

namespace unisono::frontend {

/// Number of a block of Python (see _python_block) and the type of what it gives.
struct Interpreted {
    std::int64_t block = 0;
    Type result;
};

/// Tells what the function at a path ("fft.rfft", ".take" for a method) gives for arguments that
/// are described as a literal of Python; nothing where it does not take them.
using Inference = std::optional<Interpreted> (*)(const std::string& path,
                                                 const std::string& arguments);

/// Where Python is there it gives this; the same for the whole process.
void set_inference(Inference inference);
Inference inference();

}  // namespace unisono::frontend
