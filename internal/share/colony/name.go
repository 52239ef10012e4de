package colony

import (
	"fmt"
	"strconv"
	"strings"
)

// nameKind says what a file of a vault is.
type nameKind string

// The kinds of files in a vault.
const (
	latestFile   nameKind = "latest"   // the pointer of a label
	manifestFile nameKind = "manifest" // of a snapshot
	partFile     nameKind = "part"     // of a snapshot
)

// fileName is the name of a file, taken apart.
type fileName struct {
	Label string
	Kind  nameKind
	ID    SnapshotID // "" for the pointer
	Seq   int        // of a part
}

const (
	namePrefix = "cmem."
	nameSuffix = ".json"
	maxSeq     = 1_000_000
)

// Prefix is how the names of all files of a label begin.
func Prefix(label string) string { return namePrefix + label + "." }

// LatestName returns the name of the pointer of a label.
func LatestName(label string) string { return Prefix(label) + "latest" + nameSuffix }

// ManifestName returns the name of the manifest of a snapshot.
func ManifestName(label string, id SnapshotID) string {
	return Prefix(label) + string(id) + ".manifest" + nameSuffix
}

// PartName returns the name of a part of a snapshot; they are counted from 0.
func PartName(label string, id SnapshotID, seq int) string {
	return fmt.Sprintf("%s%s.p%d%s", Prefix(label), id, seq, nameSuffix)
}

// parseName takes a name apart. It reports false for every name that the three
// functions above do not make from a label that [Label] makes.
func parseName(name string) (fileName, bool) {
	rest, begins := strings.CutPrefix(name, namePrefix)
	rest, ends := strings.CutSuffix(rest, nameSuffix)
	element := strings.Split(rest, ".")
	if !begins || !ends || len(element) < 2 || Label(element[0]) != element[0] {
		return fileName{}, false
	}
	n := fileName{Label: element[0], Kind: latestFile}
	if len(element) == 2 {
		return n, element[1] == "latest"
	}
	id, err := ParseSnapshotID(element[1])
	if err != nil || len(element) != 3 {
		return fileName{}, false
	}
	n.ID, n.Kind = id, manifestFile
	if element[2] == "manifest" {
		return n, true
	}
	n.Kind = partFile
	n.Seq, err = strconv.Atoi(strings.TrimPrefix(element[2], "p"))
	if err != nil || n.Seq < 0 || n.Seq >= maxSeq || PartName(n.Label, n.ID, n.Seq) != name {
		return fileName{}, false
	}
	return n, true
}
