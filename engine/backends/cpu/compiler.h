// From a module to code in memory: kernels in use, the disk cache, the passes and the LLVM plugin.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/cpu/loader.h"
#include "core/threads/fork.h"
#include "ir/ir.h"

namespace unisono::cpu {

/// A module as it comes from the tape or the front end. The passes run at the first request for
/// what they make: code that is found, here or on disk, does not.
class Source {
  public:
    Source(ir::Module module, const CompileOptions& options);

    /// Tells modules and options apart.
    const std::string& key() const { return key_; }
    const CompileOptions& options() const { return options_; }
    bool has_c_text() const { return has_c_text_; }
    /// Not while another thread may ask for what follows.
    const ir::Function& entry() const { return module_.entry(); }

    /// What the passes made. Threads may ask at the same time; it stays as it is.
    const ir::Module& lowered();
    /// Some store of it is marked as streaming.
    bool streams();
    std::span<const ir::FaultSite> sites();

  private:
    void lower();
    CompileOptions options_;
    std::string key_;
    bool has_c_text_;
    LongMutex lowering_;
    enum class State : std::uint8_t { New, Begun, Lowered };
    std::atomic<State> state_{State::New};
    std::exception_ptr refused_;  ///< why the passes failed
    ir::Module module_;
    bool streams_ = false;
    std::vector<ir::FaultSite> sites_;
};

/// Machine code of a module, or of one of its deferred functions. Where the options ask for a
/// callback, the code's entry is that one.
std::shared_ptr<LoadedCode> machine_code(Source& source, int function = -1);

}  // namespace unisono::cpu
