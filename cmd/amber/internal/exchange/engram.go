package exchange

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/wire"
)

// importEngram imports a folder or a backup of Engram through package gitsync, as amber sync import does: what came in by one of
// the two commands is known to the other.
func (a *app) importEngram(ctx context.Context, s *cli.Opened, t *foreign.Tree, f importFlags, o transfer.Options) (wire.ForeignImport, error) {
	none := wire.ForeignImport{}
	if err := checkEngramFlags(f, o); err != nil {
		return none, err
	}
	dir, err := engramPlace(t)
	if err != nil {
		return none, err
	}
	g, err := gitsync.Options{
		Format: wire.SyncEngram, Only: engramScopes(o.Only), RequireSigned: s.Config.Config.Sync.RequireSigned, Redact: s.Config.Config.Redactor(),
		Intake: s.Config.Config.Intake(), Project: a.Project(ctx, filepath.Dir(dir)).ID,
	}.Open(s.Store, dir)
	if err != nil {
		return none, err
	}
	before, err := cli.Working(a.App, "looking", func() (gitsync.Look, error) { return g.Look(ctx) })
	if err != nil {
		return none, err
	}
	found := engramReport(t, before)
	if found.DryRun = f.dryRun; f.dryRun {
		return found, nil
	}
	if !a.Global.Quiet && !a.Global.JSON {
		a.tellFound(found)
	}
	return a.storeEngram(ctx, g, t, before)
}

// storeEngram imports, and counts what is known afterwards and was not before.
func (a *app) storeEngram(ctx context.Context, g *gitsync.Sync, t *foreign.Tree, before gitsync.Look) (wire.ForeignImport, error) {
	done, err := cli.Working(a.App, "importing", func() (wire.SyncImport, error) { return g.Import(ctx) })
	if err != nil {
		return wire.ForeignImport{}, err
	}
	after, err := g.Look(ctx)
	if err != nil {
		return wire.ForeignImport{}, err
	}
	waiting := after.Relations.New
	for _, c := range []struct{ was, is *wire.ImportCounts }{
		{&before.Memories, &after.Memories}, {&before.Relations, &after.Relations}, {&before.Sessions, &after.Sessions}, {&before.Prompts, &after.Prompts},
	} {
		c.was.New, c.was.Changed = max(c.was.New-c.is.New, 0), max(c.was.Changed-c.is.Changed, 0)
	}
	before.Bad = done.Quarantined
	r := engramReport(t, before)
	r.Conflicts = int64(done.Conflicts)
	if r.Conflicts > 0 {
		r.Warnings = append(r.Warnings, "amber sync status shows both texts of what was changed here and in Engram")
	}
	if waiting > 0 {
		r.Warnings = append(r.Warnings, words.Count(waiting, "relation waits", "relations wait")+" for a memory that is not here")
	}
	return r, nil
}

// checkEngramFlags refuses flags that the importer of Engram has no room for.
func checkEngramFlags(f importFlags, o transfer.Options) error {
	for _, c := range []struct {
		flag, why string
		set       bool
	}{
		{"--project", "its rows name their project", f.project != ""},
		{"--user", "its rows name their user", f.user != ""},
		{"--as-own", "what comes from it is shared, and not signed", f.asOwn},
		{"--since", "its chunks are imported whole", !o.Since.IsZero()},
		{"--observations", "it has no Markdown", f.observ},
	} {
		if c.set {
			return cli.Usage("%s does not apply to Engram: %s", c.flag, c.why)
		}
	}
	return nil
}

