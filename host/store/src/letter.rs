//! How many mails an account had us send on a UTC day: invitations, and tests of a channel. The
//! columns are named after what was counted first.

use vedette_model::{AccountId, Timestamp, quota};

use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key};

impl Store {
    /// Counts mails before they are sent, if the account stays within `letters_a_day`, else
    /// `LetterLimit`.
    pub async fn count_letters(
        &self,
        account: AccountId,
        mails: usize,
        letters_a_day: u32,
        now: Timestamp,
    ) -> Result<()> {
        let _turn = self.turn(account.0).await;
        let unit = format!(
            "{SENT}
            IF $sent + $mails > $letters_a_day {{ THROW 'letter_limit' }};
            LET $counted = (UPDATE $account SET invited_on = $today, invited = $sent + $mails
                RETURN AFTER)[0];
            IF $counted = NONE {{ THROW 'gone' }}"
        );
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("today", quota::day(now))
            .with("mails", mails)
            .with("letters_a_day", letters_a_day);
        self.write(&unit, binds).await
    }
}

/// How many were sent on the day that is bound as `$today`.
pub(crate) const SENT: &str =
    "LET $sent = IF $account.invited_on = $today { $account.invited } ELSE { 0 };";
