// Reads what codes say of the entries of tables.
#include "jit/values/table_codes.h"

#include <algorithm>
#include <vector>

#include "frontend/table_state.h"
#include "jit/values/records.h"

namespace unisono::python {

using frontend::TableKind;
using frontend::Type;

const frontend::Record& record_at(const char*& code) {
    std::uintptr_t address = 0;
    for (++code; *code >= '0' && *code <= '9'; ++code)
        address = 10 * address + static_cast<std::uintptr_t>(*code - '0');
    return *reinterpret_cast<const frontend::Record*>(address);
}

Type type_of_code(const char*& code) {
    char kind = *code++;
    switch (kind) {
        case 'i': return Type::python(Weak::Int);
        case 'f': return Type::python(Weak::Float);
        case 'b': return Type::python(Weak::Bool);
        case 'c': return Type::python(Weak::Complex);
        case 't': return Type::text();
        case 'L':
        case 'D':
        case 'S': {
            std::vector<Type> items{type_of_code(code)};
            if (kind == 'D') items.push_back(type_of_code(code));
            return Type::table(kind == 'L'   ? TableKind::List
                               : kind == 'D' ? TableKind::Dict
                                             : TableKind::Set,
                               std::move(items));
        }
        case 'N': return Type::numpy(dtype_of_letter(*code++));
        case 'Q': return Type::optional(type_of_code(code));
        case 'A': {
            DType t = dtype_of_letter(*code++);
            auto rank = static_cast<std::size_t>(*code++ - 'a');
            return Type::array(t, std::vector<ir::StrideClass>(rank, ir::StrideClass::Other), true);
        }
        case 'Y': {
            Type t = Type::array(DType::UInt8, {ir::StrideClass::Other}, false);
            t.weak = Weak::Int;
            return t;
        }
        case 'O': {
            --code;
            const frontend::Record& record = record_at(code);
            bool may_be_none = *code++ == '?';
            return Type::of_record(Type::Kind::Instance, record.shared_from_this(), may_be_none,
                                   {});
        }
        case 'R':
        case '(': {
            std::shared_ptr<const frontend::Record> record;
            if (kind == 'R') {
                --code;
                record = record_at(code).shared_from_this();
                ++code;
            }
            std::vector<Type> items;
            while (*code != ')') items.push_back(type_of_code(code));
            ++code;
            if (!record) return Type::tuple(std::move(items));
            bool is_named = record->form == frontend::Record::Form::Named;
            return Type::of_record(is_named ? Type::Kind::Tuple : Type::Kind::Record, record, 0,
                                   std::move(items));
        }
        default: return Type::none();
    }
}

/// Words of what a code tells, and how they compare.
static void measure(const char*& code, TableForm& form, int& words) {
    auto add = [&](WordKind kind) {
        if (words < 31) form.kinds |= static_cast<std::uint64_t>(kind) << (2 * words);
        ++words;
    };
    char kind = *code++;
    if (kind == 'f') return add(WordKind::Float);
    if (kind == 't') return add(WordKind::Text);
    if (kind == 'c') {
        add(WordKind::Float);
        return add(WordKind::Float);
    }
    if (kind == 'i' || kind == 'b') return add(WordKind::Whole);
    if (kind == 'Q') {
        add(WordKind::Whole);
        return measure(code, form, words);
    }
    if (kind == 'D' || kind == 'S' || kind == 'L') {
        TableForm inside;
        int skipped = 0;
        for (int k = 0; k < (kind == 'D' ? 2 : 1); ++k) measure(code, inside, skipped);
        return add(WordKind::Table);
    }
    if (kind == 'N') {
        DType t = dtype_of_letter(*code++);
        if (is_complex(t)) add(WordKind::Float);
        return add(is_float(t) || is_complex(t) ? WordKind::Float : WordKind::Whole);
    }
    if (kind == 'A' || kind == 'Y' || kind == 'O') {
        --code;
        const char* end = code;
        Type t = type_of_code(end);
        code = end;
        if (words + 1 < 31) form.counted |= std::uint64_t{1} << (words + 1);
        for (int k = frontend::words_of(t); k > 0; --k) add(WordKind::Whole);
        return;
    }
    if (kind == 'R') code = std::find(code, code + 32, '(') + 1;
    if (kind == '(' || kind == 'R') {
        while (*code != ')') measure(code, form, words);
        ++code;
    }
}

TableForm form_of_code(const char* code, char kind) {
    TableForm form;
    int words = 0;
    form.is_list = kind == 'L';
    if (kind != 'L') measure(code, form, words);
    form.keys = words;
    if (kind != 'S') measure(code, form, words);
    form.values = words - form.keys;
    return form;
}

void skip_code(const char*& code) {
    char kind = *code++;
    if (kind == 'Q') return skip_code(code);
    if (kind == 'N') ++code;
    if (kind == 'A') code += 2;
    if (kind == 'O') {
        while (*code >= '0' && *code <= '9') ++code;
        ++code;
    }
    if (kind == 'D' || kind == 'S' || kind == 'L') {
        skip_code(code);
        if (kind == 'D') skip_code(code);
    }
    if (kind == 'R') code = std::find(code, code + 32, '(') + 1;
    if (kind == '(' || kind == 'R') {
        while (*code != ')') skip_code(code);
        ++code;
    }
}

}  // namespace unisono::python
