//! A network that loses packets, between a probe and a site 40 ms away.
//!
//! Whoever sent a packet that was lost sends it again: the resolver its question every 333 ms,
//! three times in each of two rounds of 2.4 s; TCP its SYN after 1, 3 and 7 s; TCP its data after
//! 250 ms, doubling. So loss costs time first, and a probe fails only where its time runs out.

use std::time::Duration;

use vedette_sdk::{
    http::{Request, Response},
    net::{NetError, Phase, Timing},
};

/// What gets lost, and with which probability.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weather {
    /// Single packets, which are sent again.
    Packets(f64),
    /// Whole probes, for which nothing is sent again.
    Probes(f64),
}

/// What is wrong with a site that is really down.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// Nothing listens.
    Refusing,
    /// No packet comes back.
    Silent,
    /// It accepts connections and says nothing.
    Stalled,
    /// It answers with 503.
    Failing,
}

/// The same numbers for the same seed (Vigna's splitmix64).
pub(crate) struct Random(u64);

/// The network as one site's probes meet it.
pub(crate) struct Network {
    random: Random,
    weather: Weather,
    trouble: Option<Trouble>,
    /// Since the run began.
    elapsed: Duration,
}

const MS: Duration = Duration::from_millis(1);
const ONE_WAY: Duration = Duration::from_millis(20);
/// What TCP waits for before it sends a first packet again (RFC 6298).
const SYN_RTO: Duration = Duration::from_secs(1);
/// And later ones, at this distance.
const DATA_RTO: Duration = Duration::from_millis(250);
const DNS_RETRY: Duration = Duration::from_millis(333);
const DNS_ROUND: Duration = Duration::from_millis(2_400);
/// How long the other address family is waited for.
const DNS_GRACE: Duration = Duration::from_millis(300);
/// Of a certificate chain and of a page.
const CHAIN_PACKETS: u32 = 3;
const PAGE_PACKETS: u32 = 10;

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Below `end`, which is small.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn happens(&mut self, probability: f64) -> bool {
        (self.next() >> 11) as f64 / ((1_u64 << 53) as f64) < probability
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Trouble {
    pub(crate) fn any(random: &mut Random) -> Self {
        match random.below(4) {
            0 => Self::Refusing,
            1 => Self::Silent,
            2 => Self::Stalled,
            _ => Self::Failing,
        }
    }
}

impl Network {
    pub(crate) fn new(seed: u64, weather: Weather) -> Self {
        Self { random: Random::new(seed), weather, trouble: None, elapsed: Duration::ZERO }
    }

    /// A run begins, to a site in this state.
    pub(crate) fn begin(&mut self, trouble: Option<Trouble>) {
        self.trouble = trouble;
        self.elapsed = Duration::ZERO;
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// What a request brings; takes its time.
    pub(crate) fn answer(&mut self, request: &Request) -> Result<Response, NetError> {
        let patience = Duration::from_millis(request.timeout_ms.into());
        let loss = match self.weather {
            Weather::Packets(loss) => loss,
            Weather::Probes(loss) if self.random.happens(loss) => {
                self.elapsed += patience;
                return Err(NetError::Timeout(Phase::Connect));
            }
            Weather::Probes(_) => 0.0,
        };
        let mut exchange =
            Exchange { random: &mut self.random, loss, at: Duration::ZERO, patience };
        let outcome = exchange.run(self.trouble, request);
        self.elapsed += exchange.at.min(patience);
        outcome
    }
}

/// One request on its way.
struct Exchange<'a> {
    random: &'a mut Random,
    loss: f64,
    /// Since the request was made.
    at: Duration,
    patience: Duration,
}

impl Exchange<'_> {
    fn run(&mut self, trouble: Option<Trouble>, request: &Request) -> Result<Response, NetError> {
        let resolved = self.resolve()?;
        self.connect(trouble)?;
        let connected = self.at;
        self.flight(1, DATA_RTO, Phase::Handshake)?;
        self.flight(CHAIN_PACKETS, DATA_RTO, Phase::Handshake)?;
        let secured = self.at;
        self.flight(1, DATA_RTO, Phase::Receive)?;
        if let Some(Trouble::Stalled) = trouble {
            self.at = self.patience;
            return Err(NetError::Timeout(Phase::Receive));
        }
        let thinking = 20 + self.random.below(180);
        self.wait(MS * u32::try_from(thinking).expect("a short time"), Phase::Receive)?;
        self.flight(1, DATA_RTO, Phase::Receive)?;
        let first_byte = self.at;
        self.flight(PAGE_PACKETS, DATA_RTO, Phase::Receive)?;
        let micros = |time: Duration| u32::try_from(time.as_micros()).expect("a short time");
        Ok(Response {
            status: if trouble.is_some() { 503 } else { 200 },
            headers: Vec::new(),
            body: Vec::new(),
            truncated: false,
            final_url: request.url.clone(),
            hops: Vec::new(),
            peer_address: "192.0.2.7".to_owned(),
            timing: Timing {
                resolve_us: Some(micros(resolved)),
                connect_us: Some(micros(connected - resolved)),
                tls_us: Some(micros(secured - connected)),
                first_byte_us: Some(micros(first_byte)),
                total_us: micros(self.at),
            },
        })
    }

    /// Both families are asked at once; the site has addresses of one.
    fn resolve(&mut self) -> Result<Duration, NetError> {
        let (found, none) = (self.question(), self.question());
        let Some(found) = found else {
            self.at = (DNS_ROUND * 2).min(self.patience);
            return Err(NetError::Timeout(Phase::Resolve));
        };
        let grace = found + DNS_GRACE;
        self.at = found.max(none.map_or(grace, |none| none.min(grace)));
        Ok(self.at)
    }

    /// When a question to the resolver was answered.
    fn question(&mut self) -> Option<Duration> {
        let asked = (0..2).flat_map(|round| (0..3).map(move |again| (round, again)));
        let mut asked = asked.map(|(round, again)| DNS_ROUND * round + DNS_RETRY * again);
        let asked = asked.find(|_| !self.loses() && !self.loses())?;
        Some(asked + ONE_WAY * 2)
    }

    fn connect(&mut self, trouble: Option<Trouble>) -> Result<(), NetError> {
        if let Some(Trouble::Silent) = trouble {
            self.at = self.patience;
            return Err(NetError::Timeout(Phase::Connect));
        }
        // Each side repeats its own packet, which the other answers again.
        self.flight(1, SYN_RTO, Phase::Connect)?;
        self.flight(1, SYN_RTO, Phase::Connect)?;
        match trouble {
            Some(Trouble::Refusing) => Err(NetError::Refused),
            _ => Ok(()),
        }
    }

    /// So many packets one way: done when the last of them has arrived.
    fn flight(&mut self, packets: u32, rto: Duration, phase: Phase) -> Result<(), NetError> {
        let repeats = (0..packets).map(|_| {
            let mut wait = Duration::ZERO;
            let mut rto = rto;
            while wait < self.patience && self.loses() {
                wait += rto;
                rto *= 2;
            }
            wait
        });
        let longest = repeats.max().unwrap_or_default();
        self.wait(longest + ONE_WAY, phase)
    }

    fn wait(&mut self, time: Duration, phase: Phase) -> Result<(), NetError> {
        self.at += time;
        if self.at < self.patience { Ok(()) } else { Err(NetError::Timeout(phase)) }
    }

    fn loses(&mut self) -> bool {
        self.random.happens(self.loss)
    }
}
