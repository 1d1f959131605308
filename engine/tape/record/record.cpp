// Records elementwise operations.
#include "tape/record/record.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/error.h"
#include "core/limits.h"
#include "ops/scalar_eval.h"
#include "tape/record/dtype_rules.h"
#include "tape/record/float_errors.h"
#include "tape/record/hazards.h"
#include "tape/record/known_operations.h"
#include "tape/record/operands.h"
#include "tape/record/record_special.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono {

namespace {

/// Evaluates on known scalars.
Array known_result(Op op, std::span<const Arg> args, DType compute) {
    Scalar x = cast(args[0].scalar(), compute);
    Scalar y = args.size() > 1 ? cast(args[1].scalar(), compute) : Scalar{};
    return Array::known(eval(op, x, y));
}

bool all_scalars(std::span<const Arg> args) {
    return std::all_of(args.begin(), args.end(), [](const Arg& a) { return a.is_scalar(); });
}

/// What op gives on operands of one dtype, looked up instead of derived.
struct OpTable {
    struct Row {
        bool plain = false;  ///< defined on the dtype itself, computed in it
        Op op = Op::Add;
        DType result = DType::Bool;
        ScalarFunction evaluate = nullptr;
        block_loops::Forms loops = nullptr;  ///< of eager statements; null where there is none
    };
    Row rows[op_count][dtype_count];
    [[gnu::noinline]] OpTable() {
        for (int o = 0; o < op_count; ++o) {
            for (int t = 0; t < dtype_count; ++t) {
                auto dtype = static_cast<DType>(t);
                Op op = bool_form(static_cast<Op>(o), dtype);
                // Powers of integers check their exponents first.
                if (op == Op::Power && is_integer(dtype)) continue;
                if (compute_dtype(op, dtype) == dtype)
                    rows[o][t] = {true, op, *result_dtype(op, dtype), scalar_function(op, dtype),
                                  block_loops::operation(op, dtype)};
            }
        }
    }
};

inline const OpTable::Row& plain_row(Op op, DType t) {
    static const OpTable table;
    return table.rows[static_cast<int>(op)][static_cast<int>(t)];
}

/// Whether a Python integer is within t's range.
bool takes_integer(const Arg& scalar, DType t, std::uint64_t& bits) {
    bits = cast(scalar.scalar(), t).bits;
    return misfit(scalar.scalar(), t) == 0;
}

/// A scalar beside operands of dtype t as one of dtype t, where no range is to be checked; false
/// otherwise.
bool takes_plainly(const Arg& scalar, DType t, std::uint64_t& bits) {
    bits = scalar.scalar().bits;
    switch (scalar.weak) {
        case Weak::None: return scalar.view.dtype == t;
        case Weak::Float: return t == DType::Float64;
        case Weak::Int:
            if (scalar.view.dtype != DType::Int64) return false;  // a large one
            if (is_integer(t)) return t == DType::Int64 || takes_integer(scalar, t, bits);
            if (t != DType::Float64) return false;
            bits =
                std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(bits)));
            return true;
        default: return false;
    }
}

// The steps of a small statement are inlined where they stand: a call costs as much as a step.

/// The common case without detours: operands of one dtype and shape on one device, or one and a
/// scalar that is taken as it is. Null where anything else is met.
[[gnu::always_inline]] inline const OpTable::Row* plain_case(Op op, std::span<const Arg> args,
                                                             const View*& like) {
    const View* first = args[0].is_scalar() ? nullptr : &args[0].view;
    const View* second = args.size() < 2 || args[1].is_scalar() ? nullptr : &args[1].view;
    like = first ? first : second;
    if (!like) return nullptr;
    if (first && second) {
        if (first->layout->packed() != second->layout->packed() || first->dtype != second->dtype ||
            first->storage->device != second->storage->device) {
            return nullptr;
        }
    } else if (args.size() == 2) {
        std::uint64_t bits;
        if (!takes_plainly(args[first ? 1 : 0], like->dtype, bits)) return nullptr;
    }
    const auto& row = plain_row(op, like->dtype);
    return row.plain ? &row : nullptr;
}

