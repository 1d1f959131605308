// Builds the Group and Item loops of a kernel; the pieces come from split_barriers.
#include "passes/kernels/wrap_work_items.h"

#include <algorithm>
#include <array>
#include <map>

#include "ir/fence.h"
#include "passes/cleanup/simplify.h"
#include "passes/kernels/split_barriers.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// The expressions that replace the work-item queries of one axis.
struct Axis {
    E global_size, local_size, global_offset;  // parameters
    std::int32_t group_count, group_id, first, size, item;
};

bool returns(S s) {
    if (s->kind == StmtKind::Return && s->fault < 0) return true;
    return std::any_of(s->body.begin(), s->body.end(), returns) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), returns);
}

bool returns_inside(S s, StmtKind loop) {
    if (s->kind == loop && returns(s)) return true;
    auto inside = [&](S b) { return returns_inside(b, loop); };
    return std::any_of(s->body.begin(), s->body.end(), inside) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), inside);
}

/// Rewrites the statements of a region, or the conditions of a group's control, for one work-item.
class ItemCode final : public Rewriter {
  public:
    ItemCode(Function& f, const std::vector<Axis>& axes, const Sharing& sharing,
             std::vector<std::int32_t> item_arrays, std::vector<std::int32_t> widened,
             std::int32_t finished, bool finished_is_shared)
        : Rewriter(f),
          axes_(axes),
          sharing_(sharing),
          item_arrays_(std::move(item_arrays)),
          widened_(std::move(widened)),
          finished_(finished),
          finished_is_shared_(finished_is_shared) {}

    /// Index of the work-item within its group, or null at group level, where the first item
    /// answers for all.
    E item_index = nullptr;
    /// Variables of this region that hold a query's value: global id per axis.
    std::array<std::int32_t, 3> global_ids{-1, -1, -1};
    /// What stands for views in this region.
    std::map<std::int32_t, std::int32_t> views;

    E expr(E e) override {
        b_.line = e->line;
        if (e->kind == ExprKind::WorkItem) return query(e);
        if (e->kind == ExprKind::Var) {
            std::int32_t array = item_array(e->id);
            return array < 0 ? e : b_.load(array, {index()});
        }
        e = children(e);
        if (e->kind == ExprKind::Load && view(e->id) != e->id) {
            Expr changed = *e;
            changed.id = view(e->id);
            return b_.own(changed);
        }
        if (e->kind != ExprKind::Load || widened(e->id) < 0) return e;
        Expr changed = *e;
        std::vector<E> args(e->args.begin(), e->args.end());
        args.insert(args.begin(), index());
        changed.id = widened(e->id);
        changed.args = b_.list(std::span<const E>(args));
        return b_.own(changed);
    }

    S stmt(S s) override {
        b_.line = s->line;
        switch (s->kind) {
            case StmtKind::Declare:
                if (kind(s->id) == Sharing::Kind::Moved && s->args.empty()) return nullptr;
                if (kind(s->id) == Sharing::Kind::Moved) return b_.assign(s->id, expr(s->args[0]));
                [[fallthrough]];
            case StmtKind::Assign: return assignment(s);
            case StmtKind::Return: return s->fault >= 0 ? children(s) : finish();
            case StmtKind::Allocate: return allocation(s);
            case StmtKind::Store: return store(s);
            case StmtKind::Atomic: return with_results(store(s));
            case StmtKind::Call: return call(s);
            case StmtKind::For:
            case StmtKind::While: return loop(s);
            default: return children(s);
        }
    }

    std::int32_t item_array(std::int32_t v) const {
        return static_cast<std::size_t>(v) < item_arrays_.size()
                   ? item_arrays_[static_cast<std::size_t>(v)]
                   : -1;
    }

  private:
    Sharing::Kind kind(std::int32_t v) const { return sharing_.vars[static_cast<std::size_t>(v)]; }
    std::int32_t widened(std::int32_t a) const {
        return static_cast<std::size_t>(a) < widened_.size() ? widened_[static_cast<std::size_t>(a)]
                                                             : -1;
    }
    E index() { return item_index ? item_index : b_.i64(0); }

