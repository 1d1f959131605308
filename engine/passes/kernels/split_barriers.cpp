// Finds regions, what they share, and whether control around barriers is uniform.
#include "passes/kernels/split_barriers.h"
#include "ir/fence.h"

#include <algorithm>

namespace unisono::passes {

using namespace ir;

namespace {

/// A break or continue that leaves or repeats a loop outside s.
bool has_loose_jump(S s) {
    if (s->kind == StmtKind::Break || s->kind == StmtKind::Continue) return true;
    if (s->kind == StmtKind::For || s->kind == StmtKind::While) return false;
    return std::any_of(s->body.begin(), s->body.end(), has_loose_jump) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), has_loose_jump);
}

std::vector<Piece> pieces_of(std::span<const S> list, bool in_group_loop) {
    std::vector<S> flat;
    flatten(list, flat);
    std::vector<Piece> pieces;
    bool open = false;  // the last piece is a region that may take more statements
    for (S s : flat) {
        if (is_barrier(s)) {
            open = false;
            if (!is_counted(s)) continue;
            pieces.emplace_back();
            pieces.back().control = s;
            pieces.back().counts = true;
        } else if (has_barrier(s) || (in_group_loop && has_loose_jump(s))) {
            bool loops = s->kind == StmtKind::For || s->kind == StmtKind::While;
            Piece p;
            p.control = s;
            p.body = pieces_of(s->body, in_group_loop || loops);
            p.orelse = pieces_of(s->orelse, in_group_loop || loops);
            pieces.push_back(std::move(p));
            open = false;
        } else {
            if (!open) pieces.emplace_back();
            pieces.back().region.push_back(s);
            open = true;
        }
    }
    return pieces;
}

bool asks_work_item(E e) {
    return e->kind == ExprKind::WorkItem &&
           (e->query == WorkItemQuery::GlobalId || e->query == WorkItemQuery::LocalId);
}

/// Finds variables whose value may differ among the work-items of a group.
class Varying {
  public:
    explicit Varying(const Function& f) : f_(f), vars_(f.vars.size()) {
        for (bool changed = true; changed;) {
            changed_ = false;
            visit(f.body, false);
            changed = changed_;
        }
    }

    bool operator()(E e) const {
        if (asks_work_item(e)) return true;
        if (e->kind == ExprKind::Var && vars_[static_cast<std::size_t>(e->id)]) return true;
        if (e->kind == ExprKind::Load && is_elsewhere(e->id)) return true;
        return std::any_of(e->args.begin(), e->args.end(), *this);
    }

  private:
    void mark(std::int32_t v) {
        if (vars_[static_cast<std::size_t>(v)]) return;
        vars_[static_cast<std::size_t>(v)] = true;
        changed_ = true;
    }

    void visit(S s, bool under_varying) {
        bool varies = under_varying || std::any_of(s->args.begin(), s->args.end(), *this);
        bool writes = s->kind == StmtKind::Assign || s->kind == StmtKind::For ||
                      (s->kind == StmtKind::Declare && !s->args.empty());
        if (writes && varies) mark(s->id);
        for (std::int32_t v : s->outs) {
            if (varies || s->kind == StmtKind::Atomic) mark(v);
        }
        bool controls =
            s->kind == StmtKind::If || s->kind == StmtKind::For || s->kind == StmtKind::While;
        for (S b : s->body) visit(b, controls ? varies : under_varying);
        for (S b : s->orelse) visit(b, controls ? varies : under_varying);
    }

    /// Whether the array is a view that may see other elements in each work-item.
    bool is_elsewhere(std::int32_t array) const {
        const Array& a = f_.arrays[static_cast<std::size_t>(array)];
        return a.is_view() && ((*this)(a.offset) ||
                               std::any_of(a.view_strides.begin(), a.view_strides.end(), *this));
    }

    const Function& f_;
    std::vector<bool> vars_;
    bool changed_ = false;
};

class Decision {
  public:
    explicit Decision(const Function& f)
        : f_(f),
          varying_(f),
          uses_(f.vars.size()),
          arrays_(f.arrays.size()),
          sets_(f.arrays.size()) {}

    Sharing run(const std::vector<Piece>& pieces) {
        collect(pieces);
        check_slots();
        collect_definitions(f_.body);
        Sharing out;
        out.vars.assign(f_.vars.size(), Sharing::Kind::Own);
        out.values.assign(f_.vars.size(), nullptr);
        out.arrays.resize(f_.arrays.size());
        for (std::size_t a = 0; a < arrays_.size(); ++a) {
            out.arrays[a] = f_.arrays[a].space == Space::Private && arrays_[a].size() > 1;
        }
        for (std::size_t v = 0; v < uses_.size(); ++v) decide(v, out);
        for (std::size_t v = 0; v < uses_.size(); ++v) {
            if (out.vars[v] == Sharing::Kind::Recomputed) recompute_operands(out.values[v], out);
        }
        return out;
    }

