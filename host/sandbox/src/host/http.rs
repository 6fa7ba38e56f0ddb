//! `vedette:net/http`.

use vedette_model::domain_name::Target;

use super::{Guest, Run, only};
use crate::{
    bindings::check::vedette::net::{
        http::{Arrival, Host, Request, Response},
        types::NetError,
    },
    egress::url,
    probes::{Reach, http},
};

/// Requests, each held against grants and budget on its own.
struct Judged {
    requests: Vec<Result<Request, NetError>>,
    /// The host that each is for; none for those that are not permitted.
    targets: Vec<Option<Target>>,
    /// The values of the secret headers of those that are.
    secrets: Vec<Vec<(String, String)>>,
}

impl Host for Guest {
    async fn fetch(&mut self, request: Request) -> wasmtime::Result<Result<Response, NetError>> {
        self.fetch_many(vec![request]).await.map(only)
    }

    async fn fetch_partial(
        &mut self,
        request: Request,
    ) -> wasmtime::Result<Result<Arrival, NetError>> {
        let Judged { requests, targets, secrets } = self.judge_fetches(vec![request])?;
        let live = async move |reach: Reach, requests: Vec<Request>| {
            let mut answers = Vec::new();
            for request in with_secrets(requests, secrets) {
                let arrival = http::fetch_partial(reach.clone(), request).await;
                answers.push(arrival.map(Into::into).map_err(Into::into));
            }
            answers
        };
        let size = |arrival: &Arrival| arrival.response.body.len();
        let answer = only(self.ask("http.fetch_partial", requests, live, size).await?);
        if let (Some(Some(target)), Ok(arrival)) = (targets.first(), &answer) {
            self.run()?.answered(target, &arrival.response);
        }
        Ok(answer)
    }

    async fn fetch_many(
        &mut self,
        requests: Vec<Request>,
    ) -> wasmtime::Result<Vec<Result<Response, NetError>>> {
        let Judged { requests, targets, secrets } = self.judge_fetches(requests)?;
        let live = async move |reach, requests: Vec<Request>| {
            let requests = with_secrets(requests, secrets);
            let answers = http::fetch_many(reach, requests).await.into_iter();
            answers.map(|answer| answer.map(Into::into).map_err(Into::into)).collect()
        };
        let answers =
            self.ask("http.fetch", requests, live, |answer: &Response| answer.body.len()).await?;
        let run = self.run()?;
        for (target, answer) in targets.iter().zip(&answers) {
            if let (Some(target), Ok(answer)) = (target, answer) {
                run.answered(target, answer);
            }
        }
        Ok(answers)
    }
}

impl Guest {
    fn judge_fetches(&mut self, requests: Vec<Request>) -> wasmtime::Result<Judged> {
        let remaining = self.time_left();
        let run = self.run()?;
        let share = u32::try_from(run.budget.share(requests.len())).unwrap_or(u32::MAX);
        let mut secrets = Vec::with_capacity(requests.len());
        let mut judge = |request: Request| {
            let target = run.permit_fetch(&request)?;
            secrets.push(run.secret_headers(&request)?);
            Ok((target, bounded(request, remaining, share)))
        };
        let judged = requests.into_iter().map(|request| match judge(request) {
            Ok((target, request)) => (Some(target), Ok(request)),
            Err(refusal) => (None, Err(refusal)),
        });
        let (targets, requests) = judged.unzip();
        Ok(Judged { requests, targets, secrets })
    }
}

impl Run {
    /// The host that the request is for, if that is granted.
    fn permit_fetch(&self, request: &Request) -> Result<Target, NetError> {
        let unreadable = |refusal: crate::egress::Refusal| NetError::Protocol(refusal.to_string());
        let parsed = url::parse(&request.url).map_err(unreadable)?;
        let target = url::target(&parsed).map_err(unreadable)?;
        let https = parsed.scheme() == "https";
        self.grants
            .permits_http(&self.about, &request.method, https, &target, url::port(&parsed))
            .map_err(NetError::NotPermitted)?;
        self.permit_connect_to(&target, request.connect_to.as_deref())?;
        if !self.budget.has_socket() {
            return Err(NetError::BudgetExhausted);
        }
        Ok(target)
    }

    /// The headers whose values the plugin does not know.
    fn secret_headers(&self, request: &Request) -> Result<Vec<(String, String)>, NetError> {
        let filled = request.secret_headers.iter().map(|(header, name)| {
            let granted = self.grants.secrets.contains(name);
            let value = self.secrets.get(name).filter(|_| granted).ok_or_else(|| {
                NetError::NotPermitted(format!("the secret {name} is not granted or not set"))
            })?;
            Ok((header.clone(), value.clone()))
        });
        filled.collect()
    }

    /// Remembers the address that answered; after a redirect it is another host's.
    fn answered(&mut self, target: &Target, answer: &Response) {
        if answer.hops.is_empty() {
            self.reached(target, &answer.peer_address);
        }
    }
}

/// The permitted requests as the probes take them.
fn with_secrets(requests: Vec<Request>, secrets: Vec<Vec<(String, String)>>) -> Vec<http::Request> {
    let requests = requests.into_iter().zip(secrets);
    let requests = requests
        .map(|(request, secret_headers)| http::Request { secret_headers, ..request.into() });
    requests.collect()
}

fn bounded(request: Request, remaining_ms: u32, share: u32) -> Request {
    let timeout_ms = match request.timeout_ms {
        0 => remaining_ms,
        asked => asked.min(remaining_ms),
    };
    Request {
        timeout_ms,
        max_redirects: request.max_redirects.min(REDIRECTS),
        max_body: request.max_body.min(BODY).min(share),
        ..request
    }
}

const REDIRECTS: u8 = 10;
const BODY: u32 = 2 << 20;
