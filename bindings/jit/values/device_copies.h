// Memory of the host that one launch on a device uses: copied there before it, and back where the
// launch wrote it.
#pragma once

#include <span>
#include <vector>

#include "backends/backend.h"
#include "jit/values/arguments.h"

namespace unisono::python {

class DeviceCopies {
  public:
    explicit DeviceCopies(Arguments& arguments) : arguments_(arguments) {}
    ~DeviceCopies();
    DeviceCopies(const DeviceCopies&) = delete;
    DeviceCopies& operator=(const DeviceCopies&) = delete;

    /// Copies on the calling thread's queue; array_args tells where the copies are.
    void bring();
    /// Copies back what arrays with these effects wrote, behind the launch.
    void take_back(std::span<const passes::ArrayEffect> effects);

  private:
    /// Memory from the first to behind the last byte of arrays that overlap.
    struct Piece {
        std::uintptr_t from, to;
        std::vector<std::size_t> arrays;
        Memory there;
        std::int64_t bytes() const { return static_cast<std::int64_t>(to - from); }
        /// Bytes in front of it on the device, so that elements stay aligned.
        std::int64_t start() const { return static_cast<std::int64_t>(from % 16); }
    };
    std::vector<Piece> pieces_of_host() const;

    Arguments& arguments_;
    std::vector<Piece> pieces_;
};

}  // namespace unisono::python
