// Messages, collective calls and windows for Python. The classes have the calls that move memory;
// python/unisono/mpi adds those on objects.
#include "mpi/bind_mpi.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>

#include "array/object.h"
#include "backends/codegen/cache.h"
#include "comm/collective.h"
#include "comm/mesh.h"
#include "comm/messages.h"
#include "comm/virtual/post.h"
#include "core/settings.h"
#include "mesh/virtual_ranks.h"
#include "mpi/buffers.h"
#include "mpi/processes.h"
#include "mpi/requests.h"
#include "mpi/windows.h"
#include "tape/tape.h"

namespace nb = nanobind;

namespace unisono::python {

namespace {

using comm::CollectiveCall;
using comm::CollectiveKind;
using comm::Combine;
using comm::Communicator;
using comm::Delivery;
using comm::Job;

/// Called while a rank waits for others, without the interpreter: has Ctrl-C been pressed?
bool interrupted() {
    PyGILState_STATE state = PyGILState_Ensure();
    bool stop = PyErr_CheckSignals() != 0;
    if (stop) PyErr_Clear();
    PyGILState_Release(state);
    return stop;
}

comm::Shares shares_of(nb::handle given) {
    comm::Shares s;
    if (given.is_none()) return s;
    auto both = nb::cast<std::pair<std::vector<int>, std::vector<int>>>(given);
    s.counts = std::move(both.first);
    s.starts = std::move(both.second);
    return s;
}

/// `moves`: nothing is computed, so that elements of any kind are bytes.
comm::Memory memory_of(const Buffer& b, const char* call, bool moves) {
    if (b.empty()) return {};
    if (b.dtype() == DType::UInt8 && b.item() > 1 && moves)
        return {b.data(), b.bytes(), DType::UInt8, true};
    if (b.dtype() == DType::UInt8 && b.item() > 1)
        fail(ErrorKind::Type, std::string("mpi: ") + call +
                                  ": elements of a kind that MPI does not know" +
                                  place_of_caller() + "; lower-case functions take any object");
    return {b.data(), b.count(), b.dtype(), true};
}

/// Shares of elements that MPI does not know, which move as bytes.
void count_in_bytes(comm::Shares& shares, const Buffer& b) {
    if (b.empty() || b.dtype() != DType::UInt8) return;
    for (int& count : shares.counts) count *= static_cast<int>(b.item());
    for (int& start : shares.starts) start *= static_cast<int>(b.item());
}

/// A collective call and the memory that it uses.
struct Collective {
    CollectiveCall call;
    Buffer source, target;