    E query(E e) {
        if (e->axis >= static_cast<std::int32_t>(axes_.size())) {
            bool counts = e->query == WorkItemQuery::GlobalSize ||
                          e->query == WorkItemQuery::LocalSize ||
                          e->query == WorkItemQuery::GroupCount;
            return b_.i64(counts ? 1 : 0);
        }
        const Axis& a = axes_[static_cast<std::size_t>(e->axis)];
        switch (e->query) {
            case WorkItemQuery::GlobalId:
                return b_.read(global_ids[static_cast<std::size_t>(e->axis)]);
            case WorkItemQuery::LocalId: return b_.read(a.item);
            case WorkItemQuery::GroupId: return b_.read(a.group_id);
            case WorkItemQuery::GlobalSize: return a.global_size;
            case WorkItemQuery::LocalSize: return b_.read(a.size);
            case WorkItemQuery::GroupCount: return b_.read(a.group_count);
            case WorkItemQuery::GlobalOffset: return a.global_offset;
        }
        return e;
    }

    S assignment(S s) {
        if (kind(s->id) == Sharing::Kind::Recomputed) return nullptr;
        std::int32_t array = item_array(s->id);
        if (array < 0) return children(s);
        if (s->args.empty()) return nullptr;
        E at[] = {index()};
        return b_.store(array, at, expr(s->args[0]));
    }

    S allocation(S s) {
        Space space = function().arrays[static_cast<std::size_t>(s->id)].space;
        bool hoisted = space == Space::Local || widened(s->id) >= 0;
        return hoisted ? nullptr : children(s);
    }

    S store(S s) {
        s = children(s);
        if (view(s->id) != s->id) {
            Stmt changed = *s;
            changed.id = view(s->id);
            return b_.own(changed);
        }
        if (widened(s->id) < 0) return s;
        Stmt changed = *s;
        std::vector<E> args(s->args.begin(), s->args.end());
        args.insert(args.begin(), index());
        changed.id = widened(s->id);
        changed.args = b_.list(std::span<const E>(args));
        return b_.own(changed);
    }

    /// The view as this region sees it: where it is follows from values of the work-item.
    std::int32_t view(std::int32_t id) {
        if (static_cast<std::size_t>(id) >= function().arrays.size()) return id;
        const Array a = function().arrays[static_cast<std::size_t>(id)];
        if (!a.is_view()) return id;
        if (auto known = views.find(id); known != views.end()) return known->second;
        bool is_new = widened(a.base) >= 0;
        auto own = [&](E e) {
            E made = expr(e);
            is_new = is_new || made != e;
            return made;
        };
        E offset = own(a.offset);
        std::vector<E> extents, strides;
        for (E e : a.extents) extents.push_back(own(e));
        for (E e : a.view_strides) strides.push_back(own(e));
        std::int32_t made = id;
        if (is_new) {
            std::int32_t base = a.base;
            if (widened(base) >= 0) {
                E count = b_.i64(1);
                for (E e : function().arrays[static_cast<std::size_t>(base)].extents)
                    count = b_.mul(count, e);
                offset = b_.add(offset, b_.mul(index(), count));
                base = widened(base);
            }
            made = b_.view(a.name, base, offset, extents, strides, a.strides, a.writable);
        }
        views[id] = made;
        return made;
    }

    S call(S s) {
        s = children(s);
        std::vector<std::int32_t> arrays(s->arrays.begin(), s->arrays.end());
        for (std::int32_t& a : arrays) a = view(a);
        if (!std::equal(arrays.begin(), arrays.end(), s->arrays.begin())) {
            Stmt changed = *s;
            changed.arrays = function().arena->copy(std::span<const std::int32_t>(arrays));
            s = b_.own(changed);
        }
        for (std::int32_t a : s->arrays) {
            if (widened(a) < 0) continue;
            fail(ErrorKind::Unsupported,
                 "barrier: private array " + function().arrays[static_cast<std::size_t>(a)].name +
                     " is passed to a function and lives across a barrier; expected a local "
                     "array; use one per work-group");
        }
        return with_results(s);
    }

