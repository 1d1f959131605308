// Knows the virtual rank that a thread runs.
#include "array/owner.h"

#include "core/error.h"

namespace unisono::python {

bool owners_exist = false;

namespace {

constinit thread_local Owner* here = nullptr;

}  // namespace

Owner* owner_here() noexcept { return here; }

void enter_owner(Owner* owner) noexcept {
    if (owner) owners_exist = true;
    here = owner;
    Context::enter(owner ? &owner->context : nullptr);
}

void refuse_owner(const char* what, const Owner* owner) {
    auto name = [](const Owner* o) {
        return o ? "virtual " + o->name : std::string("the program outside of run");
    };
    fail(ErrorKind::Value, std::string(what) + " belongs to " + name(owner) + ", and was used by " +
                               name(here) +
                               "; pass arrays as arguments of run, return them as its results, or "
                               "send np.asarray(x)");
}

}  // namespace unisono::python
