// What starts and meets other processes by MPI's calls.
#pragma once

#include <memory>

#include "comm/processes.h"

namespace unisono::comm {

std::unique_ptr<Processes> make_processes();

}  // namespace unisono::comm
