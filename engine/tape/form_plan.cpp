// Forms a plan: assigns entries to groups, then writes each group's program.
#include "tape/form_plan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/error.h"
#include "tape/bands.h"
#include "tape/element_function.h"
#include "tape/run_group.h"

namespace unisono {

namespace {

constexpr std::size_t most_entries =
    40;  // per group: keeps registers of `block` in L1 and compile time linear
constexpr std::size_t most_slots = 24;  ///< views of memory, without the group's own temporaries

struct Building {
    bool opaque = false;
    std::uint32_t shape = 0;  ///< of the iteration space
    int reduce_axis = -1, reduce_before = 0;
    Device* device = nullptr;
    std::vector<std::uint32_t> entries;
    std::vector<std::uint32_t> slots;      ///< distinct views touched
    std::vector<std::uint32_t> snapshots;  ///< views to be copied before the group writes elsewhere
    std::string why;
};

/// One access of a storage by an entry, kept per storage to find conflicts.
struct Use {
    std::uint32_t entry, slot;
    bool write;
};

class Grouping {
  public:
    Grouping(const std::vector<Entry>& segment, const SegmentData& data)
        : segment_(segment),
          data_(data),
          uses_(data.storage_count),
          group_of_(segment.size(), 0),
          stored_by_(segment.size(), 0) {}

    std::vector<Building> run() {
        for (std::uint32_t i = 0; i < segment_.size(); ++i) place(i);
        for (std::uint32_t i = static_cast<std::uint32_t>(segment_.size()); i-- > 0;) sink(i);
        for (std::uint32_t i = 0; i < segment_.size(); ++i) absorb(i);
        return std::move(groups_);
    }
    const std::vector<std::uint32_t>& group_of() const { return group_of_; }
    /// Of a reduction: the assignment that stores its result where it belongs, or 0.
    const std::vector<std::uint32_t>& stored_by() const { return stored_by_; }
    std::uint32_t iteration_slot(std::uint32_t i) const {
        return static_cast<std::uint32_t>(
            data_.operands[4 * i + (segment_[i].kind == EntryKind::Reduce ? 0 : 3)]);
    }

  private:
    void place(std::uint32_t i) {
        const Entry& e = segment_[i];
        std::string why;
        std::uint32_t earliest = barrier_;
        if (e.kind == EntryKind::Opaque) {
            earliest = static_cast<std::uint32_t>(groups_.size());
        } else {
            for (std::uint32_t k = 0; k < 4; ++k) {
                if (k != 3 && k >= e.inputs) continue;
                std::int32_t slot = data_.operands[4 * i + k];
                if (slot >= 0)
                    earliest =
                        std::max(earliest,
                                 after_conflicts(i, static_cast<std::uint32_t>(slot), k == 3, why));
            }
        }
        std::uint32_t g = earliest;
        while (g < groups_.size() && !joins(g, i, why)) ++g;
        if (g == groups_.size()) open(i, why);
        if (e.kind != EntryKind::Opaque) take_snapshots(g, i);
        add(g, i);
        if (e.kind == EntryKind::Opaque) barrier_ = g + 1;
    }

    /// The first group that may hold an entry which uses `slot`.
    std::uint32_t after_conflicts(std::uint32_t i, std::uint32_t slot, bool write,
                                  std::string& why) {
        std::uint32_t earliest = 0;
        for (const Use& u : uses_[data_.slots[slot].storage]) {
            if (!u.write && !write) continue;
            std::uint32_t g = group_of_[u.entry];
            bool same = u.slot == slot && !overlaps_itself(data_.view(slot));
            if (!same && data_.relation(u.slot, slot) == Overlap::Disjoint) continue;
            bool forwards = same && segment_[u.entry].kind != EntryKind::Reduce &&
                            segment_[u.entry].kind != EntryKind::Opaque &&
                            data_.slots[iteration_slot(i)].shape ==
                                data_.slots[iteration_slot(u.entry)].shape &&
                            !(segment_[i].kind == EntryKind::Reduce && write);
            forwards |= write && !same && may_be_copied(u);
            if (!forwards && g + 1 > earliest && g + 1 > barrier_) {
                why =
                    same
                        ? "needs the finished result of an earlier kernel"
                        : "reads or writes elements that an earlier kernel touches at other points";
            }
            earliest = std::max(earliest, forwards ? g : g + 1);
        }
        return earliest;
    }

