// What a function's body uses: parts of parameters, allocated arrays, how often variables are
// assigned.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "ir/ir.h"

namespace unisono::c_source {

struct Usage {
    using Part = std::tuple<std::int32_t, ir::Field, std::int32_t>;  ///< param, field, axis
    std::set<Part> parts;                       ///< read here or by what is called
    std::vector<int> assignments;               ///< per variable: how often it gets a value
    std::map<std::int32_t, ir::S> allocations;  ///< array: its Allocate
    std::set<std::int32_t> calls;
    std::set<std::int32_t> arrays;  ///< accessed or passed on
    bool has_barrier = false;
    bool sees_groups = false;  ///< asks for the shape of the launch or shares local memory
    bool can_fault = false;    ///< here or in what is called
};

/// One Usage per function of the module.
std::vector<Usage> find_usage(const ir::Module& module);

}  // namespace unisono::c_source
