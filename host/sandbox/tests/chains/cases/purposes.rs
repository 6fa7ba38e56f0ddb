//! Purposes, key usage and extensions that nobody knows.

use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose as Eku, IsCa,
    KeyUsagePurpose as Ku,
};

use super::{Case, Scene};
use crate::maker::{self, extension};

pub(super) fn cases(scene: &Scene) -> Vec<Case> {
    [leaves(scene), intermediates(scene), extensions(scene)].concat()
}

fn leaves(scene: &Scene) -> Vec<Case> {
    let wrong = Some("invalid_purpose");
    let for_purposes = |name, purposes: &[Eku], expected| {
        let chain = scene.chain(&|leaf| leaf.extended_key_usages = purposes.to_vec());
        scene.case("purpose", name, chain).ends(expected)
    };
    let with_usage = |name, usages: &[Ku], expected| {
        let chain = scene.chain(&|leaf| leaf.key_usages = usages.to_vec());
        scene.case("key usage", name, chain).ends(expected)
    };
    let both = [Ku::DigitalSignature, Ku::KeyEncipherment];
    vec![
        for_purposes("server", &[Eku::ServerAuth], None),
        for_purposes("none", &[], None),
        for_purposes("server and client", &[Eku::ClientAuth, Eku::ServerAuth], None),
        for_purposes("client", &[Eku::ClientAuth], wrong),
        for_purposes("mail and code", &[Eku::EmailProtection, Eku::CodeSigning], wrong),
        for_purposes("any", &[Eku::Any], wrong),
        with_usage("signature", &[Ku::DigitalSignature], None),
        with_usage("signature and encipherment", &both, None),
        with_usage("agreement", &[Ku::KeyAgreement], None),
        with_usage("CRLs alone", &[Ku::CrlSign], wrong),
        with_usage("content commitment alone", &[Ku::ContentCommitment], wrong),
        scene.case("purpose", "a CA's own", {
            let ca = IsCa::Ca(BasicConstraints::Unconstrained);
            scene.chain(&|leaf| leaf.is_ca = ca)
        }),
        scene
            .case("purpose", "client, and another name", {
                scene.chain(&|leaf| leaf.extended_key_usages = vec![Eku::ClientAuth])
            })
            .host("www.example.org")
            .fails("hostname_mismatch"),
    ]
}

/// What an intermediate is not for, nothing below it is.
fn intermediates(scene: &Scene) -> Vec<Case> {
    let wrong = Some("invalid_purpose");
    let case = |name, purposes: &[Eku], expected| {
        let chain = scene.chain_below(&|ca| ca.extended_key_usages = purposes.to_vec());
        scene.case("purpose of the intermediate", name, chain).ends(expected)
    };
    vec![
        case("server", &[Eku::ServerAuth], None),
        case("server and client", &[Eku::ServerAuth, Eku::ClientAuth], None),
        case("client", &[Eku::ClientAuth], wrong),
        case("mail", &[Eku::EmailProtection], wrong),
        case("any", &[Eku::Any], wrong),
    ]
}

fn extensions(scene: &Scene) -> Vec<Case> {
    let unknown: &[u64] = &[1, 3, 6, 1, 4, 1, 99_999, 1];
    let with = |oid: &'static [u64], content: &'static [u8], critical: bool| {
        move |params: &mut CertificateParams| {
            params.custom_extensions.push(extension(oid, content, critical));
        }
    };
    let strange = |critical: bool| {
        move |params: &mut CertificateParams| {
            params.custom_extensions.push(extension(unknown, &[5, 0], critical));
        }
    };
    // certificatePolicies with 2.23.140.1.2.1, domain validated.
    let policies = with(
        &[2, 5, 29, 32],
        &[0x30, 0x0a, 0x30, 0x08, 0x06, 0x06, 0x67, 0x81, 0x0c, 0x01, 0x02, 0x01],
        true,
    );
    let basic_constraints = &[2, 5, 29, 19];
    let case = |name, spoil: maker::Spoil<'_>| scene.case("extensions", name, scene.chain(spoil));
    let below =
        |name, spoil: maker::Spoil<'_>| scene.case("extensions", name, scene.chain_below(spoil));
    vec![
        case("unknown", &strange(false)),
        case("unknown and critical", &strange(true)).fails("invalid_purpose"),
        below("unknown in the intermediate", &strange(false)),
        below("unknown and critical in the intermediate", &strange(true)).fails("invalid_purpose"),
        case("critical policies", &policies),
        below("critical policies in the intermediate", &policies),
        case(
            "poison of a precertificate",
            &with(&[1, 3, 6, 1, 4, 1, 11129, 2, 4, 3], &[5, 0], true),
        )
        .fails("invalid_purpose"),
        case("malformed", &with(basic_constraints, &[0x30, 0x7f], true))
            .fails("malformed_certificate"),
        case("malformed and not critical", &with(basic_constraints, &[4, 1, 0], false))
            .fails("malformed_certificate"),
        case("repeated", &|leaf| {
            leaf.key_usages = vec![Ku::DigitalSignature];
            leaf.custom_extensions.push(extension(&[2, 5, 29, 15], &[3, 2, 7, 0x80], true));
        })
        .fails("malformed_certificate"),
        below("repeated in the intermediate", &|ca| {
            ca.custom_extensions.push(extension(&[2, 5, 29, 19], &[0x30, 3, 1, 1, 0xff], true));
        })
        .fails("invalid_purpose"),
    ]
}
