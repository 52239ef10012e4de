package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/capture"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/wire"
)

// spooled is the session in the spool of newSpool.
var spooled = journal.Session{Host: capture.GenericHost, ID: "s1"}

// newSpool is a home with a journal of one session.
func newSpool(t *testing.T) *sickHome {
	t.Helper()
	entry := []string{"journal", "append", "--session", "s1", "--type", "prompt"}
	return newHome(t, [][]string{
		{"remember", "We chose PostgreSQL for JSONB"},
		append(slices.Clone(entry), "first of all"), append(slices.Clone(entry), "second of all"),
	})
}

// spool is a path in the spool.
func (p *sickHome) spool(name ...string) string {
	return p.agent(append([]string{"spool"}, name...)...)
}

func (p *sickHome) journal() *journal.Journal {
	p.t.Helper()
	j, err := journal.Open(p.spool(), agent.JournalOptions(config.Default().Journal, p.world.Clock))
	p.must(err)
	return j
}

// change changes one byte of a word in a file.
func (p *sickHome) change(path, word string) {
	p.t.Helper()
	b, err := os.ReadFile(path)
	p.must(err)
	at := strings.Index(string(b), word)
	if at < 0 {
		p.t.Fatalf("%q is not in %s", word, path)
	}
	b[at] ^= 1
	p.must(os.WriteFile(path, b, 0o600))
}

func TestDoctorFindsAHealthySpool(t *testing.T) {
	t.Parallel()
	p := newSpool(t)
	code, found := p.doctor()
	for _, c := range spoolCodes {
		if found[c].Status != wire.FindingOK {
			t.Errorf("%s: %+v", c, found[c])
		}
	}
	if code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
}

// TestDoctorFailsTheSpool harms the journal in every way the doctor is there to find.
func TestDoctorFailsTheSpool(t *testing.T) {
	t.Parallel()
	key := string(spooled.Key())
	for _, tc := range []struct {
		name string
		harm func(p *sickHome)
		exit int
	}{
		{"a damaged frame", func(p *sickHome) { p.change(p.spool(key, "000001.seg"), "first of all") }, 5},
		{"a damaged header", func(p *sickHome) { p.change(p.spool(key, "000001.seg"), "AmberJrn") }, 5},
		{"a spool that is a link", func(p *sickHome) {
			p.must(os.Rename(p.spool(), p.home+"-elsewhere"))
			p.must(os.Symlink(p.home+"-elsewhere", p.spool()))
		}, 5},
		{"a session that is a link", func(p *sickHome) {
			p.must(os.Rename(p.spool(key), p.home+"-elsewhere"))
			p.must(os.Symlink(p.home+"-elsewhere", p.spool(key)))
		}, 5},
		{"a segment that is a link", func(p *sickHome) {
			p.must(os.Symlink(p.spool("losses"), p.spool(key, "000002.seg")))
		}, 5},
		{"losses that are a folder", func(p *sickHome) { p.must(os.Mkdir(p.spool("losses"), 0o700)) }, 5},
		{"a spool others can reach", func(p *sickHome) { p.must(os.Chmod(p.spool(), 0o755)) }, 6},
		{"a session others can reach", func(p *sickHome) { p.must(os.Chmod(p.spool(key), 0o710)) }, 6},
		{"a segment others can read", func(p *sickHome) { p.must(os.Chmod(p.spool(key, "000001.seg"), 0o644)) }, 6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newSpool(t)
			tc.harm(p)
			code, found := p.doctor()
			if f := found["spool"]; f.Status != wire.FindingFailed || f.Detail == "" || f.Kind == "" {
				t.Errorf("got %+v, want failed", f)
			}
			if code != tc.exit {
				t.Errorf("exit %d, want %d", code, tc.exit)
			}
			for c, f := range found {
				if c != "spool" && f.Status == wire.FindingFailed {
					t.Errorf("%s fails, too: %s", c, f.Detail)
				}
			}
		})
	}
}

// TestDoctorWarnsAboutTheSpool makes every warning appear.
func TestDoctorWarnsAboutTheSpool(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		code  string
		harm  func(p *sickHome)
		words []string
	}{
		{"spool.losses", func(p *sickHome) {
			p.must(p.journal().CountLoss(errors.New("no space")))
			p.must(p.journal().CountLoss(amber.Errorf(amber.KindQuota, "append", "", "full")))
		}, []string{"2 events", "20"}},
		{"spool.quarantine", func(p *sickHome) {
			p.must(p.journal().Quarantine(p.t.Context(), spooled.Key(), 1, []byte("x"), "no such tool"))
		}, []string{"1 file"}},
		{"spool.undrained", func(p *sickHome) {
			p.world.Clock = func() time.Time { return time.Now().Add(61 * time.Minute) }
		}, []string{"2 entries"}},
	} {
		t.Run(tc.code, func(t *testing.T) {
			t.Parallel()
			p := newSpool(t)
			tc.harm(p)
			p.finds(0, tc.code, wire.FindingWarning, tc.words...)
			if _, found := p.doctor(); found[tc.code].Hint == "" {
				t.Error("the warning has no hint")
			}
		})
	}
}

// TestDoctorLooksAtASpoolWithoutAnAgent examines what hooks leave before anybody has stored a memory.
func TestDoctorLooksAtASpoolWithoutAnAgent(t *testing.T) {
	t.Parallel()
	p := newSpool(t)
	for _, name := range []string{"CURRENT", "gen", "gate", "lock"} {
		p.must(os.RemoveAll(p.agent(name)))
	}
	p.finds(0, "current", wire.FindingWarning)
	p.finds(0, "spool", wire.FindingOK)
	p.finds(0, "spool.undrained", wire.FindingOK)
	if _, err := os.Lstat(p.agent("CURRENT")); err == nil {
		t.Error("the doctor made an agent")
	}
}

// TestDoctorDoesNotGuessWhatIsDrained says so where the store cannot be asked.
func TestDoctorDoesNotGuessWhatIsDrained(t *testing.T) {
	t.Parallel()
	p := newSpool(t)
	p.must(os.Truncate(p.agent("CURRENT"), 40))
	_, found := p.doctor()
	if f := found["spool.undrained"]; f.Status != wire.FindingNotChecked {
		t.Errorf("got %+v, want not checked", f)
	}
	if found["spool"].Status != wire.FindingOK {
		t.Errorf("got %+v, want the frames to be checked as well", found["spool"])
	}
}

// TestStatusIsPrintedWithoutAStore reads the disk when the store does not open, and says why.
func TestStatusIsPrintedWithoutAStore(t *testing.T) {
	t.Parallel()
	p := newSpool(t)
	p.must(os.Truncate(p.agent("CURRENT"), 40))
	p.run("journal", "status", "--json").exits(0).prints(`"undrained": 2`, `"store_error": "`, `"last_error": "`)
}
