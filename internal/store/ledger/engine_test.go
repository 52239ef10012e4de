package ledger

import (
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Programs of two versions on one database must lock the same row for a key.
func TestTheLockOfAnAnswerStays(t *testing.T) {
	t.Parallel()
	k := wire.AnswerKey{Tenant: "acme", Agent: "bob", Operation: "memory.write", Key: "k"}
	must.Equal(t, "lock", lockOf(k), lock("answers-35"))
	locks := map[lock]bool{}
	for i := range 2000 {
		k.Key = string(rune('a' + i))
		locks[lockOf(k)] = true
	}
	must.Equal(t, "locks", len(locks), answerLocks)
}
