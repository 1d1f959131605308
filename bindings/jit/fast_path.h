// Calls of numbers and arrays on the host that give a number or nothing, past all that other
// arguments and results need.
#pragma once

#include <optional>
#include <vector>

#include "jit/values/arguments.h"

namespace unisono::python {

struct Specialisation;

/// How one specialisation is called so. It is not changed once it is made.
class QuickCall {
  public:
    static constexpr std::size_t most_slots = 64;

    /// None where the specialisation cannot be called so.
    static std::unique_ptr<const QuickCall> of(const Specialisation& made, std::size_t params);

    /// Lays the arguments out as the code reads them; false where they are of other types.
    bool pack(PyObject* const* args, std::size_t count, std::int64_t* packed) const;
    const Specialisation& specialisation() const { return *made_; }

  private:
    const Specialisation* made_ = nullptr;
    struct Argument {
        std::uint32_t code;  ///< as in its key
        mutable Ref dtype;   ///< NumPy's object for the elements' type, once one was seen
    };
    std::vector<Argument> arguments_;
    bool noalias_ = true;
    bool has_arrays_ = false;  ///< more than one
    std::size_t slots_ = 0, results_ = 0;
};

/// Runs code that gives a number or nothing, and raises its faults.
PyObject* run_packed(const class Dispatch& dispatch, const Specialisation& made,
                     std::int64_t* packed, int threads);

/// A number as a slot; false where it is not of that kind, or does not fit.
inline bool pack_number(PyObject* object, Weak weak, std::int64_t& slot) {
    if (weak == Weak::Float) {
        if (!PyFloat_CheckExact(object)) return false;
        slot =
            static_cast<std::int64_t>(Scalar::of(DType::Float64, PyFloat_AS_DOUBLE(object)).bits);
        return true;
    }
    if (weak == Weak::Bool) {
        slot = object == Py_True;
        return PyBool_Check(object);
    }
    if (!PyLong_CheckExact(object)) return false;
#if PY_VERSION_HEX < 0x030C0000
    Py_ssize_t digits = Py_SIZE(object);
    if (digits >= -1 && digits <= 1) {  // of no digit the first is stored, as 0
        slot = digits *
               static_cast<std::int64_t>(reinterpret_cast<PyLongObject*>(object)->ob_digit[0]);
        return true;
    }
#endif
    int overflow = 0;
    slot = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
}

}  // namespace unisono::python
