// Algorithms for devices, written once in the language of kernels.
//
// An algorithm is a kernel in one of the Python files here; beside each file lie the syntax trees
// of its kernels as text, which the engine contains: C++ programs have the algorithms too, without
// Python. To add one, write it and run scripts/algorithm_trees.py; algorithms.cpp lists the files.
// Kernels keep inside their arrays, use no negative index and divide by no zero: this is tested in
// the interpreter and on the host, and devices trust it. Functions made by un.jit are arguments of
// kernels: what a scan combines by, or how a sort compares.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "backends/backend.h"
#include "frontend/types.h"

namespace unisono::algorithms {

struct Algorithm {
    /// Compilers would count the characters of a text that comes as a pointer one by one.
    template <std::size_t n>
    constexpr Algorithm(std::string_view called, const char (&text)[n])
        : name(called), tree(text, n - 1) {}
    std::string_view name;
    std::string_view tree;  ///< frontend/syntax/serialise.h
};

std::span<const Algorithm> all();

/// The algorithm compiled for a device and for arguments of these types, once for each;
/// `dimensions` are those of its launches. It lives as long as the process.
Executable& compiled(std::string_view name, std::span<const frontend::Type> args, int dimensions,
                     Device& device);

/// The type of a function that an algorithm on the device is given as an argument.
frontend::Type function_type(std::string_view name, const Device& device);

}  // namespace unisono::algorithms
