package openviking

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestPartsAreThePrimarysButForTwo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	parts := w.Parts()
	must.Equal(t, "semantic", amber.NewStore(parts).Capabilities().Semantic, true)
	must.Equal(t, "semantic of the primary", amber.NewStore(w.primary.Parts()).Capabilities().Semantic, false)
	parts.Semantic = false
	got, want := reflect.ValueOf(parts), reflect.ValueOf(w.primary.Parts())
	for i := range got.NumField() {
		name, own := got.Type().Field(i).Name, got.Field(i).Interface() == any(w.Store)
		must.Equal(t, name, own, name == "LongTerm" || name == "Eraser")
		if !own {
			must.Hold(t, got.Field(i).Interface() == want.Field(i).Interface(), "%s is not the primary's", name)
		}
	}
}

func TestWritesDoNotWaitForTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	m := w.say("a memory")
	must.Do(t, w.Delete(t.Context(), m.ID))
	must.Equal(t, "calls", w.server.count(""), 0)
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, change := range map[string]func(*Options){
		"no primary": func(o *Options) { o.Primary.Memories = nil },
		"no cursors": func(o *Options) { o.Cursors = nil },
		"no server":  func(o *Options) { o.Server = nil },
		"no clock":   func(o *Options) { o.Clock = nil },
		"no URL":     func(o *Options) { o.URL = "" },
		"fusion":     func(o *Options) { o.Fusion = "mean" },
		"min score":  func(o *Options) { o.MinScore = 1.1 },
		"timeout":    func(o *Options) { o.FindTimeout = -1 },
		"tenant":     func(o *Options) { o.Tenant = "../x" },
		"agent":      func(o *Options) { o.Agent = "" },
		"user":       func(o *Options) { o.User = "a/b" },
	} {
		o := w.o
		change(&o)
		must.Fail(New(o))(t, name, amber.KindInvalid)
	}
}

func TestHealthSaysWhatIsWrongWithTheIndex(t *testing.T) {
	t.Parallel()
	health := func(w *world) amber.Health {
		t.Helper()
		return must.Get(w.Health(t.Context()))(t)
	}
	w := newWorld(t, func(o *Options) { o.Behind = 10 })
	must.Says(t, "never fed", string(health(w).Status)+health(w).Detail, "degraded", "compared")
	w.feed()
	must.Equal(t, "fed", health(w), amber.Health{Backend: "inmem", Status: amber.Healthy})
	w.many(11)
	must.Says(t, "behind", string(health(w).Status)+health(w).Detail, "degraded", "behind by 11 changes")
	w.server.version = "0.7.1"
	must.Says(t, "version", health(w).Detail, "0.7.1", "tested")
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	must.Says(t, "away", health(w).Detail, "connection refused")
	w.server.set(nil)
	w.server.version = "0.5.3"
	w.feed()
	must.Equal(t, "fed again", health(w).Status, amber.Healthy)
	parts := w.primary.Parts()
	parts.LongTerm = gone{parts.LongTerm}
	w.open(func(o *Options) { o.Primary = parts })
	must.Equal(t, "primary away", health(w), amber.Health{Backend: "gone", Status: amber.Unavailable, Detail: "disk"})
}

// gone is a primary that is away.
type gone struct{ amber.LongTerm }

func (gone) Health(context.Context) (amber.Health, error) {
	return amber.Health{Backend: "gone", Status: amber.Unavailable, Detail: "disk"}, nil
}

func TestUserThatTheServerWouldRewriteIsRefused(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"", "a b", "../x", "a/b", ".", "ä", "..", strings.Repeat("a", 129)} {
		w := newWorld(t)
		w.server.user = user
		must.Kind(t, user, must.Err(w.Feed(t.Context(), Budget{})), amber.KindUnsupported)
		must.Equal(t, "files", len(w.server.files), 0)
	}
}

func TestStatusCountsWhatIsBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed()
	first := w.say("first")
	w.say("second")
	st := must.Get(w.Status(t.Context()))(t)
	must.Hold(t, st.Behind == 2 && !st.More && !st.Compare && !st.Oldest.IsZero(), "got %+v", st)
	must.Hold(t, !st.Oldest.Before(first.CreatedAt), "oldest is %s, want %s or later", st.Oldest, first.CreatedAt)
	must.Equal(t, "server", []string{st.URL, st.Version, st.User, st.AuthMode, st.Root}, []string{
		"http://127.0.0.1:1933", "0.5.2", "default", "dev", "viking://user/default/memories/amber/default.coder",
	})
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	must.Error(t, "feed", must.Err(w.Feed(t.Context(), Budget{})))
	st = must.Get(w.Status(t.Context()))(t)
	must.Says(t, "problem", st.Problem, "connection refused")
	must.Says(t, "last error", st.LastError, "connection refused")
	must.Hold(t, !st.RetryAt.IsZero() && st.Behind == 2, "got %+v", st)
}
