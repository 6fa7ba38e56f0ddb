use salvo::prelude::*;
use vedette_model::Edition;

pub(super) fn routes(_edition: &'static Edition) -> Router {
    Router::new()
}
