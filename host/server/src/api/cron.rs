//! `POST /cron`, for a scheduler of the operator's (spec: Variant B additional endpoints).
//!
//! *Invariant:* the operator's secret is all that opens it: a credential of an account is as good
//! as none, and no account's limits are touched.

use std::sync::Arc;

use salvo::{Extractible, extract::Metadata, http::HeaderMap, prelude::*};
use serde_json::json;
use vedette_model::Secret;

use super::{
    body::OptionalBody,
    caller::{self, bearer},
    reply::Answer,
};
use crate::{App, Error, Result, service};

pub(super) fn routes() -> Router {
    Router::with_path("cron").post(run)
}

#[handler]
async fn run(scheduler: Scheduler, body: OptionalBody) -> Answer {
    let counts = service::cron::run(&scheduler.0, &body).await?;
    Ok(Json(json!(counts)))
}

/// A caller that knows the secret of `[cron]`, and the application whose secret it is.
pub(super) struct Scheduler(Arc<App>);

impl<'ex> Extractible<'ex> for Scheduler {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Scheduler");
        &METADATA
    }

    async fn extract(req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        let app = caller::app(depot);
        admit(req.headers(), app.config.cron.secret.as_ref())?;
        Ok(Self(app))
    }
}

/// An empty secret counts as none: nobody could send it.
fn admit(headers: &HeaderMap, secret: Option<&Secret<String>>) -> Result<()> {
    let secret = secret.map(|secret| secret.expose().as_bytes()).filter(|bytes| !bytes.is_empty());
    let Some(expected) = secret else {
        return Err(Error::NotConfigured(
            "there is no secret for a scheduler; the operator sets one as cron.secret".to_owned(),
        ));
    };
    let given = bearer(headers).map_err(|_| {
        Error::Unauthenticated("send Authorization: Bearer and the scheduler's secret".into())
    })?;
    aws_lc_rs::constant_time::verify_slices_are_equal(given.as_bytes(), expected)
        .map_err(|_| Error::Unauthenticated("this is not the scheduler's secret".into()))
}

#[cfg(test)]
mod tests {
    use salvo::http::header::AUTHORIZATION;

    use super::*;

    fn asked(authorization: Option<&str>, secret: Option<&str>) -> Result<()> {
        let mut headers = HeaderMap::new();
        if let Some(value) = authorization {
            headers.insert(AUTHORIZATION, value.parse().expect("a header"));
        }
        let secret = secret.map(|secret| Secret::new(secret.to_owned()));
        admit(&headers, secret.as_ref())
    }

    #[test]
    fn nobody_is_let_in_without_a_secret() {
        for secret in [None, Some("")] {
            for authorization in [None, Some("Bearer x"), Some("Bearer ")] {
                let refused = asked(authorization, secret).expect_err("there is no secret");
                assert!(matches!(refused, Error::NotConfigured(_)), "{authorization:?}");
                assert!(refused.to_string().contains("cron.secret"), "{refused}");
            }
        }
    }

    #[test]
    fn the_secret_alone_is_let_in() {
        assert!(asked(Some("Bearer tick-tock"), Some("tick-tock")).is_ok());
        assert!(asked(Some("bearer  tick-tock "), Some("tick-tock")).is_ok());
        let others = [None, Some("tick-tock"), Some("Basic tick-tock"), Some("Bearer tick-toc")];
        for authorization in others.into_iter().chain([Some("Bearer tick-tock!")]) {
            let refused = asked(authorization, Some("tick-tock")).expect_err("another's");
            assert!(matches!(refused, Error::Unauthenticated(_)), "{authorization:?}");
            assert!(!refused.to_string().contains("tick"), "{refused}");
        }
    }
}
