// Reads flattened functions.
#include "jit/source.h"

#include "errors.h"
#include "jit/values/records.h"

namespace unisono::python {

using frontend::Node;
using frontend::NodeKind;

static NodeKind kind_of(const std::string& name) {
    const std::optional<NodeKind> kind = frontend::kind_named(name);
    UNISONO_ASSERT(kind.has_value());
    return *kind;
}

static std::string text_of(PyObject* object) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    if (!text) throw PythonError{};
    return {text, static_cast<std::size_t>(size)};
}

static int int_of(PyObject* object) {
    long value = PyLong_AsLong(object);
    if (value == -1 && PyErr_Occurred()) throw PythonError{};
    return static_cast<int>(value);
}

static Scalar scalar_of(PyObject* object, DType t) {
    if (is_float(t)) return Scalar::of(t, PyFloat_AsDouble(object));
    if (t == DType::UInt64) {
        unsigned long long large = PyLong_AsUnsignedLongLong(object);
        if (PyErr_Occurred()) throw PythonError{};
        return Scalar::of(t, large);
    }
    long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred()) throw PythonError{};
    return Scalar::of(t, value);
}

static void read_constant(PyObject* value, Node& node) {
    if (PyTuple_Check(value)) {
        bool found = true;
        DType t = dtype_from_name(text_of(PyTuple_GET_ITEM(value, 0)), found);
        UNISONO_ASSERT(found);
        node.value = scalar_of(PyTuple_GET_ITEM(value, 1), t);
        return;
    }
    node.weak = PyBool_Check(value) ? Weak::Bool : PyLong_Check(value) ? Weak::Int : Weak::Float;
    node.value = scalar_of(value, default_dtype(node.weak));
}

Node read_node(PyObject* tuple) {
    UNISONO_ASSERT(PyTuple_Check(tuple) && PyTuple_GET_SIZE(tuple) == 8);
    auto item = [&](int i) { return PyTuple_GET_ITEM(tuple, i); };
    Node node;
    node.kind = kind_of(text_of(item(0)));
    node.place = {int_of(item(1)), int_of(item(2)), int_of(item(3)), int_of(item(4))};
    node.text = text_of(item(5));
    PyObject* value = item(6);
    if (node.kind == NodeKind::Const)
        read_constant(value, node);
    else if (node.kind == NodeKind::Function || node.kind == NodeKind::Closure ||
             node.kind == NodeKind::KeptClosure || node.kind == NodeKind::Class) {
        bool has_note = PyTuple_Check(value);
        node.index = int_of(has_note ? PyTuple_GET_ITEM(value, 0) : value);
        if (has_note) node.note = text_of(PyTuple_GET_ITEM(value, 1));
    } else if (value != Py_None)
        node.note = text_of(value);
    PyObject* children = item(7);
    node.children.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(children)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(children); ++i) {
        node.children.push_back(read_node(PyTuple_GET_ITEM(children, i)));
    }
    return node;
}

/// As lists, dicts and sets hold it: nothing is known of the strides of their arrays.
static frontend::Type as_item(frontend::Type t) {
    if (t.is_array()) t.strides.assign(t.strides.size(), ir::StrideClass::Other);
    for (frontend::Type& item : t.items) item = as_item(std::move(item));
    return t;
}

/// A type as _jit/signatures.py writes it.
frontend::Declared declared_of(PyObject* spec) {
    frontend::Declared d;
    if (spec == Py_None) return d;
    d.is_given = true;
    auto item = [&](Py_ssize_t i) { return PyTuple_GET_ITEM(spec, i); };
    std::string kind = text_of(item(0));
    if (kind == "none") return d;
    if (kind == "optional") {
        d = declared_of(item(1));
        d.is_optional = true;
        if (d.type.is_instance()) d.type.rank = 1;
        return d;
    }
    if (kind == "tuple") {
        std::vector<frontend::Type> types;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(item(1)); ++i) {
            d.items.push_back(declared_of(PyTuple_GET_ITEM(item(1), i)));
            types.push_back(d.items.back().type);
        }
        d.type = frontend::Type::tuple(std::move(types));
        return d;
    }
    if (kind == "text") {
        d.type = frontend::Type::text();
        return d;
    }
    if (kind == "table") {
        std::vector<frontend::Type> types;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(item(2)); ++i) {
            frontend::Declared said = declared_of(PyTuple_GET_ITEM(item(2), i));
            bool may_be_none = said.is_optional && !said.type.is_instance();
            types.push_back(as_item(may_be_none ? frontend::Type::optional(said.type) : said.type));
        }
        d.type = frontend::Type::table(static_cast<frontend::TableKind>(int_of(item(1))),
                                       std::move(types));
        return d;
    }
    if (kind == "instance") {
        d.type =
            frontend::Type::of_record(frontend::Type::Kind::Instance,
                                      record_of(reinterpret_cast<PyTypeObject*>(item(1))), 0, {});
        return d;
    }
    bool found = true;
    DType t = dtype_from_name(text_of(item(1)), found);
    UNISONO_ASSERT(found);
    if (is_complex(t) && kind == "scalar") {
        d.type = t == DType::Complex64 ? frontend::Type::numpy(t)
                                       : frontend::Type::python(Weak::Complex);
        return d;
    }
    if (kind == "scalar") {
        std::string weak = text_of(item(2));
        d.type = weak == "int"     ? frontend::Type::python(Weak::Int)
                 : weak == "float" ? frontend::Type::python(Weak::Float)
                 : weak == "bool"  ? frontend::Type::python(Weak::Bool)
                                   : frontend::Type::numpy(t);
        return d;
    }
    std::vector<ir::StrideClass> strides(static_cast<std::size_t>(int_of(item(2))),
                                         ir::StrideClass::Other);
    // Of the strides of arguments only the last is known: arrays in Fortran's order are as any.
    std::string layout = text_of(item(3));
    if (layout == "C") strides.back() = ir::StrideClass::One;
    d.type = frontend::Type::array(t, std::move(strides), true);
    return d;
}

