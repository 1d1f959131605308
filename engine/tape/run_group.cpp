// Canonical iteration spaces, the choice of executor, and compiled variants of groups.
#include "tape/run_group.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <unordered_map>

#include "core/settings.h"
#include "core/stats.h"
#include "ops/complex_rules.h"
#include "ops/reduction_tree.h"
#include "tape/block_program.h"
#include "tape/element_function.h"
#include "tape/temporary.h"

namespace unisono {

namespace {

constexpr std::size_t most_operands = 64;
/// Node-elements that a group may cost without the compiler before it is compiled: some
/// milliseconds of work, as compiling is.
constexpr std::int64_t compile_after = 10'000'000;
/// Below this many node-elements a run of a compiled kernel gains nothing over block.
constexpr std::int64_t compile_from_work = 8192;
/// The same of reductions that lower_fold serves: block starts anew for each of their rows.
constexpr std::int64_t fold_from_work = 1024;
/// Rows up to which, or elements of all operands up to which reductions of axes in front of the
/// last one gain by the compiler: beyond, strips of columns leave the caches.
constexpr std::int64_t most_columns = 256, most_elements = 1 << 16;
/// Elements of the last axis from which its reduction gains: shorter rows leave most lanes idle,
/// and block takes many of them together.
constexpr std::int64_t shortest_along = 2 * reduction::lanes;

/// Size of one core complex's last-level cache. The kernel's figure is per instance; the C
/// library's may be that of all instances together.
std::int64_t last_level_cache() {
    static const std::int64_t bytes = [] {
        std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
        std::int64_t kib = 0;
        if (file >> kib && kib > 0) return kib << 10;
        std::int64_t l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
        return l3 > 0 ? l3 : std::int64_t{8} << 20;
    }();
    return bytes;
}

enum class Choice : std::uint8_t { Auto, Block, Cpu, Interp };

Choice executor_choice() {
    static int generation = -1;
    static Choice choice = Choice::Auto;
    if (generation != settings_generation()) {
        generation = settings_generation();
        const std::string& text = setting("executor");
        choice = text == "block"    ? Choice::Block
                 : text == "cpu"    ? Choice::Cpu
                 : text == "interp" ? Choice::Interp
                                    : Choice::Auto;
    }
    return choice;
}

}  // namespace

/// The iteration space after axes of extent 1 are dropped and axes are merged where all operands
/// allow it.
struct GroupKernel::Space {
    int rank = 0;
    int reduce_axis = -1, reduce_before = 0;
    std::int64_t size = 1;
    std::int64_t shape[max_rank];
    std::size_t inputs = 0, operands = 0;
    bool lanes = false;                             // turned
    bool keeps_order = false;                       // must not be turned
    std::int64_t strides[most_operands][max_rank];  // operand-major
    int last_reduced = -1;                          // reduce_axis as given
    bool kept_reduced = false;                      // the axis kept last

    /// Whether lower_fold serves: no axis is empty, and threads find enough to share.
    bool folds() const {
        if (reduce_axis < 0 || size == 0) return false;
        return reduce_before == 0 || reduce_axis + 1 < rank || size <= reduction_piece ||
               (reduce_axis > reduce_before && shape[0] >= 8);
    }
    bool is_along() const { return reduce_axis + 1 == rank && !lanes; }
    std::int64_t pieces() const {
        return reduction::leaf_count(shape[reduce_axis], reduction_piece);
    }
    /// An axis along which inputs are dense, where they are not along the last one, which is
    /// reduced; or -1.
    int dense_axis() const {
        if (reduce_axis + 1 != rank || reduce_before > 0 || keeps_order) return -1;
        int found = -1;
        for (std::size_t o = 0; o < inputs; ++o) {
            const std::int64_t* s = strides[o];
            if (s[rank - 1] == 1 || s[rank - 1] == -1) return -1;
            for (int axis = 0; axis + 1 < rank && found < 0; ++axis) {
                if (s[axis] == 1 && shape[axis] >= 8) found = axis;
            }
        }
        return found;
    }
    /// Puts the dense axis behind the reduced one, whose elements go to lanes all the same.
    void turn(int axis) {
        std::rotate(shape + axis, shape + axis + 1, shape + rank);
        for (std::size_t o = 0; o < operands; ++o)
            std::rotate(strides[o] + axis, strides[o] + axis + 1, strides[o] + rank);
        reduce_axis = rank - 2;
        lanes = true;
    }
    bool has_few_rows() const {
        for (int axis = reduce_axis - reduce_before; axis <= reduce_axis; ++axis) {
            const bool by_lanes = axis == reduce_axis && (lanes || is_along());
            if (shape[axis] > (by_lanes ? reduction::leaf_elements : reduction::leaf_rows))
                return false;
        }
        return true;
    }
    /// Whether compiled loops beat block, which runs along long rows at the speed of memory.
    bool gains() const {
        if (reduce_axis + 1 == rank)
            return shape[reduce_axis] >= shortest_along || dense_axis() >= 0;
        return shape[rank - 1] <= most_columns ||
               size * static_cast<std::int64_t>(operands) <= most_elements;
    }

