//! The tools: what each is for, what it takes and answers, and the service that does it. One file
//! per resource, as everywhere.

mod agent;
pub(super) mod alert;
mod check;
mod incident;
mod maintenance;
mod notification;
pub(super) mod site;

use std::sync::Arc;

use serde_json::{Value, json};
use vedette_model::{Area, CheckType, Edition, Role};
use vedette_sandbox::CheckDescriptor;

use super::{Who, args::Args, result::Answer};
use crate::{App, Error, Resource, Result};

/// A tool as it is offered, and what it does.
pub(super) struct Tool {
    pub(super) name: String,
    title: String,
    /// What it is for, and when to use it.
    description: String,
    input: Value,
    output: Value,
    hints: Hints,
    pub(super) act: Act,
}

/// What a client may believe of a tool before it asks its user; all four are always said.
#[derive(Clone, Copy)]
enum Hints {
    /// Looks at what is stored.
    Reads,
    /// Looks at hosts of the internet.
    Probes,
    Adds,
    /// Sets what can be set again.
    Sets,
    Removes,
    /// Tells people outside.
    Tells,
}

/// What a tool does.
#[derive(Clone)]
pub(super) enum Act {
    ListSites,
    SiteStatus,
    AddSite,
    UpdateSite,
    RemoveSite,
    Check(CheckType),
    CheckForAnyone { check_type: CheckType, fields: &'static [&'static str] },
    CheckHistory,
    CertHistory,
    ListAlerts,
    ResolveAlert,
    ListIncidents,
    CreateIncident,
    UpdateIncident,
    AddIncidentUpdate,
    ListWindows,
    CreateWindow,
    DeleteWindow,
    TestNotifications,
    ListPrivateCerts,
}

/// The tools of an account.
pub(super) fn private(edition: &Edition, checks: &[Arc<CheckDescriptor>]) -> Vec<Tool> {
    let mut tools = site::tools(checks);
    tools.extend(checks.iter().map(|check| check::on_demand(check, edition)));
    tools.extend(check::tools(checks));
    tools.extend(alert::tools(checks));
    tools.extend(incident::tools());
    tools.extend(maintenance::tools());
    tools.extend(notification::tools());
    for area in edition.areas {
        tools.extend(match area {
            Area::Agents => agent::tools(),
            Area::Welcome | Area::Account | Area::Billing | Area::Team | Area::Cron => Vec::new(),
        });
    }
    tools
}

/// The tools of anybody.
pub(super) fn public(edition: &Edition, checks: &[Arc<CheckDescriptor>]) -> Vec<Tool> {
    checks.iter().filter_map(|check| check::for_anyone(check, edition)).collect()
}

impl Act {
    async fn run(&self, app: &App, who: &Who, edition: &Edition, args: &Args) -> Result<Answer> {
        if let Self::CheckForAnyone { check_type, fields } = self {
            let ran = check::run_for_anyone(app, edition, check_type, fields, args).await;
            return ran.map(Answer::Whole);
        }
        let Who::Caller(caller) = who else {
            return Err(Error::Unauthenticated("this tool needs an API key".into()));
        };
        let done = match self {
            Self::ListSites => return site::list(app, caller, args).await,
            Self::SiteStatus => site::status(app, caller, args).await,
            Self::AddSite => site::add(app, caller, args).await,
            Self::UpdateSite => site::update(app, caller, args).await,
            Self::RemoveSite => site::remove(app, caller, args).await,
            Self::Check(check_type) => check::run(app, caller, check_type, args).await,
            Self::CheckForAnyone { .. } => return Err(Error::NotFound(Resource::Tool)),
            Self::CheckHistory => return check::history(app, caller, args).await,
            Self::CertHistory => return check::cert_history(app, caller, args).await,
            Self::ListAlerts => return alert::list(app, caller, args).await,
            Self::ResolveAlert => alert::resolve(app, caller, args).await,
            Self::ListIncidents => return incident::list(app, caller, args).await,
            Self::CreateIncident => incident::create(app, caller, args).await,
            Self::UpdateIncident => incident::update(app, caller, args).await,
            Self::AddIncidentUpdate => incident::add_update(app, caller, args).await,
            Self::ListWindows => return maintenance::list(app, caller, args).await,
            Self::CreateWindow => maintenance::create(app, caller, args).await,
            Self::DeleteWindow => maintenance::delete(app, caller, args).await,
            Self::TestNotifications => notification::test(app, caller).await,
            Self::ListPrivateCerts => return agent::list(app, caller, args).await,
        };
        done.map(Answer::Whole)
    }
}

