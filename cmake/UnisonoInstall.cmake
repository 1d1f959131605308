# Install rules: everything into the package for a wheel, the engine and its headers for C++ otherwise.

get_property(plugins GLOBAL PROPERTY UNISONO_PLUGINS)
if(SKBUILD)
  install(TARGETS unisono ${plugins} LIBRARY DESTINATION unisono)
  install(TARGETS _engine LIBRARY DESTINATION unisono)
  if(TARGET unisono_v3)
    install(TARGETS unisono_v3 LIBRARY DESTINATION unisono/glibc-hwcaps/x86-64-v3)
  endif()
  install(DIRECTORY engine/include/unisono DESTINATION unisono/include)
  if(UNISONO_BUNDLE AND TARGET TBB::tbb)
    # Under its own name: where the process has loaded oneTBB already, the dynamic loader shares it.
    install(FILES $<TARGET_FILE:TBB::tbb> DESTINATION unisono RENAME $<TARGET_SONAME_FILE_NAME:TBB::tbb>)
  endif()
else()
  include(GNUInstallDirs)
  install(TARGETS unisono ${plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY engine/include/unisono DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} OPTIONAL)
endif()
