# Tests that are scripts: the real binary end to end, and the project's own checks. Debian's python3, since its
# packages (python3-jinja2) are installed for that one.
find_program(HEARTH_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT HEARTH_PYTHON)
  find_program(HEARTH_PYTHON python3 REQUIRED)
endif()

function(hearth_script_test name)
  add_test(NAME ${name} COMMAND ${HEARTH_PYTHON} ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 480 ENVIRONMENT
    "HEARTH_BINARY=${CMAKE_BINARY_DIR}/hearth;PYTHONDONTWRITEBYTECODE=1")
endfunction()

hearth_script_test(tools_check_layers tests/tools/check_layers_test.py)
if(TARGET hearth)
  hearth_script_test(e2e_cli tests/e2e/cli_test.py)
  hearth_script_test(e2e_bad_input tests/e2e/bad_input_test.py)
endif()
add_test(NAME kernels_target_symbols
  COMMAND ${CMAKE_SOURCE_DIR}/tools/check_target_symbols.sh ${CMAKE_BINARY_DIR})
if(TARGET jinja_peer)
  add_test(NAME peer_jinja COMMAND ${HEARTH_PYTHON} tests/peers/jinja_diff.py $<TARGET_FILE:jinja_peer> --count 3000
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(peer_jinja PROPERTIES TIMEOUT 480 ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endif()
# ./test installs the reference with npm; skipped where that was not possible.
find_program(HEARTH_NODE node)
if(TARGET tokenizer_peer AND HEARTH_NODE)
  add_test(NAME peer_tokenizer COMMAND ${HEARTH_NODE} tests/peers/tokenizer_diff.mjs $<TARGET_FILE:tokenizer_peer>
    --count 400 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(peer_tokenizer PROPERTIES TIMEOUT 480 SKIP_RETURN_CODE 77)
endif()
