//! `vedette:net/tls`.

use super::{Guest, Run, host, only, place};
use crate::{
    bindings::check::vedette::net::{
        tls::{Host, InspectRequest, Report},
        types::NetError,
    },
    probes::{Reach, tls},
};

impl Host for Guest {
    async fn inspect(
        &mut self,
        request: InspectRequest,
    ) -> wasmtime::Result<Result<Report, NetError>> {
        let timeout_ms = self.timeout(request.timeout_ms);
        let run = self.run()?;
        let target = host(&request.endpoint.host);
        let complete = request.complete && run.may_fetch_issuers();
        let judged = run.permit_inspect(InspectRequest { complete, timeout_ms, ..request });
        let live = async |reach: Reach, requests: Vec<InspectRequest>| {
            let mut answers = Vec::new();
            for request in requests {
                let report = tls::inspect(reach.clone(), request.into()).await;
                answers.push(report.map(Into::into).map_err(Into::into));
            }
            answers
        };
        let answer = only(self.ask("tls.inspect", vec![judged], live, size).await?);
        if let (Ok(target), Ok(report)) = (&target, &answer) {
            self.run()?.reached(target, &report.peer_address);
        }
        Ok(answer)
    }
}

impl Run {
    fn permit_inspect(&self, request: InspectRequest) -> Result<InspectRequest, NetError> {
        let endpoint = &request.endpoint;
        let target = place(&endpoint.host, endpoint.port)?;
        self.grants
            .permits_tls(&self.about, &target, endpoint.port)
            .map_err(NetError::NotPermitted)?;
        self.permit_connect_to(&target, endpoint.connect_to.as_deref())?;
        if !self.budget.has_socket() {
            return Err(NetError::BudgetExhausted);
        }
        Ok(request)
    }
}

fn size(report: &Report) -> usize {
    report.chain.iter().map(Vec::len).sum()
}
