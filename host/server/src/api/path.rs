//! The `{id}` of a route's path.

use salvo::{Extractible, extract::Metadata, prelude::*};
use uuid::Uuid;
use vedette_model::parse;

use crate::Result;

/// The id that the path names, as a handler's argument; what is no UUID is refused.
pub(super) struct PathId(Uuid);

impl PathId {
    /// As any of the id types.
    pub(super) fn id<T: From<Uuid>>(&self) -> T {
        T::from(self.0)
    }
}

impl<'ex> Extractible<'ex> for PathId {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("PathId");
        &METADATA
    }

    async fn extract(req: &'ex mut Request, _depot: &'ex mut Depot) -> Result<Self> {
        let text = req.params().get("id").map(String::as_str).unwrap_or_default();
        Ok(Self(parse::uuid("id", text)?))
    }
}
