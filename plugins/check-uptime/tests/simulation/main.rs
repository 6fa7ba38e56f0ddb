//! The check and the rules of the service together, without a network and without waiting: what
//! its runs bring becomes alerts just as it does in the service, over histories written down
//! ([`histories`]) and over a million runs on a lossy network.
//!
//! To hold: at a packet loss of 2 % at most one site of a million runs is called down that is
//! not, every outage of three intervals is found within one and a half, and its end is told
//! exactly once. Loss hits packets, and those who sent them send them again; so the figure is
//! about [`Weather::Packets`]. [`Weather::Probes`] is harsher than any loss of packets: whole
//! probes fail, each for itself, and nothing is sent again. No two failures in a row rule out
//! chance then (0.02² of the runs, four hundred in a million), and its figures stand beside the
//! others to show just that.

mod histories;
mod network;
mod watched;

use std::{cell::RefCell, rc::Rc, time::Duration};

use check_uptime::{Config, Uptime};
use network::{Network, Random, Trouble, Weather};
use vedette_model::Timestamp;
use vedette_sdk::{Check, Job, testing::Host};
use watched::{DOMAIN, INTERVAL, Watched, at};

const LOSS: f64 = 0.02;
const RUNS: u32 = 1_000_000;
const SITES: u32 = 100;
/// How late a run starts: the scheduler looks that often.
const POLL_MS: u64 = 500;
/// A recovery that has ended is still being noticed for so long.
const AFTERMATH: Duration = Duration::from_secs(60);

/// What became of the sites.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    runs: u32,
    /// Runs to a site that was not down which took more than a second: something was sent again.
    delayed: u32,
    /// Runs that found a site down which was not.
    failed_alone: u32,
    /// Alerts about a site that was not down.
    false_downs: u32,
    outages: u32,
    missed: u32,
    /// From the beginning of an outage to its alert, at worst, in intervals.
    slowest: f64,
    /// Ends of alerts, and how many of them were told as a recovery.
    over: u32,
    recoveries: u32,
}

#[test]
fn lost_packets_are_no_outage_and_outages_are_found() {
    let figures = simulate(Weather::Packets(LOSS), RUNS);
    figures.print("2 % of packets lost");
    assert!(figures.runs >= RUNS && figures.outages > 1_000, "{figures:?}");
    assert!(f64::from(figures.delayed) > f64::from(figures.runs) * LOSS, "{figures:?}");
    assert!(figures.false_downs <= 1, "{figures:?}");
    assert_eq!(figures.missed, 0, "{figures:?}");
    assert!(figures.slowest <= 1.5, "{figures:?}");
    assert!(figures.over > 1_000 && figures.recoveries == figures.over, "{figures:?}");
}

#[test]
fn lost_probes_are_confirmed_before_they_count() {
    let figures = simulate(Weather::Probes(LOSS), RUNS / 10);
    figures.print("2 % of probes lost");
    let pairs = f64::from(figures.runs) * LOSS * LOSS;
    assert!(f64::from(figures.failed_alone) > f64::from(figures.runs) * LOSS / 2.0, "{figures:?}");
    assert!(f64::from(figures.false_downs) <= 1.5 * pairs, "{figures:?}");
    assert_eq!(figures.missed, 0, "{figures:?}");
    assert!(figures.slowest <= 1.5, "{figures:?}");
    assert_eq!(figures.recoveries, figures.over, "{figures:?}");
}

