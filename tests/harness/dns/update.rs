//! Dynamic updates (RFC 2136), signed with a shared key (RFC 8945): records are added and taken
//! out one by one.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::STANDARD};
use hickory_proto::{
    op::{Message, OpCode, ResponseCode},
    rr::{DNSClass, Name, TSigResponseContext, TSigner, rdata::tsig::TsigAlgorithm},
};

use super::zone::Zone;

/// A key of HMAC-SHA256, shared with whoever updates.
#[derive(Clone, Debug)]
pub struct UpdateKey {
    pub name: String,
    secret: Vec<u8>,
}

impl UpdateKey {
    pub fn new(name: &str) -> Self {
        let secret = (0..32).map(|nth| nth * 7 + 1).collect();
        Self { name: name.to_owned(), secret }
    }

    /// The secret as a key file holds it.
    pub fn secret(&self) -> String {
        STANDARD.encode(&self.secret)
    }

    /// Signs and verifies with the key.
    pub fn signer(&self) -> TSigner {
        let mut name = Name::from_ascii(&self.name).expect("a test writes a name");
        name.set_fqdn(true);
        let secret = self.secret.clone();
        TSigner::new(secret, TsigAlgorithm::HmacSha256, name, 300).expect("it is supported")
    }
}

/// Makes the update, if it is signed with the zone's key. The answer is signed too, unless the key
/// was another.
pub(super) fn respond(bytes: &[u8], update: &Message, zone: &mut Zone) -> Message {
    let mut response = Message::response(update.metadata.id, OpCode::Update);
    let Some(signer) = zone.key() else {
        response.metadata.response_code = ResponseCode::Refused;
        return response;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let verified = signer.verify_message_byte(bytes, None, true);
    let Some((mac, ..)) = verified.ok().filter(|(_, _, valid)| valid.contains(&now)) else {
        response.metadata.response_code = ResponseCode::NotAuth;
        return response;
    };
    for record in &update.authorities {
        let name = record.name.to_ascii();
        match record.dns_class {
            DNSClass::NONE => zone.take_out(&name, &record.data),
            _ => zone.add(&name, record.data.clone()),
        }
    }
    let unsigned = response.to_vec().expect("a header has a form on the wire");
    let context = TSigResponseContext::new(update.metadata.id, now, signer, mac, None);
    response.set_signature(context.sign(&unsigned).expect("the algorithm is supported"));
    response
}
