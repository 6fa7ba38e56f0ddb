//! The few words before a hello on ports where TLS starts inside another protocol. The host does
//! the same before `tls.inspect`; a raw hello needs a conversation of its own.

use vedette_sdk::{tcp::Connection, tls::Starttls};

/// Talks until the server waits for a ClientHello; none when it does not get there. `left_ms`:
/// for the next step; none when time is up.
pub(super) fn begin(
    line: &Connection,
    protocol: Starttls,
    domain: &str,
    left_ms: impl Fn() -> Option<u32>,
) -> Option<()> {
    for (say, answer) in steps(protocol, domain) {
        if !say.is_empty() {
            line.write(&say, left_ms()?).ok()?;
        }
        expect(line, answer, &left_ms)?;
    }
    Some(())
}

/// What is said, and what the server has to answer.
type Step = (Vec<u8>, Good);

/// What an answer must be like to go on.
#[derive(Clone, Copy)]
enum Good {
    /// A reply of this code, of one line or several (RFC 5321, 4.2; RFC 959, 4.2).
    Code(&'static str),
    /// A line that begins so; lines that begin with the second are passed over.
    Line(&'static str, &'static str),
    /// One letter.
    Letter(u8),
    /// The end of one of these elements.
    Element(&'static [&'static str]),
}

fn steps(protocol: Starttls, domain: &str) -> Vec<Step> {
    let say = |text: &str| text.as_bytes().to_vec();
    match protocol {
        Starttls::Smtp => vec![
            (Vec::new(), Good::Code("220")),
            (say("EHLO vedette.invalid\r\n"), Good::Code("250")),
            (say("STARTTLS\r\n"), Good::Code("220")),
        ],
        Starttls::Ftp => {
            vec![(Vec::new(), Good::Code("220")), (say("AUTH TLS\r\n"), Good::Code("234"))]
        }
        Starttls::Imap => vec![
            (Vec::new(), Good::Line("* OK", "")),
            (say("a STARTTLS\r\n"), Good::Line("a OK", "* ")),
        ],
        Starttls::Pop3 => {
            vec![(Vec::new(), Good::Line("+OK", "")), (say("STLS\r\n"), Good::Line("+OK", ""))]
        }
        // SSLRequest: its length, then the code 80877103.
        Starttls::Postgres => {
            vec![(vec![0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f], Good::Letter(b'S'))]
        }
        // The domain is a canonical name or address: nothing in it needs escaping.
        Starttls::Xmpp => vec![
            (
                say(&format!(
                    "<?xml version='1.0'?><stream:stream to='{domain}' version='1.0' \
                     xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
                )),
                Good::Element(&["</stream:features>", "<stream:features/>"]),
            ),
            (
                say("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
                Good::Element(&["<proceed"]),
            ),
        ],
    }
}

fn expect(line: &Connection, good: Good, left_ms: &impl Fn() -> Option<u32>) -> Option<()> {
    let mut heard = Vec::new();
    for _ in 0..MAX_READS {
        let bytes = line.read(CHUNK, left_ms()?).ok().filter(|bytes| !bytes.is_empty())?;
        heard.extend(bytes);
        if heard.len() > MAX_REPLY {
            return None;
        }
        if let Some(agreed) = good.judge(&String::from_utf8_lossy(&heard)) {
            return agreed.then_some(());
        }
    }
    None
}

impl Good {
    /// None while the answer is not over.
    fn judge(self, heard: &str) -> Option<bool> {
        let lines = || heard.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        match self {
            Self::Code(code) => {
                // `250-` goes on, and so does free text in between; `250 ` is the last line.
                let is_last = |line: &&str| {
                    let (start, rest) = line.split_at_checked(3).unwrap_or_default();
                    start.bytes().all(|byte| byte.is_ascii_digit())
                        && start.len() == 3
                        && !rest.starts_with('-')
                };
                lines().find(is_last).map(|line| line.starts_with(code))
            }
            Self::Line(start, passed) => {
                let mut lines = lines();
                let told = lines.find(|line| passed.is_empty() || !line.starts_with(passed));
                told.map(|line| line.starts_with(start))
            }
            Self::Letter(letter) => heard.bytes().next().map(|own| own == letter),
            Self::Element(ends) if ends.iter().any(|end| heard.contains(end)) => {
                // A tag that is still open would be taken for the server's first record.
                heard.trim_end().ends_with('>').then_some(true)
            }
            Self::Element(_) => ["<failure", "<stream:error", "</stream:stream>"]
                .iter()
                .any(|end| heard.contains(end))
                .then_some(false),
        }
    }
}

const CHUNK: u32 = 4 << 10;
/// Of one step, in bytes.
const MAX_REPLY: usize = 16 << 10;
/// Of one step: a server that sends less at a time is not waited for.
const MAX_READS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_judged_when_they_are_over() {
        let code = Good::Code("250");
        let tagged = Good::Line("a OK", "* ");
        let features = Good::Element(&["</stream:features>", "<stream:features/>"]);
        for (good, heard, expected) in [
            (code, "250 ok\r\n", Some(true)),
            (code, "250-mx\r\n250-SIZE\r\n", None),
            (code, "250-mx\r\n250 STARTTLS\r\n", Some(true)),
            (code, "250 o", None),
            (code, "502 no\r\n", Some(false)),
            (code, "250-mx\r\nfree text\r\n250 end\r\n", Some(true)),
            (code, "\u{e9}\u{e9}\r\n", None),
            (tagged, "* CAPABILITY X\r\na OK begin\r\n", Some(true)),
            (tagged, "* CAPABILITY X\r\n", None),
            (tagged, "a NO\r\n", Some(false)),
            (Good::Line("+OK", ""), "+OK\r\n", Some(true)),
            (Good::Line("+OK", ""), "-ERR\r\n", Some(false)),
            (Good::Letter(b'S'), "S", Some(true)),
            (Good::Letter(b'S'), "N", Some(false)),
            (features, "<stream:features><starttls/></stream:features>", Some(true)),
            (features, "<stream:features><starttls/>", None),
            (features, "<stream:error/>", Some(false)),
            (Good::Element(&["<proceed"]), "<proceed xmlns='x'", None),
            (Good::Element(&["<proceed"]), "<proceed xmlns='x'/>", Some(true)),
            (Good::Element(&["<proceed"]), "<failure/>", Some(false)),
        ] {
            assert_eq!(good.judge(heard), expected, "{heard}");
        }
    }
}
