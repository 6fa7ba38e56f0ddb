//! What the server says about each name.

use std::{collections::HashMap, net::IpAddr};

use hickory_proto::{
    op::ResponseCode,
    rr::{Name, RData, Record, RecordType, TSigner, rdata},
};

/// What the server says about one name, or about one type of its records.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Records of any types; asked for another type: no data.
    Records(Vec<RData>),
    /// One reply per question, the last one for ever: rebinding, flapping.
    Sequence(Vec<Reply>),
    /// One reply per question, round and round.
    Rotation(Vec<Reply>),
    Failure(ResponseCode),
    /// No answer at all.
    Silence,
}

/// All names of the server.
#[derive(Default)]
pub(super) struct Zone {
    names: HashMap<String, Entry>,
    asked: HashMap<(String, RecordType), usize>,
    pub(super) is_silent: bool,
    /// Only what is set is known, and the root.
    pub(super) is_cut_off: bool,
    /// Whose updates are taken.
    key: Option<TSigner>,
}

/// One answer of a server that is not silent.
pub(super) struct Said {
    pub(super) code: ResponseCode,
    pub(super) records: Vec<Record>,
}

#[derive(Default)]
struct Entry {
    /// For the types that have no reply of their own.
    otherwise: Option<Reply>,
    of_type: HashMap<RecordType, Reply>,
}

impl Reply {
    pub fn address(ip: IpAddr) -> Self {
        Self::addresses(&[ip])
    }

    pub fn addresses(ips: &[IpAddr]) -> Self {
        let record = |&ip: &IpAddr| match ip {
            IpAddr::V4(ip) => RData::A(rdata::A(ip)),
            IpAddr::V6(ip) => RData::AAAA(rdata::AAAA(ip)),
        };
        Self::Records(ips.iter().map(record).collect())
    }

    /// The name exists and has no records.
    pub fn no_data() -> Self {
        Self::Records(Vec::new())
    }

    /// What is said this time.
    fn next(&mut self) -> Self {
        let mut said = match self {
            Self::Sequence(replies) if replies.len() > 1 => replies.remove(0),
            Self::Sequence(replies) => replies.first().cloned().unwrap_or_else(Self::no_data),
            Self::Rotation(replies) if replies.is_empty() => Self::no_data(),
            Self::Rotation(replies) => {
                replies.rotate_left(1);
                replies[replies.len() - 1].clone()
            }
            Self::Records(_) | Self::Failure(_) | Self::Silence => return self.clone(),
        };
        said.next()
    }
}

impl Zone {
    pub(super) fn set(&mut self, name: &str, record_type: Option<RecordType>, reply: Reply) {
        let entry = self.names.entry(canonical(name)).or_default();
        match record_type {
            Some(record_type) => {
                entry.of_type.insert(record_type, reply);
            }
            None => *entry = Entry { otherwise: Some(reply), of_type: HashMap::new() },
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.names.remove(&canonical(name));
    }

    pub(super) fn take_updates(&mut self, key: TSigner) {
        self.key = Some(key);
    }

    pub(super) fn key(&self) -> Option<TSigner> {
        self.key.clone()
    }

    /// Adds a record beside those that updates added before.
    pub(super) fn add(&mut self, name: &str, data: RData) {
        let entry = self.names.entry(canonical(name)).or_default();
        let reply = entry.of_type.entry(data.record_type()).or_insert_with(Reply::no_data);
        if let Reply::Records(records) = reply
            && !records.contains(&data)
        {
            records.push(data);
        }
    }

    pub(super) fn take_out(&mut self, name: &str, data: &RData) {
        let entry = self.names.get_mut(&canonical(name));
        let reply = entry.and_then(|entry| entry.of_type.get_mut(&data.record_type()));
        if let Some(Reply::Records(records)) = reply {
            records.retain(|other| other != data);
        }
    }

    pub(super) fn records(&self, name: &str, record_type: RecordType) -> Vec<RData> {
        let entry = self.names.get(&canonical(name));
        match entry.and_then(|entry| entry.of_type.get(&record_type)) {
            Some(Reply::Records(records)) => records.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn asked(&self, name: &str, record_type: RecordType) -> usize {
        self.asked.get(&(canonical(name), record_type)).copied().unwrap_or_default()
    }

    pub(super) fn asked_for_nobody(&self) -> usize {
        let asked = self.asked.iter().filter(|((name, _), _)| name.starts_with("vedette-"));
        asked.map(|(_, count)| count).sum()
    }

    /// Follows aliases to the records of the type; a loop of them is answered as far as it is
    /// new. None: silence.
    pub(super) fn ask(&mut self, name: &Name, record_type: RecordType) -> Option<Said> {
        let asked = (canonical(&name.to_ascii()), record_type);
        *self.asked.entry(asked).or_default() += 1;
        if self.is_silent {
            return None;
        }
        let mut owner = name.clone();
        let mut records: Vec<Record> = Vec::new();
        loop {
            let found = match self.reply(&owner, record_type) {
                None => return Some(Said { code: self.code_of_unknown(&owner), records }),
                Some(Reply::Failure(code)) => return Some(Said { code, records }),
                Some(Reply::Records(found)) => found,
                // A reply that is still a choice was chosen from nothing.
                Some(Reply::Silence | Reply::Sequence(_) | Reply::Rotation(_)) => return None,
            };
            let is_wanted = |data: &&RData| data.record_type() == record_type;
            let wanted: Vec<_> = found.iter().filter(is_wanted).cloned().collect();
            let alias = found.iter().find_map(|data| match data {
                RData::CNAME(target) => Some(target.0.clone()),
                _ => None,
            });
            let Some(target) = alias.filter(|_| wanted.is_empty()) else {
                records.extend(wanted.into_iter().map(|data| record(&owner, data)));
                return Some(Said { code: ResponseCode::NoError, records });
            };
            if records.iter().any(|record| record.name == owner) {
                return Some(Said { code: ResponseCode::NoError, records });
            }
            records.push(record(&owner, RData::CNAME(rdata::CNAME(target.clone()))));
            owner = target;
        }
    }

    /// What is said of a name that nobody set.
    fn code_of_unknown(&self, name: &Name) -> ResponseCode {
        match self.is_cut_off {
            true if name.is_root() => ResponseCode::NoError,
            true => ResponseCode::ServFail,
            false => ResponseCode::NXDomain,
        }
    }

    /// None: there is no such name.
    fn reply(&mut self, owner: &Name, record_type: RecordType) -> Option<Reply> {
        let entry = self.names.get_mut(&canonical(&owner.to_ascii()))?;
        let Entry { otherwise, of_type } = entry;
        let reply = of_type.get_mut(&record_type).or(otherwise.as_mut());
        Some(reply.map_or_else(Reply::no_data, Reply::next))
    }
}

/// Nothing is kept by anybody: what a test changes holds from the next question on.
fn record(owner: &Name, data: RData) -> Record {
    Record::from_rdata(owner.clone(), 0, data)
}

fn canonical(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}
