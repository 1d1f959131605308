// Codes of tables' entries, as frontend::table_code writes them (frontend/table_state.h).
#pragma once

#include "frontend/types.h"
#include "runtime/tables.h"

namespace unisono::python {

inline DType dtype_of_letter(char c) { return static_cast<DType>(c - 'a'); }

/// Each advances the code behind what it has read.
frontend::Type type_of_code(const char*& code);
/// The record that a code names by its address; records live for good.
const frontend::Record& record_at(const char*& code);
void skip_code(const char*& code);

/// Of what a D, S or L has in it.
TableForm form_of_code(const char* code, char kind);

}  // namespace unisono::python
