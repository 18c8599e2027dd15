# shellcheck shell=bash
# What the suites beside this file share; they source it. Everything that is installed goes to target/tools, apart from
# Debian's packages, which need root.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
TOOLS=$ROOT/target/tools
WORK=$ROOT/target/suites/$(basename "$0")

# The tools send usage data and look for credentials unless they are told otherwise. Nothing here may reach an account.
export SAM_CLI_TELEMETRY=0 AWS_EC2_METADATA_DISABLED=true AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
export AWS_DEFAULT_REGION=eu-west-1 AWS_ACCESS_KEY_ID=suite AWS_SECRET_ACCESS_KEY=suite
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
unset AWS_PROFILE AWS_SESSION_TOKEN

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }

fail() {
  say "failed: $*" >&2
  exit 1
}

# The suite cannot run here, for a reason that is not the project's.
skip() {
  say "SKIPPED: $*"
  exit 0
}

# packages NAME…: installs what is missing of these Debian packages.
packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  [ "$(id -u)" -eq 0 ] || fail "root is needed to install: ${missing[*]}"
  say "installing ${missing[*]}"
  apt-get update -qq >/dev/null
  # Debian starts services that it installs, unless this says no.
  local policy=/usr/sbin/policy-rc.d own='' failed=''
  [ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy && own=yes; }
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$WORK/apt.log" 2>&1 ||
    failed=yes
  [ -z "$own" ] || rm $policy
  [ -z "$failed" ] || { tail -n 5 "$WORK/apt.log"; fail "Debian's packages cannot be installed"; }
}

# pinned NAME: the line of requirements.txt for this tool.
pinned() { grep -E "^$1(\[[a-z,]+\])?==" "$ROOT/infra/suites/requirements.txt"; }

# tool_folder NAME: where one of these tools is.
tool_folder() {
  local requirement
  requirement=$(pinned "$1")
  echo "$TOOLS/$1-${requirement#*==}"
}

# python_tools NAME…: puts these tools of requirements.txt on the path, each in an environment of its own, with nothing but what
# locks/NAME.txt names with its hash.
python_tools() {
  local name requirement folder lock
  for name in "$@"; do
    requirement=$(pinned "$name") || fail "requirements.txt does not pin $name"
    folder=$(tool_folder "$name") lock=$ROOT/infra/suites/locks/$name.txt
    grep -qE "^$name(\[[a-z,]+\])?==${requirement#*==} " "$lock" || fail "not locked: $requirement. Run infra/suites/src/remake-locks $name"
    if ! cmp --silent "$lock" "$folder/complete"; then
      python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3 python3-venv
      say "installing $requirement"
      rm -rf "$folder"
      python3 -m venv "$folder"
      "$folder/bin/pip" install --quiet --require-hashes --no-deps --requirement "$lock"
      cp "$lock" "$folder/complete"
    fi
    PATH=$folder/bin:$PATH
  done
  export PATH
}

# checks NAME: builds and runs the suite's own program, src/bin/NAME.rs.
checks() {
  say "running the checks"
  cargo run --quiet --manifest-path "$ROOT/Cargo.toml" --package suites --bin "$1"
}

mkdir -p "$WORK"
cd "$ROOT"
