// An extension in C++ by pybind11: the heat equation in slices; one source runs on any device.
#include "unisono/pybind11.hpp"

namespace py = pybind11;
using un::_;
using un::Array;
using un::range;

/// One step in place; returns u. The border keeps its values.
static Array step(const Array& u, double kappa) {
    if (u.ndim() != 2)
        throw un::Error(UN_VALUE_ERROR,
                        "step: u must have two axes; got " + std::to_string(u.ndim()));
    const Array middle = u(range(1, -1), range(1, -1));
    u(range(1, -1), range(1, -1)) =
        middle +
        kappa * ((u(range(0, -2), range(1, -1)) + u(range(2, _), range(1, -1))) +
                 (u(range(1, -1), range(0, -2)) + u(range(1, -1), range(2, _))) - 4 * middle);
    return u;
}

/// A loop of one's own, over elements in the host's memory.
static std::int64_t count_above(const Array& u, double limit) {
    const Array here = u.to("cpu").reshape({-1});
    const auto elements = here.open<const double>();
    std::int64_t n = 0;
    for (std::int64_t k = 0; k < elements.size(); ++k) n += elements(k) > limit;
    return n;
}

/// What an extension that queues its own kernels needs: the vendor's interface and queue.
static py::tuple queue(const Array& u) {
    const un_native native = u.device().native();
    return py::make_tuple(u.device(), native.interface_name,
                          reinterpret_cast<std::uintptr_t>(native.queue));
}

PYBIND11_MODULE(heat_pybind11, m) {
    un::import_pybind11();
    m.def("step", step, py::arg("u"), py::arg("kappa") = 0.1);
    m.def("count_above", count_above);
    m.def("queue", queue);
}
