use serde_json::json;
use support::{FakeEndpoint, FakeModel, FakeTavily, MODEL, MODEL_KEY, Reply};

use crate::check::{ANSWER, SLOW, check, checked, good_model};

#[tokio::test]
async fn unreachable_host_is_named_with_the_cause() {
    let (model, search) = (FakeModel::start().await, FakeTavily::start().await);
    let with_tls = model.url().replace("http://", "https://");
    let tls = "127.0.0.1:N cannot be reached, TLS fails, for example because of its certificate: start the server, or set \
               OPENAI_BASE_URL";
    // A name that never exists: https://www.rfc-editor.org/rfc/rfc6761#section-6.4, 2026-11-26.
    let dns = "api.invalid cannot be reached, its name has no address (DNS): check the network and the name, or set \
               OPENAI_BASE_URL";
    for (address, text) in [(&*with_tls, tls), ("https://api.invalid/v1", dns)] {
        let run = check(&model, &search, &[("OPENAI_BASE_URL", address)]).await;
        assert!(run.output.contains(&format!("  FAILED  answer     {text}\n")), "{run:?}");
    }
}

#[tokio::test]
async fn stored_key_of_row_is_read_or_named() {
    let (model, ssm) = (good_model().await, FakeEndpoint::start().await);
    let row = json!([{ "name": "x", "baseUrl": model.url(), "model": MODEL, "apiKeyParameter": "/chat/models/x" }]);
    let (row, ssm_url) = (row.to_string(), ssm.url());
    let settings = [
        ("MODELS", &*row),
        ("MODEL_KEYS_UNDER", "/chat/models/"),
        ("AWS_ENDPOINT_URL_SSM", &ssm_url),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "AKIA"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
    ];
    ssm.respond_with(|_| Reply::json(200, &json!({ "Parameter": { "Value": MODEL_KEY } })));
    let run = checked(&["check", "--slow", SLOW], &settings).await;
    assert!(run.exit_code == Some(0) && run.output.contains(ANSWER), "{run:?}");
    assert_eq!(ssm.requests()[0].json()["Name"], "/chat/models/x");
    assert!(format!("{:?}", model.requests()[0]).contains(MODEL_KEY), "the model gets the stored key");
    let secret = "the secret of MODELS[0].apiKeyParameter (/chat/models/x) could not be read: status 400";
    for (code, advice) in [
        ("ParameterNotFound", "nothing is stored under this name in this region, store the key there"),
        ("AccessDeniedException", "allow ssm:GetParameter on it"),
    ] {
        ssm.respond_with(move |_| Reply::json(400, &json!({ "__type": code, "message": "canary" })));
        let run = checked(&["check"], &settings).await;
        let line = format!("  FAILED  key        {secret}, {code}: {advice}");
        assert!(run.exit_code == Some(1) && run.output.contains(&line), "{run:?}");
    }
}
