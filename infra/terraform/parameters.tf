# Generated from template.yaml by infra/release/terraform; do not edit.

variable "architecture" {
  description = "The processor that the function is built for and runs on."
  type        = string
  default     = "arm64"
  nullable    = false
  validation {
    condition     = contains(["arm64", "x86_64"], var.architecture)
    error_message = "The parameter Architecture does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth" {
  description = "How callers prove who they are. With none, which only the emulator on your own machine accepts, nothing but the page is served."
  type        = string
  default     = "api_key"
  nullable    = false
  validation {
    condition     = contains(["api_key", "jwt", "none"], var.auth)
    error_message = "The parameter Auth does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth_jwt_issuer" {
  description = "For jwt, whose tokens are accepted, as they name it in iss."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https://[^\\s?#]+$", var.auth_jwt_issuer))
    error_message = "The parameter AuthJwtIssuer does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth_jwt_audience" {
  description = "For jwt, for whom the tokens must be made (aud)."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[\\x21-\\x7e]{0,256}$", var.auth_jwt_audience))
    error_message = "The parameter AuthJwtAudience does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth_jwt_jwks_url" {
  description = "For jwt, where the issuer's keys are; empty to ask its discovery document."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https://[^\\s#]+$", var.auth_jwt_jwks_url))
    error_message = "The parameter AuthJwtJwksUrl does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth_jwt_client_id" {
  description = "For jwt, the page's id as a public client of the issuer, so that users sign in there; empty for a page where they paste a token."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[\\x21-\\x7e]{0,256}$", var.auth_jwt_client_id))
    error_message = "The parameter AuthJwtClientId does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth_jwt_scope" {
  description = "For jwt, the scopes that the page requests, with a space between them, openid among them; empty for openid alone."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^([\\x21\\x23-\\x5b\\x5d-\\x7e]+ )*openid( [\\x21\\x23-\\x5b\\x5d-\\x7e]+)*$", var.auth_jwt_scope))
    error_message = "The parameter AuthJwtScope does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth_jwt_token_url" {
  description = "For jwt, the issuer's token endpoint if its origin is not the issuer's, as with Amazon Cognito."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https://[^\\s@?#]+$", var.auth_jwt_token_url))
    error_message = "The parameter AuthJwtTokenUrl does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth_jwt_admin_claim" {
  description = "For jwt, the claim that makes a caller an administrator; empty for role."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[\\x21-\\x7e]{0,256}$", var.auth_jwt_admin_claim))
    error_message = "The parameter AuthJwtAdminClaim does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth_jwt_admin_value" {
  description = "For jwt, what that claim of an administrator is, or contains as an array; empty for admin."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = length(var.auth_jwt_admin_value) <= 256
    error_message = "The parameter AuthJwtAdminValue does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth_jwt_name_claim" {
  description = "For jwt, the claim with what people call the user; empty for name."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[\\x21-\\x7e]{0,256}$", var.auth_jwt_name_claim))
    error_message = "The parameter AuthJwtNameClaim does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "auth_jwt_groups_claim" {
  description = "For jwt, the claim with the names of the user's groups; empty for none."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[\\x21-\\x7e]{0,256}$", var.auth_jwt_groups_claim))
    error_message = "The parameter AuthJwtGroupsClaim does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "allowed_origins" {
  description = "Browsers' origins that may read answers, comma-separated and exact, such as https://chat.example.com. The page itself needs none."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https?://[A-Za-z0-9.:\\[\\]-]+(\\s*,\\s*https?://[A-Za-z0-9.:\\[\\]-]+)*$", var.allowed_origins))
    error_message = "The parameter AllowedOrigins does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "front_door" {
  description = "What stands before the function - its own URL; CloudFront, which alone may call the URL and takes a firewall; or a REST API, which takes one too. All three stream."
  type        = string
  default     = "url"
  nullable    = false
  validation {
    condition     = contains(["url", "cloudfront", "rest"], var.front_door)
    error_message = "The parameter FrontDoor does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "origin_key_parameter" {
  description = "For cloudfront, the SSM parameter (type String) with a key that CloudFront sends to the function, so that any client can call it. Empty for CloudFront's signature, for which clients must send the hash of each body."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.origin_key_parameter))
    error_message = "The parameter OriginKeyParameter does not accept this value: the name of a parameter with its leading slash."
  }
}

variable "previous_origin_key_parameter" {
  description = "The parameter with the key before, which the function still accepts while CloudFront changes over to another one; else empty."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.previous_origin_key_parameter))
    error_message = "The parameter PreviousOriginKeyParameter does not accept this value: the name of a parameter with its leading slash."
  }
}

variable "web_acl_arn" {
  description = "The firewall of cloudfront (made in us-east-1) or rest (made in this region), as infra/waf.yaml makes it; empty for none."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:wafv2:[a-z0-9-]+:[0-9]{12}:(global|regional)/webacl/.+$", var.web_acl_arn))
    error_message = "The parameter WebAclArn does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "domain_name" {
  description = "A domain of your own for cloudfront or rest, such as chat.example.com; empty for the one that AWS gives."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,63}$", var.domain_name))
    error_message = "The parameter DomainName does not accept this value: a domain name in small letters such as chat.example.com."
  }
}

variable "certificate_arn" {
  description = "The certificate of that domain in Certificate Manager, of us-east-1 for cloudfront, of this region for rest."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[A-Za-z0-9-]+$", var.certificate_arn))
    error_message = "The parameter CertificateArn does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "hosted_zone_id" {
  description = "The Route 53 zone in which the domain's records are made; empty to make them yourself, to what the output DomainTarget names."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^Z[A-Z0-9]{1,31}$", var.hosted_zone_id))
    error_message = "The parameter HostedZoneId does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "price_class" {
  description = "The edges that cloudfront serves from. 100 has none in Asia, 200 none in South America and Australia."
  type        = string
  default     = "PriceClass_200"
  nullable    = false
  validation {
    condition     = contains(["PriceClass_100", "PriceClass_200", "PriceClass_All"], var.price_class)
    error_message = "The parameter PriceClass does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "subnet_ids" {
  description = "For rest, subnets of a network with models that only it can reach, with commas between them; empty for no network. They need a way to DynamoDB and to every other service that the function calls."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^subnet-[0-9a-f]+(,subnet-[0-9a-f]+)*$", var.subnet_ids))
    error_message = "The parameter SubnetIds does not accept this value: ids of subnets with commas and no spaces between them."
  }
}

variable "security_group_ids" {
  description = "The security groups of the function in that network."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^sg-[0-9a-f]+(,sg-[0-9a-f]+)*$", var.security_group_ids))
    error_message = "The parameter SecurityGroupIds does not accept this value: ids of security groups with commas and no spaces between them."
  }
}

variable "deployment" {
  description = "How calls go over to a new version; one that fails is taken back. With AllAtOnce it has all callers before an alarm can fire."
  type        = string
  default     = "Canary10Percent5Minutes"
  nullable    = false
  validation {
    condition     = contains(["Canary10Percent5Minutes", "Canary10Percent15Minutes", "Linear10PercentEvery1Minute", "AllAtOnce"], var.deployment)
    error_message = "The parameter Deployment does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "check_key_parameter" {
  description = "The SSM parameter that holds a key of the caller deployment-check, with its leading slash. With it each new version is tried before anybody is sent to it; empty for no such checks."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.check_key_parameter))
    error_message = "The parameter CheckKeyParameter does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "alarm_email" {
  description = "The address that is told of alarms, after it has confirmed a first message; empty for none."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$", var.alarm_email))
    error_message = "The parameter AlarmEmail does not accept this value: an address such as ann@example.com."
  }
}

variable "alarm_topic_arn" {
  description = "An SNS topic of your own that is told of alarms; empty for none."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$", var.alarm_topic_arn))
    error_message = "The parameter AlarmTopicArn does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "release" {
  description = "A name of this deployment, which the version's description contains. Another name publishes a version again that was rolled back."
  type        = string
  default     = "none"
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9._-]{1,64}$", var.release))
    error_message = "The parameter Release does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "bedrock_model" {
  description = "A model of Amazon Bedrock, used under the name bedrock without any key - its id, an inference profile's id such as global.amazon.nova-2-lite-v1:0, or an ARN."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9._:/-]{0,256}$", var.bedrock_model))
    error_message = "The parameter BedrockModel does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "bedrock_arns" {
  description = "ARNs of further models and inference profiles of Bedrock that rows of Models use, with commas and no spaces between them; for bedrock-mantle, of projects."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:bedrock(-mantle)?:[a-z0-9*-]*:[0-9]*:[a-z-]+/[A-Za-z0-9._:*-]+(,arn:aws[a-z-]*:bedrock(-mantle)?:[a-z0-9*-]*:[0-9]*:[a-z-]+/[A-Za-z0-9._:*-]+)*$", var.bedrock_arns))
    error_message = "The parameter BedrockArns does not accept this value: ARNs with commas and no spaces between them."
  }
}

