// Operators and functions on arrays; included by unisono.hpp.
#pragma once

#include "unisono/unisono.hpp"

namespace un {

namespace detail {

inline Array apply(int op, std::initializer_list<Operand> operands, const Array* out = nullptr) {
    un_operand all[2];
    int n = 0;
    for (const Operand& o : operands) all[n++] = o.get();
    return Array(checked(engine().apply(op, all, n, out ? out->handle() : nullptr)));
}
inline int operation(const char* name) { return checked(engine().operation(name)); }

template <class A, class B>
concept Operands = (std::is_base_of_v<Array, A> && std::is_convertible_v<B, Operand>) ||
                   (std::is_base_of_v<Array, B> && std::is_arithmetic_v<A>);

}  // namespace detail

/// target[...] = value: what assigning to a Window does.
inline void assign(const Array& target, const Operand& value) {
    detail::checked(detail::engine().assign(target.handle(), value.get()));
}

/// A view made by indexing: assignment writes its elements.
class Window : public Array {
  public:
    explicit Window(Array a) : Array(std::move(a)) {}
    Window(const Window&) = default;
    Window& operator=(const Window& value) { return write(value); }
    Window& operator=(const Operand& value) { return write(value); }
    Window& operator+=(const Operand& value) { return update("add", value); }
    Window& operator-=(const Operand& value) { return update("subtract", value); }
    Window& operator*=(const Operand& value) { return update("multiply", value); }
    Window& operator/=(const Operand& value) { return update("divide", value); }

