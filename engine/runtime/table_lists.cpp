// Lists of compiled functions whose items are not numbers of one kind in a row: texts, tuples,
// arrays, objects, other tables. Rows of a table without keys.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/native/block.h"
#include "core/native/native.h"
#include "runtime/tables.h"

namespace unisono {

static Block* block_at(std::int64_t word) {
    return reinterpret_cast<Block*>(static_cast<std::uintptr_t>(word));
}

void Table::keep(const std::int64_t* row) const noexcept {
    for (int k = 0; form_.counted >> k; ++k) {
        if (form_.counted >> k & 1) retain_block(block_at(row[k]));
    }
}

void Table::insert(std::int64_t k, const std::int64_t* item) {
    if (k == item_count) {
        std::copy_n(item, form_.values, grown(1) + 1);
        return changed(1);
    }
    if (k == 0) {  // a queue grows in front, too: by half
        if (first_ == 0) {
            const std::size_t rows =
                std::max<std::size_t>(8, static_cast<std::size_t>(item_count) / 2);
            const std::size_t count = used();
            grown(rows);
            std::copy_backward(words, words + count, end);
            std::fill_n(words, rows * width_, 1);
            first_ = rows * width_;
        }
        first_ -= width_;
        std::copy_n(item, form_.values, words + first_ + 1);
        return changed(1);
    }
    grown(1);
    std::int64_t* at = words + first_ + static_cast<std::size_t>(k) * width_;
    std::copy_backward(at, end - width_, end);
    *at = 1;
    std::copy_n(item, form_.values, at + 1);
    changed(1);
}

void Table::append(const Table& from, std::int64_t k, std::int64_t step, std::int64_t count) {
    if (count <= 0) return;
    std::int64_t* to = grown(static_cast<std::size_t>(count));
    for (std::int64_t n = 0; n < count; ++n, to += width_) {
        const std::int64_t* row = from.row(k + n * step);
        std::copy_n(row - 1, width_, to);
        keep(row);
    }
    changed(count);
}

void Table::append_numbers(const void* from, std::int64_t count, bool are_bools) {
    if (count <= 0) return;
    std::int64_t* to = grown(static_cast<std::size_t>(count)) + 1;
    for (std::int64_t n = 0; n < count; ++n, to += width_) {
        if (are_bools)
            *to = static_cast<const std::uint8_t*>(from)[n] != 0;
        else
            std::memcpy(to, static_cast<const char*>(from) + 8 * n, 8);
    }
    changed(count);
}

void Table::splice(std::int64_t k, std::int64_t last, const Table& other) {
    const std::int64_t count = other.rows(), more = count - (last - k);
    if (more > 0) grown(static_cast<std::size_t>(more));
    for (std::int64_t i = 0; i < count; ++i) keep(other.row(i));
    for (std::int64_t i = k; i < last; ++i) release(row(i));
    const auto step = static_cast<std::ptrdiff_t>(width_);
    std::int64_t* at = words + first_ + k * step;
    std::int64_t* behind = at + (last - k) * step;
    if (more > 0) {
        std::copy_backward(behind, end - more * step, end);
    } else if (more < 0) {
        std::copy(behind, end, behind + more * step);
        end += more * step;
    }
    if (count > 0) std::copy_n(other.words + other.first_, count * step, at);
    changed(more);
}

void Table::replace(std::int64_t k, const std::int64_t* item) noexcept {
    std::int64_t* there = words + first_ + static_cast<std::size_t>(k) * width_ + 1;
    release(there);
    std::copy_n(item, form_.values, there);
    is_changed = true;
}

void Table::take(std::int64_t k, std::int64_t* item) noexcept {
    std::int64_t* at = words + first_ + static_cast<std::size_t>(k) * width_;
    std::copy_n(at + 1, form_.values, item);
    auto drop = [this](std::int64_t* from, std::size_t count) {
        std::copy(from + count, end, from);
        end -= count;
    };
    if (k > 0) {
        drop(at, width_);
        return changed(-1);
    }
    first_ += width_;  // the rows behind move when half of the words are gone
    if (2 * first_ > used()) drop(words, std::exchange(first_, 0));
    changed(-1);
}

void Table::remove_rows(std::vector<std::int64_t> places) {
    if (places.empty()) return;
    std::sort(places.begin(), places.end());
    std::size_t next = 0;
    std::int64_t* to = words + first_;
    for (std::int64_t k = 0; k < rows(); ++k) {
        const std::int64_t* item = row(k);
        if (next < places.size() && places[next] == k) {
            release(item);
            ++next;
            continue;
        }
        if (item - 1 != to) std::copy_n(item - 1, width_, to);
        to += width_;
    }
    end = to;
    changed(-static_cast<std::int64_t>(places.size()));
}

void Table::arrange(const std::vector<std::int64_t>& order) {
    std::vector<std::int64_t> moved;
    moved.reserve(order.size() * width_);
    for (std::int64_t k : order) {
        const std::int64_t* from = row(k) - 1;
        moved.insert(moved.end(), from, from + width_);
    }
    std::copy(moved.begin(), moved.end(), words + first_);
    changed(0);
}

static int compare_words(WordKind kind, std::int64_t a, std::int64_t b) noexcept {
    switch (kind) {
        case WordKind::Whole: return (a > b) - (a < b);
        case WordKind::Float: {
            auto x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
            return x < y ? -1 : x == y ? 0 : 1;
        }
        case WordKind::Text: {
            if (a == b) return 0;
            auto x = text_at(a).view(), y = text_at(b).view();
            return x < y ? -1 : x == y ? 0 : 1;
        }
        case WordKind::Table: {
            if (a == b) return 0;
            const Table &x = table_at(a), &y = table_at(b);
            if (x.form().is_list) return compare_lists(x, y);
            return same_tables(x, y) ? 0 : 1;
        }
    }
    return 0;
}

int Table::compare(const std::int64_t* a, const std::int64_t* b) const noexcept {
    for (int k = 0; k < form_.values; ++k) {
        if (int order = compare_words(form_.kind(k), a[k], b[k])) return order;
    }
    return 0;
}

int compare_lists(const Table& a, const Table& b) noexcept {
    std::int64_t common = std::min(a.rows(), b.rows());
    for (std::int64_t k = 0; k < common; ++k) {
        if (int order = a.compare(a.row(k), b.row(k))) return order;
    }
    return (a.rows() > b.rows()) - (a.rows() < b.rows());
}

namespace {

void give(std::int64_t* v, const Table* table) {
    v[0] = table ? handle_of(table) : Heap::current() ? 0 : -1;
}

/// Python's index, or -1 where it is out of range.
std::int64_t place_in(const Table& t, std::int64_t k) {
    if (k < 0) k += t.rows();
    return k >= 0 && k < t.rows() ? k : -1;
}

/// [list, k]: [1 where k is out of range, words]
void list_item(std::int64_t* v) {
    const Table& t = table_at(v[0]);
    std::int64_t k = place_in(t, v[1]);
    v[0] = k < 0;
    if (k >= 0) std::copy_n(t.row(k), t.form().values, v + 1);
}

/// [list, k, words]: [1 where k is out of range]
void list_put(std::int64_t* v) {
    Table& t = table_at(v[0]);
    std::int64_t k = place_in(t, v[1]);
    v[0] = k < 0;
    if (k >= 0) t.replace(k, v + 2);
}

/// The same for items without blocks, which compiled code does itself, as it does list_item.
void list_write(std::int64_t* v) { list_put(v); }

/// [list, k, words]: [status]; k as Python's insert takes it
void list_insert(std::int64_t* v) {
    Table& t = table_at(v[0]);
    std::int64_t k = v[1] < 0 ? v[1] + t.rows() : v[1];
    v[0] = 0;
    try {
        t.insert(std::clamp<std::int64_t>(k, 0, t.rows()), v + 2);
    } catch (...) {
        v[0] = native_out_of_memory;
    }
}

/// [list, words]: [status]; behind the last, which compiled code does itself where there is room
void list_append(std::int64_t* v) {
    Table& t = table_at(v[0]);
    v[0] = 0;
    try {
        t.insert(t.rows(), v + 1);
    } catch (...) {
        v[0] = native_out_of_memory;
    }
}

/// [list, k]: [1 where k is out of range, words], which go
void list_take(std::int64_t* v) {
    Table& t = table_at(v[0]);
    std::int64_t k = place_in(t, v[1]);
    v[0] = k < 0;
    if (k >= 0) t.take(k, v + 1);
}

struct Slice {
    std::int64_t from, to, step;
};

/// begin, end and step, and which of them are given, for n items.
Slice slice_of(const std::int64_t* v, std::int64_t n) {
    std::int64_t given = v[3], step = given & 4 ? v[2] : 1;
    std::int64_t low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
    auto bound = [&](std::int64_t k) { return std::clamp(k < 0 ? k + n : k, low, high); };
    return {given & 1  ? bound(v[0])
            : step < 0 ? high
                       : low,
            given & 2  ? bound(v[1])
            : step < 0 ? low
                       : high,
            step};
}

/// How many items it has; step 0 was refused before.
std::int64_t count_of(const Slice& s) {
    if (s.step < 0) return s.from > s.to ? (s.to - s.from + 1) / s.step + 1 : 0;
    return s.from < s.to ? (s.to - s.from - 1) / s.step + 1 : 0;
}

/// The numbers of its items, in its own order.
std::vector<std::int64_t> places_of(const Slice& s) {
    std::vector<std::int64_t> places(static_cast<std::size_t>(count_of(s)));
    for (std::size_t k = 0; k < places.size(); ++k)
        places[k] = s.from + static_cast<std::int64_t>(k) * s.step;
    return places;
}

/// [list, begin, end, step, which of them are given]: [status]; those items go
void list_remove(std::int64_t* v) {
    Table& t = table_at(v[0]);
    try {
        auto places = places_of(slice_of(v + 1, t.rows()));
        t.remove_rows(places);
        v[0] = 0;
    } catch (...) {
        v[0] = native_out_of_memory;
    }
}

/// [list, begin, end, step, which of them are given, other]: [status, items of the slice]; the
/// items of the other, a list of its own, take the place of those. Status 1: a step, and not as
/// many.
void list_assign(std::int64_t* v) {
    Table& t = table_at(v[0]);
    const Table& other = table_at(v[5]);
    Slice s = slice_of(v + 1, t.rows());
    std::int64_t count = count_of(s);
    bool fits = s.step == 1 || count == other.rows();
    v[0] = !fits;
    v[1] = count;
    if (!fits) return;
    if (s.step != 1) {
        for (std::int64_t k = 0; k < count; ++k) {
            other.keep(other.row(k));
            t.replace(s.from + k * s.step, other.row(k));
        }
        return;
    }
    try {
        t.splice(s.from, s.from + count, other);
    } catch (...) {
        v[0] = native_out_of_memory;
    }
}

/// [list, begin, end, step, which of them are given]: [a new list]
void list_slice(std::int64_t* v) {
    const Table& t = table_at(v[0]);
    Slice s = slice_of(v + 1, t.rows());
    Table* made = make_table(t.form());
    give(v, made);
    if (!made) return;
    try {
        made->append(t, s.from, s.step, count_of(s));
    } catch (...) {
        v[0] = 0;
    }
}

/// [list, other]: [status]; the items of the other behind its own
void list_extend(std::int64_t* v) {
    Table& t = table_at(v[0]);
    const Table& other = table_at(v[1]);
    v[0] = 0;
    try {
        t.append(other, 0, 1, other.rows());
    } catch (...) {
        v[0] = native_out_of_memory;
    }
}

/// [list, address, count, whether they are bools]: [status]; numbers in a row behind its own
void list_numbers(std::int64_t* v) {
    try {
        table_at(v[0]).append_numbers(
            reinterpret_cast<const void*>(static_cast<std::uintptr_t>(v[1])), v[2], v[3] != 0);
        v[0] = 0;
    } catch (...) {
        v[0] = native_out_of_memory;
    }
}

/// [list, n]: [a new list of its items n times]
void list_repeat(std::int64_t* v) {
    const Table& t = table_at(v[0]);
    std::int64_t times = v[1];
    Table* made = make_table(t.form());
    give(v, made);
    if (!made) return;
    try {
        for (std::int64_t i = 0; i < times; ++i) made->append(t, 0, 1, t.rows());
    } catch (...) {
        v[0] = 0;
    }
}

/// [list, words]: [where they are first or -1, how often]
void list_find(std::int64_t* v) {
    const Table& t = table_at(v[0]);
    std::int64_t first = -1, count = 0;
    for (std::int64_t k = 0; k < t.rows(); ++k) {
        const std::int64_t* row = t.row(k);
        bool is_same = true;
        for (int w = 0; w < t.form().values && is_same; ++w)
            is_same = same_word(t.form().kind(w), row[w], v[1 + w]);
        if (is_same && count++ == 0) first = k;
    }
    v[0] = first;
    v[1] = count;
}

/// Whether word w of all rows is a number, and none is NaN.
bool holds_numbers(const Table& t, int w) {
    if (t.form().values <= w) return false;
    if (t.form().kind(w) != WordKind::Float) return t.form().kind(w) == WordKind::Whole;
    for (std::int64_t k = 0; k < t.rows(); ++k) {
        if (std::isnan(std::bit_cast<double>(t.row(k)[w]))) return false;
    }
    return true;
}

/// A number as one that is ordered as it is among its kind.
std::uint64_t rank_of(WordKind kind, std::int64_t word) {
    constexpr std::uint64_t top = std::uint64_t{1} << 63;
    if (kind == WordKind::Whole) return static_cast<std::uint64_t>(word) ^ top;
    // -0.0 is 0.0
    auto bits = std::bit_cast<std::uint64_t>(std::bit_cast<double>(word) + 0.0);
    return bits & top ? ~bits : bits | top;
}

/// The order of rows that begin with numbers: what follows the second is only looked at where
/// those are equal.
void order_by_numbers(const Table& t, bool falls, std::vector<std::int64_t>& order) {
    struct Led {
        std::uint64_t first, second;
        std::int64_t row;
    };
    const bool are_two = holds_numbers(t, 1);
    const bool is_all = t.form().values == (are_two ? 2 : 1);
    // Rows that fall are ordered by the complements, so that equal ones keep their order.
    const std::uint64_t flipped = falls ? ~std::uint64_t{0} : 0;
    std::vector<Led> led(order.size());
    for (std::int64_t k : order) {
        const std::int64_t* row = t.row(k);
        led[static_cast<std::size_t>(k)] = {
            rank_of(t.form().kind(0), row[0]) ^ flipped,
            are_two ? rank_of(t.form().kind(1), row[1]) ^ flipped : 0, k};
    }
    std::stable_sort(led.begin(), led.end(), [&](const Led& a, const Led& b) {
        if (a.first != b.first) return a.first < b.first;
        if (a.second != b.second || is_all) return a.second < b.second;
        const int found = t.compare(t.row(a.row), t.row(b.row));
        return falls ? found > 0 : found < 0;
    });
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = led[k].row;
}

/// [list, how]: [status]; how 0 rising, 1 falling, both stable, 2 from behind
void list_order(std::int64_t* v) {
    Table& t = table_at(v[0]);
    const std::int64_t how = v[1];
    v[0] = 0;
    try {
        std::vector<std::int64_t> order(static_cast<std::size_t>(t.rows()));
        std::iota(order.begin(), order.end(), std::int64_t{0});
        if (how == 2) {
            std::reverse(order.begin(), order.end());
        } else if (holds_numbers(t, 0)) {
            order_by_numbers(t, how == 1, order);
        } else {
            std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
                int found = t.compare(t.row(a), t.row(b));
                return how == 0 ? found < 0 : found > 0;
            });
        }
        t.arrange(order);
    } catch (...) {
        v[0] = native_out_of_memory;
    }
}

