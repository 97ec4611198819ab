# make help lists what there is.
.DEFAULT_GOAL := help
SHELL := /bin/bash

BUILD  := $(CURDIR)/build
VENV   := $(BUILD)/venv
PYTHON := $(VENV)/bin/python
LINT   := $(BUILD)/bin/golangci-lint
LINT_VERSION := v2.15.0
DEADCODE := $(BUILD)/bin/deadcode
DEADCODE_VERSION := v0.52.0
APIDIFF := $(BUILD)/bin/apidiff
APIDIFF_VERSION := v0.0.0-20261014143641-f0251eb4aa3e
export GOMLX_NO_AUTO_INSTALL := 1
# Compiled packages are the same in every clone, so a new one takes them from Go's cache.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath
# LMDB's C sources have a warning that says nothing about this project.
export CGO_CFLAGS := -O2 -g -Wno-implicit-fallthrough

# The libraries are linked in where their archives are there, so that bin/dsconv needs
# glibc alone; plain linking brings 35 shared libraries along by way of HDF5.
HDF5_DIR = /usr/lib/$(shell gcc -print-multiarch)/hdf5/serial
STATIC   = $(shell test -e $(HDF5_DIR)/libhdf5.a -a -e $(HDF5_DIR)/../../libtiff.a && echo "-Wl,--as-needed -Wl,--push-state,-Bstatic -L$(HDF5_DIR) \
  -lhdf5_hl -lhdf5 -ltiff -ljpeg -lwebpdemux -lwebp -lzstd -llzma -ldeflate -lsz -laec -lz -Wl,--pop-state -ldl -lm")
# The trainer's pure-Go backend is twice as fast with Go's SIMD.
SIMD     = $(shell test "$$(go env GOARCH)" = amd64 && echo simd)

# Debian's packages that a build with cgo needs, and what tells that each is there.
PACKAGES := libjpeg62-turbo-dev:/usr/include/jpeglib.h libwebp-dev:/usr/include/webp/demux.h \
  libhdf5-dev:/usr/include/hdf5/serial/hdf5.h libtiff-dev:/usr/lib/$(shell gcc -print-multiarch)/libtiff.a
# What the tests need besides.
TEST_PACKAGES := python3-venv:python3 libsimde-dev:/usr/include/simde/x86/avx512.h zstd:/usr/bin/zstd strace:/usr/bin/strace \
  chromium-headless-shell:/usr/bin/chromium-headless-shell

# NVIDIA's compiler for the GPU's kernels: another version gives other cubins.
NVRTC         := $(BUILD)/nvrtc
NVRTC_VERSION := 12.9.86

# What packs the wheel, and what the Python package's tests need: torch, several GB.
PACKAGING := $(BUILD)/packaging
TORCH     := $(BUILD)/torch
# The wheel is of this machine's kind unless ARCH names another: x86_64, aarch64.
ARCH      ?= $(shell uname -m)
WHEEL_FILE = $(BUILD)/wheel/dsconv-*_$(ARCH).whl
SYSROOT    = $(if $(filter $(ARCH),$(shell uname -m)),,$(BUILD)/sysroot-$(ARCH))

# Real photos for tests, where they lie beside the project; they are unpacked outside it.
PHOTOS_TAR ?= $(wildcard ../shared/data/clothing.tar)
PHOTOS     ?= $(if $(PHOTOS_TAR),$(or $(TMPDIR),/tmp)/dsconv-photos/clothing)
TEST_ENV    = DSCONV_PYTHON=$(PYTHON) DSCONV_PHOTOS=$(PHOTOS) \
  DSCONV_TORCH_PYTHON="$$(ls $(TORCH)/bin/python 2>/dev/null)"

.PHONY: help
help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

.PHONY: deps
deps: ## install the libraries that a build needs
	@scripts/install-packages $(PACKAGES)

.PHONY: test-deps
test-deps: deps
	@scripts/install-packages $(TEST_PACKAGES)

