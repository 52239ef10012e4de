package natsbus_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/natsbus"
	"github.com/amber-memory/amber/internal/test/must"
)

func (b *broker) streams(t testing.TB) jetstream.JetStream {
	t.Helper()
	return must.Get(jetstream.New(b.client(t)))(t)
}

func (b *broker) makeStream(t testing.TB, name string, most int32, subjects ...string) {
	t.Helper()
	_, err := b.streams(t).CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: subjects, MaxMsgSize: most, Storage: jetstream.MemoryStorage})
	must.Do(t, err)
}

func (b *broker) config(t testing.TB, name string) jetstream.StreamConfig {
	t.Helper()
	s := must.Get(b.streams(t).Stream(t.Context(), name))(t)
	return s.CachedInfo().Config
}

func TestAMissingStreamIsMade(t *testing.T) {
	t.Parallel()
	s := newBroker(t, true)
	b, _ := open(t, natsbus.Options{URL: s.url(), JetStream: true, Stream: "MEMORY", Prefixes: []string{"a.b", "c"}})
	c := s.config(t, "MEMORY") // before the first event, so that listeners find it
	must.Equal(t, "subjects", c.Subjects, []string{"a.b.>", "c.>"})
	if c.Storage != jetstream.FileStorage || c.Duplicates < 2*time.Minute || c.MaxAge < 24*time.Hour {
		t.Errorf("got %+v", c)
	}
	e := mutation("1")
	e.Subject = "a.b.acme.ada"
	publish(t, b, e)

	// An operator deletes the stream.
	must.Do(t, s.streams(t).DeleteStream(t.Context(), "MEMORY"))
	publish(t, b, e)
	must.Equal(t, "kept", idsOf(t, s.kept(t, "MEMORY")), []string{"1"})
}

// A plain listener takes the event and answers nothing, so the server does not
// say that there is no stream.
func TestAStreamThatAListenerHidesIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newBroker(t, true)
	b, _ := open(t, natsbus.Options{URL: s.url(), JetStream: true, Wait: 500 * time.Millisecond})
	publish(t, b, mutation("1"))
	s.listen(t, "amber.>")
	must.Do(t, s.streams(t).DeleteStream(t.Context(), natsbus.DefaultStream))
	must.Kind(t, "hidden", b.Publish(t.Context(), mutation("2")), amber.KindUnreachable)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for b.Publish(ctx, mutation("2")) != nil {
		if ctx.Err() != nil {
			t.Fatal("the stream is never made again")
		}
	}
	must.Equal(t, "kept", idsOf(t, s.kept(t, natsbus.DefaultStream)), []string{"2"})
}

func TestAStreamThatIsThereStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, subjects := range [][]string{
		{"amber.>"},
		{"amber.memory.>"},
		{"amber.*.>"},
		{"amber.memory.*.>"},
		{"amber.memory.mutated.>", "amber.memory.snapshot.>", "other"},
	} {
		s := newBroker(t, true)
		s.makeStream(t, natsbus.DefaultStream, -1, subjects...)
		before := s.config(t, natsbus.DefaultStream)
		b, log := open(t, natsbus.Options{URL: s.url(), JetStream: true})
		publish(t, b, mutation("1"))
		must.Equal(t, fmt.Sprint(subjects), s.config(t, natsbus.DefaultStream), before)
		must.Hides(t, "the log", log.String(), "not ready")
	}
}

// The bus offers an event that a full stream does not take until the stream has room. Then the
// stream has the event once.
func TestAFullStreamTakesTheEventOnceItHasRoom(t *testing.T) {
	t.Parallel()
	s := newBroker(t, true)
	js := s.streams(t)
	must.Get(js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: natsbus.DefaultStream, Subjects: []string{"amber.>"}, MaxMsgs: 1, Discard: jetstream.DiscardNew,
	}))(t)
	b, _ := open(t, natsbus.Options{URL: s.url(), JetStream: true})
	publish(t, b, mutation("1"))
	for range 3 {
		must.Kind(t, "full", b.Publish(t.Context(), mutation("2")), amber.KindUnreachable, "maximum messages exceeded")
	}
	if h := b.Health(); !h.Connected || h.Failed != 3 || !strings.Contains(h.LastError, "maximum messages") {
		t.Errorf("health is %+v", h)
	}
	must.Do(t, must.Get(js.Stream(t.Context(), natsbus.DefaultStream))(t).Purge(t.Context()))
	publish(t, b, mutation("2"))
	must.Equal(t, "kept", idsOf(t, s.kept(t, natsbus.DefaultStream)), []string{"2"})
}

// A stream that answers nothing cannot tell an event that it has from one that
// was lost on the way.
func TestAStreamThatAcknowledgesNothingIsRefused(t *testing.T) {
	t.Parallel()
	s := newBroker(t, true)
	must.Get(s.streams(t).CreateStream(t.Context(), jetstream.StreamConfig{
		Name: natsbus.DefaultStream, Subjects: []string{"amber.>"}, NoAck: true,
	}))(t)
	b, log := open(t, natsbus.Options{URL: s.url(), JetStream: true, Wait: 100 * time.Millisecond})
	err := b.Publish(t.Context(), mutation("1"))
	for late := time.After(patience); amber.KindOf(err) == amber.KindUnreachable; err = b.Publish(t.Context(), mutation("1")) {
		select {
		case <-late:
			t.Fatalf("nobody says why: %v", err)
		default:
		}
	}
	must.Kind(t, "looked at", err, amber.KindRefused, "no_ack", "nats stream edit AMBER --ack")
	must.Says(t, "the log", log.String(), "not ready")
}

func TestAStreamThatTakesNothingOfOursIsAnErrorThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stream   string
		subjects []string
		words    []string
	}{
		"lacks one":   {natsbus.DefaultStream, []string{"amber.memory.snapshot.>"}, []string{"lacks", "amber.memory.mutated.>", "nats stream edit AMBER --subjects amber.memory.snapshot.>,amber.memory.mutated.>"}},
		"lacks depth": {natsbus.DefaultStream, []string{"amber.memory.*"}, []string{"lacks"}},
		"lacks all":   {natsbus.DefaultStream, []string{"x", "amber.memory.mutated.acme.bob"}, []string{"lacks"}},
		"another has": {"OTHER", []string{"amber.memory.mutated.>"}, []string{"another stream"}},
		"overlap":     {"OTHER", []string{"amber.memory.snapshot.acme.>"}, []string{"another stream"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBroker(t, true)
			s.makeStream(t, tt.stream, -1, tt.subjects...)
			b, log := open(t, natsbus.Options{URL: s.url(), JetStream: true})
			must.Kind(t, "publish", b.Publish(t.Context(), mutation("1")), amber.KindRefused, tt.words...)
			must.Says(t, "the log", log.String(), "not ready")
			if h := b.Health(); !h.Connected || h.LastError == "" {
				t.Errorf("health is %+v", h)
			}
		})
	}
	t.Run("no JetStream", func(t *testing.T) {
		t.Parallel()
		s := newBroker(t, false)
		b, _ := open(t, natsbus.Options{URL: s.url(), JetStream: true, Wait: time.Second})
		must.Kind(t, "publish", b.Publish(t.Context(), mutation("1")), amber.KindUnreachable, "JetStream", "events.jetstream")
	})
}
