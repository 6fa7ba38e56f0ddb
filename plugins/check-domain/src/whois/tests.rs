use super::*;

mod any_answer;
mod expiry_date;
mod record;
mod sentence;

fn record_of(text: &str, name: &str, tld: &str) -> Record {
    match parse(text, name, tld) {
        Answer::Record(record) => record,
        other => panic!("{other:?} from {text}"),
    }
}

fn day(text: &str) -> i64 {
    chrono::DateTime::parse_from_rfc3339(text).expect("the tables hold RFC 3339").timestamp()
}

/// What is read where the expiry line of a made up record is this one.
fn expiry_of(lines: &str, tld: &str) -> Option<i64> {
    let text = format!("Domain Name: example.{tld}\nRegistrar: Registrar Example\n{lines}\n");
    record_of(&text, &format!("example.{tld}"), tld).expires_at
}
