//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// repoDir is the folder of the repository of the default tenant.
const repoDir = "home/tenants/default/repo"

func snapshotEffects() map[string]effect {
	return map[string]effect{
		"snapshot.enabled": {value("false"), func(s *setting) string {
			s.does("remember", "x")
			return s.exit("snapshot", "create")
		}, "exit 0", "exit 6"},
		"snapshot.root": {func(s *setting) string { return s.path("elsewhere") }, func(s *setting) string {
			s.does("remember", "x")
			s.snapshot()
			return fmt.Sprint(s.files("elsewhere") > 0, s.files(repoDir) > 0)
		}, "false true", "true false"},
		"snapshot.lock_timeout": {value("1ms"), func(s *setting) string {
			s.does("remember", "x")
			s.snapshot()
			return s.whileLocked(s.lockRepository, "snapshot", "create")
		}, "exit 0", "exit 4"},
		"snapshot.gc.grace": {value("1h"), func(s *setting) string {
			s.set("AMBER_SOURCES__TOOL__FILES", s.file("tool.txt", noise(100_000)))
			s.does("remember", "x")
			first := s.snapshot("--source", "tool")
			s.snapshot()
			s.does("snapshot", "delete", first, "--yes")
			deleted := 0
			for hours := range 3 {
				s.now = time.Now().Add(2 * time.Duration(hours) * time.Hour)
				deleted += told[wire.GCReport](s, "snapshot", "gc", "--yes").Deleted
			}
			return fmt.Sprint(deleted > 0)
		}, "false", "true"},
	}
}

func automaticEffects() map[string]effect {
	return map[string]effect{
		"snapshot.auto.before_restore": {value("false"), func(s *setting) string {
			s.does("remember", "x")
			s.does("snapshot", "restore", s.snapshot(), "--yes")
			return s.items("snapshot", "list")
		}, "2", "1"},
		"snapshot.auto.before_consolidation": {value("off"), func(s *setting) string {
			s.does("remember", "x")
			id := told[wire.Consolidation](s, "consolidate", "begin").Snapshot
			s.does("task", "save", "t1", "--goal", "x")
			for range 3 {
				s.does("event", "append", "t1", "--from", "queued")
			}
			s.does("event", "compact", "t1", "--keep", "5") // folds nothing
			s.does("event", "compact", "t1", "--keep", "1")
			return fmt.Sprint(id != "", " ", s.items("snapshot", "list"))
		}, "true 2", "false 0"},
		"snapshot.auto.before_mutating_tool": {value("require"), func(s *setting) string {
			s.does("remember", "x")
			s.serve().tool("memory_save", map[string]any{"content": "y"})
			return s.items("snapshot", "list")
		}, "0", "1"},
		"snapshot.auto.schedule": {value("1h"), func(s *setting) string {
			s.does("remember", "x")
			w := s.serve()
			await(s.T, func() bool {
				return s.with && s.items("snapshot", "list") != "0" || !s.with && w.rounds("journal drain") > 1
			})
			return s.items("snapshot", "list")
		}, "0", "1"},
	}
}

func trustEffects() map[string]effect {
	return map[string]effect{
		"snapshot.encryption.recipients": {func(s *setting) string { return s.identity("ada") }, func(s *setting) string {
			s.does("remember", "the harbour opens at dawn")
			return fmt.Sprint(told[wire.SnapshotMeta](s, "snapshot", "create").Encrypted)
		}, "false", "true"},
		"snapshot.encryption.identity": {func(s *setting) string {
			s.does("remember", "x")
			s.snapshot("--encrypt", s.identity("ada"))
			return s.path("ada")
		}, func(s *setting) string {
			list := told[amber.Page[wire.SnapshotMeta]](s, "snapshot", "list")
			must.Do(s, os.CopyFS(s.path("away/tenants/default/repo"), os.DirFS(s.path(repoDir))))
			return s.exit("--home", s.path("away"), "snapshot", "restore", string(list.Items[0].ID), "--yes")
		}, "exit 6", "exit 0"},
		"snapshot.sign": {value("false"), func(s *setting) string {
			s.does("remember", "x")
			return fmt.Sprint(told[wire.SnapshotMeta](s, "snapshot", "create").SignedBy != "")
		}, "true", "false"},
		"snapshot.require_signed": {value("true"), func(s *setting) string {
			s.does("remember", "x")
			return s.exit("snapshot", "restore", s.snapshot("--no-sign"), "--yes")
		}, "exit 0", "exit 6"},
	}
}