.PHONY: build
build: deps ## build bin/dsconv
	CGO_LDFLAGS="$(STATIC)" GOEXPERIMENT=$(SIMD) go build $(if $(STATIC),-tags libtiff_static) \
	  -ldflags "-X 'main.commit=$$(scripts/commit)'" -o bin/dsconv ./cmd/dsconv

$(PACKAGING)/.done: python/packaging.txt | test-deps
	python3 -m venv $(PACKAGING)
	$(PACKAGING)/bin/pip install -q --disable-pip-version-check -r python/packaging.txt
	touch $@

.PHONY: wheel
wheel: deps $(PACKAGING)/.done ## build/wheel/dsconv-*.whl for any Linux with glibc 2.28; ARCH=aarch64 for that
	@if [ -n "$(SYSROOT)" ]; then scripts/sysroot $(ARCH) $(SYSROOT); fi
	rm -f $(WHEEL_FILE)
	cd python && DSCONV_ARCH=$(ARCH) DSCONV_SYSROOT=$(SYSROOT) \
	  $(PACKAGING)/bin/python -m hatchling build -t wheel -d $(BUILD)/wheel
	$(PACKAGING)/bin/python scripts/check-wheel $(WHEEL_FILE)

$(NVRTC)/.done-$(NVRTC_VERSION): | test-deps
	python3 -m venv $(NVRTC)
	$(NVRTC)/bin/pip install -q --disable-pip-version-check --no-deps nvidia-cuda-nvrtc-cu12==$(NVRTC_VERSION)
	touch $@

.PHONY: cubins
cubins: $(NVRTC)/.done-$(NVRTC_VERSION) ## compile gpudecode/internal/kernels for every GPU, after a change there; needs no GPU
	$(NVRTC)/bin/python scripts/cubins

.PHONY: demo
demo: build ## sample folder -> every format -> train and bench before and after
	scripts/demo bin/dsconv $(BUILD)/demo

$(VENV)/.done: testdata/requirements.txt | test-deps
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q --disable-pip-version-check -r testdata/requirements.txt
	# Its list of classes is what is compared with; that file needs no torch.
	$(VENV)/bin/pip install -q --disable-pip-version-check --no-deps torchvision==0.29.2
	touch $@

$(TORCH)/.done: python/tests/requirements.txt scripts/pythons | test-deps
	python3 -m venv $(TORCH)
	$(TORCH)/bin/pip install -q --disable-pip-version-check -r python/tests/requirements.txt
	scripts/pythons $(BUILD)/pythons
	touch $@

# Writers of other programs' datasets that are too large for make test.
FOREIGN := $(BUILD)/foreign

$(FOREIGN)/.done: scripts/foreign-requirements.txt $(TORCH)/.done
	python3 -m venv $(FOREIGN)
	$(FOREIGN)/bin/pip install -q --disable-pip-version-check --no-deps -r scripts/foreign-requirements.txt
	$(TORCH)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  >"$$($(FOREIGN)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch.pth"
	touch $@

# The packages whose tests write with those libraries.
FOREIGN_TESTS := . ./formats/tfrecord ./formats/mds ./formats/parquet

.PHONY: foreign
foreign: test-deps wheel $(VENV)/.done $(FOREIGN)/.done ## the tests of other programs' datasets that large libraries write
	$(TEST_ENV) DSCONV_FOREIGN_PYTHON=$(FOREIGN)/bin/python go test -count=1 -run 'TestLibraryWrites|TestMap$$|TestBy|OfOtherPrograms' $(FOREIGN_TESTS)
	$(TORCH)/bin/pip install -q --disable-pip-version-check --force-reinstall --no-deps $(WHEEL_FILE)
	$(FOREIGN)/bin/python -m pytest -q python/tests/test_foreign.py python/tests/test_foreign_writers.py \
	  python/tests/test_pack_foreign_datasets.py

.PHONY: python-test
python-test: python-tools ## the Python package's tests, with the wheel
	$(MAKE) pytest

