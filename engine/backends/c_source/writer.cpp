// Modules and functions as C text: order, signatures, names.
#include "backends/c_source/writer.h"

#include <algorithm>
#include <utility>

#include "backends/c_source/axes.h"
#include "backends/c_source/helpers.h"
#include "core/error.h"
#include "ir/rewrite.h"

namespace unisono::c_source {
using namespace ir;

Writer::Writer(const Module& module, bool relaunches, bool fills_groups)
    : module_(module),
      relaunches_(relaunches),
      fills_groups_(fills_groups),
      usage_(find_usage(module)),
      written_(module.functions.size(), false) {
    std::size_t sites = 0;
    for (const Function& function : module.functions) {
        site_base_.push_back(sites);
        sites += function.sites.size();
        function_names_.push_back(global_names_.unique_function(function.name));
    }
}

void Writer::need_type(DType t, Line, std::string_view) {
    uses_float64_ |= part_dtype(t) == DType::Float64;
}

void Writer::unsupported(Line where, const std::string& what) const {
    SourcePlace place;
    if (where.line > 0) {
        place.line = where.line;
        place.column = where.column;
        if (where.file < f().files.size()) place.file = f().files[where.file];
    }
    std::string at = where.line > 0 ? " (line " + std::to_string(where.line) + ")" : "";
    throw Error(ErrorKind::Unsupported, f().name + at + ": " + what, place);
}

/// Functions of these languages cannot call themselves.
void Writer::refuse_recursion(std::size_t index, std::vector<Visit>& visits) {
    if (visits[index] == Visit::Done) return;
    current_ = index;
    if (visits[index] == Visit::Open)
        unsupported({}, "a recursive function cannot run on this device; write it as a loop");
    visits[index] = Visit::Open;
    for (std::int32_t callee : usage_[index].calls)
        refuse_recursion(static_cast<std::size_t>(callee), visits);
    visits[index] = Visit::Done;
}

Program Writer::write() {
    std::vector<Visit> visits(module_.functions.size(), Visit::None);
    for (std::size_t i = 0; i < module_.functions.size(); ++i) {
        if (is_kernel(i)) refuse_recursion(i, visits);
    }
    for (std::size_t i = 0; i < module_.functions.size(); ++i) {
        if (is_kernel(i)) write_function(i);
    }
    std::string text = source_comment() + prologue();
    if (uses_faults_) text += "\n" + fault_helpers();
    for (const std::string& name : helper_order_) {
        text += "\n" + std::string(function_qualifier()) + helpers_.at(name);
    }
    program_.source = text + natives_text_ + functions_text_;
    return std::move(program_);
}

std::string Writer::source_comment() const {
    const Function& entry = module_.entry();
    if (entry.files.empty()) return {};
    return "// Numbers at the ends of lines are lines of " + entry.files[0] + "\n";
}

void Writer::name_function() {
    names_ = std::make_unique<Names>(global_names_);
    array_names_.clear();
    var_names_.clear();
    offset_names_.clear();
    part_names_.clear();
    var_magnitudes_.clear();
    result_names_.clear();
    range_end_names_.clear();
    number_names_.clear();
    const Function& fn = f();
    for (std::size_t p = 0; p < fn.params.size(); ++p) {
        auto id = static_cast<std::int32_t>(p);
        const Param& param = fn.params[p];
        std::string name = names_->unique(param.name);
        if (!param.is_array()) {
            part_names_[{id, Field::Value, 0}] = name;
            continue;
        }
        array_names_[param.array] = name;
        offset_names_[param.array] = names_->unique(name + "_offset");
    }
    for (auto [param, field, axis] : usage().parts) {
        if (field == Field::Value) continue;
        const std::string& array =
            array_names_.at(fn.params[static_cast<std::size_t>(param)].array);
        std::string suffix = (field == Field::Extent ? "_shape" : "_stride") + std::to_string(axis);
        part_names_[{param, field, axis}] = names_->unique(array + suffix);
    }
    faults_name_ = names_->unique("faults");
    launch_name_ = names_->unique("launch");
    results_name_ = names_->unique("results");
    numbers_name_ = names_->unique("numbers");
    for (std::size_t a = 0; a < fn.arrays.size(); ++a) {
        const auto id = static_cast<std::int32_t>(a);
        if (fn.arrays[a].param >= 0) continue;
        array_names_[id] = names_->unique(fn.arrays[a].name);
        if (fn.arrays[a].is_slot) offset_names_[id] = names_->unique(array_names_[id] + "_offset");
    }
    for (std::size_t v = 0; v < fn.vars.size(); ++v) {
        var_names_[static_cast<std::int32_t>(v)] = names_->unique(fn.vars[v].name);
    }
    for (std::size_t r = 0; r < fn.results.size(); ++r) {
        result_names_.push_back(names_->unique("result" + std::to_string(r)));
    }
}

/// The extents and strides of an array parameter that are used, and their names.
std::vector<std::pair<Usage::Part, std::string>> Writer::array_parts(std::int32_t param) const {
    std::vector<std::pair<Usage::Part, std::string>> found;
    for (const auto& part : part_names_) {
        const auto [p, field, axis] = part.first;
        if (p == param && field != Field::Value) found.push_back(part);
    }
    return found;
}

/// The number is one of those that the kernel is given.
void Writer::add_number(Number number, const std::string& name) {
    program_.kernels.back().numbers.push_back(number);
    number_names_.push_back(name);
}

/// What a kernel needs of `param`: memory is a parameter, numbers are members of the struct.
void Writer::add_parameter(std::int32_t id, std::vector<std::string>& parameters) {
    const Param& param = f().params[static_cast<std::size_t>(id)];
    if (!param.is_array()) {
        if (!usage().parts.contains({id, Field::Value, 0})) return;
        need_type(param.dtype, {}, "argument '" + param.name + "'");
        return add_number({Number::Kind::Value, param.dtype, id},
                          part_names_.at({id, Field::Value, 0}));
    }
    const Array& a = f().arrays[static_cast<std::size_t>(param.array)];
    if (usage().arrays.contains(param.array)) {
        need_type(param.dtype, {}, "array '" + param.name + "'");
        program_.kernels.back().arguments.push_back({Argument::Kind::Memory, id});
        parameters.push_back(pointer(Space::Global, a.dtype, a.writable) +
                             (a.noalias ? " restrict " : " ") + array_names_.at(param.array));
        add_number({Number::Kind::Offset, DType::Int64, id}, offset_names_.at(param.array));
    }
    for (const auto& [part, name] : array_parts(id)) {
        const auto [p, field, axis] = part;
        const bool is_extent = field == Field::Extent;
        add_number({is_extent ? Number::Kind::Extent : Number::Kind::Stride, DType::Int64, p, axis},
                   name);
    }
}

/// The struct of the kernel's numbers, the largest first, so that it has no holes; the last
/// argument. Empty where there are none.
std::string Writer::numbers_struct() {
    Kernel& kernel = program_.kernels.back();
    if (kernel.numbers.empty()) return {};
    std::string members;
    std::int64_t bytes = 0, widest = 0;
    for (std::int64_t size : {8, 4, 2, 1}) {
        for (std::size_t k = 0; k < kernel.numbers.size(); ++k) {
            Number& number = kernel.numbers[k];
            if (size_of(number.dtype) != size) continue;
            number.at = bytes;
            bytes += size;
            widest = std::max(widest, size);
            members +=
                "    " + std::string(storage_type(number.dtype)) + " " + number_names_[k] + ";\n";
        }
    }
    kernel.arguments.push_back(
        {Argument::Kind::Numbers, -1, -1, (bytes + widest - 1) / widest * widest});
    return "struct " + kernel.name + "_numbers {\n" + members + "};\n\n";
}

std::string Writer::kernel_head_and_arguments() {
    Kernel& kernel = program_.kernels.back();
    std::vector<std::string> parameters;
    for (std::size_t p = 0; p < f().params.size(); ++p)
        add_parameter(static_cast<std::int32_t>(p), parameters);
    for (std::int32_t id : usage().arrays) {
        const Array& a = f().arrays[static_cast<std::size_t>(id)];
        if (a.param >= 0 || a.space != Space::Global) continue;
        if (a.is_slot) {
            need_type(a.dtype, {}, "array '" + a.name + "'");
            parameters.push_back(pointer(Space::Global, a.dtype, a.writable) + " " +
                                 array_names_.at(id));
            kernel.arguments.push_back({Argument::Kind::Memory, -1, id});
            add_number({Number::Kind::Offset, DType::Int64, -1, 0, id}, offset_names_.at(id));
            continue;
        }
        parameters.push_back(pointer(Space::Global, a.dtype, true) + " " + array_names_.at(id));
        std::int64_t bytes = constant_count(id, usage().allocations.at(id)) * size_of(a.dtype);
        kernel.arguments.push_back({Argument::Kind::Scratch, -1, id, bytes});
    }
    if (kernel.tests_range && f().grid.empty()) {
        for (int axis = 0; axis < f().dimensions; ++axis) {
            range_end_names_.push_back(names_->unique("range_end" + std::to_string(axis)));
            add_number({Number::Kind::RangeEnd, DType::Int64, -1, axis}, range_end_names_.back());
        }
    }
    if (!f().results.empty()) {
        parameters.push_back(pointer(Space::Global, DType::Int64, true) + " " + results_name_);
        kernel.arguments.push_back(
            {Argument::Kind::Results, -1, -1, 8 * static_cast<std::int64_t>(f().results.size())});
    }
    if (kernel.can_fault || !faults_before().empty()) {
        parameters.push_back(pointer(Space::Global, DType::Int64, true) + " " + faults_name_);
        kernel.arguments.push_back({Argument::Kind::Fault});
    }
    if (kernel.can_fault && relaunches_) add_number({Number::Kind::Launch}, launch_name_);
    const std::string numbers = numbers_struct();
    if (!numbers.empty())
        parameters.push_back("const struct " + kernel.name + "_numbers " + numbers_name_);
    std::string out = numbers + kernel_head(kernel.name) + "(";
    for (std::size_t i = 0; i < parameters.size(); ++i)
        out += (i ? ",\n    " : "\n    ") + parameters[i];
    return out + ")\n";
}

/// Names for the numbers: registers, also where the struct lies in memory.
void Writer::take_numbers() {
    const Kernel& kernel = program_.kernels.back();
    for (std::size_t k = 0; k < kernel.numbers.size(); ++k) {
        const Number& number = kernel.numbers[k];
        if (number.kind == Number::Kind::Offset) continue;
        line("const " + std::string(storage_type(number.dtype)) + " " + number_names_[k] + " = " +
             numbers_name_ + "." + number_names_[k] + ";");
    }
}

std::string Writer::callee_head() {
    std::string out;
    for (std::size_t p = 0; p < f().params.size(); ++p) {
        auto id = static_cast<std::int32_t>(p);
        const Param& param = f().params[p];
        if (!out.empty()) out += ", ";
        if (param.is_array()) {
            const Array& a = f().arrays[static_cast<std::size_t>(param.array)];
            out += pointer(Space::Global, a.dtype, a.writable) + " " + array_names_.at(param.array);
            for (const auto& part : array_parts(id)) out += ", long " + part.second;
        } else {
            out += std::string(c_type(param.dtype)) + " " + part_names_.at({id, Field::Value, 0});
        }
    }
    for (std::size_t r = 0; r < f().results.size(); ++r) {
        out += (out.empty() ? "" : ", ") + std::string(c_type(f().results[r])) + "* " +
               result_names_[r];
    }
    if (usage().can_fault) {
        out += (out.empty() ? "" : ", ") + pointer(Space::Global, DType::Int64, true) + " " +
               faults_name_;
    }
    std::string result = usage().can_fault ? "bool " : "void ";
    return std::string(function_qualifier()) + result + function_names_[current_] + "(" + out +
           ")\n";
}

int Writer::dimension_of(int axis) const {
    const auto& axes = program_.kernels.back().axes;
    return static_cast<int>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
}

/// Ends the work-items that only fill the last group of a user's kernel.
void Writer::write_range_test() {
    std::string is_outside;
    for (std::size_t axis = 0; axis < range_end_names_.size(); ++axis) {
        is_outside += (axis ? " || " : "") +
                      work_item(WorkItemQuery::GlobalId, dimension_of(static_cast<int>(axis))) +
                      " >= " + range_end_names_[axis];
    }
    if (is_outside.empty()) return;
    line("if (" + is_outside + ") {");
    ++indent_;
    line("return;");
    --indent_;
    line("}");
}

/// The kernels that may have failed before this one starts, by number; itself where it may have run
/// before.
std::vector<std::size_t> Writer::faults_before() const {
    std::vector<std::size_t> found;
    const std::size_t own = program_.kernels.size() - 1;
    std::size_t number = 0;
    for (std::size_t i = 0; i < module_.functions.size(); ++i) {
        if (!is_kernel(i)) continue;
        if (usage_[i].can_fault && (relaunches_ || number < own)) found.push_back(number);
        ++number;
    }
    return found;
}

/// Of a kernel: after a fault in one before it, it does nothing. Each has a record of its own, in
/// which a fault of this launch, by another work-item, does not count.
void Writer::write_fault_test() {
    const Kernel& kernel = program_.kernels.back();
    const std::size_t own = program_.kernels.size() - 1;
    std::string failed;
    for (std::size_t k : faults_before()) {
        std::string test = fault_field(faults_name_, k, "failed");
        if (k == own)
            test = "(" + test + " && " + fault_field(faults_name_, k, "launch") +
                   " != " + launch_name_ + ")";
        failed += (failed.empty() ? "" : " || ") + test;
    }
    if (!failed.empty()) {
        line("if (" + failed + ") {");
        ++indent_;
        line("return;");
        --indent_;
        line("}");
    }
    if (!kernel.can_fault) return;
    if (relaunches_) line(fault_field(faults_name_, own, "launch") + " = " + launch_name_ + ";");
    if (own > 0) line(faults_name_ + " += " + std::to_string(own * sizeof(FaultRecord) / 8) + ";");
}

void Writer::write_body() {
    indent_ = 1;
    last_line_ = {};
    if (is_kernel(current_)) {
        take_numbers();
        write_fault_test();
        for (const auto& [array, offset] : offset_names_) {
            if (usage().arrays.contains(array))
                line(array_names_.at(array) + " += " + numbers_name_ + "." + offset + ";");
        }
    }
    write_range_test();
    for (const auto& [array, allocation] : usage().allocations) declare_array(array, allocation);
    guards_barriers_ = usage().has_barrier && usage().can_fault;
    if (guards_barriers_) begin_group_faults();
    statements(std::span<const S>(&f().body, 1));
    std::vector<S> list;
    flatten(std::span<const S>(&f().body, 1), list);
    bool has_returned = !list.empty() && list.back()->kind == StmtKind::Return;
    if (!is_kernel(current_) && usage().can_fault && !has_returned) line("return false;");
}

void Writer::write_function(std::size_t index) {
    if (written_[index] || module_.functions[index].native) return;
    written_[index] = true;
    for (std::int32_t callee : usage_[index].calls)
        write_function(static_cast<std::size_t>(callee));
    current_ = index;
    name_function();
    uses_faults_ |= usage().can_fault;
    std::string head;
    if (is_kernel(index)) {
        bool tests_range = !f().grid.empty() || !(usage().sees_groups || fills_groups_);
        Kernel kernel{function_names_[index], index,      {}, {}, {0, 1, 2},
                      usage().can_fault,      tests_range};
        auto fastest = static_cast<std::size_t>(f().grid.empty() ? fastest_axis(f()) : 0);
        std::swap(kernel.axes[0], kernel.axes[fastest]);
        program_.kernels.push_back(std::move(kernel));
        head = kernel_head_and_arguments();
    } else {
        head = callee_head();
    }
    text_.clear();
    write_body();
    functions_text_ += "\n" + head + "{\n" + text_ + "}\n";
}

}  // namespace unisono::c_source
