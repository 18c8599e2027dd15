"""Sends files of users through the server to a bucket of moto, an emulator of S3, with the permissions of the function's role.

Usage: attachments.py FOLDER PROFILE SERVER: a writable folder, an output of profiles.py with AttachmentsBucket, and the local server.

Moto checks the signature of each request, and whether the role permits it. It does neither for forms, nor does it tag what they
upload: `Forms` does all three as S3's documents have it. Expiry is compared with the rule of infra/attachments.yaml.
"""

import base64
import binascii
import hashlib
import hmac
import json
import logging
import os
import re
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zlib
from datetime import datetime, timezone
from pathlib import Path
from xml.etree import ElementTree

import boto3
import emulator
import source
import yaml
from moto import settings
from moto.cloudformation.utils import yaml_tag_constructor
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from moto.s3.models import s3_backends
from moto.s3.responses import S3Response

BUCKET, ORIGIN, REGION, ACCOUNT = "lambda-chat-attachments-1", "https://chat.example.com", "eu-west-1", "123456789012"
LARGEST = 25 * 1024 * 1024
UNUSED = {"unused": "yes"}
# Fields of a form that its policy need not name.
# https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html, 2026-11-27.
UNNAMED = {"x-amz-signature", "file", "policy"}
SECONDS = 60
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Forms:
    """What moto lacks of uploads by form, and the actions of all requests to objects."""

    def __init__(self, secret):
        self.secret, self.used = secret, set()
        forms, authorise, upload = self, S3Response._authenticate_and_authorize_s3_action, S3Response._bucket_response_post

        def recorded(response, bucket_name=None, key_name=None):
            if response.normalized_request.form.get("key"):
                return
            if key_name:
                forms.used |= actions(response.method, response.parsed_url.query, response.headers)
            authorise(response, bucket_name=bucket_name, key_name=key_name)

        def checked(response, request, bucket_name):
            fields = dict(response.form_data)
            fault = forms.fault(fields, bucket_name, len(response.body))
            if fault:
                return 403, {}, fault
            answer = upload(response, request, bucket_name)
            tags = {one.findtext("Key"): one.findtext("Value") for one in ElementTree.fromstring(fields.get("tagging", "<Tagging/>")).iter("Tag")}
            response.backend.put_object_tagging(response.backend.get_object(bucket_name, fields["key"]), tags)
            forms.used |= {"s3:PutObject"} | ({"s3:PutObjectTagging"} if tags else set())
            return answer

        S3Response._authenticate_and_authorize_s3_action, S3Response._bucket_response_post = recorded, checked

    def fault(self, fields, bucket, length):
        """Why S3 refuses a form, if it does."""
        try:
            policy = json.loads(base64.b64decode(fields["policy"], validate=True))
            _, date, region, service, kind = fields["x-amz-credential"].split("/")
        except (KeyError, ValueError, binascii.Error) as fault:
            return f"the form is not signed: {fault!r}"
        key = f"AWS4{self.secret}".encode()
        for part in (date, region, service, kind):
            key = hmac.digest(key, part.encode(), hashlib.sha256)
        if hmac.digest(key, fields["policy"].encode(), hashlib.sha256).hex() != fields.get("x-amz-signature"):
            return "the form has another signature"
        if datetime.fromisoformat(policy["expiration"]) <= datetime.now(timezone.utc):
            return "the form has expired"
        exact, ranges = {}, []
        for one in policy["conditions"]:
            if isinstance(one, dict):
                exact |= one
            elif one[0] == "eq":
                exact[one[1].removeprefix("$")] = one[2]
            elif one[0] == "content-length-range":
                ranges.append((one[1], one[2]))
            else:
                return f"unknown here: {one}"
        given = {name: value for name, value in fields.items() if name not in UNNAMED} | {"bucket": bucket}
        for name in sorted(set(exact) | set(given)):
            if exact.get(name) != given.get(name):
                return f"the policy and the form differ in {name}"
        if not all(least <= length <= most for least, most in ranges):
            return "the file has another length than the policy permits"
        return None