    void keep(int axis) {
        shape[rank] = shape[axis];
        for (std::size_t o = 0; o < operands; ++o) strides[o][rank] = strides[o][axis];
        kept_reduced = is_reduced(axis);
        if (axis == last_reduced) reduce_axis = rank;
        ++rank;
    }
    /// Of an axis as given, before reduce_axis is renumbered.
    bool is_reduced(int axis) const {
        return axis <= last_reduced && axis >= last_reduced - reduce_before;
    }
    bool merges(int axis) const {  // the kept axis rank-1 with the later axis `axis`
        if (rank == 0 || kept_reduced || is_reduced(axis)) return false;
        for (std::size_t o = 0; o < operands; ++o) {
            if (strides[o][rank - 1] != strides[o][axis] * shape[axis]) return false;
        }
        return true;
    }
    void collapse(int given) {
        for (int axis = 0; axis < given; ++axis) {
            if (shape[axis] == 1 && !is_reduced(axis)) continue;
            if (merges(axis)) {
                shape[rank - 1] *= shape[axis];
                for (std::size_t o = 0; o < operands; ++o) strides[o][rank - 1] = strides[o][axis];
            } else {
                keep(axis);
            }
        }
        if (rank == 0) {
            shape[0] = 1;
            for (std::size_t o = 0; o < operands; ++o) strides[o][0] = 0;
            rank = 1;
        }
    }
};

struct GroupKernel::Variant {
    GroupShape shape;
    Device* device;
    std::unique_ptr<Executable> map;
    std::vector<std::unique_ptr<Executable>> trees;  // one per reducing output
};

GroupKernel::GroupKernel(const Group& group)
    : group_(group), block_(std::make_unique<BlockProgram>(group_)) {
    if (group.inputs.size() + group.outputs.size() > most_operands)
        fail(ErrorKind::Internal, "group: too many operands");
    for (const auto& n : group.nodes) {
        cannot_turn_ |= n.kind == Group::Kind::Iota;  // numbers points in the order of the axes
        if (n.kind == Group::Kind::Op && is_complex(group.nodes[n.a].dtype))
            cannot_split_ |= !rules::is_plain(n.op);
        cannot_split_ |= is_complex(n.dtype) && group.reduce_axis >= 0;
    }
}
GroupKernel::~GroupKernel() = default;

namespace {

/// All that a group consists of, as bytes.
std::string signature(const Group& g) {
    std::string s;
    auto put = [&](auto... v) { (s.append(reinterpret_cast<const char*>(&v), sizeof v), ...); };
    put(g.nodes.size(), g.inputs.size(), g.scalars.size(), g.reduce_axis, g.reduce_before);
    for (const auto& n : g.nodes) put(n.kind, n.dtype, n.op, n.a, n.b, n.c, n.function);
    for (const auto& f : g.functions) put(f->id());
    for (DType t : g.inputs) put(t);
    for (DType t : g.scalars) put(t);
    for (const auto& o : g.outputs) put(o.node, o.dtype, o.reduces, o.op, o.same_as_input);
    return s;
}

}  // namespace

std::shared_ptr<GroupKernel> GroupKernel::of(const Group& group) {
    static auto* known = new std::unordered_map<std::string, std::weak_ptr<GroupKernel>>;
    std::string key = signature(group);
    if (auto it = known->find(key); it != known->end()) {
        if (auto kernel = it->second.lock()) return kernel;
    }
    if (known->size() >= 8192)
        std::erase_if(*known, [](const auto& row) { return row.second.expired(); });
    auto kernel = std::make_shared<GroupKernel>(group);
    (*known)[std::move(key)] = kernel;
    return kernel;
}

std::string GroupKernel::source() const {
    std::string all;
    for (const auto& v : variants_) {
        all += v->map->source();
        for (const auto& t : v->trees) all += t->source();
    }
    return all;
}

static void fill_space(auto& space, const GroupKernel::Call& call, const Group& group) {
    int given = call.space->rank();
    space.reduce_axis = group.reduce_axis;
    space.reduce_before = group.reduce_before;
    space.size = call.space->size();
    space.last_reduced = group.reduce_axis;
    space.inputs = call.inputs.size();
    space.operands = call.inputs.size() + call.outputs.size();
    std::copy_n(call.space->shape().begin(), given, space.shape);
    for (std::size_t o = 0; o < space.operands; ++o) {
        bool is_input = o < call.inputs.size();
        std::size_t k = is_input ? o : o - call.inputs.size();
        Dims s = (is_input ? call.inputs[k] : call.outputs[k]).layout->strides();
        if (!is_input && group.outputs[k].reduces) {
            for (int axis = 0, from = 0; axis < given; ++axis) {
                space.strides[o][axis] =
                    space.is_reduced(axis) ? 0 : s[static_cast<std::size_t>(from++)];
            }
        } else {
            std::copy(s.begin(), s.end(), space.strides[o]);
        }
    }
    space.collapse(given);
}

bool GroupKernel::should_compile(const Space& space) {
    if (cannot_split_) return false;
    Choice choice = executor_choice();
    if (choice != Choice::Auto) return choice != Choice::Block;
    std::int64_t work = space.size * static_cast<std::int64_t>(group_.nodes.size());
    if (cannot_compile_) return false;
    if (group_.reduce_axis < 0) {
        if (work < compile_from_work) return false;
    } else if (work < fold_from_work || !space.folds() || !space.gains()) {
        return false;
    }
    work_done_ += work;
    return work_done_ >= compile_after;
}

bool GroupKernel::is_small(std::int64_t size) {
    return size <= BlockProgram::small_points && executor_choice() <= Choice::Block;
}

bool GroupKernel::run_packed(std::int64_t size, char* const* data, const std::uint64_t* scalars) {
    if (!block_->run_packed(size, data, scalars)) return false;
    count(stats().kernels_launched);
    executor_ = "block";
    return true;
}

void GroupKernel::run(const Call& call) {
    bool host = !call.device || call.device->info().host_memory;
    // Left unset: clearing all would cost more than a small run.
    alignas(GroupRun::Operand) std::byte room[most_operands * sizeof(GroupRun::Operand)];
    auto* operands = reinterpret_cast<GroupRun::Operand*>(room);
    std::size_t inputs = call.inputs.size(), outputs = call.outputs.size();
    Space space;
    fill_space(space, call, group_);
    space.keeps_order = cannot_turn_;
    const bool compiles = !host || should_compile(space);
    if (group_.reduce_before > 0 && !(host && compiles && space.folds())) {
        run_axis_by_axis(call);
        return;
    }
    count(stats().kernels_launched);
    if (!host) {
        run_compiled(call, space, *call.device);
        return;
    }
    if (compiles) {
        try {
            run_compiled(call, space,
                         find_device(executor_choice() == Choice::Interp ? "interp" : "cpu"));
            return;
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::Unsupported || executor_choice() != Choice::Auto) throw;
            cannot_compile_ = true;  // no compiler here: block does everything, as fast as it can
        }
    }
    if (group_.reduce_before > 0) {
        run_axis_by_axis(call);
        return;
    }
    for (std::size_t k = 0; k < inputs + outputs; ++k) {
        const View& v = k < inputs ? call.inputs[k] : call.outputs[k - inputs];
        operands[k] = {v.data(), {space.strides[k], static_cast<std::size_t>(space.rank)}};
    }
    GroupRun run{{space.shape, static_cast<std::size_t>(space.rank)},
                 {operands, inputs},
                 {operands + inputs, outputs},
                 call.scalars,
                 space.reduce_axis};
    executor_ = "block";
    block_->run(run);
}

