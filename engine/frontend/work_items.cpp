// Lowers what kernels ask of their work-items and groups, and what regions ask of threads.
#include "frontend/calls.h"
#include "frontend/records.h"
#include "frontend/scope.h"
#include "frontend/shapes.h"
#include "frontend/uniform.h"

#include "ir/fence.h"
#include "ir/shuffle.h"

namespace unisono::frontend {

/// The index of the work-item in its group, axis 0 the fastest, or the number of them.
static E local_linear(ir::Builder& b, int dimensions, bool is_id) {
    const auto query = is_id ? ir::WorkItemQuery::LocalId : ir::WorkItemQuery::LocalSize;
    E made = b.work_item(query, dimensions - 1);
    for (int axis = dimensions - 2; axis >= 0; --axis) {
        made = b.mul(made, b.work_item(ir::WorkItemQuery::LocalSize, axis));
        if (is_id) made = b.add(made, b.work_item(query, axis));
    }
    return made;
}

/// A barrier that raises where not all work-items of the group would have come to it.
Value Calls::counted_barrier(const Value& arrival, const std::string& name, int line) {
    const std::int32_t arrived = b_->var("arrival", DType::Int64);
    emit(b_->declare(arrived, b_->cast(arrival.expr, DType::Int64)));
    const E read[] = {b_->read(arrived)};
    const std::int32_t site = b_->site(
        ErrorKind::Runtime,
        source_.name + ": the barrier in line " + std::to_string(line) +
            " is not reached by all work-items of the group; got {0} that reach it, {1} that have "
            "ended and {2} that are elsewhere; expected all {3}, or none; move it out of the "
            "condition or in front of the return, and let the condition guard the rest alone");
    ir::Stmt made = ir::counted(*b_->barrier(), b_->list(std::span<const E>(read)), site);
    emit(b_->own(name.ends_with("grid_barrier") ? ir::grid_barrier_of(made) : made));
    return Value{};
}

std::optional<Value> Calls::work_item(const Node& node, const std::string& name) {
    if (name == "un.thread_id" || name == "un.team_size") {
        if (!region_) {
            refuse(node.place, after_dot(name) + " is only defined in a parallel region",
                   "write it inside of `with un.parallel():`");
        }
        bool is_id = name == "un.thread_id";
        if (is_id && parallel_depth_ == 0)
            refuse(node.place, "thread_id in what all threads of the region share",
                   "a test around a barrier, a loop over prange or tasks() is the same for all "
                   "threads: leave it out, or write it inside");
        return scalar(is_id ? b_->read(region_->lane) : region_->threads, Weak::Int);
    }
    static const std::map<std::string, ir::WorkItemQuery> queries = {
        {"un.global_id", ir::WorkItemQuery::GlobalId},
        {"un.local_id", ir::WorkItemQuery::LocalId},
        {"un.group_id", ir::WorkItemQuery::GroupId},
        {"un.global_size", ir::WorkItemQuery::GlobalSize},
        {"un.local_size", ir::WorkItemQuery::LocalSize},
        {"un.num_groups", ir::WorkItemQuery::GroupCount},
    };
    auto it = queries.find(name);
    bool is_barrier = names_barrier(name);
    bool is_fence = name == "un.mem_fence";
    bool is_vote = name == "un.warp_ballot" || name == "un.warp_barrier";
    bool is_linear = name == "un.local_linear_id" || name == "un.local_linear_size";
    bool is_local = name == "un.local_array" || name == "un.private_array";
    if (it == queries.end() && !is_barrier && !is_fence && !is_vote && !is_linear && !is_local)
        return std::nullopt;
    if (!module_.is_kernel) {
        if (is_barrier && parallel_depth_ > 0)
            refuse(node.place, "a barrier in an iteration of prange: others may not have begun",
                   "end the loop there and begin another");
        refuse(node.place,
               after_dot(name) + " is only defined in a kernel and what it calls" +
                   (is_barrier ? ", and in a parallel region" : ""),
               is_barrier ? "decorate the function with @un.kernel, or write it inside of `with "
                            "un.parallel():`"
                          : "decorate the function with @un.kernel, or call it from one");
    }
    if (is_local) return std::nullopt;
    auto args = arguments(node);
    at(node.place);
    if (is_barrier) {
        if (counts_arrivals(name)) return counted_barrier(args.at(0), name, node.place.line);
        if (!args.empty()) refuse(node.place, "barrier takes no arguments", "write un.barrier()");
        ir::S barrier = b_->barrier();
        emit(name == "un.barrier" ? barrier : b_->own(ir::grid_barrier_of(*barrier)));
        return Value{};
    }
    if (is_fence) {  // its flags say which memory; all is ordered
        emit(b_->own(ir::fence_of(*b_->barrier())));
        return Value{};
    }
    if (is_vote && args.empty()) {
        emit(ir::warp_barrier(*b_));
        return Value{};
    }
    if (is_vote) {
        const std::int32_t votes = b_->var("votes", DType::UInt32);
        emit(b_->declare(votes, nullptr));
        emit(ir::vote(*b_, votes, b_->cast(args[0].expr, DType::Bool)));
        return scalar(b_->read(votes));
    }
    if (is_linear) {
        if (!args.empty())
            refuse(node.place, after_dot(name) + " takes no arguments",
                   "write un." + after_dot(name) + "()");
        return scalar(local_linear(*b_, dimensions_, name == "un.local_linear_id"), Weak::Int);
    }
    auto axis =
        args.size() == 1 && args[0].type.is_scalar() ? constant_int(args[0].expr) : std::nullopt;
    if (!axis || *axis < 0 || *axis > 2) {
        refuse(node.place, after_dot(name) + " takes one constant axis: 0, 1 or 2",
               "write un." + after_dot(name) + "(0)");
    }
    if (*axis >= dimensions_) {
        refuse(node.place,
               after_dot(name) + "(" + std::to_string(*axis) + ") in a launch of " +
                   std::to_string(dimensions_) + " dimension" + (dimensions_ == 1 ? "" : "s"),
               "launch the kernel over as many sizes as axes it uses, as in f[ny, nx](...)");
    }
    return scalar(b_->work_item(it->second, static_cast<int>(*axis)), Weak::Int);
}

/// Whether the shape of an array of the group or of the work-item names the parameter, in the
/// function or in one to which it is passed on.
static bool shapes_arrays(const Source& source, const std::string& param, int depth = 0) {
    if (depth > deepest_type) return false;
    bool found = false;
    auto names_it = [&](const Node& n) {
        bool is_named = false;
        walk(n, [&](const Node& inner) {
            is_named = is_named || (inner.kind == NodeKind::Name && inner.text == param);
        });
        return is_named;
    };
    walk(source.body, [&](const Node& n) {
        if (found || n.kind != NodeKind::Call || n.children.size() < 2) return;
        const Node& called = n.children[0];
        if (called.kind == NodeKind::Builtin &&
            (called.text == "un.local_array" || called.text == "un.private_array")) {
            found = names_it(n.children[1]);
            return;
        }
        if (called.kind != NodeKind::Function) return;
        const Source* callee = function_of(source, called);
        if (!callee) return;
        for (std::size_t k = 1; k < n.children.size() && !found; ++k) {
            const Node& arg = n.children[k];
            const bool has_name = arg.kind == NodeKind::Keyword;
            if (!names_it(arg) || (!has_name && k > callee->params.size())) continue;
            found = shapes_arrays(*callee, has_name ? arg.text : callee->params[k - 1], depth + 1);
        }
    });
    return found;
}

static void keep_constants(Type& type, const Value& value) {
    if (type.is_scalar() && is_integer(type.dtype)) {
        if (auto known = constant_int(value.expr)) type.name = std::to_string(*known);
    }
    for (std::size_t i = 0; type.is_tuple() && i < type.items.size(); ++i)
        keep_constants(type.items[i], value.items[i]);
}

void keep_shapes(const Source& callee, const std::vector<Value>& values, std::vector<Type>& types) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        Type kept = types[i];
        keep_constants(kept, values[i]);
        if (!(kept == types[i]) && shapes_arrays(callee, callee.params[i])) types[i] = kept;
    }
}

