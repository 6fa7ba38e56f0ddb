//! Answers without a record: not found, throttled, withheld, or nothing to go by.

use super::*;

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
        "No match for \"example.test\".\n\nLast update: 2029-01-01T00:00:00Z\n",
        "Domain: example.test\nStatus: AVAILABLE\nLast Update: 2029-01-01\n",
        "Domain: example.test\nStatus: AVAILABLE\n\nCreated: 2029-01-01\nLast Update: 2029-01-01\n",
        "[Domain]\nDomain: example.test\nStatus: free\n\n[Whois]\nUpdated: 2029-01-01T10:00:00+00:00\n",
        "example.test not found\nLast updated: 01-Jan-2029\nRegistrar: \n",
        "No match found for \"example.test\"\n\n** Whois Server:\nLast Update Time: 2029-01-01T16:18:03+03:00\n",
        "This platinum domain is available for purchase.\nIf you would like to make an offer, please contact sales@registry.example\n",
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
        "Domain:             example.test\nStatus:             UNASSIGNABLE\n",
        "the Domain Name you apply can not be registered online. Please consult your Domain Name registrar\n",
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
fn a_footer_refuses_nothing_that_the_record_above_it_tells() {
    let footer = "Excessive querying of this service will result in your access being blocked.\n";
    for facts in ["Registrar: Registrar Example\n", "nserver: ns1.example.net\n"] {
        let record = format!("% Welcome.\n\nDomain: example.test\n{facts}");
        record_of(&format!("{record}\n{footer}"), "example.test", "test");
        record_of(&format!("{record}\n% {footer}"), "example.test", "test");
        let refused = format!("% Query rate exceeded.\n{record}");
        assert_eq!(parse(&refused, "example.test", "test"), Answer::Throttled);
        let refused = refused.replace('\n', "\r\n");
        assert_eq!(parse(&refused, "example.test", "test"), Answer::Throttled);
    }
}

#[test]
fn a_refusal_below_a_record_counts_where_it_has_happened() {
    for facts in ["Registrar: R\n", "nserver: ns1.example.net\n", "Created: 2001-01-01\n"] {
        let record = format!("Domain: example.test\n{facts}\n");
        for notice in [
            "Query rate exceeded. Reduced information.",
            "% Query rate exceeded: you will see less until tomorrow.",
            "Daily limit reached",
            "Access denied",
            "Too many requests at once.",
        ] {
            let answer = parse(&format!("{record}{notice}\n"), "example.test", "test");
            assert_eq!(answer, Answer::Throttled, "{facts}{notice}");
        }
        for footer in [
            "Excessive querying will lead to your access being blocked.",
            "Excessive queries are prohibited.",
            "Too many queries from one address cause a delay.",
            "Exceeded quotas will be charged.",
            "Try again later once the limit is lifted.",
        ] {
            record_of(&format!("{record}{footer}\n"), "example.test", "test");
        }
    }
}

#[test]
fn a_status_and_an_update_are_a_record_above_any_footer() {
    for footer in [
        "",
        "Once the limit is reached, your IP is blocked.\n",
        "Your IP is blocked once you ask too often.\n",
        "Whoever asks too often is blocked; their address is blacklisted.\n",
        "Excessive querying will result in your access being blocked.\n",
    ] {
        let text = format!("Domain: example.test\nStatus: active\nChanged: 2001-01-01\n\n{footer}");
        record_of(&text, "example.test", "test");
    }
    let once =
        "Domain: example.test\nStatus: active\n\nOnce the limit is reached, your IP is blocked.\n";
    record_of(once, "example.test", "test");
    let reserved = "Domain: example.test\nStatus: RESERVED\nLast update: 2029-01-01\n";
    assert_eq!(parse(reserved, "example.test", "test"), Answer::Reserved);
    let asked = "You sent too many requests at once.\n";
    assert_eq!(parse(asked, "example.test", "test"), Answer::Throttled);
}

#[test]
fn dates_make_a_record_where_nothing_says_otherwise() {
    let record = record_of("Domain: example.test\nCreated: 2001-01-01\n", "example.test", "test");
    assert_eq!(record.created, Some(day("2001-01-01T00:00:00Z")));
    let record = record_of(
        "Domain: example.test\nStatus: active\nChanged: 2001-01-01\n",
        "example.test",
        "test",
    );
    assert_eq!(record.updated, Some(day("2001-01-01T00:00:00Z")));
}

#[test]
fn what_says_nothing_about_the_name_is_unparsable() {
    for text in [
        "<!DOCTYPE html><html><head><title>503</title></head></html>",
        "Hello, world.\n",
        "Error: unknown\n",
        "example.test\nLast update: 2029-01-01\n",
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
