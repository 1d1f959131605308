// Contexts of the C interface: un_context is the engine's Context.
#include "context/context.h"

#include "api/handle.h"
#include "api/tables.h"

namespace unisono::api {

static Context* context_of(un_context* context) { return reinterpret_cast<Context*>(context); }

un_context* make_context() noexcept {
    return remembering<un_context*>(
        nullptr, [] { return reinterpret_cast<un_context*>(new Context); });  // free_context's
}

void free_context(un_context* context) noexcept { delete context_of(context); }

un_context* enter_context(un_context* context) noexcept {
    return reinterpret_cast<un_context*>(Context::enter(context_of(context)));
}

}  // namespace unisono::api
