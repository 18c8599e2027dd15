"""Checks what installs the program of a release and what opens its stack, and the question of `users delete` at a terminal.

Usage: install.py FOLDER PROGRAM: a writable folder with a stub release in release/, and a built `lambda-chat`. PyYAML must be importable.
"""

import functools
import hashlib
import http.server
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import source
import yaml

SCRIPTS = source.ROOT / "infra/release"
PLATFORMS = {(system, processor): f"{name}-{processor}" for system, name in (("Linux", "linux"), ("Darwin", "macos")) for processor in ("x86_64", "arm64")}
VERSION = tomllib.loads((source.ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def write_release(folder):
    """Archives with a program for each platform that prints its name, and their checksums."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for platform in PLATFORMS.values():
        program = folder / f"lambda-chat-{platform}/lambda-chat"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho lambda-chat {platform}\n")
        program.chmod(0o755)
        with tarfile.open(folder / f"{program.parent.name}.tar.gz", "w:gz") as archive:
            archive.add(program.parent, program.parent.name)
        shutil.rmtree(program.parent)
    archives = sorted(folder.glob("*.tar.gz"))
    (folder / "SHA256SUMS").write_text("".join(f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}\n" for one in archives))


def install_script(work):
    """Runs the script as a person would, for each platform and with each fault that it must report."""
    release, programs, home = (work / name for name in ("files", "uname", "home"))
    write_release(release)
    programs.mkdir(exist_ok=True)
    shutil.rmtree(home, ignore_errors=True)
    address = serve(release)

    def run(system="Linux", processor="x86_64", **variables):
        (programs / "uname").write_text(f'#!/bin/sh\n[ "$1" = -s ] && echo {system} || echo {processor}\n')
        (programs / "uname").chmod(0o755)
        environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "RELEASE": address, "NO_PROXY": "127.0.0.1"} | variables
        with (SCRIPTS / "install.sh").open() as script:
            done = subprocess.run(["sh"], stdin=script, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    installed = home / ".local/bin/lambda-chat"
    for (system, processor), platform in PLATFORMS.items():
        code, output = run(system, processor)
        program = subprocess.run([installed], capture_output=True, text=True).stdout if installed.exists() else ""
        if code or program != f"lambda-chat {platform}\n" or str(installed) not in output or "export PATH=" not in output:
            yield f"install.sh: for {system} on {processor} the code is {code}, the program prints {program!r}: {output}"
    code, output = run(INSTALL_DIR=str(work / "other"), PATH=f"{work / 'other'}:{programs}:{os.environ['PATH']}")
    if code or not (work / "other/lambda-chat").exists() or "export PATH=" in output:
        yield f"install.sh: INSTALL_DIR is not used: {output}"
    kept = installed.read_bytes()
    archive = release / "lambda-chat-linux-x86_64.tar.gz"
    for fault, expected, arguments in (
        (lambda: None, "no program for FreeBSD", {"system": "FreeBSD"}),
        (lambda: None, "no program for the processor riscv64", {"processor": "riscv64"}),
        (lambda: None, "set RELEASE", {"RELEASE": ""}),
        (lambda: None, "SHA256SUMS cannot be downloaded", {"RELEASE": f"{address}/missing"}),
        (lambda: None, "cannot be written", {"INSTALL_DIR": "/proc/install"}),
        (lambda: archive.write_bytes(archive.read_bytes() + b"\0"), "is not the file that SHA256SUMS lists", {}),
        (archive.unlink, "lambda-chat-linux-x86_64.tar.gz cannot be downloaded", {}),
        (lambda: (release / "SHA256SUMS").write_text(""), "does not list lambda-chat-linux-x86_64.tar.gz", {}),
    ):
        fault()
        code, output = run(**arguments)
        if code != 1 or expected not in output or installed.read_bytes() != kept:
            yield f"install.sh: instead of {expected!r} the code is {code}: {output}"


def formula(work):
    """Checks that the formula has the archive and the checksum of each platform."""
    write_release(work / "files")
    sums = (work / "files/SHA256SUMS").read_text()
    command = [SCRIPTS / "formula", "org/repo", "v1.2.3"]
    text = subprocess.run(command, input=sums, check=True, capture_output=True, text=True).stdout
    if 'version "1.2.3"' not in text or "class LambdaChat < Formula" not in text:
        yield "formula: it names another version or class"
    blocks = re.findall(r'on_(\w+) do\n(?:    on_\w+ do\n      url "\S+"\n      sha256 "\w+"\n    end\n)+  end', text)
    found = re.findall(r'on_(arm|intel) do\n      url "(\S+)"\n      sha256 "(\w+)"', text)
    wanted = [
        (name, f"https://github.com/org/repo/releases/download/v1.2.3/{archive}", digest)
        for system in ("macos", "linux")
        for name, processor in (("arm", "arm64"), ("intel", "x86_64"))
        for digest, archive in [line.split() for line in sums.splitlines()]
        if archive == f"lambda-chat-{system}-{processor}.tar.gz"
    ]
    if blocks != ["macos", "linux"] or found != wanted:
        yield f"formula: it has {found}"
    if len(re.findall(r"\bdo$|^class|^  def", text, re.M)) != len(re.findall(r"^ *end$", text, re.M)):
        yield "formula: a block has no end"
    if shutil.which("ruby") and subprocess.run(["ruby", "-c"], input=text, capture_output=True, text=True).returncode:
        yield "formula: Ruby does not parse it"
    if subprocess.run(command, input=sums.split("\n", 1)[1], capture_output=True, text=True).returncode == 0:
        yield "formula: it is made without a platform's checksum"


def binstall():
    """Checks that the metadata names the archives that the release workflow makes, and the program in them."""
    workflow = yaml.safe_load((source.ROOT / ".github/workflows/release.yml").read_text())
    platforms = {one["platform"] for one in workflow["jobs"]["programs"]["strategy"]["matrix"]["include"]}
    package = tomllib.loads((source.ROOT / "functions/server/Cargo.toml").read_text())["package"]
    overrides = package["metadata"]["binstall"]["overrides"]
    values = {"{ repo }": package["repository"], "{ version }": VERSION, "{ bin }": "lambda-chat"}
    named = set()
    for target, override in overrides.items():
        processor = target.split("-")[0].replace("aarch64", "arm64")
        platform = f"{'macos' if 'apple' in target else 'linux'}-{processor}"
        named.add(platform)
        filled = {key: functools.reduce(lambda text, one: text.replace(*one), values.items(), text) for key, text in override.items()}
        wanted = {"pkg-url": f"{package['repository']}/releases/download/v{VERSION}/lambda-chat-{platform}.tar.gz", "bin-dir": f"lambda-chat-{platform}/lambda-chat"}
        if filled != wanted:
            yield f"binstall: for {target} it has {filled}"
    if named != platforms or platforms != set(PLATFORMS.values()) or package["metadata"]["binstall"]["pkg-fmt"] != "tgz":
        yield f"binstall: it names {named}, and the release has {platforms}"


def compose(program):
    """Checks the file of Compose against the settings, the program and the image."""
    service = yaml.safe_load((source.ROOT / "compose.yaml").read_text())["services"]["lambda-chat"]
    settings = (source.ROOT / "docs/reference/settings.md").read_text()
    unknown = [name for name in service["environment"] if not source.EXTERNAL_KEY.match(name) and not re.search(rf"\b{name}\b", settings)]
    if unknown:
        yield f"compose: there are no settings {unknown}"
    if service["environment"].pop("AUTH") != "${AUTH:-api_key}" or set(service["environment"].values()) != {None}:
        yield "compose: it sets more than authentication"
    if service["volumes"] != ["lambda-chat:/data"] or service["ports"] != ["127.0.0.1:3000:3000"]:
        yield "compose: the volume or the port is another one"
    command = service["healthcheck"]["test"]
    if command[:2] != ["CMD", "/lambda-chat"] or subprocess.run([program, *command[2:], "--help"], capture_output=True).returncode:
        yield f"compose: the program has no command {command}"
    if shutil.which("docker") and subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0:
        done = subprocess.run(["docker", "compose", "--file", source.ROOT / "compose.yaml", "config", "--quiet"], capture_output=True, text=True)
        if done.returncode:
            yield f"compose: {done.stderr}"


def launch(work):
    """Checks that each link opens a template whose code is next to it, with parameters that the template has."""
    variables = os.environ | {"RELEASE": str(work / "release"), "LAUNCH": str(work / "launch")}

    def run(*regions):
        return subprocess.run([SCRIPTS / "launch", "files-of-chat", "v1.2.3", *regions], env=variables, capture_output=True, text=True)

    regions = ("eu-west-1", "us-east-1")
    links = dict(re.findall(r"^\| (\S+) \| \[Launch stack\]\((\S+)\) \|$", run(*regions).stdout, re.M))
    if tuple(links) != regions:
        yield f"launch: it has links for {list(links)}"
    for region, link in links.items():
        bucket, console = f"files-of-chat-{region}", f"https://{region}.console.aws.amazon.com/cloudformation/home?region={region}#/stacks/create/review?"
        query = {name: value for name, [value] in parse_qs(urlsplit(link).fragment.split("?")[1]).items()}
        url = f"https://{bucket}.s3.{region}.amazonaws.com/v1.2.3/template-arm64.json"
        if not link.startswith(console) or query.pop("templateURL") != url or query.pop("stackName") != "lambda-chat":
            yield f"launch: the link of {region} is {link}"
        folder = work / "launch" / region
        template = json.loads((folder / "v1.2.3/template-arm64.json").read_text())
        if query != {"param_BedrockModel": "global.amazon.nova-2-lite-v1:0"} or any(name.removeprefix("param_") not in template["Parameters"] for name in query):
            yield f"launch: the link of {region} has the parameters {query}"
        codes = [one["Properties"]["Code"] for one in template["Resources"].values() if one["Type"] == "AWS::Lambda::Function"]
        if not codes or any(code["S3Bucket"] != bucket or not (folder / code["S3Key"]).is_file() for code in codes):
            yield f"launch: the code in {region} is {codes}"
        if (folder / "v1.2.3/template-arm64.json").stat().st_size > 1_000_000:
            yield "launch: CloudFormation reads no template of more than 1 MB"
    for region in ("cn-north-1", "us-gov-west-1", "nowhere"):
        if run(region).returncode == 0:
            yield f"launch: {region} gets a link"


def question(work, program):
    """Checks that `users delete` asks at a terminal, and deletes only after `yes`."""
    data = work / "users"
    shutil.rmtree(data, ignore_errors=True)

    def run(*arguments, answer=None):
        terminal = pty.openpty() if answer else None
        stdin = terminal[1] if terminal else subprocess.DEVNULL
        if terminal:
            os.write(terminal[0], answer)
        done = subprocess.run([program, *arguments, "--data", data], stdin=stdin, capture_output=True, text=True, env={})
        return done.returncode, done.stdout

    run("keys", "create", "--user", "ann")
    code, output = run("users", "delete", "ann", answer=b"y\n")
    if code != 1 or output != "would delete ann: 1 key\n":
        yield f"users delete: without `yes` the code is {code}, the output {output!r}"
    code, output = run("users", "delete", "ann", answer=b"yes\n")
    if code or output != "would delete ann: 1 key\ndeleted ann: 1 keys, 0 conversations, 0 other items\n":
        yield f"users delete: after `yes` the code is {code}, the output {output!r}"
    run("keys", "create", "--user", "ann")
    if run("users", "delete", "ann", "--yes", answer=b"\n") != (0, "deleted ann: 1 keys, 0 conversations, 0 other items\n"):
        yield "users delete: with --yes it asks"


def main():
    work, program = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    faults = [*install_script(work), *formula(work), *binstall(), *compose(program), *launch(work), *question(work, program)]
    for fault in faults:
        print(f"  {fault}")
    if faults:
        sys.exit(1)
    print("  ok: a release installs, its links open its stack, and a deletion is confirmed")


main()
