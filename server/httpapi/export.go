package httpapi

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/foreign"
	"github.com/amber-memory/amber/foreign/formats"
	"github.com/amber-memory/amber/foreign/transfer"
	"github.com/amber-memory/amber/internal/redact"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// exportTrailer tells what is in an export, after its last byte.
const exportTrailer = "Amber-Export"

// exportIn says what leaves.
type exportIn struct {
	To       string   `query:"to" doc:"the format"`
	Project  string   `query:"project" doc:"only this project; notes stay then"`
	Users    []string `query:"user" doc:"memories of this user, too; may be repeated"`
	AllUsers bool     `query:"all_users" doc:"memories of every user, too"`
	Private  bool     `query:"private" doc:"passages that are marked private, too"`
}

// exportRoutes give memories to other programs.
func exportRoutes(a *API) {
	o := operation{
		id: "export.download", method: "GET", path: agentPath + "/export", scope: wire.TokenRead, long: true, file: true,
		in: reflect.TypeFor[exportIn](), out: reflect.TypeFor[wire.ForeignExport](),
		summary: "Export memories, conversations and notes in a format that another program reads; a format that writes several files comes as a zip file",
	}
	o.serve = func(a *API, o *operation, w http.ResponseWriter, r *http.Request) {
		var in exportIn
		if _, err := a.bind(r, o, &in); err != nil {
			a.fail(w, r, err)
			return
		}
		a.export(w, r, o, in)
	}
	a.add(o)
}

// export answers with a file. An error before its first byte is an answer as any other; one after it cuts the answer off, so that
// nobody takes a part for the whole.
func (a *API) export(w http.ResponseWriter, r *http.Request, o *operation, in exportIn) {
	ctx, stop := a.watch(w, r, o)
	defer stop()
	out := &fileAnswer{api: a, w: w, packed: acceptsGzip(r)}
	var report wire.ForeignExport
	err := a.do(ctx, o, a.job(r, o), func(ctx context.Context, ag *server.Agent) ([]string, string, error) {
		f, err := in.format()
		out.zip = f.Folder
		if err != nil || r.Method == http.MethodHead {
			return nil, "", err
		}
		report, err = a.writeExport(ctx, ag, f, in, out)
		return nil, "", err
	})
	if err == nil {
		err = out.end(report)
	}
	if revoked := revokedError(ctx); err != nil && revoked != nil {
		err = revoked
	}
	switch {
	case err == nil:
	case errors.Is(err, errGone):
		a.failure(w, r, err)
	case out.begun:
		a.failure(w, r, err)
		panic(http.ErrAbortHandler)
	default:
		a.fail(w, r, err)
	}
}

// format checks the parameters. The error is of kind invalid.
func (i exportIn) format() (foreign.Format, error) {
	errs := []error{amber.CheckOptionalID("project id", i.Project)}
	for _, user := range i.Users {
		errs = append(errs, amber.CheckID("user id", user))
	}
	if err := errors.Join(errs...); err != nil {
		return foreign.Format{}, err
	}
	return formats.Find(i.To, formats.Written())
}

func (a *API) writeExport(ctx context.Context, ag *server.Agent, f foreign.Format, in exportIn, out *fileAnswer) (wire.ForeignExport, error) {
	o := transfer.ExportOptions{
		Project: in.Project, Users: in.Users, AllUsers: in.AllUsers, Private: in.Private,
		Redact: a.leaving(in.Private), Clock: a.o.Clock, Agent: ag.ID,
	}
	if !f.Folder {
		return transfer.Export(ctx, ag.Store, f, o, transfer.Stream(out))
	}
	z := transfer.Zip(out, a.o.Clock())
	report, err := transfer.Export(ctx, ag.Store, f, o, z)
	if err == nil {
		err = z.Close()
	}
	return report, err
}

// leaving returns the rules for what leaves.
func (a *API) leaving(private bool) *redact.Redactor {
	if a.o.Leaving != nil {
		return a.o.Leaving(private)
	}
	r, err := redact.With(redact.Options{KeepPrivate: private})
	if err != nil {
		panic("httpapi: the rules of Amber: " + err.Error())
	}
	return r
}

// fileAnswer is a file that is answered as it is made.
type fileAnswer struct {
	api    *API
	w      http.ResponseWriter
	zip    bool
	packed bool // the caller takes gzip
	begun  bool
	out    io.Writer
	gzip   *gzip.Writer
}

// begin writes the header.
func (f *fileAnswer) begin() {
	f.begun, f.out = true, f.w
	h := f.w.Header()
	shared(h)
	h.Set("Trailer", exportTrailer)
	h.Set("Content-Type", typeBytes)
	switch {
	case f.zip:
		h.Set("Content-Type", typeZip)
	case f.packed:
		h.Set("Content-Encoding", "gzip")
		f.gzip = gzip.NewWriter(f.w)
		f.out = f.gzip
	}
	f.w.WriteHeader(http.StatusOK)
}

// Write implements [io.Writer]. A caller that does not take what is written within the time of a request is cut off.
func (f *fileAnswer) Write(p []byte) (int, error) {
	if !f.begun {
		f.begin()
	}
	defer hurry(f.w, f.api.o.Timeout)()
	n, err := f.out.Write(p)
	if err != nil {
		return n, gone(err)
	}
	return n, nil
}

// end completes the file and tells what is in it.
func (f *fileAnswer) end(report wire.ForeignExport) error {
	if !f.begun {
		f.begin()
	}
	b, err := json.Marshal(report)
	if err != nil {
		return &amber.Error{Op: "write answer", Kind: amber.KindInternal, Err: err}
	}
	f.w.Header().Set(exportTrailer, string(b))
	defer hurry(f.w, f.api.o.Timeout)()
	if f.gzip != nil {
		err = f.gzip.Close()
	}
	if err = errors.Join(err, http.NewResponseController(f.w).Flush()); err != nil {
		return gone(err)
	}
	return nil
}
