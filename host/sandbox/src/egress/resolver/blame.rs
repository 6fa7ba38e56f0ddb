//! Whose trouble it is that a name was not found out: its own servers', or ours.

use std::time::{Duration, Instant};

use hickory_resolver::{
    net,
    proto::rr::{Name, RecordType},
};
use tokio::time::timeout_at;

use super::{Resolver, Validation};
use crate::egress::{
    NetError,
    answer::{is_knowledge, is_refusal},
    code,
};

impl Resolver {
    /// What nobody found out of one name is that name's trouble only where the servers find out
    /// something of another.
    pub(super) async fn blame(&self, deadline: Instant, of_name: NetError) -> NetError {
        let bound = deadline.max(Instant::now() + Duration::from_secs(1));
        if self.is_alive(bound).await {
            return of_name;
        }
        let message = if self.is_cut_off() {
            "the DNS servers cannot look anything up: they answer from their cache at most"
        } else {
            "the DNS servers do not answer anything"
        };
        NetError::other(code::RESOLVER_DOWN, message)
    }

    /// Servers that refuse a name may refuse whatever we ask since a moment ago. The root is asked
    /// for first, then whether they still reach others, and a name that they answered before: where
    /// that is refused as well, it is us.
    pub(super) async fn judge_refusal(
        &self,
        name: &Name,
        deadline: Instant,
        of_name: NetError,
    ) -> NetError {
        let bound = deadline.max(Instant::now() + Duration::from_secs(1));
        if self.knows_root(bound).await {
            return of_name;
        }
        let known = self.heard.lock().known_beside(name);
        let refuse_all = match (self.had_uplink().await, known) {
            (Some(false), _) => true,
            (Some(true) | None, Some(known)) => self.refuses(&known, bound).await,
            (Some(true) | None, None) => false,
        };
        if refuse_all {
            let message = "the DNS servers refuse everything, even what they answered before";
            return NetError::other(code::RESOLVER_DOWN, message);
        }
        // They are taken at their word.
        of_name
    }

    /// Whether they refuse the name, and have not only failed to find it out.
    async fn refuses(&self, name: &Name, deadline: Instant) -> bool {
        let asked = self.lookup(name, RecordType::A, Validation::Servers);
        let answered = timeout_at(deadline.into(), asked).await;
        answered.is_ok_and(|answered| answered.outcome.as_ref().err().is_some_and(is_refusal))
    }

    /// Whether a server says anything of the root.
    pub(super) async fn knows_root(&self, deadline: Instant) -> bool {
        let says = |error: &net::NetError| is_knowledge(error) && !is_refusal(error);
        let outcome = self.ask_root(deadline).await;
        outcome.is_some_and(|outcome| outcome.as_ref().err().is_none_or(says))
    }
}
