# The page's look and script (src/report/assets) as bytes in a C file of the build folder, so that the program needs no
# file beside it. Called by CMakeLists.txt, as a script: -DOUT=FILE -DCSS=FILES -DJS=FILES -DLIVE=FILE (lists, in their
# order).
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "/* Made by cmake/assets.cmake from src/report/assets. */\n#include \"report/assets.h\"\n")
  foreach(kind CSS JS LIVE)
    set(bytes "")
    foreach(file ${${kind}})
      file(READ ${file} piece HEX)
      string(APPEND bytes ${piece})
    endforeach()
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
    string(TOLOWER ${kind} name)
    string(APPEND text "const unsigned char tsri_asset_${name}[] = {\n${bytes}};\n"
      "const size_t tsri_asset_${name}_size = sizeof tsri_asset_${name};\n")
  endforeach()
  file(WRITE ${OUT} "${text}")
  return()
endif()

file(GLOB TESSERA_PAGE_CSS CONFIGURE_DEPENDS src/report/assets/*.css)
set(TESSERA_PAGE_JS "")
foreach(name scale draw save chart filter page) # each uses those before it
  list(APPEND TESSERA_PAGE_JS ${PROJECT_SOURCE_DIR}/src/report/assets/${name}.js)
endforeach()
set(TESSERA_LIVE_JS ${PROJECT_SOURCE_DIR}/src/report/assets/live.js)
set(TESSERA_ASSETS ${PROJECT_BINARY_DIR}/page_assets.c)
add_custom_command(OUTPUT ${TESSERA_ASSETS}
  COMMAND ${CMAKE_COMMAND} -DOUT=${TESSERA_ASSETS} "-DCSS=${TESSERA_PAGE_CSS}" "-DJS=${TESSERA_PAGE_JS}"
          -DLIVE=${TESSERA_LIVE_JS}
          -P ${PROJECT_SOURCE_DIR}/cmake/assets.cmake
  DEPENDS ${TESSERA_PAGE_CSS} ${TESSERA_PAGE_JS} ${TESSERA_LIVE_JS} ${PROJECT_SOURCE_DIR}/cmake/assets.cmake VERBATIM)
