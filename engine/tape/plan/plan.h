// Plans: which entries of a segment form which kernels; formed once per structure and cached by
// key.
//
// A key describes a segment without sizes, strides or scalar values: operations, dtypes, how
// operands are connected, the class of each layout, which shapes are equal, how views of one
// storage overlap, and which storages are seen from outside. Two segments with equal keys run the
// same plan.
//
// Grouping is greedy in program order. An entry joins the first group that comes no earlier than
// everything it conflicts with, has its iteration space and has room; a conflict through the very
// same view is no obstacle inside one group (the value is forwarded), any other overlap puts the
// entry into a later group.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tape/plan/group.h"
#include "tape/tape.h"

namespace unisono {

class GroupKernel;  // executors' state of one group: program, compiled variants (run_group.h)

/// operand number: 0..2 of `in`, 3 for `out`.
struct OperandRef {
    std::uint32_t entry;
    std::uint32_t operand;
    const View& in(const std::vector<Entry>& segment) const {
        const Entry& e = segment[entry];
        return operand == 3 ? e.out : e.in[operand];
    }
};

struct PlanStep {
    std::int32_t opaque = -1;     ///< the entry, for Opaque
    std::int32_t stored_by = -1;  ///< of an Opaque entry: the assignment whose target it fills
    Group group;
    std::shared_ptr<GroupKernel> kernel;  ///< shared by all steps with an equal group
    OperandRef space{0, 3};               ///< a view whose shape is the iteration space
    std::vector<OperandRef> inputs, outputs, scalars;
    std::vector<std::uint32_t> snapshots;  ///< inputs that are copied first: outputs overlap them
    std::vector<std::uint32_t> anew;  ///< outputs that it also reads at other points, on devices
    /// Of each input (of an Opaque entry: each operand) the step that wrote it; or, where none did,
    /// -1 minus the number of its storage among those of the segment.
    std::vector<std::int32_t> sources;
    std::vector<std::uint32_t> entries;  ///< served by this step; released when it has run
    std::uint32_t together = 1;          ///< steps from here on that may run band by band (bands.h)
    std::vector<std::string>
        why;  ///< why the step starts here and was not fused with an earlier one
};

class Plan {
  public:
    ~Plan();
    std::vector<PlanStep> steps;
    std::vector<std::uint32_t> dead;  ///< entries whose results nobody needs
    /// What is to say of who wrote an array that the plan reads; may be empty.
    using Origin = std::function<std::string(const Storage&)>;
    std::string text(const std::vector<Entry>& segment, const HostHooks& hooks, bool code,
                     const Origin& origin) const;
    /// The same without a segment: no sizes, lines or scalar values. `calls`: names of its calls,
    /// in order.
    std::string text(bool code, std::span<const std::string> calls) const;
};

/// Finds plans for one tape. Plans are immutable and shared by all tapes of the process; what is
/// needed to look for one belongs to the finder.
class PlanFinder {
  public:
    PlanFinder();
    ~PlanFinder();
    /// The plan of a segment, whose entries it may write in other shapes (reshapes.h); formed if no
    /// tape has met the structure before. It lives until the next call, or while the caller keeps
    /// plans(). `epoch` and the four numbers
    /// after it are fresh, for marking storages. `tape` forgets plans that may go.
    const Plan& find(std::vector<Entry>& segment, std::uint32_t epoch, Tape& tape);
    /// What owns the plans found lately.
    std::shared_ptr<const void> plans() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace unisono
