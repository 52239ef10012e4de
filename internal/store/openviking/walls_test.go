package openviking_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/store/openviking/ovtest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// otherWords has the embedder take every word of questions for one of the memories: they have
// none in common, and only the server finds anything.
func otherWords() ovfake.Embedder {
	e := ovfake.Embedder{Dimensions: 1024, Synonyms: map[string]string{}}
	for i := range 12 {
		e.Synonyms[fmt.Sprintf("asked%c", 'a'+i)] = fmt.Sprintf("told%c", 'a'+i)
	}
	return e
}

// No caller gets a hit that is not for them, among 1000 memories of five scopes, whatever files lie on the server.
func TestWallsOfAStore(t *testing.T) {
	t.Parallel()
	f := ovfake.New(ovfake.Options{Embedder: otherWords()})
	t.Cleanup(f.Close)
	walls(t, f.Start(), f.RootKey())
}

// TestRealWallsOfAStore is the same with a real server.
func TestRealWallsOfAStore(t *testing.T) {
	venv := realVenv(t)
	embedder := httptest.NewServer(&ovfake.Stub{Embedder: otherWords()})
	t.Cleanup(embedder.Close)
	server := must.Get(ovtest.Start(t.Context(), ovtest.Setup{Venv: venv, Dir: t.TempDir(), Embedder: embedder.URL, Dimensions: 1024}))(t)
	t.Cleanup(server.Stop)
	walls(t, server.URL, server.RootKey)
}

func walls(t *testing.T, url, root string) {
	t.Helper()
	key, _ := campaignKey(t, url, root)
	c := newCampaign(t, url, key.key, &swiftClock{longest: time.Second})
	random := rand.New(rand.NewPCG(3, 4))
	all := map[amber.MemoryID]amber.Memory{}
	for i := range 1000 {
		r := amber.WriteRequest{
			Content: fmt.Sprintf("told%c told%c number %d", 'a'+random.IntN(12), 'a'+random.IntN(12), i),
			Scope:   amber.Scopes()[random.IntN(5)], Identities: somebody(random), Kind: amber.MemoryKinds()[random.IntN(8)],
		}
		id := must.Get(c.store.Write(t.Context(), r))(t).ID
		all[id] = must.Get(c.primary.Get(t.Context(), id))(t)
	}
	must.Equal(t, "done", must.Get(c.store.Feed(t.Context(), openviking.Budget{}))(t).Done, true)
	must.Do(t, c.store.Await(t.Context(), nil))
	plant(t, url, key.key, random)

	seen := 0
	for i := range 300 {
		q := amber.Query{Text: fmt.Sprintf("asked%c asked%c", 'a'+random.IntN(12), 'a'+random.IntN(12)), Limit: 1 + random.IntN(20)}
		if random.IntN(4) > 0 {
			q.Identities = somebody(random)
		}
		if random.IntN(4) == 0 {
			q.Kinds = []amber.MemoryKind{amber.MemoryKinds()[random.IntN(8)]}
		}
		r := must.Get(c.store.Recall(t.Context(), q))(t)
		must.Equal(t, "degraded", r.Degraded, "")
		for _, h := range r.Hits {
			m, ok := all[h.ID]
			must.Hold(t, ok && h.Content == m.Content, "question %d: a hit has another text: %+v", i, h)
			must.Hold(t, mine(q, m), "question %d: %+v is not for %+v", i, m, q)
			must.Equal(t, "backend", h.Provenance.Backend, "openviking")
		}
		seen += len(r.Hits)
	}
	t.Logf("%d hits of the server were looked at", seen)
	must.Hold(t, seen > 500, "only %d hits of the server were looked at", seen)
}

// somebody returns one of three identities of each kind.
func somebody(r *rand.Rand) amber.Identities {
	one := func() string { return fmt.Sprint("id", r.IntN(3)) }
	return amber.Identities{SessionID: amber.SessionID(one()), UserID: one(), ProjectID: one(), WorkspaceID: one()}
}

// mine is the rule about who sees what, in other words than those of the store.
func mine(q amber.Query, m amber.Memory) bool {
	same := func(a, b string) bool { return a != "" && a == b }
	sees := false
	switch m.Scope {
	case amber.ScopeGlobal:
		sees = true
	case amber.ScopeSession:
		sees = same(string(q.SessionID), string(m.SessionID))
	case amber.ScopeUser:
		sees = same(q.UserID, m.UserID)
	case amber.ScopeProject:
		sees = same(q.ProjectID, m.ProjectID)
	case amber.ScopeWorkspace:
		sees = same(q.WorkspaceID, m.WorkspaceID)
	}
	return sees && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, m.Kind))
}

// plant acts as a person with the key who moves files to folders of others, names them after other ids and versions,
// writes other texts into them, and adds some.
func plant(t *testing.T, url string, key func() string, random *rand.Rand) {
	t.Helper()
	client := must.Get(api.New(api.Options{URL: url, Key: func() (string, error) { return key(), nil }}))(t)
	t.Cleanup(func() { _ = client.Close() })
	const home = "viking://user/campaign/memories/amber/default.default"
	var uris []string
	must.Do(t, client.List(t.Context(), home, func(uri string) error {
		if strings.HasSuffix(uri, ".md") && strings.Contains(uri, "-") {
			uris = append(uris, uri)
		}
		return nil
	}))
	must.Hold(t, len(uris) >= 1000, "%d files", len(uris))
	cut := func(uri string) (folder, name string) {
		at := strings.LastIndexByte(uri, '/')
		return uri[:at], uri[at+1:]
	}
	planted := map[string]string{home + "/global-0/constraint/planted.md": "toldb toldc"}
	for i := range 200 {
		uri, other := uris[random.IntN(len(uris))], uris[random.IntN(len(uris))]
		folder, name := cut(uri)
		elsewhere, theirs := cut(other)
		switch i % 4 {
		case 0: // moved
			planted[elsewhere+"/"+name] = "toldb toldc toldd"
		case 1: // the id of one, the version of another
			planted[folder+"/"+name[:len(name)-15]+theirs[len(theirs)-15:]] = "tolde toldf"
		case 2: // another's id in a folder of its own
			planted[folder+"/"+theirs] = "toldg toldh"
		case 3: // another text under a right name
			planted[uri] = "toldi toldj"
		}
	}
	for uri, text := range planted {
		err := client.Write(t.Context(), uri, text)
		for try := 0; amber.KindOf(err) == amber.KindBusy && try < 50; try++ { // a vector of a file near it is made
			time.Sleep(100 * time.Millisecond)
			err = client.Write(t.Context(), uri, text)
		}
		if !errors.Is(err, api.ErrNoVector) {
			must.Do(t, err)
		}
	}
}
