"""Permissions that CloudFormation's providers list, but this template does not need, by property."""

PASSED = "iam:passrole"

# Permissions needed only if a property is set, by type. The check fails when the template sets such a property.
ONLY_WITH = {
    "AWS::Lambda::Function": {
        "VpcConfig": ["ec2:*"],
        "FileSystemConfigs": ["elasticfilesystem:*", "s3files:*"],
        "KmsKeyArn": ["kms:*"],
        "CodeSigningConfigArn": [
            "lambda:GetCodeSigningConfig",
            "lambda:PutFunctionCodeSigningConfig",
            "lambda:DeleteFunctionCodeSigningConfig",
        ],
        "Layers": ["lambda:GetLayerVersion"],
        "RecursiveLoop": ["lambda:PutFunctionRecursionConfig"],
        "RuntimeManagementConfig": ["lambda:PutRuntimeManagementConfig", "lambda:AssociateRuntimeAlias"],
        "S3ObjectVersion": ["s3:GetObjectVersion"],
        "CapacityProviderConfig": ["lambda:PassCapacityProvider"],
        "FunctionScalingConfig": ["lambda:PutFunctionScalingConfig"],
        "ReservedConcurrentExecutions": ["lambda:PutFunctionConcurrency", "lambda:DeleteFunctionConcurrency"],
    },
    "AWS::Lambda::Version": {
        "ProvisionedConcurrencyConfig": ["lambda:PutProvisionedConcurrencyConfig"],
        "RuntimePolicy": ["lambda:PutRuntimeManagementConfig"],
        "FunctionScalingConfig": ["lambda:PutFunctionScalingConfig"],
    },
    "AWS::Lambda::Alias": {
        "ProvisionedConcurrencyConfig": [
            "lambda:PutProvisionedConcurrencyConfig",
            "lambda:DeleteProvisionedConcurrencyConfig",
        ],
    },
    "AWS::DynamoDB::Table": {
        "KMSMasterKeyId": ["kms:*"],
        "ResourcePolicy": ["dynamodb:PutResourcePolicy", "dynamodb:DeleteResourcePolicy"],
        "ContributorInsightsSpecification": ["dynamodb:UpdateContributorInsights"],
        "KinesisStreamSpecification": [
            "kinesis:*",
            "dynamodb:EnableKinesisStreamingDestination",
            "dynamodb:DisableKinesisStreamingDestination",
            "dynamodb:UpdateKinesisStreamingDestination",
        ],
        "ImportSourceSpecification": ["dynamodb:ImportTable", "dynamodb:DescribeImport", "logs:*", "s3:*"],
    },
    "AWS::Logs::LogGroup": {
        "KmsKeyId": ["logs:AssociateKmsKey", "logs:DisassociateKmsKey"],
        "DataProtectionPolicy": [
            "logs:PutDataProtectionPolicy",
            "logs:DeleteDataProtectionPolicy",
            "logs:CreateLogDelivery",
            "s3:REST.PUT.OBJECT",
            "firehose:TagDeliveryStream",
        ],
        # Reading these two needs permissions for all groups; without them a group is created, but its drift cannot be detected.
        "FieldIndexPolicies": ["logs:PutIndexPolicy", "logs:DeleteIndexPolicy", "logs:DescribeIndexPolicies"],
        "ResourcePolicyDocument": [
            "logs:PutResourcePolicy",
            "logs:DeleteResourcePolicy",
            "logs:DescribeResourcePolicies",
        ],
        "DeletionProtectionEnabled": ["logs:PutLogGroupDeletionProtection"],
        "BearerTokenAuthenticationEnabled": ["logs:PutBearerTokenAuthentication"],
    },
    "AWS::IAM::Role": {
        "ManagedPolicyArns": ["iam:AttachRolePolicy", "iam:DetachRolePolicy"],
        "PermissionsBoundary": ["iam:PutRolePermissionsBoundary"],
        "MaxSessionDuration": ["iam:UpdateRole"],
        "Description": ["iam:UpdateRoleDescription"],
    },
    "AWS::Backup::BackupVault": {
        "AccessPolicy": ["backup:PutBackupVaultAccessPolicy", "backup:DeleteBackupVaultAccessPolicy"],
        "Notifications": ["backup:PutBackupVaultNotifications", "backup:DeleteBackupVaultNotifications"],
        "LockConfiguration": ["backup:PutBackupVaultLockConfiguration", "backup:DeleteBackupVaultLockConfiguration"],
    },
    "AWS::SNS::Topic": {
        "DataProtectionPolicy": ["sns:PutDataProtectionPolicy"],
        "DeliveryStatusLogging": ["iam:GetRole"],
    },
    "AWS::Route53::RecordSet": {"HostedZoneName": ["route53:ListHostedZones"]},
    "AWS::CodeDeploy::DeploymentGroup": {
        "Deployment": ["codedeploy:GetApplicationRevision"],
        "OnPremisesInstanceTagFilters": ["codedeploy:RegisterOnPremisesInstance"],
    },
    "AWS::ApiGateway::RestApi": {
        "Policy": ["apigateway:UpdateRestApiPolicy"],
        "BodyS3Location": ["s3:GetObject"],
    },
    "AWS::ApiGatewayV2::Api": {"BodyS3Location": ["s3:GetObject"]},
    "AWS::CloudFront::Distribution": {
        "Tags": ["cloudfront:CreateDistributionWithTags"],
        "VpcOriginConfig": ["cloudfront:GetVpcOrigin"],
        "ConnectionMode": ["cloudfront:CreateConnectionGroup", "cloudfront:GetConnectionGroup"],
        "ContinuousDeploymentPolicyId": ["cloudfront:UpdateDistributionWithStagingConfig"],
    },
}

