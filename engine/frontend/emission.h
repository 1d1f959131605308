// The code of the function that is being lowered: statements, variables in their frames, faults.
//
// The ground floor of the walk (lowerer.h says what stands on it). The functions that are virtual
// here are what the floors need of those above them: to lower any node, to operate on any values,
// to call any function.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "frontend/diagnose.h"
#include "frontend/effects.h"
#include "frontend/environment.h"
#include "frontend/module.h"
#include "frontend/scope.h"
#include "ir/build.h"

namespace unisono::frontend {

class FunctionLowerer;

/// Whether evaluating it may give names other values.
bool assigns_names(const Node& node);
/// Whether evaluating it may change anything.
bool may_act(const Node& node);

class Emission {
  public:
    /// For helpers that lower one expression (texts.h, tables.h) and may need every floor.
    virtual FunctionLowerer& lowerer() = 0;

  protected:
    Emission(ModuleLowerer& module, const Source& source, Instance& instance, int dimensions,
             Learnt& learnt);
    Emission(const Emission&) = delete;
    Emission& operator=(const Emission&) = delete;
    ~Emission() = default;

    // ---- what the floors above add
    virtual Value expression(const Node& node) = 0;
    virtual Value maybe_none(const Node& node) = 0;
    virtual Value unary(const std::string& op, const Value& a, const Place& place) = 0;
    virtual Value binary(const std::string& op, const Value& a, const Value& b,
                         const Place& place) = 0;
    virtual Value compare_two(const std::string& op, const Value& a, const Value& b,
                              const Place& place) = 0;
    virtual E truth(const Value& v, const Place& place) = 0;
    virtual Value call_function(const Node& node, const Source& callee,
                                const std::vector<Value>& captured,
                                const Value* self = nullptr) = 0;
    virtual Value call_with(const Node& node, const Source& callee, std::vector<Value> values) = 0;
    /// The value, apart from what the effects change of it.
    virtual Value kept(const Value& value, const Effects& effects) = 0;
    virtual void statements(const Node& block) = 0;
    virtual void try_statement(const Node& node) = 0;

    // ---- statements (emission.cpp)
    void emit(S s) { out_->push_back(s); }
    void at(const Place& place);
    /// Runs emit_body with an empty statement list and returns what it emitted.
    std::vector<S> collect(const std::function<void()>& emit_body);
    void counted(ir::LoopKind kind, E begin, E end, const std::function<void(E)>& body);
    void list_loop(E begin, E end, const std::function<void(E)>& body);
    void fault_if(E condition, ErrorKind kind, const std::string& message, const Place& place,
                  std::vector<E> values = {}, std::int32_t exception = 0);
    std::vector<E> native(const std::string& name, std::vector<E> values, int results);
    [[noreturn]] void refuse(const Place& place, const std::string& what,
                             const std::string& way_out,
                             std::vector<std::pair<Place, std::string>> related = {}) const {
        frontend::refuse(source_, {place, what, std::move(related), way_out});
    }

    // ---- variables and the frames that declare them (variables.cpp)
    struct Frame {
        const Node* block;
        std::vector<S>* list;
        std::vector<S> declares;
        std::set<std::string> privates;
        std::map<std::pair<std::string, DType>, std::int32_t> vars;
        std::map<std::string, std::int32_t> arrays;  ///< views of the slots of names
    };
    Frame& home(const std::string& name);
    void forget_names_of(const Node& block, Env& env) const;
    std::int32_t variable(const std::string& name, DType t);
    void set_variable(const std::string& name, E value);
    std::int32_t declared(const char* name, E value);
    E temporary(E value, const char* hint = "t");
    [[nodiscard]] E settle(E value) {
        return is_trivial(value) || is_invariant(value) ? value : temporary(value);
    }
    std::int32_t private_array(const char* name, DType t, std::int64_t count);
    E private_array_item(std::int32_t array, E index) {
        return b_->load(array, {index}, ir::Access::Inside);
    }
    void set_item(std::int32_t array, std::vector<E> index, E value) {
        emit(b_->store(array, index, value, ir::Access::Inside));
    }

    // ---- attempts that are taken back: each floor forgets what it noted since
    struct Checkpoint {
        std::size_t vars, sites, arrays, list, report, lists;
        std::vector<std::size_t> declares;  ///< of each frame; what came later has later numbers
        bool is_later_var(std::int32_t var) const { return var >= static_cast<std::int32_t>(vars); }
        bool is_later_array(std::int32_t array) const {
            return array >= static_cast<std::int32_t>(arrays);
        }
    };
    virtual Checkpoint checkpoint() const;
    virtual void restore(const Checkpoint& saved);

    // ---- numbers
    Value scalar(E e, Weak weak = Weak::None) const;
    Value apply(Op op, E a, E b, Weak weak);
    E op_unary(Op op, E a);
    E op_binary(Op op, E a, E b);
    E cast(E e, DType t);
    E i64(std::int64_t v) { return b_->i64(v); }
    void refuse_cast(const std::string& op, DType from, DType to, const Place& place);

    // ---- indices
    static bool is_gathered(E e);
    ir::Access access_for(std::span<const E> indices) const;
    std::optional<std::int64_t> lower_bound(E e) const;

    // ---- operands and arguments (operands.cpp)
    struct Later {
        std::vector<S> made;
        Effects effects;
    };
    Later later(const std::function<void()>& evaluate);
    void behind(std::span<Value> before, const std::function<void()>& evaluate);
    std::vector<Value> operands(std::span<const Node* const> nodes, bool take_none = false);
    std::pair<std::vector<Value>, std::map<std::string, Value>> given(const Node& node,
                                                                      bool take_none = false);
    std::vector<Value> star_items(const Value& value, const Place& place);
    std::vector<Value> arguments(const Node& node, bool take_none = false);
    Value tuple_of(std::vector<Value> items);

    ModuleLowerer& module_;
    const Source& source_;
    Instance& instance_;
    int dimensions_;
    Learnt& learnt_;

    std::unique_ptr<ir::Function> function_;
    std::unique_ptr<ir::Builder> b_;
    std::vector<S>* out_ = nullptr;
    std::deque<Frame> frames_;
    Env env_;
    std::vector<Loop*> loops_;  ///< around
    Region* region_ = nullptr;  ///< around
    int parallel_depth_ = 0;
    int choice_depth_ = 0;                               ///< expressions that may not be evaluated
    std::map<std::int32_t, std::int64_t> lower_bounds_;  ///< of loop variables
    std::optional<Place> unresolved_;  ///< a call of itself before any return was seen
    E depth_ = nullptr;                ///< of the recursion, where the instance counts it
    bool must_restart_ = false;
    std::map<std::string, std::int32_t> is_assigned_;  ///< flags of names that may not be
    std::map<std::string, Type> assigned_types_;       ///< of each name, when it was last assigned
    std::string report_;
    std::set<std::string> warnings_;

  private:
    std::uint16_t file_;  ///< index in the module's list of files
    std::map<std::string, const Node*> homes_;
    std::multimap<const Node*, const std::string*> names_at_home_;  ///< the same by blocks
};

}  // namespace unisono::frontend
