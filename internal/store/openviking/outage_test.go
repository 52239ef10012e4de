package openviking_test

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// trouble is something that happens to a server, and its end.
type trouble struct {
	name       string
	begin, end func(t *testing.T)
	// lasts is how long it goes on at least, by the clock of the campaign.
	lasts time.Duration
	wall  time.Duration // the same by a clock on the wall
	// fed and asked say that feeds, or questions, need not notice it.
	fed, asked bool
}

// campaign is a store beside whose server one trouble comes after another. A feeder is at work all the time, and the
// test writes and asks.
type campaign struct {
	clock     *swiftClock
	store     *openviking.Store
	primary   *sqlite.Store
	control   *sqlite.Store // the same writes without a server
	workspace string
	steps     int // of each part of a trouble
	idle      time.Duration
	random    *rand.Rand

	live     []amber.MemoryID
	twins    map[amber.MemoryID]amber.MemoryID // in the control
	texts    map[amber.MemoryID]string
	erased   []erasure
	degraded int
	during   times // of writes, in a trouble
	always   times
	failures atomic.Int64 // of the feeder
}

// times is how long writes took, with a server and in the control.
type times struct{ ours, theirs []time.Duration }

func (x times) String() string {
	ours, theirs := median(x.ours), median(x.theirs)
	return fmt.Sprintf("%d writes, half of them within %v, without a server within %v: %.2f times", len(x.ours), ours, theirs, float64(ours)/float64(theirs))
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// erasure is a word that was erased, and what the report says remains.
type erasure struct{ word, remaining string }

// swiftClock is a clock whose waits are short.
type swiftClock struct {
	ahead   atomic.Int64
	longest time.Duration // of a wait
}

func (c *swiftClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *swiftClock) wait(ctx context.Context, d time.Duration) error {
	short := min(d, c.longest)
	timer := time.NewTimer(short)
	defer timer.Stop()
	select {
	case <-timer.C:
		c.ahead.Add(int64(d - short))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newCampaign makes the stores beside a server.
func newCampaign(t *testing.T, url string, key func() string, clock *swiftClock) *campaign {
	t.Helper()
	c := &campaign{clock: clock, random: rand.New(rand.NewPCG(1, 2)), texts: map[amber.MemoryID]string{}, twins: map[amber.MemoryID]amber.MemoryID{}}
	c.primary, c.control = c.open(t), c.open(t)
	client := must.Get(api.New(api.Options{URL: url, Key: func() (string, error) { return key(), nil }, Request: 3 * time.Second}))(t)
	t.Cleanup(func() { _ = client.Close() })
	c.store = must.Get(openviking.New(openviking.Options{
		Primary: c.primary.Parts(), Cursors: c.primary, Server: client, URL: url, Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent,
		MinScore: 0.65, Clock: clock.now, Wait: clock.wait,
	}))(t)
	return c
}

func (c *campaign) open(t *testing.T) *sqlite.Store {
	t.Helper()
	h, _, err := home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: c.clock.now, Random: crand.Reader})
	must.Do(t, err)
	agent := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	s := must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: c.clock.now, Random: crand.Reader}))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// run lets the troubles come, and looks at the server after each: it must have the live memories, without any command.
func (c *campaign) run(t *testing.T, troubles []trouble) {
	ctx, stop := context.WithCancel(t.Context())
	var feeder sync.WaitGroup
	feeder.Go(func() {
		for ctx.Err() == nil {
			report, err := c.store.Feed(ctx, openviking.Budget{})
			if err != nil {
				c.failures.Add(1)
			}
			wait := max(report.Again, c.idle)
			if err == nil && !report.Done {
				wait = report.Again
			}
			_ = c.clock.wait(ctx, wait)
		}
	})
	t.Cleanup(func() { stop(); feeder.Wait() })
	c.several(t, c.steps)
	c.settled(t)
	for _, x := range troubles {
		t.Run(x.name, func(t *testing.T) { c.suffer(t, x) })
	}
	t.Logf("in all of them: %v", c.always)
}

// suffer lets one trouble come and go.
func (c *campaign) suffer(t *testing.T, x trouble) {
	c.degraded, c.during = 0, times{}
	failed, begun, really := c.failures.Load(), c.clock.now(), time.Now()
	x.begin(t)
	ended := sync.OnceFunc(func() { x.end(t) })
	defer ended()
	for {
		c.several(t, c.steps)
		long := c.clock.now().Sub(begun) >= x.lasts && time.Since(really) >= x.wall
		noticed := (x.fed || c.failures.Load() > failed) && (x.asked || c.degraded > 0)
		if t.Failed() || long && noticed {
			break
		}
		must.Do(t, c.clock.wait(t.Context(), max(time.Second, x.lasts/10)))
		select {
		case <-time.After(x.wall / 30):
		case <-t.Context().Done():
		}
	}
	t.Logf("%v; %d feeds failed, %d questions were answered without the server", c.during, c.failures.Load()-failed, c.degraded)
	c.always.ours, c.always.theirs = append(c.always.ours, c.during.ours...), append(c.always.theirs, c.during.theirs...)
	ended()
	c.several(t, c.steps)
	c.settled(t)
}

