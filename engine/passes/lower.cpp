// The pipeline: the one list of passes, in order. Read lower() aloud.
//
// Each pass is a page of its own with a contract of a few lines in its header. The verifier runs
// before the first and, in debug builds, after each. UNISONO_DEBUG=5 prints the tree after each
// pass that changed it.
#include "passes/lower.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ir/build.h"

namespace unisono::passes {
namespace {

int debug_level() {
    const char* level = std::getenv("UNISONO_DEBUG");
    return level ? std::atoi(level) : 0;
}

#ifdef UNISONO_DEBUG_BUILD
constexpr bool verifies_each_pass = true;
#else
constexpr bool verifies_each_pass = false;
#endif

/// Runs passes one by one, checks and prints what they made.
class Pipeline {
  public:
    explicit Pipeline(ir::Module& module) : module_(module), prints_(debug_level() >= 5) {
        ir::verify(module_);
        if (prints_) show("as built");
    }

    template <class Pass>
    void operator()(const char* name, Pass pass) {
        pass(module_);
        if (verifies_each_pass) check(name);
        if (prints_) show(name);
    }

  private:
    void check(const char* name) {
        try {
            ir::verify(module_);
        } catch (const Error& e) {
            throw Error(e.kind(), std::string(e.what()) + " (after pass " + name + ")");
        }
    }

    void show(const char* name) {
        std::string now = ir::print(module_);
        if (now != shown_) std::fprintf(stderr, "unisono: IR after %s\n%s\n", name, now.c_str());
        shown_ = std::move(now);
    }

    ir::Module& module_;
    bool prints_;
    std::string shown_;
};

}  // namespace

void lower(ir::Module& module, const Target&) { Pipeline run(module); }

}  // namespace unisono::passes
