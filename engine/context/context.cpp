// Makes and destroys contexts, and tells which one a thread works in.
#include "context/context.h"

#include <mutex>
#include <utility>
#include <vector>

namespace unisono {

namespace {

/// Arrays may outlive static objects, and with them what their context owns.
union NeverDestroyed {
    Context context;
    constexpr NeverDestroyed() : context() {}
    ~NeverDestroyed() {}
};

/// Parts of contexts that are gone, to which something still refers.
struct Orphans {
    std::mutex mutex;
    std::vector<std::unique_ptr<Context::Part>> parts;
};
Orphans& orphans() {
    static Orphans& all = *new Orphans;
    return all;
}

constinit NeverDestroyed main_context;
constinit thread_local Context* entered = nullptr;  ///< by the thread's innermost scope

}  // namespace

constinit std::atomic<Context*> Context::sole_ = &main_context.context;

Context::~Context() {
    Scope inside(*this);
    bool is_kept = false;  // what refers to a part may refer to those below it, too
    for (std::size_t k = slots; k-- > 0;) {
        is_kept = is_kept || (parts_[k] && parts_[k]->is_referenced());
        if (is_kept && parts_[k]) {
            std::lock_guard lock(orphans().mutex);
            orphans().parts.push_back(std::move(parts_[k]));
        }
        parts_[k].reset();
    }
}

Context& Context::main() { return main_context.context; }

Context& Context::of_thread() { return entered ? *entered : main(); }

Context* Context::enter(Context* context) {
    if (context) sole_.store(nullptr, std::memory_order_relaxed);
    return std::exchange(entered, context);
}

}  // namespace unisono
