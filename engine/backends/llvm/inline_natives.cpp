// Natives whose common case is a few instructions: items of lists, keys of dicts and sets that are
// one integer, random numbers that are drawn ahead. What is rare, as more memory, is left to the
// function itself (runtime/, library/random/), or to the rest of it.
#include <llvm/IR/MDBuilder.h>

#include <map>

#include "backends/llvm/emitter.h"
#include "core/native/borrowed_draws.h"
#include "core/native/drawn_words.h"
#include "core/native/table_rows.h"

namespace unisono::codegen {

namespace {

/// The fields and the rows of a table, whose accesses no other memory's overlap.
class TableAccess {
  public:
    TableAccess(llvm::IRBuilder<>& b, Value* handle)
        : b_(b), i64_(b.getInt64Ty()), table_(b.CreateIntToPtr(handle, b.getPtrTy())) {
        llvm::MDBuilder make(b.getContext());
        llvm::MDNode* root = make.createTBAARoot("tables");
        auto tag = [&](const char* kind) {
            llvm::MDNode* type = make.createTBAAScalarTypeNode(kind, root);
            return make.createTBAAStructTagNode(type, type, 0);
        };
        of_fields_ = tag("fields");
        of_words_ = tag("words");
        of_index_ = tag("index");
        of_changes_ = tag("changes");
        rare_ = make.createBranchWeights(1, 1 << 20);
    }
    Value* number(std::size_t offset) { return load(i64_, field(offset), of_fields_); }
    Value* pointer(std::size_t offset) { return load(b_.getPtrTy(), field(offset), of_fields_); }
    void set(std::size_t offset, Value* value) { store(value, field(offset), of_fields_); }
    void mark_changed() {
        store(b_.getInt8(1), field(offsetof(TableRows, is_changed)), of_changes_);
    }
    Value* words_on(Value* from, Value* count) { return b_.CreateInBoundsGEP(i64_, from, count); }
    Value* words_on(Value* from, std::size_t count) {
        return b_.CreateConstInBoundsGEP1_64(i64_, from, count);
    }
    Value* word(Value* from, std::size_t k) { return load(i64_, words_on(from, k), of_words_); }
    void set_word(Value* from, std::size_t k, Value* value) {
        store(value, words_on(from, k), of_words_);
    }
    /// What stands behind the hash of row k, rows of which nothing lies between.
    Value* item(Value* k) {
        Value* step = number(offsetof(TableRows, item_step));
        return words_on(pointer(offsetof(TableRows, first_item)), b_.CreateMul(k, step));
    }
    Value* index_at(Value* slot) {
        return b_.CreateInBoundsGEP(b_.getInt32Ty(), pointer(offsetof(TableRows, index)), slot);
    }
    Value* read_index(Value* at) { return load(b_.getInt32Ty(), at, of_index_); }
    void write_index(Value* at, Value* number) { store(number, at, of_index_); }
    /// Goes where something rarely holds.
    void branch_if_rare(Value* rarely, llvm::BasicBlock* rare, llvm::BasicBlock* usual) {
        b_.CreateCondBr(rarely, rare, usual, rare_);
        b_.SetInsertPoint(usual);
    }

  private:
    Value* field(std::size_t offset) {
        return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), table_, table_rows_offset + offset);
    }
    Value* load(llvm::Type* type, Value* at, llvm::MDNode* tag) {
        llvm::LoadInst* made = b_.CreateLoad(type, at);
        made->setMetadata(llvm::LLVMContext::MD_tbaa, tag);
        return made;
    }
    void store(Value* value, Value* at, llvm::MDNode* tag) {
        b_.CreateStore(value, at)->setMetadata(llvm::LLVMContext::MD_tbaa, tag);
    }

    llvm::IRBuilder<>& b_;
    llvm::Type* i64_;
    Value* table_;
    llvm::MDNode *of_fields_, *of_words_, *of_index_, *of_changes_, *rare_;
};

/// An address that a function of the engine gives, always the same: loops ask once.
Value* find_once(llvm::IRBuilder<>& b, ModuleEmitter& m, const char* name) {
    llvm::Function* find = m.declare(name, llvm::FunctionType::get(b.getPtrTy(), false));
    find->setDoesNotAccessMemory();
    find->setDoesNotThrow();
    find->addFnAttr(llvm::Attribute::WillReturn);
    find->addFnAttr(llvm::Attribute::Speculatable);
    return b.CreateCall(find);
}

