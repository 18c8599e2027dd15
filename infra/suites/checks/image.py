"""Checks the container image of a release: its layout, that it is reproducible, that it starts, and that it is pushed as it is.

Usage: image.py FOLDER PROGRAM, a writable folder and a built `lambda-chat`. `skopeo` must be on the path, and starting the program in
the image needs root.
"""

import base64
import hashlib
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import source

USER = 65532
CREDENTIAL = "Basic " + base64.b64encode(b"ann:token").decode()
# How long a start, a stop or an answer may take at most.
SECONDS = 60
PDF = source.ROOT / "functions/server/tests/models/pdf/two-pages.pdf"


def prepare(copy, program):
    """A folder with the scripts and the two layers: the program's own, and one with only the header of a program for arm64."""
    (copy / "infra").mkdir(parents=True)
    shutil.copytree(source.ROOT / "infra/release", copy / "infra/release")
    shutil.copy(source.ROOT / "Cargo.toml", copy)
    header = copy / "header"
    header.write_bytes(b"\x7fELF" + bytes(14) + b"\xb7" + bytes(35) + b"\x38" + bytes(9))  # no segments of 56 bytes
    (copy / "release").mkdir()
    for name, executable in (("x86_64", program), ("arm64", header)):
        pack_layer(copy, name, executable)


def pack_layer(copy, name, executable):
    folder = copy / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(executable, folder / "lambda-chat")
    for licence in ("LICENSE", "LICENSE-APACHE", "LICENSE-MIT"):
        shutil.copy(source.ROOT / licence, folder)
    output = copy / f"release/layer-{name}.tar.gz"
    subprocess.run([copy / "infra/release/image", "layer", folder, output], check=True)
    return output


def assemble(copy):
    """Runs the script on copies of the layers; returns the digest that it prints, and its code."""
    (copy / "release/THIRD-PARTY").write_text("a 1.0.0 MIT\n")
    variables = os.environ | {"GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": "Org/repo", "GITHUB_SHA": "0123"}
    done = subprocess.run([copy / "infra/release/image", "index"], env=variables, capture_output=True, text=True)
    return done.stdout.strip(), done.returncode


def layers(copy):
    return {path: path.read_bytes() for path in copy.glob("release/layer-*")}


def restore(kept):
    for path, content in kept.items():
        path.write_bytes(content)


def reproducible(copy, program):
    """Checks that the same inputs give the same bytes, and that a layer of the wrong processor is refused."""
    kept = layers(copy)
    if pack_layer(copy, "x86_64", program).read_bytes() != kept[copy / "release/layer-x86_64.tar.gz"]:
        yield "layer: the same program gives another layer"
    first, code = assemble(copy)
    archive = (copy / "release/lambda-chat-image.tar").read_bytes()
    if code or not re.fullmatch("sha256:[0-9a-f]{64}", first) or layers(copy):
        yield "image: it is not assembled, or its parts are left"
    restore(kept)
    if assemble(copy)[0] != first or (copy / "release/lambda-chat-image.tar").read_bytes() != archive:
        yield "image: the same layers give another image"
    restore(kept)
    (copy / "release/layer-arm64.tar.gz").write_bytes(kept[copy / "release/layer-x86_64.tar.gz"])
    if assemble(copy)[1] == 0:
        yield "image: a program for x86_64 is in the image for arm64"
    (copy / "release/lambda-chat-image.tar").write_bytes(archive)


class Layout:
    """An unpacked layout; every blob that is read is compared with its descriptor."""

    def __init__(self, folder):
        self.folder, self.read = folder, set()

    def blob(self, descriptor):
        algorithm, digest = descriptor["digest"].split(":")
        content = (self.folder / "blobs" / algorithm / digest).read_bytes()
        self.read.add(digest)
        if hashlib.new(algorithm, content).hexdigest() != digest or len(content) != descriptor["size"]:
            raise ValueError(f"{digest}: another content or size")
        return content

    def json(self, descriptor, media_type):
        content = json.loads(self.blob(descriptor))
        if descriptor["mediaType"] != f"application/vnd.oci.image.{media_type}":
            raise ValueError(f"{descriptor['digest']} is a {descriptor['mediaType']}")
        return content


