package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"time"
)

// asset is a file that the server serves for its pages.
type asset struct {
	body   []byte
	kind   string
	digest string // names the file for caches
}

var assetKinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

func readAssets() map[string]asset {
	entries, err := fs.ReadDir(files, "static")
	if err != nil {
		panic("web: " + err.Error()) // it is built in
	}
	assets := map[string]asset{}
	for _, e := range entries {
		body, err := files.ReadFile("static/" + e.Name())
		kind := assetKinds[path.Ext(e.Name())]
		if err != nil || kind == "" {
			continue
		}
		sum := sha256.Sum256(body)
		assets[e.Name()] = asset{body: body, kind: kind, digest: hex.EncodeToString(sum[:8])}
	}
	return assets
}

// assetURL is where a file lies. The digest is in it, so that caches never show
// the file of another version.
func (p *Page) assetURL(name string) string {
	return Root + "/-/static/" + name + "?v=" + p.static[name].digest
}

func (p *Page) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	a, ok := p.static[name]
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	if r.URL.Query().Get("v") == a.digest {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}
