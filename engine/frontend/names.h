// What names hold, in copies that share what they have in common: a long function makes a copy at
// each branch and loop, and most names stay as they are.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace unisono::frontend {

/// A map from names to T. Names are dealt out over parts; a copy shares each part until it is
/// changed on either side. What `find` gives is read only; changes go by `[]`, `at` and `erase`.
template <class T>
class Names {
  public:
    using Part = std::map<std::string, T>;

    class Iterator {
      public:
        using Inside = typename Part::const_iterator;
        const std::pair<const std::string, T>& operator*() const { return *inside_; }
        const std::pair<const std::string, T>* operator->() const { return &*inside_; }
        Iterator& operator++() {
            ++inside_;
            skip();
            return *this;
        }
        bool operator==(const Iterator& other) const {
            return part_ == other.part_ && (part_ == count || inside_ == other.inside_);
        }

      private:
        friend class Names;
        Iterator(const Names& of, std::size_t part, Inside inside)
            : of_(&of), part_(part), inside_(inside) {}
        /// Goes on to the next part while there is nothing more in this one.
        void skip() {
            while (part_ < count && (!of_->parts_[part_] || inside_ == of_->parts_[part_]->end()))
                if (++part_ < count && of_->parts_[part_]) inside_ = of_->parts_[part_]->begin();
        }
        const Names* of_;
        std::size_t part_;
        Inside inside_;
    };

    Iterator begin() const {
        Iterator first(*this, 0, parts_[0] ? parts_[0]->begin() : typename Part::const_iterator{});
        first.skip();
        return first;
    }
    Iterator end() const { return Iterator(*this, count, {}); }
    Iterator find(const std::string& name) const {
        std::size_t k = part_of(name);
        if (!parts_[k]) return end();
        auto inside = parts_[k]->find(name);
        return inside == parts_[k]->end() ? end() : Iterator(*this, k, inside);
    }
    bool contains(const std::string& name) const {
        const auto& part = parts_[part_of(name)];
        return part && part->count(name) > 0;
    }
    const T& at(const std::string& name) const { return parts_[part_of(name)]->at(name); }
    T& at(const std::string& name) { return own(part_of(name)).at(name); }
    T& operator[](const std::string& name) { return own(part_of(name))[name]; }
    void erase(const std::string& name) {
        if (contains(name)) own(part_of(name)).erase(name);
    }

    /// Calls visit(part, part of other) for the parts that may differ.
    template <class F>
    void with_different(const Names& other, F&& visit) const {
        static const Part nothing;
        for (std::size_t k = 0; k < count; ++k) {
            if (parts_[k] != other.parts_[k])
                visit(parts_[k] ? *parts_[k] : nothing,
                      other.parts_[k] ? *other.parts_[k] : nothing);
        }
    }

  private:
    static constexpr std::size_t count = 64;
    static std::size_t part_of(const std::string& name) {
        return std::hash<std::string>{}(name) % count;
    }
    Part& own(std::size_t k) {
        if (!parts_[k])
            parts_[k] = std::make_shared<Part>();
        else if (parts_[k].use_count() > 1)
            parts_[k] = std::make_shared<Part>(*parts_[k]);
        return *parts_[k];
    }

    std::array<std::shared_ptr<Part>, count> parts_;
};

}  // namespace unisono::frontend
