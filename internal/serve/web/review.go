package web

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// reviewScreen is the memories and folders that wait for the owner.
type reviewScreen struct{ *visit }

func reviewRoutes(p *Page) {
	p.get("/review", on(reviewScreen.review))
	p.post("/review/keep", withStore(reviewScreen.keep))
	p.post("/review/trust", on(reviewScreen.trustFolder))
}

// reviewData is what the list of waiting memories shows.
type reviewData struct {
	amber.Page[amber.Memory]
	Kept    string
	Folders []wire.WaitingFolder
	Trusted string // the project of the folder that was trusted just now
}

func (v reviewScreen) review() error {
	page, err := v.waiting(v.r.Context(), pageSize, amber.Cursor(v.query("cursor")))
	if err != nil {
		return err
	}
	folders, err := v.waitingFolders(v.r.Context())
	if err != nil {
		return err
	}
	return v.render("review", screen{Title: "Review", Nav: "review", Command: v.command("review", "list")}, reviewData{page, v.query("kept"), folders, v.query("trusted")})
}

// waitingFolders are the folders of the machine that wait for the owner; none for visitors who may not see every tenant.
func (v reviewScreen) waitingFolders(ctx context.Context) ([]wire.WaitingFolder, error) {
	if v.grant.Tenant != "" || !v.grant.Has(wire.TokenAdmin) {
		return nil, nil
	}
	folders, err := v.remote.WaitingFolders(ctx)
	if amber.KindOf(err) == amber.KindUnsupported {
		err = nil
	}
	return folders, err
}

// trustFolder confirms what a folder claims.
func (v reviewScreen) trustFolder() error {
	done, err := v.remote.TrustFolder(v.r.Context(), wire.FolderTrust{Place: v.field("place"), Asks: v.field("asks")})
	if err != nil {
		return err
	}
	return v.redirect(addQuery(v.path("review"), "trusted", done.Project))
}

// waiting is a page of the memories that wait for the owner.
func (v reviewScreen) waiting(ctx context.Context, limit int, from amber.Cursor) (amber.Page[amber.Memory], error) {
	store, err := v.remote.Store(ctx)
	if err != nil {
		return amber.Page[amber.Memory]{}, err
	}
	return store.Memories.List(ctx, amber.ListQuery{All: true, Waiting: amber.ReviewAgents, Limit: limit, Cursor: from})
}

// keep vouches for one memory.
func (v reviewScreen) keep(ctx context.Context, store amber.Store) error {
	m, err := store.Editor.Edit(ctx, amber.EditRequest{ID: amber.MemoryID(v.field("id")), Keep: true})
	if err != nil {
		return err
	}
	return v.redirect(v.path("review") + "?kept=" + string(m.ID))
}

// badgeMost is how many waiting memories a badge counts.
const badgeMost = 9

// badge counts the memories and folders that wait, for the entry of the screen that lists them; "" for none.
func (v reviewScreen) badge() string {
	if v.remote == nil || !v.known || !v.grant.Has(wire.TokenRead) {
		return ""
	}
	page, err := v.waiting(v.r.Context(), badgeMost, "")
	folders, folderErr := v.waitingFolders(v.r.Context())
	switch n := len(page.Items) + len(folders); {
	case err != nil || folderErr != nil || n == 0: // the screen itself names the error
		return ""
	case page.Next != "" || n > badgeMost:
		return fmt.Sprintf("%d+", badgeMost)
	default:
		return fmt.Sprint(n)
	}
}

// byline says who wrote a memory.
func byline(m amber.Memory) string { return "by " + words.Author(m.Trust, m.Author) }

// asker says who asked for a snapshot; "" where that is not known.
func asker(a wire.Asker) string {
	if a == (wire.Asker{}) {
		return ""
	}
	return words.Author(a.Trust, a.Author)
}
