//! What stands in the place of a secret wherever a recorded case would show it: as it is, and in the
//! forms in which a plugin sends one.
//!
//! *Invariant:* pure; the placeholder is written in the form of what it replaces, as a plugin writes it
//! that is given the placeholder.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

/// Lays the placeholder over each text in a value.
pub(super) fn lay(value: &mut Value, secret: &str, placeholder: &str) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|v| lay(v, secret, placeholder)),
        Value::Array(items) => items.iter_mut().for_each(|v| lay(v, secret, placeholder)),
        Value::String(text) => *text = masked(text, secret, placeholder),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn masked(text: &str, secret: &str, placeholder: &str) -> String {
    let mut text = text.replace(secret, placeholder);
    for form in [in_json, in_url, in_form] {
        let written = form(secret);
        // What stands there as it is has been covered, perhaps by a placeholder with the same word.
        if written != secret {
            text = text.replace(&written, &form(placeholder));
        }
    }
    if text.starts_with("hex:") {
        return text.replace(&hex::encode(secret), &hex::encode(placeholder));
    }
    in_base64(&text, secret, placeholder)
}

/// Without the quotation marks.
fn in_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn in_url(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

fn in_form(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

/// A secret need not stand there alone: `user:secret` of Basic authentication has other digits.
fn in_base64(text: &str, secret: &str, placeholder: &str) -> String {
    let is_digit = |c: char| c.is_ascii_alphanumeric() || "+/-_".contains(c);
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(is_digit) {
        masked.push_str(&rest[..begin]);
        rest = &rest[begin..];
        let digits = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        let padding = rest[digits..].bytes().take(2).take_while(|byte| *byte == b'=').count();
        let (word, behind) = rest.split_at(digits + padding);
        match recoded(word, secret, placeholder) {
            Some(recoded) => masked.push_str(&recoded),
            None => masked.push_str(word),
        }
        rest = behind;
    }
    masked + rest
}

/// None where the word is no base64, or the secret is not in it.
fn recoded(word: &str, secret: &str, placeholder: &str) -> Option<String> {
    [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].into_iter().find_map(|base64| {
        let plain = String::from_utf8(base64.decode(word).ok()?).ok()?;
        let is_there = plain.contains(secret);
        is_there.then(|| base64.encode(plain.replace(secret, placeholder)))
    })
}

/// All but the unreserved characters (RFC 3986, 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secret_is_covered_wherever_it_stands() {
        let token = "s3cr3t";
        let mut value = json!({
            "headers": [["authorization", "Bearer s3cr3t"]],
            "send": format!("hex:00{}", hex::encode(token)),
            "max": 7,
        });
        lay(&mut value, token, "secret:token");
        let send = format!("hex:00{}", hex::encode("secret:token"));
        let headers = json!([["authorization", "Bearer secret:token"]]);
        assert_eq!(value, json!({"headers": headers, "send": send, "max": 7}));
    }

    #[test]
    fn secret_is_covered_in_the_forms_in_which_it_is_sent() {
        type Form<'a> = &'a dyn Fn(&str) -> String;

        let (secret, placeholder) = ("p\"ä s/+?", "secret:token");
        let basic = |secret: &str| format!("Basic {}", STANDARD.encode(format!("me:{secret}")));
        let token = |secret: &str| format!("t={}", URL_SAFE_NO_PAD.encode(secret));
        let query = |secret: &str| format!("https://a.example/?key={}&b=1", in_url(secret));
        let form = |secret: &str| format!("key={}&b=1", in_form(secret));
        let body = |secret: &str| json!({ "key": secret }).to_string();
        let forms: [(&str, Form<'_>); 5] = [
            ("Basic", &basic),
            ("a token", &token),
            ("a query", &query),
            ("a form", &form),
            ("JSON", &body),
        ];
        for (what, form) in forms {
            let covered = masked(&form(secret), secret, placeholder);
            assert_eq!(covered, form(placeholder), "{what}");
        }
        let other = "GET /v1/items?page=2 HTTP/1.1\r\nX-Id: aGVsbG8gd29ybGQ=\r\n";
        assert_eq!(masked(other, secret, placeholder), other);
    }
}
