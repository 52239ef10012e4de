package wire

import "github.com/amber-memory/amber"

// ImportCounts says what became of the items of one kind.
type ImportCounts struct {
	Read    int64 `json:"read"`
	New     int64 `json:"new"`
	Changed int64 `json:"changed"`
	Known   int64 `json:"known"`
}

// Add adds what became of others.
func (c *ImportCounts) Add(o ImportCounts) {
	c.Read, c.New, c.Changed, c.Known = c.Read+o.Read, c.New+o.New, c.Changed+o.Changed, c.Known+o.Known
}

// ImportSkip is something that was not imported.
type ImportSkip struct {
	Place  string `json:"place"` // "conversations.json: element 3, line 120"
	Reason string `json:"reason"`
}

// ImportConflict is a record that was changed here and in the source. The version that is here stays; the other
// text of a memory is in its history.
type ImportConflict struct {
	Kind  string `json:"kind"` // memory or note
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Place string `json:"place"`
}

// MaxImportSkips bounds the places, and the conflicts, that a report spells out.
const MaxImportSkips = 1000

// ForeignImport says what an import found and did, or would do.
type ForeignImport struct {
	ID     string `json:"id,omitempty"` // for amber import undo; "" where nothing was written
	Format string `json:"format"`
	Title  string `json:"title"` // of the format
	Path   string `json:"path"`
	Files  int64  `json:"files"`
	Bytes  int64  `json:"bytes"`
	DryRun bool   `json:"dry_run"`
	Trust  string `json:"trust"` // imported or own
	// Partial reports that only the beginning was looked at.
	Partial bool `json:"partial,omitempty"`

	ImportCounts
	Conflicts int64 `json:"conflicts"`
	Skipped   int64 `json:"skipped"`
	Older     int64 `json:"older,omitempty"` // left out since they are from before --since

	Memories  ImportCounts `json:"memories"`
	Relations ImportCounts `json:"relations"`
	Sessions  ImportCounts `json:"sessions"`
	Turns     ImportCounts `json:"turns"`
	Notes     ImportCounts `json:"notes"`

	Samples      []string         `json:"samples"`
	Skips        []ImportSkip     `json:"skips"` // at most MaxImportSkips
	ConflictList []ImportConflict `json:"conflict_list"`
	Warnings     []string         `json:"warnings"`
	Redacted     map[string]int   `json:"redacted,omitempty"` // secrets that were taken out, by rule
	// SecretsLeft are secrets that stay in the text, by rule: rows of Engram are stored as they came.
	SecretsLeft map[string]int `json:"secrets_left,omitempty"`
}

// ImportRecord is an import that was made.
type ImportRecord struct {
	ID     string     `json:"id"`
	Format string     `json:"format"`
	Path   string     `json:"path"`
	Trust  string     `json:"trust"`
	At     amber.Time `json:"at"`
	Undone bool       `json:"undone"`
}

// ImportKept is a record that undoing an import left alone.
type ImportKept struct {
	Kind   string `json:"kind"` // memory, session, note or relation
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// ImportUndo says what undoing an import did.
type ImportUndo struct {
	ID       string       `json:"id"`
	Format   string       `json:"format"`
	Already  bool         `json:"already"` // it was undone before
	Deleted  int64        `json:"deleted"` // memories, sessions, notes and relations that the import had made
	Restored int64        `json:"restored"`
	Gone     int64        `json:"gone"` // deleted since, by a person or a program
	Kept     []ImportKept `json:"kept"`
}

// ForeignImports is what one call of import did, for every path.
type ForeignImports struct {
	// ID and Format are those of the import, where there was one path.
	ID     string `json:"id,omitempty"`
	Format string `json:"format,omitempty"`
	DryRun bool   `json:"dry_run"`
	ImportCounts
	Conflicts int64           `json:"conflicts"`
	Skipped   int64           `json:"skipped"`
	Skips     []ImportSkip    `json:"skips"`
	Items     []ForeignImport `json:"items"` // one per path
}

// Sum makes the answer of the imports of several paths.
func Sum(items []ForeignImport) ForeignImports {
	out := ForeignImports{Items: items, Skips: []ImportSkip{}}
	if out.Items == nil {
		out.Items = []ForeignImport{}
	}
	for _, r := range items {
		out.ImportCounts.Add(r.ImportCounts)
		out.Conflicts += r.Conflicts
		out.Skipped += r.Skipped
		out.Skips = append(out.Skips, r.Skips...)
		out.ID, out.Format, out.DryRun = r.ID, r.Format, r.DryRun
	}
	if len(items) != 1 {
		out.ID, out.Format = "", ""
	}
	return out
}

// Found is a place where files of a known program lie.
type Found struct {
	Format  string `json:"format"`
	Title   string `json:"title"`
	Path    string `json:"path"`
	Files   int64  `json:"files"`
	Bytes   int64  `json:"bytes"`
	Command string `json:"command"`
}

// ForeignExport is what an export wrote.
type ForeignExport struct {
	Format    string         `json:"format"`
	Path      string         `json:"path,omitempty"` // "" for stdout
	Memories  int64          `json:"memories"`
	Relations int64          `json:"relations"`
	Sessions  int64          `json:"sessions"`
	Turns     int64          `json:"turns"`
	Notes     int64          `json:"notes"`
	Held      int64          `json:"held"` // memories of users that were not named
	Redacted  map[string]int `json:"redacted,omitempty"`
}