    /// Results for variables that are arrays now go through a local first.
    S with_results(S s) {
        std::vector<S> all;
        std::vector<S> after;
        std::vector<std::int32_t> outs(s->outs.begin(), s->outs.end());
        for (std::int32_t& v : outs) {
            std::int32_t array = item_array(v);
            if (array < 0) continue;
            std::int32_t own = b_.var("result", function().vars[static_cast<std::size_t>(v)].dtype);
            all.push_back(b_.declare(own, nullptr));
            E at[] = {index()};
            after.push_back(b_.store(array, at, b_.read(own)));
            v = own;
        }
        if (after.empty()) return s;
        Stmt changed = *s;
        changed.outs = function().arena->copy(std::span<const std::int32_t>(outs));
        all.push_back(b_.own(changed));
        all.insert(all.end(), after.begin(), after.end());
        return b_.block(std::span<const S>(all));
    }

    S loop(S s) {
        ++loops_;
        S changed = children(s);
        --loops_;
        if (!returns(s)) return changed;
        S after = b_.branch(finished(), loops_ > 0 ? b_.leave() : b_.next());
        return b_.block({changed, after});
    }

    E finished() {
        if (!finished_is_shared_) return b_.read(finished_);
        return b_.load(item_array(finished_), {index()});
    }

    /// The end of this work-item: in the rest of this region, and in later ones.
    S finish() {
        S leave = loops_ > 0 ? b_.leave() : b_.next();
        if (finished_ < 0) return leave;
        if (!finished_is_shared_) return b_.block({b_.assign(finished_, b_.boolean(true)), leave});
        E at[] = {index()};
        return b_.block({b_.store(item_array(finished_), at, b_.boolean(true)), leave});
    }

    const std::vector<Axis>& axes_;
    const Sharing& sharing_;
    std::vector<std::int32_t> item_arrays_, widened_;
    std::int32_t finished_;
    bool finished_is_shared_;
    int loops_ = 0;
};

class WrapWorkItems {
  public:
    /// Of one group, whose items are iterations of parallel loops: of kernels for devices.
    explicit WrapWorkItems(Function& f, bool is_one_group = false)
        : f_(f), b_(f), is_one_group_(is_one_group) {}

    void run() {
        S body = f_.body;
        b_.line = body->line;
        add_axes();
        pieces_ = split_barriers(body);
        has_barrier_ = has_barrier(body);
        sharing_ = decide_sharing(f_, pieces_);
        choose_inner_axis(body);
        prepare_returns(body);
        make_arrays(body);
        ItemCode code(f_, axes_, sharing_, item_arrays_, widened_, finished_, finished_is_shared_);
        code_ = &code;
        std::vector<S> group = begin_group();
        group.insert(group.end(), allocations_.begin(), allocations_.end());
        if (finished_is_shared_) group.push_back(items({reset_finished()}));
        emit(pieces_, group);
        f_.body = is_one_group_ ? b_.block(std::span<const S>(group)) : group_loop(group);
        f_.is_kernel = false;
    }

  private:
    void add_axes() {
        for (int k = 0; k < f_.dimensions; ++k) {
            std::string suffix = "." + std::to_string(k);
            auto hidden = [&](const char* name) {
                return b_.param(b_.scalar_param(name + suffix, DType::Int64));
            };
            auto local = [&](const char* name) { return b_.var(name + suffix, DType::Int64); };
            Axis a{};
            a.global_size = hidden("global_size");
            a.local_size = hidden("local_size");
            a.global_offset = hidden("global_offset");
            a.group_count = local("group_count");
            a.group_id = local("group_id");
            a.first = local("first");
            a.size = local("size");
            a.item = local("item");
            axes_.push_back(a);
        }
    }

    /// The axis whose neighbours touch neighbouring elements runs innermost; axis 0 where nothing
    /// tells.
    void choose_inner_axis(S body) {
        std::array<int, 3> votes{0, 0, 0};
        vote(body, votes);
        for (int k = 1; k < f_.dimensions; ++k) {
            if (votes[static_cast<std::size_t>(k)] > votes[static_cast<std::size_t>(inner_)])
                inner_ = k;
        }
    }

