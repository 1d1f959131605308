// Branches, loops, parallel regions, exceptions and returns.
#pragma once

#include "frontend/assignments.h"

namespace unisono::frontend {

class ControlFlow : public Assignments {
  protected:
    using Assignments::Assignments;

    void branch(const Node& node);
    void give_back(const Node& node);
    void assertion(const Node& node);
    void end_of_function();

    // ---- exceptions (exceptions.cpp)
    void lower_try(const Node& node);
    void raise(const Node& node);

    // ---- loops (loops.cpp)
    void loop_for(const Node& node);
    void loop_while(const Node& node);
    void leave_loop(const Node& node);
    void next_iteration(const Node& node);

    // ---- regions (region.cpp)
    void region(const Node& node);

    std::optional<Place> first_return_;
    std::vector<Value> returned_;  ///< so far

  private:
    void forget_assumed(const Env& before, const std::array<Env, 2>& known,
                        const std::array<Env*, 2>& after);

    // ---- returns (returns.cpp)
    void shape_result(const Value& value, ResultShape& shape, std::vector<E>& scalars);
    void give(Value value, const Place& place);
    void learn_from_return(const Value& value, const Type& elsewhere, const Place& place);
    void leave_function(const Value& value, const Place& place);

    // ---- exceptions (exceptions.cpp)
    struct Caught {
        std::vector<std::int32_t> vars;  ///< of a Try: site, code, text, four values
    };
    struct Final {
        std::size_t loops = 0;  ///< around it
        bool returns = false, breaks = false, continues = false;
        Value result = {};
    };
    void raise_again(const Caught& c);
    Caught guarded(const Node& body, Env& fault, Env& after);
    Env at_fault(const Node& body, const Env& entry);
    void after_attempt(const Caught& c, const Env& fault, const std::function<void()>& failed,
                       const Env& after, const std::function<void()>& ended);
    std::string arguments_caught(const Node& body, const std::string& names) const;
    void handle(const Node& node, std::size_t i, const Caught& c);
    Final* final_before(std::size_t loop_depth);
    void share_lists(const Value& value);
    void leave_by(std::int64_t site);
    bool leaves_by_final(bool is_break);
    bool returns_by_final(const Value& value);

    // ---- loops (loops.cpp, schedule.cpp)
    /// A dict or set whose size must stay as it is while a loop goes over it.
    struct WatchedTable {
        Value table;
        E size = nullptr;
        std::vector<const Node*> before;  ///< lengths of what is asked for an item first
    };
    struct Range {
        E begin, end, step;
        bool runs;  ///< at least once
        bool is_parallel;
        std::string schedule = {};             ///< static, dynamic, guided or none
        E chunk = nullptr, threads = nullptr;  ///< as the program gives them
        const Node* count = nullptr;           ///< asked again in front of each iteration
        std::vector<WatchedTable> tables = {};
        E until = nullptr;  ///< the end, where these are asked
        Place place = {};
    };
    /// Arrays that a parallel loop reduces: each of a few parts of the loop has its own copy.
    struct Parts {
        std::int32_t var = -1;  ///< number of the part
        E count = nullptr;
        std::map<std::string, Value> arrays;  ///< all copies, by the array's name
    };
    Range loop_range(const Node& node);
    void read_schedule(const Node& keyword, Range& range);
    bool may_change(const Node& count, const Node& body, Range& range);
    bool may_grow(const Node& count, const Node& body);
    std::vector<WatchedTable> tables_at_risk(const Node& count, const Node& body);
    void leave_at_end(const Range& range, E index);
    bool try_for(const Node& node, const Range& range, const ParallelPlan* plan);
    bool try_while(const Node& node);
    void want_reducible(const Value& v, Op op, const Place& place);
    S scheduled(const Range& range, std::int32_t var, S inside,
                const std::vector<ir::Reduction>& reductions, const Parts& parts);
    E trip_count(const Range& range);
    Value copy_for_part(const Value& all, E number);
    Parts make_parts(const ParallelPlan& plan, const Range& range, const Place& place);
    void add_parts(const Parts& parts, const ParallelPlan& plan, const Place& place);
    void warn_of_sharing(const Node& node, const Range& range, const ParallelPlan& plan);
    S otherwise(Loop& loop, const Node* block, Env& after);
    Env leaving(const Loop& loop) const;
    void bind_target_after(const Node& node, Env& after, bool runs);

    // ---- regions (region.cpp)
    void region_block(std::span<const Node> statements);
    void run_once(const Node& s);
    void region_around(const Node& s);
    void region_piece(const std::vector<const Node*>& piece);
    void keep_for_threads(const std::string& name, Binding& b);
    S shared_out(const Range& range, std::int32_t var, S inside);

    std::vector<const Caught*> handled_;         ///< by the handlers around
    std::map<const Node*, std::string> raised_;  ///< with what arguments, see arguments_caught
    std::vector<Final*> finals_;                 ///< whose bodies are around
    Place last_return_;
};

}  // namespace unisono::frontend
