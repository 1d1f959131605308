// Prepares, specialises and runs compiled functions.
//
// A call takes these steps: captured values are compared with what they were (else the source is
// read again), the arguments are bound to parameters and classified into a key, the specialisation
// of that key is found or compiled, buffers stay held while it runs without Python's lock, and its
// results or its fault become Python objects.
#include "jit_dispatch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "array_object.h"
#include "backends/codegen/compile.h"
#include "c_text.h"
#include "core/foreign.h"
#include "core/interrupt.h"
#include "core/settings.h"
#include "errors.h"
#include "frontend/diagnose.h"
#include "ir/rewrite.h"
#include "jit_objects.h"
#include "jit_records.h"
#include "jit_source.h"
#include "jit_text.h"

namespace unisono::python {

static unsigned long main_thread = 0;  // where Python runs the handlers of signals

/// Runs the handlers of signals that have arrived; true where one raised an exception, which stays
/// set in this thread.
static bool ask_python() {
    PyGILState_STATE state = PyGILState_Ensure();
    bool stop = PyErr_CheckSignals() != 0;
    PyGILState_Release(state);
    return stop;
}

void install_interrupt() {
    main_thread = PyThread_get_thread_ident();
    set_interrupt_hook(ask_python);
}

Dispatch::Dispatch(PyObject* function, PyObject* prepare, bool is_kernel, std::string device,
                   bool has_lines)
    : function_(Ref::of(function)),
      prepare_(Ref::of(prepare)),
      is_kernel_(is_kernel),
      device_name_(std::move(device)),
      has_lines_(has_lines) {
    Ref name(PyObject_GetAttrString(function, "__name__"));
    const char* text = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
    if (!text) throw PythonError{};
    name_ = text;
}

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
    for (PyObject* method : methods_) {
        if (!dispatch_of(method)->guards_hold()) return false;
    }
    return std::all_of(callees_.begin(), callees_.end(), [](const Ref& c) {
        const Dispatch* callee = dispatch_of(c.get());
        return callee->is_preparing() || callee->is_fresh();
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
    std::vector<Ref> callees, names;
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
        if (!callee->is_preparing()) callees.push_back(Ref::of(PyList_GET_ITEM(list, i)));
    }
    std::vector<Guard> guards;
    list = native ? nothing.get() : PyDict_GetItemString(flat.get(), "guards");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        PyObject* g = PyList_GET_ITEM(list, i);
        guards.push_back({Ref::of(PyTuple_GET_ITEM(g, 0)), Ref::of(PyTuple_GET_ITEM(g, 1)),
                          Ref::of(PyTuple_GET_ITEM(g, 2))});
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
    changed_ = changed_in(source->body);
    source_ = std::move(source);
    guards_ = std::move(guards);
    callees_ = std::move(callees);
    parameter_names_ = std::move(names);
    defaults_ = std::move(defaults);
    named_defaults_ = std::move(named);
    specialisations_.clear();
    elements_.clear();
    methods_.clear();
}

const std::shared_ptr<const frontend::Source>& Dispatch::source() {
    if (!is_fresh()) prepare();
    return source_;
}

void Dispatch::bind(const frontend::Source& source, Arguments& arguments, PyObject* const* args,
                    std::size_t count, PyObject* keywords) const {
    const auto& params = source.params;
    auto n = params.size();
    auto given_names = keywords ? static_cast<std::size_t>(PyTuple_GET_SIZE(keywords)) : 0;
    if (count > source.positional && source.vararg < 0) {
        fail(ErrorKind::Type, name_ + ": too many arguments; got " + std::to_string(count) +
                                  "; expected " + std::to_string(source.positional) +
                                  "; leave the extra ones out");
    }
    if (count == n && given_names == 0 && source.vararg < 0) {
        for (std::size_t i = 0; i < n; ++i) arguments.add(args[i], params[i]);
        return;
    }
    std::vector<PyObject*> slots(n, nullptr);
    std::copy(args, args + std::min(count, source.positional), slots.begin());
    auto is_rest = [&](std::size_t i) { return static_cast<int>(i) == source.vararg; };
    for (std::size_t k = 0; k < given_names; ++k) {
        PyObject* key = PyTuple_GET_ITEM(keywords, static_cast<Py_ssize_t>(k));
        std::size_t i = 0;
        while (i < n && (is_rest(i) || PyUnicode_Compare(parameter_names_[i].get(), key) != 0)) ++i;
        if (i == n || slots[i]) {
            std::string text = PyUnicode_AsUTF8(key);
            fail(ErrorKind::Type, name_ + ": keyword argument '" + text + "' " +
                                      (i == n ? "names no parameter" : "is given twice") +
                                      "; got '" + text +
                                      "'; expected one of its parameters once; check the call");
        }
        slots[i] = args[count + k];
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (is_rest(i)) {
            std::size_t rest = count > source.positional ? count - source.positional : 0;
            arguments.begin_tuple(rest);
            for (std::size_t k = 0; k < rest; ++k)
                arguments.add(args[source.positional + k], params[i]);
            continue;
        }
        if (!slots[i]) slots[i] = default_of(source, i);
        if (!slots[i]) {
            fail(ErrorKind::Type, name_ + ": argument '" + params[i] + "' is missing; got " +
                                      std::to_string(count + given_names) + " of " +
                                      std::to_string(n) + " arguments; give it");
        }
        arguments.add(slots[i], params[i]);
    }
}

/// What a parameter is where the call gives nothing; null where it must.
PyObject* Dispatch::default_of(const frontend::Source& source, std::size_t i) const {
    if (i >= source.positional) {
        bool has_any = PyDict_Check(named_defaults_.get());
        return has_any ? PyDict_GetItem(named_defaults_.get(), parameter_names_[i].get()) : nullptr;
    }
    if (!PyTuple_Check(defaults_.get())) return nullptr;
    auto held = static_cast<std::size_t>(PyTuple_GET_SIZE(defaults_.get()));
    if (i + held < source.positional) return nullptr;
    return PyTuple_GET_ITEM(defaults_.get(), static_cast<Py_ssize_t>(i + held - source.positional));
}

Device& Dispatch::device_for(const Arguments& arguments) const {
    return arguments.device() ? *arguments.device() : device_named();
}

Device& Dispatch::device_named() const {
    if (!device_name_.empty()) return find_device(device_name_);
    return find_device(setting("executor") == "interp" ? "interp" : "cpu");
}

/// Whether a launch may take long: a kernel, or anything that loops or calls.
static bool may_take_long(const ir::Module& module) {
    ir::S body = module.entry().body;
    return module.entry().is_kernel || ir::contains(body, ir::StmtKind::For) ||
           ir::contains(body, ir::StmtKind::While) || ir::contains(body, ir::StmtKind::Call);
}

/// Whether a launch may make texts, dicts or sets.
static bool may_make_objects(const ir::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(), [](const auto& f) {
        return std::any_of(f.natives.begin(), f.natives.end(), [](const std::string& name) {
            return name.rfind("text_", 0) == 0 || name.rfind("table_", 0) == 0 ||
                   name.rfind("list_", 0) == 0 || name == "python_block";
        });
    });
}

