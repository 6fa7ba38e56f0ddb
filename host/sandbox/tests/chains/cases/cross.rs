//! Cross-signed certificates: one good way is enough, whatever else was sent.

use rcgen::SerialNumber;

use super::{Case, Scene};
use crate::maker::{self, Ca, INTERMEDIATE, SECOND, STRANGER, Spoil, THIRD, as_is, dates, der};

pub(super) fn cases(scene: &Scene) -> Vec<Case> {
    [roots(scene), intermediates(scene), many(scene)].concat()
}

/// The shape of AddTrust 2020 and DST X3 2021: a root that is trusted now was once certified by
/// one that has expired, and that certificate is sent still.
fn roots(scene: &Scene) -> Vec<Case> {
    let kind = scene.kind;
    let past: Spoil<'_> = &|params| dates(params, 2024, 2025);
    let old = maker::root(kind, "Old Root", STRANGER, past);
    let new = maker::root(kind, "New Root", THIRD, &as_is);
    let expired_cross = maker::below(&old, kind, "New Root", THIRD, past);
    let cross = maker::below(&old, kind, "New Root", THIRD, &as_is);
    let below = maker::below(&new, kind, "Below", SECOND, &as_is);
    let leaf = maker::leaf(&below, kind, &as_is);
    let with = |cross: &Ca| vec![leaf.clone(), der(&below), der(cross)];
    let case = |name, chain| scene.case("cross-signed root", name, chain);
    vec![
        case("expired way, new root trusted", with(&expired_cross)).roots(&[&new]),
        case("expired way, both trusted", with(&expired_cross)).roots(&[&old, &new]),
        case("expired way is the only one", with(&expired_cross))
            .roots(&[&old])
            .fails("certificate_expired"),
        case("below an expired root that is trusted", with(&cross)).roots(&[&old]),
        case("new root sent besides", [with(&expired_cross), vec![der(&new)]].concat())
            .roots(&[&new]),
        case("new root sent, neither trusted", [with(&cross), vec![der(&new)]].concat())
            .fails("untrusted_root"),
        case("neither sent nor trusted", with(&cross)).fails("incomplete_chain"),
    ]
}

/// One name and key, certified by several.
fn intermediates(scene: &Scene) -> Vec<Case> {
    let Scene { kind, root, .. } = scene;
    let kind = *kind;
    let stranger = maker::root(kind, "Stranger", STRANGER, &as_is);
    let good = scene.other(&as_is);
    let expired = scene.other(&|params| dates(params, 2024, 2025));
    let early = scene.other(&|params| dates(params, 2028, 2029));
    let no_ca = scene.other(&|params| params.is_ca = rcgen::IsCa::ExplicitNoCa);
    let foreign = maker::below(&stranger, kind, "Other Intermediate", INTERMEDIATE, &as_is);
    let leaf = maker::leaf(&good, kind, &as_is);
    let with = |cas: &[&Ca]| {
        std::iter::once(leaf.clone()).chain(cas.iter().map(|ca| der(ca))).collect::<Vec<_>>()
    };
    let case = |name, cas: &[&Ca]| scene.case("cross-signed intermediate", name, with(cas));
    vec![
        case("expired one first", &[&expired, &good]),
        case("expired one last", &[&good, &expired]),
        case("one that begins later first", &[&early, &good]),
        case("untrusted one first", &[&foreign, &good]),
        case("untrusted one first, with its root", &[&foreign, &stranger, &good]),
        case("one that is no CA first", &[&no_ca, &good]),
        case("all bad ones first", &[&expired, &foreign, &no_ca, &early, &good]),
        case("expired and untrusted", &[&foreign, &expired]).fails("certificate_expired"),
        case("untrusted, and two roots sent", &[&foreign, root, &stranger]).fails("untrusted_root"),
        scene
            .case("cross-signed intermediate", "two CAs for each other", {
                let one = maker::root(kind, "One", SECOND, &as_is);
                let other = maker::below(&one, kind, "Other", THIRD, &as_is);
                let one = maker::below(&other, kind, "One", SECOND, &as_is);
                vec![maker::leaf(&one, kind, &as_is), der(&one), der(&other)]
            })
            .fails("incomplete_chain"),
    ]
}

/// As many as a server may send.
fn many(scene: &Scene) -> Vec<Case> {
    let kind = scene.kind;
    let stranger = maker::root(kind, "Stranger", STRANGER, &as_is);
    let numbered = |issuer: &Ca, number: u8| {
        maker::below(issuer, kind, "Other Intermediate", INTERMEDIATE, &|params| {
            params.serial_number = Some(SerialNumber::from_slice(&[number]));
        })
    };
    let good = numbered(&scene.root, 99);
    let leaf = maker::leaf(&good, kind, &as_is);
    let foreign: Vec<_> = (1..19).map(|number| der(&numbered(&stranger, number))).collect();
    let case = |name, chain| scene.case("many cross-signed", name, chain);
    vec![
        case("the good one last", [vec![leaf.clone()], foreign.clone(), vec![der(&good)]].concat()),
        case("none is good", [vec![leaf], foreign].concat()).fails("incomplete_chain"),
    ]
}
