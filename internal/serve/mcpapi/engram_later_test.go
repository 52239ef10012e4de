package mcpapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// saveFor saves a memory with Engram's tool and returns its id.
func (c *client) saveFor(project, title string, more object) string {
	args := object{"title": title, "content": title + " is what it says", "type": "decision", "project": project}
	for k, v := range more {
		args[k] = v
	}
	return c.out("mem_save", args)["id"].(string)
}

func TestPinnedMemoriesComeFirst(t *testing.T) {
	t.Parallel()
	c := newRig(t).local("engram")
	var ids []string
	for _, title := range []string{"oldest fact", "second fact", "third fact", "fourth fact", "fifth fact", "newest fact"} {
		ids = append(ids, c.saveFor("acme/shop", title, nil))
	}
	first := func() string {
		_, text := c.call("mem_context", nil)
		at, who := len(text), ""
		for _, title := range []string{"oldest", "second", "third", "fourth", "fifth", "newest"} {
			if i := strings.Index(text, title+" fact"); i >= 0 && i < at {
				at, who = i, title
			}
		}
		return who
	}
	must.Equal(t, "before", first(), "newest")
	has(t, "pinned", c.out("mem_pin", object{"id": ids[0]}), object{"pinned": true, "revision": 2.0})
	has(t, "pinned again", c.out("mem_pin", object{"id": ids[0]}), object{"pinned": true, "revision": 2.0})
	must.Equal(t, "pinned", first(), "oldest")
	has(t, "unpinned", c.out("mem_unpin", object{"id": ids[0]}), object{"pinned": false, "revision": 3.0})
	must.Equal(t, "text of the memory that was pinned", c.out("mem_get_observation", object{"id": ids[0]})["title"], "oldest fact")
	c.failsAs("unknown", amber.KindNotFound, "mem_pin", object{"id": someID})
}

func TestMemoriesAreReviewed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.options("engram")
	old, rule := r.local("engram").saveFor("acme/shop", "an old decision", nil), r.local("engram").saveFor("acme/shop", "a rule", object{"type": "policy"})
	o.Clock = servertest.NewClock(time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), time.Second).Read
	c := r.session(o, everything, "default", "default")
	list := func() string {
		_, text := c.call("mem_review", object{"action": "list"})
		return text
	}
	must.Says(t, "due", list(), "needs_review "+old, "waits_for_owner "+rule)
	must.Equal(t, "of another project", c.count("observations", "mem_review", object{"action": "list", "project": "else"}), 0)
	c.failsAs("an agent that decides for the owner", amber.KindRefused, "mem_review", object{"action": "mark_reviewed", "id": rule})
	has(t, "reviewed", c.out("mem_review", object{"action": "mark_reviewed", "observation_id": old}), object{"state": "active", "revision": 2.0})
	m := must.Get(r.store().Memories.Get(context.Background(), amber.MemoryID(old)))(t)
	must.Hold(t, m.Metadata["reviewed"] != "" && m.Metadata["type"] == "decision", "metadata is %v", m.Metadata)
	c.failsAs("no action", amber.KindInvalid, "mem_review", object{"action": "else"})
	reader := r.session(o, holder("default", "", wire.TokenRead), "default", "default")
	must.Hold(t, !reader.try("mem_review", object{"action": "list"}).IsError, "a reader cannot list")
	reader.failsAs("a reader marks", amber.KindRefused, "mem_review", object{"action": "mark_reviewed", "id": old})
}

