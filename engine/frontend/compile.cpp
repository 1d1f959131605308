// The entry of the front end: one module per request, one IR function per compiled Python function
// and argument types.
#include "frontend/compile.h"

#include <algorithm>
#include <utility>

#include "core/native/recursion.h"
#include "core/settings.h"
#include "frontend/array_choices.h"
#include "frontend/effects.h"
#include "frontend/exceptions.h"
#include "frontend/lowerer.h"
#include "frontend/parallel.h"
#include "frontend/predicates.h"
#include "frontend/tables.h"
#include "frontend/uniform.h"
#include "passes/kernels/inline_calls.h"

namespace unisono::frontend {

/// Makes the IR parameters of one Python parameter and the value that it starts with.
static Value make_parameter(ir::Builder& b, const std::string& name, const Type& type,
                            bool noalias) {
    Value v;
    v.type = type;
    if (type.is_complex()) {
        DType part = part_dtype(type.dtype);
        E re = b.param(b.scalar_param(name + ".real", part));
        v.expr = b.pair(re, b.param(b.scalar_param(name + ".imag", part)));
    } else if (type.is_word()) {
        v.expr = b.param(b.scalar_param(name, type.dtype));
    }
    if (type.is_scalar() && !type.name.empty()) {  // a constant (keep_shapes)
        v.expr = b.constant(Scalar::of(type.dtype, std::stoll(type.name)));
        v.type.name.clear();
    }
    if (type.is_table()) return v;
    if (type.is_instance()) v.expr = b.param(b.scalar_param(name, DType::Int64));
    if (type.is_list()) {
        v.array = b.array_param(name, type.dtype, 1, false, {ir::StrideClass::One});
        b.function().arrays[static_cast<std::size_t>(v.array)].noalias = noalias;
        return v;
    }
    if (type.is_array()) {
        v.array = b.array_param(name, type.dtype, type.rank, type.writable, type.strides);
        b.function().arrays[static_cast<std::size_t>(v.array)].noalias = noalias;
    }
    for (std::size_t i = 0; i < type.items.size(); ++i) {
        v.items.push_back(
            make_parameter(b, name + "." + std::to_string(i), type.items[i], noalias));
        if (type.is_tuple()) v.type.items[i] = v.items[i].type;
    }
    return v;
}

constexpr std::int64_t deepest_recursion = 10'000;
/// A power of two: after so many calls more a function asks whether it may go on.
constexpr std::int64_t calls_between_looks = 8;

void leaf_types(const ResultShape& shape, std::vector<DType>& list) {
    if (shape.kind == ResultShape::Kind::Scalar) list.push_back(shape.dtype);
    if (shape.kind == ResultShape::Kind::Object) list.insert(list.end(), 2, DType::Int64);
    if (shape.kind == ResultShape::Kind::Text || shape.kind == ResultShape::Kind::Table)
        list.push_back(DType::Int64);
    if (shape.kind == ResultShape::Kind::Array || shape.kind == ResultShape::Kind::List)
        list.insert(list.end(), 2 + 2 * static_cast<std::size_t>(shape.rank), DType::Int64);
    for (const ResultShape& item : shape.items) leaf_types(item, list);
}

/// The parameters, and what the function's statements start with.
void FunctionLowerer::open_function(std::vector<S>& list) {
    function_->is_kernel = source_.is_kernel;
    function_->polls = !source_.is_kernel;
    if (source_.is_kernel) function_->dimensions = dimensions_;
    for (std::size_t i = 0; i < source_.params.size(); ++i) {
        Value v = make_parameter(*b_, source_.params[i], instance_.args[i], instance_.noalias);
        env_.names[source_.params[i]] = Binding{v, definition_place(source_)};
    }
    at(source_.body.place);
    out_ = &list;
    declare_parameters();
    frames_.push_back(Frame{&source_.body, &list, {}, {}, {}, {}});
    for (const std::string& name : source_.params) open_objects(env_.names[name].value);
    declare_late_names();
    if (instance_.passes_blocks) {
        auto count = static_cast<std::int32_t>(function_->arrays.size());
        for (std::int32_t a = 0; a < count; ++a) {
            const ir::Array& array = function_->arrays[static_cast<std::size_t>(a)];
            if (array.param >= 0)
                blocks_of_params_[a] =
                    b_->param(b_->scalar_param(array.name + ".block", DType::Int64));
        }
    }
    if (instance_.counts_depth) {
        depth_ = b_->param(b_->scalar_param("depth", DType::Int64));
        at(definition_place(source_));
        S raised = b_->raise(b_->site(ErrorKind::Runtime, "maximum recursion depth exceeded",
                                      exception_number("RecursionError")),
                             {});
        emit(b_->branch(op_binary(Op::Gt, depth_, i64(deepest_recursion)), raised));
        E count = op_binary(Op::And, depth_, i64(calls_between_looks - 1));
        std::vector<S> look = collect([&] {
            E told = native("recursion_check", {i64(0), i64(0)}, 2)[1];
            emit(b_->branch(op_binary(Op::Eq, told, i64(stack_is_low)), raised));
            const E stopped[] = {i64(interrupted_fault), i64(b_->line.line), i64(b_->line.file),
                                 i64(0), i64(0)};
            emit(b_->branch(op_binary(Op::Eq, told, i64(user_stops)),
                            b_->block({b_->again(stopped)})));
        });
        emit(b_->branch(op_binary(Op::Eq, count, i64(calls_between_looks - 1)), b_->block(look)));
    }
}

constexpr int most_surveys = 32;

/// What is empty where it is made holds ints for all that is known: a statement that cannot be
/// lowered so may stand before the one that tells better. Another walk passes over it and looks.
bool FunctionLowerer::learns_by_survey() {
    if (!guesses_items_ || surveys_ || ++learnt_.surveys > most_surveys) return false;
    std::size_t mark = module_.size();
    const bool has_result = std::exchange(instance_.has_result, false);  // it may be a guess, too
    auto result = std::exchange(learnt_.result, std::nullopt);
    FunctionLowerer walk(module_, source_, instance_, dimensions_, learnt_);
    walk.surveys_ = true;
    std::vector<S> list;
    bool has_learnt = false;
    try {
        walk.open_function(list);
        walk.statements(source_.body);
    } catch (const Restart&) {
        has_learnt = true;
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::Compile) throw;
    }
    module_.shrink(mark);
    if (has_learnt) {
        learnt_.result.reset();
        instance_.has_result = false;
    } else {
        learnt_.result = result;
        instance_.has_result = has_result;
    }
    return has_learnt;
}

