# make check runs what a commit must pass; make bench prints every figure that
# the documentation quotes.

GO ?= go
TOOLS = -modfile=tools.mod
# The packages that start goroutines of their own, and those that share work among the workers of a pool.
OWN = ./internal/task ./internal/parquet ./dataset/... ./learn ./stream
SHARED = ./internal/kernel ./linop ./infer/... ./effect ./score ./cmd/...
# The tests of SHARED that run what the jobs of the relations at three threads do not.
RACING = Threads|Workers|Goroutines|Run[A-Z]|Pool|Panics|Interrupted|InterruptWhile|Follows?A|FollowEnds|SecondSignal|LongWork|Ticks|Test(Warm)?Levels$$|HyperBounds|LargeNoise|TestMetric|TestLead|TestGram$$|FormsAgree|TestVariances$$|TestRows$$

# What make night runs, each by its target night-….
LANES = purego platforms races hostile fuzz beam studies

.PHONY: check format vet lint test modules beam race study night calibration fuzz hostile build cover bench bench-kernels generate verify

check: format vet lint verify build test modules race

format:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }

vet:
	$(GO) vet ./...

lint:
	$(GO) tool $(TOOLS) staticcheck ./...
	staticcheck=$$($(GO) tool $(TOOLS) -n staticcheck) && cd bench && "$$staticcheck" ./...

# By day what a compile for all of it costs is paid for 32 bits and for a system that is no Unix; other processors are those of the
# package that has files for them. PLATFORMS are built whole at night.
PLATFORMS ?= linux/386 js/wasm
build:
	CGO_ENABLED=0 $(GO) build -trimpath -o dist/credence ./cmd/credence
	CGO_ENABLED=0 $(GO) build -tags purego ./internal/kernel
	for arch in arm64 arm; do CGO_ENABLED=0 GOARCH=$$arch $(GO) build ./internal/kernel || exit 1; done
	for target in $(PLATFORMS); do CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build ./... || exit 1; done

test:
	$(GO) test ./...
	@test -d ../shared/data || echo "skipped for want of the published sets in ../shared/data: $$(git grep -l 'published\.[OP]' -- '*_test.go' | wc -l) files of tests"

# The benchmarks, and the example of a database, are modules of their own: importers of the library
# do not fetch what these need.
modules:
	for module in bench examples/sql; do $(GO) vet -C $$module ./... && $(GO) test -C $$module -vet=off ./... || exit 1; done

# The module of Apache Beam, whose packages take 3 CPU minutes to compile the first time: by night, and where it or package shards
# changes.
beam:
	$(GO) vet -C beam ./... && $(GO) test -C beam ./...
	staticcheck=$$($(GO) tool $(TOOLS) -n staticcheck) && cd beam && "$$staticcheck" ./...

# Every job of the relations, one of each form of an engine and of each command, at one thread and at three; and what these leave.
# Without -vet=off all of it, and what it imports, would be vetted once more as the race detector compiles it.
race:
	CGO_ENABLED=1 $(GO) test -short -race -vet=off $(OWN)
	CGO_ENABLED=1 $(GO) test -short -race -vet=off -run '$(RACING)' $(SHARED)
	CGO_ENABLED=1 $(GO) test -race -vet=off -run 'TestRelations$$/./^threads$$' ./fit ./cmd/credence

# Every fuzz target for FUZZTIME, in which it has to run FUZZLEAST inputs at the least. Where goroutines run, coverage
# is not the same twice: without a bound the fuzzer would spend a minute on making each input smaller.
FUZZTIME ?= 10s
FUZZLEAST ?= 1000
fuzz:
	@for folder in $$(git grep -l '^func Fuzz' -- '*_test.go' | xargs -n 1 dirname | sort -u); do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z]*' $$folder/*_test.go | cut -d ' ' -f 2); do \
			out=$$($(GO) test ./$$folder -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x) || { echo "$$out"; exit 1; }; \
			runs=$$(echo "$$out" | sed -n 's/.*execs: \([0-9]*\).*/\1/p' | tail -1); \
			echo "$$folder $$target: $${runs:-0} inputs"; \
			test "$${runs:-0}" -ge $(FUZZLEAST) || { echo "fewer than $(FUZZLEAST): it does not fuzz"; exit 1; }; \
		done; \
	done

