// Machine code that came with modules built ahead of time, and the recording that builds them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace unisono::codegen {

using BundledCode = std::vector<std::pair<std::string, std::string>>;  ///< by what it was made from

/// While it exists, all machine code that this thread requests is recorded.
class Recording {
  public:
    Recording();
    ~Recording();
    Recording(const Recording&) = delete;
    BundledCode code;

  private:
    Recording* outer_;
};

/// Null where this thread records nothing.
Recording* recording();

/// Code of a module that was imported: kept for good.
void add_bundled(std::string key, std::string code);
/// The code, or an empty string.
std::string find_bundled(std::string_view key);

/// What this processor can do, of what compiled code may use.
std::vector<std::string> processor_features();

}  // namespace unisono::codegen