def unpack(copy):
    """Unpacks the archive and the layers for this processor; checks all descriptors."""
    folder, root = copy / "layout", copy / "root"
    for one in (folder, root):
        shutil.rmtree(one, ignore_errors=True)
        one.mkdir()
    with tarfile.open(copy / "release/lambda-chat-image.tar") as archive:
        archive.extractall(folder)
    layout = Layout(folder)
    (entry,) = json.loads((folder / "index.json").read_text())["manifests"]
    configs = {}
    for descriptor in layout.json(entry, "index.v1+json")["manifests"]:
        manifest = layout.json(descriptor, "manifest.v1+json")
        config = layout.json(manifest["config"], "config.v1+json")
        configs[descriptor["platform"]["architecture"]] = config
        if {name: config[name] for name in descriptor["platform"]} != descriptor["platform"]:
            raise ValueError("a manifest has a configuration for another platform")
        for layer, expected in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
            data = copy / "layer.tar"
            data.write_bytes(subprocess.run(["gzip", "--decompress"], input=layout.blob(layer), check=True, capture_output=True).stdout)
            if expected != f"sha256:{hashlib.sha256(data.read_bytes()).hexdigest()}":
                raise ValueError("a layer has another content than the configuration names")
            if config["architecture"] == "amd64":
                subprocess.run(["tar", "--extract", "--numeric-owner", "--same-permissions", "--file", data, "--directory", root], check=True)
    if {path.name for path in (folder / "blobs/sha256").iterdir()} != layout.read:
        raise ValueError("the layout has blobs that nothing names")
    return root, configs


def files(root, configs):
    if set(configs) != {"amd64", "arm64"}:
        yield f"image: its platforms are {sorted(configs)}"
    settings = configs["amd64"]["config"]
    if settings != configs["arm64"]["config"] or settings["User"] != f"{USER}:{USER}" or settings["Volumes"] != {"/data": {}}:
        yield f"image: its settings are {settings}"
    owners = {str(path.relative_to(root)): path.stat().st_uid for path in root.rglob("*")}
    if {path for path, owner in owners.items() if owner != 0} != {"data"} or owners["data"] != USER:
        yield "image: the user owns something else than its data"
    if [path for path in root.rglob("*") if path.stat().st_mode & 0o022 and path.name != "tmp"]:
        yield "image: any user may change its files"
    texts = {path.name for path in root.glob("usr/share/doc/lambda-chat/*")}
    if texts != {"LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY"} or not (root / "usr/share/doc/libc6/copyright").exists():
        yield f"image: it lacks licences: {texts}"


def in_image(root, settings, arguments, **variables):
    """Starts the image's program as an engine does: its root, user, working directory and variables, and nothing of this machine."""
    user, group = map(int, settings["User"].split(":"))

    def change_root():
        os.chroot(root)
        os.chdir(settings["WorkingDir"])
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)

    values = dict(one.split("=", 1) for one in settings["Env"]) | variables
    command = [*settings["Entrypoint"], *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, preexec_fn=change_root, env=values, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)


