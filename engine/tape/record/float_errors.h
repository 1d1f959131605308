// Floating-point errors of operations, for `errstate`: found in operands and results by array
// operations of their own, only while someone asks for them.
#pragma once

#include <atomic>
#include <span>
#include <string_view>

#include "ops/ops.h"
#include "tape/array.h"

namespace unisono::float_errors {

enum Flag : unsigned { Divide = 1, Over = 2, Under = 4, Invalid = 8 };

/// What happens where there are errors: flags, and the operation's name. It may throw.
using Handler = void (*)(unsigned flags, std::string_view name);
void set_handler(Handler handler);

/// Counts those who want errors reported.
void watch(int change);
extern std::atomic<int> watchers;
inline bool watched() { return watchers.load(std::memory_order_relaxed) > 0; }

/// While one lives on this thread, operations are not checked: those that check.
class Unchecked {
  public:
    Unchecked();
    Unchecked(const Unchecked&) = delete;
    Unchecked& operator=(const Unchecked&) = delete;
    ~Unchecked();
    static bool here();
};

/// While one lives on this thread, errors are reported as those of the operation of that name,
/// which is composed of others; the outermost counts. The text must live as long.
class Named {
  public:
    explicit Named(const char* name);
    Named(const Named&) = delete;
    Named& operator=(const Named&) = delete;
    ~Named();

  private:
    bool is_outermost_;
};

/// Whether what is recorded now is looked at.
inline bool is_checked() { return watched() && !Unchecked::here(); }

/// Reports the errors of op on these operands, whose result is `made`. Waits for it.
void check(Op op, std::span<const Arg> args, const Array& made);
/// The same of a conversion of x, and of a reduction or scan along axes.
void check_cast(const Array& x, const Array& made);
void check_reduction(const Array& x, const Array& made, std::string_view how = "reduce");

}  // namespace unisono::float_errors
