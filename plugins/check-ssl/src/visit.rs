//! One run: a handshake, and what it leaves to be asked.
//!
//! A finished handshake is followed by hellos for the grade, the front page, and a second look at
//! the staple. Where it could not be finished, raw hellos show what the server has in clear.

use std::time::Duration;

use vedette_sdk::{
    CheckError, Cx, Job,
    net::{Endpoint, NetError, Timing},
    tls::{InspectRequest, Report, Starttls},
    x509::Examination,
};

use crate::{
    config::Config,
    error::{self, Worth},
    facts,
    front_page::FrontPage,
    grade,
    hello::{Answers, Flight, Hello, Outcome, Prober},
    result::SslResult,
};

/// What a run brought.
pub(crate) struct Seen {
    pub(crate) result: SslResult,
    /// Of the handshake, where it was finished.
    pub(crate) timing: Option<Timing>,
    /// The certificate demands a staple that was not sent.
    pub(crate) lacks_staple: bool,
}

/// Makes the run.
pub(crate) fn make(cx: &Cx, job: &Job<Config>) -> Result<Seen, CheckError> {
    let endpoint = job.endpoint(DEFAULT_PORT);
    let starttls = job.config.starttls(endpoint.port);
    let visit = Visit { cx, job, starttls, now: cx.now() };
    let request = InspectRequest {
        endpoint,
        // The endpoint's host: `connect_to` replaces the address alone.
        server_name: None,
        // Offering none keeps servers of any protocol talking.
        alpn: Vec::new(),
        starttls,
        complete: true,
        timeout_ms: cx.timeout_ms(INSPECT, RESERVE),
    };
    match cx.inspect(&request) {
        Ok(report) => Ok(visit.after_handshake(request, report)),
        Err(error) => visit.after_failure(&request.endpoint, &error),
    }
}

struct Visit<'a> {
    cx: &'a Cx,
    job: &'a Job<Config>,
    starttls: Option<Starttls>,
    /// Unix seconds.
    now: i64,
}

impl Visit<'_> {
    fn after_handshake(&self, request: InspectRequest, mut report: Report) -> Seen {
        let looked_at = self.cx.now_ms();
        let connect_to = Some(report.peer_address.clone());
        let pinned = Endpoint { connect_to, ..request.endpoint };
        let mut answers = Answers::default();
        if self.wants_grade() {
            answers.add(&Hello::ALL, self.prober(&pinned).ask(&Hello::ALL));
            answers.forget_chains();
        }
        let page = self.page(&pinned);
        if self.wants_second_look(&report.examination) {
            wait(self.cx, &pinned, looked_at);
            let timeout_ms = self.cx.timeout_ms(SECOND_LOOK, RESERVE);
            let again = InspectRequest { endpoint: pinned, complete: false, timeout_ms, ..request };
            let second = self.cx.inspect(&again).ok();
            let same = second.filter(|second| second.chain.first() == report.chain.first());
            take_staple(&mut report.examination, same.map(|second| second.examination));
        }
        let negotiated = (report.version, report.cipher);
        let result = facts::of_report(&self.job.target, &report, self.now);
        let timing = Some(report.timing);
        self.finish(result, &report.examination, Some(negotiated), &answers, page, timing)
    }

    /// Looks for what the server shows in clear. Where that is nothing, the failure stands.
    fn after_failure(&self, endpoint: &Endpoint, error: &NetError) -> Result<Seen, CheckError> {
        let token = error::of_connection(error)?;
        let mut failed = Seen::of_failure(facts::of_failure(&self.job.target, token));
        let Some(worth) = error::worth_of_hellos(error) else { return Ok(failed) };
        let prober = self.prober(endpoint);
        let answers = self.ask_in_clear(&prober, worth);
        let Some(newest) = answers.newest() else {
            // A modern handshake fails at its version before the name is looked at.
            if answers.disown_the_name() {
                failed.result.error = Some(error::UNRECOGNIZED_NAME.to_owned());
            }
            return Ok(failed);
        };
        facts::describe_connection(&mut failed.result, newest.version, newest.cipher);
        failed.result.error = Some(NO_HANDSHAKE.to_owned());
        let Some((hello, flight)) = answers.with_chain() else { return Ok(failed) };

        let looked_at = self.cx.now_ms();
        let leaf = flight.chain.first().map(Vec::as_slice).unwrap_or_default();
        let mut seen = self.examine(flight, answers.staple_for(leaf), true)?;
        let checkable = seen.chain.first().is_some_and(error::is_checkable);
        if worth == Worth::ChainOfOddKey && checkable {
            return Ok(failed);
        }
        if self.wants_second_look(&seen) {
            wait(self.cx, endpoint, looked_at);
            let second = match prober.ask(&[hello]).pop() {
                Some(Outcome::Answered(second)) if second.is_of(leaf) => second.staple,
                _ => None,
            };
            if let Some(staple) = second {
                take_staple(&mut seen, Some(self.examine(flight, Some(&staple), false)?));
            }
        }
        let result =
            facts::of_chain(&self.job.target, newest.version, newest.cipher, &seen, self.now);
        Ok(self.finish(result, &seen, None, &answers, FrontPage::default(), None))
    }

    /// First the hello that most servers answer with all there is to see. If there may be no TLS at
    /// all, and behind STARTTLS, the others follow only if needed; last of all, if none showed a
    /// chain, whatever else a server may want.
    fn ask_in_clear(&self, prober: &Prober<'_>, worth: Worth) -> Answers {
        let mut answers = Answers::default();
        let first = prober.ask(&[Hello::P12]);
        let hopeless = worth == Worth::Hint
            && matches!(first.first(), None | Some(Outcome::NotTls | Outcome::Unknown));
        answers.add(&[Hello::P12], first);
        let rest: &[Hello] = match self.starttls {
            _ if hopeless => &[],
            Some(_) if answers.with_chain().is_some() => &[],
            Some(_) => &[Hello::P10, Hello::P30],
            None if self.wants_grade() => &AFTER_P12,
            None => &[Hello::P13, Hello::P11, Hello::P10, Hello::P30],
        };
        if !rest.is_empty() {
            answers.add(rest, prober.ask(rest));
        }
        // What is seen must not depend on whether a grade is wanted.
        if !hopeless && answers.with_chain().is_none() {
            answers.add(&[Hello::Rest], prober.ask(&[Hello::Rest]));
        }
        answers
    }

    fn examine(
        &self,
        flight: &Flight,
        staple: Option<&[u8]>,
        complete: bool,
    ) -> Result<Examination, CheckError> {
        let name = &self.job.target;
        let examined = self.cx.examine(&flight.chain, name, self.now, staple, complete);
        // A chain within the limits can be examined: that it was not is no fault of the server.
        examined.map_err(CheckError::Failed)
    }

    fn finish(
        &self,
        mut result: SslResult,
        seen: &Examination,
        negotiated: Option<(u16, u16)>,
        answers: &Answers,
        page: FrontPage,
        timing: Option<Timing>,
    ) -> Seen {
        if self.wants_grade() {
            let hsts = page.hsts.as_ref();
            let evidence = grade::Evidence { negotiated, answers, seen, result: &result, hsts };
            result.tls_grade = grade::of(&evidence);
        }
        let demanded = seen.chain.first().is_some_and(|leaf| leaf.must_staple);
        let lacks_staple = demanded && facts::stapling(seen) != Some(true);
        result.hsts = page.hsts;
        result.mixed_content = page.mixed_content;
        Seen { result, timing, lacks_staple }
    }

    fn prober<'a>(&'a self, endpoint: &'a Endpoint) -> Prober<'a> {
        Prober::new(self.cx, endpoint, self.starttls, HELLOS)
    }

    /// The guide rates web servers; ten conversations one after the other would be too much for a
    /// mail server, too.
    fn wants_grade(&self) -> bool {
        self.starttls.is_none() && !self.job.omits("tls_grade")
    }

    /// HSTS counts for the grade.
    fn page(&self, endpoint: &Endpoint) -> FrontPage {
        let omitted = self.job.omits("hsts") && self.job.omits("mixed_content");
        if self.starttls.is_some() || (omitted && !self.wants_grade()) {
            return FrontPage::default();
        }
        FrontPage::visit(self.cx, endpoint)
    }

    /// A server may fetch its staple only when asked for the first time (nginx does, after each
    /// reload), so a missing one is looked for once more, last of all.
    fn wants_second_look(&self, seen: &Examination) -> bool {
        facts::stapling(seen) == Some(false)
            && !self.job.omits("ocsp_stapling")
            && self.cx.remaining() >= SECOND_LOOK
    }
}

