// Reads NumPy's arrays and their bases as they lie in memory.
#include "array/exchange/adopt.h"

#include "array/exchange/numpy_layout.h"
#include "array/object.h"
#include "reference.h"
#include "tape/block.h"
#include "tape/tape.h"

namespace unisono::python {

bool owns_memory(PyObject* object) noexcept {
    if (!is_numpy_array(object)) return false;
    const auto& a = *reinterpret_cast<NumPyArray*>(object);
    constexpr int needed = numpy_owns | numpy_aligned | numpy_writable;
    return (a.flags & needed) == needed && !a.base && !a.weakrefs;
}

std::optional<Array> array_behind(PyObject* object) {
    if (!is_numpy_array(object)) return {};
    const auto& a = *reinterpret_cast<NumPyArray*>(object);
    DType t;
    if (!is_plain(a, t)) return {};
    PyObject* base = object;
    while (base && is_numpy_array(base)) base = reinterpret_cast<NumPyArray*>(base)->base;
    if (base && PyMemoryView_Check(base)) base = PyMemoryView_GET_BASE(base);
    if (!base || !is_array(base)) return {};
    const Array& ours = array_of(base);
    Storage* s = ours.view().storage;
    if (!s || !s->memory.handle) return {};
    const char* memory = host_address(*s);
    if (!memory) return {};
    if (t == DType::Bool) Tape::current().complete(s, FlushReason::Read);
    const std::int64_t size = size_of(t), distance = a.data - memory;
    if (distance % size != 0) return {};
    std::int64_t strides[max_rank];
    if (a.rank > max_rank) return {};
    for (int k = 0; k < a.rank; ++k) strides[k] = a.strides[k] / size;
    const auto rank = static_cast<std::size_t>(a.rank);
    static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
    const auto* shape = reinterpret_cast<const std::int64_t*>(a.shape);
    const Layout* layout = Layout::make({shape, rank}, {strides, rank});
    // A view may have been made of other memory since.
    const std::int64_t first = distance / size + layout->lowest();
    if (first < 0 || (distance / size + layout->highest() + 1) * size > s->bytes) return {};
    if (t == DType::Bool && !are_truth_bytes(a.data, *layout)) return {};
    Array made = Array::of({s, layout, distance / size, t});
    if (!(a.flags & numpy_writable)) made.set_readonly();
    return made;
}

bool is_memory_map(PyObject* object) {
    // np.memmap and views of it, whose bases lead to a module mmap's object.
    for (int depth = 0; object && depth < 64; ++depth) {
        const char* name = Py_TYPE(object)->tp_name;
        if (std::strcmp(name, "mmap.mmap") == 0 || std::strcmp(name, "numpy.memmap") == 0 ||
            std::strcmp(name, "memmap") == 0)
            return true;
        if (is_numpy_array(object)) {
            object = reinterpret_cast<NumPyArray*>(object)->base;
        } else if (PyMemoryView_Check(object)) {
            object = PyMemoryView_GET_BASE(object);
        } else {
            return false;
        }
    }
    return false;
}

static bool are_truth_bytes(const std::uint8_t* first, Dims shape, Dims strides) {
    if (shape.empty()) return *first <= 1;
    std::uint8_t seen = 0;
    for (std::int64_t i = 0; i < shape[0]; ++i) {
        const std::uint8_t* at = first + i * strides[0];
        if (shape.size() == 1)
            seen |= *at;
        else if (!are_truth_bytes(at, shape.subspan(1), strides.subspan(1)))
            return false;
    }
    return seen <= 1;
}

bool are_truth_bytes(const void* first, const Layout& layout) noexcept {
    const auto* bytes = static_cast<const std::uint8_t*>(first);
    if (layout.size() == 0) return true;
    if (!layout.contiguous()) return are_truth_bytes(bytes, layout.shape(), layout.strides());
    const std::int64_t count = layout.size(), step = 1;
    return are_truth_bytes(bytes, {&count, 1}, {&step, 1});
}

void refuse_text_as_copy(const char* what, PyObject* copy) {
    if (!copy || !PyUnicode_Check(copy)) return;
    Ref text(PyObject_Repr(copy));
    if (!text.p) python_failed();
    fail(ErrorKind::Value, std::string(what) + ": strings are not allowed for copy=; got " +
                               PyUnicode_AsUTF8(text.p) + "; expected True, False or None");
}

}  // namespace unisono::python
