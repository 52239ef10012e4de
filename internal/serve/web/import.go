package web

import (
	"cmp"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
	"github.com/amber-memory/amber/wire"
)

// Bounds of the form that carries a file.
const (
	maxImportFields = 16
	maxImportField  = 1 << 10
)

// importScreen is import and export.
type importScreen struct{ *visit }

func importRoutes(p *Page) {
	p.get("/import", func(v *visit) error { return importScreen{v}.imports(importData{Form: importForm{DryRun: true}}) })
	p.upload("/import", on(importScreen.importFile))
	p.post("/import/{id}/undo", on(importScreen.undoImport))
	p.get("/export", on(importScreen.export))
}

// importData is what the screen of imports shows.
type importData struct {
	Form     importForm
	Problem  string
	Report   *wire.ForeignImport
	Redacted int
	Undone   *wire.ImportUndo
	Readable []foreign.Format
	Writable []foreign.Format
	Imports  []wire.ImportRecord
	Next     int
}

// importForm is what the visitor fills in beside the file.
type importForm struct {
	From, Project, User                    string
	DryRun, AsOwn, Observations, Sensitive bool
}

// options are the form as the API takes it.
func (f importForm) options(name string) client.ImportOptions {
	return client.ImportOptions{From: f.From, Name: name, Project: f.Project, User: f.User, AsOwn: f.AsOwn, DryRun: f.DryRun, Observations: f.Observations, Sensitive: f.Sensitive}
}

func (v importScreen) imports(d importData) error {
	d.Readable = slices.DeleteFunc(slices.Clone(formats.Read()), func(f foreign.Format) bool { return f.Read == nil })
	d.Writable = formats.Written()
	if v.may(wire.TokenRead) {
		all, err := v.remote.Imports(v.r.Context())
		if err != nil {
			return err
		}
		slices.Reverse(all) // newest first
		d.Imports, d.Next = part(all, v.query("from"))
	}
	return v.render("import", screen{Title: "Import and export", Nav: "import", Command: v.command("import", "PATH", "--dry-run")}, d)
}

// importFile reads the form part by part: the value that shows where it comes from, the fields, and the file, which
// goes on to the API as it arrives.
func (v importScreen) importFile() error {
	const op = "read form"
	parts, err := v.r.MultipartReader()
	if err != nil {
		return amber.Errorf(amber.KindInvalid, op, "", "the form is no multipart/form-data: %s", err)
	}
	var form importForm
	for n := range maxImportFields {
		p, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF) && n > 0:
			return v.imports(importData{Form: form, Problem: "No file was chosen."})
		case err != nil:
			return amber.Errorf(amber.KindInvalid, op, "", "part %d of the form cannot be read: %s", n+1, err)
		case n == 0 || p.FormName() != "file":
			if err := v.importField(&form, p, n == 0); err != nil {
				return err
			}
		case p.FileName() == "":
			return v.imports(importData{Form: form, Problem: "No file was chosen."})
		default:
			return v.importPart(form, p)
		}
	}
	return amber.Errorf(amber.KindInvalid, op, "", "the form has more than %d fields and no file", maxImportFields)
}

// importField takes in one field. The first one has to be the value that only pages of this session know.
func (v importScreen) importField(f *importForm, p *multipart.Part, first bool) error {
	b, err := io.ReadAll(io.LimitReader(p, maxImportField+1))
	if err != nil || len(b) > maxImportField {
		return amber.Errorf(amber.KindInvalid, "read form", "", "field %.40q is longer than %d bytes, or cut off", p.FormName(), maxImportField)
	}
	value := strings.TrimSpace(string(b))
	if first {
		if p.FormName() != "csrf" {
			value = ""
		}
		return v.checkValue(value)
	}
	switch p.FormName() {
	case "from":
		f.From = value
	case "project":
		f.Project = value
	case "user":
		f.User = value
	case "dry_run":
		f.DryRun = value != ""
	case "as_own":
		f.AsOwn = value != ""
	case "observations":
		f.Observations = value != ""
	case "sensitive":
		f.Sensitive = value != ""
	}
	return nil
}

// importPart sends the file on and shows what became of it.
func (v importScreen) importPart(form importForm, p *multipart.Part) error {
	report, err := v.remote.Import(v.r.Context(), p, form.options(p.FileName()))
	switch amber.KindOf(err) {
	case "":
	case amber.KindInvalid, amber.KindBusy, amber.KindQuota:
		v.log.forget()
		return v.imports(importData{Form: form, Problem: err.Error()})
	default:
		return err
	}
	d := importData{Form: form, Report: &report}
	d.Form.DryRun = !form.DryRun // what comes next after a dry run
	for _, n := range report.Redacted {
		d.Redacted += n
	}
	return v.imports(d)
}

// undoImport takes an import back after the word was typed.
func (v importScreen) undoImport() error {
	d := importData{Form: importForm{DryRun: true}}
	if v.field("word") != "undo" {
		d.Problem = "The word that was typed is not undo. Nothing was taken back."
		return v.imports(d)
	}
	report, err := v.remote.UndoImport(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	d.Undone = &report
	v.log.forget()
	return v.imports(d)
}

// endings are the ends of the names of exported files, by format.
var endings = map[string]string{"amber": ".jsonl", "mcp-memory": ".jsonl", "plain": ".md", "letta": ".af"}

// export answers with a file in a format that another program reads.
func (v importScreen) export() error {
	f, err := formats.Find(v.query("to"), formats.Written())
	if err != nil {
		return err
	}
	q := url.Values{"to": {f.Name}}
	for _, name := range []string{"project", "all_users", "private"} {
		if value := v.query(name); value != "" {
			q.Set(name, value)
		}
	}
	ending := cmp.Or(endings[f.Name], ".json")
	if f.Folder {
		ending = ".zip"
	}
	w := &attachment{ResponseWriter: v.w, name: string(v.agent) + "-" + f.Name + ending}
	v.w = w
	return v.pass("/v1/tenants/"+url.PathEscape(string(v.tenant))+"/agents/"+url.PathEscape(string(v.agent))+"/export", q)
}

// attachment names an answer that goes well, so that browsers keep it as a file.
type attachment struct {
	http.ResponseWriter
	name string
}

func (a *attachment) WriteHeader(status int) {
	if status == http.StatusOK {
		a.Header().Set("Content-Disposition", `attachment; filename="`+a.name+`"`) // made of an id and the name of a format
	}
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets response controllers through.
func (a *attachment) Unwrap() http.ResponseWriter { return a.ResponseWriter }
