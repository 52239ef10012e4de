package ledger_test

import (
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Processes that are killed while they record lose nothing that was
// acknowledged, and leave one chain.
func TestKilledRecordersLeaveOneChain(t *testing.T) { both(t, testKilledRecordersLeaveOneChain) }

func testKilledRecordersLeaveOneChain(t *testing.T, p place) {
	acked := map[string]bool{}
	for round := range 4 {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 3 {
			lines, kill := p.start(t, "record", string(rune('a'+3*round+i)))
			wg.Go(func() {
				for n := 0; lines.Scan(); n++ {
					mu.Lock()
					acked[lines.Text()] = true
					mu.Unlock()
					if n == 10+7*i+round {
						kill()
					}
				}
			})
		}
		wg.Wait()
		d := p.open(t)
		if r := must.Get(d.VerifyAudit(t.Context()))(t); !r.OK() {
			t.Fatalf("round %d: %q", round, r.Damaged)
		}
		must.Do(t, d.Close())
	}
	d := p.open(t)
	for _, e := range all(t, d, wire.AuditQuery{Limit: amber.MaxPageSize}) {
		delete(acked, e.Subject)
	}
	must.Hold(t, len(acked) == 0, "lost: %v", acked)
}