    /// Whether a group that writes what it has read through this view copies the view first: of a
    /// row or a column that is repeated along other axes that costs little (`a -= outer(c, a[k])`).
    bool may_be_copied(const Use& read) const {
        const Slot& slot = data_.slots[read.slot];
        const EntryKind kind = segment_[read.entry].kind;
        if (kind == EntryKind::Opaque || kind == EntryKind::Reduce) return false;
        if (segment_[read.entry].out.storage->device) return false;
        const Dims strides = slot.layout->strides();
        return std::find(strides.begin(), strides.end(), 0) != strides.end();
    }

    /// Notes the views that group g reads and entry i, which joins it, writes at other points.
    void take_snapshots(std::uint32_t g, std::uint32_t i) {
        const auto slot = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        for (const Use& u : uses_[data_.slots[slot].storage]) {
            if (u.write || group_of_[u.entry] != g || u.slot == slot) continue;
            if (data_.relation(u.slot, slot) == Overlap::Disjoint) continue;
            auto& views = groups_[g].snapshots;
            if (std::find(views.begin(), views.end(), u.slot) == views.end())
                views.push_back(u.slot);
        }
    }

    /// Moves what only one later group reads into that group, if memory holds what it needs there:
    /// it joined an early group because it could, and would be stored for nothing.
    void sink(std::uint32_t i) {
        std::int64_t target = -1;
        if (!is_temporary(i)) return;
        for (const Use& u : uses_[storage_written(i)]) {
            if (u.write) continue;
            const std::int64_t g = group_of_[u.entry];
            if (target >= 0 && g != target) return;
            target = g;
        }
        if (target <= group_of_[i]) return;
        std::vector<std::uint32_t> moved;
        const auto to = static_cast<std::uint32_t>(target);
        if (!collect(i, to, moved)) return;
        Building& b = groups_[to];
        if (b.entries.size() + moved.size() > most_entries ||
            b.slots.size() + 3 * moved.size() > most_slots)
            return;
        for (std::uint32_t m : moved) {
            std::erase(groups_[group_of_[m]].entries, m);
            group_of_[m] = to;
            b.entries.insert(std::lower_bound(b.entries.begin(), b.entries.end(), m), m);
        }
        for (std::uint32_t m : moved) {
            for (std::uint32_t k = 0; k < segment_[m].inputs; ++k) note_slot(to, m, k);
        }
    }

    /// Entry i and what it needs that only it reads, if all that can be computed in group `to`.
    bool collect(std::uint32_t i, std::uint32_t to, std::vector<std::uint32_t>& moved) const {
        const std::uint32_t from = group_of_[i];
        if (segment_[i].out.storage->device != groups_[to].device ||
            data_.slots[iteration_slot(i)].shape != groups_[to].shape)
            return false;
        moved.push_back(i);
        for (std::uint32_t k = 0; k < segment_[i].inputs; ++k) {
            const std::int32_t operand = data_.operands[4 * i + k];
            if (operand < 0) continue;
            const auto slot = static_cast<std::uint32_t>(operand);
            for (const Use& u : uses_[data_.slots[slot].storage]) {
                if (!u.write || data_.relation(u.slot, slot) == Overlap::Disjoint) continue;
                const bool same = u.slot == slot && !overlaps_itself(data_.view(slot));
                if (u.entry > i) {  // must not come before the read
                    const std::uint32_t g = group_of_[u.entry];
                    if (g < to || (g == to && !same)) return false;
                } else if (group_of_[u.entry] == from && is_temporary(u.entry) &&
                           !is_read_elsewhere(u.entry, moved)) {
                    if (std::find(moved.begin(), moved.end(), u.entry) == moved.end() &&
                        !collect(u.entry, to, moved))
                        return false;
                } else if (group_of_[u.entry] == from && is_temporary(u.entry)) {
                    return false;  // it would be stored instead
                }
            }
        }
        return true;
    }

