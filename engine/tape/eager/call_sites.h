// CallSites of the program that make small statements, and how often each has done so.
//
// Counts follow from the recorded program alone: they decide where it is evaluated.
#pragma once

#include <cstdint>
#include <memory>

namespace unisono {

struct HostHooks;
struct LineRef;

class CallSites {
  public:
    /// Notes a small statement at this call site; true from the time on that the call site has made
    /// many. A program that names no lines has no call sites.
    bool repeats(const LineRef& line, const HostHooks& hooks);

  private:
    struct Row {
        void* code = nullptr;  ///< retained, so that no other code gets its address
        std::int32_t offset = 0;
        std::int32_t count = 0;
    };
    static constexpr std::size_t rows = 4096, most_sites = 2048;

    void forget(const HostHooks& hooks);

    std::unique_ptr<Row[]> table_;  ///< open addressing; made at the first use
    std::size_t used_ = 0;
};

}  // namespace unisono
