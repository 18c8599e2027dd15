//! A minimal function in Rust: the runtime's client and a handler.

use lambda_http::lambda_runtime::{self, Error, LambdaEvent, service_fn};
use serde_json::Value;

fn main() -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        Ok::<_, Error>(event.payload)
    })))
}
