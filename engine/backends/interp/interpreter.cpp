// Walks the tree of a function: expressions to bits, statements to effects.
#include "backends/interp/interpreter.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <utility>

#include "backends/interp/memory.h"
#include "core/native/block.h"
#include "core/native/native.h"
#include "ir/atomics.h"
#include "ir/build.h"
#include "ir/fence.h"
#include "ops/scalar_eval.h"
#include "passes/lower.h"

namespace unisono::interp {
namespace {

using namespace ir;

constexpr int deepest_call = 1000;

/// How a statement ended.
enum class Flow : std::uint8_t { Next, Break, Continue, Return };

/// State shared by all functions of a launch.
struct Launch {
    explicit Launch(const Module& m)
        : module(m), first_sites(passes::first_sites(m)), sites(passes::all_sites(m)) {}
    const Module& module;
    std::vector<std::int32_t> first_sites;
    std::vector<FaultSite> sites;
    const Place* place = nullptr;  ///< null outside independent loops
    std::deque<Place> places;
    std::int64_t runs = 0;
    int calls = 0;
    bool is_numbered = false;  ///< the fault has the number of the user's iteration
    Fault fault;
    std::map<Block*, std::unique_ptr<Shadow>> shadows;
    int locks = 0;               ///< held now: iterations run one after another
    std::map<char*, View> made;  ///< memory of arguments and blocks, by address

    /// The memory that holds the address, whose first element it becomes; elements may be parts of
    /// those that it was made of. Memory that objects hold is not known here: nothing is tested in
    /// it.
    View find(char* data, std::int64_t element) const {
        auto at = made.upper_bound(data);
        View v;
        if (at != made.begin()) v = std::prev(at)->second;
        if (!v.data || data > v.data + (v.high + 1) * v.element) {
            v = View{};
            v.data = data;
            v.element = element;
            v.high = data ? std::int64_t{1} << 48 : -1;
            return v;
        }
        // v.data is its element [0, ...], which may lie above its lowest one.
        if (v.high >= v.low) {
            const char *begin = v.data + v.low * v.element,
                       *end = v.data + (v.high + 1) * v.element;
            v.low = (begin - data) / element;
            v.high = (end - data) / element - 1;
        }
        v.element = element;
        v.data = data;
        return v;
    }
};

class Frame {
  public:
    Frame(Launch& launch, std::int32_t function)
        : launch_(launch),
          number_(function),
          f_(launch.module.functions[static_cast<std::size_t>(function)]),
          vars_(f_.vars.size()),
          params_(f_.params.size()),
          views_(f_.arrays.size()) {}

