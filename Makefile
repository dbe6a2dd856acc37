# Thin front to CMake: the two set-up commands and their parts. Everything else is in CMakeLists.txt and CMakePresets.json.

PRESET ?= default
SHELL := /bin/sh
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

.PHONY: help setup build quickstart check clean
.NOTPARALLEL:

help:
	@echo 'make quickstart   install what is missing, build, and run inputs/quickstart.ini (two to four minutes on two cores)'
	@echo 'make check        install what is missing, build, and run all tests'
	@echo 'make build        install what is missing, and build build/plaq'
	@echo '                  (PRESET=debug: sanitizers, in build-debug)'
	@echo 'make clean        remove the build folders; results stay'
	@echo ''
	@echo 'By hand:          cmake --preset default && cmake --build --preset default && ctest --preset default'

setup:
	@.ci/setup.sh

build: setup
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

quickstart: PRESET = default
quickstart: build
	build/plaq run inputs/quickstart.ini

# The debug build is slow under its sanitizers and is left to
#   make build PRESET=debug && ctest --preset debug
check: setup
	cmake --preset default
	cmake --build --preset default
	ctest --preset default -j $(JOBS)

clean:
	rm -rf build build-debug