static ir::StrideClass class_of(std::int64_t stride) {
    switch (stride) {
        case 0: return ir::StrideClass::Zero;
        case 1: return ir::StrideClass::One;
        case -1: return ir::StrideClass::MinusOne;
        default: return ir::StrideClass::Other;
    }
}

GroupKernel::Variant& GroupKernel::variant(const GroupShape& shape, Device& device) {
    for (const auto& v : variants_) {
        if (v->shape == shape && v->device == &device) return *v;
    }
    auto v = std::make_unique<Variant>();
    v->shape = shape;
    v->device = &device;
    count(stats().kernels_compiled);
    if (shape.folds) {
        v->map = device.compile(lower_fold(group_, shape), {});
    } else if (shape.reduce_axis < 0) {
        v->map = device.compile(lower_map(group_, shape), {});
    } else {
        v->map = device.compile(lower_leaves(group_, shape), {});
        for (const auto& o : group_.outputs) {
            if (o.reduces)
                v->trees.push_back(
                    device.compile(lower_tree(o.op, o.dtype, std::max(1, shape.rank - 1)), {}));
        }
    }
    variants_.push_back(std::move(v));
    return *variants_.back();
}

static ArrayArg array_arg(const View& v, std::span<const std::int64_t> shape,
                          std::span<const std::int64_t> strides) {
    return {v.storage->memory, v.offset * size_of(v.dtype), shape, strides};
}

