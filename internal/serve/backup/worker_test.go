package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/test/must"
)

// yard is a home with agents and a vault that is there or not.
type yard struct {
	*testing.T
	dir    string
	now    time.Time
	vault  config.Vault
	agents []server.AgentName
	notes  map[server.AgentName]string
	ended  map[server.AgentName]time.Time // the last session
	marks  map[server.AgentName]int
	looks  int

	kept   map[server.AgentName][]string // what the vault was given
	fail   func(server.AgentName) error
	tried  []string // agent at time since the start
	counts map[string]int
	last   map[server.AgentName]amber.Time // what metrics say
	fails  map[server.AgentName]amber.Time // since when, by the metrics
	worker *Worker
}

var (
	ann       = server.AgentName{Tenant: "default", Agent: "ann"}
	bob       = server.AgentName{Tenant: "default", Agent: "bob"}
	yardStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func newYard(t *testing.T, c config.Vault, agents ...server.AgentName) *yard {
	t.Helper()
	y := &yard{
		T: t, dir: t.TempDir(), now: yardStart, vault: c, agents: agents,
		notes: map[server.AgentName]string{}, ended: map[server.AgentName]time.Time{}, marks: map[server.AgentName]int{},
		kept: map[server.AgentName][]string{}, counts: map[string]int{}, last: map[server.AgentName]amber.Time{}, fails: map[server.AgentName]amber.Time{},
	}
	for _, k := range agents {
		y.notes[k] = "one"
	}
	y.vault.URL, y.vault.Label = "https://vault.example", "default"
	y.start()
	return y
}

// start is what a server does that was stopped, or killed.
func (y *yard) start() {
	y.worker = &Worker{
		Clock: func() time.Time { return y.now }, Records: In(y.dir), Config: func() config.Vault { return y.vault },
		Agents: func() ([]server.AgentName, error) { return y.agents, nil },
		Mark:   func(k server.AgentName) string { return fmt.Sprint(y.marks[k]) },
		Ended: func(_ context.Context, k server.AgentName, since, now amber.Time) (bool, amber.Time, error) {
			y.looks++
			at, ok := y.ended[k]
			if at.After(now.Time()) {
				return false, amber.At(at), nil
			}
			return ok && !at.Before(since.Time()), amber.Time{}, nil
		},
		Backup: y.backup, Observe: y, Log: slog.New(slog.DiscardHandler),
	}
}

func (y *yard) backup(_ context.Context, k server.AgentName, _ config.Vault) (Outcome, error) {
	y.tried = append(y.tried, fmt.Sprint(k.Agent, " ", y.now.Sub(yardStart)))
	if y.fail != nil {
		if err := y.fail(k); err != nil {
			return "", err
		}
	}
	kept := y.kept[k]
	switch {
	case y.notes[k] == "":
		return Nothing, nil
	case len(kept) > 0 && kept[len(kept)-1] == y.notes[k]:
		return Unchanged, nil
	}
	y.kept[k] = append(kept, y.notes[k])
	return Made, nil
}

func (y *yard) Backup(_ amber.TenantID, _ amber.AgentID, unchanged bool, err error) {
	outcome := "ok"
	switch {
	case err != nil:
		outcome = string(amber.KindOf(err))
	case unchanged:
		outcome = "unchanged"
	}
	y.counts[outcome]++
}

func (y *yard) BackedUp(t amber.TenantID, a amber.AgentID, at amber.Time) {
	note(y.last, server.AgentName{Tenant: t, Agent: a}, at)
}

func (y *yard) BackupsFail(t amber.TenantID, a amber.AgentID, since amber.Time) {
	note(y.fails, server.AgentName{Tenant: t, Agent: a}, since)
}

func note(m map[server.AgentName]amber.Time, k server.AgentName, at amber.Time) {
	if m[k] = at; at.IsZero() {
		delete(m, k)
	}
}

// rounds makes some, a minute after the other.
func (y *yard) rounds(n int) (detail string, failing error) {
	y.Helper()
	for range n {
		detail, failing, _ = y.worker.round(y.Context())
		y.now = y.now.Add(time.Minute)
	}
	return detail, failing
}

func (y *yard) record(k server.AgentName) State {
	y.Helper()
	return must.Get(In(y.dir).Read(k))(y)
}

// seen expects what was tried since the last time, and forgets it.
func (y *yard) seen(want ...string) {
	y.Helper()
	must.Equal(y, "tried", y.tried, want)
	y.tried = nil
}

func away(server.AgentName) error {
	return amber.Errorf(amber.KindUnreachable, "back up", "", "nobody is there")
}

func TestBackupsAreMadeWhenItIsTime(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1h"}, ann, bob)
	delete(y.notes, bob)
	y.rounds(60)
	y.seen("ann 0s", "bob 0s")
	y.rounds(61)
	y.seen("ann 1h0m0s", "bob 1h0m0s", "ann 2h0m0s", "bob 2h0m0s")
	y.notes[ann], y.notes[bob] = "two", "mine"
	y.start()
	y.rounds(60)
	y.seen("ann 3h0m0s", "bob 3h0m0s")
	want := map[server.AgentName][]string{ann: {"one", "two"}, bob: {"mine"}}
	must.Equal(t, "the vault has", y.kept, want)
	must.Equal(t, "metrics", y.counts, map[string]int{"ok": 3, "unchanged": 2})
}

func TestBackupsFollowTheCalendar(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "30 12 * * *"}, ann)
	y.rounds(1) // there is none yet
	y.seen("ann 0s")
	y.rounds(60)
	y.seen("ann 30m0s")
	y.now = yardStart.Add(72 * time.Hour) // no server ran for days: one backup makes up for it
	y.start()
	y.rounds(29)
	y.seen("ann 72h0m0s")
	y.rounds(2)
	y.seen("ann 72h30m0s")
}

