use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use vedette_sdk::{Check, Job, testing::Host};

use p256::ecdsa::SigningKey;

use super::{signature::tests as signed, tree::tests as merkle, *};
use crate::{
    Config, Ct,
    config::{Kind, Source},
    fixture::{self, NOW, response},
    key::{self, LogKey},
    source::{UNAVAILABLE, ask},
};

/// Logs whose tree heads are held against a key.
mod keyed;

const DOMAIN: &str = "example.com";
const URL: &str = "https://log.example/2026";
const NAME: &str = "log.example/2026";
const NOW_MS: u64 = NOW as u64 * 1_000;

/// A log that answers as static-ct-api says.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    entries: Vec<Vec<u8>>,
    asked: Vec<String>,
    /// Answers another size than it has.
    claimed: Option<usize>,
    /// Signs tree heads with these; a signature of no key where there are none.
    keys: Vec<SigningKey>,
    /// Paths that are gone, and paths whose bytes are others.
    gone: Vec<&'static str>,
    spoilt: BTreeMap<String, Vec<u8>>,
}

impl Log {
    fn of(size: usize) -> Self {
        let log = Self::default();
        for n in 0..size {
            log.add(n as u64, format!("certificate {n} of other.net").as_bytes(), None);
        }
        log
    }

    fn add(&self, timestamp: u64, signed: &[u8], pre: Option<&[u8]>) {
        self.0.borrow_mut().entries.push(leaf::tests::write(timestamp, signed, pre));
    }

    fn add_certificate(&self, leaf: &fixture::Leaf) {
        self.add(NOW as u64 * 1_000, &leaf.der(), None);
    }

    fn add_precertificate(&self, leaf: &fixture::Leaf, signer: &'static str) {
        let poisoned =
            fixture::Leaf { is_poisoned: true, issuer: (signer, "Signers"), ..leaf.clone() };
        self.add(NOW as u64 * 1_000, &leaf.tbs(), Some(&poisoned.der()));
    }

    fn host(&self) -> Host {
        let (host, log) = (Host::new(), self.clone());
        host.set_remaining(Duration::from_secs(30));
        fixture::examine(&host);
        fixture::caa(&host, &[]);
        host.http(move |request| {
            let path = request.url.strip_prefix(URL).expect("a request to the log");
            log.0.borrow_mut().asked.push(path.to_owned());
            Ok(match log.0.borrow().answer(path) {
                Some(body) => response(200, &body),
                None => response(404, b"not found"),
            })
        });
        host
    }

    fn read(&self, host: &Host, position: Option<&str>) -> Result<Answer, &'static str> {
        self.read_as(Source::new(Kind::Static, URL), host, position)
    }

    /// Holds tree heads against the key of [`key::tests::signing`].
    fn read_signed(&self, secret: u8, host: &Host) -> Result<Answer, &'static str> {
        let text = key::tests::encoded(&key::tests::signing(secret));
        let key = Some(LogKey::parse(&text).expect("a key"));
        self.read_as(Source { key, ..Source::new(Kind::Static, URL) }, host, None)
    }

    fn read_as(
        &self,
        source: Source,
        host: &Host,
        position: Option<&str>,
    ) -> Result<Answer, &'static str> {
        let source = [source];
        let position = position.map(|position| (source[0].mark(), position.to_owned()));
        let told = ask(&host.cx(), &source, DOMAIN, &position.into_iter().collect());
        told.expect("no trouble of ours").map(|told| told.answer)
    }

    fn spoil(&self, path: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut body = self.0.borrow().answer(path).expect("something to spoil");
        change(&mut body);
        self.0.borrow_mut().spoilt.insert(path.to_owned(), body);
    }
}