void GroupKernel::run_compiled(const Call& call, Space& space, Device& device) {
    GroupShape shape;
    if (int axis = space.dense_axis(); axis >= 0 && space.size > 0 && device.info().host_memory)
        space.turn(axis);
    shape.lanes = space.lanes;
    shape.along = space.reduce_axis >= 0 && space.is_along();
    shape.rank = space.rank;
    shape.reduce_axis = space.reduce_axis;
    shape.reduce_before = space.reduce_before;
    shape.on_device = !device.info().host_memory;
    shape.folds = !shape.on_device && space.folds();
    if (shape.folds) {
        shape.few_rows = space.has_few_rows();
        shape.shares_pieces = shape.along && space.reduce_before == 0 &&
                              (space.rank == 1 || space.shape[0] < space.pieces());
        std::int64_t columns = space.shape[space.rank - 1];
        shape.strip = columns >= 64 ? 64 : columns >= 16 ? 16 : columns >= 4 ? 4 : 1;
    }
    const bool cut = shape.along && shape.folds && space.reduce_before == 0 && space.pieces() > 1;
    for (std::size_t o = 0; o < space.operands; ++o) {
        const bool is_output = o >= call.inputs.size();
        if (cut && is_output && group_.outputs[o - call.inputs.size()].reduces) {
            shape.strides.resize((o + 1) * static_cast<std::size_t>(space.rank),
                                 ir::StrideClass::Other);
            shape.strides.back() = ir::StrideClass::One;
            continue;
        }
        for (int axis = 0; axis < space.rank; ++axis)
            shape.strides.push_back(class_of(space.strides[o][axis]));
    }
    std::int64_t bytes = 0;
    for (const auto& o : group_.outputs) bytes += size_of(o.dtype) * space.size;
    shape.streaming = !shape.on_device && shape.reduce_axis < 0 && bytes > last_level_cache() / 2;
    Variant& v = variant(shape, device);
    executor_ = device.info().name.c_str();
    if (shape.reduce_axis >= 0 && !shape.folds) return run_reduction(call, space, device, v);
    if (space.size == 0) return;
    if (cut) return run_pieces(call, space, device, v);
    std::span<const std::int64_t> extents(space.shape, static_cast<std::size_t>(space.rank));
    std::vector<ArrayArg> arrays;
    for (std::size_t o = 0; o < space.operands; ++o) {
        const View& view =
            o < call.inputs.size() ? call.inputs[o] : call.outputs[o - call.inputs.size()];
        arrays.push_back(array_arg(view, extents, {space.strides[o], extents.size()}));
    }
    v.map->launch({arrays, call.scalars, {}, {}, 0});
}

