//! `vedette:net/tcp`.

use wasmtime::component::Resource;

use super::{Guest, Run, only, place};
use crate::{
    bindings::check::vedette::net::{
        tcp::{ExchangeRequest, Host, HostConnection},
        types::{Endpoint, NetError},
    },
    error::Stop,
    prober::Prober,
    probes::{Reach, tcp},
};

/// A dialogue that a guest holds. Dropping it, or the store, closes it.
#[allow(unreachable_pub)] // the generated bindings re-export it
pub struct Dialogue {
    /// None once a call on it was cut off.
    connection: Option<tcp::Connection>,
}

impl Host for Guest {
    async fn exchange(
        &mut self,
        request: ExchangeRequest,
    ) -> wasmtime::Result<Result<Vec<u8>, NetError>> {
        self.exchange_many(vec![request]).await.map(only)
    }

    async fn exchange_many(
        &mut self,
        requests: Vec<ExchangeRequest>,
    ) -> wasmtime::Result<Vec<Result<Vec<u8>, NetError>>> {
        let remaining = self.time_left();
        let run = self.run()?;
        let share = u32::try_from(run.budget.share(requests.len())).unwrap_or(u32::MAX);
        let judged = requests.into_iter().map(|request| {
            run.permit_tcp(&request.endpoint)?;
            let timeout_ms = match request.timeout_ms {
                0 => remaining,
                asked => asked.min(remaining),
            };
            Ok(ExchangeRequest { timeout_ms, max: request.max.min(share), ..request })
        });
        let judged = judged.collect();
        let live = async |reach, requests: Vec<ExchangeRequest>| {
            let requests = requests.into_iter().map(Into::into).collect();
            let answers = tcp::exchange_many(reach, requests).await.into_iter();
            answers.map(|answer| answer.map_err(Into::into)).collect()
        };
        self.ask("tcp.exchange", judged, live, Vec::len).await
    }
}

impl HostConnection for Guest {
    async fn connect(
        &mut self,
        endpoint: Endpoint,
        timeout_ms: u32,
    ) -> wasmtime::Result<Result<Resource<Dialogue>, NetError>> {
        let timeout_ms = self.timeout(timeout_ms);
        let deadline = self.deadline;
        let run = self.run()?;
        if let Err(refused) = run.permit_tcp(&endpoint) {
            return Ok(Err(refused));
        }
        let Prober::Live(egress) = &run.prober else {
            return Err(NotRecorded.into());
        };
        let reach =
            Reach { egress: egress.clone(), audience: run.audience, deadline, now: run.now };
        if !run.budget.take_calls(1) || !run.budget.open_socket() {
            return Ok(Err(NetError::BudgetExhausted));
        }
        let connected = self.outside(tcp::Connection::connect(reach, endpoint.into(), timeout_ms));
        match connected.await? {
            Ok(connection) => {
                Ok(Ok(self.table.push(Dialogue { connection: Some(connection) }).map_err(full)?))
            }
            Err(error) => {
                self.run()?.budget.close_socket();
                Ok(Err(error.into()))
            }
        }
    }

    async fn write(
        &mut self,
        dialogue: Resource<Dialogue>,
        data: Vec<u8>,
        timeout_ms: u32,
    ) -> wasmtime::Result<Result<(), NetError>> {
        let timeout_ms = self.timeout(timeout_ms);
        self.talk(dialogue, async move |mut connection: tcp::Connection| {
            let written = connection.write(data, timeout_ms).await;
            (connection, written)
        })
        .await
    }

    async fn read(
        &mut self,
        dialogue: Resource<Dialogue>,
        max: u32,
        timeout_ms: u32,
    ) -> wasmtime::Result<Result<Vec<u8>, NetError>> {
        let timeout_ms = self.timeout(timeout_ms);
        let max = max.min(u32::try_from(self.run()?.budget.share(1)).unwrap_or(u32::MAX));
        let answer = self
            .talk(dialogue, async move |mut connection: tcp::Connection| {
                let read = connection.read(max, timeout_ms).await;
                (connection, read)
            })
            .await?;
        if let Ok(bytes) = &answer {
            self.run()?.budget.spend_bytes(bytes.len());
        }
        Ok(answer)
    }

    async fn start_tls(
        &mut self,
        dialogue: Resource<Dialogue>,
        server_name: String,
        timeout_ms: u32,
    ) -> wasmtime::Result<Result<(), NetError>> {
        let timeout_ms = self.timeout(timeout_ms);
        self.talk(dialogue, async move |mut connection: tcp::Connection| {
            let started = connection.start_tls(server_name, timeout_ms).await;
            (connection, started)
        })
        .await
    }

    async fn drop(&mut self, dialogue: Resource<Dialogue>) -> wasmtime::Result<()> {
        self.table.delete(dialogue)?;
        self.run()?.budget.close_socket();
        Ok(())
    }
}

impl Guest {
    /// Has one step of a dialogue done outside. The connection goes along and comes back: a step
    /// that is cut off takes it with it.
    async fn talk<T, F>(
        &mut self,
        dialogue: Resource<Dialogue>,
        step: impl FnOnce(tcp::Connection) -> F,
    ) -> wasmtime::Result<Result<T, NetError>>
    where
        T: Send + 'static,
        F: Future<Output = (tcp::Connection, Result<T, crate::egress::NetError>)> + Send + 'static,
    {
        if !self.run()?.budget.take_calls(1) {
            return Ok(Err(NetError::BudgetExhausted));
        }
        let Some(connection) = self.table.get_mut(&dialogue)?.connection.take() else {
            return Ok(Err(NetError::Reset));
        };
        let (connection, answer) = self.outside(step(connection)).await?;
        self.table.get_mut(&dialogue)?.connection = Some(connection);
        Ok(answer.map_err(Into::into))
    }
}

impl Run {
    fn permit_tcp(&self, endpoint: &Endpoint) -> Result<(), NetError> {
        let target = place(&endpoint.host, endpoint.port)?;
        self.grants
            .permits_tcp(&self.about, &target, endpoint.port)
            .map_err(NetError::NotPermitted)?;
        self.permit_connect_to(&target, endpoint.connect_to.as_deref())?;
        if self.budget.has_socket() { Ok(()) } else { Err(NetError::BudgetExhausted) }
    }
}

/// Recordings hold single questions and answers.
#[derive(Debug, thiserror::Error)]
#[error("a dialogue over tcp.connection cannot be replayed")]
struct NotRecorded;

fn full(_: wasmtime::component::ResourceTableError) -> Stop {
    Stop::HostCall
}
