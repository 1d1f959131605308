// Switches between stacks, x86-64.
#include "cuda_driver/fibers.h"

#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace cuda_driver {

extern "C" void unisono_test_switch(void** save, void* to);
asm(R"(
.text
.hidden unisono_test_switch
.globl unisono_test_switch
.type unisono_test_switch, @function
unisono_test_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size unisono_test_switch, .-unisono_test_switch
)");

namespace {

constexpr std::size_t stack_bytes = 512 * 1024;  // pages are there once they are touched

struct Fibers {
    void* caller = nullptr;
    std::vector<void*> at;
    std::vector<char*> stacks;
    std::vector<bool> has_ended;
    const std::function<void(std::size_t)>* body = nullptr;
    std::size_t running = 0;
};

/// Of the one thread that runs kernels.
Fibers& fibers() {
    static auto& all = *new Fibers;
    return all;
}

void begin() {
    Fibers& f = fibers();
    (*f.body)(f.running);
    f.has_ended[f.running] = true;
    unisono_test_switch(&f.at[f.running], f.caller);
    __builtin_unreachable();
}

}  // namespace

void barrier() {
    Fibers& f = fibers();
    unisono_test_switch(&f.at[f.running], f.caller);
}

void run_fibers(std::size_t count, const std::function<void(std::size_t)>& body,
                const std::function<void(std::size_t)>& resume) {
    Fibers& f = fibers();
    f.body = &body;
    f.at.assign(count, nullptr);
    f.has_ended.assign(count, false);
    while (f.stacks.size() < count) {
        f.stacks.push_back(static_cast<char*>(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
    }
    for (std::size_t k = 0; k < count; ++k) {
        auto** top = reinterpret_cast<void**>(f.stacks[k] + stack_bytes - 56);  // as behind a call
        *top = nullptr;  // where begin() would return to
        *--top = reinterpret_cast<void*>(&begin);
        f.at[k] = top - 6;
    }
    // Every other round the last one is the first: an order that nobody may rely on.
    bool is_left = count > 0;
    for (bool is_reversed = false; is_left; is_reversed = !is_reversed) {
        is_left = false;
        for (std::size_t n = 0; n < count; ++n) {
            const std::size_t k = is_reversed ? count - 1 - n : n;
            if (f.has_ended[k]) continue;
            f.running = k;
            resume(k);
            unisono_test_switch(&f.caller, f.at[k]);
            is_left = is_left || !f.has_ended[k];
        }
    }
}

}  // namespace cuda_driver
