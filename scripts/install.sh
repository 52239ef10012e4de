#!/bin/sh
# Installs amber for this user, without root:
#
#   curl -fsSL https://github.com/amber-memory/amber/releases/latest/download/install.sh | sh
#
# It finds out the system, downloads the archive for it, compares it with SHA256SUMS, checks the signature of SHA256SUMS,
# and puts amber into ~/.local/bin. Nothing is installed when something does not match. Variables change what it does:
#
#   AMBER_VERSION   the version, such as 1.2.0 (default: that of this script)
#   AMBER_BASE      where the files lie (default: those of the version at GitHub)
#   AMBER_BIN       where amber goes (default: ~/.local/bin)
#   AMBER_KEY       the did:key that must have signed the release (default: that of this script)
#   AMBER_KEY_FILE  the same key as PEM, for openssl
#   AMBER_VERIFY    checksum: go on where the signature cannot be checked, because neither an amber nor an openssl that
#                   knows Ed25519 is here, as on a new Mac; required: fail also where no key is known
#
# To remove it again: rm ~/.local/bin/amber. Memories are in ~/.local/share/amber.
set -eu

# A release sets these.
RELEASE_VERSION=''
RELEASE_BASE=''
RELEASE_KEY=''
RELEASE_PEM=''

main() {
	version=${AMBER_VERSION:-$RELEASE_VERSION}
	version=${version#v}
	[ -n "$version" ] || fail "this script is not of a release: set AMBER_VERSION, as in AMBER_VERSION=1.2.0"
	if [ -n "${AMBER_BASE:-}" ]; then
		base=$AMBER_BASE
	elif [ -n "$RELEASE_BASE" ] && [ "$version" = "$RELEASE_VERSION" ]; then
		base=$RELEASE_BASE
	else
		base=https://github.com/amber-memory/amber/releases/download/v$version
	fi
	bin=${AMBER_BIN:-$HOME/.local/bin}
	key=${AMBER_KEY:-$RELEASE_KEY}
	archive=amber_${version}_$(system)_$(processor).tar.gz

	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' INT TERM
	fetch SHA256SUMS
	check_signature
	fetch "$archive"
	check_sum

	tar -xzf "$work/$archive" -C "$work" amber || fail "$archive holds no amber"
	"$work/amber" version >/dev/null || fail "the amber of $archive does not run on this machine"
	mkdir -p "$bin"
	# In one step, so that an amber that runs meanwhile is not changed under its feet.
	cp "$work/amber" "$bin/.amber.new.$$"
	chmod 0755 "$bin/.amber.new.$$"
	mv -f "$bin/.amber.new.$$" "$bin/amber"
	say "installed $("$bin/amber" version) as $bin/amber"
	case ":$PATH:" in
	*":$bin:"*) ;;
	*) say "$bin is not on your path yet: export PATH=\"$bin:\$PATH\"" ;;
	esac
}

say() { echo "install: $*"; }
fail() {
	echo "install: $*" >&2
	exit 1
}

system() {
	case $(uname -s) in
	Linux) echo linux ;;
	Darwin) echo darwin ;;
	*) fail "there is no archive for $(uname -s) that this script can install: see docs/install.md" ;;
	esac
}

processor() {
	case $(uname -m) in
	x86_64 | amd64) echo amd64 ;;
	aarch64 | arm64) echo arm64 ;;
	*) fail "there is no archive for the processor $(uname -m): want x86_64 or arm64" ;;
	esac
}

# fetch NAME downloads a file of the release.
fetch() {
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --retry 2 -o "$work/$1" "$base/$1" || fail "cannot download $base/$1"
	elif command -v wget >/dev/null 2>&1; then
		wget -q -O "$work/$1" "$base/$1" || fail "cannot download $base/$1"
	else
		fail "neither curl nor wget is here"
	fi
}

# sha256 FILE prints a checksum.
sha256() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum <"$1" | cut -d' ' -f1
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 <"$1" | cut -d' ' -f1
	elif command -v openssl >/dev/null 2>&1; then
		openssl dgst -sha256 -r <"$1" | cut -d' ' -f1
	else
		fail "no program is here that makes a SHA-256: sha256sum, shasum or openssl"
	fi
}

