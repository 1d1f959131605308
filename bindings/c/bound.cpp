// _BoundCall(function, arguments): the arrays among the arguments, NumPy's, are checked and found
// once. A call gives the rest, plain numbers, and goes straight to the compiled code; anything else
// takes the way of every call.
#include "c/bound.h"

#include <structmember.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "errors.h"
#include "jit/dispatch.h"

namespace unisono::python {

/// What a call needs; it is not changed once it is made, so that threads may share it.
struct BoundCode {
    std::shared_ptr<Specialisation> made;
    std::vector<std::int64_t> packed;  ///< of the bound arguments, as the code reads them
    std::vector<Weak> rest;            ///< Int, Float or Bool of each argument that is given
};

namespace {

struct BoundObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject* function;
    PyObject* bound;        ///< a tuple
    Arguments* arguments;   ///< of the bound ones: holds their memory
    const BoundCode* code;  ///< of the last call; null before
    std::vector<std::shared_ptr<const BoundCode>>* codes;  ///< one per kinds that were given
    std::string* name;
};

BoundObject* self_of(PyObject* object) { return reinterpret_cast<BoundObject*>(object); }

Weak kind_of(PyObject* object) {
    return PyFloat_CheckExact(object)  ? Weak::Float
           : PyLong_CheckExact(object) ? Weak::Int
           : PyBool_Check(object)      ? Weak::Bool
                                       : Weak::None;
}

constexpr std::int64_t max_extent = std::numeric_limits<std::int64_t>::max();

/// The slots of the bound arguments and those that are given; false where others are given.
bool pack_all(const BoundCode& code, PyObject* const* args, std::size_t count,
              std::int64_t* packed) {
    if (count != code.rest.size()) return false;
    std::int64_t* at = std::copy(code.packed.begin(), code.packed.end(), packed);
    for (std::size_t k = 0; k < count; ++k) {
        if (!pack_number(args[k], code.rest[k], *at++)) return false;
    }
    std::fill_n(at, code.made->result_count, 0);
    return true;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flagged, PyObject* keywords) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        BoundObject& b = *self_of(self);
        auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flagged));
        Dispatch& d = *dispatch_of(b.function);
        if (!keywords && b.code) {
            std::int64_t packed[PackedArguments::most_slots];
            const BoundCode& code = *b.code;
            if (pack_all(code, args, count, packed))
                return run_packed(d, *code.made, packed, max_extent, 0);
        }
        std::vector<PyObject*> all;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(b.bound); ++k)
            all.push_back(PyTuple_GET_ITEM(b.bound, k));
        for (std::size_t k = 0; k < count; ++k) all.push_back(args[k]);
        auto given = all.size();
        for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); ++k)
            all.push_back(args[count + static_cast<std::size_t>(k)]);
        if (!keywords) {
            std::vector<Weak> rest;
            for (std::size_t k = 0; k < count; ++k) rest.push_back(kind_of(args[k]));
            auto known = std::find_if(b.codes->begin(), b.codes->end(),
                                      [&](const auto& c) { return c->rest == rest; });
            if (known != b.codes->end()) {
                b.code = known->get();
            } else if (auto code = d.bound_code(all, std::move(rest))) {
                b.code = b.codes->emplace_back(std::move(code)).get();
            }
        }
        return d.call(all.data(), given, keywords, nullptr);
    });
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *function, *bound;
    if (!PyArg_ParseTuple(args, "OO!", &function, &PyTuple_Type, &bound)) return nullptr;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Dispatch* d = dispatch_of(function);
        if (!d || !d->source()->native)
            fail(ErrorKind::Type, "_BoundCall: takes a function of C text; got another object");
        const auto& params = d->source()->params;
        auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(bound));
        if (count > params.size())
            fail(ErrorKind::Type, d->name() + ": too many arguments; got " + std::to_string(count) +
                                      "; expected at most " + std::to_string(params.size()) +
                                      "; leave the extra ones out");
        Ref made(type->tp_alloc(type, 0));
        if (!made) return nullptr;
        BoundObject& b = *self_of(made.get());
        b.vectorcall = vectorcall;
        b.function = Py_NewRef(function);
        b.bound = Py_NewRef(bound);
        b.name = new std::string(d->name());
        b.codes = new std::vector<std::shared_ptr<const BoundCode>>;
        b.arguments = new Arguments(*b.name);
        for (std::size_t k = 0; k < count; ++k)
            b.arguments->add(PyTuple_GET_ITEM(bound, static_cast<Py_ssize_t>(k)), params[k]);
        return made.release();
    });
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    BoundObject& b = *self_of(self);
    delete b.arguments;
    delete b.codes;
    delete b.name;
    Py_XDECREF(b.bound);
    Py_XDECREF(b.function);
    type->tp_free(self);
    Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundObject, vectorcall), READONLY, nullptr},
    {"function", T_OBJECT_EX, offsetof(BoundObject, function), READONLY, "The C function."},
    {"arguments", T_OBJECT_EX, offsetof(BoundObject, bound), READONLY, "Those that are bound."},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

/// How calls with these arguments run, where they can be packed; else null. `rest` are the kinds of
/// the arguments behind the bound ones.
std::shared_ptr<const BoundCode> Dispatch::bound_code(const std::vector<PyObject*>& all,
                                                      std::vector<Weak> rest) {
    for (Weak w : rest) {
        if (w == Weak::None) return nullptr;
    }
    const frontend::Source& source = *this->source();
    if (all.size() != source.params.size()) return nullptr;  // the call says what is wrong
    Arguments arguments(name_);
    bind(source, arguments, all.data(), all.size(), nullptr);
    arguments.finish();
    auto code = std::make_shared<BoundCode>();
    code->made = find(source, arguments, 0);
    if (!code->made->quick) return nullptr;
    PackedArguments packed;
    if (code->made->quick->pack(all.data(), all.size(), packed) != QuickCall::Packed::Ready)
        return nullptr;  // the next call may
    std::size_t behind = rest.size() + code->made->result_count;
    code->packed.assign(packed.slots,
                        packed.slots + code->made->executable->packed_slots() - behind);
    code->rest = std::move(rest);
    return code;
}

bool add_bound_call(PyObject* module) {
    PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                           {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                           {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                           {Py_tp_members, members},
                           {Py_tp_doc, const_cast<char*>("A call of a C function whose first "
                                                         "arguments are bound.")},
                           {0, nullptr}};
    PyType_Spec spec{"unisono._engine._BoundCall", sizeof(BoundObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    PyObject* type = PyType_FromSpec(&spec);
    if (!type) return false;
    Ref held(type);
    return PyModule_AddObjectRef(module, "_BoundCall", type) == 0;
}

}  // namespace unisono::python
