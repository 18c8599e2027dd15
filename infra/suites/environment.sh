# shellcheck shell=bash
# Shared functions of the suites in this folder, which source it. All tools are installed to target/tools, except for Debian's
# packages, which need root.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
TOOLS=$ROOT/target/tools
WORK=$ROOT/target/suites/$(basename "$0")

# By default the tools send usage data and search for credentials. No suite may reach an account.
export SAM_CLI_TELEMETRY=0 AWS_EC2_METADATA_DISABLED=true AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
export AWS_DEFAULT_REGION=eu-west-1 AWS_ACCESS_KEY_ID=suite AWS_SECRET_ACCESS_KEY=suite
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
unset AWS_PROFILE AWS_SESSION_TOKEN

log() { printf '%s: %s\n' "$(basename "$0")" "$*"; }

fail() {
  log "failed: $*" >&2
  exit 1
}

# Ends a suite that cannot run on this machine, for a reason outside of the project.
skip() {
  log "SKIPPED: $*"
  exit 0
}

# one_at_a_time COMMAND…: waits until no other suite installs anything. It does not nest.
one_at_a_time() {
  local held
  mkdir -p "$TOOLS"
  exec {held}>"$TOOLS/lock"
  flock "$held"
  "$@"
  exec {held}>&-
}

# packages NAME…: installs missing Debian packages.
packages() { one_at_a_time install_packages "$@"; }

install_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  [ "$(id -u)" -eq 0 ] || fail "root is needed to install: ${missing[*]}"
  log "installing ${missing[*]}"
  apt-get update -qq >/dev/null
  # Debian starts installed services unless this script forbids it.
  local policy=/usr/sbin/policy-rc.d own='' failed=''
  [ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy && own=yes; }
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$WORK/apt.log" 2>&1 ||
    failed=yes
  [ -z "$own" ] || rm $policy
  [ -z "$failed" ] || { tail -n 5 "$WORK/apt.log"; fail "Debian's packages cannot be installed"; }
}

# pinned NAME: the line of requirements.txt for this tool.
pinned() { grep -E "^$1(\[[a-z,]+\])?==" "$ROOT/infra/suites/requirements.txt"; }

# tool_folder NAME: prints the folder of one of these tools.
tool_folder() {
  local requirement
  requirement=$(pinned "$1")
  echo "$TOOLS/$1-${requirement#*==}"
}

# python_tools NAME…: puts these tools of requirements.txt on the path, each in its own virtual environment, with only the
# packages and hashes of locks/NAME.txt.
python_tools() { one_at_a_time install_python_tools "$@"; }

install_python_tools() {
  local name requirement folder lock
  for name in "$@"; do
    requirement=$(pinned "$name") || fail "requirements.txt does not pin $name"
    folder=$(tool_folder "$name") lock=$ROOT/infra/suites/locks/$name.txt
    grep -qE "^$name(\[[a-z,]+\])?==${requirement#*==} " "$lock" || fail "not locked: $requirement. Run infra/suites/src/remake-locks $name"
    if ! cmp --silent "$lock" "$folder/complete"; then
      python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3 python3-venv
      log "installing $requirement"
      rm -rf "$folder"
      python3 -m venv "$folder"
      "$folder/bin/pip" install --quiet --require-hashes --no-deps --requirement "$lock"
      cp "$lock" "$folder/complete"
    fi
    PATH=$folder/bin:$PATH
  done
  export PATH
}

# program NAME [OPTION…]: builds a program of the workspace, by default without optimisation, and prints its path. Its dependencies
# have the features of the whole workspace, as in `cargo test --workspace`: otherwise Cargo would compile them again for each package.
program() {
  cargo build --quiet --locked --manifest-path "$ROOT/Cargo.toml" --workspace --bin "$@" >&2
  realpath "${CARGO_TARGET_DIR:-$ROOT/target}/debug/$1"
}

# checks NAME [ARGUMENT…]: builds and runs the suite's own program of src/bin.
checks() {
  local checks
  checks=$(program "$1")
  log "running the checks"
  "$checks" "${@:2}"
}

# unoptimised_sources: copies the sources without the release's profile, and enters the copy. For suites that check how a release is
# built, not how fast it is. No environment variable could do this, because a package's own level of optimisation overrides it.
unoptimised_sources() {
  rm -rf "$WORK/source" && mkdir -p "$WORK/source"
  git ls-files -z | xargs -0 cp --parents --target-directory "$WORK/source"
  cd "$WORK/source"
  ln -s "$ROOT/target" target
  sed -i '/^\[profile\.release/,$d' Cargo.toml
  printf '[profile.release]\nopt-level = 0\nstrip = "symbols"\n' >>Cargo.toml
  git init --quiet . && git add --all
}

# stub_release FOLDER: writes the template, the example of parameters and archives of a release for arm64. Their functions do nothing.
stub_release() {
  local name
  rm -rf "$1" && mkdir -p "$1"
  for name in chat chat-full verify; do
    printf '#!/bin/sh\n# %s\n' "$name" >"$WORK/bootstrap"
    (cd "$WORK" && python3 -m zipfile -c "$1/$name-arm64.zip" bootstrap)
  done
  cp parameters.example.json "$1"
  "$(tool_folder aws-sam-cli)/bin/python3" -B infra/release/template arm64 "$1"
}

mkdir -p "$WORK"
cd "$ROOT"
