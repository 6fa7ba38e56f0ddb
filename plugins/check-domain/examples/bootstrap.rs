//! Turns IANA's bootstrap file on stdin into `data/rdap-bootstrap.txt` on stdout. See the head of
//! that file for the command.

use std::{
    io::{self, Read, Write},
    process::ExitCode,
};

use check_domain::bootstrap::{compact, document};

fn main() -> io::Result<ExitCode> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    let Some(document) = document::read(&bytes) else {
        eprintln!("stdin is no bootstrap file (RFC 9224)");
        return Ok(ExitCode::FAILURE);
    };
    io::stdout().write_all(compact::write_file(&document).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
