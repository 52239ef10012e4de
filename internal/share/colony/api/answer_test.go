package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestListAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body string
		want []string
		kind amber.Kind
	}{
		"items":                 {body: `{"items":[{"filename":"ob"},{"filename":"oa"}]}`, want: []string{"oa", "ob"}},
		"files":                 {body: `{"files":[{"name":"oa"}]}`, want: []string{"oa"}},
		"strings":               {body: `["oa","ob"]`, want: []string{"oa", "ob"}},
		"files as strings":      {body: `{"files":["oa"]}`, want: []string{"oa"}},
		"mixed":                 {body: ` [{"filename":"oa"},"ob",{"name":"oc"}] `, want: []string{"oa", "ob", "oc"}},
		"wrapped":               {body: `{"result":{"items":["oa"]}}`, want: []string{"oa"}},
		"wrapped list":          {body: `{"result":["oa"]}`, want: []string{"oa"}},
		"wrapped files":         {body: "\n{\"result\":{\"files\":[{\"filename\":\"oa\"}]}}", want: []string{"oa"}},
		"empty":                 {body: `{"items":[]}`},
		"bare empty":            {body: `[]`},
		"wrapped empty":         {body: `{"result":[]}`},
		"others among them":     {body: `["a","oa","z","o"]`, want: []string{"o", "oa"}},
		"twice":                 {body: `["oa","oa"]`, want: []string{"oa"}},
		"unknown members":       {body: `{"items":[{"filename":"oa","folder":{"x":1}}],"cost":1}`, want: []string{"oa"}},
		"times without sense":   {body: `{"items":[{"filename":"oa","created_at":17,"updated_at":"yesterday"}]}`, want: []string{"oa"}},
		"cursor that ends":      {body: `{"items":["oa"],"has_more":false,"next_cursor":"x"}`, want: []string{"oa"}},
		"nothing":               {body: `{}`, kind: amber.KindUnreachable},
		"null list":             {body: `{"items":null}`, kind: amber.KindUnreachable},
		"null result":           {body: `{"result":null}`, kind: amber.KindUnreachable},
		"a text":                {body: `"oa"`, kind: amber.KindUnreachable},
		"object for list":       {body: `{"items":{"oa":{}}}`, kind: amber.KindUnreachable},
		"item without name":     {body: `{"items":[{"filename":"oa"},{"size":1}]}`, kind: amber.KindUnreachable},
		"empty name":            {body: `[""]`, kind: amber.KindUnreachable},
		"null item":             {body: `[null]`, kind: amber.KindUnreachable},
		"number item":           {body: `[1]`, kind: amber.KindUnreachable},
		"size is a text":        {body: `[{"filename":"oa","content_size":"x"}]`, kind: amber.KindUnreachable},
		"half a pair":           {body: `["o\ud800"]`, kind: amber.KindUnreachable},
		"the other half":        {body: `["o\\\udc00"]`, kind: amber.KindUnreachable},
		"halves the wrong way":  {body: `["o\udc00\ud800"]`, kind: amber.KindUnreachable},
		"a pair and a half":     {body: `["o\ud83e\udde0\ud83e"]`, kind: amber.KindUnreachable},
		"a pair":                {body: `["o\uD83E\uDDE0"]`, want: []string{"o\U0001F9E0"}},
		"not a pair at all":     {body: `["o\\ud800","o\u00e9"]`, want: []string{`o\ud800`, "oé"}},
		"counts more":           {body: `{"items":["oa"],"total":2}`, kind: amber.KindUnreachable},
		"counts fewer":          {body: `{"items":["oa","ob"],"total":1}`, want: []string{"oa", "ob"}},
		"more without a cursor": {body: `{"items":["oa"],"has_more":true}`, kind: amber.KindUnsupported},
		"more outside":          {body: `{"result":{"items":["oa"]},"has_more":true}`, kind: amber.KindUnsupported},
		"the same cursor":       {body: `{"items":["oa"],"has_more":true,"next_cursor":"x"}`, kind: amber.KindUnreachable},
		"cursor is a number":    {body: `{"items":["oa"],"next_cursor":7}`, kind: amber.KindUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, c, _ := prepared(t)
			v.forget(at(1, always, says(200, tc.body)))
			files, err := c.List(t.Context(), "o")
			must.Kind(t, "list", err, tc.kind)
			var names []string
			for _, f := range files {
				names = append(names, f.Name)
			}
			must.Equal(t, "names", names, tc.want)
		})
	}
}

func TestStatusAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body string
		want colony.Status
		bad  bool
	}{
		"fresh":            {body: `{"quota_bytes":0,"used_bytes":0,"available_bytes":0,"file_count":0}`},
		"used":             {body: `{"quota_bytes":10,"used_bytes":3,"available_bytes":6,"file_count":2}`, want: colony.Status{QuotaBytes: 10, UsedBytes: 3, AvailableBytes: 6, FileCount: 2}},
		"wrapped":          {body: `{"result":{"quota_bytes":10,"used_bytes":3}}`, want: colony.Status{QuotaBytes: 10, UsedBytes: 3, AvailableBytes: 7}},
		"over":             {body: `{"quota_bytes":10,"used_bytes":30}`, want: colony.Status{QuotaBytes: 10, UsedBytes: 30}},
		"negative room":    {body: `{"quota_bytes":10,"used_bytes":30,"available_bytes":-20}`, want: colony.Status{QuotaBytes: 10, UsedBytes: 30}},
		"nothing":          {body: `{}`, bad: true},
		"no use":           {body: `{"quota_bytes":10}`, bad: true},
		"negative":         {body: `{"quota_bytes":-10,"used_bytes":3}`, bad: true},
		"text":             {body: `{"quota_bytes":"10","used_bytes":3}`, bad: true},
		"list":             {body: `[]`, bad: true},
		"beyond a machine": {body: `{"quota_bytes":99999999999999999999,"used_bytes":3}`, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, c, _ := prepared(t)
			v.forget(at(1, always, says(200, tc.body)))
			got, err := c.Status(t.Context())
			if (amber.KindOf(err) == amber.KindUnreachable) != tc.bad {
				t.Fatalf("got %v", err)
			}
			must.Equal(t, "status", got, tc.want)
		})
	}
}

