// The functions of one request, each lowered once for its argument types.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontend/compile.h"
#include "frontend/types.h"
#include "ir/ir.h"

namespace unisono::frontend {

struct Learnt;

/// One compiled function of the module.
///
/// Functions that call each other in a circle are lowered together: one that is reached again while
/// it is being lowered is called by what is known of its result, and those that did so are lowered
/// anew in its next attempt, until an attempt leaves its result as it was.
struct Instance {
    const Source* source = nullptr;
    std::vector<Type> args;
    bool noalias = false;
    std::int32_t index = 0;
    bool is_done = false;
    bool counts_depth = false;   ///< takes the depth of the recursion as one more scalar
    bool passes_blocks = false;  ///< takes the blocks of its arrays as scalars: it may keep them
    bool keeps_arrays = false;   ///< puts arrays that it gets into objects: wants their blocks
    bool has_result = false;     ///< so far: another return may widen it
    int in_order = 0;  ///< calls in it whose order tells: C with variables, random numbers
    Type result;
    ResultShape shape;
    std::vector<Type> told;  ///< of arguments that came empty, what was stored in them
    // ---- while it is being lowered, and until those further out on which it leans are done
    static constexpr std::size_t nobody = static_cast<std::size_t>(-1);
    std::size_t place = nobody;     ///< among those that are being lowered
    std::size_t leans_on = nobody;  ///< the outermost of these whose result it took as far as known
    bool is_leant_on = false;       ///< in this attempt, by those that it calls
    bool is_current = false;        ///< lowered in the attempts of those on which it leans
    std::shared_ptr<Learnt> learnt;
};

class ModuleLowerer {
  public:
    ModuleLowerer(int dimensions, bool is_kernel) : is_kernel(is_kernel), dimensions_(dimensions) {}
    /// Lowers the function for these argument types, once.
    const Instance& instance(const Source& source, const std::vector<Type>& args, bool noalias,
                             bool counts_depth = false, bool passes_blocks = false);
    /// True while the function is being lowered (a call of it now is a recursion).
    bool is_open(const Source& source) const { return open_count(source) > 0; }
    /// Whether it is the function that Python calls.
    bool is_entry(const Instance& instance) const { return &instance == &instances_.front(); }
    int open_count(const Source& source) const;
    /// Whether a call of the function may come back to the other one, which calls it.
    bool calls_back(const Source& callee, const Source& caller);
    /// The index of a source file in the list that all functions of the module share.
    std::uint16_t file(const std::string& path);
    /// Whether the function may store to arrays that it did not make.
    bool may_store(std::int32_t function);
    Compiled finish();
    /// How many functions there are; those behind the first `count` are given up.
    std::size_t size() const { return instances_.size(); }
    void shrink(std::size_t count);

    /// Whether Python launches it: what it calls runs in its work-items.
    const bool is_kernel;
    bool refuses_interpreter = false;
    std::string report;
    std::vector<std::string> warnings;

  private:
    std::unique_ptr<ir::Function> lower(Instance& instance);
    void lean_on(std::size_t place);
    /// native.cpp
    void lower_native(const Source& source, Instance& made);

    int dimensions_;
    std::deque<Instance> instances_;
    std::vector<Instance*> open_;  ///< those that are being lowered, from the outermost on
    std::map<const Source*, std::vector<const Source*>> called_;  ///< by a function itself
    std::map<const Source*, std::set<const Source*>> reached_;    ///< from it by calls
    std::deque<std::unique_ptr<ir::Function>> functions_;
    std::map<std::int32_t, bool> may_store_;  ///< of those that are done
    std::vector<std::string> files_;
};

/// The dtypes of the results that hold a value of this shape.
void leaf_types(const ResultShape& shape, std::vector<DType>& list);

std::string describe(const Declared& d);

/// Whether an array that the function gets may be kept in an object.
bool may_keep_arrays(const Source& source, const std::vector<Type>& args);

/// The signature that these arguments fit with the fewest conversions, or null.
const Signature* find_signature(const Source& source, const std::vector<Type>& args, bool is_entry);

}  // namespace unisono::frontend
