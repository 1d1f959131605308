// Lowers calls of C functions: an adapter per combination of argument types checks and converts
// numbers, checks arrays, and calls the function as C does.
#include "frontend/native.h"

#include "frontend/diagnose.h"
#include "frontend/module.h"
#include "ir/build.h"

namespace unisono::frontend {

namespace {

class Adapter {
  public:
    Adapter(const Source& source, const std::vector<Type>& args, std::int32_t callee,
            ir::Function& function)
        : source_(source), native_(*source.native), args_(args), callee_(callee), b_(function) {}

    void build() {
        std::size_t results = native_.result_form ? leaf_count(*native_.result_form) : 0;
        std::size_t count = native_.params.size() - results;
        if (args_.size() != count)
            refuse("takes " + std::to_string(count) + " arguments; got " +
                       std::to_string(args_.size()),
                   "give one for each");
        for (std::size_t k = 0; k < args_.size(); ++k)
            native_.params[k].is_pointer ? pointer(k) : number(k);
        std::vector<std::int32_t> parts;  // of a struct that C stores
        for (std::size_t k = count; k < native_.params.size(); ++k) {
            parts.push_back(b_.local_array("part", native_.params[k].dtype, 1, ir::Space::Private));
            ir::E one[] = {b_.i64(1)};
            body_.push_back(b_.allocate(parts.back(), one));
            arrays_.push_back(parts.back());
        }
        std::vector<std::int32_t> outs;
        if (native_.result) {
            outs.push_back(b_.var("result", *native_.result));
            body_.push_back(b_.declare(outs.front(), nullptr));
        }
        body_.push_back(b_.call(callee_, scalars_, arrays_, outs));
        if (native_.may_throw) {
            std::int32_t status[] = {b_.var("status", DType::Int64)};
            body_.push_back(b_.declare(status[0], b_.i64(0)));
            ir::E nothing[] = {b_.i64(0)};
            body_.push_back(b_.native("cpp_failed", nothing, status));
            std::int32_t site = b_.site(ErrorKind::Runtime, cpp_exception);
            ir::E failed = b_.binary(Op::Ne, b_.read(status[0]), b_.i64(0));
            body_.push_back(b_.branch(failed, b_.raise(site, {})));
        }
        if (native_.result) {
            DType t = python_dtype(*native_.result);
            b_.function().results = {t};
            ir::E value[] = {b_.cast(b_.read(outs.front()), t)};
            body_.push_back(b_.ret(value));
        }
        if (native_.result_form) {
            std::vector<ir::E> values;
            for (std::size_t k = 0; k < parts.size(); ++k) {
                DType t = python_dtype(native_.params[count + k].dtype);
                ir::E first[] = {b_.i64(0)};
                values.push_back(b_.cast(b_.load(parts[k], first, ir::Access::Inside), t));
                b_.function().results.push_back(t);
            }
            body_.push_back(b_.ret(values));
        }
        b_.function().body = b_.block(body_);
    }

    /// As C's numbers come back to Python: int, float or bool; uint64 does not fit.
    static DType python_dtype(DType t) {
        if (is_bool(t) || t == DType::UInt64) return t;
        return is_float(t) ? DType::Float64 : DType::Int64;
    }
    static Type python_type(DType t) {
        if (t == DType::UInt64) return Type::numpy(t);
        return Type::python(is_bool(t) ? Weak::Bool : is_float(t) ? Weak::Float : Weak::Int);
    }

    static std::size_t leaf_count(const NativeForm& form) {
        std::size_t count = form.items.empty();
        for (const NativeForm& f : form.items) count += leaf_count(f);
        return count;
    }
    /// The named tuple of a struct, whose numbers are results from `index` on.
    static Type result_type(const NativeForm& form, int& index, ResultShape& shape) {
        if (form.kind == NativeForm::Kind::Plain) {
            shape.kind = ResultShape::Kind::Scalar;
            shape.index = index++;
            shape.dtype = python_dtype(form.dtype);
            return python_type(form.dtype);
        }
        const bool is_complex_number = form.kind == NativeForm::Kind::Complex;
        shape.kind = is_complex_number ? ResultShape::Kind::Complex : ResultShape::Kind::Tuple;
        std::vector<Type> types;
        for (const NativeForm& f : form.items)
            types.push_back(result_type(f, index, shape.items.emplace_back()));
        if (is_complex_number) return Type::python(Weak::Complex);
        Type made = Type::tuple(std::move(types));
        made.record = shape.record = form.record;
        return made;
    }

  private:
    [[noreturn]] void refuse(const std::string& what, const std::string& way_out) const {
        throw Error(ErrorKind::Type, source_.name + ": " + what + "; the declaration is " +
                                         native_.declaration + "; " + way_out);
    }
    const std::string& name_of(std::size_t k) const {
        const std::string& own = native_.params[k].name;
        return own.empty() ? source_.params[k] : own;
    }
    std::string argument(std::size_t k) const { return "argument '" + name_of(k) + "'"; }

