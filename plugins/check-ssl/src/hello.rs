//! Raw TLS hellos: what a server that modern libraries cannot speak to shows in clear, and which
//! versions and suites a server would accept.
//!
//! A [`Hello`] says what it offers, [`client_hello`] writes it, [`probe`] sends it, and
//! [`flight`] reads what came back: up to TLS 1.2 that is version, suite, chain, staple and group,
//! all in clear. No handshake is ever finished.
//!
//! *Invariant:* what a server sends is bounded (256 KiB a hello) and read in one pass; no bytes
//! make the reader fail, they only tell less.
//! *Invariant:* silence is never taken for a refusal.

pub(crate) use flight::Flight;
pub(crate) use offer::Hello;
pub(crate) use probe::Prober;

mod flight;
mod message;
mod offer;
mod probe;
mod records;
mod starttls;

#[cfg(test)]
pub(crate) mod script;
#[cfg(test)]
mod tests;

/// What a hello brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A ServerHello for what was offered, though maybe of an older version.
    Answered(Flight),
    /// The server said no: an alert that means it, or a clean close.
    Refused,
    /// It has no certificate for the name: alert 112.
    UnknownName,
    /// It speaks another protocol.
    NotTls,
    /// Silence, a reset, or nonsense.
    Unknown,
}

/// The hellos of a run and what each brought, in the order they were asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(Vec<(Hello, Outcome)>);

impl Answers {
    pub(crate) fn add(&mut self, hellos: &[Hello], outcomes: Vec<Outcome>) {
        self.0.extend(hellos.iter().copied().zip(outcomes));
    }

    /// Gives back the memory of what the handshake has shown already.
    pub(crate) fn forget_chains(&mut self) {
        for (_, outcome) in &mut self.0 {
            if let Outcome::Answered(flight) = outcome {
                (flight.chain, flight.staple) = (Vec::new(), None);
            }
        }
    }

    /// What the server answered to this hello.
    pub(crate) fn of(&self, hello: Hello) -> Option<&Flight> {
        let mut flights = self.flights();
        flights.find(|(asked, _)| *asked == hello).map(|(_, flight)| flight)
    }

    /// All that was answered.
    pub(crate) fn flights(&self) -> impl Iterator<Item = (Hello, &Flight)> {
        self.0.iter().filter_map(|(hello, outcome)| match outcome {
            Outcome::Answered(flight) => Some((*hello, flight)),
            Outcome::Refused | Outcome::UnknownName | Outcome::NotTls | Outcome::Unknown => None,
        })
    }

    /// The answer of the newest version; of equal ones the first that shows a chain, since a server
    /// that also does without a certificate has something better.
    pub(crate) fn newest(&self) -> Option<&Flight> {
        newest(self.flights().map(|(_, flight)| flight))
    }

    /// The newest answer that shows a chain.
    pub(crate) fn with_chain(&self) -> Option<(Hello, &Flight)> {
        let shown = || self.flights().filter(|(_, flight)| !flight.chain.is_empty());
        let best = newest(shown().map(|(_, flight)| flight))?;
        shown().find(|(_, flight)| *flight == best)
    }

    /// A staple that was sent along with this leaf.
    pub(crate) fn staple_for(&self, leaf: &[u8]) -> Option<&[u8]> {
        let mut flights = self.flights().map(|(_, flight)| flight);
        flights.find_map(|flight| flight.staple.as_deref().filter(|_| flight.is_of(leaf)))
    }

    /// Whether the server said that it does not know the name.
    pub(crate) fn disown_the_name(&self) -> bool {
        self.0.iter().any(|(_, outcome)| *outcome == Outcome::UnknownName)
    }

    /// Whether any hello was answered or refused: whether anything is known at all.
    pub(crate) fn tell_anything(&self) -> bool {
        let told = |outcome: &Outcome| matches!(outcome, Outcome::Answered(_) | Outcome::Refused);
        self.0.iter().any(|(_, outcome)| told(outcome))
    }
}

fn newest<'a>(flights: impl Iterator<Item = &'a Flight>) -> Option<&'a Flight> {
    let worth = |flight: &Flight| (flight.version, !flight.chain.is_empty());
    flights.reduce(|best, next| if worth(next) > worth(best) { next } else { best })
}
