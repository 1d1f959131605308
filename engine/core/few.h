// A list of mostly few elements, which lie in the object itself: extents, axes, ranges.
//
// Lists of up to `inside` elements are made, copied and dropped without asking for memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <vector>

namespace unisono {

template <class T, std::size_t inside = 4>
class Few {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    Few() = default;
    explicit Few(std::size_t count, T value = {}) { resize(count, value); }
    template <std::input_iterator It>
    Few(It first, It last) {
        for (; first != last; ++first) push_back(*first);
    }
    Few(std::initializer_list<T> all) : Few(all.begin(), all.end()) {}

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return is_inside() ? few_.data() : many_.data(); }
    const T* data() const { return is_inside() ? few_.data() : many_.data(); }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    T& operator[](std::size_t k) { return data()[k]; }
    const T& operator[](std::size_t k) const { return data()[k]; }
    T& front() { return data()[0]; }
    const T& front() const { return data()[0]; }
    T& back() { return data()[size_ - 1]; }
    const T& back() const { return data()[size_ - 1]; }

    void push_back(T value) { resize(size_ + 1, value); }
    void pop_back() { resize(size_ - 1); }
    void clear() { resize(0); }
    /// New elements are `value`.
    void resize(std::size_t count, T value = {}) {
        const std::size_t before = size_;
        if (count > inside) {
            if (is_inside()) many_.assign(few_.begin(), few_.begin() + before);
            many_.resize(count, value);
        } else if (!is_inside()) {
            std::copy_n(many_.begin(), count, few_.begin());
            many_.clear();
        } else if (count > before) {
            std::fill(few_.begin() + before, few_.begin() + count, value);
        }
        size_ = count;
    }
    void assign(std::size_t count, T value) {
        clear();
        resize(count, value);
    }
    void insert(const T* before, T value) {
        const std::size_t at = static_cast<std::size_t>(before - data());
        push_back(value);
        std::rotate(begin() + at, end() - 1, end());
    }
    void erase(const T* element) {
        T* const at = data() + (element - data());
        std::copy(at + 1, end(), at);
        pop_back();
    }

    bool operator==(const Few& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

  private:
    bool is_inside() const { return size_ <= inside; }

    std::size_t size_ = 0;
    std::array<T, inside> few_;  // as much of it as size_ says is set
    std::vector<T> many_;        ///< of more elements: all
};

}  // namespace unisono
