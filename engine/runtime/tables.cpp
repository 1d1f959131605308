// Tables: open addressing from hashes to entries.
#include "runtime/tables.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "core/native/block.h"

namespace unisono {

static std::atomic<std::int64_t> live{0};
std::int64_t live_tables() noexcept { return live.load(std::memory_order_relaxed); }

static Block* block_at(std::int64_t word) {
    return reinterpret_cast<Block*>(static_cast<std::uintptr_t>(word));
}

/// The index of tables without rows, into which nobody writes.
static std::uint32_t no_index[1] = {0};

Table::Table(const TableForm& form) noexcept {
    index = no_index;
    take_form(form);
    live.fetch_add(1, std::memory_order_relaxed);
}

Table::~Table() {
    clear();
    std::free(words);
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

const std::int64_t* Table::row(std::int64_t k) const {
    const std::int64_t* at = words + first_ + static_cast<std::size_t>(k) * width_;
    return *at ? at + 1 : nullptr;
}

void Table::reserve(std::size_t count) {
    if (count > room_) {
        void* made = std::realloc(words, count * sizeof(std::int64_t));
        if (!made) throw std::bad_alloc();
        end = static_cast<std::int64_t*>(made) + used();
        words = static_cast<std::int64_t*>(made);
        room_ = count;
    }
    limit = words + (form_.is_list ? room_ : count);
    describe_items();
}

std::int64_t* Table::grown(std::size_t rows) {
    const std::size_t more = rows * width_;
    if (static_cast<std::size_t>(limit - end) < more)
        reserve(std::max({used() + more, 8 * width_, 2 * used()}));
    std::int64_t* made = end;
    end += more;
    for (std::size_t k = 0; k < rows; ++k) made[k * width_] = 1;
    return made;
}

/// Where the entry of the key is, or would be inserted.
std::size_t Table::slot(const std::int64_t* key, std::uint64_t hash) const noexcept {
    if (has_whole_key_) return whole_slot(key[0]);
    std::size_t at = home_of(hash);
    for (; index[at]; at = (at + 1) & index_mask) {
        const std::int64_t* there = entry(index[at]);
        if (static_cast<std::uint64_t>(*there) == hash && equal(there + 1, key)) break;
    }
    return at;
}

/// Fills the index, which is empty and large enough.
void Table::number_rows() noexcept {
    for (std::int64_t k = 0; k < row_count; ++k) {
        auto h = static_cast<std::uint64_t>(words[static_cast<std::size_t>(k) * width_]);
        if (h == 0) continue;
        std::size_t at = home_of(h);
        while (index[at]) at = (at + 1) & index_mask;
        index[at] = static_cast<std::uint32_t>(k + 1);
    }
}

void Table::compact() noexcept {
    if (form_.is_list) return;
    seen_ = seen_at_ = -1;
    std::int64_t* to = words;
    for (const std::int64_t* from = words; from != end; from += width_) {
        if (*from == 0) continue;
        if (from != to) std::copy_n(from, width_, to);
        to += width_;
    }
    end = to;
    row_count = item_count;
}

void Table::make_room() {
    const auto count = static_cast<std::size_t>(item_count);
    const std::size_t slots = std::max<std::size_t>(8, std::bit_ceil(2 * (count + 1) + 1));
    std::vector<std::uint32_t> fresh(slots);
    reserve(slots / 2 * width_);
    // Nothing fails from here on.
    compact();
    slots_ = std::move(fresh);
    index = slots_.data();
    index_mask = slots - 1;
    index_shift = static_cast<std::uint64_t>(std::countl_zero(index_mask));
    number_rows();
}

void Table::set(const std::int64_t* key, const std::int64_t* value) {
    const auto keys = static_cast<std::size_t>(form_.keys),
               values = static_cast<std::size_t>(form_.values);
    is_changed = true;
    const std::uint64_t h = has_whole_key_ ? hash_of_whole(*key) : hash(key);
    std::size_t at = has_whole_key_ ? whole_slot(*key) : slot(key, h);
    if (index[at]) {
        std::int64_t* there = entry(index[at]) + 1;
        release(there);
        std::copy_n(value, values, there + keys);
        return;
    }
    if (static_cast<std::size_t>(limit - end) < width_) {
        make_room();
        at = slot(key, h);
    }
    // Everything that may fail is behind us: there is room for half of the index's slots.
    index[at] = static_cast<std::uint32_t>(++row_count);
    *end++ = static_cast<std::int64_t>(h);
    for (std::size_t k = 0; k < keys; ++k) *end++ = key[k];
    for (std::size_t k = 0; k < values; ++k) *end++ = value[k];
    ++item_count;
}

/// Gives up what the values of an entry keep.
void Table::release(const std::int64_t* row) noexcept {
    for (int k = 0; form_.counted && k < form_.keys + form_.values; ++k) {
        if (form_.counted >> k & 1) release_block(block_at(row[k]));
    }
}

bool Table::remove(const std::int64_t* key, std::int64_t* value) noexcept {
    if (item_count == 0) return false;
    std::size_t at = slot(key, hash(key));
    if (!index[at]) return false;
    std::int64_t* gone = entry(index[at]);
    if (value)
        std::copy_n(gone + 1 + form_.keys, form_.values, value);
    else
        release(gone + 1);
    *gone = 0;
    --item_count;
    is_changed = true;
    // The following entries of the index move up, so that no search ends too early.
    index[at] = 0;
    for (std::size_t next = (at + 1) & index_mask; index[next]; next = (next + 1) & index_mask) {
        std::size_t home = home_of(static_cast<std::uint64_t>(*entry(index[next])));
        if (((next - home) & index_mask) < ((next - at) & index_mask)) continue;
        index[at] = std::exchange(index[next], 0u);
        at = next;
    }
    if (item_count == 0) clear();
    return true;
}

void Table::clear() noexcept {
    if (form_.counted) {
        for (std::int64_t k = 0; k < rows(); ++k) {
            if (const std::int64_t* entry = row(k)) release(entry);
        }
    }
    is_changed = is_changed || item_count > 0;
    end = words;
    seen_ = seen_at_ = -1;
    first_ = 0;
    std::fill(slots_.begin(), slots_.end(), 0u);
    item_count = row_count = 0;
    describe_items();
}

const std::int64_t* Table::visited(std::int64_t k) noexcept {
    const std::int64_t count = rows();
    if (count == item_count) return k < count ? row(k) : nullptr;
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
    if (rows() > 2 * item_count) {
        compact();
        // No more slots than before: the index has its memory.
        std::fill(slots_.begin(), slots_.end(), 0u);
        number_rows();
    }
    loop_count = item_count;
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
