// Primitives: operations on whole arrays (sorts, gathers, products) that the tape orders by what
// they read and write. Each is a row of primitives.def and a function of the host.
//
// `call` records a primitive like any statement: it runs when one of its results is wanted, after
// what writes its operands and before what overwrites them. What else it depends on is its
// attributes, a value that the entry keeps. Code whose result shape depends on data asks for
// `host_data` instead and runs at once.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tape/array.h"
#include "tape/tape.h"

namespace unisono {

struct Primitive {
    enum class Effect : std::uint8_t { New, Part };
    std::string_view name;  ///< in explanations and the debug log
    Effect effect = Effect::New;
    std::string_view meaning;
    std::string_view id = name;  ///< among the rows of the table
};

namespace primitives {
#define UNISONO_PRIMITIVE(id, name, effect, meaning) \
    inline constexpr Primitive id{name, Primitive::Effect::effect, meaning, #id};
#include "primitives/primitives.def"
#undef UNISONO_PRIMITIVE

inline constexpr const Primitive* all[] = {
#define UNISONO_PRIMITIVE(id, ...) &id,
#include "primitives/primitives.def"
#undef UNISONO_PRIMITIVE
};
}  // namespace primitives

}  // namespace unisono

namespace unisono::library {

/// Of a primitive that depends on its operands alone.
struct NoAttributes {};

inline constexpr std::size_t most_inputs = 3;  ///< of a call with one result

/// A result of a call.
struct Result {
    std::vector<std::int64_t> shape;
    DType dtype;
};

/// What a call with one result reads and writes.
struct CallOperands {
    const View* in;
    const View* out;
};
/// Does the work of the first call and of those later ones that share a pass over memory with it,
/// of which one may read what the first writes; returns a bit for each that was done. None, having
/// done nothing, where that does not go.
using Together = std::uint64_t (*)(std::span<const CallOperands> calls);

/// An entry's own copy of a primitive's attributes, and what runs with them.
class PrimitiveCall : public OpaqueCall {
  public:
    explicit PrimitiveCall(const Primitive& primitive) : primitive_(primitive) {}
    std::string name() const final { return std::string(primitive_.name); }
    bool selects() const final { return &primitive_ == &primitives::select; }
    bool joins() const final { return together != nullptr; }
    // What joins may run before entries that read the target; memory that exists keeps what is not
    // written.
    bool stores_anywhere() const final { return is_new() && !selects() && !together; }
    bool restarts() const final { return is_new(); }
    std::uint64_t run_together(std::span<const OpaqueCall::Operands> calls) final;

    Together together = nullptr;  ///< calls with the same one are offered to it

  private:
    bool is_new() const { return primitive_.effect == Primitive::Effect::New; }
    const Primitive& primitive_;
};

/// How the host runs a primitive, with its attributes by address.
struct HostForm {
    const Primitive& primitive;
    void (*run)(const void* attributes, std::span<const View> in, std::span<const View> out);
    std::unique_ptr<PrimitiveCall> (*hold)(const Primitive&, const void* attributes);
};

namespace detail {

/// Host functions take a view where there is one result, a span of views where there are several.
template <auto function, class Attributes>
void run_host(const Attributes& attributes, std::span<const View> in, std::span<const View> out) {
    using Views = std::span<const View>;
    if constexpr (std::is_invocable_v<decltype(function), const Attributes&, Views, Views>) {
        function(attributes, in, out);
    } else {
        function(attributes, in, out.front());
    }
}

template <auto function, class Attributes>
class HeldCall final : public PrimitiveCall {
  public:
    HeldCall(const Primitive& primitive, const Attributes& attributes)
        : PrimitiveCall(primitive), attributes_(attributes) {}
    void run(std::span<const View> in, std::span<const View> out) override {
        run_host<function>(attributes_, in, out);
    }

  private:
    Attributes attributes_;
};

template <auto function, class Attributes>
HostForm host_form(const Primitive& primitive) {
    return {primitive,
            [](const void* a, std::span<const View> in, std::span<const View> out) {
                run_host<function>(*static_cast<const Attributes*>(a), in, out);
            },
            [](const Primitive& p, const void* a) -> std::unique_ptr<PrimitiveCall> {
                return std::make_unique<HeldCall<function, Attributes>>(
                    p, *static_cast<const Attributes*>(a));
            }};
}

std::vector<Array> record_wide(const HostForm& form, const void* attributes,
                               std::span<const Array> in, std::span<const Result> results);
Array record(const HostForm& form, const void* attributes, std::span<const Array> in, Dims shape,
             DType dtype, Together together);
void record_into(const HostForm& form, const void* attributes, std::span<const Array> in,
                 const Array& out);

}  // namespace detail

/// A new array that `function(attributes, in, out)` fills: it reads `in`, writes all of `out`.
/// Views may have any strides; their memory is in place and on the host. It runs without the
/// engine's lock, so it touches no Python object, no handle and no layout count; it uses
/// core/threads/parallel.h for threads and throws Error where it fails.
template <auto function, class Attributes>
Array call(const Primitive& primitive, std::span<const Array> in, Dims shape, DType dtype,
           const Attributes& attributes, Together together = nullptr) {
    return detail::record(detail::host_form<function, Attributes>(primitive), &attributes, in,
                          shape, dtype, together);
}

/// New arrays that one entry of the tape fills, of any number of operands: they are computed
/// together, when the first of them is wanted.
template <auto function, class Attributes>
std::vector<Array> call_wide(const Primitive& primitive, std::span<const Array> in,
                             std::span<const Result> results, const Attributes& attributes) {
    return detail::record_wide(detail::host_form<function, Attributes>(primitive), &attributes, in,
                               results);
}

/// The same into memory that exists and keeps what is not written. An input that shares memory with
/// `out` is copied first.
template <auto function, class Attributes>
void call_into(const Primitive& primitive, std::span<const Array> in, const Array& out,
               const Attributes& attributes) {
    detail::record_into(detail::host_form<function, Attributes>(primitive), &attributes, in, out);
}

/// The array with a storage: a value known on the host gets one.
Array stored(const Array& a);

/// The array itself where it is row-major without gaps, else a packed copy.
Array packed(const Array& a);

}  // namespace unisono::library
