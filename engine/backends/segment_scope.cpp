// Which segment a thread runs, and its end.
#include "backends/segment_scope.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace unisono {

static thread_local SegmentScope* innermost_segment = nullptr;

SegmentScope::SegmentScope() : outer_(std::exchange(innermost_segment, this)) {}

SegmentScope::~SegmentScope() {
    innermost_segment = outer_;
    try {
        end();
    } catch (const Error&) {  // whoever reads what it would have written is told
    }
}

SegmentScope* SegmentScope::current() { return innermost_segment; }

void SegmentScope::add(HoldingQueue& queue) {
    if (std::find(queues_.begin(), queues_.end(), &queue) == queues_.end())
        queues_.push_back(&queue);
}

void SegmentScope::end() {
    while (!queues_.empty()) {
        HoldingQueue* queue = queues_.back();
        queues_.pop_back();
        queue->hand_over();
    }
}

}  // namespace unisono
