use proptest::prelude::*;

use super::fixtures::FIXTURES;
use super::*;

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

#[test]
fn every_registrys_style_is_read() {
    assert!(FIXTURES.len() >= 40, "styles are not dropped");
    for fixture in FIXTURES {
        let record = record_of(fixture.text, fixture.name, fixture.tld);
        let style = fixture.style;
        assert_eq!(record.registrar.as_deref(), fixture.registrar, "registrar, {style}");
        assert_eq!(record.expires_at, fixture.expires.map(day), "expiry, {style}");
        assert_eq!(record.is_expiry_stated, fixture.expires.is_some(), "stated, {style}");
        let servers: Option<Vec<&str>> =
            record.name_servers.as_ref().map(|all| all.iter().map(String::as_str).collect());
        assert_eq!(servers.as_deref(), fixture.servers, "servers, {style}");
        assert_eq!(record.privacy_protected, fixture.privacy, "privacy, {style}");
        let statuses: Vec<&str> = record.statuses.iter().map(String::as_str).collect();
        assert!(statuses.starts_with(fixture.statuses), "{statuses:?}, {style}");
    }
}

#[test]
fn line_ends_and_indent_do_not_matter() {
    for fixture in FIXTURES.iter().filter(|fixture| fixture.text.contains('\n')) {
        let expected = parse(fixture.text, fixture.name, fixture.tld);
        let lines: Vec<&str> = fixture.text.lines().collect();
        for (title, text) in [
            ("CRLF", lines.join("\r\n")),
            ("LF", lines.join("\n")),
            ("CR", lines.join("\r")),
            ("trailing spaces", lines.join("  \r\n")),
        ] {
            let read = parse(&text, fixture.name, fixture.tld);
            assert_eq!(read, expected, "{title}, {}", fixture.style);
        }
    }
}

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

#[test]
fn unregistered_names_are_not_found() {
    for text in [
        "No match for \"EXAMPLE.TEST\".\r\n>>> Last update of whois database: 2029-01-01T00:00:00Z <<<\r\n",
        "No match for domain \"example.test\".",
        "NOT FOUND\n",
        "Domain not found.\n",
        "DOMAIN NOT FOUND\n\nAccess to the Whois and RDAP services is rate limited. For more\ninformation, visit https://registry.example. Abuse of this service is monitored and\nactions in contravention of these terms will result in being permanently\nblacklisted. All data is (c) Example\n",
        "Not found: example.test\n",
        "No Data Found\n",
        "%% No entries found for the selected source(s).\n",
        "% No entries found for domain example.test\n",
        "%ERROR:101: no entries found\n%\n% No entries found.\n",
        "%ERROR:103: Domain is not registered\n",
        "% nothing found\n",
        "*** Nothing found for this query.\n",
        "No Object Found\n",
        "Object_Not_Found\n",
        "No_Se_Encontro_El_Objeto\n",
        "No matching record.\n",
        "No matching objects found\n",
        "No match!!\n",
        "No Found\n",
        "example.test is free\n",
        "free\n",
        "Available\n",
        "Domain: example.test\nStatus: free\n",
        "Domain: example.test\nStatus: AVAILABLE\n",
        "Domain name: example.test\nregistration status: available\n",
        "Domain Name: example.test\nDomain Status: No Object Found\n",
        "Domain Status: Not Registered\n",
        "query_datetime: 2029-01-01T00:00:00+00:00\nquery_status: 220 Available\n",
        "example.test: no entries found.\n",
        "example.test - No Match\n",
        "The domain has not been registered.\n",
        "This domain name has not been registered.\n",
        "The requested domain was not found in the Registry or Registrar's WHOIS Server.\n",
        "Above domain name is not registered to KRNIC.\n",
        "The queried object does not exist: example.test\n",
        "Domain example.test is available for purchase\n",
        "This domain is available for registration.\n",
        "Domain Name [example.test] does not exist in database\n",
        "Sorry, but domain: \"example.test\", not found in database\n",
        "domain \"example.test\" not found.\n",
        "We do not have an entry in our database matching your query.\n",
        "No information available about domain name example.test in the Registry NASK database.\n",
        "Invalid query or domain name not known in Dot TK Domain Registry\n",
        "El dominio no se encuentra registrado en NIC Argentina\n",
        "This query returned 0 objects.\n",
        "Domain unknown\n",
        "% Error: the domain example.test is unknown.\n",
        "***UnknownDomain***\n",
        "Unknown domain name: example.test\n",
        "% This is the registry's server; its terms are at https://registry.example/terms\nNOT FOUND\n",
        "NOT FOUND\n\nYou may not access this server if the query limit was exceeded. Users who exceed\nquotas may be blacklisted or told that they are\nnot found worthy. Please try again later if the service\nis unavailable: that may happen.\n",
    ] {
        assert_eq!(parse(text, "example.test", "test"), Answer::NotFound, "{text}");
    }
    // The name itself may be made of such words.
    assert_eq!(parse("free.test is free\n", "free.test", "test"), Answer::NotFound);
    assert_eq!(parse("not-found.test not found\n", "not-found.test", "test"), Answer::NotFound);
}