/// Whether the result of such a case goes into `out` without a cast, a broadcast or a copy of an
/// operand.
[[gnu::always_inline]] inline bool is_plain_output(const OpTable::Row& row,
                                                   std::span<const Arg> args, const View& like,
                                                   const Array& out) {
    const View& v = out.view();
    if (out.is_known() || out.readonly() || v.dtype != row.result ||
        v.layout->packed() != like.layout->packed() || v.storage->device != like.storage->device ||
        v.storage->shared_outside() || overlaps_itself(v)) {
        return false;
    }
    for (const Arg& a : args) {
        if (!a.is_scalar() && a.view.storage == v.storage && !a.view.same_as(v)) return false;
    }
    return true;
}

/// The row of such a case whose result goes into `out`, if that is given, as it is; else null.
[[gnu::always_inline]] inline const OpTable::Row* plain_statement(Op op, std::span<const Arg> args,
                                                                  const Array* out,
                                                                  const View*& like) {
    const OpTable::Row* row = plain_case(op, args, like);
    return row && out && !is_plain_output(*row, args, *like, *out) ? nullptr : row;
}

/// Whether some dtypes that have the operation compute it by others.
bool has_detours(Op op) { return op == Op::FloorDiv || op == Op::NextAfter; }

/// Such a case on few packed elements, ready to be computed at once.
struct PlainCall {
    block_loops::Loop loop;
    const char* data[2];
    std::uint64_t scalars[2];
    std::int64_t read = 0;
};

/// Where the elements of the host's memory are, if they are there now; else null.
inline const char* elements(const View& v) {
    return eager::is_ready(v.storage) ? v.data() : nullptr;
}

/// The same on the mesh of a rank alone.
const char* elements_alone(const View& v) {
    View here;
    return view_here(v, here) ? elements(here) : nullptr;
}

/// False where an operand is not ready or lies otherwise.
template <const char* (*elements_of)(const View&) = elements>
[[gnu::always_inline]] inline bool prepare_plain(const OpTable::Row& row, std::span<const Arg> args,
                                                 const View& like, const View* into,
                                                 PlainCall& call) {
    const Layout* layout = like.layout;
    if (!row.loops || !layout->contiguous() || layout->size() == 0) return false;
    if (into && (!eager::is_idle(into->storage) || !into->layout->contiguous())) return false;
    unsigned form = 0;
    for (std::size_t k = 0; k < args.size(); ++k) {
        const View& v = args[k].view;
        if (args[k].is_scalar()) {
            takes_plainly(args[k], like.dtype, call.scalars[k]);
            call.data[k] = reinterpret_cast<const char*>(&call.scalars[k]);
            form |= 1u << k;
            continue;
        }
        if (!v.layout->contiguous()) return false;
        call.data[k] = elements_of(v);
        if (!call.data[k]) return false;
        call.read += layout->size() * size_of(v.dtype);
    }
    if (args.size() == 1) call.data[1] = call.data[0];
    call.loop = row.loops[form];
    return true;
}

[[gnu::always_inline]] inline void run_plain(const PlainCall& call, const View& into) {
    const std::int64_t points = into.layout->size();
    call.loop(into.data(), call.data[0], call.data[1], call.data[0], points);
    ++into.storage->version;
    eager::note(into.storage, call.read, points * size_of(into.dtype));
}

// Each way to make an array is a function of its own, so that the array is made where the caller
// wants it: copying one that was just written would wait for the writes.
Array run_plain(const PlainCall& call, const Layout* layout, DType result) {
    const std::int64_t points = layout->size(), bytes = points * size_of(result);
    Storage* out = Storage::create(nullptr, bytes);
    Array made(out, layout, result, layout->rank() == 0);
    out->allocate();
    out->version = 1;
    eager::note(out, call.read, bytes);
    call.loop(out->data(), call.data[0], call.data[1], call.data[0], points);
    return made;
}

/// 1/s where it is exact, so that x/s and x*(1/s) have the same bits: for powers of two whose
/// reciprocal is a normal number.
template <class T>
bool has_exact_reciprocal(T s, T& reciprocal) {
    int exponent;
    const T mantissa = std::frexp(s, &exponent);
    if (mantissa != T(0.5) && mantissa != T(-0.5)) return false;
    reciprocal = T(1) / s;
    return std::isnormal(reciprocal);
}

