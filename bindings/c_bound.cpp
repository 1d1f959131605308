// _BoundCall(function, arguments): the arrays among the arguments are checked and found once. A
// call gives the rest, plain numbers, and goes straight to the compiled code; anything else takes
// the way of every call.
#include "c_bound.h"

#include <structmember.h>

#include <algorithm>
#include <cstring>

#include "errors.h"
#include "jit_dispatch.h"

namespace unisono::python {

/// What a call needs; it is not changed once it is made, so that threads may share it.
struct BoundCode {
    std::shared_ptr<Specialisation> made;
    std::vector<ArrayArg> arrays;
    std::vector<std::uint64_t> scalars;  ///< of the bound arguments
    std::vector<Weak> rest;              ///< Int, Float or Bool of each argument that is given
};

namespace {

struct BoundObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject* function;
    PyObject* bound;       ///< a tuple
    Arguments* arguments;  ///< of the bound ones: holds their memory
    std::shared_ptr<const BoundCode>* code;
    std::string* name;
};

BoundObject* self_of(PyObject* object) { return reinterpret_cast<BoundObject*>(object); }

Weak kind_of(PyObject* object) {
    return PyFloat_CheckExact(object)  ? Weak::Float
           : PyLong_CheckExact(object) ? Weak::Int
           : PyBool_Check(object)      ? Weak::Bool
                                       : Weak::None;
}

constexpr std::size_t most_scalars = 16;

/// The numbers that are given, behind those that are bound; false where others are given.
bool read_rest(const BoundCode& code, PyObject* const* args, std::size_t count,
               std::uint64_t* scalars) {
    if (count != code.rest.size() || code.scalars.size() + count > most_scalars) return false;
    std::copy(code.scalars.begin(), code.scalars.end(), scalars);
    scalars += code.scalars.size();
    for (std::size_t k = 0; k < count; ++k) {
        if (kind_of(args[k]) != code.rest[k]) return false;
        if (code.rest[k] == Weak::Float) {
            double value = PyFloat_AS_DOUBLE(args[k]);
            std::memcpy(scalars + k, &value, sizeof value);
        } else {
            int overflow = 0;
            long long value = PyLong_AsLongLongAndOverflow(args[k], &overflow);
            if (overflow) return false;
            scalars[k] = static_cast<std::uint64_t>(value);
        }
    }
    return true;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flagged, PyObject* keywords) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        BoundObject& b = *self_of(self);
        auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flagged));
        Dispatch& d = *dispatch_of(b.function);
        if (!keywords && b.code) {
            std::uint64_t scalars[most_scalars];
            const std::shared_ptr<const BoundCode> code = *b.code;
            if (read_rest(*code, args, count, scalars))
                return d.call_bound(*code, {scalars, code->scalars.size() + count});
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
            if (auto code = d.bound_code(all, *b.arguments, std::move(rest))) {
                delete b.code;
                b.code = new std::shared_ptr<const BoundCode>(std::move(code));
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
    delete b.code;
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

/// How calls with these arguments run, where the code takes arrays and gives one number or none;
/// else null. `rest` are the kinds of the arguments behind the bound ones.
std::shared_ptr<const BoundCode> Dispatch::bound_code(const std::vector<PyObject*>& all,
                                                      Arguments& bound, std::vector<Weak> rest) {
    for (Weak w : rest) {
        if (w == Weak::None) return nullptr;
    }
    const frontend::Source& source = *this->source();
    if (all.size() != source.params.size()) return nullptr;  // the call says what is wrong
    Arguments arguments(name_);
    bind(source, arguments, all.data(), all.size(), nullptr);
    arguments.finish();
    find(source, arguments, 0);
    auto code = std::make_shared<BoundCode>();
    for (const auto& s : specialisations_) {
        if (s->key == arguments.key() && s->device == arguments.device()) code->made = s;
    }
    using Kind = frontend::ResultShape::Kind;
    const Specialisation& made = *code->made;
    bool is_plain = !made.makes_objects && !made.device &&
                    (made.result.kind == Kind::None || made.result.kind == Kind::Scalar);
    if (!is_plain) return nullptr;
    auto arrays = bound.array_args();
    code->arrays.assign(arrays.begin(), arrays.end());
    auto scalars = bound.scalars();
    code->scalars.assign(scalars.begin(), scalars.end());
    code->rest = std::move(rest);
    return code;
}

PyObject* Dispatch::call_bound(const BoundCode& code, std::span<const std::uint64_t> scalars) {
    std::uint64_t result = 0;
    LaunchArgs launch;
    launch.arrays = code.arrays;
    launch.scalars = scalars;
    launch.results = {&result, code.made->result_count};
    Fault fault;
    if (code.made->keeps_lock) {
        fault = code.made->executable->launch(launch);
    } else {
        struct Unlocked {
            PyThreadState* state = PyEval_SaveThread();
            ~Unlocked() { PyEval_RestoreThread(state); }
        } unlocked;
        fault = code.made->executable->launch(launch);
    }
    if (fault.site >= 0) raise_fault(*code.made, fault);
    const frontend::ResultShape& shape = code.made->result;
    if (shape.kind == frontend::ResultShape::Kind::None) Py_RETURN_NONE;
    return number(Scalar{result, shape.dtype});
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
