use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::sign::v4::{calculate_signature, generate_signing_key};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Scope;
use crate::credential::CredentialError;

/// What a browser may upload to a bucket with a form.
#[derive(Clone, Debug)]
pub struct PostPolicy<'a> {
    /// When the form ends to be valid; that of temporary credentials comes first.
    pub expires: SystemTime,
    /// The values that the upload must have, such as its `bucket` and its `key`.
    pub fields: &'a [(&'a str, &'a str)],
    /// The longest content, in bytes; an empty one is refused.
    pub max_bytes: u64,
}

impl PostPolicy<'_> {
    /// The fields that sign a form.
    // https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html, 2026-11-27.
    pub(super) fn sign(
        &self,
        scope: Scope<'_>,
        credentials: &Credentials,
        now: SystemTime,
    ) -> Result<Vec<(&'static str, String)>, CredentialError> {
        let time = |at: SystemTime| Timestamp::try_from(at).map_err(CredentialError::unsignable);
        let date = time(now)?.strftime("%Y%m%dT%H%M%SZ").to_string();
        let credential = [credentials.access_key_id(), &date[..8], scope.region, scope.service, "aws4_request"];
        let mut fields = vec![
            ("x-amz-algorithm", "AWS4-HMAC-SHA256".to_owned()),
            ("x-amz-credential", credential.join("/")),
            ("x-amz-date", date),
        ];
        fields.extend(credentials.session_token().map(|token| ("x-amz-security-token", token.to_owned())));
        let signed = fields.iter().map(|(name, value)| (*name, value.as_str()));
        let exact = self.fields.iter().copied().chain(signed).map(|(name, value)| json!({ name: value }));
        let range = json!(["content-length-range", 1, self.max_bytes]);
        let conditions: Vec<Value> = exact.chain([range]).collect();
        let expiration = time(self.expires)?.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let policy = json!({ "expiration": expiration, "conditions": conditions }).to_string();
        let policy = BASE64_STANDARD.encode(policy);
        let key = generate_signing_key(credentials.secret_access_key(), now, scope.region, scope.service);
        fields.push(("x-amz-signature", calculate_signature(key, policy.as_bytes())));
        fields.push(("policy", policy));
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn form_has_what_its_policy_requires() {
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", Some("token".to_owned()), None, "test");
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(498_816);
        let fields = [("bucket", "b"), ("key", "attachments/o/i")];
        let policy = PostPolicy { expires: now + Duration::from_mins(15), fields: &fields, max_bytes: 25 };
        let signed = policy.sign(Scope { service: "s3", region: "eu-central-1" }, &credentials, now).unwrap();
        let field = |name: &str| &signed.iter().find(|(other, _)| *other == name).unwrap().1;
        assert_eq!(field("x-amz-credential"), "AKIDEXAMPLE/20261127/eu-central-1/s3/aws4_request");
        let policy: Value = serde_json::from_slice(&BASE64_STANDARD.decode(field("policy")).unwrap()).unwrap();
        assert_eq!(policy["expiration"], "2026-11-27T00:15:00Z");
        let conditions = policy["conditions"].as_array().unwrap();
        for expected in [
            json!({"bucket": "b"}),
            json!({"key": "attachments/o/i"}),
            json!({"x-amz-date": "20261127T000000Z"}),
            json!({"x-amz-security-token": "token"}),
            json!(["content-length-range", 1, 25]),
        ] {
            assert!(conditions.contains(&expected), "{expected} in {conditions:?}");
        }
        assert_eq!(field("x-amz-signature").len(), 64);
    }
}
