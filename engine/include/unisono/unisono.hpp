// The engine for C++ programs: NumPy's slices, arithmetic and reductions without Python.
//
//     using namespace un;
//     Array u = zeros({1000, 1000}), v = u.copy();
//     u(0, _) = 100;
//     v(range(1, -1), range(1, -1)) = (u(range(0, -2), range(1, -1)) + u(range(2, _), range(1,
//     -1))) / 2; std::cout << v.at(1, 1).value<double>() << v << "\n";
//
// Operations are recorded and run when a value leaves (value(), print, eval()); a chain is one
// kernel. An Array shares its memory with the arrays it was copied or sliced from, as a Python name
// does; copy() copies elements. Errors are unisono::Error. One thread at a time may use the engine.
#pragma once

#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "backends/backend.h"
#include "tape/record.h"
#include "tape/tape.h"

namespace un {

using unisono::DType;
inline constexpr DType float64 = DType::Float64, float32 = DType::Float32,
                       float16 = DType::Float16, int64 = DType::Int64,
                       int32 = DType::Int32, int16 = DType::Int16, int8 = DType::Int8,
                       uint64 = DType::UInt64, uint32 = DType::UInt32, uint16 = DType::UInt16,
                       uint8 = DType::UInt8;

/// An open end of a range; alone, a whole axis.
struct Open {};
inline constexpr Open _{};

/// A bound of a range: a number, counted from the end where negative, or `_`.
struct Bound {
    std::int64_t at = 0;
    bool is_set = false;
    Bound(Open) {}
    template <std::integral T>
    Bound(T n) : at(static_cast<std::int64_t>(n)), is_set(true) {}
};

/// One axis of an index: an integer, range(start, stop[, step]) or `_`.
struct Index {
    unisono::IndexItem item;
    Index(Open) : item{unisono::IndexItem::Kind::Slice} {}
    template <std::integral T>
    Index(T n) : item{unisono::IndexItem::Kind::Integer, static_cast<std::int64_t>(n)} {}
    Index(Bound start, Bound stop, std::int64_t step)
        : item{unisono::IndexItem::Kind::Slice,
               start.at,
               stop.at,
               step,
               start.is_set,
               stop.is_set} {}
};

/// start:stop:step of Python.
inline Index range(Bound start, Bound stop, std::int64_t step = 1) { return {start, stop, step}; }

class Window;

class Array {
  public:
    Array() = default;
    explicit Array(unisono::Array a) : a_(std::move(a)) {}

    std::vector<std::int64_t> shape() const { return {a_.shape().begin(), a_.shape().end()}; }
    std::int64_t size() const { return a_.size(); }
    DType dtype() const { return a_.dtype(); }

    /// A view; assigning to it writes through.
    template <class... I>
    Window operator()(I... items) const;
    /// The element at a full index, as a 0-d array.
    template <std::integral... I>
    Array at(I... items) const;
    /// The only element; waits for it.
    template <class T>
    T value() const {
        return unisono::item(a_).as<T>();
    }
    Array copy() const { return Array(unisono::copy(a_)); }
    Array astype(DType t) const { return Array(unisono::astype(a_, t, true)); }
    Array to(std::string_view device) const {
        return Array(unisono::to_device(a_, &unisono::find_device(device)));
    }

    Array sum() const { return reduced(unisono::Op::Add); }
    Array max() const { return reduced(unisono::Op::Max); }
    Array min() const { return reduced(unisono::Op::Min); }

    const unisono::Array& engine() const { return a_; }

  protected:
    Array reduced(unisono::Op op) const { return Array(unisono::reduce(op, a_, {}, false)); }
    unisono::Array a_;
};

/// What an operation takes: an array or a number, whose dtype gives way as a Python number's does.
class Operand {
  public:
    Operand(const Array& a) : array_(a.engine()), arg_(array_.arg()) {}
    template <class T>
    requires std::is_arithmetic_v<T> Operand(T n)
        : arg_{unisono::scalar_operand(
                   unisono::Scalar::of(std::is_integral_v<T> ? int64 : float64, n)),
               std::is_integral_v<T> ? unisono::Weak::Int : unisono::Weak::Float} {}
    const unisono::Arg& arg() const { return arg_; }

