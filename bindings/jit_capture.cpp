// What a compiled function captures: reads its source and tells whether it still holds.
#include "jit_dispatch.h"

#include <algorithm>

#include "c_text.h"
#include "errors.h"
#include "jit_source.h"

namespace unisono::python {

bool Guard::holds() const {
    PyObject* now = nullptr;
    if (PyCell_Check(owner.get()))
        now = PyCell_GET(owner.get());
    else
        now = PyDict_GetItemWithError(owner.get(), name.get());
    if (now == value.get()) return true;
    if (!now) {
        PyErr_Clear();
        return false;
    }
    if (Py_TYPE(now) != Py_TYPE(value.get()) || dispatch_of(now)) return false;
    int equal = PyObject_RichCompareBool(now, value.get(), Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
}

bool Dispatch::guards_hold() const {
    return source_ &&
           std::all_of(guards_.begin(), guards_.end(), [](const Guard& g) { return g.holds(); });
}

bool Dispatch::is_fresh() const {
    if (!guards_hold()) return false;
    for (const auto& [method, source] : methods_) {
        const Dispatch* d = dispatch_of(method);
        if (d->source_ != source || !d->guards_hold()) return false;
    }
    return std::all_of(callees_.begin(), callees_.end(), [](const Callee& c) {
        const Dispatch* callee = dispatch_of(c.function.get());
        return callee->is_preparing() || (callee->is_fresh() && callee->source_ == c.source);
    });
}

/// Functions inside call the same ones; none of them is the function around.
static void share_callees(frontend::Source& source) {
    for (auto& inner : source.nested) {
        inner->callees = source.callees;
        inner->classes = source.classes;
        share_callees(*inner);
    }
}

/// Names whose items or length the function changes, if they are lists.
static void changed_names(const frontend::Node& n, std::set<std::string>& names) {
    using frontend::NodeKind;
    static const std::set<std::string> methods = {"append", "extend",  "insert", "pop",
                                                  "clear",  "reverse", "sort",   "remove"};
    auto note = [&](const frontend::Node& owner) {
        if (owner.kind == NodeKind::Name) names.insert(owner.text);
    };
    auto target = [&](const frontend::Node& t, auto&& self) -> void {
        if (t.kind == NodeKind::Subscript) note(t.children[0]);
        if (t.kind == NodeKind::Tuple)
            for (const frontend::Node& item : t.children) self(item, self);
    };
    if (n.kind == NodeKind::Assign)
        for (std::size_t k = 0; k + 1 < n.children.size(); ++k) target(n.children[k], target);
    if (n.kind == NodeKind::AugAssign) {
        target(n.children[0], target);
        note(n.children[0]);
    }
    if (n.kind == NodeKind::Call) {
        const frontend::Node& callee = n.children[0];
        if (callee.kind == NodeKind::Attribute && methods.count(callee.text))
            note(callee.children[0]);
        if (callee.kind == NodeKind::Builtin && callee.text == "delete_item") note(n.children[1]);
    }
    for (const frontend::Node& child : n.children) changed_names(child, names);
}

/// Pairs of names that an assignment makes stand for one object.
static void shared_names(const frontend::Node& n,
                         std::vector<std::pair<std::string, std::string>>& pairs) {
    using frontend::NodeKind;
    auto names = [](const frontend::Node& e) {
        std::vector<std::string> list;
        if (e.kind == NodeKind::Name) list.push_back(e.text);
        if (e.kind == NodeKind::Tuple || e.kind == NodeKind::IfExp) {
            for (const frontend::Node& item : e.children)
                if (item.kind == NodeKind::Name) list.push_back(item.text);
        }
        return list;
    };
    if (n.kind == NodeKind::Assign) {
        for (std::size_t k = 0; k + 1 < n.children.size(); ++k) {
            for (const std::string& a : names(n.children[k]))
                for (const std::string& b : names(n.children.back())) pairs.emplace_back(a, b);
        }
    }
    for (const frontend::Node& child : n.children) shared_names(child, pairs);
}

/// Parameters that the function changes, if they are lists, under any name.
static std::set<std::string> changed_in(const frontend::Node& body) {
    std::set<std::string> names;
    std::vector<std::pair<std::string, std::string>> pairs;
    changed_names(body, names);
    shared_names(body, pairs);
    for (std::size_t before = 0; before != names.size();) {
        before = names.size();
        for (const auto& [a, b] : pairs) {
            if (names.count(a)) names.insert(b);
            if (names.count(b)) names.insert(a);
        }
    }
    return names;
}

void Dispatch::prepare() {
    preparing_ = std::this_thread::get_id();
    struct Done {
        std::thread::id& thread;
        ~Done() { thread = {}; }
    } done{preparing_};
    Ref flat(PyObject_CallNoArgs(prepare_.get()));
    if (!flat) throw PythonError{};
    auto native = native_source(flat.get());
    auto source = native ? native : read_source(flat.get());
    std::vector<Callee> callees;
    std::vector<Ref> names;
    Ref nothing(PyList_New(0));
    if (!nothing) throw PythonError{};
    PyObject* list = native ? nothing.get() : PyDict_GetItemString(flat.get(), "callees");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        Dispatch* callee = dispatch_of(PyList_GET_ITEM(list, i));
        UNISONO_ASSERT(callee != nullptr);
        // One that is being prepared calls us: a recursion, which the front end follows where it
        // is our own and refuses else.
        if (callee == this) source->self = static_cast<int>(i);
        source->callees.push_back(callee->is_preparing() ? nullptr : callee->source());
        if (!callee->is_preparing())
            callees.push_back({Ref::of(PyList_GET_ITEM(list, i)), source->callees.back()});
    }
    std::vector<Guard> guards;
    list = native ? nothing.get() : PyDict_GetItemString(flat.get(), "guards");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        PyObject* g = PyList_GET_ITEM(list, i);
        guards.push_back({Ref::of(PyTuple_GET_ITEM(g, 0)), Ref::of(PyTuple_GET_ITEM(g, 1)),
                          Ref::of(PyTuple_GET_ITEM(g, 2))});
    }
    std::vector<std::pair<PyObject*, PyObject*>> arrays;
    Ref flat_arrays = Ref::of(native ? nothing.get() : PyDict_GetItemString(flat.get(), "arrays"));
    list = flat_arrays.get();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        PyObject* place = PyTuple_GET_ITEM(PyList_GET_ITEM(list, i), 1);
        arrays.emplace_back(PyTuple_GET_ITEM(place, 0), PyTuple_GET_ITEM(place, 1));
    }
    for (const std::string& p : source->params) {
        names.push_back(Ref(PyUnicode_InternFromString(p.c_str())));
        if (!names.back()) throw PythonError{};
    }
    share_callees(*source);
    source->as_callback = [self = self_](const std::vector<std::string>& args,
                                         const std::string& result) {
        if (!*self) fail(ErrorKind::Runtime, "a callback's function is gone");
        return (*self)->keep_callback(args, result);
    };
    Ref defaults(PyObject_GetAttrString(function_.get(), "__defaults__"));
    Ref named(PyObject_GetAttrString(function_.get(), "__kwdefaults__"));
    if (!defaults || !named) throw PythonError{};
    retire(specialisations_);
    quick_ = nullptr;
    changed_ = changed_in(source->body);
    source_ = std::move(source);
    guards_ = std::move(guards);
    callees_ = std::move(callees);
    arrays_ = std::move(arrays);
    flat_arrays_ = std::move(flat_arrays);
    parameter_names_ = std::move(names);
    defaults_ = std::move(defaults);
    named_defaults_ = std::move(named);
    specialisations_.clear();
    elements_.clear();
    methods_.clear();
}

PyObject* Dispatch::captured_arrays() {
    // While it is being read it is called by one of those that it calls: a recursion.
    if (is_preparing()) return PyList_New(0);
    source();
    return Py_NewRef(flat_arrays_.get());
}

const std::shared_ptr<const frontend::Source>& Dispatch::source() {
    if (!is_fresh()) prepare();
    return source_;
}

}  // namespace unisono::python