/// The words that a generator of this thread has drawn ahead.
class DrawnAccess {
  public:
    DrawnAccess(llvm::IRBuilder<>& b, ModuleEmitter& m, bool of_python) : b_(b) {
        // The address is that of the thread, on which a function stays.
        drawn_ = find_once(b, m, of_python ? "unisono_drawn_by_python" : "unisono_drawn_by_numpy");
        place_ = b.CreateLoad(b.getInt64Ty(), drawn_);
    }
    /// Whether so many words are left.
    Value* has(std::uint64_t count) {
        return b_.CreateICmpULE(place_, b_.getInt64(DrawnWords::count - count));
    }
    /// The words that are next.
    llvm::SmallVector<Value*, 2> take(std::uint64_t count) {
        Value* words =
            b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), drawn_, offsetof(DrawnWords, words));
        llvm::SmallVector<Value*, 2> taken;
        for (std::uint64_t k = 0; k < count; ++k) {
            Value* at = b_.CreateAdd(place_, b_.getInt64(k));
            taken.push_back(
                b_.CreateLoad(b_.getInt32Ty(), b_.CreateInBoundsGEP(b_.getInt32Ty(), words, at)));
        }
        b_.CreateStore(b_.CreateAdd(place_, b_.getInt64(count)), drawn_);
        return taken;
    }

  private:
    llvm::IRBuilder<>& b_;
    Value *drawn_, *place_;
};
static_assert(offsetof(DrawnWords, place) == 0);

/// Where a key that is one integer is: at `slot` of the index, or would be.
struct Place {
    Value *hash, *slot, *number;
};

}  // namespace

FunctionEmitter::InlineNative FunctionEmitter::inline_native(std::string_view name) {
    static const std::map<std::string_view, InlineNative> all{
        {"list_item", &FunctionEmitter::read_item},
        {"list_write", &FunctionEmitter::write_item},
        {"list_append", &FunctionEmitter::append_item},
        {"list_take", &FunctionEmitter::take_last_item},
        {"table_size", &FunctionEmitter::count_items},
        {"table_row", &FunctionEmitter::visit_row},
        {"table_has_whole", &FunctionEmitter::look_up},
        {"table_get_whole", &FunctionEmitter::look_up},
        {"table_set_whole", &FunctionEmitter::enter},
        {"random_python_bits", &FunctionEmitter::draw_bits},
        {"random_double", &FunctionEmitter::draw_numpys_double},
        {"random_python_double", &FunctionEmitter::draw_pythons_double},
        {"random_of_normal", &FunctionEmitter::draw_normal},
        {"random_of_exponential", &FunctionEmitter::draw_exponential},
    };
    auto found = all.find(name);
    return found == all.end() ? nullptr : found->second;
}

/// The function itself, at `rare`; goes on after it.
void FunctionEmitter::call_where(ir::S s, std::span<Value* const> args, llvm::BasicBlock* rare,
                                 llvm::BasicBlock* after) {
    b_.CreateBr(after);
    b_.SetInsertPoint(rare);
    call_native(s, args);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
}

/// Python's index of an item, and whether there is none.
static std::pair<Value*, Value*> item_place(llvm::IRBuilder<>& b, TableAccess& t, Value* k) {
    Value* count = t.number(offsetof(TableRows, item_count));
    Value* is_negative = b.CreateICmpSLT(k, b.getInt64(0));
    Value* place = b.CreateSelect(is_negative, b.CreateAdd(k, count), k);
    return {place, b.CreateICmpUGE(place, count)};
}

void FunctionEmitter::read_item(ir::S s, std::span<Value* const> args) {
    TableAccess t(b_, args[0]);
    auto [place, is_outside] = item_place(b_, t, args[1]);
    b_.CreateStore(b_.CreateZExt(is_outside, m_.i64), variable(s->outs[0]));
    llvm::BasicBlock *inside = block("item"), *after = block("item.after");
    t.branch_if_rare(is_outside, after, inside);
    Value* item = t.item(place);
    for (std::size_t k = 1; k < s->outs.size(); ++k)
        b_.CreateStore(t.word(item, k - 1), variable(s->outs[k]));
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
}

void FunctionEmitter::write_item(ir::S s, std::span<Value* const> args) {
    TableAccess t(b_, args[0]);
    auto [place, is_outside] = item_place(b_, t, args[1]);
    b_.CreateStore(b_.CreateZExt(is_outside, m_.i64), variable(s->outs[0]));
    llvm::BasicBlock *inside = block("item"), *after = block("item.after");
    t.branch_if_rare(is_outside, after, inside);
    Value* item = t.item(place);
    for (std::size_t k = 2; k < args.size(); ++k) t.set_word(item, k - 2, args[k]);
    t.mark_changed();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
}

