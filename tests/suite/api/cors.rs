//! Scripts in browsers: those of configured origins use the private endpoints, all of them the
//! public ones.

use reqwest::{Method, header};
use vedette_tests::{Answer, Client};

use crate::world::World;

const OURS: &str = "https://app.example.com";
const THEIRS: &str = "https://evil.example.com";

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_origin_may_do_everything() {
    let world = open().await;
    let client = &world.owner.client;
    for method in ["PATCH", "DELETE", "POST"] {
        let answer = preflight(&client.anonymous(), "/sites", OURS, method).await;
        assert_eq!(answer.status, 204, "{method}");
        assert_eq!(answer.header("access-control-allow-origin"), Some(OURS));
        assert!(list(&answer, "access-control-allow-methods").contains(&method.to_lowercase()));
        let headers = list(&answer, "access-control-allow-headers");
        for name in
            ["authorization", "content-type", "if-none-match", "x-request-id", "idempotency-key"]
        {
            assert!(headers.iter().any(|allowed| allowed == name), "{name}: {headers:?}");
        }
        assert!(list(&answer, "vary").contains(&"origin".to_owned()));
    }
    let request = client.request(Method::GET, "/sites").header(header::ORIGIN, OURS);
    let answer = client.finish(request).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some(OURS));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    let exposed = list(&answer, "access-control-expose-headers");
    for name in ["etag", "x-request-id", "retry-after", "x-ratelimit-remaining"] {
        assert!(exposed.iter().any(|header| header == name), "{name}: {exposed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_origin_is_told_nothing_and_caches_know_it() {
    let world = open().await;
    let client = &world.owner.client;
    let refused = preflight(&client.anonymous(), "/sites", THEIRS, "DELETE").await;
    assert_eq!(refused.header("access-control-allow-origin"), None);
    for origin in [Some(THEIRS), Some("null"), Some("https://app.example.com.evil.example"), None] {
        let request = client.request(Method::GET, "/sites");
        let request = match origin {
            Some(origin) => request.header(header::ORIGIN, origin),
            None => request,
        };
        let answer = client.finish(request).await;
        assert_eq!(answer.status, 200, "{origin:?}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{origin:?}");
        assert!(list(&answer, "vary").contains(&"origin".to_owned()), "{origin:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_configured_origins_only_the_public_endpoints_are_open() {
    let world = World::start().await;
    let client = world.service.client();
    let path = "/public/check-ssl?domain=localhost";
    let open = preflight(&client, path, THEIRS, "GET").await;
    assert_eq!((open.status, open.header("access-control-allow-origin")), (204, Some("*")));
    let closed = preflight(&client, "/sites", OURS, "GET").await;
    assert_eq!(closed.header("access-control-allow-origin"), None);
    assert_eq!(closed.header("access-control-allow-methods"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_answered_as_a_preflight_is_not_counted_and_all_else_is() {
    let world = open().await;
    let client = world.owner.client.anonymous();
    let left = |answer: Answer| answer.number("x-ratelimit-remaining");
    let address = client.from_address("198.51.100.41");
    assert_eq!(left(preflight(&address, "/sites", OURS, "GET").await), 60);
    assert_eq!(left(preflight(&address, "/sites", THEIRS, "GET").await), 59);
    let nobodys = address
        .request(Method::OPTIONS, "/sites")
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, "GET");
    assert_eq!(left(address.finish(nobodys).await), 58);
    assert_eq!(left(preflight(&address, "/sites", OURS, "GET").await), 58);
    let path = "/public/check-ssl?domain=localhost";
    assert_eq!(left(preflight(&address, path, THEIRS, "GET").await), 10);
    // A page is everybody's, also where a browser asks about it first.
    let pages = Client::new(&format!("http://{}", world.service.api), None);
    let page = preflight(&pages, "/status/acme.json", THEIRS, "GET").await;
    assert_eq!((page.status, page.header("access-control-allow-origin")), (204, Some("*")));
    assert_eq!(left(page), 10);
}

async fn open() -> World {
    let toml = format!("[cors]\norigins = [\"{OURS}\"]\n");
    World::with(|settings| settings.toml = toml).await
}

async fn preflight(client: &Client, path: &str, origin: &str, method: &str) -> Answer {
    let request = client
        .request(Method::OPTIONS, path)
        .header(header::ORIGIN, origin)
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, method)
        .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "authorization,if-none-match");
    client.finish(request).await
}

/// The entries of a header that lists, also over several lines; lower case.
fn list(answer: &Answer, name: &str) -> Vec<String> {
    let lines = answer.headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|item| item.trim().to_lowercase()).collect()
}
