use salvo::prelude::*;

pub(super) fn routes() -> Router {
    Router::new()
}
