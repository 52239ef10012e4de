package gitsync_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

// Made of parts, so that no file holds anything that looks like a live key.
const (
	oneKey     = "ghp_" + "x9Kq2LmZ7vRt4WbN8sYc" + "3HdJ6pFgA1eUoT5i"
	anotherKey = "ghp_" + "R7pQ2mXz9LkT4vBn8WcY" + "s6HdJf3GaE1uVo5Q"
)

// asks notes something the user said.
func (c *clone) asks(id amber.TurnID, content string) {
	c.t.Helper()
	must.Get(c.AppendTurn(c.t.Context(), amber.Turn{ID: id, SessionID: "s1", Role: amber.RoleUser, Content: content, ProjectID: shop}))(c.t)
}

// forgedFields is a record with everything a stranger may have named.
func forgedFields(c *clone, change func(m *amber.SyncMemory)) amber.SyncRecord {
	o := amber.Origin{Device: "mallory", Counter: 1, Clock: amber.StampAt(c.clock.now())}
	r := forged("01998c5e-8000-7abc-8def-0123456789ab", "harmless", o)
	change(r.Memory)
	return r
}

// plants put a secret where it is not in the text of anything.
var plants = map[string]func(t *testing.T, c *clone){
	"a source": func(_ *testing.T, c *clone) {
		c.write(amber.WriteRequest{Content: "c", SourceRefs: []amber.SourceRef{{Kind: oneKey, Value: "v"}}})
	},
	"keys of metadata, which become one": func(_ *testing.T, c *clone) {
		c.write(amber.WriteRequest{Content: "c", Metadata: map[string]string{oneKey: "x", anotherKey: "y"}})
	},
	"the reason of an end": func(t *testing.T, c *clone) {
		s := must.Get(c.StartSession(t.Context(), amber.SessionStart{Binding: "x", Project: shop}))(t)
		must.Get(c.EndSession(t.Context(), amber.SessionEnd{ID: s.ID, Reason: oneKey}))(t)
	},
	"the type of a relation": func(t *testing.T, c *clone) {
		must.Get(c.Relate(t.Context(), amber.Relation{From: c.save("one"), To: c.save("two"), Type: oneKey, Strength: 1}))(t)
	},
	"fields of another tool": func(t *testing.T, c *clone) {
		forge(t, c, forgedFields(c, func(m *amber.SyncMemory) {
			m.Foreign = map[string]json.RawMessage{oneKey: json.RawMessage(`{"` + oneKey + `":1,"` + anotherKey + `":2,"n":1e400}`)}
		}))
		c.imports()
	},
	"the name of a device": func(t *testing.T, c *clone) {
		forge(t, c, forgedFields(c, func(m *amber.SyncMemory) { m.Origin.Device = oneKey }))
		c.imports()
	},
}

func TestASecretLeavesInNoFieldAtAll(t *testing.T) {
	t.Parallel()
	for name, plant := range plants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			plant(t, c)
			// An export never writes back what came from the same folder, so this one goes to another folder.
			to := &clone{t: t, folder: filepath.Join(t.TempDir(), ".amber")}
			out := must.Get(gitsync.Options{Prompts: true}.Open(c.Store, to.folder))(t)
			if _, err := out.Export(t.Context(), gitsync.ExportOptions{RefuseSecrets: true}); amber.KindOf(err) != amber.KindRefused {
				t.Errorf("an export that refuses secrets: %v", err)
			}
			r := must.Get(out.Export(t.Context(), gitsync.ExportOptions{}))(t)
			if text := plainText(t, to); strings.Contains(text, oneKey) || strings.Contains(text, anotherKey) {
				t.Errorf("left, with %v redacted and %v withheld:\n%s", r.Redacted, r.Withheld, text)
			}
			if len(r.Redacted)+len(r.Withheld) == 0 {
				t.Errorf("nothing was found: %+v", r)
			}
		})
	}
}

