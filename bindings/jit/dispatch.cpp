// Prepares, specialises and runs compiled functions.
//
// A call takes these steps: captured values are compared with what they were (else the source is
// read again), the arguments are bound to parameters and classified into a key, the specialisation
// of that key is found or compiled, buffers stay held while it runs without Python's lock, and its
// results or its fault become Python objects.
#include "jit/dispatch.h"

#include <algorithm>

#include "backends/codegen/compile.h"
#include "backends/host/program.h"
#include "backends/timeline.h"
#include "core/settings.h"
#include "core/threads/interrupt.h"
#include "errors.h"
#include "frontend/scope.h"
#include "jit/effects.h"
#include "jit/launch/launch.h"
#include "jit/values/objects.h"
#include "jit/values/records.h"

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

bool in_main_thread() { return PyThread_get_thread_ident() == main_thread; }

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

/// What ctypes.byref and pointers of ctypes point to, or the address of memory of cffi; null of
/// other objects.
static Ref pointed(PyObject* object, const frontend::NativeParam& p, const std::string& argument) {
    const std::string_view type = Py_TYPE(object)->tp_name;
    if (type.starts_with("_cffi_backend.") && type.find("CData") != std::string_view::npos) {
        Ref helpers(PyImport_ImportModule("unisono._jit.foreign"));
        std::string dtype(name(p.dtype));
        Ref found(!helpers
                      ? nullptr
                      : PyObject_CallMethod(helpers.get(), "cffi_pointer", "Osss", object,
                                            argument.c_str(), p.spelling.c_str(), dtype.c_str()));
        if (!found) throw PythonError{};
        return found;
    }
    const bool is_reference = type == "CArgObject" || type == "_ctypes.CArgObject";  // since 3.13
    const char* member = is_reference ? "_obj" : type.starts_with("LP_") ? "contents" : "";
    if (!*member) return Ref();
    Ref found(PyObject_GetAttrString(object, member));
    if (!found) throw PythonError{};
    return found;
}

/// The value of a number of ctypes, as c_int(3); null of other objects.
static Ref number_of_ctypes(PyObject* object) {
    const std::string_view base = Py_TYPE(object)->tp_base ? Py_TYPE(object)->tp_base->tp_name : "";
    if (base != "_ctypes._SimpleCData") return Ref();
    Ref found(PyObject_GetAttrString(object, "value"));
    if (!found) throw PythonError{};
    return found;
}

/// The argument of a parameter; pointers of C to bytes take text, too, unsigned numbers all bits.
static void add_one(const frontend::Source& source, Arguments& arguments, PyObject* object,
                    std::size_t i) {
    const frontend::NativeParam* p =
        source.native && i < source.native->params.size() ? &source.native->params[i] : nullptr;
    Ref target = !p || PyFloat_CheckExact(object) || PyLong_CheckExact(object) ? Ref()
                 : p->is_pointer
                     ? pointed(object, *p, source.name + ": argument '" + source.params[i] + "'")
                     : number_of_ctypes(object);
    if (target) object = target.get();  // its buffer keeps it
    bool is_bytes = p && p->is_pointer && p->spelling.find("char") != std::string::npos &&
                    (p->dtype == DType::Int8 || p->dtype == DType::UInt8);
    bool is_wide = p && !p->is_pointer && p->dtype == DType::UInt64 && PyLong_CheckExact(object) &&
                   _PyLong_Sign(object) > 0 && _PyLong_NumBits(object) == 64;
    if (is_bytes)
        arguments.add_bytes(object, source.params[i], p->dtype);
    else if (is_wide)
        arguments.add_unsigned(PyLong_AsUnsignedLongLong(object));
    else
        arguments.add(object, source.params[i]);
}

void Dispatch::bind(const frontend::Source& source, Arguments& arguments, PyObject* const* args,
                    std::size_t count, PyObject* keywords) const {
    const auto& params = source.params;
    auto n = params.size() - arrays_.size();
    auto given_names = keywords ? static_cast<std::size_t>(PyTuple_GET_SIZE(keywords)) : 0;
    if (count > source.positional && source.vararg < 0) {
        fail(ErrorKind::Type, name_ + ": too many arguments; got " + std::to_string(count) +
                                  "; expected " + std::to_string(source.positional) +
                                  "; leave the extra ones out");
    }
    for (std::size_t i = 0; i < std::min(count, n); ++i) arguments.note_changed(args[i], params[i]);
    if (count == n && given_names == 0 && source.vararg < 0) {
        for (std::size_t i = 0; i < n; ++i) add_one(source, arguments, args[i], i);
        return add_captured(source, arguments);
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
        arguments.note_changed(slots[i], params[i]);
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
        add_one(source, arguments, slots[i], i);
    }
    add_captured(source, arguments);
}