.PHONY: python-tools
python-tools: wheel $(TORCH)/.done
	go build -o $(BUILD)/goloader ./internal/testing/goloader
	go build -o $(BUILD)/failingdisk ./internal/testing/mountfailing
	go run ./internal/testing/fakegpu/build $(BUILD)/fakegpu
	$(TORCH)/bin/pip install -q --disable-pip-version-check --force-reinstall --no-deps $(WHEEL_FILE)

.PHONY: pytest
pytest:
	DSCONV_WHEEL="$$(ls $(WHEEL_FILE))" DSCONV_GOLOADER=$(BUILD)/goloader DSCONV_FAILINGDISK=$(BUILD)/failingdisk \
	  DSCONV_FAKEGPU_LIBRARIES=$(BUILD)/fakegpu \
	  DSCONV_PYTHONS="$$(ls $(BUILD)/pythons/*/bin/python 2>/dev/null | xargs)" \
	  scripts/in-memory scripts/pytest $(TORCH)/bin/python -q -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(if $(MARK),-m "$(MARK)") python/tests

.PHONY: photos
photos:
	@if [ -n "$(PHOTOS_TAR)" ] && [ ! -d "$(PHOTOS)" ]; then \
	  mkdir -p "$(dir $(PHOTOS))" && tar xf "$(PHOTOS_TAR)" -C "$(dir $(PHOTOS))"; fi

# GoMLX's matrix product fails the pointer check that -race turns on.
RACE := '-gcflags=github.com/gomlx/compute/...=-d=checkptr=0'
# They flip bits, unpack gigabytes, kill processes and measure memory, which takes minutes under -race; goroutines of theirs are those of others.
# Those of LMDB's pages, and those of a format that write and read one after the other, have none.
RACE_SKIP := 'TestBombs|TestZipEqualsGo|TestEveryBit|TestEveryByteIsCovered|TestFlippedBits|TestHeapOfAPlan|TestTrainingIsKilled|TestKilled|TestSIGKILL|TestTwin|TestLocations|TestMapSizeDoesNotShow|TestOverhead|TestDamageOfAnotherView|TestEstimateIsNearThePeak|TestStampOfACompactCopy|TestSizedBatchesOfAList|TestMixingAsTorchvision|TestLargeImagesAreBadSamples|TestFakeGPUTypes|TestStopsKeepAllThatWasDone|TestLargeMask|KeepsEdits|TestAddResumes|TestRelabel|TestEditOfReplacedVersion|TestConformance/.*/^(Resume|Info|Kinds|View|FlippedBits|Truncated|CutWhileOpen)$$'
# The same goroutines in other configurations; test-long has them.
RACE_ALIKE := 'TestFailingDisk|TestAccidentsInAnEpoch|TestViewsAreThoseOfLoadersWithOneView/[1-9]|TestWebDatasetBatchesAreMixed|TestSameBytesForAnyWorkersAndAfterAnyStop/(tiled|stats|resize)'
# Where goroutines share memory; test-long has more.
RACE_PACKAGES := ./reader ./convert ./internal/cache ./internal/items ./internal/storage/staging
RACE_LONG     := ./formats/... ./convert/... ./edit/... ./diff/... ./verify/... ./reader/... ./bench/... ./internal/cache ./internal/items ./internal/storage/staging

# Without cgo other code reads LMDB and HDF5. These tests kill processes and flip bits, in code that is
# the same.
NOCGO      := ./formats/lmdb ./formats/hdf5 ./formats/tfrecord
NOCGO_LONG := ./formats/...
NOCGO_SKIP := 'Killed|SIGKILL|FlippedBit|TestEveryBit|TestEveryByteIsCovered'

.PHONY: test-tools
test-tools: test-deps $(VENV)/.done $(TORCH)/.done $(PACKAGING)/.done photos

.PHONY: announce-test
announce-test:
	@scripts/announce-test $(BUILD) $(PACKAGES) $(TEST_PACKAGES)

