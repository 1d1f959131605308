// Tagged messages and collective calls between virtual ranks: what un.mpi uses.
#pragma once

#include <memory>

#include "comm/messages.h"
#include "comm/virtual/world.h"

namespace unisono::comm {

/// The connection of a rank that lives in the world.
std::unique_ptr<Job> virtual_job(std::shared_ptr<World> world, int position,
                                 const JobOptions& options);

}  // namespace unisono::comm
