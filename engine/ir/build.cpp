// Makes IR nodes and infers their dtypes.
#include "ir/build.h"

#include <algorithm>

#include "core/error.h"

namespace unisono::ir {

Function::Function(std::string n) : name(std::move(n)), arena(std::make_unique<Arena>()) {}
Function::~Function() = default;
Function::Function(Function&&) noexcept = default;
Function& Function::operator=(Function&&) noexcept = default;

Expr* Arena::expr(Expr e) { return &exprs_.emplace_back(e); }
Stmt* Arena::stmt(Stmt s) { return &stmts_.emplace_back(s); }

std::int32_t Builder::var(std::string name, DType t) {
    f_.vars.push_back({std::move(name), t});
    return static_cast<std::int32_t>(f_.vars.size()) - 1;
}

std::int32_t Builder::scalar_param(std::string name, DType t) {
    f_.params.push_back({std::move(name), t, -1});
    return static_cast<std::int32_t>(f_.params.size()) - 1;
}

std::int32_t Builder::array_param(std::string name, DType t, int rank, bool writable,
                                  std::vector<StrideClass> strides) {
    if (strides.empty()) strides.assign(static_cast<std::size_t>(rank), StrideClass::Other);
    Array a{};
    a.name = name;
    a.dtype = t;
    a.rank = rank;
    a.writable = writable;
    a.param = static_cast<std::int32_t>(f_.params.size());
    a.strides = std::move(strides);
    f_.arrays.push_back(std::move(a));
    auto id = static_cast<std::int32_t>(f_.arrays.size()) - 1;
    f_.params.push_back({std::move(name), t, id});
    return id;
}

std::int32_t Builder::local_array(std::string name, DType t, int rank, Space space) {
    std::vector<StrideClass> strides(static_cast<std::size_t>(rank), StrideClass::Other);
    if (rank > 0) strides.back() = StrideClass::One;
    Array a{};
    a.name = std::move(name);
    a.dtype = t;
    a.rank = rank;
    a.space = space;
    a.noalias = true;
    a.strides = std::move(strides);
    f_.arrays.push_back(std::move(a));
    return static_cast<std::int32_t>(f_.arrays.size()) - 1;
}

std::int32_t Builder::slot(std::string name, DType t, bool writable) {
    std::int32_t id = local_array(std::move(name), t, 1, Space::Global);
    Array& a = f_.arrays.back();
    a.noalias = false;
    a.is_slot = true;
    a.writable = writable;
    return id;
}

std::int32_t Builder::view(std::string name, std::int32_t base, E offset, std::vector<E> extents,
                           std::vector<E> strides, std::vector<StrideClass> classes,
                           bool writable) {
    DType t = f_.arrays.at(static_cast<std::size_t>(base)).dtype;
    std::int32_t id = slot(std::move(name), t, writable);
    Array& a = f_.arrays.back();
    a.is_slot = false;
    a.rank = static_cast<int>(extents.size());
    a.base = base;
    a.offset = offset;
    a.extents = std::move(extents);
    a.view_strides = std::move(strides);
    a.strides = std::move(classes);
    return id;
}

std::int32_t Builder::site(ErrorKind kind, std::string message, std::int32_t exception) {
    f_.sites.push_back({kind, std::move(message), line, exception});
    return static_cast<std::int32_t>(f_.sites.size()) - 1;
}

Expr Builder::node(ExprKind kind, DType t, std::initializer_list<E> args) {
    Expr e{};
    e.kind = kind;
    e.dtype = t;
    e.args = list(std::span<const E>(args.begin(), args.size()));
    e.line = line;
    return e;
}

Stmt Builder::node(StmtKind kind) {
    Stmt s{};
    s.kind = kind;
    s.line = line;
    return s;
}

E Builder::constant(Scalar value) {
    Expr e = node(ExprKind::Const, value.dtype);
    e.bits = value.bits;
    return own(e);
}
E Builder::i64(std::int64_t value) { return constant(Scalar::of(DType::Int64, value)); }
E Builder::boolean(bool value) { return constant(Scalar::of(DType::Bool, value)); }
E Builder::zero(DType t) { return number(t, 0); }
E Builder::number(DType t, double value) {
    if (!is_complex(t)) return constant(Scalar::of(t, value));
    return pair(number(part_dtype(t), value), number(part_dtype(t), 0));
}

E Builder::identity(Op op, DType t) {
    if (!is_complex(t)) return constant(unisono::identity(op, t));
    UNISONO_ASSERT(op == Op::Add || op == Op::Mul);
    return number(t, op == Op::Mul ? 1 : 0);
}

E Builder::read(std::int32_t var) {
    Expr e = node(ExprKind::Var, f_.vars.at(static_cast<std::size_t>(var)).dtype);
    e.id = var;
    return own(e);
}

E Builder::param(std::int32_t param) {
    Expr e = node(ExprKind::Param, f_.params.at(static_cast<std::size_t>(param)).dtype);
    e.id = param;
    return own(e);
}

E Builder::extent(std::int32_t array, int axis) {
    const Array& a = f_.arrays.at(static_cast<std::size_t>(array));
    if (a.is_view() || !a.extents.empty()) return a.extents.at(static_cast<std::size_t>(axis));
    Expr e = node(ExprKind::Param, DType::Int64);
    e.id = a.param;
    e.field = Field::Extent;
    e.axis = axis;
    return own(e);
}

E Builder::stride(std::int32_t array, int axis) {
    const Array& a = f_.arrays.at(static_cast<std::size_t>(array));
    switch (a.strides.at(static_cast<std::size_t>(axis))) {
        case StrideClass::Zero: return i64(0);
        case StrideClass::One: return i64(1);
        case StrideClass::MinusOne: return i64(-1);
        case StrideClass::Other: break;
    }
    if (a.is_view()) return a.view_strides.at(static_cast<std::size_t>(axis));
    if (!a.extents.empty()) {
        E elements = i64(1);
        for (std::size_t k = a.extents.size(); --k > static_cast<std::size_t>(axis);)
            elements = mul(elements, a.extents[k]);
        return elements;
    }
    Expr e = node(ExprKind::Param, DType::Int64);
    e.id = a.param;
    e.field = Field::Stride;
    e.axis = axis;
    return own(e);
}

E Builder::load(std::int32_t array, std::span<const E> indices, Access access) {
    Expr e = node(ExprKind::Load, f_.arrays.at(static_cast<std::size_t>(array)).dtype);
    e.id = array;
    e.access = access;
    e.args = list(indices);
    return own(e);
}
E Builder::load(std::int32_t array, std::initializer_list<E> indices, Access access) {
    return load(array, std::span<const E>(indices.begin(), indices.size()), access);
}

E Builder::load_part(std::int32_t array, std::span<const E> indices, int part, Access access) {
    Expr e = *load(array, indices, access);
    e.dtype = part_dtype(e.dtype);
    e.axis = part;
    return own(e);
}

E Builder::part(E a, int part) {
    UNISONO_ASSERT(is_complex(a->dtype));
    if (a->kind == ExprKind::Pair) return a->args[static_cast<std::size_t>(part)];
    Expr e = node(ExprKind::Part, part_dtype(a->dtype), {a});
    e.axis = part;
    return own(e);
}

E Builder::pair(E real, E imag) {
    UNISONO_ASSERT(is_float(real->dtype) && real->dtype == imag->dtype);
    return own(node(ExprKind::Pair, dtype_of('c', size_of(real->dtype) * 2), {real, imag}));
}

/// Operations on float16 are made of casts: computed in float32, rounded after each.
E Builder::narrowed(Op op, E wide) {
    if (op == Op::NextAfter) {
        fail(ErrorKind::Unsupported,
             "nextafter: not supported for float16 in compiled code; float32, in which it "
             "computes, has "
             "other neighbours; convert with .astype first");
    }
    return cast(wide, *result_dtype(op, DType::Float16));
}

E Builder::unary(Op op, E a) {
    if (is_half(a->dtype)) return narrowed(op, unary(op, cast(a, DType::Float32)));
    auto t = result_dtype(op, a->dtype);
    UNISONO_ASSERT(t.has_value() && info(op).arity == 1);
    Expr e = node(ExprKind::Unary, *t, {a});
    e.op = op;
    return own(e);
}

E Builder::binary(Op op, E a, E b) {
    if (is_half(a->dtype)) {
        return narrowed(op, binary(op, cast(a, DType::Float32), cast(b, DType::Float32)));
    }
    auto t = result_dtype(op, a->dtype);
    UNISONO_ASSERT(t.has_value() && info(op).arity == 2 && a->dtype == b->dtype);
    Expr e = node(ExprKind::Binary, *t, {a, b});
    e.op = op;
    return own(e);
}

E Builder::select(E c, E a, E b) {
    UNISONO_ASSERT(is_bool(c->dtype) && a->dtype == b->dtype);
    return own(node(ExprKind::Select, a->dtype, {c, a, b}));
}
E Builder::cast(E a, DType t) {
    if (a->dtype == t) return a;
    if (is_complex(t) && !is_complex(a->dtype)) {
        DType p = part_dtype(t);
        return pair(cast(a, p), zero(p));
    }
    const bool widens = is_half(a->dtype) && t != DType::Float32;
    const bool narrows = is_half(t) && !is_float(a->dtype);
    if (widens || narrows) {
        E wide = cast(a, DType::Float32);
        return cast(widens && t == DType::UInt32 ? cast(wide, DType::Int64) : wide, t);
    }
    return own(node(ExprKind::Cast, t, {a}));
}
E Builder::bitcast(E a, DType t) {
    UNISONO_ASSERT(size_of(a->dtype) == size_of(t));
    return own(node(ExprKind::Bitcast, t, {a}));
}
E Builder::fma(E a, E b, E c) {
    UNISONO_ASSERT(is_float(a->dtype) && a->dtype == b->dtype && b->dtype == c->dtype);
    return own(node(ExprKind::Fma, a->dtype, {a, b, c}));
}
E Builder::work_item(WorkItemQuery q, int axis) {
    Expr e = node(ExprKind::WorkItem, DType::Int64);
    e.query = q;
    e.axis = axis;
    return own(e);
}

E Builder::address(std::int32_t array) {
    Expr e = node(ExprKind::Memory, DType::Int64);
    e.id = array;
    return own(e);
}
E Builder::block_of(std::int32_t slot) {
    Expr e = node(ExprKind::Memory, DType::Int64);
    e.id = slot;
    e.axis = 1;
    return own(e);
}

S Builder::block(std::span<const S> body) {
    Stmt s = node(StmtKind::Block);
    s.body = list(body);
    return own(s);
}
S Builder::block(std::initializer_list<S> body) {
    return block(std::span<const S>(body.begin(), body.size()));
}

S Builder::declare(std::int32_t var, E value) {
    Stmt s = node(StmtKind::Declare);
    s.id = var;
    if (value) s.args = list(std::span<const E>(&value, 1));
    return own(s);
}
S Builder::assign(std::int32_t var, E value) {
    UNISONO_ASSERT(f_.vars.at(static_cast<std::size_t>(var)).dtype == value->dtype);
    Stmt s = node(StmtKind::Assign);
    s.id = var;
    s.args = list(std::span<const E>(&value, 1));
    return own(s);
}

static std::vector<E> joined(std::span<const E> indices, E value) {
    std::vector<E> all(indices.begin(), indices.end());
    all.push_back(value);
    return all;
}

/// The statement writes an element; its operands are the indices and the value.
static Stmt on_element(Stmt s, std::int32_t array, std::span<const E> args, Access access) {
    s.id = array;
    s.args = args;
    s.access = access;
    return s;
}

S Builder::store(std::int32_t array, std::span<const E> indices, E value, Access access,
                 bool streaming) {
    UNISONO_ASSERT(f_.arrays.at(static_cast<std::size_t>(array)).dtype == value->dtype);
    Stmt s = on_element(node(StmtKind::Store), array, list(joined(indices, value)), access);
    s.streaming = streaming;
    return own(s);
}
S Builder::store_part(std::int32_t array, std::span<const E> indices, E value, int part,
                      Access access) {
    Stmt s = on_element(node(StmtKind::Store), array, list(joined(indices, value)), access);
    s.axis = part;
    return own(s);
}
S Builder::atomic(std::int32_t array, Op op, std::span<const E> indices, E value, Access access) {
    Stmt s = on_element(node(StmtKind::Atomic), array, list(joined(indices, value)), access);
    s.op = op;
    return own(s);
}
S Builder::allocate(std::int32_t array, std::span<const E> extents) {
    Stmt s = node(StmtKind::Allocate);
    s.id = array;
    s.args = list(extents);
    return own(s);
}
S Builder::make(std::int32_t slot, E elements) {
    Stmt s = node(StmtKind::Make);
    s.id = slot;
    s.args = list(std::span<const E>(&elements, 1));
    return own(s);
}
S Builder::point(std::int32_t slot, std::int32_t source) {
    Stmt s = node(StmtKind::Point);
    s.id = slot;
    s.arrays = f_.arena->copy(std::span<const std::int32_t>(&source, 1));
    return own(s);
}
S Builder::adopt(std::int32_t slot, E address, E block) {
    Stmt s = node(StmtKind::Point);
    s.id = slot;
    E args[] = {address, block};
    s.args = list(std::span<const E>(args));
    return own(s);
}
S Builder::retain(std::int32_t slot) {
    Stmt s = node(StmtKind::Retain);
    s.id = slot;
    return own(s);
}
S Builder::loop(LoopKind kind, std::int32_t var, E begin, E end, E step, S body,
                std::span<const Reduction> reductions, int axis) {
    Stmt s = node(StmtKind::For);
    s.loop = kind;
    s.id = var;
    s.axis = axis;
    E bounds[] = {begin, end, step};
    s.args = list(std::span<const E>(bounds));
    s.body = list(std::span<const S>(&body, 1));
    s.reductions = f_.arena->copy(reductions);
    return own(s);
}
S Builder::loop_while(E condition, S body) {
    Stmt s = node(StmtKind::While);
    s.args = list(std::span<const E>(&condition, 1));
    s.body = list(std::span<const S>(&body, 1));
    return own(s);
}
S Builder::branch(E condition, S body, S orelse) {
    Stmt s = node(StmtKind::If);
    s.args = list(std::span<const E>(&condition, 1));
    s.body = list(std::span<const S>(&body, 1));
    if (orelse) s.orelse = list(std::span<const S>(&orelse, 1));
    return own(s);
}
S Builder::leave() { return own(node(StmtKind::Break)); }
S Builder::next() { return own(node(StmtKind::Continue)); }
S Builder::ret(std::span<const E> results) {
    Stmt s = node(StmtKind::Return);
    s.args = list(results);
    return own(s);
}
S Builder::raise(std::int32_t site, std::span<const E> values) {
    Stmt s = node(StmtKind::Return);
    s.fault = site;
    s.args = list(values);
    return own(s);
}
S Builder::again(std::span<const E> values) {
    Stmt s = node(StmtKind::Return);
    s.fault = raised_again;
    s.args = list(values);
    return own(s);
}
S Builder::attempt(S body, std::span<const std::int32_t> outs) {
    Stmt s = node(StmtKind::Try);
    s.body = list(std::span<const S>(&body, 1));
    s.outs = f_.arena->copy(outs);
    return own(s);
}
S Builder::prefetch(E load) {
    Stmt s = node(StmtKind::Prefetch);
    s.args = list(std::span<const E>(&load, 1));
    return own(s);
}
S Builder::barrier() { return own(node(StmtKind::Barrier)); }
S Builder::native(const std::string& name, std::span<const E> values,
                  std::span<const std::int32_t> outs) {
    auto found = std::find(f_.natives.begin(), f_.natives.end(), name);
    Stmt s = node(StmtKind::Native);
    s.id = static_cast<std::int32_t>(found - f_.natives.begin());
    if (found == f_.natives.end()) f_.natives.push_back(name);
    s.args = list(values);
    s.outs = f_.arena->copy(outs);
    return own(s);
}
S Builder::call(std::int32_t function, std::span<const E> scalars,
                std::span<const std::int32_t> arrays, std::span<const std::int32_t> outs) {
    Stmt s = node(StmtKind::Call);
    s.id = function;
    s.args = list(scalars);
    s.arrays = f_.arena->copy(arrays);
    s.outs = f_.arena->copy(outs);
    return own(s);
}

}  // namespace unisono::ir