variable "ark_model" {
  description = "Volcengine Ark's model or endpoint id, used under the name volcano."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9._:/@-]{0,256}$", var.ark_model))
    error_message = "The parameter ArkModel does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "ark_api_key_parameter" {
  description = "The SSM parameter that holds the key of Ark, with its leading slash."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.ark_api_key_parameter))
    error_message = "The parameter ArkApiKeyParameter does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "ark_api_key_secret" {
  description = "Instead, the name of the secret of Secrets Manager that holds the key of Ark."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9/_+=.@-]{0,512}$", var.ark_api_key_secret))
    error_message = "The parameter ArkApiKeySecret does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "ark_base_url" {
  description = "Where Ark is; empty for its own address."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https?://[^\\s?#]+$", var.ark_base_url))
    error_message = "The parameter ArkBaseUrl does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "openai_model" {
  description = "The model of an OpenAI-compatible endpoint, used under the name openai."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9._:/@-]{0,256}$", var.openai_model))
    error_message = "The parameter OpenaiModel does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "openai_api_key_parameter" {
  description = "The SSM parameter that holds its key, with its leading slash."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.openai_api_key_parameter))
    error_message = "The parameter OpenaiApiKeyParameter does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "openai_api_key_secret" {
  description = "Instead, the name of the secret of Secrets Manager that holds its key."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9/_+=.@-]{0,512}$", var.openai_api_key_secret))
    error_message = "The parameter OpenaiApiKeySecret does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "openai_base_url" {
  description = "Where the endpoint is; empty for OpenAI's own address."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https?://[^\\s?#]+$", var.openai_base_url))
    error_message = "The parameter OpenaiBaseUrl does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "ollama_model" {
  description = "A model of an Ollama server, used under the name local."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9._:/@-]{0,256}$", var.ollama_model))
    error_message = "The parameter OllamaModel does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "ollama_api_url" {
  description = "The root address of that server."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https?://[^\\s?#]+$", var.ollama_api_url))
    error_message = "The parameter OllamaApiUrl does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "ollama_max_context_tokens" {
  description = "The largest context window to request from that server, in tokens. It costs the server memory."
  type        = number
  default     = 16384
  nullable    = false
  validation {
    condition     = var.ollama_max_context_tokens >= 1024 && var.ollama_max_context_tokens <= 1048576
    error_message = "The parameter OllamaMaxContextTokens does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "azure_tenant_id" {
  description = "For models of Azure in Models without a key, the tenant of an application of Entra ID."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9.-]{0,256}$", var.azure_tenant_id))
    error_message = "The parameter AzureTenantId does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "azure_client_id" {
  description = "The id of that application."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9-]{0,64}$", var.azure_client_id))
    error_message = "The parameter AzureClientId does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "azure_client_secret_parameter" {
  description = "The SSM parameter that holds its secret, with its leading slash."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.azure_client_secret_parameter))
    error_message = "The parameter AzureClientSecretParameter does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "google_credentials_file" {
  description = "For models of Vertex AI in Models, the file of workload identity federation, such as /opt/google.json of DocumentsLayer."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.google_credentials_file))
    error_message = "The parameter GoogleCredentialsFile does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "model_keys_under" {
  description = "What the names of the SSM parameters begin with that rows of Models name in apiKeyParameter, such as /lambda-chat/models/; empty for none. The function may read all of them, so keep nothing else there."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+/$", var.model_keys_under))
    error_message = "The parameter ModelKeysUnder does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "models" {
  description = "Further models as a JSON array. A key is in an SSM parameter that apiKeyParameter names, or in ARK_API_KEY or OPENAI_API_KEY, which apiKeyVar may name. docs/reference/settings.md lists the fields."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^\\[[\\s\\S]*\\]$", var.models))
    error_message = "The parameter Models does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "model_options" {
  description = "Options by a model's name as a JSON object, such as {\"volcano\":{\"thinking\":\"off\"}}. docs/reference/settings.md lists the fields."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^\\{[\\s\\S]*\\}$", var.model_options))
    error_message = "The parameter ModelOptions does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "default_model" {
  description = "The name of the model that answers when a request names none; empty for the first that is configured."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = length(var.default_model) <= 256
    error_message = "The parameter DefaultModel does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "system_prompt" {
  description = "Replaces the assistant's own words; the instructions for tools are still added."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = length(var.system_prompt) <= 2000
    error_message = "The parameter SystemPrompt does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "system_prompt_parameter" {
  description = "Instead of SystemPrompt, the SSM parameter that holds it, with its leading slash. All variables of a function together have 4 KB, and a Chinese character takes three bytes of them."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.system_prompt_parameter))
    error_message = "The parameter SystemPromptParameter does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "prompt_language" {
  description = "The language of the prompts; auto is that of a conversation's first message."
  type        = string
  default     = "auto"
  nullable    = false
  validation {
    condition     = contains(["auto", "zh", "en"], var.prompt_language)
    error_message = "The parameter PromptLanguage does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "time_zone" {
  description = "The IANA time zone of the date in prompts if a client sends none, such as Asia/Shanghai."
  type        = string
  default     = "UTC"
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z][A-Za-z0-9_+/-]{0,63}$", var.time_zone))
    error_message = "The parameter TimeZone does not accept this value: an IANA time zone such as Asia/Shanghai."
  }
}

