// Names the structure of a segment by a key, and keeps the plans known so far.
//
// The key is a string of 32-bit tokens. Storages and views get numbers in the order in which the
// segment mentions them; a view's first mention also writes its class. At the end come, for each
// storage that the segment writes and sees through several views, how those views overlap.
#include "tape/plan/plan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "context/context.h"
#include "core/limits.h"
#include "core/threads/fork.h"
#include "tape/plan/form_plan.h"
#include "tape/plan/known_exponents.h"
#include "tape/plan/reshapes.h"
#include "tape/record/element_function.h"
#include "tape/record/hazards.h"
#include "tape/run/run_group.h"

namespace unisono {

bool is_large(const Storage& s) { return !s.device && s.bytes >= limits::waiting_bytes; }

namespace {

constexpr std::uint32_t scalar_token = 0x80000000u;

std::uint64_t hash_tokens(std::span<const std::uint32_t> tokens) {
    std::uint64_t h = tokens.size();
    std::size_t i = 0;
    for (; i + 1 < tokens.size(); i += 2) {
        std::uint64_t v;
        std::memcpy(&v, &tokens[i], sizeof v);
        h = (h ^ v) * 0x9E3779B97F4A7C15ull;
        h ^= h >> 32;
    }
    if (i < tokens.size()) h = (h ^ tokens[i]) * 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 31);
}

std::uint32_t header_token(const Entry& e) {
    static_assert(static_cast<int>(EntryKind::Opaque) < 8 && max_rank <= 64);
    const auto before = static_cast<std::uint32_t>(e.before);
    return static_cast<std::uint32_t>(e.kind) | (before & 31) << 3 | (before >> 5) << 19 |
           static_cast<std::uint32_t>(e.op) << 8 | static_cast<std::uint32_t>(e.inputs) << 16 |
           static_cast<std::uint32_t>(e.call && e.call->stores_anywhere()) << 18 |
           static_cast<std::uint32_t>(e.compute) << 20 |
           static_cast<std::uint32_t>(static_cast<std::uint8_t>(e.axis)) << 24;
}

/// Of a call, behind its operands: how many more it reads and writes.
std::uint32_t tail_token(const Entry& e) {
    if (!e.call->tail) return 0;
    return static_cast<std::uint32_t>(e.call->tail->reads.size()) |
           static_cast<std::uint32_t>(e.call->tail->writes.size()) << 16;
}

/// What a key says of a scalar: its dtype, and the exponents that a plan knows.
std::uint32_t token_of_scalar(const Entry& e, int k) {
    return scalar_token | static_cast<std::uint32_t>(e.in[k].dtype) |
           static_cast<std::uint32_t>(known_exponent(e, k)) << 8;
}

/// What a key says of a storage behind all entries: whether it is seen from outside, its placement,
/// and whether it is large.
std::uint32_t storage_token(const Storage& s, std::uint32_t mentions) {
    const std::uint32_t placement = s.device ? s.device->number() : 0;
    return static_cast<std::uint32_t>(s.refs > mentions) | placement << 1 |
           static_cast<std::uint32_t>(is_large(s)) << 31;
}

/// Reads a segment into numbers: the one hot loop of a flush. Buffers are made large enough before
/// it starts.
class Reader {
  public:
    void read(std::vector<Entry>& segment, std::uint32_t epoch) {
        std::size_t operands = segment.size() * 4 + tail_operands(segment);
        if (data.slots.size() < operands) {
            data.slots.resize(2 * operands);
            data.storages.resize(2 * operands);
            data.operands.resize(2 * operands);
            buffer_.resize(2 * (segment.size() * 2 + operands * tokens_per_view + operands));
            buckets_.assign(std::bit_ceil(4 * operands), {});
            bucket_mask_ = buckets_.size() - 1;
        }
        token_ = buffer_.data();
        slot_count_ = storage_count_ = 0;
        shapes_.clear();
        data.tails.clear();
        epoch_ = epoch;
        std::uint16_t queues = 0;
        for (std::size_t i = 0; i < segment.size(); ++i) {
            read_entry(segment[i], &data.operands[4 * i]);
            queues |= segment[i].queue;
            if (segment[i].kind == EntryKind::Opaque)
                read_tail(segment[i], static_cast<std::uint32_t>(i));
        }
        data.slot_count = slot_count_;
        data.storage_count = storage_count_;
        finish();
        if (queues) [[unlikely]]
            write_queues(segment);
    }

    std::span<const std::uint32_t> key() const { return {buffer_.data(), token_}; }
    SegmentData data;

  private:
    static constexpr std::size_t tokens_per_view = 4;

