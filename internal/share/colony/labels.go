package colony

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// Labels returns the labels that have files in the vault, as [Label] writes them,
// sorted.
func (v *Vault) Labels(ctx context.Context) ([]string, error) {
	files, err := v.b.List(ctx, namePrefix)
	if err != nil {
		return nil, v.wrap("list labels", err)
	}
	found := map[string]bool{}
	for _, f := range files {
		if n, ok := parseName(f.Name); ok {
			found[n.Label] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// Of returns the same vault with another label, as [Label] writes it, and the witness
// of that label, which may be nil.
func (v *Vault) Of(label string, w Witness) *Vault {
	other := *v
	other.label, other.raw, other.o.Witness = label, label, w
	return &other
}

// AgentLabel returns the label of an agent: base for the default agent, and base
// with the agent in it for others, so that agents that share a vault do not share a
// label. The slashes stay in the raw label, so that two agents whose labels become
// the same file name can be reported.
func AgentLabel(base string, tenant amber.TenantID, agent amber.AgentID) string {
	if tenant == amber.DefaultTenant && agent == amber.DefaultAgent {
		return base
	}
	return base + "/" + string(tenant) + "/" + string(agent)
}

// maxLabels is how many labels a hint lists.
const maxLabels = 20

// NameLabels returns err with a hint that lists the other labels of the vault, if
// err says that a label has no snapshot: the caller may have meant one of them.
// Every other error is returned as it is.
func (v *Vault) NameLabels(ctx context.Context, err error) error {
	var e *amber.Error
	if amber.KindOf(err) != amber.KindNotFound || !errors.As(err, &e) {
		return err
	}
	labels, listErr := v.Labels(ctx)
	labels = slices.DeleteFunc(labels, func(l string) bool { return l == v.label })
	if listErr != nil || len(labels) == 0 {
		return err
	}
	listed := strings.Join(labels[:min(len(labels), maxLabels)], ", ")
	if more := len(labels) - maxLabels; more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	named := *e
	named.Hint = "--label NAME; the vault has snapshots under these labels: " + listed
	return &named
}
