// Primitives: operations on whole arrays (sorts, gathers, factorisations) that the tape orders by
// what they read and write. Each is a row of primitives.def, a rule for shapes and dtypes, a
// function of the host, and for most rows one of devices.
//
// `call` records a primitive like any statement: it runs when one of its results is wanted, after
// what writes its operands and before what overwrites them. What else it depends on is its
// attributes, a plain value that the entry keeps. One that peeks at data (its row says so) is an
// entry, too, and runs before `call` returns: what it raises is raised by the user's statement.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "primitives/primitives.h"
#include "tape/array.h"
#include "tape/tape.h"

namespace unisono::library {

using primitives::NoAttributes;

inline constexpr std::size_t most_inputs = 3;  ///< of a call with one result

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
    const Primitive& row() const { return primitive_; }
    virtual const void* attributes() const = 0;
    bool joins() const final { return together != nullptr; }
    // What joins may run before entries that read the target; memory that exists keeps what is not
    // written.
    bool stores_anywhere() const final { return is_new() && !selects() && !together; }
    bool restarts() const final { return is_new(); }
    std::int64_t work(std::span<const View> in, std::int64_t elements) const final;
    std::uint64_t run_together(std::span<const OpaqueCall::Operands> calls) final;

    Together together = nullptr;  ///< calls with the same one are offered to it

  protected:
    bool is_new() const { return primitive_.effect == Primitive::Effect::New; }
    const Primitive& primitive_;
};

template <class Attributes>
std::unique_ptr<PrimitiveCall> hold_call(const Primitive& row, const void* attributes) {
    class Held final : public PrimitiveCall {
      public:
        Held(const Primitive& p, const Attributes& a) : PrimitiveCall(p), attributes_(a) {}
        void run(Views in, Views out) override {
            static_cast<const Row<Attributes>&>(primitive_).run(attributes_, in, out);
        }
        const void* attributes() const override { return &attributes_; }

      private:
        Attributes attributes_;
    };
    return std::make_unique<Held>(row, *static_cast<const Attributes*>(attributes));
}

namespace detail {

Array record(const Primitive& row, const void* attributes, std::span<const Array> in,
             Together together, Device* place);
std::vector<Array> record_wide(const Primitive& row, const void* attributes,
                               std::span<const Array> in);
void record_into(const Primitive& row, const void* attributes, std::span<const Array> in,
                 const Array& out);

}  // namespace detail

/// A new array that the primitive fills: its rule says of which shape and dtype. It lies where the
/// operands do; on `place` where there are none.
template <class Attributes>
Array call(const Row<Attributes>& row, std::span<const Array> in,
           const std::type_identity_t<Attributes>& attributes, Together together = nullptr,
           Device* place = nullptr) {
    return detail::record(row, &attributes, in, together, place);
}

/// New arrays that one entry of the tape fills, of any number of operands: they are computed
/// together, when the first of them is wanted.
template <class Attributes>
std::vector<Array> call_wide(const Row<Attributes>& row, std::span<const Array> in,
                             const std::type_identity_t<Attributes>& attributes) {
    return detail::record_wide(row, &attributes, in);
}

/// The same into memory that exists and keeps what is not written. An input that shares memory with
/// `out` is copied first.
template <class Attributes>
void call_into(const Row<Attributes>& row, std::span<const Array> in, const Array& out,
               const std::type_identity_t<Attributes>& attributes) {
    detail::record_into(row, &attributes, in, out);
}

/// What the rule of a row gives for these operands.
primitives::Results infer(const Primitive& row, const void* attributes, std::span<const Array> in);

/// The array itself where it is row-major without gaps, else a packed copy.
Array packed(const Array& a);

}  // namespace unisono::library
