// Compares what two nests access, axis by axis.
#include "passes/analysis/nests.h"

#include "passes/cleanup/replace_reads.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

bool is_counted(S s) {
    std::int64_t begin = 0, step = 0;
    return s->kind == StmtKind::For && is_constant(s->args[0], begin) && begin == 0 &&
           is_constant(s->args[2], step) && step == 1 && s->reductions.empty() && !s->numbers &&
           !s->any_order;
}

/// Where a row lies: an offset and the strides of the outer axes; null is zero.
struct RowPlace {
    E offset = nullptr;
    std::vector<E> strides;
    std::int32_t param = -1;  ///< of an array parameter, of which nothing more is known
};

bool equal(E a, E b) { return (!a && !b) || (a && b && same(a, b)); }

bool operator==(const RowPlace& a, const RowPlace& b) {
    return a.param == b.param && equal(a.offset, b.offset) &&
           std::equal(a.strides.begin(), a.strides.end(), b.strides.begin(), b.strides.end(),
                      equal);
}

class RowPlaces {
  public:
    RowPlaces(Builder& b, const DeclaredOnce& declared, std::size_t outer)
        : b_(b), declared_(declared), outer_(outer) {}

    /// The place of the rows of an access that stays in the row of the nest's iteration; rows of
    /// different iterations are apart.
    std::optional<RowPlace> find(const Nest& nest, const RowAccess& a) {
        if (a.indices.size() < outer_) return std::nullopt;
        for (std::size_t k = 0; k < outer_; ++k) {
            const E i = a.indices[k];
            if (i->kind != ExprKind::Var || i->id != nest.loops[k]->id) return std::nullopt;
        }
        const Array& array = b_.function().arrays[static_cast<std::size_t>(a.array)];
        RowPlace place;
        if (array.param >= 0) {
            for (std::size_t k = 0; k < outer_; ++k) {
                if (array.strides[k] == StrideClass::Zero) return std::nullopt;
            }
            place.param = a.array;
            return place;
        }
        if (!array.is_view() || !is_dense(array)) return std::nullopt;
        std::int64_t offset = 0;
        if (array.offset && !(is_constant(array.offset, offset) && offset == 0))
            place.offset = array.offset;
        for (std::size_t k = 0; k < outer_; ++k) place.strides.push_back(stride(array, k));
        return place;
    }

  private:
    E stride(const Array& a, std::size_t axis) {
        switch (a.strides[axis]) {
            case StrideClass::One: return b_.i64(1);
            case StrideClass::Zero: return b_.i64(0);
            default: return a.view_strides[axis];
        }
    }
    /// Row-major, without gaps, but for repeated axes at the end.
    bool is_dense(const Array& a) {
        std::size_t rank = a.extents.size();
        std::int64_t step = 0;
        while (rank > outer_ && is_constant(stride(a, rank - 1), step) && step == 0) --rank;
        if (!is_constant(stride(a, rank - 1), step) || step != 1) return false;
        for (std::size_t k = rank; k-- > 1;) {
            if (!is_product(stride(a, k - 1), a.extents[k], stride(a, k))) return false;
        }
        return true;
    }
    bool is_product(E e, E x, E y) {
        std::int64_t factor = 0;
        if (is_constant(y, factor) && factor == 1) return same(e, x);
        if (e->kind == ExprKind::Var) e = declared_.value(e->id);
        return e && e->kind == ExprKind::Binary && e->op == Op::Mul &&
               ((same(e->args[0], x) && same(e->args[1], y)) ||
                (same(e->args[0], y) && same(e->args[1], x)));
    }
    Builder& b_;
    const DeclaredOnce& declared_;
    std::size_t outer_;
};

}  // namespace

void DeclaredOnce::collect(S s) {
    auto note = [&](std::int32_t var, E value) {
        auto [place, is_new] = values_.try_emplace(var, value);
        if (!is_new) place->second = nullptr;
    };
    if (s->kind == StmtKind::Declare)
        note(s->id, s->args.empty() ? nullptr : s->args[0]);
    else if (s->kind == StmtKind::Assign || s->kind == StmtKind::For)
        note(s->id, nullptr);
    for (std::int32_t v : s->outs) note(v, nullptr);
    for (S b : s->body) collect(b);
    for (S b : s->orelse) collect(b);
}

Nest::Nest(S s) {
    while (is_counted(s)) {
        loops.push_back(s);
        body.clear();
        flatten(s->body, body);
        if (body.size() != 1) return;
        s = body[0];
    }
}

bool only_raises(S s) {
    std::vector<S> taken;
    if (s->kind == StmtKind::If && s->orelse.empty()) flatten(s->body, taken);
    return taken.size() == 1 && taken[0]->kind == StmtKind::Return && taken[0]->fault >= 0;
}