    void set_param(std::size_t p, std::uint64_t bits) { params_[p] = bits; }
    ~Frame() {
        for (Block* b : blocks_) release_block(b);
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;
    std::vector<View>& views() { return views_; }
    Flow run() {
        if (f_.native)
            fail(ErrorKind::Unsupported, f_.name +
                                             ": a C function cannot be interpreted; run it "
                                             "on the cpu");
        return exec(f_.body);
    }
    const std::vector<std::uint64_t>& results() const { return results_; }

  private:
    struct Local {
        std::uint64_t bits = 0;
        bool defined = false;
    };

    std::string where(Line line) const {
        std::string text = " in " + f_.name;
        if (line.line > 0) text += ", line " + std::to_string(line.line);
        return text;
    }
    [[noreturn]] void broken(const std::string& rule, Line line) const {
        fail(ErrorKind::Internal, "interp: " + rule + where(line.line > 0 ? line : line_));
    }

    // ---- Expressions

    std::int64_t integer(E e) { return static_cast<std::int64_t>(eval(e)); }

    std::uint64_t eval(E e) {
        switch (e->kind) {
            case ExprKind::Const: return e->bits;
            case ExprKind::Var: {
                const Local& v = vars_[static_cast<std::size_t>(e->id)];
                if (!v.defined) {
                    broken("variable " + f_.vars[static_cast<std::size_t>(e->id)].name +
                               " is read before it is assigned",
                           e->line);
                }
                return v.bits;
            }
            case ExprKind::Param: return param(e);
            case ExprKind::Load: return load(e);
            case ExprKind::Unary:
                return scalar_function(e->op, e->args[0]->dtype)(eval(e->args[0]), 0);
            case ExprKind::Binary: {
                std::uint64_t a = eval(e->args[0]);
                return scalar_function(e->op, e->args[0]->dtype)(a, eval(e->args[1]));
            }
            case ExprKind::Select: {
                bool first = eval(e->args[0]) != 0;
                std::uint64_t a = eval(e->args[1]);
                std::uint64_t b = eval(e->args[2]);
                return first ? a : b;
            }
            case ExprKind::Cast:
                return cast_function(e->args[0]->dtype, e->dtype)(eval(e->args[0]));
            case ExprKind::Bitcast: return eval(e->args[0]);
            case ExprKind::Fma: {
                Scalar a{eval(e->args[0]), e->dtype};
                Scalar b{eval(e->args[1]), e->dtype};
                return fused_multiply_add(a, b, {eval(e->args[2]), e->dtype}).bits;
            }
            case ExprKind::Memory: return memory(e);
            case ExprKind::Part:
            case ExprKind::Pair:
            case ExprKind::WorkItem: break;
        }
        broken(e->kind == ExprKind::WorkItem ? "a work-item query is left after lowering"
                                             : "a complex number is left after lowering",
               e->line);
    }

    std::uint64_t param(E e) {
        if (e->field == Field::Value) return params_[static_cast<std::size_t>(e->id)];
        const View& v =
            views_[static_cast<std::size_t>(f_.params[static_cast<std::size_t>(e->id)].array)];
        const auto& list = e->field == Field::Extent ? v.shape : v.strides;
        return static_cast<std::uint64_t>(list[static_cast<std::size_t>(e->axis)]);
    }

    std::uint64_t load(E e) {
        const View& v = views_[static_cast<std::size_t>(e->id)];
        char* at = address(v, e->id, e->args, e->access, e->line);
        if (v.must_be_written && !v.shadow->is_written(at)) {
            fail(ErrorKind::Value,
                 "interp: element " + place_of(e->args) + " of array " + array_name(e->id) +
                     " is read before it is written" + where(e->line.line > 0 ? e->line : line_) +
                     "; write it first, and let a barrier lie between work-items of which one "
                     "writes and another reads it");
        }
        touch(v, at, Use::Read, e->id, e->line);
        return load_bits(part_of(v, e->id, at, e->axis), size_of(e->dtype));
    }

    /// Complex elements are accessed by parts.
    char* part_of(const View& v, std::int32_t array, char* at, std::int32_t part) const {
        bool is_pair = is_complex(f_.arrays[static_cast<std::size_t>(array)].dtype);
        return is_pair ? at + part * (v.element / 2) : at;
    }

    // ---- Memory

    std::uint64_t memory(E e) {
        auto id = static_cast<std::size_t>(e->id);
        if (e->axis == 0) return reinterpret_cast<std::uintptr_t>(views_[id].data);
        return reinterpret_cast<std::uintptr_t>(blocks_.empty() ? nullptr : blocks_[id]);
    }

    /// Takes over one reference of the block.
    void set_slot(std::int32_t slot, View view, Block* block) {
        blocks_.resize(f_.arrays.size());
        auto id = static_cast<std::size_t>(slot);
        view.shape.clear();
        view.strides.clear();
        views_[id] = std::move(view);
        release_block(std::exchange(blocks_[id], block));
    }

    void make(S s) {
        std::int64_t element = size_of(f_.arrays[static_cast<std::size_t>(s->id)].dtype);
        std::int64_t count = integer(s->args[0]);
        Block* block = make_block(count > (std::int64_t{1} << 48) ? -1 : count * element);
        if (!block)
            fail(ErrorKind::Memory, f_.name + ": out of memory for an array made in the function");
        View v;
        v.element = element;
        v.high = count - 1;
        v.data = static_cast<char*>(block->data);
        auto& shadow = launch_.shadows[block];
        shadow = std::make_unique<Shadow>(v.data, count * element, element);
        v.shadow = shadow.get();
        v.must_be_written = true;
        launch_.made[v.data] = v;
        set_slot(s->id, v, block);
    }

    void point(S s) {
        if (!s->arrays.empty()) {
            auto source = static_cast<std::size_t>(s->arrays[0]);
            Block* block = blocks_.empty() ? nullptr : blocks_[source];
            retain_block(block);
            set_slot(s->id, views_[source], block);
            return;
        }
        auto* data = reinterpret_cast<char*>(eval(s->args[0]));
        auto* block = reinterpret_cast<Block*>(eval(s->args[1]));
        DType t = f_.arrays[static_cast<std::size_t>(s->id)].dtype;
        set_slot(s->id, launch_.find(data, size_of(t)), block);
    }

    View view_argument(std::int32_t id) {
        const Array& a = f_.arrays[static_cast<std::size_t>(id)];
        if (!a.is_view()) return views_[static_cast<std::size_t>(id)];
        View v = views_[static_cast<std::size_t>(a.base)];
        v.data += integer(a.offset) * v.element;
        v.shape.clear();
        v.strides.clear();
        for (E e : a.extents) v.shape.push_back(integer(e));
        for (E e : a.view_strides) v.strides.push_back(integer(e));
        v.measure();
        return v;
    }

    std::string array_name(std::int32_t id) const {
        return f_.arrays[static_cast<std::size_t>(id)].name;
    }

    std::string place_of(std::span<const E> indices) {
        std::string text;
        for (E i : indices) text += (text.empty() ? "[" : ", ") + std::to_string(integer(i));
        return text + "]";
    }

    char* address(const View& v, std::int32_t id, std::span<const E> indices, Access access,
                  Line line) {
        std::int64_t linear = 0;
        bool inside = true;
        if (access == Access::Linear) {
            linear = integer(indices[0]);
            inside = linear >= v.low && linear <= v.high;
        } else {
            for (std::size_t k = 0; k < indices.size(); ++k) {
                std::int64_t i = integer(indices[k]);
                inside = inside && i >= 0 && i < v.shape[k];
                linear += i * v.strides[k];
            }
            inside = inside && v.high >= v.low;
        }
        if (!inside) {
            broken("index " + place_of(indices) + " of array " + array_name(id) +
                       " is out of range; got shape " + shape_text(v),
                   line);
        }
        return v.data + linear * v.element;
    }

    static std::string shape_text(const View& v) {
        std::string text;
        for (std::int64_t n : v.shape) text += (text.empty() ? "(" : ", ") + std::to_string(n);
        return (text.empty() ? "(" : text) + (v.shape.size() == 1 ? ",)" : ")");
    }

    void touch(const View& v, const char* at, Use use, std::int32_t id, Line line) {
        if (!v.shadow) return;  // an object's memory
        if (launch_.locks > 0) use = use == Use::Read ? Use::Locked : Use::Atomic;
        Conflict c = v.shadow->access(at, v.element, use, launch_.place);
        if (!c.a) return;
        fail(ErrorKind::Value,
             "interp: iterations " + std::to_string(c.a->iteration) + " and " +
                 std::to_string(c.b->iteration) + " of the loop at line " +
                 std::to_string(c.a->line.line) + " touch the same element of array " +
                 array_name(id) + " and one of them writes it" +
                 where(line.line > 0 ? line : line_) +
                 "; expected independent iterations; use a serial loop or a reduction");
    }

    void store(S s) {
        std::uint64_t value = eval(s->args.back());
        const View& v = views_[static_cast<std::size_t>(s->id)];
        char* at = address(v, s->id, s->args.first(s->args.size() - 1), s->access, s->line);
        touch(v, at, Use::Write, s->id, s->line);
        store_bits(part_of(v, s->id, at, s->axis), size_of(s->args.back()->dtype), value);
    }

    void atomic(S s) {
        const std::size_t count = index_count(*s);
        const std::uint64_t value = eval(s->args.back()), expected = eval(s->args[count]);
        const View& v = views_[static_cast<std::size_t>(s->id)];
        char* at = address(v, s->id, s->args.first(count), s->access, s->line);
        touch(v, at, Use::Atomic, s->id, s->line);
        const std::uint64_t seen = load_bits(at, v.element);
        store_bits(at, v.element, combined(s, seen, expected, value));
        for (std::int32_t var : s->outs) vars_[static_cast<std::size_t>(var)] = {seen, true};
    }

    static std::uint64_t combined(S s, std::uint64_t seen, std::uint64_t expected,
                                  std::uint64_t value) {
        switch (atomic_form(*s)) {
            case AtomicForm::Combine: break;
            case AtomicForm::Exchange: return value;
            case AtomicForm::Compare: return seen == expected ? value : seen;
            case AtomicForm::CountUp: return seen >= value ? 0 : seen + 1;
            case AtomicForm::CountDown: return seen == 0 || seen > value ? value : seen - 1;
        }
        return scalar_function(s->op, s->args.back()->dtype)(seen, value);
    }

    void allocate(S s) {
        const Array& a = f_.arrays[static_cast<std::size_t>(s->id)];
        View v;
        v.element = size_of(a.dtype);
        v.strides.resize(s->args.size());
        std::int64_t count = 1;
        for (E e : s->args) v.shape.push_back(integer(e));
        for (std::size_t k = v.shape.size(); k-- > 0;) {
            if (v.shape[k] < 0) broken("array " + a.name + " has a negative extent", s->line);
            v.strides[k] = count;
            count *= v.shape[k];
        }
        v.measure();
        v.must_be_written = true;
        auto memory = std::make_unique<Allocation>();
        memory->bytes.resize(static_cast<std::size_t>(count * v.element));
        v.data = memory->bytes.data();
        memory->shadow = std::make_unique<Shadow>(v.data, count * v.element, v.element);
        v.shadow = memory->shadow.get();
        allocations_.resize(f_.arrays.size());
        allocations_[static_cast<std::size_t>(s->id)] = std::move(memory);
        views_[static_cast<std::size_t>(s->id)] = std::move(v);
    }

    // ---- Statements

    Flow exec(std::span<const S> list) {
        for (S s : list) {
            Flow flow = exec(s);
            if (flow != Flow::Next) return flow;
        }
        return Flow::Next;
    }

    Flow exec(S s) {
        if (s->line.line > 0) line_ = s->line;
        switch (s->kind) {
            case StmtKind::Block: return exec(s->body);
            case StmtKind::Declare:
                if (s->args.empty()) {
                    vars_[static_cast<std::size_t>(s->id)].defined = false;
                    return Flow::Next;
                }
                [[fallthrough]];
            case StmtKind::Assign:
                vars_[static_cast<std::size_t>(s->id)] = {eval(s->args[0]), true};
                break;
            case StmtKind::Store: store(s); break;
            case StmtKind::Atomic: atomic(s); break;
            case StmtKind::Allocate: allocate(s); break;
            case StmtKind::Make: make(s); break;
            case StmtKind::Point: point(s); break;
            case StmtKind::Retain:
                if (!blocks_.empty()) retain_block(blocks_[static_cast<std::size_t>(s->id)]);
                break;
            case StmtKind::For: return loop(s);
            case StmtKind::While:
                while (eval(s->args[0]) != 0) {
                    Flow flow = exec(s->body);
                    if (flow == Flow::Break) break;
                    if (flow == Flow::Return) return flow;
                }
                break;
            case StmtKind::If: return exec(eval(s->args[0]) != 0 ? s->body : s->orelse);
            case StmtKind::Break: return Flow::Break;
            case StmtKind::Continue: return Flow::Continue;
            case StmtKind::Return: return leave(s);
            case StmtKind::Prefetch: break;
            case StmtKind::Barrier:
                if (!is_fence(s)) broken("a barrier is left after lowering", s->line);
                std::atomic_thread_fence(std::memory_order_seq_cst);
                break;
            case StmtKind::Call: return call(s);
            case StmtKind::Native: native(s); break;
            case StmtKind::Try: return attempt(s);
        }
        return Flow::Next;
    }

    Flow loop(S s) {
        std::int64_t begin = integer(s->args[0]);
        std::int64_t end = integer(s->args[1]);
        std::int64_t step = integer(s->args[2]);
        if (!s->reductions.empty()) broken("a declared reduction is left after lowering", s->line);
        bool independent = s->loop != LoopKind::Serial && s->loop != LoopKind::Unroll;
        const Place* outer = launch_.place;
        std::int64_t run = ++launch_.runs;
        Flow flow = Flow::Next;
        Local& var = vars_[static_cast<std::size_t>(s->id)];
        std::int64_t iteration = 0;
        for (std::int64_t i = begin; step > 0 ? i < end : step < 0 && i > end;) {
            var = {static_cast<std::uint64_t>(i), true};
            if (independent) {
                launch_.places.push_back({outer, run, i, outer ? outer->depth + 1 : 0, s->line});
                launch_.place = &launch_.places.back();
            }
            flow = exec(s->body);
            bool has_number = s->numbers || (independent && !outer && !launch_.is_numbered);
            if (flow == Flow::Return && has_number) {
                launch_.fault.iteration = s->numbers ? i : iteration;
                launch_.is_numbered = s->numbers;
            }
            if (flow == Flow::Break || flow == Flow::Return) break;
            ++iteration;
            if (__builtin_add_overflow(i, step, &i)) break;
        }
        launch_.place = outer;
        var.defined = false;
        return flow == Flow::Return ? flow : Flow::Next;
    }

    Flow attempt(S s) {
        Flow flow = exec(s->body);
        Fault fault = launch_.fault;
        std::int64_t fields[7] = {-1, 0, 0, 0, 0, 0, 0};
        if (flow == Flow::Return && fault.site >= 0) {
            launch_.fault = Fault{};
            launch_.is_numbered = false;
            flow = Flow::Next;
            bool is_known = fault.site < static_cast<std::int64_t>(launch_.sites.size());
            const auto* site =
                is_known ? &launch_.sites[static_cast<std::size_t>(fault.site)] : nullptr;
            fields[0] = fault.site;
            fields[1] = site ? site->code() : -1;
            fields[2] = static_cast<std::int64_t>(
                reinterpret_cast<std::uintptr_t>(site ? site->message.c_str() : ""));
            std::copy(std::begin(fault.values), std::end(fault.values), fields + 3);
        }
        for (std::size_t k = 0; k < s->outs.size(); ++k) {
            vars_[static_cast<std::size_t>(s->outs[k])] = {static_cast<std::uint64_t>(fields[k]),
                                                           true};
        }
        return flow;
    }

    Flow leave(S s) {
        if (s->fault == raised_again) {
            launch_.fault.site = integer(s->args[0]);
            for (std::size_t k = 1; k < s->args.size(); ++k)
                launch_.fault.values[k - 1] = integer(s->args[k]);
            return Flow::Return;
        }
        if (s->fault >= 0) {
            launch_.fault.site = launch_.first_sites[static_cast<std::size_t>(number_)] + s->fault;
            for (std::size_t k = 0; k < s->args.size(); ++k)
                launch_.fault.values[k] = integer(s->args[k]);
            return Flow::Return;
        }
        results_.clear();
        for (E e : s->args) results_.push_back(eval(e));
        return Flow::Return;
    }

    void native(S s) {
        const std::string& name = f_.natives[static_cast<std::size_t>(s->id)];
        NativeFunction function = find_native(name);
        if (!function) broken("there is no native function " + name, s->line);
        std::vector<std::int64_t> values;
        for (E e : s->args) {
            values.push_back(integer(e));
            mark_written(e);
        }
        if (name == "lock_take") ++launch_.locks;
        if (name == "lock_give") --launch_.locks;
        function(values.data());
        for (std::size_t k = 0; k < s->outs.size(); ++k) {
            vars_[static_cast<std::size_t>(s->outs[k])] = {static_cast<std::uint64_t>(values[k]),
                                                           true};
        }
    }

    /// Arrays whose address a native call gets count as written: it may fill them.
    void mark_written(E e) {
        if (e->kind == ExprKind::Memory && e->axis == 0) {
            const View& v = views_[static_cast<std::size_t>(e->id)];
            if (v.shadow) v.shadow->mark_written();
        }
        for (E a : e->args) mark_written(a);
    }

    Flow call(S s) {
        if (++launch_.calls > deepest_call) {
            fail(ErrorKind::Runtime, "maximum recursion depth exceeded" + where(s->line));
        }
        Frame callee(launch_, s->id);
        std::size_t scalars = 0;
        std::size_t arrays = 0;
        const Function& g = launch_.module.functions[static_cast<std::size_t>(s->id)];
        for (std::size_t p = 0; p < g.params.size(); ++p) {
            if (g.params[p].is_array()) {
                callee.views_[static_cast<std::size_t>(g.params[p].array)] =
                    view_argument(s->arrays[arrays++]);
            } else {
                callee.params_[p] = eval(s->args[scalars++]);
            }
        }
        Flow flow = callee.run();
        --launch_.calls;
        if (launch_.fault.site >= 0) return Flow::Return;
        if (flow != Flow::Return && !s->outs.empty())
            broken(g.name + " ends without a result", s->line);
        for (std::size_t k = 0; k < s->outs.size(); ++k) {
            vars_[static_cast<std::size_t>(s->outs[k])] = {callee.results_[k], true};
        }
        return Flow::Next;
    }

    Launch& launch_;
    std::int32_t number_;
    const Function& f_;
    std::vector<Local> vars_;
    std::vector<std::uint64_t> params_;
    std::vector<View> views_;
    std::vector<std::unique_ptr<Allocation>> allocations_;
    std::vector<Block*> blocks_;  ///< of slots; empty while none is set
    std::vector<std::uint64_t> results_;
    Line line_;
};

View view_of(const Array& a, const ArrayArg& arg) {
    View v;
    v.element = size_of(a.dtype);
    v.data = reinterpret_cast<char*>(arg.memory.handle) + arg.offset;
    v.shape.assign(arg.shape.begin(), arg.shape.end());
    v.strides.assign(arg.strides.begin(), arg.strides.end());
    for (std::size_t k = 0; k < v.strides.size(); ++k) {
        std::int64_t stride = v.strides[k];
        bool fits = a.strides[k] == StrideClass::Other || v.shape[k] <= 1 ||
                    stride == (a.strides[k] == StrideClass::Zero  ? 0
                               : a.strides[k] == StrideClass::One ? 1
                                                                  : -1);
        if (!fits) {
            fail(ErrorKind::Internal, "interp: array " + a.name + " has stride " +
                                          std::to_string(stride) + " on axis " + std::to_string(k) +
                                          ", not the one it was compiled for");
        }
    }
    v.measure();
    return v;
}

}  // namespace

Fault interpret(const Module& module, std::span<const ArrayArg> arrays,
                std::span<const std::uint64_t> scalars, std::span<std::uint64_t> results) {
    Launch launch(module);
    Frame frame(launch, 0);
    const Function& f = module.entry();
    std::size_t array = 0;
    std::size_t scalar = 0;
    for (std::size_t p = 0; p < f.params.size(); ++p) {
        if (f.params[p].is_array()) {
            UNISONO_ASSERT(array < arrays.size());
            auto id = static_cast<std::size_t>(f.params[p].array);
            frame.views()[id] = view_of(f.arrays[id], arrays[array++]);
        } else {
            UNISONO_ASSERT(scalar < scalars.size());
            frame.set_param(p, scalars[scalar++]);
        }
    }
    ArgumentShadows shadows;
    shadows.attach(frame.views());
    for (const View& v : frame.views()) {
        if (v.data) launch.made[v.data + v.low * v.element] = v;
    }
    Flow flow = frame.run();
    if (launch.fault.site >= 0) return launch.fault;
    if (flow != Flow::Return && !f.results.empty()) {
        fail(ErrorKind::Internal, "interp: " + f.name + " ends without a result");
    }
    UNISONO_ASSERT(results.size() >= frame.results().size());
    std::copy(frame.results().begin(), frame.results().end(), results.begin());
    return {};
}

}  // namespace unisono::interp
