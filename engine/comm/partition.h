// Runs windows of a mesh's tape: finds which part of each statement is this rank's, records the
// messages that bring what it needs, and records the part itself on the rank's own tape.
//
// How it works. A window is walked three times. Backward: a result takes the split that its first
// consumer in the window wants, so that only what the whole expression needs is sent. Forward: what
// nobody wants otherwise takes the split of its first operand; and how far beyond their parts ranks
// read each array, until it is written, is gathered, so that one exchange serves all. Forward
// again: messages and local statements are recorded. Nothing is computed; the rank's tape fuses
// local statements and runs them when a value leaves.
//
// So
//     u_new[1:-1, 1:-1] = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + ...) / 4
// exchanges one row with each neighbour, whatever the shifts. Several such sweeps in a window
// exchange once: each rank also computes what its neighbours own and it reads later, a row less
// with each sweep, where that is little work.
//
// Of windows that repeat nothing is found out again (partition/window_plans.h).
//
// Messages follow from the recorded program alone: results count whether anybody uses them or not.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "comm/block.h"
#include "comm/partition/window_plans.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono::comm {

class Partition final : public Windows {
  public:
    explicit Partition(Mesh& mesh) : mesh_(mesh), tape_(*this), plans_(mesh) {
        is_alone_ = mesh.size() == 1;
    }

    Tape& tape() { return tape_; }

    void created(const View& all) override { Block::of(mesh_, all); }
    bool forward(const Entry& entry) override;
    void check(const Entry& entry) override;
    bool ends_window(std::span<const Entry> entries) override;
    void run(std::span<Entry> window, const std::function<void(Entry&)>& done) override;
    void complete(Storage& storage) override;
    using Windows::adopted;
    Array adopted(Storage* local, const Layout* packed, DType dtype, const View& like) override;
    ~Partition() override;
    Storage* memory_of(const Storage& storage) override;
    std::string describe() override;
    Array whole(const Array& a) override;
    /// This rank's memory of all elements, where every rank has all; else null. Of an array of few
    /// elements every rank may come to have all. Ends a window.
    std::optional<Array> everywhere(const Array& a, bool may_come_to);
    /// All of a panel, which an algorithm takes, uses and drops.
    Array panel(const Array& a);
    Array reshaped(const Array& a, Dims shape) override;

    /// What this rank has of the elements that the array shows. Ends a window.
    struct LocalPart {
        Box own;      ///< indices that this rank owns
        Array array;  ///< these, or a window around them
        Held held;
    };
    LocalPart local_part(const Array& a);
    /// The same and so much of others' before and after it along each axis that is split, as far as
    /// there is any; corners too.
    LocalPart local_window(const Array& a, std::span<const Halo> beyond);
    /// An array of that shape that is split so; evenly along its first axis by default.
    Array make_empty(Dims shape, DType dtype, Device* place, const Held& held);
    Held default_held(Dims shape) const;

    Array take(const Array& table, std::span<const Array> positions) override;
    void put(const Array& target, std::span<const Array> positions, const Array& rows) override;

    /// Whether several sweeps may share an exchange of halos; alike on all ranks.
    bool shares_exchanges() const { return shares_exchanges_; }
    void share_exchanges(bool share) { shares_exchanges_ = share; }

    /// Windows that were recorded as they were before.
    std::int64_t repeated_windows() const { return plans_.repeated(); }

    // For algorithms over parts, while a window is run.
    Mesh& mesh() { return mesh_; }
    /// An operand or result of an entry.
    struct Operand {
        Block* block;
        Steps steps;
    };
    const Operand& operand(const View& view);
    /// Who has which elements of the view.
    Held held(const View& view);
    /// The same where that is along one axis; else even parts along the first, which must be moved.
    Held held_on_axis(const View& view);
    /// What this rank reads of the view, held so, as a local array.
    Array part(const View& view, const Held& wanted);
    /// Writes what this rank has, held so, to a result.
    void store(const View& out, const Array& part, const Held& as, const std::string& what);

  private:
    const Held& held_of(const Block& block) const;
    bool may_be(const Block& block, const Held& held) const;
    void note_steps(std::span<Entry> window);
    void straighten(const View& view);
    Held reduced_as(const Entry& e, const Held& has) const;
    std::optional<Held> moves_to(const View& out, const Held& as);
    Operand ready(const View& view);
    void settle(Block& block);

    void want(std::span<Entry> window);
    void plan(std::span<Entry> window);
    void plan_entry(const Entry& e);
    void extend(std::span<Entry> window);
    Halo extension_of(const Entry& e, Halo wanted);
    void note_halos(const Entry& e, Halo beyond);
    void exchange(const View& v);
    void step(Entry& e, Halo beyond);
    void elementwise(const Entry& e, Halo beyond);
    Array operand_part(const View& view, const Held& iteration, const Box& box, Halo beyond = {});
    void reduction(const Entry& e);
    void spread(const Entry& e);
    void flat(const Entry& e);
    void primitive(const Entry& e);
    void record(Entry& e, std::unique_ptr<OpaqueCall> call, std::span<const Array> reads,
                const Array& out);

    /// What is known of a window goes with it, and nothing comes from before it.
    struct Forget {
        Partition& p;
        explicit Forget(Partition& partition) : p(partition) { p.operands_.clear(); }
        ~Forget() {
            p.planned_.clear();
            p.room_.clear();
            p.writes_.clear();
            p.unread_.clear();
            p.halos_.clear();
            p.stepped_.clear();
            p.beyond_.clear();
            p.operands_.clear();
            p.plans_.give_up();
        }
    };

    Mesh& mesh_;
    Tape tape_;
    WindowPlans plans_;
    bool deals_ = false;  ///< an array was made whose indices are dealt out: others may follow it
    bool shares_exchanges_ = true;
    /// Of a rank alone: how arrays of the layout that was asked for last are spread evenly.
    struct Evenly {
        const Layout* packed = nullptr;
        Held held = Held::all(1);
        std::uint64_t number = 0;
    } evenly_;
    std::size_t recorded_ = 0;  ///< statements of the window that is recorded, alike on all ranks
    // Of the window that runs.
    std::unordered_map<const Block*, Held> planned_;  ///< of blocks that are not decided
    std::unordered_map<const Block*, Halos> room_;
    std::unordered_set<const Block*> stepped_;      ///< that views do more to than slice
    std::unordered_map<const Block*, int> writes_;  ///< seen so far
    /// Results of primitives that nothing has read so far, while the window is planned.
    std::unordered_set<const Block*> unread_;
    std::map<std::pair<const Block*, int>, Halos> halos_;  ///< read between those writes
    /// How far beyond its part, in indices of the base, each rank computes each entry.
    std::vector<Halo> beyond_;
    /// Views that were taken apart; each is met several times.
    struct ByView {
        std::size_t operator()(const View& v) const;
        bool operator()(const View& a, const View& b) const { return a.same_as(b); }
    };
    std::unordered_map<View, Operand, ByView, ByView> operands_;
};

}  // namespace unisono::comm