#[test]
fn throttled_answers_are_never_not_found() {
    for text in [
        "",
        "\r\n",
        " \n\u{feff}\n\t",
        "WHOIS LIMIT EXCEEDED - SEE WWW.REGISTRY.EXAMPLE/WHOIS FOR DETAILS\n",
        "Your connection limit exceeded. Please slow down and try again later.\n",
        "% Error: 55000000002 Connection refused; access control limit exceeded.\n",
        "Query rate limit exceeded. Reduced information.\n",
        "% Query rate limit exceeded. Reduced information.\n\ndomain: example.test\nowner: Example\nstatus: published\nnserver: ns1.example.net\n",
        "Number of allowed queries exceeded.\n",
        "% Maximum queries per hour reached\n",
        "Lookup quota exceeded\n",
        "-1: You have exceeded your quota of queries\n",
        "Error for \"example.test\".\n\nthe WHOIS query quota for 192.0.2.1 has been exceeded\nand will be replenished in 60 seconds\n",
        "BLACKLISTED: You have exceeded the query limit for your network or IP address and have been blacklisted.\n",
        "Too many requests\n",
        "To many simultaneous connections from your host.\n",
        "Your query is too often.\n",
        "Excessive querying, grace period of 30 seconds.\n",
        "Requests of this client are not permitted. Please use https://www.registry.example/whois/ for queries.\n",
        "Your request cannot be completed at this time due to query limit controls. Please try again later.\n",
        "%ERROR:201: access denied for 192.0.2.1\n%\n% Queries from your IP address have passed the daily limit of controlled contacts.\n",
        "% Permission denied.\n",
        "Access denied\n",
        "Connection refused by policy\n",
        "Server is busy now, please try again later.\n",
        "The service is temporarily unavailable. No match for example.test.\n",
        "No match for example.test\n\nQuota exceeded\n",
        "Domain: example.test\nStatus: free\n\nYour IP address has been blocked.\n",
        "The WHOIS service is not available: try again in 5 minutes. Domain not found.\n",
        "Your IP address is blocked by the registry\n",
        "Your request for the domain is blocked by the registry\n",
        "The domain is blocked by the registry, and your IP address has been blocked.\n",
    ] {
        assert_eq!(parse(text, "example.test", "test"), Answer::Throttled, "{text}");
    }
}

#[test]
fn withheld_names_are_reserved() {
    for text in [
        "Reserved by the registry\n",
        "This name is reserved by the Registry in accordance with ICANN policy.\n",
        "The domain example.test has been reserved.\n",
        "Domain: example.test\nStatus: RESERVED\n",
        "Domain: example.test\nStatus: NOT ALLOWED\n",
        "This name is not available for registration:\nexample.test\n",
        "This domain cannot be registered.\n",
        "Domain is blocked by the registry\n",
        "The domain example.test has been blocked by the registry operator for reasons of policy\n",
        "example.test is blocked.\n",
        "example.test is a reserved name\n",
        "No match for example.test.\n\nThe name is reserved.\n",
        "The registration of this domain is restricted, as it is protected by a policy.\n",
    ] {
        assert_eq!(parse(text, "example.test", "test"), Answer::Reserved, "{text}");
    }
}

#[test]
fn a_record_is_not_talked_away_by_its_legal_text() {
    let legal = "Too many queries may be refused. If your quota is exceeded, try again later.\n\
                 Data that is redacted is\nnot found here. All rights reserved. You are not authorized to\n\
                 access or query our database through high-volume processes; whoever does may find\n\
                 themselves blacklisted.\n";
    let text = format!(
        "Domain Name: example.test\nRegistrar: Registrar Example\nCreated: 2001-01-01\n\n{legal}"
    );
    assert_eq!(
        record_of(&text, "example.test", "test").registrar.as_deref(),
        Some("Registrar Example")
    );
}

