// Waits for what queues were given.
#include "backends/queue.h"

#include "core/error.h"
#include "core/threads/interrupt.h"

namespace unisono {

void Completion::wait() const {
    if (!queue) return;
    CancelScope* cancel = CancelScope::current();
    while (!queue->wait_for(number, std::chrono::milliseconds(cancel ? 50 : 1000))) {
        if (cancel && cancel->stops()) {
            fail(ErrorKind::Interrupt,
                 "interrupted while a device computes; what it was given runs to its end");
        }
    }
}

}  // namespace unisono