template <class T>
void multiply_by_reciprocal(Entry& e) {
    T reciprocal;
    Scalar s{static_cast<std::uint64_t>(e.in[1].offset), e.compute};
    if (!has_exact_reciprocal(s.get<T>(), reciprocal)) return;
    s.set(reciprocal);
    e.in[1] = scalar_operand(s);
    e.op = Op::Mul;
}

/// Divisions take the processor several times as long as multiplications.
void multiply_where_exact(Entry& e) {
    if (e.op != Op::Div || e.in[1].storage) return;
    if (e.compute == DType::Float64) multiply_by_reciprocal<double>(e);
    if (e.compute == DType::Float32) multiply_by_reciprocal<float>(e);
}

inline void fill_plain(Entry& e, const OpTable::Row& row, std::span<const Arg> args,
                       const View& like) {
    e.kind = EntryKind::Map;
    e.op = row.op;
    e.compute = like.dtype;
    e.inputs = static_cast<std::uint8_t>(args.size());
    for (std::size_t k = 0; k < args.size(); ++k) {
        if (args[k].is_scalar()) {
            std::uint64_t bits = 0;
            takes_plainly(args[k], like.dtype, bits);
            e.in[k] = scalar_operand({bits, like.dtype});
            continue;
        }
        e.in[k].storage = args[k].view.storage;
        e.in[k].layout = args[k].view.layout;
        e.in[k].offset = args[k].view.offset;
        e.in[k].dtype = args[k].view.dtype;
    }
    multiply_where_exact(e);
}

Array record_plain(const OpTable::Row& row, std::span<const Arg> args, const View& like,
                   const Array* into, bool few) {
    Tape& tape = Tape::of(like.storage->device);
    const Layout* layout = into ? into->view().layout : like.layout->packed();
    if (like.storage->device) [[unlikely]]
        require_dtype(like.storage->device, row.result);
    Storage* out =
        into ? into->view().storage
             : Storage::create(like.storage->device, layout->size() * size_of(row.result));
    Array made(out, layout, row.result, !into && layout->rank() == 0);
    const View to{out, layout, into ? into->view().offset : 0, row.result};
    if (few) {
        Entry e;
        fill_plain(e, row, args, like);
        e.out = to;
        if (eager::run(e)) return made;
    }
    Entry& e = tape.open();
    fill_plain(e, row, args, like);
    e.out = to;
    tape.close(e);
    return made;
}

/// Whether two arrays make a third one without detours, and not at once: the most frequent case.
/// The row of their operation then, else null.
inline const OpTable::Row* pair_case(Op op, const View& a, const View& b) {
    if (a.layout->size() <= limits::eager_points || a.dtype != b.dtype ||
        a.layout->packed() != b.layout->packed() || a.storage->device != b.storage->device)
        return nullptr;
    const OpTable::Row& row = plain_row(op, a.dtype);
    return row.plain ? &row : nullptr;
}

/// The same of an array and a scalar, whose bits it gives.
inline const OpTable::Row* scaled_case(Op op, const View& like, const Arg& scalar,
                                       std::uint64_t& bits) {
    if (like.layout->size() <= limits::eager_points || !takes_plainly(scalar, like.dtype, bits))
        return nullptr;
    const OpTable::Row& row = plain_row(op, like.dtype);
    return row.plain ? &row : nullptr;
}

/// `like`: the array among them.
template <bool with_scalar>
inline Array record_pair(const OpTable::Row& row, const View& like, const View& a, const View& b) {
    const Layout* layout = like.layout->packed();
    if (like.storage->device) [[unlikely]]
        require_dtype(like.storage->device, row.result);
    Storage* out = Storage::create(like.storage->device, layout->size() * size_of(row.result));
    Array made(out, layout, row.result, layout->rank() == 0);
    Tape& tape = Tape::of(like.storage->device);
    Entry& e = tape.open();
    e.kind = EntryKind::Map;
    e.op = row.op;
    e.compute = like.dtype;
    e.inputs = 2;
    e.in[0] = a;
    e.in[1] = b;
    e.out = {out, layout, 0, row.result};
    if constexpr (with_scalar) multiply_where_exact(e);
    tape.close_new(e);
    return made;
}