#[test]
fn what_says_nothing_about_the_name_is_unparsable() {
    for text in [
        "<!DOCTYPE html><html><head><title>503</title></head></html>",
        "Hello, world.\n",
        "Error: unknown\n",
        "Domain status: unknown\n",
        "Name: unknown\n",
        "Unknown domain extension\n",
        "Domain Name: other.test\nRegistrar: Registrar Example\nExpires: 2031-03-04\n",
        "Domain Name: notexample.test\nExpires: 2031-03-04\nRegistrar: Registrar Example\n",
        "domain: TEST\norganisation: Registry Example\ncreated: 1999-01-01\nwhois: whois.registry.example\n",
    ] {
        assert_eq!(parse(text, "example.test", "test"), Answer::Unparsable, "{text}");
    }
}

#[test]
fn a_name_that_is_held_without_being_delegated_is_a_record() {
    for status in ["NOT DELEGATED", "inactive", "on-hold", "NOT AVAILABLE", "suspended"] {
        let text = format!("domain: example.test\nstate: REGISTERED, {status}\n");
        let record = record_of(&text, "example.test", "test");
        assert_eq!(record.statuses.len(), 2, "{status}");
    }
}

#[test]
fn a_name_beyond_ascii_is_recognised() {
    for line in [
        "Domain Name: bücher.test",
        "Domain: Bücher.Test",
        "Domain Name: bücher.test (xn--bcher-kva.test)",
        "Domain Name: XN--BCHER-KVA.TEST",
        "Domain: bücher.test\nDomain-Ace: xn--bcher-kva.test",
    ] {
        let text = format!("{line}\nExpires: 2031-03-04\n");
        let record = record_of(&text, "xn--bcher-kva.test", "test");
        assert_eq!(record.expires_at, Some(day("2031-03-04T00:00:00Z")), "{line}");
    }
}

#[test]
fn only_the_object_of_the_name_counts() {
    let text = "   Server Name: EXAMPLE.TEST.IS.GREAT.EXAMPLE\n   IP Address: 192.0.2.1\n   \
                Registrar: OTHER, INC.\n   Whois Server: whois.other.example\n\n   \
                Domain Name: EXAMPLE.TEST\n   Registrar: REGISTRAR EXAMPLE, INC.\n   \
                Whois Server: whois.registrar.example\n   Expiration Date: 29-apr-2031\n\n   \
                Domain Name: EXAMPLE.TEST.OTHER.EXAMPLE\n   Registrar: THIRD, INC.\n   \
                Expiration Date: 29-apr-2029\n";
    let record = record_of(text, "example.test", "test");
    assert_eq!(record.registrar.as_deref(), Some("REGISTRAR EXAMPLE, INC."));
    assert_eq!(record.expires_at, Some(day("2031-04-29T00:00:00Z")));
    let referral = Referral { host: "whois.registrar.example".to_owned(), port: None };
    assert_eq!(record.referral, Some(referral));
}

#[test]
fn registrars_are_named_without_tags_and_addresses() {
    for (line, expected) in [
        (
            "Registrar: Example Inc. ( https://registry.example/registrar/434 )",
            Some("Example Inc."),
        ),
        ("Registrar: Example Ltd [Tag = EXAMPLE]", Some("Example Ltd")),
        ("Registrar: Example https://www.registrar.example", Some("Example")),
        ("Registrar: Example (d/b/a Sample)", Some("Example (d/b/a Sample)")),
        ("Registrar:   \"Example,   Inc.\" ", Some("Example, Inc.")),
        ("Registrar: Example ((", Some("Example ((")),
        ("Registrar: N/A", None),
        ("Registrar: None", None),
        ("Registrar: No registrar listed. This domain is directly registered.", None),
        ("Registrar IANA ID: 9999", None),
        ("Registrar Abuse Contact Email: abuse@registrar.example", None),
        ("Registrar:\nRegistrar IANA ID: 9999", None),
        ("Registrar:\n\n    Example Inc.\n", Some("Example Inc.")),
        ("Registrar:\n    Name: Example Inc.\n    Phone: 1", Some("Example Inc.")),
        ("Registrar:\n    Organization: Example Inc.\n    Name: EX-1", Some("Example Inc.")),
        ("Registrar Handle: REG1\n\n[Registrar]\nName: Example Inc.", Some("Example Inc.")),
    ] {
        let text = format!("Domain Name: example.test\nCreated: 2001-01-01\n{line}\n");
        let record = record_of(&text, "example.test", "test");
        assert_eq!(record.registrar.as_deref(), expected, "{line}");
    }
}

