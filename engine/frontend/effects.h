// What statements change of what values read that were found before them.
#pragma once

#include <functional>
#include <set>
#include <span>

#include "ir/ir.h"

namespace unisono::frontend {

struct Effects {
    std::set<std::int32_t> vars;   ///< variables that get other values
    std::set<std::int32_t> slots;  ///< slots that get other memory
    bool stores = false;           ///< to elements of arrays
    bool all = false;              ///< anything may change
    bool any() const { return stores || all || !vars.empty() || !slots.empty(); }
    bool change(ir::E e) const;
};

/// Of statements of a function on its variables below `vars` and arrays below `arrays`. `may_store`
/// tells whether a function of the module may store to arrays that it did not make.
Effects effects_of(const ir::Function& function, std::span<const ir::S> statements,
                   std::size_t vars, std::size_t arrays,
                   const std::function<bool(std::int32_t)>& may_store);

}  // namespace unisono::frontend
