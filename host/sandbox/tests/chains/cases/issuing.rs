//! What a CA may issue: at all, how deep, and for which names.

use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DistinguishedName, DnType, GeneralSubtree,
    IsCa, KeyUsagePurpose, NameConstraints, SanType,
};

use super::{Case, Scene};
use crate::maker::{self, Ca, INTERMEDIATE, ROOT, SECOND, THIRD, as_is, der};

pub(super) fn cases(scene: &Scene) -> Vec<Case> {
    [not_a_ca(scene), path_lengths(scene), constraints(scene), constraints_above(scene)].concat()
}

fn not_a_ca(scene: &Scene) -> Vec<Case> {
    let case = |name, spoil: maker::Spoil<'_>| {
        scene.case("not a CA", name, scene.chain_below(spoil)).fails("invalid_purpose")
    };
    vec![
        case("says so", &|ca| ca.is_ca = IsCa::ExplicitNoCa),
        case("says nothing", &|ca| ca.is_ca = IsCa::NoCa),
        case("key signs no certificates", &|ca| {
            ca.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::CrlSign];
        }),
        case("a good one", &|ca| {
            ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        })
        .ends(None),
    ]
}

fn path_lengths(scene: &Scene) -> Vec<Case> {
    let Scene { kind, .. } = scene;
    let at_most = |n: u8| {
        move |ca: &mut CertificateParams| ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(n))
    };
    let below = |upper: &Ca| {
        let lower = maker::below(upper, *kind, "Second", SECOND, &as_is);
        vec![maker::leaf(&lower, *kind, &as_is), der(&lower), der(upper)]
    };
    let short = maker::root(*kind, "Short Root", ROOT, &at_most(0));
    let case = |name, chain| scene.case("path length", name, chain);
    vec![
        case("0, kept", scene.chain_below(&at_most(0))),
        case("0, exceeded", below(&scene.other(&at_most(0)))).fails("invalid_purpose"),
        case("1, kept", below(&scene.other(&at_most(1)))),
        case("1, exceeded", {
            let upper = scene.other(&at_most(1));
            let middle = maker::below(&upper, *kind, "Second", SECOND, &as_is);
            let lower = maker::below(&middle, *kind, "Third", THIRD, &as_is);
            vec![maker::leaf(&lower, *kind, &as_is), der(&lower), der(&middle), der(&upper)]
        })
        .fails("invalid_purpose"),
        case("0, below a self-issued one", {
            // The upper one's new key, certified by its old: it does not count.
            let upper = scene.other(&at_most(0));
            let renewed = maker::below(&upper, *kind, "Other Intermediate", SECOND, &at_most(0));
            vec![maker::leaf(&renewed, *kind, &as_is), der(&renewed), der(&upper)]
        }),
        case("0, and the leaf is a CA", {
            let upper = scene.other(&at_most(0));
            let ca = IsCa::Ca(BasicConstraints::Unconstrained);
            vec![maker::leaf(&upper, *kind, &|leaf| leaf.is_ca = ca), der(&upper)]
        }),
        // A root is a name, a key and constraints of names (RFC 5280 section 6.1.1 (d)).
        case("of the root, exceeded", below(&short)).roots(&[&short]),
    ]
}

/// Name, permitted, excluded, verdict.
type Row = (&'static str, Vec<GeneralSubtree>, Vec<GeneralSubtree>, Option<&'static str>);

