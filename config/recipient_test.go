package config_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// Public keys, and one that is secret, made for these tests.
const (
	ann       = "age1xm2jps2s7jk8vyv7xflpevpk9s03gdyg3x2fasqth80kstxp8a9qk0nl3s"
	bob       = "age1nwgg8kekejc7sy5ff25mzju4w5wutaqvcrkf3hnr0me45pkh3syqs5dha7"
	ssh       = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB9rTT7Nm4epN+R+uTg8/4Z7aZPckzCsiEHaYnMISbQ9 ann@shop"
	secretKey = "AGE-SECRET-KEY-1WRHYU4XH5M60L86PQPA9DJYZU3V4YK9KLLFE03L478TFDR9XKC7QYZY955"

	recipients = "snapshot.encryption.recipients"
)

func TestRecipientsAreRead(t *testing.T) {
	t.Parallel()
	in := fileInput("snapshot:\n  encryption:\n    recipients:\n      - " + ann + "\n      - " + bob + "\n")
	want := []string{ann, bob}
	must.Equal(t, "file", load(t, in).Config.Snapshot.Encryption.Recipients, want)
	in.Environ = []string{"AMBER_SNAPSHOT__ENCRYPTION__RECIPIENTS= " + bob + ", ," + ann + " "}
	want = []string{bob, ann}
	must.Equal(t, "environment", load(t, in).Config.Snapshot.Encryption.Recipients, want)
	none := load(t, fileInput("snapshot: {encryption: {recipients: []}}"))
	if got := none.Config.Snapshot.Encryption.Recipients; len(got) != 0 {
		t.Errorf("an empty list is %v", got)
	}
}

func TestBadRecipientsAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		words       []string
	}{
		{"no key", "bob@shop", []string{"number 1"}},
		{"torn", ann + "," + bob[:40], []string{"number 2"}},
		{"changed", strings.Replace(ann, "q", "p", 1), []string{"number 1"}},
		{"twice", ann + "," + ann, []string{"twice"}},
		{"a secret", ann + "," + secretKey, []string{"number 2", "secret"}},
		{"a secret in small letters", strings.ToLower(secretKey), []string{"number 1"}},
	} {
		for way, in := range waysToSet(config.Key{Path: recipients, Type: config.Recipients}, tt.value) {
			_, err := config.Load(in)
			wantError(t, tt.name+" "+way, err, amber.KindInvalid, append(tt.words, recipients)...)
			if err != nil && strings.Contains(strings.ToLower(err.Error()), strings.ToLower(tt.value[:8])) {
				t.Errorf("%s %s: the error %q repeats what was written", tt.name, way, err)
			}
		}
	}
	many := strings.Repeat(ann+",", 100)
	_, err := config.Load(config.Input{Flags: map[string]string{recipients: many}})
	wantError(t, "the same again and again", err, amber.KindInvalid, recipients)
}

// A secret key that was written in the wrong place is not repeated.
func TestASecretKeyIsNeverQuoted(t *testing.T) {
	t.Parallel()
	files := []string{
		"snapshot: {encryption: {recipients: " + secretKey + "}}",
		"snapshot: {encryption: {recipients: [" + secretKey + "]}}",
		"snapshot: {encryption: {recipients: [[" + secretKey + "]]}}",
		"snapshot: {encryption: {recipients: {" + secretKey + ": 1}}}",
		"snapshot: {encryption: {identity: " + secretKey + "}}",
		"snapshot: {encryption: {identity: [" + secretKey + "]}}",
		"snapshot: {encryption: {identity: " + strings.ToLower(secretKey) + "}}",
		"snapshot: {encryption: {" + secretKey + ": x}}",
		"snapshot: {encryption: " + secretKey + "}",
		"memory: {backend: " + secretKey + "}",
		secretKey,
		"snapshot: {encryption: {identity: \"" + secretKey + "}",
		"snapshot:\n  encryption:\n  identity: |\n    -----BEGIN OPENSSH PRIVATE KEY-----\n    " + secretKey + "\n",
		"snapshot:\n  " + secretKey + "\n    identity: x\n",
		"snapshot: @" + secretKey + "\n",
	}
	inputs := map[string]config.Input{}
	for _, text := range files {
		inputs[text] = fileInput(text)
	}
	for _, key := range []string{recipients, "snapshot.encryption.identity", "snapshot.auto.schedule", "events.mutation_prefix", "snapshot.sign"} {
		inputs[key] = config.Input{Flags: map[string]string{key: secretKey}}
	}
	inputs["key"] = config.Input{Flags: map[string]string{secretKey: "1"}}
	for what, in := range inputs {
		_, err := config.Load(in)
		if err == nil {
			t.Errorf("%q passes", what)
			continue
		}
		if strings.Contains(strings.ToUpper(err.Error()), secretKey[15:30]) {
			t.Errorf("%q: the error %q holds the secret", what, err)
		}
	}
}

func TestSchedulesAndSubjectsAreChecked(t *testing.T) {
	t.Parallel()
	for key, values := range map[string][]string{
		"snapshot.auto.schedule": {"daily", "30s", "0 3 * *", "61 3 * * *", "0 0 31 2 *", "15"},
		"events.mutation_prefix": {
			"a b", ".", "a.", ".a", "a..b", "a.*", "a.>", "ä", "a/b", "a.b\x00", strings.Repeat("a", 201),
		},
		"events.lifecycle_prefix": {"$SYS", "a,b"},
	} {
		for _, v := range values {
			_, err := config.Load(config.Input{Flags: map[string]string{key: v}})
			wantError(t, v, err, amber.KindInvalid, key)
		}
	}
	for _, text := range []string{
		"snapshot: {auto: {schedule: off}}", "snapshot: {auto: {schedule: 90m}}", "snapshot: {auto: {schedule: 0 3 * * *}}",
		"snapshot: {auto: {schedule: '*/15 * * * *'}}", "events: {mutation_prefix: my-agents.x_1}",
	} {
		load(t, fileInput(text))
	}
}
