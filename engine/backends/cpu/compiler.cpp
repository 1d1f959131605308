// Finds machine code: in this process, on disk, else from the LLVM plugin.
#include "backends/cpu/compiler.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "backends/codegen/bundle.h"
#include "backends/codegen/cache.h"
#include "backends/codegen/plugin.h"
#include "backends/cpu/publish.h"
#include "backends/cpu/runtime.h"
#include "core/threads/fork.h"
#include "ir/build.h"
#include "passes/lower.h"

namespace unisono::cpu {

namespace {

bool has_streaming_store(ir::S s) {
    if (s->kind == ir::StmtKind::Store && s->streaming) return true;
    return std::any_of(s->body.begin(), s->body.end(), has_streaming_store) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), has_streaming_store);
}

std::string key_of(const ir::Module& module, const CompileOptions& options) {
    std::string which;
    if (options.fastmath) which += "fastmath\n";
    if (options.debug) {  // the code tells of lines and files
        which += "debug\n";
        for (const ir::Function& f : module.functions) {
            for (const std::string& file : f.files) which += file + "\n";
        }
    }
    if (options.callback) which += "callback " + std::to_string(options.callback_failed) + "\n";
    return which + ir::identity(module);
}

/// What else the code depends on.
const std::string& machine() {
    static const std::string text =
        "build " + codegen::build_id() + "\nprocessor " + codegen::processor_id() + "\n";
    return text;
}

/// Kernels that some Executable holds.
class Loaded {
  public:
    std::shared_ptr<LoadedCode> find(const std::string& key) {
        std::lock_guard lock(mutex_);
        auto found = codes_.find(key);
        return found == codes_.end() ? nullptr : found->second.lock();
    }
    void add(const std::string& key, const std::shared_ptr<LoadedCode>& code) {
        std::lock_guard lock(mutex_);
        if (codes_.size() >= sweep_at_) {
            std::erase_if(codes_, [](const auto& entry) { return entry.second.expired(); });
            sweep_at_ = 64 + 2 * codes_.size();
        }
        codes_[key] = code;
    }

  private:
    ProcessMutex mutex_;
    std::unordered_map<std::string, std::weak_ptr<LoadedCode>> codes_;
    std::size_t sweep_at_ = 64;
};

/// The generated code cannot be loaded.
[[noreturn]] void refuse(const Source& source, const std::string& why) {
    constexpr std::string_view unknown = "unknown import ";
    if (source.has_c_text() && why.starts_with(unknown)) {
        fail(ErrorKind::Compile,
             "the C text uses '" + why.substr(unknown.size()) +
                 "', which neither it nor a library defines; define it, or name its library, as in "
                 "libraries=[\"libgsl.so\"]");
    }
    fail(ErrorKind::Unsupported, "compile: the generated code cannot be loaded; got: " + why);
}

}  // namespace

Source::Source(ir::Module module, const CompileOptions& options)
    : options_(options),
      key_(key_of(module, options)),
      has_c_text_(std::any_of(module.functions.begin(), module.functions.end(),
                              [](const ir::Function& f) { return f.native != nullptr; })),
      module_(std::move(module)) {}

const ir::Module& Source::lowered() {
    if (state_.load(std::memory_order_acquire) == State::Lowered) return module_;
    std::lock_guard lock(lowering_);
    if (state_.load(std::memory_order_relaxed) == State::Lowered) return module_;
    if (refused_) std::rethrow_exception(refused_);
    if (state_.load(std::memory_order_relaxed) == State::Begun) {
        fail(ErrorKind::Runtime,
             "compile: another thread was compiling this code when the process was forked; "
             "decorate the function again in the child, or fork before other threads compile");
    }
    state_.store(State::Begun, std::memory_order_relaxed);
    try {
        lower();
    } catch (...) {
        refused_ = std::current_exception();
        throw;
    }
    state_.store(State::Lowered, std::memory_order_release);
    return module_;
}

void Source::lower() {
    passes::Target target;
    target.streaming_stores = true;
    target.splits_cold = !options_.callback;  // C calls with nothing that would find them
    passes::lower(module_, target);
    streams_ =
        std::any_of(module_.functions.begin(), module_.functions.end(),
                    [](const ir::Function& f) { return f.body && has_streaming_store(f.body); });
    sites_ = passes::all_sites(module_);
}

bool Source::streams() {
    lowered();
    return streams_;
}

std::span<const ir::FaultSite> Source::sites() {
    lowered();
    return sites_;
}

std::shared_ptr<LoadedCode> machine_code(Source& source, int function) {
    const CompileOptions& options = source.options();
    const char* symbol = options.callback ? codegen::callback_symbol : codegen::kernel_symbol;
    static Loaded& loaded = *new Loaded;  // kernels may outlive static destructors
    std::string plain =
        (function < 0 ? "" : "function " + std::to_string(function) + "\n") + source.key();
    std::string key = machine() + plain;
    codegen::Recording* recording = codegen::recording();
    if (auto code = recording ? nullptr : loaded.find(key)) return code;
    static const codegen::DiskCache disk;
    std::string why;
    std::shared_ptr<LoadedCode> code;
    FindImport find = source.has_c_text() ? find_import_of_c : find_import;
    bool use_disk = options.use_cache && !options.debug;
    std::string object;
    auto look_on_disk = [&] {
        object = disk.find(key);
        if (!object.empty()) code = load_object(object, symbol, find, why);
    };
    if (use_disk) {
        object = codegen::find_bundled(plain);
        if (!object.empty()) code = load_object(object, symbol, find, why);
        if (!code) look_on_disk();
    }
    std::optional<codegen::DiskCache::Claim> claim;
    if (!code && use_disk) {
        claim.emplace(disk.claim(key));
        look_on_disk();
    }
    if (!code) {
        const ir::Module& module = source.lowered();
        codegen::Target target;
        target.streaming = source.streams();
        target.function = function;
        target.callback = options.callback;
        target.callback_failed = options.callback_failed;
        target.fastmath = options.fastmath;
        target.want_lines = options.debug;
        codegen::Result made = codegen::compile(module, target);
        PublishedCode shown;
        code = load_object(made.code, symbol, find, why, options.debug ? &shown.placed : nullptr);
        if (!code) refuse(source, why);
        if (use_disk) disk.store(key, made.code);
        object = std::move(made.code);
        if (options.debug) {
            const ir::Function& f =
                module.functions[static_cast<std::size_t>(std::max(function, 0))];
            shown.lines = std::move(made.lines);
            shown.files = f.files;
            shown.name = f.name;
            code->attach(publish(std::move(shown)));
        }
    }
    if (recording) {
        recording->code.emplace_back(plain, object);
        // What runs seldom is compiled when it first does; whoever records wants it now.
        const ir::Module& module = source.lowered();
        for (std::size_t f = 0; function < 0 && f < module.functions.size(); ++f) {
            if (module.functions[f].is_deferred) machine_code(source, static_cast<int>(f));
        }
    }
    loaded.add(key, code);
    return code;
}

}  // namespace unisono::cpu