void Dispatch::add_captured(const frontend::Source& source, Arguments& arguments) const {
    std::size_t first = source.params.size() - arrays_.size();
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
        const auto& [owner, key] = arrays_[k];
        PyObject* held = PyDict_Check(owner) ? PyDict_GetItem(owner, key) : PyCell_GET(owner);
        if (!held)
            fail(ErrorKind::Type, name_ + ": the captured array '" +
                                      std::string(PyUnicode_AsUTF8(key)) +
                                      "' is gone; got nothing of that name; expected an array; "
                                      "call recompile()");
        const std::size_t before = arguments.array_count();
        arguments.add(held, source.params[first + k]);
        arguments.let_move(before);
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

/// That a block chose for new arrays; null for the CPU, and outside of blocks.
static Device* chosen_by_block() {
    const auto chosen = current<Places>().chosen;
    if (!chosen) return nullptr;
    const Places::Choice choice = chosen();
    return choice.is_set ? choice.device : nullptr;
}

/// The same; null for the interpreter, too.
static Device* device_of_block() {
    Device* device = chosen_by_block();
    return device && !device->info().host_memory ? device : nullptr;
}

void Dispatch::place(Arguments& arguments) const {
    if (arguments.device() || arguments.stays_on_host()) return;
    if (device_name_.empty()) {
        Device* block = arguments.are_others() ? chosen_by_block() : nullptr;
        if (block && block->info().host_memory) return arguments.run_on_host(*block);
        if (block) arguments.move_to(*block);
        return;
    }
    if (Device& named = device_named(); !named.info().host_memory) arguments.go_to(named);
}

static Device& host_device() {
    return find_device(setting("executor") == "interp" ? "interp" : "cpu");
}

Device& Dispatch::device_for(const Arguments& arguments) const {
    if (arguments.stays_on_host() && !arguments.device()) return host_device();
    if (arguments.device()) return *arguments.device();
    const bool is_chosen = arguments.host_device() && device_name_.empty();
    return is_chosen ? *arguments.host_device() : device_named();
}

Device& Dispatch::device_named() const {
    return device_name_.empty() ? host_device() : find_device(device_name_);
}

/// Compile errors show their place themselves.
frontend::Compiled compile_source(const frontend::CompileRequest& request) {
    try {
        return frontend::compile(request);
    } catch (const Error& e) {
        throw Error(e.kind(), e.what());
    }
}

const std::shared_ptr<Specialisation>& Dispatch::find(const frontend::Source& source,
                                                      const Arguments& arguments, int dimensions) {
    for (auto& s : specialisations_) {
        if (s->key == arguments.key() && s->device == arguments.device() &&
            s->host_device == arguments.host_device() && s->dimensions == dimensions)
            return s;
    }
    auto made = std::make_shared<Specialisation>();
    made->key = arguments.key();
    made->device = arguments.device();
    made->host_device = arguments.host_device();
    made->dimensions = dimensions;
    made->request = {source.shared_from_this(), arguments.types(), arguments.noalias(), dimensions};
    compile(*made, device_for(arguments));
    return specialisations_.emplace_back(std::move(made));
}

void Dispatch::retire(const std::vector<std::shared_ptr<Specialisation>>& list) {
    if (calls_ == 0) return;
    retired_.emplace_back(source_);
    retired_.insert(retired_.end(), list.begin(), list.end());
}

static bool has_host_loop(const Executable& executable) {
    const auto remarks = executable.listing().remarks;
    return std::any_of(remarks.begin(), remarks.end(),
                       [](const Remark& r) { return r.name == host_loop_remark; });
}

/// The host alone can tell who reaches a barrier; the interpreter always does.
static bool counts_at_barriers(const frontend::CompileRequest& request, const Device& device) {
    if (!device.info().host_memory || !request.source->is_kernel) return false;
    return device.info().name == "interp" || request.source->options.counts_at_barriers ||
           setting("boundscheck") == "1";
}

void Dispatch::compile(Specialisation& made, Device& device) const {
    if (!device.info().host_memory && !made.device) {
        fail(ErrorKind::Device,
             name_ + ": host arrays cannot be used on " + device.info().name +
                 "; got arrays in host memory; expected arrays on that device; move them with "
                 "to_device");
    }
    timeline::Scope span;
    if (timeline::is_on()) {
        const frontend::Source& source = *made.request.source;
        span.begin(timeline::Kind::Compile, "compile " + name_, {source.file, source.first_line});
    }
    made.request.counts_at_barriers = counts_at_barriers(made.request, device);
    MethodLog log;
    frontend::Compiled compiled = compile_source(made.request);
    for (PyObject* method : log.methods) {
        bool is_known = std::any_of(methods_.begin(), methods_.end(),
                                    [&](const auto& m) { return m.first == method; });
        if (!is_known) methods_.emplace_back(method, dispatch_of(method)->source_);
    }
    made.result = compiled.result;
    made.result_count = compiled.module.entry().results.size();
    made.files = compiled.module.entry().files;
    made.report = std::move(compiled.report);
    for (const std::string& text : compiled.warnings) {
        if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0) throw PythonError{};
    }
    made.effects = passes::array_effects(compiled.module);
    const frontend::Source& source = *made.request.source;
    made.code = &launched_code(name_, {source.file, source.first_line});
    made.makes_objects = may_make_objects(compiled.module);
    made.is_plain = !made.makes_objects && !may_keep_arguments(compiled.module) &&
                    arrays_.empty() && !compiled.module.entry().is_kernel &&
                    made.request.source->vararg < 0;
    made.writes = std::any_of(made.effects.begin(), made.effects.end(),
                              [](const auto& e) { return e.writes; });
    if (!device.info().host_memory) made.queue_device = &device;
    made.may_wait = made.queue_device && made.writes && !made.makes_objects &&
                    !may_keep_arguments(compiled.module) && !may_print(compiled.module) &&
                    made.result.kind == frontend::ResultShape::Kind::None;
    made.polls = may_poll(compiled.module);
    if (device.info().host_memory) made.loops = depth_of_loops(compiled.module).value_or(-1);
    made.keeps_lock = made.loops == 0;
    CompileOptions options;
    options.debug = has_lines_;
    options.fastmath = made.request.source->options.fastmath;
    made.executable = device.compile(std::move(compiled.module), options);
    if (made.queue_device) warn_of_host_program(made);
    // A loop of the host can be interrupted while it is called, not when its results are wanted.
    made.may_wait = made.may_wait && !has_host_loop(*made.executable);
    std::size_t slots = made.executable->packed_slots();
    if (slots > 0) made.first_result = slots - made.result_count;
    made.quick = QuickCall::of(made, made.request.source->params.size());
    if (made.request.source->vararg < 0 && !made.request.source->native && arrays_.empty())
        made.quick_launch = QuickLaunch::of(made, made.request.source->params.size());
}

