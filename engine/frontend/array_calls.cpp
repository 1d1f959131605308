// The table of array functions that compiled code knows, by the names that NumPy and the array
// share, and how their arguments are matched with parameters.
//
// A new function is a row here and a rule, a member of Selections or ArrayFunctions. What decides
// the type of a result (axes, flags, dtypes) must be constant.
#include <algorithm>
#include <sstream>

#include "frontend/calls.h"
#include "frontend/lazy.h"
#include "frontend/tables.h"

namespace unisono::frontend {

const std::map<std::string, Calls::ArrayFunction>& Calls::array_functions() {
    using F = Calls;
    static const char* const reduction = "a axis? dtype? out? keepdims? initial?";
    static const char* const order = "a axis? out? keepdims? initial?";
    static const std::map<std::string, ArrayFunction> table = {
        // new arrays
        {"zeros", {"shape dtype?", &F::call_filled, false}},
        {"ones", {"shape dtype?", &F::call_filled, false}},
        {"empty", {"shape dtype?", &F::call_filled, false}},
        {"ndarray", {"shape dtype?", &F::call_filled, false}},
        {"full", {"shape fill_value dtype?", &F::call_filled, false}},
        {"zeros_like", {"a dtype?", &F::call_filled, false}},
        {"ones_like", {"a dtype?", &F::call_filled, false}},
        {"empty_like", {"a dtype?", &F::call_filled, false}},
        {"full_like", {"a fill_value dtype?", &F::call_filled, false}},
        {"arange", {"start stop? step? dtype?", &F::call_arange, false}},
        {"linspace", {"start stop num? endpoint? dtype?", &F::call_linspace, false}},
        {"eye", {"N M? k? dtype?", &F::call_eye, false}},
        {"identity", {"N dtype?", &F::call_eye, false}},
        {"triu", {"m k?", &F::call_triangle, false}},
        {"tril", {"m k?", &F::call_triangle, false}},
        {"diag", {"v k?", &F::call_diag, false, true}},
        {"diagonal", {"v k?", &F::call_diag, true, true}},
        {"copy", {"a", &F::call_copy, true}},
        {"asarray", {"a dtype?", &F::call_asarray, false, true}},
        {"ascontiguousarray", {"a dtype?", &F::call_asarray, false, true}},
        {"array", {"a dtype?", &F::call_asarray, false}},
        {"astype", {"a dtype", &F::call_astype, true}},
        {"view", {"a dtype", &F::call_view, true, true}},
        {"carray", {"ptr shape dtype?", &F::call_pointed, false}},
        {"farray", {"ptr shape dtype?", &F::call_pointed, false}},
        {"fill", {"a value", &F::call_fill, true}},
        // elementwise
        {"where", {"condition x? y?", &F::call_where, false}},
        {"clip", {"a min? max?", &F::call_clip, true}},
        // reductions and scans
        {"sum", {reduction, &F::call_reduce, true}},
        {"prod", {reduction, &F::call_reduce, true}},
        {"max", {order, &F::call_reduce, true}},
        {"min", {order, &F::call_reduce, true}},
        {"amax", {order, &F::call_reduce, false}},
        {"amin", {order, &F::call_reduce, false}},
        {"any", {order, &F::call_reduce, true}},
        {"all", {order, &F::call_reduce, true}},
        {"count_nonzero", {"a axis? keepdims?", &F::call_reduce, false}},
        {"mean", {"a axis? dtype? out? keepdims?", &F::call_mean, true}},
        {"var", {"a axis? dtype? out? ddof? keepdims?", &F::call_variance, true}},
        {"std", {"a axis? dtype? out? ddof? keepdims?", &F::call_variance, true}},
        {"argmax", {"a axis?", &F::call_arg_extreme, true}},
        {"argmin", {"a axis?", &F::call_arg_extreme, true}},
        {"cumsum", {"a axis? dtype?", &F::call_running, true}},
        {"cumprod", {"a axis? dtype?", &F::call_running, true}},
        {"ptp", {"a axis? out? keepdims?", &F::call_spread, false}},
        {"norm", {"x ord? axis? keepdims?", &F::call_norm, false}},
        {"trace", {"a", &F::call_trace, true}},
        // products, decompositions, whole-array algorithms
        {"matmul", {"a b", &F::call_product, false}},
        {"dot", {"a b", &F::call_product, true}},
        {"vdot", {"a b", &F::call_product, false}},
        {"inner", {"a b", &F::call_product, false}},
        {"outer", {"a b", &F::call_outer, false}},
        {"cholesky", {"a", &F::call_factor, false}},
        {"inv", {"a", &F::call_factor, false}},
        {"solve", {"a b", &F::call_factor, false}},
        {"det", {"a", &F::call_factor, false}},
        {"cov", {"m y? rowvar? bias? ddof?", &F::call_cov, false}},
        {"histogram", {"a bins? range? weights?", &F::call_histogram, false}},
        {"sort", {"a axis?", &F::call_sort, true}},
        {"argsort", {"a axis?", &F::call_sort, true}},
        // other shapes
        {"reshape", {"a *shape", &F::call_reshape, true, true}},
        {"ravel", {"a", &F::call_ravel, true, true}},
        {"flatten", {"a", &F::call_ravel, true}},
        {"transpose", {"a *axes?", &F::call_transpose, true, true}},
        {"permute_dims", {"a *axes", &F::call_transpose, false, true}},
        {"swapaxes", {"a axis1 axis2", &F::call_swap, true, true}},
        {"moveaxis", {"a axis1 axis2", &F::call_swap, false, true}},
        {"flip", {"m axis?", &F::call_flip, false, true}},
        {"fliplr", {"m", &F::call_flip, false, true}},
        {"flipud", {"m", &F::call_flip, false, true}},
        {"expand_dims", {"a axis", &F::call_expand, false, true}},
        {"squeeze", {"a axis?", &F::call_squeeze, true, true}},
        {"broadcast_to", {"a shape", &F::call_broadcast, false, true}},
        {"sliding_window_view", {"x window_shape axis?", &F::call_windows, false, true}},
        {"as_strided", {"x shape? strides?", &F::call_strided, false, true}},
        {"concatenate", {"arrays axis?", &F::call_join, false}},
        {"concat", {"arrays axis?", &F::call_join, false}},
        {"stack", {"arrays axis?", &F::call_join, false}},
        {"hstack", {"arrays", &F::call_join, false}},
        {"vstack", {"arrays", &F::call_join, false}},
        {"column_stack", {"arrays", &F::call_join, false}},
        {"repeat", {"a repeats axis?", &F::call_repeat, true}},
        {"roll", {"a shift axis?", &F::call_roll, false}},
        {"shape", {"a", &F::call_shape, false}},
        {"size", {"a", &F::call_shape, false}},
        {"ndim", {"a", &F::call_shape, false}},
        // index arrays
        {"nonzero", {"a", &F::call_nonzero, true}},
        {"flatnonzero", {"a", &F::call_nonzero, false}},
        {"take", {"a indices axis?", &F::call_take, true}},
    };
    return table;
}

bool Calls::is_array_function(const std::string& name) const {
    return name.find('.') != std::string::npos && array_functions().count(after_dot(name)) > 0;
}

namespace {

struct Parameter {
    std::string name;
    bool is_optional = false;
    bool is_rest = false;  ///< takes all further positional arguments, one or several, as a tuple
};

std::vector<Parameter> parameters_of(const char* text) {
    std::vector<Parameter> list;
    std::istringstream in(text);
    for (std::string word; in >> word;) {
        Parameter p;
        p.is_rest = word[0] == '*';
        p.is_optional = word.back() == '?';
        p.name = word.substr(p.is_rest, word.size() - p.is_rest - p.is_optional);
        list.push_back(p);
    }
    return list;
}

std::string names_of(const std::vector<Parameter>& list) {
    std::string all;
    for (const Parameter& p : list) all += (all.empty() ? "" : ", ") + p.name;
    return all;
}

}  // namespace

/// A call of a function of the table, or of its form as a method of `object`; nothing where the
/// name is none of these.
std::optional<Value> Calls::array_function(const Node& node, const std::string& name,
                                           const Value* object) {
    std::string base = after_dot(name);
    bool is_bare = name.find('.') == std::string::npos;
    auto found = is_bare && !object ? array_functions().end() : array_functions().find(base);
    if (found == array_functions().end()) return std::nullopt;
    if (object && !found->second.is_method) return std::nullopt;
    bool takes_numbers = base == "where" || base == "clip";
    if (source_.is_kernel && !takes_numbers) {
        refuse(node.place, name + " makes or combines arrays, which kernels cannot do",
               "compute with elements, or pass the result as an argument");
    }
    std::vector<Parameter> list = parameters_of(found->second.parameters);
    std::vector<std::vector<const Node*>> slots(list.size());
    std::vector<const Node*> in_order;
    std::size_t next = object ? 1 : 0;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
        const Node& arg = node.children[i];
        bool is_named = arg.kind == NodeKind::Keyword;
        std::size_t slot = next;
        if (is_named) {
            slot = static_cast<std::size_t>(
                std::find_if(list.begin(), list.end(),
                             [&](const Parameter& p) { return p.name == arg.text; }) -
                list.begin());
        } else if (slot < list.size() && !list[slot].is_rest) {
            ++next;
        }
        bool is_taken = slot < list.size() && !slots[slot].empty() && !list[slot].is_rest;
        if (slot >= list.size() || is_taken) {
            refuse(arg.place,
                   is_named ? name + " takes no keyword '" + arg.text + "' in a compiled function"
                            : name + " takes fewer arguments",
                   "its arguments there are " + names_of(list) + ", as in NumPy");
        }
        slots[slot].push_back(is_named ? &arg.children[0] : &arg);
        in_order.push_back(slots[slot].back());
    }
    for (std::size_t i = object ? 1 : 0; i < list.size(); ++i) {
        if (slots[i].empty() && !list[i].is_optional)
            refuse(node.place, name + " needs its argument '" + list[i].name + "'", "pass it");
    }
    std::vector<Value> values = operands(in_order);
    // Lists: NumPy copies their items, so a view of the array does not change, nor end, with the
    // list.
    for (Value& v : values) {
        bool is_fresh = Tables::has_numbers(v.type);
        if (is_fresh) v = Tables(*this, node.place).numbers(v, true);
        bool is_viewed = found->second.gives_view && v.type.is_list() && &v == &values.front();
        v = is_viewed && !is_fresh ? copied(as_array(v), node.place) : as_array(v);
    }
    auto value_of = [&](const Node* at) {
        return values[static_cast<std::size_t>(std::find(in_order.begin(), in_order.end(), at) -
                                               in_order.begin())];
    };
    Given given{node, name, base, object != nullptr, {}};
    if (object) given.values[list.front().name] = *object;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (slots[i].empty()) continue;
        if (slots[i].size() == 1) {
            given.values[list[i].name] = value_of(slots[i][0]);
            continue;
        }
        Value all;
        for (const Node* at : slots[i]) {
            all.items.push_back(value_of(at));
            all.type.items.push_back(all.items.back().type);
        }
        all.type.kind = Type::Kind::Tuple;
        given.values[list[i].name] = all;
    }
    at(node.place);
    if (auto records = records_made(given)) return *records;
    if (list.front().name == "a" && base.find("_like") == std::string::npos && base != "copy" &&
        !takes_numbers && given.find("a"))
        given.values["a"] = as_array(given.at("a"), node.place);
    return (this->*found->second.rule)(given);
}

