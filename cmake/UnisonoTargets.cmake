# Compiler settings shared by all targets, and the functions that declare back ends, plugins, tests and examples.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1 -DUNISONO_DEBUG_BUILD=1")
# Unoptimised: checked code takes the optimiser several times as long, for programs that run for seconds.
set(CMAKE_CXX_FLAGS_SANITIZE "-O0 -g1 -fno-omit-frame-pointer -DUNISONO_DEBUG_BUILD=1")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(UNISONO_CCACHE ccache)
  if(UNISONO_CCACHE)
    # Paths relative to the tree: another clone or worktree of the same sources hits the cache too. Headers are taken from
    # the compiler's own list of them, without a run of the preprocessor before.
    set(CMAKE_CXX_COMPILER_LAUNCHER /usr/bin/env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
        CCACHE_SLOPPINESS=pch_defines,time_macros "${UNISONO_CCACHE}")
  endif()
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Where the Python package is assembled in the build tree; all shared objects are linked straight into it.
set(UNISONO_PACKAGE_DIR "${PROJECT_BINARY_DIR}/python/unisono")
# Symbols outside namespace unisono stay private to their shared object.
set(UNISONO_EXPORTS "${PROJECT_SOURCE_DIR}/cmake/exports.map")

# Those of the standard library that most files need.
set(UNISONO_STANDARD_HEADERS <algorithm> <array> <atomic> <bit> <chrono> <cmath> <cstdint> <cstring> <deque> <functional> <limits>
    <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <vector>)