  private:
    struct Use {
        const Piece* piece;
        bool is_control;
    };

    void collect(const std::vector<Piece>& pieces) {
        for (const Piece& p : pieces) {
            Mentions m(f_);
            if (p.control) {
                if (p.counts) {
                    counted_.push_back(p.control->args[0]->id);
                } else {
                    check_uniform(p.control);
                }
                for (E e : p.control->args) m.add(e);
            } else {
                for (S s : p.region) m.add(s);
                for (S s : p.region) collect_declarations(s, &p);
                for (S s : p.region) collect_sets(s, &p);
            }
            for (std::size_t v = 0; v < m.vars.size(); ++v) {
                if (m.vars[v]) uses_[v].push_back({&p, p.control != nullptr});
            }
            for (std::size_t a = 0; a < m.arrays.size(); ++a) {
                if (m.arrays[a]) arrays_[a].push_back(&p);
                if (m.arrays[a] && f_.arrays[a].is_view())
                    arrays_[static_cast<std::size_t>(f_.arrays[a].base)].push_back(&p);
            }
            collect(p.body);
            collect(p.orelse);
        }
    }

    void collect_declarations(S s, const Piece* p) {
        if (s->kind == StmtKind::Declare) declared_in_.push_back({s->id, p});
        for (S b : s->body) collect_declarations(b, p);
        for (S b : s->orelse) collect_declarations(b, p);
    }

    void collect_sets(S s, const Piece* p) {
        if (s->kind == StmtKind::Make || s->kind == StmtKind::Point)
            sets_[static_cast<std::size_t>(s->id)].push_back({s, p});
        for (S b : s->body) collect_sets(b, p);
        for (S b : s->orelse) collect_sets(b, p);
    }

    SourcePlace place_of(S s) const {
        const Line l = s->line;
        return {l.file < f_.files.size() ? f_.files[l.file] : "", l.line, l.column, -1};
    }

    /// A slot is one for all work-items that run a region: behind a barrier it would have what the
    /// last of them set.
    void check_slots() const {
        for (std::size_t a = 0; a < sets_.size(); ++a) {
            if (sets_[a].empty() || is_same_for_group(a)) continue;
            const auto& [set, piece] = sets_[a].front();
            const auto is_elsewhere = [&, piece = piece](const Piece* p) { return p != piece; };
            if (std::none_of(arrays_[a].begin(), arrays_[a].end(), is_elsewhere) &&
                std::none_of(sets_[a].begin(), sets_[a].end(),
                             [&](const auto& other) { return is_elsewhere(other.second); }))
                continue;
            throw Error(ErrorKind::Compile,
                        "barrier: the array '" + f_.arrays[a].name +
                            "' is made or chosen by each work-item and used across a barrier; "
                            "expected arrays of the kernel itself there; use a private array "
                            "(cuda.local.array), or numbers",
                        place_of(set));
        }
    }

    /// Whether one statement points the slot to an array that all work-items share.
    bool is_same_for_group(std::size_t slot) const {
        if (sets_[slot].size() != 1) return false;
        S set = sets_[slot].front().first;
        if (set->kind != StmtKind::Point || set->arrays.empty()) return false;
        const Array& source = f_.arrays[static_cast<std::size_t>(set->arrays[0])];
        return !source.is_slot && !source.is_view() && source.space != Space::Private;
    }

    void check_uniform(S s) const {
        if (!std::any_of(s->args.begin(), s->args.end(), varying_)) return;
        throw Error(ErrorKind::Compile,
                    "barrier: all work-items of a group must reach it, also those in functions of "
                    "the group such as work_group_any; got a condition that depends on the "
                    "work-item, as what these functions return does here; expected one that is "
                    "the same for the group; move the barrier or the function out of it, or "
                    "repeat a number of times that an argument gives",
                    place_of(s));
    }

    void collect_definitions(S s) {
        definitions_.resize(f_.vars.size());
        bool gives =
            s->kind == StmtKind::Assign || (s->kind == StmtKind::Declare && !s->args.empty());
        if (gives) definitions_[static_cast<std::size_t>(s->id)].push_back(s->args[0]);
        if (s->kind == StmtKind::For)
            definitions_[static_cast<std::size_t>(s->id)].push_back(nullptr);
        for (std::int32_t v : s->outs) definitions_[static_cast<std::size_t>(v)].push_back(nullptr);
        for (S b : s->body) collect_definitions(b);
        for (S b : s->orelse) collect_definitions(b);
    }

    /// The same wherever and whenever it is evaluated by one work-item.
    bool is_pure(E e, int depth = 0) const {
        if (e->kind == ExprKind::Load || depth > 16) return false;
        if (e->kind == ExprKind::Var) {
            E value = only_value(static_cast<std::size_t>(e->id));
            return value && is_pure(value, depth + 1);
        }
        return std::all_of(e->args.begin(), e->args.end(), [&](E a) { return is_pure(a, depth); });
    }

