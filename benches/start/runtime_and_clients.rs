//! A function with the product's minimal dependencies: one client for HTTPS and one for DynamoDB.

use lambda_http::lambda_runtime::{self, Error, LambdaEvent, service_fn};
use platform::settings::Settings;
use serde_json::{Value, json};

fn main() -> Result<(), Error> {
    let http = platform::transport::build_client()?;
    let database = aws_sdk_dynamodb::Client::new(&store::sdk_config(&Settings::from_env())?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| {
        let (http, database) = (http.clone(), database.clone());
        async move {
            let page = http.get(event.payload["url"].as_str().unwrap_or_default()).send().await?.text().await?;
            let tables = database.list_tables().send().await?.table_names;
            Ok::<_, Error>(json!({ "page": page, "tables": tables }))
        }
    })))
}
