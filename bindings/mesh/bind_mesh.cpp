// Meshes and distributed arrays for Python: the array's methods over expressions and blocks.
//
// A distributed array object is a window on a block, or an expression that has not been evaluated;
// the first use that needs storage (slicing, writing, reading) turns it into a window.
#include "mesh/bind_mesh.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/object.h"
#include "comm/expression.h"
#include "context/context.h"
#include "tape/tape.h"

namespace nb = nanobind;

namespace unisono::python {

namespace {

using comm::Mesh;
using comm::NodePtr;
using comm::Window;

struct PyMesh {
    Mesh* mesh;
};

class Distributed {
  public:
    Distributed(Mesh& mesh, Window window) : mesh_(&mesh), window_(std::move(window)) {}
    Distributed(Mesh& mesh, NodePtr node) : mesh_(&mesh), node_(std::move(node)) {}

    Mesh& mesh() const { return *mesh_; }
    NodePtr node() const { return node_ ? node_ : comm::leaf(window_); }
    Window& window() {
        if (node_) {
            window_ = comm::settle(*mesh_, node_);
            node_.reset();
        }
        return window_;
    }
    DType dtype() const { return node_ ? node_->dtype : window_.view.dtype(); }
    Dims shape() const { return node_ ? node_->dims() : window_.view.shape(); }
    std::int64_t size() const { return element_count(shape()); }

