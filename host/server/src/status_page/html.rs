//! The page for people. The templates are in `templates/status_page`; here is what they are given.

use askama::Template;
use vedette_model::{
    IncidentStatus, Timestamp,
    incident::IncidentSeverity,
    status_page::{
        DayState, History, Overall, Page, PageSite, PageWindow, SiteState,
        drawing::{bars, sparkline},
    },
};

use super::{Look, feed::status};

/// The whole page.
pub(super) fn page(page: &Page, look: &Look, css: bool, base: &str) -> askama::Result<String> {
    let sites = page.sites.iter().map(Site::of).collect();
    let (active, planned) = page.maintenance.iter().partition(|window| window.active);
    Whole { page, look, css, base, sites, active, planned }.render()
}

/// What is shown where there is no page; `style` is the address of a style.
pub(crate) fn missing(style: &str) -> askama::Result<String> {
    let (title, heading) = ("No status page", "There is no status page here");
    let words = "The address may be misspelt, or its owner has switched the page off.";
    Notice { style, title, heading, words }.render()
}

/// What is shown of a page that cannot be written.
pub(crate) fn unavailable(style: &str) -> askama::Result<String> {
    let (title, heading) = ("Status not known", "This page cannot be shown just now");
    let words = "That says nothing of the systems on it. Try again in a minute.";
    Notice { style, title, heading, words }.render()
}

/// A small drawing of the verdict, for the browser's tab.
pub(super) fn icon(state: Overall) -> String {
    let (colour, shape) = match state {
        Overall::Operational => ("#1a7f4b", "<circle cx=\"8\" cy=\"8\" r=\"7\"/>"),
        Overall::Degraded => ("#b26a00", "<path d=\"M8 1l7.5 13.5H.5z\"/>"),
        Overall::Outage => ("#c8322b", "<path d=\"M8 .5L15.5 8 8 15.5.5 8z\"/>"),
        Overall::Maintenance => {
            ("#2f6feb", "<rect x=\"1.5\" y=\"1.5\" width=\"13\" height=\"13\" rx=\"3\"/>")
        }
        Overall::Unknown => (
            "#6b7280",
            "<path d=\"M8 1a7 7 0 100 14A7 7 0 008 1zm0 3.5a3.5 3.5 0 110 7 3.5 3.5 0 010-7z\" fill-rule=\"evenodd\"/>",
        ),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\" fill=\"{colour}\">{shape}</svg>"
    )
}

#[derive(Template)]
#[template(path = "status_page/page.html")]
struct Whole<'a> {
    page: &'a Page,
    look: &'a Look,
    /// Whether there is a style sheet of the owner's.
    css: bool,
    base: &'a str,
    sites: Vec<Site<'a>>,
    active: Vec<&'a PageWindow>,
    planned: Vec<&'a PageWindow>,
}

#[derive(Template)]
#[template(path = "status_page/notice.html")]
struct Notice<'a> {
    style: &'a str,
    title: &'a str,
    heading: &'a str,
    words: &'a str,
}

/// A site, drawn.
struct Site<'a> {
    shown: &'a PageSite,
    bars: Vec<(&'static str, String)>,
    /// What the bars say, in words.
    uptime: String,
    /// The days of trouble, and of how many nothing is known.
    notes: String,
    line: String,
}

impl<'a> Site<'a> {
    fn of(shown: &'a PageSite) -> Self {
        Self {
            shown,
            bars: drawn(&shown.history),
            uptime: match shown.uptime {
                Some(share) => format!("{share} uptime"),
                None => "No data yet".to_owned(),
            },
            notes: notes(&shown.history),
            line: sparkline(&shown.response_times_ms),
        }
    }
}

/// The strokes of the bars; behind the low ones of days that were down stands a pale one of full
/// height, or they would be the least to be seen.
fn drawn(history: &History) -> Vec<(&'static str, String)> {
    let ghost: Vec<DayState> = history
        .states
        .iter()
        .map(|state| if *state == DayState::Down { DayState::Ok } else { DayState::NoData })
        .collect();
    let ghosts = bars(&ghost).into_iter().filter(|(state, _)| *state == DayState::Ok);
    let strokes = bars(&history.states).into_iter().map(|(state, path)| (stroke(state), path));
    ghosts.map(|(_, path)| ("b", path)).chain(strokes).collect()
}

/// `Trouble on 2 days: 3 Nov (down), 5 Oct (degraded). No data for 12 days.`
fn notes(history: &History) -> String {
    let trouble: Vec<String> = history
        .trouble()
        .map(|(day, state)| {
            let word = if state == DayState::Down { "down" } else { "degraded" };
            format!("{} ({word})", short_date(day))
        })
        .collect();
    let mut sentences = Vec::new();
    if !trouble.is_empty() {
        let days =
            if trouble.len() == 1 { "1 day".to_owned() } else { format!("{} days", trouble.len()) };
        let more = trouble.len().saturating_sub(MOST_NAMED);
        let named = trouble.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        sentences.push(format!("Trouble on {days}: {named}{rest}."));
    }
    match history.gaps() {
        0 => {}
        gaps if gaps == history.states.len() => {}
        1 => sentences.push("No data for 1 day.".to_owned()),
        gaps => sentences.push(format!("No data for {gaps} days.")),
    }
    sentences.join(" ")
}

fn short_date(day: i64) -> String {
    let at = Timestamp::from_timestamp(day.saturating_mul(86_400), 0).unwrap_or_default();
    at.format("%-d %b").to_string()
}

/// For people: `3 Nov 2026, 10:00 UTC`.
fn moment(at: &Timestamp) -> String {
    at.format("%-d %b %Y, %H:%M UTC").to_string()
}

/// The end of what began at `start`: without the date where that is the same.
fn end(at: &Timestamp, start: &Timestamp) -> String {
    if at.date_naive() == start.date_naive() {
        at.format("%H:%M UTC").to_string()
    } else {
        moment(at)
    }
}

/// For programs.
fn iso(at: &Timestamp) -> String {
    at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn stroke(state: DayState) -> &'static str {
    match state {
        DayState::Ok => "o",
        DayState::Degraded => "g",
        DayState::Down => "d",
        DayState::Unknown => "u",
        DayState::NoData => "n",
    }
}

fn site_class(state: &SiteState) -> &'static str {
    match state {
        SiteState::Down => "down",
        SiteState::Degraded => "degraded",
        SiteState::Maintenance => "maintenance",
        SiteState::Unknown => "unknown",
        SiteState::Operational => "operational",
    }
}

fn overall_class(state: &Overall) -> &'static str {
    match state {
        Overall::Operational => "operational",
        Overall::Degraded => "degraded",
        Overall::Outage => "down",
        Overall::Maintenance => "maintenance",
        Overall::Unknown => "unknown",
    }
}

fn severity_class(severity: &IncidentSeverity) -> &'static str {
    match severity {
        IncidentSeverity::Minor | IncidentSeverity::Major => "degraded",
        IncidentSeverity::Critical => "down",
    }
}

fn severity(severity: &IncidentSeverity) -> &'static str {
    match severity {
        IncidentSeverity::Minor => "Minor",
        IncidentSeverity::Major => "Major",
        IncidentSeverity::Critical => "Critical",
    }
}

fn step(of: &IncidentStatus) -> &'static str {
    status(*of)
}

/// Days that are named one by one.
const MOST_NAMED: usize = 3;