    void vote(E e, std::array<int, 3>& votes) {
        if (e->kind == ExprKind::Load && !e->args.empty()) vote_index(e->args.back(), votes, 0);
        for (E a : e->args) vote(a, votes);
    }
    void vote(S s, std::array<int, 3>& votes) {
        bool writes = s->kind == StmtKind::Store || s->kind == StmtKind::Atomic;
        if (writes && s->args.size() > 1) vote_index(s->args[s->args.size() - 2], votes, 0);
        for (E a : s->args) vote(a, votes);
        for (S b : s->body) vote(b, votes);
        for (S b : s->orelse) vote(b, votes);
        bool gives =
            (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign) && !s->args.empty();
        if (gives) seen_values_.push_back({s->id, s->args[0]});
    }
    void vote_index(E e, std::array<int, 3>& votes, int depth) {
        bool is_id = e->kind == ExprKind::WorkItem &&
                     (e->query == WorkItemQuery::GlobalId || e->query == WorkItemQuery::LocalId);
        if (is_id && e->axis < 3) ++votes[static_cast<std::size_t>(e->axis)];
        if (e->kind == ExprKind::Var && depth < 8) {
            auto value = std::find_if(seen_values_.rbegin(), seen_values_.rend(),
                                      [&](const auto& v) { return v.first == e->id; });
            if (value != seen_values_.rend()) vote_index(value->second, votes, depth + 1);
        }
        bool linear = e->kind == ExprKind::Binary && (e->op == Op::Add || e->op == Op::Sub);
        if (linear) {
            for (E a : e->args) vote_index(a, votes, depth);
        }
    }

    void prepare_returns(S body) {
        bool in_loop = returns_inside(body, StmtKind::For) || returns_inside(body, StmtKind::While);
        if (!returns(body) || (!has_barrier_ && !in_loop)) return;
        refuse_endless(pieces_);
        finished_ = b_.var("finished", DType::Bool);
        finished_is_shared_ = has_barrier_;
        sharing_.vars.push_back(has_barrier_ ? Sharing::Kind::PerItem : Sharing::Kind::Own);
        sharing_.values.push_back(nullptr);
    }

    /// A while around a barrier asks the first work-item: it must not have returned.
    void refuse_endless(const std::vector<Piece>& pieces) const {
        for (const Piece& p : pieces) {
            if (!p.control) continue;
            if (p.control->kind == StmtKind::While && returns(f_.body)) {
                fail(ErrorKind::Unsupported,
                     "barrier: a while loop with a barrier in a kernel that returns early is not "
                     "supported on this "
                     "device; leave the loop by its condition, or use a for loop");
            }
            refuse_endless(p.body);
            refuse_endless(p.orelse);
        }
    }

    // ---- Arrays with an element per work-item

    E group_items() {
        E n = axes_[0].local_size;
        for (std::size_t k = 1; k < axes_.size(); ++k) n = b_.mul(n, axes_[k].local_size);
        return n;
    }

    void make_arrays(S body) {
        item_arrays_.assign(f_.vars.size(), -1);
        widened_.assign(f_.arrays.size(), -1);
        for (std::size_t v = 0; v < sharing_.vars.size(); ++v) {
            if (sharing_.vars[v] != Sharing::Kind::PerItem) continue;
            const Var var = f_.vars[v];
            item_arrays_[v] = array_of_items(var.name, var.dtype, {});
        }
        hoist_allocations(body);
    }

    /// Elements of that shape for each work-item: local memory, or memory that a launch makes.
    std::int32_t array_of_items(const std::string& name, DType t, std::vector<E> extents) {
        extents.insert(extents.begin(), group_items());
        if (!is_one_group_) {
            const std::int32_t made =
                b_.local_array(name + ".items", t, static_cast<int>(extents.size()), Space::Local);
            allocations_.push_back(b_.allocate(made, extents));
            return made;
        }
        std::vector<E> strides(extents.size());
        E count = b_.i64(1);
        for (std::size_t k = extents.size(); k-- > 0; count = b_.mul(count, extents[k]))
            strides[k] = count;
        std::vector<StrideClass> classes(extents.size(), StrideClass::Other);
        classes.back() = StrideClass::One;
        const std::int32_t memory = b_.slot(name + ".memory", t, true);
        allocations_.push_back(b_.make(memory, count));
        return b_.view(name + ".items", memory, b_.i64(0), std::move(extents), std::move(strides),
                       std::move(classes), true);
    }

