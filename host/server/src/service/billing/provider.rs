//! The payment provider's own API, as far as it is needed.
//!
//! *Invariant:* it is dialled as the operator configured it, no redirect is followed, and nothing
//! that it answers is quoted to anybody.

use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;
use vedette_model::{AccountId, Secret, billing::Cycle};
use vedette_sandbox::egress::{Egress, HttpRequest, HttpResponse};

use crate::{App, Error, Result, service::random};

/// What is asked of the payment provider.
pub(super) trait Payments {
    /// Answers the address of the page on which the order is paid.
    fn checkout(&self, order: &Order<'_>) -> impl Future<Output = anyhow::Result<String>> + Send;

    /// Ends a subscription. One that is unknown or gone counts as ended, and so does one that was
    /// replaced and cannot be cancelled.
    fn cancel(&self, ended: &Ended<'_>) -> impl Future<Output = anyhow::Result<()>> + Send;
}

/// What somebody wants to buy.
pub(super) struct Order<'a> {
    /// The provider's id.
    pub(super) product: &'a str,
    pub(super) plan: &'a str,
    pub(super) cycle: Cycle,
    pub(super) email: &'a str,
    pub(super) account: AccountId,
    /// Where the customer is sent after paying.
    pub(super) success_url: &'a str,
}

/// What is no longer to be paid for, by the provider's ids.
pub(super) struct Ended<'a> {
    pub(super) customer: Option<&'a str>,
    /// None = all that the customer has.
    pub(super) subscription: Option<&'a str>,
    /// Another one was bought in its place.
    pub(super) is_replaced: bool,
}

/// The provider of `[payments]`, over HTTP.
pub(super) struct Provider<'a> {
    egress: &'a Egress,
    base: &'a Url,
    key: &'a Secret<String>,
}

impl<'a> Provider<'a> {
    /// # Errors
    /// `NotConfigured`; names the keys.
    pub(super) fn of(app: &'a App) -> Result<Self> {
        let payments = &app.config.payments;
        match (&payments.api_base, &payments.api_key) {
            (Some(base), Some(key)) => Ok(Self { egress: app.sandbox.egress(), base, key }),
            (None, _) | (_, None) => Err(Error::NotConfigured(NOT_CONFIGURED.to_owned())),
        }
    }

    /// Posts to a path below the base address.
    async fn post(&self, path: &[&str], body: &Value) -> anyhow::Result<HttpResponse> {
        let key = self.key.expose();
        let json = "application/json".to_owned();
        let url = below(self.base, path)?;
        let request = HttpRequest {
            headers: vec![("content-type".to_owned(), json.clone()), ("accept".to_owned(), json)],
            secret_headers: vec![
                ("authorization".to_owned(), format!("Bearer {key}")),
                ("x-api-key".to_owned(), key.clone()),
            ],
            body: Some(body.to_string().into_bytes()),
            ..HttpRequest::new("POST", url.as_str(), Instant::now() + TIMEOUT, LONGEST)
        };
        let answer = self.egress.send_configured(request).await;
        answer.context("the payment provider was not reached (payments.api_base)")
    }
}

impl Payments for Provider<'_> {
    async fn checkout(&self, order: &Order<'_>) -> anyhow::Result<String> {
        let request: Uuid = random::id();
        let body = json!({
            "product_id": order.product,
            "customer": { "email": order.email },
            "request_id": request,
            "success_url": order.success_url,
            "metadata": {
                "planId": order.plan,
                "billing": order.cycle.as_str(),
                "userId": order.account,
            },
        });
        let answer = self.post(&["checkouts"], &body).await?;
        if !is_good(answer.status) {
            return Err(refused(answer.status));
        }
        ensure!(!answer.truncated, "the payment provider's answer is longer than {LONGEST} bytes");
        let answer = serde_json::from_slice(&answer.body);
        let answer: Value = answer.context("the payment provider's answer is not JSON")?;
        page(&answer).context("the payment provider's answer names no page to pay on")
    }

    async fn cancel(&self, ended: &Ended<'_>) -> anyhow::Result<()> {
        let body = json!({
            "customer_id": ended.customer,
            "subscription_id": ended.subscription,
        });
        let answer = match ended.subscription {
            Some(id) => self.post(&["subscriptions", id, "cancel"], &body).await?,
            None => self.post(&["subscriptions", "cancel"], &body).await?,
        };
        let status = answer.status;
        if is_good(status) || GONE.contains(&status) {
            return Ok(());
        }
        if !(ended.is_replaced && REFUSED.contains(&status)) {
            return Err(refused(status));
        }
        let id = ended.subscription.unwrap_or_default();
        tracing::warn!(
            subscription_id = id,
            status,
            "the payment provider answered {status} to cancelling subscription {id}, in whose place \
             another was bought: it counts as ended"
        );
        Ok(())
    }
}

