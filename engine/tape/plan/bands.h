// Which kernels of a plan may run band by band.
//
// Kernels that follow one another may take turns on some rows: each runs on a band, then the next
// one runs on it or some rows behind it, while what they share lies in the caches. A recurrence
// along a strided axis (`x[:, k] = f(x[:, k - 1])`) fetches each cache line once instead of once
// for each k, and several sweeps of a stencil read the field once. A plan knows no distances, so
// that it says which kernels may; run/bands/band_schedule.h finds which of these do, and how. On a
// device with memory of its own such kernels run as wholes (run/bands/whole_kernels.cpp).
#pragma once

#include <vector>

#include "tape/plan/form_plan.h"

namespace unisono {

/// Whether its caches need no bands: a device whose work-items run in warps.
bool has_own_memory(const Device& device);

/// Fills in PlanStep::together.
void note_bands(Plan& plan, const std::vector<Entry>& segment);

}  // namespace unisono
