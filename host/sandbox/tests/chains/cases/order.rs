//! What was sent: good chains of every length and in every order, missing issuers, untrusted ends.

use rcgen::{CertificateParams, IsCa, KeyIdMethod};

use super::{Case, Scene};
use crate::maker::{self, LEAF, ROOT, SECOND, STRANGER, THIRD, as_is, der, leaf_params};

pub(super) fn cases(scene: &Scene) -> Vec<Case> {
    [good(scene), orders(scene), missing(scene), untrusted(scene)].concat()
}

fn good(scene: &Scene) -> Vec<Case> {
    let Scene { kind, root, intermediate } = scene;
    let second = maker::below(intermediate, *kind, "Second", SECOND, &as_is);
    let third = maker::below(&second, *kind, "Third", THIRD, &as_is);
    let case = |name, chain| scene.case("good", name, chain);
    vec![
        case("below the root", vec![maker::leaf(root, *kind, &as_is)]),
        case("one intermediate", scene.chain(&as_is)),
        case(
            "two intermediates",
            vec![maker::leaf(&second, *kind, &as_is), der(&second), der(intermediate)],
        ),
        case(
            "three intermediates",
            vec![maker::leaf(&third, *kind, &as_is), der(&third), der(&second), der(intermediate)],
        ),
    ]
}

fn orders(scene: &Scene) -> Vec<Case> {
    let Scene { kind, root, intermediate } = scene;
    let second = maker::below(intermediate, *kind, "Second", SECOND, &as_is);
    let stranger = der(&maker::root(*kind, "Stranger", STRANGER, &as_is));
    let leaf = maker::leaf(&second, *kind, &as_is);
    let (root, first, second) = (der(root), der(intermediate), der(&second));
    let orders: [(&'static str, Vec<&Vec<u8>>); 8] = [
        ("root sent", vec![&second, &first, &root]),
        ("reversed", vec![&root, &first, &second]),
        ("shuffled", vec![&first, &root, &second]),
        ("intermediates swapped", vec![&first, &second]),
        ("leaf twice", vec![&leaf, &second, &first]),
        ("everything twice", vec![&second, &first, &leaf, &first, &second]),
        ("stranger between", vec![&stranger, &second, &stranger, &first]),
        ("stranger at the end", vec![&second, &first, &stranger]),
    ];
    let all = orders.into_iter().map(|(name, rest)| {
        let chain = std::iter::once(&leaf).chain(rest).cloned().collect();
        scene.case("order", name, chain)
    });
    all.collect()
}

fn missing(scene: &Scene) -> Vec<Case> {
    let Scene { kind, root, intermediate } = scene;
    let second = maker::below(intermediate, *kind, "Second", SECOND, &as_is);
    let leaf = maker::leaf(&second, *kind, &as_is);
    let nobody = maker::root(*kind, "Nobody", STRANGER, &as_is);
    let case = |name, chain| scene.case("missing issuer", name, chain).fails("incomplete_chain");
    vec![
        case("intermediate", vec![scene.leaf(&as_is)]),
        case("intermediate, root sent", vec![scene.leaf(&as_is), der(root)]),
        case("lower of two", vec![leaf.clone(), der(intermediate)]),
        case("upper of two", vec![leaf, der(&second)]),
        case("untrusted root", scene.chain(&as_is)).roots(&[&nobody]),
        case("another key of its name", {
            let double = maker::below(root, *kind, "Lab Intermediate", STRANGER, &as_is);
            vec![scene.leaf(&as_is), der(&double)]
        }),
        case("and the leaf has expired", vec![scene.leaf(&|leaf| maker::dates(leaf, 2024, 2025))])
            .fails("certificate_expired"),
        case("and the name is wrong", vec![scene.leaf(&as_is)])
            .host("www.example.org")
            .fails("hostname_mismatch"),
    ]
}

fn untrusted(scene: &Scene) -> Vec<Case> {
    let Scene { kind, root, intermediate } = scene;
    let nobody = maker::root(*kind, "Nobody", STRANGER, &as_is);
    let own = |spoil: maker::Spoil<'_>| {
        let mut params = leaf_params(&[super::HOST]);
        spoil(&mut params);
        params.self_signed(&maker::key(*kind, LEAF)).unwrap().der().to_vec()
    };
    let own_ca = |params: &mut CertificateParams| {
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    };
    let namesake = maker::root(*kind, "Lab Root", STRANGER, &as_is);
    let below_namesake = maker::below(&namesake, *kind, "Below", SECOND, &as_is);
    let forged = vec![maker::leaf(&below_namesake, *kind, &as_is), der(&below_namesake)];
    let with_root = [forged.clone(), vec![der(&namesake)]].concat();
    let case = |name, chain| scene.case("untrusted", name, chain);
    let trusted = own(&own_ca);
    vec![
        case("self-signed leaf", vec![own(&as_is)]).fails("self_signed_certificate"),
        case("self-signed leaf that is a CA", vec![own(&own_ca)]).fails("self_signed_certificate"),
        case("self-signed leaf with an extra", vec![own(&as_is), der(intermediate)])
            .fails("self_signed_certificate"),
        case("self-signed leaf with a broken signature", {
            let mut broken = own(&|leaf| leaf.use_authority_key_identifier_extension = false);
            *broken.last_mut().unwrap() ^= 1;
            vec![broken]
        })
        .fails("self_signed_certificate"),
        case("private root with a broken signature sent", {
            let mut broken = der(root);
            *broken.last_mut().unwrap() ^= 1;
            [scene.chain(&as_is), vec![broken]].concat()
        })
        .roots(&[&nobody])
        .fails("untrusted_root"),
        Case {
            roots: vec![trusted.clone()],
            ..case("self-signed leaf that is trusted", vec![trusted])
        },
        case("private root sent", [scene.chain(&as_is), vec![der(root)]].concat())
            .roots(&[&nobody])
            .fails("untrusted_root"),
        case("private root sent first", vec![scene.leaf(&as_is), der(root), der(intermediate)])
            .roots(&[&nobody])
            .fails("untrusted_root"),
        case("root of a trusted name sent", with_root).fails("untrusted_root"),
        case("root of a trusted name not sent", forged).fails("incomplete_chain"),
        case("key identifier of the trusted root as well", {
            let same_id = |params: &mut CertificateParams| {
                let id = maker::ca_params("").key_identifier(&maker::key(*kind, ROOT));
                params.key_identifier_method = KeyIdMethod::PreSpecified(id);
            };
            let namesake = maker::root(*kind, "Lab Root", STRANGER, &same_id);
            let below = maker::below(&namesake, *kind, "Below", SECOND, &as_is);
            vec![maker::leaf(&below, *kind, &as_is), der(&below)]
        })
        .fails("bad_signature"),
    ]
}
