package natsbus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/amber-memory/amber"
)

const (
	// duplicates is how long a new stream remembers ids: longer than the
	// longest pause between two attempts, and than a restart takes.
	duplicates = 10 * time.Minute
	// keepFor is how long a new stream keeps events.
	keepFor = 30 * 24 * time.Hour
)

const streamOp = "prepare stream"

// ensureStream makes the stream where it is missing. A stream that is there belongs to the operator
// of the broker, and stays as it is.
func (b *Bus) ensureStream(ctx context.Context, js jetstream.JetStream) error {
	s, err := js.Stream(ctx, b.o.Stream)
	switch {
	case err == nil:
		return b.checkStream(s.CachedInfo().Config)
	case !errors.Is(err, jetstream.ErrStreamNotFound):
		return b.streamError(err)
	}
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{
		Name: b.o.Stream, Description: "what happens to the memory of agents (Amber)",
		Subjects: b.subjects(), Storage: jetstream.FileStorage, Duplicates: duplicates, MaxAge: keepFor,
	})
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another client was faster
		return nil
	}
	if err != nil {
		return b.streamError(err)
	}
	b.o.Log.Info("made a stream", "stream", b.o.Stream, "subjects", b.subjects())
	return nil
}

// subjects returns the patterns that the stream keeps.
func (b *Bus) subjects() []string {
	out := make([]string, len(b.o.Prefixes))
	for i, p := range b.o.Prefixes {
		out[i] = p + ".>"
	}
	return out
}

// checkStream tells why a stream of that name does not take our events.
func (b *Bus) checkStream(have jetstream.StreamConfig) error {
	var lacks []string
	for _, want := range b.subjects() {
		if !covered(want, have.Subjects) {
			lacks = append(lacks, want)
		}
	}
	switch {
	case len(lacks) == 0 && have.NoAck:
		return &amber.Error{
			Op: streamOp, Kind: amber.KindRefused, ID: b.o.Stream,
			Err:  errors.New("the stream is set to no_ack, want acknowledgements"),
			Hint: "nats stream edit " + b.o.Stream + " --ack",
		}
	case len(lacks) == 0:
		return nil
	}
	return &amber.Error{
		Op: streamOp, Kind: amber.KindRefused, ID: b.o.Stream,
		Err:  fmt.Errorf("the stream is there, and lacks the subjects %s", strings.Join(lacks, ", ")),
		Hint: fmt.Sprintf("nats stream edit %s --subjects %s", b.o.Stream, strings.Join(append(have.Subjects, lacks...), ",")),
	}
}

// covered reports whether one of the patterns matches every subject that want matches. Want ends
// with ">".
func covered(want string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(strings.Split(p, "."), strings.Split(want, ".")) })
}

func covers(pattern, want []string) bool {
	for i, token := range pattern {
		switch {
		case token == ">":
			return i < len(want)
		case i >= len(want) || want[i] == ">":
			return false
		case token != "*" && token != want[i]:
			return false
		}
	}
	return len(pattern) == len(want)
}

func (b *Bus) streamError(err error) error {
	e := &amber.Error{Op: streamOp, Kind: apiKind(err), ID: b.o.Stream, Err: b.hidden.scrub(err)}
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		e.Err = errors.New("the NATS server has no JetStream, or it is not ready")
		e.Hint = "start the NATS server with JetStream, or set events.jetstream to false"
	case errors.As(err, &api) && api.ErrorCode == codeOverlap:
		e.Hint = "another stream has these subjects: see nats stream ls, or choose other prefixes (events.mutation_prefix, events.lifecycle_prefix)"
	}
	return e
}
