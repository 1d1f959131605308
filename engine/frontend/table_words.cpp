// How values of dicts, sets and lists of objects go into words and come back.
#include <algorithm>

#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

std::string table_code(const Type& t) {
    auto letter = [](int k) { return std::string(1, static_cast<char>('a' + k)); };
    std::string items;
    for (const Type& item : t.items) items += table_code(item);
    switch (t.kind) {
        case Type::Kind::Optional: return "Q" + table_code(t.items[1]);
        case Type::Kind::Scalar:
            if (t.weak == Weak::Int) return "i";
            if (t.weak == Weak::Float) return "f";
            if (t.weak == Weak::Bool) return "b";
            if (t.weak == Weak::Complex) return "c";
            return "N" + letter(static_cast<int>(t.dtype));
        case Type::Kind::Text: return "t";
        case Type::Kind::Table:
            return (t.is_object_list() ? "L" : t.rank == int(TableKind::Set) ? "S" : "D") + items;
        case Type::Kind::Instance:
            return "O" + std::to_string(reinterpret_cast<std::uintptr_t>(t.record.get())) +
                   (t.rank ? "?" : ";");
        case Type::Kind::Array:
            if (is_byte_array(t) && !t.writable) return "Y";  // bytes
            return "A" + letter(static_cast<int>(t.dtype)) + letter(t.rank);
        case Type::Kind::Tuple:
        case Type::Kind::Record:
            if (!t.record) return "(" + items + ")";
            return "R" + std::to_string(reinterpret_cast<std::uintptr_t>(t.record.get())) + "(" +
                   items + ")";
        default: return "n";
    }
}

// ---- words

int words_of(const Type& t) {
    if (t.is_complex() || t.is_instance()) return 2;
    if (t.is_word()) return 1;
    if (t.is_array()) return 2 + 2 * t.rank;
    int sum = 0;
    for (const Type& item : t.items) sum += words_of(item);
    return sum;
}

/// How the words of a value compare, and which of them are blocks.
void Tables::kinds_of(const Type& t, int& word, std::uint64_t& kinds, std::uint64_t& counted) {
    constexpr std::uint64_t whole = 0, floats = 1, text = 2, table = 3;
    auto add = [&](std::uint64_t kind, bool is_counted = false) {
        if (word >= 31)
            refuse("a dict or set holds at most 31 numbers in each entry", "keep an index instead");
        kinds |= kind << (2 * word);
        counted |= std::uint64_t{is_counted} << word;
        ++word;
    };
    if (t.is_word()) {
        bool is_number = t.is_scalar() && (is_float(t.dtype) || is_complex(t.dtype));
        add(t.is_text() ? text : t.is_table() ? table : is_number ? floats : whole);
        if (t.is_complex()) add(floats);
    } else if (t.is_array() || t.is_instance()) {
        for (int k = 0; k < words_of(t); ++k) add(whole, k == 1);
    } else if (t.is_tuple() || t.is_record() || t.is_optional()) {
        for (const Type& item : t.items) kinds_of(item, word, kinds, counted);
    } else if (t.kind != Type::Kind::None) {
        refuse("a dict or list cannot hold a value of type " + describe(t),
               "dicts and lists hold numbers, texts, arrays, objects, dicts, sets, lists and "
               "tuples of these");
    }
}

/// Words of keys, of values, how they compare, which of them are blocks.
std::vector<E> Tables::form_of(const Type& type) {
    int word = 0;
    std::uint64_t kinds = 0, counted = 0;
    kinds_of(type.items[0], word, kinds, counted);
    if (type.is_object_list()) {
        return {f_.i64(256), f_.i64(word), f_.i64(static_cast<std::int64_t>(kinds)),
                f_.i64(static_cast<std::int64_t>(counted))};
    }
    int keys = word;
    if (type.items.size() > 1) kinds_of(type.items[1], word, kinds, counted);
    return {f_.i64(keys), f_.i64(word - keys), f_.i64(static_cast<std::int64_t>(kinds)),
            f_.i64(static_cast<std::int64_t>(counted))};
}

