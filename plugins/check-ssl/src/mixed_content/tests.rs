use super::*;

const HTML: (&str, &str) = ("Content-Type", "text/html; charset=utf-8");

fn scanned(html: &str, headers: &[(&str, &str)]) -> Option<MixedContent> {
    served(html.as_bytes(), headers)
}

fn served(body: &[u8], headers: &[(&str, &str)]) -> Option<MixedContent> {
    let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    let headers: Vec<(String, String)> = headers.iter().map(own).collect();
    let url = Url::parse("https://example.com/dir/page").expect("a URL");
    scan(&Page { url: &url, headers: &headers, body })
}

/// Passive and active count.
fn counts(html: &str) -> (u32, u32) {
    let found = scanned(html, &[HTML]).expect("HTML is scanned");
    (found.passive_count, found.active_count)
}

#[test]
fn images_and_media_are_passive() {
    for html in [
        "<img src=http://a/x.png>",
        "<IMG SRC='HTTP://A/X.PNG'>",
        "<video src=http://a/v></video>",
        "<video poster=http://a/p></video>",
        "<audio src=http://a/s></audio>",
        "<video><source src=http://a/v></video>",
        "<audio><p><source src=http://a/v></audio>",
        "<input type=IMAGE src=http://a/b>",
        "<link rel='shortcut icon' href=http://a/i>",
        "<p style='background: url(http://a/b)'>",
        "<style>p { background: url(http://a/b) }</style>",
    ] {
        assert_eq!(counts(html), (1, 0), "{html}");
    }
}

#[test]
fn scripts_styles_frames_and_forms_are_active() {
    for html in [
        "<script src=http://a/s></script>",
        "<link rel=stylesheet href=http://a/c>",
        "<link rel='alternate StyleSheet' href=http://a/c>",
        "<link rel='icon stylesheet' href=http://a/c>",
        "<link rel=preload as=image href=http://a/p>",
        "<link rel=modulepreload href=http://a/m>",
        "<link rel=manifest href=http://a/m>",
        "<iframe src=http://a/f></iframe>",
        "<frame src=http://a/f>",
        "<object data=http://a/o></object>",
        "<embed src=http://a/e>",
        "<img srcset='http://a/1 1x, https://a/2 2x'>",
        "<picture><source srcset=http://a/1></picture>",
        "<video><track src=http://a/t></video>",
        "<style>@import 'http://a/c'</style>",
        "<style>@font-face { src: url(http://a/f) }</style>",
        "<form action=http://a/login></form>",
        "<button formaction=http://a/login></button>",
        "<input type=submit formaction=http://a/login>",
    ] {
        assert_eq!(counts(html), (0, 1), "{html}");
    }
}

#[test]
fn what_is_not_fetched_or_not_plain_is_no_mixed_content() {
    for html in [
        "<a href=http://a/>link</a>",
        "<link rel=canonical href=http://a/>",
        "<link rel=alternate href=http://a/feed>",
        "<link rel=dns-prefetch href=http://a/>",
        "<link rel=preconnect href=http://a/>",
        "<img src=//a/x.png>",
        "<img src=/x.png>",
        "<img src=https://a/x.png>",
        "<img src=data:image/gif;base64,http://>",
        "<img src=blob:http://a/b>",
        "<img src=''>",
        "<img src>",
        "<img src=httpx://a>",
        "<img src='http://'>",
        "<img alt=http://a/x.png>",
        "<img data-src=http://a/x.png>",
        "<img src=http://localhost/x.png>",
        "<img src=http://app.localhost:8080/x.png>",
        "<img src=http://127.9.9.9/x.png>",
        "<img src=http://[::1]/x.png>",
        "<source src=http://a/v>",
        "<picture><source src=http://a/v></picture>",
        "<video></video><source src=http://a/v>",
        "<input type=text src=http://a/b>",
        "<template><img src=http://a/x><template><img src=http://a/y></template><img src=http://a/z></template>",
        "<noscript><img src=http://a/x></noscript>",
        "<!-- <img src=http://a/x> -->",
        "<script>document.write('<img src=http://a/x>')</script>",
        "<textarea><img src=http://a/x></textarea>",
        "http://a/x",
    ] {
        assert_eq!(counts(html), (0, 0), "{html}");
    }
}

