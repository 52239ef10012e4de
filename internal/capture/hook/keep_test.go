package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// fakeJournal answers what a test wants.
type fakeJournal struct {
	append func(context.Context, journal.Entry) error
	count  func() error

	mu      sync.Mutex
	entries []journal.Entry
	losses  []error
}

func (j *fakeJournal) Append(ctx context.Context, _ journal.Session, e journal.Entry) (int64, error) {
	j.mu.Lock()
	j.entries = append(j.entries, e)
	j.mu.Unlock()
	if j.append != nil {
		return 0, j.append(ctx, e)
	}
	return 1, nil
}

func (j *fakeJournal) CountLoss(cause error) error {
	if j.count != nil {
		return j.count()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.losses = append(j.losses, cause)
	return nil
}

func (j *fakeJournal) counted() []error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.losses
}

func prompt() journal.HostEvent {
	return hook.Read(input(hook.ClaudeCode, "UserPromptSubmit", `{"session_id":"s","prompt":"hello"}`))
}

func TestKeepIsDurable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	clock := func() time.Time { return now.Time() }
	j := must.Get(journal.Open(dir, journal.Options{Clock: clock}))(t)
	ev := prompt()
	must.Do(t, (hook.Keeper{Journal: j}).Keep(t.Context(), ev))
	again, err := journal.Open(dir, journal.Options{Clock: clock})
	must.Do(t, err)
	var kept []journal.HostEvent
	_, err = again.Read(t.Context(), journal.Session{Host: "claude-code", ID: "s"}.Key(), 0, func(f journal.Frame) error {
		var back journal.HostEvent
		err := json.Unmarshal(f.Payload, &back)
		kept = append(kept, back)
		return err
	})
	if err != nil || len(kept) != 1 || kept[0].EventID != ev.EventID || kept[0].Prompt != "hello" {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

// keep keeps an event in a bubble of time and returns how long it took.
func keep(t *testing.T, k hook.Keeper, ev journal.HostEvent) (took time.Duration, err error) {
	t.Helper()
	start := time.Now()
	err = k.Keep(t.Context(), ev)
	return time.Since(start), err
}

// hang blocks until the test is over.
func hang(t *testing.T) func() error {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return func() error {
		<-end
		return nil
	}
}

func TestKeepDoesNotWaitForADiskThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := hang(t)
		j := &fakeJournal{append: func(context.Context, journal.Entry) error { return stuck() }}
		took, err := keep(t, hook.Keeper{Journal: j}, prompt())
		if amber.KindOf(err) != amber.KindUnreachable || !strings.Contains(err.Error(), "left unsynced") || amber.HintOf(err) == "" {
			t.Errorf("error %v", err)
		}
		if took != hook.DefaultTimeout || len(j.counted()) != 1 {
			t.Errorf("took %v, counted %v", took, j.counted())
		}
	})
}

func TestKeepDoesNotWaitForACountThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := hang(t)
		j := &fakeJournal{append: func(context.Context, journal.Entry) error { return stuck() }, count: stuck}
		took, err := keep(t, hook.Keeper{Journal: j}, prompt())
		if amber.KindOf(err) != amber.KindUnreachable || !strings.Contains(err.Error(), "left unsynced") ||
			!strings.Contains(err.Error(), "the loss is not counted") {
			t.Errorf("error %v", err)
		}
		if took != time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestKeepGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := hang(t)
		j := &fakeJournal{append: func(context.Context, journal.Entry) error { return stuck() }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		err := hook.Keeper{Journal: j}.Keep(ctx, prompt())
		if amber.KindOf(err) != amber.KindUnreachable || len(j.counted()) != 1 {
			t.Errorf("error %v, counted %v", err, j.counted())
		}
	})
}

// TestKeepWaitsForOthers: the time the disk may take does not pass while another
// process holds the session.
func TestKeepWaitsForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &fakeJournal{append: func(_ context.Context, e journal.Entry) error {
			for range 2 {
				e.Blocked(true)
				time.Sleep(3 * time.Second)
				e.Blocked(false)
				time.Sleep(700 * time.Millisecond)
			}
			return nil
		}}
		took, err := keep(t, hook.Keeper{Journal: j}, prompt())
		if err != nil || took != 7400*time.Millisecond || len(j.counted()) != 0 {
			t.Errorf("took %v, counted %v, error %v", took, j.counted(), err)
		}
	})
}

func TestKeepDoesNotWaitForOthersForever(t *testing.T) {
	t.Parallel()
	for event, patience := range map[string]time.Duration{"Stop": 8 * time.Second, "SessionEnd": 400 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			stuck := hang(t)
			j := &fakeJournal{append: func(_ context.Context, e journal.Entry) error {
				e.Blocked(true)
				return stuck()
			}}
			took, err := keep(t, hook.Keeper{Journal: j}, hook.Read(input(hook.ClaudeCode, event, `{"session_id":"s"}`)))
			if amber.KindOf(err) != amber.KindBusy || strings.Contains(err.Error(), "unsynced") {
				t.Errorf("%s: error %v", event, err)
			}
			if took != patience || len(j.counted()) != 1 {
				t.Errorf("%s: took %v, counted %v", event, took, j.counted())
			}
		})
	}
}

func TestKeepCountsEveryLoss(t *testing.T) {
	t.Parallel()
	for _, kind := range []amber.Kind{amber.KindQuota, amber.KindRefused, amber.KindInternal, amber.KindBusy, amber.KindDamaged} {
		cause := amber.Errorf(kind, "append", "", "no").WithHint("amber journal drain")
		j := &fakeJournal{append: func(context.Context, journal.Entry) error { return cause }}
		err := hook.Keeper{Journal: j, Timeout: time.Hour}.Keep(t.Context(), prompt())
		if !errors.Is(err, cause) || len(j.counted()) != 1 || !errors.Is(j.counted()[0], cause) {
			t.Errorf("%s: error %v, counted %v", kind, err, j.counted())
		}
	}
}

func TestKeepSaysWhenALossIsNotCounted(t *testing.T) {
	t.Parallel()
	cause := amber.Errorf(amber.KindQuota, "append", "", "full").WithHint("amber journal drain")
	full := errors.New("ENOSPC")
	j := &fakeJournal{append: func(context.Context, journal.Entry) error { return cause }, count: func() error { return full }}
	err := hook.Keeper{Journal: j, Timeout: time.Hour}.Keep(t.Context(), prompt())
	if amber.KindOf(err) != amber.KindQuota || amber.HintOf(err) != cause.Hint || !errors.Is(err, full) || !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}

func TestKeepCountsAnEventThatCannotBeAnEntry(t *testing.T) {
	t.Parallel()
	j := &fakeJournal{}
	err := hook.Keeper{Journal: j, Timeout: time.Hour}.Keep(t.Context(), journal.HostEvent{})
	if amber.KindOf(err) != amber.KindInvalid || len(j.counted()) != 1 || len(j.entries) != 0 {
		t.Errorf("error %v, counted %v", err, j.counted())
	}
}
