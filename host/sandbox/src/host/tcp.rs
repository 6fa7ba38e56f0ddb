//! `vedette:net/tcp`.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use wasmtime::component::Resource;

use super::{Guest, Run, only, place};
use crate::{
    bindings::check::vedette::net::{
        tcp::{ExchangeRequest, Host, HostConnection},
        types::{Endpoint, NetError},
    },
    egress::Egress,
    error::Stop,
    prober::Prober,
    probes::tcp,
};

/// A dialogue that a guest holds. Dropping it, or the store, closes it.
#[allow(unreachable_pub)] // the generated bindings re-export it
pub struct Dialogue {
    /// None once a call on it was cut off, and in a replay.
    connection: Option<tcp::Connection>,
    /// The peer, if that is recorded.
    about: Value,
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
        let run = self.run()?;
        if let Err(refused) = run.permit_tcp(&endpoint) {
            return Ok(Err(refused));
        }
        if !run.budget.take_calls(1) || !run.budget.open_socket() {
            return Ok(Err(NetError::BudgetExhausted));
        }
        let asked = self.noted(|| json!({ "endpoint": endpoint }))?;
        let about = asked.as_ref().map(|asked| asked["endpoint"].clone()).unwrap_or_default();
        let connected = match self.run()?.prober.clone() {
            Prober::Recorded(recording) => {
                let answer: Result<Done, NetError> = recording.answer(CONNECT, &asked)?;
                answer.map(|Done {}| None)
            }
            Prober::Live { egress, .. } => {
                let connected = self.reach_out(egress, endpoint, timeout_ms).await?;
                self.note(CONNECT, asked, &connected.as_ref().map(|_| Done {}))?;
                connected.map(Some)
            }
        };
        match connected {
            Ok(connection) => {
                Ok(Ok(self.table.push(Dialogue { connection, about }).map_err(full)?))
            }
            Err(error) => {
                self.run()?.budget.close_socket();
                Ok(Err(error))
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
        let said = self.noted(|| json!({ "data": data }))?;
        let step = async move |mut connection: tcp::Connection| {
            let written = connection.write(data, timeout_ms).await;
            (connection, written.map(|()| Done {}))
        };
        let written = self.talk(dialogue, "tcp.write", said, step).await?;
        Ok(written.map(|Done {}| ()))
    }

    async fn read(
        &mut self,
        dialogue: Resource<Dialogue>,
        max: u32,
        timeout_ms: u32,
    ) -> wasmtime::Result<Result<Vec<u8>, NetError>> {
        let timeout_ms = self.timeout(timeout_ms);
        let said = self.noted(|| json!({ "max": max }))?;
        let max = max.min(u32::try_from(self.run()?.budget.share(1)).unwrap_or(u32::MAX));
        let step = async move |mut connection: tcp::Connection| {
            let read = connection.read(max, timeout_ms).await;
            (connection, read)
        };
        let answer: Result<Vec<u8>, _> = self.talk(dialogue, "tcp.read", said, step).await?;
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
        let said = self.noted(|| json!({ "server_name": server_name }))?;
        let step = async move |mut connection: tcp::Connection| {
            let started = connection.start_tls(server_name, timeout_ms).await;
            (connection, started.map(|()| Done {}))
        };
        let started = self.talk(dialogue, "tcp.start_tls", said, step).await?;
        Ok(started.map(|Done {}| ()))
    }

    async fn drop(&mut self, dialogue: Resource<Dialogue>) -> wasmtime::Result<()> {
        self.table.delete(dialogue)?;
        self.run()?.budget.close_socket();
        Ok(())
    }
}

impl Guest {
    /// Connects over the network.
    async fn reach_out(
        &mut self,
        egress: Egress,
        endpoint: Endpoint,
        timeout_ms: u32,
    ) -> wasmtime::Result<Result<tcp::Connection, NetError>> {
        let (timeout_ms, deadline) = (self.timeout(timeout_ms), self.deadline);
        let run = self.run()?;
        let reach = run.reach(egress, deadline);
        let connected = tcp::Connection::connect(reach, endpoint.into(), timeout_ms);
        Ok(self.outside(connected).await?.map_err(Into::into))
    }

    /// Has one step of a dialogue done outside, or by a recording. The connection goes along and
    /// comes back: a step that is cut off takes it with it.
    async fn talk<A, F>(
        &mut self,
        dialogue: Resource<Dialogue>,
        call: &'static str,
        said: Option<Value>,
        step: impl FnOnce(tcp::Connection) -> F,
    ) -> wasmtime::Result<Result<A, NetError>>
    where
        A: Serialize + DeserializeOwned + Send + 'static,
        F: Future<Output = (tcp::Connection, Result<A, crate::egress::NetError>)> + Send + 'static,
    {
        if !self.run()?.budget.take_calls(1) {
            return Ok(Err(NetError::BudgetExhausted));
        }
        let held = self.table.get_mut(&dialogue)?;
        let asked = said.map(|mut asked| {
            asked["endpoint"] = held.about.clone();
            asked
        });
        if let Prober::Recorded(recording) = &self.run()?.prober {
            return Ok(recording.answer(call, &asked)?);
        }
        let Some(connection) = self.table.get_mut(&dialogue)?.connection.take() else {
            return Ok(Err(NetError::Reset));
        };
        let (connection, answer) = self.outside(step(connection)).await?;
        self.table.get_mut(&dialogue)?.connection = Some(connection);
        let answer = answer.map_err(Into::into);
        self.note(call, asked, &answer)?;
        Ok(answer)
    }

    /// A question as it is recorded; none in a run that nobody records.
    fn noted(&mut self, asked: impl FnOnce() -> Value) -> wasmtime::Result<Option<Value>> {
        Ok(self.run()?.prober.repeats().then(asked))
    }

    fn note(
        &mut self,
        call: &'static str,
        asked: Option<Value>,
        answer: &impl Serialize,
    ) -> wasmtime::Result<()> {
        if let (Prober::Live { recorder: Some(recorder), .. }, Some(asked)) =
            (&self.run()?.prober, asked)
        {
            recorder.note(call, vec![asked], std::slice::from_ref(answer))?;
        }
        Ok(())
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

/// The answer of a step that has none to give. TOML, which recordings are kept in, could not say
/// `()`.
#[derive(Serialize, Deserialize)]
struct Done {}

const CONNECT: &str = "tcp.connect";

fn full(_: wasmtime::component::ResourceTableError) -> Stop {
    Stop::HostCall
}