    /// Ends the call with an error unless the condition holds.
    void demand(ir::E condition, ErrorKind kind, const std::string& message, ir::E value) {
        std::int32_t site = b_.site(kind, source_.name + ": " + message);
        ir::E values[] = {value};
        body_.push_back(b_.branch(b_.unary(Op::Not, condition), b_.raise(site, values)));
    }

    void number(std::size_t k) {
        const NativeParam& p = native_.params[k];
        const Type& t = args_[k];
        if (!t.is_scalar() || t.is_complex())
            refuse(argument(k) + " is a number (" + p.spelling + "); got " + describe(t),
                   "pass a number");
        if (is_float(t.dtype) && !is_float(p.dtype))
            refuse(argument(k) + " is an integer (" + p.spelling + "); got " + describe(t),
                   "convert it with int()");
        ir::E given = b_.param(b_.scalar_param(name_of(k), t.dtype));
        ir::E taken = b_.cast(given, p.dtype);
        bool may_not_fit = is_integer(t.dtype) && is_integer(p.dtype) &&
                           (size_of(t.dtype) > size_of(p.dtype) ||
                            (t.dtype != p.dtype && size_of(t.dtype) == size_of(p.dtype)) ||
                            (is_signed(t.dtype) && is_unsigned(p.dtype)));
        if (may_not_fit) {
            ir::E back = b_.cast(taken, t.dtype);
            ir::E same = b_.binary(Op::Eq, back, given);
            if (is_signed(t.dtype) != is_signed(p.dtype)) {
                ir::E side = is_signed(t.dtype) ? b_.binary(Op::Ge, given, b_.zero(t.dtype))
                                                : b_.binary(Op::Ge, taken, b_.zero(p.dtype));
                same = b_.binary(Op::And, same, side);
            }
            demand(same, ErrorKind::Overflow,
                   argument(k) + " does not fit in C's " + p.spelling + "; got {0}; expected " +
                       range_of(p.dtype) + "; pass such a number",
                   b_.cast(given, DType::Int64));
        }
        scalars_.push_back(taken);
    }

    static std::string range_of(DType t) {
        const auto bits = static_cast<unsigned>(8 * size_of(t));
        const std::uint64_t largest = ~0ull >> (64 - bits + is_signed(t));
        const std::string low =
            is_signed(t) ? std::to_string(-static_cast<std::int64_t>(largest) - 1) : "0";
        return low + " to " + std::to_string(largest);
    }

    ir::E is_packed(std::int32_t array, int axis, ir::E size) {
        return b_.binary(Op::Or, b_.binary(Op::Eq, b_.stride(array, axis), size),
                         b_.binary(Op::Le, b_.extent(array, axis), b_.i64(1)));
    }

    /// None, or an address that C gave.
    void address(std::size_t k, const std::string& what) {
        const NativeParam& p = native_.params[k];
        const Type& t = args_[k];
        ir::E place = b_.i64(0);
        if (t.is_scalar()) {
            place = b_.cast(b_.param(b_.scalar_param(name_of(k), t.dtype)), DType::Int64);
            // The first pages belong to nobody: a number there is a count that came in the wrong
            // place.
            ir::E is_none = b_.binary(Op::Eq, place, b_.i64(0));
            ir::E is_far = b_.binary(Op::Ge, place, b_.i64(first_address));
            demand(b_.binary(Op::Or, is_none, is_far), ErrorKind::Value,
                   what + "; got {0}, which is not an address; pass an array of " +
                       std::string(name(p.dtype)) + ", None, or an address that C gave",
                   place);
        }
        points_to(place, p.dtype);
    }

    /// Text, as C has it: for the time of the call.
    void text(std::size_t k) {
        const std::int32_t place[] = {b_.var("text", DType::Int64)};
        body_.push_back(b_.declare(place[0], b_.i64(0)));
        ir::E handle[] = {b_.param(b_.scalar_param(name_of(k), DType::Int64))};
        body_.push_back(b_.native("text_encoded", handle, place));
        demand(b_.binary(Op::Ne, b_.read(place[0]), b_.i64(0)), ErrorKind::Memory,
               "out of memory for " + argument(k), b_.i64(0));
        points_to(b_.read(place[0]), native_.params[k].dtype);
    }

    void points_to(ir::E place, DType dtype) {
        std::int32_t slot = b_.slot("address", dtype, true);
        body_.push_back(b_.adopt(slot, place, b_.i64(0)));
        arrays_.push_back(b_.view("pointer", slot, b_.i64(0), {b_.i64(1)}, {b_.i64(1)},
                                  {ir::StrideClass::One}, true));
    }

