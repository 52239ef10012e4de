package freeze

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/filesig"
	"github.com/amber-memory/amber/wire/sign"
)

// signedFile is the JSON of key sign and key verify.
type signedFile struct {
	File      string        `json:"file"`
	Signature string        `json:"signature"` // its file
	KeyID     sign.KeyID    `json:"key_id"`
	Standing  sign.Standing `json:"standing"` // named: by --key
}

// standingNamed is the standing of a key that the caller named.
const standingNamed sign.Standing = "named"

func (a *app) keySignCommand() *cobra.Command {
	var output string
	cmd := cli.Verb("sign", func(cmd *cobra.Command, args []string) error {
		return cli.Answer(a.signFile(cmd.Context(), args[0], output))(a.Out, func(w io.Writer, s signedFile) {
			fmt.Fprintln(w, s.Signature)
		})
	})
	cmd.Flags().StringVarP(&output, "output", "o", "", "where the signature goes (default FILE.sig)")
	return cmd
}

func (a *app) signFile(ctx context.Context, name, output string) (out signedFile, err error) {
	ring, err := a.lookAtRing()
	if err != nil {
		return out, err
	}
	signer, err := ring.Signer(ctx)
	if err != nil {
		return out, err
	}
	out = signedFile{KeyID: signer.KeyID(), Standing: sign.StandingOwn}
	if out.File, out.Signature, err = a.withSignature(name, output); err != nil {
		return out, err
	}
	f, err := openToCheck("sign file", out.File)
	if err != nil {
		return out, err
	}
	defer f.Close()
	b, err := filesig.Sign(ctx, f, signer)
	if err != nil {
		return out, err
	}
	if err := fsx.Replace(fsx.OS(), out.Signature, 0o644, b); err != nil {
		return out, &amber.Error{Op: "write signature", Kind: amber.KindInternal, ID: out.Signature, Err: err}
	}
	return out, nil
}

// withSignature returns the paths of a file and of its signature.
func (a *app) withSignature(name, signature string) (file, sig string, err error) {
	if file, err = a.Absolute(name); err != nil {
		return "", "", err
	}
	if signature == "" {
		return file, file + filesig.Suffix, nil
	}
	sig, err = a.Absolute(signature)
	return file, sig, err
}

// openToCheck opens a file of the user's.
func openToCheck(op, path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, amber.Errorf(amber.KindNotFound, op, path, "no such file")
	}
	if err != nil {
		return nil, &amber.Error{Op: op, Kind: amber.KindInvalid, ID: path, Err: err}
	}
	return f, nil
}

func (a *app) keyVerifyCommand() *cobra.Command {
	var signature string
	var keys []string
	cmd := cli.Verb("verify", func(cmd *cobra.Command, args []string) error {
		return cli.Answer(a.verifyFile(cmd.Context(), args[0], signature, keys))(a.Out, func(w io.Writer, s signedFile) {
			fmt.Fprintf(w, "signed by %s (%s)\n", s.KeyID, s.Standing)
		})
	})
	cmd.Flags().StringVar(&signature, "signature", "", "the file of the signature (default FILE.sig)")
	cmd.Flags().StringArrayVar(&keys, "key", nil, "the did:key that must have signed it (repeat: one of them)")
	return cmd
}

func (a *app) verifyFile(ctx context.Context, name, signature string, keys []string) (out signedFile, err error) {
	for _, k := range keys {
		if _, err := sign.ParseKeyID(k); err != nil {
			return out, err
		}
	}
	if out.File, out.Signature, err = a.withSignature(name, signature); err != nil {
		return out, err
	}
	sig, err := openToCheck("read signature", out.Signature)
	if err != nil {
		return out, err
	}
	defer sig.Close()
	b, err := io.ReadAll(io.LimitReader(sig, filesig.MaxSize+1))
	if err != nil {
		return out, &amber.Error{Op: "read signature", Kind: amber.KindInvalid, ID: out.Signature, Err: err}
	}
	f, err := openToCheck("check signature", out.File)
	if err != nil {
		return out, err
	}
	defer f.Close()
	if out.KeyID, err = filesig.Verify(f, b); err != nil {
		return out, err
	}
	out.Standing, err = a.standingOf(ctx, out.KeyID, keys)
	return out, err
}

// standingOf says why a key counts, or that it does not.
func (a *app) standingOf(ctx context.Context, key sign.KeyID, named []string) (sign.Standing, error) {
	const op = "check signature"
	if len(named) > 0 {
		if slices.Contains(named, string(key)) {
			return standingNamed, nil
		}
		return sign.StandingStranger, amber.Errorf(amber.KindRefused, op, string(key), "the file is signed by this key, want %s", named[0])
	}
	ring, err := a.lookAtRing()
	if err != nil {
		return "", err
	}
	standing, err := ring.Standing(ctx, key)
	if err == nil && standing == sign.StandingStranger {
		err = amber.Errorf(amber.KindRefused, op, string(key), "the file is signed by this key, which is not trusted here").
			WithHint("if you know whose key that is: amber key trust " + string(key))
	}
	return standing, err
}
