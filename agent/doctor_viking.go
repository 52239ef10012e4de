package agent

import (
	"context"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/store/sqlite"
)

// vikingCode is the check of an OpenViking server.
const vikingCode = "openviking"

// vikingProbe is how long the check may take.
const vikingProbe = 30 * time.Second

// checkViking tries the OpenViking server that stands beside the store: health, a write, a find
// and a delete. That it is away is no failure: everything is in the store.
func (d *doctor) checkViking(ctx context.Context, store *sqlite.Store) {
	if d.agent == nil || d.ConfigErr != nil || d.agent.config.BackendOf(amber.LayerLongTerm) != "openviking" {
		return
	}
	c := d.agent.config
	s, client, err := vikingSide{d.agent}.beside(c, store.Parts(), store)
	if err != nil {
		d.judge(vikingCode, err, "")
		return
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, vikingProbe)
	defer cancel()
	var done []string
	for _, step := range s.Probe(ctx) {
		if step.Err != nil {
			hint := amber.HintOf(step.Err)
			if hint == "" {
				hint = "amber index status"
			}
			d.warn(vikingCode, hint, "%s of a probe failed: %v; questions are answered without it", step.Name, step.Err)
			return
		}
		done = append(done, step.Name)
	}
	st, err := s.Status(ctx)
	if err != nil {
		d.judge(vikingCode, err, "")
		return
	}
	tried := strings.Join(done, ", ")
	switch {
	case c.Memory.Backends.OpenViking.Mode == config.VikingDev:
		d.warn(vikingCode, "set memory.backends.openviking.mode to api_key", "%s work on %s %s; it asks nobody for a key: every program on this machine reads and changes what is there", tried, st.URL, st.Version)
	case st.Stopped || len(st.Quarantined) > 0 || st.NoVector > 0 || st.Compare || st.Behind > 0:
		d.warn(vikingCode, "amber index sync", "%s work on %s %s; %d changes wait, %d memories were not taken, %d files have no vector", tried, st.URL, st.Version, st.Behind, len(st.Quarantined)+st.Uncounted, st.NoVector)
	default:
		d.judge(vikingCode, nil, "%s work on %s %s", tried, st.URL, st.Version)
	}
}