impl Tool {
    /// Does it for the caller; the edition is the endpoint's.
    pub(super) async fn run(
        &self,
        app: &App,
        who: &Who,
        edition: &Edition,
        args: &Args,
    ) -> Result<Answer> {
        self.permits(who)?;
        self.knows_arguments(args)?;
        self.act.run(app, who, edition, args).await
    }

    /// Where something is changed, an argument that was misspelt would be missed: a window for one
    /// site would silence all. Of a tool that only looks, the answer shows it.
    fn knows_arguments(&self, args: &Args) -> Result<()> {
        if !self.hints.changes() {
            return Ok(());
        }
        let known: Vec<&str> = self.input["properties"]
            .as_object()
            .into_iter()
            .flat_map(|known| known.keys().map(String::as_str))
            .collect();
        // Nothing can be misspelt where nothing is taken, and some clients send something all the same.
        match args.names().find(|name| !known.is_empty() && !known.contains(name)) {
            Some(name) => {
                let reason =
                    format!("is no argument of {}: it takes {}", self.name, known.join(", "));
                Err(Error::invalid(name.to_owned(), reason))
            }
            None => Ok(()),
        }
    }

    /// Whether the caller's role is enough.
    pub(super) fn permits(&self, who: &Who) -> Result<()> {
        match who {
            Who::Caller(caller) => caller.must_be(self.hints.least_role()),
            Who::Anyone => Ok(()),
        }
    }

    pub(super) fn is_for(&self, role: Role) -> bool {
        role >= self.hints.least_role()
    }

    /// As `tools/list` shows it.
    pub(super) fn view(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input,
            "outputSchema": self.output,
            "annotations": self.hints.view(&self.title),
        })
    }

    fn takes(self, mut input: Value) -> Self {
        if self.hints.changes() {
            input["additionalProperties"] = false.into();
        }
        Self { input, ..self }
    }

    fn answers(self, output: Value) -> Self {
        Self { output, ..self }
    }
}

impl Hints {
    /// Whether anything is stored, removed or sent.
    fn changes(self) -> bool {
        match self {
            Self::Reads | Self::Probes => false,
            Self::Adds | Self::Sets | Self::Removes | Self::Tells => true,
        }
    }

    /// The lowest role that may call it.
    fn least_role(self) -> Role {
        match self {
            Self::Reads => Role::Viewer,
            Self::Probes | Self::Adds | Self::Sets | Self::Removes => Role::Editor,
            Self::Tells => Role::Admin,
        }
    }

    fn view(self, title: &str) -> Value {
        let [read_only, destructive, idempotent, open_world] = match self {
            Self::Reads => [true, false, true, false],
            Self::Probes => [true, false, true, true],
            Self::Adds => [false, false, false, false],
            Self::Sets => [false, false, true, false],
            Self::Removes => [false, true, true, false],
            Self::Tells => [false, false, false, true],
        };
        json!({
            "title": title,
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": open_world,
        })
    }
}

/// The check types that a site may list.
fn check_types(checks: &[Arc<CheckDescriptor>]) -> Vec<&str> {
    let mut names = CheckType::LISTED.to_vec();
    for check in checks {
        let name = check.check_type.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn tool(name: &str, title: &str, description: &str, hints: Hints, act: Act) -> Tool {
    Tool {
        name: name.to_owned(),
        title: title.to_owned(),
        description: description.to_owned(),
        input: super::schema::nothing(),
        output: super::schema::nothing(),
        hints,
        act,
    }
}