    static std::size_t tail_operands(const std::vector<Entry>& segment) {
        std::size_t count = 0;
        for (const Entry& e : segment) {
            if (e.call && e.call->tail)
                count += e.call->tail->reads.size() + e.call->tail->writes.size();
        }
        return count;
    }

    void read_tail(const Entry& e, std::uint32_t i) {
        *token_++ = tail_token(e);
        if (!e.call->tail) return;
        for (const View& v : e.call->tail->reads) data.tails.push_back({i, slot(v), false});
        for (const View& v : e.call->tail->writes) {
            data.tails.push_back({i, slot(v), true});
            data.storages[data.slots[data.tails.back().slot].storage].written = true;
        }
    }

    void read_entry(const Entry& e, std::int32_t* operands) {
        *token_++ = header_token(e);
        if (e.kind == EntryKind::Function) *token_++ = function_of(e).id();
        for (int k = 0; k < e.inputs; ++k) {
            if (e.in[k].storage) {
                operands[k] = static_cast<std::int32_t>(slot(e.in[k]));
            } else {
                operands[k] = -1;
                *token_++ = token_of_scalar(e, k);
            }
        }
        std::uint32_t out = slot(e.out);
        operands[3] = static_cast<std::int32_t>(out);
        data.storages[data.slots[out].storage].written = true;
    }

    [[gnu::always_inline]] std::uint32_t slot(const View& v) {
        Storage* s = v.storage;
        if (s->mark_epoch != epoch_) {
            s->mark_epoch = epoch_;
            s->mark = storage_count_++;
            data.storages[s->mark] = {s, 0, -1, 0, false, false};
        }
        auto& st = data.storages[s->mark];
        ++st.mentions;
        std::size_t bucket = bucket_of(v, s->mark);
        for (;; bucket = (bucket + 1) & bucket_mask_) {
            if (buckets_[bucket].epoch != epoch_) break;
            std::uint32_t k = buckets_[bucket].slot;
            const Slot& have = data.slots[k];
            if (have.layout == v.layout && have.offset == v.offset && have.dtype == v.dtype &&
                have.storage == s->mark) {
                *token_++ = k;
                return k;
            }
        }
        std::uint32_t id = slot_count_++;
        buckets_[bucket] = {epoch_, id};
        std::uint32_t shape = shape_number(v.layout->packed());
        data.slots[id] = {v.layout, v.offset, v.dtype, s->mark, shape, st.first_slot};
        st.first_slot = static_cast<std::int32_t>(id);
        ++st.slot_count;
        std::uint64_t c = v.layout->class_code();
        token_[0] = id;
        token_[1] = s->mark | static_cast<std::uint32_t>(v.dtype) << 16 | shape << 20;
        token_[2] = static_cast<std::uint32_t>(c);
        token_[3] = static_cast<std::uint32_t>(c >> 32);
        token_ += tokens_per_view;
        return id;
    }

    std::size_t bucket_of(const View& v, std::uint32_t storage) const {
        auto h = reinterpret_cast<std::uintptr_t>(v.layout) >> 5;
        h ^= static_cast<std::uint64_t>(v.offset) * 0x9E3779B97F4A7C15ull;
        h += storage * 0xD6E8FEB86659FD93ull;
        return static_cast<std::size_t>((h ^ h >> 29) * 0x9E3779B97F4A7C15ull >> 40) & bucket_mask_;
    }

    std::uint32_t shape_number(const Layout* packed) {
        for (std::size_t k = 0; k < shapes_.size(); ++k) {
            if (shapes_[k] == packed) return static_cast<std::uint32_t>(k);
        }
        shapes_.push_back(packed);
        return static_cast<std::uint32_t>(shapes_.size() - 1);
    }

    /// Liveness of each storage, and overlaps of the views of those that are written.
    void finish() {
        for (std::uint32_t n = 0; n < storage_count_; ++n) {
            SegmentStorage& st = data.storages[n];
            st.live = st.storage->refs > st.mentions;
            *token_++ = storage_token(*st.storage, st.mentions);
            if (st.written && st.slot_count > 1) write_overlaps(st);
        }
    }

    void write_overlaps(const SegmentStorage& st) {
        std::vector<std::uint32_t> bits;
        for (std::int32_t a = st.first_slot; a >= 0;
             a = data.slots[static_cast<std::size_t>(a)].next) {
            for (std::int32_t b = data.slots[static_cast<std::size_t>(a)].next; b >= 0;
                 b = data.slots[static_cast<std::size_t>(b)].next) {
                bits.push_back(data.relation(static_cast<std::uint32_t>(a),
                                             static_cast<std::uint32_t>(b)) == Overlap::Disjoint);
            }
        }
        append(bits);
    }