void FunctionEmitter::append_item(ir::S s, std::span<Value* const> args) {
    TableAccess t(b_, args[0]);
    llvm::BasicBlock *fits = block("append"), *rare = block("append.grow"),
                     *after = block("append.after");
    Value* row = t.pointer(offsetof(TableRows, end));
    Value* end = t.words_on(row, args.size());
    t.branch_if_rare(b_.CreateICmpUGT(end, t.pointer(offsetof(TableRows, limit))), rare, fits);
    t.set_word(row, 0, int64(1));
    for (std::size_t k = 1; k < args.size(); ++k) t.set_word(row, k, args[k]);
    t.set(offsetof(TableRows, end), end);
    Value* count = t.number(offsetof(TableRows, item_count));
    t.set(offsetof(TableRows, item_count), b_.CreateAdd(count, int64(1)));
    t.mark_changed();
    b_.CreateStore(int64(0), variable(s->outs[0]));
    call_where(s, args, rare, after);
}

void FunctionEmitter::take_last_item(ir::S s, std::span<Value* const> args) {
    TableAccess t(b_, args[0]);
    llvm::BasicBlock *last = block("take"), *rare = block("take.other"),
                     *after = block("take.after");
    auto [place, is_outside] = item_place(b_, t, args[1]);
    Value* rest = b_.CreateSub(t.number(offsetof(TableRows, item_count)), int64(1));
    // The only item is the first one, too: its list gives up its room in front.
    Value* is_other = b_.CreateICmpNE(place, rest);
    Value* is_first = b_.CreateICmpSLE(place, int64(0));
    b_.CreateCondBr(b_.CreateOr(is_other, is_first), rare, last);
    b_.SetInsertPoint(last);
    Value* item = t.item(place);
    b_.CreateStore(int64(0), variable(s->outs[0]));
    for (std::size_t k = 1; k < s->outs.size(); ++k)
        b_.CreateStore(t.word(item, k - 1), variable(s->outs[k]));
    t.set(offsetof(TableRows, end), b_.CreateConstInBoundsGEP1_64(m_.i64, item, -1));
    t.set(offsetof(TableRows, item_count), rest);
    t.mark_changed();
    call_where(s, args, rare, after);
}

void FunctionEmitter::count_items(ir::S s, std::span<Value* const> args) {
    TableAccess t(b_, args[0]);
    b_.CreateStore(t.number(offsetof(TableRows, item_count)), variable(s->outs[0]));
}

/// A row of a dict or a set of which nothing was removed.
void FunctionEmitter::visit_row(ir::S s, std::span<Value* const> args) {
    TableAccess t(b_, args[0]);
    llvm::BasicBlock *there = block("row"), *rare = block("row.other"), *after = block("row.after");
    Value* count = t.number(offsetof(TableRows, item_count));
    Value* is_other = b_.CreateICmpUGE(args[1], count);
    for (std::size_t field : {offsetof(TableRows, row_count), offsetof(TableRows, loop_count)})
        is_other = b_.CreateOr(is_other, b_.CreateICmpNE(t.number(field), count));
    t.branch_if_rare(is_other, rare, there);
    Value* item = t.item(args[1]);
    b_.CreateStore(int64(0), variable(s->outs[0]));
    for (std::size_t k = 1; k < s->outs.size(); ++k)
        b_.CreateStore(t.word(item, k - 1), variable(s->outs[k]));
    call_where(s, args, rare, after);
}

/// Goes to `found` with the item of a row, or to `absent`.
static std::pair<Place, Value*> search(llvm::IRBuilder<>& b, TableAccess& t, Value* key,
                                       llvm::BasicBlock* found, llvm::BasicBlock* absent) {
    llvm::BasicBlock* before = b.GetInsertBlock();
    llvm::Function* in = before->getParent();
    auto* probe = llvm::BasicBlock::Create(b.getContext(), "probe", in, found);
    auto* compare = llvm::BasicBlock::Create(b.getContext(), "probe.key", in, found);
    auto* next = llvm::BasicBlock::Create(b.getContext(), "probe.next", in, found);
    Value* mask = t.number(offsetof(TableRows, index_mask));
    Value* hash = b.CreateOr(b.CreateMul(key, b.getInt64(whole_key_factor)), b.getInt64(1));
    Value* home = b.CreateAnd(b.CreateLShr(hash, t.number(offsetof(TableRows, index_shift))), mask);
    b.CreateBr(probe);
    b.SetInsertPoint(probe);
    llvm::PHINode* slot = b.CreatePHI(b.getInt64Ty(), 2, "slot");
    slot->addIncoming(home, before);
    Value* number = t.read_index(t.index_at(slot));
    b.CreateCondBr(b.CreateICmpEQ(number, b.getInt32(0)), absent, compare);
    b.SetInsertPoint(compare);
    Value* row = b.CreateZExt(b.CreateSub(number, b.getInt32(1)), b.getInt64Ty());
    Value* item = t.item(row);
    b.CreateCondBr(b.CreateICmpEQ(t.word(item, 0), key), found, next);
    b.SetInsertPoint(next);
    slot->addIncoming(b.CreateAnd(b.CreateAdd(slot, b.getInt64(1)), mask), next);
    b.CreateBr(probe);
    return {{hash, slot, number}, item};
}

