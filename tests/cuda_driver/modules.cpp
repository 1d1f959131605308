// Modules, kernels and launches.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <utility>

#include "cuda_driver/driver.h"
#include "cuda_driver/kernels.h"
#include "cuda_driver/launches.h"

namespace cuda_driver {

namespace {
struct Module;
}

struct Function {
    Module* module;
    const Kernel* kernel;
    int max_threads = 1024;
};

namespace {

struct Module {
    Context* context;
    std::shared_ptr<KernelCode> code;
    std::vector<std::unique_ptr<Function>> functions;
    std::shared_ptr<Command> last;  ///< launch
};

struct Link {
    std::string ptx, cubin;
};

struct Modules {
    std::set<Module*> modules;
    std::set<Function*> functions;
    std::set<Link*> links;
    std::map<std::uint64_t, std::string> known;  ///< LLVM IR, by the hash of the PTX
    std::map<std::uint64_t, std::weak_ptr<KernelCode>> compiled;
};
Modules& modules() {
    static auto& all = *new Modules;
    return all;
}

std::uint64_t hash_of(const std::string& text) {
    std::uint64_t h = 14695981039346656037u;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return h;
}

/// What linking makes of PTX: whose kernels it has, and for what.
struct Cubin {
    char magic[8] = {'\x7f', 'E', 'L', 'F', 't', 'e', 's', 't'};
    std::uint64_t hash = 0;
    std::int64_t architecture = 0;
    char text[40] = "machine code of the driver of tests";
};

/// The number behind `word`, like 70 of ".target sm_70"; -1: there is none.
double number_after(const std::string& text, const std::string& word) {
    const auto at = text.find(word);
    return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + word.size(), nullptr);
}

/// What is wrong with PTX for this driver and its devices.
Result judge(Call& call, const std::string& ptx) {
    const double target = number_after(ptx, ".target sm_"),
                 version = number_after(ptx, ".version ");
    if (target < 0 || version < 0) return call.violation(invalid_ptx, "this is no PTX");
    if (target > 80) return call.violation(invalid_ptx, "PTX for a newer device");
    if (version > 8.0) return call.violation(invalid_ptx, "PTX of a newer form than the driver's");
    if (!modules().known.contains(hash_of(ptx)))
        return call.violation(invalid_ptx, "PTX whose IR nobody gave");
    return success;
}

Result load(Call& call, std::uint64_t hash, void** made) {
    Modules& m = modules();
    const auto found = m.known.find(hash);
    if (found == m.known.end())
        return call.violation(invalid_image, "machine code whose IR nobody gave");
    std::shared_ptr<KernelCode> code = m.compiled[hash].lock();
    if (!code) {
        try {
            code = compile_for_host(found->second);
        } catch (const std::runtime_error& e) {
            return call.violation(invalid_image, e.what());
        }
        m.compiled[hash] = code;
    }
    auto* module = new Module{&call.context(), code, {}, nullptr};
    m.modules.insert(module);
    *made = module;
    return success;
}

}  // namespace

Result make_launch(Call& call, Launch& made, void* handle, const Extents& grid,
                   const Extents& block, unsigned shared, void** parameters, void** extra) {
    auto* function = static_cast<Function*>(handle);
    if (!modules().functions.contains(function)) return call.violation(invalid_handle, "no kernel");
    const Kernel& kernel = *function->kernel;
    for (const Extents& sizes : {grid, block}) {
        if (sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0)
            return call.violation(invalid_value, "a size is 0");
    }
    if (grid[0] > 0x7fffffff || grid[1] > 65535 || grid[2] > 65535)
        return call.violation(invalid_value, "too many blocks");
    const auto threads = std::uint64_t{block[0]} * block[1] * block[2];
    if (block[0] > 1024 || block[1] > 1024 || block[2] > 64 || threads > 1024)
        return call.violation(invalid_value, "too many threads in a block");
    if (threads > static_cast<std::uint64_t>(function->max_threads))
        return call.violation(launch_out_of_resources, "too few registers for the block");
    if (kernel.shared_bytes + shared > 48 * 1024)
        return call.violation(invalid_value, "too much shared memory");
    if (!parameters || extra) return call.violation(invalid_value, "no parameters");
    std::int64_t bytes = 0;
    for (const Parameter& p : kernel.parameters)
        bytes = (bytes + p.bytes - 1) / p.bytes * p.bytes + p.bytes;
    if (bytes > 4096) return call.violation(invalid_value, "more than 4 KiB of parameters");
    made = {function, grid, block, std::vector<std::uint64_t>(kernel.parameters.size(), 0)};
    for (std::size_t k = 0; k < made.values.size(); ++k) {
        if (!parameters[k]) return call.violation(invalid_value, "a parameter is missing");
        std::memcpy(&made.values[k], parameters[k],
                    static_cast<std::size_t>(kernel.parameters[k].bytes));
    }
    return success;
}

