# libtessera-cuda.so: the backend for NVIDIA's GPUs (src/backend/cuda/), a module that is loaded when a run file names it.
# Built where CUDA 13 is installed, with code for Ampere and Hopper, and PTX that the driver of a later chip compiles.
# Nothing else links anything of CUDA. Sanitizers and coverage are for what runs here, and no GPU does.
option(TESSERA_CUDA "the module for GPUs, where CUDA 13 is installed" ON)
if(NOT TESSERA_CUDA OR TESSERA_SANITIZE OR TESSERA_COVERAGE OR TESSERA_GUARD)
  return()
endif()
include(CheckLanguage)
set(CMAKE_CUDA_ARCHITECTURES 80-real 90 CACHE STRING "chips that the module has code for")
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "CUDA: not found, no module for GPUs")
  return()
endif()
enable_language(CUDA)
find_package(CUDAToolkit 13)
if(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cublas)
  message(STATUS "CUDA: version 13 with cuBLAS not found, no module for GPUs")
  return()
endif()
file(GLOB TESSERA_CUDA_SOURCES CONFIGURE_DEPENDS src/backend/cuda/*.c src/backend/cuda/*.cu)
add_library(tessera_cuda MODULE ${TESSERA_CUDA_SOURCES})
set_target_properties(tessera_cuda PROPERTIES OUTPUT_NAME tessera-cuda CUDA_STANDARD 17 CUDA_RUNTIME_LIBRARY Static
                      C_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
target_include_directories(tessera_cuda PRIVATE include src)
target_include_directories(tessera_cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
# No contraction, as everywhere: a*b+c is fused only where a kernel says fmaf.
target_compile_options(tessera_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:C>:$<TARGET_PROPERTY:tessera_flags,INTERFACE_COMPILE_OPTIONS>>
  $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false> $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${TESSERA_WERROR}>>:-Werror=all-warnings>)
target_compile_definitions(tessera_cuda PRIVATE _GNU_SOURCE)
target_compile_features(tessera_cuda PRIVATE c_std_17)
target_link_libraries(tessera_cuda PRIVATE CUDA::cublas Threads::Threads)
target_link_options(tessera_cuda PRIVATE -Wl,-z,relro,-z,now)
install(TARGETS tessera_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda)