func TestBackupsAreMadeAfterSessions(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "off", AfterSession: true}, ann, bob)
	y.rounds(5)
	y.seen()
	must.Equal(t, "looks at an agent that does not change", y.looks, 2)
	y.ended[ann] = y.now.Add(-time.Second)
	y.marks[ann]++
	y.rounds(5)
	y.seen("ann 5m0s")
	// A session that the drain brings late, and that had ended before, is covered.
	y.ended[ann] = yardStart.Add(2 * time.Minute)
	y.marks[ann]++
	y.rounds(5)
	y.seen()
	// A session that ends while a backup is made is not covered.
	y.ended[ann] = y.now
	y.marks[ann]++
	y.rounds(1)
	y.seen("ann 15m0s")
	y.ended[ann] = yardStart.Add(15 * time.Minute)
	y.rounds(3)
	y.seen("ann 16m0s")
	// The worker waits for a session of a machine whose clock is ahead, without a look each
	// round, and makes one backup for it, not one after the other.
	y.ended[bob] = y.now.Add(time.Hour - time.Second)
	y.marks[bob]++
	y.looks = 0
	y.rounds(60)
	y.seen()
	must.Equal(t, "looks at a session that ends later", y.looks, 1)
	y.rounds(5)
	y.seen(fmt.Sprint("bob ", y.ended[bob].Sub(yardStart)+time.Second))
}

