package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// bom is a list of what is in a binary, as CycloneDX 1.6 wants it.
type bom struct {
	Format       string         `json:"bomFormat"`
	SpecVersion  string         `json:"specVersion"`
	SerialNumber string         `json:"serialNumber"`
	Version      int            `json:"version"`
	Metadata     bomMetadata    `json:"metadata"`
	Components   []bomComponent `json:"components"`
	Dependencies []bomDepends   `json:"dependencies"`
}

type bomMetadata struct {
	Timestamp  string        `json:"timestamp"`
	Component  bomComponent  `json:"component"`
	Properties []bomProperty `json:"properties,omitempty"`
}

type bomComponent struct {
	Ref        string        `json:"bom-ref"`
	Type       string        `json:"type"`
	Name       string        `json:"name"`
	Version    string        `json:"version"`
	Purl       string        `json:"purl"`
	Licenses   []bomLicence  `json:"licenses,omitempty"`
	Hashes     []bomHash     `json:"hashes,omitempty"`
	Properties []bomProperty `json:"properties,omitempty"`
}

type bomLicence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type bomHash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type bomProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type bomDepends struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// writeSBOMs writes, for each binary, what the Go tool has noted in it. It does not use the network.
func writeSBOMs(_ context.Context, r *release) error {
	for _, t := range r.targets {
		program, err := os.ReadFile(r.binary(t))
		if err != nil {
			return err
		}
		info, err := buildinfo.ReadFile(r.binary(t))
		if err != nil {
			return fmt.Errorf("read what is in %s: %w", r.binary(t), err)
		}
		b, err := json.MarshalIndent(bomOf(r.facts, r.version, program, info), "", " ")
		if err == nil {
			err = r.write(r.stem(t)+".cdx.json", append(b, '\n'))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func bomOf(f facts, v version, program []byte, info *debug.BuildInfo) bom {
	sum := sha256.Sum256(program)
	self := bomComponent{
		Type: "application", Name: f.Name, Version: v.Number, Purl: "pkg:golang/" + info.Main.Path + "@" + v.Number,
		Licenses: make([]bomLicence, 1), Hashes: []bomHash{{"SHA-256", fmt.Sprintf("%x", sum)}},
	}
	self.Ref, self.Licenses[0].Licence.ID = self.Purl, f.Licence
	out := bom{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1, SerialNumber: "urn:uuid:" + uuidOf(sum),
		Metadata: bomMetadata{Timestamp: v.Time.Format(time.RFC3339), Component: self},
	}
	for _, s := range info.Settings {
		out.Metadata.Properties = append(out.Metadata.Properties, bomProperty{"go:build:" + s.Key, s.Value})
	}
	std := bomComponent{Type: "library", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
	std.Purl = "pkg:golang/std@" + std.Version
	std.Ref = std.Purl
	out.Components = append(out.Components, std)
	for _, d := range info.Deps {
		out.Components = append(out.Components, componentOf(d))
	}
	depends := bomDepends{Ref: self.Ref}
	for _, c := range out.Components {
		depends.DependsOn = append(depends.DependsOn, c.Ref)
	}
	out.Dependencies = []bomDepends{depends}
	return out
}

func componentOf(m *debug.Module) bomComponent {
	c := bomComponent{Type: "library", Name: m.Path, Version: m.Version}
	if m.Replace != nil {
		c.Properties = append(c.Properties, bomProperty{"go:replaces", m.Path + "@" + m.Version})
		m = m.Replace
		c.Name, c.Version = m.Path, m.Version
	}
	c.Purl = "pkg:golang/" + c.Name + "@" + c.Version
	c.Ref = c.Purl
	if m.Sum != "" {
		c.Properties = append(c.Properties, bomProperty{"go:sum", m.Sum})
	}
	return c
}

// uuidOf makes a UUID of version 8 from a digest: the same binary has the same list.
func uuidOf(sum [sha256.Size]byte) string {
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