# unisono_sources(VAR folder... [EXCEPT folder...]): the C++ files of the folders and all below them, without the
# excepted folders, whose names may hold * (they are targets of their own).
function(unisono_sources var)
  cmake_parse_arguments(arg "" "" "EXCEPT" ${ARGN})
  set(all)
  foreach(folder IN LISTS arg_UNPARSED_ARGUMENTS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
    list(APPEND all ${found})
  endforeach()
  foreach(folder IN LISTS arg_EXCEPT)
    string(REPLACE "*" "[^/]+" folder "${folder}")
    list(FILTER all EXCLUDE REGEX "^${folder}/")
  endforeach()
  list(TRANSFORM all PREPEND "${PROJECT_SOURCE_DIR}/")
  set(${var} "${all}" PARENT_SCOPE)
endfunction()

# Flags of code that is not built for Python: bits are promised, so nothing may contract.
add_library(unisono_flags INTERFACE)
target_compile_options(unisono_flags INTERFACE -ffp-contract=off -fno-math-errno -Wall -Wextra -Wpedantic)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(UNISONO_LEVEL "x86-64-v3" CACHE STRING "Instruction set that all is built for")
  # A target may be built for another one.
  set(level $<TARGET_PROPERTY:UNISONO_LEVEL>)
  target_compile_options(unisono_flags INTERFACE "-march=$<IF:$<BOOL:${level}>,${level},${UNISONO_LEVEL}>")
  if(UNISONO_LEVEL STREQUAL "x86-64-v3")
    # Written into each shared object: the dynamic loader refuses it on an older processor, with an error.
    include(CheckLinkerFlag)
    check_linker_flag(CXX -Wl,-z,x86-64-v3 UNISONO_CAN_MARK_LEVEL)
    if(UNISONO_CAN_MARK_LEVEL)
      target_link_options(unisono_flags INTERFACE -Wl,-z,x86-64-v3)
    endif()
  else()
    # Vectors that older processors have not are passed in memory; none passes between libraries.
    target_compile_options(unisono_flags INTERFACE -Wno-psabi)
  endif()
endif()
if(UNISONO_HARDEN)
  # What is shipped checks its stack and the bounds of known buffers, and its tables of addresses are read-only.
  target_compile_options(unisono_flags INTERFACE -fstack-protector-strong)
  target_compile_definitions(unisono_flags INTERFACE _FORTIFY_SOURCE=2)
  target_link_options(unisono_flags INTERFACE -Wl,-z,relro -Wl,-z,now)
endif()
if(UNISONO_SANITIZE)
  target_compile_options(unisono_flags INTERFACE "-fsanitize=${UNISONO_SANITIZE}")
  target_link_options(unisono_flags INTERFACE "-fsanitize=${UNISONO_SANITIZE}")
  if(UNISONO_SANITIZE MATCHES "undefined")
    # Of null pointers, objects' ends and tables of virtual functions the address sanitizer tells as well.
    target_compile_options(unisono_flags INTERFACE -fno-sanitize=null,object-size,vptr -fno-sanitize-recover=undefined)
  endif()
endif()

# unisono_precompile(target <header>...): others' headers, compiled once for all of the target's files. In checked builds
# only: in the others each file must name what it needs.
function(unisono_precompile target)
  if(UNISONO_SANITIZE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# unisono_target(name): warnings, sanitizers, exports and the place of a shared object of ours.
function(unisono_target target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:unisono_flags>)
  unisono_precompile(${target} ${UNISONO_STANDARD_HEADERS})
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${UNISONO_PACKAGE_DIR}")
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
  target_link_options(${target} PRIVATE "-Wl,--version-script=${UNISONO_EXPORTS}")
  # A missing symbol is a link error, but for Python's (in the interpreter) and the sanitizers' (in the executable).
  get_target_property(undefined ${target} UNISONO_UNDEFINED)
  if(NOT UNISONO_SANITIZE AND NOT undefined AND NOT target STREQUAL "_engine")
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${UNISONO_EXPORTS}")
endfunction()

# unisono_backend(name [FLAGS ...] [DEFINITIONS ...]): adds engine/backends/<name> to the engine.
function(unisono_backend name)
  cmake_parse_arguments(arg "" "" "FLAGS;DEFINITIONS" ${ARGN})
  unisono_sources(sources engine/backends/${name} EXCEPT engine/backends/${name}/*)
  if(NOT sources)
    return()
  endif()
  target_sources(unisono PRIVATE ${sources})
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${arg_FLAGS}"
                              COMPILE_DEFINITIONS "${arg_DEFINITIONS}")
  if(arg_FLAGS)
    set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # compiled with other flags
  endif()
endfunction()

# unisono_find_<LIBRARY>(target found): links the library a plugin needs, or sets found to FALSE.
function(unisono_find_LLVM target found)
  find_package(LLVM 19.1 CONFIG QUIET HINTS /usr/lib/llvm-19/lib/cmake/llvm)
  if(LLVM_FOUND)
    separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
    target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
    target_compile_definitions(${target} PRIVATE ${definitions})
    if(NOT LLVM_ENABLE_RTTI)
      target_compile_options(${target} PRIVATE -fno-rtti)
    endif()
    target_link_libraries(${target} PRIVATE LLVM)
    unisono_precompile(${target} <llvm/IR/IRBuilder.h> <llvm/IR/Instructions.h> <llvm/IR/Module.h> <llvm/Passes/PassBuilder.h>)
  endif()
  set(${found} ${LLVM_FOUND} PARENT_SCOPE)
endfunction()

# LLVM and clang as archives: the linker takes what is used, so one object with both needs neither of their shared
# libraries nor what those need (z3, ICU, libxml2, libedit).
function(unisono_find_StaticLLVM target found)
  find_package(LLVM 19.1 CONFIG QUIET HINTS /usr/lib/llvm-19/lib/cmake/llvm)
  file(GLOB archives "${LLVM_LIBRARY_DIR}/libLLVM*.a" "${LLVM_LIBRARY_DIR}/libclang*.a")
  find_library(UNISONO_ZSTD_ARCHIVE NAMES libzstd.a)
  if(LLVM_FOUND AND archives MATCHES "libclangCodeGen\\.a" AND UNISONO_ZSTD_ARCHIVE)
    separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
    target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
    target_compile_definitions(${target} PRIVATE ${definitions})
    target_link_libraries(${target} PRIVATE -Wl,--start-group ${archives} -Wl,--end-group ${UNISONO_ZSTD_ARCHIVE} z
                          Threads::Threads ${CMAKE_DL_LIBS})
    target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,-Bsymbolic)
    set(${found} TRUE PARENT_SCOPE)
  else()
    set(${found} FALSE PARENT_SCOPE)
  endif()
endfunction()

# clang's libraries are one shared object, which has no CMake package of its own where only its headers are there.
function(unisono_find_Clang target found)
  unisono_find_LLVM(${target} llvm_found)
  find_library(UNISONO_CLANG NAMES clang-cpp libclang-cpp.so.19.1 HINTS /usr/lib/llvm-19/lib)
  find_path(UNISONO_CLANG_HEADERS clang/CodeGen/CodeGenAction.h HINTS /usr/lib/llvm-19/include)
  if(llvm_found AND UNISONO_CLANG AND UNISONO_CLANG_HEADERS)
    target_include_directories(${target} SYSTEM PRIVATE ${UNISONO_CLANG_HEADERS})
    target_link_libraries(${target} PRIVATE ${UNISONO_CLANG})
    unisono_precompile(${target} <clang/AST/ASTContext.h> <clang/AST/RecursiveASTVisitor.h> <clang/Frontend/CompilerInstance.h>)
    set(${found} TRUE PARENT_SCOPE)
  else()
    set(${found} FALSE PARENT_SCOPE)
  endif()
endfunction()

function(unisono_find_TBB target found)
  find_package(TBB CONFIG QUIET)
  if(TBB_FOUND)
    target_link_libraries(${target} PRIVATE TBB::tbb)
  endif()
  set(${found} ${TBB_FOUND} PARENT_SCOPE)
endfunction()

function(unisono_find_MPI target found)
  if(NOT MPI_C_COMPILER)
    find_program(MPI_C_COMPILER NAMES mpicc.openmpi mpicc)
  endif()
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    # The engine loads the machine's MPI before the plugin, whose symbols of it stay undefined.
    target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX)
    target_include_directories(${target} SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
    set_target_properties(${target} PROPERTIES UNISONO_UNDEFINED ON)
  endif()
  set(${found} ${MPI_C_FOUND} PARENT_SCOPE)
endfunction()

# Headers of MPICH, beside those of another MPI.
function(unisono_find_MPICH target found)
  find_path(UNISONO_MPICH_HEADERS mpi.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich
            /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/mpich/include /usr/include/mpich NO_DEFAULT_PATH)
  if(UNISONO_MPICH_HEADERS)
    target_compile_definitions(${target} PRIVATE MPICH_SKIP_MPICXX)
    target_include_directories(${target} SYSTEM PRIVATE ${UNISONO_MPICH_HEADERS})
    set_target_properties(${target} PROPERTIES UNISONO_UNDEFINED ON)
    set(${found} TRUE PARENT_SCOPE)
  else()
    set(${found} FALSE PARENT_SCOPE)
  endif()
endfunction()

# unisono_plugin(name FOLDERS folder... REQUIRES library): a module beside libunisono that links one heavy library.
function(unisono_plugin name)
  cmake_parse_arguments(arg "" "REQUIRES" "FOLDERS" ${ARGN})
  unisono_sources(sources ${arg_FOLDERS})
  if(NOT sources)
    return()
  endif()
  add_library(${name} MODULE ${sources})
  cmake_language(CALL unisono_find_${arg_REQUIRES} ${name} found)
  if(NOT found)
    message(STATUS "${name}: not built, ${arg_REQUIRES} was not found")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  unisono_target(${name})
  target_link_libraries(${name} PRIVATE unisono)
  set_property(GLOBAL APPEND PROPERTY UNISONO_PLUGINS ${name})
endfunction()

# unisono_unit_tests(name folder): one GoogleTest executable over all files of the folder and below it, known to ctest.
function(unisono_unit_tests name folder)
  unisono_sources(sources ${folder})
  if(NOT sources)
    return()
  endif()
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(STATUS "${name}: not built, GoogleTest was not found")
    return()
  endif()
  get_property(plugins GLOBAL PROPERTY UNISONO_PLUGINS)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE unisono unisono_flags GTest::gtest_main)
  target_include_directories(${name} PRIVATE tests)
  unisono_precompile(${name} ${UNISONO_STANDARD_HEADERS} <gtest/gtest.h>)
  if(plugins)
    add_dependencies(${name} ${plugins})
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST)
endfunction()

# unisono_cuda_driver(folder): a libcuda.so.1 for tests, <build>/cuda_driver/, which runs kernels on the host, and
# libraries on top of it in the folder below.
function(unisono_cuda_driver folder)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  unisono_sources(sources ${folder} EXCEPT ${folder}/*)
  add_library(unisono_cuda_driver SHARED ${sources})
  unisono_find_LLVM(unisono_cuda_driver found)
  if(NOT found)
    set_target_properties(unisono_cuda_driver PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  target_link_libraries(unisono_cuda_driver PRIVATE unisono_flags Threads::Threads)
  target_include_directories(unisono_cuda_driver PRIVATE tests)
  set_target_properties(unisono_cuda_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1
                        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/cuda_driver")
  add_custom_target(unisono_cuda_libraries)
  foreach(library cublas.12 cusolver.11 cufft.11 curand.10)
    string(REGEX MATCH "[a-z]+" name ${library})
    string(REGEX MATCH "[0-9]+" version ${library})
    add_library(unisono_test_${name} SHARED "${PROJECT_SOURCE_DIR}/${folder}/libraries/${name}.cpp")
    target_link_libraries(unisono_test_${name} PRIVATE unisono_flags unisono_cuda_driver ${CMAKE_DL_LIBS})
    target_include_directories(unisono_test_${name} PRIVATE tests)
    set_target_properties(unisono_test_${name} PROPERTIES OUTPUT_NAME ${name} SOVERSION ${version}
                          LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/cuda_driver/libraries")
    add_dependencies(unisono_cuda_libraries unisono_test_${name})
  endforeach()
endfunction()

# unisono_examples(folder): one executable for each file of the folder, run by ctest as example_<file>.
function(unisono_examples folder)
  unisono_sources(sources ${folder})
  get_property(plugins GLOBAL PROPERTY UNISONO_PLUGINS)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    add_executable(example_${name} ${source})
    target_link_libraries(example_${name} PRIVATE unisono unisono_flags)
    set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
                          RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
    if(plugins)
      add_dependencies(example_${name} ${plugins})
    endif()
    add_test(NAME example_${name} COMMAND example_${name})
  endforeach()
endfunction()