impl Seen {
    fn of_failure(result: SslResult) -> Self {
        Self { result, timing: None, lacks_staple: false }
    }
}

/// A staple that came with the second look, and covers the leaf.
fn take_staple(first: &mut Examination, second: Option<Examination>) {
    if let Some(second) = second
        && facts::stapling(&second) == Some(true)
    {
        first.ocsp_staple = second.ocsp_staple;
    }
}

/// Until a second has passed since the first look, on a connection that says nothing: an idle one
/// is all that a plugin has to wait with.
fn wait(cx: &Cx, endpoint: &Endpoint, since_ms: i64) {
    let left = || {
        let left = PAUSE_MS.saturating_sub(cx.now_ms().saturating_sub(since_ms));
        u32::try_from(left).ok().filter(|left| *left > 0)
    };
    let Some(patience) = left() else { return };
    let Ok(line) = cx.connect(endpoint, patience) else { return };
    // A server that greets wakes us up early.
    for _ in 0..MAX_GREETINGS {
        let Some(left) = left() else { return };
        if !line.read(MAX_GREETING, left).is_ok_and(|bytes| !bytes.is_empty()) {
            return;
        }
    }
}

const DEFAULT_PORT: u16 = 443;
const NO_HANDSHAKE: &str = "tls_handshake_failed";
const AFTER_P12: [Hello; 9] = [
    Hello::P13,
    Hello::P11,
    Hello::P10,
    Hello::P30,
    Hello::W1,
    Hello::W2,
    Hello::W3,
    Hello::D1,
    Hello::S256,
];
/// For the handshake, and for what the host fetches to judge the chain.
const INSPECT: Duration = Duration::from_secs(8);
/// For all hellos of the run.
const HELLOS: Duration = Duration::from_secs(10);
/// For the second look at the staple.
const SECOND_LOOK: Duration = Duration::from_secs(3);
/// Between the first look and the second.
const PAUSE_MS: i64 = 1_000;
const MAX_GREETINGS: u32 = 3;
const MAX_GREETING: u32 = 1_024;
/// What a run needs after its last probe.
const RESERVE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests;