/// Compile errors show their place themselves.
frontend::Compiled compile_source(const frontend::CompileRequest& request) {
    try {
        return frontend::compile(request);
    } catch (const Error& e) {
        throw Error(e.kind(), e.what());
    }
}

Specialisation& Dispatch::find(const frontend::Source& source, const Arguments& arguments,
                               int dimensions) {
    for (auto& s : specialisations_) {
        if (s->key == arguments.key() && s->device == arguments.device() &&
            s->dimensions == dimensions)
            return *s;
    }
    auto made = std::make_shared<Specialisation>();
    made->key = arguments.key();
    made->device = arguments.device();
    made->dimensions = dimensions;
    made->request = {source.shared_from_this(), arguments.types(), arguments.noalias(), dimensions};
    compile(*made, device_for(arguments));
    specialisations_.push_back(made);
    return *made;
}

void Dispatch::retire(const std::vector<std::shared_ptr<Specialisation>>& list) {
    if (calls_ == 0) return;
    retired_.emplace_back(source_);
    retired_.insert(retired_.end(), list.begin(), list.end());
}

void Dispatch::compile(Specialisation& made, Device& device) const {
    if (!device.info().host_memory && !made.device) {
        fail(ErrorKind::Device,
             name_ + ": host arrays cannot be used on " + device.info().name +
                 "; got arrays in host memory; expected arrays on that device; move them with "
                 "to_device");
    }
    MethodLog log;
    frontend::Compiled compiled = compile_source(made.request);
    for (PyObject* method : log.methods) {
        if (std::find(methods_.begin(), methods_.end(), method) == methods_.end())
            methods_.push_back(method);
    }
    made.result = compiled.result;
    made.result_count = compiled.module.entry().results.size();
    made.files = compiled.module.entry().files;
    made.report = std::move(compiled.report);
    for (const std::string& text : compiled.warnings) {
        if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0) throw PythonError{};
    }
    made.makes_objects = may_make_objects(compiled.module);
    made.keeps_lock = device.info().host_memory && !may_take_long(compiled.module);
    CompileOptions options;
    options.debug = has_lines_;
    options.fastmath = made.request.source->options.fastmath;
    made.executable = device.compile(std::move(compiled.module), options);
}