func TestATombstoneLeavesWithoutTheNamesItDoesNotNeed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		scope    amber.Scope
		who      amber.Identities
		withheld bool
	}{
		"a session":                   {amber.ScopeProject, amber.Identities{ProjectID: shop, SessionID: "s-" + oneKey}, false},
		"a workspace":                 {amber.ScopeProject, amber.Identities{ProjectID: shop, WorkspaceID: "w-" + oneKey}, false},
		"a user":                      {amber.ScopeProject, amber.Identities{ProjectID: shop, UserID: oneKey}, false},
		"the session of its scope":    {amber.ScopeSession, amber.Identities{ProjectID: shop, SessionID: "s-" + oneKey}, true},
		"the workspace of its scope":  {amber.ScopeWorkspace, amber.Identities{ProjectID: shop, WorkspaceID: "w-" + oneKey}, true},
		"the project it is kept with": {amber.ScopeProject, amber.Identities{ProjectID: oneKey}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			id := c.write(amber.WriteRequest{Content: "x", Scope: tt.scope, Identities: tt.who})
			c.export(gitsync.ExportOptions{})
			must.Do(t, c.Delete(t.Context(), id))
			r := c.export(gitsync.ExportOptions{})
			if text := plainText(t, c); strings.Contains(text, oneKey) {
				t.Errorf("it left:\n%s", text)
			}
			if (r.Deleted == 0) != tt.withheld || (len(r.Withheld) > 0) != tt.withheld {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestADeletedPromptWithASecretForANameIsNotMentioned(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.asks("t-"+oneKey, "hello")
	c.export(gitsync.ExportOptions{})
	must.Get(c.DeleteTurns(t.Context(), "s1"))(t)
	c.export(gitsync.ExportOptions{})
	if text := plainText(t, c); strings.Contains(text, oneKey) {
		t.Errorf("it left:\n%s", text)
	}
}

func TestPrivatePassagesStayWhateverIsRedacted(t *testing.T) {
	t.Parallel()
	const hidden = "HIDDEN"
	private := "a <private>" + hidden + "</private> b"
	c := newClone(t)
	c.write(amber.WriteRequest{
		Content: "c", Title: private, Tags: []string{private}, Metadata: map[string]string{"open": "<private>" + hidden, private: "x"},
		SourceRefs: []amber.SourceRef{{Kind: private, Value: private}},
	})
	c.asks("t1", private)
	forge(t, c, forgedFields(c, func(m *amber.SyncMemory) {
		m.Foreign = map[string]json.RawMessage{"x": json.RawMessage(`{"a":["<private>` + hidden + `"],"b":"\u003c\u0070rivate>` + hidden + `","c":"{\"d\":\"<private>` + hidden + `</private>\"}"}`)}
	}))
	c.imports()
	for _, o := range []gitsync.ExportOptions{{}, {NoRedact: true}} {
		to := &clone{t: t, folder: filepath.Join(t.TempDir(), ".amber")}
		out := must.Get(gitsync.Options{Prompts: true}.Open(c.Store, to.folder))(t)
		r := must.Get(out.Export(t.Context(), o))(t)
		if text := plainText(t, to); strings.Contains(text, hidden) || r.Observations != 2 || r.Prompts != 1 {
			t.Errorf("with %+v: %+v\n%s", o, r, text)
		}
	}
}

// NoRedact means what it says, for names too.
func TestSecretsLeaveWhereThatIsAskedFor(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.write(amber.WriteRequest{Content: "c", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: shop, SessionID: "s-" + oneKey}})
	_, err := c.sync.Export(t.Context(), gitsync.ExportOptions{NoRedact: true, RefuseSecrets: true})
	must.Kind(t, "an export that refuses secrets", err, amber.KindRefused)
	r := c.export(gitsync.ExportOptions{NoRedact: true})
	if text := plainText(t, c); !strings.Contains(text, oneKey) || len(r.Withheld)+len(r.Redacted) > 0 {
		t.Errorf("%+v\n%s", r, text)
	}
}
