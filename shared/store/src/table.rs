use std::collections::HashMap;
use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, ReturnValue, ReturnValuesOnConditionCheckFailure as OnRefusal,
    TransactWriteItem, Update,
};

use crate::Result;
use crate::backoff::back_off;
use crate::error::classify;
use crate::item::{Item, n, s};
use crate::key::Key;
use crate::schema::{SCHEMA, SchemaVersion};

/// How often a call is retried while a transaction holds its item; a transaction takes milliseconds.
const MAX_CONFLICT_RETRIES: u32 = 4;

/// A call whose code is once in the binary: unboxed, each crate that awaits it has a copy.
type Call<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

/// One table of the shared client; all reads are strongly consistent.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) client: Client,
    pub(crate) name: Arc<str>,
    /// Whether items of newer releases are protected; in the ephemeral table they are overwritten.
    durable: bool,
}

/// The outcome of a conditional write; a failed condition is a result, not an error.
#[derive(Debug)]
pub(crate) enum WriteOutcome {
    /// The write succeeded; the new item, if requested.
    Written(Option<Item>),
    /// The condition failed for this item; `None` when there is none.
    ConditionFailed(Option<Item>),
}

/// A condition or an update over one item, with its values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expression {
    pub(crate) update: Option<String>,
    pub(crate) condition: Option<String>,
    pub(crate) values: HashMap<String, AttributeValue>,
    /// Attributes whose names cannot be in the text, by their placeholders.
    pub(crate) names: HashMap<String, String>,
}

impl Expression {
    pub(crate) fn update(text: impl Into<String>) -> Self {
        Self { update: Some(text.into()), ..Self::default() }
    }