    /// Lets a reduction store where its result would only be copied to (`y[i] = x.sum(axis=0)`).
    void absorb(std::uint32_t i) {
        if (segment_[i].kind != EntryKind::Copy || data_.operands[4 * i] < 0) return;
        const auto from = static_cast<std::uint32_t>(data_.operands[4 * i]);
        const std::uint32_t temporary = data_.slots[from].storage;
        const auto& uses = uses_[temporary];
        if (data_.storages[temporary].live || uses.size() != 2 || uses[0].slot != from ||
            !uses[0].write || uses[1].entry != i)
            return;
        const std::uint32_t r = uses[0].entry;
        const auto to = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        if (segment_[r].kind != EntryKind::Reduce || segment_[r].compute != data_.slots[to].dtype ||
            data_.slots[from].dtype != data_.slots[to].dtype ||
            segment_[r].out.storage->device != segment_[i].out.storage->device)
            return;
        for (const Use& u : uses_[data_.slots[to].storage]) {
            const std::uint32_t g = group_of_[u.entry];
            if (u.entry != i && g >= group_of_[r] && g <= group_of_[i] &&
                data_.relation(u.slot, to) != Overlap::Disjoint)
                return;
        }
        std::erase(groups_[group_of_[i]].entries, i);
        group_of_[i] = group_of_[r];
        auto& entries = groups_[group_of_[r]].entries;
        entries.insert(std::lower_bound(entries.begin(), entries.end(), i), i);
        stored_by_[r] = i;
    }

    std::uint32_t storage_written(std::uint32_t i) const {
        return data_.slots[static_cast<std::uint32_t>(data_.operands[4 * i + 3])].storage;
    }

    /// Whether entry i computes, point by point, what only this segment sees, through one view.
    bool is_temporary(std::uint32_t i) const {
        const EntryKind kind = segment_[i].kind;
        if (kind == EntryKind::Opaque || kind == EntryKind::Reduce) return false;
        const std::uint32_t storage = storage_written(i);
        const auto slot = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        if (data_.storages[storage].live) return false;
        return std::all_of(uses_[storage].begin(), uses_[storage].end(), [&](const Use& u) {
            return u.slot == slot && (!u.write || u.entry == i) &&
                   segment_[u.entry].kind != EntryKind::Opaque;
        });
    }

    bool is_read_elsewhere(std::uint32_t i, const std::vector<std::uint32_t>& readers) const {
        const auto& uses = uses_[storage_written(i)];
        return std::any_of(uses.begin(), uses.end(), [&](const Use& u) {
            return !u.write && std::find(readers.begin(), readers.end(), u.entry) == readers.end();
        });
    }

    bool joins(std::uint32_t g, std::uint32_t i, std::string& why) const {
        const Building& b = groups_[g];
        const Entry& e = segment_[i];
        if (b.opaque || e.kind == EntryKind::Opaque) return false;
        if (b.shape != data_.slots[iteration_slot(i)].shape) {
            if (why.empty()) why = "has another iteration space";
            return false;
        }
        if (b.device != e.out.storage->device) return false;
        if (e.kind == EntryKind::Reduce && b.reduce_axis >= 0 &&
            (b.reduce_axis != e.axis || b.reduce_before != e.before)) {
            why = "reduces another axis";
            return false;
        }
        if (b.entries.size() >= most_entries || b.slots.size() + 4 > most_slots) {
            why = "the kernel is full";
            return false;
        }
        return true;
    }

    void open(std::uint32_t i, const std::string& why) {
        Building b;
        b.opaque = segment_[i].kind == EntryKind::Opaque;
        b.shape = data_.slots[iteration_slot(i)].shape;
        b.device = segment_[i].out.storage->device;
        b.why = why;
        groups_.push_back(std::move(b));
    }

