// The Python type Dispatcher: construction, vectorcall, launches, inspection.
#include "jit/dispatcher.h"

#include <structmember.h>

#include <new>

#include "array/object.h"
#include "backends/cpu/sampling.h"
#include "errors.h"
#include "frontend/scope.h"
#include "frontend/syntax/serialise.h"
#include "frontend/uniform.h"
#include "ir/build.h"
#include "jit/dispatch.h"
#include "jit/remarks.h"

namespace unisono::python {

namespace {

struct DispatcherObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    Dispatch* dispatch;  ///< owned; null until __init__
    PyObject* weak_references;
};

PyTypeObject* dispatcher_type = nullptr;

DispatcherObject* self_of(PyObject* object) { return reinterpret_cast<DispatcherObject*>(object); }

Dispatch& ready(PyObject* object) {
    Dispatch* d = self_of(object)->dispatch;
    if (!d)
        fail(ErrorKind::Runtime,
             "Dispatcher: not initialised; got an object whose __init__ did not run; call it");
    return *d;
}

/// The next call of this thread comes from the function that represents it in a profile.
thread_local bool is_recorded = false;

/// Under a profiler: calls the function through Python code of its name, file and line, of which
/// the profiler knows.
PyObject* recorded_call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* keywords) {
    Ref through(PyObject_GetAttrString(self, "_recorded"));
    if (!through) return nullptr;
    is_recorded = true;
    PyObject* result = PyObject_Vectorcall(through.get(), args, flagged, keywords);
    is_recorded = false;
    return result;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flagged, PyObject* keywords) {
    bool is_profiled = PyThreadState_Get()->c_profilefunc != nullptr;
    if (is_profiled && !std::exchange(is_recorded, false) && !ready(self).is_kernel())
        return recorded_call(self, args, flagged, keywords);
    return guarded<PyObject*>(nullptr, [&] {
        Dispatch& d = ready(self);
        if (d.is_kernel()) {
            fail(ErrorKind::Type,
                 d.name() + ": a kernel is launched over a range; got a plain call; expected " +
                     d.name() + "[global_size](...); give the number of work-items");
        }
        return d.call(args, static_cast<std::size_t>(PyVectorcall_NARGS(flagged)), keywords,
                      nullptr);
    });
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
    // Python 3.11 does not hand this flag down to classes written in Python, whose calls would then
    // go through a tuple and a dict.
    if (type->tp_call == PyVectorcall_Call) type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyObject* self = type->tp_alloc(type, 0);
    if (self) self_of(self)->vectorcall = vectorcall;
    return self;
}

int init(PyObject* self, PyObject* args, PyObject*) {
    PyObject *function, *prepare, *device = Py_None;
    int is_kernel = 0, has_lines = 0;
    if (!PyArg_ParseTuple(args, "OOp|Op", &function, &prepare, &is_kernel, &device, &has_lines))
        return -1;
    return guarded<int>(-1, [&] {
        std::string name;
        if (device != Py_None) {
            const char* text = PyUnicode_AsUTF8(device);
            if (!text) throw PythonError{};
            name = text;
        }
        delete std::exchange(self_of(self)->dispatch,
                             new Dispatch(function, prepare, is_kernel != 0, name, has_lines != 0));
        return 0;
    });
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (self_of(self)->weak_references) PyObject_ClearWeakRefs(self);
    delete self_of(self)->dispatch;
    type->tp_free(self);
    Py_DECREF(type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return self_of(self)->dispatch ? self_of(self)->dispatch->traverse(visit, arg) : 0;
}

int clear(PyObject* self) {
    if (self_of(self)->dispatch) self_of(self)->dispatch->clear();
    return 0;
}

void read_sizes(PyObject* sizes, std::array<std::int64_t, 3>& into) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes); ++i) {
        into[static_cast<std::size_t>(i)] = PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, i));
        if (PyErr_Occurred()) throw PythonError{};
    }
}

void check_groups(const Dispatch& d, const NDRange& range) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(range.dimensions); ++i) {
        if (range.local[i] == 0 || range.global[i] % range.local[i] == 0) continue;
        fail(ErrorKind::Value,
             d.name() + ": the global size must be a multiple of the local size; got " +
                 std::to_string(range.global[i]) + " and " + std::to_string(range.local[i]) +
                 " on axis " + std::to_string(i) + "; round the global size up and test the index");
    }
}

NDRange range_of(const Dispatch& d, PyObject* global, PyObject* local) {
    NDRange range;
    range.dimensions = static_cast<int>(PyTuple_GET_SIZE(global));
    read_sizes(global, range.global);
    read_sizes(local, range.local);
    check_groups(d, range);
    return range;
}

