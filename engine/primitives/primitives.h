// The table of primitives: rows with their rules, and the functions that implement them on the host
// and on devices.
#pragma once

#include "primitives/algebra.h"
#include "primitives/counting.h"
#include "primitives/drawing.h"
#include "primitives/gathering.h"
#include "primitives/ordering.h"
#include "primitives/row.h"

namespace unisono {

/// Implemented in engine/library.
namespace library::host {
#define UNISONO_PRIMITIVE(id, Attributes, ...) \
    void id(const primitives::Attributes& attributes, Views in, Views out);
#include "primitives/primitives.def"
#undef UNISONO_PRIMITIVE
}  // namespace library::host

/// Implemented in engine/library/on_device.
namespace library::on_device {
#define UNISONO_PRIMITIVE(...)
#define UNISONO_PRIMITIVE_EVERYWHERE(id, Attributes, ...) \
    void id(const primitives::Attributes& attributes, Views in, Views out, Device& device);
#include "primitives/primitives.def"
#undef UNISONO_PRIMITIVE
}  // namespace library::on_device

namespace primitives {
#define UNISONO_PRIMITIVE(id, Attributes, name, effect, peeks, work, signature, rule, meaning) \
    inline constexpr Row<Attributes> id{                                                       \
        {#id, name, Primitive::Effect::effect, Primitive::Peeks::peeks, Primitive::Work::work, \
         signature, meaning},                                                                  \
        &rules::rule,                                                                          \
        &library::host::id};
#define UNISONO_PRIMITIVE_EVERYWHERE(id, Attributes, name, effect, peeks, work, signature, rule, \
                                     meaning)                                                    \
    inline constexpr Row<Attributes> id{                                                         \
        {#id, name, Primitive::Effect::effect, Primitive::Peeks::peeks, Primitive::Work::work,   \
         signature, meaning},                                                                    \
        &rules::rule,                                                                            \
        &library::host::id,                                                                      \
        &library::on_device::id};
#include "primitives/primitives.def"
#undef UNISONO_PRIMITIVE
}  // namespace primitives

}  // namespace unisono