/// Tells once of a loop of the user's that a device runs as one work-item, and of a function that
/// runs on the host.
void Dispatch::warn_of_host_program(const Specialisation& made) const {
    const frontend::Source& source = *made.request.source;
    const std::string& device = made.queue_device->info().name;
    auto is_loop_of_users = [&](const Remark& remark) {
        bool found = false;
        frontend::walk(source.body, [&](const frontend::Node& n) {
            const bool is_loop =
                n.kind == frontend::NodeKind::For || n.kind == frontend::NodeKind::While;
            found = found || (is_loop && n.place.line == remark.line);
        });
        return found && remark.file == source.file;
    };
    for (const Remark& remark : made.executable->listing().remarks) {
        if (remark.pass != host_program_pass || remark.name == host_loop_remark) continue;
        const bool is_call = remark.name == host_function_remark;
        bool& has_warned = is_call ? has_warned_of_call_ : has_warned_of_loop_;
        if (has_warned || (!is_call && !is_loop_of_users(remark))) continue;
        has_warned = true;
        const std::string what =
            is_call ? "a function that " + device +
                          " does not have runs on the host; its arrays are copied there and back"
                    : "a serial loop runs on " + device + " as one work-item";
        const std::string help =
            is_call ? "call it outside of the compiled function, on arrays of the device"
                    : "write prange for range if its iterations are independent; else move the "
                      "arrays to the host (to_device(\"cpu\")), which runs such loops faster";
        const std::string text = name_ + ": " + what + "\n  " + remark.file + ":" +
                                 std::to_string(remark.line) + "\n  what to do: " + help;
        if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0) throw PythonError{};
    }
}

