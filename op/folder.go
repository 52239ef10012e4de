package op

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// FolderList lists the folders whose claim to a project waits for the owner.
var FolderList = do(Row{
	ID: "folder.list", HTTP: "GET /folders", Scope: wire.TokenAdmin, Doc: "List the folders of the machine that claim a project and wait for the owner",
}, func(ctx context.Context, c *Call, _ None) (amber.Page[wire.WaitingFolder], error) {
	folders, err := c.folders()
	if err != nil {
		return amber.Page[wire.WaitingFolder]{}, err
	}
	return items(folders.WaitingFolders(ctx))
})

// FolderTrust confirms what a folder claims.
var FolderTrust = do(Row{
	ID: "folder.trust", HTTP: "POST /folders/trust", Scope: wire.TokenAdmin, Kind: Changes, Doc: "Confirm that a folder belongs to the project that it claims",
}, func(ctx context.Context, c *Call, in Payload[wire.FolderTrust]) (wire.TrustedFolder, error) {
	folders, err := c.folders()
	if err != nil {
		return wire.TrustedFolder{}, err
	}
	done, err := folders.TrustFolder(ctx, in.Body)
	c.Subject = done.Project
	return done, err
})

// folders returns what knows the folders of the machine, for callers that may see every tenant.
func (c *Call) folders() (wire.FolderKeeper, error) {
	const op = "read folders"
	if c.Caller.Grant.Tenant != "" {
		return nil, amber.Errorf(amber.KindRefused, op, "", "the folders of the machine belong to no tenant; this takes a token for every tenant")
	}
	if c.Folders == nil {
		return nil, unsupported(op, "this server knows no folders")
	}
	return c.Folders, nil
}