// TestADueBackupSurvivesAKill is about a server that is killed after it noticed
// that a backup is due and before it is made.
func TestADueBackupSurvivesAKill(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "off", AfterSession: true}, ann)
	y.ended[ann] = y.now
	ctx, kill := context.WithCancel(t.Context())
	y.fail = func(k server.AgentName) error {
		if st := y.record(k); !st.DueSince.Time().Equal(yardStart) || st.Reason != "session" {
			t.Errorf("it is tried before it is written down: %+v", st)
		}
		kill()
		return context.Canceled
	}
	_, _, news := y.worker.round(ctx)
	must.Equal(t, "news of a worker that is stopped", news, false)
	if st := y.record(ann); st.DueSince.IsZero() || st.Failures != 0 {
		t.Errorf("the record is %+v", st)
	}
	y.fail, y.tried = nil, nil
	delete(y.ended, ann) // whatever the store says now
	y.now = y.now.Add(time.Hour)
	y.start()
	y.rounds(3)
	y.seen("ann 1h0m0s")
	if st := y.record(ann); !st.DueSince.IsZero() || st.Success.Time() != yardStart.Add(time.Hour) {
		t.Errorf("the record is %+v", st)
	}
}

// TestBackupsAreMadeUpAfterAnOutage has a vault away for hours, and a restart
// in between.
func TestBackupsAreMadeUpAfterAnOutage(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1h"}, ann, bob)
	y.rounds(60)
	y.seen("ann 0s", "bob 0s")
	y.fail = away
	_, failing := y.rounds(30)
	// One of them is enough to learn that the vault is away, and they take turns.
	y.seen("ann 1h0m0s", "bob 1h1m0s", "ann 1h3m0s", "bob 1h7m0s", "ann 1h15m0s")
	must.Says(t, "what fails", fmt.Sprint(failing),
		"default/ann: backups have failed since 2026-03-01T13:00:00", "last backup 2026-03-01T12:00:00", "nobody is there", "default/bob")
	y.notes[ann], y.notes[bob] = "two", "three"
	y.start()
	_, failing = y.rounds(1)
	y.seen("bob 1h30m0s") // at once, and who waits longest
	if st := y.record(ann); !strings.Contains(failing.Error(), st.FailingSince.String()) || st.FailingSince.Time() != yardStart.Add(time.Hour) {
		t.Errorf("after a restart it fails since %s: %v", st.FailingSince, failing)
	}
	y.fail, y.tried = nil, nil
	y.rounds(1)
	y.seen("ann 1h31m0s")
	_, failing = y.rounds(1)
	y.seen("bob 1h32m0s")
	must.Kind(t, "after it was mended", failing, "")
	want := map[server.AgentName][]string{ann: {"one", "two"}, bob: {"one", "three"}}
	must.Equal(t, "the vault has", y.kept, want)
	if st := y.record(bob); st.Failures != 0 || !st.DueSince.IsZero() || y.last[bob] != st.Success {
		t.Errorf("the record is %+v, metrics say %s", st, y.last[bob])
	}
}

func TestTheWaitGrowsToAnHour(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1h"}, ann)
	y.fail = away
	y.rounds(260)
	y.seen("ann 0s", "ann 1m0s", "ann 3m0s", "ann 7m0s", "ann 15m0s", "ann 31m0s", "ann 1h3m0s", "ann 2h3m0s", "ann 3h3m0s", "ann 4h3m0s")
}

// told is a refusal that says when to come back.
type toldToWait time.Duration

func (w toldToWait) Error() string             { return "later" }
func (w toldToWait) RetryAfter() time.Duration { return time.Duration(w) }

func TestAVaultMayAskForPeace(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1d"}, ann, bob)
	y.fail = func(k server.AgentName) error {
		if k == ann {
			return &amber.Error{Op: "put", Kind: amber.KindQuota, Err: fmt.Errorf("429: %w", toldToWait(40*time.Minute))}
		}
		return nil
	}
	y.rounds(41)
	y.seen("ann 0s", "bob 40m0s", "ann 40m0s") // one key, one vault: bob asks as late as ann
	must.Equal(t, "the longest that a vault may ask for", retryIn(0, toldToWait(1000*time.Hour)), 24*time.Hour)
}

