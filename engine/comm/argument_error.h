// What tells errors of arguments that the library of messages refuses from others of their kind.
#pragma once

#include <memory>
#include <string>

#include "core/error.h"

namespace unisono::comm {

struct ArgumentDetail final : ErrorDetail {};

[[noreturn]] inline void fail_of_argument(const std::string& message) {
    throw Error(ErrorKind::Value, message, std::make_shared<ArgumentDetail>());
}

}  // namespace unisono::comm