  private:
    Window& write(const Operand& value) {
        un::assign(*this, value);
        return *this;
    }
    Window& update(const char* name, const Operand& value) {
        detail::apply(detail::operation(name), {Operand(*this), value}, this);
        return *this;
    }
};

template <class... I>
Window Array::operator()(I... items) const {
    const un_index all[] = {Index(items).item...};
    return Window(made(detail::engine().index(handle(), all, sizeof...(I))));
}

template <std::integral... I>
Array Array::at(I... items) const {
    return (*this)(items...).copy();
}

#define UNISONO_OPERATOR(symbol, name)                                              \
    template <class A, class B>                                                     \
    requires detail::Operands<A, B> Array operator symbol(const A& a, const B& b) { \
        static const int op = detail::operation(name);                              \
        return detail::apply(op, {Operand(a), Operand(b)});                         \
    }
UNISONO_OPERATOR(+, "add")
UNISONO_OPERATOR(-, "subtract")
UNISONO_OPERATOR(*, "multiply")
UNISONO_OPERATOR(/, "divide")
UNISONO_OPERATOR(%, "remainder")
UNISONO_OPERATOR(<, "less")
UNISONO_OPERATOR(<=, "less_equal")
UNISONO_OPERATOR(>, "greater")
UNISONO_OPERATOR(>=, "greater_equal")
UNISONO_OPERATOR(==, "equal")
UNISONO_OPERATOR(!=, "not_equal")
UNISONO_OPERATOR(&, "bitwise_and")
UNISONO_OPERATOR(|, "bitwise_or")
UNISONO_OPERATOR(^, "bitwise_xor")
UNISONO_OPERATOR(<<, "left_shift")
UNISONO_OPERATOR(>>, "right_shift")
#undef UNISONO_OPERATOR

#define UNISONO_FUNCTION(name, numpy)                      \
    inline Array name(const Array& a) {                    \
        static const int op = detail::operation(numpy);    \
        return detail::apply(op, {Operand(a)});            \
    }
UNISONO_FUNCTION(operator-, "negative")
UNISONO_FUNCTION(operator~, "invert")
UNISONO_FUNCTION(abs, "absolute")
UNISONO_FUNCTION(sqrt, "sqrt")
UNISONO_FUNCTION(cbrt, "cbrt")
UNISONO_FUNCTION(floor, "floor")
UNISONO_FUNCTION(ceil, "ceil")
UNISONO_FUNCTION(trunc, "trunc")
UNISONO_FUNCTION(rint, "rint")
UNISONO_FUNCTION(exp, "exp")
UNISONO_FUNCTION(exp2, "exp2")
UNISONO_FUNCTION(expm1, "expm1")
UNISONO_FUNCTION(log, "log")
UNISONO_FUNCTION(log2, "log2")
UNISONO_FUNCTION(log10, "log10")
UNISONO_FUNCTION(log1p, "log1p")
UNISONO_FUNCTION(sin, "sin")
UNISONO_FUNCTION(cos, "cos")
UNISONO_FUNCTION(tan, "tan")
UNISONO_FUNCTION(asin, "arcsin")
UNISONO_FUNCTION(acos, "arccos")
UNISONO_FUNCTION(atan, "arctan")
UNISONO_FUNCTION(sinh, "sinh")
UNISONO_FUNCTION(cosh, "cosh")
UNISONO_FUNCTION(tanh, "tanh")
UNISONO_FUNCTION(isnan, "isnan")
UNISONO_FUNCTION(isinf, "isinf")
UNISONO_FUNCTION(isfinite, "isfinite")
#undef UNISONO_FUNCTION

#define UNISONO_FUNCTION(name, numpy)                                          \
    template <class A, class B>                                                \
    requires detail::Operands<A, B> Array name(const A& a, const B& b) {       \
        static const int op = detail::operation(numpy);                        \
        return detail::apply(op, {Operand(a), Operand(b)});                    \
    }
UNISONO_FUNCTION(pow, "power")
UNISONO_FUNCTION(atan2, "arctan2")
UNISONO_FUNCTION(hypot, "hypot")
UNISONO_FUNCTION(fmod, "fmod")
UNISONO_FUNCTION(minimum, "minimum")
UNISONO_FUNCTION(maximum, "maximum")
#undef UNISONO_FUNCTION

/// Any operation by its NumPy name.
inline Array apply(const char* name, std::initializer_list<Operand> operands) {
    return detail::apply(detail::operation(name), operands);
}
inline Array where(const Operand& condition, const Operand& a, const Operand& b) {
    return Array(detail::checked(detail::engine().where(condition.get(), a.get(), b.get())));
}
inline Array matmul(const Array& a, const Array& b) {
    return Array(detail::checked(detail::engine().matmul(a.handle(), b.handle())));
}

/// An array of uninitialised elements.
inline Array empty(const std::vector<std::int64_t>& shape, DType dtype = float64,
                   const Device& device = {}) {
    return Array(detail::checked(detail::engine().empty(static_cast<int>(shape.size()),
                                                        shape.data(), dtype, device.handle())));
}
/// Of equal elements; their dtype is by default that of a Python number: bool, int64 or float64.
template <class T>
requires std::is_arithmetic_v<T> Array full(const std::vector<std::int64_t>& shape, T value,
                                            DType dtype = std::is_same_v<T, bool> ? bool_
                                                          : std::is_integral_v<T> ? int64
                                                                                  : float64,
                                            const Device& device = {}) {
    return Array(detail::checked(
        detail::engine().full(static_cast<int>(shape.size()), shape.data(), Operand(value).get(),
                              dtype, device.handle())));
}
inline Array zeros(const std::vector<std::int64_t>& shape, DType dtype = float64,
                   const Device& device = {}) {
    return full(shape, 0, dtype, device);
}
inline Array ones(const std::vector<std::int64_t>& shape, DType dtype = float64,
                  const Device& device = {}) {
    return full(shape, 1, dtype, device);
}
/// 0, 1, 2... as int64.
inline Array arange(std::int64_t n, const Device& device = {}) {
    return Array(detail::checked(detail::engine().arange(n, device.handle())));
}
/// A vector's elements, which the array takes over without a copy.
template <class T>
Array from(std::vector<T> values, std::vector<std::int64_t> shape = {}) {
    if (shape.empty()) shape.push_back(static_cast<std::int64_t>(values.size()));
    std::int64_t size = 1;
    for (auto n : shape) size *= n;
    if (size != static_cast<std::int64_t>(values.size()))
        throw Error(UN_VALUE_ERROR, "from: the shape wants " + std::to_string(size) +
                                        " elements; got " + std::to_string(values.size()));
    auto* kept = new std::vector<T>(std::move(values));
    un_array* made = detail::engine().from_memory(
        kept->data(), static_cast<int>(shape.size()), shape.data(), nullptr, dtype_of<T>, 0, kept,
        [](void* owner) { delete static_cast<std::vector<T>*>(owner); });
    if (!made) delete kept;
    return Array(detail::checked(made));
}

/// Computes the arrays now, together.
template <class... A>
requires(std::is_base_of_v<Array, A>&&...) void eval(const A&... arrays) {
    const un_array* all[] = {arrays.handle()...};
    detail::checked(detail::engine().evaluate(all, sizeof...(A)));
}

/// Prints nested brackets; rows of more than eight elements in short.
inline std::ostream& operator<<(std::ostream& out, const Array& a) {
    auto shape = a.shape();
    if (shape.empty()) return out << a.value<double>();
    out << '[';
    for (std::int64_t k = 0; k < shape[0]; ++k) {
        if (shape[0] > 8 && k == 3) {
            out << " ...";
            k = shape[0] - 3;
        }
        if (k > 0) out << (shape.size() > 1 ? "\n " : " ");
        out << static_cast<const Array&>(a(k));
    }
    return out << ']';
}

}  // namespace un
