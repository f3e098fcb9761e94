# Run after a test program is linked: writes a file for ctest with one test per suite of the program. One process for each of some four
# thousand tests would take longer to start than most of them to run, above all under the sanitizers.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests ended with ${code}")
endif()
# Of parameters only the names are of use, and these may hold what lists of CMake do not.
string(REGEX REPLACE "#[^\n]*" "" listed "${listed}")
string(REPLACE ";" " " listed "${listed}")
string(REPLACE "\n" ";" lines "${listed}")
set(text "")
foreach(line IN LISTS lines)
  string(STRIP "${line}" suite)
  if(line MATCHES "^ " OR NOT suite MATCHES "[.]$")
    continue()
  endif()
  string(REGEX REPLACE "[.]$" "" name "${suite}")
  string(APPEND text "add_test([=[${ROOM}.${name}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${suite}*]=] --gtest_brief=1)\n"
                     "set_tests_properties([=[${ROOM}.${name}]=] PROPERTIES TIMEOUT 900 ENVIRONMENT [=[RC_PARAMS=seed=2003 max_success=${DRAWS}]=])\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
