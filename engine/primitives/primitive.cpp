// Records primitives as entries of the tape, or runs small ones at once.
#include "primitives/primitive.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "tape/eager/eager.h"
#include "tape/record/hazards.h"
#include "tape/record/record.h"
#include "tape/windows.h"

namespace unisono {

std::span<const Primitive* const> primitives::all() {
    static constexpr const Primitive* rows[] = {
#define UNISONO_PRIMITIVE(id, ...) &id,
#include "primitives/primitives.def"
#undef UNISONO_PRIMITIVE
    };
    return rows;
}

}  // namespace unisono

namespace unisono::library {

namespace {

bool is_addressable(const Array& a) { return a.is_known() || a.view().storage->addressable(); }

/// Where a call with these operands runs: on the device of an operand that the host cannot address,
/// on which then all others are, or on the host (null).
Device* place_of(const Primitive& row, std::span<const Array> in) {
    const auto far = std::find_if_not(in.begin(), in.end(), is_addressable);
    if (far == in.end()) return nullptr;
    const bool apart = windows_of(*far);
    if (!apart && !row.by_address->runs_on_devices(row)) {
        fail(ErrorKind::Unsupported,
             std::string(row.name) + ": runs on the host only; got an array on " +
                 device_name(far->device()) + "; move it with .to_device(\"cpu\") first");
    }
    for (const Array& a : in) {
        if (a.is_known() || a.device() == far->device() || (apart && is_addressable(a))) continue;
        fail(ErrorKind::Device, std::string(row.name) +
                                    ": operands live on different devices; got " +
                                    device_name(far->device()) + " and " + device_name(a.device()) +
                                    "; move one with .to_device(...)");
    }
    return far->device();
}

/// With memory where the call runs.
Array in_place(const Array& a, Device* place) {
    if (place && a.is_known()) return full({}, a.scalar(), place);
    // Beside arrays on a mesh all ranks have arrays of the host alike.
    return windows_of(place) ? to_device(a, place) : materialised(a);
}

bool shares_memory(const View& in, const View& out) {
    if (in.storage == out.storage) return overlap(in, out) != Overlap::Disjoint;
    return in.storage->shared_outside() && out.storage->shared_outside();
}

/// Multiply-adds or moves of a call, roughly.
std::int64_t work_of(const Primitive& row, const View* first, std::int64_t elements) {
    if (row.work == Primitive::Work::Elements || !first) return elements;
    const Dims shape = first->layout->shape();
    std::int64_t extent = 1;
    for (std::size_t k = shape.size() > 2 ? shape.size() - 2 : 0; k < shape.size(); ++k)
        extent = std::max(extent, shape[k]);
    return elements * extent;
}

/// Whether recording the call would cost more than it does.
bool is_small(const Primitive& row, std::span<const Array> in, std::span<const Array> out) {
    const bool peeks = row.peeks != Primitive::Peeks::Never;
    std::int64_t elements = 0;
    if (row.work == Primitive::Work::Results) {
        for (const Array& a : row.effect == Primitive::Effect::New ? out : in.first(1))
            elements += a.size();
        // Recording many operands costs by their number.
        const auto many = static_cast<std::int64_t>(in.size() > most_inputs ? in.size() : 1);
        return elements <
               many * (peeks ? limits::eager_peek_elements : limits::eager_index_elements);
    }
    for (const Array& a : out) elements += a.size();
    for (const Array& a : in) elements += a.size();
    if (elements > limits::eager_call_elements) return false;
    return !peeks || work_of(row, &in.front().view(), elements) <= limits::thread_matrix_operations;
}

FlushReason reason_of(const Primitive& row) {
    return row.peeks == Primitive::Peeks::Errors ? FlushReason::Check : FlushReason::Count;
}

/// Small calls on operands that are computed run at once, which costs less than recording them:
/// the only place that decides so. What looks at data needs its operands anyway.
bool runs_eagerly(const Primitive& row, std::span<const Array> in, std::span<const Array> out) {
    if (!is_small(row, in, out)) return false;
    if (in.empty() && out.front().device()) return false;
    for (const Array& a : in) {
        if (a.is_known()) return false;
        Storage* s = a.view().storage;
        if (eager::is_ready(s)) continue;
        if (row.peeks == Primitive::Peeks::Never || !s->addressable()) return false;
        Tape::current().complete(s, reason_of(row));
        if (!eager::is_ready(s)) return false;
    }
    return true;
}

/// Whether a call that runs at once may write there now.
bool is_free(std::span<const Array> in, const Array& out) {
    const Storage* s = out.view().storage;
    if (!eager::is_idle(s) || s->shared_outside()) return false;
    return std::none_of(in.begin(), in.end(),
                        [&](const Array& a) { return a.view().storage == s; });
}

void run_eagerly(const Primitive& row, const void* attributes, std::span<const Array> in,
                 Views out) {
    for (const View& v : out) {
        v.storage->allocate();
        v.storage->evaluation = Storage::unrecorded;
    }
    View few[most_inputs];
    std::vector<View> many;
    if (in.size() > most_inputs) many.resize(in.size());
    View* views = many.empty() ? few : many.data();
    for (std::size_t k = 0; k < in.size(); ++k) views[k] = in[k].view();
    row.by_address->run(row, attributes, {views, in.size()}, out);
}

/// What looks at data runs now: what it raises belongs to the user's statement.
void settle(const Primitive& row, Storage* made) {
    if (row.peeks == Primitive::Peeks::Never) return;
    Tape::current().complete(made, reason_of(row));
}

/// Of one result: the entry has room for all.
void append(const Primitive& row, const void* attributes, std::span<const Array> in,
            const Array& out, Together together) {
    UNISONO_ASSERT(in.size() <= most_inputs);
    Array keep[most_inputs];
    Entry e{};
    e.kind = EntryKind::Opaque;
    e.inputs = static_cast<std::uint8_t>(in.size());
    for (std::size_t k = 0; k < in.size(); ++k) {
        keep[k] = in_place(in[k], out.device());
        if (shares_memory(keep[k].view(), out.view())) keep[k] = copy(keep[k]);
        e.in[k] = keep[k].view();
    }
    e.out = out.view();
    e.compute = out.dtype();
    auto call = row.by_address->hold(row, attributes);
    call->together = together;
    e.call = call.release();  // owned by the tape
    Tape::of(e.out.storage->device).append(e);
}

void append_wide(const Primitive& row, const void* attributes, std::span<const Array> in,
                 std::span<const Array> made) {
    std::vector<Array> keep;
    keep.reserve(in.size());
    auto wide = row.by_address->hold(row, attributes);
    wide->tail = std::make_unique<OpaqueCall::Tail>();
    Entry e{};
    e.kind = EntryKind::Opaque;
    for (const Array& a : in) {
        keep.push_back(in_place(a, made.front().device()));
        if (row.effect == Primitive::Effect::Part &&
            shares_memory(keep.back().view(), made.front().view()))
            keep.back() = copy(keep.back());
        if (e.inputs < std::size(e.in))
            e.in[e.inputs++] = keep.back().view();
        else
            wide->tail->reads.push_back(keep.back().view());
    }
    e.out = made.front().view();
    for (const Array& a : made.subspan(1)) wide->tail->writes.push_back(a.view());
    e.compute = e.out.dtype;
    e.call = wide.release();  // owned by the tape
    Tape::of(e.out.storage->device).append(e);
}

void record_one(const Primitive& row, const void* attributes, std::span<const Array> in,
                const Array& out, Together together) {
    if (in.size() > most_inputs)
        append_wide(row, attributes, in, {&out, 1});
    else
        append(row, attributes, in, out, together);
}

void infer_into(const Primitive& row, const void* attributes, std::span<const Array> in,
                primitives::Results& results) {
    primitives::Operand few[most_inputs];
    std::vector<primitives::Operand> many;
    primitives::Operand* operands = few;
    if (in.size() > most_inputs) {
        many.resize(in.size());
        operands = many.data();
    }
    for (std::size_t k = 0; k < in.size(); ++k) operands[k] = {in[k].shape(), in[k].dtype()};
    row.by_address->infer(row, attributes, {operands, in.size()}, results);
}

}  // namespace

std::uint64_t PrimitiveCall::run_together(std::span<const OpaqueCall::Operands> calls) {
    std::vector<CallOperands> same;
    std::vector<std::size_t> numbers;
    for (std::size_t k = 0; k < calls.size(); ++k) {
        auto* other = dynamic_cast<PrimitiveCall*>(calls[k].call);
        if (!other || other->together != together) continue;
        same.push_back({calls[k].in, calls[k].out});
        numbers.push_back(k);
    }
    const std::uint64_t done = same.size() > 1 ? together(same) : 0;
    std::uint64_t bits = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k) bits |= (done >> k & 1) << numbers[k];
    return bits;
}