    /// Which entries are on the same queue: numbers in the order of their first use.
    void write_queues(const std::vector<Entry>& segment) {
        std::vector<std::uint16_t> seen;
        std::vector<std::uint32_t> numbers;
        for (const Entry& e : segment) {
            const auto found = std::find(seen.begin(), seen.end(), e.queue);
            numbers.push_back(static_cast<std::uint32_t>(found - seen.begin()));
            if (found == seen.end()) seen.push_back(e.queue);
        }
        append(numbers);
    }

    /// Behind what was counted on.
    void append(const std::vector<std::uint32_t>& tokens) {
        auto used = static_cast<std::size_t>(token_ - buffer_.data());
        std::size_t wanted = used + tokens.size() + data.storage_count;
        if (wanted > buffer_.size()) {
            buffer_.resize(2 * wanted);
            token_ = buffer_.data() + used;
        }
        token_ = std::copy(tokens.begin(), tokens.end(), token_);
    }

    /// Finds the slot of a view; filled in the epoch that it names.
    struct Bucket {
        std::uint32_t epoch = 0, slot = 0;
    };
    std::vector<Bucket> buckets_;
    std::size_t bucket_mask_ = 0;
    std::vector<std::uint32_t> buffer_;
    std::vector<const Layout*> shapes_;
    std::uint32_t* token_ = nullptr;
    std::uint32_t slot_count_ = 0, storage_count_ = 0;
    std::uint32_t epoch_ = 0;
};

struct Known {
    std::vector<std::uint32_t> key;
    std::unique_ptr<const Plan> plan;

    bool is_for(std::span<const std::uint32_t> other) const {
        return key.size() == other.size() &&
               std::memcmp(key.data(), other.data(), other.size_bytes()) == 0;
    }
};

/// Follows a known key while it walks a segment: the short cut for a program that repeats. It gives
/// up (and says no) where one storage is seen through several views or the segment is long; the
/// Reader decides then.
class Follower {
  public:
    Follower(const std::vector<std::uint32_t>& key, std::uint32_t epoch)
        : token_(key.data()), end_(token_ + key.size()), epoch_(epoch) {}

    bool follows(const std::vector<Entry>& segment) {
        if (segment.size() > most_entries) return false;
        for (const Entry& e : segment) {
            if (token_ == end_ || *token_++ != header_token(e)) return false;
            if (e.kind == EntryKind::Function &&
                (token_ == end_ || *token_++ != function_of(e).id()))
                return false;
            for (int k = 0; k < e.inputs; ++k) {
                if (!e.in[k].storage) {
                    if (token_ == end_ || *token_++ != token_of_scalar(e, k)) return false;
                } else if (!view(e.in[k])) {
                    return false;
                }
            }
            if (!view(e.out)) return false;
            if (e.kind == EntryKind::Opaque && !tail(e)) return false;
        }
        if (end_ - token_ != static_cast<std::ptrdiff_t>(count_)) return false;
        for (std::uint32_t n = 0; n < count_; ++n) {
            if (*token_++ != storage_token(*views_[n]->storage, mentions_[n])) return false;
        }
        return true;
    }

  private:
    static constexpr std::size_t most_entries = 16;

    bool tail(const Entry& e) {
        if (token_ == end_ || *token_++ != tail_token(e)) return false;
        return !e.call->tail;  // the Reader's part
    }

    /// Each storage has one view here, so their numbers are the same.
    [[gnu::always_inline]] bool view(const View& v) {
        if (token_ == end_) return false;
        std::uint32_t id = *token_++;
        Storage* s = v.storage;
        if (id < count_) {
            ++mentions_[id];
            return views_[id]->same_as(v);
        }
        if (id != count_ || s->mark_epoch == epoch_ || end_ - token_ < 3) return false;
        std::uint64_t c = v.layout->class_code();
        std::uint32_t shape = token_[0] >> 20;
        if ((token_[0] & 0xFFFFFu) != (id | static_cast<std::uint32_t>(v.dtype) << 16) ||
            token_[1] != static_cast<std::uint32_t>(c) ||
            token_[2] != static_cast<std::uint32_t>(c >> 32)) {
            return false;
        }
        token_ += 3;
        s->mark_epoch = epoch_;
        views_[count_] = &v;
        mentions_[count_++] = 1;
        return is_shape(shape, v.layout->packed());
    }

    bool is_shape(std::uint32_t number, const Layout* packed) {
        if (number < shapes_) return shape_[number] == packed;
        for (std::uint32_t k = 0; k < shapes_; ++k) {
            if (shape_[k] == packed) return false;
        }
        shape_[shapes_++] = packed;
        return true;
    }

