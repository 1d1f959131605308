// Meshes for Python. Arrays that are spread over one are ordinary arrays, whose device it is.
#include "mesh/bind_mesh.h"

#include <algorithm>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "array/object.h"
#include "comm/mesh.h"
#include "comm/partition.h"
#include "comm/parts/exchange.h"
#include "comm/place.h"
#include "context/context.h"
#include "tape/tape.h"

namespace nb = nanobind;

namespace unisono::python {

namespace {

using comm::Mesh;

struct PyMesh {
    Mesh* mesh;
};

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
    const Array& a = array_of(o.ptr());
    return comm::Place::mesh_of(a.device())->partition().local_part(a);
}

}  // namespace

Device* mesh_place(PyObject* o) {
    PyMesh* mesh = nullptr;
    return nb::try_cast(nb::handle(o), mesh) && mesh ? &mesh->mesh->place() : nullptr;
}

PyObject* mesh_object(Device* device) {
    Mesh* mesh = comm::Place::mesh_of(device);
    return mesh ? nb::cast(PyMesh{mesh}).release().ptr() : nullptr;
}

Array spread_over(Device* device, const Array& host, DType dtype) {
    comm::Partition& partition = comm::Place::mesh_of(device)->partition();
    Array made =
        partition.make_empty(host.shape(), dtype, device, partition.default_split(host.shape()));
    assign(made, host.arg());
    return made;
}

/// As unisono._runtime.layouts gives it: None, or an axis (-1: everywhere) and the sizes of parts.
static comm::Split split_of(Mesh& mesh, Dims shape, nb::handle layout) {
    if (layout.is_none()) return mesh.partition().default_split(shape);
    const auto pair = nb::cast<nb::tuple>(layout);
    const int axis = nb::cast<int>(pair[0]);
    if (axis < 0) return comm::Split::everywhere(mesh.size());
    comm::Split split = comm::Split::even(axis, shape[static_cast<std::size_t>(axis)], mesh.size());
    if (pair[1].is_none()) return split;
    std::vector<std::int64_t> bounds{0};
    for (nb::handle n : pair[1]) bounds.push_back(bounds.back() + nb::cast<std::int64_t>(n));
    split.bounds = std::make_shared<const std::vector<std::int64_t>>(std::move(bounds));
    return split;
}

void add_mesh(nb::module_& m) {
    nb::class_<PyMesh>(m, "Mesh", "The ranks of a job, over which arrays are distributed.")
        .def_prop_ro(
            "rank", [](const PyMesh& p) { return p.mesh->rank(); }, "This rank.")
        .def_prop_ro(
            "size", [](const PyMesh& p) { return p.mesh->size(); }, "Number of ranks.")
        .def_prop_ro("kind", [](const PyMesh& p) { return p.mesh->kind(); })
        .def(
            "barrier",
            [](const PyMesh& p) {
                note_line();
                p.mesh->barrier();
            },
            "Completes pending work and waits for all ranks.")
        .def(
            "empty",
            [](const PyMesh& p, nb::handle shape, nb::handle dtype, nb::handle layout) {
                return body([&] {
                    note_line();
                    const auto extents = to_shape(shape.ptr());
                    return wrapped(p.mesh->partition().make_empty(
                        extents, to_dtype(dtype.ptr()), &p.mesh->place(),
                        split_of(*p.mesh, extents, layout)));
                });
            },
            nb::arg("shape"), nb::arg("dtype"), nb::arg("layout") = nb::none())
        .def("_iota",
             [](const PyMesh& p, std::int64_t n) {
                 note_line();
                 return wrapped(iota(n, &p.mesh->place()));
             })
        .def(
            "_spread",
            [](const PyMesh& p, nb::handle host, nb::handle dtype) {
                return body([&] {
                    note_line();
                    const Array& a = array_of(host.ptr());
                    return wrapped(spread_over(
                        &p.mesh->place(), a, dtype.is_none() ? a.dtype() : to_dtype(dtype.ptr())));
                });
            },
            nb::arg("host"), nb::arg("dtype").none())
        .def("__repr__",
             [](const PyMesh& p) {
                 return "Mesh('" + p.mesh->kind() + "', rank " + std::to_string(p.mesh->rank()) +
                        " of " + std::to_string(p.mesh->size()) + ")";
             })
        .def("__eq__",
             [](const PyMesh& p, nb::handle o) {
                 return nb::isinstance<PyMesh>(o) && nb::cast<PyMesh&>(o).mesh == p.mesh;
             })
        .def("__hash__", [](const PyMesh& p) { return reinterpret_cast<std::intptr_t>(p.mesh); })
        .def(
            "_gather_texts",
            [](const PyMesh& p, nb::bytes mine, const std::string& what) {
                return body([&] {
                    note_line();
                    nb::list all;
                    const std::string text(mine.c_str(), mine.size());
                    for (const std::string& s : comm::gather_texts(*p.mesh, text, what))
                        all.append(nb::bytes(s.data(), s.size()));
                    return all;
                });
            },
            nb::arg("mine"), nb::arg("what"))
        .def("_finish", [](const PyMesh& p) { p.mesh->finish(); })
        .def("_abort", [](const PyMesh& p, int status, double grace) {
            nb::gil_scoped_release release;
            p.mesh->abort(status, grace);
        });
    m.def("_mesh", [](const std::string& kind) { return PyMesh{&Mesh::get(kind, interrupted)}; });
    m.def("_mesh_part", [](nb::handle x) {
        return body([&] {
            const auto part = part_of(x);
            return nb::make_tuple(part.axis, part.range.begin, part.range.end, wrapped(part.array));
        });
    });
    // With so many elements before and after it: the axis, which are own, and the array.
    m.def("_mesh_window", [](nb::handle x, std::int64_t before, std::int64_t after) {
        return body([&] {
            note_line();
            const Array& a = array_of(x.ptr());
            comm::Mesh& mesh = *comm::Place::mesh_of(a.device());
            const auto part = mesh.partition().local_window(a, {before, after});
            return nb::make_tuple(part.axis, part.range.begin, part.range.end, wrapped(part.array));
        });
    });
    m.def("_mesh_split", [](nb::handle x) {
        // Axis and, where parts are not even blocks, their sizes; whether they lie in the ranks'
        // order.
        return body([&] {
            const Array& a = array_of(x.ptr());
            Mesh& mesh = *comm::Place::mesh_of(a.device());
            const auto part = mesh.partition().local_part(a);
            if (part.held.kind != comm::Held::Kind::Along)
                return nb::make_tuple(-1,
                                      part.held.kind == comm::Held::Kind::At
                                          ? nb::cast(part.held.owner)
                                          : nb::object(nb::none()),
                                      true);
            const comm::Split& split = part.held.split;
            const comm::Split even = comm::Split::even(split.axis, split.extent, mesh.size());
            if (split.same_parts(even)) return nb::make_tuple(split.axis, nb::none(), true);
            nb::list sizes;
            for (int r = 0; r < mesh.size(); ++r) sizes.append(split.range(r).size());
            return nb::make_tuple(split.axis, sizes, split.step > 0);
        });
    });
    m.def("_set_mesh_part", [](nb::handle x, nb::handle value) {
        body([&] {
            note_line();
            const auto part = part_of(x);
            const Array& a = array_of(value.ptr());
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
