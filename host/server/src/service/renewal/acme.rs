//! The certificate authority, by ACME (RFC 8555): an account, an order, the proof, the chain.
//!
//! *Invariant:* what one account has proved helps no other: each has its own with the authority.
//! *Invariant:* whatever is sent goes through the egress layer; the authority is the operator's
//! choice and is dialled as configured.

use std::{
    io::Cursor,
    pin::Pin,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, BodyWrapper, BytesResponse, ChallengeType,
    Error, HttpClient, Identifier, NewAccount, NewOrder, Order, OrderStatus, RetryPolicy,
};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use vedette_model::{AccountId, RenewedCertificate, Secret, Site, Timestamp};
use vedette_sandbox::egress::{Egress, HttpRequest};

use super::rfc2136::Proof;
use crate::App;

/// Orders a certificate for the name of a site, proves the name, and fetches the chain.
///
/// # Errors
/// A sentence for the log of the site.
pub(super) async fn obtain(
    app: &App,
    site: &Site,
    proof: &mut Proof<'_>,
) -> Result<RenewedCertificate, String> {
    let mut order = order(app, site).await?;
    prove(app, &mut order, proof).await?;
    match order.poll_ready(&POLLS).await {
        Ok(OrderStatus::Ready) => {}
        Ok(_) => {
            let said = verdict(&mut order).await;
            return Err(said.unwrap_or_else(|| NOT_ACCEPTED.to_owned()));
        }
        // The order's own problem, or one of the authority: it concerns the proof only if the
        // authority says so there.
        Err(cause @ Error::Api(_)) => {
            return Err(verdict(&mut order).await.unwrap_or_else(|| refused(&cause)));
        }
        Err(cause) => return Err(refused(&cause)),
    }
    let private_key = order.finalize().await.map_err(|cause| refused(&cause))?;
    let certificate = order.poll_certificate(&POLLS).await.map_err(|cause| refused(&cause))?;
    let expires_at = expiry(&certificate)
        .ok_or_else(|| "the certificate authority sent no certificate".to_owned())?;
    Ok(RenewedCertificate { certificate, private_key: Secret::new(private_key), expires_at })
}

async fn order(app: &App, site: &Site) -> Result<Order, String> {
    let identifiers = [Identifier::Dns(site.domain.as_str().to_owned())];
    let new = NewOrder::new(&identifiers);
    let account = match known_account(app, site.account_id).await? {
        Some(account) => account,
        None => new_account(app, site.account_id).await?,
    };
    let ordered = match account.new_order(&new).await {
        // The authority has forgotten us, or closed the account.
        Err(Error::Api(problem)) if problem.r#type.as_deref() == Some(NO_ACCOUNT) => {
            new_account(app, site.account_id).await?.new_order(&new).await
        }
        ordered => ordered,
    };
    ordered.map_err(|cause| refused(&cause))
}

/// Publishes what the authority asks for and tells it to look.
async fn prove(app: &App, order: &mut Order, proof: &mut Proof<'_>) -> Result<(), String> {
    let mut authorizations = order.authorizations();
    let refusal = loop {
        let Some(authorization) = authorizations.next().await else { return Ok(()) };
        let mut authorization = authorization.map_err(|cause| refused(&cause))?;
        match authorization.status {
            AuthorizationStatus::Pending => {}
            // Proven a while ago, and still accepted.
            AuthorizationStatus::Valid => continue,
            AuthorizationStatus::Invalid
            | AuthorizationStatus::Revoked
            | AuthorizationStatus::Expired
            | AuthorizationStatus::Deactivated => {
                return Err("the certificate authority did not authorise the name".to_owned());
            }
        }
        let Some(mut challenge) = authorization.challenge(ChallengeType::Dns01) else {
            return Err(
                "the certificate authority does not accept proof by DNS (dns-01)".to_owned()
            );
        };
        proof.publish(&challenge.key_authorization().dns_value()).await?;
        tokio::time::sleep(app.config.renewal.propagation).await;
        if let Err(cause) = challenge.set_ready().await {
            break cause;
        }
    };
    // An authority that has looked before it answers gives its verdict on the proof here.
    Err(verdict(order).await.unwrap_or_else(|| refused(&refusal)))
}

/// Why a proof was not accepted, in the authority's own words, which are in the challenge and not
/// in the order. None if it has said nothing against one.
async fn verdict(order: &mut Order) -> Option<String> {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let Ok(state) = authorization.refresh().await else { continue };
        let problem = state.challenges.iter().find_map(|challenge| challenge.error.as_ref());
        if let Some(problem) = problem {
            let said = problem.detail.as_deref().unwrap_or("it does not say why");
            return Some(format!("{NOT_ACCEPTED}: {said}"));
        }
    }
    None
}

