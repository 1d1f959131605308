// What compiled code does with texts, by the table of core/native/native.h. Where a text is made,
// value 0 is its address, 0 where there is no memory, -1 where no call owns it (a text made by a
// thread of a parallel loop).
#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>

#include "core/native/native.h"
#include "runtime/objects.h"

namespace unisono {

namespace {

void give(std::int64_t* values, const Text* text) {
    values[0] = text ? handle_of(text) : Heap::current() ? 0 : -1;
}

/// The text constant that follows the count of its bytes in memory.
void text_constant(std::int64_t* values) {
    auto bytes = static_cast<std::size_t>(values[0]);
    try {
        values[0] =
            handle_of(constant_text(decoded({reinterpret_cast<const char*>(values + 1), bytes})));
    } catch (...) {
        values[0] = 0;
    }
}

/// A text of that length whose code points the caller fills in; null as make_text.
char32_t* start(std::int64_t length, Text*& made, std::int64_t room = 0) {
    Heap* heap = Heap::current();
    void* head = heap && length < (std::int64_t{1} << 40) ? heap->object(sizeof(Text)) : nullptr;
    char32_t* data = !head ? nullptr : room > 0 ? heap->points(length, room) : heap->points(length);
    made = data ? new (head) Text{length, 0, data} : nullptr;
    return data;
}

/// a + b. Where there is room behind a, as in s += x, it is extended in place; else a long one gets
/// room, so that a text that grows piece by piece is copied a few times only.
void text_join(std::int64_t* values) {
    const Text &a = text_at(values[0]), &b = text_at(values[1]);
    if (a.length == 0 || b.length == 0) return give(values, a.length ? &a : &b);
    Heap* heap = Heap::current();
    Text* made = nullptr;
    if (heap && heap->grows(a.data + a.length, b.length)) {
        void* head = heap->object(sizeof(Text));
        if (!head) return give(values, nullptr);
        std::copy_n(b.data, b.length, const_cast<char32_t*>(a.data) + a.length);
        return give(values, new (head) Text{a.length + b.length, 0, a.data});
    }
    const std::int64_t length = a.length + b.length, room = a.length < 64 ? 0 : length / 2;
    if (char32_t* data = start(length, made, room))
        std::copy_n(b.data, b.length, std::copy_n(a.data, a.length, data));
    give(values, made);
}

void text_repeat(std::int64_t* values) {
    const Text& a = text_at(values[0]);
    std::int64_t times = std::max<std::int64_t>(values[1], 0), length = 0;
    if (__builtin_mul_overflow(a.length, times, &length)) length = INT64_MAX;
    Text* made = nullptr;
    if (char32_t* data = start(length, made)) {
        for (std::int64_t k = 0; k < times; ++k) data = std::copy_n(a.data, a.length, data);
    }
    give(values, made);
}

/// text[begin:end:step]; value 4 says which of them are given: 1, 2, 4.
void text_slice(std::int64_t* values) {
    const Text& a = text_at(values[0]);
    std::int64_t step = values[4] & 4 ? values[3] : 1, n = a.length;
    auto bound = [&](bool is_given, std::int64_t i, std::int64_t otherwise) {
        if (!is_given) return otherwise;
        if (i < 0) i = std::max<std::int64_t>(i + n, step < 0 ? -1 : 0);
        return std::min(i, step < 0 ? n - 1 : n);
    };
    std::int64_t begin = bound(values[4] & 1, values[1], step < 0 ? n - 1 : 0);
    std::int64_t end = bound(values[4] & 2, values[2], step < 0 ? -1 : n);
    std::int64_t count =
        step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
    count = std::max<std::int64_t>(count, 0);
    Text* made = nullptr;
    if (char32_t* data = start(step == 1 ? 0 : count, made)) {
        if (step == 1) *made = {count, 0, a.data + begin};
        for (std::int64_t k = 0; step != 1 && k < count; ++k) data[k] = a.data[begin + k * step];
    }
    give(values, made);
}

/// text[i]: value 0 is 1 where i lies outside.
void text_item(std::int64_t* values) {
    const Text& a = text_at(values[0]);
    std::int64_t i = values[1] < 0 ? values[1] + a.length : values[1];
    values[0] = i < 0 || i >= a.length;
    if (values[0] == 0) {
        // One character is a constant: the same text every time, and no memory of the call's.
        try {
            values[1] = handle_of(character(a.data[i]));
        } catch (...) {
            values[1] = 0;
        }
    }
}

void text_compare(std::int64_t* values) {
    const Text &a = text_at(values[0]), &b = text_at(values[1]);
    auto order = a.view() <=> b.view();
    values[0] = order < 0 ? -1 : order > 0;
}

void text_equal(std::int64_t* values) {
    const Text &a = text_at(values[0]), &b = text_at(values[1]);
    values[0] = &a == &b || a.view() == b.view();
}

void text_find(std::int64_t* values) {
    auto at = text_at(values[1]).view().find(text_at(values[0]).view());
    values[0] = at == std::u32string_view::npos ? -1 : static_cast<std::int64_t>(at);
}

void text_length(std::int64_t* values) { values[0] = text_at(values[0]).length; }

void text_point(std::int64_t* values) {
    const Text& a = text_at(values[0]);
    values[0] = a.length == 1 ? static_cast<std::int64_t>(a.data[0]) : -1;
}

void text_of_point(std::int64_t* values) {
    try {
        values[0] = handle_of(character(static_cast<char32_t>(values[0])));
    } catch (...) {
        values[0] = 0;
    }
}

/// The text as a zero-terminated UTF-8 string for C. It lives as long as the call that owns texts;
/// without such a call, until this thread has made some more requests. 0 if out of memory.
void text_encoded(std::int64_t* values) {
    static thread_local std::array<std::string, 16> few;
    static thread_local std::size_t next = 0;
    try {
        std::string bytes = encoded(text_at(values[0]).view());
        const char* data = nullptr;
        if (Heap* heap = Heap::current()) {
            void* memory = heap->object(bytes.size() + 1);
            if (memory) std::memcpy(memory, bytes.c_str(), bytes.size() + 1);
            data = static_cast<const char*>(memory);
        } else {
            data = (few[next++ % few.size()] = std::move(bytes)).c_str();
        }
        values[0] = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data));
    } catch (...) {
        values[0] = 0;
    }
}

[[maybe_unused]] const bool natives = add_natives({{"text_constant", text_constant},
                                                   {"text_join", text_join},
                                                   {"text_repeat", text_repeat},
                                                   {"text_slice", text_slice},
                                                   {"text_item", text_item},
                                                   {"text_compare", text_compare},
                                                   {"text_equal", text_equal},
                                                   {"text_find", text_find},
                                                   {"text_length", text_length},
                                                   {"text_encoded", text_encoded},
                                                   {"text_point", text_point},
                                                   {"text_of_point", text_of_point}});

}  // namespace

}  // namespace unisono
