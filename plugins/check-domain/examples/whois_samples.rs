//! Reads a folder of WHOIS answers and says what was found in each, and in how many.
//!
//! `cargo run -p check-domain --example whois_samples -- FOLDER [EXPECTED]`
//!
//! FOLDER holds one answer per file, named by the domain (`example.com`) or by the top level
//! domain (`tld_com.txt`). EXPECTED, if given, holds one JSON object per file of the same name,
//! with `expiration_date`; dates are compared to the day, which may be a local one. Each answer becomes one JSON line, the
//! summary the last. The exit code is 1 when an expiry differs from the expected one, or is missed
//! in more than 5 % of the answers that are expected to have one.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use chrono::{DateTime, NaiveDate};
use serde_json::{Value, json};

#[allow(dead_code, unused_imports, reason = "the plugin uses what this example does not")]
#[path = "../src/date/mod.rs"]
mod date;
#[allow(dead_code, unused_imports, reason = "the plugin uses what this example does not")]
#[path = "../src/name.rs"]
mod name;
#[allow(dead_code, unused_imports, reason = "the plugin uses what this example does not")]
#[path = "../src/privacy.rs"]
mod privacy;
#[allow(dead_code, unused_imports, reason = "the plugin uses what this example does not")]
#[path = "../src/whois/mod.rs"]
mod whois;

use whois::{Answer, Record};

fn main() -> io::Result<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: whois_samples FOLDER [EXPECTED]");
        return Ok(ExitCode::from(2));
    };
    let expected = arguments.next();
    let mut files: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);

    let mut tally = Tally::default();
    for file in files.iter().filter(|file| file.path().is_file()) {
        let bytes = fs::read(file.path())?;
        let file_name = file.file_name().to_string_lossy().into_owned();
        let (name, tld) = asked(&file_name);
        let answer = whois::read(&bytes, &name, &tld);
        let expected =
            expected.as_ref().and_then(|folder| expiry_in(&Path::new(folder).join(&file_name)));
        println!("{}", tally.add(&file_name, &answer, expected));
    }
    println!("{}", tally.summary());
    Ok(if tally.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Default)]
struct Tally {
    answers: u32,
    records: u32,
    stated: u32,
    expiries: u32,
    expected: u32,
    same: u32,
    missed: Vec<String>,
    different: Vec<String>,
}

impl Tally {
    fn add(&mut self, file: &str, answer: &Answer, expected: Option<NaiveDate>) -> Value {
        self.answers += 1;
        let record = match answer {
            Answer::Record(record) => Some(record),
            _ => None,
        };
        let at = record.and_then(|record| record.expires_at);
        let expiry = at.and_then(day);
        self.records += u32::from(record.is_some());
        self.stated += u32::from(record.is_some_and(|record| record.is_expiry_stated));
        self.expiries += u32::from(expiry.is_some());
        if let Some(expected) = expected {
            self.expected += 1;
            // Midnight there may be the evening before in Greenwich.
            let local = at.into_iter().flat_map(|at| [day(at - ZONE), day(at), day(at + ZONE)]);
            match expiry {
                Some(_) if local.flatten().any(|day| day == expected) => self.same += 1,
                Some(day) => self.different.push(format!("{file}: {day}, expected {expected}")),
                None => self.missed.push(file.to_owned()),
            }
        }
        let kind = match answer {
            Answer::Record(_) => "record",
            Answer::NotFound => "not_found",
            Answer::Reserved => "reserved",
            Answer::Throttled => "throttled",
            Answer::Unparsable => "unparsable",
        };
        json!({ "file": file, "answer": kind, "record": record.map(fields) })
    }

    fn summary(&self) -> Value {
        json!({
            "answers": self.answers,
            "records": self.records,
            "expiry_stated": self.stated,
            "expiry_read": self.expiries,
            "expected": self.expected,
            "same_day": self.same,
            "missed": self.missed,
            "different": self.different,
        })
    }

    fn is_good(&self) -> bool {
        let missed = u32::try_from(self.missed.len()).unwrap_or(u32::MAX);
        self.different.is_empty() && missed.saturating_mul(20) <= self.expected
    }
}

fn fields(record: &Record) -> Value {
    json!({
        "registrar": record.registrar,
        "expires": record.expires_at.and_then(day).map(|day| day.to_string()),
        "expiry_stated": record.is_expiry_stated,
        "created": record.created.and_then(day).map(|day| day.to_string()),
        "updated": record.updated.and_then(day).map(|day| day.to_string()),
        "name_servers": record.name_servers,
        "privacy_protected": record.privacy_protected,
        "statuses": record.statuses,
        "referral": record.referral.as_ref().map(|referral| (&referral.host, referral.port)),
    })
}

/// The name and the top level domain that a file's name tells.
fn asked(file: &str) -> (String, String) {
    let file = file.strip_suffix(".txt").unwrap_or(file);
    if let Some(tld) = file.strip_prefix("tld_") {
        return (
            String::new(),
            tld.trim_end_matches(|char: char| char.is_ascii_digit()).to_owned(),
        );
    }
    let name = file.strip_prefix("www.").unwrap_or(file);
    (name.to_owned(), name.rsplit('.').next().unwrap_or(name).to_owned())
}

fn expiry_in(path: &Path) -> Option<NaiveDate> {
    let expected: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let value = match &expected["expiration_date"] {
        Value::Array(dates) => dates.first()?.clone(),
        value => value.clone(),
    };
    let day = value.as_str()?.get(..10)?.to_owned();
    NaiveDate::parse_from_str(&day, "%Y-%m-%d").ok()
}

/// Seconds; no zone is farther from Greenwich.
const ZONE: i64 = 14 * 3_600;

fn day(at: i64) -> Option<NaiveDate> {
    DateTime::from_timestamp(at, 0).map(|moment| moment.date_naive())
}
