package openviking

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
	"github.com/amber-memory/amber/store/openviking/api"
)

func TestConversationsThatEndedAreSentOnceAndInOrder(t *testing.T) {
	t.Parallel()
	for _, mode := range []Sessions{SessionsMirror, SessionsCommit} {
		c := newChat(t, mode)
		c.told("before-the-first-feed", "one", "two", "three", "four", "five")
		c.told("0199f3c0-1111-7222-8333-444455556666", "short")
		c.told("Chat of Zoë/7", "a name that is not for a path")
		c.start("goes-on")
		c.turn("goes-on", amber.RoleUser, "not yet")
		c.say("a memory")
		r := c.feed()
		must.Equal(t, "report", *r.Sessions, SessionReport{Sent: 3, Messages: 7, Committed: map[Sessions]int{SessionsCommit: 3}[mode]})
		c.same("first feed")
		c.equal("memories")
		c.talk.set(nil)
		must.Equal(t, "report of a second feed", *c.feed().Sessions, SessionReport{})
		c.reopen()
		c.feed()
		must.Equal(t, "calls without a change", len(c.talk.calls), 0)

		c.end("goes-on")
		c.told("by-the-log", strings.Split(strings.Repeat("word ", 250), " ")[:250]...)
		c.feed()
		c.same("by the log")
		must.Equal(t, "status", c.status().Mirrored, 5)
	}
}

func TestConversationsAreOffByDefault(t *testing.T) {
	t.Parallel()
	c := newChat(t, "")
	c.told("s", "one")
	must.Hold(t, c.feed().Sessions == nil && len(c.talk.calls) == 0, "calls: %v", c.talk.calls)
	must.Hold(t, must.Get(c.Status(t.Context()))(t).Sessions == nil, "the status speaks of sessions")
	must.Hold(t, must.Get(c.Verify(t.Context(), false))(t).Sessions == nil, "the verification speaks of sessions")
	must.Equal(t, "cursors", len(c.cursors.all), 1)
}

func TestResumedConversationGetsTheRest(t *testing.T) {
	t.Parallel()
	for _, mode := range []Sessions{SessionsMirror, SessionsCommit} {
		c := newChat(t, mode)
		c.told("s", "one", "two")
		c.feed()
		c.start("s")
		c.turn("s", amber.RoleUser, "three")
		c.reopen()
		c.feed()
		must.Equal(t, "while it goes on", len(c.has()[c.name("s")]), 2)
		c.end("s")
		r := c.feed()
		must.Equal(t, "messages", r.Sessions.Messages, 1)
		c.same("resumed")
		c.turn("s", amber.RoleUser, "four, behind the end")
		c.feed()
		c.same("behind the end")
	}
}

func (c *chat) name(id amber.SessionID) string {
	return layout{"default", "default", "coder"}.sessionName(id)
}

func TestDeletedSessionsAndTurnsAreDropped(t *testing.T) {
	t.Parallel()
	for _, mode := range []Sessions{SessionsMirror, SessionsCommit} {
		c := newChat(t, mode)
		ctx := t.Context()
		for _, id := range []amber.SessionID{"kept", "deleted", "emptied", "quoted", "resumed", "again"} {
			c.told(id, "hello "+string(id), "password=hunter2")
		}
		m := c.say("the launch code is 0000")
		c.start("quoted")
		c.turn("quoted", amber.RoleUser, "note that the launch code is 0000")
		c.turn("quoted", amber.RoleAssistant, "noted")
		c.end("quoted")
		c.start("resumed")
		c.turn("resumed", amber.RoleUser, "the launch code is 0000")
		c.end("resumed")
		c.feed()
		c.same("before")
		c.reopen()
		c.start("resumed") // and goes on
		must.Do(t, c.primary.DeleteSession(ctx, "deleted"))
		must.Get(c.primary.DeleteTurns(ctx, "emptied"))(t)
		must.Do(t, c.primary.DeleteSession(ctx, "again"))
		c.told("again", "another conversation of the same name")
		must.Get(c.primary.Erase(ctx, m.ID))(t) // past the composite: the log alone tells
		r := c.feed()
		c.same("after")
		must.Equal(t, "dropped", r.Sessions.Dropped, 5)
		must.Equal(t, "secrets", c.talk.secrets, map[string]bool{c.name("kept"): true, c.name("quoted"): true})
		c.end("resumed")
		c.feed()
		c.same("ended")
	}
}