/// Constant extents of an array of a kernel.
static std::vector<std::int64_t> constant_extents(const Value& shape) {
    std::vector<std::int64_t> extents;
    for (const Value& v : shape.type.is_tuple() ? shape.items : std::vector<Value>{shape}) {
        auto known = v.type.is_scalar() ? constant_int(v.expr) : std::nullopt;
        if (!known || *known <= 0) return {};
        extents.push_back(*known);
    }
    return extents;
}

/// An array of the work-group, or of the work-item alone. Of records it is an array for each field,
/// which the second argument lists: (name, dtype, shape), ...
Value Calls::local_array(const Node& node, ir::Space space) {
    const std::string name = space == ir::Space::Local ? "local_array" : "private_array";
    if (!module_.is_kernel)
        refuse(node.place, name + " is only defined in a kernel and what it calls",
               "decorate the function with @un.kernel, or call it from one");
    if (frames_.size() > 1 && space == ir::Space::Local)
        refuse(node.place, name + " inside of a branch or a loop",
               "make it at the top of the function");
    const bool are_records = node.children.size() == 3 && node.children[2].kind == NodeKind::Tuple;
    std::vector<Value> args;
    if (are_records)
        args.push_back(expression(node.children[1]));
    else
        args = arguments(node);
    if (!are_records && (args.size() != 2 || args[1].type.kind != Type::Kind::DTypeName)) {
        refuse(node.place, name + " takes a shape and a dtype",
               "write un." + name + "((16, 16), np.float32)");
    }
    const std::vector<std::int64_t> extents = constant_extents(args[0]);
    if (extents.empty()) {
        refuse(node.place,
               "the shape of a " + name.substr(0, name.find('_')) +
                   " array must be positive constants",
               "write numbers, names of global constants, or parameters that callers give "
               "constants for");
    }
    at(node.place);
    auto made = [&](DType t, const std::vector<std::int64_t>& shape) {
        return own_array(name.substr(0, name.find('_')), t, shape, space);
    };
    if (!are_records) return made(args[1].type.dtype, extents);
    auto record = std::make_shared<Record>();
    record->form = Record::Form::Fields;
    Value v;
    std::vector<Type> types;
    for (const Node& field : node.children[2].children) {
        Record::Field& f = record->fields.emplace_back();
        f.name = field.children[0].text;
        f.dtype = expression(field.children[1]).type.dtype;
        std::vector<std::int64_t> shape = extents;
        for (const Value& n : expression(field.children[2]).items)
            shape.push_back(*constant_int(n.expr));
        v.items.push_back(made(f.dtype, shape));
        types.push_back(v.items.back().type);
    }
    v.type = Type::of_record(Type::Kind::Records, record, static_cast<int>(extents.size()), types);
    return v;
}

}  // namespace unisono::frontend
