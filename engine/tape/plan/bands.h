// Which kernels of a plan may run band by band.
//
// Kernels that follow one another over one iteration space, and touch what the others write at the
// same points only, may take turns on some rows of the space: each runs on a band, then the next
// one runs on it, while what they share lies in the caches. A recurrence along a strided axis
// (`x[:, k] = f(x[:, k - 1])`) fetches each cache line once instead of once for each k.
#pragma once

#include <vector>

#include "tape/plan/form_plan.h"

namespace unisono {

/// Fills in PlanStep::together.
void note_bands(Plan& plan, const std::vector<Entry>& segment, const SegmentData& data);

/// Counts the bytes of cache lines that views touch. Neighbouring views share lines.
class LineCount {
  public:
    void add(const View& view);
    std::int64_t bytes() const { return bytes_; }

  private:
    struct Seen {
        const Storage* storage;
        const Layout* layout;
        std::int64_t line;
        bool operator==(const Seen&) const = default;
    };
    std::vector<Seen> seen_;
    std::int64_t bytes_ = 0;
};

}  // namespace unisono