void FunctionEmitter::look_up(ir::S s, std::span<Value* const> args) {
    TableAccess t(b_, args[0]);
    llvm::BasicBlock *found = block("key"), *absent = block("key.absent"),
                     *after = block("key.after");
    Value* item = search(b_, t, args[1], found, absent).second;
    b_.SetInsertPoint(found);
    b_.CreateStore(int64(1), variable(s->outs[0]));
    for (std::size_t k = 1; k < s->outs.size(); ++k)
        b_.CreateStore(t.word(item, k), variable(s->outs[k]));
    b_.CreateBr(after);
    b_.SetInsertPoint(absent);
    b_.CreateStore(int64(0), variable(s->outs[0]));
    for (std::size_t k = 1; k < s->outs.size(); ++k) b_.CreateStore(args[k], variable(s->outs[k]));
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
}

/// A value that holds no blocks under a key, or a key of a set.
void FunctionEmitter::enter(ir::S s, std::span<Value* const> args) {
    TableAccess t(b_, args[0]);
    llvm::BasicBlock *found = block("enter"), *absent = block("enter.absent"),
                     *fits = block("enter.new"), *rare = block("enter.grow"),
                     *after = block("enter.after");
    auto [place, item] = search(b_, t, args[1], found, absent);
    const std::size_t width = args.size();  // a hash instead of the table
    b_.SetInsertPoint(found);
    for (std::size_t k = 2; k < width; ++k) t.set_word(item, k - 1, args[k]);
    t.mark_changed();
    b_.CreateStore(int64(0), variable(s->outs[0]));
    b_.CreateBr(after);
    b_.SetInsertPoint(absent);
    Value* row = t.pointer(offsetof(TableRows, end));
    Value* end = t.words_on(row, width);
    t.branch_if_rare(b_.CreateICmpUGT(end, t.pointer(offsetof(TableRows, limit))), rare, fits);
    t.set_word(row, 0, place.hash);
    for (std::size_t k = 1; k < width; ++k) t.set_word(row, k, args[k]);
    t.set(offsetof(TableRows, end), end);
    for (std::size_t field : {offsetof(TableRows, row_count), offsetof(TableRows, item_count)}) {
        Value* count = b_.CreateAdd(t.number(field), int64(1));
        t.set(field, count);
        if (field == offsetof(TableRows, row_count))
            t.write_index(t.index_at(place.slot), b_.CreateTrunc(count, m_.i32));
    }
    t.mark_changed();
    b_.CreateStore(int64(0), variable(s->outs[0]));
    call_where(s, args, rare, after);
}

/// An integer of up to 32 bits, of one word.
void FunctionEmitter::draw_bits(ir::S s, std::span<Value* const> args) {
    DrawnAccess drawn(b_, m_, true);
    llvm::BasicBlock *there = block("draw"), *rare = block("draw.other"),
                     *after = block("draw.after");
    Value* bits = args[0];
    Value* is_one = b_.CreateICmpULT(b_.CreateSub(bits, int64(1)), int64(32));
    b_.CreateCondBr(b_.CreateAnd(is_one, drawn.has(1)), there, rare);
    b_.SetInsertPoint(there);
    Value* word = b_.CreateZExt(drawn.take(1)[0], m_.i64);
    b_.CreateStore(b_.CreateLShr(word, b_.CreateSub(int64(32), bits)), variable(s->outs[0]));
    call_where(s, args, rare, after);
}

