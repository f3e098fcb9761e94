# Installs Limber into a scratch prefix, builds the consumer project and the programs of the manual against it, and runs them.
foreach(variable IN ITEMS BUILD SOURCE SCRATCH MODEL MANUAL API COMPILER)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "${variable} is not set")
  endif()
endforeach()
file(REMOVE_RECURSE ${SCRATCH})
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output
                  WORKING_DIRECTORY ${directory})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGV} failed:\n${output}")
  endif()
  message("${output}")
  set(output "${output}" PARENT_SCOPE)
endfunction()
function(build source target)
  run(${CMAKE_COMMAND} -S ${source} -B ${target} -G Ninja -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
      -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_BUILD_TYPE=Release)
  run(${CMAKE_COMMAND} --build ${target})
endfunction()

set(directory ${BUILD})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
build(${SOURCE} ${SCRATCH}/build)
run(${SCRATCH}/build/consumer ${MODEL})
run(${SCRATCH}/prefix/bin/limber --version)

# "From a program" of the manual, word for word, with the model of the same page.
file(READ ${MANUAL} manual)
function(extract language file)
  if(NOT manual MATCHES "```${language}\n([^`]*)```")
    message(FATAL_ERROR "${MANUAL} shows no ${language}")
  endif()
  file(WRITE ${SCRATCH}/manual/${file} "${CMAKE_MATCH_1}")
endfunction()
extract(yaml four-bar.yaml)
extract(cmake CMakeLists.txt)
extract(cpp main.cpp)
build(${SCRATCH}/manual ${SCRATCH}/manual/build)
set(directory ${SCRATCH}/manual)
run(${SCRATCH}/manual/build/my_program)
string(STRIP "${output}" printed)
run(${SCRATCH}/prefix/bin/limber run four-bar.yaml --until 1 --step 0.001)
set(summary "${output}")
# Each line "sensor = value" must be a row of the command's table.
string(REPLACE "\n" ";" lines "${printed}")
list(LENGTH lines count)
if(count LESS 3)
  message(FATAL_ERROR "the program of the manual printed too little:\n${printed}")
endif()
foreach(line IN LISTS lines)
  string(REGEX REPLACE " = " " +" row "${line}")
  string(REGEX REPLACE "([.])" "[.]" row "${row}")
  if(NOT summary MATCHES "${row}( |\n)")
    message(FATAL_ERROR "the program of the manual printed '${line}', the command:\n${summary}")
  endif()
endforeach()
message("the program of the manual agrees with the command in ${count} sensors")

# The double pendulum of the page about C++, at most fifteen lines of code, against the same mechanism as a file.
file(READ ${API} manual)
file(MAKE_DIRECTORY ${SCRATCH}/api)
file(COPY_FILE ${SCRATCH}/manual/CMakeLists.txt ${SCRATCH}/api/CMakeLists.txt)
extract(cpp ../api/main.cpp)
file(STRINGS ${SCRATCH}/api/main.cpp code_lines)
list(LENGTH code_lines count)
if(count GREATER 15)
  message(FATAL_ERROR "the double pendulum takes ${count} lines")
endif()
build(${SCRATCH}/api ${SCRATCH}/api/build)
set(directory ${SCRATCH}/api)
run(${SCRATCH}/api/build/my_program)
string(REGEX MATCH "tip[.]x = ([-0-9.e]+)" found "${output}")
set(tip ${CMAKE_MATCH_1})
file(WRITE ${SCRATCH}/api/pendulum.yaml "limber: 1
plane: xy
bodies:
  upper: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  lower: {rod: {from: [1, 0], to: [2, 0], mass: 1}}
joints:
  shoulder: {revolute: [ground, upper.from]}
  elbow: {revolute: [upper.to, lower.from]}
sensors: {tip: {position: lower.to}}
")
run(${SCRATCH}/prefix/bin/limber run pendulum.yaml --until 3)
string(REPLACE "." "[.]" row "tip.x +${tip}")
if(NOT found OR NOT output MATCHES "${row}( |\n)")
  message(FATAL_ERROR "the double pendulum in code has tip.x = ${tip}, the command:\n${output}")
endif()
message("the double pendulum in code, ${count} lines, agrees with the command")

# Classes of a user's own: the ball keeps its height and so its speed.
file(MAKE_DIRECTORY ${SCRATCH}/own)
file(COPY_FILE ${SCRATCH}/manual/CMakeLists.txt ${SCRATCH}/own/CMakeLists.txt)
extract("cpp own" ../own/main.cpp)
build(${SCRATCH}/own ${SCRATCH}/own/build)
set(directory ${SCRATCH}/own)
run(${SCRATCH}/own/build/my_program)
if(NOT output MATCHES "radius = 1.0000, speed = 3.4578")
  message(FATAL_ERROR "the ball with a force, a joint and a sensor of its own left its circle:\n${output}")
endif()