variable "mask" {
  description = "Kinds of personal data that are replaced before they go to search and to tools' hosts, and in records of calls; all, or some of email, phone, id and card with commas between them. Models and users see the originals."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^((all|(email|phone|id|card)( *, *(email|phone|id|card))*))?$", var.mask))
    error_message = "The parameter Mask does not accept this value: all, or some of email, phone, id and card with commas between them."
  }
}

variable "mask_patterns" {
  description = "Further patterns to replace, a JSON array such as [{\"name\":\"employee\",\"pattern\":\"E[0-9]{6}\"}]."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = length(var.mask_patterns) <= 1000
    error_message = "The parameter MaskPatterns does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "mask_results" {
  description = "Whether Mask and MaskPatterns also replace personal data in the results of searches, pages and tools before a model reads them."
  type        = string
  default     = "no"
  nullable    = false
  validation {
    condition     = contains(["yes", "no"], var.mask_results)
    error_message = "The parameter MaskResults does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "mask_answers" {
  description = "Whether Mask and MaskPatterns also replace personal data in answers, as they stream and as they are stored."
  type        = string
  default     = "no"
  nullable    = false
  validation {
    condition     = contains(["yes", "no"], var.mask_answers)
    error_message = "The parameter MaskAnswers does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "tool_secrets_under" {
  description = "What the names of the SSM parameters and of the secrets of Secrets Manager begin with that defined tools may send, such as /lambda-chat/tools/; empty for none. The function may read all of them, so keep nothing else there."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+/$", var.tool_secrets_under))
    error_message = "The parameter ToolSecretsUnder does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "documents_dir" {
  description = "The folder of documents that the agent `documents` answers from, such as /opt/documents of a layer; empty for none. It needs Function=full."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.documents_dir))
    error_message = "The parameter DocumentsDir does not accept this value: an absolute path such as /opt/documents."
  }
}

