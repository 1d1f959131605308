// References to Python objects that move.
#pragma once

#include <Python.h>

#include <utility>

namespace unisono::python {

/// A reference to a Python object that is released with the lock held.
class Ref {
  public:
    Ref() = default;
    explicit Ref(PyObject* stolen) : object_(stolen) {}
    static Ref of(PyObject* borrowed) { return Ref(Py_XNewRef(borrowed)); }
    Ref(Ref&& o) noexcept : object_(std::exchange(o.object_, nullptr)) {}
    Ref& operator=(Ref&& o) noexcept {
        std::swap(object_, o.object_);
        return *this;
    }
    ~Ref() { Py_XDECREF(object_); }
    PyObject* get() const { return object_; }
    PyObject* release() { return std::exchange(object_, nullptr); }
    explicit operator bool() const { return object_ != nullptr; }

  private:
    PyObject* object_ = nullptr;
};

}  // namespace unisono::python
