//! Who a caller is by tokens in the form of each issuer that has a page in `docs/deploy/sign-in`.

use super::*;

/// Identifies the subject of a token with these further claims, as an issuer with these settings.
async fn identify(settings: &[(&str, &str)], further: Value) -> Caller {
    let (fake, signer) = (FakeIssuer::start().await, Signer::rsa());
    fake.publish(&[signer.jwk("a")]);
    let config = issuer_config(&fake.url, settings);
    let verifier = TokenVerifier::new(config, platform::transport::build_client().unwrap());
    let mut claims = claims(&fake);
    claims.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    let token = signer.token(&json!({"alg": "RS256", "kid": "a", "typ": "JWT"}), &claims);
    let caller = verifier.identify(&token, at(0)).await.unwrap();
    let unverified = verifier.parse(&token, at(0)).unwrap();
    assert_eq!(verifier.cached(&unverified, at(1)).await.unwrap().as_ref(), Some(&caller));
    assert_eq!(caller.owner, Owner::subject(&fake.url, claims["sub"].as_str().unwrap()));
    caller
}

fn names(caller: &Caller) -> Vec<&str> {
    caller.membership.groups.names().iter().map(String::as_str).collect()
}

#[tokio::test]
async fn cognito_groups_name_administrators_and_groups() {
    let settings = [
        ("AUTH_JWT_ADMIN_CLAIM", "cognito:groups"),
        ("AUTH_JWT_ADMIN_VALUE", "chat-admins"),
        ("AUTH_JWT_GROUPS_CLAIM", "cognito:groups"),
    ];
    // https://docs.aws.amazon.com/cognito/latest/developerguide, "Understanding the identity (ID) token", 2026-11-26.
    let token = |groups: Value| {
        json!({
            "sub": "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", "cognito:groups": groups, "email_verified": true,
            "cognito:username": "ann", "name": "李安", "token_use": "id", "auth_time": 1_799_999_900,
            "email": "ann@example.com", "event_id": "e", "origin_jti": "o", "jti": "j", "iat": 1_799_999_900,
        })
    };
    let ann = identify(&settings, token(json!(["sales", "chat-admins"]))).await;
    assert_eq!(
        (ann.membership.is_administrator, ann.name.as_deref(), names(&ann)),
        (true, Some("李安"), vec!["chat-admins", "sales"])
    );
    let bob = identify(&settings, token(json!(["sales"]))).await;
    assert_eq!((bob.membership.is_administrator, names(&bob)), (false, vec!["sales"]));
}

#[tokio::test]
async fn entra_roles_and_groups_are_separate_claims() {
    let settings = [("AUTH_JWT_ADMIN_CLAIM", "roles"), ("AUTH_JWT_GROUPS_CLAIM", "groups")];
    // https://learn.microsoft.com/security/zero-trust/develop/configure-tokens-group-claims-app-roles, 2026-11-26.
    let token = json!({
        "sub": "3OBtLXUC2ZrN_ADLNjW9X4o0lcd61py7lgHw3Skh77s", "name": "Ann Example",
        "preferred_username": "ann@example.com", "oid": "cb7eda1b-d09a-40ae-b8bb-37836ebc6abd",
        "tid": "833ced3d-cb2e-41de-92f1-29e2af035ddc", "ver": "2.0", "roles": ["admin"],
        "groups": ["3b2b0c93-acd8-4208-8eba-7a48db1cd4c0", "0760b6cf-170e-4a14-91b3-4b78e0739963"],
    });
    let ann = identify(&settings, token).await;
    let ids = vec!["0760b6cf-170e-4a14-91b3-4b78e0739963", "3b2b0c93-acd8-4208-8eba-7a48db1cd4c0"];
    assert_eq!((ann.membership.is_administrator, ann.name.as_deref(), names(&ann)), (true, Some("Ann Example"), ids));
}

#[tokio::test]
async fn entra_overage_grants_no_group_and_signs_in() {
    let settings = [("AUTH_JWT_GROUPS_CLAIM", "groups")];
    let overage = json!({
        "name": "Ann", "_claim_names": {"groups": "src1"},
        "_claim_sources": {"src1": {"endpoint": "https://graph.microsoft.com/v1.0/users/u/getMemberObjects"}},
    });
    let ann = identify(&settings, overage.clone()).await;
    assert_eq!((ann.membership.is_administrator, ann.name.as_deref(), names(&ann)), (false, Some("Ann"), vec![]));
    assert!(ignores_groups(&settings, &overage));
    assert!(!ignores_groups(&[], &overage), "a deployment without groups has nothing to report");
}

#[tokio::test]
async fn google_subject_may_be_the_administrator() {
    let settings = [("AUTH_JWT_ADMIN_CLAIM", "sub"), ("AUTH_JWT_ADMIN_VALUE", "10769150350006150715113082367")];
    // https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload, 2026-11-26.
    let token = json!({
        "sub": "10769150350006150715113082367", "azp": "chat", "at_hash": "HK6E_P6Dh8Y93mRNtsDB1Q",
        "hd": "example.com", "email": "ann@example.com", "email_verified": true, "name": "Ann Example",
    });
    let ann = identify(&settings, token).await;
    assert_eq!(
        (ann.membership.is_administrator, ann.name.as_deref(), names(&ann)),
        (true, Some("Ann Example"), vec![])
    );
    assert!(!identify(&settings, json!({"sub": "2"})).await.membership.is_administrator);
}