/// As Twister::next_double makes it, of two words.
void FunctionEmitter::draw_double(ir::S s, std::span<Value* const> args, bool of_python) {
    DrawnAccess drawn(b_, m_, of_python);
    llvm::BasicBlock *there = block("draw"), *rare = block("draw.other"),
                     *after = block("draw.after");
    b_.CreateCondBr(drawn.has(2), there, rare);
    b_.SetInsertPoint(there);
    auto words = drawn.take(2);
    llvm::Type* number = b_.getDoubleTy();
    Value* high = b_.CreateUIToFP(b_.CreateLShr(words[0], 5), number);
    Value* low = b_.CreateUIToFP(b_.CreateLShr(words[1], 6), number);
    Value* sum = b_.CreateFAdd(b_.CreateFMul(high, llvm::ConstantFP::get(number, 0x1p26)), low);
    Value* made = b_.CreateFMul(sum, llvm::ConstantFP::get(number, 0x1p-53));
    b_.CreateStore(b_.CreateBitCast(made, m_.i64), variable(s->outs[0]));
    call_where(s, args, rare, after);
}

/// 64 bits of a bit generator of NumPy, by the function that it hands to C.
Value* FunctionEmitter::draw_word(Value* generator) {
    Value* from = b_.CreateIntToPtr(generator, m_.ptr);
    auto field = [&](std::size_t offset) {
        return b_.CreateLoad(m_.ptr, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), from, offset));
    };
    Value* state = field(offsetof(BitGenerator, state));
    auto* type = llvm::FunctionType::get(m_.i64, {m_.ptr}, false);
    return b_.CreateCall(type, field(offsetof(BitGenerator, next_uint64)), {state});
}

/// A number under the curve, as library/random/ziggurat.h draws it.
Value* FunctionEmitter::draw_in_layers(const std::string& curve, Value* generator, Value* word,
                                       LayerPoint at, Value* sign) {
    llvm::Type* number = b_.getDoubleTy();
    Value* layers = find_once(b_, m_, ("unisono_" + curve + "_layers").c_str());
    auto entry = [&](llvm::Type* type, std::size_t offset) {
        Value* table = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), layers, offset);
        return b_.CreateLoad(type, b_.CreateInBoundsGEP(type, table, at.layer));
    };
    Value* x = b_.CreateFMul(b_.CreateSIToFP(at.fraction, number),
                             entry(number, offsetof(ZigguratLayers, width)));
    if (sign) x = b_.CreateBitCast(b_.CreateXor(b_.CreateBitCast(x, m_.i64), sign), number);
    llvm::BasicBlock *before = b_.GetInsertBlock(), *rare = block("draw.rest"),
                     *after = block("draw.after");
    Value* is_inside =
        b_.CreateICmpULT(at.fraction, entry(m_.i64, offsetof(ZigguratLayers, inside)));
    b_.CreateCondBr(is_inside, after, rare,
                    llvm::MDBuilder(m_.context).createBranchWeights(100, 1));
    b_.SetInsertPoint(rare);
    auto* type = llvm::FunctionType::get(number, {m_.i64, m_.i64}, false);
    Value* other =
        b_.CreateCall(m_.declare(("unisono_rest_of_" + curve).c_str(), type), {generator, word});
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    llvm::PHINode* drawn = b_.CreatePHI(number, 2);
    drawn->addIncoming(x, before);
    drawn->addIncoming(other, rare);
    return drawn;
}

void FunctionEmitter::draw_normal(ir::S s, std::span<Value* const> args) {
    Value* word = draw_word(args[0]);
    LayerPoint at{b_.CreateAnd(word, int64(0xff)),
                  b_.CreateAnd(b_.CreateLShr(word, 9), int64((std::int64_t{1} << 52) - 1))};
    Value* sign = b_.CreateShl(b_.CreateLShr(word, 8), 63);
    Value* drawn = draw_in_layers("normal", args[0], word, at, sign);
    auto parameter = [&](Value* bits) { return b_.CreateBitCast(bits, b_.getDoubleTy()); };
    Value* made = b_.CreateFAdd(parameter(args[1]), b_.CreateFMul(parameter(args[2]), drawn));
    b_.CreateStore(b_.CreateBitCast(made, m_.i64), variable(s->outs[0]));
}

void FunctionEmitter::draw_exponential(ir::S s, std::span<Value* const> args) {
    Value* word = draw_word(args[0]);
    LayerPoint at{b_.CreateAnd(b_.CreateLShr(word, 3), int64(0xff)), b_.CreateLShr(word, 11)};
    Value* drawn = draw_in_layers("exponential", args[0], word, at, nullptr);
    Value* made = b_.CreateFMul(b_.CreateBitCast(args[1], b_.getDoubleTy()), drawn);
    b_.CreateStore(b_.CreateBitCast(made, m_.i64), variable(s->outs[0]));
}

}  // namespace unisono::codegen