// TestConversationsAfterACrashAtEveryCall fails at each call of the server, before or after it did
// its work, and each time the entry of a session is written; and feeds again, in the same process or
// in a new one.
func TestConversationsAfterACrashAtEveryCall(t *testing.T) {
	t.Parallel()
	for mode := range 16 {
		commit, after, again, once := mode&1 == 0, mode&2 == 0, mode&4 == 0, mode&8 == 0
		for n := 1; ; n++ {
			if !crashInTalk(t, n, commit, after, again, once) {
				must.Hold(t, n > 10, "only %d calls were tried", n)
				break
			}
		}
	}
}

// crashInTalk reports whether there is an nth call. With once only this one fails.
func crashInTalk(t *testing.T, n int, commit, after, again, once bool) (failed bool) {
	t.Helper()
	mode := SessionsMirror
	if commit {
		mode = SessionsCommit
	}
	c := newChat(t, mode)
	c.told("long", strings.Split(strings.TrimSpace(strings.Repeat("word ", 230)), " ")...)
	c.told("resumed", "one", "two")
	c.told("deleted", "one")
	m := c.say("the launch code is 0000")
	c.told("erased", "one", "the launch code is 0000", "three")
	c.feed()
	c.start("resumed")
	c.turn("resumed", amber.RoleUser, "three")
	c.end("resumed")
	must.Do(t, c.primary.DeleteSession(t.Context(), "deleted"))
	must.Get(c.primary.Erase(t.Context(), m.ID))(t)
	c.told("new", strings.Split(strings.TrimSpace(strings.Repeat("word ", 130)), " ")...)
	c.talk.set(func(op, _ string, call int) (error, bool) {
		if call < n || once && call > n {
			return nil, false
		}
		failed = true
		return unreachable(op), after
	})
	r := must.Get(c.Feed(t.Context(), Budget{}))(t) // memories do not mind
	must.Hold(t, r.Done && (!failed || r.Sessions.Problem != "" && r.Sessions.Again > 0), "report: %+v %+v", r, r.Sessions)
	c.talk.set(nil)
	c.start("resumed")
	c.turn("resumed", amber.RoleUser, "four, after the crash")
	c.end("resumed")
	if once { // what was half sent goes, too
		must.Do(t, c.primary.DeleteSession(t.Context(), "new"))
	}
	if again {
		c.reopen()
	}
	c.now.pass(time.Hour)
	c.feed()
	for name, s := range c.talk.all { // of a crash behind its making
		if once && name == c.name("new") && len(s.live)+len(s.archived) == 0 {
			delete(c.talk.all, name)
		}
	}
	c.same(fmt.Sprintf("after a crash at call %d (commit %t, after %t, again %t, once %t)", n, commit, after, again, once))
	must.Equal(t, "set aside", len(c.status().Aside), 0)
	return failed
}

// A process that ends before an entry is durable finds out from the server what it has sent.
func TestConversationsAfterNotesThatWereLost(t *testing.T) {
	t.Parallel()
	for _, mode := range []Sessions{SessionsMirror, SessionsCommit} {
		for n := 1; ; n++ {
			c := newChat(t, mode)
			c.told("s", strings.Split(strings.TrimSpace(strings.Repeat("word ", 130)), " ")...)
			c.told("t", "one")
			torn := &tornCursors{cursors: c.cursors, n: n}
			c.reopen(func(o *Options) { o.Cursors = torn })
			must.Get(c.Feed(t.Context(), Budget{}))(t)
			c.reopen()
			c.now.pass(time.Hour)
			c.feed()
			c.same(fmt.Sprint("without note ", n))
			if torn.n > 0 {
				must.Hold(t, n > 6, "only %d notes were tried", n)
				break
			}
		}
	}
}

