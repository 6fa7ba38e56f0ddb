//! One request, as rmcp calls it back: who we are, what can be read, and the tools.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, DiscoverResult, Implementation,
        ListResourcesResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};

use super::{Who, args::Args, catalogue::Catalogue, refusal, resource, result};
use crate::{App, Error};

pub(super) struct Session {
    app: Arc<App>,
    catalogue: Arc<Catalogue>,
    who: Who,
}

impl Session {
    pub(super) fn new(app: Arc<App>, catalogue: Arc<Catalogue>, who: Who) -> Self {
        Self { app, catalogue, who }
    }

    async fn call(&self, call: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.catalogue.tool(&call.name) else {
            let advice = "there is no such tool; tools/list names those that there are";
            return Err(ErrorData::invalid_params(advice, None));
        };
        let args = Args::new(call.arguments.unwrap_or_default());
        let edition = self.catalogue.edition;
        let done = match tool.act.run(&self.app, &self.who, edition, &args).await {
            Ok(value) => result::complete(value),
            Err(error) => result::failed(refusal::told(&error)?),
        };
        Ok(done.into())
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
        AssertUnwindSafe(read).catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = AssertUnwindSafe(self.call(call));
        call.catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
    }
}

fn panicked() -> ErrorData {
    let error = Error::Internal(anyhow::anyhow!("a tool panicked"));
    ErrorData::internal_error(error.to_string(), None)
}