// TestOneRefusalKeepsNobodyElse has a vault that says no to one agent.
func TestOneRefusalKeepsNobodyElse(t *testing.T) {
	t.Parallel()
	for _, kind := range []amber.Kind{amber.KindRefused, amber.KindDamaged, amber.KindUntrusted, amber.KindQuota, amber.KindConflict, amber.KindInternal} {
		y := newYard(t, config.Vault{Schedule: "1h"}, ann, bob)
		y.fail = func(k server.AgentName) error {
			if k == ann {
				return amber.Errorf(kind, "back up", "", "no")
			}
			return nil
		}
		detail, failing := y.rounds(1)
		y.seen("ann 0s", "bob 0s")
		if detail != "1 backed up, 0 unchanged; last success 2026-03-01T12:00:00.000Z" || failing == nil || strings.Contains(failing.Error(), "bob") {
			t.Errorf("%s: %q, %v", kind, detail, failing)
		}
		if y.counts[string(kind)] != 1 || y.counts["ok"] != 1 {
			t.Errorf("%s: counted %v", kind, y.counts)
		}
		// A user who mends the configuration need not wait.
		y.rounds(1)
		y.tried, y.vault.APIKeyFile = nil, "/srv/key"
		y.now = y.now.Add(-30 * time.Second)
		y.rounds(1)
		y.seen("ann 1m30s")
	}
}

func TestAnotherVaultIsGivenEverything(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1d"}, ann)
	y.rounds(2)
	y.seen("ann 0s")
	y.vault.URL = "https://other.example"
	y.rounds(2)
	y.seen("ann 2m0s")
	y.vault.URL = ""
	detail, failing, news := y.worker.round(t.Context())
	if detail != "off" || failing != nil || !news {
		t.Errorf("without a vault: %q, %v, %v", detail, failing, news)
	}
	_, _, news = y.worker.round(t.Context())
	must.Equal(t, "the same is told twice", news, false)
}

// TestARecordThatCannotBeReadCostsABackup and is mended by it; one of a newer
// Amber is left alone.
func TestARecordThatCannotBeReadCostsABackup(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1d"}, ann, bob)
	y.rounds(1)
	y.tried = nil
	for name, text := range map[server.AgentName]string{ann: `{"format":`, bob: `{"format":"amber vault backups 2","began":7}`} {
		must.Do(t, os.WriteFile(In(y.dir).Path(name), []byte(text), 0o600))
	}
	y.start()
	_, failing := y.rounds(2)
	y.seen("ann 1m0s")
	must.Says(t, "what fails", fmt.Sprint(failing), "bob")
	must.Hides(t, "what fails", fmt.Sprint(failing), "default/ann")
	must.Kind(t, "the record of a newer Amber", must.Err(In(y.dir).Read(bob)), amber.KindTooNew)
	must.Equal(t, "mode of the record", must.Get(os.Stat(In(y.dir).Path(ann)))(t).Mode().Perm(), 0o600)
}

// TestNothingIsTriedThatCouldNotBeWrittenDown has a folder that takes no files.
func TestNothingIsTriedThatCouldNotBeWrittenDown(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1d"}, ann)
	must.Do(t, os.WriteFile(y.dir+"/vaults", nil, 0o600))
	_, failing := y.rounds(3)
	y.seen()
	if failing == nil {
		t.Error("it is not reported")
	}
	if _, err := os.Stat(In(y.dir).Path(ann)); !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "not a directory") {
		t.Error(err)
	}
}

// TestAClockThatWasWrongStopsNothing has records of a time to come.
func TestAClockThatWasWrongStopsNothing(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1h"}, ann)
	y.now = yardStart.Add(1000 * time.Hour)
	y.rounds(1)
	y.tried, y.now = nil, yardStart
	y.rounds(1)
	y.seen("ann 0s")
	y.fail = away
	y.now = yardStart.Add(2000 * time.Hour)
	y.rounds(1)
	y.tried, y.now = nil, yardStart.Add(time.Hour)
	y.fail = nil
	y.rounds(1)
	y.seen("ann 1h0m0s")
}