// tornCursors fails at the nth move of a cursor of conversations.
type tornCursors struct {
	*cursors
	n int
}

func (c *tornCursors) MoveIndexCursor(ctx context.Context, place string, next amber.IndexCursor) error {
	if strings.Contains(place, "#sessions") {
		if c.n--; c.n == 0 {
			return errors.New("disk")
		}
	}
	return c.cursors.MoveIndexCursor(ctx, place, next)
}

// A call that was given up and is carried out late adds its messages twice. That is noticed by the
// number that the server answers, and the conversation is sent anew.
func TestMessagesThatCameTwiceAreSentAnew(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsCommit)
	c.told("s", "one", "two")
	c.talk.late = true
	c.feed()
	c.same("twice")
	c.told("u", "one")
	c.talk.set(func(op, _ string, _ int) (error, bool) {
		if op == "add" {
			c.talk.late = true
			return unreachable(op), true
		}
		return nil, false
	})
	c.feed()
	c.talk.set(nil)
	c.now.pass(time.Hour)
	c.feed()
	c.same("twice, and the answer lost")
}

// What others said under the name of a session stays as it is.
func TestConversationOfOthersIsLeftAlone(t *testing.T) {
	t.Parallel()
	for what, theirs := range map[string]said{
		"theirs":       {live: []api.Message{{Role: "user", Text: "theirs"}}},
		"longer":       {live: []api.Message{{Role: "user", Text: "1"}, {Role: "user", Text: "2"}, {Role: "user", Text: "3"}}},
		"another tag":  {live: []api.Message{{Role: "user", Text: "theirs", Tag: "amber-1-xyz"}}},
		"archived":     {archived: []api.Message{{Role: "user", Text: "theirs"}}, commits: 1},
		"odd tag":      {live: []api.Message{{Role: "user", Text: "theirs", Tag: "amber-01-0123456789abcdef"}}},
		"negative tag": {live: []api.Message{{Role: "user", Text: "theirs", Tag: "amber--1-0123456789abcdef"}}},
	} {
		c := newChat(t, SessionsMirror)
		c.told("s", "one", "two")
		c.told("other", "three")
		c.talk.all[c.name("s")] = &theirs
		before := c.has()[c.name("s")]
		r := c.feed()
		must.Equal(t, what, c.has()[c.name("s")], before)
		must.Equal(t, what+": report", *r.Sessions, SessionReport{Sent: 1, Messages: 1, Aside: 1})
		st := c.status()
		must.Hold(t, len(st.Aside) == 1 && st.Aside[0].ID == "s" && strings.Contains(st.Aside[0].Reason, "not Amber's"), "%s: status %+v", what, st)
		must.Do(t, c.primary.DeleteSession(t.Context(), "s"))
		c.feed()
		must.Equal(t, what+", deleted here", c.has()[c.name("s")], before)
		must.Equal(t, what+": set aside", len(c.status().Aside), 0)
	}
}

// An entry that says no more than that something may have been sent does not make it ours.
func TestConversationThatOthersTookOverIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsMirror)
	c.told("s", "one")
	c.feed()
	delete(c.talk.all, c.name("s"))
	c.talkListed()
	must.Get(c.Verify(t.Context(), false))(t)
	c.talk.all[c.name("s")] = &said{live: []api.Message{{Role: "user", Text: "theirs"}}}
	must.Equal(t, "set aside", c.feed().Sessions.Aside, 1)
	must.Do(t, c.primary.DeleteSession(t.Context(), "s"))
	c.feed()
	must.Equal(t, "theirs", c.has()[c.name("s")], []string{"user theirs"})
}

