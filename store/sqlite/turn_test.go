package sqlite

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
)

func TestSessionOfTurn(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	turn := must.Get(s.AppendTurn(t.Context(), amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "a"}))(t)
	must.Equal(t, "session", must.Get(s.SessionOfTurn(t.Context(), turn.ID))(t), amber.SessionID("s"))
	must.Fail(s.SessionOfTurn(t.Context(), "none"))(t, "turn that is not there", amber.KindNotFound)
}
