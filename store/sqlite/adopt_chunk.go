package sqlite

const (
	takeChunks = `INSERT OR IGNORE INTO sync_chunks SELECT * FROM live.sync_chunks WHERE device = ?`
	takeLinks  = `INSERT OR IGNORE INTO sync_links SELECT l.* FROM live.sync_links l JOIN live.sync_chunks c ON c.chunk = l.chunk
WHERE c.device = ? AND NOT (l.scope = 'memory' AND EXISTS (SELECT 1 FROM main.erased WHERE id = l.record))`
)

// takeExported takes over which chunks this agent has exported since, and the
// rows of other tools in them: what they say was compared with the file as
// part of live, and to apply them would undo that where nothing orders it, such
// as for prompts that were deleted. Chunks of others stay as in the file: they
// may bring the other side of a conflict.
func (a *adoption) takeExported() error {
	for _, q := range []string{takeChunks, takeLinks} {
		if _, err := a.exec(q, a.current.Device); err != nil {
			return err
		}
	}
	return nil
}