variable "documents_bucket" {
  description = "Instead of DocumentsDir, a bucket of this region with the documents, which the function copies to /tmp and keeps fresh; empty for none."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", var.documents_bucket))
    error_message = "The parameter DocumentsBucket does not accept this value: the name of a bucket."
  }
}

variable "documents_prefix" {
  description = "The folder in DocumentsBucket, such as team/handbook/ with its last slash; empty for the whole bucket."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^([A-Za-z0-9_-][A-Za-z0-9_.-]*/)+$", var.documents_prefix))
    error_message = "The parameter DocumentsPrefix does not accept this value: a path without a first and with a last slash, such as team/handbook/."
  }
}

variable "documents_layer" {
  description = "The ARN of a version of a layer that is mounted at /opt, such as one with a folder `documents` for DocumentsDir=/opt/documents; empty for none."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:layer:[A-Za-z0-9_-]+:[0-9]+$", var.documents_layer))
    error_message = "The parameter DocumentsLayer does not accept this value: the ARN of a version of a layer."
  }
}

variable "documents_hidden" {
  description = "Whether hidden and ignored files in that folder can be read too."
  type        = string
  default     = "no"
  nullable    = false
  validation {
    condition     = contains(["yes", "no"], var.documents_hidden)
    error_message = "The parameter DocumentsHidden does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "document_groups" {
  description = "The groups that may read paths of the documents, as a JSON object such as {\"legal/\":[\"legal\"]}; empty for every caller. docs/deploy/groups.md describes it."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^\\{[\\s\\S]*\\}$", var.document_groups))
    error_message = "The parameter DocumentGroups does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "attachments_bucket" {
  description = "A bucket of this region for the files that users attach to messages, as infra/attachments.yaml makes it; empty for no files."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$", var.attachments_bucket))
    error_message = "The parameter AttachmentsBucket does not accept this value: the name of a bucket, 3 to 63 lower-case letters, digits and hyphens."
  }
}

