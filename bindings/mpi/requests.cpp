#include "mpi/requests.h"

#include <nanobind/stl/vector.h>

#include "array/object.h"

namespace nb = nanobind;

namespace unisono::python {

using comm::Delivery;

/// " at file:line" of the call that is made now.
std::string place_of_caller() {
    /// Texts of lines by address: requests are started at the same few lines again and again. Code
    /// in it is kept, so that no other code gets its address.
    struct Row {
        LineRef line;
        std::string text;
    };
    static Row rows[16];
    std::string text;
    PyGILState_STATE state = PyGILState_Ensure();
    note_line();
    Tape& tape = Tape::current();
    if (tape.line.code && tape.hooks.decode_line) {
        auto hash = reinterpret_cast<std::uintptr_t>(tape.line.code) >> 6;
        Row& row = rows[(hash + static_cast<std::uint32_t>(tape.line.offset) / 2) % 16];
        if (row.line.code != tape.line.code || row.line.offset != tape.line.offset) {
            SourcePlace place = tape.hooks.decode_line(tape.line);
            auto slash = place.file.rfind('/');
            row.text = place.line <= 0
                           ? std::string()
                           : " at " +
                                 place.file.substr(slash == std::string::npos ? 0 : slash + 1) +
                                 ":" + std::to_string(place.line);
            auto* before = static_cast<PyObject*>(row.line.code);
            Py_INCREF(static_cast<PyObject*>(tape.line.code));
            row.line = tape.line;
            Py_XDECREF(before);
        }
        text = row.text;
    }
    PyGILState_Release(state);
    return text;
}

[[noreturn]] void misfit(const char* call, const std::string& what) {
    fail(ErrorKind::Value, std::string("mpi: ") + call + ": " + what + place_of_caller());
}

void set_status(nb::handle status, const Delivery& d) {
    if (status.is_none()) return;
    status.attr("source") = d.source;
    status.attr("tag") = d.tag;
    status.attr("bytes") = d.bytes;
}

namespace {

/// Requests that were dropped before they were done: their memory stays until they are.
std::vector<PyRequest>& dropped() {
    static auto* all = new std::vector<PyRequest>;
    return *all;
}
bool sweeping = false;

}  // namespace

void sweep() {
    if (dropped().empty() || sweeping) return;
    sweeping = true;
    std::erase_if(dropped(), [](PyRequest& r) {
        if (!r.request->test(nullptr)) return false;
        r.request.reset();
        return true;
    });
    sweeping = false;
}

PyRequest::~PyRequest() {
    if (!request) return;
    try {
        if (request->test(nullptr)) return;
    } catch (...) {
        return;
    }
    PyRequest kept;
    kept.request = std::move(request);
    kept.buffers = std::move(buffers);
    dropped().push_back(std::move(kept));
}

PyRequest started(std::unique_ptr<comm::Request> request, Buffer a, Buffer b, bool receives) {
    sweep();
    PyRequest made;
    made.request = std::move(request);
    if (!a.empty()) made.buffers.push_back(std::move(a));
    if (!b.empty()) made.buffers.push_back(std::move(b));
    made.receives = receives;
    return made;
}

void add_requests(nb::module_& m) {
    nb::class_<PyRequest>(m, "_Request", "A message or collective call under way.")
        .def(nb::init<>())
        .def("Test", &PyRequest::test, nb::arg("status") = nb::none())
        .def("Get_status", &PyRequest::ask, nb::arg("status") = nb::none())
        .def("Cancel", &PyRequest::cancel)
        .def_prop_ro("_is_active", &PyRequest::is_active)
        .def("_take", &PyRequest::take)
        .def_static("_nothing",
                    [] {
                        return PyRequest::finished({comm::no_rank, -1, 0});
                    })
        .def("Wait", &PyRequest::wait, nb::arg("status") = nb::none())
        .def_static("_wait_any", &PyRequest::wait_any);
}

}  // namespace unisono::python
