// Launches compiled modules.
#include "backends/cpu/executable.h"

#include <algorithm>

#include "backends/codegen/plugin.h"
#include "backends/cpu/compiler.h"
#include "backends/host_range.h"
#include "core/parallel.h"
#include "core/settings.h"
#include "ir/build.h"
#include "passes/lower.h"

namespace unisono::cpu {

namespace {

bool has_streaming_store(ir::S s) {
    if (s->kind == ir::StmtKind::Store && s->streaming) return true;
    return std::any_of(s->body.begin(), s->body.end(), has_streaming_store) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), has_streaming_store);
}

ir::Module lowered(ir::Module module, bool callback) {
    passes::Target target;
    target.streaming_stores = true;
    target.defers_rare = !callback;  // C calls with nothing that would find them
    passes::lower(module, target);
    return module;
}

}  // namespace

/// Lines on request: of this function, or of all by the setting.
static CompileOptions with_lines(CompileOptions options) {
    options.debug = options.debug || setting("jit_lines") != "0";
    return options;
}

CpuExecutable::CpuExecutable(ir::Module module, const CompileOptions& given)
    : module_(std::move(module)),
      fastmath_(given.fastmath),
      is_kernel_(module_.entry().is_kernel),
      dimensions_(module_.entry().dimensions) {
    const CompileOptions options = with_lines(given);
    module_ = lowered(std::move(module_), options.callback);
    sites_ = passes::all_sites(module_);
    bool defers = false;
    for (const ir::Function& f : module_.functions) {
        streams_ = streams_ || (f.body && has_streaming_store(f.body));
        defers = defers || f.is_deferred;
    }
    if (defers) {
        deferred_ = std::make_unique<DeferredFunctions>(module_, streams_, options);
    }
    const ir::Function& f = module_.entry();
    for (const ir::Param& p : f.params) {
        int rank = p.is_array() ? f.arrays[static_cast<std::size_t>(p.array)].rank : 0;
        slots_ += 1 + 2 * static_cast<std::size_t>(rank);
    }
    slots_ += f.results.size();
    code_ = machine_code(module_, streams_, options);
    if (options.callback) {
        callback_ = const_cast<void*>(code_->entry());
        return;
    }
    entry_ = reinterpret_cast<Entry>(code_->entry());
}

Fault CpuExecutable::launch(const LaunchArgs& args) {
    UNISONO_ASSERT(entry_ != nullptr);
    const ir::Function& f = module_.entry();
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
    for (const ir::Param& p : f.params) {
        if (!p.is_array()) {
            *at++ = static_cast<std::int64_t>(scalars[scalar++]);
            continue;
        }
        const ArrayArg& a = args.arrays[array++];
        *at++ = static_cast<std::int64_t>(a.memory.handle) + a.offset;
        at = std::copy(a.shape.begin(), a.shape.end(), at);
        at = std::copy(a.strides.begin(), a.strides.end(), at);
    }
    std::fill_n(at, f.results.size(), 0);
    Fault fault = launch_packed(packed, args.threads);
    for (std::size_t r = 0; r < args.results.size() && r < f.results.size(); ++r)
        args.results[r] = static_cast<std::uint64_t>(at[r]);
    return fault;
}

Fault CpuExecutable::launch_packed(std::int64_t* packed, int threads) {
    HostFault fault;
    fault.deferred = deferred_.get();
    if (threads > 0) {
        ThreadCountScope scope(threads);
        fault.site = entry_(packed, &fault);
    } else {
        fault.site = entry_(packed, &fault);
    }
    if (fault.site == codegen::deferred_failed_site) deferred_->rethrow();
    if (fault.site == codegen::out_of_memory_site) {
        fail(ErrorKind::Memory,
             module_.entry().name + ": out of memory for an array made in the function");
    }
    return fault;
}

std::string CpuExecutable::source() const {
    codegen::Target target;
    target.streaming = streams_;
    target.fastmath = fastmath_;
    target.want_code = false;
    target.want_ir = true;
    std::string text = codegen::compile(module_, target).ir;
    for (std::size_t k = 0; k < module_.functions.size(); ++k) {
        if (!module_.functions[k].is_deferred) continue;
        target.function = static_cast<int>(k);
        text += "\n; " + module_.functions[k].name + ", compiled when it is first called\n" +
                codegen::compile(module_, target).ir;
    }
    return text;
}

std::string CpuExecutable::assembly() const {
    codegen::Target target;
    target.streaming = streams_;
    target.fastmath = fastmath_;
    target.want_code = false;
    target.want_assembly = true;
    return codegen::compile(module_, target).assembly;
}

Listing CpuExecutable::listing() const {
    codegen::Target target;
    target.streaming = streams_;
    target.fastmath = fastmath_;
    target.want_code = false;
    target.want_ir = target.want_assembly = target.want_lines = true;
    codegen::Result made = codegen::compile(module_, target);
    return {ir::print(module_), std::move(made.ir), std::move(made.assembly),
            std::move(made.remarks), ir::line_facts(module_)};
}

}  // namespace unisono::cpu