void Tables::put(const Value& v, std::vector<E>& words) {
    if (v.type.is_scalar()) {
        auto add = [&](E e) {
            bool is_number = is_float(e->dtype);
            words.push_back(f_.settle(is_number
                                          ? f_.b_->bitcast(f_.cast(e, DType::Float64), DType::Int64)
                                          : f_.cast(e, DType::Int64)));
        };
        if (!v.type.is_complex()) return add(v.expr);
        auto [re, im] = f_.parts_of(v.expr);
        add(re);
        add(im);
    } else if (v.type.is_text()) {
        words.push_back(Texts(f_, place_).handle(v));
    } else if (v.type.is_table()) {
        words.push_back(v.expr);
    } else if (v.type.is_instance()) {
        words.push_back(f_.temporary(f_.object_address(v), "address"));
        words.push_back(f_.kept_object(v));
    } else if (v.type.is_array()) {
        Value array = f_.made(v, place_);
        auto d = f_.describe_array(array.array);
        words.push_back(f_.temporary(f_.address_of(array), "address"));
        words.push_back(lends_ ? f_.i64(0) : f_.kept_block(array, place_));
        for (E e : d.extents) words.push_back(f_.settle(e));
        for (E e : d.strides) words.push_back(f_.settle(e));
    }
    for (const Value& item : v.items) put(item, words);
}

/// The value that words from `at` on tell. An array's reference is the caller's or a new one.
Value Tables::taken(const Type& t, const std::vector<E>& words, std::size_t& at, bool is_owned,
                    int origin) {
    Value v;
    v.type = t;
    if (t.is_scalar()) {
        auto number = [&](DType part) {
            E word = words.at(at++);
            if (is_float(part)) return f_.cast(f_.b_->bitcast(word, DType::Float64), part);
            return is_bool(part) ? f_.op_binary(Op::Ne, word, f_.i64(0)) : f_.cast(word, part);
        };
        if (!t.is_complex()) {
            v.expr = number(t.dtype);
            return v;
        }
        E re = number(part_dtype(t.dtype)), im = number(part_dtype(t.dtype));
        v.expr = f_.b_->pair(re, im);
    } else if (t.is_word()) {
        v.expr = words.at(at++);
        v.list = t.is_table() ? origin : -1;
    } else if (t.is_instance()) {
        E address = words.at(at), block = words.at(at + 1);
        if (!is_owned) block = f_.native("object_keep", {f_.i64(0), address}, 2)[1];
        std::int32_t slot = f_.b_->slot(t.record->name, DType::Int64, true);
        f_.emit(f_.b_->adopt(slot, address, block));
        at += 2;
        return f_.object_in(slot, t);
    } else if (t.is_array()) {
        E address = words.at(at), block = words.at(at + 1);
        if (!is_owned) block = f_.native("block_keep", {f_.i64(0), block, address}, 2)[1];
        FunctionLowerer::Descriptor d{
            f_.b_->slot("value", t.dtype, t.writable), f_.i64(0), {}, {}, t.strides, t.writable};
        f_.emit(f_.b_->adopt(d.root, address, block));
        auto rank = static_cast<std::size_t>(t.rank);
        for (std::size_t k = 0; k < rank; ++k) d.extents.push_back(words.at(at + 2 + k));
        for (std::size_t k = 0; k < rank; ++k) {
            bool is_one = t.strides[k] == ir::StrideClass::One;
            d.strides.push_back(is_one ? f_.i64(1) : words.at(at + 2 + rank + k));
        }
        at += 2 + 2 * rank;
        Value array = f_.view("value", d);
        array.type.weak = t.weak;  // of bytes
        return array;
    }
    if (t.is_tuple() || t.is_record() || t.is_optional()) {
        for (const Type& item : t.items) v.items.push_back(taken(item, words, at, is_owned));
    }
    return v;
}

Value Tables::value_taken(const Value& table, const std::vector<E>& words, std::size_t at,
                          bool is_owned) {
    int origin = -1;
    if (const void* outer = origin_of(table)) {
        auto& origins = f_.table_origins_;
        auto held = std::find(origins.begin(), origins.end(), f_.learnt_.table_items[outer].inner);
        if (held != origins.end() && *held) origin = static_cast<int>(held - origins.begin());
    }
    return taken(*value_of(table), words, at, is_owned, origin);
}

}  // namespace unisono::frontend
