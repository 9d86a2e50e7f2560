# Language level, warnings, and the accelerators that are used where present.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# _GLIBCXX_ASSERTIONS must stay undefined: it aborts every function-based actor of CAF 0.17.
# Bugs assert, also in what is shipped: NDEBUG stays undefined.
add_compile_options(-Wall -Wextra -Werror -UNDEBUG)
# GCC 12 sees overlaps in `"text" + std::string` that aren't there (GCC bug 105651).
add_compile_options(-Wno-restrict)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# paceline_floor(NAME [LIBS libraries...]): one static library per floor from all its sources.
function(paceline_floor name)
  cmake_parse_arguments(FLOOR "" "" "LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(paceline_${name} STATIC ${sources})
  target_include_directories(paceline_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(paceline_${name} PUBLIC ${FLOOR_LIBS})
endfunction()