# Permissions for features that this template does not use, with the reason.
NOT_HERE = {
    "AWS::IAM::Role": [("iam:DeleteRolePermissionsBoundary", "a role keeps its boundary")],
    "AWS::Backup::BackupVault": [("backup-storage:Mount", "IAM has no such action")],
    "AWS::WAFv2::WebACLAssociation": [
        (f"{service}:*", "a firewall stands before a REST API alone")
        for service in ("elasticloadbalancing", "appsync", "cognito-idp", "apprunner", "ec2", "amplify", "bedrock-agentcore")
    ]
    + [(f"wafv2:{verb}PermissionPolicy", "it shares groups of rules") for verb in ("Put", "Get")],
    "AWS::DynamoDB::Table": [
        (f"dynamodb:{action}", "it is for replicas in other regions")
        for action in (
            "CreateTableReplica",
            "AssociateTableReplica",
            "Scan",
            "Query",
            "UpdateItem",
            "PutItem",
            "GetItem",
            "DeleteItem",
            "BatchWriteItem",
        )
    ]
    + [("iam:CreateServiceLinkedRole", "it is for replicas in other regions")],
}

# Properties with the names of resources; CloudFormation generates all other names from the stack and the logical id.
NAMES = {
    "AWS::Lambda::Function": "FunctionName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::Logs::MetricFilter": "LogGroupName",
    "AWS::IAM::Role": "RoleName",
    "AWS::CodeDeploy::Application": "ApplicationName",
    "AWS::CodeDeploy::DeploymentGroup": "ApplicationName",
    "AWS::CloudWatch::Alarm": "AlarmName",
    "AWS::CloudWatch::Dashboard": "DashboardName",
}

