# Arrays and operators for Cython in C++ mode: `from unisono cimport cpp as un`, then un.load() once in the module.
# What each does says unisono/unisono.hpp; errors come as Python's exceptions.
from libc.stdint cimport int64_t
from libcpp cimport bool
from libcpp.string cimport string
from libcpp.vector cimport vector

from unisono cimport un_dtype, un_native

cdef extern from "unisono/python.hpp" namespace "un":
    void set_python_error()
    void load "un::import"() except +set_python_error

    cdef cppclass Device:
        Device()
        Device(const char *) except +set_python_error
        string name() except +set_python_error
        un_native native() except +set_python_error
        void synchronize() except +set_python_error

    cdef cppclass Array:
        Array()
        Array(const Array &) except +set_python_error
        vector[int64_t] shape() except +set_python_error
        int64_t shape(int axis) except +set_python_error
        int ndim() except +set_python_error
        int64_t size() except +set_python_error
        un_dtype dtype() except +set_python_error
        Device device() except +set_python_error
        double value "value<double>"() except +set_python_error
        Array copy() except +set_python_error
        Array astype(un_dtype) except +set_python_error
        Array to(const Device &) except +set_python_error
        Array reshape(const vector[int64_t] &) except +set_python_error
        Array transpose() except +set_python_error
        Array sum() except +set_python_error
        Array max() except +set_python_error
        Array min() except +set_python_error
        Array prod() except +set_python_error
        Array sum(const vector[int] &, bool keepdims) except +set_python_error
        Array max(const vector[int] &, bool keepdims) except +set_python_error
        Array min(const vector[int] &, bool keepdims) except +set_python_error
        Array call "operator()"(Index) except +set_python_error
        Array call "operator()"(Index, Index) except +set_python_error
        Array call "operator()"(Index, Index, Index) except +set_python_error
        Array operator+(const Array &) except +set_python_error
        Array operator-(const Array &) except +set_python_error
        Array operator*(const Array &) except +set_python_error
        Array operator/(const Array &) except +set_python_error
        Array operator<(const Array &) except +set_python_error
        Array operator>(const Array &) except +set_python_error
        Array operator+(double) except +set_python_error
        Array operator-(double) except +set_python_error
        Array operator*(double) except +set_python_error
        Array operator/(double) except +set_python_error
        Array operator<(double) except +set_python_error
        Array operator>(double) except +set_python_error
        Array operator-() except +set_python_error

    cdef cppclass Index:
        Index(int64_t)
    Index span "un::range"(int64_t start, int64_t stop)
    Index span "un::range"(int64_t start, int64_t stop, int64_t step)

    bool is_array(object)
    Array from_python(object) except +set_python_error
    object to_python(Array) except +set_python_error

    # target[...] = value
    void assign(const Array &target, const Array &value) except +set_python_error
    void assign(const Array &target, double value) except +set_python_error

    Array sqrt(const Array &) except +set_python_error
    Array exp(const Array &) except +set_python_error
    Array log(const Array &) except +set_python_error
    Array sin(const Array &) except +set_python_error
    Array cos(const Array &) except +set_python_error
    Array tanh(const Array &) except +set_python_error
    Array minimum(const Array &, const Array &) except +set_python_error
    Array maximum(const Array &, const Array &) except +set_python_error
    Array where(const Array &, const Array &, const Array &) except +set_python_error
    Array matmul(const Array &, const Array &) except +set_python_error
    Array zeros(const vector[int64_t] &) except +set_python_error
    Array zeros(const vector[int64_t] &, un_dtype) except +set_python_error
    Array zeros(const vector[int64_t] &, un_dtype, const Device &) except +set_python_error
