// Runs one group: brings its operands to a canonical iteration space and chooses the executor.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "tape/plan/group.h"
#include "tape/run/lower_group.h"
#include "tape/run/store_choice.h"
#include "tape/storage.h"

namespace unisono {

class BlockProgram;
struct IterationSpace;

/// Executors' state of one group: the block program, and the variants compiled so far. Any number
/// of threads may run it at once.
class GroupKernel {
  public:
    explicit GroupKernel(const Group& group);
    ~GroupKernel();
    /// The one kernel of all groups equal to this one, as long as somebody holds it.
    static std::shared_ptr<GroupKernel> of(const Group& group);
    /// Copies arrays of a dtype; made at the first use.
    static GroupKernel& copying(DType t);
    const Group& group() const { return group_; }

    /// Operand views all have memory. `space` is a layout with the iteration shape.
    struct Call {
        const Layout* space;
        std::span<const View> inputs, outputs;
        std::span<const std::uint64_t> scalars;
        Device* device;  ///< null: host
    };
    void run(const Call& call);

    /// A launch bound to its operands: it can be repeated on other rows of them.
    struct Launch {
        Executable* code = nullptr;
        GroupShape form;                    ///< of its variant
        std::vector<std::int64_t> numbers;  ///< extents, and strides of each operand
        std::vector<ArrayArg> arrays;
        std::span<const std::uint64_t> scalars;  ///< the call's
    };
    /// Whether the call of a group, which does not reduce, runs by compiled code where it is large.
    bool is_compiled(const Call& call) const;
    /// What run() would launch for the first points of the call's operands, `shape` of them.
    Launch bind(const Call& call, Dims shape);

    /// Counts work of several kernels in turns on bands, of which it is the first: all so far.
    std::int64_t note_turns(std::int64_t work) {
        return turns_work_.fetch_add(work, std::memory_order_relaxed) + work;
    }

    /// Whether host runs over that many elements go without the compiler, whatever ran before.
    static bool is_small(std::int64_t size);
    /// A small run on the host where every operand is packed and has the same shape: addresses,
    /// inputs first. Returns false, having done nothing, where run() is needed.
    bool run_packed(std::int64_t size, char* const* data, const std::uint64_t* scalars);

    /// Name of the executor that ran last, and the source of its variants, for explain.
    const char* executor() const { return executor_.load(std::memory_order_relaxed); }
    std::string source() const;
    /// How the last run stored its results, where they were large and the host's; else empty.
    std::string stores() const;

  private:
    struct Stores {
        GroupShape shape;
        int size_class;  ///< of the bytes of all outputs, two per octave
        StoreChoice choice;
    };
    struct Variant;
    struct Variants;
    void run_compiled(const Call& call, IterationSpace& space, Device& device);
    void run_axis_by_axis(const Call& call);
    bool run_fold(const Call& call);
    void run_pieces(const Call& call, const IterationSpace& space, Variant& v);
    void run_reduction(const Call& call, const IterationSpace& space, Device& device, Variant& v);
    Variant& variant(const GroupShape& shape, Device& device);
    std::unique_ptr<Variant> compile(const GroupShape& shape, Device& device) const;
    void compile_trees(Variant& v) const;
    /// Those of a variant whose rows were cut into pieces; compiled when first needed.
    const std::vector<std::unique_ptr<Executable>>& trees(Variant& v);
    const std::vector<std::shared_ptr<GroupKernel>>& stages();
    bool should_compile(const IterationSpace& space);
    std::int64_t work_of(const Call& call) const;
    /// Whether the host would do the next run in the memory of the call's device.
    bool would_run_first_on_host(const Call& call) const;
    /// The same of this run.
    bool runs_first_on_host(const Call& call);
    /// The choice of stores for large results of this size; null where only one kind is possible.
    StoreChoice* stores_of(const GroupShape& shape, std::int64_t size);
    void note_executor(const char* name) { executor_.store(name, std::memory_order_relaxed); }

    Group group_;
    std::unique_ptr<BlockProgram> block_;
    std::unique_ptr<Variants> variants_;
    std::deque<Stores> stores_;  ///< guarded by the mutex of all choices
    std::atomic<StoreChoice*> last_stores_ = nullptr;
    std::atomic<std::int64_t> work_done_ = 0;   ///< node-elements run without the compiler so far
    std::atomic<std::int64_t> first_work_ = 0;  ///< of devices' first runs, which the host did
    std::atomic<int> first_runs_ = 0;
    std::atomic<std::int64_t> turns_work_ = 0;
    std::atomic<bool> cannot_compile_ = false;
    bool cannot_turn_ = false;
    bool cannot_split_ = false;  ///< complex elements that block alone runs with the promised bits
    std::atomic<const char*> executor_ = "none";
};

}  // namespace unisono
