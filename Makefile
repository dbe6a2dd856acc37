# Thin front to CMake: the two set-up commands and their parts. Everything else is in CMakeLists.txt and CMakePresets.json.

PRESET ?= default
SHELL := /bin/sh
.DEFAULT_GOAL := help
BUILD_CORE_MINUTES := 12
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

.PHONY: help setup build quickstart check clean
.NOTPARALLEL:

help:
	@echo 'make quickstart   install what is missing, build build/plaq alone, and run inputs/quickstart.ini; says first how'
	@echo '                  long it takes. For the CPU where no GPU is found; CUDA=ON or CUDA=OFF says otherwise'
	@echo 'make check        install what is missing, build, and run all tests'
	@echo 'make build        install what is missing, and build build/plaq, without tests'
	@echo '                  (PRESET=debug: sanitizers, in build-debug)'
	@echo 'make clean        remove the build folders; results stay'
	@echo ''
	@echo 'By hand:          cmake --preset default && cmake --build --preset default && ctest --preset default'

setup:
	@.ci/setup.sh

build: setup
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) --target plaq

# A GPU that answers; a machine with nvcc alone is one to compile on.
CUDA := $(shell nvidia-smi -L 2>/dev/null | grep -q GPU && echo AUTO || echo OFF)
# Core minutes of compiling for the CPU; those for GPUs come on top.
QUICK_MINUTES := $(shell echo $$(($(BUILD_CORE_MINUTES) / $(JOBS) + 2)))

quickstart: setup
	@echo 'quickstart: builds build/plaq (CUDA=$(CUDA)) and runs inputs/quickstart.ini: about $(QUICK_MINUTES) minutes on the'
	@echo '$(JOBS) cores of this machine$(if $(filter OFF,$(CUDA)),, and 10 to 20 more for the GPU code).'
	cmake --preset default -DPLAQ_CUDA=$(CUDA)
	cmake --build --preset default --target plaq
	build/plaq run inputs/quickstart.ini

# Tests at once are as many as cores: with one more, tests of several ranks take up to five times as long.
# The debug build is slow under its sanitizers and is left to
#   make build PRESET=debug && ctest --preset debug
check: setup
	cmake --preset default
	cmake --build --preset default
	ctest --preset default -j $(JOBS)

clean:
	rm -rf build build-debug
