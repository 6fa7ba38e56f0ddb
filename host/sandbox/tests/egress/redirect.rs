//! Redirects: every hop is a stranger.

use crate::{
    egress::NetError,
    lab::{
        Canary, ClosedPort, Dns, Http, Reply, addresses, authenticated, ok, redirect, to_loopback,
    },
    probes::http::{Hop, fetch, fetch_partial},
    vectors::get,
};

#[tokio::test]
async fn a_redirect_to_a_private_address_ends_before_a_packet_leaves() {
    let canary = Canary::on("127.0.0.2").await;
    let six = Canary::on("::1").await;
    let dns = Dns::new(|asked, _, _| match asked {
        "inside.example" => addresses(&["127.0.0.2", "::1"]),
        _ => Reply::NoData,
    })
    .await;
    let egress = to_loopback(Some(&dns));
    let (port, six_port) = (canary.address.port(), six.address.port());
    let locations = [
        format!("http://127.0.0.2:{port}/"),
        format!("//127.0.0.2:{port}/"),
        format!("http://[::1]:{six_port}/"),
        format!("http://[::ffff:127.0.0.2]:{port}/"),
        format!("http://2130706434:{port}/"),
        format!("http://inside.example:{port}/"),
        format!("http:////127.0.0.2:{port}/"),
        "http://127.0.0.1:25/".to_owned(),
    ];
    for status in [301, 302, 303, 307, 308] {
        for location in &locations {
            let answer = redirect(status, location);
            let server = Http::new(move |_| answer.clone()).await;
            let mut request = get(&server.url("/"));
            request.max_redirects = 5;
            let error = fetch(authenticated(&egress), request).await.unwrap_err();
            let refused = matches!(error, NetError::AddressBlocked(_) | NetError::NotPermitted(_));
            assert!(refused, "{status} to {location}: {error}");
            assert_eq!(server.requests().len(), 1);
        }
    }
    canary.assert_untouched().await;
    six.assert_untouched().await;
}

#[tokio::test]
async fn a_redirect_to_what_is_no_url_of_the_web_is_the_fault_of_the_answer() {
    let canary = Canary::on("127.0.0.2").await;
    let egress = to_loopback(None);
    let port = canary.address.port();
    for location in [
        format!("http://user@127.0.0.2:{port}/"),
        format!("http:\\\\127.0.0.2:{port}/"),
        "file:///etc/passwd".to_owned(),
        "gopher://127.0.0.2/".to_owned(),
        "ftp://127.0.0.2/".to_owned(),
        "http://[::bad".to_owned(),
        "mailto:somebody@site.example".to_owned(),
    ] {
        let answer = redirect(302, &location);
        let server = Http::new(move |_| answer.clone()).await;
        let mut request = get(&server.url("/"));
        request.max_redirects = 5;
        let error = fetch(authenticated(&egress), request.clone()).await.unwrap_err();
        assert!(matches!(error, NetError::Protocol(_)), "{location}: {error}");
        let last = fetch_partial(authenticated(&egress), request).await.unwrap();
        assert_eq!((last.response.status, last.response.hops.len()), (302, 0), "{location}");
        assert_eq!(last.failure, Some(error), "{location}");
    }
    canary.assert_untouched().await;
}

/// Whether it is the error that such a place brings.
type IsExpected = fn(&NetError) -> bool;

#[tokio::test]
async fn a_redirect_to_nobody_who_answers_is_told_with_its_head() {
    let canary = Canary::on("127.0.0.2").await;
    let dns = Dns::new(|_, _, _| Reply::NoData).await;
    let closed = ClosedPort::new();
    let mute = Http::new(|_| Vec::new()).await;
    let egress = to_loopback(Some(&dns));
    let cases: [(String, IsExpected); 4] = [
        ("http://gone.example/".to_owned(), |cause| matches!(cause, NetError::NameNotFound)),
        (format!("http://127.0.0.1:{}/", closed.port), |cause| matches!(cause, NetError::Refused)),
        (mute.url("/"), |cause| matches!(cause, NetError::Reset)),
        (format!("http://127.0.0.2:{}/", canary.address.port()), |cause| {
            matches!(cause, NetError::AddressBlocked(_) | NetError::NotPermitted(_))
        }),
    ];
    for (location, is_expected) in cases {
        let there = location.clone();
        let server = Http::new(move |request| match request.starts_with("GET /next ") {
            true => redirect(307, &there),
            false => redirect(302, "/next"),
        })
        .await;
        let mut request = get(&server.url("/"));
        request.max_redirects = 5;
        let cause = fetch(authenticated(&egress), request.clone()).await.unwrap_err();
        assert!(is_expected(&cause), "{location}: {cause}");

        let arrival = fetch_partial(authenticated(&egress), request).await.unwrap();
        assert_eq!(arrival.failure, Some(cause), "{location}");
        let last = arrival.response;
        assert_eq!((last.status, last.final_url), (307, server.url("/next")));
        assert!(last.headers.contains(&("location".to_owned(), location)), "{:?}", last.headers);
        assert_eq!(last.hops, [Hop { status: 302, location: "/next".to_owned() }]);
        assert!(last.timing.first_byte_us.unwrap() <= last.timing.total_us);
    }
    canary.assert_untouched().await;
}