func TestServerThatLostAConversationGetsItAgain(t *testing.T) {
	t.Parallel()
	for _, mode := range []Sessions{SessionsMirror, SessionsCommit} {
		c := newChat(t, mode)
		c.told("s", "one", "two", "three")
		c.told("u", "one", "two")
		c.feed()
		delete(c.talk.all, c.name("s"))
		delete(c.talk.all, c.name("u"))
		c.talkListed()
		v := must.Get(c.Verify(t.Context(), false))(t)
		must.Hold(t, v.Sessions.Missing.Count == 2 && v.Sessions.Mirrored == 2 && v.Noted && !v.Clean(), "verification: %+v %+v", v, v.Sessions)
		c.feed()
		c.same("found by verify")
		c.talkListed()
		v = must.Get(c.Verify(t.Context(), false))(t)
		must.Hold(t, v.Sessions.Missing.Count == 0 && v.Sessions.Strange.Count == 0 && v.Clean(), "verification: %+v %+v", v, v.Sessions)
		delete(c.talk.all, c.name("s"))
		c.start("s")
		c.turn("s", amber.RoleUser, "four")
		c.end("s")
		c.feed()
		c.same("found when it is resumed")
		if x := c.talk.all[c.name("s")]; mode == SessionsMirror {
			x.live = x.live[1:] // a part of it
			c.turn("s", amber.RoleUser, "five")
			c.feed()
			c.same("found in part")
		}
	}
}

// talkListed shows the conversations in the files of the server.
func (c *chat) talkListed() {
	root := layout{"default", "default", "coder"}.sessionsRoot()
	for uri := range c.server.files {
		if strings.HasPrefix(uri, root) {
			delete(c.server.files, uri)
		}
	}
	for name, s := range c.talk.all {
		c.server.files[root+"/"+name+"/messages.jsonl"] = ""
		if s.commits > 0 {
			last := s.archived[len(s.archived)-1]
			c.server.files[fmt.Sprintf("%s/%s/history/archive_%03d/messages.jsonl", root, name, s.commits)] = fmt.Sprintf("{\"turn_id\":\"x\"}\n{\"turn_id\":%q}\n", last.Tag)
		}
	}
	c.server.files[root+"/somebody/messages.jsonl"] = ""
}

// After a restore the notes are gone, or of another time, and the server says what it has.
func TestConversationsAfterARestore(t *testing.T) {
	t.Parallel()
	for n, mode := range []Sessions{SessionsMirror, SessionsCommit, SessionsMirror, SessionsCommit} {
		c := newChat(t, mode)
		c.told("same", "one", "two")
		c.told("longer", "one", "two", "of a future that is gone")
		c.told("other", "of a future that is gone")
		c.feed()
		c.talkListed()
		if n < 2 {
			c.cursors.all = map[string]amber.IndexCursor{}
		}
		c.primary = newPrimary(t, c.now, 2)
		c.told("same", "one", "two")
		c.told("longer", "one", "two")
		c.told("other", "one")
		c.told("new", "one")
		c.reopen()
		r := c.feed()
		c.same("after a restore")
		must.Equal(t, "dropped", r.Sessions.Dropped, 2)
		must.Equal(t, "messages", r.Sessions.Messages, 4)
	}
}

func TestConversationsStayOnThisMachine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		url     string
		include []amber.Scope
		want    int
	}{
		{"http://127.0.0.1:1933", nil, 1},
		{"https://viking.example.com", nil, 0},
		{"https://viking.example.com", []amber.Scope{amber.ScopeUser}, 0},
		{"https://viking.example.com", []amber.Scope{amber.ScopeSession}, 1},
	} {
		c := newChat(t, SessionsCommit, func(o *Options) { o.URL, o.Include = tc.url, tc.include })
		c.told("s", "one")
		c.feed()
		c.told("s", "two")
		c.feed()
		must.Equal(t, fmt.Sprint(tc.url, tc.include), len(c.talk.all), tc.want)
		must.Equal(t, "calls", len(c.talk.calls) > 0, tc.want > 0)
		must.Equal(t, "withheld", c.status().Withheld, tc.want == 0)
		must.Equal(t, "cursors of conversations", len(c.cursors.all) > 1, tc.want > 0)
		c.reopen(func(o *Options) { o.URL, o.Include = tc.url, nil })
		c.feed()
		must.Equal(t, "no longer included", len(c.talk.all) > 0, IsLoopback(tc.url))
	}
}