.PHONY: test
test: announce-test test-tools ## the tests, but for what test-long has: 15 to 20 minutes; installs 7 GB the first time
	CGO_ENABLED=0 go list -export ./... >/dev/null # compiles; what is run without cgo is linked below
	scripts/in-memory $(TEST_ENV) go test -vet=off -short -timeout 20m ./... # make lint runs go vet
	go test -vet=off ./bench/page # with Chromium, which -short leaves out
	go test -vet=off -short -tags emulate_avx512 -run 'Equals?PureGo' ./internal/image/resample ./internal/image/pixelops # AVX-512 where there is none
	scripts/in-memory $(TEST_ENV) go test -vet=off -race -short $(RACE) -skip $(RACE_SKIP)'|'$(RACE_ALIKE) $(RACE_PACKAGES)
	$(MAKE) -j2 --output-sync=target test-nocgo python-tools # each leaves a core idle now and then
	$(MAKE) examples
	$(MAKE) pytest MARK="not long"

.PHONY: test-nocgo
test-nocgo:
	$(TEST_ENV) CGO_ENABLED=0 go test -vet=off -short -skip $(NOCGO_SKIP) $(NOCGO) # on the disk: the other runs are in memory

.PHONY: test-long
test-long: test-tools ## all repetitions and rare combinations, -race and without cgo in more packages, dead code; about 45 minutes
	scripts/in-memory $(TEST_ENV) go test -vet=off -timeout 20m ./...
	scripts/in-memory $(TEST_ENV) go test -vet=off -race -short $(RACE) -skip $(RACE_SKIP) $(RACE_LONG)
	$(MAKE) -j2 --output-sync=target test-nocgo python-tools NOCGO='$(NOCGO_LONG)'
	$(MAKE) pytest MARK=long
	$(MAKE) lint-dead

# With the C libraries where they are installed, without cgo where they are not.
QUICK_CGO = $(shell scripts/install-packages --list $(PACKAGES) | grep -q . && echo 0 || go env CGO_ENABLED)
.PHONY: test-quick
test-quick: ## Go tests that need nothing but Go: no Python, torch or sudo; about 5 minutes
	@echo "go test -short with CGO_ENABLED=$(QUICK_CGO), fewer repetitions of the long tests."
	@echo "Skipped: tests that run Python, tests with real photos, the Python package, -race. make test runs all of them."
	@if [ $(QUICK_CGO) = 0 ]; then echo "Without cgo LMDB and HDF5 are not written and no image is decoded, so that only the formats are tested; make deps installs what is missing."; fi
	env -u DSCONV_PYTHON -u DSCONV_TORCH_PYTHON -u DSCONV_PHOTOS CGO_ENABLED=$(QUICK_CGO) go test -short -timeout 20m $(or $(ONLY),$(if $(filter 0,$(QUICK_CGO)),./formats/...,./...))

.PHONY: examples
examples: deps ## build the programs under examples/ and lab/, modules of their own, and test them
	go list -C examples -export ./... >/dev/null # compiles those without tests too; make lint vets them
	go test -C examples -vet=off ./...
	go list -C lab -export ./... >/dev/null
	go test -C lab -vet=off ./...

# Such as ONLY="ray dask"; each engine is a file lab/engines/tests/test_NAME.py (lab/engines/README.md).
.PHONY: engines
engines: wheel photos ## pack shards under Ray, Spark, Dask and others while their processes are killed; installs them, 1 GB
	lab/engines/run $(BUILD)/engines $(WHEEL_FILE) "$(PHOTOS)" $(ONLY)

# Not part of lint: Beam's modules are 70 MB, and take minutes to analyse.
.PHONY: lint-beam
lint-beam: $(LINT) ## golangci-lint for lab/engines/beam
	cd lab/engines/beam && $(LINT) run ./... && $(LINT) fmt --diff ./...

# Such as ONLY="ray dask" ROUNDS=3; JSON is the file of the result. Nothing else may run on the machine.
.PHONY: engines-overhead
engines-overhead: wheel photos ## what engines cost beside dsconv pack, on this machine (lab/engines/overhead.py)
	lab/engines/run --measure $(or $(JSON),$(BUILD)/engines/overhead.json) $(or $(ROUNDS),5) $(BUILD)/engines $(WHEEL_FILE) "$(PHOTOS)" $(ONLY)

