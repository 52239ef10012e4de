package tui

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestRecallWhileTyping(t *testing.T) {
	w := newWorld(t, fill).size(120, 30)
	w.press("databas").says("recall: databas", "Database")
	w.press("e 12q?:").says("recall: database 12q?:") // keys are letters in a field
	w.press("esc", "w").hides("words ")
	w.press("w").says("words ")
	w.press("/", "ctrl+u", "database", "enter", "c").says("Recall > Context", "what is known about database")
	w.press("esc", "a").says("As of", "now", "second")
	w.press("j", "enter").says("recall as of second: database", "then: Database")
	w.press("a", "g", "enter").says("recall: database").hides("then:")
}

// While an answer is under way nothing else is asked; then the text as it is by then.
func TestOneRecallAtATime(t *testing.T) {
	w := newWorld(t, fill)
	asked := []string{}
	w.src.Store.LongTerm = asking{w.store.LongTerm, &asked}
	w.open()
	_, first := w.m.Update(keysOf("c")[0])
	for _, k := range keysOf("oupons") {
		if _, c := w.m.Update(k); c != nil {
			t.Fatal("a second question is asked while the first is under way")
		}
	}
	w.run(first)
	must.Equal(t, "questions", asked, []string{"", "c", "coupons"})
}

type asking struct {
	amber.LongTerm
	asked *[]string
}

func (a asking) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	*a.asked = append(*a.asked, q.Text)
	return a.LongTerm.Recall(ctx, q)
}

func TestSessionTurns(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "3", "enter").says("Turns of fix the build  4", "tool      exit 2")
	w.press("f").says("  3", "[2 outputs folded]").hides("exit 2")
	w.press("f").says("exit 2")
	w.press("a").says("command    go test ./...", "1 failed")
	w.press("esc", "esc").says("Sessions  1")
}

func TestManyTurnsLoadBitByBit(t *testing.T) {
	w := newWorld(t, func(w *world) {
		must.Get(w.store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: "s1", Name: "long"}))(t)
		for i := range 150 {
			must.Get(w.store.Turns.AppendTurn(t.Context(), amber.Turn{ID: amber.TurnID(fmt.Sprint("t", i)), SessionID: "s1", Role: amber.RoleUser, Content: fmt.Sprint("turn ", i)}))(t)
		}
	})
	w.press("esc", "3", "enter").says("50+", "> user      turn 149")
	w.press("G").says("100+", "> user      turn 100")
	w.press("G", "G", "G").says("  150", "> user      turn 0")
}

func TestNotes(t *testing.T) {
	w := newWorld(t, fill).size(120, 30)
	w.press("esc", "4").says("We use PostgreSQL.")
	w.press("d").says("- We use MySQL.", "+ We use PostgreSQL.")
	w.press("esc", "l", "j").says("We use MySQL.")
	w.press("d").says("+ We use MySQL.").hides("PostgreSQL")
	w.press("esc", "esc")
	w.desk.typed = func(text string) string { return strings.ReplaceAll(text, "PostgreSQL", "SQLite") }
	w.press("e").says("stored as commit")
	must.Says(t, "note", must.Get(w.store.Notes.ReadNote(t.Context(), "decisions/database"))(t).Content, "We use SQLite.")
	w.desk.typed = func(string) string {
		must.Get(w.store.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "decisions/database", Content: "We use theirs."}))(t)
		return "We use mine."
	}
	w.press("e").says("the note was changed meanwhile", "- We use theirs.", "+ We use mine.")
	must.Equal(t, "note", must.Get(w.store.Notes.ReadNote(t.Context(), "decisions/database"))(t).Content, "We use theirs.")
}

func TestSnapshots(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "5", "v").says("nothing damaged found", "not checked: bytes of the data")
	w.press("esc", "v").says("checked: manifest, bytes of the data").hides("not checked:")
	w.press("esc", "space", "space", "d").says("from first to second", "+ memories k added 00000000-0000-7000-8000-0000000000a1")
	w.press("esc", "esc", "n", "before the release", "enter").says("took snapshot before the release")
	must.Equal(t, "taken", w.frozen.taken, []wire.SnapshotRequest{{Tenant: "default", Agent: "default", Label: "before the release"}})
	w.press("n", "esc").says("nothing was changed")
	must.Equal(t, "taken", len(w.frozen.taken), 1)
}

