// Lowers one Python function at given argument types to one IR function: the walk shared by the
// files of this folder.
//
// How it works. One walk over the tree both infers types and emits IR. The environment maps each
// name to what it holds at this point: an expression of parameters and constants that needs no
// variable, an IR variable, an array or a tuple. Where paths meet, values that differ move into an
// IR variable of the joined type (named after the Python variable and kept per dtype). A loop's
// head is a guess: when the back edges need more, the guess grows and the loop is walked again from
// a checkpoint; the guess is kept, so nested loops stay cheap. What only the whole function tells
// (the result's type, whether a loop's target is read after it) restarts the function.
//
// A local is declared in its home, the innermost block that holds all its occurrences, so that what
// one iteration of a parallel loop writes is private by construction. Statements that an expression
// needs (a call, a test for zero, a short circuit) are emitted before the statement that uses it;
// operands already made are then kept in temporaries.
//
// Read next: statements.cpp, loops.cpp, expressions.cpp, operators.cpp, builtins.cpp, parallel.cpp.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/compile.h"
#include "frontend/diagnose.h"
#include "frontend/names.h"
#include "frontend/parallel.h"
#include "frontend/records.h"
#include "frontend/scope.h"
#include "frontend/table_state.h"
#include "frontend/types.h"
#include "ir/build.h"

namespace unisono::frontend {

using ir::E;
using ir::S;

/// One compiled function of the module.
struct Instance {
    const Source* source = nullptr;
    std::vector<Type> args;
    bool noalias = false;
    std::int32_t index = 0;
    bool is_done = false;
    bool counts_depth = false;   ///< takes the depth of the recursion as one more scalar
    bool passes_blocks = false;  ///< takes the blocks of its arrays as scalars: it may keep them
    bool has_result = false;     ///< so far: another return may widen it
    Type result;
    ResultShape shape;
};

class ModuleLowerer {
  public:
    explicit ModuleLowerer(int dimensions) : dimensions_(dimensions) {}
    /// Lowers the function for these argument types, once.
    const Instance& instance(const Source& source, const std::vector<Type>& args, bool noalias,
                             bool counts_depth = false, bool passes_blocks = false);
    /// True while the function is being lowered (a call of it now is a recursion).
    bool is_open(const Source& source) const;
    /// The index of a source file in the list that all functions of the module share.
    std::uint16_t file(const std::string& path);
    Compiled finish();

    std::string report;
    std::vector<std::string> warnings;

  private:
    /// native.cpp
    void lower_native(const Source& source, Instance& made);

    int dimensions_;
    std::deque<Instance> instances_;
    std::deque<std::unique_ptr<ir::Function>> functions_;
    std::vector<std::string> files_;
};

/// Thrown where a function calls itself and none of its results is known yet.
struct Unresolved {
    Place place;
};

/// Thrown where the function must be lowered again with what was learnt.
struct Restart {};

struct Binding {
    enum class State : std::uint8_t { Defined, Maybe, Private, AfterPrange, LoopLast };
    Value value;
    Place origin;
    State state = State::Defined;
    const Node* loop = nullptr;  ///< LoopLast, Private, AfterPrange
    bool is_maybe = false;       ///< LoopLast: the loop may not have run
};

struct Env {
    Names<Binding> names;
    bool reachable = true;
};

/// The dtypes of the results that hold a value of this shape.
void leaf_types(const ResultShape& shape, std::vector<DType>& list);

std::string describe(const Declared& d);

/// Whether an array that the function gets may be kept in an object.
bool may_keep_arrays(const Source& source, const std::vector<Type>& args);

/// The signature that these arguments fit with the fewest conversions, or null.
const Signature* find_signature(const Source& source, const std::vector<Type>& args);

class FunctionLowerer {
  public:
    FunctionLowerer(ModuleLowerer& module, const Source& source, Instance& instance,
                    int dimensions);
    /// Lowers the whole function, again until nothing more is learnt.
    std::unique_ptr<ir::Function> run();

  private:
    // ---- frames and variables (variables.cpp)
    struct Frame {
        const Node* block;
        std::vector<S>* list;
        std::vector<S> declares;
        std::set<std::string> privates;
        std::map<std::pair<std::string, DType>, std::int32_t> vars;
        std::map<std::string, std::int32_t> arrays;  ///< views of the slots of names
    };
    struct Checkpoint {
        std::size_t vars, sites, arrays, list, report, lists;
        std::vector<std::size_t> declares;  ///< of each frame; what came later has later numbers
    };
    Checkpoint checkpoint() const;
    void restore(const Checkpoint& saved);
    Frame& home(const std::string& name);
    void forget_names_of(const Node& block, Env& env) const;
    std::int32_t variable(const std::string& name, DType t);
    void set_variable(const std::string& name, E value);
    Value store_value(const std::string& name, const Value& value, const Place& origin);
    void bind(const std::string& name, const Value& value, const Place& origin);
    Value kept_apart(Value value);
    Value move_into(const std::string& name, const Value& value, const Type& type);
    E temporary(E value, const char* hint = "t");
    [[nodiscard]] E settle(E value) {
        return is_trivial(value) || is_invariant(value) ? value : temporary(value);
    }
    std::vector<S> collect(const std::function<void()>& emit_body);
    bool try_collect(const std::function<void()>& emit_body, std::vector<S>& made);
    void emit(S s) { out_->push_back(s); }

