#include "tape/plan/write_group.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tape/plan/known_exponents.h"
#include "tape/record/element_function.h"

namespace unisono {

namespace {

/// Writes the program of one group.
class Writer {
  public:
    Writer(const std::vector<Entry>& segment, const SegmentData& data, const Grouping& grouping,
           PlanStep& step)
        : segment_(segment),
          data_(data),
          group_of_(grouping.group_of),
          stored_by_(grouping.stored_by),
          step_(step),
          group_(step.group) {}

    void write(const EntryGroup& b, std::uint32_t number) {
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
        for (std::size_t k = 0; k < output_slots_.size(); ++k) {
            if (std::find(b.anew.begin(), b.anew.end(), output_slots_[k]) != b.anew.end())
                step_.anew.push_back(static_cast<std::uint32_t>(k));
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
            const auto exponent = known_exponent(segment_[i], static_cast<int>(k));
            return node({Group::Kind::Scalar, segment_[i].in[k].dtype, Op::Add,
                         static_cast<std::uint16_t>(group_.scalars.size() - 1), exponent});
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
            for (const SegmentData::TailUse& use : data_.tail_of(j)) {
                if (!use.write && data_.slots[use.slot].storage == data_.slots[slot].storage)
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
        mark_needed(group_, used);
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

}  // namespace

void write_group(const std::vector<Entry>& segment, const SegmentData& data,
                 const Grouping& grouping, std::uint32_t number, PlanStep& step) {
    Writer(segment, data, grouping, step).write(grouping.groups[number], number);
}

}  // namespace unisono
