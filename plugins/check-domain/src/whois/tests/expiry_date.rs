//! Which line states the expiry, and which day it means.

use super::*;

#[test]
fn labels_of_many_languages_state_the_expiry() {
    for label in [
        "Registry Expiry Date",
        "Registrar Registration Expiration Date",
        "Expiration Date",
        "Expiry Date",
        "Expiration Time",
        "Expire Date",
        "expires",
        "Expires on",
        "Expires at",
        "EXPIRES......",
        "expire",
        "expire-date",
        "Expiry",
        "paid-till",
        "Paid until",
        "renewal date",
        "Renewal Date",
        "Valid Until",
        "valid-to",
        "validity",
        "Record expires on",
        "Record will expire on",
        "Domain expires",
        "Domain Name Expiry Date",
        "Domain expiration",
        "Registration expires",
        "Registered until",
        "Registration End Date",
        "End date",
        "Exp date",
        "Date of expiry",
        "expiration_date",
        "expirationDate",
        "[Expires on]",
        "Expiration Date (UTC)",
        "Date d'expiration",
        "Échéance",
        "Fecha de Vencimiento",
        "Vence",
        "Fecha de expiración",
        "Fecha de caducidad",
        "Data de vencimento",
        "Data de Expiração",
        "Expira em",
        "Validade",
        "Data di scadenza",
        "Scadenza",
        "Ablaufdatum",
        "Läuft ab am",
        "Gültig bis",
        "Vervaldatum",
        "Verloopt op",
        "Utgår",
        "Udløbsdato",
        "Utløper",
        "Päättyy",
        "Bitiş Tarihi",
        "Bitiş",
        "Data wygaśnięcia",
        "Ważny do",
        "Platnost do",
        "Poteče",
        "Datum isteka",
        "Lejárat",
        "Data expirării",
        "Galioja iki",
        "Derīga līdz",
        "Kehtib kuni",
        "Срок действия",
        "Оплачен до",
        "Дата окончания регистрации",
        "Истекает",
        "Закінчується",
        "Ημερομηνία λήξης",
        "到期时间",
        "过期时间",
        "有効期限",
        "만료일",
        "Ngày hết hạn",
        "Tanggal kedaluwarsa",
        "วันหมดอายุ",
    ] {
        for date in ["2031-03-04", "4-Mar-2031", "04 March 2031"] {
            let line = format!("{label}: {date}");
            assert_eq!(expiry_of(&line, "test"), Some(day("2031-03-04T00:00:00Z")), "{line}");
        }
    }
}

#[test]
fn dates_of_other_things_are_no_expiry() {
    for line in [
        "Created: 2031-03-04",
        "Updated Date: 2031-03-04",
        "Last Update: 2031-03-04",
        "Last renewed on: 2031-03-04",
        "Domain record last updated: 2031-03-04",
        ">>> Last update of WHOIS database: 2031-03-04T00:00:00Z <<<",
        "Last update of WHOIS database: 2031-03-04T00:00:00Z",
        "Whois database was last updated on: 2031-03-04",
        "WHOIS lookup made at 11:55:41 04-Mar-2031",
        "Whois Timestamp: 04.03.2031 20:57:08",
        "% Timestamp: Tue Mar 04 08:27:34 2031",
        "available..........: 4.3.2031 22:16:55",
        "free-date: 2031-03-04",
        "delete: 2031-03-04",
        "option expiration date: 2031.03.04 23:44:16",
        "Trademark Expiration Date: 2031-03-04",
        "Certificate expires: 2031-03-04",
        "SSL certificate valid until: 2031-03-04",
        "DNSSEC signature expires on: 2031-03-04",
        "Lock expiry: 2031-03-04",
        "Redemption period ends: 2031-03-04",
        "Auction end date: 2031-03-04",
        "Registrar accreditation expires: 2031-03-04",
        "Privacy expiry date: 2031-03-04",
        "Original Expiration Date: 2031-03-04",
        "Registry fee due on 4th March each year",
        "This version of the agreement expires on 2031-03-04",
        "Your session expires 2031-03-04",
        "NOTICE: The expiration date displayed in this record is 2031-03-04.",
        "eligdate: 2031-03-04",
        "Дата начала действия: 2031-03-04",
        "SSL certificate:\n   Issuer: Example\n   Expires: 2031-03-04",
        "Trademark:\n   Name: Example\n\n   Expires: 2031-03-04",
        "Technical Contact:\n   Name: Example\n   Expires: 2031-03-04",
        "\nnic-hdl: EX1-EXAMPLE\nperson: Example\nexpires: 2031-03-04",
        "\nDomain Name: other.test\nExpires: 2031-03-04",
    ] {
        let text = format!("Domain Name: example.test\nRegistrar: Registrar Example\n{line}\n");
        let record = record_of(&text, "example.test", "test");
        assert_eq!(record.expires_at, None, "{line}");
        assert!(!record.is_expiry_stated, "{line}");
    }
}