variable "search_provider" {
  description = "Who searches, in the order of failover. aws is the web search of Amazon Bedrock AgentCore, which needs no key; empty for Tavily if its key is set."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = contains(["", "tavily", "aws", "tavily,aws", "aws,tavily"], var.search_provider)
    error_message = "The parameter SearchProvider does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "search_region" {
  description = "The region of Amazon's web search, such as us-east-1; empty for the stack's own."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[a-z0-9-]{0,32}$", var.search_region))
    error_message = "The parameter SearchRegion does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "tavily_api_key_parameter" {
  description = "The SSM parameter that holds the key of the search, with its leading slash."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.tavily_api_key_parameter))
    error_message = "The parameter TavilyApiKeyParameter does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "tavily_api_key_secret" {
  description = "Instead, the name of the secret of Secrets Manager that holds the key of the search."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9/_+=.@-]{0,512}$", var.tavily_api_key_secret))
    error_message = "The parameter TavilyApiKeySecret does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "tavily_base_url" {
  description = "Where the search is; empty for Tavily's own address."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https?://[^\\s?#]+$", var.tavily_base_url))
    error_message = "The parameter TavilyBaseUrl does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "search_cache_ttl_seconds" {
  description = "How long a search result is fresh."
  type        = number
  default     = 3600
  nullable    = false
  validation {
    condition     = var.search_cache_ttl_seconds >= 0 && var.search_cache_ttl_seconds <= 2592000
    error_message = "The parameter SearchCacheTtlSeconds does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "articles" {
  description = "Whether models search articles; empty for yes with EmbeddingsModel. It needs Function=full."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = contains(["", "yes", "no"], var.articles)
    error_message = "The parameter Articles does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "embeddings_model" {
  description = "The model that embeds articles and queries, as its endpoint names it; empty to search articles by their terms alone. It needs Function=full."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[\\x21-\\x7e]{0,256}$", var.embeddings_model))
    error_message = "The parameter EmbeddingsModel does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "embeddings_base_url" {
  description = "Where that model is, an OpenAI-compatible API; empty for OpenAI's own address."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https?://[^\\s?#]+$", var.embeddings_base_url))
    error_message = "The parameter EmbeddingsBaseUrl does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "embeddings_api_key_parameter" {
  description = "The SSM parameter that holds the key of the embeddings endpoint, with its leading slash."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.embeddings_api_key_parameter))
    error_message = "The parameter EmbeddingsApiKeyParameter does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "embeddings_api_key_secret" {
  description = "Instead, the name of the secret of Secrets Manager that holds the key of the embeddings endpoint."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^[A-Za-z0-9/_+=.@-]{0,512}$", var.embeddings_api_key_secret))
    error_message = "The parameter EmbeddingsApiKeySecret does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "articles_vector_bucket" {
  description = "A vector bucket of this region, such as that of infra/vectors.yaml, whose index ArticlesVectorIndex has the vectors of articles; empty to search articles in the memory of each instance."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$", var.articles_vector_bucket))
    error_message = "The parameter ArticlesVectorBucket does not accept this value: the name of a vector bucket."
  }
}

variable "articles_vector_index" {
  description = "The index in ArticlesVectorBucket."
  type        = string
  default     = "articles"
  nullable    = false
  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", var.articles_vector_index))
    error_message = "The parameter ArticlesVectorIndex does not accept this value: the name of a vector index."
  }
}

variable "tavily_monthly_credits" {
  description = "The most credits that search may cost in a month of UTC; empty for no budget. Searches are cheap ones below a quarter of it, and cached ones when it is spent."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^[1-9][0-9]{0,8}$", var.tavily_monthly_credits))
    error_message = "The parameter TavilyMonthlyCredits does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "tavily_daily_credits" {
  description = "The same for a day."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^[1-9][0-9]{0,8}$", var.tavily_daily_credits))
    error_message = "The parameter TavilyDailyCredits does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "chat_rate_limit" {
  description = "Turns per caller, N/Ws - a burst of N, one back every W/N seconds."
  type        = string
  default     = "20/60s"
  nullable    = false
  validation {
    condition     = can(regex("^[1-9][0-9]{0,5}/[1-9][0-9]{0,6}s$", var.chat_rate_limit))
    error_message = "The parameter ChatRateLimit does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "search_rate_limit" {
  description = "Searches per caller, N/Ws; results from the cache cost nothing."
  type        = string
  default     = "10/60s"
  nullable    = false
  validation {
    condition     = can(regex("^[1-9][0-9]{0,5}/[1-9][0-9]{0,6}s$", var.search_rate_limit))
    error_message = "The parameter SearchRateLimit does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "user_daily_tokens" {
  description = "Tokens that one caller may use in a day (UTC), read and written; empty for any number."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^([1-9][0-9]{0,14})?$", var.user_daily_tokens))
    error_message = "The parameter UserDailyTokens does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "user_daily_searches" {
  description = "Searches that one caller may cause in a day (UTC); results from the cache cost nothing. Empty for any number."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^([1-9][0-9]{0,8})?$", var.user_daily_searches))
    error_message = "The parameter UserDailySearches does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "user_daily_cost" {
  description = "What one caller may cost in a day (UTC), such as 2.50 in the currency of the prices; empty for any amount."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = var.user_daily_cost == "" || can(regex("[1-9]", var.user_daily_cost))
    error_message = "The parameter UserDailyCost does not accept this value: an amount above 0 such as 2.50."
  }
  validation {
    condition     = can(regex("^$|^[0-9]{1,9}(\\.[0-9]{1,6})?$", var.user_daily_cost))
    error_message = "The parameter UserDailyCost does not accept this value: an amount above 0 such as 2.50."
  }
}

variable "total_daily_tokens" {
  description = "Tokens that all callers together may use in a day (UTC), read and written; empty for any number."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^([1-9][0-9]{0,14})?$", var.total_daily_tokens))
    error_message = "The parameter TotalDailyTokens does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "total_daily_searches" {
  description = "Searches that all callers together may cause in a day (UTC); results from the cache cost nothing. Empty for any number."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^([1-9][0-9]{0,8})?$", var.total_daily_searches))
    error_message = "The parameter TotalDailySearches does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "total_daily_cost" {
  description = "What all callers together may cost in a day (UTC), such as 2.50 in the currency of the prices; empty for any amount."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = var.total_daily_cost == "" || can(regex("[1-9]", var.total_daily_cost))
    error_message = "The parameter TotalDailyCost does not accept this value: an amount above 0 such as 2.50."
  }
  validation {
    condition     = can(regex("^$|^[0-9]{1,9}(\\.[0-9]{1,6})?$", var.total_daily_cost))
    error_message = "The parameter TotalDailyCost does not accept this value: an amount above 0 such as 2.50."
  }
}

