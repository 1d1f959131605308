// Turns a lowered module into LLVM IR, for the host and for PTX.
//
// How it works. ModuleEmitter declares one internal LLVM function per IR function and emits each by
// a FunctionEmitter; entry.cpp adds the function that the outside calls. Locals become allocas,
// which the optimiser turns into registers; control flow is emitted structured, loops already
// rotated. A loop of independent iterations says so in metadata, so that the vectoriser adds no
// run-time checks. The outermost parallel loop of the host becomes a function of its own
// (parallel.cpp) that takes what the loop's body uses in a block of memory.
//
// One file per concern: expressions.cpp, operations.cpp (scalar operations and casts), math.cpp,
// statements.cpp, inline_natives.cpp, loops.cpp, streaming.cpp, parallel.cpp, entry.cpp,
// device.cpp (what only PTX has).
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "backends/codegen/compile.h"
#include "backends/llvm/loop_bounds.h"
#include "ir/ir.h"

namespace unisono::codegen {

/// Of functions with a while loop.
inline constexpr const char* while_attribute = "unisono-while";
/// Of functions with a try.
inline constexpr const char* try_attribute = "unisono-try";

using Value = llvm::Value;

/// Behind the NDRange's words: the number of the launch, and the number of the kernel's last axis.
inline constexpr std::uint64_t launch_slot = range_slots, last_axis_slot = range_slots + 1;

/// What an array is inside one LLVM function.
struct ArrayValue {
    Value* base = nullptr;
    std::vector<Value*> extents,
        strides;             ///< int64, in elements; empty after Allocate but for its extents
    bool made_here = false;  ///< by Allocate, in this LLVM function
};

class ModuleEmitter {
  public:
    ModuleEmitter(const ir::Module& module, const Target& target, llvm::LLVMContext& context);
    std::unique_ptr<llvm::Module> run();

    bool for_device() const { return target.kind == Target::Kind::Ptx; }
    bool has_sites() const { return sites_ > 0; }
    llvm::Type* type(DType t) const;         ///< as a value: bool is i1
    llvm::Type* memory_type(DType t) const;  ///< in memory: bool is i8
    llvm::Function* declare(const char* name, llvm::FunctionType* type);
    llvm::FunctionType* signature(const ir::Function& f) const;
    /// The scalar form of a mathematical function, marked with its vector forms.
    Value* call_math(llvm::IRBuilder<>& b, Op op, Value* x, Value* y);
    /// Of operands: which lanes need a function, and the value where none does.
    using Guard = std::pair<Value*, Value*> (*)(llvm::IRBuilder<>& b, Value* x, Value* y);
    llvm::Function* guarded_form(const std::string& symbol, llvm::Type* vector, Guard guard);
    Value* call_long_form(llvm::IRBuilder<>& b, Op op, Value* x, Value* y);
    Value* call_power(llvm::IRBuilder<>& b, Value* x, Value* y);
    Value* call_with_lanes(llvm::IRBuilder<>& b, const std::string& stem, Value* x, Value* y,
                           Guard guard);
    Value* call_rule(llvm::IRBuilder<>& b, Op op, DType t, Value* x, Value* y);
    /// C's fmod.
    Value* remainder(llvm::IRBuilder<>& b, Value* x, Value* y);

    const ir::Module& module;
    const Target& target;
    llvm::LLVMContext& context;
    std::unique_ptr<llvm::Module> out;
    std::vector<llvm::Function*> functions;  ///< null: not emitted
    std::vector<int> first_site;  ///< number of each function's first fault site in the module
    llvm::IntegerType *i1, *i8, *i32, *i64;
    llvm::PointerType* ptr;
    int width_of_vectors =
        64;  ///< bytes: the longest vector form of mathematical functions to offer

    // lines.cpp; without Target::want_lines these do nothing
    void begin_lines();
    void describe_function(llvm::Function* made, const ir::Function& f);
    llvm::DebugLoc location(llvm::Function* in, ir::Line line) const;
    void finish_lines();

    /// By the number of a fault's site: its code, and where its text begins among all texts.
    struct SiteTables {
        std::int64_t count = 0;
        llvm::GlobalVariable *codes = nullptr, *offsets = nullptr, *text = nullptr;
    };
    const SiteTables& site_tables();