/// The type as arguments of a call are classified: contiguous arrays where nothing else is said.
static frontend::Type as_argument(const frontend::Declared& d) {
    frontend::Type t = d.type;
    if (t.is_array() && !t.strides.empty()) {
        t.strides.assign(t.strides.size(), ir::StrideClass::Other);
        t.strides.back() = ir::StrideClass::One;
    }
    for (std::size_t i = 0; i < d.items.size(); ++i) t.items[i] = as_argument(d.items[i]);
    return t;
}

void Dispatch::compile_signatures() {
    const auto source = this->source();
    for (const frontend::Signature& s : source->signatures) {
        Arguments arguments(name_);
        std::size_t own = source->params.size() - source->captures;
        if (s.args.size() != own) {
            fail(ErrorKind::Type, name_ + ": a signature has one type per parameter; got " +
                                      std::to_string(s.args.size()) + "; expected " +
                                      std::to_string(own) + "; add or remove types");
        }
        // Records, functions and objects are compiled when a call brings them.
        auto waits = [](const auto& d) { return !d.is_given || d.type.is_instance(); };
        if (std::any_of(s.args.begin(), s.args.end(), waits)) continue;
        for (const frontend::Declared& d : s.args) arguments.add_type(as_argument(d));
        add_captured(*source, arguments);
        arguments.finish();
        place(arguments);
        find(*source, arguments, 0);
    }
}

void Dispatch::recompile() {
    auto old = std::move(specialisations_);
    specialisations_.clear();
    quick_ = nullptr;
    launched_ = nullptr;
    retire(old);
    prepare();
    const auto source = source_;
    for (const auto& s : old) {
        auto made = std::make_shared<Specialisation>();
        made->key = s->key;
        made->device = s->device;
        made->host_device = s->host_device;
        made->dimensions = s->dimensions;
        made->request = s->request;
        made->request.source = source;
        const bool is_chosen = s->host_device && device_name_.empty();
        compile(*made, s->device ? *s->device : is_chosen ? *s->host_device : device_named());
        specialisations_.push_back(made);
    }
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
    const bool is_new = !is_fresh();
    if (is_new) prepare();
    // Another thread may prepare anew while a launch or a buffer's owner lets go of the lock.
    struct Call {
        Dispatch& d;
        explicit Call(Dispatch& dispatch) : d(dispatch) { ++d.calls_; }
        ~Call() {
            if (--d.calls_ == 0 && !d.retired_.empty()) std::exchange(d.retired_, {}).clear();
        }
    } in_progress(*this);
    const frontend::Source& source = *source_;
    const bool may_move = quick_ && !quick_->specialisation().queue_device && chosen_by_block();
    if (quick_ && !keywords && !range && !may_move) {
        PackedArguments packed;
        const QuickCall& quick = *quick_;
        switch (quick.pack(args, count, packed)) {
            case QuickCall::Packed::Ready:
                packed.note_launch(*quick.specialisation().code);
                return run_packed(*this, quick.specialisation(), packed.slots, packed.extent,
                                  source.options.threads);
            case QuickCall::Packed::Waits: return call_waiting(quick, source, args, count, packed);
            case QuickCall::Packed::OtherTypes: break;
        }
    }
    if (range && launched_ && !keywords) {
        const auto made = launched_;
        if (made->quick_launch->submit(made, args, count, *range, source.options.threads))
            Py_RETURN_NONE;
    }
    return call_any(source, args, count, keywords, range, is_new);
}

static bool holds_array(const frontend::ResultShape& shape) {
    return shape.kind == frontend::ResultShape::Kind::Array ||
           std::any_of(shape.items.begin(), shape.items.end(), holds_array);
}

