// Several turns of kernels, on tiles of rows or on small arrays, as one kernel of a device.
//
// A work-item takes a tile and runs its steps one after the other, round after round. Of each step
// it takes rows whose first and last ones move from round to round, so that tiles need nothing of
// each other (tiles.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "tape/run/lower_group.h"
#include "tape/run/run_group.h"

namespace unisono {

struct TileStep {
    std::shared_ptr<GroupKernel> kernel;  ///< neither reduces nor calls functions
    GroupShape shape;
    std::vector<bool> in_place;  ///< of each output, whether it is the input that it updates
    bool operator==(const TileStep&) const = default;
};

/// Rows of a step, in elements of its first axis: tile t takes those from `first` to before `end`
/// of round 0, each moved by t * apart, as far as they exist.
struct TileRows {
    std::int64_t first, end;
    std::int64_t first_moves, end_moves;  ///< from one round to the next
    std::int64_t apart;
};

/// Params in order: of each step its inputs, outputs and scalars; the number of rounds; of each
/// step its TileRows.
ir::Module lower_tiles(std::span<const TileStep> steps);

/// Bytes that the params take at most.
std::size_t tile_param_bytes(std::span<const TileStep> steps);

/// The steps round after round, each as a whole, for one work-group of `group_of_rounds`. Params in
/// order: of each step its inputs, outputs and scalars; how many steps run in all rounds.
ir::Module lower_rounds(std::span<const TileStep> steps);
inline constexpr std::array<std::int64_t, 2> group_of_rounds{32, 16};

/// What the device made of either; compiled at the first use, and kept for the process as long as
/// others are not used more.
enum class TurnsOf : std::uint8_t { Tiles, OneGroup };
std::shared_ptr<Executable> code_of_turns(std::span<const TileStep> steps, TurnsOf what,
                                          Device& device);

}  // namespace unisono
