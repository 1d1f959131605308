// A small function for tests of passes, and its printed form after one.
#pragma once

#include <string>

#include "ir/build.h"

namespace unisono {

/// A module of one function over arrays a (contiguous) and b (read only), and a scalar n.
struct Sample {
    ir::Module module;
    ir::Builder b{module.functions.emplace_back("f")};
    std::int32_t a =
        b.array_param("a", DType::Float64, 2, true, {ir::StrideClass::Other, ir::StrideClass::One});
    std::int32_t r = b.array_param("r", DType::Int64, 1, false);
    std::int32_t n = b.scalar_param("n", DType::Int64);
    ir::E zero = b.zero(DType::Float64);

    /// The printed body after a pass, without the head line.
    std::string after(ir::S body, void (*pass)(ir::Module&)) {
        b.function().body = body;
        verify(module);
        pass(module);
        verify(module);
        std::string text = print(module);
        return text.substr(text.find('\n') + 1);
    }
};

}  // namespace unisono
