//! Lines of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its end.
    Whole(Vec<u8>),
    /// It was passed over.
    TooLong,
}

pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    too_long: bool,
}

/// In bytes; far above what the service takes.
pub(super) const LONGEST: usize = 1 << 20;

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: Vec::new(), too_long: false }
    }

    /// None = the input ended. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let ready = self.input.fill_buf().await?;
            if ready.is_empty() {
                let begun = self.too_long || !self.line.is_empty();
                return Ok(begun.then(|| self.finish()));
            }
            let end = ready.iter().position(|byte| *byte == b'\n');
            let part = &ready[..end.unwrap_or(ready.len())];
            if self.too_long || self.line.len() + part.len() > LONGEST {
                self.too_long = true;
                self.line.clear();
            } else {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(self.finish()));
            }
        }
    }

    fn finish(&mut self) -> Line {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) { Line::TooLong } else { Line::Whole(line) }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over_whole() {
        let longest = "a".repeat(LONGEST);
        let text = format!("one\n\n{longest}\n{longest}a\ntwo\r\nlast");
        let mut lines = Lines::new(BufReader::with_capacity(1000, text.as_bytes()));
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.expect("memory can be read") {
            seen.push(line);
        }
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        let expected = [
            whole("one"),
            whole(""),
            whole(&longest),
            Line::TooLong,
            whole("two\r"),
            whole("last"),
        ];
        assert_eq!(seen, expected);
    }
}