/// The type as arguments of a call are classified: contiguous arrays where nothing else is said.
static frontend::Type as_argument(const frontend::Declared& d) {
    frontend::Type t = d.type;
    if (t.is_array() && !t.strides.empty()) {
        bool is_fortran = t.rank > 1 && t.strides.front() == ir::StrideClass::One;
        t.strides.assign(t.strides.size(), ir::StrideClass::Other);
        if (!is_fortran) t.strides.back() = ir::StrideClass::One;
    }
    for (std::size_t i = 0; i < d.items.size(); ++i) t.items[i] = as_argument(d.items[i]);
    return t;
}

void Dispatch::compile_signatures() {
    const auto source = this->source();
    for (const frontend::Signature& s : source->signatures) {
        Arguments arguments(name_);
        if (s.args.size() != source->params.size()) {
            fail(ErrorKind::Type, name_ + ": a signature has one type per parameter; got " +
                                      std::to_string(s.args.size()) + "; expected " +
                                      std::to_string(source->params.size()) +
                                      "; add or remove types");
        }
        for (const frontend::Declared& d : s.args) arguments.add_type(as_argument(d));
        arguments.finish();
        find(*source, arguments, 0);
    }
}

void Dispatch::recompile() {
    auto old = std::move(specialisations_);
    specialisations_.clear();
    retire(old);
    prepare();
    const auto source = source_;
    for (const auto& s : old) {
        auto made = std::make_shared<Specialisation>();
        made->key = s->key;
        made->device = s->device;
        made->dimensions = s->dimensions;
        made->request = s->request;
        made->request.source = source;
        compile(*made, s->device ? *s->device : device_named());
        specialisations_.push_back(made);
    }
}

PyObject* number(Scalar s) {
    if (is_bool(s.dtype)) return PyBool_FromLong(s.as<bool>());
    return is_float(s.dtype)      ? PyFloat_FromDouble(s.as<double>())
           : is_unsigned(s.dtype) ? PyLong_FromUnsignedLongLong(s.as<std::uint64_t>())
                                  : PyLong_FromLongLong(s.as<std::int64_t>());
}

/// How often the results refer to each block.
static void count_references(const frontend::ResultShape& shape, const std::uint64_t* results,
                             std::map<Block*, std::int64_t>& counts) {
    if (shape.kind == frontend::ResultShape::Kind::Array)
        ++counts[reinterpret_cast<Block*>(static_cast<std::uintptr_t>(results[shape.index + 1]))];
    for (const frontend::ResultShape& item : shape.items) count_references(item, results, counts);
}

