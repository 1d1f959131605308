// What a queue holds back: kernels and copies with all that they take.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/cuda/api.h"

namespace unisono::cuda {

struct LoadedModule;

struct Command {
    enum class Kind : std::uint8_t { Kernel, CopyIn, CopyOut, Copy };
    Kind kind = Kind::Kernel;
    Function function = nullptr;
    const LoadedModule* module = nullptr;  ///< the function's
    std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t begin = 0, count = 0;  ///< its values among those of a list

    bool operator==(const Command&) const = default;
};

/// Values of a kernel are its arguments, of a copy: to, from, bytes.
class CommandList {
  public:
    void add(Command command, std::span<const std::uint64_t> values) {
        command.begin = static_cast<std::uint32_t>(values_.size());
        command.count = static_cast<std::uint32_t>(values.size());
        commands_.push_back(command);
        values_.insert(values_.end(), values.begin(), values.end());
    }
    void clear() {
        commands_.clear();
        values_.clear();
    }
    bool empty() const { return commands_.empty(); }
    std::size_t size() const { return commands_.size(); }
    const std::vector<Command>& commands() const { return commands_; }
    std::span<const std::uint64_t> values_of(const Command& c) const {
        return {values_.data() + c.begin, c.count};
    }
    bool has_values_of(const CommandList& other) const { return values_ == other.values_; }

  private:
    std::vector<Command> commands_;
    std::vector<std::uint64_t> values_;
};

/// Name of the driver's function that takes the command.
const char* call_of(const Command& command);
/// Gives the driver one command.
Result give(const Api& api, const Command& command, std::span<const std::uint64_t> values,
            Stream stream);

}  // namespace unisono::cuda
