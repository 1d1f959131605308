// Names the structure of a segment by a key, and keeps the plans known so far.
//
// The key is a string of 32-bit tokens. Storages and views get numbers in the order in which the
// segment mentions them; a view's first mention also writes its class. At the end come, for each
// storage that the segment writes and sees through several views, how those views overlap.
#include "tape/plan.h"

#include <cstring>
#include <unordered_map>

#include "core/stats.h"
#include "tape/form_plan.h"
#include "tape/hazards.h"
#include "tape/run_group.h"

namespace unisono {

namespace {

constexpr std::uint32_t scalar_token = 0x80000000u;

std::uint64_t hash_tokens(const std::vector<std::uint32_t>& tokens) {
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

/// Reads a segment into numbers: the one hot loop of a flush.
class Reader {
  public:
    void read(std::vector<Entry>& segment, std::uint32_t epoch) {
        key.clear();
        data.slots.clear();
        data.storages.clear();
        shapes_.clear();
        data.operands.resize(segment.size() * 4);
        epoch_ = epoch;
        for (std::uint32_t i = 0; i < segment.size(); ++i) read_entry(segment[i], i);
        finish();
    }

    std::vector<std::uint32_t> key;
    SegmentData data;

  private:
    void read_entry(const Entry& e, std::uint32_t i) {
        key.push_back(static_cast<std::uint32_t>(e.kind) | static_cast<std::uint32_t>(e.op) << 8 |
                      static_cast<std::uint32_t>(e.inputs) << 16 |
                      static_cast<std::uint32_t>(e.compute) << 20 |
                      static_cast<std::uint32_t>(static_cast<std::uint8_t>(e.axis)) << 24);
        for (std::uint32_t k = 0; k < e.inputs; ++k) {
            if (e.in[k].storage) {
                data.operands[4 * i + k] = static_cast<std::int32_t>(slot(e.in[k]));
            } else {
                data.operands[4 * i + k] = -1;
                key.push_back(scalar_token | static_cast<std::uint32_t>(e.in[k].dtype));
            }
        }
        std::uint32_t out = slot(e.out);
        data.operands[4 * i + 3] = static_cast<std::int32_t>(out);
        data.storages[data.slots[out].storage].written = true;
    }

    std::uint32_t slot(const View& v) {
        Storage* s = v.storage;
        if (s->mark_epoch != epoch_) {
            s->mark_epoch = epoch_;
            s->mark = static_cast<std::uint32_t>(data.storages.size());
            data.storages.push_back({s, 0, -1, 0, false, false});
        }
        auto& st = data.storages[s->mark];
        ++st.mentions;
        for (std::int32_t k = st.first_slot; k >= 0;
             k = data.slots[static_cast<std::size_t>(k)].next) {
            const Slot& have = data.slots[static_cast<std::size_t>(k)];
            if (have.layout == v.layout && have.offset == v.offset && have.dtype == v.dtype) {
                key.push_back(static_cast<std::uint32_t>(k));
                return static_cast<std::uint32_t>(k);
            }
        }
        auto id = static_cast<std::uint32_t>(data.slots.size());
        std::uint32_t shape = shape_number(v.layout->packed());
        data.slots.push_back({v.layout, v.offset, v.dtype, s->mark, shape, st.first_slot});
        st.first_slot = static_cast<std::int32_t>(id);
        ++st.slot_count;
        std::uint64_t c = v.layout->class_code();
        key.push_back(id);
        key.push_back(s->mark | static_cast<std::uint32_t>(v.dtype) << 16 | shape << 20);
        key.push_back(static_cast<std::uint32_t>(c));
        key.push_back(static_cast<std::uint32_t>(c >> 32) ^
                      (s->device ? device_number(s->device) : 0));
        return id;
    }

    std::uint32_t shape_number(const Layout* packed) {
        for (std::size_t k = 0; k < shapes_.size(); ++k) {
            if (shapes_[k] == packed) return static_cast<std::uint32_t>(k);
        }
        shapes_.push_back(packed);
        return static_cast<std::uint32_t>(shapes_.size() - 1);
    }

    static std::uint32_t device_number(const Device* d) {
        static std::vector<const Device*> seen;
        for (std::size_t k = 0; k < seen.size(); ++k) {
            if (seen[k] == d) return static_cast<std::uint32_t>(k + 1) << 28;
        }
        seen.push_back(d);
        return static_cast<std::uint32_t>(seen.size()) << 28;
    }

    /// Liveness of each storage, and overlaps of the views of those that are written.
    void finish() {
        for (auto& st : data.storages) {
            st.live = st.storage->refs > st.mentions;
            key.push_back(st.live);
            if (!st.written || st.slot_count < 2) continue;
            for (std::int32_t a = st.first_slot; a >= 0;
                 a = data.slots[static_cast<std::size_t>(a)].next) {
                for (std::int32_t b = data.slots[static_cast<std::size_t>(a)].next; b >= 0;
                     b = data.slots[static_cast<std::size_t>(b)].next) {
                    key.push_back(data.relation(static_cast<std::uint32_t>(a),
                                                static_cast<std::uint32_t>(b)) ==
                                  Overlap::Disjoint);
                }
            }
        }
    }

    std::vector<const Layout*> shapes_;
    std::uint32_t epoch_ = 0;
};

struct Known {
    std::vector<std::uint32_t> key;
    std::unique_ptr<Plan> plan;
};

using PlanTable = std::unordered_multimap<std::uint64_t, Known>;

PlanTable& table() {
    static auto* t = new PlanTable;
    return *t;
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

Plan& find_plan(std::vector<Entry>& segment, std::uint32_t epoch) {
    static auto* reader = new Reader;
    static Known* last = nullptr;
    reader->read(segment, epoch);
    if (last && last->key == reader->key) return *last->plan;
    std::uint64_t h = hash_tokens(reader->key);
    auto [from, to] = table().equal_range(h);
    for (auto it = from; it != to; ++it) {
        if (it->second.key == reader->key) {
            last = &it->second;
            return *last->plan;
        }
    }
    if (table().size() >= plan_limit) {
        // Rare; plans are cheap to form again and kernels have a cache of their own.
        table().clear();
    }
    count(stats().plans_formed);
    auto it = table().emplace(h, Known{reader->key, form_plan(segment, reader->data)});
    last = &it->second;
    return *last->plan;
}

}  // namespace unisono
