// Looks for statements that do anything else.
#include "passes/analysis/scalar_functions.h"

#include <algorithm>

namespace unisono::passes {

using namespace ir;

namespace {

bool is_plain(S s) {
    switch (s->kind) {
        case StmtKind::Block:
        case StmtKind::Declare:
        case StmtKind::Assign:
        case StmtKind::If: break;
        case StmtKind::Return:
            if (s->fault != -1) return false;
            break;
        default: return false;
    }
    return std::all_of(s->body.begin(), s->body.end(), is_plain) &&
           std::all_of(s->orelse.begin(), s->orelse.end(), is_plain);
}

}  // namespace

ScalarFunctions::ScalarFunctions(const Module& m) {
    for (const Function& f : m.functions) {
        is_.push_back(!f.native && f.arrays.empty() && f.natives.empty() && f.body &&
                      is_plain(f.body));
    }
}

}  // namespace unisono::passes
