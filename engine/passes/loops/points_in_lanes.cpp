// Puts called functions into the loop, finds the while loop, and writes its steps for lanes.
#include "passes/loops/points_in_lanes.h"

#include <algorithm>
#include <unordered_map>

#include "passes/analysis/column_sums.h"
#include "passes/analysis/linear_forms.h"
#include "passes/cleanup/copies.h"
#include "passes/cleanup/replace_reads.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t log_lanes = 4;
constexpr std::int64_t lanes = 1 << log_lanes;

std::vector<S> flat(std::span<const S> list) {
    std::vector<S> all;
    flatten(list, all);
    return all;
}

bool is_division(Op op) {
    return op == Op::Div || op == Op::FloorDiv || op == Op::Mod || op == Op::Fmod;
}

/// Arithmetic that processors have for vectors, too.
bool is_arithmetic(E e) {
    switch (e->kind) {
        case ExprKind::Const:
        case ExprKind::Var:
        case ExprKind::Fma:
        case ExprKind::Select: break;
        case ExprKind::Param:
            if (e->field != Field::Value) return false;
            break;
        case ExprKind::Unary:
        case ExprKind::Binary:
            if (is_math(e->op) || (is_division(e->op) && !is_float(e->args[0]->dtype)))
                return false;
            break;
        default: return false;
    }
    return size_of(e->dtype) != 2 && !is_complex(e->dtype) &&
           std::all_of(e->args.begin(), e->args.end(), is_arithmetic);
}

bool is_arithmetic(S s) {
    const bool is_known =
        s->kind == StmtKind::Block || s->kind == StmtKind::If ||
        ((s->kind == StmtKind::Declare || s->kind == StmtKind::Assign) && !s->args.empty());
    auto inside = [](S t) { return is_arithmetic(t); };
    return is_known &&
           std::all_of(s->args.begin(), s->args.end(), [](E e) { return is_arithmetic(e); }) &&
           std::all_of(s->body.begin(), s->body.end(), inside) &&
           std::all_of(s->orelse.begin(), s->orelse.end(), inside);
}

bool has_float_steps(S s) {
    return (s->kind == StmtKind::Assign && is_float(s->args[0]->dtype)) ||
           std::any_of(s->body.begin(), s->body.end(), has_float_steps);
}

/// What is done once per point: numbers and stores.
bool is_once(S s) {
    const bool is_known = s->kind == StmtKind::Block || s->kind == StmtKind::If ||
                          s->kind == StmtKind::Declare || s->kind == StmtKind::Assign ||
                          (s->kind == StmtKind::Store && s->access == Access::Linear);
    return is_known && std::all_of(s->body.begin(), s->body.end(), is_once) &&
           std::all_of(s->orelse.begin(), s->orelse.end(), is_once);
}

bool assigns(S s, std::int32_t var) {
    if (s->kind == StmtKind::Assign && s->id == var) return true;
    auto inside = [&](S t) { return assigns(t, var); };
    return std::any_of(s->body.begin(), s->body.end(), inside) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), inside);
}

void mark_reads(S s, std::vector<bool>& out) {
    for (E e : s->args) mark_read(e, out);
    if (s->kind == StmtKind::Assign) out[static_cast<std::size_t>(s->id)] = true;
    for (S b : s->body) mark_reads(b, out);
    for (S b : s->orelse) mark_reads(b, out);
}

/// A loop over points.
struct Points {
    std::vector<S> before, after;
    S steps = nullptr;
    std::vector<std::int32_t>
        carried;  ///< declared in front of the steps, and needed from there on
};

class PointsInLanes final : public Rewriter {
  public:
    PointsInLanes(Function& f, const Module& module) : Rewriter(f), module_(module) {}

    E expr(E e) override { return e; }
    S stmt(S s) override {
        s = children(s);
        const bool is_whole = s->kind == StmtKind::For && s->loop == LoopKind::Vector &&
                              s->reductions.empty() && !s->numbers && is_one(s->args[2]);
        if (!is_whole && (!is_plain_loop(s) || s->any_order)) return s;
        auto points = find(s);
        if (!points) return s;
        if (is_whole) return together(s, *points);
        E test = independent(s, *points);
        return test ? b_.branch(test, together(s, *points), s) : s;
    }

  private:
    /// The statements of a function that is called, ending in the results' assignments.
    bool put_in(S call, std::vector<S>& out) {
        const Function& f = module_.functions[static_cast<std::size_t>(call->id)];
        if (!f.body || f.native || !f.arrays.empty() || !f.sites.empty() || !f.natives.empty() ||
            &f == &function())
            return false;
        std::vector<S> body =
            flat(f.body->kind == StmtKind::Block ? f.body->body : std::span<const S>(&f.body, 1));
        if (body.empty() || body.back()->kind != StmtKind::Return || body.back()->fault >= 0)
            return false;
        if (std::any_of(body.begin(), body.end() - 1, leaves)) return false;
        Copies copies(b_, f);
        std::vector<E> params;
        for (std::size_t k = 0; k < f.params.size(); ++k) {
            const std::int32_t own = b_.var(f.params[k].name, f.params[k].dtype);
            out.push_back(b_.declare(own, call->args[k]));
            params.push_back(b_.read(own));
        }
        copies.params = &params;
        for (S s : std::span<const S>(body).first(body.size() - 1))
            out.push_back(copies.statement(s));
        for (std::size_t k = 0; k < call->outs.size(); ++k)
            out.push_back(b_.assign(call->outs[k], copies.expression(body.back()->args[k])));
        return true;
    }
    static bool leaves(S s) { return contains(s, StmtKind::Return) || contains(s, StmtKind::Call); }