PyObject* Dispatch::call(PyObject* const* args, std::size_t count, PyObject* keywords,
                         const NDRange* range) {
    if (!is_fresh()) prepare();
    // Another thread may prepare anew while a launch or a buffer's owner lets go of the lock.
    struct Call {
        Dispatch& d;
        explicit Call(Dispatch& dispatch) : d(dispatch) { ++d.calls_; }
        ~Call() {
            if (--d.calls_ == 0 && !d.retired_.empty()) std::exchange(d.retired_, {}).clear();
        }
    } in_progress(*this);
    const frontend::Source& source = *source_;
    Arguments arguments(name_);
    arguments.changed = &changed_;
    bind(source, arguments, args, count, keywords);
    arguments.finish();
    Specialisation* made = &find(source, arguments, range ? range->dimensions : 0);
    std::uint64_t few[8] = {};
    std::vector<std::uint64_t> many;
    std::uint64_t* results = few;
    if (made->result_count > std::size(few)) {
        many.resize(made->result_count);
        results = many.data();
    }
    auto arrays = arguments.array_args();
    LaunchArgs launch;
    launch.arrays = arrays;
    launch.scalars = arguments.scalars();
    launch.results = {results, made->result_count};
    launch.threads = source.options.threads;
    if (range) launch.range = *range;
    Fault fault;
    KeepScope keeps(arguments);
    std::optional<HeapScope> objects;
    if (made->makes_objects) objects.emplace(arguments.heap());
    if (made->keeps_lock) {
        fault = made->executable->launch(launch);
    } else {
        // The lock comes back whatever the launch throws.
        struct Unlocked {
            PyThreadState* state = PyEval_SaveThread();
            ~Unlocked() { PyEval_RestoreThread(state); }
        } unlocked;
        InterruptScope asks(PyThread_get_thread_ident() == main_thread);
        fault = made->executable->launch(launch);
    }
    arguments.tables().give_back();
    if (fault.site == codegen::interrupted_site) raise_interrupt(*made, fault);
    if (fault.site >= 0) raise_fault(*made, fault);
    if (made->result.kind == frontend::ResultShape::Kind::Scalar)
        return number(Scalar{results[made->result.index], made->result.dtype});
    Taken taken;
    count_references(made->result, results, taken.references);
    return build(made->result, arguments, results, taken);
}

/// Memory that objects hold, too, and one reference to it.
Storage* shared_storage(Block* block, std::uintptr_t address, std::span<const std::int64_t> extents,
                        std::span<const std::int64_t> strides, std::int64_t size) {
    std::int64_t low = 0, high = size;
    for (std::size_t k = 0; k < extents.size(); ++k) {
        if (extents[k] == 0) high = low;
        (strides[k] < 0 ? low : high) += (extents[k] - 1) * strides[k] * size;
    }
    if (high < low) low = high = 0;
    Storage* storage = Storage::create(nullptr, high - low);
    storage->memory = {address + static_cast<std::uintptr_t>(low), high - low};
    storage->borrowed = true;
    storage->owner = block;
    storage->release_owner = [](void* owner) { release_block(static_cast<Block*>(owner)); };
    return storage;
}

/// The memory of a NumPy array without axes, which the array of ours keeps.
static Storage* borrowed_item(PyObject* object, std::uintptr_t address, std::int64_t bytes) {
    Storage* s = Storage::create(nullptr, bytes);
    s->memory = {address, bytes};
    s->borrowed = true;
    s->owner = Py_NewRef(object);
    s->release_owner = [](void* owner) { Py_DECREF(static_cast<PyObject*>(owner)); };
    return s;
}

