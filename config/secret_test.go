package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

const natsURL = "events.nats_url"

// A password of a URL is in the configuration and nowhere else.
func TestAPasswordIsNeverShown(t *testing.T) {
	t.Parallel()
	const set = "nats://ann:hunter2@a:4222, tls://tok3n@b , nats://c"
	const shown = "nats://***@a:4222,tls://***@b,nats://c"
	for way, in := range waysToSet(config.Key{Path: natsURL, Type: config.Servers}, set) {
		if way == "file" {
			in = fileInput("events:\n  nats_url: \"" + set + "\"\n")
		}
		l := load(t, in)
		must.Equal(t, way, l.Config.Events.NATSURL.Reveal(), set)
		must.Equal[any](t, way+", as it is shown", valueOf(t, l, natsURL).Value, shown)
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", l.Config, "url", l.Config.Events.NATSURL)
		inJSON := must.Get(json.Marshal(l.Config))(t)
		for _, text := range []string{
			fmt.Sprint(l), fmt.Sprintf("%+v", l), fmt.Sprintf("%#v", l), fmt.Sprintf("%q", l.Config.Events.NATSURL), string(inJSON), log.String(),
		} {
			for _, word := range []string{"hunter2", "tok3n", "ann"} {
				if strings.Contains(text, word) {
					t.Errorf("%s: %s is in %s", way, word, text)
				}
			}
		}
	}
}

func TestAPasswordIsNeverInAnError(t *testing.T) {
	t.Parallel()
	const pw = "hunter2"
	inputs := map[string]config.Input{}
	for _, text := range []string{
		"events: {nats_url: http://ann:" + pw + "@a}", "events: {nats_url: [nats://ann:" + pw + "@a]}", "events: {nats_url: {nats://ann:" + pw + "@a: 1}}",
		"events: {nats_urls: nats://ann:" + pw + "@a}", "events: {nats://ann:" + pw + "@a: 1}", "events: {nats_url: \"nats://ann:" + pw + "@a}",
		"events: nats://ann:" + pw + "@a", "nats://ann:" + pw + "@a", "events: {nats_creds: nats://ann:" + pw + "@a}", "events: {nats_url: ann:" + pw + "@a}",
		"events:\n  nats_url: nats://ann:" + pw + "@a\n    x: [\n", "events: {nats_url: \"nats://ann:" + pw + "@a, x\"}", "memory: {backend: nats://" + pw + "@a}",
	} {
		inputs[text] = fileInput(text)
	}
	for _, v := range []string{
		"nats://ann:" + pw + "@a/path", "nats://ann:" + pw + "@a?x", "nats://ann:" + pw + "@", "nats://ann:" + pw + "%zz@a", "ftp://ann:" + pw + "@a", "nats://ann:" + pw + "@a:99999",
		"nats://ann:" + pw + "@a,,nats://b", "ann:" + pw + "@a", pw, "nats://ann:" + pw + "@a\x01", "nats://ann:" + pw + "@a#b", strings.Repeat("nats://ann:"+pw+"@a,", 100) + "nats://b",
	} {
		inputs["flag "+v] = config.Input{Flags: map[string]string{natsURL: v}}
		inputs["variable "+v] = config.Input{Environ: []string{"AMBER_EVENTS__NATS_URL=" + v}}
	}
	inputs["listen"] = config.Input{Flags: map[string]string{"server.listen": "nats://ann:" + pw + "@a"}}
	for what, in := range inputs {
		_, err := config.Load(in)
		wantError(t, what, err, amber.KindInvalid)
		if err != nil && strings.Contains(err.Error(), pw) {
			t.Errorf("%q: the error %q holds the password", what, err)
		}
	}
	c := config.Default()
	c.Events.NATSURL = "http://ann:" + pw + "@a"
	err := newHouse(t).Check(c)
	wantError(t, "check", err, amber.KindInvalid, natsURL)
	if strings.Contains(err.Error(), pw) {
		t.Errorf("the error %q holds the password", err)
	}
	if got := fmt.Sprint(config.Secret(pw), config.Secret("nats://a:"+pw+"%zz@b")); strings.Contains(got, pw) {
		t.Errorf("a value that was never checked is shown as %s", got)
	}
}

func TestAddressesAreChecked(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"7411", "localhost", "localhost:", "localhost:http", "localhost:65536", "localhost:-1", "::1:7411", "a b:1", "a/b:1", "unix:/x:1", "a:1:2"} {
		_, err := config.Load(config.Input{Flags: map[string]string{"server.listen": bad}})
		wantError(t, bad, err, amber.KindInvalid, "server.listen")
	}
	for _, good := range []string{"127.0.0.1:7411", ":7411", "[::1]:0", "memory.example.org:443"} {
		load(t, config.Input{Flags: map[string]string{"server.listen": good}})
	}
}
