package agent

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// HeldEntries lists what is in the quarantine of the crash journal, without payloads:
// of a session, by its id or its key, or of every one for "". Errors: not_found.
func (a *Agent) HeldEntries(ctx context.Context, session string) ([]wire.HeldEntry, error) {
	j, err := a.Journal()
	if err != nil {
		return nil, err
	}
	return j.HeldOf(ctx, session)
}

// ShowHeld returns one file in quarantine, without what the rules of today take for a
// secret. Errors: not_found; conflict when several hosts have a session of that id;
// quota for a file that is larger than [wire.MaxHeldShown].
func (a *Agent) ShowHeld(ctx context.Context, session, name string) (wire.HeldEntry, error) {
	listed, err := a.HeldEntries(ctx, session)
	if err != nil {
		return wire.HeldEntry{}, err
	}
	if slices.ContainsFunc(listed, func(h wire.HeldEntry) bool { return h.Name == name && h.Bytes > wire.MaxHeldShown }) {
		return wire.HeldEntry{}, amber.Errorf(amber.KindQuota, "read quarantine", name, "the file is larger than %d bytes", wire.MaxHeldShown).
			WithHint("amber journal quarantine --session ID --show NAME on the machine of the agent")
	}
	j, err := a.Journal()
	if err != nil {
		return wire.HeldEntry{}, err
	}
	h, err := j.ShowHeld(session, name)
	if err != nil {
		return wire.HeldEntry{}, err
	}
	h.Payload, _ = a.config.Redactor().Document("payload.json", h.Payload, nil)
	return h, nil
}

// RetryHeld puts entries in quarantine back into the crash journal, to be drained again, and returns them. A
// file that is no entry stays where it is. Errors: not_found; invalid for a name without a session; those of
// the journal.
func (a *Agent) RetryHeld(ctx context.Context, r wire.HeldRetry) ([]wire.HeldEntry, error) {
	j, err := a.Journal()
	if err != nil {
		return nil, err
	}
	return j.RetryOf(ctx, r)
}
