//! Certificates as DER, read by the host.

use vedette_sdk::{Cx, log::Level, x509};

/// Reads each certificate; none where the host cannot. Order and number are those of `ders`.
///
/// They are handed over as if each batch were one chain, since the host reads every certificate
/// of a chain; what it says of the chain as a whole is of no interest.
pub(super) fn read(
    cx: &Cx,
    domain: &str,
    now: i64,
    ders: Vec<Vec<u8>>,
) -> Vec<Option<x509::Certificate>> {
    let mut read = Vec::with_capacity(ders.len());
    let mut batch: Vec<Vec<u8>> = Vec::new();
    let mut size = 0;
    for der in ders {
        if batch.len() == BATCH || size + der.len() > BATCH_BYTES {
            read.extend(examine(cx, domain, now, &batch));
            batch.clear();
            size = 0;
        }
        size += der.len();
        batch.push(der);
    }
    read.extend(examine(cx, domain, now, &batch));
    read
}

fn examine(cx: &Cx, domain: &str, now: i64, batch: &[Vec<u8>]) -> Vec<Option<x509::Certificate>> {
    if batch.is_empty() {
        return Vec::new();
    }
    let chain = match cx.examine(batch, domain, now, None, false) {
        Ok(examination) => examination.chain,
        Err(reason) => {
            let message = format!("logged certificates could not be read: {reason}");
            cx.log(Level::Warn, &message, &[]);
            Vec::new()
        }
    };
    // One that cannot be read has only its digest.
    let is_read = |certificate: &x509::Certificate| !certificate.tbs_sha256.is_empty();
    let mut read: Vec<_> =
        chain.into_iter().map(|certificate| Some(certificate).filter(is_read)).collect();
    read.resize(batch.len(), None);
    read
}

/// What the host shows at a time.
const BATCH: usize = 20;
const BATCH_BYTES: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn batches_keep_to_the_limits_of_the_host_and_to_the_order() {
        let host = vedette_sdk::testing::Host::new();
        fixture::examine(&host);
        let der = |serial: u8| fixture::Leaf { serial: vec![serial], ..fixture::leaf() }.der();
        let mut ders: Vec<Vec<u8>> = (1..=45).map(der).collect();
        ders[7] = b"no certificate".to_vec();
        ders[9] = vec![0x30; 300_000];
        let read = read(&host.cx(), "example.com", fixture::NOW, ders);
        assert_eq!(read.len(), 45);
        assert!(read[7].is_none() && read[9].is_none());
        let serials: Vec<&str> =
            read.iter().flatten().map(|certificate| certificate.serial.as_str()).collect();
        assert_eq!((serials.len(), serials[0], serials[42]), (43, "01", "2d"));
    }
}
