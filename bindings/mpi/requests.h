// Requests of unisono.mpi, communicators and what all of its calls share.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/mesh.h"
#include "comm/messages.h"
#include "mpi/buffers.h"
#include "tape/tape.h"

namespace unisono::python {

/// " at file:line" of the call that is made now.
std::string place_of_caller();

[[noreturn]] void misfit(const char* call, const std::string& what);

/// Runs f, which may wait for other ranks, without Python's lock. They may wait for messages of a
/// mesh that are still on this rank's tape: those go out first.
template <class F>
auto unlocked(F&& f) {
    if (comm::Mesh::current()) Tape::current().flush_all(FlushReason::Read);
    nanobind::gil_scoped_release release;
    return f();
}

void set_status(nanobind::handle status, const comm::Delivery& d);

/// Work under way and the memory that it uses.
struct PyRequest {
    std::unique_ptr<comm::Request> request;
    std::vector<Buffer> buffers;
    bool receives = false;
    bool is_ready = false;  ///< done, and nobody was told

    PyRequest() = default;
    PyRequest(PyRequest&&) = default;
    PyRequest& operator=(PyRequest&&) = default;
    ~PyRequest();

    bool is_active() const { return request || is_ready; }
    /// Whether it is done, about which test or wait still tell.
    bool ask(nanobind::handle status) {
        comm::Delivery d;
        if (request) {
            if (!unlocked([&] { return request->test(&d); })) return false;
            done(d);
            is_ready = true;
        }
        set_status(status, delivery);
        return true;
    }
    bool test(nanobind::handle status) {
        if (!ask(status)) return false;
        told(status);
        return true;
    }
    bool wait(nanobind::handle status) {
        if (request) {
            comm::Delivery d;
            unlocked([&] { request->wait(&d); });
            done(d);
        }
        set_status(status, delivery);
        told(status);
        return true;
    }
    /// What is received no more counts as done; sends go on, as they do in all of today's MPI.
    void cancel() {
        if (!request || !receives) return;
        request.reset();
        buffers.clear();
        delivery = {};
        is_ready = was_cancelled = true;
    }
    static PyRequest finished(const comm::Delivery& d) {
        PyRequest made;
        made.delivery = d;
        made.is_ready = true;
        return made;
    }
    void take(PyRequest& other) { *this = std::move(other); }
    /// Which of them is done, waiting for one; -1 where none is under way.
    static std::int64_t wait_any(const std::vector<PyRequest*>& all) {
        std::vector<comm::Request*> requests;
        std::vector<std::int64_t> places;
        for (std::size_t k = 0; k < all.size(); ++k) {
            if (all[k]->is_ready) return static_cast<std::int64_t>(k);
            if (!all[k]->request) continue;
            requests.push_back(all[k]->request.get());
            places.push_back(static_cast<std::int64_t>(k));
        }
        if (requests.empty()) return -1;
        return unlocked([&] { return places[requests[0]->wait_any(requests)]; });
    }

  private:
    void told(nanobind::handle status) {
        if (was_cancelled && !status.is_none()) status.attr("cancelled") = true;
        is_ready = false;
    }
    void done(const comm::Delivery& d) {
        delivery = d;
        request.reset();
        if (receives)
            for (Buffer& b : buffers) b.deliver();
        buffers.clear();
    }
    comm::Delivery delivery;
    bool was_cancelled = false;
};

PyRequest started(std::unique_ptr<comm::Request> request, Buffer a, Buffer b, bool receives);

/// Lets go of requests that were dropped before they were done, where they are done now.
void sweep();

/// A communicator; several objects may stand for one, and COMM_NULL for none.
struct PyComm {
    std::shared_ptr<comm::Communicator> comm;
    comm::Communicator& operator*() const {
        if (!comm)
            fail(ErrorKind::Comm,
                 "mpi: the communicator was freed, or this rank is not part of it; got COMM_NULL" +
                     place_of_caller() + "; test `comm != COMM_NULL` first");
        return *comm;
    }
    comm::Communicator* operator->() const { return &**this; }
};

/// Binds requests.
void add_requests(nanobind::module_& m);

}  // namespace unisono::python
