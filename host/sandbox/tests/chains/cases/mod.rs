//! The cases: a chain, the roots, a name and a moment, and the verdict that the rules demand.

mod cross;
mod dates;
mod issuing;
mod names;
mod order;
mod purposes;
mod signatures;

use std::sync::LazyLock;

use crate::maker::{self, Ca, INTERMEDIATE, Kind, ROOT, as_is, der};

/// One chain and what it is worth.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) family: &'static str,
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// DER, as served.
    pub(crate) chain: Vec<Vec<u8>>,
    pub(crate) roots: Vec<Vec<u8>>,
    pub(crate) host: &'static str,
    /// Unix seconds.
    pub(crate) at: i64,
    /// None = valid.
    pub(crate) expected: Option<&'static str>,
}

/// What leaves are for unless a case says otherwise.
pub(crate) const HOST: &str = "www.example.com";
/// 2026-06-01T00:00:00Z.
pub(crate) const AT: i64 = 1_780_272_000;

/// All of them.
pub(crate) fn all() -> &'static [Case] {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
        let in_each_kind = [Kind::P256, Kind::Rsa2048, Kind::Ed25519].map(Scene::new);
        let families = [
            order::cases,
            dates::cases,
            names::cases,
            issuing::cases,
            purposes::cases,
            cross::cases,
            signatures::cases,
        ];
        let mut cases = Vec::new();
        for scene in &in_each_kind {
            cases.extend(families.iter().flat_map(|family| family(scene)));
        }
        cases.extend(signatures::kinds());
        cases
    });
    &CASES
}

/// A trusted root and an intermediate below it, with keys of one kind.
pub(crate) struct Scene {
    pub(crate) kind: Kind,
    pub(crate) root: Ca,
    pub(crate) intermediate: Ca,
}

impl Scene {
    pub(crate) fn new(kind: Kind) -> Self {
        let root = maker::root(kind, "Lab Root", ROOT, &as_is);
        let intermediate = maker::below(&root, kind, "Lab Intermediate", INTERMEDIATE, &as_is);
        Self { kind, root, intermediate }
    }

    /// A leaf below the intermediate.
    pub(crate) fn leaf(&self, spoil: maker::Spoil<'_>) -> Vec<u8> {
        maker::leaf(&self.intermediate, self.kind, spoil)
    }

    /// Leaf and intermediate, as a server sends them.
    pub(crate) fn chain(&self, spoil: maker::Spoil<'_>) -> Vec<Vec<u8>> {
        vec![self.leaf(spoil), der(&self.intermediate)]
    }

    /// An intermediate in place of the usual one.
    pub(crate) fn other(&self, spoil: maker::Spoil<'_>) -> Ca {
        maker::below(&self.root, self.kind, "Other Intermediate", INTERMEDIATE, spoil)
    }

    /// Leaf and intermediate, where the intermediate is spoilt.
    pub(crate) fn chain_below(&self, spoil: maker::Spoil<'_>) -> Vec<Vec<u8>> {
        let other = self.other(spoil);
        vec![maker::leaf(&other, self.kind, &as_is), der(&other)]
    }

    /// A case that is valid, for the usual name, moment and root.
    pub(crate) fn case(
        &self,
        family: &'static str,
        name: &'static str,
        chain: Vec<Vec<u8>>,
    ) -> Case {
        Case {
            family,
            name,
            kind: self.kind,
            chain,
            roots: vec![der(&self.root)],
            host: HOST,
            at: AT,
            expected: None,
        }
    }
}

impl Case {
    pub(crate) fn fails(self, token: &'static str) -> Self {
        Self { expected: Some(token), ..self }
    }

    /// Fails unless `expected` is none.
    pub(crate) fn ends(self, expected: Option<&'static str>) -> Self {
        Self { expected, ..self }
    }

    pub(crate) fn host(self, host: &'static str) -> Self {
        Self { host, ..self }
    }

    pub(crate) fn at(self, at: i64) -> Self {
        Self { at, ..self }
    }

    pub(crate) fn roots(self, roots: &[&Ca]) -> Self {
        Self { roots: roots.iter().map(|root| der(root)).collect(), ..self }
    }

    /// For messages.
    pub(crate) fn title(&self) -> String {
        format!("{}: {} ({:?})", self.family, self.name, self.kind)
    }
}
