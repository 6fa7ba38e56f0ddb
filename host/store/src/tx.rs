//! The one way to the database: [`Store::read`] sends a single statement, [`Store::tx`] one unit
//! of work as one `BEGIN … COMMIT` text, and runs the whole unit again when it lost a conflict.
//!
//! One row that is known by its id is read as `$row.field`: a SELECT is planned anew each time, which
//! takes as long again as a small unit of work. So does a call of a function, such as `math::min`.
//!
//! *Invariant:* no other file sends text that reads or writes, and no text is built from input:
//! input is bound.

use std::{sync::atomic::Ordering, time::Duration};

use backon::{ExponentialBuilder, Retryable};
use surrealdb::IndexedResults;
use surrealdb::types::{Error as EngineError, QueryError, SurrealValue, Value, Variables};

use crate::Store;
use crate::error::{Error, Result};

/// The parameters of a statement, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Binds(Variables);

impl Binds {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with(mut self, name: impl Into<String>, value: impl SurrealValue) -> Self {
        self.0.insert(name, value);
        self
    }

    pub(crate) fn bind(&mut self, name: impl Into<String>, value: impl SurrealValue) {
        self.0.insert(name, value);
    }
}

impl Store {
    /// Runs one statement, which sees one snapshot, and reads its answer as a `T`.
    pub(crate) async fn read<T: SurrealValue>(&self, statement: &str, binds: Binds) -> Result<T> {
        let mut answer = self.send(statement, binds).await?;
        parse(answer.take(0).map_err(engine)?)
    }

    /// Runs one unit of work, all of it or nothing, and reads the answer of its last statement.
    /// `THROW 'stale'` and its like become the [`Error`] of that name.
    ///
    /// Optimistic transactions lose conflicts as a matter of course, and neither the server nor
    /// its client tries again. The whole unit is repeated, never a statement of it, because what
    /// it read belongs to the attempt that failed.
    pub(crate) async fn tx<T: SurrealValue>(&self, unit: &str, binds: Binds) -> Result<T> {
        let text = whole(unit);
        let value = (|| self.attempt(&text, binds.clone()))
            .retry(RETRIES)
            .when(|error| matches!(error, Error::Conflict))
            .notify(|_, wait| tracing::debug!(?wait, "a transaction lost a conflict"))
            .await?;
        parse(value)
    }

    /// Like [`Store::tx`], for units that have nothing to answer.
    pub(crate) async fn write(&self, unit: &str, binds: Binds) -> Result<()> {
        self.tx::<Value>(unit, binds).await.map(drop)
    }

