// The choice of executor, and compiled variants of groups.
#include "tape/run/run_group.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backends/timeline.h"
#include "context/context.h"
#include "core/caches.h"
#include "core/limits.h"
#include "core/settings.h"
#include "ops/complex_rules.h"
#include "tape/record/element_function.h"
#include "tape/run/block_program.h"
#include "tape/run/first_runs.h"
#include "tape/run/iteration_space.h"
#include "tape/run/transposed.h"

namespace unisono {

namespace {

/// Node-elements that a group may cost without the compiler before it is compiled: some
/// milliseconds of work, as compiling is.
constexpr std::int64_t compile_after = 10'000'000;
/// Below this many node-elements a run of a compiled kernel gains nothing over block.
constexpr std::int64_t compile_from_work = 8192;
/// The same of reductions that lower_fold serves: block starts anew for each of their rows.
constexpr std::int64_t fold_from_work = 1024;

/// Runs of a group that the host does before a device compiles it.
constexpr int first_runs = 4;

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Of the choices between stores of all kernels, which threads share; runs take milliseconds.
ProcessMutex& choices_mutex() {
    static ProcessMutex& mutex = *new ProcessMutex;
    return mutex;
}

/// What the setting says of the stores of a run with a choice.
bool stores_past_caches(const StoreChoice& choice) {
    std::lock_guard lock(choices_mutex());
    const std::string& text = setting("stores");
    if (text == "time") return choice.past_caches();
    return text == "size" ? choice.suggested() : text == "past";
}

enum class Choice : std::uint8_t { Auto, Block, Cpu, Interp };

Choice executor_choice() {
    // The generation of the settings that was read, and the choice in the lowest bits.
    static std::atomic<std::int64_t> known = -1;
    const std::int64_t now = settings_generation(), seen = known.load(std::memory_order_relaxed);
    if (seen >> 2 == now) return static_cast<Choice>(seen & 3);
    const std::string& text = setting("executor");
    const Choice choice = text == "block"    ? Choice::Block
                          : text == "cpu"    ? Choice::Cpu
                          : text == "interp" ? Choice::Interp
                                             : Choice::Auto;
    known.store(now << 2 | static_cast<std::int64_t>(choice), std::memory_order_relaxed);
    return choice;
}

}  // namespace

GroupKernel::GroupKernel(const Group& group)
    : group_(group),
      block_(std::make_unique<BlockProgram>(group_)),
      variants_(std::make_unique<Variants>()) {
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
    struct Known {
        ProcessMutex mutex;
        std::unordered_map<std::string, std::weak_ptr<GroupKernel>> kernels;
    };
    static Known& known = *new Known;
    const std::string key = signature(group);
    auto look_up = [&] {
        auto it = known.kernels.find(key);
        return it == known.kernels.end() ? nullptr : it->second.lock();
    };
    {
        std::lock_guard lock(known.mutex);
        if (auto kernel = look_up()) return kernel;
    }
    auto made = std::make_shared<GroupKernel>(group);
    std::lock_guard lock(known.mutex);
    if (auto kernel = look_up()) return kernel;  // another thread was first
    if (known.kernels.size() >= 8192)
        std::erase_if(known.kernels, [](const auto& row) { return row.second.expired(); });
    known.kernels[key] = made;
    return made;
}

GroupKernel& GroupKernel::copying(DType t) {
    // Never destroyed: what they compiled may be gone before static objects are.
    static auto& kernels = *new std::array<std::atomic<GroupKernel*>, dtype_count>{};
    auto& known = kernels[static_cast<std::size_t>(t)];
    if (GroupKernel* kernel = known.load(std::memory_order_acquire)) return *kernel;
    Group copy;
    copy.inputs = {t};
    copy.nodes = {{Group::Kind::Input, t}};
    copy.outputs = {{0, t}};
    auto made = std::make_unique<GroupKernel>(copy);
    GroupKernel* first = nullptr;
    if (known.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel))
        return *made.release();
    return *first;  // another thread was faster
}

