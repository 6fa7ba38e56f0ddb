//! Signs outgoing webhooks as the Standard Webhooks specification (version 1, symmetric) asks, so
//! that a receiver can tell that a request is ours and is not an old one sent again.
//!
//! *Invariant:* what is signed is the very bytes that are sent.

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::STANDARD};
use vedette_model::{DeliveryId, Timestamp};

/// The three headers of one attempt: the id stays the same over all attempts, the timestamp and
/// with it the signature are the attempt's own. `key` is the account's secret as bytes.
pub(crate) fn headers(
    key: &[u8],
    id: DeliveryId,
    now: Timestamp,
    body: &str,
) -> [(String, String); 3] {
    let (id, timestamp) = (id.to_string(), now.timestamp());
    let signature = sign(key, &id, timestamp, body);
    [
        ("webhook-id".to_owned(), id),
        ("webhook-timestamp".to_owned(), timestamp.to_string()),
        ("webhook-signature".to_owned(), signature),
    ]
}

/// `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`.
fn sign(key: &[u8], id: &str, timestamp: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let tag = hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

#[cfg(test)]
mod tests {
    use vedette_model::{NotificationSettings, Secret};

    use super::*;

    /// The example of the specification: its secret, its message, its signature.
    #[test]
    fn signature_equals_the_one_of_the_specification() {
        let settings = NotificationSettings {
            webhook_secret: Some(Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned())),
            ..NotificationSettings::default()
        };
        let key = settings.signing_key().expect("the secret is well formed");
        let signature = sign(
            key.expose(),
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn attempts_share_the_id_and_each_signs_its_own_time() {
        let id = DeliveryId(uuid::Uuid::from_u128(7));
        let at = |seconds| Timestamp::from_timestamp(seconds, 0).expect("within the years");
        let [first_id, first_time, first_signature] = headers(b"key", id, at(1_614_265_330), "{}");
        let [again_id, again_time, again_signature] = headers(b"key", id, at(1_614_265_331), "{}");
        assert_eq!(first_id, ("webhook-id".to_owned(), id.to_string()));
        assert_eq!(first_id, again_id);
        assert_eq!(first_time.1, "1614265330");
        assert_eq!(again_time.1, "1614265331");
        assert_ne!(first_signature, again_signature);
    }
}
