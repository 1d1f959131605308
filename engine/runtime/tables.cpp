// Tables: open addressing from hashes to entries.
#include "runtime/tables.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <utility>

#include "core/native/block.h"

namespace unisono {

static std::atomic<std::int64_t> live{0};
std::int64_t live_tables() noexcept { return live.load(std::memory_order_relaxed); }

static Block* block_at(std::int64_t word) {
    return reinterpret_cast<Block*>(static_cast<std::uintptr_t>(word));
}

Table::Table(const TableForm& form) noexcept {
    take_form(form);
    live.fetch_add(1, std::memory_order_relaxed);
}

Table::~Table() {
    clear();
    live.fetch_sub(1, std::memory_order_relaxed);
}

Table* make_table(const TableForm& form) noexcept {
    Heap* heap = Heap::current();
    if (!heap) return nullptr;
    try {
        auto made = std::make_unique<Table>(form);
        Table* table = made.get();
        heap->own(std::move(made));
        return table;
    } catch (...) {
        return nullptr;
    }
}

/// 0.0 and -0.0 are one key.
static bool same_float(std::int64_t a, std::int64_t b) {
    return std::bit_cast<double>(a) == std::bit_cast<double>(b);
}

bool same_word(WordKind kind, std::int64_t a, std::int64_t b) noexcept {
    switch (kind) {
        case WordKind::Whole: return a == b;
        case WordKind::Float: return same_float(a, b);
        case WordKind::Text: return a == b || text_at(a).view() == text_at(b).view();
        case WordKind::Table: return a == b || same_tables(table_at(a), table_at(b));
    }
    return false;
}

std::uint64_t Table::hash(const std::int64_t* key) const noexcept {
    if (has_whole_key_) return hash_of_whole(key[0]);
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < form_.keys; ++k) {
        std::int64_t word = key[k];
        WordKind kind = form_.kind(k);
        if (kind == WordKind::Float && std::bit_cast<double>(word) == 0) word = 0;
        auto bits =
            kind == WordKind::Text ? hash_of(text_at(word)) : static_cast<std::uint64_t>(word);
        h = (h ^ bits) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h | 1;
}

bool Table::equal(const std::int64_t* a, const std::int64_t* b) const noexcept {
    for (int k = 0; k < form_.keys; ++k) {
        if (!same_word(form_.kind(k), a[k], b[k])) return false;
    }
    return true;
}

std::int64_t Table::rows() const {
    if (form_.is_list) return live_;
    return static_cast<std::int64_t>(rows_.size() / width_);
}

const std::int64_t* Table::row(std::int64_t k) const {
    const std::int64_t* at = rows_.data() + first_ + static_cast<std::size_t>(k) * width_;
    return *at ? at + 1 : nullptr;
}

/// Where the entry of the key is, or would be inserted.
std::size_t Table::slot(const std::int64_t* key, std::uint64_t hash) const noexcept {
    if (has_whole_key_) return whole_slot(key[0]);
    std::size_t mask = index_.size() - 1, at = home_of(hash, mask);
    for (; index_[at]; at = (at + 1) & mask) {
        const std::int64_t* there = entry(index_[at]);
        if (static_cast<std::uint64_t>(*there) == hash && equal(there + 1, key)) break;
    }
    return at;
}

void Table::rehash(std::size_t slots) {
    std::vector<std::uint32_t> fresh(slots);
    std::size_t mask = slots - 1, step = width_, count = rows_.size() / step;
    for (std::size_t k = 0; k < count; ++k) {
        auto h = static_cast<std::uint64_t>(rows_[k * step]);
        if (h == 0) continue;
        std::size_t at = home_of(h, mask);
        while (fresh[at]) at = (at + 1) & mask;
        fresh[at] = static_cast<std::uint32_t>(k + 1);
    }
    index_ = std::move(fresh);
}

void Table::compact() noexcept {
    if (form_.is_list) return;
    seen_ = seen_at_ = -1;
    std::size_t step = width_, to = 0;
    for (std::size_t from = 0; from < rows_.size(); from += step) {
        if (rows_[from] == 0) continue;
        if (from != to)
            std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(from), step,
                        rows_.begin() + static_cast<std::ptrdiff_t>(to));
        to += step;
    }
    rows_.resize(to);
}