    void pointer(std::size_t k) {
        const NativeParam& p = native_.params[k];
        const Type& t = args_[k];
        std::string what = argument(k) + " is a pointer (" + p.spelling + ")";
        bool is_char = p.spelling.find("char") != std::string::npos && size_of(p.dtype) == 1;
        if (t.is_text() && is_char && !p.writes) return text(k);
        if (t.kind == Type::Kind::None || (t.is_scalar() && is_integer(t.dtype)))
            return address(k, what);
        if (!t.is_array())
            refuse(what + "; got " + describe(t), "pass an array of " + std::string(name(p.dtype)));
        if (t.dtype != p.dtype && p.spelling.find("**") != std::string::npos)
            refuse(what + "; got " + describe(t),
                   "pass the addresses of the rows, as in np.array([r.ctypes.data for r in "
                   "a]).view(\"uint8\")");
        if (t.dtype != p.dtype)
            refuse(what + "; got " + describe(t),
                   "convert it with .astype(\"" + std::string(name(p.dtype)) + "\")");
        if (p.writes && !t.writable)
            refuse(what + " that is written through; got a read-only array", "pass a copy");
        std::int32_t array = b_.array_param(name_of(k), t.dtype, t.rank, t.writable, t.strides);
        // C sees a block of memory: axes must follow each other without gaps.
        ir::E size = b_.i64(1), as_fortran = nullptr;
        for (int axis = 0; axis < t.rank && native_.any_order && t.rank > 1; ++axis) {
            ir::E packed = is_packed(array, axis, size);
            as_fortran = as_fortran ? b_.binary(Op::And, as_fortran, packed) : packed;
            size = b_.mul(size, b_.extent(array, axis));
        }
        size = b_.i64(1);
        for (int axis = t.rank; axis-- > 0;) {
            ir::E n = b_.extent(array, axis), packed = is_packed(array, axis, size);
            if (as_fortran) packed = b_.binary(Op::Or, packed, as_fortran);
            demand(packed, ErrorKind::Value,
                   argument(k) +
                       " must be contiguous: C sees a pointer; got a stride of {0} elements; pass "
                       "np.ascontiguousarray of it",
                   b_.stride(array, axis));
            size = b_.mul(size, n);
        }
        arrays_.push_back(b_.view("pointer", array, b_.i64(0), {size}, {b_.i64(1)},
                                  {ir::StrideClass::One}, t.writable));
    }

    static constexpr std::int64_t first_address = 1 << 16;
    const Source& source_;
    const NativeFunction& native_;
    const std::vector<Type>& args_;
    std::int32_t callee_;
    ir::Builder b_;
    std::vector<ir::S> body_;
    std::vector<ir::E> scalars_;
    std::vector<std::int32_t> arrays_;
};

/// The function itself, as its declaration says.
std::unique_ptr<ir::Function> native_function(const Source& source) {
    const NativeFunction& n = *source.native;
    auto made = std::make_unique<ir::Function>(n.symbol);
    ir::Builder b(*made);
    for (std::size_t k = 0; k < n.params.size(); ++k) {
        const NativeParam& p = n.params[k];
        std::string name = "p" + std::to_string(k);
        if (p.is_pointer)
            b.array_param(name, p.dtype, 1, p.writes, {ir::StrideClass::One});
        else
            b.scalar_param(name, p.dtype);
    }
    if (n.result) made->results = {*n.result};
    made->native = n.code;
    made->symbol = n.symbol;
    made->is_short = n.is_short;
    std::vector<ir::S> nothing;
    if (n.result) {
        ir::E value[] = {b.zero(*n.result)};
        nothing.push_back(b.ret(value));
    }
    made->body = b.block(nothing);  // stands for the code, which passes do not see
    return made;
}

}  // namespace

void ModuleLowerer::lower_native(const Source& source, Instance& made) {
    const NativeFunction& n = *source.native;
    std::int32_t callee = -1;
    for (std::size_t k = 0; k < functions_.size(); ++k) {
        if (functions_[k] && functions_[k]->native == n.code && functions_[k]->symbol == n.symbol)
            callee = static_cast<std::int32_t>(k);
    }
    if (callee < 0) {
        callee = static_cast<std::int32_t>(functions_.size());
        functions_.push_back(native_function(source));
    }
    auto adapter = std::make_unique<ir::Function>(source.name + "_call");
    file(source.file);
    Adapter(source, made.args, callee, *adapter).build();
    functions_[static_cast<std::size_t>(made.index)] = std::move(adapter);
    made.in_order = n.is_pure ? 0 : 1;
    made.result = n.result ? Adapter::python_type(*n.result) : Type::none();
    made.shape = {};
    if (n.result) {
        made.shape.kind = ResultShape::Kind::Scalar;
        made.shape.index = 0;
        made.shape.dtype = Adapter::python_dtype(*n.result);
    }
    if (n.result_form) {
        int index = 0;
        made.result = Adapter::result_type(*n.result_form, index, made.shape);
    }
    made.has_result = true;
}

}  // namespace unisono::frontend
