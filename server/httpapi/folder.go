package httpapi

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// folderRoutes serve the folders of the machine whose claim to a project waits for the owner.
func folderRoutes(a *API) {
	handle(a, operation{
		id: "folder.list", method: "GET", path: agentPath + "/folders", scope: wire.TokenAdmin,
		summary: "List the folders of the machine that claim a project and wait for the owner",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Page[wire.WaitingFolder]], error) {
		folders, err := foldersOf(ctx, ag)
		if err != nil {
			return answer[amber.Page[wire.WaitingFolder]]{}, err
		}
		return items(folders.WaitingFolders(ctx))
	})

	handle(a, operation{
		id: "folder.trust", method: "POST", path: agentPath + "/folders/trust", scope: wire.TokenAdmin, mutates: true,
		summary: "Confirm that a folder belongs to the project that it claims",
	}, func(ctx context.Context, ag *server.Agent, in payload[wire.FolderTrust]) (answer[wire.TrustedFolder], error) {
		folders, err := foldersOf(ctx, ag)
		if err != nil {
			return answer[wire.TrustedFolder]{}, err
		}
		done, err := folders.TrustFolder(ctx, in.Body)
		return answer[wire.TrustedFolder]{body: done, subject: done.Project}, err
	})
}

// foldersOf returns what knows the folders of the machine, for callers that may see every tenant.
func foldersOf(ctx context.Context, ag *server.Agent) (wire.FolderKeeper, error) {
	const op = "read folders"
	if server.CallerOf(ctx).Grant.Tenant != "" {
		return nil, amber.Errorf(amber.KindRefused, op, "", "the folders of the machine belong to no tenant; this takes a token for every tenant")
	}
	if ag.Folders == nil {
		return nil, unsupported(op, "this server knows no folders")
	}
	return ag.Folders, nil
}
