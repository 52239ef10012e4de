package s3

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/amber-memory/amber"
)

// findCredentials looks for credentials where every tool for S3 does: in the
// environment, then in the profile of the shared file. Without credentials it
// returns refused, so that no request goes out unsigned.
//
// No error of a provider is passed on: an error about a line of the file shows
// the line.
func findCredentials(getenv func(string) string) (*credentials.Credentials, error) {
	if (getenv("AWS_ACCESS_KEY_ID") == "") != (getenv("AWS_SECRET_ACCESS_KEY") == "") {
		return nil, noCredentials("one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set, the other is not")
	}
	providers := []credentials.Provider{&environment{getenv: getenv}}
	if file := sharedFile(getenv); file != "" {
		profile := cmp.Or(getenv("AWS_PROFILE"), "default")
		// Both are named, else the provider asks the environment of the process.
		providers = append(providers, &credentials.FileAWSCredentials{Filename: file, Profile: profile})
	}
	found := credentials.NewChainCredentials(providers)
	value, err := found.GetWithContext(&credentials.CredContext{})
	if err != nil || value.AccessKeyID == "" || value.SecretAccessKey == "" {
		return nil, noCredentials("there are no credentials for S3")
	}
	return found, nil
}

func noCredentials(why string) error {
	return &amber.Error{
		Op: "open target", Kind: amber.KindRefused, Err: errors.New(why),
		Hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile of ~/.aws/credentials in AWS_PROFILE",
	}
}

// sharedFile returns the path of the shared file, "" when the environment does not say where it is.
func sharedFile(getenv func(string) string) string {
	if file := getenv("AWS_SHARED_CREDENTIALS_FILE"); file != "" {
		return file
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home := getenv(name); home != "" {
			return filepath.Join(home, ".aws", "credentials")
		}
	}
	return ""
}

// environment is a provider that reads an environment which may not be that of
// the process.
type environment struct {
	getenv func(string) string
	read   bool
}

var _ credentials.Provider = (*environment)(nil)

// RetrieveWithCredContext implements [credentials.Provider].
func (e *environment) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return e.Retrieve()
}

// Retrieve implements [credentials.Provider].
func (e *environment) Retrieve() (credentials.Value, error) {
	v := credentials.Value{
		AccessKeyID:     e.getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: e.getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    e.getenv("AWS_SESSION_TOKEN"),
		SignerType:      credentials.SignatureV4,
	}
	if v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return credentials.Value{}, errors.New("the environment has no credentials")
	}
	e.read = true
	return v, nil
}

// IsExpired implements [credentials.Provider].
func (e *environment) IsExpired() bool { return !e.read }
