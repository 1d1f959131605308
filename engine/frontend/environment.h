// What the walk over a function knows while it lowers: what names hold, the loops and regions
// around, and what one attempt leaves for the next.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "frontend/names.h"
#include "frontend/parallel.h"
#include "frontend/table_state.h"
#include "frontend/types.h"
#include "ir/build.h"

namespace unisono::frontend {

using ir::E;
using ir::S;

/// What a name holds at a point.
struct Binding {
    enum class State : std::uint8_t { Defined, Maybe, Private, AfterPrange, LoopLast, Mixed };
    Value value;
    Place origin;
    State state = State::Defined;
    const Node* loop = nullptr;                       ///< LoopLast, Private, AfterPrange
    bool is_maybe = false;                            ///< LoopLast: the loop may not have run
    std::shared_ptr<const struct Mix> mix = nullptr;  ///< Mixed
};

/// What a name holds on two paths that meet where no variable can hold both: reading it is refused.
struct Mix {
    Binding one, other;
};

struct Env {
    Names<Binding> names;
    bool reachable = true;
};

/// A loop that is being lowered.
struct Loop {
    const Node* node;
    std::map<std::string, Type>* guess;
    Env header;
    std::vector<Env> back, breaks;
    bool is_parallel = false;
    const ParallelPlan* plan = nullptr;
    std::size_t depth = 0;    ///< frames around the body
    std::int32_t broke = -1;  ///< bool variable that a break sets, where the loop has an else
};

/// A parallel region that is being lowered (region.cpp).
struct Region {
    struct Kept {
        Type type;
        std::int32_t view = -1;  ///< an element per thread
    };
    const Node* node = nullptr;
    ParallelPlan plan;
    E threads = nullptr;
    std::int32_t lane = -1;            ///< number of the thread
    std::map<std::string, Kept> kept;  ///< from piece to piece
    std::vector<S> prologue;
    std::set<std::string> uniform;  ///< targets of loops around pieces
    std::set<std::string> outer;    ///< names from before the region
    int loop_depth = 0;
    std::size_t frame = 0;  ///< of the piece
};

/// What an attempt at a function has learnt for the next: only the walk over the whole tells it.
struct Learnt {
    std::map<const Node*, std::map<std::string, Type>> guesses;  ///< of what loops carry
    /// Names that hold at a loop's head and at its end what no variable can.
    std::map<const Node*, std::map<std::string, Binding>> mixed;
    std::map<const Node*, ParallelPlan> plans;
    std::set<const Node*> targets_read_after;  ///< loops
    std::set<std::string> shared_names;        ///< that hold arrays which others may hold, too
    std::map<const Node*, Type> list_items;    ///< of lists that are empty where they are made
    /// That may be read before they are assigned; they start with stand-ins of these types.
    std::map<std::string, Type> late_names;
    std::set<std::string> boxed_names;  ///< of lists of numbers that callees change
    std::set<const Node*> boxed_lists;  ///< whose items are no numbers, or which others hold
    std::map<const void*, TableItems> table_items;  ///< by origin
    std::map<const Node*, Error> interpreted;       ///< calls, with why they are not compiled
    std::optional<Type> result;
    int surveys = 0;                 ///< walks only for the types of what is empty
    bool shares_result = false;      ///< lists that are returned are lists of objects
    bool describes_results = false;  ///< arrays returned are told by address, not by argument
    /// Calls through values, as calls by name.
    std::map<std::pair<const Node*, std::string>, std::unique_ptr<Node>> calls_by_name;
    std::deque<Node> indices;  ///< subscripts by slices in names, as they would be written
};

/// Thrown where a function calls itself and none of its results is known yet.
struct Unresolved {
    Place place;
};

/// Thrown where the function must be lowered again with what was learnt.
struct Restart {};

}  // namespace unisono::frontend
