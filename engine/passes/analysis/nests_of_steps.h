// What the steps of a serial loop do, sorted: for steps_by_rows.cpp.
#pragma once

#include <unordered_set>
#include <vector>

#include "passes/analysis/nests.h"

namespace unisono::passes {

/// What the steps of a loop do, in an order in which it can be written again.
class NestsOfSteps {
  public:
    NestsOfSteps(const ir::Function& f, const Memories& memories, ir::S loop);

    std::vector<ir::S> once;       ///< the same in each step
    std::vector<ir::S> declared;   ///< values of a step
    std::vector<Condition> known;  ///< what was assumed
    std::vector<Nest> nests;
    std::vector<Touched> touched;

    /// False where the loop stays as it is.
    bool find();
    bool varies(ir::E e) const { return reads(e, varies_); }
    bool is_loaded(ir::E e) const { return reads(e, loaded_); }
    ir::E row_count() const { return nests[0].loops[0]->args[1]; }
    bool is_stored(std::int32_t array) const;

  private:
    static bool reads(ir::E e, const std::vector<bool>& vars);
    const ir::Array& array(std::int32_t id) const {
        return f_.arrays[static_cast<std::size_t>(id)];
    }
    std::size_t base(std::int32_t id) const {
        return static_cast<std::size_t>(array(id).is_view() ? array(id).base : id);
    }

    bool take(ir::S s);
    bool take_value(ir::S s, std::vector<ir::S>& list);
    bool take_chosen(ir::S s);
    bool take_nest(ir::S s);
    bool assume(ir::E test, bool holds);
    /// Whether the slot gets its memory here first.
    bool change(std::int32_t slot);
    /// A slot whose address was taken must not get other memory afterwards.
    void note_addresses(ir::E e);

    /// The loop's range is what it is in front of it.
    bool is_same_range() const;
    bool loads_are_apart() const;
    /// Whether stored elements are reached by rows only, and in memory whose start is known.
    bool memories_are_known() const;
    bool is_known_in_front(const ir::Array& a) const;
    /// Whether steps store, and go along an axis that rows lie across.
    bool gains() const;

    const ir::Function& f_;
    const Memories& memories_;
    ir::S loop_;
    std::vector<bool> written_;  ///< variables, by the loop
    std::vector<bool> read_;     ///< variables, so far
    std::vector<bool> varies_;   ///< variables that differ from step to step
    std::vector<bool> loaded_;   ///< variables that depend on elements
    std::vector<bool> inner_;    ///< variables of nests
    std::vector<bool> used_;     ///< memory, so far
    std::vector<bool> changed_;  ///< slots
    std::unordered_set<std::int32_t> taken_;
    std::vector<ir::E> asked_;  ///< addresses
};

}  // namespace unisono::passes