// engramPlace returns the folder or the backup that a tree holds. Records in an archive have no place that a
// later import could know them by.
func engramPlace(t *foreign.Tree) (string, error) {
	const op = "import"
	path, err := filepath.EvalSymlinks(t.Path()) // a link that the caller names is the caller's choice
	if err != nil {
		return "", amber.Errorf(amber.KindNotFound, op, t.Path(), "cannot be read: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", amber.Errorf(amber.KindNotFound, op, t.Path(), "cannot be read: %w", err)
	}
	dir, folder := formats.EngramFolder(t)
	f, backup := formats.EngramBackup(t)
	_, single := t.Single()
	next, packed := formats.UnpackEngram(t)
	switch {
	case formats.IsEngramDatabase(t):
		return "", amber.Errorf(amber.KindUnsupported, op, t.Path(), "is the database of Engram, want a backup of it").WithHint(formats.Engram.Next(t))
	case packed:
		return "", amber.Errorf(amber.KindUnsupported, op, t.Path(), "is %s", packedEngram(folder, single || info.IsDir() && !f.InZip())).WithHint(next)
	case folder:
		return filepath.Join(path, filepath.FromSlash(dir)), nil
	case single:
		return path, nil
	case backup:
		return filepath.Join(path, filepath.FromSlash(f.Name)), nil
	}
	return "", amber.Errorf(amber.KindInvalid, op, t.Path(), "has neither a manifest nor chunks of Engram")
}

// packedEngram says what a packed tree of Engram is, and what is wanted.
func packedEngram(folder, alone bool) string {
	switch {
	case folder:
		return "an archive of a folder of Engram, want the folder"
	case alone:
		return "a packed backup of Engram, want the backup itself"
	}
	return "an archive of a backup of Engram, want the backup itself"
}

// engramScopes are the scopes of the records that parts contain. Engram has no notes.
func engramScopes(parts []transfer.Part) (scopes []amber.ChangeScope) {
	of := map[transfer.Part][]amber.ChangeScope{
		transfer.Memories: {amber.ChangeMemory, amber.SyncRelation},
		transfer.Sessions: {amber.ChangeSession, amber.ChangeTurn},
		transfer.Notes:    {amber.ChangeNote},
	}
	for _, p := range parts {
		scopes = append(scopes, of[p]...)
	}
	return scopes
}

// engramReport is a look as the report of an import.
func engramReport(t *foreign.Tree, l gitsync.Look) wire.ForeignImport {
	r := wire.ForeignImport{
		Format: formats.Engram.Name, Title: formats.Engram.Title, Path: t.Source(), Files: int64(len(t.Files())), Bytes: t.Bytes(),
		Trust: string(amber.TrustImported), Memories: l.Memories, Relations: l.Relations, Sessions: l.Sessions, Turns: l.Prompts,
		Samples: l.Samples, Skips: []wire.ImportSkip{}, ConflictList: []wire.ImportConflict{}, Warnings: []string{}, SecretsLeft: l.Secrets,
	}
	if n := markdownBeside(t); n > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s not imported; amber import --from markdown %s takes them in",
			words.Count(n, "file of Markdown beside .engram is", "files of Markdown beside .engram are"), formats.Quoted(t.Path())))
	}
	if len(l.Secrets) > 0 {
		r.Warnings = append(r.Warnings, secretsLeft(l.Secrets))
	}
	for _, part := range []wire.ImportCounts{r.Memories, r.Relations, r.Sessions, r.Turns} {
		r.ImportCounts.Add(part)
	}
	for _, bad := range l.Bad {
		r.Skipped++
		if len(r.Skips) < wire.MaxImportSkips {
			r.Skips = append(r.Skips, wire.ImportSkip{Place: "chunk " + cmp.Or(bad.ID, "without a name"), Reason: bad.Reason})
		}
	}
	return r
}

// markdownBeside counts the Markdown of a folder that was taken as one of Engram because of the .engram in it.
func markdownBeside(t *foreign.Tree) (n int64) {
	if dir, ok := formats.EngramFolder(t); !ok || dir == "." {
		return 0
	}
	for _, f := range t.Files() {
		if f.Is(".md") && !strings.HasPrefix(f.Name, ".engram/") {
			n++
		}
	}
	return n
}

// secretsLeft tells how many secrets stay in the text, and by which rules they were found.
func secretsLeft(found map[string]int) string {
	total, list := 0, []string{}
	for _, rule := range slices.Sorted(maps.Keys(found)) {
		total += found[rule]
		list = append(list, fmt.Sprintf("%d %s", found[rule], rule))
	}
	return fmt.Sprintf("%s in what comes from Engram (%s): its rows are stored as they came; amber forget --erase ID removes a memory with its secrets",
		words.Count(int64(total), "secret stays", "secrets stay"), strings.Join(list, ", "))
}
