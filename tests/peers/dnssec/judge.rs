//! `delv`: a name is as good as the worst answer to the questions that the check asks too.

use std::fmt;

use super::{case::State, named::Named};
use crate::program::{command, output};

const TYPES: [&str; 7] = ["A", "AAAA", "CNAME", "MX", "TXT", "CAA", "NS"];

/// The words of `delv`; the worse the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    FullyValidated,
    Unsigned,
    Failed,
}

#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    /// The line that decided.
    #[expect(dead_code, reason = "shown where a test fails")]
    pub(crate) said: String,
}

pub(crate) async fn ask(named: &Named, name: &str) -> anyhow::Result<Judgement> {
    let mut worst: Option<Judgement> = None;
    for rtype in TYPES {
        let heard = ask_type(named, name, rtype).await?;
        if worst.as_ref().is_none_or(|worst| heard.verdict > worst.verdict) {
            worst = Some(heard);
        }
    }
    worst.ok_or_else(|| anyhow::anyhow!("there are types to ask for"))
}

async fn ask_type(named: &Named, name: &str, rtype: &str) -> anyhow::Result<Judgement> {
    let mut delv = command("delv");
    delv.args(["@127.0.0.1", "-p", &named.address().port().to_string()]);
    delv.arg("-a").arg(named.anchor_statement()).args(["+root=.", name, rtype]);
    let ended = output(&mut delv).await?;
    let text = [ended.stdout, ended.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    // "Resolution failed: ncache nxrrset" stands beside a denial that was validated.
    let said = |words: &str| {
        let mut lines = text.lines().filter(|line| !line.contains("ncache"));
        lines.find(|line| line.contains(words)).map(str::to_owned)
    };
    let verdicts = [
        ("resolution failed", Verdict::Failed),
        ("unsigned answer", Verdict::Unsigned),
        ("fully validated", Verdict::FullyValidated),
    ];
    let heard = verdicts.into_iter().find_map(|(words, verdict)| Some((said(words)?, verdict)));
    let (line, verdict) = heard.ok_or_else(|| anyhow::anyhow!("{name} {rtype}: {text}"))?;
    Ok(Judgement { verdict, said: format!("{rtype}: {line}") })
}

impl Verdict {
    /// `delv` does not tell an island from an unsigned zone: both have no chain of trust.
    pub(crate) fn is(self, state: State) -> bool {
        match self {
            Self::FullyValidated => state == State::Secure,
            Self::Unsigned => matches!(state, State::Unsigned | State::PassedOver),
            Self::Failed => state == State::Bogus,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::FullyValidated => "validated",
            Self::Unsigned => "unsigned",
            Self::Failed => "failed",
        })
    }
}