namespace {

const Layout* without_axis(const Layout& l, int axis) {
    std::vector<std::int64_t> shape(l.shape().begin(), l.shape().end());
    shape.erase(shape.begin() + axis);
    return Layout::contiguous(shape);
}

/// Reduces one axis of an array.
Group reduction_of(DType t, Op op, int axis) {
    Group g;
    g.inputs = {t};
    g.nodes = {{Group::Kind::Input, t}};
    g.outputs = {{0, t, true, op, -1}};
    g.reduce_axis = axis;
    return g;
}

}  // namespace

/// Several axes where no kernel takes them at once: the last one with what feeds it, then each
/// other one by a kernel of its own.
void GroupKernel::run_axis_by_axis(const Call& call) {
    if (stages_.empty()) {
        Group first = group_;
        first.reduce_before = 0;
        stages_.push_back(of(first));
        for (const auto& o : group_.outputs) {
            for (int k = 1; o.reduces && k <= group_.reduce_before; ++k)
                stages_.push_back(of(reduction_of(o.dtype, o.op, group_.reduce_axis - k)));
        }
    }
    std::vector<View> outputs(call.outputs.begin(), call.outputs.end());
    std::vector<Temporary> temporaries;
    auto temporary = [&](const Layout& from, int axis, DType t) {
        return temporaries.emplace_back(without_axis(from, axis), t, call.device).view;
    };
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (group_.outputs[k].reduces)
            outputs[k] = temporary(*call.space, group_.reduce_axis, outputs[k].dtype);
    }
    stages_.front()->run({call.space, call.inputs, outputs, call.scalars, call.device});
    executor_ = stages_.front()->executor();
    std::size_t stage = 1;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        for (int n = 1; group_.outputs[k].reduces && n <= group_.reduce_before; ++n) {
            const View from = outputs[k];
            outputs[k] = n == group_.reduce_before
                             ? call.outputs[k]
                             : temporary(*from.layout, group_.reduce_axis - n, from.dtype);
            stages_[stage++]->run({from.layout, {&from, 1}, {&outputs[k], 1}, {}, call.device});
        }
    }
}

/// Long rows: what each of their pieces gives goes to scratch memory, which the tree combines.
void GroupKernel::run_pieces(const Call& call, const Space& space, Device& device, Variant& v) {
    const auto rank = static_cast<std::size_t>(space.rank);
    const std::span<const std::int64_t> extents(space.shape, rank);
    std::vector<std::int64_t> shape(extents.begin(), extents.end() - 1);
    if (shape.empty()) shape.push_back(1);
    const std::vector<std::int64_t> kept = shape;
    shape.push_back(space.pieces());
    const Layout* layout = Layout::contiguous(shape);
    const Dims strides = layout->strides().subspan(rank == 1 ? 1 : 0);
    std::vector<Temporary> scratches;
    std::vector<ArrayArg> arrays;
    for (std::size_t o = 0; o < space.operands; ++o) {
        const bool is_input = o < call.inputs.size();
        const std::size_t k = is_input ? o : o - call.inputs.size();
        if (!is_input && group_.outputs[k].reduces) {
            scratches.emplace_back(layout, group_.outputs[k].dtype, nullptr);
            arrays.push_back(array_arg(scratches.back().view, extents, strides));
        } else {
            arrays.push_back(array_arg(is_input ? call.inputs[k] : call.outputs[k], extents,
                                       {space.strides[o], rank}));
        }
    }
    v.map->launch({arrays, call.scalars, {}, {}, 0});
    std::size_t number = 0;
    for (std::size_t k = 0; k < group_.outputs.size(); ++k) {
        const Group::Output& o = group_.outputs[k];
        if (!o.reduces) continue;
        if (v.trees.size() == number)
            v.trees.push_back(
                device.compile(lower_tree(o.op, o.dtype, static_cast<int>(kept.size())), {}));
        const std::int64_t* to = space.strides[call.inputs.size() + k];
        ArrayArg args[] = {array_arg(scratches[number].view, shape, layout->strides()),
                           array_arg(call.outputs[k], kept, {to, kept.size()})};
        v.trees[number++]->launch({args, {}, {}, {}, 0});
    }
}