/// An array that the function made, or a view of an argument.
PyObject* Dispatch::build_array(const frontend::ResultShape& shape, const Arguments& arguments,
                                const std::uint64_t* results, Taken& taken) const {
    auto rank = static_cast<std::size_t>(shape.rank);
    auto address = static_cast<std::uintptr_t>(results[0]);
    auto* block = reinterpret_cast<Block*>(static_cast<std::uintptr_t>(results[1]));
    std::vector<std::int64_t> extents, strides;
    for (std::size_t k = 0; k < rank; ++k) {
        extents.push_back(static_cast<std::int64_t>(results[2 + k]));
        strides.push_back(static_cast<std::int64_t>(results[2 + rank + k]));
    }
    Array argument;
    Storage* storage = nullptr;
    if (block && (block->drop || block->refs > taken.references[block])) {
        storage = shared_storage(block, address, extents, strides, size_of(shape.dtype));
    } else if (block) {
        auto [at, is_new] = taken.storages.emplace(block, nullptr);
        if (is_new) {
            at->second = Storage::create(nullptr, block->bytes);
            at->second->memory = {reinterpret_cast<std::uintptr_t>(block->data), block->bytes};
        }
        forget_block(block);
        storage = at->second;
    } else {
        Ref owner = arguments.object_at(address);
        PyObject* object = owner.get();
        UNISONO_ASSERT(object != nullptr);
        argument = is_array(object) ? array_of(object) : to_array(object, true);
        storage = argument.view().storage;
        // What NumPy has without axes, ours holds as a number.
        const Memory& m = storage->memory;
        bool is_inside =
            m.handle <= address && address <= m.handle + static_cast<std::uintptr_t>(m.bytes);
        if (!is_inside) storage = borrowed_item(object, address, size_of(shape.dtype));
    }
    auto offset =
        (static_cast<std::int64_t>(address) - static_cast<std::int64_t>(storage->memory.handle)) /
        size_of(shape.dtype);
    return wrap(Array::of({storage, Layout::make(extents, strides), offset, shape.dtype}));
}

/// A list of numbers, from memory that the function hands over.
static PyObject* build_list(const frontend::ResultShape& shape, const std::uint64_t* results) {
    const auto* data = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(results[0]));
    auto* block = reinterpret_cast<Block*>(static_cast<std::uintptr_t>(results[1]));
    auto count = static_cast<Py_ssize_t>(results[2]);
    Ref list(PyList_New(count));
    auto size = static_cast<std::size_t>(size_of(shape.dtype));
    for (Py_ssize_t i = 0; list && i < count; ++i) {
        const DType part = part_dtype(shape.dtype);
        const auto bytes = static_cast<std::size_t>(size_of(part));
        auto read = [&](std::size_t k) {
            Scalar s{0, part};
            std::memcpy(&s.bits, data + static_cast<std::size_t>(i) * size + k * bytes, bytes);
            return s;
        };
        PyObject* item = is_complex(shape.dtype)
                             ? PyComplex_FromDoubles(read(0).as<double>(), read(1).as<double>())
                             : number(read(0));
        if (!item) return nullptr;
        PyList_SET_ITEM(list.get(), i, item);
    }
    if (block) release_block(block);
    return list.release();
}

PyObject* Dispatch::build(const frontend::ResultShape& shape, const Arguments& arguments,
                          const std::uint64_t* results, Taken& taken) const {
    using Kind = frontend::ResultShape::Kind;
    switch (shape.kind) {
        case Kind::None: Py_RETURN_NONE;
        case Kind::Argument: return arguments.array_object(shape.index).release();
        case Kind::Owner: return Py_NewRef(arguments.owner(shape.index));
        case Kind::Array: return build_array(shape, arguments, results + shape.index, taken);
        case Kind::Scalar: return number(Scalar{results[shape.index], shape.dtype});
        case Kind::List: return build_list(shape, results + shape.index);
        case Kind::Complex: {
            auto part = [&](std::size_t k) {
                const frontend::ResultShape& p = shape.items[k];
                return Scalar{results[p.index], p.dtype}.as<double>();
            };
            return PyComplex_FromDoubles(part(0), part(1));
        }
        case Kind::Object: {
            auto* block =
                reinterpret_cast<Block*>(static_cast<std::uintptr_t>(results[shape.index + 1]));
            if (!block) Py_RETURN_NONE;
            auto address = static_cast<std::int64_t>(results[shape.index]);
            if (PyObject* known = arguments.object_of(address)) {
                release_block(block);
                return Py_NewRef(known);
            }
            if (shape.record->is_data) {
                PyObject* found = arguments.tables().data().object_at(*shape.record, address);
                release_block(block);
                return found;
            }
            return wrap_object(*shape.record, block);
        }
        case Kind::Text:
            return python_from(text_at(static_cast<std::int64_t>(results[shape.index])));
        case Kind::Table: {
            const char* code = shape.code.c_str();
            const auto* words = reinterpret_cast<const std::int64_t*>(results + shape.index);
            return arguments.tables().object_from(code, words);
        }
        case Kind::Record:
        case Kind::Tuple: break;
    }
    Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(shape.items.size())));
    if (!tuple) return nullptr;
    for (std::size_t i = 0; i < shape.items.size(); ++i) {
        PyObject* item = build(shape.items[i], arguments, results, taken);
        if (!item) return nullptr;
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item);
    }
    return shape.record ? make_object(*shape.record, tuple.get()) : tuple.release();
}

