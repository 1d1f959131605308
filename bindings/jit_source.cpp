// Reads flattened functions.
#include "jit_source.h"

#include <unordered_map>

#include "errors.h"

namespace unisono::python {

using frontend::Node;
using frontend::NodeKind;

static NodeKind kind_of(const std::string& name) {
    static const std::unordered_map<std::string, NodeKind> kinds = {
#define KIND(name) {#name, NodeKind::name}
        KIND(Block),    KIND(Assign),      KIND(AugAssign), KIND(For),       KIND(While),
        KIND(If),       KIND(Return),      KIND(Break),     KIND(Continue),  KIND(Pass),
        KIND(Evaluate), KIND(Raise),       KIND(Assert),    KIND(Name),      KIND(Const),
        KIND(Text),     KIND(NoneValue),   KIND(Builtin),   KIND(Function),  KIND(Opaque),
        KIND(BinOp),    KIND(UnaryOp),     KIND(BoolOp),    KIND(Compare),   KIND(IfExp),
        KIND(Call),     KIND(Keyword),     KIND(Attribute), KIND(Subscript), KIND(Tuple),
        KIND(Slice),    KIND(Unsupported), KIND(Let),
#undef KIND
    };
    auto it = kinds.find(name);
    UNISONO_ASSERT(it != kinds.end());
    return it->second;
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
    else if (node.kind == NodeKind::Function)
        node.index = int_of(value);
    else if (value != Py_None)
        node.note = text_of(value);
    PyObject* children = item(7);
    node.children.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(children)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(children); ++i) {
        node.children.push_back(read_node(PyTuple_GET_ITEM(children, i)));
    }
    return node;
}

std::shared_ptr<frontend::Source> read_source(PyObject* flattened) {
    UNISONO_ASSERT(PyTuple_Check(flattened) && PyTuple_GET_SIZE(flattened) == 10);
    auto item = [&](int i) { return PyTuple_GET_ITEM(flattened, i); };
    auto source = std::make_shared<frontend::Source>();
    source->name = text_of(item(0));
    source->file = text_of(item(1));
    source->first_line = int_of(item(2));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(item(3)); ++i)
        source->lines.push_back(text_of(PyList_GET_ITEM(item(3), i)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(item(4)); ++i)
        source->params.push_back(text_of(PyList_GET_ITEM(item(4), i)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(item(5)); ++i)
        source->defaults.push_back(read_node(PyList_GET_ITEM(item(5), i)));
    source->body = read_node(item(6));
    source->is_kernel = item(7) == Py_True;
    return source;
}

}  // namespace unisono::python
