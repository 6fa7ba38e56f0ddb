//! An account's feed: open while somebody reads, and for a while after; then closed, and forgotten
//! bit by bit.

use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::{AccountId, Timestamp};

use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key};

#[derive(SurrealValue)]
struct FeedRow {
    last: u64,
    oldest: u64,
}

#[derive(SurrealValue)]
struct AgeRow {
    number: u64,
    numbered_at: Timestamp,
}

impl Store {
    /// From now on, and until a moment, what happens in the account is kept for its readers. A feed
    /// that was closed skips a number, so that an earlier reader can tell that something is
    /// missing.
    pub async fn open_events(&self, account: AccountId, until: Timestamp) -> Result<()> {
        let _turn = self.turn(account.0).await;
        // The account is read for update: in conflict with its deletion.
        let unit = "IF (SELECT VALUE id FROM ONLY $account FOR UPDATE) = NONE { THROW 'gone' };
            LET $was = $feed.*;
            IF $was.is_open = true {
                UPDATE $feed SET open_until = $until RETURN NONE
            } ELSE {
                UPSERT $feed SET is_open = true, open_until = $until,
                    last = ($was.last ?? 0) + 1, oldest = $was.oldest ?? 2 RETURN NONE;
                UPSERT $gate SET openings += 1 RETURN NONE
            }";
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("feed", key::event_feed(account))
            .with("gate", key::event_gate(account))
            .with("until", until);
        self.write(unit, binds).await
    }

    /// The accounts whose events are to be numbered, closed or forgotten.
    pub async fn event_feeds(&self) -> Result<Vec<AccountId>> {
        let feeds: Vec<RecordId> = self.read(FEEDS, Binds::new()).await?;
        feeds.iter().map(|id| key::uuid_at(id, 0).map(AccountId)).collect()
    }

    /// Closes the feed if nobody has read it until `now`, and forgets up to `batch` of the oldest
    /// events: those from before a moment, and those beyond the last `most`. False when there is
    /// nothing more to forget.
    pub async fn forget_events(
        &self,
        account: AccountId,
        before: Timestamp,
        most: u64,
        batch: u64,
        now: Timestamp,
    ) -> Result<bool> {
        let feed = key::event_feed(account);
        let close = "UPDATE $feed SET is_open = false
            WHERE is_open = true AND open_until < $now RETURN NONE";
        self.write(close, Binds::new().with("feed", feed.clone()).with("now", now)).await?;
        let binds = Binds::new().with("feed", feed.clone());
        let row: Option<FeedRow> = self.read("RETURN $feed.{ last, oldest }", binds).await?;
        let Some(FeedRow { last, oldest }) = row else { return Ok(false) };
        let end = oldest.saturating_add(batch).min(last.saturating_add(1));
        if end <= oldest {
            return Ok(false);
        }
        let mut ages: Vec<AgeRow> = self
            .read(
                "SELECT number, numbered_at FROM $events",
                Binds::new().with("events", key::events(account, oldest, end)),
            )
            .await?;
        ages.sort_by_key(|row| row.number);
        let beyond = (last + 1).saturating_sub(most);
        let kept = ages.iter().find(|row| row.numbered_at >= before && row.number >= beyond);
        let first = kept.map_or(end, |row| row.number);
        if first <= oldest {
            return Ok(false);
        }
        let unit = "LET $old = (SELECT VALUE id FROM $events);
            UPDATE $feed SET oldest = $first WHERE oldest < $first RETURN NONE;
            DELETE $old RETURN NONE";
        let binds = Binds::new()
            .with("feed", feed)
            .with("events", key::events(account, oldest, first))
            .with("first", first);
        self.write(unit, binds).await?;
        Ok(true)
    }
}

const FEEDS: &str = "SELECT VALUE id FROM event_feed WHERE is_open = true OR oldest <= last";
