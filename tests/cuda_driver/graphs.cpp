// Graphs of kernels and copies, each node behind the one before it: made, updated and launched.
//
// A launch submits what the nodes are to the stream, with all checks that it would have alone. This
// driver is stricter than NVIDIA's: a graph that a launch still uses may not be destroyed.
#include <algorithm>
#include <memory>
#include <set>
#include <variant>

#include "cuda_driver/driver.h"
#include "cuda_driver/launches.h"

namespace cuda_driver {

namespace {

struct Graph;
struct Node {
    Graph* graph;
    std::size_t number;  ///< in the graph
};

struct Graph {
    std::vector<std::variant<Launch, Copy>> work;
    std::vector<std::unique_ptr<Node>> nodes;
};

struct Exec {
    Context* context;
    Graph* graph;  ///< that it was made of: its nodes name what is updated
    std::vector<std::variant<Launch, Copy>> work;
    std::shared_ptr<Command> last;
};

struct Graphs {
    std::set<Graph*> graphs;
    std::set<Exec*> execs;
};
Graphs& graphs() {
    static auto& all = *new Graphs;
    return all;
}

/// CUDA_KERNEL_NODE_PARAMS and CUDA_MEMCPY3D, as the driver's header has them.
struct KernelParameters {
    void* function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
};
struct CopySide {
    std::size_t x, y, z, level;
    int type;
    void* host;
    std::uintptr_t device;
    void *array, *reserved;
    std::size_t pitch, height;
};
struct CopyParameters {
    CopySide from, to;
    std::size_t width, height, depth;
};

Result read(Call& call, const KernelParameters* p, Launch& made) {
    if (!p) return call.violation(invalid_value, "no parameters");
    return make_launch(call, made, p->function, {p->grid[0], p->grid[1], p->grid[2]},
                       {p->block[0], p->block[1], p->block[2]}, p->shared, p->parameters, p->extra);
}

Result read(Call& call, const CopyParameters* p, Copy& made) {
    auto is_plain = [&](const CopySide& s) {
        return s.x == 0 && s.y == 0 && s.z == 0 && s.level == 0 && (s.type == 1 || s.type == 2) &&
               !s.reserved && s.pitch >= p->width && s.height >= p->height;
    };
    if (!p || p->width == 0 || p->height != 1 || p->depth != 1 || !is_plain(p->from) ||
        !is_plain(p->to))
        return call.violation(invalid_value, "no copy of one row of bytes");
    auto address = [](const CopySide& s) {
        return s.type == 1 ? reinterpret_cast<std::uintptr_t>(s.host) : s.device;
    };
    made = {address(p->to),    address(p->from), p->width,
            p->from.type == 1, p->to.type == 1,  "a copy of a graph"};
    return success;
}

template <class Work>
Result add(Call& call, void** made, void* handle, void* const* before, std::size_t count,
           const Work& work) {
    auto* graph = static_cast<Graph*>(handle);
    if (!made || !graphs().graphs.contains(graph))
        return call.violation(invalid_handle, "no graph");
    Node* last = graph->nodes.empty() ? nullptr : graph->nodes.back().get();
    if (last ? count != 1 || before[0] != last : count != 0)
        return call.violation(not_supported, "a node comes behind the last one in this driver");
    graph->nodes.push_back(std::make_unique<Node>(Node{graph, graph->work.size()}));
    graph->work.emplace_back(work);
    *made = graph->nodes.back().get();
    return success;
}

template <class Work>
Result set(Call& call, void* handle, void* which, const Work& work) {
    auto* exec = static_cast<Exec*>(handle);
    if (!graphs().execs.contains(exec)) return call.violation(invalid_handle, "no graph");
    const auto is_it = [&](const auto& n) { return n.get() == which; };
    if (!graphs().graphs.contains(exec->graph) ||
        std::none_of(exec->graph->nodes.begin(), exec->graph->nodes.end(), is_it))
        return call.violation(invalid_value, "the node is not of the graph");
    auto& known = exec->work[static_cast<Node*>(which)->number];
    if (!std::holds_alternative<Work>(known))
        return call.violation(invalid_value, "the node does something else");
    known = work;
    return success;
}

}  // namespace

std::size_t graph_count() { return graphs().graphs.size() + graphs().execs.size(); }

}  // namespace cuda_driver

