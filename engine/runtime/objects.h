// Objects that compiled functions hold by address: texts, dicts and sets. They live until the call
// that made them has been answered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace unisono {

/// What has memory of its own to give back.
class HeapObject {
  public:
    HeapObject() = default;
    HeapObject(const HeapObject&) = delete;
    HeapObject& operator=(const HeapObject&) = delete;
    virtual ~HeapObject() = default;
};

/// Memory of one call's objects, given back as a whole.
class Heap {
  public:
    Heap() = default;
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;
    /// Null where there is no memory.
    void* object(std::size_t bytes) noexcept { return objects_.take((bytes + 7) / 8 * 8); }
    char32_t* points(std::int64_t count) noexcept {
        return static_cast<char32_t*>(points_.take(static_cast<std::size_t>(count) * 4));
    }
    /// The same with room for `more` behind them, which grows() gives.
    char32_t* points(std::int64_t count, std::int64_t more) noexcept {
        char32_t* data = points(count + more);
        if (data) rooms_[oldest_room_++ % rooms_.size()] = {data + count, data + count + more};
        return data;
    }
    /// More code points behind `end`, if there is room: the last ones end there, or a text that
    /// was made with room.
    bool grows(const char32_t* end, std::int64_t count) noexcept {
        for (Room& room : rooms_) {
            if (room.next != end || room.end - room.next < count) continue;
            room.next += count;
            return true;
        }
        bool fits = reinterpret_cast<const std::byte*>(end) == points_.next &&
                    points_.end - points_.next >= count * 4;
        if (fits) points_.next += count * 4;
        return fits;
    }

    void own(std::unique_ptr<HeapObject> object) { owned_.push_back(std::move(object)); }

    /// Of the call that this thread runs, or null.
    static Heap* current() noexcept;

  private:
    struct Region {
        std::vector<std::unique_ptr<std::byte[]>> chunks;
        std::byte *next = nullptr, *end = nullptr;
        void* take(std::size_t bytes) noexcept;
    };
    struct Room {
        char32_t *next = nullptr, *end = nullptr;
    };
    Region objects_, points_;
    std::array<Room, 4> rooms_;
    std::size_t oldest_room_ = 0;
    std::vector<std::unique_ptr<HeapObject>> owned_;
};

/// Makes a heap the current one of this thread.
class HeapScope {
  public:
    explicit HeapScope(Heap& heap) noexcept;
    ~HeapScope();
    HeapScope(const HeapScope&) = delete;
    HeapScope& operator=(const HeapScope&) = delete;

  private:
    Heap* before_;
};

/// A str: code points that do not change. Parts of texts share their memory.
struct Text {
    std::int64_t length;
    std::uint64_t hash;  ///< 0: not known yet
    const char32_t* data;
    std::u32string_view view() const { return {data, static_cast<std::size_t>(length)}; }
};

/// Null where there is no memory, or no call that owns it.
const Text* make_text(std::u32string_view points) noexcept;
/// Lives for good; equal texts are one.
const Text* constant_text(std::u32string_view points);
/// The same of one code point.
const Text* character(char32_t point);
std::uint64_t hash_of(const Text& text) noexcept;
/// Surrogates are kept as they are.
std::u32string decoded(std::string_view utf8);
std::string encoded(std::u32string_view points);

inline const Text& text_at(std::int64_t handle) {
    return *reinterpret_cast<const Text*>(static_cast<std::uintptr_t>(handle));
}
inline std::int64_t handle_of(const void* object) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(object));
}

}  // namespace unisono
