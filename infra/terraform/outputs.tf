# Generated from template.yaml by infra/release/terraform; do not edit.

output "version" {
  description = "The version of the product and the name of its deployment. The commit is in GET /healthz."
  value       = lookup(aws_cloudformation_stack.chat.outputs, "Version", null)
}

output "backup_vault_name" {
  description = "The vault with the backups of the data table."
  value       = lookup(aws_cloudformation_stack.chat.outputs, "BackupVaultName", null)
}

output "chat_url" {
  description = "Where the page and every route are."
  value       = lookup(aws_cloudformation_stack.chat.outputs, "ChatUrl", null)
}

output "domain_target" {
  description = "What DomainName must point to, by a CNAME record, if there is no HostedZoneId."
  value       = lookup(aws_cloudformation_stack.chat.outputs, "DomainTarget", null)
}

output "buffered_url" {
  description = "Where answers come whole."
  value       = lookup(aws_cloudformation_stack.chat.outputs, "BufferedUrl", null)
}

output "function_name" {
  description = "The streaming function."
  value       = lookup(aws_cloudformation_stack.chat.outputs, "FunctionName", null)
}

output "first_key" {
  description = "The command that makes and prints the first administrator's key, in a shell with the AWS CLI and credentials."
  value       = lookup(aws_cloudformation_stack.chat.outputs, "FirstKey", null)
}

output "variables" {
  description = "The command that sets the variables by which the program lambda-chat finds this stack with --aws. It reads credentials from variables too."
  value       = lookup(aws_cloudformation_stack.chat.outputs, "Variables", null)
}

output "switch_off" {
  description = "The command that stops all calls within seconds. docs/deploy.md has the one that switches on again."
  value       = lookup(aws_cloudformation_stack.chat.outputs, "SwitchOff", null)
}

output "log_group_name" {
  description = "Where the function's logs are."
  value       = lookup(aws_cloudformation_stack.chat.outputs, "LogGroupName", null)
}