    /// `measure`: fills in the counts.
    Collective(PyComm& comm, int kind, nb::handle from, nb::handle sends, nb::handle to,
               nb::handle receives, int root, int combine, int sender,
               decltype(comm::measure)& measure) {
        sweep();  // one that was left may be done now
        call.kind = static_cast<CollectiveKind>(kind);
        const char* name = comm::buffer_call(call.kind);
        call.root = root;
        call.combine = static_cast<Combine>(combine);
        call.sends = shares_of(sends);
        call.receives = shares_of(receives);
        const bool sends_it = call.kind == CollectiveKind::Broadcast && sender == root;
        if (!from.is_none()) source = Buffer(from, false, name);
        if (!to.is_none()) target = Buffer(to, !sends_it, name);
        const bool moves = call.kind < CollectiveKind::Reduce;
        if (moves) {
            count_in_bytes(call.sends, source);
            count_in_bytes(call.receives, target);
        }
        measure(call, memory_of(source, name, moves), memory_of(target, name, moves), *comm,
                place_of_caller);
    }
    PyRequest under_way(std::unique_ptr<comm::Request> request) {
        return started(std::move(request), std::move(source), std::move(target), true);
    }
};

PyRequest collective(PyComm& self, int kind, nb::handle from, nb::handle sends, nb::handle to,
                     nb::handle receives, int root, int combine) {
    Collective c(self, kind, from, sends, to, receives, root, combine, self->rank(), comm::measure);
    return c.under_way(unlocked([&] { return self->start(c.call); }));
}

/// Memory of calls that were given up while the library works on them, which it may still use.
void keep_for_ever(Collective& c) {
    static auto* const all = new std::vector<Buffer>;
    all->push_back(std::move(c.source));
    all->push_back(std::move(c.target));
}

/// Of two groups. `varies`: with a count for each rank. `waits`: by the library's call that waits.
PyRequest collective_between(PyComm& self, int kind, nb::handle from, nb::handle sends,
                             nb::handle to, nb::handle receives, int root, int combine, bool varies,
                             bool waits) {
    Collective c(self, kind, from, sends, to, receives, root, combine, comm::root_here,
                 comm::measure_between);
    c.call.varies = varies;
    if (!waits) return c.under_way(unlocked([&] { return self->start_between(c.call); }));
    try {
        unlocked([&] { self->call_between(c.call); });
    } catch (...) {
        keep_for_ever(c);
        throw;
    }
    if (!c.target.empty()) c.target.deliver();
    return PyRequest::finished({comm::no_rank, -1, 0});
}

void send(PyComm& self, nb::handle buf, int dest, int tag, bool synchronous) {
    Buffer b(buf, false, "Send");
    unlocked([&] { self->send(b.data(), b.bytes(), dest, tag, synchronous); });
}

void receive(PyComm& self, nb::handle buf, int source, int tag, nb::handle status) {
    Buffer b(buf, true, "Recv");
    Delivery d;
    unlocked([&] { self->receive(b.data(), b.bytes(), source, tag, &d); });
    b.deliver();
    set_status(status, d);
}

PyRequest start_send(PyComm& self, nb::handle buf, int dest, int tag, bool synchronous) {
    Buffer b(buf, false, "Isend");
    auto request =
        unlocked([&] { return self->start_send(b.data(), b.bytes(), dest, tag, synchronous); });
    return started(std::move(request), std::move(b), {}, false);
}

PyRequest start_receive(PyComm& self, nb::handle buf, int source, int tag) {
    Buffer b(buf, true, "Irecv");
    auto request = unlocked([&] { return self->start_receive(b.data(), b.bytes(), source, tag); });
    return started(std::move(request), std::move(b), {}, true);
}

/// A receive and a send under way. Both buffers are checked before either begins: a receive that
/// is given up would have taken a message.
std::pair<PyRequest, PyRequest> exchange(PyComm& self, nb::handle sendbuf, int dest, int sendtag,
                                         nb::handle recvbuf, int source, int recvtag) {
    Buffer into(recvbuf, true, "Irecv"), from(sendbuf, false, "Isend");
    auto incoming =
        unlocked([&] { return self->start_receive(into.data(), into.bytes(), source, recvtag); });
    auto outgoing =
        unlocked([&] { return self->start_send(from.data(), from.bytes(), dest, sendtag, false); });
    return {started(std::move(incoming), std::move(into), {}, true),
            started(std::move(outgoing), std::move(from), {}, false)};
}

/// A message that is still to be received, by its holder alone.
struct PyMatched {
    std::unique_ptr<comm::Matched> message;

