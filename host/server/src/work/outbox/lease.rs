//! How long a batch belongs to this process, and how it stays so while it is sent.
//!
//! *Invariant:* a part is begun only if the lease outlasts it, so that nobody else sends the batch
//! meanwhile; a lost lease ends the attempt before its next part.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use vedette_model::{Delivery, Timestamp, delivery::Rendered};

use super::{Held, patience::until_written};
use crate::{App, work::lanes::LEASE};

/// The right to send a batch.
pub(super) struct Lease {
    until: Timestamp,
    held: Held,
    /// Past this moment no part is begun.
    pub(super) stop: CancellationToken,
}

impl Lease {
    /// The lease of a batch that was taken at a moment.
    pub(super) fn since(taken: Timestamp, held: Held, stop: CancellationToken) -> Self {
        Self { until: taken + LEASE, held, stop }
    }

    /// Whether the next part ends before the lease does. A lease longer than any was given by a
    /// clock that has been corrected since.
    pub(super) fn outlasts_a_part(&self, now: Timestamp) -> bool {
        (now + LONGEST_PART..=now + LEASE).contains(&self.until)
    }

    /// Renews the lease, and writes down what the batch still has to send: given back from here on,
    /// it sends the same. False when the lease was lost.
    pub(super) async fn renew(
        &mut self,
        app: &App,
        delivery: &Delivery,
    ) -> vedette_store::Result<bool> {
        let kept = until_written(|| keep(app, delivery)).await?;
        let Some(until) = kept else { return Ok(false) };
        self.until = until;
        if let Some(held) = self.held.lock().as_mut() {
            held.rendered.clone_from(&delivery.rendered);
        }
        Ok(true)
    }

    /// A part is through, or a mail to one of many: given back now, the batch no longer contains
    /// it.
    pub(super) fn left(&self, parts: &[Rendered]) {
        if let Some(delivery) = self.held.lock().as_mut() {
            delivery.rendered = Some(parts.to_vec());
        }
    }
}

/// Until when it is leased from now on; none when it was lost.
async fn keep(app: &App, delivery: &Delivery) -> vedette_store::Result<Option<Timestamp>> {
    let until = app.clock.now() + LEASE;
    let kept = app.store.keep_delivery(delivery, until).await?;
    Ok(kept.then_some(until))
}

/// The mails of a part wait half a minute for their turns, and then have ten seconds. A request has
/// ten too; if it fails, whether we are offline ourselves is known within twenty more; and a plugin
/// reads the reply.
const LONGEST_PART: Duration = Duration::from_secs(45);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::sample::at;

    #[test]
    fn part_is_begun_only_within_a_lease_that_outlasts_it() {
        let lease = Lease::since(at(0), Held::default(), CancellationToken::new());
        for (now, outlasts) in [
            (-3600, false),
            (-1, false),
            (0, true),
            (15, true),
            (16, false),
            (60, false),
            (900, false),
        ] {
            assert_eq!(lease.outlasts_a_part(at(now)), outlasts, "{now}");
        }
    }
}
