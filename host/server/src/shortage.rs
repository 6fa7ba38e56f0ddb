//! What this machine lacks, told from what others do, and what its operator can do about it.

use std::{fs::File, io};

use rustix::io::Errno;

/// Whether this machine had no descriptor or no memory left: that says nothing about the other end.
pub(crate) fn is_exhausted(cause: &io::Error) -> bool {
    let lacks = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    Errno::from_io_error(cause).is_some_and(|errno| lacks.contains(&errno))
}

/// What ends an exhaustion.
pub(crate) fn advice(cause: &io::Error) -> &'static str {
    match Errno::from_io_error(cause) {
        Some(Errno::MFILE) => "give this process more descriptors (ulimit -n)",
        Some(Errno::NFILE) => "give this machine more descriptors (sysctl fs.file-max)",
        _ => "this machine has no memory left for them",
    }
}

/// Why nothing can be opened at this moment; none = something can.
pub(crate) fn of_descriptors() -> Option<io::Error> {
    File::open("/dev/null").err().filter(is_exhausted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_lacks_is_told_from_what_a_client_did() {
        let is_ours = |errno: Errno| is_exhausted(&io::Error::from(errno));
        assert!(is_ours(Errno::MFILE) && is_ours(Errno::NFILE) && is_ours(Errno::NOMEM));
        assert!(!is_ours(Errno::CONNABORTED) && !is_exhausted(&io::Error::other("TLS")));
    }

    #[test]
    fn advice_is_about_what_is_used_up() {
        let advice = |errno: Errno| advice(&io::Error::from(errno));
        assert!(advice(Errno::MFILE).contains("ulimit -n"));
        assert!(advice(Errno::NFILE).contains("fs.file-max"));
        assert!(
            advice(Errno::NOBUFS).contains("memory") && advice(Errno::NOMEM).contains("memory")
        );
    }

    #[test]
    fn process_with_descriptors_left_lacks_none() {
        assert!(of_descriptors().is_none());
    }
}
