//! crt.sh: all unexpired certificates of a domain in one JSON array.
//!
//! Its traps: `name_value` joins names with newlines and mixes in mail addresses, times have no
//! zone and are UTC, `common_name` may be null, a precertificate and its certificate may be two
//! rows, rows come in no stable order, and a page of HTML may stand in the place of the array.

use std::time::Duration;

use serde::Deserialize;
use vedette_sdk::{http::Request, log::Level};

use super::{Answer, Asked, Failure, RESERVE};
use crate::{
    array,
    certificate::{self, Catalogue, Certificate},
    date,
    issuer::Issuer,
    name,
};

/// One row. Whatever else it carries is skipped.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Row {
    issuer_name: Option<String>,
    common_name: Option<String>,
    name_value: Option<String>,
    entry_timestamp: Option<String>,
    not_before: Option<String>,
    not_after: Option<String>,
    serial_number: Option<String>,
}

/// Answers everything about the domain at once. The wildcard beside it is a name that is not below
/// it, and a question of its own, from the second look on: what comes of it adds to the answer, and
/// costs it nothing. The position says whether it was answered before: what the first answer to it
/// brings and is as old as the first look is taken in like that, what was issued since is news.
pub(super) fn read(asked: &Asked<'_>) -> Result<Answer, Failure> {
    let certificates = listed(asked, request(asked, asked.domain), MOST)?;
    let answer = Answer { certificates, is_whole: true, ..Answer::default() };
    let Some(wildcard) = name::wildcard_beside(asked.domain) else { return Ok(answer) };
    let Some(position) = asked.position else {
        return Ok(Answer { position: Some(format!("{ALONE} {}", asked.now)), ..answer });
    };
    let room = MOST.saturating_sub(answer.certificates.len());
    // The domain is answered, and no other source will be asked: what was left for them is this one's.
    let last = Asked { reserve: RESERVE, ..*asked };
    let question = Request { max_body: MAX_BESIDE, ..request(&last, &wildcard) };
    let listed = match listed(asked, question, room) {
        Ok(listed) => listed,
        Err(failure) => {
            let message = "the wildcard beside the domain could not be asked about";
            asked.cx.log(Level::Warn, message, &[("reason", failure.reason())]);
            return Ok(answer);
        }
    };
    let (mut certificates, beside) = told_apart(asked.domain, answer.certificates, listed);
    if position == BESIDE {
        certificates.extend(beside);
        return Ok(Answer { certificates, ..answer });
    }
    let first_look = first_look(position);
    let is_as_old = |beside: &Certificate| first_look.is_none_or(|at| beside.age() <= at);
    let (taken_in, news): (Vec<_>, Vec<_>) = beside.into_iter().partition(is_as_old);
    certificates.extend(news);
    Ok(Answer { certificates, taken_in, position: Some(BESIDE.to_owned()), ..answer })
}

/// When the domain was first asked about, in Unix seconds; none where that was not noted.
fn first_look(position: &str) -> Option<i64> {
    position.strip_prefix(ALONE)?.trim_start().parse().ok()
}

/// Each certificate once: the domain's own ones, and those that the wildcard alone brought.
fn told_apart(
    domain: &str,
    own: Vec<Certificate>,
    listed: Vec<Certificate>,
) -> (Vec<Certificate>, Vec<Certificate>) {
    let mut catalogue = Catalogue::new(domain);
    for certificate in own {
        catalogue.add(certificate);
    }
    let own = catalogue.len();
    for certificate in listed {
        catalogue.add(certificate);
    }
    let mut certificates = catalogue.into_certificates();
    let beside = certificates.split_off(own);
    (certificates, beside)
}

fn request(asked: &Asked<'_>, question: &str) -> Request {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("q", question)
        .append_pair("output", "json")
        .append_pair("exclude", "expired")
        .append_pair("deduplicate", "Y")
        .finish();
    asked.request(format!("{}/?{query}", asked.base), PATIENCE)
}

/// What the answer to one question lists, if that is not more than so many.
fn listed(asked: &Asked<'_>, question: Request, most: usize) -> Result<Vec<Certificate>, Failure> {
    let response = asked.accept(asked.cx.fetch(&question))?;
    if response.truncated {
        let reason = format!("it answers with more than {} bytes", response.body.len());
        return Err(Failure::TooMuch(reason));
    }
    parse(&response.body, asked.domain, asked.now, most)
}

fn parse(body: &[u8], domain: &str, now: i64, most: usize) -> Result<Vec<Certificate>, Failure> {
    let mut catalogue = Catalogue::new(domain);
    let read = array::read_each(body, |row: Row| {
        let certificate = row.into_certificate(domain);
        if !certificate.names.is_empty() && certificate.is_current(now) {
            catalogue.add(certificate);
        }
        catalogue.len() <= most
    });
    match read {
        Ok(()) => Ok(catalogue.into_certificates()),
        Err(_) if catalogue.len() > most => {
            Err(Failure::TooMuch(format!("it answers with more than {most} certificates")))
        }
        Err(error) => Err(Failure::Unavailable(format!("its answer cannot be read: {error}"))),
    }
}

