package nexo

import (
	"encoding/json"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// FuzzFields reads what a file says of a memory: whatever that is, a memory
// that comes of it is one that could have been written here, and is not trusted.
func FuzzFields(f *testing.F) {
	plain := plainMemory(m1, "Title\n\ncontent", `"user"`, t0, []string{"a"}, nil)
	good := plain
	good.Title, good.Content = "Title", ""
	good.ContentDigest = amber.ContentDigest("content")
	raw := must.Get(json.Marshal(memoryFields{Memory: good, Titled: true}))(f)
	body := string(raw)
	if _, ok := believe(body, plain); !ok {
		f.Fatal("the seed is not believed")
	}
	for _, s := range []string{body, "", "{}", "null", "[]", `{"id":"` + m1 + `","titled":true}`} {
		f.Add(s, "Title\n\ncontent", `"user"`)
	}
	f.Fuzz(func(t *testing.T, body, content, kind string) {
		plain := plainMemory(m1, content, kind, t0, []string{"a"}, nil)
		for _, try := range []func() (amber.Memory, bool){
			func() (amber.Memory, bool) { return believe(body, plain) },
			func() (amber.Memory, bool) { return checkMemory(plain) },
		} {
			m, ok := try()
			if !ok {
				continue
			}
			r := amber.WriteRequest{
				Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Title: m.Title, Content: m.Content, Summary: m.Summary,
				Topic: m.Topic, Tags: m.Tags, Metadata: m.Metadata, SourceRefs: m.SourceRefs,
			}
			must.Get(r.Normalize())(t)
			if m.Trust != amber.TrustImported || m.ID != m1 || m.ContentDigest != amber.ContentDigest(m.Content) || !m.DeletedAt.IsZero() {
				t.Errorf("got %+v", m)
			}
			must.Get(json.Marshal(m))(t)
		}
	})
}