template <class T>
void sort_numbers(std::int64_t address, std::int64_t count, bool falls) {
    auto* first = reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
    std::stable_sort(first, first + count, [&](T a, T b) { return falls ? b < a : a < b; });
}

/// [address, items, what they are: 0 int64, 1 float64, 2 bool; whether falling]: [status]
void list_sort(std::int64_t* v) {
    std::int64_t what = v[2];
    try {
        if (what == 0) sort_numbers<std::int64_t>(v[0], v[1], v[3] != 0);
        if (what == 1) sort_numbers<double>(v[0], v[1], v[3] != 0);
        if (what == 2) sort_numbers<std::uint8_t>(v[0], v[1], v[3] != 0);
        v[0] = 0;
    } catch (...) {
        v[0] = native_out_of_memory;
    }
}

/// [a, b]: [equal, order -1, 0 or 1]
void list_compare(std::int64_t* v) {
    v[1] = compare_lists(table_at(v[0]), table_at(v[1]));
    v[0] = v[1] == 0;
}

/// [list of texts, separator]: [text]
void list_join(std::int64_t* v) {
    const Table& t = table_at(v[0]);
    std::u32string_view between = text_at(v[1]).view();
    try {
        std::u32string all;
        for (std::int64_t k = 0; k < t.rows(); ++k) {
            if (k > 0) all += between;
            all += text_at(*t.row(k)).view();
        }
        const Text* made = make_text(all);
        v[0] = made ? handle_of(made) : Heap::current() ? 0 : -1;
    } catch (...) {
        v[0] = 0;
    }
}

[[maybe_unused]] const bool natives = add_natives({{"list_item", list_item},
                                                   {"list_put", list_put},
                                                   {"list_write", list_write},
                                                   {"list_insert", list_insert},
                                                   {"list_append", list_append},
                                                   {"list_take", list_take},
                                                   {"list_slice", list_slice},
                                                   {"list_remove", list_remove},
                                                   {"list_assign", list_assign},
                                                   {"list_extend", list_extend},
                                                   {"list_numbers", list_numbers},
                                                   {"list_repeat", list_repeat},
                                                   {"list_find", list_find},
                                                   {"list_order", list_order},
                                                   {"list_sort", list_sort},
                                                   {"list_compare", list_compare},
                                                   {"list_join", list_join}});

}  // namespace

}  // namespace unisono
