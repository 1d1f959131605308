// Offers oneTBB, through its plugin, as the executor of parallel loops.
#include <dlfcn.h>

#include <string_view>

#include "backends/codegen/plugin.h"
#include "core/parallel.h"

namespace unisono::cpu {

namespace {

using RunFunction = void (*)(int helpers, void (*work)(void*), void* context);

class PluginExecutor final : public Executor {
  public:
    explicit PluginExecutor(RunFunction run) : run_(run) {}
    void run(int helpers, void (*work)(void*), void* context) override {
        run_(helpers, work, context);
    }
    const char* name() const override { return "tbb"; }

  private:
    RunFunction run_;
};

/// Null where the plugin or oneTBB is missing: the engine's own threads serve then.
std::unique_ptr<Executor> make_executor() {
    std::string path = codegen::plugin_path("libunisono_threads.so");
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto* run =
        library ? reinterpret_cast<RunFunction>(dlsym(library, "unisono_threads_run")) : nullptr;
    return run ? std::make_unique<PluginExecutor>(run) : nullptr;
}

const bool offered = [] {
    if (std::string_view(UNISONO_THREADS) == "tbb") set_executor_factory(make_executor);
    return true;
}();

}  // namespace

}  // namespace unisono::cpu