// A restore shows its plan first, and happens only for the label.
func TestRestoreNeedsTheLabel(t *testing.T) {
	w := newWorld(t, fill)
	runs := func() (dry, real int) {
		for _, r := range w.frozen.restored {
			if r.DryRun {
				dry++
			} else {
				real++
			}
		}
		return dry, real
	}
	w.press("esc", "5", "R").says("A restore of second would change", "-2 removed", "type second to restore")
	w.press("first", "enter").says("nothing was restored")
	if dry, real := runs(); dry != 1 || real != 0 {
		t.Fatalf("%d dry runs and %d restores, want 1 and 0", dry, real)
	}
	w.press("R", "second", "enter").says("restored second", "Snapshots  2")
	if _, real := runs(); real != 1 {
		t.Fatalf("%d restores, want 1", real)
	}
	must.Equal(t, "restored", w.frozen.restored[1].ID, amber.SnapshotID("00000000-0000-7000-8000-0000000000b2"))
}

func TestConflictIsSettled(t *testing.T) {
	content := func(w *world) amber.Memory {
		return must.Get(w.store.Memories.Get(t.Context(), w.sync.Conflicts[0].ID))(t)
	}
	t.Run("keep 2", func(t *testing.T) {
		w := newWorld(t, fill)
		w.press("esc", "6", "2").says("Keep text 2?", "We chose SQLite")
		w.press("enter").says("the conflict is settled")
		must.Equal(t, "content", content(w).Content, "We chose SQLite")
	})
	t.Run("keep 1", func(t *testing.T) {
		w := newWorld(t, fill)
		before := content(w)
		w.press("esc", "6", "1", "enter")
		now := content(w)
		must.Equal(t, "content", now.Content, before.Content)
		must.Equal(t, "revision", now.Revision, before.Revision+1) // without one the conflict stays
		must.Hold(t, now.Metadata[settledKey] != "", "the metadata does not say that a conflict was settled")
	})
	t.Run("edit both", func(t *testing.T) {
		w := newWorld(t, fill)
		w.desk.typed = func(text string) string { return text + "more" }
		w.press("esc", "6", "e").says("Not stored", "still in the text")
		w.desk.typed = func(text string) string {
			must.Says(t, "both texts", text, markOne, "PostgreSQL", markMid, "SQLite", markTwo)
			return "We use both"
		}
		w.press("e").says("stored as revision")
		must.Equal(t, "content", content(w).Content, "We use both")
	})
	t.Run("changed since", func(t *testing.T) {
		w := newWorld(t, fill)
		w.press("esc", "6", "2")
		theirs := "We chose CockroachDB"
		must.Get(w.store.Editor.Edit(t.Context(), amber.EditRequest{ID: w.sync.Conflicts[0].ID, Content: &theirs}))(t)
		w.press("enter").says("since it was shown", "hint: press 6")
		must.Equal(t, "content", content(w).Content, theirs)
	})
	another := func(w *world) {
		c := &w.sync.Conflicts[0]
		c.Others = append(slices.Clone(c.Others), amber.SyncVersion{Title: "Database", Content: "We chose DuckDB", Origin: amber.Origin{Device: "phone", Counter: 1}})
	}
	for _, key := range []string{"1", "2"} {
		t.Run("keep "+key+" beside a version that was not shown", func(t *testing.T) {
			w := newWorld(t, fill)
			before := content(w)
			w.press("esc", "6", key)
			another(w)
			w.press("enter").says("since it was shown", "hint: press 6")
			must.Equal(t, "revision", content(w).Revision, before.Revision)
		})
	}
	t.Run("edit both beside a version that was not shown", func(t *testing.T) {
		w := newWorld(t, fill)
		before := content(w)
		w.desk.typed = func(string) string {
			another(w)
			return "We use both"
		}
		w.press("esc", "6", "e").says("Not stored", "since it was shown", "Nothing is lost")
		must.Equal(t, "revision", content(w).Revision, before.Revision)
	})
}

// Beside a conflict 1 and 2 are screens, as everywhere.
func TestDigitsBesideAConflict(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "6", "j").says("00000000000000000002.entry")
	w.press("2").says("[2 Memories]")
}

