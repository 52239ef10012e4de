package colony_test

import (
	"context"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// Verdicts of a reader on a vault.
const (
	accept   = "accept"   // also a strict one
	tolerant = "tolerant" // only a tolerant one
	refuse   = "refuse"   // no reader
)

// verdicts are ours about the vaults of testdata/mut. A kind is that of the
// strict reader; loose is that of the tolerant one where it is another. signed
// says that a reader who requires a signature of the key that made these takes
// it, too, as far as he is tolerant.
var verdicts = map[string]struct {
	verdict string
	kind    amber.Kind
	loose   amber.Kind
	signed  bool
	why     string
}{
	"clean_signed":                     {accept, "", "", true, "nothing is wrong"},
	"tamper_created_at":                {refuse, amber.KindUntrusted, "", false, "the signature does not match; the original agrees"},
	"tamper_created_at_verify_false":   {tolerant, amber.KindDamaged, "", false, "the same, read without a look at the signature: the time is not valid"},
	"downgrade_signature_removed":      {accept, "", "", false, "to one who requires nothing it is an unsigned snapshot; who requires a signature refuses"},
	"downgrade_signature_null":         {accept, "", "", false, "the format document shows null for unsigned"},
	"downgrade_signature_empty_object": {accept, "", "", false, "the original takes it for unsigned"},
	"forged_unsigned_replacement":      {accept, "", "", false, "a vault can replace what is not signed; who requires a signature refuses"},
	"sig_alg_unknown":                  {refuse, amber.KindUntrusted, "", false, "there is a signature, and it cannot be checked"},
	"sig_key_not_didkey":               {refuse, amber.KindUntrusted, "", false, "it names no key"},
	"sig_key_bad_b58":                  {refuse, amber.KindUntrusted, "", false, "it names no key"},
	"sig_short":                        {refuse, amber.KindUntrusted, "", false, "it is no signature"},
	"sig_padded":                       {tolerant, amber.KindDamaged, "", true, "it matches, in a spelling that the format does not have"},
	"sig_missing_field":                {refuse, amber.KindUntrusted, "", false, "there is a signature without a value"},
	"signed_extra_field_added":         {refuse, amber.KindUntrusted, "", false, "members nobody knows are signed, too"},
	"unsigned_extra_field":             {accept, "", "", false, "members nobody knows are kept and do no harm"},
	"missing_part":                     {refuse, amber.KindDamaged, "", false, "something is there, and no snapshot"},
	"missing_manifest":                 {refuse, amber.KindDamaged, "", false, "something is there: the original calls it absent"},
	"missing_latest":                   {accept, "", "", true, "the newest complete snapshot is taken, and that is said"},
	"latest_not_json":                  {accept, "", "", true, "as without a pointer"},
	"latest_empty_object":              {accept, "", "", true, "as without a pointer"},
	"manifest_not_object":              {refuse, amber.KindDamaged, "", false, "the pointer is good, and what it names is not"},
	"manifest_format_2":                {refuse, amber.KindTooNew, "", false, "a newer Amber may read it"},
	"unsigned_all_metadata_wrong":      {tolerant, amber.KindDamaged, "", false, "the documents are sure by their digest, and nothing else is"},
	"part_header_wrong":                {tolerant, amber.KindDamaged, "", false, "the same, for what a part says of itself"},
	"part_truncated":                   {refuse, amber.KindDamaged, "", false, "documents are missing"},
	"part_b64_junk_chars":              {tolerant, amber.KindDamaged, "", false, "the original skips what is not of the alphabet"},
	"part_b64_missing":                 {refuse, amber.KindDamaged, "", false, "documents are missing"},
	"part_not_object":                  {refuse, amber.KindDamaged, "", false, "documents are missing"},
	"part_not_json":                    {refuse, amber.KindDamaged, "", false, "documents are missing"},
	"part_files_empty":                 {refuse, amber.KindDamaged, "", false, "documents are missing"},
	"plaintext_array":                  {refuse, amber.KindDamaged, "", false, "there are no documents"},
	"plaintext_non_string_values":      {refuse, amber.KindDamaged, "", false, "a document is a text; the original returns a number"},
	"plaintext_not_canonical":          {tolerant, amber.KindDamaged, "", false, "the digest is of other bytes than those of the documents"},
	"plaintext_invalid_utf8":           {refuse, amber.KindDamaged, "", false, "a document is a text"},
	"plaintext_bom":                    {tolerant, amber.KindDamaged, "", false, "the digest is of other bytes than those of the documents"},
	"plaintext_empty_object":           {tolerant, amber.KindDamaged, "", false, "no client can have written a snapshot of nothing"},
	"gzip_trailing_zeros":              {tolerant, amber.KindDamaged, "", false, "the documents are sure, and something is after them"},
	"gzip_truncated_trailer":           {refuse, amber.KindDamaged, "", false, "the end is missing"},
	"gzip_bad_crc":                     {refuse, amber.KindDamaged, "", false, "the checksum is wrong"},
	"sha_wrong":                        {refuse, amber.KindDamaged, "", false, "the digest is checked in any case"},
	"gzip_bomb_64MiB":                  {refuse, amber.KindDamaged, amber.KindQuota, false, "it unpacks to more than it declares, and than may be read"},
}

func TestMutatedVaults(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name  string `json:"name"`
		Label string `json:"label"`
		Args  struct {
			Verify *bool `json:"verify"`
		} `json:"restore_args"`
		Accepted bool     `json:"accepted"` // by the original
		DocNames []string `json:"doc_names"`
	}
	readJSON(t, "testdata/mut/index.json", &cases)
	if len(cases) != len(verdicts) || len(cases) != 41 {
		t.Fatalf("%d vaults and %d verdicts", len(cases), len(verdicts))
	}
	key := mutatedKey(t)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			want, ok := verdicts[c.Name]
			if !ok {
				t.Fatal("there is no verdict")
			}
			loose := want.kind
			if want.loose != "" {
				loose = want.loose
			}
			for _, look := range []struct {
				name   string
				change func(*colony.Options)
				taken  bool
				kind   amber.Kind
			}{
				{"strict", func(*colony.Options) {}, want.verdict == accept, want.kind},
				{"tolerant", func(o *colony.Options) { o.Tolerant = true }, want.verdict != refuse, loose},
				{"required", func(o *colony.Options) {
					o.Tolerant, o.RequireSigned, o.Trust = true, true, trustIn(key)
				}, want.signed, ""},
				{"required of another", func(o *colony.Options) { o.Tolerant, o.RequireSigned, o.Trust = true, true, trustIn("") }, false, ""},
			} {
				b := newBench(t)
				b.fake.Fill(vaultFiles(t, "testdata/mut/"+c.Name+"/vault"))
				v := b.open(func(o *colony.Options) {
					o.Label = c.Label
					look.change(o)
					o.NoVerify = c.Args.Verify != nil && !o.RequireSigned
				})
				r, err := v.Restore(t.Context(), "")
				if (err == nil) != look.taken || err != nil && look.kind != "" && amber.KindOf(err) != look.kind {
					t.Errorf("%s: got %v (%s), want taken %v, kind %q: %s", look.name, err, amber.KindOf(err), look.taken, look.kind, want.why)
				}
				if err != nil {
					continue
				}
				if (look.name == "strict") != r.Checks.Declared && want.verdict == tolerant || !r.Checks.Digest {
					t.Errorf("%s: checks are %+v", look.name, r.Checks)
				}
				if c.Accepted {
					must.Equal(t, look.name+": documents", append([]string{}, r.Documents.Names()...), c.DocNames)
				} else if r.Fallback == "" {
					t.Errorf("%s: it does not say why it is not what the pointer names", look.name)
				}
			}
		})
	}
}

