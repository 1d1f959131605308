// A user's scalar function that array operations apply to elements: kernel IR that cannot fault.
//
// A tape entry of kind Function names one; in a group it is a node like any other (Kind::Function),
// so that it fuses with its neighbours: lowering calls its IR from the loop, and the compiler
// inlines it there. `block`, which compiles no groups, runs it over blocks by a loop that is
// compiled once per function.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "core/threads/fork.h"
#include "tape/tape.h"

namespace unisono {

class ElementFunction {
  public:
    static constexpr std::size_t most_params = 3;  ///< operands of an entry

    /// Whether the module's entry maps one to three scalars to one and nothing in it can fail or
    /// takes memory.
    static bool accepts(const ir::Module& module);
    explicit ElementFunction(ir::Module module);

    const std::string& name() const { return module_.entry().name; }
    const ir::Module& module() const { return module_; }
    const std::vector<DType>& params() const { return params_; }
    DType result() const { return module_.entry().results.front(); }
    /// Differs from that of every other function of this process.
    std::uint32_t id() const { return id_; }

    /// out[i] = f(in[0][i], ...) over packed host memory. Bit k of `ones`: operand k is one element
    /// that stands for all. Out may be an operand's own memory. Safe from several threads at once.
    void run(char* out, const char* const* in, unsigned ones, std::int64_t count) const;

  private:
    Executable& loop(unsigned ones) const;

    ir::Module module_;
    std::vector<DType> params_;
    std::uint32_t id_;
    mutable LongMutex compiling_;
    mutable std::array<std::unique_ptr<Executable>, 1u << most_params> loops_;
    mutable std::array<std::atomic<Executable*>, 1u << most_params> ready_{};  ///< of loops_
};

/// What an entry of kind Function owns.
struct ElementCall final : OpaqueCall {
    explicit ElementCall(std::shared_ptr<const ElementFunction> f) : function(std::move(f)) {}
    void run(std::span<const View>, std::span<const View>) override;
    std::string name() const override { return function->name(); }

    std::shared_ptr<const ElementFunction> function;
};

inline const ElementFunction& function_of(const Entry& e) {
    return *static_cast<const ElementCall*>(e.call)->function;
}

}  // namespace unisono