#[test]
fn an_unreadable_expiry_is_stated_and_null() {
    for (line, is_stated) in [
        ("Expires: 03/04/2031", true),
        ("Expires: 31-02-2031", true),
        ("Expires: 2031", true),
        ("Expires: 21-Mar-31", true),
        ("Expires: 0001-01-01T00:00:00Z", true),
        ("Validity Period expires: 2030-01-01 - 2031-01-01", true),
        ("Expires: N/A", false),
        ("Expires: ", false),
        ("expires at: see at www.registry.example", false),
    ] {
        let text = format!("Domain Name: example.test\nRegistrar: Registrar Example\n{line}\n");
        let record = record_of(&text, "example.test", "test");
        assert_eq!((record.expires_at, record.is_expiry_stated), (None, is_stated), "{line}");
    }
}

#[test]
fn one_rank_of_labels_is_believed_before_the_other() {
    let registry = Some(day("2031-03-04T00:00:00Z"));
    for (lines, expected) in [
        ("Expires: 2031-03-04\nRegistrar Registration Expiration Date: 2029-01-01", registry),
        ("Registrar Expiration Date: 2029-01-01\nRegistry Expiry Date: 2031-03-04", registry),
        ("Renewal date: 2029-01-01\nExpiry: 2031-03-04", registry),
        ("Expires: 2031-03-04\n\nExpires: 2029-01-01", registry),
        ("Registry Expiry Date: see below\nExpires: 2031-03-04", registry),
        ("Expires: 2031-03-04\nExpiry date: 2031-03-04T10:00:00Z", registry),
        // Two of one rank, side by side, that differ: nobody knows.
        ("Expires: 2031-03-04\nExpiry date: 2029-01-01", None),
    ] {
        assert_eq!(expiry_of(lines, "test"), expected, "{lines}");
    }
}

#[test]
fn day_and_month_follow_the_country_or_the_answer() {
    for (lines, tld, expected) in [
        ("Expires: 04/03/2031", "pt", Some("2031-03-04T00:00:00Z")),
        ("Expires: 03/04/2031", "us", Some("2031-03-04T00:00:00Z")),
        ("Expires: 03/04/2031", "com", None),
        ("Created: 25/03/2001\nExpires: 04/03/2031", "com", Some("2031-03-04T00:00:00Z")),
        ("Created: 03/25/2001\nExpires: 03/04/2031", "com", Some("2031-03-04T00:00:00Z")),
        ("Created: 03/25/2001\nChanged: 25/03/2001\nExpires: 03/04/2031", "pt", None),
        ("Expires (dd/mm/yyyy): 04/03/2031", "com", Some("2031-03-04T00:00:00Z")),
        ("Expires: 03/04/2031 (MM/DD/YYYY)", "pt", Some("2031-03-04T00:00:00Z")),
        ("Expires: 2574-03-04", "th", None),
    ] {
        assert_eq!(expiry_of(lines, tld), expected.map(day), "{tld}: {lines}");
    }
}