func TestWork(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "7", "y").says("Approve?", `{"cmd":"deploy 1.4"}`)
	w.press("y", "y")
	must.Equal(t, "status", must.Get(w.store.Approvals.Approval(t.Context(), "a1"))(t).Status, amber.ApprovalPending)
	w.press("enter").says("a1 is approved")
	done := must.Get(w.store.Approvals.Approval(t.Context(), "a1"))(t)
	must.Equal(t, "decided by", done.DecidedBy, "ann")
	w.press("j", "p").says("published again as build-7.again-1", "1 queued")
	w.press("p").says("1 queued") // the same entry once more does nothing
	w.press("y").says("copy", "id: build-7")
}

func TestRejectAsksForAComment(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "7", "n", "esc")
	must.Equal(t, "status", must.Get(w.store.Approvals.Approval(t.Context(), "a1"))(t).Status, amber.ApprovalPending)
	w.press("n", "not today", "enter").says("a1 is rejected")
	must.Equal(t, "comment", must.Get(w.store.Approvals.Approval(t.Context(), "a1"))(t).Comment, "not today")
}

// A person approves only a payload that was shown: one that is not shown whole is approved elsewhere.
func TestLargePayloadIsNotApprovedHere(t *testing.T) {
	w := newWorld(t, fill)
	workScreen{w.m}.approve(w.m.Page(), amber.Approval{ID: "a2", Payload: make([]byte, window.MaxShown+1)})
	w.says("only 262144 are shown here")
	if w.m.Over != nil {
		t.Error("the panel that approves is open")
	}
}

func TestLive(t *testing.T) {
	w := newWorld(t, fill).size(120, 30)
	w.press("esc", "8").says("Nothing has changed since the program began")
	w.remember(amber.WriteRequest{Content: "something new"})
	w.tick()
	w.says("Live  1", "insert  memory", "something new")
	w.press("p").says("Live (paused)")
	w.remember(amber.WriteRequest{Content: "something else"})
	w.tick()
	w.says("  1").hides("something else")
	w.press("p").says("Live  2", "something else")
	w.press("2")
	w.remember(amber.WriteRequest{Content: "unseen"})
	w.tick()
	w.press("8")
	w.tick()
	w.says("Live  3")
}

func TestHealth(t *testing.T) {
	w := newWorld(t, fill).size(120, 30)
	w.press("esc", "9").says("store inmem", "memories")
	w.press("r").says("a check FAILED", "FAIL disk", "ok   home")
	w.press("j").says("hint: free some space")
}

// TestHelperProcess is the program that command lines run in tests.
func TestHelperProcess(t *testing.T) {
	if os.Getenv("AMBER_TUI_HELPER") == "" {
		t.Skip("it is run by other tests")
	}
	for i, a := range os.Args {
		if a == "--" {
			fmt.Printf("ran %q\n", os.Args[i+1:])
			switch strings.Join(os.Args[i+1:], " ") {
			case "fail":
				os.Exit(3)
			case "hang":
				select {} // until a signal comes
			}
			os.Exit(0)
		}
	}
}

func TestCommandLine(t *testing.T) {
	w := newWorld(t, fill).size(120, 30)
	w.press("esc", ":", "sn").says("snapshot  Snapshots")
	w.press("tab").says(":amber: snapshot")
	w.press("c", "tab", "--l", "tab", `"two words"`, "enter").says(`ran ["snapshot" "create" "--label" "two words"]`, "done")
	w.press("esc", ":", "up").says(`snapshot create --label "two words"`)
	w.press("esc", ":", "fail", "enter").says("failed: exit status 3")
	w.press("esc", ":", "tui", "enter").says("the terminal UI is open already")
	w.press(":", `say "`, "enter").says("not closed")
	w.press(":", "q", "enter")
	must.Hold(t, w.quit, ":q does not end the program")
}

