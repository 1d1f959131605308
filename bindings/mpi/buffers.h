// The memory of an object that is sent or received.
#pragma once

#include <nanobind/nanobind.h>

#include "core/dtype.h"

namespace unisono::python {

/// As `kept` of reference.h; throws nb::python_error.
nanobind::handle kept_of(PyObject*& place, const char* module, const char* name);

/// Memory of an array of ours, or of anything with the buffer protocol, held while a message uses
/// it. Arrays that are not packed on the host go through a copy, which what was received is
/// assigned from.
class Buffer {
  public:
    Buffer() = default;
    /// Throws nb::python_error. `call` is named in errors.
    Buffer(nanobind::handle object, bool writable, const char* call);
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer() { release(); }

    bool empty() const { return !held_; }
    /// Whether it is memory beside the object's, of which `deliver` makes the object's elements.
    bool is_copy() const { return target_.is_valid(); }
    char* data() const { return static_cast<char*>(view_.buf); }
    std::int64_t bytes() const { return view_.len; }
    std::int64_t count() const { return view_.itemsize > 0 ? view_.len / view_.itemsize : 0; }
    std::int64_t item() const { return view_.itemsize; }
    /// Of the elements; UInt8 where they are of no kind that MPI computes with.
    DType dtype() const;
    /// After a receive: what came is where the object's elements are. Needs Python's lock.
    void deliver();

  private:
    void release() noexcept;

    nanobind::object given_;  ///< what owns memory that is seen by DLPack; it goes last
    Py_buffer view_{};
    bool held_ = false;
    nanobind::object target_, staged_;
};

}  // namespace unisono::python
