package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"
)

// The media types of OCI.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor names bytes of an image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type imageIndex struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Manifests     []descriptor      `json:"manifests"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type imageManifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type imageConfig struct {
	Created      string `json:"created"`
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
	Config       struct {
		User         string
		ExposedPorts map[string]struct{}
		Env          []string
		Entrypoint   []string
		Cmd          []string
		Volumes      map[string]struct{}
		WorkingDir   string
		Labels       map[string]string
		StopSignal   string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []imageHistory `json:"history"`
}

type imageHistory struct {
	Created   string `json:"created"`
	CreatedBy string `json:"created_by"`
}

// loaded is what docker load reads of an archive, for one architecture.
type loaded struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// layout is an image being put together: an OCI layout whose blobs are named by their digests.
type layout struct {
	blobs map[string][]byte
	list  []loaded
}

// add keeps bytes and names them.
func (l *layout) add(mediaType string, data []byte) descriptor {
	name := digestOf(data)
	l.blobs[name] = data
	return descriptor{MediaType: mediaType, Digest: "sha256:" + name, Size: len(data)}
}

func (l *layout) addJSON(mediaType string, v any) (descriptor, error) {
	b, err := json.Marshal(v)
	return l.add(mediaType, b), err
}

func blobPath(d descriptor) string { return "blobs/sha256/" + d.Digest[len("sha256:"):] }

// writeImage writes one archive with the image for both architectures: an OCI layout, which skopeo, podman, containerd
// and docker read, with the list that docker load of older versions wants. No daemon is asked.
func writeImage(_ context.Context, r *release) error {
	targets := r.of("linux")
	if len(targets) == 0 {
		return nil
	}
	programs := map[string][]byte{}
	for _, t := range targets {
		b, err := os.ReadFile(r.binary(t))
		if err != nil {
			return err
		}
		programs[t.Arch] = b
	}
	b, err := imageOf(r.facts, r.version, programs, r.certificates)
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("%s_%s_image.tar", r.Name, r.Number), b)
}

// imageOf is the archive of an image with these programs, by architecture.
func imageOf(f facts, v version, programs map[string][]byte, certificates []byte) ([]byte, error) {
	l := &layout{blobs: map[string][]byte{}}
	index := imageIndex{SchemaVersion: 2, MediaType: typeIndex, Annotations: annotations(f, v)}
	for _, arch := range slices.Sorted(maps.Keys(programs)) {
		d, err := l.addArch(f, v, arch, programs[arch], certificates)
		if err != nil {
			return nil, err
		}
		index.Manifests = append(index.Manifests, d)
	}
	whole, err := l.addJSON(typeIndex, index)
	if err != nil {
		return nil, err
	}
	whole.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": v.Number,
		"io.containerd.image.name":          f.Image + ":" + v.Number,
	}
	top, err := json.Marshal(imageIndex{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{whole}})
	if err != nil {
		return nil, err
	}
	list, err := json.Marshal(l.list)
	if err != nil {
		return nil, err
	}
	entries := []entry{
		{name: "oci-layout", mode: 0o644, data: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{name: "index.json", mode: 0o644, data: top},
		{name: "manifest.json", mode: 0o644, data: list},
		{name: "blobs/", mode: 0o755},
		{name: "blobs/sha256/", mode: 0o755},
	}
	for _, name := range slices.Sorted(maps.Keys(l.blobs)) {
		entries = append(entries, entry{name: "blobs/sha256/" + name, mode: 0o644, data: l.blobs[name]})
	}
	return tarOf(v.Time, entries)
}

func annotations(f facts, v version) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       f.Name,
		"org.opencontainers.image.description": f.Title,
		"org.opencontainers.image.licenses":    f.Licence,
		"org.opencontainers.image.source":      f.Homepage,
		"org.opencontainers.image.version":     v.Number,
		"org.opencontainers.image.revision":    v.Commit,
		"org.opencontainers.image.created":     v.Time.Format(time.RFC3339),
	}
}

// addArch adds the image for one architecture.
func (l *layout) addArch(f facts, v version, arch string, program, certificates []byte) (descriptor, error) {
	tree, err := tarOf(v.Time, imageFiles(f, program, certificates))
	if err != nil {
		return descriptor{}, err
	}
	packed, err := gzipOf(tree)
	if err != nil {
		return descriptor{}, err
	}
	layer := l.add(typeLayer, packed)
	config, err := l.addJSON(typeConfig, configOf(f, v, arch, "sha256:"+digestOf(tree)))
	if err != nil {
		return descriptor{}, err
	}
	l.list = append(l.list, loaded{
		Config: blobPath(config), Layers: []string{blobPath(layer)},
		RepoTags: []string{fmt.Sprintf("%s:%s-%s", f.Image, v.Number, arch)},
	})
	d, err := l.addJSON(typeManifest, imageManifest{
		SchemaVersion: 2, MediaType: typeManifest, Config: config, Layers: []descriptor{layer}, Annotations: annotations(f, v),
	})
	d.Platform = &platform{arch, "linux"}
	return d, err
}

// imageFiles is everything in the image.
func imageFiles(f facts, program, certificates []byte) []entry {
	user := fmt.Sprintf("root:x:0:0:root:/:/\n%s:x:%d:%d:%s:%s:/\n", f.Name, f.UID, f.UID, f.Name, f.ImageData)
	out := []entry{
		{name: f.ImageData[1:] + "/", mode: 0o700, uid: f.UID},
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: fmt.Appendf(nil, "root:x:0:\n%s:x:%d:\n", f.Name, f.UID)},
		{name: "etc/passwd", mode: 0o644, data: []byte(user)},
	}
	if len(certificates) > 0 {
		out = append(out, entry{name: "etc/ssl/", mode: 0o755}, entry{name: "etc/ssl/certs/", mode: 0o755},
			entry{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: certificates})
	}
	return append(out, entry{name: "tmp/", mode: 0o1777}, entry{name: "usr/", mode: 0o755}, entry{name: "usr/local/", mode: 0o755},
		entry{name: "usr/local/bin/", mode: 0o755}, entry{name: "usr/local/bin/" + f.Name, mode: 0o755, data: program})
}

func configOf(f facts, v version, arch, diffID string) imageConfig {
	c := imageConfig{Created: v.Time.Format(time.RFC3339), Architecture: arch, OS: "linux"}
	c.Config.User = fmt.Sprintf("%d:%d", f.UID, f.UID)
	c.Config.ExposedPorts = map[string]struct{}{fmt.Sprintf("%d/tcp", f.Port): {}}
	c.Config.Env = []string{"PATH=/usr/local/bin", "AMBER_HOME=" + f.ImageData, "HOME=" + f.ImageData}
	c.Config.Entrypoint = []string{"/usr/local/bin/" + f.Name}
	c.Config.Cmd = f.ServeArgs()
	c.Config.Volumes = map[string]struct{}{f.ImageData: {}}
	c.Config.WorkingDir = f.ImageData
	c.Config.Labels = annotations(f, v)
	c.Config.StopSignal = "SIGTERM"
	c.RootFS.Type, c.RootFS.DiffIDs = "layers", []string{diffID}
	c.History = []imageHistory{{Created: c.Created, CreatedBy: "make release"}}
	return c
}

// ServeArgs is how a server in a container is started: it listens beyond the container, so it asks for a token.
func (f facts) ServeArgs() []string {
	return []string{"serve", "--listen", fmt.Sprintf("0.0.0.0:%d", f.Port), "--behind-proxy", "--log-json"}
}
