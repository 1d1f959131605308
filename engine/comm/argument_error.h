// What tells errors of arguments that the library of messages refuses from others of their kind.
#pragma once

#include "core/error.h"

namespace unisono::comm {

struct ArgumentDetail final : ErrorDetail {};

}  // namespace unisono::comm
