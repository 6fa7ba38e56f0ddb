//! `/renewal`, deprecated.

use serde_json::{Value, json};
use vedette_model::Feature;

use super::{
    Subject,
    operation::{Operation, required},
    sample::{NOW, SITE},
    schema::{list, moment, one_of, record, reference, said, text, uuid},
};

pub(super) const TAG: &str = "Renewal";

pub(super) fn operations(subject: &Subject<'_>) -> Vec<Operation> {
    let site = || required("site_id", uuid(), "The site.", SITE);
    let entry = json!({ "status": "success", "message": "The certificate is renewed.",
        "created_at": NOW });
    let needs = format!("Closed to new users. Needs {}.", subject.plans_with(Feature::Renewal));
    vec![
        Operation::post("/renewal", TAG, "renewCertificate", "Renew a certificate")
            .deprecated()
            .says(&needs)
            .takes(record(json!({ "site_id": uuid() })), json!({ "site_id": SITE }))
            .answers(
                "The renewal has begun. Its log shows the progress.",
                record(json!({ "message": text(), "site_id": uuid() })),
                json!({ "message": "the renewal has begun", "site_id": SITE }),
            )
            .fails(403, "The plan does not include renewal, or it is closed to this account.")
            .fails(404, "There is no such site."),
        Operation::get("/renewal", TAG, "listRenewalLog", "Read the log of renewals")
            .deprecated()
            .says(&needs)
            .with(site())
            .answers(
                "The log.",
                record(json!({ "logs": list(reference("RenewalLogEntry")) })),
                json!({ "logs": [entry] }),
            )
            .fails(403, "The plan does not include renewal.")
            .fails(404, "There is no such site."),
        Operation::get(
            "/renewal/certificate",
            TAG,
            "readRenewedCertificate",
            "Fetch a certificate",
        )
        .deprecated()
        .says(&needs)
        .with(site())
        .answers(
            "What the last renewal brought.",
            record(json!({
                "certificate": said(text(), "The chain, as PEM, the leaf first."),
                "private_key": said(text(), "As PEM (PKCS #8)."),
                "expires_at": moment(),
            })),
            json!({
                "certificate": "-----BEGIN CERTIFICATE-----\n…",
                "private_key": "-----BEGIN PRIVATE KEY-----\n…",
                "expires_at": NOW,
            }),
        )
        .fails(403, "The plan does not include renewal.")
        .fails(404, "There is no such site, or it has no renewed certificate."),
    ]
}

pub(super) fn schemas() -> Vec<(String, Value)> {
    let entry = record(json!({
        "status": one_of(&["pending", "success", "failed"]),
        "message": text(),
        "created_at": moment(),
    }));
    vec![("RenewalLogEntry".to_owned(), said(entry, "A step of a renewal."))]
}