check_sum() {
	want=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")
	[ -n "$want" ] || fail "SHA256SUMS does not name $archive"
	found=$(sha256 "$work/$archive")
	[ "$found" = "$want" ] || fail "the SHA-256 of $archive is $found, want $want: the file is damaged or is another one"
	say "$archive has the checksum of SHA256SUMS"
}

# check_signature checks that the key has signed SHA256SUMS: with an amber of another day, or with openssl.
check_signature() {
	pem=$work/key.pem
	if [ -n "${AMBER_KEY_FILE:-}" ]; then
		cp "$AMBER_KEY_FILE" "$pem"
	elif [ -n "$RELEASE_PEM" ] && [ "$key" = "$RELEASE_KEY" ]; then
		echo "$RELEASE_PEM" >"$pem"
	fi
	if [ -n "$key" ] && command -v amber >/dev/null 2>&1 && amber key verify --help >/dev/null 2>&1; then
		fetch SHA256SUMS.sig
		amber key verify "$work/SHA256SUMS" --key "$key" >/dev/null || fail "SHA256SUMS is not signed by $key"
		say "SHA256SUMS is signed by $key (checked with $(command -v amber))"
	elif [ -s "$pem" ] && find_openssl; then
		fetch SHA256SUMS.sig
		with_openssl
	elif [ "${AMBER_VERIFY:-}" = checksum ] && [ -z "${AMBER_KEY:-}${AMBER_KEY_FILE:-}" ]; then
		say "the signature was NOT checked, as AMBER_VERIFY says. Checksums are compared."
	elif [ -n "$key" ] || [ -s "$pem" ]; then
		fail "cannot check the signature: neither an amber nor an openssl that knows Ed25519 is here (that of macOS does not).
install: Install OpenSSL 3 (brew install openssl@3), or trust the place it came from: AMBER_VERIFY=checksum sh install.sh"
	elif [ "${AMBER_VERIFY:-}" = required ]; then
		fail "cannot check the signature: want AMBER_KEY and an amber on the path, or AMBER_KEY_FILE and openssl 3"
	else
		say "the signature was NOT checked: no key is known. Checksums are compared."
	fi
}

# find_openssl finds an openssl that can check Ed25519 signatures of a file: on the path, or where Homebrew puts it.
find_openssl() {
	for openssl in openssl /opt/homebrew/opt/openssl@3/bin/openssl /usr/local/opt/openssl@3/bin/openssl; do
		command -v "$openssl" >/dev/null 2>&1 && "$openssl" version | grep -q '^OpenSSL [3-9]' && return 0
	done
	return 1
}

# with_openssl does what docs/format/signature.md says.
with_openssl() {
	sed -n 's/^{"body":\(.*\),"digest":".*$/\1/p' "$work/SHA256SUMS.sig" | tr -d '\n' >"$work/body"
	[ -s "$work/body" ] || fail "SHA256SUMS.sig is not a signature of Amber"
	{
		printf 'amber file 1\000'
		cat "$work/body"
	} >"$work/message"
	sig=$(sed -n 's/.*"signatures":.*"sig":"\([^"]*\)".*/\1/p' "$work/SHA256SUMS.sig")
	printf '%s==' "$sig" | tr '_-' '/+' | "$openssl" base64 -d -A >"$work/signature" 2>/dev/null || true
	"$openssl" pkeyutl -verify -pubin -inkey "$pem" -rawin -in "$work/message" -sigfile "$work/signature" >/dev/null 2>&1 ||
		fail "SHA256SUMS is not signed by the key of this release"
	grep -q "\"format\":\"amber-signature\",\"version\":1,\"sha256\":\"$(sha256 "$work/SHA256SUMS")\"" "$work/body" ||
		fail "SHA256SUMS is not the file that was signed"
	say "SHA256SUMS is signed by ${key:-the key of $AMBER_KEY_FILE} (checked with openssl)"
}

main
