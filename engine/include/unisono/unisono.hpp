// The engine for C++: NumPy's slices, arithmetic and reductions, in programs and in extensions.
//
//     using namespace un;
//     Array u = zeros({1000, 1000}), v = u.copy();
//     u(0, _) = 100;
//     v(range(1, -1), range(1, -1)) = (u(range(0, -2), range(1, -1)) +
//                                      u(range(2, _), range(1, -1))) / 2;
//     std::cout << v.at(1, 1).value<double>() << v << "\n";
//
// Operations are recorded and run when a value leaves (value(), print, eval(), open()), on the
// device of their operands; a chain is one kernel. An Array shares its memory with the arrays it was
// copied or sliced from, as a Python name does; copy() copies elements. Errors are un::Error. One
// thread at a time may use the engine, or each thread a Context of its own. Everything here is a call
// of unisono.h.
//
// A program defines UNISONO_LINKED and links libunisono. An extension of Python includes
// unisono/python.hpp (or pybind11.hpp) and calls un::import() first.
#pragma once

#include <complex>
#include <concepts>
#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "unisono/unisono.h"

namespace un {

using DType = un_dtype;
inline constexpr DType bool_ = UN_BOOL, int8 = UN_INT8, uint8 = UN_UINT8, int16 = UN_INT16,
                       uint16 = UN_UINT16, int32 = UN_INT32, uint32 = UN_UINT32, int64 = UN_INT64,
                       uint64 = UN_UINT64, float16 = UN_FLOAT16, float32 = UN_FLOAT32,
                       float64 = UN_FLOAT64, complex64 = UN_COMPLEX64, complex128 = UN_COMPLEX128;

/// What the engine refuses, and what an extension throws to raise one of Python's exceptions.
class Error : public std::runtime_error {
  public:
    Error(un_error_kind kind, const std::string& message)
        : std::runtime_error(message), kind_(kind) {}
    explicit Error(const un_error& e)
        : std::runtime_error(e.message), kind_(e.kind), file_(e.file), line_(e.line) {}
    un_error_kind kind() const { return kind_; }
    /// The user's place, where there is one; line 0 if not.
    const std::string& file() const { return file_; }
    int line() const { return line_; }

  private:
    un_error_kind kind_;
    std::string file_;
    int line_ = 0;
};

namespace detail {

inline const un_functions& engine() {
#ifdef UNISONO_LINKED
    static const int loaded = un_table ? 0 : un_load();  // by the first of several threads
    static_cast<void>(loaded);
#endif
    if (!un_table)
        throw Error(UN_INTERNAL_ERROR, "unisono: not loaded; call un::import() in the module's "
                                       "initialisation (extensions), or un_load() (programs)");
    return *un_table;
}

/// Throws where `made` says that a function failed.
template <class T>
T* checked(T* made) {
    if (!made) throw Error(*engine().last_error());
    return made;
}
inline int checked(int result) {
    if (result < 0) throw Error(*engine().last_error());
    return result;
}

template <class T>
struct DTypeOf;
#define UNISONO_ELEMENT(type, name)           \
    template <>                               \
    struct DTypeOf<type> {                    \
        static constexpr DType value = name;  \
    };
UNISONO_ELEMENT(bool, UN_BOOL)
UNISONO_ELEMENT(std::int8_t, UN_INT8)
UNISONO_ELEMENT(std::uint8_t, UN_UINT8)
UNISONO_ELEMENT(std::int16_t, UN_INT16)
UNISONO_ELEMENT(std::uint16_t, UN_UINT16)
UNISONO_ELEMENT(std::int32_t, UN_INT32)
UNISONO_ELEMENT(std::uint32_t, UN_UINT32)
UNISONO_ELEMENT(std::int64_t, UN_INT64)
UNISONO_ELEMENT(std::uint64_t, UN_UINT64)
UNISONO_ELEMENT(float, UN_FLOAT32)
UNISONO_ELEMENT(double, UN_FLOAT64)
UNISONO_ELEMENT(std::complex<float>, UN_COMPLEX64)
UNISONO_ELEMENT(std::complex<double>, UN_COMPLEX128)
#undef UNISONO_ELEMENT

}  // namespace detail

/// The dtype of a C++ type of elements.
template <class T>
inline constexpr DType dtype_of = detail::DTypeOf<std::remove_const_t<T>>::value;

/// A processor that arrays live on. Device() is the default one.
class Device {
  public:
    Device() = default;
    Device(const char* name) : d_(detail::checked(detail::engine().find_device(name))) {}
    Device(const std::string& name) : Device(name.c_str()) {}
    explicit Device(const un_device* d) : d_(d) {}

