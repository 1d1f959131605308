// Calls of numbers and arrays on the host that give a number or nothing, past all that other
// arguments and results need.
#pragma once

#include <optional>
#include <vector>

#include "jit/values/arguments.h"

namespace unisono::python {

struct Specialisation;

/// The arguments of one such call.
struct PackedArguments {
    static constexpr std::size_t most_slots = 64, most_arrays = 8;
    std::int64_t slots[most_slots];
    Storage* written[most_arrays];  ///< memory of ours that the code writes
    std::size_t written_count = 0;
    std::int64_t extent = 0;  ///< the largest of all arrays

    void note_launch(const LaunchedCode& code) const {
        for (std::size_t k = 0; k < written_count; ++k) unisono::note_launch(*written[k], code);
    }
};

/// How one specialisation is called so. It is not changed once it is made.
class QuickCall {
  public:
    /// None where the specialisation cannot be called so.
    static std::unique_ptr<const QuickCall> of(const Specialisation& made, std::size_t params);

    enum class Packed : std::uint8_t { OtherTypes, Waits, Ready };
    /// Lays the arguments out as the code reads them; not where they are of other types. Waits:
    /// something that is pending has to come before, and arrays may have no addresses yet.
    Packed pack(PyObject* const* args, std::size_t count, PackedArguments& packed) const;
    /// Of arguments that wait: adds the arrays of ours, and puts the addresses once they are ready.
    void add_operands(PyObject* const* args, LaunchOperands& to) const;
    void put_addresses(PyObject* const* args, PackedArguments& packed) const;
    const Specialisation& specialisation() const { return *made_; }

  private:
    const Specialisation* made_ = nullptr;
    struct Argument {
        std::uint32_t code;  ///< as in its key
        passes::ArrayEffect effect;
        mutable Ref dtype;  ///< NumPy's object for the elements' type, once one was seen
    };
    std::vector<Argument> arguments_;
    bool noalias_ = true;
    bool has_arrays_ = false;  ///< more than one
    std::size_t slots_ = 0, results_ = 0;
};

/// Runs code that gives a number or nothing, and raises its faults; no array has a larger extent.
PyObject* run_packed(const class Dispatch& dispatch, const Specialisation& made,
                     std::int64_t* packed, std::int64_t extent, int threads);

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
