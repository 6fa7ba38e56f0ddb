//! `text/event-stream`, read piece by piece as it arrives.

/// Gathers pieces of a stream into events.
#[derive(Default)]
pub(super) struct Events {
    line: Vec<u8>,
    after_return: bool,
    kind: String,
    data: Option<String>,
}

impl Events {
    /// The data of the messages that this piece completes. Events of other kinds are not MCP's.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<String> {
        let mut messages = Vec::new();
        for &byte in piece {
            let second_half = std::mem::take(&mut self.after_return) && byte == b'\n';
            if second_half {
                continue; // of one `\r\n`
            }
            self.after_return = byte == b'\r';
            match byte {
                b'\r' | b'\n' => messages.extend(self.end_of_line()),
                _ => self.line.push(byte),
            }
        }
        messages
    }

    /// How many bytes wait for the rest of their event.
    pub(super) fn held(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, String::len)
    }

    fn end_of_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let kind = std::mem::take(&mut self.kind);
            let data = self.data.take();
            return data.filter(|_| kind.is_empty() || kind == "message");
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((line.as_ref(), ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", none) => *none = Some(value.to_owned()),
            ("event", _) => value.clone_into(&mut self.kind),
            // Comments have no name; ids and delays are for streams that can be resumed.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_apart_however_they_are_cut() {
        for (stream, expected) in [
            ("data: {}\n\n", vec!["{}"]),
            ("data:{}\r\n\r\ndata: 2\r\n\r\n", vec!["{}", "2"]),
            ("data: 1\r\rdata: 2\r\r", vec!["1", "2"]),
            ("event: message\nid: 7\ndata: {\ndata: }\n\n", vec!["{\n}"]),
            ("event: ping\ndata: 1\n\ndata: 2\n\n", vec!["2"]),
            (": alive\n\ndata: 1\n\n: alive\n", vec!["1"]),
            ("data: 1\n", vec![]),
            ("data: é\n\n", vec!["é"]),
            ("data\n\n", vec![""]),
        ] {
            let mut whole = Events::default();
            assert_eq!(whole.push(stream.as_bytes()), expected, "{stream:?}");
            let mut cut = Events::default();
            let bytes = stream.as_bytes().chunks(1);
            let pieces: Vec<_> = bytes.flat_map(|byte| cut.push(byte)).collect();
            assert_eq!(pieces, expected, "{stream:?}, byte by byte");
        }
    }

    #[test]
    fn what_is_held_is_counted() {
        let mut events = Events::default();
        events.push(b"data: 12345\ndata");
        assert_eq!(events.held(), 9);
        events.push(b": 6\n\n");
        assert_eq!(events.held(), 0);
    }
}
