//! Dates: both ends inclusive, for the leaf and the intermediates of the path.

use rcgen::date_time_ymd;

use super::{Case, Scene};
use crate::maker::{self, Ca, ROOT, SECOND, as_is, dates, der};

pub(super) fn cases(scene: &Scene) -> Vec<Case> {
    [ends(scene), certificates(scene), roots(scene)].concat()
}

fn ends(scene: &Scene) -> Vec<Case> {
    let first = date_time_ymd(2026, 1, 1).unix_timestamp();
    let last = date_time_ymd(2027, 1, 1).unix_timestamp();
    let early = Some("certificate_not_yet_valid");
    let late = Some("certificate_expired");
    let table = [
        ("a second before the first", first - 1, early),
        ("at the first second", first, None),
        ("at the last second", last, None),
        ("a second after the last", last + 1, late),
        ("years before", first - 400_000_000, early),
        ("years after", last + 400_000_000, late),
    ];
    let all = table.map(|(name, at, expected)| {
        scene.case("dates", name, scene.chain(&as_is)).at(at).ends(expected)
    });
    all.to_vec()
}

fn certificates(scene: &Scene) -> Vec<Case> {
    let Scene { kind, intermediate, .. } = scene;
    let past: maker::Spoil<'_> = &|params| dates(params, 2024, 2025);
    let future: maker::Spoil<'_> = &|params| dates(params, 2028, 2029);
    let upper = |spoil: maker::Spoil<'_>| {
        let upper = scene.other(spoil);
        let lower = maker::below(&upper, *kind, "Second", SECOND, &as_is);
        vec![maker::leaf(&lower, *kind, &as_is), der(&lower), der(&upper)]
    };
    let case = |name, chain| scene.case("dates", name, chain);
    vec![
        case("leaf expired", scene.chain(past)).fails("certificate_expired"),
        case("leaf not yet valid", scene.chain(future)).fails("certificate_not_yet_valid"),
        case("intermediate expired", scene.chain_below(past)).fails("certificate_expired"),
        case("intermediate not yet valid", scene.chain_below(future))
            .fails("certificate_not_yet_valid"),
        case("upper intermediate expired", upper(past)).fails("certificate_expired"),
        case("leaf expired, intermediate not yet valid", {
            let other = scene.other(future);
            vec![maker::leaf(&other, *kind, past), der(&other)]
        })
        .fails("certificate_expired"),
        case("leaf expired and for another name", scene.chain(past))
            .host("www.example.org")
            .fails("certificate_expired"),
        case("leaf until the year 9999", scene.chain(&|leaf| dates(leaf, 2026, 9999))),
        case("leaf since 1950", scene.chain(&|leaf| dates(leaf, 1950, 2027))),
        case("leaf that ends before it begins", scene.chain(&|leaf| dates(leaf, 2027, 2026)))
            .fails("certificate_expired"),
        case("expired stranger among them", {
            let stranger = maker::below(intermediate, *kind, "Old", SECOND, past);
            [scene.chain(&as_is), vec![der(&stranger)]].concat()
        }),
    ]
}

/// The dates of a root are nobody's business, trusted or not.
fn roots(scene: &Scene) -> Vec<Case> {
    let Scene { kind, .. } = scene;
    let old = maker::root(*kind, "Old Root", ROOT, &|params| dates(params, 2024, 2025));
    let below = |root: &Ca| {
        let below = maker::below(root, *kind, "Below", SECOND, &as_is);
        vec![maker::leaf(&below, *kind, &as_is), der(&below)]
    };
    let case = |name, chain| scene.case("dates", name, chain);
    vec![
        case("trusted root expired", below(&old)).roots(&[&old]),
        case("trusted root expired and sent", [below(&old), vec![der(&old)]].concat())
            .roots(&[&old]),
        case("untrusted root expired and sent", [below(&old), vec![der(&old)]].concat())
            .fails("untrusted_root"),
    ]
}
