//! Where the log goes.
//!
//! *Invariant:* the service does not depend on who reads its log. Where standard error is closed,
//! or full because nobody reads it, lines are lost; none fails, and none waits but for a moment.
//! *Invariant:* what is logged at once is one line: no stranger's text in it can write another.

use std::{
    borrow::Cow,
    io::{self, Write},
    os::fd::AsFd,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Lines for somebody who may not be reading them.
pub(super) struct LogLines<W> {
    out: W,
    /// There was no room for the last one.
    is_full: bool,
}

impl<W: Write + AsFd> LogLines<W> {
    pub(super) fn to(out: W) -> Self {
        Self { out, is_full: false }
    }

    /// Who reads slowly is waited for; who did not read meanwhile is not waited for again.
    fn has_room(&mut self) -> bool {
        let patience = if self.is_full { NONE } else { PATIENCE };
        let mut out = [PollFd::new(&self.out, PollFlags::OUT)];
        // Also where a signal ended the wait: nobody knows of any room then.
        self.is_full = !poll(&mut out, Some(&patience)).is_ok_and(|ready| ready > 0);
        !self.is_full
    }
}

impl<W: Write + AsFd> Write for LogLines<W> {
    /// Always says that all was written: a log that failed would end whoever writes to it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        for piece in one_line(line).chunks(PIECE) {
            if !self.has_room() || self.out.write_all(piece).is_err() {
                break;
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The same with the ends of lines inside it shown as in a string.
fn one_line(line: &[u8]) -> Cow<'_, [u8]> {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    if !text.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return Cow::Borrowed(line);
    }
    let mut shown = Vec::with_capacity(line.len() * 2);
    for byte in text {
        match byte {
            b'\n' => shown.extend_from_slice(b"\\n"),
            b'\r' => shown.extend_from_slice(b"\\r"),
            other => shown.push(*other),
        }
    }
    shown.extend_from_slice(&line[text.len()..]);
    Cow::Owned(shown)
}

const NONE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// A pipe that has room takes as much at once (`PIPE_BUF`).
const PIECE: usize = 4096;

#[cfg(test)]
mod tests {
    use std::{
        fs::OpenOptions,
        io::{Read, pipe},
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn a_line_comes_through_as_it_is() {
        let (mut reader, writer) = pipe().expect("a pipe");
        let line = "x".repeat(3 * PIECE) + "\n";
        LogLines::to(writer).write_all(line.as_bytes()).expect("never fails");
        let mut read = String::new();
        reader.read_to_string(&mut read).expect("the lines");
        assert_eq!(read, line);
    }

    #[test]
    fn what_is_logged_at_once_is_one_line() {
        for (logged, line) in [
            ("a\n", "a\n"),
            ("a", "a"),
            ("said no\r\nERROR forged\n", "said no\\r\\nERROR forged\n"),
            ("a\n\n", "a\\n\n"),
            ("é\n", "é\n"),
            ("", ""),
        ] {
            let (mut reader, writer) = pipe().expect("a pipe");
            LogLines::to(writer).write_all(logged.as_bytes()).expect("never fails");
            let mut read = String::new();
            reader.read_to_string(&mut read).expect("the line");
            assert_eq!(read, line, "{logged:?}");
        }
    }

    #[test]
    fn nobody_waits_for_who_does_not_read() {
        let (mut reader, writer) = pipe().expect("a pipe");
        let mut lines = LogLines::to(writer);
        let started = Instant::now();
        for _ in 0..10_000 {
            lines.write_all(&[b'x'; 100]).expect("never fails");
        }
        assert!(started.elapsed() < Duration::from_secs(60));
        assert!(lines.is_full, "a pipe does not hold a million bytes");

        let mut some = vec![0; 2 * PIECE];
        reader.read_exact(&mut some).expect("what fitted");
        lines.write_all(b"once more\n").expect("never fails");
        drop(lines);
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).expect("the rest");
        assert!(rest.ends_with(b"once more\n"), "who reads again is written to again");
    }

    #[test]
    fn what_cannot_be_written_is_lost_without_a_word() {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        LogLines::to(writer).write_all(b"to nobody\n").expect("never fails");
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has one");
        LogLines::to(full).write_all(b"no room\n").expect("never fails");
    }
}