    un_device_info info() const {
        un_device_info out;
        detail::checked(detail::engine().device_info(d_, &out));
        return out;
    }
    std::string name() const { return info().name; }
    /// The vendor's context, device and queue.
    un_native native() const {
        un_native out;
        detail::checked(detail::engine().native(d_, &out));
        return out;
    }
    /// Runs and awaits what was recorded.
    void synchronize() const { detail::checked(detail::engine().synchronize(d_)); }
    const un_device* handle() const { return d_; }

  private:
    const un_device* d_ = nullptr;
};

/// Those present; the CPU is the first.
inline std::vector<Device> devices() {
    std::vector<Device> all;
    const int n = detail::checked(detail::engine().device_count());
    for (int k = 0; k < n; ++k)
        all.emplace_back(detail::checked(detail::engine().device_at(k)));
    return all;
}

/// An open end of a range; alone, a whole axis.
struct Open {};
inline constexpr Open _{};

/// A bound of a range: a number, counted from the end where negative, or `_`.
struct Bound {
    std::int64_t at = UN_OPEN;
    Bound(Open) {}
    template <std::integral T>
    Bound(T n) : at(static_cast<std::int64_t>(n)) {}
};

/// One axis of an index: an integer, range(start, stop[, step]), `_`, newaxis or ellipsis.
struct Index {
    un_index item;
    Index(un_index given) : item(given) {}
    Index(Open) : item(un_slice(UN_OPEN, UN_OPEN, 1)) {}
    template <std::integral T>
    Index(T n) : item(un_at(static_cast<std::int64_t>(n))) {}
};
inline constexpr un_index newaxis{UN_NEWAXIS, 0, 0, 0}, ellipsis{UN_ELLIPSIS, 0, 0, 0};

/// start:stop:step of Python.
inline Index range(Bound start, Bound stop, std::int64_t step = 1) {
    return un_slice(start.at, stop.at, step);
}

class Window;
class Operand;
template <class T>
class Contents;

class Array {
  public:
    /// Of nothing: only to be assigned.
    Array() = default;
    /// Takes a handle.
    explicit Array(un_array* taken) : a_(taken) {}
    Array(const Array& o) : a_(o.a_ ? detail::checked(detail::engine().share(o.a_)) : nullptr) {}
    Array(Array&& o) noexcept : a_(std::exchange(o.a_, nullptr)) {}
    Array& operator=(Array o) noexcept {
        std::swap(a_, o.a_);
        return *this;
    }
    ~Array() {
        if (a_) un_table->release(a_);
    }

    un_description describe() const {
        un_description out;
        detail::checked(detail::engine().describe(handle(), &out));
        return out;
    }
    std::vector<std::int64_t> shape() const {
        const un_description d = describe();
        return {d.shape, d.shape + d.rank};
    }
    std::int64_t shape(int axis) const { return shape().at(static_cast<std::size_t>(axis)); }
    int ndim() const { return describe().rank; }
    std::int64_t size() const { return describe().size; }
    DType dtype() const { return describe().dtype; }
    un::Device device() const { return un::Device(describe().device); }

