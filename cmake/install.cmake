# What `cmake --install` lays down: the program with its manual page and shell completions, the
# shared library with its one header, and what lets other projects find them (pkg-config, CMake).
# The static library stays here: hidden visibility cannot hide the library's inner names in it.
include(CMakePackageConfigHelpers)

install(TARGETS tessera EXPORT tesseraTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        NAMELINK_COMPONENT development)
install(FILES include/tessera.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(FILES cmake/tessera.3 DESTINATION ${CMAKE_INSTALL_DATADIR}/man/man3 COMPONENT development)

# ---- A manual page for each section of the header, and a link to it for each function -----------
find_program(AWK NAMES awk REQUIRED)
set(man3 ${PROJECT_BINARY_DIR}/man3)
add_custom_command(OUTPUT man3.made COMMAND ${CMAKE_COMMAND} -E rm -rf ${man3}
                   COMMAND ${CMAKE_COMMAND} -E make_directory ${man3}
                   COMMAND ${AWK} -v out=${man3} -v version=${PROJECT_VERSION} -f ${PROJECT_SOURCE_DIR}/cmake/man3.awk
                           ${PROJECT_SOURCE_DIR}/include/tessera.h
                   COMMAND ${CMAKE_COMMAND} -E touch man3.made
                   DEPENDS ${PROJECT_SOURCE_DIR}/include/tessera.h ${PROJECT_SOURCE_DIR}/cmake/man3.awk VERBATIM)
add_custom_target(tessera_man3 ALL DEPENDS man3.made)
install(DIRECTORY ${man3}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/man/man3 COMPONENT development FILES_MATCHING PATTERN "*.3")

# ---- The program, and what it says about itself -------------------------------------------------
# tessera_print(FILE FOLDER ARGUMENT...): what `tessera help ARGUMENT...` prints, as a file of share/FOLDER.
set(pages)
function(tessera_print file folder)
  add_custom_command(OUTPUT ${file} COMMAND tessera_program help ${ARGN} > ${file}
                     DEPENDS tessera_program VERBATIM)
  install(FILES ${PROJECT_BINARY_DIR}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT program)
  set(pages ${pages} ${file} PARENT_SCOPE)
endfunction()
tessera_print(tessera.1 man/man1 --man)
tessera_print(tessera.bash bash-completion/completions --completion bash)
tessera_print(_tessera zsh/site-functions --completion zsh)
tessera_print(tessera.fish fish/vendor_completions.d --completion fish)
file(GLOB commands CONFIGURE_DEPENDS src/cli/cmd_*.c)
foreach(file ${commands}) # the name is in its row (src/cli/command.h)
  file(STRINGS ${file} row REGEX "^    \\.name = \"[a-z]+\",$")
  string(REGEX REPLACE "^.*\"([a-z]+)\".*$" "\\1" command "${row}")
  tessera_print(tessera-${command}.1 man/man1 ${command} --man)
endforeach()
add_custom_target(tessera_pages ALL DEPENDS ${pages})
install(TARGETS tessera_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

# ---- pkg-config: paths relative to its own place, so that the installed tree can be moved -------
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up "${up}")
configure_file(cmake/tessera.pc.in tessera.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# ---- CMake: find_package(tessera) ---------------------------------------------------------------
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
configure_package_config_file(cmake/tesseraConfig.cmake.in tesseraConfig.cmake
                              INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesseraConfig.cmake ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
        DESTINATION ${cmake_folder} COMPONENT development)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${cmake_folder} COMPONENT development)
