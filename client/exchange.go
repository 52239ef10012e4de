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
	"github.com/amber-memory/amber/internal/base/httpcall"
	"github.com/amber-memory/amber/op"
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

// Import sends a file of another program, or a zip or tar.gz of its folder, and imports it there. The file is sent as it is read, once:
// where the answer does not come, import again, and what was stored is passed over. R may be read for a moment after an error. A caller whose token may not read
// is told the id and no counts, and Skips is nil then. Errors: invalid for a file that no format fits, with the names of the
// formats; busy while another import into the agent runs; those of r.
func (a *Agent) Import(ctx context.Context, r io.Reader, o ImportOptions) (wire.ForeignImport, error) {
	return op.ImportUpload.Call(ctx, a, op.ImportIn{
		From: o.From, Name: o.Name, Modified: o.Modified, DryRun: o.DryRun, Project: o.Project, User: o.User, AsOwn: o.AsOwn, Since: o.Since, Only: o.Only,
		Observations: o.Observations, Sensitive: o.Sensitive, Body: op.Upload{Reader: r, Size: o.Size},
	})
}

// upload makes a request whose body is a file, once, and reads the answer into out. The answer is waited for from the last byte of the file on.
func (c *Client) upload(ctx context.Context, r *request, out any) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(longWait, func() { cancel(errSilent) })
	defer silent.Stop()
	body := &sending{r: r.file, came: func() { silent.Reset(longWait) }}
	r.file = body
	resp, err := c.send(ctx, r, "application/json")
	if err != nil {
		if broken := body.failed(); broken != nil {
			err = broken
		}
		return unfinished(err)
	}
	defer drain(resp.Body)
	return unfinished(decode(ctx, resp, out, maxAnswer))
}

// unfinished says what helps after an import whose answer did not come.
func unfinished(err error) error {
	e, ok := errors.AsType[*amber.Error](err)
	if !ok || e.Kind != amber.KindUnreachable || httpcall.NeverSent(err) {
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
	return list(op.ImportList.Call(ctx, a, op.None{}))
}

// UndoImport takes an import back. A record that was edited since stays, and the report names it. Errors:
// not_found; busy while another import into the agent runs.
func (a *Agent) UndoImport(ctx context.Context, id string) (wire.ImportUndo, error) {
	return op.ImportUndo.Call(ctx, a, op.ImportID{ID: id})
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
	return op.ExportDownload.Call(ctx, a, op.ExportIn{
		To: o.To, Project: o.Project, Users: o.Users, AllUsers: o.AllUsers, Private: o.Private, Download: op.Download{Into: w},
	})
}

// download makes a request whose answer is a file, once, writes the file to w and reads what the trailer says of it into out.
func (c *Client) download(ctx context.Context, r *request, w io.Writer, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longWait, errSilent)
	defer cancel()
	resp, err := c.send(ctx, r, "*/*")
	if err != nil {
		return err
	}
	defer drain(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return failure(resp)
	}
	if answerType(resp, "application/octet-stream") != nil {
		if err := answerType(resp, "application/zip"); err != nil {
			return err
		}
	}
	to := &receiving{w: w}
	if _, err := io.Copy(to, resp.Body); err != nil {
		if to.err != nil {
			return to.err
		}
		return brokenOff(ctx, err)
	}
	if told := resp.Trailer.Get("Amber-Export"); told != "" {
		if err := json.Unmarshal([]byte(told), out); err != nil {
			return &amber.Error{Op: "read answer", Kind: amber.KindDamaged, Err: err}
		}
	}
	return nil
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