.PHONY: torture
torture: test-deps ## kills, failing disks and flipped bits, many of each (an hour)
	scripts/torture

.PHONY: fuzz
fuzz: deps ## every fuzz target for FUZZTIME (default 20s) each
	scripts/fuzz $(or $(FUZZTIME),20s)

.PHONY: asan
asan: test-deps $(VENV)/.done photos ## the C code under AddressSanitizer
	$(TEST_ENV) go test -asan -short ./preprocess/... ./internal/image/... ./gpudecode/...

.PHONY: test-jpeg3
test-jpeg3: test-deps $(VENV)/.done ## preprocess's tests with libjpeg-turbo 3, whose source is in the folder JPEG3
	$(TEST_ENV) scripts/test-jpeg3 "$(JPEG3)" $(BUILD)/jpeg3

$(LINT):
	GOBIN=$(BUILD)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

$(DEADCODE):
	GOBIN=$(BUILD)/bin go install golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION)

$(APIDIFF):
	GOBIN=$(BUILD)/bin go install golang.org/x/exp/cmd/apidiff@$(APIDIFF_VERSION)

.PHONY: api
api: deps $(APIDIFF) ## how the Go API differs from the last release's, or BASE's; a break must be in the changelog
	scripts/api $(APIDIFF) $(if $(filter command environment,$(origin BASE)),$(BASE))

.PHONY: lint lint-go lint-dead lint-others
lint: lint-go lint-dead lint-others ## golangci-lint, gofumpt, dead code, clang-format, ruff, mypy, vulture, the budget of lines
lint-go lint-dead: export GOWORK := $(BUILD)/go.work
# Analysers open the files that cgo read, where it read them: packages with cgo are compiled for this clone alone.
lint-go lint-dead: export CGO_CFLAGS := $(CGO_CFLAGS) -Wp,-DCLONE=$(CURDIR)
lint-go: deps $(LINT) $(BUILD)/go.work
	$(LINT) run ./... ./examples/... ./lab/...
lint-dead: deps $(DEADCODE) $(BUILD)/go.work
	scripts/deadcode $(DEADCODE)
	GOGC=400 go run ./lab/exported $(CURDIR) # exported names that nothing else uses
$(BUILD)/go.work: go.mod examples/go.mod lab/go.mod
	mkdir -p $(BUILD) && rm -f $@ && GOWORK=$@ go work init . examples lab
lint-others: $(VENV)/.done
	scripts/lines # the product's lines and packages within scripts/lines.json
	$(VENV)/bin/clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h' '*.cu')
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	cd python && $(VENV)/bin/mypy --cache-dir $(BUILD)/mypy && $(VENV)/bin/vulture

.PHONY: format
format: $(LINT) $(VENV)/.done ## format all code
	$(LINT) fmt ./...
	$(VENV)/bin/clang-format -i $$(git ls-files '*.c' '*.h' '*.cu')
	$(VENV)/bin/ruff format .

.PHONY: photos-table
photos-table: build photos ## measure README's table of real photos; result in JSON (default lab/results/bench-photos.json)
	lab/photos/measure bin/dsconv "$(or $(IMAGES),$(PHOTOS))" $(BUILD)/photos $(or $(JSON),lab/results/bench-photos.json) $(ROUNDS)

.PHONY: verdict-transcripts
verdict-transcripts: build wheel $(TORCH)/.done photos ## run docs/verdict.md's three trainings before and after bench's advice, and put the output there
	$(TORCH)/bin/pip install -q --disable-pip-version-check --force-reinstall --no-deps $(WHEEL_FILE)
	scripts/verdict-transcripts bin/dsconv $(TORCH)/bin/python "$(or $(IMAGES),$(PHOTOS))" docs/verdict.md $(ARGS)

.PHONY: peers
peers: build wheel ## compare with tar, lmdb, PyTorch, FFCV, DALI, OpenCV on the same images (several GB of packages)
	scripts/peers bin/dsconv $(WHEEL_FILE) $(BUILD)/peers

