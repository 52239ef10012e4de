package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/store/home"
)

// vaultFilesCode is the check of the vault that this home keeps for the agent.
const vaultFilesCode = "vault_files"

// checkVaultFiles reads every file of the vault that a server keeps for the agent:
// one that is damaged keeps all of them from being listed. An agent without such
// a vault is not told about.
func (d *doctor) checkVaultFiles(ctx context.Context, agent *home.Agent) {
	v, err := shelf.Open(agent, shelf.Options{Clock: d.o.Clock})
	d.judgeVault(ctx, v, err)
}

// checkVaultRows is checkVaultFiles for an agent of a database.
func (d *doctor) checkVaultRows(ctx context.Context, server *postgres.Server) {
	v, err := shelf.OpenRows(server.Vault(d.agent.Tenant(), d.agent.ID()), shelf.Options{Clock: d.o.Clock})
	d.judgeVault(ctx, v, err)
}

func (d *doctor) judgeVault(ctx context.Context, v *shelf.Shelf, err error) {
	if err != nil {
		d.judge(vaultFilesCode, err, "")
		return
	}
	files, damaged, err := v.Check(ctx)
	if err != nil || files == 0 {
		if err != nil {
			d.judge(vaultFilesCode, err, "")
		}
		return
	}
	if len(damaged) > 0 {
		d.judge(vaultFilesCode, damagedFiles(damaged), "")
		return
	}
	d.judge(vaultFilesCode, nil, "%s", words.Count(files, "file, whole", "files, all of them whole"))
}

// damagedFiles says which file is damaged, how many more are, and what mends the
// first.
func damagedFiles(damaged []shelf.Damage) error {
	one := damaged[0]
	e := &amber.Error{Op: "read " + one.Path, Kind: amber.KindOf(one.Err), Err: one.Err}
	if more := len(damaged) - 1; more > 0 {
		e.Err = fmt.Errorf("%w; %d more are damaged", one.Err, more)
	}
	switch {
	case e.Kind == amber.KindTooNew:
		e.Hint = "use the newer Amber"
	case one.Name != "":
		e.Hint = fmt.Sprintf("put or delete %s over the vault's API, or restore a snapshot", strconv.Quote(one.Name))
	case !filepath.IsAbs(one.Path):
		e.Hint = "restore a snapshot"
	default:
		e.Hint = "move the file out of the agent's folder, and have its client back up again; or restore a snapshot"
	}
	return e
}
