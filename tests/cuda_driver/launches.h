// Launches of kernels, alone or as nodes of graphs.
#pragma once

#include <memory>
#include <vector>

#include "cuda_driver/driver.h"
#include "cuda_driver/kernels.h"

namespace cuda_driver {

struct Function;

/// One launch that was found to be well-formed.
struct Launch {
    Function* function = nullptr;
    Extents grid{}, block{};
    std::vector<std::uint64_t> values;
};

/// Checks sizes and reads the parameters; not success: what is wrong with them.
Result make_launch(Call& call, Launch& made, void* function, const Extents& grid,
                   const Extents& block, unsigned shared, void** parameters, void** extra);
/// Checks memory and order, and submits.
Result start_launch(Call& call, const Launch& launch, Stream* stream);

/// A copy, of which nothing is checked yet.
struct Copy {
    std::uintptr_t to = 0, from = 0;
    std::size_t bytes = 0;
    bool reads_host = false, writes_host = false;
    const char* what = "";
};
Result start_copy(Call& call, const Copy& copy, Stream* stream);

}  // namespace cuda_driver
