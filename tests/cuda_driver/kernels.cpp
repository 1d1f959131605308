// Rewrites NVPTX's intrinsics, compiles for the host, and runs grids.
#include "cuda_driver/kernels.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ThreadSafeModule.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>

#include <cstdlib>
#include <set>
#include <stdexcept>
#include <utility>

#include "cuda_driver/fibers.h"

namespace cuda_driver {

namespace {

/// Which thread runs: what PTX has in special registers.
struct Ids {
    Extents thread, block, block_size, block_count;
};
Ids ids;

using llvm::Intrinsic::ID;
namespace Intrinsic = llvm::Intrinsic;

const unsigned* place_of(ID id) {
    switch (id) {
        case Intrinsic::nvvm_read_ptx_sreg_tid_x: return &ids.thread[0];
        case Intrinsic::nvvm_read_ptx_sreg_tid_y: return &ids.thread[1];
        case Intrinsic::nvvm_read_ptx_sreg_tid_z: return &ids.thread[2];
        case Intrinsic::nvvm_read_ptx_sreg_ctaid_x: return &ids.block[0];
        case Intrinsic::nvvm_read_ptx_sreg_ctaid_y: return &ids.block[1];
        case Intrinsic::nvvm_read_ptx_sreg_ctaid_z: return &ids.block[2];
        case Intrinsic::nvvm_read_ptx_sreg_ntid_x: return &ids.block_size[0];
        case Intrinsic::nvvm_read_ptx_sreg_ntid_y: return &ids.block_size[1];
        case Intrinsic::nvvm_read_ptx_sreg_ntid_z: return &ids.block_size[2];
        case Intrinsic::nvvm_read_ptx_sreg_nctaid_x: return &ids.block_count[0];
        case Intrinsic::nvvm_read_ptx_sreg_nctaid_y: return &ids.block_count[1];
        case Intrinsic::nvvm_read_ptx_sreg_nctaid_z: return &ids.block_count[2];
        default: return nullptr;
    }
}

[[noreturn]] void refuse(const std::string& text) {
    throw std::runtime_error("cuda_driver: " + text);
}

template <class T>
T check(llvm::Expected<T> value) {
    if (!value) refuse(llvm::toString(value.takeError()));
    return static_cast<T&&>(*value);
}
void check(llvm::Error error) {
    if (error) refuse(llvm::toString(std::move(error)));
}

/// shfl.sync.down.b32 of warps whose threads are all there. Warps of a block shuffle as often.
std::uint32_t shuffle_down(std::uint32_t mask, std::uint32_t value, std::uint32_t distance,
                           std::uint32_t clamp) {
    constexpr unsigned warp = 32, most_threads = 1024;
    static std::array<std::uint32_t, most_threads> values;
    static std::array<unsigned, most_threads / warp> present;
    const Extents &size = ids.block_size, &at = ids.thread;
    const unsigned thread = at[0] + size[0] * (at[1] + size[1] * at[2]), lane = thread % warp;
    const unsigned source = lane + distance <= clamp ? thread + distance : thread;
    if (mask != 0xffffffff || size[0] % warp != 0) note_violation("a shuffle of a part of a warp");
    values[thread] = value;
    ++present[thread / warp];
    barrier();
    if (present[thread / warp] % warp != 0) note_violation("a shuffle without the whole warp");
    const std::uint32_t moved = values[source];
    barrier();
    return moved;
}

/// vote.sync.ballot.b32 of such warps. Votes take turns with two memories, so that nobody waits
/// until the others have read.
std::uint32_t ballot(std::uint32_t mask, bool predicate) {
    constexpr unsigned warp = 32, most_threads = 1024;
    static std::array<std::array<bool, most_threads>, 2> said;
    static std::array<unsigned, most_threads> votes;
    const Extents &size = ids.block_size, &at = ids.thread;
    const unsigned thread = at[0] + size[0] * (at[1] + size[1] * at[2]);
    const unsigned first = thread - thread % warp;
    if (mask != 0xffffffff || size[0] % warp != 0) note_violation("a vote of a part of a warp");
    const unsigned number = ++votes[thread];
    auto& now = said[number % 2];
    now[thread] = predicate;
    barrier();
    std::uint32_t bits = 0;
    for (unsigned lane = 0; lane < warp; ++lane) {
        if (votes[first + lane] - number > 1) note_violation("a vote without the whole warp");
        bits |= std::uint32_t{now[first + lane]} << lane;
    }
    return bits;
}

/// What hardware refuses of the grid that runs: the first thing.
std::string refused;

/// A load or store of several elements at once.
void check_address(std::uintptr_t address, std::uint64_t alignment) {
    if (address % alignment == 0 || !refused.empty()) return;
    refused = "accesses " + std::to_string(alignment) + " bytes at once at an address that is " +
              std::to_string(address % alignment) + " beyond a multiple";
}

/// How memory behind the pointer is used, through pointers that are computed from it.
Access access_of(const llvm::Value* pointer, std::set<const llvm::Value*>& seen) {
    Access found = Access::None;
    auto add = [&](Access a) { found = std::max(found, a); };
    for (const llvm::User* user : pointer->users()) {
        if (llvm::isa<llvm::LoadInst>(user)) {
            add(Access::Reads);
        } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
            add(store->getPointerOperand() == pointer ? Access::Writes : Access::Reads);
        } else if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(user)) {
            add(Access::Writes);
        } else if (llvm::isa<llvm::GetElementPtrInst, llvm::AddrSpaceCastInst, llvm::PHINode,
                             llvm::SelectInst, llvm::BitCastInst>(user)) {
            if (seen.insert(user).second) add(access_of(user, seen));
        } else {
            add(Access::Reads);
        }
    }
    return found;
}

