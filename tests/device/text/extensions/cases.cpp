// What tests ask of unisono/pybind11.hpp.
#include "unisono/pybind11.hpp"

#include <dlfcn.h>
#include <pybind11/complex.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using un::Array;

template <class T>
static Array doubled_in_place(const Array& a) {
    auto elements = a.open<T>();
    for (std::int64_t k = 0; k < elements.shape(0); ++k)
        elements(k) = static_cast<T>(elements(k) + elements(k));
    return a;
}

/// Fills by OpenCL's own interface: the queue and the memory are ours.
static void fill_by_opencl(const Array& a, double value) {
    using Fill = std::int32_t (*)(void*, void*, const void*, std::size_t, std::size_t, std::size_t,
                                  std::uint32_t, const void*, void*);
    const un_native native = a.device().native();
    auto contents = a.open(UN_WRITE);
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) throw un::Error(UN_DEVICE_ERROR, "no libOpenCL.so.1");
    auto fill = reinterpret_cast<Fill>(dlsym(library, "clEnqueueFillBuffer"));
    const un_contents& raw = contents.raw();
    const std::int32_t code =
        fill(native.queue, reinterpret_cast<void*>(raw.handle), &value, sizeof value,
             static_cast<std::size_t>(raw.offset_bytes),
             static_cast<std::size_t>(raw.array.size) * sizeof value, 0, nullptr, nullptr);
    if (code != 0) throw un::Error(UN_DEVICE_ERROR, "clEnqueueFillBuffer: " + std::to_string(code));
}

static int released = 0;

/// An array over memory of this module, every second element; counts in `released`.
static Array borrowed(bool readonly) {
    static double memory[] = {0, 1, 2, 3, 4, 5};
    const std::int64_t shape[] = {3}, strides[] = {-2};
    return Array(un::detail::checked(un_from_memory(memory + 4, 1, shape, strides, un::float64,
                                                    readonly, nullptr, [](void*) { ++released; })));
}

PYBIND11_MODULE(cases, m) {
    un::import_pybind11();
    m.def("same", [](const Array& a) { return a; });
    m.def("describe", [](const Array& a) {
        const un_description d = a.describe();
        return py::make_tuple(a.shape(), std::vector<std::int64_t>(d.strides, d.strides + d.rank),
                              d.size, static_cast<bool>(d.readonly), a.device());
    });
    m.def("dtype", [](py::object o) {
        un_dtype t;
        if (un_dtype_from_object(o.ptr(), &t) < 0) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(un_dtype_to_object(t));
    });
    m.def("doubled_float64", doubled_in_place<double>);
    m.def("doubled_int16", doubled_in_place<std::int16_t>);
    m.def("open_twice", [](const Array& a, py::object f) {
        const auto before = a.open<const double>();
        const double first = before(0);
        f();
        return py::make_tuple(first, before(0));
    });
    m.def("arithmetic", [](const Array& a, const Array& b) {
        return std::vector<Array>{a + b,
                                  a - 2,
                                  2 * a,
                                  a / b,
                                  a % 3,
                                  -a,
                                  a < b,
                                  a == b,
                                  un::pow(a, 2),
                                  un::hypot(a, b),
                                  un::minimum(a, b),
                                  un::where(a < b, a, 0.5)};
    });
    m.def("functions", [](const Array& a) {
        return std::vector<Array>{un::sqrt(a), un::exp(a),  un::log(a),   un::sin(a),
                                  un::atan(a), un::tanh(a), un::floor(a), un::isfinite(a)};
    });
    m.def("by_name", [](const std::string& name, const Array& a, const Array& b) {
        return un::apply(name.c_str(), {a, b});
    });
    m.def("reductions", [](const Array& a) {
        return std::vector<Array>{a.sum(), a.sum({0}),     a.max({1}, true),
                                  a.min(), a.prod({0, 1}), a.reduce("maximum", {1})};
    });
    m.def("reduce_by",
          [](const std::string& name, const Array& a) { return a.reduce(name.c_str()); });
    m.def("matmul", [](const Array& a, const Array& b) { return un::matmul(a, b); });
    m.def("views", [](const Array& a) {
        using namespace un;
        return std::vector<Array>{a(1),
                                  a(_, -1),
                                  a(range(_, _, -1), range(1, _)),
                                  a(ellipsis, newaxis, 0),
                                  a.transpose(),
                                  a.reshape({-1}),
                                  a(0).broadcast_to({2, a.shape(1)}),
                                  a.astype(float32)};
    });
    m.def("update", [](const Array& a) {
        a(0) = 7;
        a(1) += a(0);
        a(un::range(2, un::_)) *= 3;
        return a;
    });
    m.def("made", [](const un::Device& d) {
        return std::vector<Array>{un::zeros({2, 3}, un::float32, d), un::full({2}, 5, un::int8, d),
                                  un::full({}, true, un::bool_, d), un::arange(4, d)};
    });
    m.def("from_vector", [](std::vector<double> values) { return un::from(std::move(values)); });
    m.def("borrowed", borrowed);
    m.def("released", [] { return released; });
    m.def("value", [](const Array& a) { return a.value<double>(); });
    m.def("integer_value", [](const Array& a) { return a.value<std::int64_t>(); });
    m.def("natural_value", [](const Array& a) { return a.value<std::uint64_t>(); });
    m.def("complex_value", [](const Array& a) { return a.value<std::complex<double>>(); });
    m.def("fail", [](int kind, const std::string& message) {
        throw un::Error(static_cast<un_error_kind>(kind), message);
    });
    m.def("fill_by_opencl", fill_by_opencl);
    m.def("devices", [] { return un::devices(); });
    m.def("synchronize", [](const un::Device& d) { d.synchronize(); });
    m.def("unset", [] { return Array().size(); });
}