# Such as ARGS="-rounds 3 -only raw"; IMAGES is a folder of photos to use instead of synthetic ones.
BASE ?= HEAD
.PHONY: compare
compare: deps photos ## speed beside the commit BASE, result in JSON (default build/compare/result.json); WHEEL=1: Python too
	WHEEL=$(WHEEL) JSON=$(JSON) IMAGES="$(or $(IMAGES),$(wildcard $(PHOTOS)))" scripts/compare $(BASE) $(BUILD)/compare $(ARGS)

# Such as ARGS="--rounds 41"; IMAGES is a folder of photos with a folder for each class.
.PHONY: look-overhead
look-overhead: wheel $(TORCH)/.done photos ## what looking into a DataLoader's workers costs: epochs with dsconv.timed's timers beside epochs without; fails above 2 %
	$(TORCH)/bin/pip install -q --disable-pip-version-check --force-reinstall --no-deps $(WHEEL_FILE)
	$(TORCH)/bin/python lab/overhead/look.py $(ARGS) "$(or $(IMAGES),$(PHOTOS)/train)"

# Such as ARGS="--rounds 11 --sets small"; IMAGES is a folder of photos to use instead of PHOTOS. 3 GB of disk while it runs.
.PHONY: prediction
prediction: deps photos ## what bench's advice and plan predict beside what packing whole sets brings; result in JSON (default build/prediction/result.json)
	mkdir -p $(BUILD)/prediction
	go -C lab run ./prediction --images "$(abspath $(or $(IMAGES),$(PHOTOS)))" --json $(abspath $(or $(JSON),$(BUILD)/prediction/result.json)) $(ARGS) $(BUILD)/prediction

# Such as ARGS="--rounds 10 --busy" or ARGS="--only swapping"; JSON is the file of the result.
.PHONY: bottlenecks
bottlenecks: build wheel $(TORCH)/.done ## build each bottleneck really, in DataLoaders and dsconv's loader: bench's verdict must name it (5 minutes a round)
	$(TORCH)/bin/pip install -q --disable-pip-version-check --force-reinstall --no-deps $(WHEEL_FILE)
	go build -C lab -o $(BUILD)/bottlenecks ./bottlenecks
	$(BUILD)/bottlenecks --dsconv bin/dsconv --python $(TORCH)/bin/python --json $(or $(JSON),$(BUILD)/bottlenecks.json) $(ARGS)

# What a machine with a GPU and without a network needs beside the working tree; EXTRA names more packages, for the Python
# that runs there: make gpu-pack EXTRA="torchvision==0.26.0 pytest" GPU_PYTHON=3.12
GPU_PYTHON ?= 3.12
NVJPEG     := nvidia-nvjpeg==13.3.2.43 msgpack==1.2.4
.PHONY: gpu-pack
gpu-pack: wheel ## build/gpu: the wheels that make gpu-check needs on a machine without a network
	rm -rf $(BUILD)/gpu && mkdir -p $(BUILD)/gpu
	cp $(WHEEL_FILE) $(BUILD)/gpu
	git rev-parse HEAD >$(BUILD)/gpu/commit # for the results: the copy there may lack .git
	$(PACKAGING)/bin/pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --python-version $(GPU_PYTHON) \
	  --platform manylinux_2_28_$(ARCH) --platform manylinux_2_17_$(ARCH) --platform manylinux2014_$(ARCH) -d $(BUILD)/gpu $(NVJPEG) $(EXTRA)
	du -sh $(BUILD)/gpu

# Such as PARTS="decode train" or ARGS="--images 1000"; OUT is the folder of the results.
.PHONY: gpu-check
gpu-check: ## checks and measures on a machine with a GPU, under 9 minutes; needs Python, not Go; results in OUT (lab/results)
	python3 lab/gpu/run.py $(if $(PARTS),--parts "$(PARTS)") $(if $(OUT),--out "$(OUT)") $(ARGS)

.PHONY: clean
clean: ## remove what was built
	rm -rf bin build
