# HDF5 for another machine: as cmake would build it, but without what a debugger wants, which is most of the disk that it
# takes and a fifth of the time. TARGET is what cargo builds for.
string(REPLACE "-unknown-" "-" machine "$ENV{TARGET}")
set(CMAKE_C_COMPILER "${machine}-gcc")
set(CMAKE_C_FLAGS_DEBUG "" CACHE STRING "")
