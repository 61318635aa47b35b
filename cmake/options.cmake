# Compiler flags (STYLE: warnings are errors, -ffp-contract=off so that compilers round alike), ccache, linker.
find_program(HEARTH_CCACHE ccache)
if(HEARTH_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HEARTH_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${HEARTH_CCACHE})
endif()
find_program(HEARTH_MOLD mold)

add_library(hearth_flags INTERFACE)
target_compile_options(hearth_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wold-style-cast -Wnon-virtual-dtor -Wundef
  -Wdouble-promotion -Wimplicit-fallthrough -Werror -ffp-contract=off -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(hearth_flags INTERFACE -Wshadow=local)
else()
  # stable_sort of libstdc++ 12 uses a function of its own that it calls deprecated.
  target_compile_options(hearth_flags INTERFACE -Wshadow -Wthread-safety -Wno-deprecated-declarations)
endif()
if(HEARTH_SANITIZE)
  target_compile_options(hearth_flags INTERFACE -fsanitize=${HEARTH_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(hearth_flags INTERFACE -fsanitize=${HEARTH_SANITIZE})
endif()
if(HEARTH_FUZZ)
  target_compile_options(hearth_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(HEARTH_MOLD)
  target_link_options(hearth_flags INTERFACE -fuse-ld=mold)
endif()
target_include_directories(hearth_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
# System headers of Debian's libraries must not trip our warnings.
target_compile_definitions(hearth_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