const Value& Selections::want_array(const Given& given, const std::string& key) {
    const Value& v = given.at(key);
    if (!v.type.is_array()) {
        refuse(given.node.place, given.name + " takes an array; got " + describe(v.type),
               "give an array");
    }
    return v;
}

Value Selections::made_array(const Given& given, const std::string& key) {
    return made(want_array(given, key), given.node.place);
}

std::int64_t Selections::want_constant(const Given& given, const std::string& key,
                                       std::int64_t otherwise) {
    const Value* v = given.find(key);
    if (!v) return otherwise;
    auto known = v->type.is_scalar() ? constant_int(v->expr) : std::nullopt;
    if (!known) {
        refuse_call(given,
                    key + " must be constant in a compiled function; got " + describe(v->type),
                    "write it as a number");
    }
    return *known;
}

bool Selections::want_flag(const Given& given, const std::string& key, bool otherwise) {
    return want_constant(given, key, otherwise) != 0;
}

/// A constant axis, counted from the start.
int Selections::want_axis(const Given& given, const Value& axis, int rank) {
    auto known = axis.type.is_scalar() ? constant_int(axis.expr) : std::nullopt;
    if (!known) {
        refuse_call(given,
                    "axis must be constant in a compiled function; got " + describe(axis.type),
                    "write the axis as a number");
    }
    if (*known < -rank || *known >= rank) {
        refuse_call(given,
                    "axis " + std::to_string(*known) + " is out of bounds for array of dimension " +
                        std::to_string(rank),
                    "give an axis of the array");
    }
    return static_cast<int>(*known < 0 ? *known + rank : *known);
}