  private:
    SiteTables site_tables_;
    int sites_ = 0;  ///< of all functions
    void declare_functions();
    llvm::Function* declare_host_entry();
    void add_host_entry();
    void mark_called(ir::S s);
    void add_callback();
    void link_natives();
    llvm::Function* declare_native(const ir::Function& f);
    /// C's types, and how it widens small integers.
    llvm::Type* c_type(const ir::Param& p) const { return p.is_array() ? ptr : type(p.dtype); }
    static llvm::Attribute::AttrKind c_extension(DType t);
    void emit_native(const ir::Function& f, llvm::Function* into);
    void add_device_entry(std::size_t function);
    llvm::MDNode* streaming_group();
    llvm::Function* declare_pure(const std::string& symbol, llvm::Type* result, llvm::Type* operand,
                                 int arity);
    llvm::Function* device_function(const std::string& name, llvm::Type* type, unsigned arity,
                                    void (*emit)(llvm::Function*));
    std::vector<llvm::GlobalValue*> used_;
    std::vector<bool> is_needed_;           ///< per function: it is emitted
    bool calls_entry_ = false;              ///< a function calls the first one: a recursion
    std::vector<llvm::Function*> natives_;  ///< per function: the code that it stands for, or null
    std::unique_ptr<llvm::DIBuilder> lines_;
    std::vector<llvm::DIFile*> files_;
    friend class FunctionEmitter;
};

class FunctionEmitter {
  public:
    FunctionEmitter(ModuleEmitter& module, const ir::Function& f, int index);
    /// Emits the whole body into `into`, which has the module's signature for f.
    void emit_function(llvm::Function* into);
    /// Emits the body into the entry that the outside calls: int64_t (int64_t* args, Fault*).
    void emit_entry(llvm::Function* into);

  private:
    struct LoopContext {
        llvm::BasicBlock* next;
        llvm::BasicBlock* leave;
    };
    /// Emits the body of a loop for the current value of its variable.
    using EmitBody = llvm::function_ref<void()>;
    struct Captured {
        std::vector<int> params, arrays, vars;
        std::vector<bool> param_seen, array_seen, var_seen, var_inside, array_inside;
    };

    // expressions.cpp
    Value* emit(ir::E e);
    Value* emit_uncached(ir::E e);
    Value* constant(ir::E e);
    Value* work_item(ir::E e);
    Value* address(int array, std::span<const ir::E> indices);
    Value* load(ir::E e);
    Value* part_of(int array, Value* where, int part);
    void store_value(int array, Value* where, Value* value, bool marked = false);
    Value* int64(std::int64_t v) { return llvm::ConstantInt::getSigned(m_.i64, v); }
    void annotate(llvm::Instruction* access, int array, bool marked = false);
    void make_scopes();

    // operations.cpp
    Value* unary(ir::E e);
    Value* binary(ir::E e);
    Value* combine(Op op, DType t, Value* a, Value* b);
    Value* float_operation(Op op, Value* a, Value* b);
    Value* integer_operation(Op op, DType t, Value* a, Value* b);
    Value* infinity(Value* like);
    Value* sign(Value* a, DType t);
    Value* exponent(Value* a);
    Value* bool_operation(Op op, Value* a, Value* b);
    Value* compare(Op op, DType t, Value* a, Value* b);
    Value* divide_floats(Op op, Value* a, Value* b);
    Value* divide_integers(Op op, Value* a, Value* b, bool is_signed);
    Value* shift(Op op, Value* a, Value* b, bool is_signed);
    Value* cast(ir::E e);
    Value* half_cast(Value* x, DType from, DType to);
    Value* float_to_integer(Value* x, DType from, DType to);
    Value* intrinsic(llvm::Intrinsic::ID id, Value* a) { return b_.CreateUnaryIntrinsic(id, a); }