    /// A view; assigning to it writes through.
    template <class... I>
    Window operator()(I... items) const;
    /// The element at a full index, as a 0-d array.
    template <std::integral... I>
    Array at(I... items) const;
    /// The only element; waits for it.
    template <class T>
    T value() const {
        un_scalar s;
        detail::checked(detail::engine().value(handle(), &s));
        if constexpr (!std::is_arithmetic_v<T>)  // std::complex
            return T(static_cast<typename T::value_type>(s.real),
                     static_cast<typename T::value_type>(s.imaginary));
        else if constexpr (std::is_floating_point_v<T>)
            return static_cast<T>(s.real);
        else if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>)
            return static_cast<T>(s.dtype < UN_FLOAT16 ? s.natural
                                                       : static_cast<std::uint64_t>(s.real));
        else
            return static_cast<T>(s.dtype < UN_FLOAT16 ? s.integer
                                                       : static_cast<std::int64_t>(s.real));
    }
    /// The elements, for loops of your own on the host: `const T` reads, `T` also writes. T must be
    /// the array's dtype; the array stays open as long as the result lives.
    template <class T>
    Contents<T> open() const;
    /// The same on any device, for code that speaks its interface.
    Contents<void> open(int access) const;

    Array copy() const { return made(detail::engine().copy(handle())); }
    Array astype(DType t) const { return made(detail::engine().astype(handle(), t)); }
    /// On another device; the array itself where it is there already.
    Array to(const un::Device& d) const {
        return made(detail::engine().to_device(handle(), d.handle()));
    }
    Array reshape(const std::vector<std::int64_t>& shape) const {
        return made(
            detail::engine().reshape(handle(), static_cast<int>(shape.size()), shape.data()));
    }
    Array broadcast_to(const std::vector<std::int64_t>& shape) const {
        return made(
            detail::engine().broadcast_to(handle(), static_cast<int>(shape.size()), shape.data()));
    }
    /// All axes the other way round.
    Array transpose() const { return made(detail::engine().transpose(handle(), nullptr)); }

    // Over all axes, or over those given.
    Array sum(const std::vector<int>& axes = {}, bool keepdims = false) const {
        return reduce("add", axes, keepdims);
    }
    Array prod(const std::vector<int>& axes = {}, bool keepdims = false) const {
        return reduce("multiply", axes, keepdims);
    }
    Array max(const std::vector<int>& axes = {}, bool keepdims = false) const {
        return reduce("maximum", axes, keepdims);
    }
    Array min(const std::vector<int>& axes = {}, bool keepdims = false) const {
        return reduce("minimum", axes, keepdims);
    }
    /// By the operation of that NumPy name.
    Array reduce(const char* name, const std::vector<int>& axes = {}, bool keepdims = false) const {
        const int op = detail::checked(detail::engine().operation(name));
        return made(detail::engine().reduce(op, handle(), axes.empty() ? nullptr : axes.data(),
                                            static_cast<int>(axes.size()), keepdims));
    }

    /// The handle, which stays this object's.
    const un_array* handle() const {
        if (!a_) throw Error(UN_VALUE_ERROR, "array: used before anything was assigned to it");
        return a_;
    }
    /// Gives the handle away.
    un_array* release() { return std::exchange(a_, nullptr); }

  protected:
    static Array made(un_array* a) { return Array(detail::checked(a)); }

  private:
    un_array* a_ = nullptr;
};

/// What an operation takes: an array or a number, whose dtype gives way as a Python number's does.
class Operand {
  public:
    Operand(const Array& a) : o_(un_ref(a.handle())) {}
    template <class T>
    requires std::is_arithmetic_v<T> Operand(T n)
        : o_(std::is_same_v<T, bool>     ? un_truth(n != T(0))
             : std::is_floating_point_v<T> ? un_real(static_cast<double>(n))
                                           : un_integer(static_cast<std::int64_t>(n))) {}
    const un_operand& get() const { return o_; }

  private:
    un_operand o_;
};

/// What a thread records and counts, apart from other threads: each thread that uses the engine at
/// the same time as others enters a context of its own. Arrays are used and released in the context in
/// which they were made.
class Context {
  public:
    Context() : handle_(detail::engine().make_context()) {
        if (!handle_) throw Error(*detail::engine().last_error());
    }
    ~Context() { detail::engine().free_context(handle_); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// The calling thread works in the context while this lives.
    class Scope {
      public:
        explicit Scope(Context& context)
            : before_(detail::engine().enter_context(context.handle_)) {}
        ~Scope() { detail::engine().enter_context(before_); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        un_context* before_;
    };

  private:
    un_context* handle_;
};

}  // namespace un

#include "unisono/contents.hpp"    // IWYU pragma: export
#include "unisono/operations.hpp"  // IWYU pragma: export
