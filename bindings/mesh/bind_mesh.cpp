// Meshes for Python. Arrays that are spread over one are ordinary arrays, whose device it is.
#include "mesh/bind_mesh.h"

#include <algorithm>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/object.h"
#include "comm/mesh.h"
#include "comm/owners.h"
#include "comm/partition.h"
#include "comm/parts/exchange.h"
#include "comm/place.h"
#include "context/context.h"
#include "core/limits.h"
#include "mesh/py_mesh.h"
#include "mesh/virtual_ranks.h"
#include "tape/tape.h"

namespace nb = nanobind;

namespace unisono::python {

namespace {

using comm::Mesh;

/// Runs a method body; PythonError becomes nanobind's.
template <class F>
auto body(F&& f) {
    try {
        return f();
    } catch (const PythonError&) {
        throw nb::python_error();
    }
}

nb::object wrapped(Array a) { return nb::steal(wrap(std::move(a))); }

/// Called while a rank waits for others, without the interpreter: has Ctrl-C been pressed?
bool interrupted() {
    PyGILState_STATE state = PyGILState_Ensure();
    bool stop = PyErr_CheckSignals() != 0;
    if (stop) PyErr_Clear();
    PyGILState_Release(state);
    return stop;
}

/// This rank's part of what a distributed array shows.
comm::Partition::LocalPart part_of(nb::handle o) {
    const Array& a = used_array(o.ptr());
    return comm::Place::mesh_of(a.device())->partition().local_part(a);
}

/// Who owns what of a distributed array, as it was spread when this was made. No rank but this one
/// takes part in asking.
struct Owners {
    comm::Held held;
    std::vector<std::int64_t> shape;
    int ranks;