#[test]
fn urls_are_read_as_browsers_read_them() {
    for (attribute, expected) in [
        (" \t\nhttp://a/x ", "http://a/x"),
        ("ht\ttp:\n//a/x", "http://a/x"),
        ("hTTp:/a/x", "http://a/x"),
        ("http:a/x", "http://a/x"),
        ("http&colon;&sol;&sol;a&#47;x", "http://a/x"),
        ("http://A.Example:80/%7e?a=1&amp;b", "http://a.example/%7e?a=1&b"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://localhost.example/", "http://localhost.example/"),
        ("\u{1}http://a/x", "http://a/x"),
    ] {
        let found = scanned(&format!("<img src='{attribute}'>"), &[HTML]).expect("HTML is scanned");
        let urls: Vec<&str> = found.examples.iter().map(|example| example.url.as_str()).collect();
        assert_eq!(urls, [expected], "{attribute}");
    }
}

#[test]
fn first_base_decides_for_what_follows_it() {
    for (html, expected) in [
        ("<base href=http://a/><img src=x>", (1, 0)),
        ("<base href=http://a/><img src=//b/x>", (1, 0)),
        ("<base href=http://a/><img src=https://b/x>", (0, 0)),
        ("<img src=x><base href=http://a/>", (0, 0)),
        ("<base href=https://a/><base href=http://b/><img src=x>", (0, 0)),
        ("<base target=_top><base href=http://a/><img src=x>", (1, 0)),
        ("<base href=data:,x><base href=http://a/><img src=x>", (0, 0)),
        ("<template><base href=http://a/></template><img src=x>", (0, 0)),
        ("<base href=http://localhost/><img src=x>", (0, 0)),
    ] {
        assert_eq!(counts(html), expected, "{html}");
    }
}

#[test]
fn page_that_upgrades_its_requests_has_none() {
    let html = "<img src=http://a/x>";
    for policy in [
        "upgrade-insecure-requests",
        "default-src 'self'; Upgrade-Insecure-Requests;",
        "a b, upgrade-insecure-requests",
    ] {
        let found = scanned(html, &[HTML, ("content-security-policy", policy)]);
        assert_eq!(found, Some(MixedContent::default()), "{policy}");
        let meta = format!("<meta http-equiv=content-security-policy content=\"{policy}\">{html}");
        assert_eq!(counts(&meta), (0, 0), "{policy}");
    }
    for (name, policy) in [
        ("content-security-policy-report-only", "upgrade-insecure-requests"),
        ("content-security-policy", "default-src upgrade-insecure-requests"),
        ("content-security-policy", "block-all-mixed-content"),
    ] {
        let found = scanned(html, &[HTML, (name, policy)]).expect("HTML is scanned");
        assert_eq!(found.passive_count, 1, "{name}: {policy}");
    }
}

#[test]
fn only_html_is_scanned() {
    let html = " <!DOCTYPE HTML><img src=http://a/x>";
    for (content_type, scans) in [
        ("text/html", true),
        ("Text/HTML ; charset=\"UTF-8\"", true),
        ("application/xhtml+xml", true),
        ("text/plain", false),
        ("application/json", false),
        ("text/htmlx", false),
    ] {
        let found = scanned(html, &[("content-type", content_type)]);
        assert_eq!(found.is_some(), scans, "{content_type}");
    }
    assert!(scanned(html, &[]).is_some());
    assert!(scanned("<img src=http://a/x>", &[]).is_none());
}

#[test]
fn every_occurrence_counts_and_ten_distinct_ones_are_shown() {
    let repeated = "<img src=http://a/x>".repeat(3);
    let distinct: String = (0..20).map(|n| format!("<script src=http://a/{n}></script>")).collect();
    let found = scanned(&(repeated + &distinct), &[HTML]).expect("HTML is scanned");
    assert_eq!((found.passive_count, found.active_count), (3, 20));
    assert_eq!(found.examples.len(), 10);
    let first =
        Example { url: "http://a/x".to_owned(), tag: "img".to_owned(), kind: Kind::Passive };
    assert_eq!(found.examples[0], first);
    assert_eq!(found.examples[9].url, "http://a/8");
}

#[test]
fn same_url_in_two_roles_is_two_examples() {
    let found =
        scanned("<img src=http://a/x srcset=http://a/x>", &[HTML]).expect("HTML is scanned");
    let kinds: Vec<Kind> = found.examples.iter().map(|example| example.kind).collect();
    assert_eq!(kinds, [Kind::Passive, Kind::Active]);
}

#[test]
fn hostile_page_is_read_in_bounded_output() {
    let long = format!("<img src='http://a/{}'>", "x".repeat(100_000));
    let found = scanned(&long, &[HTML]).expect("HTML is scanned");
    assert_eq!(found.examples[0].url.len(), MAX_URL);
    let base = format!("<base href='http://a/{}'><img src=x>", "x".repeat(100_000));
    assert_eq!(counts(&base), (0, 0));
    let deep = "<template>".repeat(10_000) + "<img src=http://a/x>" + &"</template>".repeat(20_000);
    assert_eq!(counts(&(deep + "<img src=http://a/y>")), (1, 0));
}

#[test]
fn busy_page_is_counted_without_reading_every_url() {
    let busy = "<img src=http://a/x>".repeat(8_000) + "<script src=http://localhost/></script>";
    assert_eq!(counts(&busy), (8_000, 1));
    let few = "<img src=http://a/x>".repeat(1_000) + "<script src=http://localhost/></script>";
    assert_eq!(counts(&few), (1_000, 0));
}

#[test]
fn page_of_too_many_things_is_not_judged() {
    for thing in ["<b>", "</b>", "<!---->", "&not"] {
        assert!(scanned(&thing.repeat(40_000), &[HTML]).is_some(), "{thing}");
        assert_eq!(scanned(&thing.repeat(400_000), &[HTML]), None, "{thing}");
    }
    let attributes = format!("<img {}>", "a ".repeat(400_000));
    assert_eq!(scanned(&attributes, &[HTML]), None);
    let sheets = "<p style=a>";
    assert!(scanned(&sheets.repeat(10_000), &[HTML]).is_some());
    assert_eq!(scanned(&sheets.repeat(60_000), &[HTML]), None);
}

#[test]
fn page_that_holds_its_reader_up_is_not_judged() {
    for stop in ["&", "\r", "\0", "\u{1}", "&notit;", "a&amp;"] {
        assert!(scanned(&stop.repeat(10_000), &[HTML]).is_some(), "{stop:?}");
        assert_eq!(scanned(&stop.repeat(200_000), &[HTML]), None, "{stop:?}");
    }
    for text in ["\n", "\t", " ", "a", "é"] {
        assert!(scanned(&text.repeat(1_000_000), &[HTML]).is_some(), "{text:?}");
    }
}

#[test]
fn sheets_and_lists_are_read_to_a_total_length() {
    let sheet = |times: usize| format!("<style>{}</style>", "@import 'http://a/c';".repeat(times));
    assert_eq!(counts(&sheet(1_000)), (0, 1_000));
    assert_eq!(scanned(&sheet(50_000), &[HTML]), None);
    let image = format!("<img srcset='{}'>", "http://a/1 1x, ".repeat(1_000));
    assert_eq!(counts(&image), (0, 1_000));
    assert_eq!(scanned(&image.repeat(60), &[HTML]), None);
}

#[test]
fn page_is_read_in_whatever_encoding_unless_it_is_long_and_has_to_be_converted() {
    let page = |charset: &str, length: usize, last: &[u8]| {
        let image = b"<img src=http://example.com/a>";
        let body = [&image[..], &vec![b'x'; length - image.len() - last.len()], last].concat();
        let content_type = format!("text/html; charset={charset}");
        served(&body, &[("content-type", &content_type)]).map(|seen| seen.passive_count)
    };
    let long = MAX_CONVERTED + 1;
    for (charset, length, last, expected) in [
        ("utf-8", long, &b"e"[..], Some(1)),
        ("utf-8", long, b"\xe9", None),
        ("windows-1251", long, b"e", None),
        ("windows-1251", long - 1, b"\xe9", Some(1)),
    ] {
        assert_eq!(page(charset, length, last), expected, "{charset} {length} {last:?}");
    }
}