// TestWhatEveryAgentHasToHearIsAskedOnce has a vault with one key, thirty agents,
// and something that is wrong for all of them. When it is mended, all go on.
func TestWhatEveryAgentHasToHearIsAskedOnce(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"peace":             &amber.Error{Op: "put", Kind: amber.KindQuota, Err: toldToWait(time.Hour)},
		"peace, some time":  &amber.Error{Op: "put", Kind: amber.KindQuota, Err: toldToWait(0)},
		"not there":         away(ann),
		"no such key there": &amber.Error{Op: "log in", Kind: amber.KindRefused, Err: fmt.Errorf("401: %w", api.ErrKeyRefused)},
	} {
		var keys []server.AgentName
		for i := range 30 {
			keys = append(keys, server.AgentName{Tenant: "default", Agent: amber.AgentID(fmt.Sprintf("a%02d", i))})
		}
		y := newYard(t, config.Vault{Schedule: "1d"}, keys...)
		y.fail = func(server.AgentName) error { return err }
		y.rounds(1)
		must.Equal(t, name+": agents asked", len(y.tried), 1)
		want := map[server.AgentName]amber.Time{keys[0]: amber.At(yardStart)}
		must.Equal(t, name+": metrics of failures", y.fails, want, cmp.AllowUnexported(amber.Time{}))
		y.tried, y.fail, y.now = nil, nil, yardStart.Add(time.Hour)
		y.rounds(2)
		if len(y.tried) != 30 || len(y.fails) != 0 || len(y.last) != 30 {
			t.Errorf("%s: then %d agents asked, %d fail, %d succeeded", name, len(y.tried), len(y.fails), len(y.last))
		}
	}
}

// TestNoClockMakesTheVaultWaitForDays: what is waited for is never
// longer than a day, whatever the clock was.
func TestNoClockMakesTheVaultWaitForDays(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1h"}, ann)
	y.fail = away
	y.now = yardStart.Add(2000 * time.Hour)
	y.rounds(1)
	y.tried, y.now, y.fail = nil, yardStart, nil
	y.rounds(1)
	y.seen("ann 0s")
}

// TestMetricsForgetWhoIsNotBackedUp: an agent that is gone, one without notes and
// a vault that is off leave no time that would grow old.
func TestMetricsForgetWhoIsNotBackedUp(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1h"}, ann, bob)
	y.rounds(1)
	shows := func(want ...server.AgentName) {
		t.Helper()
		got := slices.SortedFunc(maps.Keys(y.last), func(x, y server.AgentName) int { return strings.Compare(string(x.Agent), string(y.Agent)) })
		must.Equal(t, "metrics know", got, want, cmp.AllowUnexported(server.AgentName{}))
	}
	shows(ann, bob)
	y.agents = []server.AgentName{ann}
	y.rounds(1)
	shows(ann)
	y.notes[ann] = ""
	y.rounds(60)
	shows()
	y.start()
	y.rounds(1)
	shows() // also when the record is read again
	y.notes[ann] = "two"
	y.rounds(60)
	shows(ann)
	y.vault.URL = ""
	y.rounds(1)
	shows()
}

// TestAConflictTellsTheWayOut has a vault that holds memory which this agent has never seen.
func TestAConflictTellsTheWayOut(t *testing.T) {
	t.Parallel()
	y := newYard(t, config.Vault{Schedule: "1h"}, ann)
	y.fail = func(server.AgentName) error {
		return &amber.Error{Op: "look", Kind: amber.KindConflict, Err: &amber.Error{Op: "look", Kind: amber.KindConflict, Err: errors.New("never seen"), Hint: "amber vault restore"}}
	}
	_, failing := y.rounds(1)
	must.Says(t, "what fails", fmt.Sprint(failing), "never seen; hint: amber vault restore")
	if st := y.record(ann); st.Hint != "amber vault restore" || st.Kind != amber.KindConflict || y.counts["conflict"] != 1 {
		t.Errorf("the record is %+v, counted %v", st, y.counts)
	}
}
