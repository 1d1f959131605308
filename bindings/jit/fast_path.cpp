#include "jit/fast_path.h"

#include <algorithm>
#include <bit>

#include "array/exchange/numpy_layout.h"
#include "array/object.h"
#include "array/view.h"
#include "backends/codegen/compile.h"
#include "backends/timeline.h"
#include "core/threads/interrupt.h"
#include "jit/dispatch.h"

namespace unisono::python {

namespace {

constexpr std::size_t most_arrays = PackedArguments::most_arrays;

struct Range {
    std::uintptr_t from, to;
};

/// From the first to behind the last byte of the elements; strides in bytes.
Range range_of(const NumPyArray& a, std::int64_t size) {
    std::int64_t low = 0, high = size;
    for (int i = 0; i < a.rank; ++i) {
        if (a.shape[i] == 0) return {0, 0};
        (a.strides[i] < 0 ? low : high) += (a.shape[i] - 1) * a.strides[i];
    }
    auto address = reinterpret_cast<std::uintptr_t>(a.data);
    return {address + static_cast<std::uintptr_t>(low),
            address + static_cast<std::uintptr_t>(high)};
}

/// Memory that is not there yet is the storage's own, like no other.
Range range_of(const Storage& s) {
    if (!s.memory.handle) {
        auto own = reinterpret_cast<std::uintptr_t>(&s);
        return {own, own + 1};
    }
    return {s.memory.handle, s.memory.handle + static_cast<std::uintptr_t>(s.memory.bytes)};
}

/// The elements' address, extents and strides; `shift` divides strides of bytes.
template <class Number>
[[gnu::always_inline]] inline std::int64_t* put_array(std::int64_t* at, std::uintptr_t address,
                                                      const Number* shape, const Number* strides,
                                                      std::size_t rank, int shift,
                                                      std::int64_t& extent) {
    *at++ = static_cast<std::int64_t>(address);
    for (std::size_t i = 0; i < rank; ++i) {
        at[i] = shape[i];
        extent = std::max(extent, at[i]);
    }
    at += rank;
    for (std::size_t i = 0; i < rank; ++i) at[i] = strides[i] >> shift;
    return at + rank;
}

/// As std::fill with 0, without the call of memset that compilers make of it, which costs more than
/// the few numbers.
void clear_few(std::int64_t* at, const std::int64_t* end) {
    for (; at != end; ++at) {
        *at = 0;
        asm volatile("" : : : "memory");
    }
}

/// Whether loops of that depth take some microseconds at most.
bool is_short(int depth, std::int64_t extent) {
    constexpr std::int64_t most = 4096;
    if (depth < 0 || extent > most) return false;
    std::int64_t steps = 1;
    for (int k = 0; k < depth && steps <= most; ++k) steps *= extent;
    return steps <= most;
}

}  // namespace

std::unique_ptr<const QuickCall> QuickCall::of(const Specialisation& made, std::size_t params) {
    using Kind = frontend::ResultShape::Kind;
    bool is_quick = made.is_plain && !made.device &&
                    (made.result.kind == Kind::None || made.result.kind == Kind::Scalar) &&
                    made.key.size() == params + 1 && made.executable->packed_slots() > 0 &&
                    made.executable->packed_slots() <= PackedArguments::most_slots;
    if (!is_quick) return nullptr;
    std::size_t arrays = 0;
    for (std::size_t k = 1; k < made.key.size(); ++k) {
        std::uint32_t code = made.key[k];
        bool is_array = (code & 15) == Arguments::ArrayCode;
        bool is_number =
            (code & 15) == Arguments::ScalarCode && static_cast<Weak>(code >> 8 & 15) != Weak::None;
        if (!is_array && !is_number) return nullptr;
        arrays += is_array;
    }
    if (arrays > most_arrays) return nullptr;
    auto quick = std::make_unique<QuickCall>();
    quick->made_ = &made;
    std::size_t array = 0;
    for (std::size_t k = 1; k < made.key.size(); ++k) {
        bool is_array = (made.key[k] & 15) == Arguments::ArrayCode;
        quick->arguments_.push_back(
            {made.key[k], is_array ? made.effects[array++] : passes::ArrayEffect(), Ref()});
    }
    quick->noalias_ = made.key[0] != 0;
    quick->has_arrays_ = arrays > 1;
    quick->slots_ = made.executable->packed_slots();
    quick->results_ = made.result_count;
    return quick;
}

QuickCall::Packed QuickCall::pack(PyObject* const* args, std::size_t count,
                                  PackedArguments& packed) const {
    if (count != arguments_.size()) return Packed::OtherTypes;
    packed.written_count = 0;
    std::int64_t* at = packed.slots;
    std::int64_t extent = 0;
    Range ranges[most_arrays];
    std::size_t arrays = 0;
    bool waits = false;
    for (std::size_t k = 0; k < count; ++k) {
        std::uint32_t code = arguments_[k].code;
        PyObject* object = args[k];
        if ((code & 15) == Arguments::ScalarCode) {
            if (!pack_number(object, static_cast<Weak>(code >> 8 & 15), *at++))
                return Packed::OtherTypes;
            continue;
        }
        auto rank = static_cast<std::size_t>(code >> 8 & 255);
        if (Py_TYPE(object) != array_type && is_numpy_array(object)) {
            const auto& a = *reinterpret_cast<const NumPyArray*>(object);
            if (static_cast<std::size_t>(a.rank) != rank) return Packed::OtherTypes;
            auto dtype = static_cast<DType>(code >> 4 & 15);
            std::int64_t size = size_of(dtype);
            if (a.dtype != arguments_[k].dtype.get()) {
                DType given{};
                if (!is_plain(a, given) || given != dtype) return Packed::OtherTypes;
                arguments_[k].dtype = Ref::of(a.dtype);
            } else if (!is_in_place(a, size)) {
                return Packed::OtherTypes;
            }
            int shift = std::countr_zero(static_cast<std::uint64_t>(size));
            std::int64_t* next = put_array(at, reinterpret_cast<std::uintptr_t>(a.data), a.shape,
                                           a.strides, rank, shift, extent);
            bool is_last_one = rank > 0 && (next[-1] == 1 || a.shape[rank - 1] <= 1);
            if (is_last_one) next[-1] = 1;
            if (Arguments::array_code(dtype, a.rank, (a.flags & numpy_writable) != 0,
                                      is_last_one) != code)
                return Packed::OtherTypes;
            if (has_arrays_) ranges[arrays++] = range_of(a, size);
            at = next;
            continue;
        }
        ArrayView view;
        if (!view_of_array(object, view) || view.storage->device || view.shape.size() != rank)
            return Packed::OtherTypes;
        Storage* s = view.storage;
        const passes::ArrayEffect effect = arguments_[k].effect;
        waits |= !may_launch(*s, effect.reads, effect.writes);
        if (effect.writes) packed.written[packed.written_count++] = s;
        if (!waits) s->allocate();
        std::int64_t* next =
            put_array(at, s->memory.handle + static_cast<std::uintptr_t>(view.offset),
                      view.shape.data(), view.strides.data(), rank, 0, extent);
        bool is_last_one = rank > 0 && (next[-1] == 1 || view.shape[rank - 1] <= 1);
        if (is_last_one) next[-1] = 1;
        if (Arguments::array_code(view.dtype, static_cast<int>(rank), view.writable, is_last_one) !=
            code)
            return Packed::OtherTypes;
        if (has_arrays_) ranges[arrays++] = range_of(*s);
        at = next;
    }
    if (has_arrays_) {
        bool meet = false;
        for (std::size_t i = 1; i < arrays; ++i) {
            for (std::size_t j = 0; j < i; ++j)
                meet |= ranges[i].from < ranges[j].to && ranges[j].from < ranges[i].to;
        }
        if (meet == noalias_) return Packed::OtherTypes;
    }
    clear_few(at, packed.slots + slots_);
    packed.extent = extent;
    return waits ? Packed::Waits : Packed::Ready;
}

void QuickCall::add_operands(PyObject* const* args, LaunchOperands& to) const {
    for (std::size_t k = 0; k < arguments_.size(); ++k) {
        const auto& [code, effect, dtype] = arguments_[k];
        if ((code & 15) == Arguments::ArrayCode && is_array(args[k]))
            to.add(array_of(args[k]).view(), effect.reads, effect.writes);
    }
}

void QuickCall::put_addresses(PyObject* const* args, PackedArguments& packed) const {
    std::int64_t* at = packed.slots;
    for (std::size_t k = 0; k < arguments_.size(); ++k) {
        const std::uint32_t code = arguments_[k].code;
        if ((code & 15) != Arguments::ArrayCode) {
            ++at;
            continue;
        }
        if (is_array(args[k])) {
            const View& v = array_of(args[k]).view();
            v.storage->allocate();
            *at = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(v.data()));
        }
        at += 1 + 2 * (code >> 8 & 255);
    }
}

