//! The tools for assistants: JSON-RPC 2.0 as the Model Context Protocol has it (spec: MCP).
//!
//! Bytes → [`envelope`] (one [`request`], or why it is none) → [`era`] (which of the two protocols
//! it speaks) → the listing of tools from memory; or a [`call`] of a tool of the [`catalogue`] → the
//! same service that the REST endpoint calls → [`result`], which bounds what goes back; or rmcp,
//! which negotiates, frames and calls back into [`session`]. What can be read can also be listened
//! to: that is a [`subscription`], which says what changes for as long as its client wants to hear
//! it.
//!
//! *Invariant:* nothing here knows HTTP or salvo: what a limit or a credential refuses was refused
//! before.
//! *Invariant:* a tool does what its caller could do by REST and nothing else: it calls services
//! with the caller, and never the store.
//! *Invariant:* no answer to a tool is longer than its [`room`](result::Room): 25,000 characters, and
//! 120,000 where all sites, open alerts or private certificates would else not be in it.
//! *Invariant:* text that a stranger wrote (certificates, records, registries) is data in a result,
//! and never part of a description, an instruction or an error.

mod args;
mod call;
mod catalogue;
mod envelope;
mod era;
mod refusal;
mod reply;
mod request;
mod resource;
mod result;
mod schema;
mod session;
mod subscription;
mod tools;

use std::sync::Arc;

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage},
    service::serve_directly_with_ct,
    transport::OneshotTransport,
};
use tokio_util::sync::CancellationToken;
use vedette_model::Edition;
use vedette_sandbox::CheckDescriptor;

use self::{
    catalogue::Catalogue,
    era::Era,
    refusal::Refusal,
    request::{Method, Request},
    session::Session,
};
use crate::{App, Caller, Error, service};

pub(crate) use self::{
    envelope::Asked,
    era::Told,
    reply::Reply,
    subscription::{Said, Subscription},
};

/// One endpoint: what it offers, put together when the service starts and when plugins change.
pub(crate) struct Server {
    catalogue: Arc<Catalogue>,
}

/// A client that wants to be told what changes.
pub(crate) struct Listener<'a> {
    pub(crate) caller: &'a Caller,
    /// The credential, which is looked at again while the stream runs.
    pub(crate) bearer: &'a str,
    /// Whether an answer that is a stream is understood.
    pub(crate) takes_stream: bool,
}

/// The caller for whom a request is carried out.
#[derive(Clone)]
pub(crate) enum Who {
    Caller(Box<Caller>),
    /// Somebody without a credential.
    Anyone,
}

impl Server {
    /// What callers of an edition are offered.
    pub(crate) fn private(edition: &'static Edition, checks: &[Arc<CheckDescriptor>]) -> Self {
        Self { catalogue: Arc::new(Catalogue::private(edition, checks)) }
    }

    /// What is offered without a credential.
    pub(crate) fn public(edition: &'static Edition, checks: &[Arc<CheckDescriptor>]) -> Self {
        Self { catalogue: Arc::new(Catalogue::public(edition, checks)) }
    }

    pub(crate) async fn answer(
        &self,
        app: &Arc<App>,
        who: Who,
        asked: Asked,
        told: &Told<'_>,
    ) -> Reply {
        let request = match asked {
            Asked::Notification => return Reply::Accepted,
            Asked::Refused(refusal) => return Reply::Json(refusal.written()),
            Asked::Request(request) => request,
        };
        let id = request.id.clone();
        let answered = self.answered(app, who, request, told).await;
        answered.unwrap_or_else(|refusal| Reply::Json(refusal.to(id).written()))
    }

