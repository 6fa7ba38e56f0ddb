//! From what a request brought to the result. Pure.

use vedette_sdk::{charset, http::Response, net::Timing, text::cut};

use crate::{
    config::Config,
    error,
    result::{Phases, Status, UptimeResult},
};

/// Of a URL that a server made up, in characters.
const MAX_URL: usize = 2_000;

/// The result of a request to `url` that was answered.
pub(crate) fn of_answer(url: String, response: &Response, config: &Config) -> UptimeResult {
    let response_time_ms = millis(response.timing.total_us);
    let keyword_match = config.keyword.as_deref().map(|keyword| contains(response, keyword));
    let error = match (config.expects(response.status), keyword_match) {
        (false, _) => Some(error::UNEXPECTED_STATUS),
        (true, Some(false)) => Some(error::KEYWORD_MISSING),
        (true, _) => None,
    };
    let slow = config.degraded_ms > 0 && response_time_ms > f64::from(config.degraded_ms);
    let status = match error {
        Some(_) => Status::Down,
        None if slow => Status::Degraded,
        None => Status::Up,
    };
    UptimeResult {
        status,
        keyword_match,
        error: error.map(str::to_owned),
        ..answered(url, response)
    }
}

/// The result of a request to `url` that brought only the head of an answer, for the reason that
/// the token names. `failed_url` is where a redirect led and nothing came from.
pub(crate) fn of_head(
    url: String,
    response: &Response,
    failed_url: Option<&str>,
    token: &str,
) -> UptimeResult {
    UptimeResult {
        error: Some(token.to_owned()),
        failed_url: failed_url.map(|url| cut(url, MAX_URL)),
        ..answered(url, response)
    }
}

/// What every answer tells, before it is judged.
fn answered(url: String, response: &Response) -> UptimeResult {
    let Timing { first_byte_us, total_us, .. } = response.timing;
    UptimeResult {
        status: Status::Down,
        status_code: response.status,
        response_time_ms: millis(total_us),
        // The host tells the first byte of every answer; without, it is not before the last.
        ttfb_ms: millis(first_byte_us.unwrap_or(total_us).min(total_us)),
        keyword_match: None,
        error: None,
        url: Some(url),
        final_url: Some(cut(&response.final_url, MAX_URL)),
        failed_url: None,
        redirects: u16::try_from(response.hops.len()).unwrap_or(u16::MAX),
        phases: Some(phases(&response.timing)),
    }
}

/// The result of a request to `url` that brought nothing, for the reason that the token names.
pub(crate) fn of_failure(url: String, token: &str) -> UptimeResult {
    UptimeResult {
        status: Status::Down,
        status_code: 0,
        response_time_ms: 0.0,
        ttfb_ms: 0.0,
        keyword_match: None,
        error: Some(token.to_owned()),
        url: Some(url),
        final_url: None,
        failed_url: None,
        redirects: 0,
        phases: None,
    }
}

/// The text may be long, but it is read once.
fn contains(response: &Response, keyword: &str) -> bool {
    let mut headers = response.headers.iter();
    let content_type = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let content_type = content_type.map(|(_, value)| value.as_str());
    charset::Page::of(&response.body, content_type).text().contains(keyword)
}

/// The parts add up to the whole, save for rounding: what is not the connection's before the
/// first byte is the wait for it.
fn phases(timing: &Timing) -> Phases {
    let Timing { resolve_us, connect_us, tls_us, first_byte_us, total_us } = *timing;
    let connection = [resolve_us, connect_us, tls_us].into_iter().flatten();
    let connected = connection.fold(0, u32::saturating_add);
    Phases {
        dns_ms: resolve_us.map(millis),
        connect_ms: connect_us.map(millis),
        tls_ms: tls_us.map(millis),
        first_byte_ms: first_byte_us.map(|at| millis(at.saturating_sub(connected))),
        transfer_ms: first_byte_us.map(|at| millis(total_us.saturating_sub(at))),
    }
}

/// Milliseconds with two decimals.
fn millis(micros: u32) -> f64 {
    (f64::from(micros) / 10.0).round() / 100.0
}

#[cfg(test)]
mod tests;