func TestConversationsAreSentWithoutSecrets(t *testing.T) {
	t.Parallel()
	redact := func(o *Options) {
		o.Rules, o.Redact = "2", func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(s, "hunter2", "[secret]"), "<private>x</private>", "")
		}
	}
	c := newChat(t, SessionsMirror)
	c.told("s", "the password is hunter2", "<private>x</private>", "\x01 of a tool")
	c.told("clean", "nothing to hide")
	c.told("goes-on", "also hunter2")
	c.feed()
	c.start("goes-on")
	c.feed()
	c.talk.set(nil)
	c.reopen(redact)
	r := c.feed()
	must.Equal(t, "conversations that were sent anew", *r.Sessions, SessionReport{Sent: 1, Messages: 2, Dropped: 2})
	must.Equal(t, "messages", c.has(), map[string][]string{
		c.name("s"): {"user the password is [secret]", "tool \x01 of a tool"}, c.name("clean"): {"user nothing to hide"},
	})
}

func TestImportedTurnsAreNotSent(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsMirror)
	c.start("s")
	must.Get(c.primary.AppendTurn(t.Context(), amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "of a stranger", Trust: amber.TrustImported}))(t)
	c.turn("s", amber.RoleUser, "mine")
	c.end("s")
	c.feed()
	must.Equal(t, "messages", c.has(), map[string][]string{c.name("s"): {"user mine"}})
}

// strangers has every session be one of others.
type strangers struct{ amber.Sessions }

func (s strangers) Session(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	got, err := s.Sessions.Session(ctx, id)
	got.Trust = amber.TrustImported
	return got, err
}

func TestImportedSessionsAreNotSent(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsMirror, func(o *Options) { o.Primary.Sessions = strangers{o.Primary.Sessions} })
	c.told("s", "one")
	c.feed()
	must.Equal(t, "conversations", len(c.talk.all), 0)
}

func TestRefusedConversationIsSetAside(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsCommit)
	c.told("a", "one")
	c.told("b", "UNSPEAKABLE")
	c.told("d", "two")
	r := c.feed()
	must.Hold(t, r.Sessions.Sent == 2 && r.Sessions.Aside == 1 && r.Sessions.Problem == "", "report: %+v", r.Sessions)
	st := c.status()
	must.Hold(t, len(st.Aside) == 1 && st.Aside[0] == SetAside{"b", "not to be said"}, "status: %+v", st)
	c.talk.set(nil)
	c.feed()
	must.Equal(t, "calls without a change", len(c.talk.calls), 0)
	must.Get(c.Feed(t.Context(), Budget{Force: true}))(t)
	must.Hold(t, len(c.talk.calls) > 0 && len(c.status().Aside) == 1, "a forced feed does not try again: %v", c.talk.calls)
	must.Get(c.primary.DeleteTurns(t.Context(), "b"))(t)
	c.feed()
	must.Equal(t, "set aside when it changed", len(c.status().Aside), 0)
}

func TestSetAsideIsBounded(t *testing.T) {
	t.Parallel()
	var n sessionNotes
	for i := range maxSetAside + 10 {
		n.setAside(amber.SessionID(fmt.Sprint(i)), strings.Repeat("because ", 1000))
	}
	must.Equal(t, "listed", len(n.Aside), maxSetAside)
	must.Equal(t, "counted", n.Uncounted, 10)
}