// mutatedKey is the key that signed the vaults of testdata/mut.
func mutatedKey(t *testing.T) sign.KeyID {
	for name, content := range vaultFiles(t, "testdata/mut/clean_signed/vault") {
		if n, ok := colony.ParseName(name); ok && n.Kind == colony.ManifestFile {
			m := must.Get(colony.ParseManifest(content))(t)
			return m.Info.Issuer
		}
	}
	t.Fatal("there is no manifest")
	return ""
}

// trustIn trusts one key.
func trustIn(key sign.KeyID) func(context.Context, sign.KeyID) (sign.Standing, error) {
	return func(_ context.Context, k sign.KeyID) (sign.Standing, error) {
		if k == key {
			return sign.StandingTrusted, nil
		}
		return sign.StandingStranger, nil
	}
}

// NoVerify makes a reader skip the signature, and only then does it take a snapshot whose signed claims about itself
// are wrong. All other checks stay.
func TestNoVerifySkipsOnlyTheSignature(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{
		"signed_extra_field_added": true, "sig_alg_unknown": true, "sig_missing_field": true, "clean_signed": true,
		"part_header_wrong": false, "sha_wrong": false, "unsigned_all_metadata_wrong": false,
	} {
		b := newBench(t)
		b.fake.Fill(vaultFiles(t, "testdata/mut/"+name+"/vault"))
		v := b.open(func(o *colony.Options) { o.Label, o.NoVerify = "m", true })
		r, err := v.Restore(t.Context(), "")
		must.Equal(t, name+" is taken", (err == nil), taken)
		if err == nil && (r.Checks.Signature != colony.SignatureSkipped || !r.Checks.Digest || !r.Checks.Declared) {
			t.Errorf("%s: checks are %+v", name, r.Checks)
		}
	}
}
