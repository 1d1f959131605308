// The state of one compiled function: its source, what it captured, its specialisations; and how a
// call runs.
#pragma once

#include <Python.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/native/block.h"
#include "frontend/compile.h"
#include "jit/fast_path.h"
#include "jit/launch/quick_launch.h"
#include "jit/values/arguments.h"
#include "reference.h"
#include "tape/record/element_function.h"

namespace unisono::python {

/// A captured value that must still be found where it was.
struct Guard {
    Ref owner;  ///< a dict or a cell
    Ref name;
    Ref value;  ///< null where there was nothing of that name
    bool holds() const;
};

struct Specialisation {
    std::vector<std::uint32_t> key;
    Device* device = nullptr;       ///< where its arrays lie; null: the host
    Device* host_device = nullptr;  ///< the one of the host's memory that they chose; null: none
    int dimensions = 0;
    bool makes_objects = false;  ///< on the heap of the call
    bool keeps_lock = false;     ///< runs for nanoseconds: no loop, no call
    int loops = -1;  ///< how deep loops over extents of arguments nest; -1: it may take longer
    bool is_plain = false;           ///< needs nothing of a call but numbers and arrays
    bool polls = true;               ///< may ask whether the user wants to stop
    Device* queue_device = nullptr;  ///< that computes while the host goes on; null: another one
    bool may_wait = false;           ///< runs on a queue, and all that it does is write to arrays
    frontend::CompileRequest request;
    frontend::ResultShape result;
    std::size_t result_count = 0, first_result = 0;  ///< the slot of the first, if packed
    std::vector<passes::ArrayEffect> effects;        ///< of its arrays, in their order
    bool writes = false;                             ///< to one of them
    const LaunchedCode* code = nullptr;
    std::vector<std::string> files;
    std::string report;
    std::unique_ptr<Executable> executable;
    std::unique_ptr<const QuickCall> quick;  ///< null where calls need more
    std::unique_ptr<const QuickLaunch> quick_launch;
};

/// A storage of memory that objects hold, too; takes over one reference to the block.
Storage* shared_storage(Block* block, std::uintptr_t address, std::span<const std::int64_t> extents,
                        std::span<const std::int64_t> strides, std::int64_t size);

/// A type as Python names it: "float64", "weak int", "float64*"; complex numbers where they are
/// taken.
frontend::Type type_named(std::string_view name, bool takes_complex = false);

/// Compile errors show their place themselves.
frontend::Compiled compile_source(const frontend::CompileRequest& request);

/// A result that is one number.
PyObject* number(Scalar s);

/// Whether this thread is the one that runs the handlers of signals.
bool in_main_thread();

struct BoundCode;

class Dispatch {
  public:
    /// Methods of classes, which live for good, and as what each was read.
    using Methods = std::vector<std::pair<PyObject*, std::shared_ptr<const frontend::Source>>>;

    Dispatch(PyObject* function, PyObject* prepare, bool is_kernel, std::string device,
             bool has_lines);
    ~Dispatch();

    /// Binds the arguments, compiles if need be, runs. range is null for functions.
    PyObject* call(PyObject* const* args, std::size_t count, PyObject* keywords,
                   const NDRange* range);
    PyObject* call_any(const frontend::Source& source, PyObject* const* args, std::size_t count,
                       PyObject* keywords, const NDRange* range, bool is_new, bool on_host = false);
    /// Runs a call that the device refuses on the host, with copies of the device's arrays, into
    /// which results are copied back (host_calls.cpp).
    PyObject* call_on_host(const frontend::Source& source, PyObject* const* args, std::size_t count,
                           PyObject* keywords, Device& device);
    /// Calls the Python function itself, whose statements run on all ranks of a mesh.
    PyObject* call_by_statements(PyObject* const* args, std::size_t count, PyObject* keywords,
                                 const Device& mesh);
    /// Calls the specialisation of `quick`, for which pack says that arguments wait.
    PyObject* call_waiting(const QuickCall& quick, const frontend::Source& source,
                           PyObject* const* args, std::size_t count, PackedArguments& packed);
    const std::shared_ptr<const frontend::Source>& source();
    /// Compiles for the eager signatures.
    void compile_signatures();
    /// Reads the source again and compiles what was compiled.
    void recompile();
    const std::vector<std::shared_ptr<Specialisation>>& specialisations() const {
        return specialisations_;
    }
    /// The function of scalars of these types as a node of array operations, and the dtype of its
    /// result; the function is null where calls may fail, or take too many operands.
    struct Element {
        std::vector<frontend::Type> args;
        DType result = DType::Float64;
        std::shared_ptr<const ElementFunction> function;
        bool has_state = false;  ///< its calls must come in order
    };
    const Element& element(const std::vector<frontend::Type>& args);
    /// The address of the function for C: arguments of these types, a result (or none). It lives as
    /// long as this object. After a fault, which is reported as an exception that nobody can catch,
    /// it returns `failed`.
    void* callback(const std::vector<frontend::Type>& args, std::optional<DType> result,
                   Scalar failed);
    /// See c/bound.cpp.
    std::shared_ptr<const BoundCode> bound_code(const std::vector<PyObject*>& all,
                                                std::vector<Weak> rest);
    [[noreturn]] void raise_interrupt(const Specialisation& s, const Fault& fault) const;
    [[noreturn]] void raise_fault(const Specialisation& s, const Fault& fault) const;
    /// Captured arrays as they are now: a later call may find others there.
    void add_captured(const frontend::Source& source, Arguments& arguments) const;
    /// Names and places of captured arrays, which a function that calls this one passes on.
    PyObject* captured_arrays();
    const std::string& name() const { return name_; }
    PyObject* function() const { return function_.get(); }  ///< the Python function
    bool is_kernel() const { return is_kernel_; }

