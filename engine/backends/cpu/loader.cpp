// Reads ELF tables with every offset checked, places sections, resolves relocations.
#include "backends/cpu/loader.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace unisono::cpu {

extern "C" void __register_frame(void*);
extern "C" void __deregister_frame(void*);

LoadedCode::~LoadedCode() {
    if (frames_) __deregister_frame(frames_);
    companion_.reset();
    munmap(mapping_, bytes_);
}

void LoadedCode::register_frames(void* frames) {
    frames_ = frames;
    __register_frame(frames_);
}

namespace {

/// Thrown inside this file only: the object is not one that this loader takes.
struct Refused {
    std::string why;
};
[[noreturn]] void refuse(std::string why) { throw Refused{std::move(why)}; }

class Object {
  public:
    explicit Object(std::span<const char> bytes) : bytes_(bytes) {
        auto header = read<Elf64_Ehdr>(0);
        bool ours = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                    header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_REL &&
                    header.e_machine == EM_X86_64 && header.e_shentsize == sizeof(Elf64_Shdr);
        if (!ours) refuse("not a relocatable x86-64 object");
        sections_ = table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
    }

    template <class T>
    std::vector<T> table(std::uint64_t offset, std::uint64_t count) const {
        if (count > bytes_.size() / sizeof(T)) refuse("a table is longer than the object");
        std::span<const char> raw = slice(offset, count * sizeof(T));
        std::vector<T> all(count);
        if (count) std::memcpy(all.data(), raw.data(), raw.size());
        return all;
    }
    template <class T>
    T read(std::uint64_t offset) const {
        return table<T>(offset, 1)[0];
    }
    std::string copy() const { return std::string(bytes_.data(), bytes_.size()); }
    std::span<const char> slice(std::uint64_t offset, std::uint64_t size) const {
        if (offset > bytes_.size() || size > bytes_.size() - offset)
            refuse("an offset lies outside the object");
        return bytes_.subspan(offset, size);
    }
    std::string text(std::size_t section, std::uint64_t offset) const {
        const Elf64_Shdr& s = sections_.at(section);
        if (offset >= s.sh_size) refuse("a name lies outside its table");
        auto raw = slice(s.sh_offset + offset, s.sh_size - offset);
        return std::string(raw.data(), strnlen(raw.data(), raw.size()));
    }
    const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  private:
    std::span<const char> bytes_;
    std::vector<Elf64_Shdr> sections_;
};

class Loader {
  public:
    Loader(std::span<const char> bytes, FindImport find) : object_(bytes), find_(find) {}

    std::shared_ptr<LoadedCode> load(const char* symbol) {
        place_sections();
        place_stubs();
        std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        std::size_t size = (size_ + page - 1) / page * page;
        void* mapping =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapping == MAP_FAILED) refuse("no memory for code");
        base_ = static_cast<char*>(mapping);
        auto code = std::make_shared<LoadedCode>(mapping, size, base_ + entry_of(symbol));
        copy();
        relocate();
        if (frames_ != nowhere) code->register_frames(base_ + places_[frames_]);
        if (mprotect(mapping, size, PROT_READ | PROT_EXEC) != 0)
            refuse("the system allows no executable memory");
        return code;
    }

    /// After load.
    PlacedObject placed(const char* symbol) const {
        PlacedObject made;
        made.object = object_.copy();
        auto header = object_.read<Elf64_Ehdr>(0);
        for (std::size_t i = 0; i < places_.size(); ++i) {
            if (places_[i] == nowhere) continue;
            Elf64_Shdr s = object_.sections()[i];
            s.sh_addr = reinterpret_cast<std::uint64_t>(base_) + places_[i];
            std::memcpy(made.object.data() + header.e_shoff + i * sizeof s, &s, sizeof s);
        }
        for (const Elf64_Sym& s : symbols_) {
            bool is_inside = s.st_shndx != SHN_UNDEF && s.st_shndx < places_.size();
            if (!is_inside || ELF64_ST_TYPE(s.st_info) != STT_FUNC) continue;
            auto address = reinterpret_cast<std::uint64_t>(base_) + inside(s);
            made.symbols.push_back({object_.text(strings_, s.st_name), address, s.st_size});
            if (made.symbols.back().name == symbol)
                made.code = reinterpret_cast<std::uint64_t>(base_) + places_[s.st_shndx];
        }
        return made;
    }