std::string GroupKernel::source() const {
    std::string all;
    for (const Variant* v = variants_->first.load(std::memory_order_acquire); v;
         v = v->next.load(std::memory_order_acquire)) {
        all += v->map->source();
        if (!v->has_trees.load(std::memory_order_acquire)) continue;
        for (const auto& t : v->trees) all += t->source();
    }
    return all;
}

bool GroupKernel::should_compile(const IterationSpace& space) {
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
    return work_done_.fetch_add(work, std::memory_order_relaxed) + work >= compile_after;
}

std::int64_t GroupKernel::work_of(const Call& call) const {
    return call.space->size() * static_cast<std::int64_t>(group_.nodes.size());
}

/// Queues that the program made itself get what it gives them.
bool GroupKernel::would_run_first_on_host(const Call& call) const {
    if (cannot_split_ || !group_.functions.empty() || executor_choice() != Choice::Auto)
        return false;
    Device& device = *call.device;
    if (!host_shared(device) || !device.info().has_float64 ||
        device.queue() != device.own_queue() || setting("placement") != "auto")
        return false;
    return first_runs_.load(std::memory_order_relaxed) < first_runs &&
           first_work_.load(std::memory_order_relaxed) + work_of(call) < compile_after;
}

bool GroupKernel::runs_first_on_host(const Call& call) {
    if (!would_run_first_on_host(call)) return false;
    const std::int64_t work = work_of(call);
    return first_runs_.fetch_add(1, std::memory_order_relaxed) < first_runs &&
           first_work_.fetch_add(work, std::memory_order_relaxed) + work < compile_after;
}

bool GroupKernel::is_small(std::int64_t size) {
    return size <= limits::packed_points && executor_choice() <= Choice::Block;
}

bool GroupKernel::run_packed(std::int64_t size, char* const* data, const std::uint64_t* scalars) {
    if (!block_->run_packed(size, data, scalars)) return false;
    note_executor("block");
    return true;
}

void GroupKernel::run(const Call& call) {
    bool host = !call.device || call.device->info().host_memory;
    if (!host && runs_first_on_host(call)) {
        run(MappedOperands(call, *host_shared(*call.device)).call());
        note_executor("host, first runs");
        return;
    }
    if (host && group_.reduce_axis >= 0 && executor_choice() <= Choice::Block && run_fold(call))
        return;
    // Left unset: clearing all would cost more than a small run.
    alignas(GroupRun::Operand) std::byte room[most_operands * sizeof(GroupRun::Operand)];
    auto* operands = reinterpret_cast<GroupRun::Operand*>(room);
    std::size_t inputs = call.inputs.size(), outputs = call.outputs.size();
    IterationSpace space;
    fill_space(space, call.space->shape(), call, group_);
    space.keeps_order = cannot_turn_;
    const bool compiles = !host || should_compile(space);
    if (group_.reduce_before > 0 && !(host && compiles && space.folds())) {
        run_axis_by_axis(call);
        return;
    }
    count_apart(counters_apart().kernels_launched);
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
            cannot_compile_.store(true,
                                  std::memory_order_relaxed);  // no compiler here: block does
                                                               // everything, as fast as it can
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
    note_executor("block");
    block_->run(run);
}

std::unique_ptr<GroupKernel::Variant> GroupKernel::compile(const GroupShape& shape,
                                                           Device& device) const {
    auto v = std::make_unique<Variant>();
    v->shape = shape;
    v->device = &device;
    count_apart(counters_apart().kernels_compiled);
    timeline::Scope span;
    if (timeline::is_on())
        span.begin(timeline::Kind::Compile, "compile for " + device.info().name, {});
    if (shape.folds) {
        v->map = device.compile(lower_fold(group_, shape), {});
        return v;
    }
    if (shape.reduce_axis < 0) {
        v->map = device.compile(
            shape.tile > 0 ? lower_transposed(group_, shape) : lower_map(group_, shape), {});
        return v;
    }
    v->map = device.compile(lower_leaves(group_, shape), {});
    return v;
}