Array apply_plain(const OpTable::Row& row, std::span<const Arg> args, const View& like,
                  const Array* into) {
    const bool few = like.layout->size() <= limits::eager_points && Tape::current().runs_eagerly();
    PlainCall call;
    if (few && prepare_plain(row, args, like, into ? &into->view() : nullptr, call)) {
        if (!into) return run_plain(call, like.layout, row.result);
        run_plain(call, into->view());
        return *into;
    }
    return record_plain(row, args, like, into, few);
}

}  // namespace

const KnownOperation* known_operations(Op op) {
    struct Table {
        KnownOperation rows[op_count][dtype_count];
        Table() {
            for (int o = 0; o < op_count; ++o) {
                for (int t = 0; t < dtype_count; ++t) {
                    const OpTable::Row& row = plain_row(static_cast<Op>(o), static_cast<DType>(t));
                    if (row.plain) rows[o][t] = {row.evaluate, row.result};
                }
            }
        }
    };
    static const Table table;
    return table.rows[static_cast<int>(op)];
}

bool apply_known(Op op, std::span<const Arg> args, Scalar& made) {
    const Arg& strong = args[0].weak == Weak::None ? args[0] : args.back();
    if (strong.weak != Weak::None) return false;
    DType t = strong.view.dtype;
    const OpTable::Row& row = plain_row(op, t);
    std::uint64_t a, b = 0;
    if (!row.plain || !takes_plainly(args[0], t, a)) return false;
    if (args.size() > 1 && !takes_plainly(args[1], t, b)) return false;
    made = {row.evaluate(a, b), row.result};
    return true;
}

/// NumPy refuses integers to negative integer powers; exponents are read before the call returns.
static void check_exponents(const Arg& exponent, DType compute) {
    if (info(compute).kind != 'i') return;
    bool negative = false;
    if (exponent.is_scalar()) {
        negative = exponent.scalar().as<std::int64_t>() < 0;
    } else if (info(exponent.view.dtype).kind == 'i' && exponent.view.layout->size() > 0) {
        Array lowest = reduce(Op::Min, Array::of(exponent.view), std::nullopt, false);
        negative = item(lowest).as<std::int64_t>() < 0;
    }
    if (negative) {
        fail(ErrorKind::Value,
             "power: integers to negative integer powers are not allowed; got a negative exponent "
             "for dtype " +
                 std::string(name(compute)) + "; convert the base with .astype(float)");
    }
}

/// Every case that apply_plain leaves.
[[gnu::noinline]] static Array apply_general(Op op, std::span<const Arg> given, const Array* out) {
    if (out) check_writable(info(op).numpy_name, *out);
    Array made;
    Arg own[2];
    std::copy(given.begin(), given.end(), own);
    std::span<Arg> args(own, given.size());
    compare_in_range(op, args);
    DType compute = compute_form(op, args);
    if (op == Op::Power) check_exponents(args[1], compute);
    if (all_scalars(args) && !out && !is_complex(compute)) return known_result(op, args, compute);
    DType result = *result_dtype(op, compute);
    const Layout* packed;
    Device* device;
    const std::string_view what = info(op).numpy_name;
    // In NumPy's order: a cast that is refused comes before a shape that does not fit.
    if (out) check_in_place_cast(what, result, out->dtype());
    packed = broadcast_layout(what, args);
    device = common_device(what, args);
    if (out) {
        for (const Arg& a : args) {
            if (!a.is_scalar() && device != out->device())
                mixed_devices(what, out->device(), device);
        }
        device = out->device();
        if (packed->rank() <= out->rank() && packed != out->view().layout->packed()) {
            Dims shapes[] = {packed->shape(), out->shape()};
            packed = Layout::contiguous(broadcast_shapes(what.data(), shapes));
        }
        check_out_shape(what, *out, packed);
    }
    Entry e{};
    e.kind = EntryKind::Map;
    e.op = op;
    e.compute = compute;
    e.inputs = static_cast<std::uint8_t>(args.size());
    Array keep[2];
    const bool fresh = out == nullptr;
    e.out = fresh ? fresh_view(packed, result, device) : out->view();
    made = Array::of(e.out, fresh && packed->rank() == 0);
    for (std::size_t k = 0; k < args.size(); ++k) {
        if (args[k].is_scalar()) {
            e.in[k] = scalar_as(args[k], compute);
        } else {
            e.in[k] = broadcast_view(args[k].view, packed);
        }
    }
    multiply_where_exact(e);
    Tape& tape = Tape::of(device);
    if (tape.run_eagerly(e)) return made;
    for (std::size_t k = 0; !fresh && k < args.size(); ++k)
        e.in[k] = snapshot_if_overlapping(e.in[k], e.out, keep[k]);
    tape.record(e);
    return made;
}

