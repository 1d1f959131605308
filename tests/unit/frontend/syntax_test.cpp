// Syntax trees as text: what is read is what was written, and damaged text is an error.
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "frontend/compile.h"
#include "frontend/syntax/serialise.h"
#include "ir/build.h"

namespace unisono::frontend {
namespace {

/// def scale(x, f): for i in range(len(x)): x[i] *= f
constexpr std::string_view program = R"((unisono-tree 1
  (function "scale" "scale.py" 1 [ "def scale(x, f):" "    for i in range(len(x)):" "        x[i] *= f"] [ "x" "f"] 2 -1 0 0 -1 [ 1 0 0 0 0 0 1 "" 0 0] [ - -] - [] [] [] [] []
    (Block@2:4-3:17 (For@2:4-3:17 (Name@2:8-2:9 "i") (Call@2:13-2:26 (Builtin@2:13-2:18 "range") (Call@2:19-2:25 (Builtin@2:19-2:22 "len") (Name@2:23-2:24 "x"))) (Block@3:8-3:17 (AugAssign@3:8-3:17 "*" (Subscript@3:8-3:12 (Name@3:8-3:9 "x") (Name@3:10-3:11 "i")) (Name@3:16-3:17 "f"))))))))";

std::string ir_of(const std::shared_ptr<const Source>& source) {
    CompileRequest request;
    request.source = source;
    request.args = {Type::array(DType::Float64, {ir::StrideClass::One}, true),
                    Type::python(Weak::Float)};
    return ir::print(compile(request).module);
}

TEST(SyntaxTree, ReadsWhatItWrites) {
    const auto read = read_program(program);
    EXPECT_EQ(read->name, "scale");
    EXPECT_EQ(read->params, (std::vector<std::string>{"x", "f"}));
    const std::string again = serialise(*read);
    EXPECT_EQ(serialise(*read_program(again)), again);
    EXPECT_NE(ir_of(read).find("scale"), std::string::npos);
    EXPECT_EQ(ir_of(read_program(again)), ir_of(read));
}

TEST(SyntaxTree, DamagedTextIsAnError) {
    for (std::size_t cut = 0; cut + 2 < program.size(); cut += 3) {
        EXPECT_THROW(read_program(program.substr(0, cut)), Error) << cut;
    }
    // Whatever one byte is changed to: an error, or another program.
    for (std::size_t at = 0; at < program.size(); ++at) {
        for (const char c : {'(', ')', '[', '"', '9', '@', ' ', 'x', '\\'}) {
            std::string changed(program);
            changed[at] = c;
            try {
                serialise(*read_program(changed));
            } catch (const Error&) {
            }
        }
    }
    const std::string deep = "(unisono-tree 1 " + std::string(100'000, '(');
    EXPECT_THROW(read_program(deep), Error);
}

TEST(SyntaxTree, NamesItsKinds) {
    EXPECT_EQ(name_of(NodeKind::BinOp), "BinOp");
    EXPECT_EQ(kind_named("FormattedValue"), NodeKind::FormattedValue);
    EXPECT_FALSE(kind_named("Loop").has_value());
}

}  // namespace
}  // namespace unisono::frontend
