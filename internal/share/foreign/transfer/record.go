package transfer

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// importScope is the scope of the links that name imports.
const importScope amber.ChangeScope = "import"

// headLink is the link that names an import.
func headLink(r wire.ImportRecord) amber.SyncLink {
	body, err := json.Marshal(r)
	if err != nil {
		panic("transfer: an import can be written as JSON: " + err.Error())
	}
	return amber.SyncLink{
		Tool: toolImport, Chunk: r.ID, Ordinal: 0, Ref: amber.SyncRef{Scope: importScope, ID: r.ID}, Fingerprint: importKey, Extra: string(body),
	}
}

// List returns the imports that were made, oldest first.
func List(ctx context.Context, store amber.Store) ([]wire.ImportRecord, error) {
	links, err := store.Sync.Links(ctx, amber.LinkQuery{Tool: toolImport, Fingerprint: importKey})
	if err != nil {
		return nil, err
	}
	out := []wire.ImportRecord{}
	for _, l := range links {
		var r wire.ImportRecord
		if err := json.Unmarshal([]byte(l.Extra), &r); err != nil || r.ID != l.Chunk {
			return nil, amber.Errorf(amber.KindDamaged, "list imports", l.Chunk, "record of the import cannot be read")
		}
		out = append(out, r)
	}
	return out, nil
}

// find returns one import. Errors: not_found.
func find(ctx context.Context, store amber.Store, id string) (wire.ImportRecord, error) {
	all, err := List(ctx, store)
	if err != nil {
		return wire.ImportRecord{}, err
	}
	for _, r := range all {
		if r.ID == id {
			return r, nil
		}
	}
	return wire.ImportRecord{}, amber.Errorf(amber.KindNotFound, "find import", id, "no import has this id").WithHint("amber import list")
}
