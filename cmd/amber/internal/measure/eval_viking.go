package measure

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/store/openviking"
)

// Prefix begins the names of agents that an evaluation makes.
const Prefix = "eval-"

// evalName names an agent that no user has: its files on a server that others use lie beside theirs, and are
// deleted afterwards.
func evalName(random io.Reader) (amber.AgentID, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", &amber.Error{Op: "name temporary agent", Kind: amber.KindInternal, Err: err}
	}
	return amber.AgentID(Prefix + hex.EncodeToString(b[:])), nil
}

// Server is the OpenViking server that was asked beside the primary.
type Server struct {
	URL      string  `json:"url"`
	MinScore float64 `json:"min_score"`
	Fusion   string  `json:"fusion"`
}

func (s Server) print(w io.Writer) {
	fmt.Fprintf(w, "backend: openviking at %s, min_score %.4g, fusion %s\n", cli.Flat(s.URL), s.MinScore, s.Fusion)
}

// besideViking returns the server that a configuration puts beside the store, nil where there is
// none. Errors: refused where its key would be looked for under the name of the temporary agent.
func besideViking(c config.Config) (*Server, error) {
	if c.BackendOf(amber.LayerLongTerm) != vikingBackend {
		return nil, nil
	}
	o := c.Memory.Backends.OpenViking
	if o.KeyFile == "" && (o.Mode == config.VikingKey || o.Mode == config.VikingTrusted && o.KeysDir != "") {
		return nil, amber.Errorf(amber.KindRefused, "evaluate", "memory.backends.openviking.key_file",
			"it is empty, and an evaluation has an agent of its own, which has no key").
			WithHint("name the file with the key of an agent; its files on the server are not touched")
	}
	return &Server{URL: o.URL, MinScore: o.MinScore, Fusion: string(o.Fusion)}, nil
}

// vikingBackend is the name of the backend with a server.
const vikingBackend = "openviking"

// withoutViking puts the primary in the place of an OpenViking server, and reports whether there
// was one.
func withoutViking(c config.Config, settings map[string]string) (had bool) {
	for _, l := range amber.Layers() {
		if c.BackendOf(l) == vikingBackend {
			settings["memory.layers."+string(l)+".backend"], had = c.Memory.Backends.OpenViking.Primary, true
		}
	}
	return had
}

// feed gives the server everything, vectors included: what it lacks is an error here.
func (e *evalAgent) feed(ctx context.Context) error {
	v := e.Viking()
	if v == nil {
		return nil
	}
	if _, err := v.Feed(ctx, openviking.Budget{Force: true}); err != nil {
		return err
	}
	st, err := v.Status(ctx)
	if err != nil {
		return err
	}
	if n := len(st.Quarantined); n > 0 {
		return amber.Errorf(amber.KindInvalid, "feed openviking", st.URL, "the server did not take %d memories of the set: %s", n+st.Uncounted, st.Quarantined[0].Reason)
	}
	return v.Await(ctx, nil)
}

// evalLeave is how long an evaluation tries to delete its files on a server.
const evalLeave = 30 * time.Second

// leave deletes the files on the server, also after an interruption.
func (e *evalAgent) leave() {
	v := e.Viking()
	if v == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), evalLeave)
	defer cancel()
	if err := v.Remove(ctx); err != nil {
		e.warn(fmt.Sprintf("files of the evaluation stay on the OpenViking server: %v", err))
	}
}