    void hoist_allocations(S s) {
        if (s->kind == StmtKind::Allocate) {
            auto id = static_cast<std::size_t>(s->id);
            bool is_local = f_.arrays[id].space == Space::Local;
            bool is_widened = sharing_.arrays[id];
            if (is_local || is_widened) {
                for (E e : s->args) {
                    std::int64_t value = 0;
                    if (is_constant(e, value) || e->kind == ExprKind::Param) continue;
                    fail(ErrorKind::Unsupported,
                         "local_array: the extents of array " + f_.arrays[id].name +
                             " must be constants or arguments of the kernel");
                }
            }
            if (is_local && is_one_group_) {
                fail(ErrorKind::Unsupported,
                     "local_array: array " + f_.arrays[id].name +
                         " is shared by a group, in a kernel that synchronises the grid; use "
                         "memory of the grid, a part of it for each group");
            }
            if (is_local) allocations_.push_back(s);
            if (is_widened) {
                const Array a = f_.arrays[id];
                widened_[id] = array_of_items(a.name, a.dtype, {s->args.begin(), s->args.end()});
            }
        }
        for (S b : s->body) hoist_allocations(b);
        for (S b : s->orelse) hoist_allocations(b);
    }

    // ---- Loops

    /// Declares what is the same for a group; the group's linear number counts axis 0 fastest.
    std::vector<S> begin_group() {
        std::vector<S> out;
        for (const Axis& a : axes_) {
            if (!is_one_group_) break;
            out.push_back(b_.declare(a.group_count, b_.i64(1)));
            out.push_back(b_.declare(a.group_id, b_.i64(0)));
            out.push_back(b_.declare(a.first, b_.i64(0)));
            out.push_back(b_.declare(a.size, a.global_size));
        }
        if (is_one_group_) return out;
        group_ = b_.var("group", DType::Int64);
        E rest = b_.read(group_);
        for (std::size_t k = 0; k < axes_.size(); ++k) {
            const Axis& a = axes_[k];
            E count = b_.read(a.group_count);
            bool is_last = k + 1 == axes_.size();
            out.push_back(b_.declare(a.group_id, is_last ? rest : b_.binary(Op::Mod, rest, count)));
            rest = b_.binary(Op::FloorDiv, rest, count);
            out.push_back(b_.declare(a.first, b_.mul(b_.read(a.group_id), a.local_size)));
            E left = b_.sub(a.global_size, b_.read(a.first));
            out.push_back(b_.declare(a.size, b_.binary(Op::Min, a.local_size, left)));
        }
        return out;
    }

    S group_loop(const std::vector<S>& body) {
        std::vector<S> out;
        E groups = nullptr;
        for (const Axis& a : axes_) {
            E rounded = b_.sub(b_.add(a.global_size, a.local_size), b_.i64(1));
            out.push_back(
                b_.declare(a.group_count, b_.binary(Op::FloorDiv, rounded, a.local_size)));
            groups = groups ? b_.mul(groups, b_.read(a.group_count)) : b_.read(a.group_count);
        }
        out.push_back(b_.loop(LoopKind::Group, group_, b_.i64(0), groups, b_.i64(1),
                              b_.block(std::span<const S>(body))));
        return b_.block(std::span<const S>(out));
    }

    /// Item loops around one work-item's statements, the chosen axis innermost.
    S items(const std::vector<S>& body) {
        S all = as_one(b_, body);
        std::vector<int> order{inner_};
        for (int k = 0; k < f_.dimensions; ++k) {
            if (k != inner_) order.push_back(k);
        }
        for (int k : order) {
            const Axis& a = axes_[static_cast<std::size_t>(k)];
            const LoopKind kind = is_one_group_ ? LoopKind::Parallel : LoopKind::Item;
            all = b_.loop(kind, a.item, b_.i64(0), b_.read(a.size), b_.i64(1), all, {}, k);
        }
        return all;
    }

    /// Position in arrays with an element per work-item: axis 0 fastest.
    E item_index() {
        E at = nullptr;
        for (std::size_t k = axes_.size(); k-- > 0;) {
            E item = b_.read(axes_[k].item);
            at = at ? b_.add(b_.mul(at, axes_[k].local_size), item) : item;
        }
        return at;
    }

    S reset_finished() {
        E at[] = {item_index()};
        return b_.store(item_arrays_[static_cast<std::size_t>(finished_)], at, b_.boolean(false));
    }