func TestOutageOfConversationsDoesNotConcernMemories(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind    amber.Kind
		stopped bool
	}{{amber.KindUnreachable, false}, {amber.KindRefused, true}, {amber.KindUnsupported, true}, {amber.KindDamaged, true}, {amber.KindBusy, false}} {
		c := newChat(t, SessionsMirror)
		c.told("s", "one")
		c.talk.set(func(op, _ string, _ int) (error, bool) { return amber.Errorf(tc.kind, op, "", "not now"), false })
		c.say("first")
		r := c.feed()
		must.Hold(t, strings.Contains(r.Sessions.Problem, "not now") && r.Sessions.Again > 0, "%s: %+v", tc.kind, r.Sessions)
		c.equal("memories")
		st := must.Get(c.Status(t.Context()))(t)
		must.Hold(t, st.LastError == "" && st.Sessions.Stopped == tc.stopped && st.Sessions.LastError != "", "%s: %+v %+v", tc.kind, st, st.Sessions)
		h := must.Get(c.Health(t.Context()))(t)
		must.Equal(t, "health", h.Status, amber.Healthy)
		c.talk.set(nil)
		c.say("second")
		c.feed()
		c.equal("memories of the second feed")
		must.Equal(t, "calls before the next attempt is due", len(c.talk.calls), 0)
		c.now.pass(time.Hour)
		c.feed()
		c.same(string(tc.kind))
		must.Hold(t, c.status().RetryAt.IsZero() && !c.status().Stopped, "%s: the outage is not over: %+v", tc.kind, c.status())
	}
}

func TestConversationsKeepToTheBudget(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsCommit)
	for i := range 30 {
		c.told(amber.SessionID(fmt.Sprint("s", i)), strings.Split(strings.TrimSpace(strings.Repeat("word ", 101+i)), " ")...)
	}
	c.told("long", strings.Split(strings.TrimSpace(strings.Repeat("word ", 950)), " ")...)
	must.Get(c.Feed(t.Context(), Budget{Time: time.Second, Hard: true}))(t)
	must.Equal(t, "calls before a question", len(c.talk.calls), 0)
	rounds := 0
	for done := false; !done; rounds++ {
		before := len(c.talk.calls)
		r := must.Get(c.Feed(t.Context(), Budget{Time: time.Millisecond}))(t)
		must.Hold(t, len(c.talk.calls)-before <= 6, "%d calls of a short round", len(c.talk.calls)-before)
		if done = r.Done; rounds%3 == 0 {
			c.reopen()
		}
		must.Hold(t, rounds < 1000, "the rounds get nowhere")
	}
	must.Hold(t, rounds > 20, "%d rounds", rounds)
	c.same("in the end")
}

func TestErasedTurnsLeaveTheServerAtOnce(t *testing.T) {
	t.Parallel()
	for _, mode := range []Sessions{SessionsMirror, SessionsCommit} {
		c := newChat(t, mode)
		m := c.say("the launch code is 0000")
		other := c.say("nobody quotes this")
		c.told("quoted", "one", "the launch code is 0000")
		c.told("kept", "one")
		c.feed()
		report := must.Get(c.Erase(t.Context(), other.ID))(t)
		must.Hides(t, "report of a memory that no turn quotes", strings.Join(append(report.Remaining, report.Removed...), "\n"), "onversations")
		c.talk.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
		quoted := c.say("one")
		report = must.Get(c.Erase(t.Context(), quoted.ID))(t)
		must.Says(t, "remaining", strings.Join(report.Remaining, "\n"), c.name("quoted"), c.name("kept"), "connection refused")
		c.talk.set(nil)
		report = must.Get(c.Erase(t.Context(), m.ID))(t)
		must.Says(t, "removed", strings.Join(report.Removed, "\n"), "conversations of OpenViking: 2")
		must.Equal(t, "what was learnt remains", strings.Contains(strings.Join(report.Remaining, "\n"), "learnt"), mode == SessionsCommit)
		must.Equal(t, "conversations", len(c.talk.all), 0)
		c.feed()
		c.same("after the erasure")
	}
}

