// Keeps where the generators of compiled code are.
#include "core/native/drawn_words.h"

namespace unisono {

static DrawnWordsSource of_numpy_ = nullptr, of_python_ = nullptr;

bool set_drawn_words(DrawnWordsSource of_numpy, DrawnWordsSource of_python) {
    of_numpy_ = of_numpy;
    of_python_ = of_python;
    return true;
}

DrawnWords* drawn_by_numpy() noexcept { return of_numpy_(); }
DrawnWords* drawn_by_python() noexcept { return of_python_(); }

}  // namespace unisono