func TestVerdictsAreRelations(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("engram")
	was := c.saveFor("acme/shop", "orders are kept in MySQL", nil)
	saved := c.out("mem_save", object{"title": "orders are kept in PostgreSQL", "content": "moved", "type": "decision", "project": "acme/shop"})
	has(t, "saved", saved, object{"judgment_required": true})
	found := saved["candidates"].([]any)[0].(object)
	must.Equal(t, "candidate", found["id"], any(was))
	now := saved["id"].(string)
	related := func() (out []string) {
		for _, one := range must.Get(r.store().Relations.Related(context.Background(), amber.MemoryID(was)))(t) {
			must.Equal(t, "whose word", one.Trust, amber.TrustAgent)
			out = append(out, string(one.From)+" "+one.Type+" "+string(one.To))
		}
		return out
	}
	judged := c.out("mem_judge", object{"judgment_id": found["judgment_id"], "relation": "supersedes", "reason": "newer", "confidence": 0.9})
	must.Equal(t, "judged", related(), []string{now + " supersedes " + was})
	c.call("mem_judge", object{"judgment_id": judged["id"], "relation": "compatible"})
	must.Equal(t, "judged otherwise", related(), []string{now + " compatible " + was})
	pair := object{"memory_id_a": now, "memory_id_b": was, "relation": "conflicts_with", "confidence": 0.5, "reasoning": "both", "model": "m"}
	c.call("mem_compare", pair)
	must.Equal(t, "compared", related(), []string{now + " conflicts_with " + was})
	pair["relation"] = "not_conflict"
	must.Equal(t, "id of nothing", c.out("mem_compare", pair)["id"], any(""))
	must.Equal(t, "nothing is stored", related(), []string{now + " conflicts_with " + was})

	pair["relation"], pair["memory_id_b"] = "related", c.saveFor("acme/else", "another project", nil)
	c.failsAs("two projects", amber.KindInvalid, "mem_compare", pair)
	c.failsAs("a word that is no verdict", amber.KindInvalid, "mem_judge", object{"judgment_id": now + ":" + was, "relation": "hates"})
	c.failsAs("no relation", amber.KindNotFound, "mem_judge", object{"judgment_id": someID, "relation": "related"})

	owns := must.Get(r.store().Relations.Relate(context.Background(), amber.Relation{From: amber.MemoryID(was), To: amber.MemoryID(now), Type: "related", Strength: 1}))(t)
	c.failsAs("the owner's verdict", amber.KindRefused, "mem_judge", object{"judgment_id": owns.ID, "relation": "supersedes"})
}

func TestProjectsAreMergedAndSearched(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("engram")
	c.saveFor("acme/shop", "orders here", nil)
	c.saveFor("acme/bank", "orders there", nil)
	c.saveFor("acme/bank", "accounts there", nil)
	search := func(args object) int { return c.count("hits", "mem_search", args) }
	must.Equal(t, "here", search(object{"query": "orders"}), 1)
	must.Equal(t, "everywhere", search(object{"query": "orders", "all_projects": true}), 2)
	must.Equal(t, "every word", search(object{"query": "orders there", "project": "acme/bank", "match_mode": "all"}), 1)
	must.Equal(t, "any word", search(object{"query": "orders there", "project": "acme/bank", "match_mode": "any"}), 2)
	c.failsAs("another mode", amber.KindInvalid, "mem_search", object{"query": "orders", "match_mode": "some"})

	now := c.out("mem_current_project", nil)
	has(t, "current", now, object{"project": "acme/shop", "project_source": "started with"})
	must.Equal(t, "projects", now["available_projects"], any([]any{"acme/bank", "acme/shop"}))

	c.failsAs("without a store that joins", amber.KindUnsupported, "mem_merge_projects", object{"from": "a", "to": "b"})
	var joined []string
	r.agents["default/default"].Join = func(_ context.Context, from, to string) (int, int, error) {
		joined = append(joined, from+">"+to)
		return 2, 1, nil
	}
	has(t, "merged", c.out("mem_merge_projects", object{"from": "Shop, shop,acme/shop", "to": "acme/shop"}), object{"memories": 4.0, "sessions": 2.0})
	must.Equal(t, "joined", joined, []string{"Shop>acme/shop", "shop>acme/shop"})
	c.failsAs("itself", amber.KindInvalid, "mem_merge_projects", object{"from": "b", "to": "b"})
	writer := r.session(r.options("engram"), holder("default", "", wire.TokenWrite, wire.TokenRead), "default", "default")
	writer.failsAs("a writer", amber.KindRefused, "mem_merge_projects", object{"from": "a", "to": "b"})
}

func TestAgentsAskTheDoctor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("engram")
	c.failsAs("without a doctor", amber.KindUnsupported, "mem_doctor", nil)
	r.agents["default/default"].Doctor = func(context.Context, bool) (wire.Checkup, error) {
		return wire.Checkup{Checks: []wire.Finding{{Code: "home", Status: wire.FindingOK}, {Code: "disk", Status: wire.FindingFailed, Detail: "full"}}}, nil
	}
	out, text := c.call("mem_doctor", object{"project": "acme/shop"})
	must.Equal(t, "ok", out["ok"], any(false))
	must.Says(t, "doctor", text, "failed disk: full", "ok home:")
	has(t, "one check", c.out("mem_doctor", object{"check": "home"}), object{"ok": true})
	c.failsAs("unknown", amber.KindInvalid, "mem_doctor", object{"check": "nosuch"})
}
