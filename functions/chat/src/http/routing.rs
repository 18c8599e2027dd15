//! Routes to handlers, whose arguments the types of routes leave out: axum's code is compiled once, not for each handler.

use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{self, MethodRouter};
use futures_util::future::BoxFuture;

use crate::App;

/// A handler without the types of its arguments.
#[derive(Clone)]
struct Erased(Arc<dyn Fn(Request, App) -> BoxFuture<'static, Response> + Send + Sync>);

impl Handler<(), App> for Erased {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: App) -> Self::Future {
        (self.0)(request, app)
    }
}

macro_rules! methods {
    ($($name:ident),*) => {
        $(pub(crate) fn $name<T, H>(handler: H) -> MethodRouter<App>
        where
            H: Handler<T, App, Future = BoxFuture<'static, Response>> + Sync,
        {
            routing::$name(Erased(Arc::new(move |request, app| handler.clone().call(request, app))))
        })*
    };
}

methods!(any, delete, get, patch, post, put);