// Leaving the output of a command that runs stops the command.
func TestLeavingStopsTheCommand(t *testing.T) {
	w := newWorld(t).size(120, 30)
	w.press("esc")
	msgs := make(chan tea.Msg)
	var begin func(c tea.Cmd)
	begin = func(c tea.Cmd) {
		if c == nil {
			return
		}
		go func() {
			switch msg := c().(type) {
			case tea.BatchMsg:
				for _, each := range msg {
					begin(each)
				}
			default:
				msgs <- msg
			}
		}()
	}
	next := func() {
		select {
		case msg := <-msgs:
			_, c := w.m.Update(msg)
			begin(c)
		case <-time.After(time.Minute):
			t.Fatal("the command neither prints nor ends")
		}
	}
	begin(w.m.runLine("hang"))
	p := w.m.Page()
	for !strings.Contains(p.Doc.Plain(), "ran") {
		next()
	}
	_, c := w.m.Update(named["esc"])
	begin(c)
	for !strings.Contains(p.Doc.Plain(), "stopped") {
		next()
	}
}

// The program ends once the commands that it runs have ended.
func TestCommandsEndWithTheProgram(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	out := &output{news: make(chan struct{}, 1)}
	how := make(chan string, 1)
	go func() { how <- w.m.children.run(ctx, w.src.Process(ctx, []string{"hang"}), out) }()
	out.wait()
	stop()
	w.m.children.end()
	must.Equal(t, "end", <-how, "stopped")
	must.Equal(t, "started after the end", w.m.children.run(t.Context(), w.src.Process(t.Context(), nil), &output{news: make(chan struct{}, 1)}), "stopped")
}

func TestHelpIsSearched(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "2", "?").says("timeline", "every screen")
	w.press("undo").hides("timeline", "every screen")
	w.press("nonsense").says("no key has these words")
	w.press("esc").says("> The user prefers")
}

func TestMouse(t *testing.T) {
	w := newWorld(t, fill).size(120, 30)
	click := func(x, y int) { w.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	click(13, 0)
	w.says("[2 Memories]")
	click(3, 4)
	w.says("> Database")
	w.send(tea.MouseWheelMsg{X: 3, Y: 4, Button: tea.MouseWheelUp})
	w.says("> The user prefers")
	click(1, 29)
	w.says("Memories > Timeline")
	click(2, 0)
	click(10, 2)
	w.press("x").says("recall: x")
}

func TestQuit(t *testing.T) {
	w := newWorld(t)
	w.press("q")
	must.Hold(t, !w.quit, "q in a field ends the program")
	w.press("esc", "q")
	must.Hold(t, w.quit, "q does not end the program")
	w = newWorld(t)
	w.press("ctrl+c")
	must.Hold(t, w.quit, "ctrl+c in a field does not end the program")
}

// T gives the folder the project that it claims, once its user has confirmed that, and is no key of another folder.
func TestAFolderIsTrustedByOneKey(t *testing.T) {
	trusted, fails := 0, error(nil)
	w := newWorld(t, fill, func(w *world) {
		w.src.Folder = Folder{
			Grant: project.Grant{ID: "unconfirmed/shop-1", Top: "/home/ann/strange", Asks: "github.com/acme/shop", Folders: []string{"/home/ann/shop"}},
			Trust: func(context.Context) (project.Grant, error) {
				trusted++
				return project.Grant{ID: "github.com/acme/shop"}, fails
			},
		}
		w.src.Identities.ProjectID = "unconfirmed/shop-1"
	}).size(140, 40)
	w.says("this folder claims github.com/acme/shop and is not given it; T confirms that")
	w.press("esc", "T").says("Give this folder github.com/acme/shop?", "/home/ann/strange", "has it: /home/ann/shop")
	w.press("n").hides("Give this folder")
	must.Equal(t, "times that the folder was trusted without a yes", trusted, 0)

	fails = amber.Errorf(amber.KindBusy, "trust folder", "", "the file is held")
	w.press("T", "enter").says("the file is held")
	must.Equal(t, "project after a failure", w.m.src.Identities.ProjectID, "unconfirmed/shop-1")
	fails = nil
	w.press("esc", "T", "enter").says("this folder has github.com/acme/shop now")
	must.Equal(t, "times that the folder was trusted", trusted, 2)
	must.Equal(t, "project of what is asked and written", w.m.src.Identities.ProjectID, "github.com/acme/shop")
	w.press("T").hides("Give this folder")

	w = newWorld(t, fill).size(140, 40)
	w.press("T").hides("Give this folder").press("?").hides("trust folder")
}
