//! Pages of check records, newest first.
//!
//! *Invariant:* a page costs what it shows: whole days before it are skipped by their roll-ups,
//! and `total` is added up from them. Only the days that `from` and `to` cut are counted, by
//! their keys.
//! *Invariant:* a page is as long as its `total` says. The two are read one after the other, so where
//! old records were removed in between, both are read again.

mod span;

use std::collections::BTreeMap;

use surrealdb::types::SurrealValue;
use vedette_model::{AccountId, CheckRecord, CheckType, SiteId, Timestamp};

use self::span::{FAREST, Span};
use crate::error::{Error, Result, gone_is_none};
use crate::record::RecordRow;
use crate::tx::Binds;
use crate::{Store, key};

/// Some of many, and how many there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub total: u64,
}

/// A page, and whether all was there that had been counted a moment before.
pub(crate) struct Looked<T> {
    pub(crate) page: Page<T>,
    pub(crate) is_whole: bool,
}

/// Which records of a site to show. Moments count to the millisecond.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckFilter {
    /// None = all types, in one order of time.
    pub check_type: Option<CheckType>,
    /// The first moment that is shown.
    pub from: Option<Timestamp>,
    /// The first moment that is not shown any more.
    pub until: Option<Timestamp>,
    pub limit: u32,
    pub offset: u32,
}

/// A check type that has records within the filter, and where its page begins.
struct Kind {
    check_type: CheckType,
    /// Records of each day within the span, by negated day.
    days: BTreeMap<i64, u64>,
    /// Records within the span.
    total: u64,
    /// Those of them from where the page begins.
    left: u64,
}

#[derive(SurrealValue)]
struct KindsRow {
    exists: bool,
    states: Vec<StateRow>,
}

#[derive(SurrealValue)]
struct StateRow {
    check_type: String,
    runs: u64,
}

#[derive(SurrealValue)]
struct DaysRow {
    days: Vec<DayRow>,
    near: u64,
    far: u64,
}

#[derive(SurrealValue)]
struct DayRow {
    day: i64,
    runs: u64,
}

impl<T> Looked<T> {
    pub(crate) fn new(items: Vec<T>, expected: u64, total: u64) -> Self {
        let is_whole = items.len() as u64 >= expected;
        Self { page: Page { items, total }, is_whole }
    }

    pub(crate) fn none(total: u64) -> Self {
        Self::new(Vec::new(), 0, total)
    }
}

impl Store {
    /// One page of a site's records and how many the filter finds; none when the account has no
    /// such site.
    pub async fn checks_page(
        &self,
        account: AccountId,
        site: SiteId,
        filter: &CheckFilter,
    ) -> Result<Option<Page<CheckRecord>>> {
        gone_is_none(whole(|| self.look_at_checks(account, site, filter)).await)
    }

    async fn look_at_checks(
        &self,
        account: AccountId,
        site: SiteId,
        filter: &CheckFilter,
    ) -> Result<Looked<CheckRecord>> {
        let mut kinds = self.kinds(account, site, filter.check_type.as_ref()).await?;
        let mut span = Span::of(filter);
        let mut skip = u64::from(filter.offset);
        let far_in = skip + u64::from(filter.limit) > WALKED;
        if far_in || filter.from.is_some() || filter.until.is_some() {
            self.count_days(site, span, &mut kinds).await?;
            (span, skip) = start(&mut kinds, span, skip);
        }
        let total = kinds.iter().map(|kind| kind.total).sum();
        let left: u64 = kinds.iter().map(|kind| kind.left).sum();
        let limit = u64::from(filter.limit).min(left.saturating_sub(skip));
        if limit == 0 {
            return Ok(Looked::none(total));
        }
        let records = self.records(site, &kinds, span, skip, limit).await?;
        Ok(Looked::new(records, limit, total))
    }