// several writes, changes, deletes, erases and asks.
func (c *campaign) several(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		switch {
		case i%10 == 3:
			c.change(t)
		case i%10 == 7:
			id := c.take()
			must.Do(t, c.store.Delete(t.Context(), id))
			must.Do(t, c.control.Delete(t.Context(), c.twins[id]))
		case i == n/2:
			c.erase(t)
		default:
			c.write(t)
		}
		c.ask(t)
	}
}

// text is one that has words of its own.
func (c *campaign) text() string {
	return fmt.Sprintf("%s and %s agree about %s", c.word(), c.word(), c.word())
}

func (c *campaign) word() string {
	b := []byte("w")
	for range 9 {
		b = append(b, "bcdfghklmnprstvz"[c.random.IntN(16)], "aeiou"[c.random.IntN(5)])
	}
	return string(b)
}

// write writes the same to both stores, in turn.
func (c *campaign) write(t *testing.T) {
	t.Helper()
	r := amber.WriteRequest{Content: c.text()}
	var twin amber.WriteAck
	theirs := func() {
		begun := time.Now()
		twin = must.Get(c.control.Write(t.Context(), r))(t)
		c.during.theirs = append(c.during.theirs, time.Since(begun))
	}
	first := c.random.IntN(2) == 0
	if first {
		theirs()
	}
	begun := time.Now()
	ack := must.Get(c.store.Write(t.Context(), r))(t)
	c.during.ours = append(c.during.ours, time.Since(begun))
	if !first {
		theirs()
	}
	c.live, c.texts[ack.ID], c.twins[ack.ID] = append(c.live, ack.ID), r.Content, twin.ID
}

func (c *campaign) change(t *testing.T) {
	t.Helper()
	id, text := c.live[c.random.IntN(len(c.live))], c.text()
	must.Get(c.primary.Edit(t.Context(), amber.EditRequest{ID: id, Content: &text}))(t)
	must.Get(c.control.Edit(t.Context(), amber.EditRequest{ID: c.twins[id], Content: &text}))(t)
	c.texts[id] = text
}

// take takes a memory out of those that are live.
func (c *campaign) take() amber.MemoryID {
	i := c.random.IntN(len(c.live))
	id := c.live[i]
	c.live = slices.Delete(c.live, i, i+1)
	return id
}

func (c *campaign) erase(t *testing.T) {
	t.Helper()
	id := c.take()
	word, _, _ := strings.Cut(c.texts[id], " ")
	r := must.Get(c.store.Erase(t.Context(), id))(t)
	must.Get(c.control.Erase(t.Context(), c.twins[id]))(t)
	c.erased = append(c.erased, erasure{word, strings.Join(r.Remaining, "\n")})
}

// ask asks for a memory in its own words.
func (c *campaign) ask(t *testing.T) {
	t.Helper()
	id := c.live[c.random.IntN(len(c.live))]
	r := must.Get(c.store.Recall(t.Context(), amber.Query{Text: c.texts[id], Limit: 5}))(t)
	must.Get(c.control.Recall(t.Context(), amber.Query{Text: c.texts[id], Limit: 5}))(t)
	if r.Degraded != "" {
		c.degraded++
	}
	must.Hold(t, slices.ContainsFunc(r.Hits, func(h amber.Hit) bool { return h.ID == id && strings.Contains(h.Snippet, c.texts[id]) }),
		"the memory %s is not found in its own words %q: %+v", id, c.texts[id], r)
}

// settled waits until the feeder has nothing to do, and compares.
func (c *campaign) settled(t *testing.T) {
	t.Helper()
	begun, calm := time.Now(), 0
	for calm < 2 { // a feed may have begun before the last write
		st := must.Get(c.store.Status(t.Context()))(t)
		calm++
		if st.Problem != "" || st.Behind > 0 || st.Compare || st.Unchecked || st.NoVector > 0 || !st.RetryAt.IsZero() {
			calm = 0
		}
		if waited := time.Since(begun); waited > 20*time.Minute { // it hangs
			t.Fatalf("after %v the server does not have everything: %+v", waited, st)
		}
		must.Do(t, c.clock.wait(t.Context(), 2*time.Second))
	}
	v := must.Get(c.store.Verify(t.Context(), true))(t)
	must.Hold(t, v.Clean() && v.Vectors && v.Behind == 0, "the server differs: %+v", v)
	must.Equal(t, "files", v.Files, len(c.live))
	c.forgotten(t)
}

// forgotten looks for erased texts in the files of the server. The erase report has named what the vector store of the
// server keeps.
func (c *campaign) forgotten(t *testing.T) {
	t.Helper()
	must.Do(t, filepath.WalkDir(c.workspace, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil // the server removed it
		}
		name := must.Get(filepath.Rel(c.workspace, path))(t)
		for _, e := range c.erased {
			named := strings.HasPrefix(name, "vectordb") && strings.Contains(e.remaining, "the vector store of OpenViking keeps")
			must.Hold(t, named || !bytes.Contains(text, []byte(e.word)), "what was erased is in %s, and remaining is %q", name, e.remaining)
		}
		return nil
	}))
}