/// The axes to reduce in rising order: all where none is given.
std::optional<std::vector<int>> Selections::want_axes(const Given& given, int rank) {
    std::vector<int> axes;
    const Value* axis = given.find("axis");
    if (!axis) {
        for (int k = 0; k < rank; ++k) axes.push_back(k);
        return axes;
    }
    if (!axis->type.is_tuple()) return std::vector<int>{want_axis(given, *axis, rank)};
    for (const Value& item : axis->items) axes.push_back(want_axis(given, item, rank));
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
        refuse_call(given, "duplicate value in 'axis'", "name each axis once");
    return axes;
}

/// The dtype with this code: kind and bytes as in "f4", or NumPy's letter.
static std::optional<DType> dtype_of_code(const std::string& code) {
    for (std::size_t k = 0; k < std::size(dtype_infos); ++k) {
        const DTypeInfo& i = dtype_infos[k];
        if (code == i.kind + std::to_string(i.bytes) || code == std::string(1, i.letter))
            return static_cast<DType>(k);
    }
    return std::nullopt;
}

std::optional<DType> Selections::want_dtype(const Given& given, const std::string& key) {
    const Value* v = given.find(key);
    if (!v) return std::nullopt;
    if (v->type.kind == Type::Kind::DTypeName && !v->type.record) return v->type.dtype;
    if (v->type.is_function() && !v->type.function) {  // one of Python's types, kept in a name
        if (v->type.name == "float") return DType::Float64;
        if (v->type.name == "int") return DType::Int64;
        if (v->type.name == "bool") return DType::Bool;
        if (v->type.name == "complex") return DType::Complex128;
    }
    if (v->type.is_text() && !v->expr) {
        bool found = true;
        DType t = dtype_from_name(v->text, found);
        if (found) return t;
        if (auto coded = dtype_of_code(v->text)) return coded;
    }
    refuse(given.node.place, "dtype must be a dtype; got " + describe(v->type),
           "write np.float64 or the like");
}

