//! The query string, read strictly: a parameter given twice, or with a value that does not fit,
//! is an error and never ignored. Parameters that nobody asks for are.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use salvo::{Extractible, extract::Metadata, prelude::*};
use url::form_urlencoded;
use uuid::Uuid;
use vedette_model::{Invalid, parse};

use crate::{Error, Result};

/// The decoded parameters, as a handler's argument.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    fn parse(raw: &str) -> Result<Self> {
        // The parser would put a replacement character for bytes that are no UTF-8.
        if percent_decode_str(raw).decode_utf8().is_err() {
            return Err(Error::Malformed("the query string is not UTF-8".into()));
        }
        let pairs = form_urlencoded::parse(raw.as_bytes());
        Ok(Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()))
    }

    /// A parameter that may be absent.
    pub(super) fn get(&self, name: &'static str) -> Result<Option<&str>, Invalid> {
        let mut values = self.0.iter().filter(|(other, _)| other == name);
        let value = values.next().map(|(_, value)| value.as_str());
        match values.next() {
            None => Ok(value),
            Some(_) => Err(Invalid::new(name, "must be given once")),
        }
    }

    /// A parameter that must be there.
    pub(super) fn required(&self, name: &'static str) -> Result<&str, Invalid> {
        self.get(name)?
            .ok_or_else(|| Invalid::new(name, format!("is required in the query: ?{name}=…")))
    }

    /// A UUID that must be there, as any of the id types.
    pub(super) fn id<T: From<Uuid>>(&self, name: &'static str) -> Result<T, Invalid> {
        parse::uuid(name, self.required(name)?).map(T::from)
    }

    /// A date or date-time. An offset's `+` that came unescaped reads as a blank: it is meant. So is
    /// the blank between a date and its time.
    pub(super) fn moment(&self, name: &'static str) -> Result<Option<Cow<'_, str>>, Invalid> {
        let value = self.get(name)?;
        Ok(value.map(|text| match text.rsplit_once(' ') {
            Some((time, offset)) if time.contains(':') && is_offset(offset) => {
                Cow::Owned(format!("{time}+{offset}"))
            }
            _ => Cow::Borrowed(text),
        }))
    }
}

/// `02:00` or `0200`.
fn is_offset(text: &str) -> bool {
    match text.as_bytes() {
        [a, b, b':', c, d] | [a, b, c, d] => {
            [a, b, c, d].iter().all(|digit| digit.is_ascii_digit())
        }
        _ => false,
    }
}

impl<'ex> Extractible<'ex> for Query {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Query");
        &METADATA
    }

    async fn extract(req: &'ex mut Request, _depot: &'ex mut Depot) -> Result<Self> {
        Self::parse(req.uri().query().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_bad_and_repeated_are_told_apart() {
        let query = Query::parse("id=1&limit=abc&limit=2&empty=&x=%C3%BC").unwrap();
        assert_eq!(query.get("nothing"), Ok(None));
        assert_eq!(query.get("empty"), Ok(Some("")));
        assert_eq!(query.get("x"), Ok(Some("ü")));
        assert_eq!(query.get("limit").unwrap_err().field, "limit");
        assert!(query.id::<Uuid>("id").unwrap_err().reason.contains("UUID"));
        assert!(query.id::<Uuid>("other").unwrap_err().reason.contains("required"));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        for raw in ["domain=%ff", "domain=%C3", "%80=1"] {
            assert!(matches!(Query::parse(raw), Err(Error::Malformed(_))), "{raw}");
        }
        for raw in ["domain=%", "domain=%zz", "domain=100%25", "", "&&", "%+1=2"] {
            assert!(Query::parse(raw).is_ok(), "{raw}");
        }
    }

    #[test]
    fn an_unescaped_plus_in_an_offset_is_restored() {
        let query = Query::parse("from=2026-11-20T10:00:00+02:00&to=2026-11-20").unwrap();
        assert_eq!(query.moment("from").unwrap().as_deref(), Some("2026-11-20T10:00:00+02:00"));
        assert_eq!(query.moment("to").unwrap().as_deref(), Some("2026-11-20"));
        let query = Query::parse("from=2026-11-20+10:00:00+0200&to=2026-11-20+10:00").unwrap();
        assert_eq!(query.moment("from").unwrap().as_deref(), Some("2026-11-20 10:00:00+0200"));
        let to = query.moment("to").unwrap();
        assert_eq!(to.as_deref(), Some("2026-11-20 10:00"), "this is a time");
    }

    #[test]
    fn a_blank_between_date_and_time_stays() {
        let query = Query::parse("from=2026-11-20%2010:00:00Z&to=2026-11-20%2010:00:00").unwrap();
        assert_eq!(query.moment("from").unwrap().as_deref(), Some("2026-11-20 10:00:00Z"));
        assert_eq!(query.moment("to").unwrap().as_deref(), Some("2026-11-20 10:00:00"));
    }
}