bool has_streaming_store(S s) {
    if (s->kind == StmtKind::Store) return s->streaming;
    return std::any_of(s->body.begin(), s->body.end(), has_streaming_store);
}

bool Nest::has_loops(std::size_t below) const {
    auto is_loop = [](S s) { return contains(s, StmtKind::For); };
    return below < loops.size() || std::any_of(body.begin(), body.end(), is_loop);
}

std::vector<S> Nest::inside(std::size_t outer) const {
    return outer < loops.size() ? std::vector<S>{loops[outer]} : body;
}

Touched::Touched(const Function& f, S s) : reads(f.vars.size()), f_(f), own_(f.vars.size()) {
    auto declare = [&](auto& self, S t) -> void {
        if (t->kind == StmtKind::Declare || t->kind == StmtKind::For)
            own_[static_cast<std::size_t>(t->id)] = true;
        for (S b : t->body) self(self, b);
        for (S b : t->orelse) self(self, b);
    };
    declare(declare, s);
    look(s);
}

void Touched::look(E e) {
    if (e->kind == ExprKind::Var) reads[static_cast<std::size_t>(e->id)] = true;
    if (e->kind == ExprKind::WorkItem || e->kind == ExprKind::Memory) is_simple = false;
    if (e->kind == ExprKind::Load) {
        is_simple = is_simple && e->access == Access::Inside;
        access(e->id, false, e->args);
    }
    for (E a : e->args) look(a);
}

void Touched::look(S s) {
    switch (s->kind) {
        case StmtKind::Block:
        case StmtKind::Declare:
        case StmtKind::While:
        case StmtKind::If: break;
        case StmtKind::Allocate:
            is_simple =
                is_simple && f_.arrays[static_cast<std::size_t>(s->id)].space == Space::Private;
            break;
        case StmtKind::Assign:
            is_simple = is_simple && own_[static_cast<std::size_t>(s->id)];
            break;
        case StmtKind::Store:
            is_simple = is_simple && s->access == Access::Inside;
            access(s->id, true, s->args.first(s->args.size() - 1));
            break;
        case StmtKind::For: is_simple = is_simple && s->reductions.empty() && !s->numbers; break;
        default: is_simple = false;
    }
    if (!is_simple) return;
    for (E e : s->args) look(e);
    for (S b : s->body) look(b);
    for (S b : s->orelse) look(b);
}

void Touched::access(std::int32_t array, bool is_store, std::span<const E> indices) {
    const Array& a = f_.arrays[static_cast<std::size_t>(array)];
    if (a.space == Space::Private) return;
    accesses.push_back({array, is_store, indices});
    auto read = [&](E e) {
        if (e) mark_read(e, reads);
    };
    read(a.offset);
    std::for_each(a.extents.begin(), a.extents.end(), read);
    std::for_each(a.view_strides.begin(), a.view_strides.end(), read);
}

RowStrips::RowStrips(Builder& b, E length, std::initializer_list<std::int64_t> most, E n)
    : b_(b), n_(n) {
    E log_rows = b.i64(0);
    std::int64_t more = 1;
    for (std::int64_t m : most)
        log_rows = b.select(b.binary(Op::Le, length, b.i64(m)), b.i64(more++), log_rows);
    auto var = [&](const char* name) { return b.var(name, DType::Int64); };
    shift_ = var("shift");
    in_front_.push_back(b.declare(shift_, log_rows));
    rows_ = var("rows");
    in_front_.push_back(b.declare(rows_, shifted(Op::Shl, b.i64(1))));
    strip_ = var("strip");
    begin_ = var("begin");
    end_ = var("end");
}

S RowStrips::loop(LoopKind kind, std::span<const S> body) const {
    std::vector<S> all{
        b_.declare(begin_, shifted(Op::Shl, b_.read(strip_))),
        b_.declare(end_, b_.binary(Op::Min, b_.add(b_.read(begin_), b_.read(rows_)), n_))};
    all.insert(all.end(), body.begin(), body.end());
    E strips = shifted(Op::Shr, b_.sub(b_.add(n_, b_.read(rows_)), b_.i64(1)));
    return b_.loop(kind, strip_, b_.i64(0), strips, b_.i64(1), b_.block(all));
}

bool share_rows_only(Builder& b, const Memories& memories, const DeclaredOnce& declared,
                     const Nest& first, const Touched& by_first, const Nest& second,
                     const Touched& by_second, std::size_t outer) {
    RowPlaces places(b, declared, outer);
    bool share = false;
    for (const RowAccess& x : by_first.accesses) {
        for (const RowAccess& y : by_second.accesses) {
            if (memories.of(x.array) != memories.of(y.array)) continue;
            share = true;
            if (!x.is_store && !y.is_store) continue;
            const auto here = places.find(first, x), there = places.find(second, y);
            if (!here || !there || !(*here == *there)) return false;
        }
    }
    return share;
}

}  // namespace unisono::passes