def actions(method, query, headers):
    """The permissions that a request to an object needs."""
    if method == "PUT":
        return {"s3:PutObject"} | ({"s3:PutObjectTagging"} if headers.get("x-amz-tagging") else set())
    if method == "DELETE":
        return {"s3:DeleteObjectTagging" if query.startswith("tagging") else "s3:DeleteObject"}
    return {f"s3:{method.title()}Object"}


class Bucket:
    """The bucket of infra/attachments.yaml."""

    def __init__(self, template):
        (self.rule,) = [one for one in template["Resources"]["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"] if "ExpirationInDays" in one]
        self.backend = s3_backends[ACCOUNT]["aws"]

    def objects(self):
        """The keys of all objects with their tags."""
        return {key: self.backend.get_object_tagging(one)["Tags"] for key, one in self.backend.get_bucket(BUCKET).keys.items()}

    def tags(self):
        return [{one["Key"]: one["Value"] for one in tags} for tags in self.objects().values()]

    def expiring(self):
        """The keys that the rule deletes after a day."""
        wanted = [{"Key": one["Key"], "Value": one["Value"]} for one in self.rule["TagFilters"]]
        return {key for key, tags in self.objects().items() if key.startswith(self.rule["Prefix"]) and all(one in tags for one in wanted)}


def make_bucket(template):
    """Makes the stack of the template as far as moto can."""
    reduced, missing = emulator.reduced(template)
    stack = boto3.client("cloudformation")
    values = [{"ParameterKey": "BucketName", "ParameterValue": BUCKET}, {"ParameterKey": "AllowedOrigins", "ParameterValue": ORIGIN}]
    stack.create_stack(StackName="attachments", TemplateBody=json.dumps(reduced), Parameters=values)
    (outputs,) = [one["Outputs"] for one in stack.describe_stacks(StackName="attachments")["Stacks"]]
    print(f"  the bucket is made; unknown to moto: {', '.join(missing)}")
    if [one["OutputValue"] for one in outputs] != [BUCKET]:
        yield f"the stack's outputs are {outputs}"


def role(profile):
    """What the function's role may do with the bucket."""
    (policy,) = profile["Resources"]["ChatRole"]["Properties"]["Policies"]
    found = json.dumps([one for one in policy["PolicyDocument"]["Statement"] if "Attachments" in one["Sid"]])
    found = found.replace("${AWS::Partition}", "aws").replace("${AttachmentsBucket}", BUCKET)
    return [{**one, "Resource": one["Resource"]["Fn::Sub"]} for one in json.loads(found)]