  private:
    static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
    static constexpr std::uint64_t stub_bytes = 16;
    static constexpr std::uint64_t frames_end = 8;  ///< zeros

    bool is_loaded(const Elf64_Shdr& s, std::size_t index) const {
        if (!(s.sh_flags & SHF_ALLOC) || s.sh_size == 0) return false;
        if (index == frames_) return true;
        return s.sh_type == SHT_PROGBITS && object_.text(names_, s.sh_name) != ".eh_frame" &&
               index != 0;
    }

    /// Code that calls C++, or that catches, tells how its frames are left: exceptions pass through
    /// them.
    bool calls_cpp() const {
        return std::any_of(symbols_.begin(), symbols_.end(), [&](const Elf64_Sym& s) {
            if (s.st_shndx != SHN_UNDEF || s.st_name == 0) return false;
            std::string name = object_.text(strings_, s.st_name);
            return name == "unisono_cpp_guard" || name == "__gxx_personality_v0";
        });
    }

    /// Tables of addresses, which are constant once they are made. Handlers of exceptions find
    /// types and functions by way of such in sections that could be written.
    static bool is_table(const std::string& section, bool has_handlers) {
        return section.starts_with(".data.rel.ro") ||
               (has_handlers && (section == ".data" || section.starts_with(".data.DW.ref.") ||
                                 section.starts_with(".data.rel.local.DW.ref.")));
    }

    void place_sections() {
        const auto& sections = object_.sections();
        for (std::size_t i = 0; i < sections.size(); ++i) {
            if (sections[i].sh_type == SHT_SYMTAB) symtab_ = i;
        }
        if (!symtab_) refuse("the object has no symbols");
        read_symbols();
        names_ = object_.read<Elf64_Ehdr>(0).e_shstrndx;
        places_.assign(sections.size(), nowhere);
        const bool has_frames = calls_cpp();
        for (std::size_t i = 1; has_frames && i < sections.size(); ++i) {
            if (sections[i].sh_size && object_.text(names_, sections[i].sh_name) == ".eh_frame")
                frames_ = i;
        }
        for (std::size_t i = 0; i < sections.size(); ++i) {
            const Elf64_Shdr& s = sections[i];
            bool writable = (s.sh_flags & SHF_ALLOC) && (s.sh_flags & SHF_WRITE) && s.sh_size > 0;
            if (writable && !is_table(object_.text(names_, s.sh_name), has_frames))
                refuse("the object has writable data");
            if (!is_loaded(s, i)) continue;
            std::uint64_t align = std::max<std::uint64_t>(s.sh_addralign, 1);
            if (align > 4096 || (align & (align - 1))) refuse("a section's alignment is odd");
            size_ = (size_ + align - 1) / align * align;
            places_[i] = size_;
            object_.slice(s.sh_offset, s.sh_size);
            size_ += s.sh_size;
            if (i == frames_) size_ += frames_end;
        }
    }

    void read_symbols() {
        const Elf64_Shdr& s = object_.sections()[symtab_];
        symbols_ = object_.table<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
        strings_ = s.sh_link;
        if (strings_ >= object_.sections().size()) refuse("the symbols have no names");
    }

    /// Every undefined symbol is an import; all must be known.
    void place_stubs() {
        size_ = (size_ + stub_bytes - 1) / stub_bytes * stub_bytes;
        for (std::size_t i = 1; i < symbols_.size(); ++i) {
            if (symbols_[i].st_shndx != SHN_UNDEF || symbols_[i].st_name == 0) continue;
            std::string name = object_.text(strings_, symbols_[i].st_name);
            if (name == "_GLOBAL_OFFSET_TABLE_") continue;
            void* address = find_(name.c_str());
            if (!address) refuse("unknown import " + name);
            stubs_[i] = {size_, address};
            size_ += stub_bytes;
        }
    }

    std::uint64_t entry_of(const char* symbol) const {
        for (const Elf64_Sym& s : symbols_) {
            if (s.st_shndx == SHN_UNDEF || s.st_shndx >= places_.size() || s.st_name == 0) continue;
            if (object_.text(strings_, s.st_name) != symbol) continue;
            return inside(s);
        }
        refuse(std::string("the object has no symbol ") + symbol);
    }

    /// Place of a defined symbol.
    std::uint64_t inside(const Elf64_Sym& s) const {
        if (s.st_shndx >= places_.size() || places_[s.st_shndx] == nowhere ||
            s.st_value > object_.sections()[s.st_shndx].sh_size) {
            refuse("a symbol lies in no loaded section");
        }
        return places_[s.st_shndx] + s.st_value;
    }