Result start_launch(Call& call, const Launch& launch, Stream* stream) {
    Function* function = launch.function;
    if (!modules().functions.contains(function))
        return call.violation(invalid_handle, "a kernel of a module that is unloaded");
    const Kernel& kernel = *function->kernel;
    if (!stream || stream->context != &call.context() ||
        function->module->context != &call.context())
        return call.violation(invalid_context, "kernel, stream and context do not belong together");
    auto values = std::make_shared<std::vector<std::uint64_t>>(launch.values);
    auto used = std::make_shared<std::vector<std::pair<const char*, std::int64_t>>>();
    for (std::size_t k = 0; k < values->size(); ++k) {
        const Parameter& p = kernel.parameters[k];
        if (!p.is_pointer || p.access == Access::None || (*values)[k] == 0) continue;
        Allocation* memory = find_allocation((*values)[k], 0);
        const std::string what = kernel.name + " (parameter " + std::to_string(k) + ")";
        if (!memory) return call.violation(illegal_address, what + " points to no memory");
        if (memory->context != &call.context() && !memory->context->has_peer_access)
            return call.violation(illegal_address, what + " points to memory of another device");
        const std::string wrong = access(*memory, *stream, p.access, what);
        if (!wrong.empty()) return call.violation(illegal_address, wrong);
        used->emplace_back(memory->block, memory->bytes);
    }
    const Result end = state().next_launch;
    state().next_launch = success;
    ++state().launches;
    function->module->last =
        submit(*stream, kernel.name,
               [=, grid = launch.grid, block = launch.block, code = function->module->code,
                &kernel]() -> Result {
                   if (end != success) return end;
                   std::vector<void*> addresses;
                   for (std::uint64_t& v : *values) addresses.push_back(&v);
                   const std::string refused = run_grid(kernel, grid, block, addresses.data());
                   if (!refused.empty()) {
                       std::lock_guard lock(state().mutex);
                       note_violation(kernel.name + " " + refused);
                       return misaligned_address;
                   }
                   for (const auto& [memory, size] : *used) {
                       const std::string wrong = damage(memory, size);
                       if (wrong.empty()) continue;
                       std::lock_guard lock(state().mutex);
                       note_violation(kernel.name + " wrote " + wrong + " of its memory");
                       return illegal_address;
                   }
                   return success;
               });
    return success;
}

}  // namespace cuda_driver

using namespace cuda_driver;