    // statements.cpp
    void emit(ir::S s);
    void mark(ir::Line line) {
        if (line.line > 0) b_.SetCurrentDebugLocation(m_.location(fn_, line));
    }
    void emit_all(std::span<const ir::S> list);
    llvm::MDNode* weights(ir::S s);
    void emit_if(ir::S s);
    void assume_multiples(ir::E condition);
    void emit_while(ir::S s);
    void emit_return(ir::S s);
    void emit_call(ir::S s);
    Value* call_deferred(int function, std::span<Value* const> args);
    llvm::AllocaInst* deferred_result(llvm::Type* type, std::size_t number);
    void emit_allocate(ir::S s);
    // slots.cpp
    struct Slot {
        llvm::AllocaInst* pointer = nullptr;
        llvm::AllocaInst* block = nullptr;
        bool lent = false;  ///< the caller lets go of what it holds in the end
    };
    Slot& slot(int array);
    Value* base_of(int array);
    Value* block_of(int array);
    void set_slot(int array, Value* pointer, Value* block);
    void emit_make(ir::S s);
    void emit_point(ir::S s);
    void emit_retain(ir::S s);
    void emit_native(ir::S s);
    void call_native(ir::S s, std::span<Value* const> args);
    // inline_natives.cpp
    using InlineNative = void (FunctionEmitter::*)(ir::S s, std::span<Value* const> args);
    static InlineNative inline_native(std::string_view name);
    void read_item(ir::S s, std::span<Value* const> args);
    void write_item(ir::S s, std::span<Value* const> args);
    void append_item(ir::S s, std::span<Value* const> args);
    void take_last_item(ir::S s, std::span<Value* const> args);
    void count_items(ir::S s, std::span<Value* const> args);
    void visit_row(ir::S s, std::span<Value* const> args);
    void look_up(ir::S s, std::span<Value* const> args);
    void enter(ir::S s, std::span<Value* const> args);
    void draw_bits(ir::S s, std::span<Value* const> args);
    void draw_numpys_double(ir::S s, std::span<Value* const> args) { draw_double(s, args, false); }
    void draw_pythons_double(ir::S s, std::span<Value* const> args) { draw_double(s, args, true); }
    void draw_double(ir::S s, std::span<Value* const> args, bool of_python);
    void draw_normal(ir::S s, std::span<Value* const> args);
    void draw_exponential(ir::S s, std::span<Value* const> args);
    Value* draw_word(Value* generator);
    struct LayerPoint {
        Value *layer, *fraction;
    };
    Value* draw_in_layers(const std::string& curve, Value* generator, Value* word, LayerPoint at,
                          Value* sign);
    void call_where(ir::S s, std::span<Value* const> args, llvm::BasicBlock* rare,
                    llvm::BasicBlock* after);
    void emit_assign(ir::S s);
    void release_slots();
    void call_block_function(const char* name, Value* block);
    void leave_out_of_memory_if(Value* missing);
    void append_array(int array, std::vector<Value*>& args);
    void emit_atomic(ir::S s);
    void leave_with(Value* site);
    void raise(Value* site, std::span<Value* const> values);
    void emit_try(ir::S s);
    void branch_away(llvm::BasicBlock* to);
    llvm::AllocaInst* local(llvm::Type* type, const char* name, Value* count = nullptr);
    llvm::AllocaInst* variable(int id);
    llvm::BasicBlock* block(const char* name);
    void start(llvm::Function* into);
    void emit_body(std::span<Value* const> args);
    void finish();

    // loops.cpp
    void emit_for(ir::S s);
    Value* trip_count(ir::S s);
    void loop(ir::LoopKind kind, Value* begin, Value* end, llvm::function_ref<void(Value*)> body,
              ir::Line line = {}, llvm::BasicBlock* past = nullptr);
    void loop_of(ir::S s, bool independent);
    void count_work(Value* more);
    void poll_interrupt(ir::Line line);
    void ask_user(ir::Line line, llvm::BasicBlock* on);
    void striped_loop(ir::S s, Value* begin, Value* end, llvm::function_ref<void(Value*)> body);
    void rare_strips(ir::S s, Value* begin, Value* end, llvm::function_ref<void(Value*)> body);
    void finish_loop(llvm::BranchInst* latch, ir::LoopKind kind, llvm::MDNode* group);

    // streaming.cpp
    bool streams(ir::S s) const;
    void streaming_loop(ir::S s, Value* begin, Value* end);
    void fence_if_streamed();