using namespace cuda_driver;

extern "C" {

Result cuGraphCreate(void** made, unsigned flags) {
    Call call("cuGraphCreate");
    if (call.refused()) return call.refused();
    if (!made || flags != 0) return call.violation(invalid_value, "wrong arguments");
    if (!state().has_graphs) return not_supported;
    *made = *graphs().graphs.insert(new Graph).first;
    return success;
}

Result cuGraphDestroy(void* handle) {
    Call call("cuGraphDestroy");
    if (call.refused()) return call.refused();
    auto* graph = static_cast<Graph*>(handle);
    if (graphs().graphs.erase(graph) == 0) return call.violation(invalid_handle, "no graph");
    delete graph;
    return success;
}

Result cuGraphAddKernelNode(void** made, void* graph, void* const* before, std::size_t count,
                            const void* parameters) {
    Call call("cuGraphAddKernelNode");
    if (call.refused()) return call.refused();
    Launch launch;
    const Result wrong = read(call, static_cast<const KernelParameters*>(parameters), launch);
    return wrong ? wrong : add(call, made, graph, before, count, launch);
}

Result cuGraphAddMemcpyNode(void** made, void* graph, void* const* before, std::size_t count,
                            const void* parameters, void* context) {
    Call call("cuGraphAddMemcpyNode");
    if (call.refused()) return call.refused();
    if (context != &call.context()) return call.violation(invalid_context, "another context");
    Copy copy;
    const Result wrong = read(call, static_cast<const CopyParameters*>(parameters), copy);
    return wrong ? wrong : add(call, made, graph, before, count, copy);
}

Result cuGraphInstantiateWithFlags(void** made, void* handle, unsigned long long flags) {
    Call call("cuGraphInstantiateWithFlags");
    if (call.refused()) return call.refused();
    auto* graph = static_cast<Graph*>(handle);
    if (!made || flags != 0 || !graphs().graphs.contains(graph))
        return call.violation(invalid_handle, "no graph");
    *made = *graphs().execs.insert(new Exec{&call.context(), graph, graph->work, nullptr}).first;
    return success;
}

Result cuGraphExecDestroy(void* handle) {
    Call call("cuGraphExecDestroy");
    if (call.refused()) return call.refused();
    auto* exec = static_cast<Exec*>(handle);
    if (!graphs().execs.contains(exec)) return call.violation(invalid_handle, "no graph");
    if (exec->last && !exec->last->is_done)
        return call.violation(invalid_value, "a launch of the graph runs, or will");
    graphs().execs.erase(exec);
    delete exec;
    return success;
}

Result cuGraphExecKernelNodeSetParams(void* exec, void* node, const void* parameters) {
    Call call("cuGraphExecKernelNodeSetParams");
    if (call.refused()) return call.refused();
    Launch launch;
    const Result wrong = read(call, static_cast<const KernelParameters*>(parameters), launch);
    return wrong ? wrong : set(call, exec, node, launch);
}

Result cuGraphExecMemcpyNodeSetParams(void* exec, void* node, const void* parameters,
                                      void* context) {
    Call call("cuGraphExecMemcpyNodeSetParams");
    if (call.refused()) return call.refused();
    if (context != &call.context()) return call.violation(invalid_context, "another context");
    Copy copy;
    const Result wrong = read(call, static_cast<const CopyParameters*>(parameters), copy);
    return wrong ? wrong : set(call, exec, node, copy);
}

Result cuGraphLaunch(void* handle, void* into) {
    Call call("cuGraphLaunch");
    if (call.refused()) return call.refused();
    auto* exec = static_cast<Exec*>(handle);
    Stream* stream = find_stream(call.context(), into);
    if (!graphs().execs.contains(exec) || !stream)
        return call.violation(invalid_handle, "no such graph or stream");
    if (exec->context != &call.context())
        return call.violation(invalid_context, "a graph of another context");
    for (const auto& work : exec->work) {
        const auto* launch = std::get_if<Launch>(&work);
        const Result wrong = launch ? start_launch(call, *launch, stream)
                                    : start_copy(call, std::get<Copy>(work), stream);
        if (wrong) return wrong;
    }
    exec->last = stream->last;
    return success;
}

}  // extern "C"
