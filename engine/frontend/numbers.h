// Arithmetic of scalars as Python and NumPy define it, complex numbers included.
#pragma once

#include "frontend/arrays.h"

namespace unisono::frontend {

class Numbers : public Arrays {
  protected:
    using Arrays::Arrays;

    // ---- numbers (operators.cpp, number_functions.cpp)
    Value divide(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value power(const Value& a, const Value& b, const Place& place);
    Value bitwise(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value absolute(const Value& a, const Place& place);
    Value to_python_int(const Value& a, const Place& place, std::optional<Op> rounding);
    Value python_math(Op op, const std::string& name, const std::vector<Value>& args,
                      const Place& place);

    // ---- complex numbers (complex.cpp)
    std::pair<E, E> parts_of(E e);
    E part_of(const Value& v, int part);
    Value array_part(const Value& array, int part, const Place& place);
    Value squared_size(const Value& v, const Place& place);
    Value complex_unary(const std::string& op, const Value& a, const Place& place);
    Value complex_binary(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value complex_compare(const std::string& op, const Value& a, const Value& b,
                          const Place& place);
    Value complex_power(const Value& a, const Value& b, const Type& type, const Place& place);
    Value complex_absolute(const Value& a, const Place& place);
    Value complex_call(const std::vector<Value>& args, const Place& place);
    std::optional<Value> complex_function(const std::string& name, const Value& v,
                                          const Place& place);
    Value cmath_function(const std::string& name, const std::vector<Value>& args,
                         const Place& place);
    void look_as(Descriptor& d, std::int64_t bytes, DType to, std::int64_t first = 0,
                 const char* name = "seen");

  private:
    E power_of_sign(E sign, E n);
    Value power_of_integers(E x, E n, Weak weak, const Place& place);
    Value power_of_floats(E x, E y, Weak weak, const Place& place);
    Value complex_quotient(E a, E b, const char* by_zero, const Place& place);
    E whole_power(E base, E count, bool counts_down);
    E polar_power(E x, E y, bool is_weak, const Place& place);
    Value part_view(const Value& array, int part, const Place& place);
};

}  // namespace unisono::frontend
