# Lambda Chat as a module. The stack is the one of a release's template; Terraform uploads its files, and passes parameters and outputs.
# parameters.tf and outputs.tf are generated from template.yaml by infra/release/terraform.

terraform {
  required_version = ">= 1.3"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 4.0"
    }
  }
}

variable "bucket" {
  description = "A bucket in the stack's region, for the functions' archives and the template."
  type        = string
}

variable "stack_name" {
  description = "The name of the stack, at most 30 characters."
  type        = string
  default     = "lambda-chat"
  validation {
    condition     = can(regex("^[A-Za-z][A-Za-z0-9-]{0,29}$", var.stack_name))
    error_message = "The value is a letter and at most 29 letters, digits and hyphens."
  }
}

variable "files" {
  description = "The folder with a release's template and archives; null for the module's own folder, as in the archive of a release."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of the stack, which CloudFormation passes on to its resources."
  type        = map(string)
  default     = {}
}

locals {
  files = coalesce(var.files, path.module)
  # Documents, articles, and the readers of PDF and office files are in the full function only.
  searches = var.articles != "no" && (var.articles == "yes" || var.embeddings_model != "")
  full     = local.searches || var.documents_dir != "" || var.documents_bucket != "" || var.articles_vector_bucket != "" || var.attachments_bucket != ""
  archives = { chat = "chat${local.full ? "-full" : ""}-${var.architecture}.zip", verify = "verify-${var.architecture}.zip" }
  # Named by their content: CloudFormation notices another file, and can return to the one before.
  keys = { for name, file in local.archives : name => "${var.stack_name}/${filesha256("${local.files}/${file}")}.zip" }
  code = { for name, key in local.keys : name => jsonencode({ S3Bucket = var.bucket, S3Key = key }) }
  template = replace(replace(
    file("${local.files}/template${local.full ? "-full" : ""}-${var.architecture}.json"),
    "\"./${local.archives["chat"]}\"", local.code["chat"]),
  "\"./${local.archives["verify"]}\"", local.code["verify"])
}

data "aws_s3_bucket" "files" {
  bucket = var.bucket
}

resource "aws_s3_object" "archive" {
  for_each = local.archives
  bucket   = var.bucket
  key      = local.keys[each.key]
  source   = "${local.files}/${each.value}"
  # A failed update of the stack returns to the files before.
  lifecycle {
    create_before_destroy = true
  }
}

# A template of this size must come from a bucket.
resource "aws_s3_object" "template" {
  bucket  = var.bucket
  key     = "${var.stack_name}/${sha256(local.template)}.json"
  content = local.template
  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_cloudformation_stack" "chat" {
  name         = var.stack_name
  template_url = "https://${data.aws_s3_bucket.files.bucket_regional_domain_name}/${aws_s3_object.template.key}"
  parameters   = local.parameters
  capabilities = ["CAPABILITY_IAM"]
  tags         = var.tags
  depends_on   = [aws_s3_object.archive]
  # A canary, and a distribution, take their time.
  timeouts {
    create = "60m"
    update = "90m"
    delete = "60m"
  }
}