    /// Answers a request that listens.
    ///
    /// # Errors
    /// `Limited` when the process has as many streams as it may: that is a status here too.
    pub(crate) async fn subscribe(
        &self,
        app: &Arc<App>,
        listener: Listener<'_>,
        mut request: Request,
        told: &Told<'_>,
    ) -> crate::Result<Reply> {
        let id = request.id.clone();
        let refused = |refusal: Refusal| Reply::Json(refusal.to(id.clone()).written());
        let resources = match accepted(&mut request, told, listener.takes_stream) {
            Ok(resources) => resources,
            Err(refusal) => return Ok(refused(refusal)),
        };
        let wanted = subscription::wanted(&resources);
        let Listener { caller, bearer, .. } = listener;
        let followed =
            service::event::follow(Arc::clone(app), caller, bearer.to_owned(), wanted).await;
        match followed {
            Ok(told) => Ok(Reply::Stream(Box::new(Subscription::new(id, resources, told)))),
            Err(error @ Error::Limited { .. }) => Err(error),
            Err(error) => Ok(refused(match refusal::told(&error) {
                // What it says is enough: there is no argument to correct.
                Ok(_) => Refusal::params(error.to_string()),
                Err(_) => Refusal::internal(),
            })),
        }
    }

    async fn answered(
        &self,
        app: &Arc<App>,
        who: Who,
        mut request: Request,
        told: &Told<'_>,
    ) -> Result<Reply, Refusal> {
        if request.method.is_of_resources() && !self.catalogue.has_resources {
            return Err(Refusal::no_method(request.method.name()));
        }
        let era = era::settle(&mut request, told)?;
        match request.method {
            Method::ListTools => self.tools(&who, &request, era),
            Method::CallTool => call::answer(app, &self.catalogue, &who, request, era).await,
            Method::Initialize
            | Method::Ping
            | Method::Discover
            | Method::ListResources
            | Method::ListTemplates
            | Method::ReadResource
            | Method::Listen => self.passed_on(app, who, request).await,
        }
    }

    /// Has rmcp answer it.
    async fn passed_on(
        &self,
        app: &Arc<App>,
        who: Who,
        request: Request,
    ) -> Result<Reply, Refusal> {
        let (id, method) = (request.id.clone(), request.method);
        let message: ClientJsonRpcMessage =
            serde_json::from_value(request.whole()).map_err(|_| Refusal::bad_params(method))?;
        // What rmcp cannot read as the request that it names, it takes for one of somebody's own.
        let JsonRpcMessage::Request(read) = &message else {
            return Err(Refusal::bad_params(method));
        };
        if matches!(read.request, ClientRequest::CustomRequest(_)) {
            return Err(Refusal::bad_params(method));
        }
        let session = Session::new(Arc::clone(app), Arc::clone(&self.catalogue), who);
        let (transport, mut answers) = OneshotTransport::<RoleServer>::new(message);
        let ended = CancellationToken::new();
        // Even if the client goes away and this future is dropped.
        let _end = ended.clone().drop_guard();
        tokio::spawn(serve_directly_with_ct(session, transport, None, ended).waiting());
        let answer = answers.recv().await.ok_or_else(Refusal::internal)?;
        if let JsonRpcMessage::Error(error) = answer {
            return Err(Refusal::of_protocol(method, error.error).to(id));
        }
        let written = serde_json::to_vec(&answer).map_err(|_| Refusal::internal())?;
        Ok(Reply::Json(written.into()))
    }

    /// The listing, which was written before.
    fn tools(&self, who: &Who, request: &Request, era: Era) -> Result<Reply, Refusal> {
        if request.param("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(Refusal::params("there is one page of tools; leave cursor out"));
        }
        Ok(Reply::completed(self.catalogue.listing(who, era), &request.id))
    }
}

/// The resources of a request to listen that can be answered.
fn accepted(
    request: &mut Request,
    told: &Told<'_>,
    takes_stream: bool,
) -> Result<Vec<&'static str>, Refusal> {
    if era::settle(request, told)? == Era::Legacy {
        return Err(Refusal::no_method_of_version(request.method));
    }
    if !takes_stream {
        return Err(Refusal::envelope(STREAM));
    }
    subscription::resources(request)
}

const STREAM: &str = "subscriptions/listen is answered with a stream; send Accept: \
     application/json, text/event-stream";
