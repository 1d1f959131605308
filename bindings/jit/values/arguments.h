// Classifies and holds the arguments of one call of a compiled function.
#pragma once

#include <Python.h>

#include <complex>
#include <memory>
#include <set>
#include <vector>

#include "array/view.h"
#include "frontend/types.h"
#include "jit/values/records.h"
#include "jit/values/tables.h"
#include "passes/analysis/array_effects.h"
#include "reference.h"
#include "runtime/objects.h"
#include "tape/launch.h"

namespace unisono::python {

class Dispatch;
struct NumPyArray;

/// Arguments in the order of the compiled entry's parameters. Buffers are held until it is
/// destroyed, which needs Python's lock.
class Arguments {
  public:
    explicit Arguments(const std::string& function);
    ~Arguments();
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    /// Throws PythonError or Error where the object cannot be an argument; `name` is the
    /// parameter's.
    void add(PyObject* object, const std::string& name);
    /// As add, for a pointer of C to bytes of that dtype, which takes str (as UTF-8) and bytes, and
    /// arrays of either signedness.
    void add_bytes(PyObject* object, const std::string& name, DType wanted);
    /// An int with all bits of an unsigned number.
    void add_unsigned(std::uint64_t value) { add_scalar(DType::UInt64, Weak::None, value); }
    /// The next `size` arguments are items of a tuple.
    void begin_tuple(std::size_t size) {
        key_.push_back(TupleCode | static_cast<std::uint32_t>(size) << 4);
    }
    /// Parameters that the function changes where they are lists: such come as lists of objects.
    const std::set<std::string>* changed = nullptr;
    /// Notes a list that does, whatever parameters it is given to.
    void note_changed(PyObject* object, const std::string& name) {
        bool is_list = changed && !changed->empty() && PyList_CheckExact(object);
        if (is_list && changed->count(name)) shared_.push_back(object);
    }

    /// Whether what could not be used is not an argument but a captured variable.
    bool refused_captured() const { return refused_captured_; }

    /// Stands for an argument of that type; nothing can be launched.
    void add_type(const frontend::Type& type);
    std::size_t array_count() const { return arrays_.size(); }
    /// Arrays of the host from that one on are copied to the device of the other arguments, as
    /// those of other libraries are.
    void let_move(std::size_t first) {
        for (std::size_t k = first; k < arrays_.size(); ++k) arrays_[k].moves = true;
    }
    /// Call after the last add: notes whether arrays overlap and on which device they live.
    void finish();
    /// The call runs on that device, though its arrays are the host's; its results come back.
    void go_to(Device& device) {
        device_ = &device;
        comes_from_host_ = true;
    }
    /// The same, but results stay there.
    void move_to(Device& device) { device_ = &device; }
    /// A call on the host runs on that device of its memory, where its arrays lie: the interpreter.
    void run_on_host(Device& device) { host_device_ = &device; }
    Device* host_device() const { return host_device_; }  ///< null: the CPU
    /// Whether there are arrays, and none is ours.
    bool are_others() const;
    bool comes_from_host() const { return comes_from_host_; }
    /// The call runs on the host, whatever device the function names.
    void stay_on_host() { stays_ = true; }
    bool stays_on_host() const { return stays_; }

    /// Equal keys run the same compiled code. Starts with whether no arrays overlap.
    const std::vector<std::uint32_t>& key() const { return key_; }
    /// The types of the key.
    std::vector<frontend::Type> types() const;
    bool noalias() const { return noalias_; }
    Device* device() const { return device_; }  ///< where the call runs; null: the host
    std::span<const std::uint64_t> scalars() const { return scalars_; }
    /// Whether they are arrays of ours and numbers.
    bool are_plain() const;
    /// Of arrays of ours: whether code with these effects may run on their memory at once.
    bool may_launch(std::span<const passes::ArrayEffect> effects) const;
    /// Notes that it did.
    void note_launch(std::span<const passes::ArrayEffect> effects, const LaunchedCode& code) const;
    /// Adds them to the entry of a launch, or to the operands of one on the host.
    void add_operands(std::span<const passes::ArrayEffect> effects, Entry& entry) const;
    void add_operands(std::span<const passes::ArrayEffect> effects, LaunchOperands& to) const;
    /// Where the elements lie once nothing has to come before; valid while no argument is added.
    std::span<const ArrayArg> array_args();
    /// The array argument whose memory holds the address, or null.
    /// A field of a structured array is an array of its own.
    Ref object_at(std::uintptr_t address) const;
    /// The structured array whose records lie around an address, borrowed; null where none does.
    PyObject* owner_of_records(std::uintptr_t address) const;
    Ref array_object(int index) const;
    /// An argument that is the object at that address, or null.
    PyObject* object_of(std::int64_t address) const;
    /// The argument of that class that stands for an address.
    PyObject* object_for(std::int64_t address, const void* cls) const;
    /// The array argument in whose memory the address lies; null where that is a copy.
    PyObject* owner_of_memory(std::uintptr_t address) const;
    /// The structured array that the array is a field of.
    PyObject* owner(int index) const { return arrays_[static_cast<std::size_t>(index)].object; }
    /// Objects of the call; made at their first use.
    Heap& heap() {
        if (!heap_) heap_ = std::make_unique<Heap>();
        return *heap_;
    }