/// _launch(global sizes, local sizes or (), args, kwargs)
PyObject* launch(PyObject* self, PyObject* args) {
    PyObject *global, *local, *positional, *named;
    if (!PyArg_ParseTuple(args, "O!O!O!O!", &PyTuple_Type, &global, &PyTuple_Type, &local,
                          &PyTuple_Type, &positional, &PyDict_Type, &named)) {
        return nullptr;
    }
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Dispatch& d = ready(self);
        const NDRange range = range_of(d, global, local);
        if (PyDict_GET_SIZE(named) == 0) {
            return launch_kernel(self, range, &PyTuple_GET_ITEM(positional, 0),
                                 static_cast<std::size_t>(PyTuple_GET_SIZE(positional)));
        }
        std::vector<PyObject*> all;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(positional); ++i)
            all.push_back(PyTuple_GET_ITEM(positional, i));
        std::size_t count = all.size();
        Ref names(PyTuple_New(PyDict_GET_SIZE(named)));
        if (!names) throw PythonError{};
        PyObject *key, *value;
        for (Py_ssize_t at = 0, i = 0; PyDict_Next(named, &at, &key, &value); ++i) {
            PyTuple_SET_ITEM(names.get(), i, Py_NewRef(key));
            all.push_back(value);
        }
        return d.call(all.data(), count, names.get(), &range);
    });
}

/// (axes that the kernel names, whether it speaks of its work-group)
PyObject* kernel_axes(PyObject* self, PyObject*) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        int axes = 1;
        int uses_group = 0;
        const frontend::Source& source = *ready(self).source();
        frontend::walk(source.body, [&](const frontend::Node& n) {
            using frontend::NodeKind;
            if (n.kind == NodeKind::Function && !uses_group) {
                const frontend::Source* callee = frontend::function_of(source, n);
                uses_group = callee && frontend::reaches_barrier(*callee) ? 1 : 0;
            }
            if (n.kind != NodeKind::Call || n.children[0].kind != NodeKind::Builtin) return;
            const std::string& f = n.children[0].text;
            if (frontend::names_barrier(f) || f == "un.local_array") uses_group = 1;
            bool has_axis = n.children.size() == 2 && n.children[1].kind == NodeKind::Const &&
                            f.rfind("un.", 0) == 0 && f != "un.mem_fence";
            if (has_axis)
                axes = std::max(axes, 1 + static_cast<int>(n.children[1].value.as<std::int64_t>()));
        });
        return Py_BuildValue("(ii)", axes, uses_group);
    });
}

std::vector<frontend::Type> types_of(PyObject* names, bool takes_complex = false) {
    std::vector<frontend::Type> list;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
        const char* text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        if (!text) throw PythonError{};
        list.push_back(type_named(text, takes_complex));
    }
    return list;
}

/// _element(types): (dtype of the result, whether array operations can take the function in,
/// whether its calls must come in order)
PyObject* element(PyObject* self, PyObject* names) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (!PyTuple_Check(names)) fail(ErrorKind::Type, "_element: takes a tuple");
        const auto& e = ready(self).element(types_of(names, true));
        return Py_BuildValue("(NOO)", dtype_object(e.result), e.function ? Py_True : Py_False,
                             e.has_state ? Py_True : Py_False);
    });
}

/// _sampled(callable): calls it, and gives (lines as (file, line, samples), samples of all code)
PyObject* sampled(PyObject*, PyObject* callable) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        cpu::start_sampling();
        Ref done(PyObject_CallNoArgs(callable));
        cpu::Samples samples = cpu::stop_sampling();
        Ref lines(PyList_New(0));
        if (!done || !lines) throw PythonError{};
        for (const cpu::LineSamples& l : samples.lines) {
            Ref row(
                Py_BuildValue("(siL)", l.file.c_str(), l.line, static_cast<long long>(l.count)));
            if (!row || PyList_Append(lines.get(), row.get()) < 0) throw PythonError{};
        }
        return Py_BuildValue("(OL)", lines.get(), static_cast<long long>(samples.total));
    });
}

/// _callback(types, dtype of the result or None, what it returns after an error): its address
PyObject* callback(PyObject* self, PyObject* const* args, Py_ssize_t n) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n != 3 || !PyTuple_Check(args[0])) fail(ErrorKind::Internal, "_callback: takes three");
        std::optional<DType> result;
        Scalar failed;
        if (args[1] != Py_None) {
            result = to_dtype(args[1]);
            double real = PyFloat_Check(args[2]) ? PyFloat_AS_DOUBLE(args[2]) : 0;
            long long whole = PyFloat_Check(args[2]) ? 0 : PyLong_AsLongLong(args[2]);
            if (PyErr_Occurred()) throw PythonError{};
            failed =
                PyFloat_Check(args[2]) ? Scalar::of(*result, real) : Scalar::of(*result, whole);
        }
        return PyLong_FromVoidPtr(ready(self).callback(types_of(args[0]), result, failed));
    });
}