    // ---- statements
    void open_block(const Node& block);
    S nested(const Node& block, const std::set<std::string>& privates = {},
             const std::function<void()>& prologue = {});
    void statements(const Node& block);
    void try_statement(const Node& node);
    void statement(const Node& node);
    void assign(const Node& node);
    void assign_to(const Node& target, const Value& value);
    void assign_item(const Node& target, const Value& array, const Value& value);
    void augment_item(const Node& node, const Node& target, const Value& array);
    void assign_starred(const Node& target, const Node& star, const Value& value);
    void assign_augmented(const Node& node);
    void assign_in_place(const Node& node, const Value& array, const Value& change);
    void refuse_cast(const std::string& op, DType from, DType to, const Place& place);
    Value all_made(Value value, const Place& place);
    void shape_result(const Value& value, ResultShape& shape, std::vector<E>& scalars);
    std::optional<std::vector<const Node*>> view_items(const Node& node, const Value& array);
    void branch(const Node& node);
    void give_back(const Node& node);
    void leave_function(const Value& value, const Place& place);
    void assertion(const Node& node);
    void end_of_function();
    void fault_if(E condition, ErrorKind kind, const std::string& message, const Place& place,
                  std::vector<E> values = {});

    // ---- exceptions (exceptions.cpp)
    struct Caught {
        std::vector<std::int32_t> vars;  ///< of a Try: site, code, text, four values
    };
    struct Final {
        std::size_t loops = 0;  ///< around it
        bool returns = false, breaks = false, continues = false;
        Value result = {};
    };
    void lower_try(const Node& node);
    void raise(const Node& node);
    void raise_again(const Caught& c);
    Caught guarded(const Node& body, Env& fault, Env& after);
    Env at_fault(const Node& body, const Env& entry);
    void after_attempt(const Caught& c, const Env& fault, const std::function<void()>& failed,
                       const Env& after, const std::function<void()>& ended);
    E is_caught(const Caught& c, const std::string& names);
    void handle(const Node& node, std::size_t i, const Caught& c);
    bool bind_for_handlers(const std::string& name, const Value& value, const Place& origin);
    Final* final_before(std::size_t loop_depth);
    void leave_by(std::int64_t site);
    bool leaves_by_final(bool is_break);
    bool returns_by_final(const Value& value);

    // ---- text that tells values (text.cpp)
    struct Template {
        std::string text;
        std::vector<E> values = {};
        bool takes_arrays = false;
        std::string role = "a value in a message";
    };
    E bits_of(const Value& v);
    void write_items(Template& to, const Value& v, const Place& place);
    enum class Shown : std::uint8_t { Str, Repr, Format };
    void write(Template& to, const Value& v, Shown how, const std::string& format,
               const Place& place);
    void write_node(Template& to, const Node& node);
    std::pair<std::string, std::vector<E>> message_of(const Node& node, const std::string& where);
    Value call_print(const Node& node);

    // ---- loops
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
    struct Range {
        E begin, end, step;
        bool runs;  ///< at least once
        bool is_parallel;
        std::string schedule = {};             ///< static, dynamic, guided or none
        E chunk = nullptr, threads = nullptr;  ///< as the program gives them
    };
    /// Arrays that a parallel loop reduces: each of a few parts of the loop has its own copy.
    struct Parts {
        std::int32_t var = -1;  ///< number of the part
        E count = nullptr;
        std::map<std::string, Value> arrays;  ///< all copies, by the array's name
    };
    void loop_for(const Node& node);
    bool try_for(const Node& node, const Range& range, const ParallelPlan* plan);
    void loop_while(const Node& node);
    bool try_while(const Node& node);
    Range range_of(const Node& node);
    void want_reducible(const Value& v, Op op, const Place& place);
    void read_schedule(const Node& keyword, Range& range);
    S scheduled(const Range& range, std::int32_t var, S inside,
                const std::vector<ir::Reduction>& reductions, const Parts& parts);
    E trip_count(const Range& range);
    Parts make_parts(const ParallelPlan& plan, const Range& range, const Place& place);
    Value part_of(const Value& all, E number);
    void add_parts(const Parts& parts, const ParallelPlan& plan, const Place& place);
    void warn_of_sharing(const Node& node, const Range& range, const ParallelPlan& plan);
    Value atomic(const Node& node, const std::string& name);
    std::optional<Value> sharing(const std::string& name, const std::vector<Value>& args,
                                 const Place& place);
    Env loop_header(Loop& loop);
    S otherwise(Loop& loop, const Node* block, Env& after);
    void arrive(const std::map<std::string, Type>& guess);
    Env leaving(const Loop& loop) const;
    void leave_loop(const Node& node);
    void next_iteration(const Node& node);
    bool resolve_header(Loop& loop);
    bool resolve_exit(Loop& loop, Env normal, bool has_normal);
    bool learn(std::map<std::string, Type>& guess, const std::string& name, const Binding& a,
               const Binding& b);
    [[noreturn]] void refuse_join(const std::string& name, const Binding& a, const Binding& b);
    Env merge_branches(std::vector<S>& then_list, const Env& then_env, std::vector<S>& else_list,
                       const Env& else_env);
    void bind_target_after(const Node& node, Env& after, bool runs);