    void add(std::uint32_t g, std::uint32_t i) {
        Building& b = groups_[g];
        group_of_[i] = g;
        b.entries.push_back(i);
        if (segment_[i].kind == EntryKind::Reduce) {
            b.reduce_axis = segment_[i].axis;
            b.reduce_before = segment_[i].before;
        }
        for (std::uint32_t k = 0; k < 4; ++k) {
            if (k != 3 && k >= segment_[i].inputs) continue;
            std::int32_t slot = data_.operands[4 * i + k];
            if (slot < 0) continue;
            auto s = static_cast<std::uint32_t>(slot);
            note_slot(g, i, k);
            uses_[data_.slots[s].storage].push_back({i, s, k == 3});
        }
    }

    /// Counts an operand among the views of memory that a group touches.
    void note_slot(std::uint32_t g, std::uint32_t i, std::uint32_t k) {
        if (data_.operands[4 * i + k] < 0) return;
        const auto slot = static_cast<std::uint32_t>(data_.operands[4 * i + k]);
        const std::uint32_t storage = data_.slots[slot].storage;
        if (!data_.storages[storage].live) {
            const auto& uses = uses_[storage];
            const bool made_here =
                k == 3 || std::any_of(uses.begin(), uses.end(), [&](const Use& u) {
                    return u.write && u.slot == slot && group_of_[u.entry] == g;
                });
            if (made_here) return;
        }
        auto& slots = groups_[g].slots;
        if (std::find(slots.begin(), slots.end(), slot) == slots.end()) slots.push_back(slot);
    }

    const std::vector<Entry>& segment_;
    const SegmentData& data_;
    std::vector<std::vector<Use>> uses_;
    std::vector<std::uint32_t> group_of_, stored_by_;
    std::vector<Building> groups_;
    std::uint32_t barrier_ = 0;
};

/// Writes the program of one group.
class Writer {
  public:
    Writer(const std::vector<Entry>& segment, const SegmentData& data, const Grouping& grouping,
           PlanStep& step)
        : segment_(segment),
          data_(data),
          group_of_(grouping.group_of()),
          stored_by_(grouping.stored_by()),
          step_(step),
          group_(step.group) {}

    void write(const Building& b, std::uint32_t number) {
        group_.reduce_axis = -1;
        std::vector<std::uint32_t> entries;
        for (std::uint32_t i : b.entries) {
            if (!is_absorbed(i)) entries.push_back(i);
        }
        for (std::uint32_t i : entries) entry(i);
        for (std::uint32_t i : entries) output(i, number);
        for (const auto& o : group_.outputs) {
            if (!o.reduces) continue;
            group_.reduce_axis = b.reduce_axis;
            group_.reduce_before = b.reduce_before;
        }
        prune();
        match_inputs();
        for (std::size_t k = 0; k < input_slots_.size(); ++k) {
            const auto& s = b.snapshots;
            if (std::find(s.begin(), s.end(), input_slots_[k]) != s.end())
                step_.snapshots.push_back(static_cast<std::uint32_t>(k));
        }
    }

  private:
    using NodeKey = std::tuple<int, int, int, int, int, int, int>;

    std::uint16_t node(Group::Node n) {
        NodeKey key{static_cast<int>(n.kind),
                    static_cast<int>(n.dtype),
                    static_cast<int>(n.op),
                    n.a,
                    n.b,
                    n.c,
                    n.function};
        auto [it, fresh] = known_.try_emplace(key, static_cast<std::uint16_t>(group_.nodes.size()));
        if (fresh) group_.nodes.push_back(n);
        return it->second;
    }

