//! What each metric means, for readers of `/metrics`: the HELP line that goes with it.

use metrics::{describe_counter, describe_gauge, describe_histogram};

/// Gives the recorder that is installed a sentence for each metric.
pub(crate) fn tell() {
    for (name, help) in COUNTERS {
        describe_counter!(*name, *help);
    }
    for (name, help) in GAUGES {
        describe_gauge!(*name, *help);
    }
    for (name, help) in HISTOGRAMS {
        describe_histogram!(*name, *help);
    }
}

type Help = (&'static str, &'static str);

const COUNTERS: &[Help] = &[
    ("vedette_alerts_raised_total", "Alerts that were raised, by event"),
    ("vedette_alerts_resolved_total", "Alerts that a result resolved"),
    (
        "vedette_checks_skipped_overload_total",
        "Scheduled checks that were skipped because too many plugin calls ran, or broken off \
         because this machine stood still",
    ),
    ("vedette_checks_total", "Results that were stored, by check type and status"),
    (
        "vedette_checks_unknown_total",
        "Scheduled checks that gave no result, by check type and reason",
    ),
    ("vedette_deliveries_failed_total", "Notifications that failed for good, by channel"),
    (
        "vedette_deliveries_gathered_total",
        "Deliveries without an attempt of their own, by channel and what became of them",
    ),
    (
        "vedette_delivery_attempts_total",
        "Attempts to deliver a notification, by channel and outcome",
    ),
    ("vedette_egress_refused_total", "Targets that the egress policy refused, by reason"),
    (
        "vedette_history_removed_total",
        "Records of checks, and resolved alerts, that were removed because of their age, by kind",
    ),
    ("vedette_http_requests_total", "Requests that were answered, by route, method and status"),
    ("vedette_plugin_overloaded_total", "Plugin calls that found no room in time, by plugin"),
    ("vedette_plugin_stops_total", "Plugin calls that were stopped, by plugin, version and why"),
    (
        "vedette_results_doubted_total",
        "Results that were not believed and stored as unknown, by reason",
    ),
    (
        "vedette_runs_put_off_total",
        "Scheduled checks that waited because their host, account or plugin was busy, or because \
         many slow ones ran",
    ),
    ("vedette_runs_shared_total", "Checks that shared the run of another one that asked the same"),
];

const GAUGES: &[Help] = &[
    ("vedette_build_info", "Always 1, with the version of the program"),
    (
        "vedette_checks_planned",
        "1 while any check is planned, whichever node runs it; 0 = there is nothing to check",
    ),
    (
        "vedette_checks_without_plugin",
        "Checks that have been due for ten minutes, whose plugin this node does not have and which \
         no other node has run, by check type; 1000 at most are counted",
    ),
    (
        "vedette_clock_ahead_seconds",
        "By how much the clock of this machine is ahead of the database server's",
    ),
    ("vedette_event_streams", "Event streams that are open"),
    ("vedette_guard", "1 while trouble that checks find is not believed, by reason"),
    ("vedette_loop_lag_seconds", "How late the threads of this process are"),
    (
        "vedette_outbox_depth",
        "Notifications that are not finished and not held back by maintenance, of all nodes on one \
         database",
    ),
    ("vedette_outbox_held", "Notifications that this process is sending"),
    (
        "vedette_plugins",
        "Plugins by state: running; paused, because they broke too often; failed, because what was \
         approved last does not load, or the lock cannot be read; disabled",
    ),
    ("vedette_runs_in_flight", "Scheduled checks that run at this moment"),
    (
        "vedette_unwell_seconds",
        "For how long, or by how much, this process has been unwell, by what is wrong, as /healthz \
         says; 0 = it is well",
    ),
];

const HISTOGRAMS: &[Help] = &[
    ("vedette_delivery_seconds", "Time from an alert to its delivery, by channel"),
    ("vedette_http_request_seconds", "Time to answer a request, by route"),
    ("vedette_on_demand_seconds", "Time that a check on demand ran, by check type"),
    (
        "vedette_run_late_seconds",
        "How long after it was due a scheduled check began, by check type, also where its host or \
         account was busy; what was due before the process started counts from its start",
    ),
    ("vedette_run_seconds", "Time that a scheduled check ran, by check type"),
];
