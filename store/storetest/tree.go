package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tree returns v as decoded JSON without nulls and empty values: what two
// stores answer is compared in this form, so that nil and empty are equal.
func tree(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic("storetest: an answer does not marshal: " + err.Error())
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var out any
	if err := dec.Decode(&out); err != nil {
		panic("storetest: an answer does not decode: " + err.Error())
	}
	return prune(out)
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(k string, e any) bool {
			v[k] = prune(e)
			return v[k] == nil
		})
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i, e := range v {
			v[i] = prune(e)
		}
		if len(v) == 0 {
			return nil
		}
	}
	return v
}

// maxDiff bounds the lines of a diff.
const maxDiff = 12

// diff names the places in which two trees differ, "" when they are equal.
func diff(got, want any) string {
	var lines []string
	walkDiff("", got, want, &lines)
	if len(lines) > maxDiff {
		lines = append(lines[:maxDiff], fmt.Sprintf("and %d more", len(lines)-maxDiff))
	}
	return strings.Join(lines, "\n")
}

func walkDiff(path string, got, want any, lines *[]string) {
	if g, w, ok := as[map[string]any](got, want); ok {
		keys := slices.Sorted(maps.Keys(g))
		for k := range w {
			if _, ok := g[k]; !ok {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			walkDiff(path+"."+k, g[k], w[k], lines)
		}
		return
	}
	if g, w, ok := as[[]any](got, want); ok {
		for i := range max(len(g), len(w)) {
			walkDiff(fmt.Sprintf("%s[%d]", path, i), at(g, i), at(w, i), lines)
		}
		return
	}
	if gs, ws := text(got), text(want); gs != ws {
		line := fmt.Sprintf("%s: got %s, want %s", strings.TrimPrefix(path, "."), gs, ws)
		*lines = append(*lines, strings.TrimPrefix(line, ": "))
	}
}

func as[T any](a, b any) (T, T, bool) {
	x, xok := a.(T)
	y, yok := b.(T)
	return x, y, xok && yok
}

func at(s []any, i int) any {
	if i < len(s) {
		return s[i]
	}
	return nil
}

// text renders a tree on one line.
func text(v any) string {
	if v == nil {
		return "nothing"
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic("storetest: a tree does not marshal: " + err.Error())
	}
	return string(b)
}