async fn known_account(app: &App, whose: AccountId) -> Result<Option<Account>, String> {
    let directory = app.config.renewal.directory_url.as_str();
    let kept =
        app.store.acme_credentials(whose, directory).await.map_err(|cause| ours(whose, cause))?;
    let Some(kept) = kept else { return Ok(None) };
    let credentials: AccountCredentials =
        serde_json::from_str(kept.expose()).map_err(|cause| ours(whose, cause))?;
    let account = builder(app).from_credentials(credentials).await;
    account.map(Some).map_err(|cause| refused(&cause))
}

async fn new_account(app: &App, whose: AccountId) -> Result<Account, String> {
    let config = &app.config.renewal;
    let contact = config.contact.as_ref().map(|address| format!("mailto:{address}"));
    let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
    let new = NewAccount {
        contact: &contact,
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let directory = config.directory_url.as_str();
    let made = builder(app).create(&new, directory.to_owned(), None).await;
    let (account, credentials) = made.map_err(|cause| refused(&cause))?;
    let credentials =
        Secret::new(serde_json::to_string(&credentials).map_err(|cause| ours(whose, cause))?);
    app.store
        .keep_acme_credentials(whose, directory, &credentials)
        .await
        .map_err(|cause| ours(whose, cause))?;
    tracing::info!(directory, "an account was made with the certificate authority {directory}");
    Ok(account)
}

fn builder(app: &App) -> instant_acme::AccountBuilder {
    Account::builder_with_http(Box::new(Http(app.sandbox.egress().clone())))
}

/// When the leaf expires.
fn expiry(chain: &str) -> Option<Timestamp> {
    let leaf = CertificateDer::from_pem_slice(chain.as_bytes()).ok()?;
    let (_, leaf) = x509_parser::parse_x509_certificate(&leaf).ok()?;
    Timestamp::from_timestamp(leaf.validity().not_after.timestamp(), 0)
}

fn refused(cause: &Error) -> String {
    match cause {
        Error::Api(problem) => {
            let said = problem.detail.as_deref().or(problem.r#type.as_deref());
            let said = said.unwrap_or("it does not say why");
            format!("the certificate authority refused: {said}")
        }
        Error::Timeout(_) => "the certificate authority took too long to decide".to_owned(),
        other => format!("the certificate authority could not be asked: {other}"),
    }
}

fn ours(whose: AccountId, cause: impl std::fmt::Display) -> String {
    tracing::error!(
        account_id = %whose,
        "the account of {whose} with the certificate authority cannot be read or kept: {cause}"
    );
    "something went wrong on our side; start the renewal again".to_owned()
}

/// The egress layer, as the ACME client sends through it.
struct Http(Egress);

impl HttpClient for Http {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let egress = self.0.clone();
        Box::pin(send(egress, request))
    }
}

async fn send(
    egress: Egress,
    request: Request<BodyWrapper<Bytes>>,
) -> Result<BytesResponse, Error> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await;
    let body = body.to_bytes().to_vec();
    let headers = head.headers.iter().map(|(name, value)| -> Result<(String, String), Error> {
        let value = value.to_str().map_err(|_| Error::Str("a header that can be sent"))?;
        Ok((name.as_str().to_owned(), value.to_owned()))
    });
    let (url, deadline) = (head.uri.to_string(), Instant::now() + PATIENCE);
    let request = HttpRequest {
        headers: headers.collect::<Result<_, Error>>()?,
        body: (!body.is_empty()).then_some(body),
        ..HttpRequest::new(head.method.as_str(), &url, deadline, LARGEST_ANSWER)
    };
    let answer = egress.send_configured(request).await;
    let answer = answer.map_err(|cause| Error::Other(Box::new(cause)))?;
    if answer.truncated {
        return Err(Error::Str("the end of an answer that is too large"));
    }
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(name.as_str(), value.as_str());
    }
    Ok(BytesResponse::from(response.body(Full::new(Cursor::new(answer.body)))?))
}

const NOT_ACCEPTED: &str = "the certificate authority did not accept the proof";
/// RFC 8555, 6.7.
const NO_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";
const POLLS: RetryPolicy =
    RetryPolicy::new().initial_delay(Duration::from_millis(500)).timeout(Duration::from_secs(120));
/// For one request.
const PATIENCE: Duration = Duration::from_secs(30);
const LARGEST_ANSWER: u32 = 1 << 20;