void Table::set(const std::int64_t* key, const std::int64_t* value) {
    auto keys = static_cast<std::size_t>(form_.keys),
         values = static_cast<std::size_t>(form_.values);
    is_changed = true;
    std::uint64_t h = has_whole_key_ ? hash_of_whole(*key) : hash(key);
    std::size_t at = 0;
    if (!index_.empty()) {
        at = has_whole_key_ ? whole_slot(*key) : slot(key, h);
        if (index_[at]) {
            std::int64_t* there = rows_.data() + (index_[at] - 1) * width_ + 1;
            release(there);
            std::copy_n(value, values, there + keys);
            return;
        }
    }
    std::size_t count = rows_.size() / width_;
    if (2 * (count + 1) > index_.size()) {
        compact();
        count = rows_.size() / width_;
        std::size_t slots = std::max<std::size_t>(8, std::bit_ceil(2 * (count + 1) + 1));
        rows_.reserve(std::max(rows_.capacity(), slots / 2 * width_));
        rehash(slots);
        at = slot(key, h);
    }
    // Everything that may fail is behind us: there is room for half of the index's slots.
    index_[at] = static_cast<std::uint32_t>(count + 1);
    rows_.push_back(static_cast<std::int64_t>(h));
    for (std::size_t k = 0; k < keys; ++k) rows_.push_back(key[k]);
    for (std::size_t k = 0; k < values; ++k) rows_.push_back(value[k]);
    ++live_;
}

/// Gives up what the values of an entry keep.
void Table::release(const std::int64_t* row) noexcept {
    for (int k = 0; form_.counted && k < form_.keys + form_.values; ++k) {
        if (form_.counted >> k & 1) release_block(block_at(row[k]));
    }
}

bool Table::remove(const std::int64_t* key, std::int64_t* value) noexcept {
    if (live_ == 0) return false;
    std::size_t mask = index_.size() - 1, at = slot(key, hash(key)), step = width_;
    if (!index_[at]) return false;
    std::int64_t* entry = rows_.data() + (index_[at] - 1) * step;
    if (value)
        std::copy_n(entry + 1 + form_.keys, form_.values, value);
    else
        release(entry + 1);
    *entry = 0;
    --live_;
    is_changed = true;
    // The following entries of the index move up, so that no search ends too early.
    index_[at] = 0;
    for (std::size_t next = (at + 1) & mask; index_[next]; next = (next + 1) & mask) {
        auto h = static_cast<std::uint64_t>(rows_[(index_[next] - 1) * step]);
        std::size_t home = home_of(h, mask);
        if (((next - home) & mask) < ((next - at) & mask)) continue;
        index_[at] = std::exchange(index_[next], 0u);
        at = next;
    }
    if (live_ == 0) clear();
    return true;
}

void Table::clear() noexcept {
    if (form_.counted) {
        for (std::int64_t k = 0; k < rows(); ++k) {
            if (const std::int64_t* entry = row(k)) release(entry);
        }
    }
    is_changed = is_changed || live_ > 0;
    rows_.clear();
    seen_ = seen_at_ = -1;
    first_ = 0;
    std::fill(index_.begin(), index_.end(), 0u);
    live_ = 0;
    describe_items();
}

const std::int64_t* Table::visited(std::int64_t k) noexcept {
    const std::int64_t count = rows();
    if (count == live_) return k < count ? row(k) : nullptr;
    if (k < seen_) seen_ = seen_at_ = -1;
    while (seen_ < k) {
        do {
            if (++seen_at_ >= count) {
                seen_ = seen_at_ = -1;
                return nullptr;
            }
        } while (!row(seen_at_));
        ++seen_;
    }
    return row(seen_at_);
}

void Table::begin_loop() noexcept {
    seen_ = seen_at_ = -1;
    if (rows() > 2 * live_) {
        compact();
        // No more slots than before: the index has its memory.
        std::fill(index_.begin(), index_.end(), 0u);
        std::size_t mask = index_.size() - 1, step = width_;
        for (std::size_t k = 0; k < static_cast<std::size_t>(live_); ++k) {
            std::size_t at = home_of(static_cast<std::uint64_t>(rows_[k * step]), mask);
            while (index_[at]) at = (at + 1) & mask;
            index_[at] = static_cast<std::uint32_t>(k + 1);
        }
    }
    loop_size_ = live_;
}

bool same_tables(const Table& a, const Table& b) noexcept {
    if (a.size() != b.size()) return false;
    if (a.form().is_list) return compare_lists(a, b) == 0;
    int keys = a.form().keys;
    for (std::int64_t k = 0; k < a.rows(); ++k) {
        const std::int64_t* mine = a.row(k);
        const std::int64_t* other = mine ? b.find(mine) : nullptr;
        if (!mine) continue;
        if (!other) return false;
        for (int w = keys; w < keys + a.form().values; ++w) {
            if (!same_word(a.form().kind(w), mine[w], other[w])) return false;
        }
    }
    return true;
}

}  // namespace unisono