// retentionEffects go by three snapshots, a week apart, and rules that alone
// would keep none of them.
func retentionEffects() map[string]effect {
	rule := func(change func(*setting) string, with string) effect {
		return effect{change, func(s *setting) string {
			end := time.Now()
			for _, days := range []int{15, 8, 0} {
				s.now = end.AddDate(0, 0, -days)
				s.does("remember", fmt.Sprint(days))
				s.snapshot()
			}
			return fmt.Sprint(len(told[wire.PruneReport](s, "snapshot", "prune", "--yes").Deleted), " ", s.items("snapshot", "list"))
		}, "0 3", with}
	}
	all := map[string]effect{
		"snapshot.retention.max_age":  rule(value("10d"), "1 2"),
		"snapshot.retention.interval": {value("7m"), intervalSeen, "1h0m0s", "7m0s"},
		"snapshot.retention.manual": {func(s *setting) string {
			s.set("AMBER_SNAPSHOT__RETENTION__KEEP_LAST", s.onlyRule("last"))
			return "true"
		}, manualSeen, "3 kept", "1 kept"},
	}
	for _, r := range new(wire.PruneRequest).Rules() {
		all["snapshot.retention.keep_"+r.Name] = rule(func(s *setting) string { return s.onlyRule(r.Name) }, "2 1")
	}
	return all
}

// onlyRule takes every other rule of retention away, and returns how many snapshots the one is to keep.
func (s *setting) onlyRule(name string) string {
	for _, r := range new(wire.PruneRequest).Rules() {
		if r.Name != name {
			s.set("AMBER_SNAPSHOT__RETENTION__KEEP_"+strings.ToUpper(r.Name), "0")
		}
	}
	return "1"
}

// manualSeen is how many snapshots the first round of a server's retention leaves
// of three that a person took.
func manualSeen(s *setting) string {
	for _, label := range []string{"before the move", "", "the good one"} {
		s.does("remember", "before "+label)
		s.snapshot("--label", label)
	}
	w := s.serve()
	await(s.T, func() bool { return w.rounds("retention") > 0 })
	return s.items("snapshot", "list") + " kept"
}

// intervalSeen is when a server says that it applies retention again.
func intervalSeen(s *setting) string {
	w := s.serve()
	await(s.T, func() bool { return w.rounds("retention") > 0 })
	_, next, _ := strings.Cut(w.worker("retention").Detail, "; next round in ")
	return next
}

// sourceEffects capture what another tool has.
func sourceEffects() map[string]effect {
	captured := func(prepare func(*setting) string) effect {
		return effect{prepare, func(s *setting) string {
			s.does("remember", "x")
			out, _, code := s.amber("", "--json", "snapshot", "create", "--source", "tool")
			if code != 0 {
				return fmt.Sprint("exit ", code)
			}
			if strings.Contains(out, `"part"`) {
				s.Error("something is missing: ", out)
			}
			id := told[amber.Page[wire.SnapshotMeta]](s, "snapshot", "list").Items[0].ID
			s.does("snapshot", "restore", string(id), "--source", "tool", "--to", s.path("out"))
			return fmt.Sprint(s.files("out") > 0)
		}, "exit 3", "true"}
	}
	return map[string]effect{
		"sources.<name>.files": captured(func(s *setting) string { return s.file("tool/notes.txt", "precious words") }),
		"sources.<name>.git": captured(func(s *setting) string {
			s.file("work/a.md", "precious words")
			for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-q", "-m", "begin"}} {
				cmd := exec.CommandContext(s.Context(), "git", args...)
				cmd.Dir, cmd.Env = s.path("work"), s.env
				if out, err := cmd.CombinedOutput(); err != nil {
					s.Fatalf("%v: %s", err, out)
				}
			}
			return s.path("work")
		}),
		"sources.<name>.sqlite": captured(func(s *setting) string {
			other := newSetting(s.T, false)
			other.does("remember", "x")
			found, err := filepath.Glob(other.path("home/tenants/default/agents/default/gen/*/memory.db"))
			if err != nil || len(found) != 1 {
				s.Fatal(found, err)
			}
			return found[0]
		}),
	}
}

