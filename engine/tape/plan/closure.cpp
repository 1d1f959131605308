// Which pending entries a value needs: a backward walk over the tape.
#include "tape/launch.h"
#include "tape/tape.h"

namespace unisono {

namespace {
constexpr std::uint32_t needed = 1;  // some marked entry reads it, or it is the value asked for
constexpr std::uint32_t overwritten =
    2;  // some marked entry writes it: earlier readers must come along
}  // namespace

/// Whether it is plain that the wanted storage needs every entry: the last entry writes it, and
/// every other entry's result is new and read by another one, so that all paths end in the last.
bool Tape::all_needed(const Storage* wanted) const {
    if (entries_.empty() || entries_.back().out.storage != wanted) return false;
    for (std::size_t i = 0; i + 1 < entries_.size(); ++i) {
        auto is_end = [&](const View& v) {
            return !v.storage->readers || v.storage->version != 1 ||
                   any_read(entries_[i], [&](const View& r) { return r.storage == v.storage; });
        };
        if (any_write(entries_[i], is_end)) return false;
    }
    return true;
}

void Tape::mark(Storage* s, std::uint32_t bits) const {
    if (s->mark_epoch != epoch_) {
        s->mark_epoch = epoch_;
        s->mark = 0;
    }
    s->mark |= bits;
}

bool Tape::mark_closure(std::span<Storage* const> wanted, Storage* to_overwrite) {
    ++epoch_;
    for (Storage* s : wanted) mark(s, needed);
    if (to_overwrite) mark(to_overwrite, needed | overwritten);
    return mark_needed(to_overwrite && to_overwrite->readers);
}

bool Tape::mark_operands(std::span<const LaunchOperand> operands, bool has_readers) {
    ++epoch_;
    for (const LaunchOperand& o : operands) {
        if (o.reads) mark(o.storage, needed);
        if (o.writes) mark(o.storage, needed | overwritten);
    }
    return mark_needed(has_readers);
}

/// Marks the entries that marked storages need; whether these are all. `has_readers`: whether
/// entries read what is marked as overwritten.
bool Tape::mark_needed(bool has_readers) {
    auto marked_with = [&](const Storage* s, std::uint32_t bits) {
        return s && s->mark_epoch == epoch_ && (s->mark & bits);
    };
    marked_.resize(entries_.size());
    bool all = true;
    bool communicating = false;
    for (std::size_t i = entries_.size(); i-- > 0;) {
        Entry& e = entries_[i];
        bool take = any_write(e, [&](const View& v) { return marked_with(v.storage, needed); });
        if (has_readers && !take)
            take = any_read(e, [&](const View& v) { return marked_with(v.storage, overwritten); });
        // Messages leave in the recorded order: one that is needed brings all before it.
        if (e.call && e.call->communicates()) {
            take = take || communicating;
            communicating = take;
        }
        marked_[i] = take;
        if (!take) {
            all = false;
            continue;
        }
        for_each_write(e, [&](const View& v) {
            mark(v.storage, needed | overwritten);
            has_readers = has_readers || v.storage->readers;
        });
        for_each_read(e, [&](const View& v) { mark(v.storage, needed); });
    }
    return all;
}

}  // namespace unisono
