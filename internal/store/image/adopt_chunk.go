package image

const (
	takeChunks = `INSERT OR IGNORE INTO sync_chunks SELECT * FROM live.sync_chunks WHERE device = ? AND chunk LIKE 'engram:%'`
	// A link names a chunk by its id in Engram, which is part of the whole name.
	takeLinks = `INSERT OR IGNORE INTO sync_links SELECT l.* FROM live.sync_chunks c
JOIN live.sync_links l ON l.tool = 'engram' AND l.chunk = substr(c.chunk, 8, 8)
WHERE c.device = ? AND c.chunk LIKE 'engram:%' AND NOT (l.scope = 'memory' AND EXISTS (SELECT 1 FROM main.erased WHERE id = l.record))`
)

// takeExported takes over which chunks this agent has exported to Engram since,
// and the rows in them: nothing in such a chunk tells that its rows are known,
// and they would be exported twice. Chunks of Amber's own stay as in the file:
// to apply them once more brings back what others know, as history where the
// restore won, and as deleted where nothing orders it.
func (a *adoption) takeExported() error {
	for _, q := range []string{takeChunks, takeLinks} {
		if _, err := a.Exec(q, a.Current.Device); err != nil {
			return err
		}
	}
	return nil
}
