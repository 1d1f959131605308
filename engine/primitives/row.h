// A row of the table of primitives: what is known of an operation on whole arrays.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "primitives/rule.h"
#include "tape/storage.h"

namespace unisono {

using Views = std::span<const View>;

namespace library {
class PrimitiveCall;
}

struct Primitive {
    enum class Effect : std::uint8_t { New, Part };
    enum class Peeks : std::uint8_t { Never, Errors, Count };
    enum class Work : std::uint8_t { Elements, Results, Matrices };

    std::string_view id;    ///< among the rows of the table
    std::string_view name;  ///< in explanations and the debug log
    Effect effect = Effect::New;
    Peeks peeks = Peeks::Never;
    Work work = Work::Elements;
    std::string_view signature;
    std::string_view meaning;

    /// What works on the attributes of the row, given by address.
    struct ByAddress {
        void (*infer)(const Primitive&, const void* attributes, primitives::Operands,
                      primitives::Results&);
        /// Where the memory of the results lies.
        void (*run)(const Primitive&, const void* attributes, Views in, Views out);
        bool (*runs_on_devices)(const Primitive&);
        /// A call that keeps a copy of them.
        std::unique_ptr<library::PrimitiveCall> (*hold)(const Primitive&, const void* attributes);
        int (*axis)(const void* attributes);  ///< that they name, or -1, the last one
    };
    const ByAddress* by_address = nullptr;
};

namespace primitives {
/// The table's rows.
std::span<const Primitive* const> all();
}  // namespace primitives

namespace library {
template <class Attributes>
std::unique_ptr<PrimitiveCall> hold_call(const Primitive& row, const void* attributes);
}

template <class Attributes>
struct Row : Primitive {
    static_assert(primitives::are_plain_attributes<Attributes>(),
                  "attributes are plain values: no pointers, nothing to be destroyed");
    using Rule = void (*)(const Attributes&, primitives::Operands, primitives::Results&);
    /// Fills views of any strides, whose memory is in place and on the host. It runs without the
    /// engine's lock, so it touches no Python object, no handle and no layout count; it uses
    /// core/threads/parallel.h for threads and throws Error where it fails.
    using Host = void (*)(const Attributes&, Views in, Views out);
    /// The same for memory that the host cannot address: it submits algorithms to the device's
    /// queue (library/on_device/device_work.h), and moves no data through the host. Null: such
    /// memory is refused.
    using OnDevice = void (*)(const Attributes&, Views in, Views out, Device& device);

    constexpr Row(const Primitive& facts, Rule r, Host h, OnDevice d = nullptr)
        : Primitive(facts), rule(r), host(h), on_device(d) {
        by_address = &erased;
    }
    Rule rule;
    Host host;
    OnDevice on_device;

    void run(const Attributes& attributes, Views in, Views out) const {
        const Storage& made = *out[0].storage;
        if (made.addressable())
            host(attributes, in, out);
        else
            on_device(attributes, in, out, *made.device);
    }

  private:
    static constexpr ByAddress erased = {
        [](const Primitive& p, const void* attributes, primitives::Operands operands,
           primitives::Results& results) {
            static_cast<const Row&>(p).rule(*static_cast<const Attributes*>(attributes), operands,
                                            results);
        },
        [](const Primitive& p, const void* attributes, Views in, Views out) {
            static_cast<const Row&>(p).run(*static_cast<const Attributes*>(attributes), in, out);
        },
        [](const Primitive& p) { return static_cast<const Row&>(p).on_device != nullptr; },
        &library::hold_call<Attributes>,
        []([[maybe_unused]] const void* attributes) {
            if constexpr (requires(const Attributes& a) { a.axis; })
                return static_cast<const Attributes*>(attributes)->axis;
            else
                return -1;
        }};
};

}  // namespace unisono