// shareEffects go from one home to another.
func shareEffects() map[string]effect {
	return map[string]effect{
		"write.redact": {value("false"), func(s *setting) string {
			s.does("remember", "deploy with AKIAIOSFODNN7EXAMPLF please")
			return fmt.Sprint(strings.Contains(s.does("recall", "deploy"), "AKIAIOSFODNN7EXAMPLF"))
		}, "false", "true"},
		"write.review": {value("none"), func(s *setting) string {
			env := s.env
			s.env = append(slices.Clone(env), "CODEX_THREAD_ID=t7") // the shell of an agent
			s.does("remember", "--scope", "global", "Nothing is deployed on Fridays")
			s.env = env
			return fmt.Sprint(strings.Contains(s.does("review", "list"), "Fridays"))
		}, "true", "false"},
		"redact.rules": {value("ticket = TCK-[0-9]{6}"), func(s *setting) string {
			s.does("remember", "deploy as in TCK-123456")
			s.does("note", "write", "plan", "see TCK-123457")
			return fmt.Sprint(strings.Contains(s.does("recall", "deploy")+s.does("note", "show", "plan"), "TCK-12345"))
		}, "true", "false"},
		"redact.exceptions": {value("AKIAIOSFODNN7EXAMPL[A-Z]"), func(s *setting) string {
			s.does("remember", "deploy with AKIAIOSFODNN7EXAMPLF please")
			return fmt.Sprint(strings.Contains(s.does("recall", "deploy"), "AKIAIOSFODNN7EXAMPLF"))
		}, "false", "true"},
		"export.redact": {value("false"), func(s *setting) string {
			s.set("AMBER_WRITE__REDACT", "false")
			s.does("remember", "deploy with AKIAIOSFODNN7EXAMPLF please")
			s.does("sync", "export", "--dir", s.path("shared/.amber"), "--all")
			s.does("--home", s.path("away"), "sync", "import", "--dir", s.path("shared/.amber"))
			return fmt.Sprint(strings.Contains(s.does("--home", s.path("away"), "recall", "deploy"), "AKIAIOSFODNN7EXAMPLF"))
		}, "false", "true"},
		"sync.sign": {value("false"), func(s *setting) string {
			s.does("remember", "x")
			return fmt.Sprint(told[wire.SyncExport](s, "sync", "export", "--dir", s.path("shared/.amber"), "--all").Signed)
		}, "true", "false"},
		"sync.prompts": {value("true"), func(s *setting) string {
			s.does("remember", "x")
			s.does("turn", "add", "what is x?", "--session", "s1", "--role", "user")
			return fmt.Sprint(told[wire.SyncExport](s, "sync", "export", "--dir", s.path("shared/.amber"), "--all").Prompts)
		}, "0", "1"},
		"sync.require_signed": {value("true"), func(s *setting) string {
			s.does("remember", "x")
			s.does("sync", "export", "--dir", s.path("shared/.amber"), "--all", "--no-sign")
			return s.exit("--home", s.path("away"), "sync", "import", "--dir", s.path("shared/.amber"))
		}, "exit 0", "exit 5"},
	}
}

// identity makes a secret key in a file and returns its public one.
func (s *setting) identity(name string) string {
	s.Helper()
	id := must.Get(age.GenerateX25519Identity())(s)
	s.file(name, id.String()+"\n")
	return id.Recipient().String()
}

// files counts the files below a folder, which need not be there.
func (s *setting) files(dir string) (n int) {
	_ = filepath.WalkDir(s.path(dir), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return nil
	})
	return n
}

// lockRepository locks the repository as a garbage collection does.
func (s *setting) lockRepository() (unlock func()) {
	s.Helper()
	l := must.Get(fsx.TryLock(s.path(repoDir, ".lock"), fsx.Exclusive))(s)
	return func() { _ = l.Unlock() }
}

// noise is text that cannot be made smaller.
func noise(n int) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // it never fails
	return string(b)
}
