// Replaces prints by stores to the arrays of the module's noted lines.
#include "passes/kernels/note_prints.h"

#include <algorithm>
#include <string_view>

#include "ir/atomics.h"
#include "ir/noted_lines.h"
#include "ir/rewrite.h"

namespace unisono::passes {
using namespace ir;

namespace {

std::int64_t constant(E e) { return static_cast<std::int64_t>(e->bits); }

/// The template of a print: its bytes lie in the values behind the first three.
std::string text_of(S s) {
    const auto bytes = static_cast<std::size_t>(constant(s->args[0]));
    std::string text;
    for (std::size_t k = 0; k < bytes; ++k)
        text += static_cast<char>(s->args[3 + k / 8]->bits >> (8 * (k % 8)));
    return text;
}

/// Whether a template shows numbers alone: behind a field's number stands no letter, or one of
/// theirs.
bool shows_numbers(std::string_view text) {
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (text[k] != '{') continue;
        if (text[++k] == '{') continue;
        k = std::min(text.find_first_not_of("0123456789", k), text.size() - 1);
        if (std::string_view("}|bBfhuc").find(text[k]) == std::string_view::npos) return false;
    }
    return true;
}

class NotePrints final : public Rewriter {
  public:
    explicit NotePrints(Function& f) : Rewriter(f), inside_(f.is_kernel) {}

    std::shared_ptr<const NotedLines> noted() {
        run();
        if (noted_.prints.empty()) return nullptr;
        b_.line = {};
        const E counts[] = {b_.i64(2)}, words[] = {b_.i64(NotedLines::capacity)};
        function().body = b_.block({b_.allocate(noted_.counts, counts),
                                    b_.allocate(noted_.words, words), function().body});
        return std::make_shared<const NotedLines>(std::move(noted_));
    }

    S stmt(S s) override {
        const bool is_print = s->kind == StmtKind::Native && inside_ &&
                              function().natives[static_cast<std::size_t>(s->id)] == "print";
        if (is_print) return noting(s);
        if (s->kind != StmtKind::For) return children(s);
        const bool around = inside_;
        inside_ = inside_ || (s->loop != LoopKind::Serial && s->loop != LoopKind::Unroll);
        S made = children(s);
        inside_ = around;
        return made;
    }

  private:
    S noting(S s) {
        NotedLines::Print print{text_of(s), constant(s->args[1]) != 0, constant(s->args[2]),
                                site_of(s)};
        if (!shows_numbers(print.text)) return s;
        if (noted_.prints.empty()) {
            noted_.counts = b_.local_array("line_counts", DType::Int32, 1, Space::Global);
            noted_.words = b_.local_array("lines", DType::Int64, 1, Space::Global);
        }
        b_.line = s->line;
        std::vector<S> out;
        std::vector<E> words{b_.i64(static_cast<std::int64_t>(noted_.prints.size()))};
        // Tests of their indices come before room is taken.
        for (E value : s->args.last(static_cast<std::size_t>(print.values))) {
            const std::int32_t v = b_.var("printed", DType::Int64);
            out.push_back(b_.declare(v, value));
            words.push_back(b_.read(v));
        }
        add_words(words, out);
        for (const std::int32_t status : s->outs) out.push_back(b_.assign(status, b_.i64(0)));
        noted_.prints.push_back(std::move(print));
        return b_.block(std::span<const S>(out));
    }

    void add_words(std::span<const E> words, std::vector<S>& out) {
        const auto count = static_cast<std::int64_t>(words.size());
        const E last = int32(NotedLines::capacity - count);
        const std::int32_t at = b_.var("line_at", DType::Int32);
        auto index = [&](std::int64_t k) {
            return b_.add(b_.cast(b_.read(at), DType::Int64), b_.i64(k));
        };
        auto word = [&](std::int64_t k, E value) {
            const E where[] = {index(k)};
            return b_.store(noted_.words, where, value);
        };
        std::vector<S> stores;
        for (std::int64_t k = 0; k < count; ++k)
            stores.push_back(word(k, words[static_cast<std::size_t>(k)]));
        const E used[] = {b_.i64(0)}, lost[] = {b_.i64(1)};
        S end = b_.branch(b_.binary(Op::Lt, b_.read(at), int32(NotedLines::capacity)),
                          word(0, b_.i64(NotedLines::none)));
        S is_lost = b_.atomic(noted_.counts, Op::Add, lost, int32(1));
        // A full array is not added to, so that the count does not wrap round.
        out.push_back(b_.declare(at, int32(NotedLines::capacity)));
        S take = atomic_of_form(b_, b_.atomic(noted_.counts, Op::Add, used, int32(count)),
                                AtomicForm::Combine, std::span<const std::int32_t>(&at, 1));
        out.push_back(
            b_.branch(b_.binary(Op::Le, b_.load(noted_.counts, {b_.i64(0)}), last), take));
        out.push_back(b_.branch(b_.binary(Op::Le, b_.read(at), last),
                                b_.block(std::span<const S>(stores)), b_.block({end, is_lost})));
    }

    E int32(std::int64_t value) { return b_.constant(Scalar::of(DType::Int32, value)); }

    /// The site of a print has its line.
    std::int32_t site_of(S s) {
        const auto& sites = function().sites;
        for (std::size_t k = 0; k < sites.size(); ++k) {
            const Line at = sites[k].line;
            if (sites[k].message == print_failed && at.file == s->line.file &&
                at.line == s->line.line)
                return static_cast<std::int32_t>(k);
        }
        UNISONO_ASSERT(false);
        return -1;
    }

    bool inside_;  ///< in code that runs on the device
    NotedLines noted_;
};

}  // namespace

void note_prints(Module& module) {
    Function& entry = module.entry();
    const auto& natives = entry.natives;
    if (std::find(natives.begin(), natives.end(), "print") == natives.end()) return;
    module.noted = NotePrints(entry).noted();
}

}  // namespace unisono::passes
