// Algorithms for devices, written once in the language of kernels.
//
// An algorithm is a Python file with a kernel of the same name, and its syntax tree as text beside
// it, which the engine contains: C++ programs have the algorithms too, without Python. To add one,
// write the file, add a row to algorithms.def and run scripts/algorithm_trees.py.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "backends/backend.h"
#include "frontend/types.h"

namespace unisono::algorithms {

struct Algorithm {
    std::string_view name;
    std::string_view tree;  ///< frontend/syntax/serialise.h
};

std::span<const Algorithm> all();

/// The algorithm compiled for a device and for arguments of these types, once for each;
/// `dimensions` are those of its launches. It lives as long as the process.
Executable& compiled(std::string_view name, std::span<const frontend::Type> args, int dimensions,
                     Device& device);

}  // namespace unisono::algorithms