/// The source line `line` of the file, from the function or whatever it calls.
static std::string find_line(const frontend::Source& source, const std::string& file, int line) {
    if (source.file == file) {
        std::string text = frontend::line_text(source, line);
        if (!text.empty()) return text.substr(std::min(text.size(), text.find_first_not_of(" \t")));
    }
    for (const auto& inner : source.nested) {
        std::string text = find_line(*inner, file, line);
        if (!text.empty()) return text;
    }
    for (const auto& callee : source.callees) {
        std::string text = callee ? find_line(*callee, file, line) : std::string();
        if (!text.empty()) return text;
    }
    return {};
}

void Dispatch::raise_fault(const Specialisation& s, const Fault& fault) const {
    const ir::FaultSite& site = s.executable->sites()[static_cast<std::size_t>(fault.site)];
    bool is_print = site.kind == ErrorKind::Runtime && restore_print_error();
    ForeignError foreign;
    if (site.message == frontend::cpp_exception && take_foreign_error(foreign)) {
        ir::FaultSite told = site;
        told.kind = foreign.kind;
        told.message = foreign.text;
        set_exception(told, fault.values);
    } else if (!is_print) {
        set_exception(site, fault.values);
    }
    raise_at(s, site.line);
}

/// What the signal's handler raised is set already.
void Dispatch::raise_interrupt(const Specialisation& s, const Fault& fault) const {
    if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    ir::Line line;
    line.line = static_cast<std::int32_t>(fault.values[0]);
    line.file = static_cast<std::uint16_t>(fault.values[1]);
    if (line.line == 0) line.line = s.request.source->first_line;
    raise_at(s, line);
}

/// Raises the error that is set, with a note that says where the compiled code stood.
void Dispatch::raise_at(const Specialisation& s, ir::Line place) const {
    const std::string& file = s.files.at(place.file);
    std::string note =
        "in compiled function " + name_ + ": " + file + ":" + std::to_string(place.line);
    std::string line = find_line(*s.request.source, file, place.line);
    for (PyObject* method : methods_) {
        const auto& source = dispatch_of(method)->source_;
        if (line.empty() && source) line = find_line(*source, file, place.line);
    }
    if (!line.empty()) note += "\n    " + line;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Ref done(PyObject_CallMethod(value, "add_note", "s", note.c_str()));
    if (!done) PyErr_Clear();
    PyErr_Restore(type, value, trace);
    throw PythonError{};
}

int Dispatch::traverse(visitproc visit, void* arg) const {
    Py_VISIT(function_.get());
    Py_VISIT(prepare_.get());
    Py_VISIT(defaults_.get());
    Py_VISIT(named_defaults_.get());
    for (const Guard& g : guards_) {
        Py_VISIT(g.owner.get());
        Py_VISIT(g.value.get());
    }
    for (const Ref& c : callees_) Py_VISIT(c.get());
    return 0;
}

void Dispatch::clear() {
    for (Ref* held : {&function_, &prepare_, &defaults_, &named_defaults_}) *held = Ref();
    guards_.clear();
    callees_.clear();
    source_.reset();
}

}  // namespace unisono::python
