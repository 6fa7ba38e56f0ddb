//! The public listener in the metrics: requests and how long they took.
//!
//! *Invariant:* it is bounded: by the routes there are, the methods that are labels, and the
//! statuses that are answered. Paths that do not exist are one route.

use std::{collections::HashMap, time::Duration};

use metrics::{Counter, Histogram};
use parking_lot::RwLock;
use salvo::{http::Method, prelude::*};

/// What was counted so far, by route. A line of the metrics is looked up by its labels once, not
/// for each request.
#[derive(Default)]
pub(super) struct Meter {
    routes: RwLock<HashMap<String, Route>>,
}

struct Route {
    seconds: Histogram,
    requests: HashMap<(&'static str, StatusCode), Counter>,
}

impl Meter {
    /// Counts a request that was answered.
    pub(super) fn note(&self, req: &Request, res: &Response, took: Duration) {
        let route = match req.matched_path() {
            "" => "none",
            route => route,
        };
        let kind = (label(req.method()), res.status_code.unwrap_or(StatusCode::OK));
        let known = self.routes.read();
        match known.get(route).and_then(|route| Some((route, route.requests.get(&kind)?))) {
            Some((route, requests)) => {
                requests.increment(1);
                route.seconds.record(took);
            }
            None => {
                drop(known);
                self.begin(route, kind, took);
            }
        }
    }

    /// Counts the first request of its kind.
    fn begin(&self, route: &str, kind: (&'static str, StatusCode), took: Duration) {
        let (method, status) = kind;
        let mut routes = self.routes.write();
        let known = routes.entry(route.to_owned()).or_insert_with(|| Route {
            seconds: metrics::histogram!(
                "vedette_http_request_seconds", "route" => route.to_owned(),
            ),
            requests: HashMap::new(),
        });
        let requests = known.requests.entry(kind).or_insert_with(|| {
            metrics::counter!(
                "vedette_http_requests_total",
                "route" => route.to_owned(), "method" => method,
                "status" => status.as_u16().to_string(),
            )
        });
        requests.increment(1);
        known.seconds.record(took);
    }
}

/// Methods are the client's text: an unknown one is not a label.
fn label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    #[test]
    fn methods_and_statuses_of_one_route_are_counted_apart() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let meter = Meter::default();
        metrics::with_local_recorder(&recorder, || {
            for (method, status) in [
                (Method::GET, StatusCode::OK),
                (Method::POST, StatusCode::OK),
                (Method::GET, StatusCode::NOT_FOUND),
                (Method::GET, StatusCode::OK),
            ] {
                let (mut req, mut res) = (Request::new(), Response::new());
                *req.method_mut() = method;
                res.status_code(status);
                meter.note(&req, &res, Duration::from_millis(1));
            }
        });
        let shown = recorder.handle().render();
        for (method, status, counted) in [("GET", 200, 2), ("POST", 200, 1), ("GET", 404, 1)] {
            let labels = format!("route=\"none\",method=\"{method}\",status=\"{status}\"");
            let line = format!("vedette_http_requests_total{{{labels}}} {counted}");
            assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
        }
        let line = "vedette_http_request_seconds_count{route=\"none\"} 4";
        assert!(shown.lines().any(|shown| shown == line), "{shown}");
    }
}