    /// Dicts and sets of the call.
    TableObjects& tables() const { return tables_; }

  private:
    friend class QuickCall;
    friend class QuickLaunch;
    friend class DeviceCopies;
    enum Code : std::uint32_t {
        ScalarCode = 1,
        ArrayCode = 2,
        BytesBit = 1 << 21,  ///< of ArrayCode: bytes, whose items are Python's integers
        TupleCode = 3,
        NoneCode = 4,  ///< and a DType + 1, for that itself
        FunctionCode = 5,
        ComplexCode = 6,
        ListCode = 7,
        ClassCode = 8,    ///< and the record's address, then the fields
        RecordsCode = 9,  ///< and the rank; the same
        TextCode = 10,
        BoundCode = 12,    ///< and the address of the method's source, then the object
        BuiltinCode = 13,  ///< and the address of its name, which lives for good
        TableCode = 11     ///< and its TableKind, the length of table_code, four letters in each
    };
    static frontend::Type read_type(const std::vector<std::uint32_t>& key, std::size_t& at);
    static std::uint32_t complex_code(DType t, bool is_python);
    static std::uint32_t array_code(DType t, int rank, bool writable, bool is_last_one) {
        return ArrayCode | static_cast<std::uint32_t>(t) << 4 |
               static_cast<std::uint32_t>(rank) << 8 |
               static_cast<std::uint32_t>(is_last_one) << 16 |
               static_cast<std::uint32_t>(writable) << 20;
    }
    static constexpr int max_rank = 16;
    struct Held {
        Held() {}  // leaves shape and strides undefined: calls are counted in nanoseconds
        PyObject* object = nullptr;
        Storage* storage = nullptr;  ///< of arrays of ours
        Py_buffer buffer;
        bool has_buffer = false;
        int rank = 0;
        Memory memory;  ///< of arrays of ours it may come later (array_args)
        std::int64_t offset = 0;
        std::int64_t shape[max_rank], strides[max_rank];
        Device* device = nullptr;
        PyObject* path = nullptr;               ///< names of the field of a structured array
        int group = 0;                          ///< fields of one array are apart
        std::int64_t step = 0, width = 0;       ///< bytes of a record, and of the field in it
        std::unique_ptr<std::uint64_t[]> copy;  ///< the items of a list
        bool moves = false;                     ///< see let_move
        Memory there;                           ///< a copy on a device (DeviceCopies), or nothing
        std::int64_t there_offset;              ///< of element [0, 0, ...] in it, in bytes
    };
    /// What a call fills; kept for the thread's next call, so that calls allocate nothing.
    struct Lists {
        std::vector<Held> arrays;
        std::vector<std::uint64_t> scalars;
        std::vector<std::uint32_t> key;
        std::vector<ArrayArg> args;
    };
    static std::vector<std::unique_ptr<Lists>>& free_lists();
    bool add_view(PyObject* object, const std::string& name);
    bool add_numpy(PyObject* object);
    bool add_value(PyObject* object);
    void add_complex(DType t, std::complex<double> value);
    void add_buffer(PyObject* object, const std::string& name);
    static void place(Held& held, const void* data, std::int64_t size,
                      std::span<const Py_ssize_t> shape, const Py_ssize_t* strides);
    void add_array(Held& held, DType t, bool writable);
    bool add_object(PyObject* object, const std::string& name);
    bool add_member(PyObject* object, const std::string& name);
    bool add_dtype(PyObject* object);
    bool add_records(PyObject* object, const std::string& name);
    void add_fields(PyObject* object, const NumPyArray* a, const RecordLayout& layout, int group,
                    const std::string& name);
    void add_pointer(const void* pointer);
    void add_list(PyObject* list, const std::string& name);
    bool add_bound(PyObject* method, const std::string& name);
    void add_data(PyObject* object, const std::string& name);
    bool add_callable(PyObject* object);
    void add_dispatch(Dispatch& function);
    void add_text(PyObject* text);
    void add_table(PyObject* object, const std::string& name);
    void add_table_code(int kind, const std::string& code);
    void add_function(const frontend::Source* source);
    void add_scalar(DType t, Weak weak, std::uint64_t bits);
    [[noreturn]] void refuse(const std::string& name, const std::string& got,
                             const std::string& way_out) const;

    /// Of an array whose elements the buffer protocol cannot tell of, as NumPy's dates; the error
    /// of the protocol is set.
    [[noreturn]] void refuse_elements(PyObject* object, const std::string& name) const;

    const std::string& function_;
    std::unique_ptr<Lists> lists_;
    std::vector<Held>& arrays_;
    std::vector<std::uint64_t>& scalars_;
    std::vector<std::uint32_t>& key_;
    std::vector<std::pair<std::int64_t, PyObject*>> objects_;  ///< of compiled classes, by address
    std::vector<std::pair<std::int64_t, PyObject*>> addressed_;  ///< that stand for an address
    std::vector<PyObject*> shared_;
    mutable bool refused_captured_ = false;
    std::vector<Ref> kept_;  ///< attributes and functions that nothing else may hold
    std::unique_ptr<Heap> heap_;
    mutable TableObjects tables_;
    bool noalias_ = true;
    Device* device_ = nullptr;
    Device* host_device_ = nullptr;
    bool comes_from_host_ = false, stays_ = false;
};

}  // namespace unisono::python