/// NumPy's floor_divide, but where an operand is infinite the array API's: the quotient itself.
static Array floor_quotient(std::span<const Arg> args, const Array* out) {
    if (out) {
        Op op = Op::FloorDiv;
        check_writable(info(op).numpy_name, *out);
        check_in_place_cast(info(op).numpy_name, elementwise_dtype(op, args), out->dtype());
    }
    Array floor = apply_general(Op::FloorDiv, args, nullptr);
    Array quotient = apply(Op::Div, args);
    Array infinite[2];
    for (std::size_t k = 0; k < 2; ++k) infinite[k] = apply(Op::IsInf, args.subspan(k, 1));
    Arg either[] = {infinite[0].arg(), infinite[1].arg()};
    Array made = where(apply(Op::Or, either).arg(), quotient.arg(), floor.arg());
    if (made.rank() == 0) made = to_value(made);
    if (!out) return made;
    Dims shapes[] = {made.shape(), out->shape()};
    check_out_shape(info(Op::FloorDiv).numpy_name, *out,
                    Layout::contiguous(broadcast_shapes("floor_divide", shapes)));
    assign(*out, made.arg());
    return *out;
}

/// Whether it asks what only reals can be.
static bool asks_of_reals(Op op) {
    return op == Op::IsNan || op == Op::IsInf || op == Op::IsFinite;
}

/// The operation with its errors reported; operands that it overwrites are kept for that.
[[gnu::noinline]] static Array apply_checked(Op op, std::span<const Arg> args, const Array* out) {
    float_errors::Unchecked guard;
    Array keep[2];
    Arg own[2];
    for (std::size_t k = 0; k < args.size(); ++k) {
        own[k] = args[k];
        if (!out || own[k].is_scalar()) continue;
        keep[k] = copy(Array::of(own[k].view));
        own[k].view = keep[k].view();
    }
    Array made = apply(op, {own, args.size()}, out);
    float_errors::check(op, {own, args.size()}, made);
    return made;
}

[[gnu::noinline]] static Array apply_any(Op op, std::span<const Arg> args, const Array* out);
static Array apply_far(Op op, std::span<const Arg> args, const Array* out);
static Array apply_beside(Op op, std::span<const Arg> args, const Array* out, Device* device);

Array apply(Op op, std::span<const Arg> args, const Array* out) {
    if (float_errors::is_checked()) [[unlikely]]
        return apply_checked(op, args, out);
    const bool is_pair = !out && args.size() == 2 && !has_detours(op);
    const View &a = args[0].view, &b = args[is_pair ? 1 : 0].view;
    if (is_pair && a.storage && b.storage) {
        if (const OpTable::Row* row = pair_case(op, a, b)) return record_pair<false>(*row, a, a, b);
    } else if (is_pair && (a.storage || b.storage)) {
        const View& like = a.storage ? a : b;
        std::uint64_t bits;
        if (const OpTable::Row* row = scaled_case(op, like, args[a.storage ? 1 : 0], bits)) {
            const View scalar = scalar_operand({bits, like.dtype});
            return record_pair<true>(*row, like, a.storage ? a : scalar, a.storage ? scalar : b);
        }
    }
    const View* like = nullptr;
    const OpTable::Row* row = has_detours(op) ? nullptr : plain_statement(op, args, out, like);
    if (row && !like->storage->device && !(out && reads_around(args, out->view()))) [[likely]]
        return apply_plain(*row, args, *like, out);
    bool is_on_device = out && out->device();
    for (const Arg& a : args) is_on_device |= !a.is_scalar() && a.view.storage->device;
    if (is_on_device) [[unlikely]]
        return apply_far(op, args, out);
    return apply_any(op, args, out);
}