void GroupKernel::run_reduction(const Call& call, const Space& space, Device& device, Variant& v) {
    auto rank = static_cast<std::size_t>(space.rank);
    std::span<const std::int64_t> extents(space.shape, rank);
    std::int64_t length = leaf_length(space.reduce_axis, space.rank);
    // Scratch: the kept axes, then leaves. A fully reduced space keeps one axis of extent 1.
    std::vector<std::int64_t> shape, strides(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
        if (static_cast<int>(axis) != space.reduce_axis) shape.push_back(space.shape[axis]);
    }
    shape.push_back((space.shape[space.reduce_axis] + length - 1) / length);
    std::int64_t size = 1;
    for (std::size_t axis = rank; axis-- > 0;) {
        strides[axis] = size;
        size *= shape[axis];
    }
    struct Scratch {
        Storage* storage;
        explicit Scratch(Storage* s) : storage(s) { s->retain(); }
        Scratch(const Scratch&) = delete;
        Scratch& operator=(const Scratch&) = delete;
        ~Scratch() { storage->release(); }
    };
    std::vector<ArrayArg> arrays;
    auto view = [&](std::size_t o) -> const View& {
        return o < call.inputs.size() ? call.inputs[o] : call.outputs[o - call.inputs.size()];
    };
    for (std::size_t o = 0; o < space.operands; ++o) {
        if (o >= call.inputs.size() && group_.outputs[o - call.inputs.size()].reduces) continue;
        arrays.push_back(array_arg(view(o), extents, {space.strides[o], rank}));
    }
    std::vector<std::unique_ptr<Scratch>> scratches;
    for (const auto& o : group_.outputs) {
        if (!o.reduces) continue;
        Storage* s =
            Storage::create(device.info().host_memory ? nullptr : &device, size * size_of(o.dtype));
        scratches.push_back(std::make_unique<Scratch>(s));
        s->allocate();
        arrays.push_back({s->memory, 0, shape, strides});
    }
    const std::vector<std::int64_t> still(rank, 0);
    if (call.inputs.empty())
        arrays.push_back({scratches.front()->storage->memory, 0, extents, still});
    if (space.size > 0) v.map->launch({arrays, call.scalars, {}, {}, 0});
    std::size_t number = 0;
    for (std::size_t k = 0; k < group_.outputs.size(); ++k) {
        if (!group_.outputs[k].reduces) continue;
        std::vector<std::int64_t> out_shape(shape.begin(), shape.end() - 1), out_strides;
        std::vector<std::int64_t> leaves_shape = shape, leaves_strides = strides;
        for (std::size_t axis = 0; axis < rank; ++axis) {
            if (static_cast<int>(axis) != space.reduce_axis) {
                out_strides.push_back(space.strides[call.inputs.size() + k][axis]);
            }
        }
        if (out_shape.empty()) {
            out_shape = {1};
            out_strides = {1};
            leaves_shape.insert(leaves_shape.begin(), 1);
            leaves_strides.insert(leaves_strides.begin(), size);
        }
        ArrayArg args[] = {{scratches[number]->storage->memory, 0, leaves_shape, leaves_strides},
                           array_arg(call.outputs[k], out_shape, out_strides)};
        if (element_count(out_shape) > 0) v.trees[number]->launch({args, {}, {}, {}, 0});
        ++number;
    }
    if (!device.info().host_memory)
        device.synchronize();  // scratch memory is freed when this returns
}

}  // namespace unisono
