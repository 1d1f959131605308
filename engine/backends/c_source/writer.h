// Writes kernel IR as readable C: the user's names, one statement a line, the user's line numbers
// as comments.
//
// How it works. Writer holds all that the C dialects share; a dialect is a small subclass that
// spells qualifiers, built-in functions and atomics (opencl_c.h). Functions are written after what
// they call; helper functions and the fault record are written first, but only those that the text
// uses. The text computes docs/ir.md's results: integer arithmetic that may wrap goes through
// helpers on unsigned types; indices and what is made of extents cannot.
//
// bool values are C's bool in expressions and locals, and uchar in memory. Faults are reported by
// un_raise; a function that is called returns true after it has raised one.
//
// Read next: usage.h (what is known before writing), expressions.cpp, statements.cpp, helpers.cpp.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/c_source/names.h"
#include "backends/c_source/program.h"
#include "backends/c_source/usage.h"
#include "backends/codegen/native_text.h"
#include "ir/ir.h"

namespace unisono::c_source {

/// C text of an expression and how tightly its outermost operator binds (larger: tighter).
struct Text {
    std::string text;
    int precedence;
};

class Writer {
  public:
    /// `relaunches`: kernels may be launched more than once (passes::HostProgram::has_loops).
    /// `fills_groups`: the user's range is never made larger than asked for.
    Writer(const ir::Module& module, bool relaunches, bool fills_groups);
    virtual ~Writer() = default;
    Program write();

  protected:
    // What dialects spell differently.
    /// Pragmas and types, written at the top. Flags below are final when this is called.
    virtual std::string prologue() const = 0;
    virtual std::string kernel_head(const std::string& name) const = 0;  ///< "__kernel void f"
    virtual std::string_view function_qualifier() const = 0;             ///< "static "
    /// A pointer to elements as a parameter's type, such as "__global const double*".
    virtual std::string pointer(ir::Space space, DType t, bool writable) const = 0;
    virtual std::string_view array_qualifier(
        ir::Space space) const = 0;  ///< "__local " in a declaration
    virtual std::string work_item(ir::WorkItemQuery query, int axis) const = 0;
    virtual std::string_view barrier() const = 0;
    virtual std::string_view fence() const = 0;
    virtual std::string bits_as(const std::string& text, DType from, DType to) const = 0;
    /// Definition of a helper that does what the atomic statement does to a pointer's element.
    virtual std::string atomic_helper(const std::string& name, ir::S atomic, DType t,
                                      ir::Space space) = 0;
    /// Definition of a helper that fetches an element of the device's memory into the caches.
    virtual std::string prefetch_helper(const std::string& name) const = 0;
    /// Definition of a helper that moves n elements to an array of the device, past the caches.
    virtual std::string streaming_helper(const std::string& name, DType t) const = 0;
    /// struct un_fault and un_raise(faults, site, v0, v1, v2, v3).
    virtual std::string fault_helpers() const = 0;
    /// A field of record `number` behind the pointer `faults`.
    virtual std::string fault_field(const std::string& faults, std::size_t number,
                                    std::string_view field) const = 0;
    /// Statement that lowers the int variable of the work-group to `value`, atomically.
    virtual std::string group_minimum(const std::string& variable,
                                      const std::string& value) const = 0;
    /// Called before an atomic operation on elements of `a` is written; a dialect refuses what its
    /// device lacks.
    virtual void need_atomic(const ir::Array& /*a*/, ir::Line /*line*/) {}
    /// A function of C text, with pointers to arrays of those spaces.
    virtual codegen::NativeText native_text(const ir::Function& f, const std::string& name,
                                            std::span<const ir::Space> spaces) const = 0;
    /// Whether a callee may take arrays of other spaces than global.
    virtual bool has_generic_pointers() const = 0;

    /// Called for each dtype whose values the text computes or stores; a dialect refuses what its
    /// device lacks.
    virtual void need_type(DType t, ir::Line line, std::string_view what);

    /// Storage spelling of a dtype (dtype.def).
    static std::string_view storage_type(DType t) { return info(t).c_name; }
    [[noreturn]] void unsupported(ir::Line line, const std::string& what) const;
    std::string helper(Op op, DType t);    ///< asks for the helper and returns its name
    std::string combined(Op op, DType t);  ///< op(seen, value) of an atomic's loop

    const ir::Module& module_;
    bool uses_float64_ = false;
    bool uses_int64_atomics_ = false;

