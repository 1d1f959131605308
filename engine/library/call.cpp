// Records library operations as opaque entries of the tape.
#include "library/call.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "tape/eager/eager.h"
#include "tape/record/hazards.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono::library {

namespace {

class LibraryCall final : public OpaqueCall {
  public:
    LibraryCall(std::string name, Work work, Together together, bool selects, bool is_new)
        : name_(std::move(name)),
          work_(std::move(work)),
          together_(together),
          selects_(selects),
          is_new_(is_new) {}
    void run(std::span<const View> in, std::span<const View> out) override {
        work_(in, out.front());
    }
    std::string name() const override { return name_; }
    bool joins() const override { return together_ != nullptr; }
    bool selects() const override { return selects_; }
    // What joins may run before entries that read the target; memory that exists keeps what the
    // work does not write.
    bool stores_anywhere() const override { return is_new_ && !selects_ && !together_; }
    bool restarts() const override { return is_new_; }
    std::uint64_t run_together(std::span<const OpaqueCall::Operands> calls) override {
        std::vector<CallOperands> same;
        std::vector<std::size_t> numbers;
        for (std::size_t k = 0; k < calls.size(); ++k) {
            auto* other = dynamic_cast<LibraryCall*>(calls[k].call);
            if (!other || other->together_ != together_) continue;
            same.push_back({calls[k].in, calls[k].out});
            numbers.push_back(k);
        }
        const std::uint64_t done = same.size() > 1 ? together_(same) : 0;
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < numbers.size(); ++k) bits |= (done >> k & 1) << numbers[k];
        return bits;
    }

  private:
    std::string name_;
    Work work_;
    Together together_;
    bool selects_, is_new_;  ///< is_new_: the memory that it writes
};

class WideCall final : public OpaqueCall {
  public:
    WideCall(std::string name, WideWork work) : name_(std::move(name)), work_(std::move(work)) {}
    void run(std::span<const View> in, std::span<const View> out) override { work_(in, out); }
    std::string name() const override { return name_; }
    bool restarts() const override { return true; }

  private:
    std::string name_;
    WideWork work_;
};

void require_host(const std::string& name, const Array& a) {
    if (a.view().storage->on_host()) return;
    fail(ErrorKind::Unsupported, name + ": runs on the host only; got an array on " +
                                     device_name(a.device()) +
                                     "; move it with .to_device(\"cpu\") first");
}

bool shares_memory(const View& in, const View& out) {
    if (in.storage == out.storage) return overlap(in, out) != Overlap::Disjoint;
    return in.storage->shared_outside() && out.storage->shared_outside();
}

void record(const std::string& name, std::span<const Array> in, const Array& out, Work work,
            bool is_new, Together together = nullptr, bool selects = false) {
    UNISONO_ASSERT(in.size() <= most_inputs);
    Array keep[most_inputs];
    Entry e{};
    e.kind = EntryKind::Opaque;
    e.inputs = static_cast<std::uint8_t>(in.size());
    for (std::size_t k = 0; k < in.size(); ++k) {
        keep[k] = stored(in[k]);
        require_host(name, keep[k]);
        if (shares_memory(keep[k].view(), out.view())) keep[k] = copy(keep[k]);
        e.in[k] = keep[k].view();
    }
    require_host(name, out);
    e.out = out.view();
    e.compute = out.dtype();
    e.call =
        new LibraryCall(name, std::move(work), together, selects, is_new);  // owned by the tape
    Tape::current().append(e);
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

Array make(const std::string& name, std::span<const Array> in, Dims shape, DType dtype, Work work,
           Together together, bool selects) {
    Array out = empty(shape, dtype, nullptr);
    if (out.size() > 0 && runs_eagerly(in, {&out, 1})) {
        View operands[most_inputs];
        for (std::size_t k = 0; k < in.size(); ++k) operands[k] = in[k].view();
        out.view().storage->allocate();
        out.view().storage->evaluation = Storage::unrecorded;
        work({operands, in.size()}, out.view());
    } else if (out.size() > 0) {
        record(name, in, out, std::move(work), true, together, selects);
    }
    return out;
}

}  // namespace

Array stored(const Array& a) { return a.is_known() ? full({}, a.scalar(), nullptr) : a; }

Array packed(const Array& a) {
    Array s = stored(a);
    return s.view().layout->contiguous() ? s : copy(s);
}

Array call(const std::string& name, std::span<const Array> in, Dims shape, DType dtype, Work work,
           Together together) {
    return make(name, in, shape, dtype, std::move(work), together, false);
}

Array select_call(std::span<const Array> in, Dims shape, DType dtype, Work work) {
    return make("select", in, shape, dtype, std::move(work), nullptr, true);
}

std::vector<Array> call_wide(const std::string& name, std::span<const Array> in,
                             std::span<const Result> results, WideWork work) {
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
        require_host(name, a);
        keep.push_back(stored(a));
        reads.push_back(keep.back().view());
    }
    if (runs_eagerly(keep, made)) {
        for (const View& v : writes) {
            v.storage->allocate();
            v.storage->evaluation = Storage::unrecorded;
        }
        work(reads, writes);
        return made;
    }
    auto wide = std::make_unique<WideCall>(name, std::move(work));
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

void call_into(const std::string& name, std::span<const Array> in, const Array& out, Work work) {
    if (out.readonly()) {
        fail(ErrorKind::Value, name +
                                   ": the output array is read-only; make a copy with .copy() "
                                   "and write into that");
    }
    if (out.size() > 0) record(name, in, out, std::move(work), false);
}

}  // namespace unisono::library