    int traverse(visitproc visit, void* arg) const;
    void clear();

  private:
    void prepare();
    /// Whether this thread is reading our source further up its stack: we call ourselves.
    bool is_preparing() const { return preparing_ == std::this_thread::get_id(); }
    bool callees_are_fresh() const;
    bool is_fresh() const;
    void bind(const frontend::Source& source, Arguments& arguments, PyObject* const* args,
              std::size_t count, PyObject* keywords) const;
    const std::shared_ptr<Specialisation>& find(const frontend::Source& source,
                                                const Arguments& arguments, int dimensions);
    /// The same; null where the device of the arguments refuses it and the host takes it over.
    std::shared_ptr<Specialisation> find_unless_refused(const frontend::Source& source,
                                                        const Arguments& arguments,
                                                        const NDRange* range);
    bool follows_block(const Specialisation& made, const Arguments& arguments) const;
    /// Keeps what calls in progress use, when the source is read anew.
    void retire(const std::vector<std::shared_ptr<Specialisation>>& list);
    void compile(Specialisation& made, Device& device) const;
    void warn_of_host_program(const Specialisation& made) const;
    /// Whether such a call was refused by its device before.
    bool is_refused(const Arguments& arguments) const;
    /// Notes that its device refuses the call, and tells so once; false where the host cannot take
    /// it over.
    bool note_refusal(const Arguments& arguments, const Error& refusal) const;
    /// Sends a call with arguments of the host to the device that the decorator names.
    void place(Arguments& arguments) const;
    PyObject* default_of(const frontend::Source& source, std::size_t i) const;
    Device& device_for(const Arguments& arguments) const;
    Device& device_named() const;
    [[noreturn]] void raise_at(const Specialisation& s, ir::Line place) const;
    /// Of one call's results: storages made of blocks, and how often blocks come.
    struct Taken {
        Taken() = default;
        ~Taken();
        Taken(const Taken&) = delete;
        Taken& operator=(const Taken&) = delete;
        std::map<Block*, Storage*> storages;  ///< those of a device are retained
        std::map<Block*, std::int64_t> references;
        std::uint32_t evaluation = 0;  ///< of the launch, for storages
        Device* device = nullptr;      ///< where the blocks are; null: the host
        bool goes_to_host = false;     ///< the caller wants arrays of the host
    };
    /// Where a result lies in a storage, in bytes.
    struct DeviceResult {
        Storage* storage;
        std::int64_t bytes;
    };
    static DeviceResult find_on_device(const std::uint64_t* results, const Arguments& arguments,
                                       Taken& taken, Array& argument);
    PyObject* build_records(const frontend::ResultShape& shape, const Arguments& arguments,
                            const std::uint64_t* results, Taken& taken) const;
    PyObject* build_array(const frontend::ResultShape& shape, const Arguments& arguments,
                          const std::uint64_t* results, Taken& taken) const;
    PyObject* build(const frontend::ResultShape& shape, const Arguments& arguments,
                    const std::uint64_t* results, Taken& taken) const;

    /// What this function captured, not what those that it calls did.
    bool guards_hold() const;

    Ref function_, prepare_, defaults_, named_defaults_;
    mutable Methods methods_;
    std::string name_;
    bool is_kernel_;
    std::string device_name_;
    mutable bool has_warned_of_loop_ = false, has_warned_of_call_ = false;
    mutable bool has_warned_of_refusal_ = false, has_warned_of_statements_ = false;
    mutable std::vector<std::pair<std::vector<std::uint32_t>, const Device*>> refused_;
    bool has_lines_;  ///< debuggers and profilers see the lines of the code
    std::shared_ptr<const frontend::Source> source_;
    std::shared_ptr<frontend::Source> prepared_;  ///< what `source_` is going to be
    std::vector<Guard> guards_;
    /// A function that this one calls, and as what it was read here: it may be read anew for
    /// others.
    struct Callee {
        Ref function;
        std::weak_ptr<const frontend::Source> source;
    };
    std::vector<Callee> callees_;
    mutable bool is_asked_ = false;  ///< whether its callees are fresh: some of them call it
    std::vector<Ref> parameter_names_;
    Ref flat_arrays_;  ///< captured ones, the last parameters: (name, (mapping or cell, name
                       ///< there))
    std::vector<std::pair<PyObject*, PyObject*>> arrays_;  ///< these places
    std::vector<std::shared_ptr<Specialisation>> specialisations_;
    const QuickCall* quick_ = nullptr;          ///< of the one that was called last
    std::shared_ptr<Specialisation> launched_;  ///< last, if launches of it may be quick
    int calls_ = 0;                             ///< in progress; counted with Python's lock held
    std::vector<std::shared_ptr<const void>> retired_;
    static void report_fault(const void* callback, const Fault& fault);
    ir::Module lowered_callback(Specialisation& made, const std::vector<frontend::Type>& args,
                                std::optional<DType> result);
    void* compile_callback(const std::shared_ptr<Specialisation>& made, ir::Module module,
                           Scalar failed);
    std::int64_t keep_callback(const std::vector<std::string>& args, const std::string& result);

    std::deque<Element> elements_;
    std::vector<std::shared_ptr<Specialisation>> callbacks_;
    std::thread::id preparing_;
    std::shared_ptr<Dispatch*> self_ = std::make_shared<Dispatch*>(this);  ///< null at the end
    std::set<std::string> callbacks_in_progress_;
};

/// Notes the main thread and how signals are found: called when the module is loaded.
void install_interrupt();

/// The state behind an object of type Dispatcher, or null for any other object.
Dispatch* dispatch_of(PyObject* object);

}  // namespace unisono::python
