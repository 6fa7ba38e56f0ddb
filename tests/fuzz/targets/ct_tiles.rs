//! Logs of the Static CT API: a whole run of the check, twice. A log is either bytes as they come,
//! or one whose tree is right and whose entries are not.

#![no_main]

use check_ct::{Config, Ct};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};
use vedette_fuzz::{Input, contract, host, part, plant};
use vedette_sdk::{Check, Job, x509::Certificate};

fuzz_target!(init: plant(seeds(), &[], 0), |data: &[u8]| {
    let mut input = Input(data);
    let settings = input.choose(&[PLAIN, PLAIN, WITH_KEY]);
    let log = if input.byte() % 2 == 0 { Log::as_it_comes(&mut input) } else { Log::built(&mut input) };
    let host = host::lonely();
    host.x509(|chain| Ok(host::examination(chain.certificates.iter().map(|der| read(der)).collect())));
    host.http(move |request| Ok(host::response(200, Vec::new(), log.answer(&request.url))));
    for _ in 0..2 {
        let mut job = Job::new("www.example.com", Config::default());
        job.settings = settings.to_owned();
        let seen = Ct::run(&host.cx(), job).expect("a log is never the check's own trouble");
        contract::observed(&seen);
    }
});

/// What a log answers.
struct Log {
    checkpoint: Vec<u8>,
    hashes: Vec<u8>,
    entries: Vec<u8>,
}

type Hash = [u8; 32];

impl Log {
    fn as_it_comes(input: &mut Input<'_>) -> Self {
        let (checkpoint, hashes) = (input.part().to_vec(), input.part().to_vec());
        Self { checkpoint, hashes, entries: input.rest().to_vec() }
    }

    /// Up to a tile of entries around what was signed, and behind them what does not belong there.
    fn built(input: &mut Input<'_>) -> Self {
        let signature = input.part().to_vec();
        let mut log = Self { checkpoint: Vec::new(), hashes: Vec::new(), entries: Vec::new() };
        let mut leaves = Vec::new();
        while !input.0.is_empty() && leaves.len() < 256 {
            let is_precertificate = input.byte() % 2 == 1;
            leaves.push(log.add(is_precertificate, input.part()));
        }
        log.hashes = leaves.concat();
        let (root, origin) = (base64(&root(&leaves)), "log.example/2026");
        let signed = base64(&signature);
        log.checkpoint =
            format!("{origin}\n{}\n{root}\n\n\u{2014} {origin} {signed}\n", leaves.len())
                .into_bytes();
        log
    }

    /// Writes an entry (`TileLeaf`) and answers the hash of its `MerkleTreeLeaf`.
    fn add(&mut self, is_precertificate: bool, signed: &[u8]) -> Hash {
        let mut timestamped = 1_700_000_000_000_u64.to_be_bytes().to_vec();
        timestamped.extend([0, u8::from(is_precertificate)]);
        timestamped.extend(is_precertificate.then_some([9; 32]).into_iter().flatten());
        let length = (signed.len() as u32).to_be_bytes();
        timestamped.extend([&length[1..], signed, &[0, 0]].concat());
        self.entries.extend(&timestamped);
        if is_precertificate {
            self.entries.extend([0, 0, 0]);
        }
        self.entries.extend([0, 0]);
        Sha256::new().chain_update([0, 0, 0]).chain_update(&timestamped).finalize().into()
    }

    fn answer(&self, url: &str) -> &[u8] {
        if url.contains("/tile/data/") {
            &self.entries
        } else if url.contains("/tile/") {
            &self.hashes
        } else {
            &self.checkpoint
        }
    }
}

/// RFC 6962, section 2.1.
fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Sha256::digest([]).into(),
        [one] => *one,
        many => {
            let (left, right) = many.split_at(many.len().next_power_of_two() / 2);
            let node = Sha256::new().chain_update([1]).chain_update(root(left));
            node.chain_update(root(right)).finalize().into()
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let symbol = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= chunk.len() { symbol.into() } else { '=' });
        }
    }
    text
}

/// What the host may say of a certificate.
fn read(der: &[u8]) -> Certificate {
    let text = String::from_utf8_lossy(der).into_owned();
    Certificate { serial: text, ..host::certificate() }
}

fn seeds() -> Vec<Vec<u8>> {
    let tbs: &[u8] = &[
        &[0x30, 0x26, 0xa0, 3, 2, 1, 2, 2, 1, 7, 0x30, 3, 6, 1, 42, 0x0c, 0x15][..],
        b"www.example.com......",
    ]
    .concat();
    let signature: &[u8] =
        &[&[1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 1, 4, 3, 0, 8][..], &[0x30, 6, 2, 1, 1, 2, 1, 1]]
            .concat();
    let leaf = |kind: u8, signed: &[u8]| [&[kind][..], &part(signed)].concat();
    let leaves =
        [leaf(0, b"www.example.com"), leaf(1, tbs), leaf(0, b"*.EXAMPLE.com"), leaf(1, b"other")];
    let built = |settings: u8, count: usize| {
        let leaves = leaves.iter().cycle().take(count).flatten().copied();
        [&[settings, 1][..], &part(signature)].concat().into_iter().chain(leaves).collect()
    };
    let raw = Log::built(&mut Input(&leaves.concat()));
    let mut seeds: Vec<Vec<u8>> = [(0, 1), (0, 2), (0, 3), (0, 4), (2, 5), (0, 200)]
        .map(|(settings, count)| built(settings, count))
        .into();
    seeds.push([&[0, 0][..], &part(&raw.checkpoint), &part(&raw.hashes), &raw.entries].concat());
    // A log of billions, of which every tile is the same.
    let huge = format!("l\n99999999999\n{}\n\n\u{2014} l AAAAAAA=\n", base64(&[7; 32]));
    seeds.push([&[0, 0][..], &part(huge.as_bytes()), &part(&[7; 8_192]), &raw.entries].concat());
    seeds
}

const PLAIN: &str = r#"{"sources":[{"kind":"static","url":"https://log.example"}]}"#;

/// The key whose secret is 1.
const WITH_KEY: &str = r#"{"sources":[{"kind":"static","url":"https://log.example","key":"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q=="}]}"#;