/// In a block of a device, arrays that a function makes of numbers alone are made there, as
/// those of `zeros` are. On a mesh, compiled code makes the rank's own arrays.
bool Dispatch::follows_block(const Specialisation& made, const Arguments& arguments) const {
    if (made.device || arguments.array_count() > 0 || arguments.stays_on_host()) return false;
    if (!device_name_.empty() || !holds_array(made.result)) return false;
    const Device* block = device_of_block();
    return block && block->info().kind != "mesh";
}

std::shared_ptr<Specialisation> Dispatch::find_unless_refused(const frontend::Source& source,
                                                              const Arguments& arguments,
                                                              const NDRange* range) {
    if (is_refused(arguments)) return nullptr;
    try {
        return find(source, arguments, range ? range->dimensions : 0);
    } catch (const Error& refusal) {
        if (range || !note_refusal(arguments, refusal)) throw;
    }
    return nullptr;
}

/// The way of every call: arguments of any types, results that are objects.
PyObject* Dispatch::call_any(const frontend::Source& source, PyObject* const* args,
                             std::size_t count, PyObject* keywords, const NDRange* range,
                             bool is_new, bool on_host) {
    Arguments arguments(name_);
    arguments.changed = &source.changed;
    if (on_host) arguments.stay_on_host();
    try {
        bind(source, arguments, args, count, keywords);
    } catch (const Error&) {
        // What the function captures may be read in another way by now.
        if (is_new || !arguments.refused_captured()) throw;
        prepare();
        return call(args, count, keywords, range);
    }
    arguments.finish();
    place(arguments);
    if (const Device* far = arguments.device(); far && !range && far->info().kind == "mesh")
        return call_by_statements(args, count, keywords, *far);
    auto known = find_unless_refused(source, arguments, range);
    if (known && !range && follows_block(*known, arguments)) {
        arguments.move_to(*device_of_block());
        known = find_unless_refused(source, arguments, range);
    }
    if (!known) return call_on_host(source, args, count, keywords, *arguments.device());
    Specialisation* made = known.get();
    quick_ = made->quick.get();
    launched_ = range && made->quick_launch ? known : nullptr;
    std::uint64_t few[8] = {};
    std::vector<std::uint64_t> many;
    std::uint64_t* results = few;
    if (made->result_count > std::size(few)) {
        many.resize(made->result_count);
        results = many.data();
    }
    LaunchArgs launch;
    launch.scalars = arguments.scalars();
    launch.results = {results, made->result_count};
    launch.threads = source.options.threads;
    if (range) launch.range = *range;
    if (made->may_wait && arguments.are_plain()) {
        record_launch(known, arguments, launch);
        Py_RETURN_NONE;
    }
    KeepScope keeps(arguments);
    std::optional<HeapScope> objects;
    if (made->makes_objects) objects.emplace(arguments.heap());
    std::uint32_t evaluation = made->code->evaluation;
    const Fault fault = !made->queue_device && arguments.may_launch(made->effects)
                            ? launch_ready(*made, arguments, launch)
                            : launch_waiting(*made, arguments, launch, evaluation);
    arguments.tables().give_back();
    if (fault.site == codegen::interrupted_site) raise_interrupt(*made, fault);
    if (fault.site >= 0) raise_fault(*made, fault);
    if (made->result.kind == frontend::ResultShape::Kind::Scalar)
        return number(Scalar{results[made->result.index], made->result.dtype});
    Taken taken;
    taken.evaluation = evaluation;
    taken.device = made->queue_device;
    taken.goes_to_host = arguments.comes_from_host();
    count_references(made->result, results, taken.references);
    return build(made->result, arguments, results, taken);
}

int Dispatch::traverse(visitproc visit, void* arg) const {
    Py_VISIT(function_.get());
    Py_VISIT(prepare_.get());
    Py_VISIT(defaults_.get());
    Py_VISIT(named_defaults_.get());
    Py_VISIT(flat_arrays_.get());
    for (const Guard& g : guards_) {
        Py_VISIT(g.owner.get());
        Py_VISIT(g.value.get());
    }
    for (const Callee& c : callees_) Py_VISIT(c.function.get());
    return 0;
}

void Dispatch::clear() {
    arrays_.clear();
    for (Ref* held : {&function_, &prepare_, &defaults_, &named_defaults_, &flat_arrays_})
        *held = Ref();
    guards_.clear();
    callees_.clear();
    source_.reset();
}

}  // namespace unisono::python