    /// Of those that have some of the box: rank, shape of its part, and along each axis the runs.
    nb::list of(const std::vector<std::pair<std::int64_t, std::int64_t>>& box) const {
        comm::Box wanted;
        for (const auto& [begin, end] : box) wanted.push_back({begin, end});
        nb::list all;
        for (const comm::Owned& owned : comm::owners_of(held, shape, wanted, ranks)) {
            nb::list axes;
            for (const auto& along : owned.runs) {
                nb::list runs;
                for (const comm::OwnedRun& run : along)
                    runs.append(nb::make_tuple(run.begin, run.end, run.place));
                axes.append(runs);
            }
            all.append(nb::make_tuple(owned.rank, owned.shape, axes));
        }
        return all;
    }
};

/// The indices that this rank owns along each axis: a range, or, where parts go round, an array.
nb::tuple part_tuple(const comm::Partition::LocalPart& part, int rank) {
    nb::list ranges;
    for (std::size_t k = 0; k < part.own.size(); ++k) {
        const comm::Range r = part.own[k];
        const comm::Split* split = part.held.split_along(static_cast<int>(k));
        if (split && split->cycle)
            ranges.append(wrapped(
                comm::vector_of(part.held.indices(rank, static_cast<int>(k), split->extent))));
        else
            ranges.append(nb::make_tuple(r.begin, r.end));
    }
    return nb::make_tuple(nb::tuple(ranges), wrapped(part.array));
}

}  // namespace

Device* mesh_place(PyObject* o) {
    PyMesh* mesh = nullptr;
    return nb::try_cast(nb::handle(o), mesh) && mesh ? &(*mesh)->place() : nullptr;
}

PyObject* mesh_object(Device* device) {
    Mesh* mesh = comm::Place::mesh_of(device);
    return mesh ? nb::cast(PyMesh(*mesh)).release().ptr() : nullptr;
}

Array spread_over(Device* device, const Array& host, DType dtype) {
    comm::Partition& partition = comm::Place::mesh_of(device)->partition();
    Array made =
        partition.make_empty(host.shape(), dtype, device, partition.default_held(host.shape()));
    assign(made, host.arg());
    return made;
}

/// As unisono._runtime.layouts gives it: None, or for each axis that is split the axis, the number
/// of parts and their sizes (None: even; a number: blocks of so many go round). Ranks are counted
/// along the last of them first.
static comm::Held held_of(Mesh& mesh, Dims shape, nb::handle layout) {
    if (layout.is_none()) return mesh.partition().default_held(shape);
    const auto entries = nb::cast<nb::tuple>(layout);
    std::vector<comm::Split> splits;
    int stride = 1;
    for (std::size_t k = entries.size(); k-- > 0;) {
        const auto entry = nb::cast<nb::tuple>(entries[k]);
        const int axis = nb::cast<int>(entry[0]), parts = nb::cast<int>(entry[1]);
        auto split = comm::Split::even(axis, shape[static_cast<std::size_t>(axis)], parts);
        split.stride = stride;
        stride *= parts;
        if (nb::isinstance<nb::int_>(entry[2])) {
            split.cycle = nb::cast<std::int64_t>(entry[2]);
        } else if (!entry[2].is_none()) {
            std::vector<std::int64_t> bounds{0};
            for (nb::handle n : entry[2])
                bounds.push_back(bounds.back() + nb::cast<std::int64_t>(n));
            split.bounds = std::make_shared<const std::vector<std::int64_t>>(std::move(bounds));
        }
        splits.insert(splits.begin(), split);
    }
    return comm::Held::of_grid(std::move(splits), mesh.size());
}

/// The inverse; and whether parts lie in the order of the ranks along each axis.
static nb::tuple split_of(const comm::Held& held) {
    nb::list entries;
    bool ascends = true;
    const bool is_grid = held.kind == comm::Held::Kind::Grid;
    for (const comm::Split& s : held.splits()) {
        if (s.axis < 0) continue;
        auto even = comm::Split::even(s.axis, s.extent, s.ranks);
        even.stride = s.stride;
        nb::object sizes = nb::none();
        if (s.cycle) {
            sizes = nb::int_(s.cycle);
            ascends = false;
        } else if (!s.same_parts(even)) {
            nb::list all;
            for (int part = 0; part < s.ranks; ++part)
                all.append(s.range(s.rank_of(part, 0)).size());
            sizes = nb::tuple(all);
        }
        ascends = ascends && s.step > 0;
        entries.append(nb::make_tuple(s.axis, s.ranks, sizes));
    }
    const int owner = held.kind == comm::Held::Kind::At ? held.owner : -1;
    return nb::make_tuple(nb::tuple(entries), ascends, owner, is_grid);
}

void add_mesh(nb::module_& m) {
    nb::class_<PyMesh>(m, "Mesh", "The ranks of a job, over which arrays are distributed.")
        .def_prop_ro(
            "rank", [](const PyMesh& p) { return p.shown().rank(); }, "This rank.")
        .def_prop_ro(
            "size", [](const PyMesh& p) { return p.shown().size(); }, "Number of ranks.")
        .def_prop_ro("kind", [](const PyMesh& p) { return p.shown().kind(); })
        .def_prop_rw(
            "shares_exchanges", [](const PyMesh& p) { return p->partition().shares_exchanges(); },
            [](const PyMesh& p, bool share) {
                note_line();
                // What was recorded before is as it was then.
                Tape::current().flush_all(FlushReason::Eval);
                p->partition().share_exchanges(share);
            },
            "Whether several sweeps share an exchange of halos; set it on all ranks alike.")
        .def(
            "barrier",
            [](const PyMesh& p) {
                note_line();
                p->barrier();
            },
            "Completes pending work and waits for all ranks.")
        .def(
            "empty",
            [](const PyMesh& p, nb::handle shape, nb::handle dtype, nb::handle layout) {
                return body([&] {
                    note_line();
                    const auto extents = to_shape(shape.ptr());
                    return wrapped(p->partition().make_empty(
                        extents, to_dtype(dtype.ptr()), &p->place(), held_of(*p, extents, layout)));
                });
            },
            nb::arg("shape"), nb::arg("dtype"), nb::arg("layout") = nb::none())
        .def("_iota",
             [](const PyMesh& p, std::int64_t n) {
                 note_line();
                 return wrapped(iota(n, &p->place()));
             })
        .def(
            "_spread",
            [](const PyMesh& p, nb::handle host, nb::handle dtype) {
                return body([&] {
                    note_line();
                    const Array& a = used_array(host.ptr());
                    return wrapped(spread_over(
                        &p->place(), a, dtype.is_none() ? a.dtype() : to_dtype(dtype.ptr())));
                });
            },
            nb::arg("host"), nb::arg("dtype").none())
        .def("__repr__",
             [](const PyMesh& p) {
                 return "Mesh('" + p.shown().kind() + "', rank " +
                        std::to_string(p.shown().rank()) + " of " +
                        std::to_string(p.shown().size()) + ")";
             })
        .def("__eq__",
             [](const PyMesh& p, nb::handle o) {
                 return nb::isinstance<PyMesh>(o) && &nb::cast<PyMesh&>(o).shown() == &p.shown();
             })
        .def("__hash__",
             [](const PyMesh& p) { return reinterpret_cast<std::intptr_t>(&p.shown()); })
        .def(
            "_gather_texts",
            [](const PyMesh& p, nb::bytes mine, const std::string& what) {
                return body([&] {
                    note_line();
                    nb::list all;
                    const std::string text(mine.c_str(), mine.size());
                    for (const std::string& s : comm::gather_texts(*p, text, what))
                        all.append(nb::bytes(s.data(), s.size()));
                    return all;
                });
            },
            nb::arg("mine"), nb::arg("what"))
        .def_prop_ro("_repeated_windows",
                     [](const PyMesh& p) { return p->partition().repeated_windows(); })
        .def("_finish", [](const PyMesh& p) { p->finish(); })
        .def("_abort", [](const PyMesh& p, int status, double grace) {
            nb::gil_scoped_release release;
            p->abort(status, grace);
        });
    m.def("_mesh", [](const std::string& kind) { return PyMesh(Mesh::get(kind, interrupted)); });
    add_virtual_ranks(m);
    // The range of each axis that this rank owns, and the array of it.
    m.def("_mesh_part", [](nb::handle x) {
        return body([&] {
            const int rank = comm::Place::mesh_of(used_array(x.ptr()).device())->rank();
            return part_tuple(part_of(x), rank);
        });
    });
    // The same with so many elements before and after along each axis, where that is split.
    m.def("_mesh_window",
          [](nb::handle x, const std::vector<std::pair<std::int64_t, std::int64_t>>& beyond) {
              return body([&] {
                  note_line();
                  const Array& a = used_array(x.ptr());
                  comm::Mesh& mesh = *comm::Place::mesh_of(a.device());
                  std::vector<comm::Halo> halos;
                  for (const auto& [before, after] : beyond) halos.push_back({before, after});
                  return part_tuple(mesh.partition().local_window(a, halos), mesh.rank());
              });
          });
    // All of a panel, as an array of the host.
    m.def("_mesh_panel", [](nb::handle x) {
        return body([&] {
            note_line();
            const Array& a = used_array(x.ptr());
            return wrapped(comm::Place::mesh_of(a.device())->partition().panel(a));
        });
    });
    m.attr("_alike_bytes") = limits::alike_bytes;
    m.attr("_alike_rotated_bytes") = limits::alike_rotated_bytes;
    m.def("_mesh_split",
          [](nb::handle x) { return body([&] { return split_of(part_of(x).held); }); });
    nb::class_<Owners>(m, "_Owners")
        .def("of", [](const Owners& owners,
                      const std::vector<std::pair<std::int64_t, std::int64_t>>& box) {
            return body([&] { return owners.of(box); });
        });
    m.def("_mesh_owners", [](nb::handle x) {
        return body([&] {
            const Array& a = used_array(x.ptr());
            return Owners{part_of(x).held,
                          {a.shape().begin(), a.shape().end()},
                          comm::Place::mesh_of(a.device())->size()};
        });
    });
    m.def("_set_mesh_part", [](nb::handle x, nb::handle value) {
        body([&] {
            note_line();
            const auto part = part_of(x);
            const Array& a = used_array(value.ptr());
            if (!std::ranges::equal(a.shape(), part.array.shape())) {
                fail(ErrorKind::Value, "local: this rank's part has another shape; got " +
                                           shape_text(a.shape()) + ", expected " +
                                           shape_text(part.array.shape()));
            }
            assign(part.array, a.arg());
            comm::Block::of(*array_of(x.ptr()).view().storage)->written();
        });
    });
}

}  // namespace unisono::python