def make_caller(statements):
    """The keys of somebody who may do what the role may."""
    iam = boto3.client("iam")
    iam.create_user(UserName="function")
    iam.put_user_policy(UserName="function", PolicyName="chat", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": statements}))
    key = iam.create_access_key(UserName="function")["AccessKey"]
    return key["AccessKeyId"], key["SecretAccessKey"]


class Chat:
    """A running server."""

    def __init__(self, program, folder, variables):
        log = folder / "server.log"
        self.log = log.open("wb")
        arguments = [program, "--port", "0", "--data", str(folder / "data")]
        self.process = subprocess.Popen(arguments, env=variables, stdout=self.log, stderr=self.log)
        end = time.monotonic() + SECONDS
        while not (address := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server does not start: {log.read_text()[-2000:]}")
            time.sleep(0.1)
        self.root = address[0]

    def call(self, method, path, body=None, kind="application/json"):
        body = json.dumps(body).encode() if isinstance(body, dict) else body
        return send(urllib.request.Request(f"{self.root}{path}", data=body, method=method, headers={"content-type": kind}))

    def must(self, status, method, path, body=None, kind="application/json"):
        found, answer = self.call(method, path, body, kind)
        if found != status:
            raise RuntimeError(f"{method} {path} answers {found} {answer[:500]!r}")
        return answer

    def json(self, status, method, path, body=None, kind="application/json"):
        return json.loads(self.must(status, method, path, body, kind))

    def policy(self):
        """The content security policy of the page."""
        with OPENER.open(self.root, timeout=SECONDS) as response:
            return response.headers["content-security-policy"]

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)


def send(request):
    try:
        with OPENER.open(request, timeout=SECONDS) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError as error:
        return 0, str(error).encode()


def post_form(form, content, **changed):
    """Sends a form as a browser does: its fields, then the file."""
    parts = [f'--XX\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in (form["fields"] | changed).items()]
    parts.append(b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n' + content + b"\r\n--XX--\r\n")
    headers = {"content-type": "multipart/form-data; boundary=XX", "origin": ORIGIN}
    return send(urllib.request.Request(form["url"], data=b"".join(parts), method="POST", headers=headers))


def picture():
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(b"\0\0")), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks)


def direct(chat, bucket):
    """A file in the body of a request, and a picture that is deleted again."""
    content = "On Mondays the kitchen is closed. 周一厨房关门。\n".encode()
    notes = chat.json(201, "POST", "/api/attachments?name=notes.txt", content, "text/plain")
    if (notes["name"], notes["kind"], notes["bytes"]) != ("notes.txt", "text", len(content)):
        yield f"an upload answers {notes}"
    keys = set(bucket.objects())
    if len(keys) != 2 or any(not key.startswith("attachments/") or key.removesuffix(".txt").rsplit("/", 1)[1] != notes["id"] for key in keys):
        yield f"a text is stored as {keys}"
    image = chat.json(201, "POST", "/api/attachments?name=dot.png", picture(), "image/png")
    if image["kind"] != "image" or not chat.must(200, "GET", f"/api/attachments/{image['id']}").startswith(b"\x89PNG"):
        yield f"a picture answers {image}"
    if bucket.expiring() != set(bucket.objects()) or any(tags != UNUSED for tags in bucket.tags()):
        yield f"what no message uses is tagged {bucket.objects()}"
    chat.must(204, "DELETE", f"/api/attachments/{image['id']}")
    if set(bucket.objects()) != keys:
        yield f"a deleted picture leaves {bucket.objects()}"
    return notes["id"], content


def by_form(chat, bucket, endpoint):
    """A file that is too large for a request."""
    content = b"".join(b"line %06d of a long list\n" % number for number in range(200_000))
    before = set(bucket.objects())
    large = {"name": "large.txt", "type": "text/plain", "bytes": len(content)}
    form = chat.json(201, "POST", "/api/attachments/uploads", large)
    complete = f"/api/attachments/{form['id']}/complete"
    if form["url"] != f"{endpoint}/{BUCKET}/":
        yield f"a form is for {form['url']}"
    for fault, answer in (
        ("another key", post_form(form, content, key="attachments/other/file")),
        ("another tag", post_form(form, content, tagging="<Tagging><TagSet/></Tagging>")),
        ("a further field", post_form(form, content, acl="public-read")),
        ("a file above the limit", post_form(form, b"a" * (LARGEST + 1))),
        ("an empty file", post_form(form, b"")),
    ):
        if answer[0] != 403:
            yield f"a form with {fault} answers {answer}"
    # It is not there yet, which S3 tells only who may list the bucket.
    chat.must(400, "POST", complete)
    status, answer = post_form(form, content)
    new = set(bucket.objects()) - before
    if status != 204 or len(new) != 1 or not new <= bucket.expiring():
        yield f"a form answers {status} {answer}, and stores {new}"
    file = chat.json(201, "POST", complete)
    if (file["id"], file["kind"], file["bytes"]) != (form["id"], "text", len(content)):
        yield f"a completed upload answers {file}"
    if chat.json(201, "POST", complete) != file:
        yield "a second completion answers otherwise"
    if len(bucket.expiring()) != len(before) + 2:
        yield f"a completed upload is tagged {bucket.objects()}"
    return form["id"], content


def used(chat, bucket, files):
    """A conversation about files, and its end."""
    body = {"message": "What is in these files?", "attachments": [name for name, _ in files]}
    stream = chat.must(200, "POST", "/api/chat", body)
    events = [json.loads(line[6:]) for line in stream.decode().splitlines() if line.startswith("data: {")]
    if not stream.rstrip().endswith(b"data: [DONE]") or events[-1]["type"] != "done":
        yield f"a turn with files ends with {events[-1:]}"
    if len(bucket.objects()) != 4 or bucket.expiring() or any(bucket.tags()):
        yield f"what a message uses is tagged {bucket.objects()}"
    for name, content in files:
        if chat.must(200, "GET", f"/api/attachments/{name}") != content or not chat.must(200, "GET", f"/api/attachments/{name}/text"):
            yield f"{name} is read back otherwise"
    conversation = f"/api/conversations/{events[0]['conversationId']}"
    listed = [one["id"] for message in chat.json(200, "GET", conversation)["messages"] for one in message.get("attachments", [])]
    if listed != body["attachments"]:
        yield f"the message lists {listed}"
    chat.must(204, "DELETE", conversation)
    if bucket.objects():
        yield f"a deleted conversation leaves {bucket.objects()}"


def erased(chat, bucket):
    """A user's files, and the end of the user's data."""
    chat.must(201, "POST", "/api/attachments?name=last.txt", b"a", "text/plain")
    chat.must(200, "DELETE", "/api/me", {"confirm": "erase"})
    if bucket.objects():
        yield f"an erased user leaves {bucket.objects()}"


def flow(chat, bucket, endpoint):
    if f" {endpoint}/{BUCKET}/" not in chat.policy():
        yield "the page may not connect to the bucket"
    files = []
    for part in (direct(chat, bucket), by_form(chat, bucket, endpoint)):
        files.append((yield from part))
    yield from used(chat, bucket, files)
    yield from erased(chat, bucket)


def permitted(statements, forms):
    """Checks that the role may do with objects what was done, and nothing else."""
    (of_objects,) = [one["Action"] for one in statements if one["Resource"].endswith("/*")]
    if set(of_objects) != forms.used:
        yield f"the role and the requests differ in {sorted(set(of_objects) ^ forms.used)}"


def main():
    logging.disable()  # the requests to moto
    folder, profile, program = Path(sys.argv[1]).resolve(), json.loads(Path(sys.argv[2]).read_text()), sys.argv[3]
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    endpoint = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    os.environ |= {"AWS_ENDPOINT_URL": endpoint, "AWS_DEFAULT_REGION": REGION, "MOTO_IAM_LOAD_MANAGED_POLICIES": "false", "NO_PROXY": "127.0.0.1"}
    yaml.add_multi_constructor("", yaml_tag_constructor)
    template = yaml.load((source.ROOT / "infra/attachments.yaml").read_text(), yaml.Loader)
    faults = list(make_bucket(template))
    statements = role(profile)
    key, secret = make_caller(statements)
    forms, bucket = Forms(secret), Bucket(template)
    # From here on only the caller of the role, with its signature.
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    variables = {"AWS_ENDPOINT_URL_S3": endpoint, "AWS_REGION": REGION, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "ATTACHMENTS_BUCKET": BUCKET}
    chat = Chat(program, folder, variables)
    try:
        faults += flow(chat, bucket, endpoint)
        faults += permitted(statements, forms)
    except RuntimeError as fault:
        faults.append(str(fault))
    finally:
        chat.stop()
        server.stop()
    for fault in faults:
        print(f"  {fault}")
    if faults:
        print((folder / "server.log").read_text()[-2000:])
        sys.exit(1)
    print(f"  ok: files go to a bucket and away again, with {len(forms.used)} permissions")


main()