class HostModule {
  public:
    explicit HostModule(llvm::Module& module) : module_(module) {}

    std::vector<Kernel> run(const llvm::orc::LLJIT& jit) {
        std::vector<Kernel> kernels;
        std::vector<llvm::Function*> entries;
        for (llvm::Function& f : module_) {
            if (f.getCallingConv() == llvm::CallingConv::PTX_Kernel) entries.push_back(&f);
        }
        for (llvm::Function* f : entries) kernels.push_back(describe(*f));
        for (llvm::Function& f : module_) rewrite(f);
        for (llvm::Function* f : entries) add_entry(*f);
        if (auto* annotations = module_.getNamedMetadata("nvvm.annotations"))
            annotations->eraseFromParent();
        module_.setTargetTriple(jit.getTargetTriple().str());
        module_.setDataLayout(jit.getDataLayout());
        return kernels;
    }

  private:
    Kernel describe(llvm::Function& f) {
        Kernel kernel;
        kernel.name = f.getName().str();
        for (const llvm::Argument& a : f.args()) {
            Parameter p;
            p.is_pointer = a.getType()->isPointerTy();
            p.bytes = static_cast<std::int64_t>(
                module_.getDataLayout().getTypeAllocSize(a.getType()).getFixedValue());
            std::set<const llvm::Value*> seen;
            if (p.is_pointer) p.access = access_of(&a, seen);
            kernel.parameters.push_back(p);
        }
        // Shared arrays, barriers and shuffles of the module count for all of its kernels.
        for (const llvm::GlobalVariable& g : module_.globals()) {
            if (g.getAddressSpace() == 3)
                kernel.shared_bytes += static_cast<std::int64_t>(
                    module_.getDataLayout().getTypeAllocSize(g.getValueType()).getFixedValue());
        }
        for (const char* name : {"llvm.nvvm.barrier0", "llvm.nvvm.shfl.sync.down.i32",
                                 "llvm.nvvm.vote.ballot.sync", "llvm.nvvm.bar.warp.sync"}) {
            const llvm::Function* b = module_.getFunction(name);
            kernel.has_barrier = kernel.has_barrier || (b && !b->use_empty());
        }
        return kernel;
    }

    llvm::Value* address(llvm::IRBuilder<>& b, const void* at) {
        return b.CreateIntToPtr(b.getInt64(reinterpret_cast<std::uintptr_t>(at)), b.getPtrTy());
    }