    std::optional<Points> find(S s) {
        std::vector<S> all;
        for (S t : flat(s->body)) {
            if (t->kind != StmtKind::Call)
                all.push_back(t);
            else if (!t->arrays.empty() || !put_in(t, all))
                return std::nullopt;
        }
        Points points;
        for (S t : all) {
            if (t->kind == StmtKind::While && !points.steps)
                points.steps = t;
            else if (is_once(t))
                (points.steps ? points.after : points.before).push_back(t);
            else
                return std::nullopt;
        }
        if (!points.steps || !is_arithmetic(points.steps->args[0]) ||
            !std::all_of(points.steps->body.begin(), points.steps->body.end(),
                         [](S t) { return is_arithmetic(t); }) ||
            !has_float_steps(points.steps))
            return std::nullopt;
        return carries(points) ? std::optional(std::move(points)) : std::nullopt;
    }

    /// A test in front of a serial loop that its iterations do not meet; null where none is known.
    E independent(S s, const Points& points) {
        LoopNest nest(b_, s, nullptr);
        std::vector<NestAccess> accesses;
        auto look = [&](auto& self, S t) -> bool {
            for (E e : t->args) {
                if (!nest.loads(e, accesses)) return false;
            }
            if (t->kind == StmtKind::Store)
                accesses.push_back({t->id, true, nest.form(t->args[0])});
            auto inside = [&](S u) { return self(self, u); };
            return std::all_of(t->body.begin(), t->body.end(), inside) &&
                   std::all_of(t->orelse.begin(), t->orelse.end(), inside);
        };
        auto all = [&](S t) { return look(look, t); };
        if (!std::all_of(points.before.begin(), points.before.end(), all) ||
            !std::all_of(points.after.begin(), points.after.end(), all))
            return nullptr;
        // A test for elements that follow each other would never hold.
        for (const NestAccess& a : accesses) {
            for (const NestAccess& c : accesses) {
                std::int64_t distance = 0;
                if (a.is_store && a.array == c.array && a.form && c.form &&
                    constant_difference(a.form->rest, c.form->rest, distance) && distance != 0)
                    return nullptr;
            }
        }
        E test = nest.independent(accesses);
        for (E assumed : nest.assumed()) test = test ? b_.binary(Op::And, test, assumed) : test;
        return test;
    }

    /// Finds the variables that need a place per lane; false where others are changed.
    bool carries(Points& points) {
        std::vector<bool> reads(function().vars.size()), own(reads.size()), inside(reads.size());
        mark_reads(points.steps, reads);
        for (S t : points.after) mark_reads(t, reads);
        auto declare = [](auto& self, S t, std::vector<bool>& out) -> void {
            if (t->kind == StmtKind::Declare) out[static_cast<std::size_t>(t->id)] = true;
            for (S b : t->body) self(self, b, out);
            for (S b : t->orelse) self(self, b, out);
        };
        for (S t : points.before) {
            if (t->kind == StmtKind::Declare) {
                own[static_cast<std::size_t>(t->id)] = true;
                if (reads[static_cast<std::size_t>(t->id)]) points.carried.push_back(t->id);
            }
            declare(declare, t, inside);
        }
        declare(declare, points.steps, inside);
        for (S t : points.after) declare(declare, t, inside);
        for (std::size_t v = 0; v < reads.size(); ++v) {
            const auto var = static_cast<std::int32_t>(v);
            auto sets = [&](S t) { return assigns(t, var); };
            const bool is_set = sets(points.steps) ||
                                std::any_of(points.before.begin(), points.before.end(), sets) ||
                                std::any_of(points.after.begin(), points.after.end(), sets);
            if (is_set && !inside[v]) return false;
        }
        auto fits = [&](std::int32_t v) {
            const DType t = function().vars[static_cast<std::size_t>(v)].dtype;
            return size_of(t) == 4 || size_of(t) == 8 || is_bool(t);
        };
        return std::all_of(points.carried.begin(), points.carried.end(), fits);
    }