  private:
    // writer.cpp: functions and their signatures
    enum class Visit : std::uint8_t { None, Open, Done };
    void refuse_recursion(std::size_t index, std::vector<Visit>& visits);
    void write_function(std::size_t index);
    void name_function();
    std::string kernel_head_and_arguments();
    std::string numbers_struct();
    void add_number(Number number, const std::string& name);
    void take_numbers();
    void add_parameter(std::int32_t param, std::vector<std::string>& parameters);
    std::string callee_head();
    std::int64_t constant_count(std::int32_t array, ir::S allocation) const;
    std::vector<std::pair<Usage::Part, std::string>> array_parts(std::int32_t param) const;
    void write_body();
    void write_range_test();
    std::vector<std::size_t> faults_before() const;
    void write_fault_test();
    std::string source_comment() const;
    bool is_kernel(std::size_t index) const {
        return index == 0 || !module_.functions[index].grid.empty();
    }

    /// The device's dimension that runs over an axis of the kernel being written.
    int dimension_of(int axis) const;

    // statements.cpp
    void statement(ir::S s);
    void statements(std::span<const ir::S> list);
    void braced(std::span<const ir::S> list);
    void write_for(ir::S s);
    void write_streaming_copy(ir::S loop, ir::S store);
    void write_if(ir::S s, bool chained);
    void write_return(ir::S s);
    void write_call(ir::S s);
    void write_native_call(ir::S s);
    const std::string& native_name(std::int32_t function, const std::vector<ir::Space>& spaces,
                                   ir::Line line);
    std::string bits_of(const std::string& text, DType t);
    void write_atomic(ir::S s);
    void line(const std::string& text, ir::Line where = {});
    std::string line_comment(ir::Line where);
    void declare_array(std::int32_t array, ir::S allocation);

    // barriers.cpp: kernels that have both barriers and faults
    void begin_group_faults();
    void statements_between_barriers(std::span<const ir::S> list);
    bool write_run(std::span<const ir::S> run, bool is_last);
    void write_barrier(ir::Line where);
    std::string unless_ended(const std::string& condition, bool repeats) const;
    std::string zero_if_ended(const std::string& text) const;
    void leave_after_fault();

    // expressions.cpp
    Text expression(ir::E e, bool in_index = false);
    std::string value(ir::E e, int at_least = 0, bool in_index = false);
    Text unary(ir::E e, bool in_index);
    Text binary(ir::E e, bool in_index);
    Text conversion(ir::E e);
    double magnitude(ir::E e) const;
    bool cannot_wrap(ir::E e) const;
    Text literal(Scalar s);
    std::string part(std::int32_t param, ir::Field field, std::int32_t axis);
    std::string element(std::int32_t array, std::span<const ir::E> indices, ir::Access access,
                        int part = 0);
    std::string index(std::int32_t array, std::span<const ir::E> indices, ir::Access access);
    std::string need_cast_helper(DType from, DType to);

    const ir::Function& f() const { return module_.functions[current_]; }
    const Usage& usage() const { return usage_[current_]; }

    const bool relaunches_, fills_groups_;
    std::vector<Usage> usage_;
    std::vector<std::size_t> site_base_;  ///< per function: index of its first site among all sites
    Names global_names_;
    std::vector<std::string> function_names_;
    std::vector<bool> written_;
    std::vector<std::string> helper_order_;
    std::map<std::string, std::string> helpers_;
    bool uses_faults_ = false;
    std::string functions_text_, natives_text_;
    std::map<std::pair<std::int32_t, std::vector<ir::Space>>, std::string> native_names_;
    Program program_;

    // Of the function being written
    std::size_t current_ = 0;
    std::map<std::int32_t, std::string> array_names_, var_names_, offset_names_;
    std::map<Usage::Part, std::string> part_names_;
    std::map<std::int32_t, double>
        var_magnitudes_;  ///< of variables that are set once and loop variables
    std::vector<std::string> result_names_, range_end_names_;
    std::string faults_name_, launch_name_, results_name_, numbers_name_;
    std::vector<std::string> number_names_;  ///< of the kernel's numbers
    std::unique_ptr<Names> names_;
    std::string text_;
    int indent_ = 0;
    bool guards_barriers_ = false;  ///< a fault must not leave other work-items at a barrier
    bool in_run_ = false;           ///< between two barriers
    bool may_have_ended_ = false;   ///< behind a barrier at which a fault may have been noticed
    std::string sync_label_;        ///< where a fault of this run goes on; empty: it may return
    int sync_count_ = 0;
    ir::Line last_line_;
};

}  // namespace unisono::c_source