  private:
    unisono::Array array_;
    unisono::Arg arg_;
};

/// A view made by indexing: assignment writes its elements.
class Window : public Array {
  public:
    explicit Window(unisono::Array a) : Array(std::move(a)) {}
    Window(const Window&) = default;
    Window& operator=(const Window& value) { return write(value); }
    Window& operator=(const Operand& value) { return write(value); }
    Window& operator+=(const Operand& value) { return update(unisono::Op::Add, value); }
    Window& operator-=(const Operand& value) { return update(unisono::Op::Sub, value); }
    Window& operator*=(const Operand& value) { return update(unisono::Op::Mul, value); }
    Window& operator/=(const Operand& value) { return update(unisono::Op::Div, value); }

  private:
    Window& write(const Operand& value) {
        unisono::assign(a_, value.arg());
        return *this;
    }
    Window& update(unisono::Op op, const Operand& value) {
        unisono::Arg args[] = {a_.arg(), value.arg()};
        unisono::apply(op, args, &a_);
        return *this;
    }
};

template <class... I>
Window Array::operator()(I... items) const {
    unisono::IndexItem all[] = {Index(items).item...};
    return Window(unisono::index(a_, all));
}

template <std::integral... I>
Array Array::at(I... items) const {
    return Array(unisono::to_value((*this)(items...).engine()));
}

namespace detail {
inline Array apply(unisono::Op op, const Operand& a, const Operand& b) {
    unisono::Arg args[] = {a.arg(), b.arg()};
    return Array(unisono::apply(op, args));
}
inline Array apply(unisono::Op op, const Operand& a) {
    unisono::Arg args[] = {a.arg()};
    return Array(unisono::apply(op, args));
}
template <class A, class B>
concept Operands = (std::is_base_of_v<Array, A> && std::is_convertible_v<B, Operand>) ||
                   (std::is_base_of_v<Array, B> && std::is_arithmetic_v<A>);
}  // namespace detail

#define UNISONO_OPERATOR(symbol, op)                                                \
    template <class A, class B>                                                     \
    requires detail::Operands<A, B> Array operator symbol(const A& a, const B& b) { \
        return detail::apply(unisono::Op::op, Operand(a), Operand(b));              \
    }
UNISONO_OPERATOR(+, Add)
UNISONO_OPERATOR(-, Sub)
UNISONO_OPERATOR(*, Mul)
UNISONO_OPERATOR(/, Div)
UNISONO_OPERATOR(<, Lt)
UNISONO_OPERATOR(<=, Le)
UNISONO_OPERATOR(>, Gt)
UNISONO_OPERATOR(>=, Ge)
#undef UNISONO_OPERATOR

inline Array operator-(const Array& a) { return detail::apply(unisono::Op::Neg, a); }
inline Array sqrt(const Array& a) { return detail::apply(unisono::Op::Sqrt, a); }
inline Array exp(const Array& a) { return detail::apply(unisono::Op::Exp, a); }
inline Array sin(const Array& a) { return detail::apply(unisono::Op::Sin, a); }
inline Array abs(const Array& a) { return detail::apply(unisono::Op::Abs, a); }
inline Array where(const Array& condition, const Operand& a, const Operand& b) {
    return Array(unisono::where(condition.engine().arg(), a.arg(), b.arg()));
}

/// An array of equal elements on a device ("cpu", "opencl", "cuda:0"...).
inline Array full(std::vector<std::int64_t> shape, double value, DType dtype = float64,
                  std::string_view device = "cpu") {
    unisono::Device& d = unisono::find_device(device);
    auto s = unisono::Scalar::of(dtype, value);
    return Array(unisono::full(shape, s, d.info().host_memory ? nullptr : &d));
}
inline Array zeros(std::vector<std::int64_t> shape, DType dtype = float64,
                   std::string_view device = "cpu") {
    return full(std::move(shape), 0, dtype, device);
}
/// 0, 1, 2... as int64.
inline Array arange(std::int64_t n) { return Array(unisono::iota(n, nullptr)); }

/// Computes the array now.
inline void eval(const Array& a) {
    if (!a.engine().is_known())
        unisono::Tape::instance().complete(a.engine().view().storage, unisono::FlushReason::Eval);
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