    std::int32_t lane_array(const std::string& name, DType t) {
        return b_.local_array(name, t, 1, Space::Private);
    }
    S allocated(std::int32_t array) {
        E n[] = {b_.i64(lanes)};
        return b_.allocate(array, n);
    }
    E load(std::int32_t array, E at) { return b_.load(array, {at}, Access::Linear); }
    S store(std::int32_t array, E at, E value) {
        E index[] = {at};
        return b_.store(array, index, value, Access::Linear);
    }
    S over_lanes(std::int64_t n, const std::function<std::vector<S>(E)>& body) {
        const std::int32_t lane = b_.var("lane", DType::Int64);
        std::vector<S> list = body(b_.read(lane));
        return b_.loop(LoopKind::Vector, lane, b_.i64(0), b_.i64(n), b_.i64(1), b_.block(list));
    }

    S together(S s, const Points& points) {
        b_.line = s->line;
        std::unordered_map<std::int32_t, std::int32_t> places;  // array of a carried variable
        std::vector<S> body;
        for (std::int32_t v : points.carried) {
            const Var var = function().vars[static_cast<std::size_t>(v)];
            places[v] = lane_array(var.name, is_bool(var.dtype) ? DType::Int64 : var.dtype);
            body.push_back(allocated(places[v]));
        }
        const std::int32_t goes = lane_array("goes", DType::Int64);
        body.push_back(allocated(goes));
        const std::int32_t strip = b_.var("strip", DType::Int64);
        const std::int32_t first = b_.var("first", DType::Int64);
        const std::int32_t any = b_.var("any", DType::Int64);
        body.push_back(
            b_.declare(first, b_.add(s->args[0], b_.mul(b_.read(strip), b_.i64(lanes)))));
        auto start = [&](Copies& copies, E lane) {
            copies.values[s->id] = b_.add(b_.read(first), lane);
        };
        auto take = [&](Copies& copies, E lane, std::vector<S>& list) {
            for (std::int32_t v : points.carried) {
                E value = load(places[v], lane);
                const bool is_flag = is_bool(function().vars[static_cast<std::size_t>(v)].dtype);
                if (is_flag) value = b_.binary(Op::Ne, value, b_.i64(0));
                list.push_back(b_.declare(copies.own(v), value));
            }
        };
        auto kept = [&](E value) {
            return is_bool(value->dtype) ? b_.select(value, b_.i64(1), b_.i64(0)) : value;
        };
        body.push_back(over_lanes(lanes, [&](E lane) {
            Copies copies(b_, function());
            std::vector<S> list;
            start(copies, lane);
            for (S t : points.before) list.push_back(copies.statement(t));
            for (std::int32_t v : points.carried)
                list.push_back(store(places[v], lane, kept(b_.read(copies.names[v]))));
            return list;
        }));
        S step = over_lanes(lanes, [&](E lane) {
            Copies copies(b_, function());
            std::vector<S> list, stores;
            start(copies, lane);
            take(copies, lane, list);
            const std::int32_t goes_on = b_.var("goes_on", DType::Bool);
            list.push_back(b_.declare(goes_on, copies.expression(points.steps->args[0])));
            for (S t : flat(points.steps->body)) list.push_back(copies.statement(t));
            for (std::int32_t v : points.carried) {
                if (!assigns(points.steps, v)) continue;
                E now = kept(b_.read(copies.names[v]));
                list.push_back(store(places[v], lane,
                                     b_.select(b_.read(goes_on), now, load(places[v], lane))));
            }
            list.push_back(store(goes, lane, kept(b_.read(goes_on))));
            return list;
        });
        std::vector<S> steps{step};
        for (std::int64_t n = lanes / 2; n > 0; n /= 2) {
            steps.push_back(over_lanes(n, [&](E lane) {
                E both = b_.binary(Op::Or, load(goes, lane), load(goes, b_.add(lane, b_.i64(n))));
                return std::vector<S>{store(goes, lane, both)};
            }));
        }
        steps.push_back(b_.assign(any, load(goes, b_.i64(0))));
        body.push_back(b_.declare(any, b_.i64(1)));
        body.push_back(b_.loop_while(b_.binary(Op::Ne, b_.read(any), b_.i64(0)), b_.block(steps)));
        body.push_back(over_lanes(lanes, [&](E lane) {
            Copies copies(b_, function());
            std::vector<S> list;
            start(copies, lane);
            take(copies, lane, list);
            for (S t : points.after) list.push_back(copies.statement(t));
            return list;
        }));
        const std::int32_t strips = b_.var("strips", DType::Int64);
        E n = b_.binary(Op::Max, b_.sub(s->args[1], s->args[0]), b_.i64(0));
        Stmt rest = *s;
        E bounds[] = {b_.add(s->args[0], b_.mul(b_.read(strips), b_.i64(lanes))), s->args[1],
                      s->args[2]};
        rest.args = b_.list(std::span<const E>(bounds));
        return b_.block({b_.declare(strips, b_.binary(Op::Shr, n, b_.i64(log_lanes))),
                         b_.loop(LoopKind::Serial, strip, b_.i64(0), b_.read(strips), b_.i64(1),
                                 b_.block(body)),
                         b_.own(rest)});
    }

    const Module& module_;
};

}  // namespace

void points_in_lanes(Module& module) {
    for (Function& f : module.functions) {
        if (f.body) PointsInLanes(f, module).run();
    }
}

}  // namespace unisono::passes
