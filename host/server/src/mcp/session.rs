//! One request, as rmcp calls it back: who we are, and what can be read.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, DiscoverResult, Implementation, ListResourcesResult, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig,
    },
    service::RequestContext,
};

use super::{Who, catalogue::Catalogue, refusal, resource};
use crate::App;

pub(super) struct Session {
    app: Arc<App>,
    catalogue: Arc<Catalogue>,
    who: Who,
}

impl Session {
    pub(super) fn new(app: Arc<App>, catalogue: Arc<Catalogue>, who: Who) -> Self {
        Self { app, catalogue, who }
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        if self.catalogue.has_resources {
            capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        }
        if let Some(tools) = capabilities.tools.as_mut() {
            tools.list_changed = Some(false);
        }
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("vedette", env!("CARGO_PKG_VERSION")).with_title("Vedette"),
            )
            .with_instructions(self.catalogue.instructions)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = ServerHandler::supported_protocol_versions(self).into_owned();
        let scope = match self.who {
            Who::Caller(_) => CacheScope::Private,
            Who::Anyone => CacheScope::Public,
        };
        let mut info = self.get_info();
        // By `subscriptions/listen`, which only this version has.
        if let Some(resources) = info.capabilities.resources.as_mut() {
            resources.subscribe = Some(true);
            resources.list_changed = Some(false);
        }
        Ok(DiscoverResult::from_server_info(versions, info)
            .with_ttl_ms(super::catalogue::FRESH_MS)
            .with_cache_scope(scope))
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resource::all()))
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = resource::read(&self.app, &self.who, &asked.uri);
        // A panic would leave its caller without an answer.
        AssertUnwindSafe(read).catch_unwind().await.unwrap_or_else(|_| Err(refusal::panicked()))
    }
}
