// Offers oneTBB, through its plugin, as the source of helper threads.
#include <dlfcn.h>

#include <string_view>

#include "backends/codegen/plugin.h"
#include "core/threads/parallel.h"

namespace unisono::cpu {

namespace {

using SummonFunction = void (*)(int count, void (*serve)(void*), void* context);

class PluginThreads final : public HelperSource {
  public:
    explicit PluginThreads(SummonFunction summon) : summon_(summon) {}
    void summon(int count, void (*serve)(void*), void* context) override {
        summon_(count, serve, context);
    }
    const char* name() const override { return "tbb"; }

  private:
    SummonFunction summon_;
};

/// Null where the plugin or oneTBB is missing: the engine's own threads serve then.
std::unique_ptr<HelperSource> make_source() {
    std::string path = codegen::plugin_path("libunisono_threads.so");
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto* summon = library
                       ? reinterpret_cast<SummonFunction>(dlsym(library, "unisono_threads_summon"))
                       : nullptr;
    return summon ? std::make_unique<PluginThreads>(summon) : nullptr;
}

const bool offered = [] {
    if (std::string_view(UNISONO_THREADS) == "tbb") set_helper_factory(make_source);
    return true;
}();

}  // namespace

}  // namespace unisono::cpu
