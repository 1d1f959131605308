// _RowInFront(row, body, ids): a function with two bodies that give the same: `row` calls the
// primitives of these ids, `body` is Python over the package's own operations. The row stands in
// front wherever the memory of the operands allows its primitives; the body runs where it does not.
#include "functions/row_front.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "array/object.h"
#include "primitives/row.h"
#include "reference.h"

namespace unisono::python {

namespace {

struct RowFront {
    PyObject_HEAD vectorcallfunc call;
    PyObject *row, *body;
    bool is_everywhere;  ///< devices have the primitives, too
};

RowFront& front_of(PyObject* self) { return *reinterpret_cast<RowFront*>(self); }

bool is_far(PyObject* o) {
    if (!is_array(o)) return false;
    const Array& a = array_of(o);
    return !a.is_known() && !a.view().storage->addressable();
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* names) noexcept {
    const RowFront& f = front_of(self);
    const bool needs_body =
        !f.is_everywhere && std::any_of(args, args + PyVectorcall_NARGS(flags), is_far);
    return PyObject_Vectorcall(needs_body ? f.body : f.row, args, flags, names);
}

bool runs_on_devices(std::string_view id) {
    for (const Primitive* p : primitives::all()) {
        if (p->id == id) return p->by_address->runs_on_devices(*p);
    }
    fail(ErrorKind::Internal, "_RowInFront: no primitive is named " + std::string(id));
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        PyObject *row, *body, *ids;
        if (!PyArg_ParseTuple(args, "OOO!", &row, &body, &PyTuple_Type, &ids)) return nullptr;
        bool is_everywhere = true;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(ids); ++k) {
            const char* id = PyUnicode_AsUTF8(PyTuple_GET_ITEM(ids, k));
            if (!id) return nullptr;
            is_everywhere = runs_on_devices(id) && is_everywhere;
        }
        PyObject* made = type->tp_alloc(type, 0);
        if (!made) return nullptr;
        front_of(made).call = call;
        front_of(made).row = Py_NewRef(row);
        front_of(made).body = Py_NewRef(body);
        front_of(made).is_everywhere = is_everywhere;
        return made;
    });
}

void destroy(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    Py_XDECREF(front_of(self).row);
    Py_XDECREF(front_of(self).body);
    type->tp_free(self);
    Py_DECREF(type);
}

}  // namespace

bool add_row_front(PyObject* module) {
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(RowFront, call), READONLY, nullptr},
        {"row", T_OBJECT, offsetof(RowFront, row), READONLY, nullptr},
        {"body", T_OBJECT, offsetof(RowFront, body), READONLY, nullptr},
        {nullptr, 0, 0, 0, nullptr}};
    static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                                  {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                                  {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                  {Py_tp_members, members},
                                  {0, nullptr}};
    PyType_Spec spec = {"unisono._engine._RowInFront", sizeof(RowFront), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    Ref type(PyType_FromSpec(&spec));
    return type.p && PyModule_AddObjectRef(module, "_RowInFront", type.p) == 0;
}

}  // namespace unisono::python