    static bool asks_global_id(E e, int axis) {
        if (e->kind == ExprKind::WorkItem && e->query == WorkItemQuery::GlobalId && e->axis == axis)
            return true;
        return std::any_of(e->args.begin(), e->args.end(),
                           [&](E a) { return asks_global_id(a, axis); });
    }
    static bool asks_global_id(S s, int axis) {
        auto expr = [&](E e) { return asks_global_id(e, axis); };
        auto stmt = [&](S b) { return asks_global_id(b, axis); };
        return std::any_of(s->args.begin(), s->args.end(), expr) ||
               std::any_of(s->body.begin(), s->body.end(), stmt) ||
               std::any_of(s->orelse.begin(), s->orelse.end(), stmt);
    }

    /// Declarations of recomputed variables that the region needs, those they need first.
    void recompute(std::size_t v, std::vector<bool>& done, std::vector<S>& raw) {
        if (done[v] || sharing_.vars[v] != Sharing::Kind::Recomputed) return;
        done[v] = true;
        Mentions m(f_);
        m.add(sharing_.values[v]);
        for (std::size_t u = 0; u < done.size(); ++u) {
            if (m.vars[u]) recompute(u, done, raw);
        }
        raw.push_back(b_.declare(static_cast<std::int32_t>(v), sharing_.values[v]));
    }

    S region(const Piece& p) {
        Mentions m(f_);
        for (S s : p.region) m.add(s);
        std::vector<bool> done(sharing_.vars.size());
        std::vector<S> recomputed;
        std::vector<S> moved;
        for (std::size_t v = 0; v < done.size(); ++v) {
            if (!m.vars[v]) continue;
            recompute(v, done, recomputed);
            if (sharing_.vars[v] == Sharing::Kind::Moved) {
                moved.push_back(b_.declare(static_cast<std::int32_t>(v), nullptr));
            }
        }
        std::vector<S> out;
        code_->views.clear();
        code_->item_index = item_index();
        if (finished_is_shared_) {
            E done_already =
                b_.load(item_arrays_[static_cast<std::size_t>(finished_)], {item_index()});
            out.push_back(b_.branch(done_already, b_.next()));
        } else if (finished_ >= 0) {
            out.push_back(b_.declare(finished_, b_.boolean(false)));
        }
        for (std::size_t k = 0; k < axes_.size(); ++k) {
            int axis = static_cast<int>(k);
            auto asks = [&](S s) { return asks_global_id(s, axis); };
            if (std::none_of(p.region.begin(), p.region.end(), asks) &&
                std::none_of(recomputed.begin(), recomputed.end(), asks)) {
                continue;
            }
            std::int32_t id = b_.var("global_id." + std::to_string(k), DType::Int64);
            code_->global_ids[k] = id;
            E first = b_.add(b_.read(axes_[k].first), b_.read(axes_[k].item));
            out.push_back(b_.declare(id, b_.add(first, axes_[k].global_offset)));
        }
        for (S s : recomputed) out.push_back(b_.declare(s->id, code_->expr(s->args[0])));
        out.insert(out.end(), moved.begin(), moved.end());
        for (S s : p.region) {
            if (S changed = code_->stmt(s)) out.push_back(changed);
        }
        return items(out);
    }

    /// Control of the whole group: its operands are the first work-item's.
    S control(const Piece& p) {
        code_->views.clear();
        code_->item_index = nullptr;
        Stmt s = *p.control;
        std::vector<E> args;
        for (E e : s.args) args.push_back(code_->expr(recomputed_inline(e)));
        std::vector<S> body;
        std::vector<S> orelse;
        emit(p.body, body);
        emit(p.orelse, orelse);
        s.args = b_.list(std::span<const E>(args));
        s.body = b_.list(std::span<const S>(body));
        s.orelse = b_.list(std::span<const S>(orelse));
        return b_.own(s);
    }

    /// At group level there is no place to declare recomputed variables: their values replace
    /// them.
    E recomputed_inline(E e) {
        if (e->kind == ExprKind::Var &&
            sharing_.vars[static_cast<std::size_t>(e->id)] == Sharing::Kind::Recomputed) {
            return recomputed_inline(sharing_.values[static_cast<std::size_t>(e->id)]);
        }
        if (e->args.empty()) return e;
        Expr changed = *e;
        std::vector<E> args;
        for (E a : e->args) args.push_back(recomputed_inline(a));
        const bool is_load = e->kind == ExprKind::Load;
        if (is_load && f_.arrays[static_cast<std::size_t>(e->id)].is_view()) {
            const Array a = f_.arrays[static_cast<std::size_t>(e->id)];
            std::vector<E> extents, strides;
            for (E x : a.extents) extents.push_back(recomputed_inline(x));
            for (E x : a.view_strides) strides.push_back(recomputed_inline(x));
            changed.id = b_.view(a.name, a.base, recomputed_inline(a.offset), extents, strides,
                                 a.strides, a.writable);
        }
        changed.args = b_.list(std::span<const E>(args));
        return b_.own(changed);
    }

