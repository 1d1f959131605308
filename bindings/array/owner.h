// Whose arrays are: each virtual rank has a context of its own, in which its arrays are used and
// released, whichever thread drops the last reference to one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "context/context.h"

namespace unisono::python {

/// The context of a virtual rank. It lives as long as the rank runs, and objects on it exist.
struct Owner {
    explicit Owner(std::string whose) : name(std::move(whose)) {}

    Context context;
    std::string name;  ///< "rank 3 of 64"
    std::int64_t objects = 0;
    bool runs = true;

    void drop() noexcept {
        if (--objects == 0 && !runs) delete this;
    }
    void ended() noexcept {
        runs = false;
        if (objects == 0) delete this;
    }
};

/// Whether any was ever made: programs without virtual ranks ask nothing more.
extern bool owners_exist;
/// That of the calling thread; null for the main context.
Owner* owner_here() noexcept;
void enter_owner(Owner* owner) noexcept;
/// The same, counted as one more object.
inline Owner* take_owner() noexcept {
    Owner* owner = owner_here();
    if (owner) ++owner->objects;
    return owner;
}
/// Throws a Value error that says whose `what` is, and that it was used elsewhere.
[[noreturn]] void refuse_owner(const char* what, const Owner* owner);

/// Counts as an object of its owner.
class OwnerRef {
  public:
    OwnerRef() : owner_(owners_exist ? take_owner() : nullptr) {}
    OwnerRef(const OwnerRef& o) : owner_(o.owner_) {
        if (owner_) ++owner_->objects;
    }
    OwnerRef& operator=(const OwnerRef&) = delete;
    ~OwnerRef() {
        if (owner_) owner_->drop();
    }
    Owner* get() const { return owner_; }

  private:
    Owner* owner_;
};

}  // namespace unisono::python
