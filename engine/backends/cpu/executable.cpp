// Launches compiled modules.
#include "backends/cpu/executable.h"

#include <algorithm>

#include "backends/codegen/plugin.h"
#include "backends/cpu/compiler.h"
#include "backends/cpu/registers.h"
#include "backends/host/range.h"
#include "core/settings.h"
#include "core/threads/parallel.h"
#include "ir/build.h"

namespace unisono::cpu {

/// Lines on request: of this function, or of all by the setting.
static CompileOptions with_lines(CompileOptions options) {
    options.debug = options.debug || setting("jit_lines") != "0";
    return options;
}

CpuExecutable::CpuExecutable(ir::Module module, const CompileOptions& given)
    : source_(std::move(module), with_lines(given)),
      name_(source_.entry().name),
      is_kernel_(source_.entry().is_kernel),
      dimensions_(source_.entry().dimensions) {
    // The passes make the loops over work-items, and parameters of their range; level 5 prints.
    if (is_kernel_ || debug_level() >= 5) source_.lowered();
    const ir::Function& f = source_.entry();
    for (const ir::Param& p : f.params) {
        ranks_.push_back(p.is_array() ? f.arrays[static_cast<std::size_t>(p.array)].rank : -1);
        slots_ += p.is_array() ? 1 + 2 * static_cast<std::size_t>(ranks_.back()) : 1;
    }
    results_ = f.results.size();
    slots_ += results_;
    code_ = machine_code(source_);
    if (given.callback) {
        callback_ = const_cast<void*>(code_->entry());
    } else {
        entry_ = reinterpret_cast<Entry>(code_->entry());
    }
}

Fault CpuExecutable::launch(const LaunchArgs& args) {
    UNISONO_ASSERT(entry_ != nullptr);
    std::vector<std::uint64_t> with_range;
    std::span<const std::uint64_t> scalars = args.scalars;
    if (is_kernel_) {
        with_range = host_range_scalars(args.scalars, args.range, dimensions_);
        scalars = with_range;
    }
    constexpr std::size_t few = 96;
    std::int64_t small[few];
    std::vector<std::int64_t> large(slots_ > few ? slots_ : 0);
    std::int64_t* packed = slots_ > few ? large.data() : small;
    std::int64_t* at = packed;
    std::size_t array = 0, scalar = 0;
    for (int rank : ranks_) {
        if (rank < 0) {
            *at++ = static_cast<std::int64_t>(scalars[scalar++]);
            continue;
        }
        const ArrayArg& a = args.arrays[array++];
        *at++ = static_cast<std::int64_t>(a.memory.handle) + a.offset;
        at = std::copy(a.shape.begin(), a.shape.end(), at);
        at = std::copy(a.strides.begin(), a.strides.end(), at);
    }
    std::fill_n(at, results_, 0);
    Fault fault = launch_packed(packed, args.threads);
    for (std::size_t r = 0; r < args.results.size() && r < results_; ++r)
        args.results[r] = static_cast<std::uint64_t>(at[r]);
    return fault;
}

Fault CpuExecutable::launch_packed(std::int64_t* packed, int threads) {
    HostFault fault;
    fault.deferred = &deferred_;
    if (threads > 0) {
        ThreadCountScope scope(threads);
        fault.site = entry_(packed, &fault);
    } else {
        fault.site = entry_(packed, &fault);
    }
    if (fault.site == -1) return {};  // what the code just stored is slow to copy
    if (fault.site == codegen::deferred_failed_site) deferred_.rethrow();
    if (fault.site == codegen::out_of_memory_site) {
        fail(ErrorKind::Memory, name_ + ": out of memory for an array made in the function");
    }
    return fault;
}

codegen::Target CpuExecutable::listing_target() const {
    codegen::Target target;
    target.streaming = source_.streams();
    target.fastmath = source_.options().fastmath;
    target.want_code = false;
    return target;
}

std::string CpuExecutable::source() const {
    codegen::Target target = listing_target();
    target.want_ir = true;
    const ir::Module& module = source_.lowered();
    std::string text = codegen::compile(module, target).ir;
    for (std::size_t k = 0; k < module.functions.size(); ++k) {
        if (!module.functions[k].is_deferred) continue;
        target.function = static_cast<int>(k);
        text += "\n; " + module.functions[k].name + ", compiled when it is first called\n" +
                codegen::compile(module, target).ir;
    }
    return text;
}

std::string CpuExecutable::assembly() const {
    codegen::Target target = listing_target();
    target.want_assembly = true;
    return codegen::compile(source_.lowered(), target).assembly;
}

Listing CpuExecutable::listing() const {
    codegen::Target target = listing_target();
    target.want_ir = target.want_assembly = target.want_lines = true;
    const ir::Module& module = source_.lowered();
    codegen::Result made = codegen::compile(module, target);
    Resources resources;
    resources.registers = registers_in(made.assembly);
    return {ir::print(module),       std::move(made.ir),     std::move(made.assembly),
            std::move(made.remarks), ir::line_facts(module), resources};
}

}  // namespace unisono::cpu