std::int64_t PrimitiveCall::work(std::span<const View> in, std::int64_t elements) const {
    return work_of(primitive_, in.empty() ? nullptr : in.data(), elements);
}

primitives::Results infer(const Primitive& row, const void* attributes, std::span<const Array> in) {
    primitives::Results results;
    infer_into(row, attributes, in, results);
    return results;
}

namespace detail {

Array record(const Primitive& row, const void* attributes, std::span<const Array> in,
             Together together, Device* place) {
    primitives::Results result;
    infer_into(row, attributes, in, result);
    Array out = empty(result.shape(0), result.dtype(0), in.empty() ? place : place_of(row, in));
    if (out.size() == 0) return out;
    if (runs_eagerly(row, in, {&out, 1})) {
        run_eagerly(row, attributes, in, {&out.view(), 1});
    } else {
        record_one(row, attributes, in, out, together);
        settle(row, out.view().storage);
    }
    return out;
}

std::vector<Array> record_wide(const Primitive& row, const void* attributes,
                               std::span<const Array> in) {
    primitives::Results results;
    infer_into(row, attributes, in, results);
    Device* const place = place_of(row, in);
    std::vector<Array> made;
    made.reserve(results.size());
    bool is_empty = true;
    for (std::size_t k = 0; k < results.size(); ++k) {
        made.push_back(empty(results.shape(k), results.dtype(k), place));
        is_empty = is_empty && made.back().size() == 0;
    }
    if (is_empty) return made;
    if (runs_eagerly(row, in, made)) {
        View views[primitives::Results::most];
        for (std::size_t k = 0; k < made.size(); ++k) views[k] = made[k].view();
        run_eagerly(row, attributes, in, {views, made.size()});
        return made;
    }
    append_wide(row, attributes, in, made);
    settle(row, made.front().view().storage);
    return made;
}

void record_into(const Primitive& row, const void* attributes, std::span<const Array> in,
                 const Array& out) {
    if (out.readonly()) {
        fail(ErrorKind::Value, std::string(row.name) +
                                   ": the output array is read-only; make a copy with .copy() "
                                   "and write into that");
    }
    if (out.size() == 0) return;
    if (is_free(in, out) && runs_eagerly(row, in, {&out, 1})) {
        run_eagerly(row, attributes, in, {&out.view(), 1});
        ++out.view().storage->version;
        return;
    }
    std::vector<Array> all(in.begin(), in.end());
    all.push_back(out);
    place_of(row, all);
    record_one(row, attributes, in, out, nullptr);
}

}  // namespace detail

Array packed(const Array& a) {
    Array s = materialised(a);
    if (!s.view().layout->contiguous()) return copy(s);
    return s;
}

}  // namespace unisono::library
