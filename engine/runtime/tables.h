// Dicts, sets and lists of compiled functions: rows in the order in which their keys came, and an
// index of their hashes. A list has rows without keys, and no index.
//
// Keys and values are words: a number in one, a float as its bits, a text or another table as its
// address; of an array the address, the block that keeps its memory alive, the extents and the
// strides. Tables live on the heap of their call (objects.h), whose end is theirs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/native/table_rows.h"
#include "runtime/objects.h"

namespace unisono {

/// How words compare: two bits each, keys first.
enum class WordKind : std::uint8_t { Whole, Float, Text, Table };

struct TableForm {
    int keys = 0, values = 0;   ///< words of each
    std::uint64_t kinds = 0;    ///< WordKind of each word
    std::uint64_t counted = 0;  ///< a bit for each word that is a block
    bool is_list = false;
    WordKind kind(int word) const { return static_cast<WordKind>(kinds >> (2 * word) & 3); }
};

static_assert(sizeof(HeapObject) == table_rows_offset);

class Table : public HeapObject, public TableRows {
  public:
    explicit Table(const TableForm& form) noexcept;
    ~Table() override;

    const TableForm& form() const { return form_; }
    std::int64_t size() const { return item_count; }
    /// Entries, counting those that were removed and still lie between the others.
    std::int64_t rows() const { return form_.is_list ? item_count : row_count; }
    /// The words of an entry, keys first; null where it was removed.
    const std::int64_t* row(std::int64_t k) const;
    const std::int64_t* find(const std::int64_t* key) const noexcept {
        if (item_count == 0) return nullptr;
        std::uint32_t number = index[has_whole_key_ ? whole_slot(*key) : slot(key, hash(key))];
        return number ? entry(number) + 1 : nullptr;
    }
    /// Adds or replaces; takes over the references of counted words. May throw std::bad_alloc.
    void set(const std::int64_t* key, const std::int64_t* value);
    /// Moves the values of the key to `value`, if that is not null; false where there is none.
    bool remove(const std::int64_t* key, std::int64_t* value) noexcept;
    void clear() noexcept;

    // ---- of lists (table_lists.cpp)
    /// In front of entry k; takes over the references of counted words. May throw std::bad_alloc.
    void insert(std::int64_t k, const std::int64_t* item);
    /// Entries k, k + step... of a list of the same form, which may be this one, behind its own.
    /// May throw std::bad_alloc.
    void append(const Table& from, std::int64_t k, std::int64_t step, std::int64_t count);
    /// Numbers in a row behind its own, of 8 bytes each, or bools. May throw std::bad_alloc.
    void append_numbers(const void* from, std::int64_t count, bool are_bools);
    /// Takes the entries [k, last) out and those of the other list in, which is not this one. May
    /// throw std::bad_alloc.
    void splice(std::int64_t k, std::int64_t last, const Table& other);
    /// Other words for entry k, whose references are given up.
    void replace(std::int64_t k, const std::int64_t* item) noexcept;
    /// Takes entry k out; its references go to the caller.
    void take(std::int64_t k, std::int64_t* item) noexcept;
    /// Takes these entries out; their references are given up.
    void remove_rows(std::vector<std::int64_t> places);
    /// One reference less for each counted word of a row that no table has.
    void give_up(const std::int64_t* row) noexcept { release(row); }
    /// The same rows in another order, which `order` tells by their numbers.
    void arrange(const std::vector<std::int64_t>& order);
    /// One more reference for each counted word of a row.
    void keep(const std::int64_t* row) const noexcept;
    /// -1, 0 or 1, item by item; texts by code points, lists by their items.
    int compare(const std::int64_t* a, const std::int64_t* b) const noexcept;

    /// A loop begins; entries that were removed are dropped where they are more than the others.
    void begin_loop() noexcept;
    /// Entry k of those that are there, or null; fast where a loop asks for one after the other.
    const std::int64_t* visited(std::int64_t k) noexcept;
    /// Whether entries came or went since the loop began.
    bool has_changed() const { return loop_count != item_count; }
    /// Another form, while there is nothing in it.
    void become(const TableForm& form) noexcept {
        take_form(form);
        limit = end;  // the room was counted in other rows
    }

    std::string code;  ///< what its entries are, where it came empty

  private:
    void take_form(const TableForm& form) noexcept {
        form_ = form;
        width_ = 1 + static_cast<std::size_t>(form.keys + form.values);
        item_step = static_cast<std::int64_t>(width_);
        has_whole_key_ = form.keys == 1 && form.kind(0) == WordKind::Whole;
    }
    std::size_t used() const { return static_cast<std::size_t>(end - words); }
    /// Memory for that many words. May throw std::bad_alloc.
    void reserve(std::size_t count);
    /// Rows behind the last one, whose first words say that they are there. May throw
    /// std::bad_alloc.
    std::int64_t* grown(std::size_t rows);
    /// The end of a change of a list's rows.
    void changed(std::int64_t more) noexcept {
        item_count += more;
        is_changed = true;
        describe_items();
    }
    void describe_items() noexcept { first_item = words ? words + first_ + 1 : nullptr; }
    /// Where the search for a hash begins: its highest bits, on which all bits of a key bear.
    std::size_t home_of(std::uint64_t hash) const { return hash >> index_shift & index_mask; }
    /// The hash and the words of an entry by its number in the index.
    std::int64_t* entry(std::uint32_t number) const { return words + (number - 1) * width_; }
    /// As slot, for a key that compares as it is.
    std::size_t whole_slot(std::int64_t key) const noexcept {
        std::size_t at = home_of(hash_of_whole(key));
        while (index[at] && entry(index[at])[1] != key) at = (at + 1) & index_mask;
        return at;
    }
    std::uint64_t hash(const std::int64_t* key) const noexcept;
    bool equal(const std::int64_t* a, const std::int64_t* b) const noexcept;
    std::size_t slot(const std::int64_t* key, std::uint64_t hash) const noexcept;
    void compact() noexcept;
    void number_rows() noexcept;
    /// For one row more in the memory and in the index. May throw std::bad_alloc.
    void make_room();
    void release(const std::int64_t* row) noexcept;

    TableForm form_;
    bool has_whole_key_ = false;        ///< its only word is an integer
    std::size_t width_ = 0;             ///< words of an entry, its hash among them
    std::size_t room_ = 0;              ///< words that there is memory for
    std::vector<std::uint32_t> slots_;  ///< the index
    std::size_t first_ = 0;  ///< words of a list in front of its rows: room, and rows that are gone
    std::int64_t seen_ = -1, seen_at_ = -1;  ///< the entry that was visited last, and its row
};

/// Null where there is no memory, or no call that owns it.
Table* make_table(const TableForm& form) noexcept;
/// Equal keys and values, in any order; lists in the same one.
bool same_tables(const Table& a, const Table& b) noexcept;
/// Lists in dictionary order: -1, 0 or 1.
int compare_lists(const Table& a, const Table& b) noexcept;
bool same_word(WordKind kind, std::int64_t a, std::int64_t b) noexcept;
/// Tables that exist now.
std::int64_t live_tables() noexcept;

inline Table& table_at(std::int64_t handle) {
    return *reinterpret_cast<Table*>(static_cast<std::uintptr_t>(handle));
}

}  // namespace unisono
