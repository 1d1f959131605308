// Registers that a listing names: parts of one are the same one.
#include "backends/cpu/registers.h"

#include <gtest/gtest.h>

namespace unisono::cpu {

TEST(Registers, PartsOfOneAreOne) {
    EXPECT_EQ(registers_in("movq %rax, %rbx\n addl %eax, %ebx\n movb %al, %bh\n"), 2);
    EXPECT_EQ(registers_in("movl %r8d, %r10d\n movb %r8b, (%r10,%rsi)\n leaq 8(%rip), %rsi\n"), 3);
    EXPECT_EQ(registers_in("vaddps %zmm3, %ymm3, %xmm13 {%k1}\n setb %sil\n movb %dl, %dil\n"), 6);
    EXPECT_EQ(registers_in("add x0, x1, x2\n"), 0);
}

}  // namespace unisono::cpu