    // ---- regions (region.cpp)
    struct Kept {
        Type type;
        std::int32_t view = -1;  ///< an element per thread
    };
    struct Region {
        const Node* node = nullptr;
        ParallelPlan plan;
        E threads = nullptr;
        std::int32_t lane = -1;            ///< number of the thread
        std::map<std::string, Kept> kept;  ///< from piece to piece
        std::vector<S> prologue;
        std::set<std::string> uniform;  ///< targets of loops around pieces
        int loop_depth = 0;
        std::size_t frame = 0;  ///< of the piece
    };
    void region(const Node& node);
    void region_block(std::span<const Node> statements);
    void region_around(const Node& s);
    void region_piece(const std::vector<const Node*>& piece);
    void keep_for_threads(const std::string& name, Binding& b);
    S shared_out(const Range& range, std::int32_t var, S inside);

    // ---- expressions
    Value expression(const Node& node);
    Value expression_of(const Node& node);
    std::vector<Value> operands(std::span<const Node* const> nodes);
    Value read_name(const Node& node);
    Value attribute(const Node& node);
    Value subscript(const Node& node);
    Value element(const Node& node, const Value& array);
    std::optional<Value> tuple_item(const Value& tuple, const Value& index, const Place& place);
    Value tuple_slice(const Node& node, const Value& tuple);
    std::vector<E> indices(const Node& node, const Value& array);
    static bool is_gathered(E e);
    ir::Access access_for(std::span<const E> indices) const;
    std::optional<std::int64_t> lower_bound(E e) const;
    Value compare(const Node& node);
    Value compare_two(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value bool_op(const Node& node, std::size_t from);
    Value conditional(const Node& node);
    Value choose(E condition, const std::function<Value()>& yes, const std::function<Value()>& no,
                 const Place& place);
    Value choose_object(E condition, const std::array<Value, 2>& values,
                        std::array<std::vector<S>, 2> made, const Type& type, const Place& place);
    E truth(const Value& v, const Place& place);
    E condition(const Node& node);
    static std::optional<DType> dtype_of(const Node& node);
    const Value& want_scalar(const Value& v, const Place& place, const std::string& role);
    bool is_cheap(const std::vector<S>& made, const Value& v) const;

    // ---- arrays
    struct Descriptor {
        std::int32_t root;  ///< slot or parameter
        E offset;
        std::vector<E> extents, strides;
        std::vector<ir::StrideClass> classes;
        bool writable;
    };
    struct Cut {
        E from, step, count;
    };
    Descriptor describe_array(std::int32_t array);
    Value view(const std::string& name, const Descriptor& d);
    bool is_known_at_entry(E e) const;
    E pinned(E e);
    bool is_same_array(std::int32_t a, std::int32_t b);
    bool is_same(const Value& a, const Value& b);
    bool is_fixed(const Value& array);
    Value snapshot(const Value& array);
    Value move_array(const std::string& name, const Value& value, const Type& type,
                     const Place& place);
    E tested_index(E i, E size, int axis, const Place& place);
    E slice_bound(E given, E size, E low, E high);
    Cut cut(E begin, E end, E step, E size, const Place& place);
    Cut cut(const Node& slice, E size);
    static bool is_ellipsis(const Node& node) {
        return node.kind == NodeKind::Builtin && node.text == "Ellipsis";
    }
    Value index_view(const Node& node, const Value& array, std::span<const Node* const> items);
    Value make_array(DType t, std::vector<E> extents, const Place& place);
    [[noreturn]] void refuse_readonly(const Value& array);
    void refuse_computed(const Value& array, const Place& place);

    // ---- lists (lists.cpp)
    struct List {
        std::int32_t slot;              ///< its memory
        std::int32_t length, capacity;  ///< variables
        int parallel_depth = 0;         ///< where it was made
        const Node* literal = nullptr;  ///< the [...] that made it
    };
    void keep_lists(const std::map<std::string, Type>& guess);
    Value new_list(const Type& item, const std::string& name);
    Value list_of(std::int32_t row, const Type& item, const std::string& name);
    Value list_literal(const Node& node);
    Value list_from_array(const Value& array, const Type& item, const Place& place);
    Value list_value(const Value& value, const Place& place);
    Value as_array(const Value& list) const;
    List& growing(const Value& list, const Place& place);
    E list_length(const Value& list);
    void reserve(const Value& list, E count, const Place& place);
    void append(const Value& list, const Value& item, const Place& place);
    [[noreturn]] void box_list(const Value& list, const Value& item, const Place& place);
    void extend(const Value& list, const Value& more, const Place& place);
    Value pop(const Value& list, const Value* index, const Place& place);
    void insert(const Value& list, const Value& index, const Value& item, const Place& place);
    void list_loop(E begin, E end, const std::function<void(E)>& body);
    Value joined_lists(const Value& a, const Value& b, const Place& place);
    Value repeated_list(const Value& list, const Value& times, const Place& place);
    std::optional<Value> list_method(const Node& node, const Value& list);
    Value contains(const Value& item, const Value& container, const Place& place);
    Value move_list(const std::string& name, const Value& value);

    // ---- structured arrays (records.cpp)
    struct FieldAccess {
        Value array;  ///< the field of all records
        const Record::Field& field;
        const Node* index;  ///< a subscript of the structured array, or null
    };
    std::optional<FieldAccess> field_access(const Node& node);
    FieldAccess field_of(const Value& records, const std::string& key, const Node* index,
                         const Place& place);
    Value whole_numbers(const Value& pieces);
    E joined_pieces(const FieldAccess& f, std::span<const E> where);
    std::vector<E> index_of_pieces(const FieldAccess& f);
    void store_field(const FieldAccess& f, const Value& value, const Place& place);
    void augment_field(const Node& node, const FieldAccess& f);
    Value field_value(const FieldAccess& f, const Place& place);
    const Value& any_field(const Value& records, const Place& place);
    Value record_shape(const Value& records, const Place& place);
    Value record_item(const Node& node, const Value& records);
    void assign_record(const Node& target, const Value& records, const Value& value);
    void copy_record(const Value& to, const Value& from, const Place& place);

    // ---- objects that are their fields' values (classes.cpp)
    Value object_of(std::shared_ptr<const Record> record, std::vector<Value> items);
    Value construct(const Node& node, const ClassUse& use);
    std::vector<Value> field_arguments(const Node& node, const ClassUse& use);
    Value replaced(const Node& node, const Value& object, std::size_t first);
    void refuse_frozen(const Node& target);
    std::optional<Value> object_attribute(const Node& node, const Value& object);
    Value object_method(const Node& node, const Record& record, const Value* object);
    std::optional<Value> special_method(const Node* node, const std::string& name,
                                        const std::vector<Value>& values, const Place& place);
    bool has_method(const Value& object, const std::string& name) const;
    Value index_value(const Node& node);
    std::optional<Value> operator_method(const std::string& op, const Value& a, const Value& b,
                                         const Place& place);
    std::optional<Value> compare_objects(const std::string& op, const Value& a, const Value& b,
                                         const Place& place);
    Value compare_items(const std::string& op, const std::vector<Value>& a,
                        const std::vector<Value>& b, const Place& place);

    // ---- objects in memory (instances.cpp)
    Value object_in(std::int32_t slot, const Type& type);
    E object_address(const Value& object);
    void address_objects(Value& value);
    void open_objects(Value& value);
    Value move_object(const std::string& name, const Value& value, const Type& type);
    Value held_object(const Value& object);
    Value new_instance(const std::shared_ptr<const Record>& record, const Place& place);
    Value data_object(const Node& node, const ClassUse& use);
    Value object_of_values(const std::shared_ptr<const Record>& known, std::vector<Value> values,
                           const Place& place);
    std::vector<Value> field_values(const Value& object, const Place& place);
    Value new_object(const Node& node, const ClassUse& use);
    void want_object(const Value& object, const std::string& field, const Place& place);
    bool is_constant_field(const std::string& name);
    E word_of(const Value& object, int word);
    void set_word(const Value& object, int word, E value);
    E number_of_word(E word, DType t);
    Value read_member(const Value& object, const Record::Field& f, const Place& place);
    void want_assigned(const Value& v, const Record::Field& f, const Place& place);
    Value load_member(const Value& object, const Record::Field& f);
    E block_of_array(std::int32_t array);
    E kept_block(const Value& array, const Place& place);
    E kept_object(const Value& object);
    void store_member(const Value& object, const Record::Field& f, const Value& given,
                      const Place& place);
    const Record::Field& member(const Value& object, const std::string& name, const Place& place);
    bool assign_member(const Node& target, const Value& value);
    bool augment_member(const Node& node);
    std::optional<Value> compare_identity(const std::string& op, const Value& a, const Value& b,
                                          const Place& place);

    // ---- array expressions
    std::vector<E> extents_of(const Value& v);
    bool is_repeated(const Value& v, std::size_t axis) const;
    Value element_of(const Value& v, std::span<const E> index, std::span<const E> extents,
                     bool repeats);
    void broadcast(std::vector<E>& extents, std::vector<E> own, const Place& place);
    Value elementwise(const std::vector<Value>& operands,
                      const std::function<Value(std::span<const Value>)>& operation,
                      const Place& place);
    void nest(std::span<const E> extents, const std::function<void(std::span<const E>)>& body,
              const Place& place);
    std::pair<E, E> range_of(std::int32_t array);
    E may_overlap(std::int32_t target, std::int32_t array);
    bool is_narrow(std::int32_t target, std::int32_t array);
    /// Copies that a statement reads instead of parts of the array that it writes.
    std::map<std::int32_t, std::int32_t> stand_ins_;
    E are_apart_or_same(std::int32_t x, std::int32_t y);
    bool is_spread(const Value& v, std::span<const E> extents);
    void assign_elements(const Value& target, const Value& value, const Place& place);
    Value made(const Value& value, const Place& place);
    Value converted_array(const Value& a, DType t, const Place& place);
    std::optional<Value> pointer_view(const Node& node, const std::string& name);
    Value copied(const Value& array, const Place& place);
    /// An array whose elements are computed from their index and the arrays that it reads.
    Value computed(std::vector<E> extents, DType t, std::vector<std::int32_t> reads,
                   std::function<Value(std::span<const E>, bool)> element);
    void counted(ir::LoopKind kind, E begin, E end, const std::function<void(E)>& body);
    std::int32_t declared(const char* name, E value);
    E private_array_item(std::int32_t array, E index) {
        return b_->load(array, {index}, ir::Access::Inside);
    }
    std::int32_t private_array(const char* name, DType t, std::int64_t count);
    void set_item(std::int32_t array, std::vector<E> index, E value) {
        emit(b_->store(array, index, value, ir::Access::Inside));
    }

    // ---- calls of array functions by their arguments' names (array_calls.cpp)
    struct Given {
        const Node& node;
        std::string name;  ///< as messages call it
        std::string base;  ///< without the module
        bool is_method;
        std::map<std::string, Value> values;
        /// Null where it is not given, or None.
        const Value* find(const std::string& key) const {
            auto it = values.find(key);
            return it == values.end() || it->second.type.kind == Type::Kind::None ? nullptr
                                                                                  : &it->second;
        }
        const Value& at(const std::string& key) const { return values.at(key); }
    };
    using ArrayRule = Value (FunctionLowerer::*)(const Given&);
    struct ArrayFunction {
        const char* parameters;  ///< names; "?" behind those that may be left out, "*" before rest
        ArrayRule rule;
        bool is_method;  ///< of arrays, too
    };
    static const std::map<std::string, ArrayFunction>& array_functions();
    std::optional<Value> array_function(const Node& node, const std::string& name,
                                        const Value* object = nullptr);
    std::vector<E> shape_argument(const Value& v, const Place& place);
    const Value& want_array(const Given& given, const std::string& key);
    Value as_array(const Value& v, const Place& place);
    Value made_array(const Given& given, const std::string& key = "a");
    std::int64_t want_constant(const Given& given, const std::string& key, std::int64_t otherwise);
    bool want_flag(const Given& given, const std::string& key, bool otherwise = false);
    int want_axis(const Given& given, const Value& axis, int rank);
    std::optional<std::vector<int>> want_axes(const Given& given, int rank);
    std::optional<DType> want_dtype(const Given& given, const std::string& key = "dtype");
    Value finished(const Given& given, const Value& value);
    [[noreturn]] void refuse_call(const Given& given, const std::string& what,
                                  const std::string& way_out) {
        refuse(given.node.place, given.name + ": " + what, way_out);
    }

    // ---- arrays made by functions (creation.cpp)
    Value call_filled(const Given& given);
    Value call_copy(const Given& given);
    Value call_asarray(const Given& given);
    Value call_astype(const Given& given);
    Value call_arange(const Given& given);
    Value call_linspace(const Given& given);
    Value call_eye(const Given& given);
    Value call_triangle(const Given& given);
    Value call_diag(const Given& given);
    Value grid(const Node& node, std::span<const Node* const> items);
    Value call_fill(const Given& given);

    // ---- elementwise functions of several rules (creation.cpp)
    Value call_where(const Given& given);
    Value call_clip(const Given& given);

    // ---- reductions (reduce.cpp, fold.cpp)
    struct Accumulation {
        Op op;
        DType type;
    };
    E nothing(const Accumulation& how);
    void lanes_of_leaf(std::int32_t lanes, E begin, E end, const Accumulation& how,
                       const std::function<E(E)>& element);
    void push_leaf(std::int32_t stack, std::int32_t depth, E leaf, Op op);
    void fold_tree(std::int32_t stack, std::int32_t depth, Op op);
    E fold_lanes(E n, const Accumulation& how, const std::function<E(E)>& element);
    E fold_long(E n, const Accumulation& how, const std::function<E(E)>& element,
                const Place& place);
    struct RowAxis {
        E n, leaves, rows;  ///< rows of a leaf
    };
    E start_of(const Accumulation& how);
    E joined(const Accumulation& how, E so_far, E value, E is_first);
    RowAxis row_axis(E n);
    std::int32_t fold_rows(std::span<const RowAxis> axes, std::vector<E> rows, std::int64_t width,
                           const Accumulation& how,
                           const std::function<E(std::span<const E>, E)>& element);
    void with_repeats(const Value& v, const std::function<void(bool)>& body, const Place& place);
    Value reduced_last(const Value& v, const Accumulation& how, int axis, const Place& place);
    Value reduced_rows(const Value& v, const Accumulation& how, std::span<const int> axes,
                       const Place& place);
    Value reduced_axes(const Value& v, const Accumulation& how, std::span<const int> axes,
                       const Place& place);
    Value reduced(const Value& v, const Accumulation& how, const std::vector<int>& axes, bool keeps,
                  const Place& place);
    Value with_ones(const Value& v, const std::vector<int>& axes, int rank, const Place& place);
    E elements_of(const Value& v, const std::vector<int>& axes);
    Value call_reduce(const Given& given);
    Value call_mean(const Given& given);
    Value call_variance(const Given& given);
    Value call_arg_extreme(const Given& given);
    Value call_running(const Given& given);
    Value call_spread(const Given& given);
    Value call_norm(const Given& given);
    Value call_trace(const Given& given);

    // ---- products and decompositions (products.cpp)
    Value dot_product(const Value& a, const Value& b, const Place& place);
    Value product(const Value& a, const Value& b, const Place& place);
    void small_product_loops(const Value& a, const Value& b, const Value& out,
                             const std::array<E, 3>& sizes, bool is_row, bool is_column);
    Value call_product(const Given& given);
    Value call_outer(const Given& given);
    Value call_factor(const Given& given);
    Value call_cov(const Given& given);
    Value call_histogram(const Given& given);
    Value call_sort(const Given& given);
    std::vector<E> native(const std::string& name, std::vector<E> values, int results);
    E address_of(const Value& array);

    // ---- array expressions that wait for their reads (waiting.cpp)
    struct Spot {
        const Node* block = nullptr;
        std::size_t index = 0;  ///< of the statement that is lowered
    };
    struct Waiting {
        std::string name;
        const Node* last;  ///< statement that reads it
    };
    std::int64_t element_cost(E e) const;
    bool are_apart(std::int32_t a, std::int32_t b) const;
    void note_fresh(std::int32_t slot, std::int32_t root);
    bool leaves_alone(const Node& s, const Value& value, const std::set<std::string>& names);
    const Node* last_read(const std::string& name, const Value& value);
    bool lets_wait(const std::string& name, const Value& value, const Place& origin);
    void forget_waiting(const Node& statement);
    Value sliced(const Node& node, const Value& value);

    // ---- other shapes (shapes.cpp)
    Value reshaped(const Value& array, std::vector<E> extents, bool copies, const Place& place);
    std::vector<E> completed_shape(std::vector<E> extents, E size, const Place& place);
    E size_of_array(const Value& v);
    Value permuted(const Value& array, const std::vector<int>& axes, const Place& place);
    Value transposed(const Value& array, const Place& place);
    Value call_reshape(const Given& given);
    Value call_ravel(const Given& given);
    Value call_transpose(const Given& given);
    Value call_swap(const Given& given);
    Value call_flip(const Given& given);
    Value call_expand(const Given& given);
    Value call_squeeze(const Given& given);
    Value call_broadcast(const Given& given);
    Value call_join(const Given& given);
    Value call_repeat(const Given& given);
    Value call_roll(const Given& given);
    Value call_shape(const Given& given);

    // ---- index arrays and masks (gather.cpp)
    struct Gather {
        Value view;                                  ///< its axes, those of index arrays whole
        std::vector<std::pair<int, Value>> indices;  ///< axis of the view, int64 or array
        int first = 0;                               ///< axis of the result where theirs begin
        std::vector<E> extents;                      ///< of the result
        std::vector<E> shared;                       ///< of the index arrays together
    };
    bool may_be_array(const Node& node);
    bool has_array_index(std::span<const Node* const> items);
    static std::vector<const Node*> index_nodes(const Node& node);
    Gather gathering(const Node& node, const Value& array, std::span<const Node* const> items);
    std::vector<E> gathered_index(const Gather& g, std::span<const E> index, bool repeats);
    Value gathered(const Gather& g);
    void scatter(const Gather& g, const Value& value, const Place& place);
    Value gather(const Node& node, const Value& array, std::span<const Node* const> items);
    void assign_gathered(const Node& target, const Value& array, std::span<const Node* const> items,
                         const Value& value);
    std::vector<Value> nonzero(const Value& mask, const Place& place);
    void check_indices(const Value& index, E size, int axis, const Place& place);
    void in_order(std::span<const E> extents, const std::function<void(std::span<const E>)>& body);
    Value call_nonzero(const Given& given);
    Value call_take(const Given& given);

    // ---- masks of an array's own rank (masks.cpp)
    std::optional<Value> mask_of(const Value& array, std::span<const Node* const> items);
    void check_mask(const Value& mask, const Value& array, const Place& place);
    E is_packed(const Value& array);
    Value compressed(const Value& array, const Value& mask, const Place& place);
    void store_chosen(const Value& array, const Value& mask, const Value& value,
                      const Place& place);
    void assign_masked(const Value& array, const Value& mask, const Value& value,
                       const Place& place);
    static bool is_elementwise_call(const Node& node);
    bool is_plain(const Node& node);
    bool is_under_mask(const Node& node, const Node& index, int rank,
                       std::vector<const Node*>& reads);
    bool assign_under_mask(const Node& target, const std::string& op, const Node& value,
                           const Place& place);

    // ---- operators
    Value unary(const std::string& op, const Value& a, const Place& place);
    Value binary(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value divide(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value power(const Value& a, const Value& b, const Place& place);
    Value power_of_integers(E x, E n, Weak weak, const Place& place);
    Value power_of_floats(E x, E y, Weak weak, const Place& place);
    Value bitwise(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value tuple_binary(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value scalar(E e, Weak weak = Weak::None) const;
    Value apply(Op op, E a, E b, Weak weak);
    E op_unary(Op op, E a);
    E op_binary(Op op, E a, E b);
    E cast(E e, DType t);
    E to_type(const Value& v, DType t, const Place& place);
    E i64(std::int64_t v) { return b_->i64(v); }

    // ---- complex numbers (complex.cpp)
    const Value& want_number(const Value& v, const Place& place, const std::string& role);
    std::pair<E, E> parts_of(E e);
    E part_of(const Value& v, int part);
    Value complex_quotient(E a, E b, const char* by_zero, const Place& place);
    Value complex_power(const Value& a, const Value& b, const Type& type, const Place& place);
    E whole_power(E base, E count, bool counts_down);
    E polar_power(E x, E y, bool is_weak, const Place& place);
    Value complex_binary(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value complex_compare(const std::string& op, const Value& a, const Value& b,
                          const Place& place);
    Value complex_unary(const std::string& op, const Value& a, const Place& place);
    Value complex_absolute(const Value& a, const Place& place);
    Value complex_call(const std::vector<Value>& args, const Place& place);
    std::optional<Value> complex_function(const std::string& name, const Value& v,
                                          const Place& place);
    Value cmath_function(const std::string& name, const std::vector<Value>& args,
                         const Place& place);
    Value part_view(const Value& array, int part, const Place& place);
    Value array_part(const Value& array, int part, const Place& place);
    Value squared_size(const Value& v, const Place& place);
    Value converted_value(const Value& value, const Type& type);

    // ---- calls
    Value call(const Node& node);
    Value call_builtin(const Node& node, const std::string& name);
    bool is_instance(const Type& t, const Node& wanted);
    Value delete_item(const std::vector<Value>& args, const Place& place);
    Value call_function(const Node& node, const Source& callee, const std::vector<Value>& captured,
                        const Value* self = nullptr);
    Value call_with(const Node& node, const Source& callee, std::vector<Value> values);
    Value call_value(const Node& node, const Value& callee);

    // ---- structs and functions that C takes (c_values.cpp)
    std::vector<Value> leaves_of(const Source& callee, const std::vector<Value>& values,
                                 const Place& place);
    void add_leaves(const Source& callee, const NativeForm& form, const Value& value,
                    const Place& place, std::vector<Value>& leaves);
    Value struct_address(const Source& callee, const NativeForm& form, const Value& value,
                         const Place& place);
    Value callback_address(const Source& callee, const NativeForm& form, const Value& value,
                           const Place& place);

    const Source& named_function(const Node& node);
    Value function_value(const Node& node);
    Value capturing(Value function, const Node& names);
    std::vector<Value> own_captures();
    std::pair<std::vector<Value>, std::map<std::string, Value>> given(const Node& node);
    std::vector<Value> star_items(const Value& value, const Place& place);
    Value tuple_of(std::vector<Value> items);
    Value declared_value(const Value& value, const Declared& wanted, const Place& place,
                         const std::string& role);
    void declare_parameters();
    std::vector<Value> arguments(const Node& node);
    const Instance& instance_of(const Node& node, const Source& callee,
                                const std::vector<Type>& types, bool noalias, bool passes_blocks);
    std::vector<Value> call_operands(const Node& node, const Source& callee,
                                     const std::vector<Value>& captured, const Value* self);
    Value result_of_call(const Type& type, const ResultShape& shape,
                         const std::vector<std::int32_t>& outs,
                         const std::vector<std::int32_t>& arrays);
    Value call_table(const Node& node, const std::string& name, const std::vector<Value>& args);
    Value python_math(Op op, const std::string& name, const std::vector<Value>& args,
                      const Place& place);
    Value numpy_function(Op op, const std::string& name, const std::vector<Value>& args,
                         const Place& place);
    std::optional<Value> fold(const Node& node, const std::string& name,
                              const std::vector<Value>& args);
    Value fold_array(const Value& array, Value start, E begin,
                     const std::function<Value(const Value&, const Value&)>& combine,
                     const Place& place);
    Value better(bool is_min, const Value& a, const Value& b);
    Value to_python_int(const Value& a, const Place& place, std::optional<Op> rounding);
    Value absolute(const Value& a, const Place& place);
    std::optional<Value> array_method(const Node& node, const Value& object);
    std::optional<Value> ufunc_method(const Node& node);
    Value length(const Value& a, const Place& place);
    std::optional<Value> work_item(const Node& node, const std::string& name);
    Value local_array(const Node& node);

    [[noreturn]] void refuse(const Place& place, const std::string& what,
                             const std::string& way_out,
                             std::vector<std::pair<Place, std::string>> related = {}) const {
        frontend::refuse(source_, {place, what, std::move(related), way_out});
    }
    void at(const Place& place);

    ModuleLowerer& module_;
    const Source& source_;
    Instance& instance_;
    int dimensions_;
    std::uint16_t file_;  ///< index in the module's list of files
    std::map<std::string, const Node*> homes_;
    std::multimap<const Node*, const std::string*> names_at_home_;  ///< the same by blocks

    // Of the current attempt
    std::unique_ptr<ir::Function> function_;
    std::unique_ptr<ir::Builder> b_;
    std::vector<S>* out_ = nullptr;
    std::deque<Frame> frames_;
    std::vector<Loop*> loops_;
    Env env_;
    std::map<std::int32_t, std::int64_t> lower_bounds_;  ///< of loop variables
    Spot spot_;
    std::vector<Waiting> waiting_;
    std::set<std::int32_t> fresh_;                 ///< slots that get new arrays only
    std::map<std::int32_t, std::int32_t> owners_;  ///< of new arrays: slot of the name
    std::deque<List> lists_;
    std::map<std::string, std::int32_t> lists_of_names_;  ///< where paths meet
    std::vector<std::pair<E, std::int32_t>> hoisted_;     ///< computed once, at the entry
    std::set<std::int32_t> given_objects_;                ///< slots of parameters
    std::map<std::pair<std::int32_t, std::string>, Value> members_;  ///< read once, at the entry
    std::map<std::int32_t, E> blocks_of_params_;
    std::optional<std::set<std::string>> changed_fields_;
    std::string report_;
    std::set<std::string> warnings_;
    int parallel_depth_ = 0;
    bool is_result_ = false;  ///< arrays that are made now are returned
    Region* region_ = nullptr;
    std::vector<std::map<std::string, Type>*> protected_;  ///< names that handlers read
    std::vector<const Caught*> handled_;                   ///< by the handlers around
    std::vector<Final*> finals_;                           ///< whose bodies are around
    std::map<std::string, std::int32_t> texts_;            ///< constants, made at the entry
    std::map<const Node*, Value> chosen_;                  ///< items read where a mask is set
    TableState tables_;                                    ///< its items are learnt across attempts
    int choice_depth_ = 0;  ///< expressions that may not be evaluated
    std::optional<Place> first_return_;
    Place last_return_;
    std::optional<Place> unresolved_;  ///< a call of itself before any return was seen
    E depth_ = nullptr;                ///< of the recursion, where the instance counts it

    // Learnt across attempts
    std::map<const Node*, std::map<std::string, Type>> guesses_;
    std::map<const Node*, ParallelPlan> plans_;
    std::set<const Node*> targets_read_after_;
    std::set<std::string> shared_names_;      ///< that hold arrays which others may hold, too
    std::map<const Node*, Type> list_items_;  ///< of lists that are empty where they are made
    std::set<const Node*> boxed_lists_;       ///< whose items are no numbers, or which others hold
    std::optional<Type> result_;
    bool must_restart_ = false;
    Declared result_wanted_;
    /// Calls through values, as calls by name.
    std::map<std::pair<const Node*, std::string>, std::unique_ptr<Node>> calls_by_name_;
    bool describes_results_ = false;  ///< arrays returned are told by address, not by argument

    friend class ModuleLowerer;
    friend class Texts;   ///< texts.cpp
    friend class Tables;  ///< tables.cpp
};

}  // namespace unisono::frontend
