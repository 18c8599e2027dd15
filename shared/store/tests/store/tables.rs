use aws_sdk_dynamodb::Client;
use store::{EXPIRES, Store, UPDATED_INDEX, create_tables};

use crate::support::{alice, at, config, database, first_turn, names};

#[tokio::test]
async fn creating_tables_again_keeps_items() {
    let endpoint = database().await;
    let config = config(&endpoint);
    create_tables(&config, &names()).await.unwrap();
    let store = Store::new(&config, names()).conversations;
    let id = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap().conversation_id;
    create_tables(&config, &names()).await.unwrap();
    assert_eq!(store.get(&alice(), &id).await.unwrap().title, "About Q");
}

#[tokio::test]
async fn tables_have_expiry_and_index() {
    let endpoint = database().await;
    let config = config(&endpoint);
    create_tables(&config, &names()).await.unwrap();
    let client = Client::new(&config);
    for name in ["data", "ephemeral"] {
        let expiry = client.describe_time_to_live().table_name(name).send().await.unwrap();
        let expiry = expiry.time_to_live_description.and_then(|description| description.attribute_name);
        assert_eq!(expiry.as_deref(), Some(EXPIRES), "{name}");
    }
    let table = client.describe_table().table_name("data").send().await.unwrap().table.unwrap();
    let indexes: Vec<_> = table.local_secondary_indexes().iter().filter_map(|index| index.index_name()).collect();
    assert_eq!(indexes, [UPDATED_INDEX]);
}
