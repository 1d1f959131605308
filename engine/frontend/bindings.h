// What names hold: values in variables, joined where paths meet, and array expressions that wait
// for their reads.
#pragma once

#include "frontend/operators.h"

namespace unisono::frontend {

class Bindings : public Operators {
  protected:
    using Operators::Operators;

    // ---- names and blocks (bindings.cpp, declared.cpp)
    void bind(const std::string& name, const Value& value, const Place& origin);
    Value move_into(const std::string& name, const Value& value, const Type& type);
    void declare_parameters();
    void declare_late_names();
    void open_block(const Node& block);
    S nested(const Node& block, const std::set<std::string>& privates = {},
             const std::function<void()>& prologue = {});

    // ---- where paths meet (merges.cpp)
    Env loop_header(Loop& loop);
    void arrive(const std::map<std::string, Type>& guess);
    bool resolve_header(Loop& loop);
    bool resolve_exit(Loop& loop, Env normal, bool has_normal);
    [[noreturn]] void refuse_join(const std::string& name, const Binding& a, const Binding& b);
    Env merge_branches(std::vector<S>& then_list, const Env& then_env, std::vector<S>& else_list,
                       const Env& else_env);

    // ---- array expressions that wait for their reads (waiting.cpp)
    struct Spot {
        const Node* block = nullptr;
        std::size_t index = 0;  ///< of the statement that is lowered
    };
    struct Waiting {
        std::string name;
        const Node* last;  ///< statement that reads it
    };
    void forget_waiting(const Node& statement);

    Spot spot_;
    std::vector<Waiting> waiting_;
    std::vector<std::map<std::string, Type>*> protected_;  ///< names that handlers read
    Declared result_wanted_;

  private:
    Value store_value(const std::string& name, const Value& value, const Place& origin);
    bool bind_for_handlers(const std::string& name, const Value& value, const Place& origin);
    enum class Joined : std::uint8_t { Known, Wider, Never };
    Joined learn(std::map<std::string, Type>& guess, const std::string& name, const Binding& a,
                 const Binding& b);
    bool leaves_alone(const Node& s, const Value& value, const std::set<std::string>& names);
    const Node* last_read(const std::string& name, const Value& value);
    bool lets_wait(const std::string& name, const Value& value, const Place& origin);
};

}  // namespace unisono::frontend
