# The Python extension _engine, and the package assembled in the build tree beside it.

unisono_sources(bindings_sources bindings)
if(NOT bindings_sources)
  return()
endif()

# The tree's own environment is preferred: it has nanobind and is the Python that runs the tests.
if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")
endif()
find_package(Python 3.11 COMPONENTS Interpreter Development.Module)
if(Python_FOUND)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT nanobind_ROOT)
  if(SKBUILD)
    message(FATAL_ERROR "Python extension: nanobind was not found by ${Python_EXECUTABLE}")
  endif()
  message(STATUS "Python extension: not built, Python's development files or nanobind were not found; "
                 "run scripts/setup.sh")
  return()
endif()
find_package(nanobind CONFIG REQUIRED)

nanobind_add_module(_engine NB_STATIC NOMINSIZE ${bindings_sources})
unisono_target(_engine)
target_link_libraries(_engine PRIVATE unisono)
target_include_directories(_engine PRIVATE bindings)
# nanobind's headers are third-party code, and its targets hide all symbols by a compiler flag of their own.
get_target_property(nanobind_includes nanobind-static INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(_engine SYSTEM PRIVATE ${nanobind_includes})

# Links to the Python files: always fresh. The list is a dependency of the build, so a new file is linked by
# the next build.
file(GLOB_RECURSE python_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/python/unisono"
     "${PROJECT_SOURCE_DIR}/python/unisono/*.py" "${PROJECT_SOURCE_DIR}/python/unisono/*.pyi"
     "${PROJECT_SOURCE_DIR}/python/unisono/*.pxd" "${PROJECT_SOURCE_DIR}/python/unisono/py.typed"
     "${PROJECT_SOURCE_DIR}/python/unisono/opencl/cl/*.h")
# Links to files that were moved or removed go first: pkgutil and editors would find them.
file(GLOB_RECURSE links LIST_DIRECTORIES FALSE "${UNISONO_PACKAGE_DIR}/*.py" "${UNISONO_PACKAGE_DIR}/*.pyi")
foreach(link IN LISTS links)
  if(NOT EXISTS "${link}")
    file(REMOVE "${link}")
  endif()
endforeach()
foreach(file IN LISTS python_files)
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY "${UNISONO_PACKAGE_DIR}/${folder}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/python/unisono/${file}" "${UNISONO_PACKAGE_DIR}/${file}" SYMBOLIC)
endforeach()
# Headers for extensions, where un.get_include() says.
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/engine/include" "${UNISONO_PACKAGE_DIR}/include" SYMBOLIC)