# ARNs of a resource and of other resources that its provider accesses, after `arn:aws:`. Generated ids are examples.
FUNCTION = "lambda:{region}:{account}:function:{function}"
CODE = "s3:::artefacts/0123456789abcdef"
DEPLOYMENTS = [
    "codedeploy:{region}:{account}:deploymentgroup:{name}/{name}",
    "codedeploy:{region}:{account}:application:{name}",
    "codedeploy:{region}:{account}:deploymentconfig:CodeDeployDefault.LambdaCanary10Percent5Minutes",
]
SETTINGS = "appconfig:{region}:{account}:application/a1b2c3d"
REST, HTTP, TAGS = "apigateway:{region}::/restapis", "apigateway:{region}::/apis", "apigateway:{region}::/tags/arn"
DOMAINS = "apigateway:{region}::/domainnames"
CLOUDFRONT = "cloudfront::{account}:"
ARNS = {
    "AWS::Lambda::Function": [
        "lambda:{region}:{account}:function:{name}",
        "lambda:{region}:{account}:capacity-provider:chat",
        "lambda:{region}:{account}:layer:documents:1",
        "ec2:{region}:{account}:subnet/subnet-1",
        CODE,
    ],
    "AWS::Lambda::Version": [FUNCTION],
    "AWS::Lambda::Alias": [FUNCTION, *(one.replace("{name}", "lambda-chat-deployed") for one in DEPLOYMENTS)],
    "AWS::Lambda::Url": [FUNCTION],
    "AWS::Lambda::Permission": [FUNCTION],
    "AWS::DynamoDB::Table": ["dynamodb:{region}:{account}:table/{name}"],
    "AWS::Logs::LogGroup": ["logs:{region}:{account}:log-group:{name}", "logs:{region}:{account}:log-group::log-stream:"],
    "AWS::Logs::MetricFilter": ["logs:{region}:{account}:log-group:/lambda-chat/lambda-chat"],
    "AWS::IAM::Role": ["iam::{account}:role/{name}"],
    "AWS::CodeDeploy::Application": [DEPLOYMENTS[1]],
    "AWS::CodeDeploy::DeploymentGroup": DEPLOYMENTS,
    "AWS::CloudWatch::Alarm": ["cloudwatch:{region}:{account}:alarm:{name}"],
    "AWS::CloudWatch::Dashboard": ["cloudwatch::{account}:dashboard/{name}"],
    "AWS::AppConfig::Application": [SETTINGS],
    "AWS::AppConfig::ConfigurationProfile": [SETTINGS, SETTINGS + "/configurationprofile/a1b2c3d"],
    "AWS::AppConfig::HostedConfigurationVersion": [
        SETTINGS,
        SETTINGS + "/configurationprofile/a1b2c3d",
        SETTINGS + "/configurationprofile/a1b2c3d/hostedconfigurationversion/1",
    ],
    "AWS::ApiGateway::RestApi": [REST, REST + "/a1b2c3", TAGS],
    "AWS::ApiGateway::Deployment": [REST + "/a1b2c3/deployments"],
    "AWS::ApiGateway::Stage": [REST + "/a1b2c3/stages/live", TAGS],
    "AWS::ApiGatewayV2::Api": [HTTP, HTTP + "/a1b2c3", TAGS],
    "AWS::ApiGatewayV2::Stage": [HTTP + "/a1b2c3/stages", TAGS],
    "AWS::CloudFront::Distribution": [CLOUDFRONT + "distribution/A1B2C3"],
    "AWS::CloudFront::Function": [CLOUDFRONT + "function/{name}"],
    "AWS::CloudFront::OriginAccessControl": [CLOUDFRONT + "origin-access-control/A1B2C3"],
    "AWS::ApiGateway::DomainName": [DOMAINS, DOMAINS + "/chat.example.com", TAGS],
    "AWS::ApiGateway::BasePathMapping": [DOMAINS + "/chat.example.com/basepathmappings", DOMAINS + "/chat.example.com/basepathmappings/none"],
    "AWS::Route53::RecordSet": ["route53:::hostedzone/Z0123456789", "route53:::change/C0123456789"],
    "AWS::SNS::Topic": ["sns:{region}:{account}:{name}", "sns:{region}:{account}:{name}:00000000-0000-4000-8000-000000000000"],
    "AWS::Backup::BackupVault": ["backup:{region}:{account}:backup-vault:lambda-chat-0123456789ab", "kms:{region}:{account}:key/1"],
    "AWS::Backup::BackupPlan": ["backup:{region}:{account}:backup-plan:1"],
    "AWS::Backup::BackupSelection": [
        "backup:{region}:{account}:backup-plan:1",
        "iam::{account}:role/lambda-chat-BackupRole-1A2B3C",
        "iam::{account}:role/aws-service-role/backup.amazonaws.com/AWSServiceRoleForBackup",
    ],
    "AWS::WAFv2::WebACLAssociation": [
        "wafv2:{region}:{account}:regional/webacl/chat/00000000-0000-4000-8000-000000000000",
        REST + "/a1b2c3/stages/live",
    ],
}
