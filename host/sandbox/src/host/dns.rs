//! `vedette:net/dns`.

use std::net::IpAddr;

use super::{Guest, Run, only};
use crate::{
    bindings::check::vedette::net::{
        dns::{Answer, Host, Question},
        types::NetError,
    },
    grants::is_below,
    probes::dns,
};

impl Host for Guest {
    async fn lookup(&mut self, question: Question) -> wasmtime::Result<Result<Answer, NetError>> {
        self.lookup_many(vec![question]).await.map(only)
    }

    async fn lookup_many(
        &mut self,
        questions: Vec<Question>,
    ) -> wasmtime::Result<Vec<Result<Answer, NetError>>> {
        let run = self.run()?;
        let judged = questions.into_iter().map(|question| run.permit_lookup(question)).collect();
        let live = async |reach, questions: Vec<Question>| {
            let questions = questions.into_iter().map(Into::into).collect();
            let answers = dns::lookup_many(reach, questions).await.into_iter();
            answers.map(|answer| answer.map(Into::into).map_err(Into::into)).collect()
        };
        let answers = self.ask("dns.lookup", judged, live, size).await?;
        self.run()?.learn_mail_hosts(&answers);
        Ok(answers)
    }
}

impl Run {
    fn permit_lookup(&self, question: Question) -> Result<Question, NetError> {
        let resolver = match question.resolver.as_deref().map(str::parse::<IpAddr>) {
            None => None,
            Some(Ok(address)) => Some(address),
            Some(Err(_)) => {
                return Err(NetError::Protocol(
                    "the resolver is not an address literal".to_owned(),
                ));
            }
        };
        let rrtype = question.rrtype.to_ascii_uppercase();
        self.grants
            .permits_dns(&self.about, &question.name, &rrtype, resolver)
            .map_err(NetError::NotPermitted)?;
        Ok(Question { rrtype, ..question })
    }

    /// Hosts that MX records of the target or below it named: the grant `target-mx`.
    fn learn_mail_hosts(&mut self, answers: &[Result<Answer, NetError>]) {
        let target = self.about.target.to_string();
        let records = answers.iter().flatten().flat_map(|answer| &answer.records);
        let mail =
            records.filter(|record| record.rrtype == "MX" && is_below(&record.name, &target));
        for record in mail {
            if let Some((_, host)) = record.data.split_once(' ') {
                self.about.mx.insert(host.trim_end_matches('.').to_ascii_lowercase());
            }
        }
    }
}

fn size(answer: &Answer) -> usize {
    answer.records.iter().map(|record| record.name.len() + record.data.len()).sum()
}