impl State {
    fn answer(&self, path: &str) -> Option<Vec<u8>> {
        if let Some(spoilt) = self.spoilt.get(path) {
            return Some(spoilt.clone());
        }
        let size = self.claimed.unwrap_or(self.entries.len()).min(self.entries.len());
        let hashes: Vec<_> = self.entries[..size]
            .iter()
            .map(|entry| Leaf::parse(entry).expect("an entry").0.hash())
            .collect();
        if path == "/checkpoint" {
            use base64::{Engine as _, engine::general_purpose::STANDARD};
            let root = STANDARD.encode(merkle::root_of(&hashes));
            let note = format!("{NAME}\n{size}\n{root}\n");
            if self.keys.is_empty() {
                let signature = STANDARD.encode(b"key id and signature");
                return Some(format!("{note}\n\u{2014} {NAME} {signature}\n").into_bytes());
            }
            let lines = self.keys.iter().map(|key| signed::line(key, &note, NAME, NOW_MS));
            return Some(format!("{note}\n{}", lines.collect::<String>()).into_bytes());
        }
        if self.gone.contains(&path) {
            return None;
        }
        let (level, rest) = path.strip_prefix("/tile/")?.split_once('/')?;
        let (number, width) = match rest.split_once(".p/") {
            Some((number, width)) => (number, width.parse().ok()?),
            None => (rest, 256),
        };
        let number = number.split('/').try_fold(0_u64, |sum, digits| {
            Some(sum * 1_000 + digits.trim_start_matches('x').parse::<u64>().ok()?)
        })?;
        if level == "data" {
            let from = usize::try_from(number * 256).ok()?;
            let entries = self.entries.get(from..from + width)?;
            return Some(entries.concat());
        }
        let level: u32 = level.parse().ok()?;
        if number * 256_u64.pow(level + 1) >= hashes.len() as u64 {
            return None;
        }
        let tile = merkle::tile_of(&hashes, level, number);
        Some(tile.get(..width * 32)?.to_vec())
    }
}

/// Where the next run goes on.
fn next(answer: &Answer) -> Option<&str> {
    answer.position.as_deref()?.split(' ').next()
}

fn serials(answer: &Answer) -> Vec<&str> {
    answer.certificates.iter().map(|certificate| certificate.serial.as_str()).collect()
}

#[test]
fn first_run_starts_near_the_end_and_later_ones_go_on() {
    let log = Log::of(1_000);
    log.add_certificate(&fixture::leaf());
    let host = log.host();
    let answer = log.read(&host, None).expect("an answer");
    assert_eq!(serials(&answer), ["abc"]);
    assert_eq!((next(&answer), answer.has_more), (Some("1001"), false));
    let asked = log.0.borrow_mut().asked.split_off(0);
    let data: Vec<&String> = asked.iter().filter(|path| path.contains("/data/")).collect();
    assert_eq!(data, ["/tile/data/002", "/tile/data/003.p/233"]);

    let answer = log.read(&host, Some("1001")).expect("an answer");
    assert_eq!((answer.certificates.len(), next(&answer)), (0, Some("1001")));
    assert_eq!(log.0.borrow_mut().asked.split_off(0), ["/checkpoint"], "there is nothing new");

    log.add_certificate(&fixture::Leaf { serial: vec![0x77], ..fixture::leaf() });
    let answer = log.read(&host, Some("1001")).expect("an answer");
    assert_eq!(serials(&answer), ["77"], "what was read before is not read again");
}

#[test]
fn log_is_read_in_bounded_steps() {
    let log = Log::of(2_600);
    let host = log.host();
    let mut position = "0".to_owned();
    let mut positions = Vec::new();
    loop {
        let answer = log.read(&host, Some(&position)).expect("an answer");
        positions.extend(next(&answer).map(str::to_owned));
        position = answer.position.expect("a position");
        if !answer.has_more {
            break;
        }
    }
    assert_eq!(positions, ["1024", "2048", "2600"]);
    let most = log.0.borrow().asked.iter().filter(|path| path.contains("/data/")).count();
    assert_eq!(most, 11);
}

#[test]
fn log_that_cannot_be_caught_up_with_is_no_source_until_it_grows_slower() {
    let log = Log::of(10);
    let host = log.host();
    let first = log.read(&host, None).expect("an answer").position.expect("a position");
    log.0.borrow_mut().asked.clear();
    log.spoil("/checkpoint", |body| {
        let text = String::from_utf8(body.clone()).expect("a checkpoint is text");
        let size = format!("\n{}\n", 11 + FAR_AHEAD);
        *body = text.replacen("\n10\n", &size, 1).into_bytes();
    });
    host.set_now(NOW + 3_600);
    assert_eq!(log.read(&host, Some(&first)).err(), Some(UNAVAILABLE));
    let told = |what: &str| host.logged().iter().any(|line| line.message.contains(what));
    assert!(told("can be caught up with"));
    assert_eq!(log.0.borrow_mut().asked.split_off(0), ["/checkpoint"], "nothing is read in vain");

    // The same distance after a week in which nobody asked, and where nobody noted since when.
    host.set_now(NOW + 7 * 86_400);
    for position in [&*first, "10"] {
        // This log has no tiles to show for its size.
        assert_eq!(log.read(&host, Some(position)).err(), Some(UNAVAILABLE));
        let asked = log.0.borrow_mut().asked.split_off(0);
        assert!(asked.iter().any(|path| path.starts_with("/tile/")), "{position}: {asked:?}");
    }
}

