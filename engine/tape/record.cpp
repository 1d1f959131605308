// Records elementwise operations, assignments and reductions.
#include "tape/record.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/error.h"
#include "core/pool.h"
#include "ops/scalar_eval.h"
#include "tape/hazards.h"
#include "tape/tape.h"

namespace unisono {

namespace {

std::string numpy_name(Op op) { return std::string(info(op).numpy_name); }

Storage* fresh_storage(std::int64_t elements, DType t, Device* device) {
    std::int64_t bytes = 0;
    std::int64_t limit = device ? device->info().memory_bytes : pool::limit();  // 0: unknown
    if (__builtin_mul_overflow(elements, size_of(t), &bytes) || (limit > 0 && bytes > limit)) {
        fail(ErrorKind::Memory,
             "memory: an array of " + std::to_string(elements) + " " + std::string(name(t)) +
                 " elements does not fit in the limit of " + std::to_string(limit >> 20) +
                 " MiB; use a smaller dtype or shape, or spread the array over a mesh");
    }
    return Storage::create(device, bytes);
}

/// A view on new memory with the packed layout of that shape.
View fresh_view(const Layout* packed, DType t, Device* device) {
    if (device && is_complex(t)) {
        fail(ErrorKind::Unsupported, "complex: no device has complex dtypes yet; got " +
                                         device->info().name + "; use the cpu, or the parts");
    }
    return {fresh_storage(packed->size(), t, device), packed, 0, t};
}

View broadcast_view(const View& v, const Layout* packed) {
    if (!v.storage || v.layout->packed() == packed) return v;
    std::int64_t strides[max_rank];
    int rank = packed->rank(), lead = rank - v.layout->rank();
    for (int a = 0; a < rank; ++a) {
        bool kept = a >= lead && v.layout->shape()[static_cast<std::size_t>(a - lead)] != 1;
        strides[a] = kept ? v.layout->strides()[static_cast<std::size_t>(a - lead)] : 0;
        if (a >= lead && packed->shape()[static_cast<std::size_t>(a)] == 1) strides[a] = 0;
    }
    return {v.storage, Layout::make(packed->shape(), {strides, static_cast<std::size_t>(rank)}),
            v.offset, v.dtype};
}

struct Common {
    DType dtype = DType::Float64;
    const Layout* packed = nullptr;
    Device* device = nullptr;
};

[[noreturn]] void mixed_devices(const std::string& what, const Device* a, const Device* b) {
    fail(ErrorKind::Device, what + ": operands live on different devices; got " + device_name(a) +
                                " and " + device_name(b) + "; move one with .to_device(...)");
}

const Layout* broadcast_layout(const std::string& what, std::span<const Arg> args) {
    const Layout* packed = nullptr;
    bool equal = true;
    for (const Arg& a : args) {
        if (a.is_scalar()) continue;
        if (packed && a.view.layout->packed() != packed) equal = false;
        if (!packed) packed = a.view.layout->packed();
    }
    if (equal) return packed ? packed : Layout::scalar();
    Dims shapes[3];
    std::size_t n = 0;
    for (const Arg& a : args) {
        if (!a.is_scalar()) shapes[n++] = a.view.layout->shape();
    }
    return Layout::contiguous(broadcast_shapes(what.c_str(), {shapes, n}));
}

Device* common_device(const std::string& what, std::span<const Arg> args) {
    Device* device = nullptr;
    bool any = false;
    for (const Arg& a : args) {
        if (a.is_scalar()) continue;
        if (any && a.view.storage->device != device)
            mixed_devices(what, device, a.view.storage->device);
        device = a.view.storage->device;
        any = true;
    }
    return device;
}

/// Python integers come as int64, beyond it as uint64, and beyond that as what float() makes of
/// them.
std::string digits(Scalar s) {
    if (is_float(s.dtype)) return "beyond 64 bits";
    return is_unsigned(s.dtype) ? std::to_string(s.as<std::uint64_t>())
                                : std::to_string(s.as<std::int64_t>());
}

/// -1 where an integer lies below the range of an integer dtype, 1 above it, 0 in it.
int misfit(Scalar s, DType t) {
    if (is_float(s.dtype)) return s.as<double>() < 0 ? -1 : 1;
    auto bits = 8 * size_of(t) - (is_signed(t) ? 1 : 0);
    bool negative = is_signed(s.dtype) && s.as<std::int64_t>() < 0;
    auto v = s.as<std::uint64_t>();
    if (negative) {
        if (is_unsigned(t)) return -1;
        return ~v >> bits ? -1 : 0;
    }
    return bits < 64 && v >> bits ? 1 : 0;
}

/// A comparison of integers with a Python integer that their dtype cannot hold has one answer for
/// all of them: it becomes a comparison with the end of the range.
void compare_in_range(Op& op, std::span<Arg> args) {
    if (!is_comparison(op) || args.size() != 2) return;
    for (std::size_t k = 0; k < 2; ++k) {
        const Arg& other = args[1 - k];
        if (args[k].weak != Weak::Int || other.weak != Weak::None) continue;
        if (!is_integer(other.view.dtype)) continue;
        int side = misfit(args[k].scalar(), other.view.dtype);
        if (side == 0) continue;
        // Whether (array op number) holds, the number lying below or above all elements.
        bool greater = op == Op::Gt || op == Op::Ge, less = op == Op::Lt || op == Op::Le;
        if (k == 0) std::swap(greater, less);
        bool holds = op == Op::Ne || (side < 0 ? greater : less);
        args[k] = {scalar_operand(identity(Op::Max, other.view.dtype)), Weak::None};
        // Nothing lies below the smallest; everything is equal to it or lies above.
        if (k == 0)
            op = holds ? Op::Le : Op::Gt;
        else
            op = holds ? Op::Ge : Op::Lt;
    }
}

/// A Python integer must fit the dtype that it adapts to.
void check_weak(std::string_view what, const Arg& a, DType t) {
    if (a.weak != Weak::Int || !is_integer(t) || a.scalar().dtype == t) return;
    if (misfit(a.scalar(), t) != 0) {
        fail(ErrorKind::Overflow, std::string(what) + ": Python integer " + digits(a.scalar()) +
                                      " out of bounds for " + std::string(name(t)) +
                                      "; convert the array with .astype first");
    }
}

Op bool_form(Op op, DType t) {
    if (!is_bool(t)) return op;
    if (op == Op::Add) return Op::Or;
    if (op == Op::Mul) return Op::And;
    return op;
}

DType checked_compute(Op op, DType common) {
    auto t = compute_dtype(op, common);
    if (!t) {
        std::string hint = is_bool(common) && op == Op::Sub ? "; use the ^ operator or logical_xor"
                           : is_bool(common) && op == Op::Neg
                               ? "; use the ~ operator or logical_not"
                               : "; convert with .astype first";
        fail(ErrorKind::Type,
             numpy_name(op) + ": not defined for dtype " + std::string(name(common)) + hint);
    }
    return *t;
}

bool same_kind(DType from, DType to) {
    auto level = [](DType t) {
        return is_bool(t) ? 0 : is_unsigned(t) ? 1 : is_signed(t) ? 2 : is_float(t) ? 3 : 4;
    };
    return level(from) <= level(to);
}

/// Whether views of two storages meet in memory: both then see memory that another library sees
/// too.
bool shares_borrowed_memory(const View& a, const View& b) {
    if (!a.storage->shared_outside() || !b.storage->shared_outside()) return false;
    if (!a.storage->memory.handle || !b.storage->memory.handle) return false;
    if (!a.storage->on_host() || !b.storage->on_host()) return false;
    auto first = [](const View& v) { return v.data() + v.layout->lowest() * size_of(v.dtype); };
    auto end = [](const View& v) {
        return v.data() + (v.layout->highest() + 1) * size_of(v.dtype);
    };
    return first(a) < end(b) && first(b) < end(a);
}

/// Reading `in` while `out` is written through another index map needs the value from before: a
/// copy.
View snapshot_if_overlapping(const View& in, const View& out, Array& keep) {
    if (!in.storage) return in;
    bool overlaps = in.storage == out.storage ? overlap(in, out) == Overlap::Partial
                                              : shares_borrowed_memory(in, out);
    if (!overlaps) return in;
    keep = copy(Array::of(in));
    return broadcast_view(keep.view(), out.layout->packed());
}

void check_writable(const std::string& what, const Array& out) {
    if (out.readonly()) {
        fail(
            ErrorKind::Value,
            what + ": the output array is read-only; make a copy with .copy() and write into that");
    }
}

void check_out_shape(const std::string& what, const Array& out, const Layout* packed) {
    if (out.view().layout->packed() != packed) {
        fail(ErrorKind::Value, what + ": non-broadcastable output; got an output of shape " +
                                   shape_text(out.shape()) + ", expected " +
                                   shape_text(packed->shape()));
    }
}

/// What int() of a Python float refuses, or what then does not fit, is refused where it would be
/// stored as an integer.
void check_weak_float(const Arg& a, DType t) {
    if (a.weak != Weak::Float || !is_integer(t)) return;
    auto v = a.scalar().as<double>();
    if (v != v) fail(ErrorKind::Value, "assignment: cannot convert float NaN to integer");
    if (v - v != 0) {
        fail(ErrorKind::Overflow, "assignment: cannot convert float infinity to integer");
    }
    double high = std::ldexp(1.0, static_cast<int>(8 * size_of(t)) - (is_signed(t) ? 1 : 0));
    double low = is_signed(t) ? -high : 0;
    if (std::trunc(v) < low || v >= high) {
        fail(ErrorKind::Overflow, "assignment: Python number " + std::to_string(v) +
                                      " out of bounds for " + std::string(name(t)) +
                                      "; convert the array with .astype first");
    }
}

/// A known scalar as an operand of dtype t; groups make complex numbers of it themselves.
View scalar_as(const Arg& a, DType t) {
    return scalar_operand(is_complex(t) ? a.scalar() : cast(a.scalar(), t));
}

/// Evaluates on known scalars.
Array known_result(Op op, std::span<const Arg> args, DType compute) {
    Scalar x = cast(args[0].scalar(), compute);
    Scalar y = args.size() > 1 ? cast(args[1].scalar(), compute) : Scalar{};
    return Array::known(eval(op, x, y));
}

/// What op gives on operands of one dtype, looked up instead of derived.
struct OpTable {
    struct Row {
        bool plain = false;  ///< defined on the dtype itself, computed in it
        Op op = Op::Add;
        DType result = DType::Bool;
        ScalarFunction evaluate = nullptr;
    };
    Row rows[op_count][dtype_count];
    OpTable() {
        for (int o = 0; o < op_count; ++o) {
            for (int t = 0; t < dtype_count; ++t) {
                auto dtype = static_cast<DType>(t);
                Op op = bool_form(static_cast<Op>(o), dtype);
                // Powers of integers check their exponents first.
                if (op == Op::Power && is_integer(dtype)) continue;
                if (compute_dtype(op, dtype) == dtype)
                    rows[o][t] = {true, op, *result_dtype(op, dtype), scalar_function(op, dtype)};
            }
        }
    }
};

const OpTable::Row& plain_row(Op op, DType t) {
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

/// The same for known scalars alone; false where a rule beyond the table is needed.
bool apply_known(Op op, std::span<const Arg> args, Array& made) {
    const Arg& strong = args[0].weak == Weak::None ? args[0] : args.back();
    if (strong.weak != Weak::None) return false;
    DType t = strong.view.dtype;
    const OpTable::Row& row = plain_row(op, t);
    std::uint64_t a, b = 0;
    if (!row.plain || !takes_plainly(args[0], t, a)) return false;
    if (args.size() > 1 && !takes_plainly(args[1], t, b)) return false;
    made = Array::known({row.evaluate(a, b), row.result});
    return true;
}

/// The common case without detours: operands of one dtype and shape on one device, or one and a
/// scalar that is taken as it is. Null where anything else is met.
const OpTable::Row* plain_case(Op op, std::span<const Arg> args, const View*& like) {
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
bool is_plain_output(const OpTable::Row& row, std::span<const Arg> args, const View& like,
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

Array apply_plain(const OpTable::Row& row, std::span<const Arg> args, const View& like,
                  const Array* into) {
    const Layout* layout = into ? into->view().layout : like.layout->packed();
    Tape& tape = Tape::instance();
    Entry& e = tape.open();
    Storage* out =
        into ? into->view().storage
             : Storage::create(like.storage->device, layout->size() * size_of(row.result));
    Array made(out, layout, row.result, !into && layout->rank() == 0);
    e.kind = EntryKind::Map;
    e.op = row.op;
    e.compute = like.dtype;
    e.inputs = static_cast<std::uint8_t>(args.size());
    e.out.storage = out;
    e.out.layout = layout;
    e.out.offset = into ? into->view().offset : 0;
    e.out.dtype = row.result;
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
    tape.close(e);
    return made;
}

}  // namespace

DType common_dtype(std::span<const Arg> args) {
    DType t{};
    bool any = false;
    for (const Arg& a : args) {
        if (a.weak != Weak::None) continue;
        t = any ? promote(t, a.view.dtype) : a.view.dtype;
        any = true;
    }
    Weak weakest = Weak::None;
    for (const Arg& a : args) weakest = std::max(weakest, a.weak);
    if (any) return promote_weak(t, weakest);
    for (const Arg& a : args) {
        if (weakest == Weak::Int && a.view.dtype != DType::Int64 && !is_bool(a.view.dtype))
            return a.view.dtype;
    }
    return default_dtype(weakest);
}

void check_in_place_cast(const std::string& what, DType result, DType out) {
    if (same_kind(result, out)) return;
    fail(ErrorKind::Type,
         what + ": cannot cast the result from " + std::string(name(result)) + " to " +
             std::string(name(out)) +
             " in place (casting rule 'same_kind'); write the result to a new array");
}

const std::string& device_name(const Device* device) {
    static const std::string host = "cpu";
    return device ? device->info().name : host;
}

/// The dtype in which op computes; op becomes the form that bools have.
static DType compute_form(Op& op, std::span<const Arg> args) {
    DType common = common_dtype(args);
    op = bool_form(op, common);
    DType compute = checked_compute(op, common);
    for (const Arg& a : args) check_weak(info(op).numpy_name, a, compute);
    return compute;
}

DType elementwise_dtype(Op op, std::span<const Arg> args) {
    if (is_comparison(op)) return DType::Bool;
    DType compute = compute_form(op, args);
    return *result_dtype(op, compute);
}

DType reduced_dtype(Op op, DType t, std::optional<DType> given) {
    bool widens = (op == Op::Add || op == Op::Mul) && !is_float(t) && !is_complex(t);
    DType wide = is_unsigned(t) ? DType::UInt64 : DType::Int64;
    return checked_compute(op, given ? *given : widens ? wide : t);
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
    if (out) check_writable(numpy_name(op), *out);
    Array made;
    Arg own[2];
    std::copy(given.begin(), given.end(), own);
    std::span<Arg> args(own, given.size());
    compare_in_range(op, args);
    DType compute = compute_form(op, args);
    if (op == Op::Power) check_exponents(args[1], compute);
    bool all_known = true;
    for (const Arg& a : args) all_known = all_known && a.is_scalar();
    if (all_known && !out && !is_complex(compute)) return known_result(op, args, compute);
    DType result = *result_dtype(op, compute);
    const Layout* packed;
    Device* device;
    // Two arrays with one contiguous layout, or one and a scalar: nothing to broadcast.
    std::string what = out || args.size() > 1 ? numpy_name(op) : std::string();
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
            packed = Layout::contiguous(broadcast_shapes(what.c_str(), shapes));
        }
        check_out_shape(what, *out, packed);
    }
    Entry e{};
    e.kind = EntryKind::Map;
    e.op = op;
    e.compute = compute;
    e.inputs = static_cast<std::uint8_t>(args.size());
    Array keep[2];
    bool fresh = out == nullptr;
    e.out = fresh ? fresh_view(packed, result, device) : out->view();
    made = Array::of(e.out, fresh && packed->rank() == 0);
    for (std::size_t k = 0; k < args.size(); ++k) {
        if (args[k].is_scalar()) {
            e.in[k] = scalar_as(args[k], compute);
        } else {
            e.in[k] = broadcast_view(args[k].view, packed);
            if (!fresh) e.in[k] = snapshot_if_overlapping(e.in[k], e.out, keep[k]);
        }
    }
    Tape::instance().append(e);
    return made;
}

/// NumPy's floor, ceil and trunc of integers and bools are their operands.
[[gnu::noinline]] static Array rounded_integer(Op op, const Arg& x, const Array* out) {
    DType t = common_dtype({&x, 1});
    if (!out) {
        return x.is_scalar() ? Array::known(cast(x.scalar(), t))
                             : astype(Array::of(x.view), t, true);
    }
    check_writable(numpy_name(op), *out);
    check_in_place_cast(numpy_name(op), t, out->dtype());
    assign(*out, x);
    return *out;
}

/// NumPy's floor_divide, but where an operand is infinite the array API's: the quotient itself.
static Array floor_quotient(std::span<const Arg> args, const Array* out) {
    if (out) {
        Op op = Op::FloorDiv;
        check_writable(numpy_name(op), *out);
        check_in_place_cast(numpy_name(op), elementwise_dtype(op, args), out->dtype());
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
    check_out_shape(numpy_name(Op::FloorDiv), *out,
                    Layout::contiguous(broadcast_shapes("floor_divide", shapes)));
    assign(*out, made.arg());
    return *out;
}

Array apply(Op op, std::span<const Arg> args, const Array* out) {
    if (op == Op::FloorDiv && is_float(common_dtype(args))) return floor_quotient(args, out);
    const View* like = nullptr;
    const OpTable::Row* row = plain_case(op, args, like);
    Array known;
    if (!row && (op == Op::Floor || op == Op::Ceil || op == Op::Trunc) &&
        !is_float(common_dtype(args)))
        return rounded_integer(op, args[0], out);
    if (!like && !out && apply_known(op, args, known)) return known;
    if (row && out && !is_plain_output(*row, args, *like, *out)) row = nullptr;
    return row ? apply_plain(*row, args, *like, out) : apply_general(op, args, out);
}

Array where(const Arg& condition, const Arg& a, const Arg& b) {
    Arg values[] = {a, b};
    DType t = common_dtype(values);
    for (const Arg& value : values) check_weak("where", value, t);
    Arg all[] = {condition, a, b};
    Device* device = common_device("where", all);
    const Layout* packed = broadcast_layout("where", all);
    Entry e{};
    e.kind = EntryKind::Select;
    e.compute = t;
    e.inputs = 3;
    e.out = fresh_view(packed, t, device);
    Array made = Array::of(e.out, packed->rank() == 0);
    for (std::size_t k = 0; k < 3; ++k) {
        e.in[k] = all[k].is_scalar() ? scalar_as(all[k], k == 0 ? DType::Bool : t)
                                     : broadcast_view(all[k].view, packed);
    }
    Tape::instance().append(e);
    return made;
}

static void check_destination(const Array& target) {
    if (!target.readonly()) return;
    fail(ErrorKind::Value,
         "assignment: the destination is read-only; make a copy with .copy() and write into that");
}

/// The operand that assigns `value` to `out`: a scalar of its dtype, or a view of its shape.
static View assigned_operand(const Arg& value, const View& out, Array& keep) {
    if (value.is_scalar()) {
        check_weak("assignment", value, out.dtype);
        check_weak_float(value, out.dtype);
        return scalar_as(value, out.dtype);
    }
    if (value.weak == Weak::Complex && !is_complex(out.dtype)) {
        fail(ErrorKind::Type, "assignment: a complex number does not fit dtype " +
                                  std::string(name(out.dtype)) + "; assign its .real");
    }
    Device* device = out.storage->device;
    if (value.view.storage->device != device)
        mixed_devices("assignment", device, value.view.storage->device);
    View v = value.view;
    // NumPy drops leading axes of extent 1 of the value.
    while (v.layout->rank() > out.layout->rank() && v.layout->shape()[0] == 1) {
        v.layout = Layout::make(v.layout->shape().subspan(1), v.layout->strides().subspan(1));
    }
    Dims shapes[] = {v.layout->shape(), out.layout->shape()};
    if (v.layout->packed() != out.layout->packed() &&
        Layout::contiguous(broadcast_shapes("assignment", shapes)) != out.layout->packed()) {
        fail(ErrorKind::Value, "assignment: could not broadcast the value from shape " +
                                   shape_text(shapes[0]) + " into shape " + shape_text(shapes[1]));
    }
    return snapshot_if_overlapping(broadcast_view(v, out.layout->packed()), out, keep);
}

void assign(const Array& target, const Arg& value) {
    check_destination(target);
    const View& out = target.view();
    // Python's a[i:] += b ends by assigning the view to itself.
    if (!value.is_scalar() && value.view.same_as(out)) return;
    Entry e{};
    e.kind = EntryKind::Copy;
    e.inputs = 1;
    e.compute = out.dtype;
    e.out = out;
    Array keep;
    e.in[0] = assigned_operand(value, out, keep);
    if (out.layout->size() == 0) return;
    Tape::instance().append(e);
}

void assign_where(const Array& target, const Arg& mask, const Arg& value) {
    check_destination(target);
    const View& out = target.view();
    Entry e{};
    e.kind = EntryKind::Select;
    e.inputs = 3;
    e.compute = out.dtype;
    e.out = out;
    Array keep[2];
    e.in[0] =
        mask.is_scalar() ? scalar_as(mask, DType::Bool) : assigned_operand(mask, out, keep[0]);
    e.in[1] = assigned_operand(value, out, keep[1]);
    e.in[2] = out;
    if (out.layout->size() == 0) return;
    Tape::instance().append(e);
}

static std::vector<int> reduced_axes(Op op, const Array& a,
                                     const std::optional<std::vector<int>>& given) {
    std::vector<int> axes;
    if (!given) {
        for (int k = 0; k < a.rank(); ++k) axes.push_back(k);
        return axes;
    }
    for (int axis : *given) {
        // NumPy's reductions of a 0-d array take the axes 0 and -1.
        if (a.rank() == 0 && (axis == 0 || axis == -1)) continue;
        int k = axis < 0 ? axis + a.rank() : axis;
        if (k < 0 || k >= a.rank()) {
            fail(ErrorKind::Index, numpy_name(op) + ": axis " + std::to_string(axis) +
                                       " is out of bounds for an array of dimension " +
                                       std::to_string(a.rank()));
        }
        if (std::find(axes.begin(), axes.end(), k) != axes.end()) {
            fail(ErrorKind::Value,
                 numpy_name(op) + ": axis " + std::to_string(k) + " is given twice");
        }
        axes.push_back(k);
    }
    std::sort(axes.begin(), axes.end());
    return axes;
}

Array reduce(Op op, const Array& a, std::optional<std::vector<int>> given, bool keepdims,
             std::optional<DType> dtype) {
    std::vector<int> axes = reduced_axes(op, a, given);
    bool selects = op == Op::Min || op == Op::Max;
    DType t = reduced_dtype(op, a.dtype(), dtype);
    if (a.is_known()) return astype(a, t, false);
    for (int axis : axes) {
        if (selects && a.shape()[static_cast<std::size_t>(axis)] == 0) {
            fail(ErrorKind::Value, numpy_name(op) + ": an empty axis has no " +
                                       (op == Op::Min ? "minimum" : "maximum") + "; got shape " +
                                       shape_text(a.shape()));
        }
    }
    Array current = axes.empty() ? astype(a, t, true) : a;
    for (std::size_t k = axes.size(); k-- > 0;) {
        std::vector<std::int64_t> shape(current.shape().begin(), current.shape().end());
        shape.erase(shape.begin() + axes[k]);
        Entry e{};
        e.kind = EntryKind::Reduce;
        e.op = op;
        e.axis = static_cast<std::int8_t>(axes[k]);
        e.compute = t;
        e.inputs = 1;
        e.in[0] = current.view();
        e.out = fresh_view(Layout::contiguous(shape), t, a.device());
        Array next = Array::of(e.out, shape.empty() && !keepdims);
        Tape::instance().append(e);
        current = std::move(next);
    }
    if (a.rank() == 0) return to_value(current);
    if (!keepdims) return current;
    std::vector<std::int64_t> shape(a.shape().begin(), a.shape().end());
    for (int axis : axes) shape[static_cast<std::size_t>(axis)] = 1;
    return reshape(current, shape);
}

Array empty(Dims shape, DType t, Device* device) {
    return Array::of(fresh_view(Layout::contiguous(shape), t, device));
}

Array full(Dims shape, Scalar value, Device* device) {
    Array a = empty(shape, value.dtype, device);
    if (a.size() == 0) return a;
    Entry e{};
    e.kind = EntryKind::Copy;
    e.inputs = 1;
    e.compute = value.dtype;
    e.in[0] = scalar_operand(value);
    e.out = a.view();
    Tape::instance().append(e);
    return a;
}

Array iota(std::int64_t n, Device* device) {
    std::int64_t shape[] = {n};
    Array a = empty(shape, DType::Int64, device);
    if (n == 0) return a;
    Entry e{};
    e.kind = EntryKind::Iota;
    e.compute = DType::Int64;
    e.out = a.view();
    Tape::instance().append(e);
    return a;
}

Array astype(const Array& a, DType t, bool copy_if_same) {
    if (a.dtype() == t && !copy_if_same) return a;
    if (a.is_known() && !is_complex(t)) return Array::known(cast(a.scalar(), t));
    Entry e{};
    e.kind = EntryKind::Copy;
    e.inputs = 1;
    e.compute = t;
    e.in[0] = a.is_known() ? scalar_operand(a.scalar()) : a.view();
    e.out = fresh_view(a.view().layout->packed(), t, a.device());
    Array made = Array::of(e.out, a.is_value());
    if (a.size() > 0) Tape::instance().append(e);
    return made;
}

Array copy(const Array& a) { return astype(a, a.dtype(), true); }

}  // namespace unisono
