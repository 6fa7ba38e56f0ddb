//! Signatures: by every kind of key, forged, and by algorithms of the past.

use rcgen::CertificateParams;

use super::{Case, Scene};
use crate::maker::{self, INTERMEDIATE, Kind, ROOT, STRANGER, as_is, dates, der};

pub(super) fn cases(scene: &Scene) -> Vec<Case> {
    let mut cases = forged(scene);
    if scene.kind == Kind::Rsa2048 {
        cases.extend(renamed(scene));
    }
    cases
}

/// Each kind of key alone, and each above and below another kind.
pub(super) fn kinds() -> Vec<Case> {
    let mut cases = Vec::new();
    for (position, kind) in Kind::ALL.into_iter().enumerate() {
        let scene = Scene::new(kind);
        cases.push(scene.case("kinds", "alone", scene.chain(&as_is)));
        let mut spoilt = scene.chain(&as_is);
        flip(&mut spoilt[0]);
        cases.push(scene.case("kinds", "forged", spoilt).fails("bad_signature"));
        for step in [1, 3] {
            let other = Kind::ALL[(position + step) % Kind::ALL.len()];
            let below = maker::below(&scene.root, other, "Mixed", INTERMEDIATE, &as_is);
            let chain = vec![maker::leaf(&below, kind, &as_is), der(&below)];
            let name = if step == 1 { "mixed with the next" } else { "mixed with another" };
            cases.push(scene.case("kinds", name, chain));
        }
        let twin = Kind::ALL[(position + 4) % Kind::ALL.len()];
        let namesake = maker::root(twin, "Lab Root", ROOT, &no_key_ids);
        let chain = vec![maker::leaf(&namesake, kind, &no_key_ids)];
        cases.push(
            scene
                .case("kinds", "root of this name with another kind", chain)
                .fails("bad_signature"),
        );
    }
    cases
}

fn forged(scene: &Scene) -> Vec<Case> {
    let Scene { kind, root, intermediate } = scene;
    let flipped = |mut chain: Vec<Vec<u8>>, at: usize| {
        flip(&mut chain[at]);
        chain
    };
    let case = |name, chain| scene.case("signature", name, chain).fails("bad_signature");
    vec![
        case("of the leaf", flipped(scene.chain(&as_is), 0)),
        case("of the intermediate", flipped(scene.chain(&as_is), 1)),
        case("of the leaf, which is expired", {
            flipped(scene.chain(&|leaf| dates(leaf, 2024, 2025)), 0)
        })
        .fails("certificate_expired"),
        case("of the root that was sent", {
            flipped([scene.chain(&as_is), vec![der(root)]].concat(), 2)
        })
        .ends(None),
        case("of an extra", {
            let extra = maker::root(*kind, "Stranger", STRANGER, &as_is);
            flipped([scene.chain(&as_is), vec![der(&extra)]].concat(), 2)
        })
        .ends(None),
        case("by another key, without key identifiers", {
            let namesake = maker::root(*kind, "Lab Intermediate", STRANGER, &as_is);
            vec![maker::leaf(&namesake, *kind, &no_key_ids), der(intermediate)]
        }),
        case("good, with another key identifier", {
            let twin = maker::below(root, *kind, "Lab Intermediate", INTERMEDIATE, &|ca| {
                ca.key_identifier_method = rcgen::KeyIdMethod::PreSpecified(vec![7; 20]);
            });
            vec![maker::leaf(&twin, *kind, &as_is), der(intermediate)]
        })
        .ends(None),
    ]
}

/// The names of algorithms changed after signing, inside and outside of what is signed.
fn renamed(scene: &Scene) -> Vec<Case> {
    const MD5: u8 = 4;
    const SHA384: u8 = 12;
    let case = |name, chain| scene.case("signature", name, chain);
    let with = |number: u8, everywhere: bool| {
        let mut chain = scene.chain(&as_is);
        rename(&mut chain[0], number, everywhere);
        chain
    };
    vec![
        // It cannot be verified; nobody accepts it either.
        case("MD5", with(MD5, true)).fails("weak_key"),
        case("SHA-384 that is SHA-256", with(SHA384, true)).fails("bad_signature"),
        case("two names of one algorithm", with(SHA384, false)).fails("bad_signature"),
    ]
}

fn no_key_ids(params: &mut CertificateParams) {
    params.use_authority_key_identifier_extension = false;
}

fn flip(certificate: &mut [u8]) {
    *certificate.last_mut().unwrap() ^= 1;
}

/// Changes the last arc of sha256WithRSAEncryption, in the last place or in both.
fn rename(certificate: &mut [u8], number: u8, everywhere: bool) {
    const SHA256: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11];
    let places: Vec<usize> =
        (0..certificate.len() - 9).filter(|at| certificate[*at..*at + 9] == SHA256).collect();
    assert_eq!(places.len(), 2, "inside and outside");
    for place in &places[usize::from(!everywhere)..] {
        certificate[place + 8] = number;
    }
}
