// The connection of this process to its job, and the processes that it starts or meets.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "comm/messages.h"
#include "mpi/requests.h"

namespace unisono::python {

struct PyJob {
    std::unique_ptr<comm::Job> job;
};

/// A communicator for Python; COMM_NULL for none.
nanobind::object wrapped(std::unique_ptr<comm::Communicator> c);

/// Binds what starts and meets processes.
void add_processes(nanobind::class_<PyJob>& job);

}  // namespace unisono::python
