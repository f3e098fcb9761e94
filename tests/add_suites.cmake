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
function(add name filter)
  string(APPEND text "add_test([=[${ROOM}.${name}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${filter}]=] --gtest_brief=1)\n"
                     "set_tests_properties([=[${ROOM}.${name}]=] PROPERTIES TIMEOUT 1800 ENVIRONMENT "
                     "[=[RC_PARAMS=seed=2003 max_success=${DRAWS};LSAN_OPTIONS=suppressions=${SUPPRESSED}:print_suppressions=0]=])\n")
  set(text "${text}" PARENT_SCOPE)
endfunction()
foreach(line IN LISTS lines)
  string(STRIP "${line}" name)
  if(line MATCHES "^ ")
    # A test: of long suites each is a process, so that several can run at once.
    if(name AND suite MATCHES "${LONG}")
      add("${suite}${name}" "${suite}${name}")
    endif()
  elseif(name MATCHES "[.]$")
    set(suite "${name}")
    if(NOT suite MATCHES "${LONG}")
      string(REGEX REPLACE "[.]$" "" name "${suite}")
      add("${name}" "${suite}*")
    endif()
  endif()
endforeach()
file(WRITE ${OUTPUT} "${text}")
