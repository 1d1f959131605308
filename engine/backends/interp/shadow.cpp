// Compares and records places of accesses.
#include "backends/interp/shadow.h"

namespace unisono::interp {

Conflict conflict(const Place* a, const Place* b) {
    if (!a || !b || a == b) return {};
    while (a->depth > b->depth) a = a->parent;
    while (b->depth > a->depth) b = b->parent;
    Conflict found;
    for (; a != b; a = a->parent, b = b->parent) {
        if (!a || !b) break;
        found = a->run == b->run ? Conflict{a, b} : Conflict{};
    }
    return found;
}

static Conflict record(Mark& m, Use use, const Place* now) {
    Conflict found;
    if (use == Use::Read) {
        found = conflict(m.writer, now);
        if (m.locked || !conflict(m.reader, now).a) {
            m.reader = now;
            m.locked = false;
        }
        return found;
    }
    if (use == Use::Locked) {
        if (!m.atomic) found = conflict(m.writer, now);
        if (!m.reader || m.locked) {
            m.reader = now;
            m.locked = true;
        }
        return found;
    }
    if (!(use == Use::Atomic && m.atomic)) found = conflict(m.writer, now);
    if (!found.a && !(use == Use::Atomic && m.locked)) found = conflict(m.reader, now);
    m.writer = now;
    m.atomic = use == Use::Atomic;
    m.written = true;
    return found;
}

Conflict Shadow::access(const char* at, std::int64_t bytes, Use use, const Place* now) {
    auto first = static_cast<std::size_t>((at - begin_) / unit_);
    auto last = static_cast<std::size_t>((at - begin_ + bytes - 1) / unit_);
    Conflict found;
    for (std::size_t k = first; k <= last; ++k) {
        Conflict here = record(marks_[k], use, now);
        if (here.a) found = here;
    }
    return found;
}

}  // namespace unisono::interp
