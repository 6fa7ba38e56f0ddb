//! JSON bodies: bounded, of the right type, and unambiguous.

use std::{fmt, ops::Deref, time::Duration};

use http_body_util::BodyExt;
use salvo::{
    Extractible,
    extract::Metadata,
    http::{Body as _, HeaderValue, Mime, ReqBody, Version, header},
    prelude::*,
};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::{Error, Result};

/// A JSON object of at most so many bytes, as a handler's argument.
pub(super) struct Body<const MOST: usize = LARGEST>(Value);

impl<const MOST: usize> Deref for Body<MOST> {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl<'ex, const MOST: usize> Extractible<'ex> for Body<MOST> {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Body");
        &METADATA
    }

    async fn extract(req: &'ex mut Request, _depot: &'ex mut Depot) -> Result<Self> {
        let json = is_json(req);
        let bytes = bytes_within(req, MOST).await?;
        typed(json, &bytes).map(Self)
    }
}

/// The same where there need not be one: no bytes at all are an object without members.
pub(super) struct OptionalBody(Value);

impl Deref for OptionalBody {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl<'ex> Extractible<'ex> for OptionalBody {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("OptionalBody");
        &METADATA
    }

    async fn extract(req: &'ex mut Request, _depot: &'ex mut Depot) -> Result<Self> {
        let json = is_json(req);
        let bytes = bytes(req).await?;
        if bytes.is_empty() {
            return Ok(Self(Value::Object(Map::new())));
        }
        typed(json, &bytes).map(Self)
    }
}

fn typed(is_json: bool, bytes: &[u8]) -> Result<Value> {
    if !is_json {
        return Err(Error::Malformed("send the body as Content-Type: application/json".into()));
    }
    object(bytes)
}

/// The whole body, whatever it says it is, within the limit.
pub(super) async fn bytes(req: &mut Request) -> Result<Vec<u8>> {
    bytes_within(req, LARGEST).await
}

async fn bytes_within(req: &mut Request, most: usize) -> Result<Vec<u8>> {
    if is_declared_beyond(req, most) {
        return Err(Error::TooLarge);
    }
    // The first look at the body tells a client that waits for it to go on.
    req.headers_mut().remove(header::EXPECT);
    let bytes = match tokio::time::timeout(PATIENCE, read(req.body_mut(), most)).await {
        Ok(bytes) => bytes?,
        Err(_) => return Err(Error::Malformed("the body did not arrive in time".into())),
    };
    // It was read to its end: nothing is left for [`finish`].
    req.take_body();
    if is_packed(req) {
        return Err(Error::Malformed(
            "send the body uncompressed, without Content-Encoding".into(),
        ));
    }
    Ok(bytes)
}

/// `application/json`, with any parameters. A body without a type is taken as JSON too.
fn is_json(req: &Request) -> bool {
    match req.headers().get(header::CONTENT_TYPE) {
        None => true,
        Some(kind) => kind.to_str().is_ok_and(names_json),
    }
}

/// The type alone: `Mime` refuses a blank before the parameters, which RFC 9110 (5.6.6) allows.
fn names_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.parse::<Mime>().is_ok_and(|mime| {
        mime.type_() == "application"
            && (mime.subtype() == "json" || mime.suffix().is_some_and(|s| s == "json"))
    })
}

