# Debian packages of what `cmake --install` lays down (`./run package`):
#
#     tessera            the program, man pages, completions; it needs no libtessera
#     libtessera0        the shared library
#     libtessera-dev     header, pkg-config, CMake files
#     libtessera-cuda    the module for NVIDIA's GPUs, where it was built
#     python3-tessera    the Python package, where there is one (python/)
#
# Dependencies come from dpkg-shlibdeps; OpenBLAS, which is loaded and not linked, is added by hand.
if(NOT EXISTS /etc/debian_version)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR "The Tessera authors")
set(CPACK_PACKAGE_CONTACT "The Tessera authors <tessera@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # programs that link the library then depend on its package
set(CPACK_COMPONENTS_ALL program library development)
set(products "libopenblas0-pthread | libopenblas0")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME tessera)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ${products})
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "dataset-fashion-mnist, python3-tessera")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Tessera trains one wide network as many small subnetworks, puts them together
again, draws the winning ticket (a network that really is smaller and faster),
and measures how far a run is from what the theory proves.

This package has the program, its man pages and completions.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libtessera0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/triggers) # ldconfig
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS ${products})
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Tessera trains one wide network as many small subnetworks, puts them together
again and draws the winning ticket.

This package has the shared library.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtessera-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libtessera0 (= ${PROJECT_VERSION}-1)")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Tessera trains one wide network as many small subnetworks, puts them together
again and draws the winning ticket.

This package has the header, and the files for pkg-config and CMake.")

if(TARGET tessera_cuda) # CUDA comes from NVIDIA, under names that change with each version: no dependency of Debian's
  list(APPEND CPACK_COMPONENTS_ALL cuda)
  set(CPACK_DEBIAN_CUDA_PACKAGE_NAME libtessera-cuda)
  set(CPACK_DEBIAN_CUDA_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "tessera (= ${PROJECT_VERSION}-1) | libtessera0 (= ${PROJECT_VERSION}-1), libc6, libstdc++6, libgcc-s1")
  set(CPACK_DEBIAN_CUDA_PACKAGE_SUGGESTS "libcublas-13-0")
  set(CPACK_COMPONENT_CUDA_DESCRIPTION "The module that Tessera loads for backend: cuda. It needs cuBLAS of CUDA 13,
which NVIDIA gives out, and a driver for it.")
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/python/tessera)
  list(APPEND CPACK_COMPONENTS_ALL python)
  install(DIRECTORY python/tessera DESTINATION lib/python3/dist-packages COMPONENT python EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-tessera)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), python3-numpy, libtessera0 (>= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-torch, python3-pandas, python3-sklearn")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/python/postinst ${PROJECT_SOURCE_DIR}/cmake/python/prerm)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Tessera for Python: training, tickets, certificates and predictions on arrays
of numpy and PyTorch.")
endif()

# What every package has, and what its files still need: cmake/stage.cmake runs when they are laid out.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/stage.cmake)
set(CPACK_TESSERA_SOURCE ${PROJECT_SOURCE_DIR})
include(CPack)
