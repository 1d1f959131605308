// The element program of a group as IR: parameters, one local per node, the value of each node at a
// point.
#pragma once

#include <vector>

#include "ir/build.h"
#include "ir/clone.h"
#include "tape/plan/known_exponents.h"
#include "tape/record/element_function.h"
#include "tape/run/lower_group.h"

namespace unisono {

class GroupValues {
  public:
    /// Declares the input parameters.
    GroupValues(ir::Builder& b, const Group& group, const GroupShape& shape)
        : b_(b), group_(group), shape_(shape) {
        auto rank = static_cast<std::size_t>(shape.rank);
        for (std::size_t k = 0; k < group.inputs.size(); ++k) {
            auto first = shape.strides.begin() + static_cast<std::ptrdiff_t>(k * rank);
            inputs_.push_back(b.array_param("in" + std::to_string(k), group.inputs[k], shape.rank,
                                            false,
                                            {first, first + static_cast<std::ptrdiff_t>(rank)}));
            b.function().arrays.back().noalias = true;
        }
    }

    void add_output(std::size_t k, int rank) {
        auto at = static_cast<std::ptrdiff_t>((group_.inputs.size() + k) *
                                              static_cast<std::size_t>(shape_.rank));
        auto first = shape_.strides.begin() + at;
        outputs_.push_back(b_.array_param("out" + std::to_string(k), group_.outputs[k].dtype, rank,
                                          true, {first, first + rank}));
        b_.function().arrays.back().noalias =
            true;  // or the same index map as an input, which is as good
    }

    /// Has the input that an output updates in place read there, so that compilers which do not
    /// know of `noalias` see that the addresses are equal.
    void read_from_output(std::size_t k) {
        inputs_[static_cast<std::size_t>(group_.outputs[k].same_as_input)] = outputs_[k];
    }

    /// From here on an input's element is this one, not one of its array.
    void take(std::size_t input, ir::E element) {
        taken_.resize(inputs_.size());
        taken_[input] = element;
    }

    void add_scalars() {
        for (std::size_t k = 0; k < group_.scalars.size(); ++k) {
            scalars_.push_back(b_.scalar_param("s" + std::to_string(k), group_.scalars[k]));
        }
    }

    /// Statements that compute every node at the point; `like` is an array with the iteration
    /// shape.
    std::vector<ir::S> compute(std::span<const ir::E> point, std::int32_t like) {
        std::vector<ir::S> body;
        values_.clear();
        for (std::size_t k = 0; k < group_.nodes.size(); ++k) {
            if (group_.nodes[k].kind == Group::Kind::Function) {
                body_of_function(group_.nodes[k], body);
                continue;
            }
            ir::E e = expression(group_.nodes[k], point, like);
            if (group_.nodes[k].kind == Group::Kind::Scalar) {
                values_.push_back(e);
                continue;
            }
            std::int32_t v = b_.var("v" + std::to_string(k), e->dtype);
            body.push_back(b_.declare(v, e));
            values_.push_back(b_.read(v));
        }
        return body;
    }

    /// Puts the users' functions into the module whose first function is this one; the last step.
    void append_functions(ir::Module& module) const {
        for (const auto& f : group_.functions) ir::append(module, f->module());
    }

    ir::E value(std::size_t node) const { return values_[node]; }
    const std::vector<std::int32_t>& inputs() const { return inputs_; }
    const std::vector<std::int32_t>& outputs() const { return outputs_; }

  private:
    void body_of_function(const Group::Node& n, std::vector<ir::S>& body) {
        std::int32_t callee = 1;
        for (std::size_t k = 0; k < n.function; ++k)
            callee += static_cast<std::int32_t>(group_.functions[k]->module().functions.size());
        const std::uint16_t operands[] = {n.a, n.b, n.c};
        std::vector<ir::E> args;
        for (std::size_t k = 0; k < group_.functions[n.function]->params().size(); ++k)
            args.push_back(values_[operands[k]]);
        std::int32_t v = b_.var("v" + std::to_string(values_.size()), n.dtype);
        std::int32_t outs[] = {v};
        body.push_back(b_.declare(v, nullptr));
        body.push_back(b_.call(callee, args, {}, outs));
        values_.push_back(b_.read(v));
    }

    ir::E expression(const Group::Node& n, std::span<const ir::E> point, std::int32_t like) {
        switch (n.kind) {
            case Group::Kind::Input:
                return n.a < taken_.size() && taken_[n.a] ? taken_[n.a]
                                                          : b_.load(inputs_[n.a], point);
            case Group::Kind::Scalar:
                if (n.b != 0) return b_.constant(Scalar::of(n.dtype, exponent_of_code(n.b)));
                return b_.param(scalars_[n.a]);
            case Group::Kind::Op:
                return info(n.op).arity == 1 ? b_.unary(n.op, values_[n.a])
                                             : b_.binary(n.op, values_[n.a], values_[n.b]);
            case Group::Kind::Cast: return b_.cast(values_[n.a], n.dtype);
            case Group::Kind::Select: return b_.select(values_[n.a], values_[n.b], values_[n.c]);
            case Group::Kind::Iota:
            case Group::Kind::Function: break;
        }
        ir::E linear = point[0];
        for (int axis = 1; axis < shape_.rank; ++axis) {
            linear = b_.add(b_.mul(linear, b_.extent(like, axis)),
                            point[static_cast<std::size_t>(axis)]);
        }
        return linear;
    }

    ir::Builder& b_;
    const Group& group_;
    const GroupShape& shape_;
    std::vector<std::int32_t> inputs_, outputs_, scalars_;
    std::vector<ir::E> values_, taken_;
};

}  // namespace unisono
