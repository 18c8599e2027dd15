#!/bin/sh
# Installs the program `lambda-chat` of a release: downloads the archive for this machine, compares it with the release's SHA256SUMS,
# and puts the program into a folder of this user.
# Variables: RELEASE, the address of the release's files; INSTALL_DIR (~/.local/bin).
set -eu

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

# download NAME: downloads a file of the release into the working folder.
download() {
  if command -v curl >/dev/null; then
    curl -fsSL -o "$1" "$RELEASE/$1" || fail "$RELEASE/$1 cannot be downloaded"
  elif command -v wget >/dev/null; then
    wget -q -O "$1" "$RELEASE/$1" || fail "$RELEASE/$1 cannot be downloaded"
  else
    fail "curl or wget is needed"
  fi
}

# sum FILE: prints its SHA-256.
sum() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    fail "sha256sum or shasum is needed, to verify the download"
  fi
}

# The last line calls it, so that nothing runs of a script whose download was cut off.
main() {
  RELEASE=${RELEASE:-https://github.com/ORG/REPO/releases/latest/download}
  INSTALL_DIR=${INSTALL_DIR:-${HOME:?}/.local/bin}
  case $RELEASE in */ORG/*) fail "set RELEASE to the address of a release's files, such as https://github.com/OWNER/NAME/releases/latest/download" ;; esac
  case $(uname -s) in
  Linux) SYSTEM=linux ;;
  Darwin) SYSTEM=macos ;;
  *) fail "a release has no program for $(uname -s); the container image or \`cargo install\` may work" ;;
  esac
  case $(uname -m) in
  x86_64 | amd64) PROCESSOR=x86_64 ;;
  aarch64 | arm64) PROCESSOR=arm64 ;;
  *) fail "a release has no program for the processor $(uname -m); \`cargo install\` may work" ;;
  esac
  FOLDER=lambda-chat-$SYSTEM-$PROCESSOR
  ARCHIVE=$FOLDER.tar.gz
  mkdir -p "$INSTALL_DIR" && [ -w "$INSTALL_DIR" ] || fail "$INSTALL_DIR cannot be written; set INSTALL_DIR to another folder"
  INSTALL_DIR=$(cd "$INSTALL_DIR" && pwd)

  TEMPORARY=$(mktemp -d)
  trap 'rm -rf "$TEMPORARY"' EXIT
  cd "$TEMPORARY"
  download SHA256SUMS
  EXPECTED=$(awk -v name="$ARCHIVE" '$2 == name || $2 == "*" name { print $1 }' SHA256SUMS)
  [ -n "$EXPECTED" ] || fail "SHA256SUMS of the release does not list $ARCHIVE"
  download "$ARCHIVE"
  [ "$(sum "$ARCHIVE")" = "$EXPECTED" ] || fail "$ARCHIVE is not the file that SHA256SUMS lists; nothing was installed"
  tar -xzf "$ARCHIVE" "$FOLDER/lambda-chat" || fail "$ARCHIVE has no program"
  VERSION=$("$FOLDER/lambda-chat" --version) || fail "the program does not start on this machine; nothing was installed"
  # Moved within one folder, so that a program that runs keeps its file.
  cp "$FOLDER/lambda-chat" "$INSTALL_DIR/.lambda-chat.$$"
  mv -f "$INSTALL_DIR/.lambda-chat.$$" "$INSTALL_DIR/lambda-chat"
  printf '%s is installed as %s\n' "$VERSION" "$INSTALL_DIR/lambda-chat"
  case :$PATH: in *:"$INSTALL_DIR":*) ;; *) printf 'Add it to the path: export PATH="%s:$PATH"\n' "$INSTALL_DIR" ;; esac
}

main
