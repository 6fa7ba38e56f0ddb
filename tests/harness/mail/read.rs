//! A message as a reader shows it: unfolded headers, decoded parts.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::Mailed;

impl Mailed {
    /// The lines before the body, unfolded: name in lower case, value.
    pub fn headers(&self) -> Vec<(String, String)> {
        headers(head(&self.raw))
    }

    /// Every value of one header.
    pub fn header(&self, name: &str) -> Vec<String> {
        let all = self.headers().into_iter();
        all.filter(|(found, _)| found == name).map(|(_, value)| value).collect()
    }

    /// The body of the first part of this media type, decoded.
    pub fn part(&self, media_type: &str) -> Option<String> {
        let kind = self.header("content-type").into_iter().next()?;
        let boundary = kind.split("boundary=\"").nth(1)?.split('"').next()?;
        let delimiter = format!("--{boundary}");
        let part = self.raw.split(&delimiter).skip(1).find(|part| {
            head(part.trim_start()).to_lowercase().contains(&format!("content-type: {media_type}"))
        })?;
        let part = part.trim_start();
        let (head, body) = part.split_once("\r\n\r\n")?;
        let encoding = headers(head).into_iter().find(|(n, _)| n == "content-transfer-encoding");
        let encoding = encoding.map(|(_, value)| value).unwrap_or_default();
        let body = body.strip_suffix("\r\n").unwrap_or(body);
        let decoded = match encoding.as_str() {
            "base64" => STANDARD.decode(body.replace("\r\n", "")).ok()?,
            "quoted-printable" => unquoted(body),
            _ => body.as_bytes().to_vec(),
        };
        Some(String::from_utf8(decoded).ok()?.replace("\r\n", "\n"))
    }
}

fn head(message: &str) -> &str {
    message.split_once("\r\n\r\n").map_or(message, |(head, _)| head)
}

fn headers(head: &str) -> Vec<(String, String)> {
    let unfolded = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    let pairs = unfolded.split("\r\n").filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect()
}

fn unquoted(body: &str) -> Vec<u8> {
    let joined = body.replace("=\r\n", "");
    let mut bytes = Vec::new();
    let mut rest = joined.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let coded = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match coded.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) if byte == b'=' => {
                bytes.push(decoded);
                rest = &rest[2..];
            }
            _ => bytes.push(byte),
        }
    }
    bytes
}
