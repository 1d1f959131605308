#include "mpi/windows.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "array/object.h"

namespace nb = nanobind;

namespace unisono::python {

using comm::Combine;
using comm::Section;

namespace {

using Extents = std::vector<std::int64_t>;

Section section_of(const PyWindow& w, const Buffer& b, std::int64_t start,
                   std::optional<Extents> shape, std::optional<Extents> strides) {
    if (!shape) return w.run(start, b.bytes() / size_of(w.dtype));
    return w.section(start, std::move(*shape), std::move(*strides));
}

nb::object scalar_of(DType dtype, const char* bits) {
    Scalar s{};
    s.dtype = dtype;
    std::memcpy(&s.bits, bits, static_cast<std::size_t>(size_of(dtype)));
    return nb::steal(to_python(s));
}

/// A call between which and the next the memory may change: what was recorded before reads it as
/// it was.
template <class F>
void synchronised(F&& f) {
    Tape::current().flush_all(FlushReason::Read);
    unlocked(f);
}

}  // namespace

/// Memory that others are to reach, held.
static std::shared_ptr<Buffer> opened(nb::handle given, const char* call) {
    auto memory = std::make_shared<Buffer>(given, true, call);
    if (memory->is_copy())
        misfit(call, "the memory is not packed memory of the host; pass a packed array");
    return memory;
}

PyWindow make_window(PyComm& comm, std::int64_t count, nb::handle dtype, int kind,
                     nb::handle given) {
    const DType t = to_dtype(dtype.ptr());
    auto memory = given.is_none() ? std::make_shared<Buffer>() : opened(given, "Win.Create");
    auto made = unlocked([&] {
        return comm->window(memory->empty() ? count * size_of(t) : memory->bytes(),
                            static_cast<comm::Window::Kind>(kind),
                            memory->empty() ? nullptr : memory->data());
    });
    return PyWindow{std::move(made), t, std::move(memory), {}};
}

void add_windows(nb::module_& m) {
    nb::class_<PyWindow> c(m, "_Window", nb::dynamic_attr(),
                           "Memory of every rank that the others read and write.");
    c.def(
        "put",
        [](PyWindow& w, nb::handle values, int rank, std::int64_t start,
           std::optional<Extents> shape, std::optional<Extents> strides) {
            Buffer b(values, false, "Put");
            Section s = section_of(w, b, start, std::move(shape), std::move(strides));
            w.fits(b, s, "Put");
            unlocked([&] { w.window->put(rank, s, b.data(), w.dtype); });
        },
        nb::arg("values"), nb::arg("rank"), nb::arg("start") = 0, nb::arg("shape") = nb::none(),
        nb::arg("strides") = nb::none());
    c.def(
        "get",
        [](PyWindow& w, nb::handle out, int rank, std::int64_t start, std::optional<Extents> shape,
           std::optional<Extents> strides) {
            Buffer b(out, true, "Get");
            Section s = section_of(w, b, start, std::move(shape), std::move(strides));
            w.fits(b, s, "Get");
            unlocked([&] { w.window->get(rank, s, b.data(), w.dtype); });
            b.deliver();
        },
        nb::arg("out"), nb::arg("rank"), nb::arg("start") = 0, nb::arg("shape") = nb::none(),
        nb::arg("strides") = nb::none());
    c.def(
        "accumulate",
        [](PyWindow& w, nb::handle values, int rank, std::int64_t start, int combine,
           std::optional<Extents> shape, std::optional<Extents> strides) {
            Buffer b(values, false, "Accumulate");
            Section s = section_of(w, b, start, std::move(shape), std::move(strides));
            w.fits(b, s, "Accumulate");
            unlocked([&] {
                w.window->accumulate(rank, s, b.data(), w.dtype, static_cast<Combine>(combine));
            });
        },
        nb::arg("values"), nb::arg("rank"), nb::arg("start") = 0, nb::arg("combine") = 0,
        nb::arg("shape") = nb::none(), nb::arg("strides") = nb::none());
    c.def(
        "_start",
        [](PyWindow& w, int what, nb::handle values, int rank, std::int64_t start, int combine,
           std::optional<Extents> shape, std::optional<Extents> strides) {
            Buffer b(values, what == 1, what == 0 ? "Rput" : what == 1 ? "Rget" : "Raccumulate");
            Section s = section_of(w, b, start, std::move(shape), std::move(strides));
            w.fits(b, s, "one-sided call");
            auto request = unlocked([&] {
                if (what == 0) return w.window->start_put(rank, s, b.data(), w.dtype);
                if (what == 1) return w.window->start_get(rank, s, b.data(), w.dtype);
                return w.window->start_accumulate(rank, s, b.data(), w.dtype,
                                                  static_cast<Combine>(combine));
            });
            return started(std::move(request), std::move(b), {}, what == 1);
        },
        nb::arg("what"), nb::arg("values"), nb::arg("rank"), nb::arg("start"), nb::arg("combine"),
        nb::arg("shape") = nb::none(), nb::arg("strides") = nb::none());
    c.def("_fetch", [](PyWindow& w, nb::handle value, int rank, std::int64_t start, int combine) {
        Buffer b(value, false, "Fetch_and_op");
        w.fits(b, w.run(start, 1), "Fetch_and_op");
        char before[16];
        unlocked([&] {
            w.window->fetch(rank, start * size_of(w.dtype), b.data(), before, w.dtype,
                            static_cast<Combine>(combine));
        });
        return scalar_of(w.dtype, before);
    });
    c.def("_get_accumulate",
          [](PyWindow& w, nb::handle values, nb::handle out, int rank, std::int64_t start,
             int combine, std::optional<Extents> shape, std::optional<Extents> strides) {
              Buffer b(values, false, "Get_accumulate"), before(out, true, "Get_accumulate");
              Section s = section_of(w, before, start, std::move(shape), std::move(strides));
              if (static_cast<Combine>(combine) != Combine::Nothing) w.fits(b, s, "Get_accumulate");
              w.fits(before, s, "Get_accumulate");
              unlocked([&] {
                  w.window->get_accumulate(rank, s, b.data(), before.data(), w.dtype,
                                           static_cast<Combine>(combine));
              });
              before.deliver();
          });
    c.def(
        "_compare_and_swap",
        [](PyWindow& w, nb::handle expected, nb::handle value, int rank, std::int64_t start,
           nb::handle out) {
            Buffer a(expected, false, "Compare_and_swap"), b(value, false, "Compare_and_swap");
            Buffer to = out.is_none() ? Buffer() : Buffer(out, true, "Compare_and_swap");
            w.fits(a, w.run(start, 1), "Compare_and_swap");
            w.fits(b, w.run(start, 1), "Compare_and_swap");
            if (!to.empty()) w.fits(to, w.run(start, 1), "Compare_and_swap");
            char own[16];
            char* before = to.empty() ? own : to.data();
            unlocked([&] {
                w.window->compare_and_swap(rank, start * size_of(w.dtype), a.data(), b.data(),
                                           before, w.dtype);
            });
            nb::object value_before = scalar_of(w.dtype, before);
            to.deliver();
            return value_before;
        },
        nb::arg("expected"), nb::arg("value"), nb::arg("rank"), nb::arg("start"),
        nb::arg("out").none() = nb::none());
    c.def("_address", [](PyWindow& w, int rank) {
        return reinterpret_cast<std::uintptr_t>(w.window->memory(rank));
    });
    c.def("_bytes", [](PyWindow& w, int rank) { return w.window->bytes(rank); });
    c.def_prop_ro(
        "is_shared", [](PyWindow& w) { return w.window->shared(); },
        "Whether all ranks are on one node, and see each other's memory.");
    c.def("_typed", [](PyWindow& w, nb::handle dtype) {
        return PyWindow{w.window, to_dtype(dtype.ptr()), w.memory, {}};
    });
    c.def(
        "flush", [](PyWindow& w, int rank) { synchronised([&] { w.window->flush(rank); }); },
        nb::arg("rank") = -1);
    c.def("fence", [](PyWindow& w) { synchronised([&] { w.window->fence(); }); });
    c.def(
        "lock",
        [](PyWindow& w, int rank, bool shared) {
            synchronised([&] { w.window->lock(rank, shared); });
        },
        nb::arg("rank"), nb::arg("shared") = false);
    c.def(
        "unlock", [](PyWindow& w, int rank) { synchronised([&] { w.window->unlock(rank); }); },
        nb::arg("rank"));
    c.def("_attach", [](PyWindow& w, nb::handle given) {
        auto memory = opened(given, "Win.Attach");
        char* const first = memory->data();
        synchronised([&] { w.window->attach(first, memory->bytes()); });
        w.attached[first] = std::move(memory);
    });
    c.def("_detach", [](PyWindow& w, nb::handle given) {
        char* const first = opened(given, "Win.Detach")->data();
        synchronised([&] { w.window->detach(first); });
        w.attached.erase(first);
    });
    c.def("_free", [](PyWindow& w) {
        unlocked([&] { w.window->free(); });
        w.attached.clear();
    });
}

}  // namespace unisono::python