    PyRequest receive(nb::handle buf) {
        Buffer b(buf, true, "Recv");
        const Delivery d = message->delivery();
        if (b.bytes() < d.bytes)
            fail(ErrorKind::Comm, "mpi: Recv: the message from rank " + std::to_string(d.source) +
                                      " has " + std::to_string(d.bytes) +
                                      " bytes; got a buffer of " + std::to_string(b.bytes()) +
                                      place_of_caller());
        unlocked([&] { message->receive(b.data()); });
        b.deliver();
        return PyRequest::finished(d);
    }
    nb::object receive_bytes(nb::handle status) {
        const Delivery d = message->delivery();
        nb::object made = nb::steal(PyBytes_FromStringAndSize(nullptr, d.bytes));
        if (!made.is_valid()) throw nb::python_error();
        char* to = PyBytes_AS_STRING(made.ptr());
        unlocked([&] { message->receive(to); });
        set_status(status, d);
        return made;
    }
};

/// The next message as bytes; None if there is none and it should not wait.
nb::object receive_bytes(PyComm& self, int source, int tag, bool wait, nb::handle status) {
    auto matched = unlocked([&] { return self->match(source, tag, wait); });
    if (!matched) return nb::none();
    return PyMatched{std::move(matched)}.receive_bytes(status);
}

/// What a function of one argument returns.
nb::object called(nb::handle function, nb::handle argument) {
    nb::object made = nb::steal(PyObject_CallOneArg(function.ptr(), argument.ptr()));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

/// Whether receives of objects are under way, which come before others (_objects.py).
bool has_waiting(nb::handle comm) {
    static PyObject* const name = PyUnicode_InternFromString("_waiting");
    const nb::object waiting = nb::steal(PyObject_GetAttr(comm.ptr(), name));
    if (!waiting.is_valid()) throw nb::python_error();
    return PyObject_IsTrue(waiting.ptr()) > 0;
}

void send_object(nb::handle self, nb::handle object, int dest, int tag) {
    if (has_waiting(self)) {
        self.attr("_send_beside")(object, dest, tag);
        return;
    }
    static PyObject* known = nullptr;
    const nb::object data = called(kept_of(known, "unisono.mpi._objects", "dumped"), object);
    if (!PyBytes_Check(data.ptr())) {
        PyErr_Format(PyExc_TypeError, "send: pickle.dumps must give bytes; got %.200s",
                     Py_TYPE(data.ptr())->tp_name);
        throw nb::python_error();
    }
    PyComm& comm = nb::cast<PyComm&>(self);
    const char* from = PyBytes_AS_STRING(data.ptr());
    unlocked([&] { comm->send(from, PyBytes_GET_SIZE(data.ptr()), dest, tag, false); });
}

nb::object receive_object(nb::handle self, nb::handle /*buf*/, int source, int tag,
                          nb::handle status) {
    if (has_waiting(self)) return self.attr("_receive_beside")(source, tag, status);
    static PyObject* known = nullptr;
    const nb::handle loads = kept_of(known, "unisono.mpi._objects", "loaded");
    const nb::object data = receive_bytes(nb::cast<PyComm&>(self), source, tag, true, status);
    // PROC_NULL sends nothing.
    return PyBytes_GET_SIZE(data.ptr()) > 0 ? called(loads, data) : nb::none();
}

nb::object match(PyComm& self, int source, int tag, bool wait, nb::handle status) {
    auto matched = unlocked([&] { return self->match(source, tag, wait); });
    if (!matched) return nb::none();
    set_status(status, matched->delivery());
    return nb::cast(PyMatched{std::move(matched)});
}

/// `Comm.__new__(cls, comm=None)` makes what stands for `comm`, so that classes that derive from it
/// choose in their own `__new__`, as with mpi4py; `__init__` gets what the class was called with.
PyObject* new_comm(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
    static const char* const names[] = {"comm", nullptr};
    PyObject* given = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", const_cast<char**>(names), &given))
        return nullptr;
    const PyComm* comm = nullptr;
    if (given != Py_None && !nb::try_cast(nb::handle(given), comm)) {
        PyErr_Format(PyExc_TypeError, "%s: no communicator; got %s; expected one, or None",
                     type->tp_name, Py_TYPE(given)->tp_name);
        return nullptr;
    }
    try {
        nb::object made = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(type)));
        new (nb::inst_ptr<PyComm>(made)) PyComm(comm ? *comm : PyComm{});
        nb::inst_mark_ready(made);
        if (comm) made.attr("__dict__").attr("update")(nb::handle(given).attr("__dict__"));
        return made.release().ptr();
    } catch (nb::python_error& e) {
        e.restore();
        return nullptr;
    }
}

int init_comm(PyObject*, PyObject*, PyObject*) { return 0; }

void add_communicators(nb::module_& m) {
    nb::class_<PyMatched>(m, "_Matched", "A message that was matched.")
        .def("receive", &PyMatched::receive, nb::arg("buf").none())
        .def("receive_bytes", &PyMatched::receive_bytes, nb::arg("status").none());
    static PyType_Slot made_at_once[] = {{Py_tp_new, reinterpret_cast<void*>(new_comm)},
                                         {Py_tp_init, reinterpret_cast<void*>(init_comm)},
                                         {0, nullptr}};
    nb::class_<PyComm> c(m, "_Comm", nb::dynamic_attr(), nb::type_slots(made_at_once),
                         "Ranks that exchange messages.");
    c.def("_same", [](const PyComm& p, const PyComm& other) { return p.comm == other.comm; });
    c.def_prop_ro("_identity",
                  [](const PyComm& p) { return reinterpret_cast<std::uintptr_t>(p.comm.get()); });
    c.def_prop_ro("_is_null", [](const PyComm& p) { return !p.comm; });
    c.def_prop_ro("rank", [](const PyComm& p) { return p->rank(); });
    c.def_prop_ro("size", [](const PyComm& p) { return p->size(); });
    // For compiled code, which sends at once: what a mesh has recorded goes out before.
    c.def_prop_ro("_address", [](const PyComm& p) {
        if (comm::Mesh::current()) Tape::current().flush_all(FlushReason::Read);
        return reinterpret_cast<std::uintptr_t>(&*p);
    });
    c.def_prop_ro("_handle", [](const PyComm& p) { return p->handle(); });
    c.def(
        "Send",
        [](PyComm& p, nb::handle buf, int dest, int tag) { send(p, buf, dest, tag, false); },
        nb::arg("buf").none(), nb::arg("dest"), nb::arg("tag") = 0);
    c.def(
        "Ssend",
        [](PyComm& p, nb::handle buf, int dest, int tag) { send(p, buf, dest, tag, true); },
        nb::arg("buf").none(), nb::arg("dest"), nb::arg("tag") = 0);
    c.def("Recv", &receive, nb::arg("buf").none(), nb::arg("source") = comm::any_source,
          nb::arg("tag") = comm::any_tag, nb::arg("status") = nb::none());
    c.def(
        "Isend",
        [](PyComm& p, nb::handle buf, int dest, int tag) {
            return start_send(p, buf, dest, tag, false);
        },
        nb::arg("buf").none(), nb::arg("dest"), nb::arg("tag") = 0);
    c.def(
        "Issend",
        [](PyComm& p, nb::handle buf, int dest, int tag) {
            return start_send(p, buf, dest, tag, true);
        },
        nb::arg("buf").none(), nb::arg("dest"), nb::arg("tag") = 0);
    c.def("Irecv", &start_receive, nb::arg("buf").none(), nb::arg("source") = comm::any_source,
          nb::arg("tag") = comm::any_tag);
    c.def("_start_exchange", &exchange, nb::arg("sendbuf").none(), nb::arg("dest"),
          nb::arg("sendtag"), nb::arg("recvbuf").none(), nb::arg("source"), nb::arg("recvtag"));
    c.def(
        "Probe",
        [](PyComm& p, int source, int tag, nb::handle status) {
            Delivery d;
            unlocked([&] { p->probe(source, tag, true, d); });
            set_status(status, d);
        },
        nb::arg("source") = comm::any_source, nb::arg("tag") = comm::any_tag,
        nb::arg("status") = nb::none());
    c.def(
        "Iprobe",
        [](PyComm& p, int source, int tag, nb::handle status) {
            Delivery d;
            bool there = unlocked([&] { return p->probe(source, tag, false, d); });
            if (there) set_status(status, d);
            return there;
        },
        nb::arg("source") = comm::any_source, nb::arg("tag") = comm::any_tag,
        nb::arg("status") = nb::none());
    c.def("send", &send_object, nb::arg("obj").none(), nb::arg("dest"), nb::arg("tag") = 0,
          "Send an object.");
    c.def("recv", &receive_object, nb::arg("buf").none() = nb::none(),
          nb::arg("source") = comm::any_source, nb::arg("tag") = comm::any_tag,
          nb::arg("status").none() = nb::none(), "Receive an object.");
    c.def("_receive_bytes", &receive_bytes, nb::arg("source"), nb::arg("tag"), nb::arg("wait"),
          nb::arg("status") = nb::none());
    c.def("_match", &match, nb::arg("source"), nb::arg("tag"), nb::arg("wait"),
          nb::arg("status").none());
    c.def("_start", &collective, nb::arg("kind"), nb::arg("source").none(), nb::arg("sends").none(),
          nb::arg("target").none(), nb::arg("receives").none(), nb::arg("root"),
          nb::arg("combine"));
    c.def("_start_between", &collective_between, nb::arg("kind"), nb::arg("source").none(),
          nb::arg("sends").none(), nb::arg("target").none(), nb::arg("receives").none(),
          nb::arg("root"), nb::arg("combine"), nb::arg("varies"), nb::arg("waits"));
    c.def("Dup", [](PyComm& p) { return wrapped(unlocked([&] { return p->duplicate(); })); });
    c.def(
        "Split",
        [](PyComm& p, int color, int key) {
            return wrapped(unlocked([&] { return p->split(color, key); }));
        },
        nb::arg("color") = 0, nb::arg("key") = 0);
    c.def("_split_nodes", [](PyComm& p, bool joins, int key) {
        return wrapped(unlocked([&] { return p->split_nodes(joins, key); }));
    });
    c.def(
        "_part",
        [](PyComm& p, const std::vector<int>& ranks, int tag) {
            return wrapped(unlocked([&] { return p->part(ranks, tag); }));
        },
        nb::arg("ranks"), nb::arg("tag") = 0);
    c.def("Free", [](PyComm& p) {
        unlocked([&] { p->free(); });
        p.comm.reset();
    });
    c.def("_disconnect", [](PyComm& p) {
        unlocked([&] { p->disconnect(); });
        p.comm.reset();
    });
    c.def_prop_ro("_partners", [](const PyComm& p) { return p->partners(); });
    c.def("_world_ranks", [](PyComm& p) { return p->world_ranks(); });
    c.def("_window", &make_window, nb::arg("count"), nb::arg("dtype"), nb::arg("kind"),
          nb::arg("memory").none() = nb::none());
}

void add_job(nb::module_& m) {
    nb::class_<PyJob> job(m, "_Job", "The connection of this process to its job.");
    job.def("world", [](PyJob& p) { return wrapped(p.job->world()); })
        .def("self", [](PyJob& p) { return wrapped(p.job->self()); })
        .def("library", [](PyJob& p) { return p.job->library(); })
        .def("wall_time", [](PyJob& p) { return p.job->wall_time(); })
        .def("finish", [](PyJob& p) { return unlocked([&] { return p.job->finish(); }); })
        .def("abort", [](PyJob& p, int status) { unlocked([&] { p.job->abort(status); }); });
    add_processes(job);
}

/// The types that unisono.mpi derives its own from; made when it is first imported, as most
/// programs send no messages.
nb::tuple types() {
    nb::module_ m = nb::module_::import_("unisono._engine");
    if (!nb::type<PyJob>().is_valid()) {
        add_requests(m);
        add_windows(m);
        add_communicators(m);
        add_job(m);
    }
    return nb::make_tuple(nb::type<PyComm>(), nb::type<PyMatched>(), nb::type<PyRequest>(),
                          nb::type<PyWindow>());
}

}  // namespace

void add_mpi(nb::module_& m) {
    m.def("_mpi_types", types);
    m.def("_let_others_compile", &codegen::let_others_compile);
    m.def("_virtual_job", [](nb::handle world, int position) {
        comm::JobOptions options;
        options.place = place_of_caller;
        return PyJob{comm::virtual_job(world_of(world), position, options)};
    });
    m.def("_mpi_job", [] {
        comm::JobOptions options;
        options.timeout = std::atof(setting("comm_timeout").c_str());
        options.interrupted = interrupted;
        options.place = place_of_caller;
        return PyJob{unlocked([&] { return comm::load_job(options); })};
    });
}

}  // namespace unisono::python
