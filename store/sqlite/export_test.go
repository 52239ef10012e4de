package sqlite

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// manyMarmots adds memories to a memory.db of schema 4.
const manyMarmots = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO memories SELECT NULL, printf('0190a000-0000-7000-8000-%%012d', i), kind, scope, identity, session_id, user_id, project_id, workspace_id, title,
 'marmot number ' || i, summary, '', tags, metadata, source_refs, trust, device, counter, clock, 1, content_digest, 0, created_at, updated_at, NULL, foreign_fields, '', facets
FROM memories, n WHERE memories.rowid = (SELECT min(rowid) FROM memories)`

// OldAgent returns an agent whose memory.db is of schema 4 and has n memories "marmot number
// 1" and so on, and the folder of its home.
func OldAgent(t *testing.T, n int) (a *home.Agent, dir string) {
	t.Helper()
	a = agentWithMemory(t, 4)
	outside(t, a, "memory.db", func(p *sqlconn.Pool) { must.Get(p.DB.Exec(fmt.Sprintf(manyMarmots, n)))(t) })
	return a, homeOf(a)
}