    /// Sets attributes; each value has the name of its attribute.
    pub(crate) fn set<'a>(attributes: impl IntoIterator<Item = (&'a str, AttributeValue)>) -> Self {
        let (mut text, mut values) = (String::from("SET "), HashMap::new());
        for (name, value) in attributes {
            let comma = if values.is_empty() { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(text, "{comma}{name} = :{name}");
            values.insert(format!(":{name}"), value);
        }
        Self { update: Some(text), values, ..Self::default() }
    }

    /// Adds clauses to an update, such as `REMOVE a`.
    pub(crate) fn and(mut self, clauses: &str) -> Self {
        self.update = self.update.map(|update| format!("{update} {clauses}"));
        self
    }

    pub(crate) fn when(condition: impl Into<String>) -> Self {
        Self::default().and_when(condition)
    }

    pub(crate) fn and_when(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Adds another condition.
    pub(crate) fn and_also(self, condition: &str) -> Self {
        let both = self.condition.as_ref().map(|own| format!("({own}) AND {condition}"));
        self.and_when(both.unwrap_or_else(|| condition.to_owned()))
    }

    pub(crate) fn value(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }

    pub(crate) fn name(mut self, placeholder: String, attribute: String) -> Self {
        self.names.insert(placeholder, attribute);
        self
    }

    /// Adds the condition that no newer release wrote the item, whose schema this release cannot read.
    fn with_version_guard(self, durable: bool) -> Self {
        if !durable {
            return self;
        }
        self.and_also(&SchemaVersion::writable()).value(":shape", n(SCHEMA.current))
    }

    fn values(self) -> Option<HashMap<String, AttributeValue>> {
        Some(self.values).filter(|values| !values.is_empty())
    }

    fn names(&self) -> Option<HashMap<String, String>> {
        Some(self.names.clone()).filter(|names| !names.is_empty())
    }
}

impl Table {
    pub(crate) fn durable(client: Client, name: String) -> Self {
        Self { client, name: name.into(), durable: true }
    }

    /// The table of items that may be lost.
    pub(crate) fn ephemeral(client: Client, name: String) -> Self {
        Self { client, name: name.into(), durable: false }
    }

    pub(crate) fn get(&self, key: &Key) -> Call<Option<Item>> {
        let call = self.client.get_item().table_name(&*self.name).set_key(Some(key.attributes())).consistent_read(true);
        Box::pin(async move {
            let item = call.send().await.map_err(|error| classify("GetItem", &error))?.item;
            Ok(item.map(|item| SCHEMA.upgrade(item)))
        })
    }

    pub(crate) fn update(&self, key: &Key, change: Expression) -> Call<WriteOutcome> {
        self.update_returning(key, change, ReturnValue::None)
    }

    /// Updates one item if the condition holds; returns the updated item.
    pub(crate) fn update_and_read(&self, key: &Key, change: Expression) -> Call<WriteOutcome> {
        self.update_returning(key, change, ReturnValue::AllNew)
    }

    fn update_returning(&self, key: &Key, change: Expression, return_values: ReturnValue) -> Call<WriteOutcome> {
        let durable = self.durable;
        let change = change.with_version_guard(self.durable);
        let call = self.client.update_item().table_name(&*self.name).set_key(Some(key.attributes()));
        let call = call
            .set_update_expression(change.update.clone())
            .set_condition_expression(change.condition.clone())
            .set_expression_attribute_names(change.names())
            .set_expression_attribute_values(change.values())
            .return_values(return_values)
            .return_values_on_condition_check_failure(OnRefusal::AllOld);
        Box::pin(async move {
            match retry_conflicts(|| call.clone().send()).await {
                Ok(answer) => Ok(WriteOutcome::Written(answer.attributes.map(|item| SCHEMA.upgrade(item)))),
                Err(error) => match error.as_service_error() {
                    Some(UpdateItemError::ConditionalCheckFailedException(why)) => {
                        let item = why.item.clone();
                        let item = if durable { SCHEMA.check_conflict(item)? } else { item };
                        Ok(WriteOutcome::ConditionFailed(item))
                    }
                    _ => Err(classify("UpdateItem", &error)),
                },
            }
        })
    }

    /// Deletes one item if it exists.
    pub(crate) async fn delete(&self, key: &Key) -> Result<WriteOutcome> {
        self.delete_where(key, Expression::when("attribute_exists(pk)")).await
    }

    pub(crate) async fn delete_where(&self, key: &Key, rule: Expression) -> Result<WriteOutcome> {
        let call = self.client.delete_item().table_name(&*self.name).set_key(Some(key.attributes()));
        let call = call.set_condition_expression(rule.condition.clone()).set_expression_attribute_values(rule.values());
        match retry_conflicts(|| call.clone().send()).await {
            Ok(_) => Ok(WriteOutcome::Written(None)),
            Err(error) => match error.as_service_error() {
                Some(DeleteItemError::ConditionalCheckFailedException(_)) => Ok(WriteOutcome::ConditionFailed(None)),
                _ => Err(classify("DeleteItem", &error)),
            },
        }
    }

    pub(crate) fn query(&self, partition: &str) -> QueryFluentBuilder {
        let call = self.client.query().table_name(&*self.name).consistent_read(true);
        call.key_condition_expression("pk = :pk").expression_attribute_values(":pk", s(partition))
    }

    pub(crate) fn query_prefix(&self, partition: &str, prefix: &str) -> QueryFluentBuilder {
        let call = self.query(partition).key_condition_expression("pk = :pk AND begins_with(sk, :prefix)");
        call.expression_attribute_values(":prefix", s(prefix))
    }

    pub(crate) fn query_range(
        &self,
        partition: &str,
        first: impl Into<String>,
        last: impl Into<String>,
    ) -> QueryFluentBuilder {
        let call = self.query(partition).key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
        call.expression_attribute_values(":first", s(first)).expression_attribute_values(":last", s(last))
    }

    /// Reads a page of a query and returns the start key of the next page.
    pub(crate) async fn query_page(
        &self,
        query: QueryFluentBuilder,
        start: Option<Item>,
    ) -> Result<(Vec<Item>, Option<Item>)> {
        let answer = Box::pin(query.set_exclusive_start_key(start).send()).await;
        let answer = answer.map_err(|error| classify("Query", &error))?;
        let items = answer.items.unwrap_or_default().into_iter().map(|item| SCHEMA.upgrade(item));
        Ok((items.collect(), answer.last_evaluated_key))
    }

    pub(crate) fn put_write(&self, item: Item, rule: Expression) -> TransactWriteItem {
        let rule = rule.with_version_guard(self.durable);
        let on_failure = rule.condition.is_some().then_some(OnRefusal::AllOld);
        let put = Put::builder().table_name(&*self.name).set_item(Some(item));
        let put = put.set_condition_expression(rule.condition.clone()).set_expression_attribute_values(rule.values());
        // A builder fails only without a table, an item, a key or an expression; here and below all are set.
        let put = put.set_return_values_on_condition_check_failure(on_failure).build().ok();
        TransactWriteItem::builder().set_put(put).build()
    }

    /// Builds a deletion for a transaction; a missing item is no error.
    pub(crate) fn delete_write(&self, key: &Key) -> TransactWriteItem {
        let delete = Delete::builder().table_name(&*self.name).set_key(Some(key.attributes())).build().ok();
        TransactWriteItem::builder().set_delete(delete).build()
    }

    /// Builds a check of one item for a transaction.
    pub(crate) fn check_write(&self, key: &Key, rule: Expression) -> TransactWriteItem {
        let check = ConditionCheck::builder().table_name(&*self.name).set_key(Some(key.attributes()));
        let check = check.set_condition_expression(rule.condition.clone()).set_expression_attribute_names(rule.names());
        let check = check.set_expression_attribute_values(rule.values()).build().ok();
        TransactWriteItem::builder().set_condition_check(check).build()
    }

    pub(crate) fn update_write(&self, key: &Key, change: Expression) -> TransactWriteItem {
        let change = change.with_version_guard(self.durable);
        let update = Update::builder()
            .table_name(&*self.name)
            .set_key(Some(key.attributes()))
            .set_update_expression(change.update.clone())
            .set_condition_expression(change.condition.clone())
            .set_expression_attribute_names(change.names())
            .set_expression_attribute_values(change.values())
            .return_values_on_condition_check_failure(OnRefusal::AllOld)
            .build();
        TransactWriteItem::builder().set_update(update.ok()).build()
    }
}

/// Retries a call that failed because a transaction held its item; such a call has written nothing.
async fn retry_conflicts<T, E, F>(call: impl Fn() -> F) -> Result<T, SdkError<E, HttpResponse>>
where
    E: ProvideErrorMetadata,
    F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
{
    for attempt in 0..MAX_CONFLICT_RETRIES {
        match Box::pin(call()).await {
            Err(error) if error.code() == Some("TransactionConflictException") => back_off(attempt).await,
            outcome => return outcome,
        }
    }
    Box::pin(call()).await
}
