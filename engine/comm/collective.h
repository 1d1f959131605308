// The counts of collective calls: what the memory that each rank gives must hold.
#pragma once

#include <string>

#include "comm/messages.h"

namespace unisono::comm {

/// Elements that a rank gives to a collective call, packed; none where `data` is null and there are
/// no elements.
struct Memory {
    void* data = nullptr;
    std::int64_t count = 0;
    DType dtype = DType::UInt8;
    bool is_given = false;
};

/// mpi4py's name of the call on buffers.
const char* buffer_call(CollectiveKind kind);

/// Fills in buffers and counts of a call whose kind, root and shares are set, and checks that they
/// fit. `from` is not given where `to` holds the rank's own part; both are not where this rank has
/// nothing to give or take. `place` is " at file:line" of the call, for errors.
void measure(CollectiveCall& call, const Memory& from, const Memory& to, const Communicator& comm,
             std::string (*place)());
/// The same of a call between two groups.
void measure_between(CollectiveCall& call, const Memory& from, const Memory& to,
                     const Communicator& comm, std::string (*place)());

}  // namespace unisono::comm
