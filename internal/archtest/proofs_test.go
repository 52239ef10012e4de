package archtest_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/archtest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestTheProofsNameWhatExists(t *testing.T) {
	for _, b := range must.Get(archtest.Proofs("../.."))(t) {
		t.Error(b)
	}
}

func TestProofsFindsWhatIsMissing(t *testing.T) {
	const page = "# Proofs\n\n| promise | tests | where | at full size |\n|---|---|---|---|\n" +
		"| [a](threat-model.md#in-short) | `TestA`, `TestSuite/a/b`, `Script/s` | `a`, `suite`, `cmd/amber` | `-n 9` |\n" +
		"| [b](threat-model.md#gone) | `TestB` | `a` |  |\n" +
		"| [c](../README.md#share-it-with-others) | `TestSuite/a/c`, `Script/t` | `a`, `suite` |  |\n" +
		"| [d](../README.md#no-heading) | `TestA` | `a`, `.` | `-n 99`, `-m` |\n" +
		"| [e](none.md#e) |  | `a` |  |\n" +
		"| [f](../README.md#share-it-with-others) | `TestOther` | `a` | `-n 9` |\n" +
		"\n| promise | why | where |\n|---|---|---|\n" +
		"| [g](threat-model.md#a-server) | `make` cannot, `TestA` and `TestNone` come near | `a` |\n" +
		"| [h](threat-model.md#a-server) | no test can |  |\n"
	const tests = "package a\n\nfunc TestA(t *T) {}\n\nfunc TestSuite(t *T) {}\n\nfunc TestOther(t *T) {}\n"
	root := tree(t, map[string]string{
		"docs/proofs.md":                    page,
		"docs/threat-model.md":              "# T\n\n## In short\n\n### Below\n\n## A server\n\n## \"Signed\": `so`\n",
		"README.md":                         "# R\n\n## Share it, with others\n\n```sh\n# no heading\n```\n",
		"Makefile":                          "test-long:\n\tgo test ./a -run 'A$$|B' -n 9\n\tgo test ./a/b -m\n",
		"a/a_test.go":                       tests,
		"a/a.go":                            "package a\n\nfunc TestB(t *testing.T) {}\n",
		"suite/checks.go":                   "package suite\n\nvar all = []string{\"a/b\"}\n",
		"cmd/amber/testdata/script/s.txtar": "",
	})
	must.Equal(t, "broken", must.Get(archtest.Proofs(root))(t), []string{
		"docs/proofs.md has no row for docs/threat-model.md#a-server",
		"docs/proofs.md has no row for docs/threat-model.md#signed-so",
		"docs/proofs.md links README.md#no-heading, which does not exist",
		"docs/proofs.md links docs/none.md#e, which does not exist",
		"docs/proofs.md links docs/threat-model.md#gone, which does not exist",
		"docs/proofs.md names -m, with which the Makefile does not run TestA",
		"docs/proofs.md names -n 9, with which the Makefile does not run TestOther",
		"docs/proofs.md names -n 99, with which the Makefile does not run TestA",
		"docs/proofs.md names ., which does not have TestA",
		"docs/proofs.md names Script/t, which is not in a, suite",
		"docs/proofs.md names TestB, which is not in a",
		"docs/proofs.md names TestNone, which is not in a",
		"docs/proofs.md names TestSuite/a/c, which is not in a, suite",
		"docs/proofs.md names a, which does not have TestB",
		"docs/proofs.md names a, which does not have a test",
		"docs/proofs.md names no test for a promise of docs/none.md#e",
		"docs/proofs.md names suite, which does not have TestSuite/a/c, Script/t",
	})
}