#[tokio::test]
async fn redirects_are_followed_as_often_as_asked() {
    let server = Http::new(|request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        let hop: u32 = path.trim_start_matches('/').parse().unwrap_or(0);
        if hop == 3 { ok("", b"end") } else { redirect(302, &format!("/{}", hop + 1)) }
    })
    .await;
    let egress = to_loopback(None);
    let follow = async |max: u8| {
        let mut request = get(&server.url("/0"));
        request.max_redirects = max;
        fetch(authenticated(&egress), request).await
    };
    let response = follow(3).await.unwrap();
    assert_eq!((response.status, response.final_url), (200, server.url("/3")));
    let hops = [1, 2, 3].map(|n| Hop { status: 302, location: format!("/{n}") });
    assert_eq!(response.hops, hops);
    assert_eq!(follow(2).await.unwrap_err(), NetError::Protocol("too many redirects".to_owned()));
    let mut endless = get(&server.url("/0"));
    endless.max_redirects = 2;
    let last = fetch_partial(authenticated(&egress), endless).await.unwrap();
    assert_eq!((last.response.status, last.response.hops.as_slice()), (302, &hops[..2]));
    assert_eq!(last.response.final_url, server.url("/2"));
    assert_eq!(last.failure, Some(NetError::Protocol("too many redirects".to_owned())));
    let first = follow(0).await.unwrap();
    assert_eq!((first.status, first.hops.len()), (302, 0), "a redirect is the answer");
}

#[tokio::test]
async fn a_pinned_address_is_for_the_first_host_alone() {
    let dns = Dns::new(|asked, _, _| match asked {
        "second.example" => addresses(&["127.0.0.1"]),
        _ => Reply::NoData,
    })
    .await;
    let second = Http::new(|_| ok("", b"second")).await;
    let port = second.address.port();
    let first = Http::new(move |_| redirect(302, &format!("http://second.example:{port}/"))).await;
    let egress = to_loopback(Some(&dns));
    let mut request = get(&format!("http://first.example:{}/", first.address.port()));
    request.connect_to = Some("127.0.0.1".to_owned());
    request.max_redirects = 1;
    let response = fetch(authenticated(&egress), request).await.unwrap();
    assert_eq!(response.body, b"second");
    let asked: Vec<_> = dns.asked().into_iter().map(|(name, _)| name).collect();
    assert!(asked.iter().all(|name| name == "second.example"), "{asked:?}");
    assert!(!asked.is_empty());
}

#[tokio::test]
async fn secrets_stay_with_their_origin() {
    let other = Http::new(|_| ok("", b"")).await;
    let away = other.url("/away");
    let server = Http::new(move |request| {
        if request.starts_with("POST /start") {
            redirect(307, "/same")
        } else {
            redirect(302, &away)
        }
    })
    .await;
    let egress = to_loopback(None);
    let mut request = get(&server.url("/start"));
    request.method = "POST".to_owned();
    request.body = Some(b"payload".to_vec());
    request.max_redirects = 3;
    request.headers = vec![
        ("Authorization".to_owned(), "Bearer plain".to_owned()),
        ("Content-Type".to_owned(), "text/plain".to_owned()),
        ("X-Kept".to_owned(), "1".to_owned()),
    ];
    request.secret_headers = vec![("X-Token".to_owned(), "s3cret".to_owned())];
    fetch(authenticated(&egress), request).await.unwrap();
    let [start, same] = &server.requests()[..] else { panic!("two requests") };
    for sent in [start, same] {
        let lower = sent.to_lowercase();
        assert!(sent.starts_with("POST") && sent.ends_with("payload"), "{sent}");
        assert!(lower.contains("authorization: bearer plain") && lower.contains("x-token: s3cret"));
    }
    let [away] = &other.requests()[..] else { panic!("one request") };
    let lower = away.to_lowercase();
    assert!(away.starts_with("GET /away"), "302 turns a POST into a GET: {away}");
    assert!(lower.contains("x-kept: 1"));
    for gone in ["bearer", "s3cret", "x-token", "payload", "content-type"] {
        assert!(!lower.contains(gone), "{gone} crossed over: {away}");
    }
}
