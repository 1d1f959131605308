// Reads classes and structured dtypes through python/unisono/_jit/classes.py.
#include "jit/values/records.h"

#include <map>
#include <unordered_map>
#include <utility>

#include "errors.h"
#include "jit/dispatch.h"
#include "jit/source.h"
#include "reference.h"

namespace unisono::python {

using frontend::Record;

static thread_local MethodLog* method_log = nullptr;

MethodLog::MethodLog() : outer_(std::exchange(method_log, this)) {}
MethodLog::~MethodLog() { method_log = outer_; }

static PyObject* checked(PyObject* object) {
    if (!object) throw PythonError{};
    return object;
}

static PyObject* helpers() {
    static PyObject* known = nullptr;
    return checked(kept(known, "unisono._jit.classes"));
}

static std::string text_of(PyObject* object) {
    const char* text = PyUnicode_AsUTF8(object);
    if (!text) throw PythonError{};
    return text;
}

static PyObject* entry(PyObject* dict, const char* name) {
    PyObject* found = PyDict_GetItemString(dict, name);
    UNISONO_ASSERT(found != nullptr);
    return found;
}

/// Compiles nothing: reads the method's source.
static std::optional<Record::Method> find_method(PyTypeObject* cls, const std::string& name) {
    struct Locked {
        PyGILState_STATE state = PyGILState_Ensure();
        ~Locked() { PyGILState_Release(state); }
    } locked;
    Ref found(checked(PyObject_CallMethod(helpers(), "method", "Os", cls, name.c_str())));
    if (found.get() == Py_None) return std::nullopt;
    std::string kind = text_of(PyTuple_GET_ITEM(found.get(), 0));
    PyObject* function = PyTuple_GET_ITEM(found.get(), 1);
    Dispatch* dispatch = dispatch_of(function);
    UNISONO_ASSERT(dispatch != nullptr);
    if (method_log) method_log->methods.push_back(function);
    Record::Method method;
    method.kind = kind == "property" ? Record::Method::Kind::Property
                  : kind == "static" ? Record::Method::Kind::Static
                                     : Record::Method::Kind::Plain;
    method.source = dispatch->source();
    return method;
}

/// The types of an object's fields, and which of them its methods assign.
static void read_fields(Record& record, PyTypeObject* cls) {
    Ref fields(checked(PyObject_CallMethod(helpers(), "typed_fields", "O", cls)));
    std::vector<Record::Field> made;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(fields.get()); ++k) {
        PyObject* pair = PyList_GET_ITEM(fields.get(), k);
        Record::Field& f = made.emplace_back();
        f.name = text_of(PyTuple_GET_ITEM(pair, 0));
        f.is_open = PyTuple_GET_ITEM(pair, 1) == Py_None;
        frontend::Declared said = declared_of(PyTuple_GET_ITEM(pair, 1));
        bool may_be_none =
            said.is_optional && record.is_data &&
            (said.type.is_text() || (said.type.is_weak() && !said.type.is_complex()));
        f.type = may_be_none ? frontend::Type::optional(said.type) : said.type;
        if (PyTuple_GET_SIZE(pair) > 2) f.made = text_of(PyTuple_GET_ITEM(pair, 2));
    }
    record.fields = std::move(made);
    lay_out(record);
    Ref changed(checked(PyObject_CallMethod(helpers(), "changed", "O", cls)));
    std::set<std::string> names;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(changed.get()); ++k)
        names.insert(text_of(PyList_GET_ITEM(changed.get(), k)));
    record.changed = [names] { return names; };
}

const std::shared_ptr<const Record>& record_of(PyTypeObject* cls) {
    static std::unordered_map<PyTypeObject*, std::shared_ptr<const Record>> known;
    if (auto it = known.find(cls); it != known.end()) return it->second;
    Ref about(checked(PyObject_CallMethod(helpers(), "describe", "O", cls)));
    std::shared_ptr<Record> made;
    if (about.get() != Py_None) {
        made = std::make_shared<Record>();
        std::string form = text_of(entry(about.get(), "form"));
        made->is_address = form == "address";
        made->form = form == "data" || made->is_address ? Record::Form::Data
                     : form == "named"                  ? Record::Form::Named
                                                        : Record::Form::Instance;
        made->name = text_of(entry(about.get(), "name"));
        made->positional = PyLong_AsSize_t(entry(about.get(), "positional"));
        made->no_call = text_of(entry(about.get(), "no_call"));
        made->compares = entry(about.get(), "compares") == Py_True;
        made->orders = entry(about.get(), "orders") == Py_True;
        PyObject* names = entry(about.get(), "fields");
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(names); ++k)
            made->fields.emplace_back().name = text_of(PyList_GET_ITEM(names, k));
        made->find_method = [cls](const std::string& name) { return find_method(cls, name); };
        made->python = cls;
        if (cls == &PySlice_Type) made->index = Record::Index::Slice;
        if (cls == Py_TYPE(Py_Ellipsis)) made->index = Record::Index::Ellipsis;
        made->is_data = form == "object";
    }
    Py_INCREF(cls);
    auto& kept = known.emplace(cls, made).first->second;  // a field may be of the class itself
    if (made && made->form == Record::Form::Instance) {
        try {
            read_fields(*made, cls);
        } catch (...) {
            known.erase(cls);
            throw;
        }
    }
    return kept;
}

