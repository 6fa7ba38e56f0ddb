//! A certificate as an agent reports it.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::said;
use crate::parse::{self, Body, Day};
use crate::{Invalid, Timestamp};

/// One entry of a result's `certificates[]` (decisions: agents).
pub(super) enum Entry {
    Certificate(Certificate),
    /// It tells nothing of a certificate but why not.
    Unread(String),
}

/// A certificate of which enough is told to judge it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// A distinguished name, or whatever the agent calls it.
    pub subject: String,
    pub issuer: String,
    pub serial_number: Option<String>,
    pub not_before: Option<Timestamp>,
    /// The first moment at which it is no longer valid.
    pub not_after: Timestamp,
    pub fingerprint_sha256: Option<String>,
    pub san: Vec<String>,
    /// What the agent found; none = it did not say.
    pub is_valid: Option<bool>,
    /// Why it is not valid.
    pub error: Option<String>,
}

impl Entry {
    pub(super) fn read(body: Body<'_>) -> Result<Self, Invalid> {
        match unread(&body)? {
            Some(error) => Ok(Self::Unread(error)),
            None => Certificate::read(&body).map(Self::Certificate),
        }
    }
}

impl Certificate {
    /// `subject`, `issuer` and `not_after` must be there; the rest may be left out or null.
    fn read(body: &Body<'_>) -> Result<Self, Invalid> {
        Ok(Self {
            subject: body.required("subject", text)?,
            issuer: body.required("issuer", text)?,
            serial_number: said(body, "serial_number", text)?,
            not_before: said(body, "not_before", moment)?,
            not_after: body.required("not_after", moment)?,
            fingerprint_sha256: said(body, "fingerprint_sha256", text)?,
            san: said(body, "san", names)?.unwrap_or_default(),
            is_valid: said(body, "is_valid", parse::boolean)?,
            error: trouble(body, text)?,
        })
    }

    /// Whole days until it expires, rounded down; negative once it has.
    pub fn days_left(&self, now: Timestamp) -> i64 {
        (self.not_after - now).num_milliseconds().div_euclid(DAY_MS)
    }

    pub fn expired(&self, now: Timestamp) -> bool {
        self.not_after <= now
    }

    /// When the certificate check would begin to say something else of it by the calendar alone:
    /// that it is about to expire, and that it has.
    pub(super) fn turns(&self) -> [Timestamp; 2] {
        let lifetime = self.not_before.map(|from| self.not_after - from);
        let short = lifetime.filter(|lifetime| *lifetime < HOURS);
        let overdue = short.map_or(TOLD_FOR, |lifetime| lifetime / OVERDUE);
        // The check counts whole seconds.
        [self.not_after - overdue.max(TimeDelta::zero()), self.not_after]
            .map(|at| at + TimeDelta::seconds(1))
    }

    /// What its dates say against it, as the certificate check would.
    pub(super) fn trouble_with_dates(&self, now: Timestamp) -> Option<&'static str> {
        if self.expired(now) {
            return Some(EXPIRED);
        }
        self.not_before.is_some_and(|from| now < from).then_some(NOT_YET_VALID)
    }

    /// The issuer's common name, else its organisation, else all of it.
    pub(super) fn issuer_name(&self) -> String {
        let named = attribute(&self.issuer, "CN").or_else(|| self.issuer_org());
        named.unwrap_or_else(|| self.issuer.clone())
    }

    pub(super) fn issuer_org(&self) -> Option<String> {
        attribute(&self.issuer, "O")
    }

    /// What tells it from every other: its fingerprint; where that is not told, an id made of its
    /// issuer, serial number and end, and of its subject, since the number may be missing, too.
    pub(super) fn identity(&self) -> String {
        let fingerprint = digits(self.fingerprint_sha256.as_deref());
        if !fingerprint.is_empty() {
            return fingerprint;
        }
        let serial_number = digits(self.serial_number.as_deref());
        let not_after = self.not_after.to_rfc3339();
        let told = [self.issuer.as_str(), self.subject.as_str(), &serial_number, &not_after];
        Uuid::new_v5(&Uuid::NAMESPACE_X500, told.join("\n").as_bytes()).to_string()
    }
}

