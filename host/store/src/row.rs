//! The model's structs as text in a row, and back.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

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
