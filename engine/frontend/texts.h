// Lowers texts: str values that compiled code holds by address (runtime/objects.h).
#pragma once

#include "frontend/lowerer.h"

namespace unisono::frontend {

/// One expression of texts, at a place.
class Texts {
  public:
    Texts(Emission& walk, const Place& place) : f_(walk.lowerer()), place_(place) {}

    /// The address; of a constant, which is looked up once, at the entry of the function.
    E handle(const Value& text);
    static Value of(E handle);
    static Value constant(const std::string& text);

    Value binary(const std::string& op, const Value& a, const Value& b);
    Value compare(const std::string& op, const Value& a, const Value& b);
    Value contains(const Value& part, const Value& whole);
    Value item(const Value& text, const Node& index);
    E length(const Value& text);
    /// str(v)
    Value shown(const Value& v);
    Value formatted(const Node& node);
    Value filled(const FunctionLowerer::Template& made);
    /// chr, ord, and int or float of a text.
    Value point(const Value& text);
    Value of_point(const Value& number);
    Value number(const Value& text, bool is_int);
    Value number_in_base(const Value& text, const Value& base);
    Value method(const Node& node, const Value& text);
    /// list(text)
    Value characters(const Value& text);
    /// Bytes as numbers, eight to each.
    std::vector<E> packed(const std::string& bytes);

    /// What a native function made.
    Value checked(const std::string& name, const std::vector<E>& values);
    Value checked(const std::vector<E>& found);

  private:
    using Template = FunctionLowerer::Template;
    Value slice(const Value& text, const Node& node);
    Value joined(const Value& separator, const Value& parts);
    E called(const std::string& name, const Value& text, std::span<const Value> args);
    std::vector<Value> method_arguments(const Node& node);
    Value any_method(const std::string& name, const Value& text, std::vector<Value> args);
    [[noreturn]] void refuse(const std::string& what, const std::string& way_out) {
        f_.refuse(place_, what, way_out);
    }
    E one(const std::string& name, const std::vector<E>& values) {
        return f_.native(name, values, 1)[0];
    }
    E integer(const Value& v, const std::string& role);

    FunctionLowerer& f_;
    const Place& place_;
};

}  // namespace unisono::frontend