#[test]
fn the_roots_answer_names_the_server() {
    for (text, expected) in [
        (
            "% IANA WHOIS server\n\nrefer:        whois.registry.example\n\ndomain:       TEST\n\norganisation: Example\n\nwhois:        whois.nic.test\n\nstatus:       ACTIVE\n",
            Some("whois.nic.test"),
        ),
        ("refer: whois.registry.example\ndomain: TEST\n", Some("whois.registry.example")),
        ("domain: TEST\nwhois:\nstatus: ACTIVE\n", None),
        ("whois: 127.0.0.1:4343\n", Some("127.0.0.1:4343")),
        ("whois: 127.0.0.1\n", Some("127.0.0.1")),
        ("whois: [::1]:4343\n", Some("[::1]:4343")),
        ("whois: whois.nic.test:4343\n", Some("whois.nic.test:4343")),
        ("whois: localhost\n", None),
        ("remarks: whois: whois.nic.test\n", None),
        ("", None),
    ] {
        assert_eq!(server_of_tld(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn a_large_answer_of_anything_is_read_in_time() {
    const SIZE: usize = 256 << 10;
    for piece in [
        "a:\n",
        ":\n",
        "\n",
        "\r",
        " ",
        "(",
        "[",
        "[a]\n",
        "Registrar:\n",
        " Registrar:\n  Name:\n",
        "Domain: \u{fc}.test\n",
        "registrant: EX-1\n",
        "expires: 1/1/2031\n",
        "Expires ",
        "nserver: a.test\n",
        "a. ",
        "not found. ",
        "too many ",
        "\u{0}",
        "é",
        "9",
        "Status: a,a,a,a\n",
        "example.test ",
        "% Registrar:\n",
        "x  ",
        "Expires on 1 ",
        "# ",
        "\u{301}",
    ] {
        let text: String =
            piece.chars().cycle().take(SIZE / piece.len() * piece.chars().count()).collect();
        let started = std::time::Instant::now();
        read(text.as_bytes(), "example.test", "test");
        let taken = started.elapsed();
        assert!(taken.as_secs() < 5, "{taken:?} for {piece:?}");
    }
}

/// A fixture with pieces cut out, doubled or put elsewhere.
fn mutated() -> impl Strategy<Value = (Vec<u8>, &'static str, &'static str)> {
    let edit = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8, any::<u8>());
    (0..FIXTURES.len(), prop::collection::vec(edit, 1..12)).prop_map(|(index, edits)| {
        let fixture = &FIXTURES[index];
        let mut bytes = fixture.text.as_bytes().to_vec();
        for (first, second, kind, byte) in edits {
            if bytes.is_empty() {
                break;
            }
            let (a, b) = (first.index(bytes.len()), second.index(bytes.len()));
            let (from, to) = (a.min(b), a.max(b));
            match kind {
                0 => drop(bytes.drain(from..to)),
                1 => bytes[from] = byte,
                2 => bytes.extend_from_within(from..to),
                _ => bytes.swap(from, to),
            }
        }
        (bytes, fixture.name, fixture.tld)
    })
}

/// What must hold whatever a server sends.
fn check(answer: &Answer) {
    let Answer::Record(record) = answer else { return };
    if let Some(at) = record.expires_at {
        assert!((0..253_402_300_800 + 86_400).contains(&at), "{at}");
        assert!(record.is_expiry_stated);
    }
    for server in record.name_servers.iter().flatten() {
        assert!(server.contains('.') && !server.contains(char::is_whitespace), "{server}");
    }
    for text in record.registrar.iter().chain(&record.statuses) {
        assert!(!text.is_empty() && !text.contains(char::is_control), "{text:?}");
    }
    if let Some(referral) = &record.referral {
        assert!(referral.host.is_ascii() && referral.host.contains('.'));
        assert!(!referral.host.contains(|char: char| char.is_ascii_control() || char == ' '));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2_000), tld in "(com|jp|kr|th)?") {
        check(&read(&bytes, "example.com", &tld));
    }

    #[test]
    fn any_lines_are_read(text in "((Registrar|Expires|Status|Name Server|\\[Domain\\]|Registrant|%|nic-hdl|  ?)[ :.\\t]{0,3}[a-z0-9./() -]{0,12}\r?\n){0,40}") {
        check(&read(text.as_bytes(), "example.com", "com"));
    }

    #[test]
    fn any_change_to_an_answer_is_read((bytes, name, tld) in mutated()) {
        check(&read(&bytes, name, tld));
    }
}