def get(port, path, key=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    connection.request("GET", path, headers={"Authorization": f"Bearer {key}"} if key else {})
    response = connection.getresponse()
    return response.status, response.read()


def started(root, settings):
    """Checks that the program serves callers with a key, and no others."""
    refused = in_image(root, settings, settings["Cmd"], AUTH="none")
    _, errors = refused.communicate(timeout=SECONDS)
    if refused.returncode != 2 or "without authentication" not in errors:
        yield f"image: it serves callers without a key, or gives no reason: {errors}"
    server = in_image(root, settings, [*settings["Cmd"], "--port", "0"])
    watchdog = threading.Timer(SECONDS, server.kill)
    watchdog.start()
    try:
        yield from answers(root, settings, server)
    finally:
        watchdog.cancel()
        server.kill()


def answers(root, settings, server):
    port = next((int(found[1]) for line in server.stdout if (found := re.search(r"http://[^:/ ]+:(\d+)", line))), None)
    if port is None:
        yield f"image: it does not start: {server.stderr.read()}"
        return
    created, _ = in_image(root, settings, ["keys", "create", "--user", "ann"]).communicate(timeout=SECONDS)
    key = next(iter(re.findall(r"\S{20,}", created)), "")
    if get(port, "/healthz")[0] != 200 or get(port, "/api/me")[0] != 401:
        yield "image: it does not answer, or answers without a key"
    status, caller = get(port, "/api/me", key)
    if status != 200 or b'"ann"' not in caller:
        yield f"image: the key of a running container is answered with {status}"
    # A process of its own reads each PDF. An engine adds /proc and devices to this root; it needs neither.
    shutil.copy(PDF, root)
    printed = in_image(root, settings, ["articles", "add", f"/{PDF.name}"]).communicate(timeout=SECONDS)
    if not re.search(r"\b1 articles? added", "".join(printed)):
        yield f"image: a PDF is not read: {printed}"
    if {path.stat().st_uid for path in (root / "data").rglob("*")} != {USER}:
        yield "image: the data are not the user's"
    server.terminate()
    if server.wait(timeout=SECONDS) != 0:
        yield f"image: stopping it ends with code {server.returncode}"


class Registry(BaseHTTPRequestHandler):
    """A registry (opencontainers/distribution-spec 1.1) with the routes of a push, for one caller."""

    protocol_version = "HTTP/1.1"
    uploads, stored = {}, {}

    def respond(self, status, content=b"", **headers):
        self.send_response(status)
        for name, value in ({"Content-Length": len(content)} | headers).items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(content)

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        content = b""
        while size := int(self.rfile.readline(), 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def handle_request(self):
        body, (path, _, query) = self.body(), self.path.partition("?")
        if self.headers.get("Authorization") != CREDENTIAL:
            return self.respond(401, WWW_Authenticate='Basic realm="registry"')
        if path == "/v2/":
            return self.respond(200)
        if self.command in ("GET", "HEAD"):
            return self.respond(200 if path in self.stored else 404)
        if self.command == "POST":
            location = f"{path}{len(self.uploads)}"
            self.uploads[location] = b""
            return self.respond(202, Location=location)
        if self.command == "PATCH":
            self.uploads[path] += body
            return self.respond(202, Location=path)
        if path in self.uploads:
            digest = query.removeprefix("digest=").replace("%3A", ":")
            self.stored[f"{path.split('/uploads/')[0]}/{digest}"] = self.uploads[path] + body
        else:
            self.stored[path] = body
        return self.respond(201, Location=path)

    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = handle_request

    def log_message(self, *_):
        pass


@contextmanager
def registry(folder):
    """Serves a registry over TLS; yields its address. The certificate is in the folder."""
    certificate, key = folder / "certificate", folder / "key"
    subject = ("-subj", "/CN=registry", "-addext", "subjectAltName=IP:127.0.0.1")
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc")
    subprocess.run(["openssl", "req", "-x509", *new, *subject, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()


def pushed(copy, digest):
    """Checks with the real client that exactly the image arrives, and no other file."""
    with registry(copy) as address:
        output = copy / "output"
        variables = os.environ | {
            "SSL_CERT_FILE": str(copy / "certificate"),
            "GITHUB_ACTOR": "ann",
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REPOSITORY": "Org/repo",
            "GH_TOKEN": "token",
            "REGISTRY": address,
        }

        def push(**more):
            output.unlink(missing_ok=True)
            return subprocess.run([copy / "infra/release/push", "v1"], env=variables | more, capture_output=True, text=True, timeout=2 * SECONDS)

        sums = subprocess.run(["sha256sum", "lambda-chat-image.tar"], cwd=copy / "release", check=True, capture_output=True, text=True)
        (copy / "release/SHA256SUMS").write_text(sums.stdout)
        refused = push(GH_TOKEN="another")
        if refused.returncode == 0 or Registry.stored or "invalid username/password" not in refused.stderr:
            yield f"push: it works without the right token, or fails otherwise: {refused.stderr}"
        done = push()
        if done.returncode or output.read_text() != f"name={address}/org/repo\ndigest={digest}\n":
            yield f"push: it fails, or the next step attests something else: {done.stderr}"
            return
        arrived = {f"sha256:{hashlib.sha256(content).hexdigest()}" for content in Registry.stored.values()}
        wanted = {f"sha256:{path.name}" for path in (copy / "layout/blobs/sha256").iterdir()}
        tagged = hashlib.sha256(Registry.stored["/v2/org/repo/manifests/v1"]).hexdigest()
        if arrived != wanted or f"sha256:{tagged}" != digest:
            yield "push: something else than the image arrives"
        (copy / "release/lambda-chat-image.tar").write_bytes(b"changed")
        if push().returncode == 0:
            yield "push: an image that was changed is pushed"


def main():
    work, built = (Path(one).resolve() for one in sys.argv[1:])
    copy = work / "image"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    program = copy / "lambda-chat"
    subprocess.run(["strip", "-o", program, built], check=True)  # three quarters of a debug build are symbols
    prepare(copy, program)
    faults = list(reproducible(copy, program))
    root, configs = unpack(copy)
    faults += files(root, configs)
    if os.geteuid() == 0:
        faults += started(root, configs["amd64"]["config"])
    else:
        print("  not started in the image, which needs root")
    (entry,) = json.loads((copy / "layout/index.json").read_text())["manifests"]
    faults += pushed(copy, entry["digest"])
    for fault in faults:
        print(f"  {fault}")
    if faults:
        sys.exit(1)
    print("  ok: the image starts, and arrives in a registry")


main()