impl Row {
    fn into_certificate(self, domain: &str) -> Certificate {
        let date = |text: &Option<String>| text.as_deref().and_then(date::parse);
        let names = self.name_value.iter().flat_map(|names| names.split('\n'));
        let names = names.chain(self.common_name.as_deref());
        Certificate {
            issuer: Issuer::of_dn(self.issuer_name.as_deref().unwrap_or_default()),
            names: name::shown(names, domain),
            serial: certificate::serial(self.serial_number.as_deref().unwrap_or_default()),
            not_before: date(&self.not_before),
            not_after: date(&self.not_after),
            logged_at: date(&self.entry_timestamp),
            fingerprint: None,
            tbs: None,
        }
    }
}

/// It often takes ten to twenty seconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// Positions: the domain was asked about alone, first at the moment that follows, or an answer about
/// the wildcard was taken in.
const ALONE: &str = "alone";
const BESIDE: &str = "beside";
/// Bytes about a single name: what the domain's own answer listed is in memory beside them.
const MAX_BESIDE: u32 = 512 << 10;
/// Of one domain: what fits into memory.
const MOST: usize = 6_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::fixture::NOW;

    fn row(id: u64, serial: &str) -> Value {
        json!({
            "issuer_ca_id": 295_815, "issuer_name": "C=US, O=\"Let's Encrypt\", CN=R11",
            "common_name": null, "name_value": "example.com\nWWW.example.com\nme@example.com",
            "id": id, "entry_timestamp": "2025-12-01T10:00:00.123",
            "not_before": "2025-12-01T09:00:00", "not_after": "2026-03-01T08:59:59",
            "serial_number": serial, "result_count": 2,
        })
    }

    fn read(rows: Value) -> Result<Vec<Certificate>, Failure> {
        parse(rows.to_string().as_bytes(), "example.com", NOW, MOST)
    }

    #[test]
    fn row_becomes_a_certificate() {
        let certificates = read(json!([row(1, "00aB")])).expect("rows");
        let expected = Certificate {
            issuer: Issuer { name: "R11".into(), organisation: Some("Let's Encrypt".into()) },
            names: vec!["example.com".into(), "www.example.com".into()],
            serial: "ab".into(),
            not_before: Some(1_764_579_600),
            not_after: Some(1_772_355_599),
            logged_at: Some(1_764_583_200),
            fingerprint: None,
            tbs: None,
        };
        assert_eq!(certificates, [expected]);
    }

    #[test]
    fn order_and_doubles_make_no_difference() {
        let mut one = read(json!([row(1, "01"), row(2, "02"), row(3, "01")])).expect("rows");
        let mut other = read(json!([row(1, "02"), row(1, "01")])).expect("rows");
        one.sort_by(|a, b| a.serial.cmp(&b.serial));
        other.sort_by(|a, b| a.serial.cmp(&b.serial));
        assert_eq!(one, other);
    }

    #[test]
    fn rows_of_others_and_expired_ones_are_dropped() {
        let with = |field: &str, value: Value| {
            let mut row = row(1, "01");
            row[field] = value;
            read(json!([row])).expect("a row").len()
        };
        assert_eq!(with("name_value", json!("badexample.com\nexample.com.evil.net")), 0);
        assert_eq!(with("name_value", json!(null)), 0);
        assert_eq!(with("not_after", json!("2025-12-31T23:59:59")), 0);
        assert_eq!(with("not_after", json!("9999-12-31T23:59:59")), 1);
        assert_eq!(with("not_after", json!("nonsense")), 1);
        assert_eq!(with("serial_number", json!(null)), 1);
        let mut named = row(1, "01");
        (named["name_value"], named["common_name"]) = (json!(null), json!("a.example.com"));
        assert_eq!(read(json!([named])).expect("a row")[0].names, ["a.example.com"]);
    }

    #[test]
    fn anything_but_rows_is_a_failure() {
        for body in ["<html><h1>502 Bad Gateway</h1>", "", "{}", "[{\"id\":1}", "[1]", "null"] {
            let failed = parse(body.as_bytes(), "example.com", NOW, MOST);
            assert!(matches!(failed, Err(Failure::Unavailable(_))), "{body}");
        }
        let many: Vec<String> =
            (0..=MOST).map(|n| format!("{{\"name_value\":\"h{n}.example.com\"}}")).collect();
        let body = format!("[{}]", many.join(","));
        let failed = parse(body.as_bytes(), "example.com", NOW, MOST);
        assert!(matches!(failed, Err(Failure::TooMuch(_))));
    }

    proptest! {
        #[test]
        fn any_bytes_are_rows_or_a_failure(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&body, "example.com", NOW, MOST);
        }

        #[test]
        fn any_texts_are_read(names in ".{0,80}", dn in ".{0,80}", date in ".{0,40}") {
            let row = json!([{
                "name_value": format!("example.com\n{names}"), "issuer_name": dn,
                "not_before": date, "serial_number": names,
            }]);
            prop_assert_eq!(read(row).map(|rows| rows.len()), Ok(1));
        }
    }
}
