// Virtual ranks for Python: each thread of a run enters and leaves its rank here.
#include "mesh/virtual_ranks.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/object.h"
#include "comm/virtual/world.h"
#include "mesh/py_mesh.h"

namespace nb = nanobind;

namespace unisono::python {

namespace {

using comm::World;

std::shared_ptr<World> make_world(int size, std::vector<int> sampled, double latency,
                                  double bandwidth) {
    comm::WorldOptions options;
    options.size = size;
    options.sampled = std::move(sampled);
    options.latency = latency;
    options.bandwidth = bandwidth;
    options.leave = [] {
        return PyGILState_Check() ? static_cast<void*>(release_thread()) : nullptr;
    };
    options.enter = [](void* state) { restore_thread(static_cast<PyThreadState*>(state)); };
    return std::make_shared<World>(std::move(options));
}

struct PyWorld {
    std::shared_ptr<World> world;

    /// The calling thread is that rank from now on, and waits for its turn.
    PyMesh enter(int position) const {
        const int rank = world->rank_at(position);
        enter_owner(
            new Owner("rank " + std::to_string(rank) + " of " + std::to_string(world->size())));
        install_hooks();
        PyMesh mesh(comm::Mesh::start("virtual", world->transport(world, position)));
        world->begin(position);
        return mesh;
    }
    /// The rank's program has ended; `why`: by an error.
    void leave(int position, const std::optional<std::string>& why) const {
        Owner* owner = owner_here();
        if (!owner) return;  // it has left already
        if (why)
            world->end(position, *why);
        else
            world->end(position);
        enter_owner(nullptr);
        owner->ended();
    }
    nb::list accounts() const {
        nb::list rows;
        for (int k = 0; k < world->living(); ++k) {
            const World::Account& a = world->account(k);
            nb::list spans;
            for (const World::Span& s : a.spans)
                spans.append(nb::make_tuple(s.begin, s.end, s.computes));
            rows.append(nb::make_tuple(a.rank, a.computing, a.waiting, a.messages, a.bytes, spans));
        }
        return rows;
    }
};

}  // namespace

std::shared_ptr<World> world_of(nb::handle world) { return nb::cast<PyWorld&>(world).world; }

void add_virtual_ranks(nb::module_& m) {
    m.def("_interrupt_thread",
          [](unsigned long thread) { PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt); });
    nb::class_<PyWorld>(m, "_World")
        .def("__init__",
             [](PyWorld* self, int size, std::vector<int> sampled, double latency,
                double bandwidth) {
                 new (self) PyWorld{make_world(size, std::move(sampled), latency, bandwidth)};
             })
        .def("enter", &PyWorld::enter)
        .def("leave", &PyWorld::leave, nb::arg("position"), nb::arg("why").none())
        .def("start", [](const PyWorld& w) { w.world->start(); })
        .def("stop", [](const PyWorld& w, const std::string& why) { w.world->stop(why); })
        .def("running", [](const PyWorld& w) { return w.world->running(); })
        .def("accounts", &PyWorld::accounts);
}

}  // namespace unisono::python