    void emit(const std::vector<Piece>& pieces, std::vector<S>& out) {
        for (const Piece& p : pieces) {
            out.push_back(p.counts ? counting(p.control) : p.control ? control(p) : region(p));
        }
    }

    /// Raises the barrier's fault where it is reached by some work-items of the group only.
    S counting(S barrier) {
        b_.line = barrier->line;
        std::int32_t counts[3];
        std::vector<S> out;
        for (std::int32_t& count : counts) {
            count = b_.var("arrivals", DType::Int64);
            out.push_back(b_.declare(count, b_.i64(0)));
        }
        const auto is = [&](E arrival, Arrival a) {
            return b_.binary(Op::Eq, arrival, b_.i64(static_cast<std::int64_t>(a)));
        };
        const auto count = [&](Arrival a) {
            const std::int32_t v = counts[static_cast<std::size_t>(a)];
            return b_.assign(v, b_.add(b_.read(v), b_.i64(1)));
        };
        const std::int32_t arrivals = item_arrays_[static_cast<std::size_t>(barrier->args[0]->id)];
        const E arrival = b_.load(arrivals, {item_index()});
        S one = b_.branch(is(arrival, Arrival::Reached), count(Arrival::Reached),
                          b_.branch(is(arrival, Arrival::Ended), count(Arrival::Ended),
                                    count(Arrival::Elsewhere)));
        if (finished_is_shared_) {
            const E has_ended =
                b_.load(item_arrays_[static_cast<std::size_t>(finished_)], {item_index()});
            one = b_.branch(has_ended, count(Arrival::Ended), one);
        }
        E size = b_.i64(1);
        for (int k = 0; k < f_.dimensions; ++k) {
            const Axis& a = axes_[static_cast<std::size_t>(k)];
            one = b_.loop(LoopKind::Serial, a.item, b_.i64(0), b_.read(a.size), b_.i64(1), one);
            size = b_.mul(size, b_.read(a.size));
        }
        out.push_back(one);
        const E reached = b_.read(counts[static_cast<std::size_t>(Arrival::Reached)]);
        const E values[] = {reached, b_.read(counts[static_cast<std::size_t>(Arrival::Ended)]),
                            b_.read(counts[static_cast<std::size_t>(Arrival::Elsewhere)]), size};
        const E some = b_.binary(Op::And, b_.binary(Op::Gt, reached, b_.i64(0)),
                                 b_.binary(Op::Lt, reached, size));
        out.push_back(b_.branch(some, b_.raise(barrier->fault, values)));
        return b_.block(std::span<const S>(out));
    }

    Function& f_;
    Builder b_;
    const bool is_one_group_;
    std::vector<Axis> axes_;
    std::vector<Piece> pieces_;
    Sharing sharing_;
    bool has_barrier_ = false;
    int inner_ = 0;
    std::int32_t finished_ = -1;
    bool finished_is_shared_ = false;
    std::int32_t group_ = -1;
    std::vector<std::int32_t> item_arrays_;  // per variable: the array that replaces it, or -1
    std::vector<std::int32_t> widened_;  // per array: the one with an axis for the work-item, or -1
    std::vector<S> allocations_;
    std::vector<std::pair<std::int32_t, E>> seen_values_;
    ItemCode* code_ = nullptr;
};

}  // namespace

void wrap_work_items(Module& module) {
    for (Function& f : module.functions) {
        if (f.is_kernel) WrapWorkItems(f).run();
    }
}

int cut_at_grid_barriers(Module& module) {
    Function& entry = module.entry();
    if (!entry.is_kernel || !has_grid_barrier(entry.body)) return 0;
    WrapWorkItems(entry, true).run();
    return entry.dimensions;
}

}  // namespace unisono::passes