namespace {

/// A flattened function, by the names of its parts.
struct Parts {
    PyObject* dict;
    PyObject* operator[](const char* name) const {
        PyObject* found = PyDict_GetItemString(dict, name);
        UNISONO_ASSERT(found != nullptr);
        return found;
    }
};

}  // namespace

/// Calls visit(item) for each item of a list or tuple.
template <class F>
static void each(PyObject* sequence, F&& visit) {
    Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence);
    for (Py_ssize_t i = 0; i < size; ++i) visit(PySequence_Fast_GET_ITEM(sequence, i));
}

static frontend::Options options_of(PyObject* dict) {
    auto is_set = [&](const char* name, bool fallback) {
        PyObject* value = PyDict_GetItemString(dict, name);
        return value && value != Py_None ? value == Py_True : fallback;
    };
    frontend::Options o;
    o.checks_bounds = is_set("boundscheck", true);
    o.counts_at_barriers = is_set("boundscheck", false);
    o.trusts_indices = is_set("trusts_indices", false);
    o.counts_from_end = is_set("counts_from_end", true);
    o.numpy_errors = is_set("numpy_errors", false);
    o.fastmath = is_set("fastmath", false);
    o.runs_serially = !is_set("parallel", true);
    o.refuses_interpreter = is_set("nopython", false);
    o.by_elements = is_set("by_elements", false);
    auto number = [&](const char* name) {
        PyObject* value = PyDict_GetItemString(dict, name);
        return value && value != Py_None ? int_of(value) : 0;
    };
    if (PyObject* schedule = PyDict_GetItemString(dict, "schedule");
        schedule && schedule != Py_None)
        o.schedule = text_of(schedule);
    o.chunk = number("chunk");
    o.threads = number("num_threads");
    return o;
}

std::shared_ptr<frontend::Source> read_source(PyObject* flattened) {
    UNISONO_ASSERT(PyDict_Check(flattened));
    Parts part{flattened};
    auto source = std::make_shared<frontend::Source>();
    source->name = text_of(part["name"]);
    source->file = text_of(part["file"]);
    source->first_line = int_of(part["first_line"]);
    each(part["lines"], [&](PyObject* o) { source->lines.push_back(text_of(o)); });
    each(part["params"], [&](PyObject* o) { source->params.push_back(text_of(o)); });
    source->positional = static_cast<std::size_t>(int_of(part["positional"]));
    source->vararg = int_of(part["vararg"]);
    source->captures = static_cast<std::size_t>(int_of(part["captures"]));
    std::size_t i = 0;
    each(part["defaults"], [&](PyObject* o) {
        if (o != Py_None) source->defaults.emplace(i, read_node(o));
        ++i;
    });
    each(part["declared"], [&](PyObject* o) { source->declared.push_back(declared_of(o)); });
    source->result = declared_of(part["result"]);
    PyObject *name, *spec;
    for (Py_ssize_t at = 0; PyDict_Next(part["locals"], &at, &name, &spec);)
        source->locals.emplace(text_of(name), declared_of(spec));
    each(part["signatures"], [&](PyObject* o) {
        frontend::Signature& s = source->signatures.emplace_back();
        s.result = declared_of(PyTuple_GET_ITEM(o, 0));
        each(PyTuple_GET_ITEM(o, 1), [&](PyObject* a) { s.args.push_back(declared_of(a)); });
    });
    source->options = options_of(part["options"]);
    source->body = read_node(part["body"]);
    source->is_kernel = part["is_kernel"] == Py_True;
    each(part["classes"], [&](PyObject* pair) {
        frontend::ClassUse& use = source->classes.emplace_back();
        PyObject* cls = PyTuple_GET_ITEM(pair, 0);
        use.record = PyType_Check(cls) ? record_of(reinterpret_cast<PyTypeObject*>(cls))
                                       : layout_of(cls)->record;  // a structured dtype
        PyObject *field, *value;
        for (Py_ssize_t at = 0; PyDict_Next(PyTuple_GET_ITEM(pair, 1), &at, &field, &value);)
            use.defaults.emplace(static_cast<std::size_t>(int_of(field)), read_node(value));
    });
    each(part["nested"], [&](PyObject* o) { source->nested.push_back(read_source(o)); });
    return source;
}

}  // namespace unisono::python
