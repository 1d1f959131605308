// What index_ranges knows of expressions and, at each point of a function, of its variables.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "passes/analysis/affine.h"

namespace unisono::passes {

/// What is known of an expression. Where `exact` is given the bounds may be empty.
struct Value {
    std::optional<Poly> exact;
    std::vector<Bound> upper, lower;

    std::vector<Bound> uppers() const { return bounds(upper); }
    std::vector<Bound> lowers() const { return bounds(lower); }

  private:
    std::vector<Bound> bounds(const std::vector<Bound>& more) const {
        std::vector<Bound> all;
        if (exact) all.push_back({*exact, {}});
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
};

/// The values of variables, of which earlier states can be read and restored: a function of many
/// loops has many variables, so states are no copies.
class Environment {
  public:
    explicit Environment(std::size_t vars) : values_(vars), changes_of_(vars) {}

    const std::optional<Value>& operator[](std::int32_t var) const { return values_[index(var)]; }
    void set(std::int32_t var, Value value) {
        changes_of_[index(var)].push_back(changes_.size());
        changes_.push_back({var, std::exchange(values_[index(var)], std::move(value))});
    }

    /// Stands for the state of now.
    std::size_t mark() const { return changes_.size(); }
    const std::optional<Value>& at(std::int32_t var, std::size_t mark) const {
        const auto& changes = changes_of_[index(var)];
        auto next = std::lower_bound(changes.begin(), changes.end(), mark);
        return next == changes.end() ? values_[index(var)] : changes_[*next].before;
    }
    void restore(std::size_t mark) {
        for (; changes_.size() > mark; changes_.pop_back()) {
            Change& last = changes_.back();
            values_[index(last.var)] = std::move(last.before);
            changes_of_[index(last.var)].pop_back();
        }
    }

  private:
    struct Change {
        std::int32_t var;
        std::optional<Value> before;
    };
    static std::size_t index(std::int32_t var) { return static_cast<std::size_t>(var); }

    std::vector<std::optional<Value>> values_;          // per variable
    std::vector<std::vector<std::size_t>> changes_of_;  // per variable: places in changes_
    std::vector<Change> changes_;
};

}  // namespace unisono::passes