fn constraints(scene: &Scene) -> Vec<Case> {
    let dns = |base: &str| GeneralSubtree::DnsName(base.to_owned());
    let mail = |base: &str| GeneralSubtree::Rfc822Name(base.to_owned());
    let ten = GeneralSubtree::IpAddress(CidrSubnet::from_v4_prefix([10, 0, 0, 0], 8));
    let all_six = GeneralSubtree::IpAddress(CidrSubnet::from_v6_prefix([0; 16], 0));
    let of = |name: &str| {
        let mut directory = DistinguishedName::new();
        directory.push(DnType::OrganizationName, name);
        GeneralSubtree::DirectoryName(directory)
    };
    let violated = Some("invalid_purpose");
    let table: Vec<Row> = vec![
        ("permitted, equal", vec![dns("www.example.com")], vec![], None),
        ("permitted, below", vec![dns("example.com")], vec![], None),
        ("permitted, top level", vec![dns("com")], vec![], None),
        ("permitted, everything", vec![dns("")], vec![], None),
        ("permitted, second of two", vec![dns("example.org"), dns("example.com")], vec![], None),
        ("permitted, another", vec![dns("example.org")], vec![], violated),
        ("permitted, part of a label", vec![dns("ample.com")], vec![], violated),
        ("permitted, child", vec![dns("a.www.example.com")], vec![], violated),
        ("permitted, below with a dot", vec![dns(".example.com")], vec![], None),
        ("permitted, equal with a dot", vec![dns(".www.example.com")], vec![], violated),
        ("excluded, equal", vec![], vec![dns("www.example.com")], violated),
        ("excluded, below", vec![], vec![dns("example.com")], violated),
        ("excluded, below with a dot", vec![], vec![dns(".example.com")], violated),
        ("excluded, everything", vec![], vec![dns("")], violated),
        ("excluded, another", vec![], vec![dns("example.org")], None),
        ("excluded within permitted", vec![dns("com")], vec![dns("example.com")], violated),
        ("permitted addresses alone", vec![ten.clone()], vec![], None),
        ("excluded addresses", vec![], vec![ten.clone(), all_six.clone()], None),
        ("permitted mail alone", vec![mail("example.org")], vec![], None),
        ("excluded mail", vec![], vec![mail("example.com")], None),
        ("permitted organisation", vec![of("Example Works")], vec![], None),
        ("permitted organisation in capitals", vec![of("EXAMPLE WORKS")], vec![], None),
        ("another organisation", vec![of("Others")], vec![], violated),
        ("excluded organisation", vec![], vec![of("Example Works")], violated),
        ("names and organisation", vec![dns("example.com"), of("Example Works")], vec![], None),
    ];
    let mut cases: Vec<_> = table
        .into_iter()
        .map(|(name, permitted, excluded, expected)| {
            let chain = named_below(
                scene,
                permitted,
                excluded,
                &[SanType::DnsName(super::HOST.try_into().unwrap())],
            );
            scene.case("name constraints", name, chain).ends(expected)
        })
        .collect();
    let address = |text: &str| [SanType::IpAddress(text.parse().unwrap())];
    let wildcard = [SanType::DnsName("*.example.com".try_into().unwrap())];
    let case = |name, chain| scene.case("name constraints", name, chain);
    cases.extend([
        case("address in the network", {
            named_below(scene, vec![ten.clone()], vec![], &address("10.1.2.3"))
        })
        .host("10.1.2.3"),
        case("address outside of the network", {
            named_below(scene, vec![ten.clone()], vec![], &address("192.0.2.7"))
        })
        .host("192.0.2.7")
        .fails("invalid_purpose"),
        case("address of the other family", {
            named_below(scene, vec![ten], vec![], &address("2001:db8::7"))
        })
        .host("2001:db8::7")
        .fails("invalid_purpose"),
        case("excluded address", {
            named_below(scene, vec![], vec![all_six], &address("2001:db8::7"))
        })
        .host("2001:db8::7")
        .fails("invalid_purpose"),
        case("permitted wildcard", {
            named_below(scene, vec![dns("example.com")], vec![], &wildcard)
        }),
        case("wildcard that reaches into the excluded", {
            named_below(scene, vec![], vec![dns("mail.example.com")], &wildcard)
        })
        .fails("invalid_purpose"),
    ]);
    cases
}

/// Constraints bind all that is below, and a root has them too.
fn constraints_above(scene: &Scene) -> Vec<Case> {
    let Scene { kind, .. } = scene;
    let only = |base: &'static str| {
        move |ca: &mut CertificateParams| {
            let permitted_subtrees = vec![GeneralSubtree::DnsName(base.to_owned())];
            ca.name_constraints =
                Some(NameConstraints { permitted_subtrees, excluded_subtrees: Vec::new() });
        }
    };
    let two_below = |upper: &Ca| {
        let lower = maker::below(upper, *kind, "Second", SECOND, &as_is);
        vec![maker::leaf(&lower, *kind, &as_is), der(&lower), der(upper)]
    };
    let below = |root: &Ca| {
        let below = maker::below(root, *kind, "Below", INTERMEDIATE, &as_is);
        vec![maker::leaf(&below, *kind, &as_is), der(&below)]
    };
    let kept = maker::root(*kind, "Root for Example", ROOT, &only("example.com"));
    let broken = maker::root(*kind, "Root for Others", ROOT, &only("example.org"));
    let case = |name, chain| scene.case("name constraints", name, chain);
    vec![
        case("two above, kept", two_below(&scene.other(&only("example.com")))),
        case("two above, violated", two_below(&scene.other(&only("example.org"))))
            .fails("invalid_purpose"),
        case("of the root, kept", below(&kept)).roots(&[&kept]),
        case("of the root, violated", below(&broken)).roots(&[&broken]).fails("invalid_purpose"),
    ]
}

/// A leaf of Example Works with these names, below a CA with these constraints.
fn named_below(
    scene: &Scene,
    permitted_subtrees: Vec<GeneralSubtree>,
    excluded_subtrees: Vec<GeneralSubtree>,
    names: &[SanType],
) -> Vec<Vec<u8>> {
    let constraints = NameConstraints { permitted_subtrees, excluded_subtrees };
    let ca = scene.other(&|ca| ca.name_constraints = Some(constraints.clone()));
    let leaf = maker::leaf(&ca, scene.kind, &|leaf| {
        leaf.subject_alt_names = names.to_vec();
        leaf.distinguished_name = DistinguishedName::new();
        leaf.distinguished_name.push(DnType::OrganizationName, "Example Works");
        leaf.distinguished_name.push(DnType::CommonName, "leaf");
    });
    vec![leaf, der(&ca)]
}
