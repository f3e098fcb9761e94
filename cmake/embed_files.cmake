# Writes a C++ file that holds the contents of files, as cmake -DOUTPUT=... -DROOTS=... -P embed_files.cmake.
#   ROOTS   pairs separated by "|": a folder, and the prefix its files get
#
# The assembler reads the files themselves, which is quicker than compiling them as numbers.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "|" ";" roots "${ROOTS}")
set(assembly "")
set(declarations "")
set(table "")
set(index 0)
while(roots)
  list(POP_FRONT roots folder prefix)
  file(GLOB_RECURSE paths RELATIVE ${folder} ${folder}/*)
  list(SORT paths)
  foreach(path IN LISTS paths)
    string(APPEND assembly
           "__asm__(\".section .rodata\\nlimber_asset_${index}:\\n.incbin \\\"${folder}/${path}\\\"\\nlimber_asset_${index}_end:\\n.previous\");\n")
    string(APPEND declarations "extern const char limber_asset_${index}[], limber_asset_${index}_end[];\n")
    string(APPEND table
           "        {\"${prefix}${path}\", {limber_asset_${index}, static_cast<std::size_t>(limber_asset_${index}_end - limber_asset_${index})}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
endwhile()
file(WRITE ${OUTPUT} "// Made by cmake/embed_files.cmake.
#include \"studio_assets.hpp\"

${assembly}
extern \"C\" {
${declarations}}

namespace limber::app {

std::span<const Asset> studio_assets() {
    static const Asset assets[] = {
${table}    };
    return assets;
}

}  // namespace limber::app
")
