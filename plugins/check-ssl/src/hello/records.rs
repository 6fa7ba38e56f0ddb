//! TLS records (RFC 8446, 5.1): what a server said, taken out of its envelopes.

/// What is read of one answer, in bytes.
pub(super) const MAX_ANSWER: usize = 256 << 10;

/// The plain part of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Contents of the handshake records, joined: messages may span several.
    pub(super) handshake: Vec<u8>,
    /// The first alert that ends a conversation.
    pub(super) alert: Option<u8>,
    /// It began as TLS does.
    pub(super) is_tls: bool,
}

/// Reads records up to the first that is encrypted, damaged, or ends the conversation. One that
/// was cut off counts as far as it goes.
pub(super) fn read(bytes: &[u8]) -> Said {
    let mut rest = bytes.get(..MAX_ANSWER).unwrap_or(bytes);
    let mut said = Said::default();
    while let [kind, 3, minor, high, low, payload @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        if *minor > 4 || length > MAX_RECORD {
            break;
        }
        let (payload, behind) = payload.split_at(length.min(payload.len()));
        match (*kind, payload) {
            (HANDSHAKE, payload) => said.handshake.extend(payload),
            // Others are warnings, after which the server goes on.
            (ALERT, [FATAL, alert, ..] | [_, alert @ CLOSE_NOTIFY, ..]) => {
                said.alert = Some(*alert);
            }
            (ALERT, _) => {}
            _ => break,
        }
        said.is_tls = true;
        if said.alert.is_some() {
            break;
        }
        rest = behind;
    }
    said.is_tls |= is_cut_off(bytes);
    said
}

/// Too short for a record, and nothing speaks against its being one.
fn is_cut_off(bytes: &[u8]) -> bool {
    match bytes {
        [HANDSHAKE | ALERT] => true,
        [HANDSHAKE | ALERT, 3, ..] => bytes.len() < 5,
        _ => false,
    }
}

const HANDSHAKE: u8 = 22;
const ALERT: u8 = 21;
const FATAL: u8 = 2;
/// The server hangs up, whatever the level.
pub(super) const CLOSE_NOTIFY: u8 = 0;
/// 2^14, and what compression and encryption may add.
const MAX_RECORD: usize = (1 << 14) + 2048;

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u8, payload: &[u8]) -> Vec<u8> {
        let length = u16::try_from(payload.len()).expect("a short record").to_be_bytes();
        [&[kind, 3, 3], &length[..], payload].concat()
    }

    #[test]
    fn messages_are_joined_over_records() {
        let bytes = [record(22, &[1, 2]), record(22, &[]), record(22, &[3])].concat();
        let said = read(&bytes);
        assert_eq!(
            (said.handshake.as_slice(), said.alert, said.is_tls),
            (&[1, 2, 3][..], None, true)
        );
    }

    #[test]
    fn warnings_are_passed_over_and_ends_are_not() {
        for (alert, expected) in
            [([1, 112], None), ([2, 40], Some(40)), ([1, 0], Some(0)), ([2, 0], Some(0))]
        {
            let said = read(&[record(21, &alert), record(22, &[7])].concat());
            assert_eq!(said.alert, expected);
            assert_eq!(said.handshake.is_empty(), expected.is_some());
        }
        assert_eq!(read(&record(21, &[2])).alert, None);
    }

    #[test]
    fn reading_ends_where_encryption_begins() {
        for kind in [20, 23, 24] {
            let said = read(&[record(22, &[1]), record(kind, &[1]), record(22, &[2])].concat());
            assert_eq!(said.handshake, [1]);
        }
    }

    #[test]
    fn cut_off_record_counts_as_far_as_it_goes() {
        let whole = record(22, &[1, 2, 3, 4]);
        assert_eq!(read(&whole[..7]).handshake, [1, 2]);
        for end in 1..whole.len() {
            assert!(read(&whole[..end]).is_tls, "{end} bytes");
        }
    }

    #[test]
    fn other_protocols_are_told_apart() {
        for bytes in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"220 mail.example ESMTP\r\n",
            b"\x16\x02\x00\x00\x01\x00",
            b"\x16\x03\x09\x00\x01\x00",
            b"\x16\x03\x03\xff\xff\x00",
            b"\x80\x03",
            b"H",
            b"",
        ] {
            assert!(!read(bytes).is_tls, "{bytes:?}");
        }
    }

    #[test]
    fn endless_answer_is_read_to_its_limit() {
        let bytes = record(22, &[7; 100]).repeat(10_000);
        assert!(read(&bytes).handshake.len() < MAX_ANSWER);
    }
}
