package agent

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire"
)

// Examination says how far an examination goes, and what its caller knows.
type Examination struct {
	Deep bool // also compare indexes with text, and test the store on this disk
	// Config says where the configuration came from; with ConfigErr it could not be
	// read, and what depends on it is not checked.
	Config    string
	ConfigErr error
	HomeErr   error // why it is not known where the home is
	// FSInfo tells about the file system of a path; nil asks the operating system.
	FSInfo func(path string) (fsx.FSInfo, error)
	// NoModes says that the system has no modes of files, as Windows has none.
	NoModes bool
	// Backups are findings about backups to a vault, which a server makes; nil: none.
	Backups func(home string) []wire.Finding
}

// Doctor examines the agent and its home. Nothing is changed. With deep it also
// compares the text of every memory with the search indexes, and tests the store on
// this disk.
func (a *Agent) Doctor(ctx context.Context, deep bool) wire.Checkup {
	return Examine(ctx, a.o, Examination{Deep: deep, Config: "given by the program"})
}

// Examine examines an agent that need not be there and whose home, databases or keys
// may be broken. Nothing is changed.
func Examine(ctx context.Context, o Options, e Examination) wire.Checkup {
	if e.FSInfo == nil {
		e.FSInfo = fsx.Info
	}
	e.NoModes = e.NoModes || runtime.GOOS == "windows"
	d := doctor{Examination: e, o: o}
	d.examine(ctx)
	return Judge(d.findings)
}

// Judge makes a checkup of findings: it is well unless one of them failed.
func Judge(findings []wire.Finding) wire.Checkup {
	failed := slices.ContainsFunc(findings, func(f wire.Finding) bool { return f.Status == wire.FindingFailed })
	return wire.Checkup{OK: !failed, Checks: findings}
}

// doctor collects findings.
type doctor struct {
	Examination
	o         Options
	agent     *Agent // closed
	unreached bool   // it is not known what the server of an edge has
	findings  []wire.Finding
}

func (d *doctor) add(f wire.Finding) { d.findings = append(d.findings, f) }

// judge adds a finding: failed with the error's kind and hint, or ok with the
// detail.
func (d *doctor) judge(code string, err error, detail string, args ...any) {
	if err != nil {
		d.add(wire.Finding{Code: code, Status: wire.FindingFailed, Detail: err.Error(), Hint: amber.HintOf(err), Kind: amber.KindOf(err)})
		return
	}
	d.add(wire.Finding{Code: code, Status: wire.FindingOK, Detail: fmt.Sprintf(detail, args...)})
}

// warn adds a finding that is no failure.
func (d *doctor) warn(code, hint, detail string, args ...any) {
	d.add(wire.Finding{Code: code, Status: wire.FindingWarning, Detail: fmt.Sprintf(detail, args...), Hint: hint})
}

// skip adds a finding about each check that could not be made.
func (d *doctor) skip(why string, codes ...string) {
	for _, code := range codes {
		d.add(wire.Finding{Code: code, Status: wire.FindingNotChecked, Detail: why})
	}
}

// noModes is said of checks that only a system with modes allows.
const noModes = "this system has no modes of files; who else can reach them was not checked"

// failed reports whether a check has failed.
func (d *doctor) failed(code string) bool {
	return slices.ContainsFunc(d.findings, func(f wire.Finding) bool { return f.Code == code && f.Status == wire.FindingFailed })
}

// examine makes every check in order. A check that builds on a failed one is not made, and its finding says so.
func (d *doctor) examine(ctx context.Context) {
	if d.ConfigErr == nil && d.o.Config != nil {
		d.ConfigErr = CheckConfig(*d.o.Config)
	}
	d.judge("config", d.ConfigErr, "%s", d.Config)
	if d.HomeErr != nil {
		d.judge("home", d.HomeErr, "")
		return
	}
	if d.isEdge() {
		d.examineEdge(ctx)
		return
	}
	agent, ok := d.checkHome()
	d.checkDisk(d.o.Home)
	d.checkGit(ctx)
	if d.ConfigErr == nil {
		d.checkKeys(ctx)
		if d.Backups != nil {
			d.findings = append(d.findings, d.Backups(d.o.Home)...)
		}
	}
	d.checkHomeDB(ctx)
	if !ok {
		d.checkPostgres(ctx) // it needs no folder
		return
	}
	if agent.Deleting() { // what is left is half of everything
		d.warn("current", "amber agent delete "+string(agent.ID())+" removes the rest",
			"the deletion of agent %s was interrupted, and some of its files are left", agent.ID())
		return
	}
	d.checkSpool(ctx, agent)
	if d.checkPostgres(ctx) {
		return
	}
	current, err := agent.Current()
	if amber.KindOf(err) == amber.KindNotFound { // hooks came before the first command
		d.add(wire.Finding{Code: "current", Status: wire.FindingWarning, Detail: "there is no agent " + string(agent.ID()) + " yet"})
		return
	}
	d.judge("current", err, "generation %d", current.Generation)
	d.checkLocks(agent)
	if err != nil {
		d.skip("no generation is live", append(databaseCodes, "clock", indexCode, "consolidation", "notes", stateCode)...)
		return
	}
	d.checkDatabases(ctx, agent)
	d.checkState(ctx, agent, current)
	d.checkConsolidation(agent, current)
	d.checkVaultFiles(ctx, agent)
	if d.failed("git") {
		d.skip("git was not found", "notes")
	} else {
		d.checkNotes(ctx, agent)
	}
	if d.Deep {
		d.checkPromises(ctx)
	}
}