/// Packed bodies are not taken: a few bytes could unpack to more than fits anywhere.
fn is_packed(req: &Request) -> bool {
    let mut codings = req.headers().get_all(header::CONTENT_ENCODING).iter();
    codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Whether the head says already that the body is too large.
fn is_declared_beyond(req: &Request, most: usize) -> bool {
    let length = req.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    length.and_then(|text| text.parse().ok()).is_some_and(|length: u64| length > most as u64)
}

async fn read(body: &mut ReqBody, most: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Error::Malformed("the body could not be read".into()))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > most {
            return Err(Error::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Takes in what nobody read of the body, before the answer goes out: over HTTP/1.1 the next request
/// comes behind it. Where it does not end soon, the answer says that the connection does; a client
/// that is not told loses the request that it sends next.
pub(super) async fn finish(req: &mut Request, res: &mut Response) {
    if req.body().is_end_stream() {
        return;
    }
    // A client that waits to be told to go on is not told, and sends nothing.
    let is_waiting = req.headers().contains_key(header::EXPECT);
    // Hardly a request gets here, and none of the others is to carry what this takes.
    let is_over = !is_waiting && Box::pin(drain(req.body_mut())).await;
    if !is_over && req.version() < Version::HTTP_2 {
        res.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Takes in what still comes of a body that is not wanted, up to a bound, and says whether that was
/// all: many clients, over HTTP/2 even more of them, see a broken connection or stream instead of the
/// answer when they are cut off while they still send. One that has fallen silent is listening.
async fn drain(body: &mut ReqBody) -> bool {
    let taken = async {
        let mut total = 0;
        loop {
            match tokio::time::timeout(SILENCE, body.frame()).await {
                Ok(None) => return true,
                Ok(Some(Ok(frame))) => total += frame.data_ref().map_or(0, |data| data.len()),
                Ok(Some(Err(_))) | Err(_) => return false,
            }
            if total > MOST_DRAINED {
                return false;
            }
        }
    };
    tokio::time::timeout(PATIENCE, taken).await.unwrap_or(false)
}

/// One JSON object, unambiguous.
pub(super) fn object(bytes: &[u8]) -> Result<Value> {
    let value = any(bytes)?;
    if !value.is_object() {
        return Err(Error::Malformed("the body must be a JSON object".into()));
    }
    Ok(value)
}

/// Any one JSON value, unambiguous.
pub(super) fn any(bytes: &[u8]) -> Result<Value> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| Error::Malformed("the body is not UTF-8".into()))?;
    if text.trim().is_empty() {
        return Err(Error::Malformed("send a JSON object as the body".into()));
    }
    let malformed = |cause| Error::Malformed(format!("the body is not valid JSON: {cause}"));
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Unambiguous.deserialize(&mut reader).map_err(malformed)?;
    reader.end().map_err(malformed)?;
    Ok(value)
}

/// Reads any JSON, but refuses an object with the same member twice: two readers of it could see
/// different values. serde_json bounds the depth (128).
struct Unambiguous;

impl<'de> DeserializeSeed<'de> for Unambiguous {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unambiguous {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = input.next_element_seed(Self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = input.next_key::<String>()? {
            let value = input.next_value_seed(Self)?;
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!("{name} is there twice")));
            }
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

/// Decisions: unknown body fields (body limit 64 KiB).
const LARGEST: usize = 64 << 10;
/// Costs the sender time, and us no memory.
const MOST_DRAINED: usize = 16 << 20;
const PATIENCE: Duration = Duration::from_secs(30);
/// After which a client whose body nobody reads is answered anyway.
const SILENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_come_through_as_they_are() {
        let text = r#" {"a":[1,-2,1.5,true,null,"\u00fc"],"b":{"c":{}},"n":18446744073709551615} "#;
        let expected = json!({"a": [1, -2, 1.5, true, null, "ü"], "b": {"c": {}}, "n": u64::MAX});
        assert_eq!(object(text.as_bytes()).unwrap(), expected);
        assert_eq!(object(b"{}").unwrap(), json!({}));
    }

    #[test]
    fn everything_else_is_malformed() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        let bad: &[&[u8]] = &[
            b"",
            b" ",
            b"null",
            b"[]",
            b"1",
            b"\"a\"",
            b"{",
            b"{}x",
            b"{\"a\":1e400}",
            b"{\"a\":1,\"a\":2}",
            b"{\"a\":{\"b\":1,\"b\":1}}",
            b"{\"a\":\"\\ud800\"}",
            b"{\"a\":\"\xff\"}",
            b"{'a':1}",
            b"{\"a\":NaN}",
            b"\xef\xbb\xbf{}",
            deep.as_bytes(),
        ];
        for bytes in bad {
            let text = String::from_utf8_lossy(bytes);
            assert!(matches!(object(bytes), Err(Error::Malformed(_))), "{text}");
        }
    }

    #[tokio::test]
    async fn the_limit_is_exact() {
        for most in [LARGEST, 10 << 10] {
            for (size, fits) in [(most - 1, true), (most, true), (most + 1, false)] {
                let mut body = ReqBody::from(vec![b' '; size]);
                assert_eq!(read(&mut body, most).await.is_ok(), fits, "{size} of {most}");
            }
        }
    }

    #[tokio::test]
    async fn a_length_beyond_the_limit_is_believed() {
        let mut req = Request::new();
        for (length, beyond) in
            [("0", false), ("65536", false), ("65537", true), ("99999999999999999999", false)]
        {
            req.headers_mut().insert(header::CONTENT_LENGTH, length.parse().unwrap());
            assert_eq!(is_declared_beyond(&req, LARGEST), beyond, "{length}");
        }
    }
}