    /// Accesses of vectors take any address here, and none that is not aligned on a GPU.
    void check_alignment(llvm::Instruction& i) {
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&i);
        auto* store = llvm::dyn_cast<llvm::StoreInst>(&i);
        if (!load && !store) return;
        llvm::Type* type = load ? load->getType() : store->getValueOperand()->getType();
        if (!type->isVectorTy()) return;
        llvm::IRBuilder<> b(&i);
        llvm::Value* at = load ? load->getPointerOperand() : store->getPointerOperand();
        const auto alignment = (load ? load->getAlign() : store->getAlign()).value();
        b.CreateCall(
            llvm::FunctionType::get(b.getVoidTy(), {b.getInt64Ty(), b.getInt64Ty()}, false),
            address(b, reinterpret_cast<const void*>(&check_address)),
            {b.CreatePtrToInt(at, b.getInt64Ty()), b.getInt64(alignment)});
        if (load)
            load->setAlignment(llvm::Align(1));
        else
            store->setAlignment(llvm::Align(1));
    }

    void rewrite(llvm::Function& f) {
        // Attributes of the PTX target mean nothing here.
        for (const char* name : {"target-cpu", "target-features"}) f.removeFnAttr(name);
        for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f))) {
            check_alignment(i);
            auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
            if (!call || !call->getCalledFunction()) continue;
            const ID id = call->getCalledFunction()->getIntrinsicID();
            llvm::IRBuilder<> b(call);
            if (const unsigned* place = place_of(id)) {
                call->replaceAllUsesWith(b.CreateLoad(b.getInt32Ty(), address(b, place)));
            } else if (id == Intrinsic::nvvm_barrier0) {
                b.CreateCall(llvm::FunctionType::get(b.getVoidTy(), false),
                             address(b, reinterpret_cast<const void*>(&barrier)));
            } else if (id == Intrinsic::nvvm_shfl_sync_down_i32) {
                const std::vector<llvm::Value*> args(call->arg_begin(), call->arg_end());
                auto* type = llvm::FunctionType::get(
                    b.getInt32Ty(), std::vector<llvm::Type*>(args.size(), b.getInt32Ty()), false);
                call->replaceAllUsesWith(b.CreateCall(
                    type, address(b, reinterpret_cast<const void*>(&shuffle_down)), args));
            } else if (id == Intrinsic::nvvm_vote_ballot_sync) {
                auto* type =
                    llvm::FunctionType::get(b.getInt32Ty(), {b.getInt32Ty(), b.getInt1Ty()}, false);
                auto* votes = b.CreateCall(type, address(b, reinterpret_cast<const void*>(&ballot)),
                                           {call->getArgOperand(0), call->getArgOperand(1)});
                votes->addParamAttr(1, llvm::Attribute::ZExt);
                call->replaceAllUsesWith(votes);
            } else if (id == Intrinsic::nvvm_bar_warp_sync) {
                b.CreateCall(llvm::FunctionType::get(b.getVoidTy(), false),
                             address(b, reinterpret_cast<const void*>(&barrier)));
            } else if (id == Intrinsic::nvvm_membar_gl) {
                b.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
            } else {
                if (call->getCalledFunction()->getName().starts_with("llvm.nvvm."))
                    refuse("no host form of " + call->getCalledFunction()->getName().str());
                continue;
            }
            call->eraseFromParent();
        }
    }

    /// void f(void** parameters), where each is the address of a value.
    void add_entry(llvm::Function& f) {
        f.setCallingConv(llvm::CallingConv::C);
        llvm::IRBuilder<> b(module_.getContext());
        auto* made = llvm::Function::Create(
            llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
            llvm::GlobalValue::ExternalLinkage, "thread_" + f.getName(), module_);
        b.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", made));
        std::vector<llvm::Value*> values;
        for (const llvm::Argument& a : f.args()) {
            llvm::Value* slot =
                b.CreateConstInBoundsGEP1_64(b.getPtrTy(), made->getArg(0), a.getArgNo());
            values.push_back(b.CreateLoad(a.getType(), b.CreateLoad(b.getPtrTy(), slot)));
        }
        b.CreateCall(&f, values);
        b.CreateRetVoid();
    }

    llvm::Module& module_;
};

llvm::orc::LLJIT& jit() {
    static auto& made = *[] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
        auto machine = check(llvm::orc::JITTargetMachineBuilder::detectHost());
        machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
        auto whole = check(
            llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create());
        return whole.release();
    }();
    return made;
}

class Compiled final : public KernelCode {
  public:
    explicit Compiled(const std::string& text) {
        static int number = 0;
        auto context = std::make_unique<llvm::LLVMContext>();
        llvm::SMDiagnostic problem;
        auto module = llvm::parseAssemblyString(text, problem, *context);
        if (!module) refuse("IR cannot be read: " + problem.getMessage().str());
        kernels = HostModule(*module).run(jit());
        library_ = &check(jit().createJITDylib("kernels" + std::to_string(++number)));
        library_->addGenerator(check(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
            jit().getDataLayout().getGlobalPrefix())));
        check(jit().addIRModule(
            *library_, llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
        for (Kernel& k : kernels)
            k.thread = check(jit().lookup(*library_, "thread_" + k.name)).toPtr<void (*)(void**)>();
    }
    ~Compiled() override { check(jit().getExecutionSession().removeJITDylib(*library_)); }

  private:
    llvm::orc::JITDylib* library_ = nullptr;
};

void run_block(const Kernel& kernel, void** parameters) {
    const Extents& size = ids.block_size;
    const std::size_t count = std::size_t{size[0]} * size[1] * size[2];
    auto select = [&](std::size_t k) {
        ids.thread = {static_cast<unsigned>(k % size[0]),
                      static_cast<unsigned>(k / size[0] % size[1]),
                      static_cast<unsigned>(k / size[0] / size[1])};
    };
    if (kernel.has_barrier)
        return run_fibers(
            count, [&](std::size_t) { kernel.thread(parameters); }, select);
    for (std::size_t k = 0; k < count; ++k) {
        select(k);
        kernel.thread(parameters);
    }
}

}  // namespace

std::shared_ptr<KernelCode> compile_for_host(const std::string& llvm_ir) {
    return std::make_shared<Compiled>(llvm_ir);
}

std::string run_grid(const Kernel& kernel, const Extents& grid, const Extents& block,
                     void** parameters) {
    refused.clear();
    ids.block_size = block;
    ids.block_count = grid;
    const std::uint64_t count = std::uint64_t{grid[0]} * grid[1] * grid[2];
    // Blocks come in any order: every other launch begins with the last one.
    static bool is_reversed = false;
    is_reversed = !is_reversed;
    for (std::uint64_t n = 0; n < count; ++n) {
        const std::uint64_t k = is_reversed ? count - 1 - n : n;
        ids.block = {static_cast<unsigned>(k % grid[0]),
                     static_cast<unsigned>(k / grid[0] % grid[1]),
                     static_cast<unsigned>(k / grid[0] / grid[1])};
        run_block(kernel, parameters);
    }
    return refused;
}

}  // namespace cuda_driver
