//! How much of a result is shown: by the edition, and to strangers.

use serde_json::Value;
use vedette_model::{CheckRecord, CheckType, Edition};

/// A result with some of its fields only.
pub(crate) fn public_part(result: Value, fields: &[&str]) -> Value {
    let Value::Object(mut members) = result else { return result };
    members.retain(|name, _| fields.contains(&name.as_str()));
    Value::Object(members)
}

/// A check's result as an edition shows it (spec: SSL check result, `tls_grade`).
pub(crate) fn shown(edition: &Edition, check_type: &CheckType, mut result: Value) -> Value {
    if let Some(members) = result.as_object_mut() {
        for field in edition.omitted(check_type) {
            match field.strip_prefix("records/") {
                None => drop(members.remove(&field)),
                Some(name) => {
                    let records = members.get_mut("records").and_then(Value::as_array_mut);
                    records
                        .into_iter()
                        .for_each(|records| records.retain(|set| set["type"] != name));
                }
            }
        }
    }
    result
}

pub(crate) fn shown_record(edition: &Edition, record: CheckRecord) -> CheckRecord {
    let result = shown(edition, &record.check_type, record.result);
    CheckRecord { result, ..record }
}

/// Spec: On-demand checks, `GET /public/check-ssl`.
pub(crate) const PUBLIC: [&str; 7] =
    ["valid", "issuer", "expires_at", "days_remaining", "san", "chain_complete", "error"];

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vedette_model::edition::{STANDARD, TEAM};

    use super::*;

    #[test]
    fn public_result_has_the_documented_fields_and_no_other() {
        let result = json!({
            "valid": true, "issuer": "CA", "expires_at": "2027-01-01T00:00:00Z",
            "days_remaining": 9, "san": ["example.com"], "chain_complete": true, "error": null,
            "chain": [{}], "cipher_name": "TLS_AES_128_GCM_SHA256", "tls_grade": "A", "hsts": null,
        });
        let members = public_part(result, &PUBLIC);
        let mut names: Vec<_> = members.as_object().expect("an object").keys().collect();
        names.sort();
        let mut documented = PUBLIC;
        documented.sort_unstable();
        assert_eq!(names, documented);
    }

    #[test]
    fn grade_is_shown_by_the_edition_that_documents_it() {
        let ssl: CheckType = "ssl".parse().expect("the name of a check");
        let graded = json!({ "valid": true, "tls_grade": "A" });
        assert_eq!(shown(&TEAM, &ssl, graded.clone()), graded);
        assert_eq!(shown(&STANDARD, &ssl, graded), json!({ "valid": true }));
    }

    #[test]
    fn what_a_check_of_an_operator_calls_alike_is_shown() {
        let banner: CheckType = "banner".parse().expect("the name of a check");
        let own = json!({ "tls_grade": "A", "records": [{ "type": "CAA" }] });
        for edition in [&STANDARD, &TEAM] {
            assert_eq!(shown(edition, &banner, own.clone()), own, "{}", edition.id);
        }
        let dns: CheckType = "dns".parse().expect("the name of a check");
        assert_eq!(shown(&TEAM, &dns, own)["records"], json!([]));
    }
}