    const std::uint32_t* token_;
    const std::uint32_t* end_;
    std::uint32_t epoch_, count_ = 0, shapes_ = 0;
    const View* views_[4 * most_entries];
    std::uint32_t mentions_[4 * most_entries];
    const Layout* shape_[4 * most_entries];
};

/// The plans known so far, by the hash of their keys. It grows only; where it is full, a new one
/// takes its place, and tapes let go of the old one in their own time.
using PlanSet = std::unordered_multimap<std::uint64_t, std::unique_ptr<const Known>>;

struct PlanTable {
    ProcessMutex mutex;  ///< of the pointer, and of the set that it points to
    std::shared_ptr<PlanSet> set = std::make_shared<PlanSet>();

    static PlanTable& instance() {
        static PlanTable& table = *new PlanTable;
        return table;
    }
};

const Known* look_up(const PlanSet& set, std::uint64_t hash, std::span<const std::uint32_t> key) {
    auto [from, to] = set.equal_range(hash);
    for (auto it = from; it != to; ++it) {
        if (it->second->is_for(key)) return it->second.get();
    }
    return nullptr;
}

constexpr std::size_t plan_limit = 4096;

}  // namespace

Plan::~Plan() = default;

View SegmentData::view(std::uint32_t slot) const {
    const Slot& s = slots[slot];
    return {storages[s.storage].storage, s.layout, s.offset, s.dtype};
}

Overlap SegmentData::relation(std::uint32_t a, std::uint32_t b) const {
    if (slots[a].storage != slots[b].storage) return Overlap::Disjoint;
    return overlap(view(a), view(b));
}

/// How many answers of the table a finder remembers, so that a program that alternates between
/// segments takes no lock.
constexpr std::size_t recent_plans = 64;

struct PlanFinder::State {
    Reader reader;
    const Known* last = nullptr;
    const Known* recent[recent_plans] = {};
    std::shared_ptr<PlanSet> set;  ///< that the pointers above point into

    /// Lets go of what belongs to a table that is not the process's any more.
    void renew(const std::shared_ptr<PlanSet>& now, Tape& tape) {
        if (set == now) return;
        tape.forget_plans();
        std::fill(std::begin(recent), std::end(recent), nullptr);
        last = nullptr;
        set = now;
    }
    const Known* find_shared(std::uint64_t hash, std::span<const std::uint32_t> key, Tape& tape);
    const Known* form(std::uint64_t hash, std::span<const std::uint32_t> key,
                      std::vector<Entry>& segment, Tape& tape);
};

const Known* PlanFinder::State::find_shared(std::uint64_t hash, std::span<const std::uint32_t> key,
                                            Tape& tape) {
    PlanTable& table = PlanTable::instance();
    std::lock_guard lock(table.mutex);
    renew(table.set, tape);
    return look_up(*set, hash, key);
}

const Known* PlanFinder::State::form(std::uint64_t hash, std::span<const std::uint32_t> key,
                                     std::vector<Entry>& segment, Tape& tape) {
    count(counters().plans_formed);
    auto made = std::make_unique<Known>();
    made->key.assign(key.begin(), key.end());
    made->plan = form_plan(segment, reader.data);
    PlanTable& table = PlanTable::instance();
    std::lock_guard lock(table.mutex);
    // Rare; plans are cheap to form again and kernels have a cache of their own.
    if (table.set->size() >= plan_limit) table.set = std::make_shared<PlanSet>();
    renew(table.set, tape);
    if (const Known* others = look_up(*set, hash, key)) return others;
    return set->emplace(hash, std::move(made))->second.get();
}

PlanFinder::PlanFinder() : state_(std::make_unique<State>()) {}
PlanFinder::~PlanFinder() = default;

std::shared_ptr<const void> PlanFinder::plans() const { return state_->set; }

const Plan& PlanFinder::find(std::vector<Entry>& segment, std::uint32_t epoch, Tape& tape) {
    State& s = *state_;
    if (has_reshapes(segment)) see_through_reshapes(segment, epoch + 2);
    if (s.last && Follower(s.last->key, epoch).follows(segment)) return *s.last->plan;
    s.reader.read(segment, epoch + 1);
    const std::span<const std::uint32_t> key = s.reader.key();
    const std::uint64_t hash = hash_tokens(key);
    const Known*& recent = s.recent[hash % recent_plans];
    if (recent && recent->is_for(key)) return *(s.last = recent)->plan;
    const Known* found = s.find_shared(hash, key, tape);
    if (!found) found = s.form(hash, key, segment, tape);
    s.last = recent = found;
    return *found->plan;
}

}  // namespace unisono