void GroupKernel::compile_trees(Variant& v) const {
    for (const auto& o : group_.outputs) {
        if (!o.reduces) continue;
        const int kept = std::max(1, v.shape.rank - 1);
        const bool leaves_last = v.shape.folds || v.shape.reduce_axis == v.shape.rank - 1;
        const TreeForm form{leaves_last, v.shape.on_device, v.shape.tree_shuffles};
        v.trees.push_back(v.device->compile(lower_tree(o.op, o.dtype, kept, form), {}));
    }
    v.has_trees.store(true, std::memory_order_release);
}

GroupKernel::Variant& GroupKernel::variant(const GroupShape& shape, Device& device) {
    if (Variant* v = variants_->find(shape, device)) return *v;
    std::lock_guard lock(variants_->making);
    if (Variant* v = variants_->find(shape, device)) return *v;
    Variant* made = compile(shape, device).release();  // owned by the list
    std::atomic<Variant*>* end = &variants_->first;
    while (Variant* v = end->load(std::memory_order_relaxed)) end = &v->next;
    end->store(made, std::memory_order_release);
    return *made;
}

const std::vector<std::unique_ptr<Executable>>& GroupKernel::trees(Variant& v) {
    if (v.has_trees.load(std::memory_order_acquire)) return v.trees;
    std::lock_guard lock(variants_->making);
    if (!v.has_trees.load(std::memory_order_relaxed)) {
        v.trees.clear();  // of a try that failed
        compile_trees(v);
    }
    return v.trees;
}

/// Elements of so few leaves that a warp for a node would have little to do.
static constexpr std::int64_t few_leaves = 8 * reduction::leaf_elements;

void GroupKernel::run_compiled(const Call& call, IterationSpace& space, Device& device) {
    GroupShape shape;
    if (int axis = space.dense_axis(); axis >= 0 && space.size > 0 && device.info().host_memory)
        space.turn(axis);
    shape.on_device = !device.info().host_memory;
    shape.has_cores = shape.on_device && device.info().kind == "cpu";
    if (shape.on_device && !shape.has_cores && space.reduce_axis < 0)
        choose_tiles(group_, space, shape, device.info());
    shape.lanes = space.lanes;
    shape.along = space.reduce_axis >= 0 && space.is_along();
    shape.rank = space.rank;
    shape.reduce_axis = space.reduce_axis;
    shape.reduce_before = space.reduce_before;
    shape.shuffles = shape.on_device && space.fills_warps(device.info().warp);
    shape.tree_shuffles = shape.shuffles && space.shape[space.reduce_axis] > few_leaves;
    if (shape.on_device && !shape.has_cores) shape.dense = space.dense_axis();
    const bool all_reduce = std::ranges::all_of(group_.outputs, &Group::Output::reduces);
    if (shape.on_device && all_reduce && space.shares_warps(device.info().warp)) {
        const auto length = static_cast<std::uint64_t>(space.shape[space.reduce_axis]);
        shape.row_width = static_cast<std::int64_t>(std::bit_ceil(length));
        shape.row_is_whole = std::has_single_bit(length);
    }
    if (group_.nodes.size() <= limits::unrolled_nodes / 2)
        shape.leaves_at_once = space.leaves_at_once(shape.on_device ? device.info().warp : 0);
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
    StoreChoice* stores = stores_of(shape, space.size);
    if (stores) shape.streaming = stores_past_caches(*stores);
    Variant& v = variant(shape, device);
    note_executor(device.info().name.c_str());
    if (shape.reduce_axis >= 0 && !shape.folds) return run_reduction(call, space, device, v);
    if (space.size == 0) return;
    if (cut) return run_pieces(call, space, v);
    std::span<const std::int64_t> extents(space.shape, static_cast<std::size_t>(space.rank));
    std::vector<ArrayArg> arrays;
    for (std::size_t o = 0; o < space.operands; ++o) {
        const View& view =
            o < call.inputs.size() ? call.inputs[o] : call.outputs[o - call.inputs.size()];
        arrays.push_back(array_arg(view, extents, {space.strides[o], extents.size()}));
    }
    // A launch on a device's queue ends before its kernel does: the size alone decides there.
    if (!stores || shape.on_device) {
        const NDRange range = shape.tile > 0 ? range_of_tiles(space, shape) : NDRange{};
        v.map->launch({arrays, call.scalars, {}, range, 0});
        return;
    }
    const double begin = seconds();
    v.map->launch({arrays, call.scalars, {}, {}, 0});
    const double end = seconds();
    std::lock_guard lock(choices_mutex());
    stores->ran(shape.streaming, begin, end);
}