    std::uint16_t operand(std::uint32_t i, std::uint32_t k) {
        std::int32_t slot = data_.operands[4 * i + k];
        if (slot < 0) {
            step_.scalars.push_back({i, k});
            group_.scalars.push_back(segment_[i].in[k].dtype);
            return node({Group::Kind::Scalar, segment_[i].in[k].dtype, Op::Add,
                         static_cast<std::uint16_t>(group_.scalars.size() - 1)});
        }
        auto s = static_cast<std::uint32_t>(slot);
        if (auto it = value_of_.find(s); it != value_of_.end()) return it->second;
        step_.inputs.push_back({i, k});  // its own entry's: earlier entries are released by then
        input_slots_.push_back(s);
        group_.inputs.push_back(data_.slots[s].dtype);
        std::uint16_t n = node({Group::Kind::Input, data_.slots[s].dtype, Op::Add,
                                static_cast<std::uint16_t>(group_.inputs.size() - 1)});
        value_of_[s] = n;
        return n;
    }

    std::uint16_t cast(std::uint16_t n, DType t) {
        DType from = group_.nodes[n].dtype;
        if (from == t) return n;
        // Only floats become float16 and back; everything else meets it as float32, or float64
        // where that holds more.
        if (is_half(from) && t != DType::Float32) {
            std::uint16_t wide = cast(n, DType::Float32);
            return cast(t == DType::UInt32 ? cast(wide, DType::Int64) : wide, t);
        }
        if (is_half(t) && !is_float(from)) {
            DType through = from == DType::Complex128 ? DType::Float64 : DType::Float32;
            return cast(cast(n, through), t);
        }
        return node({Group::Kind::Cast, t, Op::Add, n});
    }

    /// float16 is computed in float32 and rounded after each operation.
    std::uint16_t map(const Entry& e, std::uint16_t a, std::uint16_t b) {
        DType result = *result_dtype(e.op, e.compute);
        if (!is_half(e.compute)) return node({Group::Kind::Op, result, e.op, a, b});
        a = cast(a, DType::Float32);
        if (e.inputs > 1) b = cast(b, DType::Float32);
        DType wide = *result_dtype(e.op, DType::Float32);
        return cast(node({Group::Kind::Op, wide, e.op, a, b}), result);
    }

    void entry(std::uint32_t i) {
        const Entry& e = segment_[i];
        auto out_slot = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        std::uint16_t v = 0;
        switch (e.kind) {
            case EntryKind::Map: {
                std::uint16_t a = cast(operand(i, 0), e.compute);
                std::uint16_t b = e.inputs > 1 ? cast(operand(i, 1), e.compute) : std::uint16_t{0};
                v = map(e, a, b);
                break;
            }
            case EntryKind::Copy: v = operand(i, 0); break;
            case EntryKind::Select: {
                std::uint16_t c = cast(operand(i, 0), DType::Bool);
                std::uint16_t a = cast(operand(i, 1), e.compute);
                std::uint16_t b = cast(operand(i, 2), e.compute);
                v = node({Group::Kind::Select, e.compute, Op::Add, c, a, b});
                break;
            }
            case EntryKind::Iota: v = node({Group::Kind::Iota, DType::Int64}); break;
            case EntryKind::Reduce: reduced_[i] = cast(operand(i, 0), e.compute); return;
            case EntryKind::Function: v = function(i); break;
            case EntryKind::Opaque: return;
        }
        value_of_[out_slot] = cast(v, e.out.dtype);
    }

    std::uint16_t function(std::uint32_t i) {
        const auto& called = static_cast<const ElementCall*>(segment_[i].call)->function;
        auto at = std::find(group_.functions.begin(), group_.functions.end(), called);
        Group::Node n{Group::Kind::Function, called->result()};
        n.function = static_cast<std::uint16_t>(at - group_.functions.begin());
        if (at == group_.functions.end()) group_.functions.push_back(called);
        std::uint16_t* operands[] = {&n.a, &n.b, &n.c};
        for (std::uint32_t k = 0; k < called->params().size(); ++k)
            *operands[k] = cast(operand(i, k), called->params()[k]);
        return node(n);
    }

    bool is_absorbed(std::uint32_t i) const {
        return i > 0 && segment_[i].kind == EntryKind::Copy &&
               std::find(stored_by_.begin(), stored_by_.end(), i) != stored_by_.end();
    }

