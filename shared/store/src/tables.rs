use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{BuildError, SdkError};
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, LocalSecondaryIndex, Projection, ProjectionType,
    ScalarAttributeType, TableStatus, TimeToLiveSpecification, TimeToLiveStatus,
};
use aws_types::SdkConfig;
use platform::settings::{SettingError, Settings};

use crate::error::classify;
use crate::key::{PK, SK};
use crate::{EXPIRES, Result, StoreError, UPDATED_AT, UPDATED_INDEX};

/// The poll interval and the maximum number of polls while a new table becomes active.
const POLL: (Duration, u32) = (Duration::from_millis(200), 150);

/// The names of the two tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableNames {
    /// Durable items.
    pub data: String,
    /// Items with a time to live.
    pub ephemeral: String,
}

impl TableNames {
    /// `DATA_TABLE` and `EPHEMERAL_TABLE`, or their defaults; they must differ.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let data = read_table_name(settings, "DATA_TABLE", "lambda-chat-data")?;
        let ephemeral = read_table_name(settings, "EPHEMERAL_TABLE", "lambda-chat-ephemeral")?;
        if data == ephemeral {
            return Err(SettingError::new("EPHEMERAL_TABLE", "another table than DATA_TABLE"));
        }
        Ok(Self { data, ephemeral })
    }
}

fn read_table_name(settings: &Settings, variable: &str, default: &str) -> Result<String, SettingError> {
    let accepted = "a DynamoDB table name: 3 to 255 letters, digits, dots, hyphens and underscores";
    let name = settings.parse(variable, accepted, |text| is_table_name(text).then(|| text.to_owned()))?;
    Ok(name.unwrap_or_else(|| default.to_owned()))
}

fn is_table_name(text: &str) -> bool {
    (3..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
}

/// Creates missing tables for the local server and the tests, and waits until they are active.
///
/// A deployed function's tables come from its template, with the same schema.
pub async fn create_tables(config: &SdkConfig, names: &TableNames) -> Result<()> {
    let client = crate::aws::client(config);
    let data = with_primary_key(client.create_table().table_name(&names.data))?
        .attribute_definitions(attribute_definition(UPDATED_AT, ScalarAttributeType::N)?)
        .local_secondary_indexes(updated_index()?);
    create(data).await?;
    create(with_primary_key(client.create_table().table_name(&names.ephemeral))?).await?;
    wait_until_usable(&client, &names.data).await?;
    wait_until_usable(&client, &names.ephemeral).await?;
    enable_expiry(&client, &names.data).await?;
    enable_expiry(&client, &names.ephemeral).await
}

fn with_primary_key(table: CreateTableFluentBuilder) -> Result<CreateTableFluentBuilder, BuildError> {
    Ok(table
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute_definition(PK, ScalarAttributeType::S)?)
        .attribute_definitions(attribute_definition(SK, ScalarAttributeType::S)?)
        .key_schema(key_element(PK, KeyType::Hash)?)
        .key_schema(key_element(SK, KeyType::Range)?))
}

/// A local index, because only local indexes are strongly consistent: a conversation is in its owner's list when
/// `begin` returns.
fn updated_index() -> Result<LocalSecondaryIndex, BuildError> {
    LocalSecondaryIndex::builder()
        .index_name(UPDATED_INDEX)
        .key_schema(key_element(PK, KeyType::Hash)?)
        .key_schema(key_element(UPDATED_AT, KeyType::Range)?)
        .projection(Projection::builder().projection_type(ProjectionType::All).build())
        .build()
}

fn attribute_definition(name: &str, kind: ScalarAttributeType) -> Result<AttributeDefinition, BuildError> {
    AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build()
}

fn key_element(name: &str, kind: KeyType) -> Result<KeySchemaElement, BuildError> {
    KeySchemaElement::builder().attribute_name(name).key_type(kind).build()
}

async fn create(table: CreateTableFluentBuilder) -> Result<()> {
    match table.send().await {
        Ok(_) => Ok(()),
        Err(SdkError::ServiceError(answer)) if answer.err().is_resource_in_use_exception() => Ok(()),
        Err(error) => Err(classify("CreateTable", &error)),
    }
}

async fn wait_until_usable(client: &Client, name: &str) -> Result<()> {
    let (pause, times) = POLL;
    for _ in 0..times {
        let answer = client.describe_table().table_name(name).send().await;
        let table = answer.map_err(|error| classify("DescribeTable", &error))?.table;
        if table.and_then(|table| table.table_status) == Some(TableStatus::Active) {
            return Ok(());
        }
        tokio::time::sleep(pause).await;
    }
    Err(StoreError::Busy)
}

async fn enable_expiry(client: &Client, name: &str) -> Result<()> {
    let answer = client.describe_time_to_live().table_name(name).send().await;
    let known = answer.map_err(|error| classify("DescribeTimeToLive", &error))?.time_to_live_description;
    let status = known.and_then(|description| description.time_to_live_status);
    if matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)) {
        return Ok(());
    }
    let specification = TimeToLiveSpecification::builder().enabled(true).attribute_name(EXPIRES).build()?;
    let answer = client.update_time_to_live().table_name(name).time_to_live_specification(specification).send().await;
    answer.map(|_| ()).map_err(|error| classify("UpdateTimeToLive", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_override_default_table_names() {
        let names = TableNames::from_settings(&Settings::from_pairs([("DATA_TABLE", "my.data_1")]));
        let expected = TableNames { data: "my.data_1".to_owned(), ephemeral: "lambda-chat-ephemeral".to_owned() };
        assert_eq!(names, Ok(expected));
    }

    #[test]
    fn malformed_and_equal_table_names_are_rejected() {
        for (variable, value) in
            [("DATA_TABLE", "a b c"), ("EPHEMERAL_TABLE", "x"), ("EPHEMERAL_TABLE", "lambda-chat-data")]
        {
            let error = TableNames::from_settings(&Settings::from_pairs([(variable, value)])).unwrap_err();
            assert_eq!(error.variable, variable);
        }
    }
}