# What strangers and attackers try, all of it: the ordinary tests have a share. The lines that begin with
# hostile count what was tried, what came out right and what was refused; nothing may fail. About twenty minutes, of which commands
# that are drawn at random take SOAK.
SOAK ?= 2m
hostile:
	@mkdir -p dist; GODEBUG=$(PAGES) CREDENCE_HOSTILE=1 CREDENCE_STUDY=1 CREDENCE_SOAK=$(SOAK) $(GO) test -timeout 2h -v -run 'Hostile|Interrupts|Kills|ManyFiles|ModelsAreBytes|CostIsLinear|TestMutants' ./cmd/credence ./learn ./modelfile ./internal/parquet > dist/hostile.log; \
		status=$$?; grep -E 'hostile:|^(---|ok|FAIL|panic)|_test.go' dist/hostile.log; exit $$status

# The tests that ask package study for one of $(1), as a pattern, and the folders of these.
asking = $$(git grep -lE 'study\.($(1))\(' -- '*_test.go' | xargs awk '/^func Test/ { split($$2, name, "(") } /study\.($(1))\(/ && name[1] { print name[1] }' | sort -u | paste -sd '|')
folders = $$(git grep -lE 'study\.($(1))\(' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')

# Exhaustive sizes, every hostile value, and published sets, whose figures stand in docs/uci.md. What is measured in CPU time runs by
# itself: beside other packages it would lose the caches to them. Memory that a command has freed keeps its pages: mapping them
# again takes a virtual machine up to three times what the command does, now and then.
PAGES = madvdontneed=0
study:
	GODEBUG=$(PAGES) CREDENCE_STUDY=1 $(GO) test -run TestCostIsLinear ./cmd/credence
	CREDENCE_STUDY=1 $(GO) test ./internal/kernel ./safetensors ./modelfile ./likelihood
	CREDENCE_STUDY=1 $(GO) test -timeout 1h -run "^($(call asking,Only|Long))$$|Threads|Resume|TestDemo$$" -skip TestCostIsLinear ./cmd/credence ./dataset ./infer/convex ./infer/exact ./infer/sep ./infer/svi

# Simulations that say whether posteriors hold what they promise: the figures of docs/calibration.md and docs/selection.md. Hours.
calibration:
	CREDENCE_CALIBRATION=1 $(GO) test -timeout 6h -v -run "^($(call asking,OnlyCalibration|Calibration))$$|CoverageIsTold" $(call folders,OnlyCalibration|Calibration) ./infer/sep

# What takes longer than a commit can wait for, once a night: hostile in full, every fuzz target for a minute, every short test of what
# shares work under the race detector, studies whole. Two to three hours on two processors. What fails does not keep the rest from
# running: a line for each lane says how it ended, and dist has what it printed.
night:
	@mkdir -p dist; failed=; for lane in $(LANES); do begun=$$(date +%s); ended=passed; \
		$(MAKE) night-$$lane > dist/night-$$lane.log 2>&1 || { ended=FAILED; failed="$$failed $$lane"; }; \
		echo "$$lane: $$ended in $$((($$(date +%s) - begun) / 60)) minutes, dist/night-$$lane.log"; done; test -z "$$failed"

.PHONY: night-purego night-platforms night-races night-hostile night-fuzz night-beam night-studies
night-purego:
	CGO_ENABLED=0 $(GO) build -tags purego ./...
	CGO_ENABLED=0 $(GO) test -short -tags purego ./internal/... ./dataset/... ./cmd/...

night-platforms:
	$(MAKE) build PLATFORMS='linux/386 linux/arm linux/arm64 js/wasm'

night-races:
	CGO_ENABLED=1 $(GO) test -short -race -vet=off -timeout 1h $(OWN) $(SHARED)

night-hostile:
	$(MAKE) hostile SOAK=20m

night-fuzz:
	$(MAKE) fuzz FUZZTIME=60s

night-beam: beam

night-studies:
	CREDENCE_NIGHT=1 CREDENCE_STUDY=1 $(GO) test -timeout 2h $(call folders,Only|Long|Night)

cover:
	$(GO) test -short -coverprofile=dist/cover.out ./...
	$(GO) tool cover -func=dist/cover.out | tail -1

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...
	$(GO) run -C bench .

bench-kernels:
	$(GO) run -C bench ./kernels

# The assembly of internal/kernel is generated; verify fails where the committed
# files are not what the generator writes.
generate:
	$(GO) generate ./internal/kernel

verify:
	sh internal/kernel/gen/verify.sh
