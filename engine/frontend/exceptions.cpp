// Lowers try, except, finally and raise.
//
// A try is an IR statement that runs to its end or notes the fault that ended it; the handlers
// stand behind it, under a test of that fault's kind, so that a body without a fault pays nothing.
// What a handler sees of a name is what a variable holds: names that the body assigns get one each,
// of one type, which every assignment in the body fills.
//
// The block of a finally is lowered twice, for the normal end and for faults. A return, break or
// continue that leaves such a body is a fault of its own, which no except catches; behind the block
// it goes on as what it was.
#include "frontend/exceptions.h"

#include <algorithm>
#include <deque>
#include <sstream>

#include "frontend/control_flow.h"
#include "frontend/tables.h"

namespace unisono::frontend {

namespace {

struct ExceptionClass {
    std::string name;
    std::vector<std::string> bases;
    ErrorKind kind = ErrorKind::Internal;  ///< Internal: known by its place in the table
    const void* python = nullptr;          ///< of the program
    ExceptionClass(const char* n, const char* base, ErrorKind k = ErrorKind::Internal)
        : name(n), bases{base}, kind(k) {}
    ExceptionClass(std::string n, std::vector<std::string> b, const void* p)
        : name(std::move(n)), bases(std::move(b)), python(p) {}
};

const ExceptionClass built_in[] = {
    {"BaseException", ""},
    {"Exception", "BaseException"},
    {"ArithmeticError", "Exception"},
    {"ZeroDivisionError", "ArithmeticError", ErrorKind::ZeroDivision},
    {"OverflowError", "ArithmeticError", ErrorKind::Overflow},
    {"FloatingPointError", "ArithmeticError"},
    {"LookupError", "Exception"},
    {"IndexError", "LookupError", ErrorKind::Index},
    {"KeyError", "LookupError"},
    {"ValueError", "Exception", ErrorKind::Value},
    {"TypeError", "Exception", ErrorKind::Type},
    {"AssertionError", "Exception", ErrorKind::Assertion},
    {"RuntimeError", "Exception", ErrorKind::Runtime},
    {"NotImplementedError", "RuntimeError"},
    {"RecursionError", "RuntimeError"},
    {"MemoryError", "Exception", ErrorKind::Memory},
    {"StopIteration", "Exception"},
    {"AttributeError", "Exception"},
    {"NameError", "Exception"},
    {"OSError", "Exception"},
    {"EOFError", "Exception"},
    {"ImportError", "Exception"},
    {"ModuleNotFoundError", "ImportError"},
    {"BufferError", "Exception"},
    {"ReferenceError", "Exception"},
    {"SyntaxError", "Exception"},
    {"IndentationError", "SyntaxError"},
    {"TabError", "IndentationError"},
    {"SystemError", "Exception"},
    {"UnboundLocalError", "NameError"},
    {"UnicodeError", "ValueError"},
    {"StopAsyncIteration", "Exception"},
    {"BlockingIOError", "OSError"},
    {"ChildProcessError", "OSError"},
    {"ConnectionError", "OSError"},
    {"BrokenPipeError", "ConnectionError"},
    {"FileExistsError", "OSError"},
    {"FileNotFoundError", "OSError"},
    {"InterruptedError", "OSError"},
    {"IsADirectoryError", "OSError"},
    {"NotADirectoryError", "OSError"},
    {"PermissionError", "OSError"},
    {"ProcessLookupError", "OSError"},
    {"TimeoutError", "OSError"},
    {"Warning", "Exception"},
    {"BytesWarning", "Warning"},
    {"DeprecationWarning", "Warning"},
    {"FutureWarning", "Warning"},
    {"ImportWarning", "Warning"},
    {"PendingDeprecationWarning", "Warning"},
    {"ResourceWarning", "Warning"},
    {"RuntimeWarning", "Warning"},
    {"SyntaxWarning", "Warning"},
    {"UnicodeWarning", "Warning"},
    {"UserWarning", "Warning"},
    {"LinAlgError", "ValueError"},  // NumPy's
};

/// Places do not change; Python's lock is held wherever it is read or grows.
std::deque<ExceptionClass>& classes() {
    static auto* all = new std::deque<ExceptionClass>(std::begin(built_in), std::end(built_in));
    return *all;
}

const ExceptionClass* find_class(const std::string& name) {
    auto found = std::find_if(classes().begin(), classes().end(),
                              [&](const ExceptionClass& c) { return name == c.name; });
    return found == classes().end() ? nullptr : &*found;
}

std::int32_t number_of(const ExceptionClass& c) {
    if (c.kind != ErrorKind::Internal) return 0;
    auto found = std::find_if(classes().begin(), classes().end(),
                              [&](const ExceptionClass& k) { return &k == &c; });
    return static_cast<std::int32_t>(found - classes().begin());
}

std::int64_t code_of(const ExceptionClass& c) {
    ir::FaultSite site{c.kind, {}, {}, number_of(c)};
    return site.code();
}

bool is_subclass(const ExceptionClass* c, const std::string& base) {
    if (!c) return false;
    return base == c->name ||
           std::any_of(c->bases.begin(), c->bases.end(),
                       [&](const std::string& b) { return is_subclass(find_class(b), base); });
}

/// Ways out of the body of a finally, as sites that no function has.
constexpr std::int64_t leave_by_return = std::int64_t{1} << 41;
constexpr std::int64_t leave_by_break = leave_by_return + 1;
constexpr std::int64_t leave_by_continue = leave_by_return + 2;

/// Pushes for as long as it lives, whatever is thrown.
template <class T>
class Pushed {
  public:
    Pushed(std::vector<T>& list, T item) : list_(list), size_(list.size()) { list.push_back(item); }
    ~Pushed() { list_.resize(size_); }
    Pushed(const Pushed&) = delete;
    Pushed& operator=(const Pushed&) = delete;

