// Errors of the engine: one exception type whose kind says whose fault it is and which Python class
// it becomes.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace unisono {

enum class ErrorKind : std::uint8_t {
    Value,         ///< ValueError
    Type,          ///< TypeError
    Index,         ///< IndexError
    ZeroDivision,  ///< ZeroDivisionError
    Overflow,      ///< OverflowError
    Memory,        ///< MemoryError
    Runtime,       ///< RuntimeError raised by the user's compiled code
    Assertion,     ///< AssertionError
    Compile,       ///< unisono.CompileError: a function that cannot be compiled
    Device,        ///< unisono.DeviceError: a device is absent or failed
    Unsupported,   ///< unisono.UnsupportedError: sound, but not on this device or not yet
    Comm,          ///< unisono.CommError: ranks diverge, or one failed
    Internal,      ///< unisono.InternalError: our own fault
    Interrupt,     ///< KeyboardInterrupt
    LinAlg,        ///< numpy.linalg.LinAlgError: matrices that are singular, or did not converge
};

/// Where in a user's program: file, 1-based line, 0-based column (-1: unknown).
struct SourcePlace {
    std::string file;
    int line = 0;
    int column = -1;
    int end_column = -1;
};

/// What the language above the engine knows of an error, to raise it in its own way.
struct ErrorDetail {
    virtual ~ErrorDetail() = default;
};

class Error : public std::runtime_error {
  public:
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
    Error(ErrorKind kind, const std::string& message, SourcePlace place)
        : std::runtime_error(message), kind_(kind), place_(std::move(place)) {}
    Error(ErrorKind kind, const std::string& message, std::shared_ptr<const ErrorDetail> detail)
        : std::runtime_error(message), kind_(kind), detail_(std::move(detail)) {}
    ErrorKind kind() const noexcept { return kind_; }
    const SourcePlace& place() const noexcept { return place_; }
    const ErrorDetail* detail() const noexcept { return detail_.get(); }
    /// The same error, attributed to a statement recorded at `place`.
    Error at(SourcePlace place) const {
        Error made = *this;
        made.place_ = std::move(place);
        return made;
    }

  private:
    ErrorKind kind_;
    SourcePlace place_;
    std::shared_ptr<const ErrorDetail> detail_;
};

[[noreturn]] inline void fail(ErrorKind kind, const std::string& message) {
    throw Error(kind, message);
}

/// Our own invariants: a failure is a bug of the engine, never the user's.
[[noreturn]] void internal_failure(const char* condition, const char* file, int line);
#define UNISONO_ASSERT(condition) \
    ((condition) ? void(0) : ::unisono::internal_failure(#condition, __FILE__, __LINE__))

}  // namespace unisono
