//! The model's structs as text in a row, and back; those with secrets as sealed text.
//!
//! *Invariant:* what [`write`] writes holds no secret: the model refuses to write one there.

use serde::Serialize;
use serde::de::DeserializeOwned;
use vedette_model::secret::revealed;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::seal::{Place, Seal};

pub(crate) fn write<T: Serialize>(what: &'static str, value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::corrupt(what, error))
}

pub(crate) fn read<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::corrupt(what, error))
}

pub(crate) fn read_all<T: DeserializeOwned>(
    what: &'static str,
    texts: &[String],
) -> Result<Vec<T>> {
    texts.iter().map(|text| read(what, text)).collect()
}

/// Writes what has secrets, for one place alone.
pub(crate) fn seal<T: Serialize>(
    what: &'static str,
    value: &T,
    seal: &Seal,
    place: &Place,
) -> Result<String> {
    let plain = Zeroizing::new(revealed(|| write(what, value))?);
    Ok(seal.seal(place, &plain))
}

/// Reads what [`seal`] wrote, and plain text from before anything was sealed.
pub(crate) fn open<T: DeserializeOwned>(
    what: &'static str,
    text: &str,
    seal: &Seal,
    place: &Place,
) -> Result<T> {
    let sealed = (!text.starts_with('{')).then(|| seal.open(place, text)).transpose();
    let opened = sealed.map_err(|reason| Error::corrupt(what, reason))?;
    let plain = opened.as_ref().map_or(text, |opened| opened.as_str());
    // The parser's own words may quote what it read.
    serde_json::from_str(plain)
        .map_err(|error| Error::corrupt(what, format!("malformed at byte {}", error.column())))
}