    /// Like [`Store::write`], but tried once: false, and nothing written, if it lost a conflict.
    /// For writes that are in no hurry and would only be in the winner's way.
    pub(crate) async fn write_once(&self, unit: &str, binds: Binds) -> Result<bool> {
        match self.attempt(&whole(unit), binds).await {
            Ok(_) => Ok(true),
            Err(Error::Conflict) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the database itself failed at the last unit of work: it may go on reading, but no request
    /// is served without being counted. The work loops write once a minute at least, so that it is known
    /// when it takes what is written again.
    pub fn refuses_writes(&self) -> bool {
        self.inner.refuses_writes.load(Ordering::Relaxed)
    }

    async fn attempt(&self, text: &str, binds: Binds) -> Result<Value> {
        let outcome = self.attempt_once(text, binds).await;
        let refuses = matches!(outcome, Err(Error::Engine(_) | Error::Unavailable(_)));
        // What everybody reads is written where it is another.
        if self.refuses_writes() != refuses {
            self.inner.refuses_writes.store(refuses, Ordering::Relaxed);
        }
        outcome
    }

    async fn attempt_once(&self, text: &str, binds: Binds) -> Result<Value> {
        let mut answer = self.send(text, binds).await?;
        // Every statement has a row, BEGIN and COMMIT too.
        let statements = answer.num_statements();
        let errors = answer.take_errors();
        if errors.is_empty() {
            return answer.take(statements - 2).map_err(engine);
        }
        Err(verdict(errors.into_values().collect()))
    }

    async fn send(&self, text: &str, binds: Binds) -> Result<IndexedResults> {
        self.inner.engine.send(text, binds.0).await.map_err(engine)
    }
}

fn whole(unit: &str) -> String {
    format!("BEGIN;\n{};\nCOMMIT;", unit.trim_end().trim_end_matches(';'))
}

/// What a failed transaction means. One statement tells the reason, the others only that they
/// were not executed; a COMMIT that failed says that of itself too, and why (no room on the disk)
/// only in its words.
fn verdict(errors: Vec<EngineError>) -> Error {
    if errors.iter().any(is_conflict) {
        return Error::Conflict;
    }
    let (undone, reasons): (Vec<_>, Vec<_>) = errors.into_iter().partition(|error| {
        matches!(error.query_details(), Some(QueryError::NotExecuted | QueryError::Cancelled))
    });
    if let Some(error) = reasons.into_iter().next() {
        return engine(error);
    }
    let commit = undone.iter().map(EngineError::message).find(|said| said.starts_with(NO_COMMIT));
    Error::Engine(commit.unwrap_or("a transaction was not executed").to_owned())
}

/// The embedded engine types a conflict in some places and only words it in others.
pub(crate) fn is_conflict(error: &EngineError) -> bool {
    matches!(error.query_details(), Some(QueryError::TransactionConflict))
        || error.message().contains("can be retried")
}

fn engine(error: EngineError) -> Error {
    if is_conflict(&error) {
        return Error::Conflict;
    }
    if error.is_thrown() {
        return thrown(error.message());
    }
    if error.is_already_exists() {
        return Error::Duplicate;
    }
    if error.is_connection() || error.message().contains("outcome is unknown") {
        return Error::Unavailable(error.message().to_owned());
    }
    Error::Engine(error.message().to_owned())
}

/// The engine puts a phrase of its own before what was thrown.
fn thrown(message: &str) -> Error {
    match message.rsplit(' ').next().unwrap_or_default() {
        "agent_limit" => Error::AgentLimit,
        "domain_taken" => Error::DomainTaken,
        "duplicate" => Error::Duplicate,
        "fenced" => Error::Fenced,
        "gone" => Error::Gone,
        "has_team" => Error::HasTeam,
        "in_team" => Error::InTeam,
        "incident_limit" => Error::IncidentLimit,
        "key_limit" => Error::KeyLimit,
        "letter_limit" => Error::LetterLimit,
        "site_limit" => Error::SiteLimit,
        "stale" => Error::Stale,
        "state_quota" => Error::StateQuota,
        "team_limit" => Error::TeamLimit,
        "target_limit" => Error::TargetLimit,
        "window_limit" => Error::WindowLimit,
        _ => Error::Engine(message.to_owned()),
    }
}

fn parse<T: SurrealValue>(value: Value) -> Result<T> {
    T::from_value(value).map_err(|error| Error::corrupt("answer", error))
}

/// How the engine begins to tell of a COMMIT that failed.
const NO_COMMIT: &str = "Cannot COMMIT";
/// From 2 to 4 s altogether: to each wait up to as much again is added. A unit takes some
/// milliseconds, most of them for the disk.
pub(crate) const RETRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(2))
    .with_factor(1.6)
    .with_max_delay(Duration::from_millis(150))
    .with_max_times(20)
    .with_jitter();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_that_failed_tells_why() {
        let undone = |said: &str| EngineError::query(said.to_owned(), QueryError::NotExecuted);
        let of_statement = "The query was not executed due to a failed transaction";
        let full = "Cannot COMMIT: No space left on device (os error 28)";
        let said = verdict(vec![undone(of_statement), undone(full)]).to_string();
        assert_eq!(said, format!("the database refused: {full}"));

        let thrown =
            EngineError::query("The field is of another type".to_owned(), None::<QueryError>);
        let aborted = undone("Cannot COMMIT: the transaction was aborted due to a prior error");
        let said = verdict(vec![undone(of_statement), thrown, aborted]).to_string();
        assert_eq!(said, "the database refused: The field is of another type");

        let said = verdict(vec![undone(of_statement)]).to_string();
        assert_eq!(said, "the database refused: a transaction was not executed");
    }
}
