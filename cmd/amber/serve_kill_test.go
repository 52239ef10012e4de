//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// acks are the writes a server has acknowledged.
type acks struct {
	mu     sync.Mutex
	ids    map[string]amber.MemoryID // by content
	enough chan struct{}             // closed at the last one that is waited for
	want   int
}

func newAcks(want int) *acks {
	return &acks{ids: map[string]amber.MemoryID{}, enough: make(chan struct{}), want: want}
}

func (a *acks) add(content string, id amber.MemoryID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ids[content] = id; len(a.ids) == a.want {
		close(a.enough)
	}
}

// flood writes single memories and batches of three until the server is gone.
func flood(r *running, a *acks, name string) error {
	for i := 0; ; i++ {
		if i%4 == 3 {
			gone, err := floodBatch(r, a, fmt.Sprintf("%s batch %d", name, i))
			if gone || err != nil {
				return err
			}
			continue
		}
		content := fmt.Sprintf("%s single %d", name, i)
		status, b, err := r.ask(http.MethodPost, agentURL+"/memories", remembering("%s", content))
		if err != nil {
			return nil //nolint:nilerr // it was killed
		}
		var ack amber.WriteAck
		if err := json.Unmarshal(b, &ack); err != nil || status/100 != 2 {
			return fmt.Errorf("%d %s: %w", status, b, err)
		}
		a.add(content, ack.ID)
	}
}

// floodBatch writes three memories that are there together or not at all.
func floodBatch(r *running, a *acks, name string) (gone bool, err error) {
	var items []string
	for part := range 3 {
		items = append(items, remembering("%s part %d", name, part))
	}
	status, b, err := r.ask(http.MethodPost, agentURL+"/memories/batch", `{"items":[`+strings.Join(items, ",")+`]}`)
	if err != nil {
		return true, nil //nolint:nilerr // it was killed
	}
	var got struct{ Items []amber.WriteAck }
	if err := json.Unmarshal(b, &got); err != nil || status/100 != 2 || len(got.Items) != 3 {
		return false, fmt.Errorf("%d %s: %w", status, b, err)
	}
	for part, ack := range got.Items {
		a.add(fmt.Sprintf("%s part %d", name, part), ack.ID)
	}
	return false, nil
}

// TestAKilledServerLosesNothingItAcknowledged kills a server that several clients
// write to, again and again.
func TestAKilledServerLosesNothingItAcknowledged(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	const rounds, clients, each = 4, 6, 200
	all := map[string]amber.MemoryID{}
	for round := range rounds {
		r := u.serve()
		a := newAcks(each)
		var wg sync.WaitGroup
		for c := range clients {
			wg.Go(func() {
				must.NoError(t, flood(r, a, fmt.Sprintf("round %d client %d", round, c)))
			})
		}
		<-a.enough
		r.kill()
		wg.Wait()
		for content, id := range a.ids {
			all[content] = id
		}
	}
	r := u.serve()
	there := r.contents()
	for content, id := range all {
		if there[content] != id {
			t.Errorf("%q was acknowledged as %s and is %q", content, id, there[content])
		}
	}
	checkBatches(t, there)
	checkAudit(t, u, all)
	r.stop()
	u.must("", "audit", "verify")
	u.must("", "doctor")
	t.Logf("%d acknowledged, %d there", len(all), len(there))
}

// checkBatches looks for batches of which only a part is there.
func checkBatches(t *testing.T, there map[string]amber.MemoryID) {
	t.Helper()
	parts := map[string]int{}
	for content := range there {
		if name, _, ok := strings.Cut(content, " part "); ok {
			parts[name]++
		}
	}
	if len(parts) == 0 {
		t.Error("no batch was written")
	}
	for name, n := range parts {
		if n != 3 {
			t.Errorf("of %q %d parts are there", name, n)
		}
	}
}

// checkAudit checks that every single write that was acknowledged is in the
// audit log.
func checkAudit(t *testing.T, u *user, acked map[string]amber.MemoryID) {
	t.Helper()
	recorded := map[string]bool{}
	for line := range strings.Lines(u.must("", "audit", "list", "--jsonl", "--action", "memory.write")) {
		var e wire.AuditEntry
		must.Do(t, json.Unmarshal([]byte(line), &e))
		recorded[e.Subject] = e.Outcome == "ok"
	}
	for content, id := range acked {
		if strings.Contains(content, " single ") && !recorded[string(id)] {
			t.Errorf("%q (%s) is not in the audit log", content, id)
		}
	}
}
