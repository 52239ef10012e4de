package repo

import "strings"

// Names of objects:
//
//	packs/<first 2 digits of id>/<id>.pack
//	index/<id>.idx
//
// where id is SHA-256 of the object's bytes.
const (
	packPrefix  = "packs/"
	packSuffix  = ".pack"
	indexPrefix = "index/"
	indexSuffix = ".idx"
)

func packName(id ID) string {
	s := id.String()
	return packPrefix + s[:2] + "/" + s + packSuffix
}

// packID reads the name of an object; ok is false for other objects.
func packID(name string) (id ID, ok bool) {
	base := name[strings.LastIndexByte(name, '/')+1:]
	id, err := ParseID(strings.TrimSuffix(base, packSuffix))
	return id, err == nil && packName(id) == name
}

func indexName(id ID) string { return indexPrefix + id.String() + indexSuffix }

// indexID reads the name of an object; ok is false for other objects.
func indexID(name string) (id ID, ok bool) {
	base := strings.TrimPrefix(name, indexPrefix)
	id, err := ParseID(strings.TrimSuffix(base, indexSuffix))
	return id, err == nil && indexName(id) == name
}