  private:
    std::vector<T>& list_;
    std::size_t size_;
};

}  // namespace

std::string exception_name(std::int64_t code) {
    for (const ExceptionClass& c : classes()) {
        if (code_of(c) == code) return c.name;
    }
    return "";
}

std::string add_exception(const std::string& name, const std::vector<std::string>& bases,
                          const void* python) {
    for (const ExceptionClass& c : classes()) {
        if (c.python == python) return c.name;
    }
    std::string own = name + "#" + std::to_string(classes().size());
    classes().emplace_back(own, bases, python);
    return own;
}

const void* exception_python(std::int64_t code) {
    for (const ExceptionClass& c : classes()) {
        if (c.python && code_of(c) == code) return c.python;
    }
    return nullptr;
}

/// Of the arguments that a raise tells by its text: t i f b.
static std::string argument_letters(const std::string& message, std::size_t count) {
    if (count == 0) return "";
    if (message.empty() || message[0] != '\2')
        return message == "{0}" ? "i" : message == "{0f}" ? "f" : message == "{0b}" ? "b" : "t";
    std::string letters;
    if (message.find('(', 2) != std::string::npos) return "?";  // a tuple is among them
    for (char c : message.substr(1)) {
        bool is_other = !letters.empty() && letters.back() == 'N';  // of NumPy: a dtype follows
        if (is_other) letters.back() = '?';
        if (!is_other && c != '(' && c != ')') letters += c;
    }
    return letters;
}

std::int32_t exception_number(const std::string& name) { return number_of(*find_class(name)); }

// ---- names

/// The environment where the body may have stopped anywhere.
Env ControlFlow::at_fault(const Node& body, const Env& entry) {
    Env env = entry;
    auto unsure = [&](const std::string& name) {
        bool is_new = !env.names.contains(name);
        Binding& b = env.names[name];
        if (is_new) b.origin = body.place;
        if (is_new || b.state == Binding::State::Defined) b.state = Binding::State::Maybe;
    };
    const auto& guess = learnt_.guesses[&body];
    for (const std::string& name : assigned_names(body)) {
        if (!guess.count(name)) unsure(name);
    }
    walk(body, [&](const Node& n) {
        if (n.kind == NodeKind::Delete) {
            for (const Node& name : n.children)
                if (name.kind == NodeKind::Name) unsure(name.text);
        }
        // The target of a loop has a variable only where somebody reads it behind the loop.
        bool counts = n.kind == NodeKind::For && n.children[0].kind == NodeKind::Name;
        if (!counts) return;
        const Node& called = n.children[1].children.empty() ? n : n.children[1].children[0];
        bool is_range = called.kind == NodeKind::Builtin && called.text == "range";
        const std::string& name = n.children[0].text;
        auto held = entry.names.find(name);
        bool was_int = held != entry.names.end() && held->second.state == Binding::State::Defined &&
                       held->second.value.type == Type::python(Weak::Int);
        if (!is_range || !was_int || !guess.count(name)) return unsure(name);
        if (learnt_.targets_read_after.count(&n)) return;
        Binding& b = env.names[name];
        if (b.state != Binding::State::Defined) return;
        b.state = Binding::State::LoopLast;
        b.loop = &n;
    });
    return env;
}

ControlFlow::Caught ControlFlow::guarded(const Node& body, Env& fault, Env& after) {
    auto& guess = learnt_.guesses[&body];
    for (const std::string& name : assigned_names(body)) {
        auto it = env_.names.find(name);
        if (it == env_.names.end() || it->second.state != Binding::State::Defined) continue;
        const Type& type = it->second.value.type;
        auto known = guess.find(name);
        auto joined = known == guess.end() ? std::optional(type) : join(known->second, type);
        if (!joined) refuse_join(name, it->second, it->second);
        guess[name] = *joined;
    }
    arrive(guess);
    Env entry = env_;
    Caught c;
    for (const char* name : {"site", "kind", "text", "value", "value", "value", "value"}) {
        c.vars.push_back(b_->var(name, DType::Int64));
        emit(b_->declare(c.vars.back(), i64(0)));
    }
    S inside = nullptr;
    {
        Pushed here(protected_, &guess);
        inside = nested(body);
    }
    after = std::exchange(env_, entry);
    at(body.place);
    emit(b_->attempt(inside, c.vars));
    fault = at_fault(body, entry);
    return c;
}

void ControlFlow::raise_again(const Caught& c) {
    std::vector<E> values{b_->read(c.vars[0])};
    for (std::size_t k = 3; k < c.vars.size(); ++k) values.push_back(b_->read(c.vars[k]));
    emit(b_->again(values));
    env_.reachable = false;
}

/// One branch for a fault, one for none, and what is known behind both.
void ControlFlow::after_attempt(const Caught& c, const Env& fault,
                                const std::function<void()>& failed, const Env& after,
                                const std::function<void()>& ended) {
    env_ = after;
    std::vector<S> no;
    if (env_.reachable) no = collect(ended);
    Env after_no = std::exchange(env_, fault);
    env_.reachable = true;
    std::vector<S> yes = collect(failed);
    Env after_yes = env_;
    env_ = merge_branches(yes, after_yes, no, after_no);
    emit(b_->branch(op_binary(Op::Ge, b_->read(c.vars[0]), i64(0)), b_->block(yes),
                    no.empty() ? nullptr : b_->block(no)));
}

// ---- statements

/// Whether the fault of that code is of one of the classes.
E Calls::is_of_class(E code, const std::string& names) {
    E any = names.empty() ? op_binary(Op::Ge, code, i64(0)) : b_->boolean(false);
    std::istringstream list(names);
    for (std::string name; list >> name;) {
        if (name == "Exception" || name == "BaseException") return op_binary(Op::Ge, code, i64(0));
        for (const ExceptionClass& k : classes()) {
            if (is_subclass(&k, name))
                any = op_binary(Op::Or, any, op_binary(Op::Eq, code, i64(code_of(k))));
        }
    }
    return any;
}

/// What the raises in the body of a try give to the exceptions that a handler of these classes
/// takes: a letter (t i f b) for each argument, "t" where none is in sight, "?" where they differ.
std::string ControlFlow::arguments_caught(const Node& body, const std::string& names) const {
    std::string found;
    bool is_known = false;
    walk(body, [&](const Node& n) {
        auto told = n.kind == NodeKind::Raise ? raised_.find(&n) : raised_.end();
        if (told == raised_.end()) return;
        std::istringstream list(names);
        bool fits = names.empty();
        for (std::string name; list >> name;) fits = fits || is_subclass(find_class(n.text), name);
        if (!fits) return;
        found = !is_known || found == told->second ? told->second : "?";
        is_known = true;
    });
    return is_known ? found : "t";
}

/// Tries the handlers from number i on; what none takes goes on as it came.
void ControlFlow::handle(const Node& node, std::size_t i, const Caught& c) {
    if (i == node.children.size()) return raise_again(c);
    const Node& handler = node.children[i];
    at(handler.place);
    E test = is_of_class(b_->read(c.vars[1]), handler.note);
    Env before = env_;
    S yes = nullptr;
    {
        Pushed here(handled_, &c);
        yes = nested(handler.children[0], {}, [&] {
            if (handler.text.empty()) return;
            Value e;
            e.type.kind = Type::Kind::Exception;
            for (std::int32_t var : c.vars) e.items.push_back(scalar(b_->read(var), Weak::Int));
            e.text = arguments_caught(node.children[0], handler.note);
            env_.names[handler.text] = Binding{e, handler.place};
            note_assigned(handler.text, e.type);
        });
    }
    if (!handler.text.empty()) env_.names.erase(handler.text);
    Env after_yes = std::exchange(env_, before);
    std::vector<S> no = collect([&] { handle(node, i + 1, c); });
    Env after_no = env_;
    std::vector<S> list(yes->body.begin(), yes->body.end());
    env_ = merge_branches(list, after_yes, no, after_no);
    emit(b_->branch(test, b_->block(list), b_->block(no)));
}

void ControlFlow::lower_try(const Node& node) {
    if (source_.is_kernel)
        refuse(node.place, "a kernel cannot catch exceptions", "test before what may fail");
    Env fault, after;
    if (node.kind == NodeKind::Try) {
        Caught c = guarded(node.children[0], fault, after);
        return after_attempt(
            c, fault, [&] { handle(node, 2, c); }, after, [&] { emit(nested(node.children[1])); });
    }
    const Node& last = node.children[1];
    Final f;
    f.loops = loops_.size();
    Caught c;
    {
        Pushed here(finals_, &f);
        c = guarded(node.children[0], fault, after);
    }
    auto leave_if = [&](bool occurs, std::int64_t site, const std::function<void()>& leave) {
        if (!occurs) return;
        Env here = env_;
        std::vector<S> made = collect(leave);
        env_ = here;
        emit(b_->branch(op_binary(Op::Eq, b_->read(c.vars[0]), i64(site)), b_->block(made)));
    };
    after_attempt(
        c, fault,
        [&] {
            emit(nested(last));
            if (!env_.reachable) return;
            leave_if(f.returns, leave_by_return, [&] { leave_function(f.result, node.place); });
            leave_if(f.breaks, leave_by_break, [&] { leave_loop(node); });
            leave_if(f.continues, leave_by_continue, [&] { next_iteration(node); });
            raise_again(c);
        },
        after, [&] { emit(nested(last)); });
}

/// The finally that a way out of `loop_depth` loops leads through first, or null.
ControlFlow::Final* ControlFlow::final_before(std::size_t loop_depth) {
    return finals_.empty() || finals_.back()->loops < loop_depth ? nullptr : finals_.back();
}

void ControlFlow::leave_by(std::int64_t site) {
    std::vector<E> values{i64(site), i64(0), i64(0), i64(0), i64(0)};
    emit(b_->again(values));
    env_.reachable = false;
}

/// Leaves the innermost loop, by way of a finally inside of it.
bool ControlFlow::leaves_by_final(bool is_break) {
    Final* f = final_before(loops_.size());
    if (!f) return false;
    (is_break ? f->breaks : f->continues) = true;
    leave_by(is_break ? leave_by_break : leave_by_continue);
    return true;
}

/// Returns the value, whose type is the function's, by way of the finally blocks around.
bool ControlFlow::returns_by_final(const Value& value) {
    Final* f = final_before(0);
    if (!f) return false;
    f->returns = true;
    f->result = move_into("__return", value, value.type);
    leave_by(leave_by_return);
    return true;
}

// ---- raise

void ControlFlow::raise(const Node& node) {
    if (node.text.empty()) {
        if (!node.children.empty()) {
            Value e = expression(node.children[0]);
            if (e.type.kind != Type::Kind::Exception)
                refuse(node.place, "raise takes an exception; got " + describe(e.type),
                       "write raise ValueError(\"text\")");
            std::vector<E> values{e.items[0].expr};
            for (std::size_t k = 3; k < e.items.size(); ++k) values.push_back(e.items[k].expr);
            emit(b_->again(values));
        } else if (handled_.empty()) {
            refuse(node.place, "raise without an exception stands in an except only",
                   "write raise ValueError(\"text\")");
        } else {
            raise_again(*handled_.back());
        }
        env_.reachable = false;
        return;
    }
    const ExceptionClass* known = find_class(node.text);
    if (!known) {
        refuse(node.place, "raising '" + node.text + "' is not supported in a compiled function",
               "raise a built-in exception, such as ValueError, KeyError or RuntimeError, or a "
               "class derived from one");
    }
    std::string message;
    std::vector<E> values;
    const bool is_tuple = node.children.size() == 1 && node.children[0].kind == NodeKind::Tuple;
    if (node.children.size() > 1 || is_tuple)
        std::tie(message, values) = Tables(*this, node.place).exception_arguments(node);
    else if (!node.children.empty())
        std::tie(message, values) = message_of(node.children[0], "an exception");
    raised_[&node] = argument_letters(message, node.children.size());
    at(node.place);
    emit(b_->raise(b_->site(known->kind == ErrorKind::Internal ? ErrorKind::Runtime : known->kind,
                            message, number_of(*known)),
                   values));
    env_.reachable = false;
}

}  // namespace unisono::frontend