std::unique_ptr<ir::Function> FunctionLowerer::run() {
    std::vector<S> list;
    open_function(list);
    try {
        statements(source_.body);
        end_of_function();
        if (unresolved_ && learns_by_survey()) return nullptr;
    } catch (const Restart&) {
        return nullptr;
    } catch (const Error& e) {
        if (e.kind() == ErrorKind::Compile && learns_by_survey()) return nullptr;
        throw;
    }
    std::vector<S> all = frames_.back().declares;
    all.insert(all.end(), list.begin(), list.end());
    at(source_.body.place);
    function_->body = b_->block(all);
    waits_ = unresolved_ && instance_.leans_on != Instance::nobody && !must_restart_;
    if (unresolved_ && !learnt_.result && !waits_) {
        refuse(*unresolved_,
               "the type of the result of '" + source_.name +
                   "' is not known: every path calls it again first",
               "return a value on a path that does not call it");
    }
    if (unresolved_ || must_restart_) return nullptr;
    instance_.result = learnt_.result.value_or(Type::none());
    instance_.told.assign(source_.params.size(), Type::none());
    for (std::size_t i = 0; i < source_.params.size(); ++i) {
        auto known = learnt_.table_items.find(&source_.params[i]);
        if (known == learnt_.table_items.end() || !instance_.args[i].items.empty()) continue;
        auto kind = static_cast<TableKind>(instance_.args[i].rank);
        const auto& [key, value, inner] = known->second;
        if (kind == TableKind::List ? !value : !key) continue;
        std::vector<Type> items;  // of a dict that is only read, the keys alone
        if (kind != TableKind::List) items.push_back(*key);
        if (kind != TableKind::Set && value) items.push_back(*value);
        instance_.told[i] = Type::table(kind, std::move(items));
    }
    if (instance_.result.kind == Type::Kind::None) instance_.shape = {};
    leaf_types(instance_.shape, function_->results);
    module_.report += report_;
    for (const std::string& text : warnings_) {  // a function may be there for several types
        bool is_known = std::find(module_.warnings.begin(), module_.warnings.end(), text) !=
                        module_.warnings.end();
        if (!is_known) module_.warnings.push_back(text);
    }
    return std::move(function_);
}

