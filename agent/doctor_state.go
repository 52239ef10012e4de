package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/statedir"
	"github.com/amber-memory/amber/store/home"
)

// stateCode is the check of the documents of runtime state.
const stateCode = "state"

// checkState reads every document of runtime state, and names files beside them
// that no verb reads.
func (d *doctor) checkState(ctx context.Context, agent *home.Agent, current home.Current) {
	docs, err := statedir.New(agent, statedir.Options{})
	if err != nil {
		d.judge(stateCode, err, "")
		return
	}
	list, err := docs.ListDocuments(ctx)
	if err != nil {
		d.judge(stateCode, err, "")
		return
	}
	for _, doc := range list {
		if doc.Damage != "" {
			e := amber.Errorf(amber.KindDamaged, "read document", doc.Name, "%s", doc.Damage).
				WithHint("amber state delete " + doc.Name + ", or restore a snapshot with --only state")
			d.judge(stateCode, e, "")
			return
		}
	}
	if odd := oddState(filepath.Join(agent.GenDir(current), "state")); odd != "" {
		d.warn(stateCode, "move "+odd+" out of the agent's folder if no program of yours needs it there",
			"%s whole; %s is not a document", words.Count(len(list), "document is", "documents are"), odd)
		return
	}
	d.judge(stateCode, nil, "%s", stateDetail(len(list)))
}

func stateDetail(n int) string {
	if n == 0 {
		return "no documents yet"
	}
	return words.Count(n, "document, whole", "documents, all of them whole")
}

// oddState returns the first file below the folder of runtime state that is
// neither a document, the vault, the mark of a consolidation nor a temporary file; "" when there is none, or
// when the folder cannot be read, which the documents have said.
func oddState(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	for _, e := range entries {
		name, isJSON := strings.CutSuffix(e.Name(), ".json")
		document := isJSON && e.Type().IsRegular() && amber.CheckDocumentName(name) == nil
		own := e.Name() == "vault" || e.Name() == snapshot.ConsolidationMark
		if !document && !own && !strings.HasPrefix(e.Name(), fsx.TempPrefix) {
			return filepath.Join(dir, e.Name())
		}
	}
	return ""
}
