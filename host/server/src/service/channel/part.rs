//! The parts of one notification, told apart: each goes out under an id of its own, the same at
//! every attempt, by which a receiver recognises what it already has.
//!
//! *Invariant:* the headers that are the host's own are not the plugin's to set.

use uuid::Uuid;
use vedette_model::{
    DeliveryId,
    delivery::{Rendered, part_id},
};

/// Gives each further part an id of its own, in a header that is stored with it: a later attempt,
/// which begins after the delivered parts, does not know which part it was.
pub(super) fn named(id: DeliveryId, mut parts: Vec<Rendered>) -> Vec<Rendered> {
    for (nth, part) in (1..).zip(&mut parts) {
        let Rendered::Http { headers, .. } = part else { continue };
        headers.retain(|(name, _)| !is_ours(name));
        if nth > 1 {
            headers.push((DELIVERY.to_owned(), part_id(id, nth).to_string()));
        }
    }
    parts
}

/// The id that a part goes out under, its own or else the delivery's, and the headers that carry
/// it.
pub(super) fn addressed(
    headers: &[(String, String)],
    delivery: DeliveryId,
) -> (DeliveryId, Vec<(String, String)>) {
    let own = headers.iter().find(|(name, _)| name == DELIVERY);
    let own = own.and_then(|(_, id)| Uuid::parse_str(id).ok());
    let id = own.map_or(delivery, DeliveryId);
    let theirs = headers.iter().filter(|(name, _)| !is_ours(name)).cloned();
    (id, theirs.chain([(DELIVERY.to_owned(), id.to_string())]).collect())
}

fn is_ours(header: &str) -> bool {
    header.get(..OURS.len()).is_some_and(|start| start.eq_ignore_ascii_case(OURS))
}

/// What the host's own headers begin with.
const OURS: &str = "x-vedette-";

/// Tells a receiver what it already has.
const DELIVERY: &str = "x-vedette-delivery";

#[cfg(test)]
mod tests {
    use super::*;

    fn part(headers: &[(&str, &str)]) -> Rendered {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Rendered::Http {
            url: "ref:custom_webhook_url".to_owned(),
            method: "POST".to_owned(),
            headers: headers.iter().map(own).collect(),
            body: "{}".to_owned(),
        }
    }

    /// The headers that the plugin keeps, and the id that the part goes out under.
    fn sent(part: &Rendered, delivery: DeliveryId) -> (Vec<&str>, DeliveryId) {
        let Rendered::Http { headers, .. } = part else { panic!("{part:?}") };
        let (id, out) = addressed(headers, delivery);
        assert_eq!(out.last(), Some(&(DELIVERY.to_owned(), id.to_string())), "and told once");
        let kept = headers.iter().filter(|&header| out[..out.len() - 1].contains(header));
        (kept.map(|(name, _)| name.as_str()).collect(), id)
    }

    #[test]
    fn each_part_has_an_id_of_its_own_whatever_the_plugin_wrote_and_however_many_are_left() {
        let id = DeliveryId(Uuid::from_u128(7));
        let theirs = Uuid::from_u128(9).to_string();
        let wrote = part(&[("X-Vedette-Delivery", theirs.as_str()), ("x-room", "ops")]);
        let lower = part(&[("x-vedette-delivery", theirs.as_str()), ("x-room", "ops")]);
        let parts = named(id, vec![lower, wrote.clone(), wrote]);
        let ids: Vec<DeliveryId> = parts
            .iter()
            .map(|part| {
                let (kept, id) = sent(part, id);
                assert_eq!(kept, ["x-room"]);
                id
            })
            .collect();
        assert_eq!(ids, [id, part_id(id, 2), part_id(id, 3)]);
        assert!(ids[1] != id && ids[2] != id && ids[1] != ids[2], "{ids:?}");
        let again = named(id, parts.clone());
        assert_eq!(again, parts, "the same at every attempt");
        assert_eq!(sent(&parts[2], id).1, ids[2], "also where it is the only one left");
    }

    #[test]
    fn notification_of_one_part_is_left_as_the_plugin_wrote_it() {
        let id = DeliveryId(Uuid::from_u128(7));
        let one = vec![part(&[("content-type", "application/json")])];
        assert_eq!(named(id, one.clone()), one);
        assert_eq!(sent(&one[0], id), (vec!["content-type"], id));
    }
}
