package openviking

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
)

// lostAnswer sends a turn whose answer is lost, and leaves the entry behind the server.
func lostAnswer(t *testing.T) (*chat, amber.Memory) {
	c := newChat(t, SessionsMirror)
	c.told("s", "one", "two")
	m := c.say("the launch code is 0000")
	c.feed()
	c.start("s")
	c.turn("s", amber.RoleUser, "the launch code is 0000")
	c.end("s")
	c.talk.set(func(op, _ string, _ int) (error, bool) {
		if op == "add" {
			return unreachable(op), true
		}
		return nil, false
	})
	must.Get(c.Feed(t.Context(), Budget{}))(t)
	c.talk.set(nil)
	return c, m
}

func TestTurnWhoseAnswerWasLostIsErased(t *testing.T) {
	t.Parallel()
	c, m := lostAnswer(t)
	must.Get(c.primary.Erase(t.Context(), m.ID))(t)
	for range 3 {
		c.now.pass(time.Hour)
		c.feed()
	}
	c.same("after the erasure")
}

func TestErasureReachesATurnWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	c, m := lostAnswer(t)
	r := must.Get(c.Erase(t.Context(), m.ID))(t)
	still := strings.Contains(fmt.Sprint(c.has()), "0000")
	must.Hold(t, !still || strings.Contains(fmt.Sprint(r.Remaining), "essions/"), "it stays and is not named: %v", c.has())
}

func TestErasureNamesConversationsBeforeTheUserIsKnown(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsMirror)
	m := c.say("the launch code is 0000")
	c.told("s", "one", "the launch code is 0000")
	c.feed()
	c.reopen() // another process
	c.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	c.talk.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	r := must.Get(c.Erase(t.Context(), m.ID))(t)
	must.Says(t, "remaining", strings.Join(r.Remaining, "\n"), "conversation")
}

func TestMoreBusyFilesThanCanBeNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range maxRewrite + 50 {
		w.say(fmt.Sprint("memory ", i))
	}
	w.server.busy = func(string) bool { return true }
	must.Get(w.Feed(t.Context(), Budget{}))(t)
	w.server.busy = nil
	for range 5 {
		w.now.pass(time.Hour)
		must.Get(w.Feed(t.Context(), Budget{}))(t)
	}
	must.Equal(t, "files", len(w.server.files), maxRewrite+50)
}

func TestOldVersionThatWasBusyIsFoundLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("the first text")
	w.feed()
	old := w.uris()[0]
	w.open()
	for i := range 6 {
		w.edit(m.ID, fmt.Sprint("text ", i))
	}
	w.server.busy = func(uri string) bool { return uri == old }
	must.Get(w.Feed(t.Context(), Budget{}))(t)
	w.server.busy = nil
	for range 3 {
		w.now.pass(time.Hour)
		w.feed()
	}
	must.Do(t, w.Delete(t.Context(), m.ID))
	w.feed()
	w.equal("after the deletion")
}

func TestShortFeedDoesNotWaitForBusyFilesEachTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("busy one")
	w.feed()
	old := w.uris()[0]
	w.edit(m.ID, "busy one, changed")
	w.server.busy = func(uri string) bool { return uri == old }
	for i := range 4 {
		w.server.set(nil)
		r := must.Get(w.Feed(t.Context(), Budget{Time: 5 * time.Second}))(t)
		must.Hold(t, i == 0 || r.Again > 0, "feed %d is to be repeated at once", i)
		w.now.pass(time.Second)
	}
}

func TestSlowRefusedConversationHoldsUpNoOthers(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		c := newChat(t, SessionsMirror)
		if !first {
			c.feed()
		}
		c.told("zz-refused", "UNSPEAKABLE")
		c.told("a-good", "fine")
		c.told("zzz-good", "fine")
		c.talk.set(func(op, name string, _ int) (error, bool) {
			if strings.Contains(name, "refused") && op == "add" {
				c.now.pass(6 * time.Second)
			}
			return nil, false
		})
		for range 10 {
			must.Get(c.Feed(t.Context(), Budget{Time: 5 * time.Second}))(t)
			c.now.pass(time.Minute)
		}
		if len(c.has()) != 2 {
			t.Errorf("first %t: the others are not sent: %v", first, c.has())
		}
	}
}

