// Perfect nests of loops over rows, and what they touch: for rows_together.cpp.
#pragma once

#include <initializer_list>
#include <vector>

#include "passes/analysis/later_values.h"

namespace unisono::passes {

/// Loops from 0 in steps of 1, each the only statement of the one around it, and the body of the
/// innermost one.
struct Nest {
    std::vector<ir::S> loops;
    std::vector<ir::S> body;

    explicit Nest(ir::S s);
    bool has_loops(std::size_t below) const;
    /// What is inside the outermost loops.
    std::vector<ir::S> inside(std::size_t outer) const;
};

/// A test, and what it must say.
struct Condition {
    ir::E test;
    bool holds;
};

/// An If whose body raises, and nothing else.
bool only_raises(ir::S s);

bool has_streaming_store(ir::S s);

/// An access to memory that other statements see.
struct RowAccess {
    std::int32_t array;
    bool is_store;
    std::span<const ir::E> indices;
};

/// What a statement reads and stores, where it does nothing else.
class Touched {
  public:
    Touched(const ir::Function& f, ir::S s);

    bool is_simple = true;  ///< cannot fault, and changes nothing else that is seen around it
    std::vector<RowAccess> accesses;
    std::vector<bool> reads;  ///< variables, those of views included

  private:
    void look(ir::E e);
    void look(ir::S s);
    void access(std::int32_t array, bool is_store, std::span<const ir::E> indices);

    const ir::Function& f_;
    std::vector<bool> own_;
};

/// Variables that get their value where they are declared, and never another one.
class DeclaredOnce {
  public:
    explicit DeclaredOnce(const ir::Function& f) { collect(f.body); }
    /// The value, or null.
    ir::E value(std::int32_t var) const {
        auto found = values_.find(var);
        return found == values_.end() ? nullptr : found->second;
    }

  private:
    void collect(ir::S s);
    std::unordered_map<std::int32_t, ir::E> values_;
};

/// Strips of 1, 2, 4 or 8 of n rows: the longer a row, the fewer.
class RowStrips {
  public:
    /// `most`: elements of rows of which 2, 4 and 8 make a strip.
    RowStrips(ir::Builder& b, ir::E length, std::initializer_list<std::int64_t> most, ir::E n);

    const std::vector<ir::S>& in_front() const { return in_front_; }
    ir::E begin() const { return b_.read(begin_); }
    ir::E end() const { return b_.read(end_); }
    /// The loop over strips around what is done with the rows from begin() to end().
    ir::S loop(ir::LoopKind kind, std::span<const ir::S> body) const;

  private:
    ir::E shifted(Op op, ir::E e) const { return b_.binary(op, e, b_.read(shift_)); }

    ir::Builder& b_;
    ir::E n_;
    std::int32_t shift_, rows_, strip_, begin_, end_;
    std::vector<ir::S> in_front_;
};

/// Whether an iteration of the first nest's `outer` outermost loops and one of the second's meet in
/// memory that one of them stores to only where they are the same iteration; false, too, where the
/// nests share nothing. The loops have the same extents.
bool share_rows_only(ir::Builder& b, const Memories& memories, const DeclaredOnce& declared,
                     const Nest& first, const Touched& by_first, const Nest& second,
                     const Touched& by_second, std::size_t outer);

}  // namespace unisono::passes
