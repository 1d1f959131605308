// Loads a relocatable ELF object into executable memory: the small part of a linker that kernels
// need.
//
// One anonymous mapping holds the object's sections and, for each import, a stub of 16 bytes (a
// jump through the address beside it). Relocations must be relative to the program counter, so the
// code works wherever the mapping lies. The mapping is written, then made executable, never both.
// Writable data, other relocations and unknown imports are refused.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace unisono::cpu {

/// Code in memory, unmapped with the last owner.
class LoadedCode {
  public:
    LoadedCode(void* mapping, std::size_t bytes, void* entry)
        : mapping_(mapping), bytes_(bytes), entry_(entry) {}
    ~LoadedCode();
    LoadedCode(const LoadedCode&) = delete;
    LoadedCode& operator=(const LoadedCode&) = delete;
    void* entry() const { return entry_; }
    /// Something to let go of before the code goes.
    void attach(std::shared_ptr<void> companion) { companion_ = std::move(companion); }
    /// Tells the run-time library how the code's frames are left, as long as the code is there.
    void register_frames(void* frames);

  private:
    void* mapping_;
    std::size_t bytes_;
    void* entry_;
    std::shared_ptr<void> companion_;
    void* frames_ = nullptr;
};

struct CodeSymbol {
    std::string name;
    std::uint64_t address = 0, size = 0;
};

/// The object as debuggers read it, with the addresses at which its sections lie.
struct PlacedObject {
    std::string object;
    std::uint64_t code = 0;  ///< address of the section that holds the entry
    std::vector<CodeSymbol> symbols;
};

/// Finds imported functions by name; null where there is none of that name.
using FindImport = void* (*)(const char* name);

/// Loads `object` and finds `symbol` in it; null, with the reason in `why`, where it is refused.
/// `placed`, where given, is filled.
std::shared_ptr<LoadedCode> load_object(std::span<const char> object, const char* symbol,
                                        FindImport find_import, std::string& why,
                                        PlacedObject* placed = nullptr);

}  // namespace unisono::cpu