func TestConversationsOfSessionsThatARestoreTookGo(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsMirror)
	c.told("kept", "one")
	c.told("since", "two")
	c.feed()
	c.primary = newPrimary(t, c.now, 2)
	c.told("kept", "one")
	clear(c.cursors.all) // as an adopted image has it
	c.reopen()
	c.talkListed()
	c.feed()
	c.same("after a restore")
}

func TestNotesAboutConversationsFit(t *testing.T) {
	t.Parallel()
	var n sessionNotes
	for i := range maxSetAside {
		id := amber.SessionID(fmt.Sprintf("%06d", i) + strings.Repeat("<", amber.MaxIDBytes-6))
		_, err := amber.ParseSessionID(string(id))
		must.Do(t, err)
		n.setAside(id, strings.Repeat("<", maxReason))
	}
	b := must.Get(json.Marshal(n))(t)
	must.Hold(t, len(b) < amber.MaxIndexNotes, "%d bytes", len(b))
}

func TestClockThatWasSetBackDoesNotStopFeeding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("one")
	w.feed()
	w.now.pass(240 * time.Hour) // a wrong clock
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	w.say("two")
	_, _ = w.Feed(t.Context(), Budget{})
	w.server.set(nil)
	w.now.pass(-240 * time.Hour)
	for range 100 {
		w.now.pass(lastDelay)
		_, _ = w.Feed(t.Context(), Budget{})
	}
	w.equal("eight hours later")
}

func TestErasureAfterSessionsOffNamesWhatDrops(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsMirror)
	m := c.say("the launch code is 0000")
	c.told("s", "one", "the launch code is 0000")
	c.feed()
	c.reopen(func(o *Options) { o.Sessions = "" })
	c.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	c.talk.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	r := must.Get(c.Erase(t.Context(), m.ID))(t)
	must.Says(t, "remaining", strings.Join(r.Remaining, "\n"), "amber index rebuild drops them")
}

func TestWhatWasLearntIsSaidAfterARebuild(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsCommit)
	m := c.say("the launch code is 0000")
	c.told("s", "one", "the launch code is 0000")
	c.feed()
	c.reopen(func(o *Options) { o.Sessions = SessionsMirror })
	must.Get(c.Rebuild(t.Context()))(t)
	r := must.Get(c.Erase(t.Context(), m.ID))(t)
	must.Says(t, "remaining", strings.Join(r.Remaining, "\n"), "learnt")
}

// After a restore that forgot the cursors, before the next feed.
func TestErasureBetweenARestoreAndAFeedNamesConversations(t *testing.T) {
	t.Parallel()
	c := newChat(t, SessionsMirror)
	m := c.say("the launch code is 0000")
	c.told("s", "one", "the launch code is 0000")
	c.feed()
	clear(c.cursors.all)
	c.reopen()
	c.talkListed()
	r := must.Get(c.Erase(t.Context(), m.ID))(t)
	must.Says(t, "remaining", strings.Join(r.Remaining, "\n"), "conversation")
}

// A feed whose caller gives up while a write is under way notes no doubt.
func TestWriteThatTheCallerGaveUpIsLookedAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("one")
	w.feed()
	m := w.say("the launch code is 0000")
	ctx, cancel := context.WithCancel(t.Context())
	w.server.set(func(op, _ string, _ int) (error, bool) {
		if op == "batch" {
			cancel()
			return unreachable(op), false
		}
		return nil, false
	})
	_, _ = w.Feed(ctx, Budget{})
	w.server.set(nil)
	uri := ""
	for _, u := range w.uris() {
		if strings.Contains(u, string(m.ID)) {
			uri = u
		}
	}
	must.Get(w.Erase(t.Context(), m.ID))(t)
	w.feed()
	w.server.files[uri] = "the launch code is 0000" // the request that was given up comes through
	for range 5 {
		w.now.pass(time.Hour)
		w.feed()
	}
	w.equal("hours later")
}

// What the daemon sees after an outage with nothing to write.
func TestFeedAfterAnOutageSaysWhenToLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("one")
	w.feed()
	w.now.pass(testedFor)
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	_, err := w.Feed(t.Context(), Budget{Time: 5 * time.Second})
	must.Kind(t, "feed", err, amber.KindUnreachable)
	w.server.set(nil)
	w.now.pass(firstDelay)
	r := must.Get(w.Feed(t.Context(), Budget{Time: 5 * time.Second}))(t)
	st := must.Get(w.Status(t.Context()))(t)
	must.Hold(t, st.Unchecked && r.Look > 0, "nothing tells when to feed again: %+v", r)
}
