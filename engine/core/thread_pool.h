// The executor that needs no library: std::thread workers that sleep on a condition between jobs.
#pragma once

#include <memory>

#include "core/parallel.h"

namespace unisono {

std::unique_ptr<Executor> make_thread_pool();

}  // namespace unisono