/// Operands of a rank alone as the host's. Set field by field: clearing them first, or copying
/// what was just written, would cost as much as the rest of the statement.
union LocalOperands {
    LocalOperands() {}
    Arg of[3];

    /// False where one lies on another device, or must be planned.
    bool set(std::span<const Arg> args, const Device* place) {
        for (std::size_t k = 0; k < args.size(); ++k) {
            const View& v = args[k].view;
            of[k].weak = args[k].weak;
            if (v.storage && v.storage->device) {
                if (v.storage->device != place || !view_here(v, of[k].view)) return false;
                continue;
            }
            of[k].view.storage = v.storage;
            of[k].view.layout = v.layout;
            of[k].view.offset = v.offset;
            of[k].view.dtype = v.dtype;
        }
        return true;
    }
};

/// The first operand that lies on a device; null where all are the host's.
static const View* first_far(std::span<const Arg> args) {
    for (const Arg& a : args) {
        if (!a.is_scalar() && a.view.storage->device) return &a.view;
    }
    return nullptr;
}

/// Whether there is an array: of what may find that it cannot make one.
static bool is_made(const Array& a) { return a.view().layout; }

/// On the mesh of a rank alone: a statement on few elements that are ready, as most are.
struct FewAlone {
    const OpTable::Row* row;
    const View* like = nullptr;
    const Array* out;
    View target;  ///< of `out`, where that is not null
    Windows* windows;
    PlainCall call;

    /// False where it is any other.
    bool prepare(Op op, std::span<const Arg> args, const Array* into) {
        out = into;
        row = has_detours(op) ? nullptr : plain_statement(op, args, out, like);
        if (!row || like->layout->size() > limits::eager_points || like->layout->rank() == 0)
            return false;
        windows = windows_alone(like->storage->device);
        return windows && Tape::current().runs_eagerly() &&
               (!out || view_here(out->view(), target)) &&
               prepare_plain<elements_alone>(*row, args, *like, out ? &target : nullptr, call);
    }
    Array run() const {
        if (out) {
            run_plain(call, target);
            return *out;
        }
        ResultAlone made(*windows, like->layout, row->result, *like);
        run_plain(call, made.here);
        return std::move(made.array);
    }
};

/// On the mesh of a rank alone: the same statement on the host's arrays; none where it must be
/// planned.
static Array apply_alone(Op op, std::span<const Arg> args, const Array* out) {
    const View* like = out ? &out->view() : first_far(args);
    Device* const place = like->storage->device;
    Windows* windows = windows_alone(place);
    LocalOperands local;
    if (!windows || (out && out->readonly()) || !local.set(args, place)) return {};
    const std::span<const Arg> operands(local.of, args.size());
    if (out) {
        View target;
        if (!view_here(*like, target)) return {};
        const Array to = Array::of(target);
        apply_any(op, operands, &to);
        return *out;
    }
    for (const Arg& a : args) {
        if (!a.is_scalar() && a.view.layout->packed() != like->layout->packed()) return {};
    }
    Array computed = apply(op, operands);
    if (computed.rank() == 0) return computed;
    for (const Arg& a : operands) {
        if (computed.view().storage == a.view.storage) return {};  // no new memory
    }
    return windows->adopted(computed, *like);
}

/// Where some operand, or `out`, is on a device.
[[gnu::noinline]] static Array apply_far(Op op, std::span<const Arg> args, const Array* out) {
    if (FewAlone few; few.prepare(op, args, out)) return few.run();
    Array made = apply_alone(op, args, out);
    if (is_made(made)) return made;
    Device* far = far_device(args);
    if (out && windows_of(*out)) far = out->device();
    made = far ? apply_beside(op, args, out, far) : apply_any(op, args, out);
    return out ? made : shared_value(std::move(made));
}