const Instance& ModuleLowerer::instance(const Source& source, const std::vector<Type>& args,
                                        bool noalias, bool counts_depth, bool passes_blocks) {
    auto known = std::find_if(instances_.begin(), instances_.end(), [&](const Instance& i) {
        return i.source == &source && i.args == args && i.noalias == noalias &&
               i.counts_depth == counts_depth && i.passes_blocks == passes_blocks;
    });
    if (known != instances_.end()) {
        if (known->is_done) return *known;
        if (known->place != Instance::nobody || known->is_current) {
            lean_on(known->is_current ? known->leans_on : known->place);
            return *known;
        }
    }
    bool is_new = known == instances_.end();
    Instance& made = is_new ? instances_.emplace_back() : *known;
    if (is_new) {
        made.source = &source;
        made.args = args;
        made.noalias = noalias;
        made.counts_depth = counts_depth;
        made.passes_blocks = passes_blocks;
        made.index = static_cast<std::int32_t>(functions_.size());
        functions_.emplace_back();
    }
    auto slot = static_cast<std::size_t>(made.index);
    if (source.native) {
        lower_native(source, made);
        made.is_done = true;
        return made;
    }
    functions_[slot] = lower(made);
    if (!functions_[slot]) return made;
    auto same_name = [&](const auto& f) {
        return f && f != functions_[slot] && f->name == source.name;
    };
    auto copies = std::count_if(functions_.begin(), functions_.end(), same_name);
    if (copies > 0) functions_[slot]->name += "." + std::to_string(copies + 1);
    return made;
}

bool ModuleLowerer::may_store(std::int32_t function) {
    const auto& f = functions_[static_cast<std::size_t>(function)];
    if (!f) return true;  // it is being lowered
    auto [known, is_new] = may_store_.emplace(function, false);
    if (!is_new) return known->second;
    if (f->native) {
        known->second = std::any_of(f->arrays.begin(), f->arrays.end(),
                                    [](const ir::Array& a) { return a.writable; });
        return known->second;
    }
    auto inner = [this](std::int32_t callee) { return may_store(callee); };
    bool stores = effects_of(*f, {&f->body, 1}, 0, 0, inner).stores;
    return may_store_[function] = stores;
}

void ModuleLowerer::shrink(std::size_t count) {
    may_store_.clear();
    while (instances_.size() > count) instances_.pop_back();
    while (functions_.size() > count) functions_.pop_back();
}

std::uint16_t ModuleLowerer::file(const std::string& path) {
    auto at = std::find(files_.begin(), files_.end(), path) - files_.begin();
    if (at == static_cast<std::ptrdiff_t>(files_.size())) files_.push_back(path);
    return static_cast<std::uint16_t>(at);
}

Compiled ModuleLowerer::finish() {
    Compiled done;
    done.result = instances_.front().shape;
    done.report = report;
    done.warnings = warnings;
    for (const Instance& i : instances_) {
        if (i.is_done) continue;
        // Made on results that turned out to be others: nothing calls it any more.
        auto empty = std::make_unique<ir::Function>(i.source->name);
        empty->body = ir::Builder(*empty).block({});
        functions_[static_cast<std::size_t>(i.index)] = std::move(empty);
    }
    for (auto& f : functions_) done.module.functions.push_back(std::move(*f));
    for (ir::Function& f : done.module.functions) f.files = files_;
    if (is_kernel) passes::inline_group_functions(done.module);
    ir::verify(done.module);
    return done;
}

/// The source; a kernel's in the form that has what its author wrote without a refusal.
static std::shared_ptr<const Source> as_compiled(const CompileRequest& request) {
    auto source = request.source;
    if (!source->is_kernel) return source;
    if (auto split = split_array_choices(*source, request.args)) source = split;
    if (misses_barrier(*source)) {
        if (auto changed = all_reach_barriers(*source, request.counts_at_barriers))
            source = changed;
    }
    return source;
}

Compiled compile(const CompileRequest& request) {
    const std::shared_ptr<const Source> kernel = as_compiled(request);
    const Source& source = *kernel;
    if (source.is_kernel) check_barriers(source);
    ModuleLowerer module(std::max(1, request.dimensions), source.is_kernel);
    module.refuses_interpreter = source.options.refuses_interpreter || setting("nopython") == "1";
    bool noalias = request.noalias && !may_keep_arrays(source, request.args);
    module.instance(source, request.args, noalias);
    return module.finish();
}

}  // namespace unisono::frontend