#[test]
fn precertificate_and_certificate_are_one_and_the_signer_stands_for_its_issuer() {
    let log = Log::of(10);
    log.add_precertificate(&fixture::leaf(), "Precertificate Signing 1");
    let answer = log.read(&log.host(), None).expect("an answer");
    let pre = answer.certificates[0].clone();
    assert_eq!(pre.issuer.label(), "R11, Let's Encrypt");
    assert_eq!((pre.fingerprint.as_ref(), pre.logged_at), (None, Some(NOW)));

    log.add_certificate(&fixture::leaf());
    let answer = log.read(&log.host(), Some("11")).expect("an answer");
    let last = answer.certificates[0].clone();
    assert_eq!((&last.tbs, &last.serial), (&pre.tbs, &pre.serial));
    assert_eq!(last.fingerprint, Some(hex::encode(fixture::sha256(&fixture::leaf().der()))));
    assert_eq!(last.identity("example.com"), pre.identity("example.com"));
}

#[test]
fn only_certificates_of_the_domain_are_read() {
    let log = Log::of(3);
    let with = |name: &str, serial: u8| fixture::Leaf {
        names: vec![name.to_owned()],
        serial: vec![serial],
        ..fixture::leaf()
    };
    log.add_certificate(&with("badexample.com", 1));
    log.add_certificate(&with("a.EXAMPLE.com", 2));
    log.add_certificate(&with("example.com.evil.net", 3));
    log.add_certificate(&fixture::Leaf { not_after: NOW - 1, ..with("example.com", 4) });
    log.add(0, b"example.com, and no certificate", None);
    let host = log.host();
    let answer = log.read(&host, None).expect("an answer");
    assert_eq!(serials(&answer), ["2"]);
    assert!(host.logged().iter().any(|line| line.message.contains("cannot be read")));
}

#[test]
fn partial_tile_that_has_become_full_is_read_as_such() {
    let log = Log::of(300);
    log.0.borrow_mut().claimed = Some(200);
    log.0.borrow_mut().gone = vec!["/tile/data/000.p/200"];
    let answer = log.read(&log.host(), None).expect("an answer");
    assert_eq!(next(&answer), Some("200"));
}

#[test]
fn log_that_contradicts_itself_is_no_source() {
    type Spoil = fn(&mut Vec<u8>);
    let cases: [(&str, Spoil); 9] = [
        ("/tile/data/001.p/44", |body| body[20] ^= 1),
        ("/tile/data/001.p/44", |body| body.truncate(body.len() - 1)),
        ("/tile/data/001.p/44", |body| body[10..13].copy_from_slice(&[0xff; 3])),
        ("/tile/0/001.p/44", |body| body[5] ^= 1),
        ("/tile/0/000", |body| body[5] ^= 1),
        ("/tile/0/000", |body| body.truncate(8_000)),
        ("/tile/1/000.p/1", |body| body[5] ^= 1),
        ("/checkpoint", |body| body.clear()),
        ("/checkpoint", |body| {
            let at = body.iter().position(|byte| *byte == b'3').expect("the size is 300");
            body[at] = b'2';
        }),
    ];
    for (path, spoil) in cases {
        let log = Log::of(300);
        log.add_certificate(&fixture::leaf());
        log.0.borrow_mut().entries.remove(0);
        assert!(log.read(&log.host(), Some("0")).is_ok());
        log.spoil(path, spoil);
        assert_eq!(log.read(&log.host(), Some("0")).err(), Some(UNAVAILABLE), "{path}");
    }
}