fn simulate(weather: Weather, runs: u32) -> Figures {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let sites: Vec<u32> = (0..SITES).collect();
    let shares = sites.chunks(sites.len().div_ceil(threads));
    std::thread::scope(|scope| {
        let threads: Vec<_> = shares
            .map(|share| {
                let watch = move |site: &u32| watch(*site, weather, runs.div_ceil(SITES));
                scope.spawn(move || share.iter().map(watch).fold(Figures::default(), Figures::and))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a simulation ends"))
            .fold(Figures::default(), Figures::and)
    })
}

/// One site over so many runs, with an outage now and then.
fn watch(number: u32, weather: Weather, runs: u32) -> Figures {
    let network = Rc::new(RefCell::new(Network::new(u64::from(number), weather)));
    let host = Host::new();
    let wire = Rc::clone(&network);
    host.http(move |request| wire.borrow_mut().answer(request));
    host.set_remaining(Duration::from_secs(30));
    let mut random = Random::new(u64::from(number) + 1_000);
    let mut site = Watched::new(number);
    let mut outage = Outage::after(at(0), &mut random);
    let mut figures = Figures { runs, ..Figures::default() };
    let mut due = site.first_run(at(0));
    for _ in 0..runs {
        let started = due + Duration::from_millis(random.below(POLL_MS));
        if outage.is_past(started) {
            figures.missed += u32::from(!outage.found);
            outage = Outage::after(outage.end, &mut random);
        }
        let trouble = outage.at(started);
        network.borrow_mut().begin(trouble);
        let job = Job::new(DOMAIN, Config::default());
        let seen = Uptime::run(&host.cx(), job).expect("the network is not ours").facts;
        figures.delayed += u32::from(trouble.is_none() && seen.response_time_ms > 1_000.0);
        figures.failed_alone += u32::from(trouble.is_none() && seen.error.is_some());
        let now = started + network.borrow().elapsed();
        let was_down = site.is_called_down();
        let decision = site.judge(Some(seen), now);
        match (was_down, site.is_called_down()) {
            (false, true) => outage.found(now, &mut figures),
            (true, false) => figures.over += 1,
            (true, true) if trouble.is_some() => outage.known(&mut figures),
            _ => {}
        }
        let told = decision.raised.iter().filter(|alert| alert.event == "site.up");
        figures.recoveries += u32::try_from(told.count()).expect("one at most");
        due = site.next_run(&decision, now);
    }
    figures
}

/// A time in which the site is really down: three to twenty intervals.
struct Outage {
    start: Timestamp,
    end: Timestamp,
    trouble: Trouble,
    found: bool,
}

impl Outage {
    /// The next one, some hours later.
    fn after(last: Timestamp, random: &mut Random) -> Self {
        let interval = u64::try_from(INTERVAL.as_millis()).expect("a short time");
        let quiet = random.below(300 * interval) + 50 * interval;
        let length = random.below(17 * interval) + 3 * interval;
        let start = last + Duration::from_millis(quiet);
        let end = start + Duration::from_millis(length);
        Self { start, end, trouble: Trouble::any(random), found: false }
    }

    fn at(&self, now: Timestamp) -> Option<Trouble> {
        (self.start..self.end).contains(&now).then_some(self.trouble)
    }

    fn is_past(&self, now: Timestamp) -> bool {
        now >= self.end + AFTERMATH
    }

    /// An alert is about this outage, or about nothing.
    fn found(&mut self, now: Timestamp, figures: &mut Figures) {
        if self.found || now < self.start || self.is_past(now) {
            figures.false_downs += 1;
            return;
        }
        self.found = true;
        figures.outages += 1;
        let delay = (now - self.start).to_std().expect("found after it began");
        figures.slowest = figures.slowest.max(delay.as_secs_f64() / INTERVAL.as_secs_f64());
    }

    /// It began while the alert that lost probes had raised was open, which goes on as its own.
    fn known(&mut self, figures: &mut Figures) {
        figures.outages += u32::from(!self.found);
        self.found = true;
    }
}

impl Figures {
    fn and(self, other: Self) -> Self {
        Self {
            runs: self.runs + other.runs,
            delayed: self.delayed + other.delayed,
            failed_alone: self.failed_alone + other.failed_alone,
            false_downs: self.false_downs + other.false_downs,
            outages: self.outages + other.outages,
            missed: self.missed + other.missed,
            slowest: self.slowest.max(other.slowest),
            over: self.over + other.over,
            recoveries: self.recoveries + other.recoveries,
        }
    }

    fn print(&self, title: &str) {
        let Self { runs, delayed, failed_alone, false_downs, outages, missed, slowest, .. } = self;
        println!("uptime, {runs} simulated runs, {title}");
        println!("  runs that took more than a second    {delayed}");
        println!("  runs that failed without an outage   {failed_alone}");
        println!("  false downs                          {false_downs}");
        println!("  outages of 3 to 20 intervals         {outages} found, {missed} missed");
        println!("  found after, at worst                {slowest:.2} intervals");
    }
}
