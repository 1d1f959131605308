// One-sided memory of unisono.mpi.
#pragma once

#include <map>

#include "mpi/requests.h"

namespace unisono::python {

/// One-sided memory whose elements have one dtype; several may look at the same memory.
struct PyWindow {
    std::shared_ptr<comm::Window> window;
    DType dtype;
    std::shared_ptr<Buffer> memory;                       ///< held, where it was given
    std::map<char*, std::shared_ptr<Buffer>> attached{};  ///< held until it is detached

    comm::Section run(std::int64_t start, std::int64_t count) const {
        std::int64_t item = size_of(dtype);
        return {start * item, {count}, {item}};
    }
    /// Strides and offset come in elements.
    comm::Section section(std::int64_t start, std::vector<std::int64_t> shape,
                          std::vector<std::int64_t> strides) const {
        for (std::int64_t& s : strides) s *= size_of(dtype);
        return {start * size_of(dtype), std::move(shape), std::move(strides)};
    }
    void fits(const Buffer& b, const comm::Section& s, const char* call) const {
        std::int64_t n = size_of(dtype);
        for (std::int64_t extent : s.shape) n *= extent;
        if (b.dtype() != dtype && dtype != DType::UInt8)  // which are bytes of anything
            fail(ErrorKind::Type, std::string("mpi: ") + call + ": the window has elements of " +
                                      std::string(name(dtype)) + "; got " +
                                      std::string(name(b.dtype())) + place_of_caller() +
                                      "; convert them with .astype");
        if (b.bytes() != n)
            misfit(call, "got a buffer of " + std::to_string(b.bytes()) + " bytes; expected " +
                             std::to_string(n));
    }
};

PyWindow make_window(PyComm& comm, std::int64_t count, nanobind::handle dtype, int kind,
                     nanobind::handle given);

/// Binds windows.
void add_windows(nanobind::module_& m);

}  // namespace unisono::python