/// The fault is made in place: what the code just stored is slow to copy.
static Fault launch(const Specialisation& made, std::int64_t* packed, std::int64_t extent,
                    int threads) {
    if (made.keeps_lock || is_short(made.loops, extent))
        return made.executable->launch_packed(packed, threads);
    WithoutLock unlocked;
    if (!made.polls) return made.executable->launch_packed(packed, threads);
    InterruptScope asks(in_main_thread());
    return made.executable->launch_packed(packed, threads);
}

PyObject* run_packed(const Dispatch& dispatch, const Specialisation& made, std::int64_t* packed,
                     std::int64_t extent, int threads) {
    timeline::Scope span;
    if (timeline::is_on()) [[unlikely]]
        span.begin(timeline::Kind::Launch, made.code->name, made.code->place);
    const Fault fault = launch(made, packed, extent, threads);
    if (fault.site == codegen::interrupted_site) dispatch.raise_interrupt(made, fault);
    if (fault.site >= 0) dispatch.raise_fault(made, fault);
    if (made.result.kind == frontend::ResultShape::Kind::None) return Py_NewRef(Py_None);
    std::size_t at = made.first_result + made.result.index;
    return number(Scalar{static_cast<std::uint64_t>(packed[at]), made.result.dtype});
}

}  // namespace unisono::python