    /// Whether memory must receive what entry i writes.
    bool is_needed(std::uint32_t i, std::uint32_t number) const {
        auto slot = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        const SegmentStorage& st = data_.storages[data_.slots[slot].storage];
        if (st.live) return true;
        for (std::uint32_t j = i + 1; j < segment_.size(); ++j) {
            if (group_of_[j] == number && segment_[j].kind != EntryKind::Opaque) continue;
            for (std::uint32_t k = 0; k < segment_[j].inputs; ++k) {
                std::int32_t s = data_.operands[4 * j + k];
                if (s >= 0 &&
                    data_.slots[static_cast<std::uint32_t>(s)].storage == data_.slots[slot].storage)
                    return true;
            }
        }
        return false;
    }

    void output(std::uint32_t i, std::uint32_t number) {
        const Entry& e = segment_[i];
        if (stored_by_[i] > 0) i = stored_by_[i];
        if (!is_needed(i, number)) return;
        auto slot = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        if (e.kind == EntryKind::Reduce) {
            const std::uint16_t value = reduced_[static_cast<std::uint32_t>(&e - segment_.data())];
            group_.outputs.push_back({value, e.compute, true, e.op, -1});
            step_.outputs.push_back({i, 3});
            output_slots_.push_back(slot);
            return;
        }
        if (std::find(output_slots_.begin(), output_slots_.end(), slot) != output_slots_.end())
            return;
        group_.outputs.push_back({value_of_[slot], e.out.dtype, false, Op::Add, -1});
        step_.outputs.push_back({i, 3});
        output_slots_.push_back(slot);
    }

    /// Drops nodes, inputs and scalars that no output needs.
    void prune() {
        std::vector<bool> used(group_.nodes.size(), false);
        for (const auto& o : group_.outputs) used[o.node] = true;
        for (std::size_t k = group_.nodes.size(); k-- > 0;) {
            if (!used[k]) continue;
            const auto& n = group_.nodes[k];
            if (n.kind == Group::Kind::Op) {
                used[n.a] = true;
                if (info(n.op).arity > 1) used[n.b] = true;
            } else if (n.kind == Group::Kind::Cast) {
                used[n.a] = true;
            } else if (n.kind == Group::Kind::Select) {
                used[n.a] = used[n.b] = used[n.c] = true;
            } else if (n.kind == Group::Kind::Function) {
                auto operands = group_.functions[n.function]->params().size();
                used[n.a] = true;
                if (operands > 1) used[n.b] = true;
                if (operands > 2) used[n.c] = true;
            }
        }
        std::vector<std::uint16_t> renamed(group_.nodes.size(), 0);
        std::vector<Group::Node> nodes;
        Group packed;
        std::vector<OperandRef> inputs, scalars;
        std::vector<std::uint32_t> input_slots;
        for (std::size_t k = 0; k < group_.nodes.size(); ++k) {
            if (!used[k]) continue;
            Group::Node n = group_.nodes[k];
            if (n.kind == Group::Kind::Input) {
                packed.inputs.push_back(group_.inputs[n.a]);
                inputs.push_back(step_.inputs[n.a]);
                input_slots.push_back(input_slots_[n.a]);
                n.a = static_cast<std::uint16_t>(packed.inputs.size() - 1);
            } else if (n.kind == Group::Kind::Scalar) {
                packed.scalars.push_back(group_.scalars[n.a]);
                scalars.push_back(step_.scalars[n.a]);
                n.a = static_cast<std::uint16_t>(packed.scalars.size() - 1);
            } else if (n.kind != Group::Kind::Iota) {
                n.a = renamed[n.a];
                n.b = renamed[n.b];
                n.c = renamed[n.c];
            }
            renamed[k] = static_cast<std::uint16_t>(nodes.size());
            nodes.push_back(n);
        }
        packed.nodes = std::move(nodes);
        packed.functions = group_.functions;
        packed.outputs = group_.outputs;
        for (auto& o : packed.outputs) o.node = renamed[o.node];
        packed.reduce_axis = group_.reduce_axis;
        packed.reduce_before = group_.reduce_before;
        group_ = std::move(packed);
        step_.inputs = std::move(inputs);
        step_.scalars = std::move(scalars);
        input_slots_ = std::move(input_slots);
    }

