// Starting and meeting processes, for Python.
#include "mpi/processes.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "comm/processes.h"

namespace nb = nanobind;

namespace unisono::python {

using comm::Hints;
using comm::Processes;

nb::object wrapped(std::unique_ptr<comm::Communicator> c) { return nb::cast(PyComm{std::move(c)}); }

namespace {

/// Command, arguments, number of processes and hints.
using Given = std::tuple<std::string, std::vector<std::string>, int, Hints>;

Processes& processes_of(PyJob& p) {
    Processes* found = p.job->processes();
    if (found == nullptr)
        fail(ErrorKind::Unsupported, "mpi: virtual ranks start and meet no other processes" +
                                         place_of_caller() + "; run the program by mpirun");
    return *found;
}

nb::object spawn(PyJob& p, PyComm& comm, const std::vector<Given>& given, int root) {
    std::vector<comm::Launch> launches;
    for (const auto& [command, arguments, count, hints] : given)
        launches.push_back({command, arguments, count, hints});
    Processes& all = processes_of(p);
    return wrapped(unlocked([&] { return all.spawn(*comm, launches, root); }));
}

}  // namespace

void add_processes(nb::class_<PyJob>& job) {
    job.def("spawn", &spawn, nb::arg("comm"), nb::arg("launches"), nb::arg("root"));
    job.def("parent", [](PyJob& p) {
        Processes* all = p.job->processes();
        return wrapped(all ? all->parent() : nullptr);
    });
    job.def("open_port", [](PyJob& p, const Hints& hints) {
        Processes& all = processes_of(p);
        return unlocked([&] { return all.open_port(hints); });
    });
    job.def("close_port", [](PyJob& p, const std::string& port) {
        Processes& all = processes_of(p);
        unlocked([&] { all.close_port(port); });
    });
    job.def("accept",
            [](PyJob& p, PyComm& comm, const std::string& port, const Hints& hints, int root) {
                Processes& all = processes_of(p);
                return wrapped(unlocked([&] { return all.accept(*comm, port, hints, root); }));
            });
    job.def("connect",
            [](PyJob& p, PyComm& comm, const std::string& port, const Hints& hints, int root) {
                Processes& all = processes_of(p);
                return wrapped(unlocked([&] { return all.connect(*comm, port, hints, root); }));
            });
    job.def("join", [](PyJob& p, int socket) {
        Processes& all = processes_of(p);
        return wrapped(unlocked([&] { return all.join(socket); }));
    });
    job.def("publish",
            [](PyJob& p, const std::string& name, const std::string& port, const Hints& hints) {
                Processes& all = processes_of(p);
                unlocked([&] { all.publish(name, port, hints); });
            });
    job.def("unpublish",
            [](PyJob& p, const std::string& name, const std::string& port, const Hints& hints) {
                Processes& all = processes_of(p);
                unlocked([&] { all.unpublish(name, port, hints); });
            });
    job.def("lookup", [](PyJob& p, const std::string& name, const Hints& hints) {
        Processes& all = processes_of(p);
        return unlocked([&] { return all.lookup(name, hints); });
    });
    job.def(
        "pair",
        [](PyJob& p, PyComm& local, int leader, PyComm* peers, int remote_leader, int tag) {
            Processes& all = processes_of(p);
            comm::Communicator* over = peers ? peers->comm.get() : nullptr;
            return wrapped(
                unlocked([&] { return all.pair(*local, leader, over, remote_leader, tag); }));
        },
        nb::arg("local"), nb::arg("leader"), nb::arg("peers").none(), nb::arg("remote_leader"),
        nb::arg("tag"));
    job.def("merge", [](PyJob& p, PyComm& both, bool is_last) {
        Processes& all = processes_of(p);
        return wrapped(unlocked([&] { return all.merge(*both, is_last); }));
    });
    job.def("split", [](PyJob& p, PyComm& both, int color, int key) {
        Processes& all = processes_of(p);
        return wrapped(unlocked([&] { return all.split(*both, color, key); }));
    });
    job.def("remote_ranks",
            [](PyJob& p, PyComm& both) { return processes_of(p).remote_ranks(*both); });
}

}  // namespace unisono::python