    // parallel.cpp
    void emit_parallel(ir::S s);
    void capture(ir::S s, Captured& c) const;
    void capture(ir::E e, Captured& c) const;
    Captured captured_by(ir::S s) const;
    Value* cost(std::span<const ir::S> list, const Captured& c);
    Value* cost(ir::S s, std::span<const ir::S> list, const Captured& c);
    std::int64_t static_cost(ir::E e) const;
    struct Context {
        llvm::StructType* layout;
        Value* memory;
    };
    Context make_context(std::vector<Value*> fields, const Captured& c);
    void read_context(const Context& context, unsigned field, const Captured& c);
    void emit_outlined(ir::S s, const Captured& c, Context context, llvm::Function* into);

    // parts.cpp
    struct Part;
    void plan_parts();
    bool divides(std::span<const ir::S> list) const;
    void emit_in_parts(std::span<const ir::S> list);
    void emit_part(std::span<const ir::S> list);
    void emit_part_body(std::span<const ir::S> list, const Part& part, llvm::Function* into);
    Part used_by_part(std::span<const ir::S> list) const;
    using GivenBack = std::pair<Value*, llvm::AllocaInst*>;
    void give_back(std::span<const GivenBack> list);

    // device.cpp
    Value* device_work_item(ir::WorkItemQuery query, int axis);
    Value* linear_id();
    void device_fault(Value* site, std::span<Value* const> values);
    void device_barrier();
    void device_shuffle(ir::S s);
    void device_vote(ir::S s);

    ModuleEmitter& m_;
    const ir::Function& f_;
    int index_;
    llvm::IRBuilder<> b_;
    llvm::Function* fn_ = nullptr;
    std::vector<Value*> params_;
    std::vector<ArrayValue> arrays_;
    std::vector<Slot> slots_;  ///< of arrays that are slots set in this LLVM function
    std::vector<llvm::AllocaInst*> vars_;
    std::vector<Value*> results_;             ///< where results go
    std::unordered_map<int, Value*> shared_;  ///< addresses of scratch_of(f_) (PTX)
    Value* fault_ = nullptr;
    Value* range_ = nullptr;  ///< the NDRange's slots (PTX only)
    Value* iteration_ =
        nullptr;  ///< of the parallel loop that this function is the body of, else null
    std::vector<LoopContext> loops_;
    std::vector<llvm::Metadata*> groups_;     ///< access groups of the enclosing independent loops
    bool any_order_ = false;                  ///< of the loop around: its sums may be reordered
    std::vector<std::vector<bool>> made_in_;  ///< per such loop: arrays allocated inside it
    std::vector<llvm::MDNode*> scopes_;       ///< per array that no other overlaps: its alias scope
    std::vector<llvm::MDNode*> others_;       ///< the scopes of all others
    bool one_by_one_ = false;                 ///< no vectors in the loop being emitted
    std::uint32_t in_flight_ = 0;  ///< vectors at a time in the loop being emitted; 0: as it likes
    std::uint32_t lanes_ = 0;      ///< in each of them
    ir::S streaming_ = nullptr;    ///< the store to mark in the loop being emitted
    std::vector<llvm::AllocaInst*> scratch_;  ///< heap memory to free on the way out
    llvm::BasicBlock* exit_ = nullptr;        ///< where faults go: the end, or behind a try
    llvm::PHINode* exit_site_ = nullptr;
    unsigned raised_in_try_ = 0;       ///< how many raise statements leave for the handler around
    llvm::BasicBlock* end_ = nullptr;  ///< of the function
    llvm::PHINode* end_site_ = nullptr;
    bool streamed_ = false;
    llvm::AllocaInst* work_ = nullptr;  ///< iterations since the last question whether to stop
    int loops_emitted_ = 0;
    std::optional<LoopBounds> bounds_;         ///< made when a loop asks
    std::unordered_map<ir::E, Value*> cache_;  ///< values of the expressions of one statement
    bool is_long_ = false;                     ///< emitted in parts
    std::vector<int> mentions_;                ///< of each variable, where is_long_
    std::vector<GivenBack> given_back_;        ///< on every way out of a part's function
    std::map<std::pair<llvm::Type*, std::size_t>, llvm::AllocaInst*> deferred_results_;
};

/// Named metadata that lists the access groups of stores to make non-temporal.
inline constexpr const char* streaming_marker = "unisono.streaming";

[[noreturn]] void unsupported(const std::string& message);

}  // namespace unisono::codegen
