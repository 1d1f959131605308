// What carries bytes between ranks: the interface of a plugin. Everything else in comm/ is
// independent of it.
//
// One primitive serves all: `exchange` moves byte ranges between ranks, and each call is one
// numbered operation that all ranks make in the same order. A rank says what it is about to do by a
// Stamp: a hash over all operations so far. Ranks compare stamps while they work, so that ranks
// that run different programs get an error with the name, instead of waiting for messages that are
// never sent.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace unisono::comm {

/// A byte range of a buffer that goes to, or comes from, another rank.
struct Part {
    int rank;
    std::int64_t offset, bytes;
};

/// The name of an operation: equal on all ranks if they run the same program.
struct Stamp {
    std::uint64_t number = 0;      ///< counted from 1 on each rank
    std::uint64_t hash = 0;        ///< of the texts of all operations up to this one
    std::string text;              ///< what it does and where, for messages
    std::uint64_t statements = 0;  ///< before it, those without messages among them
    /// The operation whose receives these sends answer: this one, or an earlier one, of which a
    /// rank needs the result before it can send.
    std::uint64_t answers = 0;
};

/// What some of the ranks were about to do where not all did the same.
struct Program {
    std::string text;
    std::uint64_t statements = 0;
    std::string ranks;  ///< "0, 2"
};
/// The message of ranks that run different programs. Where they were about to do the same, the
/// statements before it differ, and are counted.
std::string divergence_text(std::uint64_t number, std::span<const Program> programs);

class Transport {
  public:
    virtual ~Transport() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Sends parts of `from` and receives parts of `to`; returns when all have arrived. Messages
    /// between two ranks match in order. `settle`: also waits until all ranks are known to agree up
    /// to this operation. Throws a Comm error on divergence (on all ranks), after the time-out, or
    /// when an earlier call did.
    virtual void exchange(const Stamp& stamp, const char* from, std::span<const Part> sends,
                          char* to, std::span<const Part> receives, bool settle) = 0;
    /// The program ends: all ranks agree, then the library is finalised if the transport
    /// initialised it.
    virtual void finish(const Stamp& stamp) = 0;
    /// Ends all ranks. Waits for the other ranks to get here first, for at most `grace` seconds.
    [[noreturn]] virtual void abort(int status, double grace) = 0;
};

struct TransportOptions {
    double timeout = 0;               ///< seconds that a rank waits for others; 0: for ever
    bool (*interrupted)() = nullptr;  ///< asked now and then while waiting
};

/// Loads the plugin of that kind ("mpi") and starts it. Throws a Comm error that says what was
/// tried.
std::unique_ptr<Transport> load_transport(const std::string& kind, const TransportOptions& options);

}  // namespace unisono::comm
