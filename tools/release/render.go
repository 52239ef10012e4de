package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed all:templates
var templates embed.FS

// where is what differs between the places that a template is used in.
type where struct {
	Program     string // the path of the program for the system unit
	UserProgram string // and for the user's
	Arch        string
	Binary      string // the file that was built
	Folder      string // of the files of a package
	Source      string // of the licence
	FromSource  bool   // docs/deploy: images are built from the sources
	Sums        map[string]string
	Key, PEM    string
}

// page is what templates see.
type page struct {
	facts
	version
	where
	Base string // where a release is downloaded from
}

// render fills a template in. Its marks are [[ and ]], because charts have {{ and }} of their own.
func render(name string, p page) ([]byte, error) {
	text, err := templates.ReadFile("templates/" + name)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Delims("[[", "]]").Option("missingkey=error").Funcs(template.FuncMap{
		"json":   func(v any) (string, error) { b, err := json.Marshal(v); return string(b), err },
		"indent": func(n int, s string) string { return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n)) },
		"list":   func(words []string) string { return `["` + strings.Join(words, `", "`) + `"]` },
	}).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}

func (r *release) render(name string, w where) ([]byte, error) {
	return render(name, page{r.facts, r.version, w, r.base})
}

// writeDeploy writes the compose file and the chart. Units are in the archives and the packages.
func writeDeploy(_ context.Context, r *release) error {
	b, err := r.render("compose.yaml", where{})
	if err == nil {
		err = r.write("compose.yaml", b)
	}
	if err != nil {
		return err
	}
	files, err := chartFiles(page{r.facts, r.version, where{}, r.base})
	if err != nil {
		return err
	}
	packed, err := tarOf(r.Time, files)
	if err == nil {
		packed, err = gzipOf(packed)
	}
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("%s-%s.tgz", r.Name, r.Number), packed) // the name that helm gives it
}

// chartFiles are the files of the chart, in a folder named after it.
func chartFiles(p page) (out []entry, err error) {
	err = fs.WalkDir(templates, "templates/chart", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := render(strings.TrimPrefix(path, "templates/"), p)
		name := strings.TrimPrefix(path, "templates/chart/")
		out = append(out, entry{name: p.Name + "/" + name, mode: 0o644, data: b})
		return err
	})
	return out, err
}

// writeFormula writes the formula of Homebrew, with the checksums of the archives.
func writeFormula(_ context.Context, r *release) error {
	sums := map[string]string{}
	for _, t := range theTargets() {
		if t.OS == "windows" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(r.dist, r.archiveName(t)))
		if os.IsNotExist(err) {
			fmt.Fprintf(r.out, "   no formula: %s is not built\n", t)
			return nil
		}
		if err != nil {
			return err
		}
		sums[t.OS+"_"+t.Arch] = digestOf(b)
	}
	b, err := r.render("amber.rb", where{Sums: sums})
	if err != nil {
		return err
	}
	return r.write("amber.rb", b)
}

// writeInstallScript writes the install script with this version, its place and the key that signs.
func writeInstallScript(_ context.Context, r *release) error {
	text, err := r.read("scripts/install.sh")
	if err != nil {
		return err
	}
	public, err := os.ReadFile(filepath.Join(r.dist, keyPEMName))
	if err != nil {
		return err
	}
	b, err := installScript(text, r.Number, r.base, string(r.signer.KeyID()), strings.TrimSpace(string(public)))
	if err != nil {
		return err
	}
	return put(r.dist, "install.sh", 0o755, b)
}

// installScript sets the variables at the head of the script.
func installScript(text []byte, number, base, key, public string) ([]byte, error) {
	out := string(text)
	for _, v := range [][2]string{{"RELEASE_VERSION", number}, {"RELEASE_BASE", base}, {"RELEASE_KEY", key}, {"RELEASE_PEM", public}} {
		line := v[0] + "=''\n"
		if strings.Count(out, "\n"+line) != 1 {
			return nil, fmt.Errorf("scripts/install.sh has no line %s", strings.TrimSpace(line))
		}
		if strings.Contains(v[1], "'") {
			return nil, fmt.Errorf("%s has a quote: %s", v[0], v[1])
		}
		out = strings.Replace(out, "\n"+line, "\n"+v[0]+"='"+v[1]+"'\n", 1)
	}
	return []byte(out), nil
}

// deployNames are the files of docs/deploy that are made from templates.
var deployNames = []string{"Containerfile", "amber.service", "amber-user.service", "compose.yaml"}

// deployFile is a file of docs/deploy: for a program that was built from the sources.
func deployFile(name string) ([]byte, error) {
	return render(name, page{theFacts(), version{Number: "latest"}, where{Program: "/usr/local/bin/amber", UserProgram: "%h/.local/bin/amber", FromSource: true}, ""})
}

// deployFromSource writes the files of docs/deploy.
func deployFromSource(dir string) error {
	for _, name := range deployNames {
		b, err := deployFile(name)
		if err == nil {
			err = put(dir, name, 0o644, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
