// What an atomic statement does to its element, and the variable that takes what was there before.
#pragma once

#include <cstdint>
#include <span>

#include "ir/build.h"

namespace unisono::ir {

/// Stmt::axis of an Atomic.
enum class AtomicForm : std::int32_t {
    Combine,   ///< a[i] = op(a[i], value)
    Exchange,  ///< a[i] = value
    Compare,  ///< if a[i] has the bits of expected: a[i] = value; args: indices..., expected, value
    CountUp,  ///< a[i] = a[i] >= value ? 0 : a[i] + 1, of unsigned integers
    CountDown  ///< a[i] = a[i] == 0 or a[i] > value ? value : a[i] - 1, of unsigned integers
};

inline AtomicForm atomic_form(const Stmt& s) { return static_cast<AtomicForm>(s.axis); }

/// How many of the arguments of a Store or an Atomic are indices.
inline std::size_t index_count(const Stmt& s) {
    bool has_two = s.kind == StmtKind::Atomic && atomic_form(s) == AtomicForm::Compare;
    return s.args.size() - (has_two ? 2 : 1);
}

/// The atomic of another form, with `outs` empty or the variable that takes the element's value
/// before.
inline S atomic_of_form(Builder& b, S combine, AtomicForm form,
                        std::span<const std::int32_t> outs) {
    Stmt s = *combine;
    s.axis = static_cast<std::int32_t>(form);
    s.outs = b.function().arena->copy(outs);
    return b.own(s);
}

}  // namespace unisono::ir
