// What compiled code does with dicts and sets, by the table of core/native/native.h. Value 0 is the
// table's address where a function takes one.
#include <algorithm>
#include <vector>

#include "core/native/native.h"
#include "runtime/tables.h"

namespace unisono {

namespace {

TableForm form_at(const std::int64_t* v) {
    return {static_cast<int>(v[0] & 255), static_cast<int>(v[1]), static_cast<std::uint64_t>(v[2]),
            static_cast<std::uint64_t>(v[3]), v[0] > 255};
}

void give(std::int64_t* v, const Table* table) {
    v[0] = table ? handle_of(table) : Heap::current() ? 0 : -1;
}

/// [words of keys (256 more for a list), of values, kinds, counted]: [table]; 0 without memory, -1
/// where no call owns it
void table_new(std::int64_t* v) { give(v, make_table(form_at(v))); }

/// [table, words of keys, of values, kinds, counted, bytes of a code, the code]: an empty table
/// is given the types of its future items.
void table_become(std::int64_t* v) {
    Table& table = table_at(v[0]);
    if (table.rows() > 0) return;
    table.become(form_at(v + 1));
    try {
        table.code.assign(reinterpret_cast<const char*>(v + 6), static_cast<std::size_t>(v[5]));
    } catch (...) {
        table.code.clear();
    }
}

/// [table, key]: [whether it is there, value]
void table_get(std::int64_t* v) {
    const Table& t = table_at(v[0]);
    const std::int64_t* found = t.find(v + 1);
    v[0] = found != nullptr;
    if (found) std::copy_n(found + t.form().keys, t.form().values, v + 1);
}

/// [table, key]: [whether it is there]
void table_has(std::int64_t* v) { v[0] = table_at(v[0]).find(v + 1) != nullptr; }

/// [table, key, value]: [status]
void table_set(std::int64_t* v) {
    Table& t = table_at(v[0]);
    v[0] = 0;
    try {
        t.set(v + 1, v + 1 + t.form().keys);
    } catch (...) {
        v[0] = native_out_of_memory;
    }
}

/// [table, key]: [whether it was there, value]; the caller gets its references
void table_pop(std::int64_t* v) {
    Table& t = table_at(v[0]);
    std::int64_t key[32];
    std::copy_n(v + 1, t.form().keys, key);
    v[0] = t.remove(key, v + 1);
}

void table_remove(std::int64_t* v) { v[0] = table_at(v[0]).remove(v + 1, nullptr); }

/// [table, whether the last]: [whether there is one, key, value] of the first or last entry, which
/// goes
void table_take(std::int64_t* v) {
    Table& t = table_at(v[0]);
    bool is_last = v[1] != 0;
    v[0] = t.size() > 0;
    if (t.size() == 0) return;
    std::int64_t k = is_last ? t.rows() - 1 : 0;
    while (!t.row(k)) k += is_last ? -1 : 1;
    std::copy_n(t.row(k), t.form().keys + t.form().values, v + 1);
    std::int64_t key[32];
    std::copy_n(v + 1, t.form().keys, key);
    t.remove(key, v + 1 + t.form().keys);
}

void table_size(std::int64_t* v) { v[0] = table_at(v[0]).size(); }
void table_clear(std::int64_t* v) { table_at(v[0]).clear(); }

/// [table]: [entries that a loop visits]
void table_loop(std::int64_t* v) {
    Table& t = table_at(v[0]);
    t.begin_loop();
    v[0] = t.size();
}

/// [table, k]: [1 where entries came or went since the loop began, key, value]
void table_row(std::int64_t* v) {
    Table& t = table_at(v[0]);
    std::int64_t k = v[1] < 0 ? v[1] + t.size() : v[1];
    const std::int64_t* row = t.has_changed() || k < 0 ? nullptr : t.visited(k);
    v[0] = !row;
    if (row) std::copy_n(row, t.form().keys + t.form().values, v + 1);
}

/// Adds the entries of `from` to `to` that fit.
template <class Fits>
void add_all(Table& to, const Table& from, Fits fits) {
    for (std::int64_t k = 0; k < from.rows(); ++k) {
        const std::int64_t* row = from.row(k);
        if (!row || !fits(row)) continue;
        // Counted words have a reference in each table.
        from.keep(row);
        to.set(row, row + from.form().keys);
    }
}

/// [what, a, b]: [a new table] for what 0 a copy of a; 1 a | b, 2 a & b, 3 a - b, 4 a ^ b.
void table_merge(std::int64_t* v) {
    std::int64_t what = v[0];
    const Table &a = table_at(v[1]), &b = table_at(v[2]);
    Table* made = make_table(a.form());
    give(v, made);
    if (!made) return;
    try {
        add_all(*made, a, [&](const std::int64_t* key) {
            return what < 2 || (b.find(key) != nullptr) == (what == 2);
        });
        if (what == 1) add_all(*made, b, [](const std::int64_t*) { return true; });
        if (what == 4) add_all(*made, b, [&](const std::int64_t* key) { return !a.find(key); });
        made->is_changed = false;
    } catch (...) {
        v[0] = 0;
    }
}

/// [what, a, b]: [status]; the same in place of a.
void table_update(std::int64_t* v) {
    std::int64_t what = v[0];
    Table& a = table_at(v[1]);
    const Table& b = table_at(v[2]);
    v[0] = 0;
    try {
        if (&a == &b) {
            if (what > 2) a.clear();
            return;
        }
        std::vector<const std::int64_t*> others;
        std::vector<std::int64_t> gone;
        auto drop = [&](bool is_in_b) {
            for (std::int64_t k = 0; k < a.rows(); ++k) {
                const std::int64_t* row = a.row(k);
                if (row && (b.find(row) != nullptr) == is_in_b)
                    gone.insert(gone.end(), row, row + a.form().keys);
            }
        };
        if (what == 1) add_all(a, b, [](const std::int64_t*) { return true; });
        if (what == 4) {
            for (std::int64_t k = 0; k < b.rows(); ++k) {
                const std::int64_t* row = b.row(k);
                if (row && !a.find(row)) others.push_back(row);
            }
        }
        if (what != 1) drop(what != 2);
        for (std::size_t k = 0; k < gone.size(); k += static_cast<std::size_t>(a.form().keys))
            a.remove(&gone[k], nullptr);
        for (const std::int64_t* row : others) a.set(row, row + a.form().keys);
    } catch (...) {
        v[0] = native_out_of_memory;
    }
}

/// [a, b]: [equal, a in b, b in a, nothing in both], where a in b is of keys
void table_compare(std::int64_t* v) {
    const Table &a = table_at(v[0]), &b = table_at(v[1]);
    std::int64_t common = 0;
    for (std::int64_t k = 0; k < a.rows(); ++k) {
        const std::int64_t* row = a.row(k);
        common += row && b.find(row);
    }
    v[0] = same_tables(a, b);
    v[1] = common == a.size();
    v[2] = common == b.size();
    v[3] = common == 0;
}

// Compiled code does those of keys that are one integer itself, and calls the function to make
// room; such values hold no blocks.
[[maybe_unused]] const bool whole_keys = add_natives({{"table_get_whole", table_get},
                                                      {"table_has_whole", table_has},
                                                      {"table_set_whole", table_set}});

[[maybe_unused]] const bool natives = add_natives({{"table_new", table_new},
                                                   {"table_become", table_become},
                                                   {"table_get", table_get},
                                                   {"table_has", table_has},
                                                   {"table_set", table_set},
                                                   {"table_pop", table_pop},
                                                   {"table_remove", table_remove},
                                                   {"table_take", table_take},
                                                   {"table_size", table_size},
                                                   {"table_clear", table_clear},
                                                   {"table_loop", table_loop},
                                                   {"table_row", table_row},
                                                   {"table_merge", table_merge},
                                                   {"table_update", table_update},
                                                   {"table_compare", table_compare}});

}  // namespace

}  // namespace unisono
