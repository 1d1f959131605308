#!/usr/bin/env bash
# Formatters and linters: checks the tree, or with --fix changes it; --tidy runs clang-tidy instead.
#   scripts/lint.sh [--fix] [file...]    ruff and clang-format over the given files (default: all)
#   scripts/lint.sh --tidy [file...]     clang-tidy, on the compile commands of build/debug
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH="$PWD/.venv/bin:$PATH"

mode=check
case "${1:-}" in
--fix) mode=fix; shift ;;
--tidy) mode=tidy; shift ;;
esac

# The given files, else all that git knows or would add, filtered by name.
files() {
    local pattern=$1
    shift
    { if [ $# -gt 0 ]; then printf '%s\n' "$@"; else git ls-files -co --exclude-standard; fi; } |
        grep -E "$pattern" | while read -r file; do [ -f "$file" ] && echo "$file"; done
}

failed=0
report=$(mktemp)
trap 'rm -f "$report"' EXIT
if [ "$mode" = tidy ]; then
    # LLVM's headers take clang-tidy minutes per file: that folder is left to the compilers' warnings.
    files '^(engine|bindings)/.*\.cpp$' "$@" | grep -v '^engine/backends/llvm/' |
        xargs -r -P "$(nproc)" -n 4 clang-tidy -p build/debug --quiet 2>/dev/null || failed=1
    exit $failed
fi

mapfile -t python_files < <(files '\.pyi?$' "$@")
mapfile -t cpp_files < <(files '\.(cpp|h)$' "$@")
if [ ${#python_files[@]} -gt 0 ]; then
    if [ "$mode" = fix ]; then
        ruff check -q --fix "${python_files[@]}" || failed=1
        ruff format -q "${python_files[@]}" || failed=1
    else
        ruff check -q "${python_files[@]}" || failed=1
        ruff format -q --check "${python_files[@]}" || { echo "ruff format: run scripts/lint.sh --fix"; failed=1; }
    fi
fi
if [ ${#cpp_files[@]} -gt 0 ]; then
    if [ "$mode" = fix ]; then
        clang-format -i "${cpp_files[@]}" || failed=1
    else
        printf '%s\0' "${cpp_files[@]}" |
            xargs -0 clang-format --dry-run -Werror 2>"$report" || {
            failed=1
            grep -q 'clang-format-violations' "$report" || cat "$report" >&2
            sed -n 's/:.*clang-format-violations.*//p' "$report" | sort -u | sed 's/^/clang-format would change /'
            echo "clang-format: run scripts/lint.sh --fix"
        }
    fi
fi
exit $failed
