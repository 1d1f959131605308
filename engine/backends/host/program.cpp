// Walks the tree of a host program: control and scalars here, calls to the back end.
#include "backends/host/program.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "backends/host/range.h"
#include "backends/memory/device_pool.h"
#include "core/error.h"
#include "core/native/native.h"
#include "core/native/recursion.h"
#include "core/threads/interrupt.h"
#include "ir/build.h"
#include "ir/evaluate.h"

namespace unisono {

namespace {

using namespace ir;

enum class Flow : std::uint8_t { Next, Break, Continue, Return };

class Run {
  public:
    Run(const passes::HostProgram& program, const LaunchArgs& args, KernelLauncher& launcher)
        : program_(program),
          f_(program.function),
          args_(args),
          launcher_(launcher),
          scalars_(host_range_scalars(args.scalars, args.range, program.range_axes)),
          vars_(f_.vars.size(), 0),
          memories_(f_.arrays.size()),
          slots_(f_.arrays.size()) {
        scalars_.resize(scalars_.size() + program.passed.size(), 0);
        std::size_t arrays = 0, scalars = 0;
        for (const Param& p : f_.params) position_.push_back(p.is_array() ? arrays++ : scalars++);
    }

    ~Run() {
        for (const Slot& s : slots_) release_block(s.block);
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    HostEnd run() {
        exec(f_.body);
        return end_;
    }

  private:
    Scalar eval(E e) {
        return evaluate(
            e,
            [this](std::int32_t param, Field field, std::int32_t axis) -> std::uint64_t {
                const std::size_t at = position_[static_cast<std::size_t>(param)];
                const auto k = static_cast<std::size_t>(axis);
                if (field == Field::Value) return scalars_[at];
                const ArrayArg& a = args_.arrays[at];
                return static_cast<std::uint64_t>(field == Field::Extent ? a.shape[k]
                                                                         : a.strides[k]);
            },
            [this](E x) -> std::uint64_t {
                if (x->kind == ExprKind::Var) return vars_[static_cast<std::size_t>(x->id)];
                if (x->kind == ExprKind::Memory) return memory(x);
                // After a failure nothing that follows counts.
                const auto found = launcher_.read(x->id);
                end_.has_failed = end_.has_failed || !found;
                return found.value_or(0);
            });
    }
    std::int64_t integer(E e) { return eval(e).as<std::int64_t>(); }

    void set(std::int32_t var, std::uint64_t bits) { vars_[static_cast<std::size_t>(var)] = bits; }

    void start(S call) {
        for (const auto& [var, param] : program_.passed) {
            scalars_[position_[static_cast<std::size_t>(param)]] =
                vars_[static_cast<std::size_t>(var)];
        }
        launcher_.start(static_cast<std::size_t>(call->id), scalars_, memories_);
    }

    Flow exec(std::span<const S> list) {
        for (S s : list) {
            const Flow flow = exec(s);
            if (flow != Flow::Next) return flow;
        }
        return Flow::Next;
    }

    Flow exec(S s) {
        const Flow flow = statement(s);
        return end_.has_failed ? Flow::Return : flow;
    }

    Flow statement(S s) {
        switch (s->kind) {
            case StmtKind::Block: return exec(s->body);
            case StmtKind::Assign: set(s->id, eval(s->args[0]).bits); return Flow::Next;
            case StmtKind::Call: start(s); return Flow::Next;
            case StmtKind::Native: native(s); return Flow::Next;
            case StmtKind::Make: make(s); return Flow::Next;
            case StmtKind::Point: point(s); return Flow::Next;
            case StmtKind::Retain:
                retain_block(slots_[static_cast<std::size_t>(s->id)].block);
                return Flow::Next;
            case StmtKind::If: {
                const bool taken = eval(s->args[0]).as<bool>();
                return end_.has_failed ? Flow::Return : exec(taken ? s->body : s->orelse);
            }
            case StmtKind::For: return loop(s);
            case StmtKind::While:
                while (eval(s->args[0]).as<bool>()) {
                    const Flow flow = iteration(s);
                    if (flow == Flow::Break) break;
                    if (flow == Flow::Return) return flow;
                }
                return Flow::Next;
            case StmtKind::Break: return Flow::Break;
            case StmtKind::Continue: return Flow::Continue;
            case StmtKind::Return: return leave(s);
            default: break;
        }
        UNISONO_ASSERT(!"a statement of host programs");
        return Flow::Return;
    }

    Flow loop(S s) {
        const std::int64_t begin = integer(s->args[0]), end = integer(s->args[1]),
                           step = integer(s->args[2]);
        if (end_.has_failed) return Flow::Return;
        for (std::int64_t i = begin; step > 0 ? i < end : step < 0 && i > end;) {
            set(s->id, static_cast<std::uint64_t>(i));
            const Flow flow = iteration(s);
            if (flow == Flow::Break) break;
            if (flow == Flow::Return) return flow;
            if (__builtin_add_overflow(i, step, &i)) break;
        }
        return Flow::Next;
    }

    /// The body of a loop, unless the user asks to stop.
    Flow iteration(S s) {
        if (CancelScope* cancel = CancelScope::current(); cancel && cancel->stops()) {
            fail(ErrorKind::Interrupt, f_.name + ": interrupted between two kernels");
        }
        if (poll_interrupt()) {
            end_.fault.site = interrupted_fault;
            end_.fault.values[0] = s->line.line;
            end_.fault.values[1] = s->line.file;
            return Flow::Return;
        }
        return exec(s->body);
    }

    Flow leave(S s) {
        if (s->fault >= 0) {
            Fault fault;
            fault.site = s->fault;  // those of the entry come first
            for (std::size_t k = 0; k < s->args.size(); ++k) fault.values[k] = integer(s->args[k]);
            if (!end_.has_failed) end_.fault = fault;
            return Flow::Return;
        }
        if (s->args.empty()) return Flow::Return;
        end_.has_results = true;
        for (std::size_t k = 0; k < s->args.size(); ++k) args_.results[k] = eval(s->args[k]).bits;
        return Flow::Return;
    }

    // ---- Arrays made by the program

    /// What a slot holds: a block, or an argument's memory.
    struct Slot {
        Block* block = nullptr;
        std::int64_t address = 0;  ///< see argument_address
    };

    std::size_t argument_of(std::int32_t array) const {
        return position_[static_cast<std::size_t>(
            f_.arrays[static_cast<std::size_t>(array)].param)];
    }
    /// Of its first element. Arguments that lie in one memory lie as far apart there as they do.
    std::int64_t address_of(std::size_t argument) const {
        const ArrayArg& a = args_.arrays[argument];
        std::size_t first = 0;
        while (args_.arrays[first].memory.handle != a.memory.handle) ++first;
        return argument_address(first) + a.offset - args_.arrays[first].offset;
    }
    bool is_slot(std::int32_t array) const {
        return f_.arrays[static_cast<std::size_t>(array)].is_slot;
    }

    std::uint64_t memory(E e) {
        if (mirrors_) return mirrored(e->id);
        if (passed_) return numbered(e->id);
        if (!is_slot(e->id))
            return e->axis ? 0 : static_cast<std::uint64_t>(address_of(argument_of(e->id)));
        const Slot& slot = slots_[static_cast<std::size_t>(e->id)];
        return e->axis ? reinterpret_cast<std::uintptr_t>(slot.block)
                       : static_cast<std::uint64_t>(slot.address);
    }

    /// Takes over one reference of the block.
    void set_slot(std::int32_t array, Slot slot) {
        const auto id = static_cast<std::size_t>(array);
        release_block(std::exchange(slots_[id], slot).block);
        if (slot.block) {
            memories_[id] = {
                {reinterpret_cast<std::uintptr_t>(slot.block->data), slot.block->bytes},
                slot.address};
        } else if (slot.address != 0) {
            const std::size_t k = argument_at(slot.address);
            memories_[id] = {args_.arrays[k].memory,
                             args_.arrays[k].offset + slot.address - argument_address(k)};
        }
    }

    // ---- Functions of the host

    /// Memory of the device while a function of the host runs.
    struct Mirror {
        Memory memory;
        std::vector<char> before, now;
    };

    /// Where an array's first element lies, or a slot's memory begins.
    SlotMemory place_of(std::int32_t array) const {
        if (is_slot(array)) return memories_[static_cast<std::size_t>(array)];
        const ArrayArg& a = args_.arrays[argument_of(array)];
        return {a.memory, a.offset};
    }

    std::uint64_t numbered(std::int32_t array) {
        passed_->push_back(place_of(array));
        return static_cast<std::uint64_t>(argument_address(passed_->size() - 1));
    }

    /// The host's address of that.
    std::uint64_t mirrored(std::int32_t array) {
        const SlotMemory at = place_of(array);
        auto found = std::find_if(mirrors_->begin(), mirrors_->end(), [&](const Mirror& m) {
            return m.memory.handle == at.memory.handle;
        });
        if (found == mirrors_->end()) {
            if (!launcher_.wait()) end_.has_failed = true;
            Mirror made{
                at.memory, std::vector<char>(static_cast<std::size_t>(at.memory.bytes)), {}};
            launcher_.device().copy_out(made.before.data(), at.memory, 0, at.memory.bytes);
            made.now = made.before;
            found = mirrors_->insert(mirrors_->end(), std::move(made));
        }
        return reinterpret_cast<std::uintptr_t>(found->now.data()) +
               static_cast<std::uint64_t>(at.offset);
    }

    std::vector<std::int64_t> values_of(S s) {
        std::vector<std::int64_t> values;
        for (E e : s->args) values.push_back(integer(e));
        return values;
    }

    void set_results(S s, std::span<const std::int64_t> values) {
        for (std::size_t k = 0; k < s->outs.size(); ++k)
            set(s->outs[k], static_cast<std::uint64_t>(values[k]));
    }

    void native(S s) {
        const std::string& name = f_.natives[static_cast<std::size_t>(s->id)];
        if (const DeviceNative function = find_device_native(name)) return on_device(function, s);
        const NativeFunction function = find_native(name);
        if (!function) fail(ErrorKind::Internal, f_.name + ": there is no native function " + name);
        // Behind the lines of kernels, and not where one failed.
        if (name == "print" && !launcher_.wait()) end_.has_failed = true;
        on_host(function, s);
    }

    void on_device(DeviceNative function, S s) {
        std::vector<SlotMemory> passed;
        passed_ = &passed;
        std::vector<std::int64_t> values = values_of(s);
        passed_ = nullptr;
        if (end_.has_failed) return;
        function(launcher_.device(), passed, values.data());
        set_results(s, values);
    }

    /// Arrays are copied to the host, and back where the function changed them.
    void on_host(NativeFunction function, S s) {
        std::deque<Mirror> mirrors;
        mirrors_ = &mirrors;
        std::vector<std::int64_t> values = values_of(s);
        mirrors_ = nullptr;
        if (end_.has_failed) return;
        function(values.data());
        set_results(s, values);
        for (const Mirror& m : mirrors) {
            if (m.now != m.before)
                launcher_.device().copy_in(m.memory, 0, m.now.data(), m.memory.bytes);
        }
    }

    void make(S s) {
        const std::int64_t count = integer(s->args[0]);
        if (end_.has_failed) return;
        const DType t = f_.arrays[static_cast<std::size_t>(s->id)].dtype;
        if (count < 0 || count > (std::int64_t{1} << 48))
            fail(ErrorKind::Memory, f_.name + ": an array made in the function is too large");
        set_slot(s->id, {make_device_block(launcher_.device(), count * size_of(t)), 0});
    }

    void point(S s) {
        if (s->arrays.empty()) {
            auto* block =
                reinterpret_cast<Block*>(static_cast<std::uintptr_t>(eval(s->args[1]).bits));
            return set_slot(s->id, checked({block, integer(s->args[0])}, s->line));
        }
        const std::int32_t source = s->arrays[0];
        if (!is_slot(source)) return set_slot(s->id, {nullptr, address_of(argument_of(source))});
        const Slot slot = slots_[static_cast<std::size_t>(source)];
        retain_block(slot.block);
        set_slot(s->id, slot);
    }

    /// Objects that functions of the host make stay there: kernels cannot reach them.
    Slot checked(Slot slot, Line line) const {
        const bool is_of_host = slot.block
                                    ? !is_device_block(*slot.block)
                                    : slot.address != 0 && slot.address < argument_address(0);
        if (!is_of_host) return slot;
        release_block(slot.block);
        SourcePlace place;
        place.line = line.line;
        if (line.file < f_.files.size()) place.file = f_.files[line.file];
        throw Error(ErrorKind::Unsupported,
                    f_.name + " (line " + std::to_string(line.line) +
                        "): memory of an object of the host cannot be used on " +
                        launcher_.device().info().name +
                        "; pass numbers and arrays to functions that run there",
                    place);
    }

    const passes::HostProgram& program_;
    const Function& f_;
    const LaunchArgs& args_;
    KernelLauncher& launcher_;
    std::vector<std::uint64_t> scalars_;  ///< of kernels
    std::vector<std::uint64_t> vars_;
    std::vector<std::size_t> position_;  ///< per parameter: among the arrays or the scalars
    std::vector<SlotMemory> memories_;
    std::vector<Slot> slots_;                ///< by array
    std::deque<Mirror>* mirrors_ = nullptr;  ///< while arguments of a function of the host are made
    std::vector<SlotMemory>* passed_ = nullptr;  ///< while those of one of the device are
    HostEnd end_;
};

}  // namespace

static std::map<std::string_view, DeviceNative>& device_natives() {
    static std::map<std::string_view, DeviceNative> functions;
    return functions;
}

bool add_device_natives(
    std::initializer_list<std::pair<std::string_view, DeviceNative>> functions) {
    for (const auto& [name, function] : functions) device_natives().emplace(name, function);
    return true;
}

DeviceNative find_device_native(std::string_view name) noexcept {
    const auto found = device_natives().find(name);
    return found == device_natives().end() ? nullptr : found->second;
}

static void drop_device_block(Block* b) {
    auto* made = static_cast<DeviceBlock*>(b);
    if (!made->is_taken)
        made->device->pool().give({reinterpret_cast<std::uintptr_t>(b->data), b->bytes});
    delete made;
}

bool is_device_block(const Block& block) { return block.drop == drop_device_block; }

DeviceBlock* make_device_block(Device& device, std::int64_t bytes) {
    const Memory memory = device.pool().take(std::max<std::int64_t>(bytes, 1));
    auto* block = new DeviceBlock;
    block->data = reinterpret_cast<void*>(memory.handle);
    block->bytes = memory.bytes;
    block->device = &device;
    block->drop = drop_device_block;
    return block;
}

static void add_remark(std::vector<Remark>& remarks, const ir::Function& f, ir::Line line,
                       const char* name, const char* text) {
    const std::string file = line.file < f.files.size() ? f.files[line.file] : std::string();
    remarks.push_back({host_program_pass, name, name == std::string_view(host_loop_remark), f.name,
                       file, line.line, text});
}

static void add_host_loops(std::vector<Remark>& remarks, const ir::Function& f, ir::S s) {
    if (s->kind == ir::StmtKind::For || s->kind == ir::StmtKind::While)
        add_remark(remarks, f, s->line, host_loop_remark, "the host runs the loop");
    for (ir::S b : s->body) add_host_loops(remarks, f, b);
    for (ir::S b : s->orelse) add_host_loops(remarks, f, b);
}

Listing listing_of(const passes::HostProgram& program) {
    const ir::Function& f = program.function;
    Listing listing;
    listing.lowered = "host program\n" + ir::print(f);
    add_host_loops(listing.remarks, f, f.body);
    for (const ir::Line line : program.serial_loops)
        add_remark(listing.remarks, f, line, one_work_item_remark,
                   "the loop runs on the device as one work-item");
    for (const auto& [line, native] : program.natives) {
        if (!find_device_native(f.natives[static_cast<std::size_t>(native)]))
            add_remark(listing.remarks, f, line, host_function_remark,
                       "a function of the host: arrays are copied there and back");
    }
    return listing;
}

HostEnd run_host_program(const passes::HostProgram& program, const LaunchArgs& args,
                         KernelLauncher& launcher) {
    return Run(program, args, launcher).run();
}

}  // namespace unisono
