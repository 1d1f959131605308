// Heaps of calls, and the texts on them.
#include "runtime/objects.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/threads/fork.h"

namespace unisono {

static thread_local Heap* current_heap = nullptr;

Heap* Heap::current() noexcept { return current_heap; }

HeapScope::HeapScope(Heap& heap) noexcept : before_(current_heap) { current_heap = &heap; }
HeapScope::~HeapScope() { current_heap = before_; }

void* Heap::Region::take(std::size_t bytes) noexcept {
    if (static_cast<std::size_t>(end - next) < bytes || !next) {
        // The first pieces are small: most calls make a few short texts.
        std::size_t least = chunks.empty() ? 1024 : std::size_t{1} << 16;
        std::size_t size = std::max(least, bytes + bytes / 2);
        auto chunk = std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[size]);
        if (!chunk) return nullptr;
        try {
            chunks.push_back(std::move(chunk));
        } catch (...) {
            return nullptr;
        }
        next = chunks.back().get();
        end = next + size;
    }
    return std::exchange(next, next + bytes);
}

const Text* make_text(std::u32string_view points) noexcept {
    Heap* heap = Heap::current();
    if (!heap) return nullptr;
    auto length = static_cast<std::int64_t>(points.size());
    char32_t* data = heap->points(length);
    void* head = data ? heap->object(sizeof(Text)) : nullptr;
    if (!head) return nullptr;
    std::copy(points.begin(), points.end(), data);
    return new (head) Text{length, 0, data};
}

const Text* constant_text(std::u32string_view points) {
    struct Kept {
        std::u32string points;
        Text text;
    };
    static ProcessMutex mutex;
    static auto* all = new std::unordered_map<std::u32string_view, std::unique_ptr<Kept>>;
    std::lock_guard lock(mutex);
    auto found = all->find(points);
    if (found != all->end()) return &found->second->text;
    auto kept = std::make_unique<Kept>(Kept{std::u32string(points), {}});
    kept->text = {static_cast<std::int64_t>(points.size()), 0, kept->points.data()};
    hash_of(kept->text);
    std::u32string_view key = kept->points;
    return &all->emplace(key, std::move(kept)).first->second->text;
}

const Text* character(char32_t point) {
    static std::array<std::atomic<const Text*>, 256> few;
    if (point >= few.size()) return constant_text({&point, 1});
    std::atomic<const Text*>& known = few[point];
    if (const Text* text = known.load(std::memory_order_acquire)) return text;
    const Text* text = constant_text({&point, 1});
    known.store(text, std::memory_order_release);
    return text;
}

std::uint64_t hash_of(const Text& text) noexcept {
    auto* known = const_cast<std::uint64_t*>(&text.hash);
    std::uint64_t hash = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (hash) return hash;
    hash = 0xcbf29ce484222325u;
    for (char32_t c : text.view()) hash = (hash ^ c) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    hash |= 1;
    __atomic_store_n(known, hash, __ATOMIC_RELAXED);
    return hash;
}

std::u32string decoded(std::string_view utf8) {
    std::u32string all;
    for (std::size_t i = 0; i < utf8.size();) {
        auto byte = [&](std::size_t k) { return static_cast<unsigned char>(utf8[i + k]); };
        unsigned char first = byte(0);
        std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        size = std::min(size, utf8.size() - i);
        char32_t c = size == 1 ? first : first & (0x7F >> size);
        for (std::size_t k = 1; k < size; ++k) c = c << 6 | (byte(k) & 0x3F);
        all += c;
        i += size;
    }
    return all;
}

std::string encoded(std::u32string_view points) {
    std::string all;
    auto add = [&](char32_t byte) { all += static_cast<char>(byte); };
    for (char32_t c : points) {
        if (c < 0x80) {
            add(c);
            continue;
        }
        int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        add((0xFF00 >> (more + 1) & 0xFF) | c >> 6 * more);
        while (more-- > 0) add(0x80 | (c >> 6 * more & 0x3F));
    }
    return all;
}

}  // namespace unisono
