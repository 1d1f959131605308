#include "core/threads/run_apart.h"

#include <pthread.h>

#include <exception>

namespace unisono {

namespace {

struct Work {
    const std::function<void()>& run;
    std::exception_ptr thrown;
};

void* run_work(void* given) {
    auto& work = *static_cast<Work*>(given);
    try {
        work.run();
    } catch (...) {
        work.thrown = std::current_exception();
    }
    return nullptr;
}

}  // namespace

void run_apart(const std::function<void()>& work, std::size_t stack_bytes) {
    Work given{work, nullptr};
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return work();
    pthread_t thread;
    bool has_thread = pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
                      pthread_create(&thread, &attributes, run_work, &given) == 0;
    pthread_attr_destroy(&attributes);
    if (!has_thread) return work();
    pthread_join(thread, nullptr);
    if (given.thrown) std::rethrow_exception(given.thrown);
}

}  // namespace unisono
