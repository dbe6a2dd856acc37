# Writes OUT with PLAQ_GIT_VERSION, what `git describe` says of ROOT ("v1.2-3-gabcdef0123", "abcdef0123-dirty"), or ""
# where ROOT is no repository; an archive of git has the commit in git_version.txt. OUT is touched only when that has
# changed: cmake -DROOT=... -DOUT=... -P git_version.cmake
set(version "")
if(EXISTS ${ROOT}/.git)
  execute_process(COMMAND git -C ${ROOT} describe --always --tags --dirty --abbrev=10
    OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(version "")
  endif()
else()
  file(STRINGS ${ROOT}/hmc/assemble/git_version.txt version LIMIT_COUNT 1)
  if(version MATCHES "Format")
    set(version "")
  endif()
endif()
set(text "#define PLAQ_GIT_VERSION \"${version}\"\n")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