extern "C" {

/// The engine's: of which LLVM IR a text of PTX was made. In the folder UNISONO_TEST_CUDA_PTX, if
/// that is set, all PTX is kept for scripts/assemble_ptx.py.
void unisonoDriverTakesKernels(const char* ptx, const char* llvm_ir) {
    std::lock_guard lock(state().mutex);
    const bool is_new = modules().known.insert_or_assign(hash_of(ptx), llvm_ir).second;
    const char* folder = std::getenv("UNISONO_TEST_CUDA_PTX");
    if (!folder || !is_new) return;
    std::ofstream(std::string(folder) + "/" + std::to_string(hash_of(ptx)) + ".ptx") << ptx;
}

Result cuModuleLoadDataEx(void** made, const void* image, unsigned, int*, void**) {
    Call call("cuModuleLoadDataEx");
    if (call.refused()) return call.refused();
    if (!made || !image) return call.violation(invalid_value, "no image");
    Cubin cubin;
    if (std::memcmp(image, cubin.magic, sizeof cubin.magic) == 0) {
        std::memcpy(&cubin, image, sizeof cubin);
        if (cubin.architecture != 80) return no_binary_for_gpu;
        return load(call, cubin.hash, made);
    }
    const std::string text(static_cast<const char*>(image));
    if (const Result wrong = judge(call, text)) return wrong;
    return load(call, hash_of(text), made);
}

Result cuModuleUnload(void* handle) {
    Call call("cuModuleUnload");
    if (call.refused()) return call.refused();
    auto* module = static_cast<Module*>(handle);
    if (!modules().modules.contains(module)) return call.violation(invalid_handle, "no module");
    if (module->context != &call.context())
        return call.violation(invalid_context, "a module of another context");
    if (module->last && !module->last->is_done)
        return call.violation(invalid_value, "a kernel of the module runs, or will");
    for (const auto& f : module->functions) modules().functions.erase(f.get());
    modules().modules.erase(module);
    delete module;
    return success;
}

Result cuModuleGetFunction(void** made, void* handle, const char* name) {
    Call call("cuModuleGetFunction");
    if (call.refused()) return call.refused();
    auto* module = static_cast<Module*>(handle);
    if (!modules().modules.contains(module)) return call.violation(invalid_handle, "no module");
    for (const Kernel& k : module->code->kernels) {
        if (k.name != name) continue;
        module->functions.push_back(std::make_unique<Function>(Function{module, &k}));
        modules().functions.insert(module->functions.back().get());
        *made = module->functions.back().get();
        return success;
    }
    return call.violation(not_found, std::string("no kernel ") + name);
}

Result cuFuncGetAttribute(int* value, int attribute, void* handle) {
    Call call("cuFuncGetAttribute");
    if (call.refused()) return call.refused();
    auto* function = static_cast<Function*>(handle);
    if (!modules().functions.contains(function)) return call.violation(invalid_handle, "no kernel");
    switch (attribute) {
        case 0: *value = function->max_threads; return success;
        case 1: *value = static_cast<int>(function->kernel->shared_bytes); return success;
        case 2:
        case 3: *value = 0; return success;
        case 4: *value = 32; return success;
        case 5:
        case 6: *value = 80; return success;
        default: return call.violation(invalid_value, "an unknown attribute");
    }
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* handle, int size,
                                                   std::size_t shared) {
    Call call("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    if (call.refused()) return call.refused();
    auto* function = static_cast<Function*>(handle);
    if (!modules().functions.contains(function)) return call.violation(invalid_handle, "no kernel");
    if (size < 1 || size > function->max_threads)
        return call.violation(invalid_value, "threads of a block");
    const auto used = function->kernel->shared_bytes + static_cast<std::int64_t>(shared);
    *blocks = static_cast<int>(std::min<std::int64_t>(
        {32, 2048 / ((size + 31) / 32 * 32), used ? (std::int64_t{164} << 10) / used : 32}));
    return success;
}

Result cuLaunchKernel(void* handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                      void* into, void** parameters, void** extra) {
    Call call("cuLaunchKernel");
    if (call.refused()) return call.refused();
    Launch launch;
    const Result wrong = make_launch(call, launch, handle, {grid_x, grid_y, grid_z},
                                     {block_x, block_y, block_z}, shared, parameters, extra);
    return wrong ? wrong : start_launch(call, launch, find_stream(call.context(), into));
}

/// Of libraries of tests (libraries/): work of the host on memory of the current context's device,
/// which is checked as a kernel's is.
Result unisonoDriverSubmit(const char* what, void* into, std::size_t uses,
                           const std::uintptr_t* addresses, const std::int64_t* bytes,
                           const int* writes, void (*run)(void*), void* data) {
    Call call(what);
    if (call.refused()) return call.refused();
    Stream* stream = find_stream(call.context(), into);
    if (!stream || stream->context != &call.context())
        return call.violation(invalid_handle, "the stream is not of the current context");
    if (const Result end = std::exchange(state().next_launch, success)) return end;
    for (std::size_t k = 0; k < uses; ++k) {
        Allocation* memory = find_allocation(addresses[k], bytes[k]);
        const std::string name = std::string(what) + " (memory " + std::to_string(k) + ")";
        if (!memory || memory->is_host || memory->context != &call.context())
            return call.violation(illegal_address, name + " is none of the device's");
        const std::string wrong =
            access(*memory, *stream, writes[k] ? Access::Writes : Access::Reads, name);
        if (!wrong.empty()) return call.violation(illegal_address, wrong);
    }
    submit(*stream, what, [=]() -> Result {
        run(data);
        return success;
    });
    return success;
}

void unisonoDriverNote(const char* violation) {
    std::lock_guard lock(state().mutex);
    note_violation(violation);
}

Result cuLinkCreate_v2(unsigned, int*, void**, void** made) {
    Call call("cuLinkCreate");
    if (call.refused()) return call.refused();
    auto* link = new Link;
    modules().links.insert(link);
    *made = link;
    return success;
}

Result cuLinkAddData_v2(void* handle, int type, void* data, std::size_t bytes, const char*,
                        unsigned, int*, void**) {
    Call call("cuLinkAddData");
    if (call.refused()) return call.refused();
    auto* link = static_cast<Link*>(handle);
    if (!modules().links.contains(link)) return call.violation(invalid_handle, "no link");
    if (type != 1 || bytes == 0) return call.violation(invalid_value, "expected PTX");
    link->ptx.assign(static_cast<const char*>(data), bytes);
    while (!link->ptx.empty() && link->ptx.back() == '\0') link->ptx.pop_back();
    return judge(call, link->ptx);
}

Result cuLinkComplete(void* handle, void** cubin, std::size_t* bytes) {
    Call call("cuLinkComplete");
    if (call.refused()) return call.refused();
    auto* link = static_cast<Link*>(handle);
    if (!modules().links.contains(link)) return call.violation(invalid_handle, "no link");
    Cubin made;
    made.hash = hash_of(link->ptx);
    made.architecture = 80;
    link->cubin.assign(reinterpret_cast<const char*>(&made), sizeof made);
    *cubin = link->cubin.data();
    *bytes = link->cubin.size();
    return success;
}

Result cuLinkDestroy(void* handle) {
    Call call("cuLinkDestroy");
    if (call.refused()) return call.refused();
    auto* link = static_cast<Link*>(handle);
    if (modules().links.erase(link) == 0) return call.violation(invalid_handle, "no link");
    delete link;
    return success;
}

}  // extern "C"
