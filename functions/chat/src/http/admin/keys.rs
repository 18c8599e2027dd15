use std::time::{Duration, SystemTime};

use axum::extract::State;
use axum::{Extension, Json};
use client_protocols::without_nulls;
use domain::{ErrorCode, Failure, StrictObject};
use http::StatusCode;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use store::{ApiKey, KeyChange, KeyRecord, NewKey, is_user_name};
use web::{Administrator, ApiError};

use crate::http::audit::Changed;
use crate::http::extract::{Administered, JsonBody};
use crate::{App, Result, parsing};

const DAY: Duration = Duration::from_hours(24);

/// The longest validity, in days.
const MAX_DAYS: u32 = 3650;

/// A key without its secret.
fn view(record: &KeyRecord, now: SystemTime) -> Value {
    without_nulls(json!({
        "id": record.id,
        "user": record.owner,
        "admin": record.administrator,
        "state": record.state(now),
        "createdAt": record.created_at(),
        "expiresAt": record.expires_at(),
        "revokedAt": record.revoked_at(),
        "citationLinks": record.citation_links,
        "groups": record.groups,
    }))
}

/// `GET /api/admin/keys`: all keys without their secrets, the oldest first.
pub(crate) async fn list(State(app): State<App>, _: Administrator) -> Result<Json<Value>> {
    let (records, now) = (app.store.keys.list().await?, SystemTime::now());
    Ok(Json(json!({ "keys": records.iter().map(|record| view(record, now)).collect::<Vec<_>>() })))
}

/// `POST /api/admin/keys`: makes a key for a user. Only this response contains it.
pub(crate) async fn create(
    State(app): State<App>,
    administrator: Administrator,
    JsonBody(body): JsonBody,
) -> Result<(StatusCode, Extension<Changed>, Json<Value>)> {
    let now = SystemTime::now();
    let new = parsing::parse(&administrator.0.owner, body.len(), move || parse_new(&body, now)).await?;
    let key = ApiKey::generate()?;
    let record = app.store.keys.create(&key, &new, now).await?;
    let mut created = view(&record, now);
    created["key"] = key.text().expose_secret().into();
    Ok((StatusCode::CREATED, Extension(Changed(record.id)), Json(created)))
}

/// `GET /api/admin/keys/{id}`: one key without its secret.
pub(crate) async fn get(Administered { app, id, .. }: Administered) -> Result<Json<Value>> {
    let record = app.store.keys.get(&id).await?.ok_or(ErrorCode::NotFound)?;
    Ok(Json(view(&record, SystemTime::now())))
}

/// `PUT /api/admin/keys/{id}`: replaces the rights and the validity of a key that is not revoked.
pub(crate) async fn replace(
    Administered { app, administrator, id }: Administered,
    JsonBody(body): JsonBody,
) -> Result<Json<Value>> {
    let now = SystemTime::now();
    let change = parsing::parse(&administrator.owner, body.len(), move || parse_change(&body, now)).await?;
    let keys = &app.store.keys;
    let record = keys.get(&id).await?.ok_or(ErrorCode::NotFound)?;
    let changed = match record.revoked {
        Some(_) => None,
        None if app.config.auth.uses_keys() => keys.update_unless_last(&id, &change).await?,
        None => keys.update(&id, &change).await?,
    };
    let revoked = || ApiError::invalid_request("The key is revoked; create another one");
    Ok(Json(view(&changed.ok_or_else(revoked)?, now)))
}

/// `DELETE /api/admin/keys/{id}`: revokes a key permanently, also a revoked one. Instances reject it within a minute.
pub(crate) async fn revoke(Administered { app, id, .. }: Administered) -> Result<StatusCode> {
    let (keys, now) = (&app.store.keys, SystemTime::now());
    // Only keys admit callers where `AUTH` is `api_key`; with other methods none has to remain.
    let revoked = if app.config.auth.uses_keys() {
        keys.revoke_unless_last(&id, now).await?
    } else {
        keys.revoke(&id, now).await?
    };
    revoked.map(|_| StatusCode::NO_CONTENT).ok_or_else(|| ErrorCode::NotFound.into())
}

fn parse_new(body: &[u8], now: SystemTime) -> Result<NewKey, Failure> {
    let mut fields = StrictObject::parse(body)?;
    let user = fields.take_string("user")?.filter(|user| is_user_name(user));
    let owner = user
        .ok_or_else(|| fields.field_error("user", "1 to 256 characters, not blank and without control characters"))?;
    let administrator = fields.take_bool("admin")?.unwrap_or(false);
    let expires = take_expiry(&mut fields, now)?;
    let citation_links = fields.take_bool("citationLinks")?.unwrap_or(false);
    let groups = fields.take_groups("groups")?.unwrap_or_default();
    fields.reject_unknown("`user`, `admin`, `expiresInDays`, `citationLinks`, `groups`")?;
    Ok(NewKey { owner, administrator, expires, citation_links, groups })
}

fn parse_change(body: &[u8], now: SystemTime) -> Result<KeyChange, Failure> {
    let mut fields = StrictObject::parse(body)?;
    let admin = fields.take_bool("admin")?.ok_or_else(|| fields.field_error("admin", "`true` or `false`"))?;
    let expires = take_expiry(&mut fields, now)?;
    let (citation_links, groups) = (fields.take_bool("citationLinks")?, fields.take_groups("groups")?);
    fields.reject_unknown("`admin`, `expiresInDays`, `citationLinks`, `groups`")?;
    Ok(KeyChange { administrator: admin, expires, citation_links, groups })
}

/// The end of a key's validity; `None` without `expiresInDays`.
fn take_expiry(fields: &mut StrictObject, now: SystemTime) -> Result<Option<SystemTime>, Failure> {
    let days = fields.take_u32("expiresInDays", 1..=MAX_DAYS)?;
    Ok(days.map(|days| now + DAY * days))
}
