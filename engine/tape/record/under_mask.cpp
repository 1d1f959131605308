// Statements under a mask: `z[m] = f(z[m], c[m])` over all elements instead of over those picked.
//
// When the assignment is recorded, the operations that made its value are still pending. Where they
// are element by element, on elements picked with the same mask, they are recorded again on the
// whole arrays, and the result is assigned where the mask is set: one kernel, which moves no
// element. The first records are dropped with the value. Elements that the mask leaves out are
// computed but not stored; their floating-point errors are not reported (float_errors.h).
#include <algorithm>
#include <cstring>
#include <map>

#include "tape/eager/eager.h"
#include "tape/record/hazards.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono {

namespace {

constexpr std::size_t longest = 24;  ///< records of a statement

class Statement {
  public:
    Statement(std::span<const Entry> pending, const Array& mask, std::int64_t total)
        : pending_(pending), mask_(mask), total_(total) {}

    /// Finds the records that lead to what the storage will hold; false where others than those
    /// described above have a part in it.
    bool trace(const Storage* wanted) {
        std::vector<bool> fits(pending_.size());
        std::map<const Storage*, bool> picked;
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            fits[i] = picks(pending_[i]) || computes(pending_[i], picked);
            picked[pending_[i].out.storage] = fits[i];
        }
        if (auto it = picked.find(wanted); it == picked.end() || !it->second) return false;
        std::map<const Storage*, bool> leads{{wanted, true}};
        for (std::size_t i = pending_.size(); i-- > 0;) {
            const Entry& e = pending_[i];
            if (!fits[i] || !leads.contains(e.out.storage)) continue;
            if (steps_.size() == longest) return false;
            steps_.push_back(i);
            for (int k = 0; !e.call && k < e.inputs; ++k) {
                if (is_picked(e.in[k])) leads[e.in[k].storage] = true;
            }
        }
        std::reverse(steps_.begin(), steps_.end());
        return std::none_of(steps_.begin(), steps_.end(),
                            [&](std::size_t i) { return changes_later(i); });
    }

    /// Records the steps on whole arrays; the last one's result.
    Array replay() {
        std::vector<Entry> entries;  // the tape may move while it takes more
        std::vector<Array> keep;
        for (std::size_t i : steps_) {
            entries.push_back(pending_[i]);
            for (int k = 0; k < pending_[i].inputs; ++k) {
                if (pending_[i].in[k].storage) keep.push_back(Array::of(pending_[i].in[k]));
            }
            keep.push_back(Array::of(pending_[i].out));
        }
        std::map<const Storage*, Array> whole;
        const Storage* last = nullptr;
        for (Entry& e : entries) {
            last = e.out.storage;
            if (e.call) {
                whole[last] = Array::of(e.in[0]);
                continue;
            }
            for (int k = 0; k < e.inputs; ++k) {
                View& v = e.in[k];
                if (!v.storage) continue;
                if (is_picked(v)) {
                    v = whole.at(v.storage).view();
                } else {
                    const std::vector<std::int64_t> still(mask_.shape().size(), 0);
                    v.layout = Layout::make(mask_.shape(), still);
                }
            }
            Array made = empty(mask_.shape(), e.out.dtype, nullptr);
            e.out = made.view();
            Tape::current().record(e);
            whole[last] = made;
        }
        return whole.at(last);
    }

  private:
    /// A view of all picked elements, one after the other.
    bool is_picked(const View& v) const {
        return v.storage && v.offset == 0 && v.layout->rank() == 1 && v.layout->contiguous() &&
               v.layout->size() == total_;
    }

    bool picks(const Entry& e) const {
        if (!e.call || e.kind != EntryKind::Opaque || !e.call->selects() || !is_picked(e.out))
            return false;
        const View &theirs = e.in[1], &ours = mask_.view();
        if (theirs.layout != ours.layout) return false;
        if (theirs.same_as(ours)) return true;
        // The same condition, written twice.
        return eager::is_ready(theirs.storage) && eager::is_ready(ours.storage) &&
               std::memcmp(theirs.data(), ours.data(), static_cast<std::size_t>(mask_.size())) == 0;
    }

    bool computes(const Entry& e, const std::map<const Storage*, bool>& picked) const {
        const bool elementwise =
            e.kind == EntryKind::Map || e.kind == EntryKind::Copy || e.kind == EntryKind::Select;
        if (!elementwise || !is_picked(e.out)) return false;
        bool any = false;
        for (int k = 0; k < e.inputs; ++k) {
            const View& v = e.in[k];
            if (!v.storage) continue;
            const bool same_everywhere = v.layout->rank() == 1 && v.layout->strides()[0] == 0;
            if (same_everywhere) continue;
            auto it = picked.find(v.storage);
            if (!is_picked(v) || it == picked.end() || !it->second) return false;
            any = true;
        }
        return any;
    }

    /// Whether what entry i reads from arrays of others is written after it.
    bool changes_later(std::size_t i) const {
        const Entry& e = pending_[i];
        for (std::size_t j = i + 1; j < pending_.size(); ++j) {
            for (int k = 0; k < e.inputs; ++k) {
                const View& v = e.in[k];
                if (!v.storage || (!e.call && is_picked(v))) continue;
                if (overlap(v, pending_[j].out) != Overlap::Disjoint) return true;
            }
        }
        return false;
    }

    std::span<const Entry> pending_;
    const Array& mask_;
    std::int64_t total_;
    std::vector<std::size_t> steps_;
};

}  // namespace

bool assign_under_mask(const Array& target, const Array& mask, std::int64_t total,
                       const View& value) {
    Tape& tape = Tape::current();
    if (!value.storage || !value.storage->pending || value.storage->device ||
        value.dtype != target.dtype() || target.device() || mask.device() ||
        value.layout->size() != total)
        return false;
    Statement statement(tape.pending(), mask, total);
    const bool is_all =
        value.offset == 0 && value.layout->rank() == 1 && value.layout->contiguous();
    if (!is_all || !statement.trace(value.storage)) return false;
    const Array result = statement.replay();
    assign_where(target, mask.arg(), result.arg());
    tape.expect_dead();
    return true;
}

}  // namespace unisono