variable "group_budgets" {
  description = "What the members of groups may use together in a day (UTC), as a JSON object such as {\"legal\":{\"dailyTokens\":1000000,\"dailyCost\":\"2.50\"}}; empty for any amount."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^\\{[\\s\\S]*\\}$", var.group_budgets))
    error_message = "The parameter GroupBudgets does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "max_tool_rounds" {
  description = "Rounds with tools before the last one without, 0 to 50; empty for the default of the model's kind."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^([0-9]|[1-4][0-9]|50)?$", var.max_tool_rounds))
    error_message = "The parameter MaxToolRounds does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "history_tokens" {
  description = "The most tokens of earlier turns in a prompt, by estimate; 0 for none."
  type        = number
  default     = 24000
  nullable    = false
  validation {
    condition     = var.history_tokens >= 0 && var.history_tokens <= 1000000
    error_message = "The parameter HistoryTokens does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "summarise_history" {
  description = "Whether earlier turns for which there is no room are condensed into a summary by the model."
  type        = string
  default     = "no"
  nullable    = false
  validation {
    condition     = contains(["yes", "no"], var.summarise_history)
    error_message = "The parameter SummariseHistory does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "title_model" {
  description = "The model that writes the titles of conversations, by its name; same for the one that answers, none for the beginning of the first message."
  type        = string
  default     = "same"
  nullable    = false
  validation {
    condition     = length(var.title_model) <= 256
    error_message = "The parameter TitleModel does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "turn_seconds" {
  description = "The longest turn. The function's own limit is 900 seconds, of which 8 are kept for storing the answer."
  type        = number
  default     = 300
  nullable    = false
  validation {
    condition     = var.turn_seconds >= 1 && var.turn_seconds <= 890
    error_message = "The parameter TurnSeconds does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "model_first_byte_seconds" {
  description = "How long a model may take to begin its answer."
  type        = number
  default     = 30
  nullable    = false
  validation {
    condition     = var.model_first_byte_seconds >= 1 && var.model_first_byte_seconds <= 890
    error_message = "The parameter ModelFirstByteSeconds does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "model_idle_seconds" {
  description = "How long a model may be silent in the middle of its answer."
  type        = number
  default     = 30
  nullable    = false
  validation {
    condition     = var.model_idle_seconds >= 1 && var.model_idle_seconds <= 890
    error_message = "The parameter ModelIdleSeconds does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "model_progress_seconds" {
  description = "How long a model may go without adding to its answer."
  type        = number
  default     = 90
  nullable    = false
  validation {
    condition     = var.model_progress_seconds >= 1 && var.model_progress_seconds <= 890
    error_message = "The parameter ModelProgressSeconds does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "reserved_concurrency" {
  description = "The most turns at one time, and the account's share that is kept for them. Lambda keeps 100 of the account's limit unreserved, so a new account takes none only, the default; 0 switches the function off."
  type        = string
  default     = "none"
  nullable    = false
  validation {
    condition     = can(regex("^(none|0|[1-9][0-9]{0,3})$", var.reserved_concurrency))
    error_message = "The parameter ReservedConcurrency does not accept this value: none, or a number from 0 to 9999."
  }
}

variable "existing_data_table" {
  description = "The name of a data table to use instead of making one, such as one that was restored or that another stack left."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^[A-Za-z0-9_.-]{3,255}$", var.existing_data_table))
    error_message = "The parameter ExistingDataTable does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "max_table_units" {
  description = "The most request units per second that each table of this stack takes for reading, and for writing; requests above are refused as storage_busy. Empty for no maximum."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^([1-9][0-9]{0,6})?$", var.max_table_units))
    error_message = "The parameter MaxTableUnits does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "backup_days" {
  description = "How many days each daily backup of the data table is kept by AWS Backup, beyond the 35 days of its point-in-time recovery; 0 for no such backups."
  type        = number
  default     = 0
  nullable    = false
  validation {
    condition     = var.backup_days >= 0 && var.backup_days <= 36500
    error_message = "The parameter BackupDays does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "existing_backup_vault" {
  description = "The name of a vault of AWS Backup for these backups instead of making one, such as one that this stack left; empty makes one."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^[A-Za-z0-9_-]{2,50}$", var.existing_backup_vault))
    error_message = "The parameter ExistingBackupVault does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "memory_size" {
  description = "The function's memory in MB; its share of a processor grows with it."
  type        = number
  default     = 256
  nullable    = false
  validation {
    condition     = var.memory_size >= 128 && var.memory_size <= 10240
    error_message = "The parameter MemorySize does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "log_retention_days" {
  description = "How long logs are kept. They hold no words of users and no keys."
  type        = number
  default     = 30
  nullable    = false
  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_days)
    error_message = "The parameter LogRetentionDays does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "log_level" {
  description = "What is logged."
  type        = string
  default     = "info"
  nullable    = false
  validation {
    condition     = contains(["error", "warn", "info"], var.log_level)
    error_message = "The parameter LogLevel does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "otlp_endpoint" {
  description = "A collector of OpenTelemetry that gets the spans of each turn by OTLP over HTTP, such as https://cloud.langfuse.com/api/public/otel, or https://xray.eu-west-1.amazonaws.com for CloudWatch; empty for none."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https?://[^\\s@?#]+$", var.otlp_endpoint))
    error_message = "The parameter OtlpEndpoint does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "otlp_headers_parameter" {
  description = "The SSM parameter that holds the headers for OtlpEndpoint, such as authorization=Basic%20..., with its leading slash. An address of Amazon needs none."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^(/[A-Za-z0-9_.-]+)+$", var.otlp_headers_parameter))
    error_message = "The parameter OtlpHeadersParameter does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "otlp_capture_content" {
  description = "Whether spans have the text of users, answers and tool calls too."
  type        = string
  default     = "no"
  nullable    = false
  validation {
    condition     = contains(["yes", "no"], var.otlp_capture_content)
    error_message = "The parameter OtlpCaptureContent does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "kms_key_arn" {
  description = "The key that encrypts the parameters or secrets above, if it is one of your own."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$", var.kms_key_arn))
    error_message = "The parameter KmsKeyArn does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "permissions_boundary_arn" {
  description = "A policy that bounds what every role of the stack may do; empty for none. The pipeline sets its own."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/.+$", var.permissions_boundary_arn))
    error_message = "The parameter PermissionsBoundaryArn does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "buffered_api" {
  description = "Whether to deploy the function a second time, behind an HTTP API. Its answers come whole, after at most 30 seconds."
  type        = string
  default     = "false"
  nullable    = false
  validation {
    condition     = contains(["true", "false"], var.buffered_api)
    error_message = "The parameter BufferedApi does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "dynamodb_endpoint" {
  description = "Another address of DynamoDB, such as that of an endpoint in a VPC or of an emulator."
  type        = string
  default     = ""
  nullable    = false
  validation {
    condition     = can(regex("^$|^https?://[^\\s?#]+$", var.dynamodb_endpoint))
    error_message = "The parameter DynamodbEndpoint does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

variable "allow_private_upstreams" {
  description = "Whether models, embeddings and the search may have http:// or private addresses."
  type        = string
  default     = "no"
  nullable    = false
  validation {
    condition     = contains(["yes", "no"], var.allow_private_upstreams)
    error_message = "The parameter AllowPrivateUpstreams does not accept this value: its description and docs/deploy/parameters.md name what it accepts."
  }
}

locals {
  parameters = {
    Architecture               = var.architecture
    Auth                       = var.auth
    AuthJwtIssuer              = var.auth_jwt_issuer
    AuthJwtAudience            = var.auth_jwt_audience
    AuthJwtJwksUrl             = var.auth_jwt_jwks_url
    AuthJwtClientId            = var.auth_jwt_client_id
    AuthJwtScope               = var.auth_jwt_scope
    AuthJwtTokenUrl            = var.auth_jwt_token_url
    AuthJwtAdminClaim          = var.auth_jwt_admin_claim
    AuthJwtAdminValue          = var.auth_jwt_admin_value
    AuthJwtNameClaim           = var.auth_jwt_name_claim
    AuthJwtGroupsClaim         = var.auth_jwt_groups_claim
    AllowedOrigins             = var.allowed_origins
    FrontDoor                  = var.front_door
    OriginKeyParameter         = var.origin_key_parameter
    PreviousOriginKeyParameter = var.previous_origin_key_parameter
    WebAclArn                  = var.web_acl_arn
    DomainName                 = var.domain_name
    CertificateArn             = var.certificate_arn
    HostedZoneId               = var.hosted_zone_id
    PriceClass                 = var.price_class
    SubnetIds                  = var.subnet_ids
    SecurityGroupIds           = var.security_group_ids
    Deployment                 = var.deployment
    CheckKeyParameter          = var.check_key_parameter
    AlarmEmail                 = var.alarm_email
    AlarmTopicArn              = var.alarm_topic_arn
    Release                    = var.release
    BedrockModel               = var.bedrock_model
    BedrockArns                = var.bedrock_arns
    ArkModel                   = var.ark_model
    ArkApiKeyParameter         = var.ark_api_key_parameter
    ArkApiKeySecret            = var.ark_api_key_secret
    ArkBaseUrl                 = var.ark_base_url
    OpenaiModel                = var.openai_model
    OpenaiApiKeyParameter      = var.openai_api_key_parameter
    OpenaiApiKeySecret         = var.openai_api_key_secret
    OpenaiBaseUrl              = var.openai_base_url
    OllamaModel                = var.ollama_model
    OllamaApiUrl               = var.ollama_api_url
    OllamaMaxContextTokens     = var.ollama_max_context_tokens
    AzureTenantId              = var.azure_tenant_id
    AzureClientId              = var.azure_client_id
    AzureClientSecretParameter = var.azure_client_secret_parameter
    GoogleCredentialsFile      = var.google_credentials_file
    ModelKeysUnder             = var.model_keys_under
    Models                     = var.models
    ModelOptions               = var.model_options
    DefaultModel               = var.default_model
    SystemPrompt               = var.system_prompt
    SystemPromptParameter      = var.system_prompt_parameter
    PromptLanguage             = var.prompt_language
    TimeZone                   = var.time_zone
    Mask                       = var.mask
    MaskPatterns               = var.mask_patterns
    MaskResults                = var.mask_results
    MaskAnswers                = var.mask_answers
    ToolSecretsUnder           = var.tool_secrets_under
    DocumentsDir               = var.documents_dir
    DocumentsBucket            = var.documents_bucket
    DocumentsPrefix            = var.documents_prefix
    DocumentsLayer             = var.documents_layer
    DocumentsHidden            = var.documents_hidden
    DocumentGroups             = var.document_groups
    AttachmentsBucket          = var.attachments_bucket
    SearchProvider             = var.search_provider
    SearchRegion               = var.search_region
    TavilyApiKeyParameter      = var.tavily_api_key_parameter
    TavilyApiKeySecret         = var.tavily_api_key_secret
    TavilyBaseUrl              = var.tavily_base_url
    SearchCacheTtlSeconds      = var.search_cache_ttl_seconds
    Articles                   = var.articles
    EmbeddingsModel            = var.embeddings_model
    EmbeddingsBaseUrl          = var.embeddings_base_url
    EmbeddingsApiKeyParameter  = var.embeddings_api_key_parameter
    EmbeddingsApiKeySecret     = var.embeddings_api_key_secret
    ArticlesVectorBucket       = var.articles_vector_bucket
    ArticlesVectorIndex        = var.articles_vector_index
    TavilyMonthlyCredits       = var.tavily_monthly_credits
    TavilyDailyCredits         = var.tavily_daily_credits
    ChatRateLimit              = var.chat_rate_limit
    SearchRateLimit            = var.search_rate_limit
    UserDailyTokens            = var.user_daily_tokens
    UserDailySearches          = var.user_daily_searches
    UserDailyCost              = var.user_daily_cost
    TotalDailyTokens           = var.total_daily_tokens
    TotalDailySearches         = var.total_daily_searches
    TotalDailyCost             = var.total_daily_cost
    GroupBudgets               = var.group_budgets
    MaxToolRounds              = var.max_tool_rounds
    HistoryTokens              = var.history_tokens
    SummariseHistory           = var.summarise_history
    TitleModel                 = var.title_model
    TurnSeconds                = var.turn_seconds
    ModelFirstByteSeconds      = var.model_first_byte_seconds
    ModelIdleSeconds           = var.model_idle_seconds
    ModelProgressSeconds       = var.model_progress_seconds
    ReservedConcurrency        = var.reserved_concurrency
    ExistingDataTable          = var.existing_data_table
    MaxTableUnits              = var.max_table_units
    BackupDays                 = var.backup_days
    ExistingBackupVault        = var.existing_backup_vault
    MemorySize                 = var.memory_size
    LogRetentionDays           = var.log_retention_days
    LogLevel                   = var.log_level
    OtlpEndpoint               = var.otlp_endpoint
    OtlpHeadersParameter       = var.otlp_headers_parameter
    OtlpCaptureContent         = var.otlp_capture_content
    KmsKeyArn                  = var.kms_key_arn
    PermissionsBoundaryArn     = var.permissions_boundary_arn
    BufferedApi                = var.buffered_api
    DynamodbEndpoint           = var.dynamodb_endpoint
    AllowPrivateUpstreams      = var.allow_private_upstreams
  }
}
