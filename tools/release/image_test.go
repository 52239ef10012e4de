package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
)

// checkImage reads an archive as skopeo and docker do, checks every digest and size in it, and returns the files of
// the image for each architecture.
func checkImage(t *testing.T, archive []byte) map[string]map[string][]byte {
	t.Helper()
	_, _, files := untar(t, bytes.NewReader(archive))
	must.Equal(t, "layout", string(files["oci-layout"]), `{"imageLayoutVersion":"1.0.0"}`)
	blob := func(d descriptor) []byte {
		t.Helper()
		b, ok := files[blobPath(d)]
		must.Hold(t, ok && digestOf(b) == d.Digest[len("sha256:"):] && len(b) == d.Size, "blob %s: %d bytes, want %d of that digest", d.Digest, len(b), d.Size)
		return b
	}
	decode := func(b []byte, v any) { t.Helper(); must.Do(t, json.Unmarshal(b, v)) }

	var top, index imageIndex
	decode(files["index.json"], &top)
	must.Equal(t, "images", len(top.Manifests), 1)
	decode(blob(top.Manifests[0]), &index)
	var list []loaded
	decode(files["manifest.json"], &list)
	must.Equal(t, "images of docker load", len(list), len(index.Manifests))
	out := map[string]map[string][]byte{}
	for i, d := range index.Manifests {
		var m imageManifest
		decode(blob(d), &m)
		var c imageConfig
		decode(blob(m.Config), &c)
		must.Equal(t, "platform", *d.Platform, platform{c.Architecture, c.OS})
		must.Equal(t, "layers", len(m.Layers), 1)
		layer := blob(m.Layers[0])
		var tree bytes.Buffer
		must.Get(tree.ReadFrom(ungzip(t, layer)))(t)
		must.Equal(t, "diff ids", c.RootFS.DiffIDs, []string{"sha256:" + digestOf(tree.Bytes())})
		must.Equal(t, "docker load", []string{list[i].Config, list[i].Layers[0]}, []string{blobPath(m.Config), blobPath(m.Layers[0])})
		must.Equal(t, "user", c.Config.User, "10001:10001")
		names, headers, data := untar(t, &tree)
		must.Equal(t, "first file", names[0], "data/")
		must.Equal(t, "owner and mode of the data", []int64{int64(headers["data/"].Uid), headers["data/"].Mode}, []int64{10001, 0o700})
		must.Equal(t, "mode of the program", headers["usr/local/bin/amber"].Mode, 0o755)
		must.Equal(t, "entry point", "/usr/local/bin/amber", c.Config.Entrypoint[0])
		out[c.Architecture] = data
	}
	return out
}

func TestImage(t *testing.T) {
	t.Parallel()
	v := must.Get(parseVersion("v1.2.3"))(t)
	v.Time = time.Unix(1795003200, 0).UTC()
	programs := map[string][]byte{"amd64": []byte("one"), "arm64": []byte("two")}
	archive := must.Get(imageOf(theFacts(), v, programs, []byte("certificates")))(t)
	again := must.Get(imageOf(theFacts(), v, programs, []byte("certificates")))(t)
	must.Hold(t, bytes.Equal(archive, again), "the image has other bytes when it is made again")
	files := checkImage(t, archive)
	for arch, program := range programs {
		must.Equal(t, arch, string(files[arch]["usr/local/bin/amber"]), string(program))
		must.Equal(t, arch+": certificates", string(files[arch]["etc/ssl/certs/ca-certificates.crt"]), "certificates")
		must.Says(t, arch+": users", string(files[arch]["etc/passwd"]), "amber:x:10001:10001:")
	}
	without := checkImage(t, must.Get(imageOf(theFacts(), v, programs, nil))(t))
	_, ok := without["amd64"]["etc/ssl/certs/ca-certificates.crt"]
	must.Hold(t, !ok, "an image without certificates has a file of them")
}