/// Why an entry tells nothing of a certificate; none where it does, or does not say why.
fn unread(body: &Body<'_>) -> Result<Option<String>, Invalid> {
    for fact in ["subject", "issuer", "not_after"] {
        if said(body, fact, |_, _| Ok(()))?.is_none() {
            let error = trouble(body, parse::text)?;
            return Ok(error.map(|error| error.chars().take(LONGEST_TEXT).collect()));
        }
    }
    Ok(None)
}

/// What is wrong, as an agent says it. Programs that always write the member leave it empty where
/// nothing is: that says nothing.
pub(super) fn trouble<'a, T: AsRef<str>>(
    body: &Body<'a>,
    read: impl FnOnce(&'static str, &'a Value) -> Result<T, Invalid>,
) -> Result<Option<T>, Invalid> {
    Ok(said(body, "error", read)?.filter(|told| !told.as_ref().trim().is_empty()))
}

/// Hexadecimal digits in one spelling, however they were written: `AB:CD` is `abcd`.
fn digits(written: Option<&str>) -> String {
    let written = written.unwrap_or_default().chars();
    written.filter(|c| !matches!(c, ':' | ' ')).collect::<String>().to_lowercase()
}

/// A date-time, or a date, which is its first moment.
pub(super) fn moment(field: &'static str, value: &Value) -> Result<Timestamp, Invalid> {
    parse::date_or_time(field, parse::text(field, value)?).map(Day::start)
}

/// Text from the maker of the certificate, or from an agent: bounded, and shown as it is.
pub(super) fn text(field: &'static str, value: &Value) -> Result<String, Invalid> {
    parse::text_within(field, value, LONGEST_TEXT).map(str::to_owned)
}

fn names(field: &'static str, value: &Value) -> Result<Vec<String>, Invalid> {
    let named = |(nth, value): (usize, &Value)| {
        text(field, value)
            .map_err(|Invalid { reason, .. }| Invalid::new(format!("{field}[{nth}]"), reason))
    };
    parse::list(field, value)?.iter().enumerate().map(named).collect()
}

/// The value of an attribute of a distinguished name (RFC 4514).
fn attribute(dn: &str, wanted: &str) -> Option<String> {
    let value_of = |part: &String| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned())
    };
    parts(dn).iter().find_map(value_of).filter(|value| !value.is_empty())
}

/// Its parts, without the backslashes that keep them together.
fn parts(dn: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut chars = dn.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => part.extend(chars.next()),
            ',' | '+' => parts.push(std::mem::take(&mut part)),
            c => part.push(c),
        }
    }
    parts.push(part);
    parts
}

/// For so long at most an expiry is told before it comes: while no more than 14 whole days are left.
const TOLD_FOR: TimeDelta = TimeDelta::days(15);
/// Of a lifetime below [`HOURS`], the last part is when an automatic renewal is overdue.
const OVERDUE: i32 = 4;
const HOURS: TimeDelta = TimeDelta::days(2);
const DAY_MS: i64 = 86_400_000;
const LONGEST_TEXT: usize = 1_000;
/// Tokens of the certificate check.
pub(super) const EXPIRED: &str = "certificate_expired";
const NOT_YET_VALID: &str = "certificate_not_yet_valid";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_in_names_as_programs_write_them() {
        for (dn, cn, org) in [
            ("CN=Corp CA 1,O=Corp,C=DE", Some("Corp CA 1"), Some("Corp")),
            ("C = DE, O = Corp\\, Inc., cn = Corp CA", Some("Corp CA"), Some("Corp, Inc.")),
            ("OU=Ops+CN=A\\+B", Some("A+B"), None),
            ("O=Corp", None, Some("Corp")),
            ("CN=,O=Corp", None, Some("Corp")),
            ("Corp CA", None, None),
            ("Corp, Inc.", None, None),
            ("ends in \\", None, None),
            ("", None, None),
        ] {
            assert_eq!(attribute(dn, "CN").as_deref(), cn, "{dn}");
            assert_eq!(attribute(dn, "O").as_deref(), org, "{dn}");
        }
    }
}
