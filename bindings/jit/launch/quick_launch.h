// Launches of kernels on arrays and numbers of the types of the launch before, past all that other
// arguments need.
#pragma once

#include <memory>
#include <vector>

#include "jit/values/arguments.h"

namespace unisono {
struct NDRange;
}

namespace unisono::python {

struct Specialisation;

/// How one specialisation is launched so. It is not changed once it is made.
class QuickLaunch {
  public:
    /// None where the specialisation cannot be launched so.
    static std::unique_ptr<const QuickLaunch> of(const Specialisation& made, std::size_t params);

    /// Gives the launch to its device's queue; false, having done nothing, where arguments are of
    /// other types or somewhere else, or where something has to come before.
    bool submit(const std::shared_ptr<Specialisation>& made, PyObject* const* args,
                std::size_t count, const NDRange& range, int threads) const;

  private:
    static constexpr std::size_t most_arguments = 32;

    struct Argument {
        std::uint32_t code;  ///< as in its key
        passes::ArrayEffect effect;
    };
    std::vector<Argument> arguments_;
    bool noalias_ = true;
};

}  // namespace unisono::python