func TestFileAnswers(t *testing.T) {
	t.Parallel()
	const when = "2026-08-21T01:02:03Z"
	at0 := must.Get(amber.ParseTime(when))(t)
	for name, tc := range map[string]struct {
		body    string
		headers []string
		want    colony.File
		bad     bool
	}{
		"header":         {body: `{"filename":"old","content":"é","etag":"\"b\"","content_size":1,"created_at":"` + when + `"}`, headers: []string{"ETag", `"h"`}, want: colony.File{FileInfo: colony.FileInfo{CreatedAt: at0, Version: `"h"`}, Content: "é"}},
		"body":           {body: `{"content":"x","etag":"\"b\"","updated_at":"2026-08-21T03:02:03+02:00"}`, want: colony.File{FileInfo: colony.FileInfo{UpdatedAt: at0, Version: `"b"`}, Content: "x"}},
		"bare in body":   {body: `{"content":"x","etag":"b","updated_at":"2026-08-21T01:02:03"}`, want: colony.File{FileInfo: colony.FileInfo{UpdatedAt: at0, Version: `"b"`}, Content: "x"}},
		"weak header":    {body: `{"content":"x","etag":"b"}`, headers: []string{"ETag", `W/"h"`}, want: colony.File{FileInfo: colony.FileInfo{Version: `"b"`}, Content: "x"}},
		"none":           {body: `{"name":"old","content":""}`, want: colony.File{FileInfo: colony.FileInfo{Version: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}},
		"odd":            {body: `{"content":"","etag":"a\"b"}`, headers: []string{"ETag", "h"}, want: colony.File{FileInfo: colony.FileInfo{Version: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}},
		"null":           {body: `{"content":"x","etag":null,"created_at":null}`, headers: []string{"ETag", `"h"`}, want: colony.File{FileInfo: colony.FileInfo{Version: `"h"`}, Content: "x"}},
		"wrapped":        {body: `{"result":{"content":"x"}}`, headers: []string{"ETag", `"h"`}, want: colony.File{FileInfo: colony.FileInfo{Version: `"h"`}, Content: "x"}},
		"no content":     {body: `{"filename":"old"}`, bad: true},
		"null content":   {body: `{"filename":"old","content":null}`, bad: true},
		"content object": {body: `{"filename":"old","content":{"a":1}}`, bad: true},
		"half a pair":    {body: `{"filename":"old","content":"a\ud800b"}`, bad: true},
		"other file":     {body: `{"filename":"olds","content":"x"}`, bad: true},
		"list":           {body: `["x"]`, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, c, _ := prepared(t)
			v.forget(at(1, always, says(200, tc.body, tc.headers...)))
			got, err := c.Get(t.Context(), "old")
			if (amber.KindOf(err) == amber.KindUnreachable) != tc.bad {
				t.Fatalf("got %v", err)
			}
			if !tc.bad {
				tc.want.Name, tc.want.Size = "old", int64(len(tc.want.Content))
			}
			must.Equal(t, "file", got, tc.want, cmpopts.EquateComparable(amber.Time{}))
		})
	}
}

// A name is never another path, and a text that JSON would change is not sent.
func TestWhatIsNotSent(t *testing.T) {
	t.Parallel()
	v, c, _ := prepared(t)
	for _, name := range []string{"", "/", "a/", "/a", "a//b", ".", "..", "../status", "a/../b", "a/./b", "a\xff"} {
		_, err := c.Get(t.Context(), name)
		_, err2 := c.Put(t.Context(), name, "x")
		_, err3 := c.PutIf(t.Context(), name, "x", colony.Condition{Absent: true})
		for _, err := range []error{err, err2, err3, c.Delete(t.Context(), name)} {
			must.Kind(t, fmt.Sprintf("%q", name), err, amber.KindInvalid)
		}
	}
	must.Fail(c.Put(t.Context(), "a", "\xff"))(t, "no UTF-8", amber.KindInvalid)
	must.Equal(t, "requests", len(v.requests()), 0)
}

// A vault that counts all files while it lists those of a prefix is asked for
// all of them.
func TestCountOfAllFiles(t *testing.T) {
	t.Parallel()
	v, c, _ := prepared(t)
	v.forget(on("GET", "/vault/files", 1, says(200, `{"items":["oa"],"total":2}`)))
	files, err := c.List(t.Context(), "o")
	if err != nil || len(files) != 1 || files[0].Name != "old" {
		t.Errorf("got %v, %v", files, err)
	}
	must.Equal(t, "requests", strings.Join(v.requests(), ", "), "GET /vault/files, GET /vault/files")
}
