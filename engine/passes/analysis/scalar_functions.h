// Which functions of a module compute with scalars only and never fault: calls of them may move and
// touch no array.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace unisono::passes {

class ScalarFunctions {
  public:
    explicit ScalarFunctions(const ir::Module& m);
    bool operator[](std::int32_t f) const { return is_[static_cast<std::size_t>(f)]; }

  private:
    std::vector<bool> is_;
};

}  // namespace unisono::passes