#[tokio::test]
async fn okta_groups_name_administrators_and_groups() {
    let settings = [
        ("AUTH_JWT_ADMIN_CLAIM", "groups"),
        ("AUTH_JWT_ADMIN_VALUE", "Chat Administrators"),
        ("AUTH_JWT_GROUPS_CLAIM", "groups"),
    ];
    // https://developer.okta.com/docs/guides/customize-tokens-dynamic/dynamic-allowlist-org-as/, 2026-11-26.
    let token = json!({
        "sub": "00uixa271s6x7qt8I0h7", "ver": 1, "jti": "ID.3xqAvJ3YTofkkrF0FpapgxFEExGWOEoyhWspO6SFQtA",
        "amr": ["pwd", "mfa", "kba"], "idp": "00oixa26ycdNcX0VT0h7", "auth_time": 1_799_999_041,
        "name": "Ann Example", "groups": ["IT", "Chat Administrators", "Everyone"],
    });
    let ann = identify(&settings, token).await;
    assert_eq!((ann.membership.is_administrator, names(&ann)), (true, vec!["Chat Administrators", "Everyone", "IT"]));
}

#[tokio::test]
async fn claims_may_be_urls_and_are_never_nested() {
    let claim = "https://chat.example.com/roles";
    let settings = [("AUTH_JWT_ADMIN_CLAIM", claim), ("AUTH_JWT_GROUPS_CLAIM", "realm_access.roles")];
    let ann = identify(&settings, json!({claim: "admin", "realm_access": {"roles": ["sales"]}})).await;
    assert_eq!((ann.membership.is_administrator, names(&ann)), (true, vec![]));
    let bob = identify(&settings, json!({"https://chat": {"example.com/roles": "admin"}, "role": "admin"})).await;
    assert!(!bob.membership.is_administrator);
}

fn ignores_groups(settings: &[(&str, &str)], further: &Value) -> bool {
    let mut claims = json!({"iss": "https://i.example", "sub": "ann", "aud": "chat", "exp": NOW + 9});
    claims.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    let claims = Claims::parse(claims.to_string().as_bytes()).unwrap();
    claims.caller(&issuer_config("https://i.example", settings)).1
}

#[tokio::test]
async fn unusable_groups_are_dropped_one_by_one() {
    let settings = [("AUTH_JWT_GROUPS_CLAIM", "groups")];
    let many: Vec<String> = (10..80).map(|number| number.to_string()).collect();
    let cases = [
        (json!("sales"), vec!["sales"], false),
        (json!([]), vec![], false),
        (json!(["/sales", "研发"]), vec!["/sales", "研发"], false),
        (json!(["ok", "", " ok", 7, null, ["ok2"], "x".repeat(129)]), vec!["ok"], true),
        (json!({"sales": true}), vec![], true),
        (json!(many), many[..64].iter().map(String::as_str).collect(), true),
    ];
    for (groups, expected, ignores) in cases {
        assert_eq!(names(&identify(&settings, json!({ "groups": groups })).await), expected, "{groups}");
        assert_eq!(ignores_groups(&settings, &json!({ "groups": groups })), ignores, "{groups}");
    }
    assert_eq!(names(&identify(&[], json!({"groups": ["sales"]})).await), Vec::<&str>::new());
}

#[tokio::test]
async fn unusable_name_is_no_name() {
    for name in [json!(""), json!("  "), json!("a\nb"), json!("x".repeat(257)), json!(7), json!({"first": "Ann"})] {
        assert_eq!(identify(&[], json!({ "name": name })).await.name, None, "{name}");
    }
    let settings = [("AUTH_JWT_NAME_CLAIM", "preferred_username")];
    let ann = identify(&settings, json!({"name": "Ann", "preferred_username": " ann@example.com "})).await;
    assert_eq!(ann.name.as_deref(), Some("ann@example.com"));
}

#[tokio::test]
async fn f120_only_the_value_makes_an_administrator() {
    let (value, claim) = (("AUTH_JWT_ADMIN_VALUE", "ops"), ("AUTH_JWT_ADMIN_CLAIM", "team"));
    for (settings, further, expected) in [
        (&[][..], json!({"role": "admin"}), true),
        (&[], json!({"role": ["user", "admin"]}), true),
        (&[value, claim], json!({"team": "ops"}), true),
        (&[value], json!({"role": "ops"}), true),
        (&[], json!({}), false),
        (&[], json!({"role": "Admin"}), false),
        (&[], json!({"role": "admin "}), false),
        (&[], json!({"role": "user admin"}), false),
        (&[], json!({"role": true}), false),
        (&[], json!({"role": null}), false),
        (&[], json!({"role": {"admin": true}}), false),
        (&[], json!({"role": [["admin"]]}), false),
        (&[], json!({"roles": "admin", "groups": ["admin"], "name": "admin"}), false),
        (&[value], json!({"role": "admin"}), false),
        (&[claim], json!({"role": "admin", "team": "ops"}), false),
    ] {
        assert_eq!(
            identify(settings, further.clone()).await.membership.is_administrator,
            expected,
            "{settings:?} {further}"
        );
    }
}