#[test]
fn log_never_goes_back() {
    let log = Log::of(600);
    let host = log.host();
    assert!(log.read(&host, None).is_ok());
    log.0.borrow_mut().claimed = Some(599);
    assert_eq!(log.read(&host, None).err(), Some(UNAVAILABLE), "it became smaller");
    assert_eq!(log.read(&log.host(), Some("600")).err(), Some(UNAVAILABLE), "and for the site");
    log.0.borrow_mut().claimed = None;
    assert!(log.read(&host, None).is_ok());
    log.0.borrow_mut().entries[7] = leaf::tests::write(1, b"another one", None);
    assert_eq!(log.read(&host, Some("0")).err(), Some(UNAVAILABLE), "two trees of one size");
}

#[test]
fn newer_tree_head_of_another_site_is_no_step_back() {
    let log = Log::of(600);
    let (host, ahead) = (log.host(), log.host());
    let cx = host.cx();
    let asked = Asked {
        cx: &cx,
        base: URL,
        key: None,
        domain: DOMAIN,
        position: None,
        reserve: Duration::ZERO,
        now: NOW,
    };
    let key = head_key(&asked);
    assert!(log.read(&ahead, None).is_ok());
    let newer = ahead.cx().state(Scope::Shared).get(&key).expect("state").expect("a tree head");
    // The other site's run ends while this one waits for an older tree head.
    log.0.borrow_mut().claimed = Some(599);
    let (there, answers, under, stored) = (host.clone(), log.clone(), key.clone(), newer.clone());
    host.http(move |request| {
        let path = request.url.strip_prefix(URL).expect("a request to the log");
        if path == "/checkpoint" {
            there.cx().state(Scope::Shared).set(&under, &stored, None).expect("state");
        }
        Ok(response(200, &answers.0.borrow().answer(path).expect("an answer")))
    });
    let answer = log.read(&host, None).expect("an answer");
    assert_eq!(next(&answer), Some("599"));
    assert_eq!(cx.state(Scope::Shared).get(&key), Ok(Some(newer)), "the older is not put back");
    let gone_back = log.read(&host, None).err();
    assert_eq!(gone_back, Some(UNAVAILABLE), "what was kept before the log was asked counts");
}

#[test]
fn empty_log_is_read_to_its_end() {
    let log = Log::of(0);
    let answer = log.read(&log.host(), None).expect("an answer");
    assert_eq!((next(&answer), answer.has_more), (Some("0"), false));
}

#[test]
fn tile_that_is_too_large_is_read_as_far_as_it_came() {
    let log = Log::of(10);
    log.add_certificate(&fixture::leaf());
    log.add(0, &[b'x'; 3_000], None);
    let (host, state) = (log.host(), log.clone());
    host.http(move |request| {
        let path = request.url.strip_prefix(URL).expect("a request to the log");
        let mut body = state.0.borrow().answer(path).expect("an answer");
        let truncated = path.contains("/data/");
        body.truncate(if truncated { body.len() - 1_000 } else { body.len() });
        Ok(vedette_sdk::http::Response { truncated, ..response(200, &body) })
    });
    let answer = log.read(&host, None).expect("an answer");
    assert_eq!((serials(&answer), next(&answer)), (vec!["abc"], Some("12")));
    assert!(host.logged().iter().any(|line| line.message.contains("too large")));
}

#[test]
fn runs_over_a_log_add_up() {
    let log = Log::of(500);
    log.add_certificate(&fixture::leaf());
    let host = log.host();
    let run = || {
        let settings = format!("{{\"sources\":[{{\"kind\":\"static\",\"url\":\"{URL}/\"}}]}}");
        let job = Job { settings, ..Job::new(DOMAIN, Config::default()) };
        Ct::run(&host.cx(), job).expect("the check works").facts
    };
    let first = run();
    assert_eq!((first.total, first.baseline, first.source.as_deref()), (1, true, Some("static")));
    assert_eq!((first.new_count, first.unexpected_count), (0, 0));
    log.add_precertificate(
        &fixture::Leaf { serial: vec![2], issuer: ("Evil", "Evil CA"), ..fixture::leaf() },
        "Signer",
    );
    let second = run();
    assert_eq!((second.total, second.baseline), (2, false));
    assert_eq!((second.new_count, second.unexpected_count), (1, 1));
    let third = run();
    assert_eq!((third.total, third.new_count, third.unexpected_count), (2, 0, 1));
    assert_eq!(third.certificates, second.certificates);
}
