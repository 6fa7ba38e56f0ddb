//! `vedette:net/x509`.

use super::Guest;
use crate::{
    bindings::check::vedette::net::{
        types::NetError,
        x509::{Examination, Host},
    },
    probes::{
        Reach,
        x509::{self, ExamineRequest},
    },
};

/// The parameters of `examine` as one request, for recordings.
#[derive(serde::Serialize)]
struct Examine {
    chain: Vec<Vec<u8>>,
    server_name: String,
    at: i64,
    staple: Option<Vec<u8>>,
    complete: bool,
}

impl Host for Guest {
    async fn examine(
        &mut self,
        chain: Vec<Vec<u8>>,
        server_name: String,
        at: i64,
        staple: Option<Vec<u8>>,
        complete: bool,
    ) -> wasmtime::Result<Result<Examination, String>> {
        let complete = complete && self.run()?.may_fetch_issuers();
        let request = Examine { chain, server_name, at, staple, complete };
        let size: usize = request.chain.iter().map(Vec::len).sum();
        if size > CHAIN_BYTES {
            return Ok(Err(format!("a chain has at most {CHAIN_BYTES} bytes")));
        }
        let live = async |reach: Reach, requests: Vec<Examine>| {
            let mut answers: Vec<Result<Result<Examination, String>, NetError>> = Vec::new();
            for request in requests {
                let examined = x509::examine(reach.clone(), request.into()).await;
                answers.push(Ok(examined.map(Into::into)));
            }
            answers
        };
        // Nothing comes in from outside but what `complete` fetches, which is bounded on its own.
        let answers = self.ask("x509.examine", vec![Ok(request)], live, |_| 0).await?;
        Ok(match super::only(answers) {
            Ok(examined) => examined,
            Err(error) => Err(format!("not examined: {error:?}")),
        })
    }
}

impl super::Run {
    /// `tls = { aia = true }`.
    pub(super) fn may_fetch_issuers(&self) -> bool {
        self.grants.tls.as_ref().is_some_and(|tls| tls.aia)
    }
}

impl From<Examine> for ExamineRequest {
    fn from(request: Examine) -> Self {
        let Examine { chain, server_name, at, staple, complete } = request;
        Self { chain, server_name, at, staple, complete }
    }
}

const CHAIN_BYTES: usize = 256 << 10;
