// Which loops need not ask whether the user wants to stop: their text shows that they end soon.
#pragma once

#include <map>

#include "ir/ir.h"

namespace unisono::codegen {

class LoopBounds {
  public:
    explicit LoopBounds(const ir::Function& f);
    /// Whether the loop is bounded by a small number, by the extent of an array, which lies in
    /// memory after all, or by the iteration of a loop around it that began near zero.
    bool ends_soon(ir::S loop) const;
    /// Whether a while loop runs only while a number is positive that each iteration halves, at
    /// least: no more often than the number has bits.
    static bool halves(ir::S loop);

  private:
    void note(ir::S s);
    bool is_low(ir::E e) const;
    bool is_not_negative(ir::E e) const;

    std::map<std::int32_t, ir::E> values_;  ///< of variables that are set once
    std::map<std::int32_t, ir::S> loops_;   ///< by their variable
};

}  // namespace unisono::codegen
