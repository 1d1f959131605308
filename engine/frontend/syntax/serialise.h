// Syntax trees as text: what a build embeds, and what another process reads.
//
// A program is a function and those that it calls, each as one list:
//
//     (unisono-tree 1
//       (function "scale" "scale.py" 4 ["def scale(x, f):" ...] ...
//         (Block@5:4-6:20 (For@5:4-6:20 (Name@5:8-5:9 "i") ...))))
//
// Reading checks what it reads: text that is cut or changed gives an error, not a crash.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frontend/syntax/tree.h"

namespace unisono::frontend {

/// Throws an Unsupported error where the function holds on to what lives in one process only:
/// classes of Python, functions of C text.
std::string serialise(const Source& source);

/// Throws a Value error where the text is no program. `adjust` may change the options of each of
/// its functions.
std::shared_ptr<const Source> read_program(std::string_view text,
                                           void (*adjust)(Options&) = nullptr);

}  // namespace unisono::frontend