/// A path below an address, each part written so that it stays one part.
fn below(base: &Url, path: &[&str]) -> anyhow::Result<Url> {
    let mut url = base.clone();
    url.path_segments_mut()
        .map_err(|()| anyhow!("payments.api_base has no path"))?
        .pop_if_empty()
        .extend(path);
    Ok(url)
}

/// Providers name it differently.
fn page(answer: &Value) -> Option<String> {
    let named = ["checkout_url", "checkoutUrl", "url"].map(|name| answer[name].as_str());
    let is_page = |text: &&str| {
        Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
    };
    named.into_iter().flatten().find(is_page).map(str::to_owned)
}

/// Names the configuration key to look at.
fn refused(status: u16) -> anyhow::Error {
    let key = match status {
        401 | 403 => "payments.api_key",
        _ => "payments.api_base",
    };
    anyhow!("the payment provider answered {status}: see {key}")
}

fn is_good(status: u16) -> bool {
    (200..300).contains(&status)
}

const NOT_CONFIGURED: &str = "payments are not configured; \
     the operator sets payments.api_base and payments.api_key";
const TIMEOUT: Duration = Duration::from_secs(10);
const LONGEST: u32 = 64 << 10;
const GONE: [u16; 2] = [404, 410];
/// They may mean that the subscription has ended, but also that it cannot be cancelled just now:
/// the owner of an account that is deleted then would go on paying. That it has ended, the
/// provider's event says. If that is still to come for one that was replaced, it most likely never
/// will, and the account would stay for ever.
const REFUSED: [u16; 3] = [400, 409, 422];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_on_where_the_base_ends() {
        let of = |base: &str, path: &[&str]| {
            let base = Url::parse(base).expect("a URL");
            below(&base, path).expect("a path").to_string()
        };
        let checkouts = ["checkouts"];
        for (base, expected) in [
            ("https://pay.example", "https://pay.example/checkouts"),
            ("https://pay.example/", "https://pay.example/checkouts"),
            ("https://pay.example/v1", "https://pay.example/v1/checkouts"),
            ("https://pay.example/v1/", "https://pay.example/v1/checkouts"),
        ] {
            assert_eq!(of(base, &checkouts), expected);
        }
        let hostile = ["subscriptions", "a/../b?c#d", "cancel"];
        let expected = "https://pay.example/subscriptions/a%2F..%2Fb%3Fc%23d/cancel";
        assert_eq!(of("https://pay.example", &hostile), expected);
    }

    #[test]
    fn refusal_names_the_key_to_look_at() {
        for (status, key) in [
            (401, "payments.api_key"),
            (403, "payments.api_key"),
            (404, "payments.api_base"),
            (500, "payments.api_base"),
        ] {
            let told = refused(status).to_string();
            assert!(told.contains(&status.to_string()) && told.ends_with(key), "{told}");
        }
    }

    #[test]
    fn page_is_the_first_address_that_a_browser_opens() {
        for (answer, expected) in [
            (json!({"checkout_url": "https://pay.example/1"}), Some("https://pay.example/1")),
            (json!({"checkoutUrl": "http://pay.example/2"}), Some("http://pay.example/2")),
            (json!({"url": "https://pay.example/3"}), Some("https://pay.example/3")),
            (
                json!({"url": "https://pay.example/3", "checkout_url": "https://pay.example/1"}),
                Some("https://pay.example/1"),
            ),
            (
                json!({"checkout_url": 7, "checkoutUrl": "", "url": "https://pay.example/3"}),
                Some("https://pay.example/3"),
            ),
            (json!({"url": "javascript:alert(1)"}), None),
            (json!({"url": "/checkout"}), None),
            (json!({}), None),
            (json!(["https://pay.example/"]), None),
            (json!("https://pay.example/"), None),
        ] {
            assert_eq!(page(&answer).as_deref(), expected, "{answer}");
        }
    }
}