  private:
    Mesh* mesh_;
    Window window_;
    NodePtr node_;
};

bool is_distributed(nb::handle o) { return nb::isinstance<Distributed>(o); }
Distributed& distributed_of(nb::handle o) { return nb::cast<Distributed&>(o); }

nb::object wrapped(Array a) { return nb::steal(wrap(std::move(a))); }

/// False without a Python error if the object is not an operand.
bool node_of(nb::handle o, NodePtr& node) {
    if (is_distributed(o)) {
        node = distributed_of(o).node();
        return true;
    }
    Arg arg;
    Array keep;
    if (!operand(o.ptr(), arg, keep)) return false;
    node = comm::local(arg);
    return true;
}

Mesh& common_mesh(std::initializer_list<nb::handle> operands) {
    for (nb::handle o : operands) {
        if (is_distributed(o)) return distributed_of(o).mesh();
    }
    fail(ErrorKind::Internal, "mesh: no operand is distributed");
}

/// Runs a method body; PythonError becomes nanobind's.
template <class F>
auto body(F&& f) {
    try {
        return f();
    } catch (const PythonError&) {
        throw nb::python_error();
    }
}

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

nb::object binary(Op op, nb::handle a, nb::handle b) {
    return body([&] {
        NodePtr args[2];
        if (!node_of(a, args[0]) || !node_of(b, args[1])) return not_implemented();
        note_line();
        Mesh& mesh = common_mesh({a, b});
        return nb::cast(Distributed(mesh, comm::map(op, args)));
    });
}

nb::object unary(Op op, nb::handle a) {
    return body([&] {
        note_line();
        NodePtr node = distributed_of(a).node();
        return nb::cast(Distributed(distributed_of(a).mesh(), comm::map(op, {&node, 1})));
    });
}

nb::object in_place(Op op, nb::handle self, nb::handle other) {
    return body([&] {
        NodePtr args[2];
        if (!node_of(other, args[1])) return not_implemented();
        note_line();
        Window target = distributed_of(self).window();
        args[0] = comm::leaf(target);
        NodePtr value = comm::map(op, args);
        check_in_place_cast(std::string(info(op).numpy_name), value->dtype, target.view.dtype());
        for (NodePtr& a : args) a.reset();
        comm::write(target, std::move(value));
        return nb::borrow(self);
    });
}

nb::object power(nb::handle a, nb::handle b) {
    return body([&]() -> nb::object {
        if (!PyNumber_Check(b.ptr()) || is_array(b.ptr()) || is_distributed(b))
            return not_implemented();
        double exponent = nb::cast<double>(nb::float_(b));
        note_line();
        Distributed& x = distributed_of(a);
        NodePtr xx[] = {x.node(), x.node()};
        if (exponent == 2.0) return nb::cast(Distributed(x.mesh(), comm::map(Op::Mul, xx)));
        if (auto op = op_of_half_power(exponent); op && is_float(x.dtype()))
            return nb::cast(Distributed(x.mesh(), comm::map(*op, {xx, 1})));
        if (exponent == 1.0) return nb::cast(Distributed(x.mesh(), comm::cast(xx[0], x.dtype())));
        if (is_integer(x.dtype()) && exponent < 0) {
            fail(ErrorKind::Value,
                 "power: integers to negative integer powers are not allowed; got " +
                     std::to_string(exponent) + "; convert the base with .astype(float)");
        }
        NodePtr args[2] = {x.node(), nullptr};
        if (!node_of(b, args[1])) return not_implemented();
        return nb::cast(Distributed(x.mesh(), comm::map(Op::Power, args)));
    });
}

Array element(const Window& window) {
    Array a = comm::gather(window);
    return a.rank() == 0 ? to_value(a) : a;
}

Window indexed(Distributed& self, nb::handle key) {
    IndexItem items[most_index_items];
    int integers;
    int n = parse_index(key.ptr(), items, integers);
    if (n < 0) {
        fail(ErrorKind::Unsupported,
             "index: distributed arrays take integers, slices, None and `...`; use where with a "
             "mask, or gather the array with np.asarray");
    }
    Window& w = self.window();
    return {w.block, index(w.view, {items, static_cast<std::size_t>(n)})};
}

nb::object get(nb::handle self, nb::handle key) {
    return body([&] {
        note_line();
        Distributed& d = distributed_of(self);
        Window w = indexed(d, key);
        if (w.view.rank() == 0) return wrapped(element(w));
        return nb::cast(Distributed(d.mesh(), std::move(w)));
    });
}

void set(nb::handle self, nb::handle key, nb::handle value) {
    body([&] {
        note_line();
        Window target = indexed(distributed_of(self), key);
        if (is_distributed(value)) {
            // Python's a[i:] += b ends by assigning the view to itself.
            Distributed& v = distributed_of(value);
            NodePtr node = v.node();
            if (node->kind == comm::Node::Kind::Leaf && node->block == target.block &&
                node->array.view().same_as(target.view.view()))
                return;
            comm::write(target, std::move(node));
            return;
        }
        NodePtr node;
        if (!node_of(value, node)) {
            Array a = to_array(value.ptr(), true);
            node = comm::local(a.arg());
        }
        comm::write(target, std::move(node));
    });
}

std::optional<std::vector<int>> axes_of(nb::handle axis) {
    if (axis.is_none()) return std::nullopt;
    std::vector<int> axes;
    if (PyIndex_Check(axis.ptr())) {
        axes.push_back(static_cast<int>(to_int64(axis.ptr())));
    } else {
        for (nb::handle a : nb::borrow<nb::sequence>(axis))
            axes.push_back(static_cast<int>(to_int64(a.ptr())));
    }
    return axes;
}

nb::object reduction(Op op, bool as_bool, nb::handle self, nb::handle axis, nb::handle dtype,
                     bool keepdims) {
    return body([&] {
        note_line();
        std::optional<DType> t;
        if (as_bool) t = DType::Bool;
        if (!dtype.is_none()) t = to_dtype(dtype.ptr());
        Distributed& d = distributed_of(self);
        auto made = comm::reduce(d.mesh(), op, d.node(), axes_of(axis), keepdims, t);
        if (made.everywhere) return wrapped(std::move(*made.everywhere));
        return nb::cast(Distributed(d.mesh(), std::move(*made.distributed)));
    });
}

nb::tuple shape_tuple(Dims dims) {
    nb::list l;
    for (std::int64_t n : dims) l.append(n);
    return nb::tuple(l);
}

Array gathered(Distributed& d) {
    note_line();
    return comm::gather(d.window());
}

/// The one element of a distributed array as a 0-d value on every rank.
nb::object single(Distributed& d, const char* what) {
    return body([&] {
        if (d.size() != 1) {
            fail(d.size() == 0 || std::string(what) != "bool" ? ErrorKind::Type : ErrorKind::Value,
                 std::string(what) + ": an array with one element is needed; got shape " +
                     shape_text(d.shape()) + "; use .any(), .all() or an index");
        }
        Array all = gathered(d);
        return wrapped(Array::known(item(all)));
    });
}

void add_operators(nb::class_<Distributed>& c) {
    auto both = [&](const char* name, const char* reflected, const char* in_place_name, Op op) {
        c.def(
            name, [op](nb::handle a, nb::handle b) { return binary(op, a, b); }, nb::is_operator());
        if (reflected)
            c.def(
                reflected, [op](nb::handle a, nb::handle b) { return binary(op, b, a); },
                nb::is_operator());
        if (in_place_name)
            c.def(
                in_place_name, [op](nb::handle a, nb::handle b) { return in_place(op, a, b); },
                nb::is_operator());
    };
    both("__add__", "__radd__", "__iadd__", Op::Add);
    both("__sub__", "__rsub__", "__isub__", Op::Sub);
    both("__mul__", "__rmul__", "__imul__", Op::Mul);
    both("__truediv__", "__rtruediv__", "__itruediv__", Op::Div);
    both("__floordiv__", "__rfloordiv__", "__ifloordiv__", Op::FloorDiv);
    both("__mod__", "__rmod__", "__imod__", Op::Mod);
    both("__and__", "__rand__", "__iand__", Op::And);
    both("__or__", "__ror__", "__ior__", Op::Or);
    both("__xor__", "__rxor__", "__ixor__", Op::Xor);
    both("__lshift__", "__rlshift__", "__ilshift__", Op::Shl);
    both("__rshift__", "__rrshift__", "__irshift__", Op::Shr);
    both("__lt__", nullptr, nullptr, Op::Lt);
    both("__le__", nullptr, nullptr, Op::Le);
    both("__gt__", nullptr, nullptr, Op::Gt);
    both("__ge__", nullptr, nullptr, Op::Ge);
    both("__eq__", nullptr, nullptr, Op::Eq);
    both("__ne__", nullptr, nullptr, Op::Ne);
    c.def(
        "__pow__", [](nb::handle a, nb::handle b) { return power(a, b); }, nb::is_operator());
    c.def("__neg__", [](nb::handle a) { return unary(Op::Neg, a); });
    c.def("__abs__", [](nb::handle a) { return unary(Op::Abs, a); });
    c.def("__invert__", [](nb::handle a) { return unary(Op::Invert, a); });
    c.attr("__hash__") = nb::none();
    c.attr("__array_ufunc__") = nb::none();  // NumPy's arrays leave operators to us
}

void add_reductions(nb::class_<Distributed>& c) {
    auto one = [&](const char* name, Op op, bool as_bool) {
        c.def(
            name,
            [op, as_bool](nb::handle self, nb::handle axis, nb::handle dtype, bool keepdims) {
                return reduction(op, as_bool, self, axis, dtype, keepdims);
            },
            nb::arg("axis") = nb::none(), nb::arg("dtype") = nb::none(),
            nb::arg("keepdims") = false,
            "As in ndarray. A reduction over the rows gives all ranks the same array, with the "
            "bits "
            "of one rank.");
    };
    one("sum", Op::Add, false);
    one("prod", Op::Mul, false);
    one("max", Op::Max, false);
    one("min", Op::Min, false);
    one("any", Op::Or, true);
    one("all", Op::And, true);
}

void add_distributed(nb::module_& m) {
    nb::class_<Distributed> c(m, "DistributedArray",
                              "An array whose rows are spread over the ranks of a mesh; it behaves "
                              "as ``ndarray``.\n\nAll ranks run the same program. Reading elements "
                              "or the whole is collective: every rank gets the same.");
    add_operators(c);
    add_reductions(c);
    c.def("__getitem__", &get);
    c.def("__setitem__", &set);
    c.def("__len__", [](const Distributed& d) { return d.shape()[0]; });
    c.def_prop_ro("shape", [](const Distributed& d) { return shape_tuple(d.shape()); });
    c.def_prop_ro("ndim", [](const Distributed& d) { return d.shape().size(); });
    c.def_prop_ro("size", &Distributed::size);
    c.def_prop_ro("dtype", [](const Distributed& d) { return nb::steal(dtype_object(d.dtype())); });
    c.def_prop_ro("itemsize", [](const Distributed& d) { return size_of(d.dtype()); });
    c.def_prop_ro("nbytes", [](const Distributed& d) { return d.size() * size_of(d.dtype()); });
    c.def_prop_ro("mesh", [](const Distributed& d) { return PyMesh{&d.mesh()}; });
    c.def_prop_ro("device", [](const Distributed& d) { return PyMesh{&d.mesh()}; });
    c.def_prop_ro(
        "rows",
        [](Distributed& d) {
            comm::Range r = d.window().block->own_rows();
            return nb::make_tuple(r.begin, r.end);
        },
        "First and last (excluded) row of the storage that this rank owns.");
    c.def("copy", [](nb::handle self) {
        note_line();
        Distributed& d = distributed_of(self);
        Distributed made(d.mesh(), comm::cast(d.node(), d.dtype()));
        made.window();
        return nb::cast(std::move(made));
    });
    c.def(
        "astype",
        [](nb::handle self, nb::handle dtype, bool copy) {
            return body([&] {
                note_line();
                Distributed& d = distributed_of(self);
                DType t = to_dtype(dtype.ptr());
                if (!copy && t == d.dtype()) return nb::borrow(self);
                return nb::cast(Distributed(d.mesh(), comm::cast(d.node(), t)));
            });
        },
        nb::arg("dtype"), nb::kw_only(), nb::arg("copy") = true);
    c.def(
        "_gather", [](Distributed& d) { return body([&] { return wrapped(gathered(d)); }); },
        "All elements, as an ordinary array on every rank.");
    c.def("_eval", [](Distributed& d) {
        note_line();
        Window& w = d.window();
        w.block->complete();
    });
    for (const char* name : {"bool", "float", "int", "item"}) {
        std::string method =
            std::string(name) == "item" ? "_item" : "__" + std::string(name) + "__";
        c.def(method.c_str(), [name](Distributed& d) {
            nb::object value = single(d, name);
            PyObject* o = value.ptr();
            std::string kind = name;
            PyObject* made = kind == "bool"    ? PyBool_FromLong(PyObject_IsTrue(o))
                             : kind == "float" ? PyNumber_Float(o)
                             : kind == "int"   ? PyNumber_Long(o)
                                               : PyObject_CallMethod(o, "item", nullptr);
            return nb::steal(made);
        });
    }
}

/// Called while a rank waits for others, without the interpreter: has Ctrl-C been pressed?
bool interrupted() {
    PyGILState_STATE state = PyGILState_Ensure();
    bool stop = PyErr_CheckSignals() != 0;
    if (stop) PyErr_Clear();
    PyGILState_Release(state);
    return stop;
}

}  // namespace

PyObject* distributed_call(Op op, PyObject* const* args, Py_ssize_t n) {
    bool any = false;
    for (Py_ssize_t k = 0; k < n; ++k) {
        PyTypeObject* t = Py_TYPE(args[k]);
        any = any || (t != array_type && !PyFloat_CheckExact(args[k]) &&
                      !PyLong_CheckExact(args[k]) && is_distributed(args[k]));
    }
    if (!any) return nullptr;
    NodePtr nodes[3];
    Mesh* mesh = nullptr;
    for (Py_ssize_t k = 0; k < n; ++k) {
        if (is_distributed(args[k])) mesh = &distributed_of(args[k]).mesh();
        if (!node_of(args[k], nodes[k])) nodes[k] = comm::local(to_array(args[k], true).arg());
    }
    note_line();
    NodePtr made = n == 3 ? comm::select(nodes[0], nodes[1], nodes[2])
                          : comm::map(op, {nodes, static_cast<std::size_t>(n)});
    return nb::cast(Distributed(*mesh, std::move(made))).release().ptr();
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
        .def("empty",
             [](const PyMesh& p, nb::handle shape, nb::handle dtype) {
                 return body([&] {
                     return Distributed(*p.mesh, comm::make_empty(*p.mesh, to_shape(shape.ptr()),
                                                                  to_dtype(dtype.ptr())));
                 });
             })
        .def("_iota",
             [](const PyMesh& p, std::int64_t n) {
                 note_line();
                 return Distributed(*p.mesh, comm::make_iota(*p.mesh, n));
             })
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
        .def("_finish", [](const PyMesh& p) { p.mesh->finish(); })
        .def("_abort", [](const PyMesh& p, int status, double grace) {
            nb::gil_scoped_release release;
            p.mesh->abort(status, grace);
        });
    add_distributed(m);
    m.def("_mesh", [](const std::string& kind) { return PyMesh{&Mesh::get(kind, interrupted)}; });
}

}  // namespace unisono::python
