# The console: bundled by esbuild of packages that are fetched when they are not there, compressed and embedded. Neither Node
# nor npm takes part. Without the packages the build says so, and the binary serves a page that says so too.
option(HF_CONSOLE "Build the web console" ON)
set(HF_CONSOLE_PACKAGES ${CMAKE_SOURCE_DIR}/build/packages CACHE PATH "Where the packages of console/packages.txt are, or go")

set(HF_CONSOLE_OUT ${CMAKE_BINARY_DIR}/console)
set(HF_CONSOLE_FAULT "HF_CONSOLE is OFF")
if(HF_CONSOLE)
  include(${CMAKE_SOURCE_DIR}/cmake/fetch.cmake)
  set(processor none)
  if(CMAKE_HOST_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    set(processor x64)
  elseif(CMAKE_HOST_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(processor arm64)
  endif()
  if(processor STREQUAL "none")
    set(HF_CONSOLE_FAULT "there is no esbuild for ${CMAKE_HOST_SYSTEM_PROCESSOR} in console/packages.txt")
  else()
    hf_packages_fetch(${CMAKE_SOURCE_DIR}/console/packages.txt ${HF_CONSOLE_PACKAGES} build ${processor} HF_CONSOLE_FAULT)
  endif()
endif()

add_executable(assetgen tools/assetgen.c)
target_link_libraries(assetgen PRIVATE hf_flags PkgConfig::ZLIB PkgConfig::CRYPTO)
set_target_properties(assetgen PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tools)

set(HF_CONSOLE_TABLE ${HF_GEN}/server/console_table.c)
if(HF_CONSOLE_FAULT)
  message(STATUS "console: left out: ${HF_CONSOLE_FAULT}")
  add_custom_command(
    OUTPUT ${HF_CONSOLE_TABLE}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${HF_GEN}/server
    COMMAND assetgen ${HF_CONSOLE_TABLE} ${CMAKE_SOURCE_DIR}/console/without.html
    DEPENDS assetgen ${CMAKE_SOURCE_DIR}/console/without.html)
else()
  file(GLOB_RECURSE HF_CONSOLE_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/console/src/*)
  set(licences "")
  foreach(name preact @preact/signals @preact/signals-core)
    file(READ ${HF_CONSOLE_PACKAGES}/node_modules/${name}/LICENSE text)
    string(APPEND licences "${name}\n\n${text}\n\n")
  endforeach()
  file(CONFIGURE OUTPUT ${HF_CONSOLE_OUT}/licences.txt CONTENT "${licences}" @ONLY) # written only when it differs
  add_custom_command(
    OUTPUT ${HF_CONSOLE_TABLE} ${HF_CONSOLE_OUT}/app.js ${HF_CONSOLE_OUT}/app.css
    COMMAND ${CMAKE_COMMAND} -E make_directory ${HF_GEN}/server
    COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${HF_CONSOLE_PACKAGES}/node_modules
            ${HF_CONSOLE_PACKAGES}/node_modules/@esbuild/linux-${processor}/bin/esbuild
            ${CMAKE_SOURCE_DIR}/console/src/app.tsx --bundle --minify --format=esm --target=es2022 --log-level=warning
            --tsconfig=${CMAKE_SOURCE_DIR}/console/tsconfig.json --define:BUILT_VERSION="${HF_VERSION}"
            --outfile=${HF_CONSOLE_OUT}/app.js
    COMMAND assetgen ${HF_CONSOLE_TABLE} ${CMAKE_SOURCE_DIR}/console/index.html ${HF_CONSOLE_OUT}/app.js
            ${HF_CONSOLE_OUT}/app.css ${HF_CONSOLE_OUT}/licences.txt ${CMAKE_SOURCE_DIR}/console/icon.svg
    DEPENDS assetgen ${HF_CONSOLE_SOURCES} ${CMAKE_SOURCE_DIR}/console/index.html ${CMAKE_SOURCE_DIR}/console/icon.svg
            ${CMAKE_SOURCE_DIR}/console/tsconfig.json ${HF_CONSOLE_OUT}/licences.txt
    VERBATIM)
endif()