/// The result, in the array `out` where one is given.
Value ArrayFunctions::finished(const Given& given, const Value& value) {
    const Value* out = given.find("out");
    if (!out) return value;
    if (!out->type.is_array() || out->lazy)
        refuse_call(given, "out must be an array; got " + describe(out->type), "give an array");
    assign_elements(*out, value, given.node.place);
    return *out;
}

/// np.add.outer(a, b), np.add.reduce(a, axis).
std::optional<Value> Calls::ufunc_method(const Node& node) {
    const Node& callee = node.children[0];
    const Node& owner = callee.children[0];
    if (owner.kind != NodeKind::Builtin || owner.text.find('.') == std::string::npos)
        return std::nullopt;
    std::string base = after_dot(owner.text);
    if (callee.text == "reduce" || callee.text == "accumulate") {
        static const std::map<std::string, std::string> reductions = {
            {"add", "sum"},     {"multiply", "prod"},  {"maximum", "max"},
            {"minimum", "min"}, {"logical_or", "any"}, {"logical_and", "all"}};
        static const std::map<std::string, std::string> scans = {{"add", "cumsum"},
                                                                 {"multiply", "cumprod"}};
        const auto& names = callee.text == "reduce" ? reductions : scans;
        auto found = names.find(base);
        if (found == names.end()) return std::nullopt;
        Node call = node;
        bool has_axis = node.children.size() > 2 ||
                        std::any_of(node.children.begin(), node.children.end(), [](const Node& n) {
                            return n.kind == NodeKind::Keyword && n.text == "axis";
                        });
        if (!has_axis) {
            Node axis;
            axis.kind = NodeKind::Keyword;
            axis.text = "axis";
            axis.place = node.place;
            Node zero;
            zero.kind = NodeKind::Const;
            zero.place = node.place;
            zero.value = Scalar::of(DType::Int64, 0);
            zero.weak = Weak::Int;
            axis.children.push_back(zero);
            call.children.push_back(axis);
        }
        return array_function(call, "np." + found->second);
    }
    if (callee.text != "outer") return std::nullopt;
    auto args = arguments(node);
    if (args.size() != 2) {
        refuse(node.place,
               owner.text + ".outer takes 2 arguments; got " + std::to_string(args.size()),
               "give two arrays");
    }
    at(node.place);
    int rank = args[1].type.is_array() ? args[1].type.rank : 0;
    if (args[0].type.is_array()) {
        Descriptor d = describe_array(made(args[0], node.place).array);
        for (int k = 0; k < rank; ++k) {
            d.extents.push_back(i64(1));
            d.strides.push_back(i64(0));
            d.classes.push_back(ir::StrideClass::Zero);
        }
        args[0] = view("outer", d);
    }
    return call_table(node, owner.text, args);
}

}  // namespace unisono::frontend
