package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// ImportOptions say how a file is imported.
type ImportOptions struct {
	From     string     // the format; "": found out from the file
	Name     string     // of the file or folder
	Size     int64      // of the file, so that one that is too large is refused before it is sent; 0: not known
	Modified amber.Time // when the file was last changed; zero: not known
	// Project and User win over what the file says.
	Project, User string
	AsOwn         bool // the file is the caller's own
	DryRun        bool
	Since         amber.Time
	Only          string // "memories,notes"; "": all
	Observations  bool
	Sensitive     bool // also rows that their program marks as sensitive
}

func (o ImportOptions) query() values {
	v := newValues().text("from", o.From).text("name", o.Name).text("project", o.Project).text("user", o.User).text("only", o.Only)
	v.flag("dry_run", o.DryRun).flag("as_own", o.AsOwn).flag("observations", o.Observations).flag("sensitive", o.Sensitive)
	for name, at := range map[string]amber.Time{"modified": o.Modified, "since": o.Since} {
		if !at.IsZero() {
			v.text(name, at.String())
		}
	}
	return v
}

// Import sends a file of another program, or a zip or tar.gz of its folder, and imports it there. The file is sent as it is read, once:
// where the answer does not come, import again, and what was stored is passed over. R may be read for a moment after an error. A caller whose token may not read
// is told the id and no counts, and Skips is nil then. Errors: invalid for a file that no format fits, with the names of the
// formats; busy while another import into the agent runs; those of r.
func (a *Agent) Import(ctx context.Context, r io.Reader, o ImportOptions) (wire.ForeignImport, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(longWait, func() { cancel(errSilent) })
	defer silent.Stop()
	body := &sending{r: r, came: func() { silent.Reset(longWait) }}
	q := request{method: http.MethodPost, path: a.path("imports"), query: o.query().Values, file: body, size: o.Size}
	resp, err := a.c.send(ctx, q, nil, "application/json")
	if err != nil {
		if broken := body.failed(); broken != nil {
			err = broken
		}
		return wire.ForeignImport{}, unfinished(err)
	}
	defer drain(resp.Body)
	report, err := decode[wire.ForeignImport](ctx, resp, maxAnswer)
	if err == nil && report.Format == "" {
		err = incomplete("format")
	}
	return report, unfinished(err)
}

// unfinished says what helps after an import whose answer did not come.
func unfinished(err error) error {
	e, ok := errors.AsType[*amber.Error](err)
	if !ok || e.Kind != amber.KindUnreachable || neverSent(err) {
		return err
	}
	told := *e
	told.Hint = "import again: what was stored is passed over"
	return &told
}

// sending is a body that remembers what went wrong with reading it. It may be read for a moment after the answer has come.
type sending struct {
	r    io.Reader
	came func()
	mu   sync.Mutex
	err  error
}

func (s *sending) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Read implements [io.Reader].
func (s *sending) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.came()
	if err != nil && !errors.Is(err, io.EOF) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = err
	}
	return n, err
}

// Imports returns the imports that were made, oldest first.
func (a *Agent) Imports(ctx context.Context) ([]wire.ImportRecord, error) {
	return list[wire.ImportRecord](ctx, a, nil, "imports")
}

// UndoImport takes an import back. A record that was edited since stays, and the report names it. Errors:
// not_found; busy while another import into the agent runs.
func (a *Agent) UndoImport(ctx context.Context, id string) (wire.ImportUndo, error) {
	report, err := change[wire.ImportUndo](ctx, a.slow(), nil, "imports", id, "undo")
	return report, about(report.ID, id, err)
}

// ExportOptions say what leaves.
type ExportOptions struct {
	To       string // the format
	Project  string // only this one; "": all
	Users    []string
	AllUsers bool
	Private  bool // passages that are marked private, too
}

// Export writes what the agent remembers to w, in a format that another program reads; a format that makes a folder comes as a zip
// file. It is not tried again, since w may hold a part. The report is zero where something between here and the server
// left it out. Errors: invalid, with the names of the formats; unreachable where not all of it came; those of w.
func (a *Agent) Export(ctx context.Context, w io.Writer, o ExportOptions) (wire.ForeignExport, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longWait, errSilent)
	defer cancel()
	v := newValues().text("to", o.To).text("project", o.Project).flag("all_users", o.AllUsers).flag("private", o.Private)
	v.Values["user"] = o.Users
	none := wire.ForeignExport{}
	resp, err := a.c.send(ctx, request{method: http.MethodGet, path: a.path("export"), query: v.Values}, nil, "*/*")
	if err != nil {
		return none, err
	}
	defer drain(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return none, failure(resp)
	}
	if answerType(resp, "application/octet-stream") != nil {
		if err := answerType(resp, "application/zip"); err != nil {
			return none, err
		}
	}
	to := &receiving{w: w}
	if _, err := io.Copy(to, resp.Body); err != nil {
		if to.err != nil {
			return none, to.err
		}
		return none, brokenOff(ctx, err)
	}
	report := none
	if told := resp.Trailer.Get("Amber-Export"); told != "" {
		if err := json.Unmarshal([]byte(told), &report); err != nil {
			return none, &amber.Error{Op: "read answer", Kind: amber.KindDamaged, Err: err}
		}
	}
	return report, nil
}

// receiving remembers what went wrong with writing.
type receiving struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer].
func (r *receiving) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	r.err = err
	return n, err
}
