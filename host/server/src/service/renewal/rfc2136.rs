//! The proof of a name: a TXT record, put into its zone by a signed dynamic update (RFC 2136,
//! RFC 8945) and taken out again.
//!
//! *Invariant:* the name server is a stranger's choice: the egress policy judges every connection.
//! *Invariant:* an update touches the one record that it adds, and no other of the same name.

use std::time::{Duration, Instant};

use hickory_proto::{
    op::{Message, MessageType, OpCode, Query, ResponseCode},
    rr::{
        DNSClass, Name, RData, Record, RecordType, TSigVerifier, TSigner,
        rdata::{TXT, tsig::TsigAlgorithm},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout_at,
};
use vedette_model::{
    DomainName, Timestamp,
    renewal::{Algorithm, Rfc2136, challenge_name},
};
use vedette_sandbox::egress::{Audience, Dial, NetError, Phase};

use crate::{App, service::random};

/// The proof of one name. A caller that publishes it must withdraw it.
pub(super) struct Proof<'a> {
    app: &'a App,
    provider: &'a Rfc2136,
    /// Where the record is.
    owner: String,
    /// What was sent, whether it arrived or not.
    published: Vec<String>,
}

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Add,
    Remove,
}

/// A signed message, and what its answer has to fit.
struct Signed {
    id: u16,
    bytes: Vec<u8>,
    verifier: TSigVerifier,
}

impl<'a> Proof<'a> {
    pub(super) fn new(app: &'a App, provider: &'a Rfc2136, domain: &DomainName) -> Self {
        Self { app, provider, owner: challenge_name(domain), published: Vec::new() }
    }

    /// # Errors
    /// A sentence for the log of the site.
    pub(super) async fn publish(&mut self, value: &str) -> Result<(), String> {
        self.published.push(value.to_owned());
        self.update(value, Change::Add).await
    }

    /// Each is removed, also where another could not be.
    ///
    /// # Errors
    /// A sentence for the log of the site, about the first that stays.
    pub(super) async fn withdraw(self) -> Result<(), String> {
        let mut withdrawn = Ok(());
        for value in &self.published {
            withdrawn = withdrawn.and(self.update(value, Change::Remove).await);
        }
        withdrawn
    }

    async fn update(&self, value: &str, change: Change) -> Result<(), String> {
        let id = {
            let mut random = random::bytes();
            u16::from_be_bytes([random(), random()])
        };
        let update = update(id, &self.provider.zone, &self.owner, value, change)?;
        let signed = sign(update, self.provider, self.app.clock.now())?;
        let server = &self.provider.server;
        let answer = self.exchange(&signed.bytes).await.map_err(|cause| {
            format!("the name server {server} could not be asked to change the zone: {cause}")
        })?;
        accepted(&answer, signed).map_err(|reason| format!("the name server {server} {reason}"))
    }

    /// By TCP, where a message is preceded by its length (RFC 1035, 4.2.2).
    async fn exchange(&self, message: &[u8]) -> Result<Vec<u8>, NetError> {
        let deadline = Instant::now() + PATIENCE;
        let dial = Dial {
            target: self.provider.server.clone(),
            port: self.provider.port,
            connect_to: None,
            audience: Audience::Authenticated,
            deadline,
        };
        let mut stream = self.app.sandbox.egress().connect(&dial).await?.stream;
        let talk = async {
            let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
            stream.write_all(&[&length.to_be_bytes()[..], message].concat()).await?;
            let length = stream.read_u16().await?;
            let mut answer = vec![0; usize::from(length)];
            stream.read_exact(&mut answer).await?;
            Ok::<_, std::io::Error>(answer)
        };
        match timeout_at(deadline.into(), talk).await {
            Ok(said) => said.map_err(|cause| NetError::from_io(&cause, Phase::Receive)),
            Err(_) => Err(NetError::Timeout(Phase::Receive)),
        }
    }
}

/// RFC 2136, 2.5.1 and 2.5.4.
fn update(
    id: u16,
    zone: &str,
    owner: &str,
    value: &str,
    change: Change,
) -> Result<Message, String> {
    let mut section = Query::new();
    section.set_name(name(zone)?).set_query_class(DNSClass::IN).set_query_type(RecordType::SOA);
    let (class, ttl) = match change {
        Change::Add => (DNSClass::IN, TTL),
        Change::Remove => (DNSClass::NONE, 0),
    };
    let text = RData::TXT(TXT::new(vec![value.to_owned()]));
    let mut record = Record::from_rdata(name(owner)?, ttl, text);
    record.dns_class = class;
    let mut message = Message::new(id, MessageType::Query, OpCode::Update);
    message.add_query(section);
    message.add_authority(record);
    Ok(message)
}

fn sign(mut message: Message, provider: &Rfc2136, now: Timestamp) -> Result<Signed, String> {
    let algorithm = match provider.algorithm {
        Algorithm::HmacSha256 => TsigAlgorithm::HmacSha256,
        Algorithm::HmacSha512 => TsigAlgorithm::HmacSha512,
    };
    let unsigned = || "the update of the zone could not be signed".to_owned();
    let key = provider.key_secret.expose().clone();
    let signer = TSigner::new(key, algorithm, name(&provider.key_name)?, FUDGE);
    let signer = signer.map_err(|_| unsigned())?;
    let now = u64::try_from(now.timestamp()).unwrap_or_default();
    let verifier = message.finalize(&signer, now).ok().flatten().ok_or_else(unsigned)?;
    let bytes = message.to_vec().map_err(|_| unsigned())?;
    Ok(Signed { id: message.metadata.id, bytes, verifier })
}

/// Whether the answer says that the change was made, and is the server's own.
fn accepted(answer: &[u8], mut signed: Signed) -> Result<(), String> {
    let unreadable = || "sent an answer that cannot be read".to_owned();
    let message = Message::from_vec(answer).map_err(|_| unreadable())?;
    if message.metadata.id != signed.id || message.metadata.message_type != MessageType::Response {
        return Err(unreadable());
    }
    // A server that does not know the key cannot sign what it says about it (RFC 8945, 5.2).
    match message.metadata.response_code {
        ResponseCode::NoError => {}
        ResponseCode::NotAuth => {
            return Err("does not accept the key, or not for this zone: compare zone, key_name, \
                key_secret and algorithm of dns_provider_config with it, and its clock with ours"
                .to_owned());
        }
        ResponseCode::Refused => {
            return Err("refuses the update: allow the key to change TXT records there".to_owned());
        }
        other => return Err(format!("did not make the update: {other}")),
    }
    let unsigned = || "sent an answer without a valid signature of the key".to_owned();
    let signature = message.signature().ok_or_else(unsigned)?;
    // The verifier subtracts one from the other.
    if signature.data.time < u64::from(signature.data.fudge) {
        return Err(unsigned());
    }
    signed.verifier.verify(answer).map(drop).map_err(|_| unsigned())
}

fn name(text: &str) -> Result<Name, String> {
    let mut name = Name::from_ascii(text).map_err(|_| format!("{text} is too long for the DNS"))?;
    name.set_fqdn(true);
    Ok(name)
}

/// Of the record, in seconds: it is there for some minutes.
const TTL: u32 = 60;
/// How far the clocks may be apart, in seconds (RFC 8945, 10).
const FUDGE: u16 = 300;
/// From dialling to the whole answer.
const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