    E only_value(std::size_t v) const {
        return definitions_[v].size() == 1 ? definitions_[v][0] : nullptr;
    }

    /// Whether the region gives the variable a value before it reads it, looking at whole
    /// statements in order.
    bool begins_anew(std::size_t v, const std::vector<S>& region) const {
        for (S s : region) {
            bool gives = (s->kind == StmtKind::Assign ||
                          (s->kind == StmtKind::Declare && !s->args.empty())) &&
                         static_cast<std::size_t>(s->id) == v;
            Mentions m(f_);
            if (gives) {
                m.add(s->args[0]);
            } else {
                m.add(s);
            }
            if (m.vars[v]) return false;
            if (gives) return true;
        }
        return false;
    }

    bool is_declared_in(std::size_t v, const Piece* p) const {
        return std::any_of(declared_in_.begin(), declared_in_.end(), [&](const auto& d) {
            return static_cast<std::size_t>(d.first) == v && d.second == p;
        });
    }

    /// Loop variables live in their loop, whether it is a work-item's or the group's.
    bool is_loop_var(std::size_t v) const {
        return std::none_of(declared_in_.begin(), declared_in_.end(),
                            [&](const auto& d) { return static_cast<std::size_t>(d.first) == v; });
    }

    void decide(std::size_t v, Sharing& out) {
        const std::vector<Use>& uses = uses_[v];
        if (uses.empty() || is_loop_var(v)) return;
        if (uses.size() == 1 && !uses[0].is_control) {
            if (is_declared_in(v, uses[0].piece)) return;
            if (begins_anew(v, uses[0].piece->region)) {
                out.vars[v] = Sharing::Kind::Moved;
                return;
            }
        }
        E value = only_value(v);
        const bool is_counted = std::find(counted_.begin(), counted_.end(),
                                          static_cast<std::int32_t>(v)) != counted_.end();
        if (value && is_pure(value) && !is_counted) {
            out.vars[v] = Sharing::Kind::Recomputed;
            out.values[v] = value;
            return;
        }
        out.vars[v] = Sharing::Kind::PerItem;
    }

    /// What a recomputed value reads must be recomputed with it, even where one region alone names
    /// it. A pure value reads pure variables only.
    void recompute_operands(E e, Sharing& out) const {
        for (E a : e->args) recompute_operands(a, out);
        if (e->kind != ExprKind::Var) return;
        auto v = static_cast<std::size_t>(e->id);
        if (out.vars[v] == Sharing::Kind::Recomputed) return;
        out.vars[v] = Sharing::Kind::Recomputed;
        out.values[v] = only_value(v);
        recompute_operands(out.values[v], out);
    }

    const Function& f_;
    Varying varying_;
    std::vector<std::vector<Use>> uses_;
    std::vector<std::vector<const Piece*>> arrays_;  ///< a slot's are those of its views, too
    std::vector<std::vector<std::pair<S, const Piece*>>> sets_;  ///< of slots
    std::vector<std::pair<std::int32_t, const Piece*>> declared_in_;
    std::vector<std::int32_t> counted_;        ///< variables with arrivals, which the group reads
    std::vector<std::vector<E>> definitions_;  // per variable; null: a loop or call gives it
};

}  // namespace

void Mentions::add(E e) {
    if (e->kind == ExprKind::Var) vars[static_cast<std::size_t>(e->id)] = true;
    if (e->kind == ExprKind::Load) add_array(e->id);
    for (E a : e->args) add(a);
}

void Mentions::add_array(std::int32_t a) {
    const auto index = static_cast<std::size_t>(a);
    if (arrays[index]) return;
    arrays[index] = true;
    const Array& array = f_.arrays[index];
    if (!array.is_view()) return;
    add(array.offset);
    for (E e : array.extents) add(e);
    for (E e : array.view_strides) add(e);
}

void Mentions::add(S s) {
    for (E e : s->args) add(e);
    switch (s->kind) {
        case StmtKind::Declare:
            if (!s->args.empty()) vars[static_cast<std::size_t>(s->id)] = true;
            break;
        case StmtKind::Assign: vars[static_cast<std::size_t>(s->id)] = true; break;
        case StmtKind::Store:
        case StmtKind::Atomic: add_array(s->id); break;
        default: break;
    }
    for (std::int32_t v : s->outs) vars[static_cast<std::size_t>(v)] = true;
    for (std::int32_t a : s->arrays) add_array(a);
    for (S b : s->body) add(b);
    for (S b : s->orelse) add(b);
}

std::vector<Piece> split_barriers(S body) {
    S list[] = {body};
    return pieces_of(list, false);
}

Sharing decide_sharing(const Function& f, const std::vector<Piece>& pieces) {
    return Decision(f).run(pieces);
}

}  // namespace unisono::passes