/// _elementwise(types or None, operands): the function of the operands' elements, recorded; None
/// where array operations cannot take it in.
PyObject* elementwise(PyObject* self, PyObject* const* args, Py_ssize_t n) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n != 2 || !PyTuple_Check(args[1]))
            fail(ErrorKind::Internal, "_elementwise: takes types and operands");
        auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(args[1]));
        std::vector<Arg> operands(count);
        std::vector<Array> keep(count);
        std::vector<frontend::Type> types;
        for (std::size_t k = 0; k < count; ++k) {
            PyObject* object = PyTuple_GET_ITEM(args[1], static_cast<Py_ssize_t>(k));
            if (!operand(object, operands[k], keep[k])) {
                keep[k] = to_array(object, true);
                operands[k] = keep[k].arg();
            }
            Weak weak = operands[k].weak;
            if (args[0] != Py_None) continue;
            DType t = operands[k].view.dtype;
            if (is_complex(t) || is_half(t) || weak == Weak::Complex) Py_RETURN_NONE;
            types.push_back(weak == Weak::None ? frontend::Type::numpy(t)
                                               : frontend::Type::python(weak));
        }
        if (args[0] != Py_None) types = types_of(args[0], true);
        const auto& e = ready(self).element(types);
        if (!e.function) Py_RETURN_NONE;
        note_line();
        return wrap_made(
            [&] { return unisono::apply(e.function, std::span<const Arg>(operands)); });
    });
}

PyObject* to_python(const std::string& text) {
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

/// A list with text_of(specialisation) for each, in order of compilation.
template <class F>
PyObject* list_of(PyObject* self, F&& text_of) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Dispatch& d = ready(self);
        Ref list(PyList_New(0));
        if (!list) throw PythonError{};
        for (const auto& s : d.specialisations()) {
            Ref text(to_python(text_of(d, *s)));
            if (!text || PyList_Append(list.get(), text.get()) < 0) throw PythonError{};
        }
        return list.release();
    });
}

/// A text of each under its signature, or that of the one signature in `args`.
template <class F>
PyObject* joined(PyObject* self, PyObject* args, F&& text_of) {
    return guarded<PyObject*>(nullptr, [&] {
        PyObject* wanted = Py_None;
        if (args && !PyArg_ParseTuple(args, "|O", &wanted)) throw PythonError{};
        Dispatch& d = ready(self);
        Ref texts(PyList_New(0));
        for (const auto& s : d.specialisations()) {
            Ref row(Py_BuildValue("(ss)", signature(d, *s).c_str(), text_of(*s).c_str()));
            if (!row || PyList_Append(texts.get(), row.get()) < 0) throw PythonError{};
        }
        Ref module(PyImport_ImportModule("unisono._jit.listings"));
        if (!module) throw PythonError{};
        return PyObject_CallMethod(module.get(), "listed", "OO", texts.get(), wanted);
    });
}

PyObject* get_signatures(PyObject* self, void*) { return list_of(self, signature); }
PyObject* inspect_ir(PyObject* self, PyObject* args) {
    return joined(self, args, [](const Specialisation& s) {
        return ir::print(frontend::compile(s.request).module);
    });
}
/// The function and those that it calls as text, from which a program without Python compiles them.
PyObject* serialise(PyObject* self, PyObject*) {
    return guarded<PyObject*>(nullptr, [&] {
        const std::string text = frontend::serialise(*ready(self).source());
        return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    });
}
/// As inspect_ir, of the program that is read from that text.
PyObject* inspect_serialised_ir(PyObject* self, PyObject* args) {
    return joined(self, args, [](const Specialisation& s) {
        frontend::CompileRequest request = s.request;
        request.source = frontend::read_program(frontend::serialise(*request.source));
        return ir::print(frontend::compile(request).module);
    });
}
PyObject* inspect_source(PyObject* self, PyObject* args) {
    return joined(self, args, [](const Specialisation& s) { return s.executable->source(); });
}
PyObject* inspect_assembly(PyObject* self, PyObject* args) {
    return joined(self, args, [](const Specialisation& s) { return s.executable->assembly(); });
}

PyObject* list_types(PyObject* self, PyObject*) { return joined(self, nullptr, types_of_names); }

PyObject* list_remarks(PyObject* self, PyObject*) {
    return guarded<PyObject*>(nullptr, [&] { return remarks_of(ready(self)); });
}

PyObject* compile_signatures(PyObject* self, PyObject*) {
    return guarded<PyObject*>(nullptr, [&] {
        ready(self).compile_signatures();
        return Py_NewRef(Py_None);
    });
}

PyObject* captured_arrays(PyObject* self, PyObject*) {
    return guarded<PyObject*>(nullptr, [&] { return ready(self).captured_arrays(); });
}

