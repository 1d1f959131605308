// The plugin's C entry point.
#include <chrono>
#include <mutex>
#include <new>

#include "backends/llvm/codegen.h"
#include "backends/llvm/emitter.h"
#include "core/threads/fork.h"

namespace unisono::codegen {

static void compile(const ir::Module& module, Target target, Result& result) {
    for (const ir::Function& f : module.functions)
        target.has_natives = target.has_natives || f.native != nullptr;
    static ProcessMutex& starting = *new ProcessMutex;  // targets are registered here
    Machine machine = [&] {
        std::lock_guard lock(starting);
        return machine_of(target);
    }();
    auto started = std::chrono::steady_clock::now();
    llvm::LLVMContext context;
    ModuleEmitter emitter(module, target, context);
    emitter.width_of_vectors = vector_bytes(machine);
    std::unique_ptr<llvm::Module> made = emitter.run();
    result.times.emit =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - started)
            .count();
    generate(*made, module, target, machine, result);
}

}  // namespace unisono::codegen

extern "C" void unisono_llvm_compile(const unisono::ir::Module& module,
                                     const unisono::codegen::Target& target,
                                     unisono::codegen::Result& result) noexcept {
    try {
        unisono::codegen::compile(module, target, result);
        return;
    } catch (const unisono::Error& error) {
        result.error_kind = error.kind();
        result.error = error.what();
    } catch (const std::bad_alloc&) {
        result.error_kind = unisono::ErrorKind::Memory;
        result.error = "compile: out of memory while generating code";
    } catch (const std::exception& error) {
        result.error_kind = unisono::ErrorKind::Internal;
        result.error = std::string("llvm: ") + error.what();
    }
    result.failed = true;
}