    void match_inputs() {
        for (std::size_t o = 0; o < output_slots_.size(); ++o) {
            for (std::size_t k = 0; k < input_slots_.size(); ++k) {
                if (input_slots_[k] == output_slots_[o]) {
                    group_.outputs[o].same_as_input = static_cast<std::int16_t>(k);
                }
            }
        }
    }

    const std::vector<Entry>& segment_;
    const SegmentData& data_;
    const std::vector<std::uint32_t>&group_of_, &stored_by_;
    PlanStep& step_;
    Group& group_;
    std::map<NodeKey, std::uint16_t> known_;
    std::map<std::uint32_t, std::uint16_t>
        value_of_;  ///< slot -> node that holds its current value
    std::map<std::uint32_t, std::uint16_t> reduced_;
    std::vector<std::uint32_t> input_slots_, output_slots_;
};

/// Where an operand comes from, as PlanStep::sources has it.
std::int32_t source_of(OperandRef ref, std::int32_t reader,
                       const std::vector<std::int32_t>& step_of, const SegmentData& data) {
    auto slot_of = [&](std::uint32_t entry, std::uint32_t operand) {
        return static_cast<std::uint32_t>(data.operands[4 * entry + operand]);
    };
    std::uint32_t slot = slot_of(ref.entry, ref.operand);
    for (std::uint32_t j = ref.entry; j-- > 0;) {
        std::uint32_t out = slot_of(j, 3);
        if (data.slots[out].storage == data.slots[slot].storage && step_of[j] >= 0 &&
            step_of[j] != reader && data.relation(out, slot) != Overlap::Disjoint)
            return step_of[j];
    }
    return -1 - static_cast<std::int32_t>(data.slots[slot].storage);
}

void note_sources(Plan& plan, const std::vector<Entry>& segment, const SegmentData& data) {
    std::vector<std::int32_t> step_of(segment.size(), -1);
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        for (std::uint32_t i : plan.steps[s].entries) step_of[i] = static_cast<std::int32_t>(s);
    }
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        PlanStep& step = plan.steps[s];
        std::vector<OperandRef> read = step.inputs;
        if (step.opaque >= 0) {
            auto i = static_cast<std::uint32_t>(step.opaque);
            for (std::uint32_t k = 0; k < segment[i].inputs; ++k) read.push_back({i, k});
        }
        for (OperandRef ref : read)
            step.sources.push_back(source_of(ref, static_cast<std::int32_t>(s), step_of, data));
    }
}

}  // namespace

std::unique_ptr<Plan> form_plan(const std::vector<Entry>& segment, const SegmentData& data) {
    Grouping grouping(segment, data);
    std::vector<Building> groups = grouping.run();
    auto plan = std::make_unique<Plan>();
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
        const Building& b = groups[g];
        if (b.entries.empty()) continue;
        PlanStep step;
        step.entries = b.entries;
        if (!b.why.empty()) step.why.push_back(b.why);
        if (b.opaque) {
            step.opaque = static_cast<std::int32_t>(b.entries.front());
            plan->steps.push_back(std::move(step));
            continue;
        }
        Writer(segment, data, grouping, step).write(b, g);
        if (step.group.outputs.empty()) {
            plan->dead.insert(plan->dead.end(), b.entries.begin(), b.entries.end());
            continue;
        }
        std::uint32_t front = b.entries.front();
        step.space = {front, segment[front].kind == EntryKind::Reduce ? 0u : 3u};
        step.kernel = GroupKernel::of(step.group);
        plan->steps.push_back(std::move(step));
    }
    note_sources(*plan, segment, data);
    note_bands(*plan, segment, data);
    return plan;
}

}  // namespace unisono