StoreChoice* GroupKernel::stores_of(const GroupShape& shape, std::int64_t size) {
    last_stores_.store(nullptr, std::memory_order_relaxed);
    const bool has_caches = !shape.on_device || shape.has_cores;
    if (!has_caches || shape.reduce_axis >= 0) return nullptr;
    std::int64_t bytes = 0;
    bool any = false;
    std::size_t last_axis = group_.inputs.size() * static_cast<std::size_t>(shape.rank) - 1;
    for (const auto& o : group_.outputs) {
        bytes += size_of(o.dtype) * size;
        last_axis += static_cast<std::size_t>(shape.rank);
        any |= can_stream(o) && shape.strides[last_axis] == ir::StrideClass::One;
    }
    if (!any || bytes < limits::timed_stores_bytes) return nullptr;
    const int octave = std::bit_width(static_cast<std::uint64_t>(bytes));
    const bool upper_half = (bytes >> (octave - 2) & 1) != 0;
    const int size_class = 2 * octave + (upper_half ? 1 : 0);
    std::lock_guard lock(choices_mutex());
    StoreChoice* found = nullptr;
    for (Stores& known : stores_) {
        if (known.size_class == size_class && known.shape == shape) found = &known.choice;
    }
    if (!found) {
        stores_.push_back({shape, size_class, StoreChoice(bytes > last_level_cache() / 2)});
        found = &stores_.back().choice;
    }
    if (!shape.on_device) last_stores_.store(found, std::memory_order_relaxed);
    return found;
}

std::string GroupKernel::stores() const {
    std::lock_guard lock(choices_mutex());
    const StoreChoice* last = last_stores_.load(std::memory_order_relaxed);
    return last ? last->text() : "";
}

bool GroupKernel::is_compiled(const Call& call) const {
    if (call.device && !call.device->info().host_memory) return !would_run_first_on_host(call);
    if (cannot_split_ || cannot_compile_) return false;
    const Choice choice = executor_choice();
    return choice == Choice::Cpu ||
           (choice == Choice::Auto && work_done_.load(std::memory_order_relaxed) >= compile_after);
}

GroupKernel::Launch GroupKernel::bind(const Call& call, Dims shape) {
    IterationSpace space;
    fill_space(space, shape, call, group_);
    const auto rank = static_cast<std::size_t>(space.rank);
    Device& device = call.device ? *call.device : find_device("cpu");
    GroupShape form;
    form.rank = space.rank;
    form.on_device = !device.info().host_memory;
    for (std::size_t o = 0; o < space.operands; ++o) {
        for (std::size_t axis = 0; axis < rank; ++axis)
            form.strides.push_back(class_of(space.strides[o][axis]));
    }
    Launch launch;
    launch.code = variant(form, device).map.get();
    launch.form = std::move(form);
    launch.scalars = call.scalars;
    launch.numbers.assign(space.shape, space.shape + rank);
    for (std::size_t o = 0; o < space.operands; ++o)
        launch.numbers.insert(launch.numbers.end(), space.strides[o], space.strides[o] + rank);
    for (std::size_t o = 0; o < space.operands; ++o) {
        const View& view =
            o < call.inputs.size() ? call.inputs[o] : call.outputs[o - call.inputs.size()];
        launch.arrays.push_back(array_arg(view, {launch.numbers.data(), rank},
                                          {launch.numbers.data() + (o + 1) * rank, rank}));
    }
    note_executor(device.info().name.c_str());
    return launch;
}

}  // namespace unisono
