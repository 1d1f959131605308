// Other forms of a compiled function: a node of array operations, a callback of C.
#include <algorithm>
#include <map>

#include "backends/codegen/compile.h"
#include "c/text.h"
#include "core/native/callbacks.h"
#include "errors.h"
#include "frontend/callback.h"
#include "ir/build.h"
#include "jit/dispatch.h"

namespace unisono::python {

const Dispatch::Element& Dispatch::element(const std::vector<frontend::Type>& args) {
    const auto& now = source();
    for (const Element& e : elements_) {
        if (e.args == args) return e;
    }
    if (now->captures > 0)
        throw Error(
            ErrorKind::Compile,
            name_ + ": an elementwise function cannot read variables of an enclosing scope; got '" +
                now->params.back().substr(0, now->params.back().find('.')) +
                "'; pass it, or use @un.jit with a loop");
    if (args.size() != now->params.size()) {
        fail(ErrorKind::Type, name_ + ": takes " + std::to_string(now->params.size()) +
                                  " arguments; got " + std::to_string(args.size()) +
                                  "; give one type or array for each");
    }
    using Kind = frontend::ResultShape::Kind;
    frontend::Compiled compiled = compile_source({now, args, true, 0});
    const frontend::ResultShape& result = compiled.result;
    const bool is_complex_result = result.kind == Kind::Complex;
    if (result.kind != Kind::Scalar && !is_complex_result) {
        throw Error(
            ErrorKind::Compile,
            name_ + ": an elementwise function must return one number; got " +
                (result.kind == Kind::Tuple ? std::string("a tuple") : std::string("no number")) +
                "; return a number, or use guvectorize for arrays");
    }
    Element made{args,
                 is_complex_result ? unisono::dtype_of('c', 2 * size_of(result.items[0].dtype))
                                   : result.dtype,
                 nullptr};
    made.has_state = has_state(compiled.module);
    // The parts of complex numbers are parameters and results of their own.
    const bool is_real =
        !is_complex_result &&
        std::none_of(args.begin(), args.end(), [](const auto& t) { return is_complex(t.dtype); });
    if (is_real && !made.has_state && ElementFunction::accepts(compiled.module))
        made.function = std::make_shared<ElementFunction>(std::move(compiled.module));
    return elements_.emplace_back(std::move(made));
}

/// Callbacks by their address; changed and read with Python's lock held.
static std::map<const void*, std::pair<const Dispatch*, const Specialisation*>>& callbacks() {
    static auto* all = new std::map<const void*, std::pair<const Dispatch*, const Specialisation*>>;
    return *all;
}

Dispatch::~Dispatch() {
    *self_ = nullptr;
    for (const auto& s : callbacks_) callbacks().erase(s->executable->callback());
}

static bool makes_tables(const ir::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(), [](const auto& f) {
        return std::find(f.natives.begin(), f.natives.end(), "table_new") != f.natives.end();
    });
}

/// A type as Python names it: a dtype's name for NumPy's scalars, "weak int" and the like for
/// Python's, "float64*" for a pointer.
frontend::Type type_named(std::string_view t, bool takes_complex) {
    if (t == "weak bool") return frontend::Type::python(Weak::Bool);
    if (t == "weak int") return frontend::Type::python(Weak::Int);
    if (t == "weak float") return frontend::Type::python(Weak::Float);
    bool found = true, is_pointer = t.ends_with('*');
    DType d = dtype_from_name(is_pointer ? t.substr(0, t.size() - 1) : t, found);
    const bool is_taken =
        found && !is_half(d) && (!is_complex(d) || (takes_complex && !is_pointer));
    if (is_taken && is_pointer) return frontend::Type::array(d, {ir::StrideClass::One}, true);
    if (!is_taken) {
        fail(ErrorKind::Type, std::string(t) +
                                  ": compiled functions do not support this number type; got " +
                                  std::string(t) + "; pass parts, or another dtype");
    }
    return frontend::Type::numpy(d);
}