/// Of operands of which some go to the device by themselves.
static Array apply_beside(Op op, std::span<const Arg> args, const Array* out, Device* device) {
    Array keep[3];
    Arg all[3];
    for (std::size_t k = 0; k < args.size(); ++k) all[k] = beside(args[k], device, keep[k]);
    return apply_any(op, {all, args.size()}, out);
}

static Array apply_any(Op op, std::span<const Arg> args, const Array* out) {
    if (op == Op::NextAfter && (out || !all_scalars(args)) &&
        elementwise_dtype(op, args) == DType::Float16)
        return half_next_after(args, out);
    if (op == Op::FloorDiv && is_float(common_dtype(args))) return floor_quotient(args, out);
    const View* like = nullptr;
    const OpTable::Row* row = plain_case(op, args, like);
    Scalar known;
    if (!row && mixes_signs(op, args)) return compare_signs(op, args, out);
    if (!row && (op == Op::Floor || op == Op::Ceil || op == Op::Trunc) &&
        !is_float(common_dtype(args)) && !is_complex(common_dtype(args)))
        return rounded_integer(op, args[0], out);
    if (!row && !out && asks_of_reals(op) && !all_scalars(args) &&
        (is_integer(common_dtype(args)) || is_bool(common_dtype(args)))) {
        // Integers are neither infinite nor not numbers: nothing is converted for the answer.
        const Arg both[] = {args[0], args[0]};
        return apply(op == Op::IsFinite ? Op::Eq : Op::Ne, both);
    }
    if (!like && !out && apply_known(op, args, known)) return Array::known(known);
    if (row && out && !is_plain_output(*row, args, *like, *out)) row = nullptr;
    if (!row) return apply_general(op, args, out);
    if (!out || !reads_around(args, out->view())) return apply_plain(*row, args, *like, out);
    assign(*out, apply_plain(*row, args, *like, nullptr).arg());
    return *out;
}

/// Records `where` of operands of one device, to memory of that dtype.
static void record_where(std::span<const Arg> all, const View& to) {
    Entry e{};
    e.kind = EntryKind::Select;
    e.compute = to.dtype;
    e.inputs = 3;
    e.out = to;
    for (std::size_t k = 0; k < 3; ++k) {
        e.in[k] = all[k].is_scalar() ? scalar_as(all[k], k == 0 ? DType::Bool : to.dtype)
                                     : broadcast_view(all[k].view, to.layout);
    }
    Tape::of(to.storage->device).append(e);
}

static Array where_of(std::span<const Arg> all, DType t) {
    const Layout* packed = broadcast_layout("where", all);
    const View to = fresh_view(packed, t, common_device("where", all));
    Array made = Array::of(to, packed->rank() == 0);
    record_where(all, to);
    return made;
}

/// The same on the mesh of a rank alone; none where it must be planned.
static Array where_alone(std::span<const Arg> args, DType t, const View& like) {
    Windows* windows = windows_alone(like.storage->device);
    LocalOperands local;
    if (!windows || !local.set(args, like.storage->device)) return {};
    const Layout* packed = broadcast_layout("where", local.of);
    if (packed->rank() > 0 && packed->size() <= limits::eager_points) {
        ResultAlone made(*windows, packed, t, like);
        record_where(local.of, made.here);
        return std::move(made.array);
    }
    Array computed = where_of(local.of, t);
    return computed.rank() == 0 ? computed : windows->adopted(computed, like);
}

Array where(const Arg& condition, const Arg& a, const Arg& b) {
    Arg values[] = {a, b};
    DType t = common_dtype(values);
    for (const Arg& value : values) check_weak("where", value, t);
    Arg all[] = {condition, a, b};
    const View* place = first_far(all);
    if (!place) return where_of(all, t);
    Array alone = where_alone(all, t, *place);
    if (is_made(alone)) return alone;
    Array near[3];
    if (Device* far = far_device(all)) {
        for (std::size_t k = 0; k < 3; ++k) all[k] = beside(all[k], far, near[k]);
    }
    return shared_value(where_of(all, t));
}

}  // namespace unisono