    /// The check types that have records; `Gone` when the account has no such site.
    async fn kinds(
        &self,
        account: AccountId,
        site: SiteId,
        only: Option<&CheckType>,
    ) -> Result<Vec<Kind>> {
        let statement = "RETURN {
            exists: record::exists($site),
            states: (SELECT check_type, runs FROM $states)
        }";
        let binds = Binds::new()
            .with("site", key::site(account, site))
            .with("states", key::of_site("check_state", site));
        let row: KindsRow = self.read(statement, binds).await?;
        if !row.exists {
            return Err(Error::Gone);
        }
        let mut kinds = Vec::with_capacity(row.states.len());
        for StateRow { check_type, runs } in row.states {
            let check_type = CheckType::try_from(check_type)
                .map_err(|error| Error::corrupt("check type", error))?;
            if only.is_none_or(|only| *only == check_type) {
                kinds.push(Kind { check_type, days: BTreeMap::new(), total: runs, left: runs });
            }
        }
        Ok(kinds)
    }

    /// Learns how many records of each kind lie in each day of the span.
    async fn count_days(&self, site: SiteId, span: Span, kinds: &mut [Kind]) -> Result<()> {
        if kinds.is_empty() {
            return Ok(());
        }
        let mut binds = Binds::new();
        let mut texts = Vec::with_capacity(kinds.len());
        for (nth, kind) in kinds.iter().enumerate() {
            let check_type = &kind.check_type;
            let days = key::check_days(site, check_type, span.near_day(), span.far_day());
            binds.bind(format!("days{nth}"), days);
            for (end, Span { near, far }) in [("near", span.near_cut()), ("far", span.far_cut())] {
                let cut = key::checks_between(site, check_type, near, far);
                binds.bind(format!("{end}{nth}"), cut);
            }
            texts.push(DAYS.replace('#', &nth.to_string()));
        }
        let rows: Vec<DaysRow> = self.read(&format!("RETURN [{}]", texts.join(",")), binds).await?;
        for (kind, row) in kinds.iter_mut().zip(rows) {
            kind.days = row.days.into_iter().map(|row| (row.day, row.runs)).collect();
            for (day, cut) in [(span.near_day(), row.near), (span.far_day(), row.far)] {
                if let Some(runs) = kind.days.get_mut(&day) {
                    *runs = cut;
                }
            }
            kind.total = kind.days.values().sum();
            kind.left = kind.total;
        }
        Ok(())
    }

    /// `limit` records after `skip` others, counted from the near end of the span.
    async fn records(
        &self,
        site: SiteId,
        kinds: &[Kind],
        span: Span,
        skip: u64,
        limit: u64,
    ) -> Result<Vec<CheckRecord>> {
        let kinds: Vec<&Kind> = kinds.iter().filter(|kind| kind.left > 0).collect();
        // Of several types nobody knows beforehand how many of each are skipped.
        let (start, skip) = if kinds.len() == 1 { (skip, 0) } else { (0, skip) };
        let mut binds =
            Binds::new().with("site", site.0).with("near", span.near).with("start", start);
        let mut texts = Vec::with_capacity(kinds.len());
        for (nth, kind) in kinds.iter().enumerate() {
            binds.bind(format!("type{nth}"), kind.check_type.as_str());
            binds.bind(format!("limit{nth}"), (skip + limit).min(kind.left));
            let text = RECORDS
                .replace("$check_type", &format!("$type{nth}"))
                .replace("$limit", &format!("$limit{nth}"));
            texts.push(format!("({text})"));
        }
        let mut rows: Vec<RecordRow> =
            self.read(&format!("RETURN array::flatten([{}])", texts.join(",")), binds).await?;
        // Stable: records of one millisecond keep the order of types, then of their keys.
        rows.sort_by_key(|row| row.rev);
        rows.into_iter()
            .skip(usize::try_from(skip).unwrap_or(usize::MAX))
            .take_while(|row| row.rev < span.far)
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .map(RecordRow::into_record)
            .collect()
    }
}

/// Reads a page until it is whole, [`LOOKS`] times at most.
pub(crate) async fn whole<T, F>(look: impl Fn() -> F) -> Result<Page<T>>
where
    F: Future<Output = Result<Looked<T>>>,
{
    let mut looked = look().await?;
    for _ in 1..LOOKS {
        if looked.is_whole {
            break;
        }
        looked = look().await?;
    }
    Ok(looked.page)
}

/// Skips the whole days before the page: where to begin, and how many records to skip there.
fn start(kinds: &mut [Kind], span: Span, mut skip: u64) -> (Span, u64) {
    let mut per_day: BTreeMap<i64, u64> = BTreeMap::new();
    for (day, runs) in kinds.iter().flat_map(|kind| &kind.days) {
        *per_day.entry(*day).or_default() += runs;
    }
    let first = per_day.into_iter().find_map(|(day, runs)| {
        if skip < runs {
            return Some(day);
        }
        skip -= runs;
        None
    });
    let first = first.unwrap_or(FAREST);
    for kind in kinds {
        kind.left = kind.days.range(first..).map(|(_, runs)| runs).sum();
    }
    (Span { near: span.near.max(key::first_rev(first)), ..span }, skip)
}

/// So often a page is read, until it is whole: what is removed meanwhile is removed in batches, which
/// take longer than a look.
const LOOKS: usize = 8;

/// So many records are walked over sooner than days are counted.
const WALKED: u64 = 1_000;

/// A count of a range of ids reads keys alone.
const DAYS: &str = "{
    days: (SELECT day, runs FROM $days#),
    near: (SELECT count() FROM $near# GROUP ALL)[0].count ?? 0,
    far: (SELECT count() FROM $far# GROUP ALL)[0].count ?? 0
}";

/// One bound, the near one, and a limit: the engine stops at the limit, wherever the far end is.
pub(crate) const RECORDS: &str = "SELECT rev, doc, result_in.doc AS result_doc FROM check
    WHERE site = $site AND check_type = $check_type AND rev >= $near
    ORDER BY rev LIMIT $limit START $start";