// What the server once learnt from is remembered through a change of settings and a resumption.
func TestErasureSaysWhatWasLearntLongAgo(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsCommit)
	m := c.say("the launch code is 0000")
	c.told("s", "the launch code is 0000")
	c.feed()
	c.reopen(func(o *Options) { o.Sessions = SessionsMirror })
	c.told("s", "two")
	c.feed()
	report := must.Get(c.Erase(t.Context(), m.ID))(t)
	must.Says(t, "remaining", strings.Join(report.Remaining, "\n"), "learnt from conversations")
}

// Conversations that were sent before they were turned off are erased, too, and rebuilt away.
func TestConversationsOfBefore(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsMirror)
	m := c.say("the launch code is 0000")
	c.told("s", "the launch code is 0000")
	c.told("kept", "one")
	c.feed()
	c.reopen(func(o *Options) { o.Sessions = "" })
	c.told("u", "never sent")
	c.feed()
	report := must.Get(c.Erase(t.Context(), m.ID))(t)
	must.Says(t, "removed", strings.Join(report.Removed, "\n"), "conversations of OpenViking: 1")
	must.Equal(t, "conversations", c.has(), map[string][]string{c.name("kept"): {"user one"}})
	c.talkListed()
	must.Get(c.Rebuild(t.Context()))(t)
	must.Equal(t, "conversations", len(c.talk.all), 0)
	c.reopen()
	c.feed()
	c.same("turned on again")
}

func TestRebuildSendsConversationsAnew(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsCommit)
	c.told("s", "one", "two")
	c.feed()
	stale := c.name("of-a-store-that-is-gone")
	c.talk.all[stale] = &said{live: []api.Message{{Role: "user", Text: "old"}}}
	c.talk.all["somebody"] = &said{}
	c.talkListed()
	r := must.Get(c.Rebuild(t.Context()))(t)
	must.Equal(t, "sent", r.Sessions.Sent, 1)
	delete(c.talk.all, "somebody")
	c.same("rebuilt")
}

func TestNamesOfConversations(t *testing.T) {
	t.Parallel()
	a, b := layout{"u", "default", "coder"}, layout{"u", "default", "writer"}
	names := map[string]amber.SessionID{}
	for _, id := range []amber.SessionID{"s", "S", "s ", "a/b", "..", "-", "ü", amber.SessionID(strings.Repeat("x", 64)), amber.SessionID(strings.Repeat("x", 65)), "x-s", "s-s"} {
		for _, l := range []layout{a, b} {
			name := l.sessionName(id)
			must.Hold(t, len(name) <= 128 && !strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) }), "%q gives %q", id, name)
			must.Hold(t, names[name] == "", "%q and %q have the name %s", id, names[name], name)
			names[name] = id
			got, ours := l.parseSession(l.sessionsRoot() + "/" + name + "/messages.jsonl")
			must.Hold(t, ours && got == name, "%s is not ours", name)
		}
		_, ours := b.parseSession(a.sessionsRoot() + "/" + a.sessionName(id))
		must.Hold(t, !ours, "%q of another agent is ours", id)
	}
	for _, tag := range []string{"", "amber", "amber-1", "amber-0-0123456789abcdef", "amber-1-0123456789abcde", "amber-1-0123456789ABCDEF", "amber-+1-0123456789abcdef", "amber-1x-0123456789abcdef", "amber-99999999999999999999-0123456789abcdef"} {
		_, ours := parseTag(tag)
		must.Hold(t, !ours, "%q is ours", tag)
	}
}

func TestOptionsOfConversations(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsMirror)
	for what, change := range map[string]func(*Options){
		"unknown":     func(o *Options) { o.Sessions = "always" },
		"no server":   func(o *Options) { o.Conversations = nil },
		"no sessions": func(o *Options) { o.Primary.Sessions = nil },
		"no turns":    func(o *Options) { o.Primary.Turns = nil },
	} {
		o := c.o
		change(&o)
		must.Fail(New(o))(t, what, amber.KindInvalid)
	}
}