PyObject* recompile(PyObject* self, PyObject*) {
    return guarded<PyObject*>(nullptr, [&] {
        ready(self).recompile();
        return Py_NewRef(Py_None);
    });
}

PyObject* parallel_report(PyObject* self, PyObject*) {
    return joined(self, nullptr, [](const Specialisation& s) { return s.report; });
}

PyMethodDef methods[] = {
    {"_launch", launch, METH_VARARGS, "Run the kernel over a range of work-items."},
    {"_kernel_axes", kernel_axes, METH_NOARGS,
     "Axes that the kernel names, and whether it speaks of its work-group."},
    {"_element", element, METH_O, nullptr},
    {"_sampled", sampled, METH_O | METH_STATIC, nullptr},
    {"_callback", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(callback)),
     METH_FASTCALL, nullptr},
    {"_elementwise", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(elementwise)),
     METH_FASTCALL, nullptr},
    {"inspect_ir", inspect_ir, METH_VARARGS,
     "inspect_ir(signature=None, /)\n--\n\nThe kernel IR of each compiled specialisation, or of "
     "one "
     "of `signatures`, as text; `items()` has them apart."},
    {"inspect_llvm", inspect_source, METH_VARARGS,
     "inspect_llvm(signature=None, /)\n--\n\nThe code generated for each compiled specialisation, "
     "or for one of `signatures`: LLVM IR on the CPU, OpenCL C or PTX on a device; `items()` has "
     "them apart."},
    {"inspect_asm", inspect_assembly, METH_VARARGS,
     "inspect_asm(signature=None, /)\n--\n\nThe machine's assembly of each compiled "
     "specialisation, or of one of `signatures`; `items()` has them apart."},
    {"_serialise", serialise, METH_NOARGS,
     "The syntax tree of the function and its callees, as text."},
    {"_inspect_serialised_ir", inspect_serialised_ir, METH_VARARGS,
     "The kernel IR of the program that is read from that text."},
    {"_types", list_types, METH_NOARGS, "Types of the names of each compiled specialisation."},
    {"_remarks", list_remarks, METH_NOARGS, "Facts about each specialisation, for tools."},
    {"_captured_arrays", captured_arrays, METH_NOARGS, nullptr},
    {"_compile_signatures", compile_signatures, METH_NOARGS, "Compile for the eager signatures."},
    {"recompile", recompile, METH_NOARGS,
     "recompile()\n--\n\nRead the source again and compile anew for the same argument types."},
    {"parallel_report", parallel_report, METH_NOARGS,
     "parallel_report()\n--\n\nWhat was inferred of each prange of each compiled specialisation."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef getters[] = {
    {"signatures", get_signatures, nullptr, "The argument types compiled so far.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(DispatcherObject, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(DispatcherObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};

template <class F>
void* slot(F* f) {
    return reinterpret_cast<void*>(f);
}

}  // namespace

Dispatch* dispatch_of(PyObject* object) {
    return dispatcher_type && PyObject_TypeCheck(object, dispatcher_type)
               ? self_of(object)->dispatch
               : nullptr;
}

NDRange launch_range(PyObject* kernel, PyObject* global, PyObject* local) {
    if (!PyObject_TypeCheck(kernel, dispatcher_type)) fail(ErrorKind::Type, "expected a kernel");
    return range_of(ready(kernel), global, local);
}

PyObject* launch_kernel(PyObject* kernel, const NDRange& range, PyObject* const* args,
                        std::size_t count) {
    return guarded<PyObject*>(nullptr, [&] {
        if (!PyObject_TypeCheck(kernel, dispatcher_type))
            fail(ErrorKind::Type, "expected a kernel");
        return ready(kernel).call(args, count, nullptr, &range);
    });
}

bool add_dispatcher(PyObject* module) {
    install_interrupt();
    PyType_Slot slots[] = {{Py_tp_new, slot(make)},
                           {Py_tp_init, slot(init)},
                           {Py_tp_dealloc, slot(deallocate)},
                           {Py_tp_traverse, slot(traverse)},
                           {Py_tp_clear, slot(clear)},
                           {Py_tp_call, slot(PyVectorcall_Call)},
                           {Py_tp_methods, methods},
                           {Py_tp_getset, getters},
                           {Py_tp_members, members},
                           {Py_tp_doc, const_cast<char*>("A compiled Python function or kernel.")},
                           {0, nullptr}};
    PyType_Spec spec{
        "unisono._engine.Dispatcher", sizeof(DispatcherObject), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
        slots};
    PyObject* type = PyType_FromSpec(&spec);
    if (!type) return false;
    dispatcher_type = reinterpret_cast<PyTypeObject*>(type);  // kept for good
    return PyModule_AddObjectRef(module, "Dispatcher", type) == 0;
}

}  // namespace unisono::python
