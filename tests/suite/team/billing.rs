//! Billing: checkouts at a payment provider of the lab, and the events that it signs.

mod checkout;
mod ending;
mod event;
mod order;
mod signed;

use aws_lc_rs::hmac;
use reqwest::Method;
use serde_json::{Value, json};
use vedette_tests::{Account, Answer, Mailbox, Mailed, Receiver};

use super::world;
use crate::world::{World, until};

/// A world with a payment provider and a mail relay.
pub(super) struct Shop {
    pub(super) world: World,
    pub(super) provider: Receiver,
    pub(super) mailbox: Mailbox,
}

impl Shop {
    pub(super) async fn open() -> Self {
        let mailbox = Mailbox::start().await.expect("free port");
        let relay = mailbox.toml("");
        Self::with(mailbox, &relay).await
    }

    /// One whose service has no relay.
    pub(super) async fn without_relay() -> Self {
        Self::with(Mailbox::start().await.expect("free port"), "").await
    }

    async fn with(mailbox: Mailbox, relay: &str) -> Self {
        let provider = Receiver::start().await.expect("free port");
        let toml = format!(
            "{relay}[payments]\nsecret = \"{SECRET}\"\napi_base = \"{}\"\napi_key = \"{API_KEY}\"\n\
             [payments.products]\nprod_pro = \"pro\"\nprod_pro_yearly = \"pro\"\nprod_team = \"team\"\n",
            provider.url("/v1/"),
        );
        let world = world(&toml).await;
        Self { world, provider, mailbox }
    }

    /// What the provider tells, as it signs it.
    pub(super) async fn tell(&self, event: &Value) -> Answer {
        let body = event.to_string();
        self.send(&body, &[&sign(&body)]).await
    }

    /// The same of an event that must be received.
    pub(super) async fn told(&self, event: &Value) {
        let answer = self.tell(event).await;
        assert_eq!(answer.status, 200, "{event}: {}", answer.text);
        assert_eq!(answer.json(), json!({"received": true}), "{event}");
    }

    /// Any text, with any signatures.
    pub(super) async fn send(&self, body: &str, signatures: &[&str]) -> Answer {
        let client = self.world.service.client();
        let request = client.request(Method::POST, "/webhooks/payments");
        let mut request = request.header("content-type", "application/json");
        for signature in signatures {
            request = request.header("payments-signature", *signature);
        }
        client.finish(request.body(body.to_owned())).await
    }

    /// The plan that an account is on, as the operator sees it: that costs the account no call.
    pub(super) async fn plan(&self, account: &Account) -> String {
        let listed = self.world.service.operator().get("/admin/accounts?limit=200").await;
        let listed = listed.expect(200);
        let all = listed["accounts"].as_array().expect("a list");
        let found = all.iter().find(|one| one["account_id"] == account.id.as_str());
        found.expect("it exists")["plan"].as_str().expect("a plan").to_owned()
    }

    /// The subjects of all mails to an account, in alphabetical order, once there are `count` and
    /// what was told before this call had its turn.
    pub(super) async fn subjects(&self, account: &Account, count: usize) -> Vec<String> {
        let last = self.world.account("free").await;
        self.told(&purchase(&last, &format!("evt_{}", last.id))).await;
        let mails = until(&format!("{count} mails, and the last one"), async || {
            let mails = self.mails(account);
            (mails.len() >= count && !self.mails(&last).is_empty()).then_some(mails)
        })
        .await;
        let mut subjects: Vec<String> =
            mails.iter().flat_map(|mail| mail.header("subject")).collect();
        subjects.sort_unstable();
        subjects
    }

    pub(super) fn mails(&self, account: &Account) -> Vec<Mailed> {
        let mut mails = self.mailbox.arrived();
        mails.retain(|mail| mail.to == [account.email.as_str()]);
        mails
    }
}

/// An event about the plan `pro`, as it is documented, of a customer who is named like the account.
pub(super) fn event(account: &Account, id: &str, kind: &str) -> Value {
    json!({
        "id": id, "type": kind, "product": {"id": "prod_pro"},
        "customer": {"id": format!("cus_{}", account.id), "email": account.email},
        "metadata": {"planId": "pro", "billing": "monthly", "userId": account.id},
    })
}

pub(super) fn purchase(account: &Account, id: &str) -> Value {
    event(account, id, "checkout.completed")
}

/// The same event with further or other members.
pub(super) fn with(mut event: Value, members: Value) -> Value {
    for (name, value) in members.as_object().into_iter().flatten() {
        event[name] = value.clone();
    }
    event
}

pub(super) fn sign(body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    hex::encode(hmac::sign(&key, body.as_bytes()))
}

const SECRET: &str = "hunter2-of-the-provider";
const API_KEY: &str = "key-of-the-provider";