    void copy() {
        const auto& sections = object_.sections();
        for (std::size_t i = 0; i < sections.size(); ++i) {
            if (places_[i] == nowhere) continue;
            auto raw = object_.slice(sections[i].sh_offset, sections[i].sh_size);
            std::memcpy(base_ + places_[i], raw.data(), raw.size());
        }
        for (const auto& [symbol, stub] : stubs_) {
            // jmp *2(%rip); two bytes of padding; the address.
            const unsigned char code[8] = {0xff, 0x25, 2, 0, 0, 0, 0x66, 0x90};
            std::memcpy(base_ + stub.place, code, sizeof code);
            std::memcpy(base_ + stub.place + 8, &stub.address, 8);
        }
    }

    void relocate() {
        const auto& sections = object_.sections();
        for (const Elf64_Shdr& s : sections) {
            if (s.sh_type == SHT_REL) refuse("relocations without addends");
            if (s.sh_type != SHT_RELA) continue;
            if (s.sh_info >= sections.size()) refuse("relocations of no section");
            if (places_[s.sh_info] == nowhere) continue;
            for (const auto& r :
                 object_.table<Elf64_Rela>(s.sh_offset, s.sh_size / sizeof(Elf64_Rela)))
                apply(r, s.sh_info);
        }
    }

    void apply(const Elf64_Rela& r, std::size_t section) {
        auto index = ELF64_R_SYM(r.r_info);
        if (index >= symbols_.size()) refuse("a relocation names no symbol");
        const std::uint64_t size = object_.sections()[section].sh_size;
        if (r.r_offset > size || size - r.r_offset < 4)
            refuse("a relocation lies outside its section");
        auto stub = stubs_.find(index);
        bool imported = stub != stubs_.end();
        std::uint64_t target = 0;
        if (ELF64_R_TYPE(r.r_info) == R_X86_64_64) {
            if (size - r.r_offset < 8) refuse("a relocation lies outside its section");
            char* at = imported ? static_cast<char*>(stub->second.address)
                                : base_ + inside(symbols_[index]);
            std::uint64_t word =
                reinterpret_cast<std::uint64_t>(at) + static_cast<std::uint64_t>(r.r_addend);
            std::memcpy(base_ + places_[section] + r.r_offset, &word, sizeof word);
            return;
        }
        switch (ELF64_R_TYPE(r.r_info)) {
            case R_X86_64_PC32:
            case R_X86_64_PLT32:
                target = imported ? stub->second.place : inside(symbols_[index]);
                break;
            case R_X86_64_GOTPCREL:
            case R_X86_64_GOTPCRELX:
            case R_X86_64_REX_GOTPCRELX:
                // The address beside the stub serves as the import's entry of a global offset
                // table.
                if (!imported) refuse("a table entry for a symbol of the object itself");
                target = stub->second.place + 8;
                break;
            default: refuse("relocation of type " + std::to_string(ELF64_R_TYPE(r.r_info)));
        }
        std::uint64_t place = places_[section] + r.r_offset;
        auto value = static_cast<std::int64_t>(target - place) + r.r_addend;
        if (value != static_cast<std::int32_t>(value)) refuse("a relocation is out of range");
        auto word = static_cast<std::int32_t>(value);
        std::memcpy(base_ + place, &word, sizeof word);
    }

    struct Stub {
        std::uint64_t place;
        void* address;
    };
    Object object_;
    FindImport find_;
    std::size_t symtab_ = 0, names_ = 0, strings_ = 0, frames_ = nowhere;
    std::vector<std::uint64_t> places_;  // per section
    std::vector<Elf64_Sym> symbols_;
    std::map<std::uint64_t, Stub> stubs_;  // by symbol
    std::uint64_t size_ = 0;
    char* base_ = nullptr;
};

}  // namespace

std::shared_ptr<LoadedCode> load_object(std::span<const char> object, const char* symbol,
                                        FindImport find_import, std::string& why,
                                        PlacedObject* placed) {
    try {
        Loader loader(object, find_import);
        auto code = loader.load(symbol);
        if (placed) *placed = loader.placed(symbol);
        return code;
    } catch (const Refused& refused) {
        why = refused.why;
    } catch (const std::out_of_range&) {
        why = "a section number is out of range";
    }
    return nullptr;
}

}  // namespace unisono::cpu
