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

namespace unisono::library {

namespace {

void require_host(std::string_view name, const Array& a) {
    if (a.is_known() || a.view().storage->addressable()) return;
    fail(ErrorKind::Unsupported, std::string(name) + ": runs on the host only; got an array on " +
                                     device_name(a.device()) +
                                     "; move it with .to_device(\"cpu\") first");
}

bool shares_memory(const View& in, const View& out) {
    if (in.storage == out.storage) return overlap(in, out) != Overlap::Disjoint;
    return in.storage->shared_outside() && out.storage->shared_outside();
}

/// Small calls on finished operands run eagerly, which costs less than recording them.
bool runs_eagerly(std::span<const Array> in, std::span<const Array> out) {
    std::int64_t elements = 0;
    for (const Array& a : out) elements += a.size();
    for (const Array& a : in) {
        if (a.is_known() || !eager::is_ready(a.view().storage)) return false;
        elements += a.size();
    }
    return elements <= limits::eager_call_elements;
}

void run_eagerly(const HostForm& form, const void* attributes, std::span<const View> in,
                 std::span<const View> out) {
    for (const View& v : out) {
        v.storage->allocate();
        v.storage->evaluation = Storage::unrecorded;
    }
    form.run(attributes, in, out);
}

/// Of one result: the entry has room for all.
void append(const HostForm& form, const void* attributes, std::span<const Array> in,
            const Array& out, Together together) {
    UNISONO_ASSERT(in.size() <= most_inputs);
    Array keep[most_inputs];
    Entry e{};
    e.kind = EntryKind::Opaque;
    e.inputs = static_cast<std::uint8_t>(in.size());
    for (std::size_t k = 0; k < in.size(); ++k) {
        keep[k] = stored(in[k]);
        require_host(form.primitive.name, keep[k]);
        if (shares_memory(keep[k].view(), out.view())) keep[k] = copy(keep[k]);
        e.in[k] = keep[k].view();
    }
    require_host(form.primitive.name, out);
    e.out = out.view();
    e.compute = out.dtype();
    auto call = form.hold(form.primitive, attributes);
    call->together = together;
    e.call = call.release();  // owned by the tape
    Tape::current().append(e);
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

namespace detail {

Array record(const HostForm& form, const void* attributes, std::span<const Array> in, Dims shape,
             DType dtype, Together together) {
    Array out = empty(shape, dtype, nullptr);
    if (out.size() > 0 && runs_eagerly(in, {&out, 1})) {
        View operands[most_inputs];
        for (std::size_t k = 0; k < in.size(); ++k) operands[k] = in[k].view();
        run_eagerly(form, attributes, {operands, in.size()}, {&out.view(), 1});
    } else if (out.size() > 0) {
        append(form, attributes, in, out, together);
    }
    return out;
}

std::vector<Array> record_wide(const HostForm& form, const void* attributes,
                               std::span<const Array> in, std::span<const Result> results) {
    std::vector<Array> made, keep;
    std::vector<View> reads, writes;
    bool is_empty = true;
    for (const Result& r : results) {
        made.push_back(empty(r.shape, r.dtype, nullptr));
        writes.push_back(made.back().view());
        is_empty = is_empty && made.back().size() == 0;
    }
    if (is_empty) return made;
    for (const Array& a : in) {
        require_host(form.primitive.name, a);
        keep.push_back(stored(a));
        reads.push_back(keep.back().view());
    }
    if (runs_eagerly(keep, made)) {
        run_eagerly(form, attributes, reads, writes);
        return made;
    }
    auto wide = form.hold(form.primitive, attributes);
    const std::size_t own = std::min(reads.size(), std::size(Entry{}.in));
    wide->tail = std::make_unique<OpaqueCall::Tail>();
    wide->tail->reads.assign(reads.begin() + static_cast<std::ptrdiff_t>(own), reads.end());
    wide->tail->writes.assign(writes.begin() + 1, writes.end());
    Entry e{};
    e.kind = EntryKind::Opaque;
    e.inputs = static_cast<std::uint8_t>(own);
    std::copy_n(reads.begin(), own, e.in);
    e.out = writes.front();
    e.compute = e.out.dtype;
    e.call = wide.release();  // owned by the tape
    Tape::current().append(e);
    return made;
}

void record_into(const HostForm& form, const void* attributes, std::span<const Array> in,
                 const Array& out) {
    if (out.readonly()) {
        fail(ErrorKind::Value, std::string(form.primitive.name) +
                                   ": the output array is read-only; make a copy with .copy() "
                                   "and write into that");
    }
    if (out.size() > 0) append(form, attributes, in, out, nullptr);
}

}  // namespace detail

Array stored(const Array& a) { return a.is_known() ? full({}, a.scalar(), nullptr) : a; }

Array packed(const Array& a) {
    Array s = stored(a);
    return s.view().layout->contiguous() ? s : copy(s);
}

}  // namespace unisono::library