PyObject* make_object(const Record& record, PyObject* items) {
    auto* cls = static_cast<PyTypeObject*>(const_cast<void*>(record.python));
    if (record.form == Record::Form::Named) {
        Ref args(PyTuple_Pack(1, items));
        return args ? PyTuple_Type.tp_new(cls, args.get(), nullptr) : nullptr;
    }
    if (!PyType_HasFeature(cls, Py_TPFLAGS_HEAPTYPE))  // Python's own: a slice, a range, Ellipsis
        return PyObject_Call(reinterpret_cast<PyObject*>(cls), items, nullptr);
    if (PyObject_HasAttrString(reinterpret_cast<PyObject*>(cls), "_member_map_"))  // an Enum
        return PyObject_CallOneArg(reinterpret_cast<PyObject*>(cls), PyTuple_GET_ITEM(items, 0));
    Ref made(
        PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__new__", "O", cls));
    for (std::size_t k = 0; made && k < record.fields.size(); ++k) {
        Ref name(PyUnicode_InternFromString(record.fields[k].name.c_str()));
        PyObject* value = PyTuple_GET_ITEM(items, static_cast<Py_ssize_t>(k));
        if (!name || PyObject_GenericSetAttr(made.get(), name.get(), value) < 0) return nullptr;
    }
    return made.release();
}

// ---- structured dtypes

static std::vector<Py_ssize_t> sizes_of(PyObject* tuple) {
    std::vector<Py_ssize_t> list;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); ++k)
        list.push_back(PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, k)));
    return list;
}

/// `text` tells everything that compiled code depends on: equal dtypes share a record.
static std::shared_ptr<const RecordLayout> read_layout(PyObject* fields, PyObject* path,
                                                       std::int64_t step,
                                                       const std::string& dtype) {
    static std::map<std::string, std::shared_ptr<const RecordLayout>> known;
    Ref description(checked(PyObject_Repr(fields))), where(checked(PyObject_Repr(path)));
    std::string text = std::to_string(step) + text_of(where.get()) + text_of(description.get());
    if (auto it = known.find(text); it != known.end()) return it->second;
    auto layout = std::make_shared<RecordLayout>();
    auto record = std::make_shared<Record>();
    record->form = Record::Form::Fields;
    record->step = step;
    record->dtype = dtype;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(fields); ++k) {
        PyObject* f = PyList_GET_ITEM(fields, k);
        auto item = [&](Py_ssize_t i) { return PyTuple_GET_ITEM(f, i); };
        Record::Field& field = record->fields.emplace_back();
        RecordLayout::Place& place = layout->places.emplace_back();
        field.name = text_of(item(0));
        Ref last(checked(PyTuple_Pack(1, item(0))));
        place.path = checked(PySequence_Concat(path, last.get()));
        field.odd = text_of(item(7));
        if (item(8) != Py_None) {
            place.inner = read_layout(item(8), place.path, step, "");
            field.inner = place.inner->record;
        }
        if (item(1) == Py_None) continue;
        bool found = true;
        DType t = dtype_from_name(text_of(item(1)), found);
        UNISONO_ASSERT(found);
        place.offset = field.offset = PyLong_AsLongLong(item(2));
        place.size = PyLong_AsLongLong(item(3));
        field.dtype = t;
        field.pieces = static_cast<int>(PyLong_AsLong(item(4)));
        place.dtype = t;
        place.shape = sizes_of(item(5));
        field.shape.assign(place.shape.begin(), place.shape.end());
        place.strides = sizes_of(item(6));
        if (field.pieces > 0) {
            place.dtype = place.size == 1   ? DType::UInt8
                          : place.size == 2 ? DType::UInt16
                          : place.size == 4 ? DType::UInt32
                                            : DType::UInt64;
            place.shape = {field.pieces};
            place.strides = {place.size};
        }
    }
    layout->record = record;
    layout->step = step;
    return known.emplace(text, std::move(layout)).first->second;
}

const RecordLayout* layout_of(PyObject* dtype) {
    // A dtype is kept while its address stands for it.
    static std::unordered_map<PyObject*, std::shared_ptr<const RecordLayout>> known;
    if (auto it = known.find(dtype); it != known.end()) return it->second.get();
    Ref names(checked(PyObject_GetAttrString(dtype, "names")));
    if (names.get() == Py_None) return nullptr;
    Ref fields(checked(PyObject_CallMethod(helpers(), "places", "O", dtype)));
    Ref root(checked(PyTuple_New(0)));
    Ref bytes(checked(PyObject_GetAttrString(dtype, "itemsize")));
    Ref text(checked(PyObject_Str(dtype)));
    auto layout =
        read_layout(fields.get(), root.get(), PyLong_AsLongLong(bytes.get()), text_of(text.get()));
    if (known.size() >= 256) {
        for (const auto& held : known) Py_DECREF(held.first);
        known.clear();
    }
    Py_INCREF(dtype);
    return known.emplace(dtype, std::move(layout)).first->second.get();
}

}  // namespace unisono::python