/// The function's code before it is compiled, with C's result.
ir::Module Dispatch::lowered_callback(Specialisation& made, const std::vector<frontend::Type>& args,
                                      std::optional<DType> result) {
    made.request = {source(), args, false, 0};
    if (args.size() != made.request.source->params.size()) {
        fail(ErrorKind::Type, name_ + ": the signature has " + std::to_string(args.size()) +
                                  " arguments; expected " +
                                  std::to_string(made.request.source->params.size()) +
                                  ", as the function takes; write one type for each");
    }
    frontend::Compiled compiled = compile_source(made.request);
    if (makes_tables(compiled.module)) {
        throw Error(ErrorKind::Compile, name_ +
                                            ": a function for C cannot make a dict or set: no call "
                                            "of Python's owns it; use arrays");
    }
    using Kind = frontend::ResultShape::Kind;
    if (compiled.result.kind != (result ? Kind::Scalar : Kind::None) &&
        (result || compiled.result.kind != Kind::Scalar)) {
        throw Error(ErrorKind::Compile,
                    name_ + ": C gets one number or none of a function; the signature declares " +
                        (result ? std::string(unisono::name(*result)) : std::string("void")) +
                        "; return that, and give arrays back through pointers");
    }
    made.result = compiled.result;
    made.files = compiled.module.entry().files;
    return frontend::with_result(std::move(compiled.module), result);
}

void* Dispatch::compile_callback(const std::shared_ptr<Specialisation>& made, ir::Module module,
                                 Scalar failed) {
    CompileOptions options;
    options.callback = true;
    options.callback_failed = failed.bits;
    made->executable = find_device("cpu").compile(std::move(module), options);
    set_callback_hook(report_fault);
    void* address = made->executable->callback();
    callbacks()[address] = {this, made.get()};
    callbacks_.push_back(made);
    return address;
}

void* Dispatch::callback(const std::vector<frontend::Type>& args, std::optional<DType> result,
                         Scalar failed) {
    auto made = std::make_shared<Specialisation>();
    ir::Module module = lowered_callback(*made, args, result);
    return compile_callback(made, std::move(module), failed);
}

/// The function for C code that other compiled functions call; see core/native/callbacks.h.
std::int64_t Dispatch::keep_callback(const std::vector<std::string>& args,
                                     const std::string& result) {
    struct Locked {
        PyGILState_STATE state = PyGILState_Ensure();
        ~Locked() { PyGILState_Release(state); }
    } locked;
    std::string signature = result + "(";
    std::vector<frontend::Type> types;
    for (const std::string& a : args) {
        types.push_back(type_named(a));
        signature += a + ",";
    }
    if (!callbacks_in_progress_.insert(signature).second) {
        throw Error(ErrorKind::Compile,
                    name_ +
                        ": it is compiled for C while its own callback is; got a function that "
                        "passes itself to C; write the callback as a function of its own");
    }
    struct Done {
        std::set<std::string>& all;
        const std::string& one;
        ~Done() { all.erase(one); }
    } done{callbacks_in_progress_, signature};
    std::optional<DType> given;
    if (!result.empty()) given = type_named(result).dtype;
    auto made = std::make_shared<Specialisation>();
    ir::Module module = lowered_callback(*made, types, given);
    std::string text = ir::print(module);
    for (const std::string& file : made->files) text += file + '\n';
    auto number = static_cast<std::int64_t>(std::stoull(key_of(text)));
    if (!has_callback(number)) {
        Scalar failed;
        if (given) failed = Scalar::of(*given, 0);
        void* address = compile_callback(made, std::move(module), failed);
        unisono::keep_callback(number, address, made);
    }
    return number;
}

/// C cannot take an exception: it goes where those of destructors go.
void Dispatch::report_fault(const void* callback, const Fault& fault) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    auto found = callbacks().find(callback);
    if (found != callbacks().end()) {
        const Dispatch* dispatch = found->second.first;
        const Specialisation* made = found->second.second;
        guarded<int>(-1, [&]() -> int {
            if (fault.site == codegen::out_of_memory_site)
                fail(ErrorKind::Memory, dispatch->name_ + ": out of memory in a callback");
            dispatch->raise_fault(*made, fault);
        });
        PyErr_WriteUnraisable(dispatch->function_.get());
    }
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
}

}  // namespace unisono::python
