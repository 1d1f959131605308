// A thread's run of one segment, during which queues may hold back what they are given.
//
// A driver's call costs microseconds of the host. A queue that knows that more is to come collects
// it, and gives it to its driver as one piece once the segment ends, or once somebody waits.
#pragma once

#include <vector>

namespace unisono {

/// A queue that holds work back.
class HoldingQueue {
  public:
    /// Gives the driver what is held back. Throws what the driver says.
    virtual void hand_over() = 0;

  protected:
    ~HoldingQueue() = default;
};

class SegmentScope {
  public:
    SegmentScope();
    /// Hands over what end() did not: the device notes what goes wrong.
    ~SegmentScope();
    SegmentScope(const SegmentScope&) = delete;
    SegmentScope& operator=(const SegmentScope&) = delete;

    /// The calling thread's; null where nobody says that a segment ends.
    static SegmentScope* current();

    /// The queue holds something back from now on.
    void add(HoldingQueue& queue);
    bool is_empty() const { return queues_.empty(); }
    void end();

  private:
    std::vector<HoldingQueue*> queues_;  ///< which live as long as the process
    SegmentScope* const outer_;
};

}  // namespace unisono
