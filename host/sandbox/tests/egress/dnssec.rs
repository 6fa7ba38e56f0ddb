//! DNSSEC states through a server with a root of its own: signed, tampered with, unsigned.

use std::{io::Write, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use hickory_proto::{
    dnssec::{
        Algorithm, DnssecSigner, Nsec3HashAlgorithm, SigningKey,
        crypto::EcdsaSigningKey,
        rdata::{DNSKEY, DNSSECRData},
    },
    rr::{LowerName, Name, RData, Record, RecordSet, RecordType, RrKey, rdata},
};
use hickory_server::{
    dnssec::NxProofKind,
    net::runtime::{Time, TokioRuntimeProvider},
    server::{Request, RequestHandler, ResponseHandler, ResponseInfo, Server},
    store::in_memory::InMemoryZoneHandler,
    zone_handler::{AxfrPolicy, Catalog, ZoneHandler, ZoneType},
};

use crate::{
    egress::{Egress, Options},
    lab::{Dns, Reply, addresses, authenticated, both_sockets, name, to_loopback},
    probes::dns::{Answer, Dnssec, lookup},
};

type Zone = InMemoryZoneHandler<TokioRuntimeProvider>;

/// Nothing would be validated by it, and nobody told.
#[test]
fn anchor_without_a_key_is_refused() {
    for text in ["", "; nothing yet\n", "garbage"] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let dnssec_anchor = Some(file.path().to_owned());
        let dns_servers = vec![SocketAddr::from(([127, 0, 0, 1], 9)).into()];
        let made = Egress::new(Options { dnssec_anchor, dns_servers, ..Options::default() });
        let told = made.err().map(|cause| cause.to_string()).unwrap_or_default();
        assert!(told.contains("cannot read the DNSSEC anchor"), "{text:?}: {told}");
    }
}

#[tokio::test]
async fn signed_tampered_and_unsigned_names_are_told_apart() {
    let lab = Lab::new().await;
    let signed = lab.ask("good.example", "A").await;
    assert_eq!((signed.dnssec, signed.rcode.as_str()), (Dnssec::Secure, "NOERROR"));
    let shown: Vec<_> = signed.records.iter().map(|record| record.data.as_str()).collect();
    assert_eq!(shown, ["192.0.2.1"], "signatures are not records that were asked for");

    let bogus = lab.ask("tampered.example", "A").await;
    assert_eq!((bogus.dnssec, bogus.rcode.as_str()), (Dnssec::Bogus, "SERVFAIL"));
    assert_eq!(bogus.records, []);
    assert!(bogus.dnssec_detail.is_some());
    let mut unvalidated = crate::dns::question("tampered.example", "A");
    unvalidated.validate = false;
    let seen = lookup(authenticated(&lab.egress), unvalidated).await.unwrap();
    assert_eq!(seen.records[0].data, "203.0.113.66", "what is served can still be looked at");

    let island = lab.ask("host.island.example", "A").await;
    assert_eq!((island.dnssec, island.records.len()), (Dnssec::Insecure, 1));

    let missing = lab.ask("missing.example", "A").await;
    assert_eq!((missing.dnssec, missing.rcode.as_str()), (Dnssec::Secure, "NXDOMAIN"));
    let no_data = lab.ask("good.example", "MX").await;
    assert_eq!((no_data.dnssec, no_data.rcode.as_str()), (Dnssec::Secure, "NOERROR"));
    assert_eq!(no_data.records, []);
}

#[tokio::test]
async fn too_many_iterations_pass_a_zone_over_however_many_they_are() {
    for iterations in [101, 501, 2_500] {
        let (mut root, key) = signed_root(NxProofKind::Nsec3 {
            algorithm: Nsec3HashAlgorithm::SHA1,
            salt: Arc::from([0xaa, 0xbb]),
            iterations,
            opt_out: false,
        });
        let sets: Vec<Arc<RecordSet>> = root.records_get_mut().values().cloned().collect();
        let dns = Dns::new(move |asked, rtype, _| {
            let signed = |is_wanted: &dyn Fn(&RecordSet) -> bool| -> Vec<Record> {
                let wanted = sets.iter().find(|set| is_wanted(set));
                wanted.into_iter().flat_map(|set| set.records_with_rrsigs()).cloned().collect()
            };
            let owner = name(&format!("{asked}."));
            let own = signed(&|set| set.record_type() == rtype && *set.name() == owner);
            if !own.is_empty() {
                return Reply::Records(own);
            }
            // The iterations are looked at before what is denied is.
            let some = |rtype: RecordType| signed(&|set| set.record_type() == rtype);
            Reply::Denied([some(RecordType::SOA), some(RecordType::NSEC3)].concat())
        })
        .await;
        let (egress, _anchor) = trusting(&key, dns.address);
        for (host, rrtype, expected) in [
            ("good.example", "MX", Dnssec::Insecure),
            ("good.example", "A", Dnssec::Secure),
            ("tampered.example", "A", Dnssec::Bogus),
        ] {
            let mut question = crate::dns::question(host, rrtype);
            question.validate = true;
            let answer = lookup(authenticated(&egress), question).await.unwrap();
            assert_eq!(answer.dnssec, expected, "{host} {rrtype}, {iterations}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn through_a_server_without_signatures_nothing_can_be_said() {
    let dns = Dns::fixed(&["192.0.2.1"]).await;
    let lab = Lab::new().await;
    let egress = Egress::new(Options {
        dns_servers: vec![dns.address.into()],
        dnssec_anchor: Some(lab.anchor.path().to_owned()),
        ..Options::default()
    })
    .unwrap();
    let mut question = crate::dns::question("good.example", "A");
    question.validate = true;
    let answer = lookup(authenticated(&egress), question).await.unwrap();
    assert_eq!(answer.dnssec, Dnssec::Indeterminate);
    assert!(answer.dnssec_detail.is_some());
}

#[tokio::test]
async fn a_chain_that_leads_in_circles_is_given_up() {
    let (_, key) = signed_root(NxProofKind::Nsec);
    let dns = Dns::new(move |asked, rtype, _| {
        let record = |data| Record::from_rdata(name(&format!("{asked}.")), 60, data);
        match rtype {
            RecordType::DNSKEY if asked.is_empty() => {
                Reply::Records(vec![record(RData::DNSSEC(DNSSECRData::DNSKEY(key.clone())))])
            }
            RecordType::A => addresses(&["192.0.2.1"]),
            // A zone begins at every name, and says so itself when its parent is asked.
            RecordType::NS => {
                Reply::Records(vec![record(RData::NS(rdata::NS(name("ns.example."))))])
            }
            _ => Reply::Denied(vec![record(RData::SOA(soa()))]),
        }
    })
    .await;
    let mut question = crate::dns::question("site.example", "A");
    question.validate = true;
    let answer = lookup(authenticated(&to_loopback(Some(&dns))), question).await.unwrap();
    assert_eq!((answer.rcode.as_str(), answer.records.len()), ("NOERROR", 1));
    assert_eq!(answer.dnssec, Dnssec::Indeterminate);
    let seen = dns.asked();
    // A datagram that is late is sent again.
    assert!(seen.len() <= 16, "each question is asked once: {seen:?}");
}

/// A signed root with everything in it, but for one zone that is delegated and not signed.
struct Lab {
    egress: Egress,
    anchor: tempfile::NamedTempFile,
    _server: Server<Parts>,
}

impl Lab {
    async fn new() -> Self {
        let (root, dnskey) = signed_root(NxProofKind::Nsec);
        let mut island = zone("island.example.", NxProofKind::Nsec);
        island.upsert_mut(address("host.island.example.", [192, 0, 2, 3]), 1);

        let parts = Parts { island: catalog("island.example.", island), rest: catalog(".", root) };
        let (udp, tcp) = both_sockets().await;
        let server_address: SocketAddr = udp.local_addr().unwrap();
        let mut server = Server::new(parts);
        server.register_socket(udp);
        server.register_listener(tcp, Duration::from_secs(5), 4096);

        let (egress, anchor) = trusting(&dnskey, server_address);
        Self { egress, anchor, _server: server }
    }

    async fn ask(&self, host: &str, rrtype: &str) -> Answer {
        let mut question = crate::dns::question(host, rrtype);
        question.validate = true;
        lookup(authenticated(&self.egress), question).await.unwrap()
    }
}

/// An egress layer that asks this server and trusts this key of the root.
fn trusting(key: &DNSKEY, server: SocketAddr) -> (Egress, tempfile::NamedTempFile) {
    let mut anchor = tempfile::NamedTempFile::new().unwrap();
    writeln!(anchor, ". 86400 IN DNSKEY {key}").unwrap();
    let egress = Egress::new(Options {
        dns_servers: vec![server.into()],
        dnssec_anchor: Some(anchor.path().to_owned()),
        ..Options::default()
    })
    .unwrap();
    (egress, anchor)
}

/// The delegated zone, and all above it. As in the DNS, the parent answers for the DS records of
/// a delegation.
struct Parts {
    island: Catalog,
    rest: Catalog,
}

impl RequestHandler for Parts {
    fn handle_request<'a, 'b, 'c, R, T>(
        &'a self,
        request: &'b Request,
        answer: R,
    ) -> Pin<Box<dyn Future<Output = ResponseInfo> + Send + 'c>>
    where
        R: 'c + ResponseHandler,
        T: 'c + Time,
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        let query = &request.queries.queries()[0];
        let island = LowerName::from(name("island.example."));
        let delegation = *query.name() == island && query.query_type() == RecordType::DS;
        let below = island.zone_of(query.name()) && !delegation;
        let part = if below { &self.island } else { &self.rest };
        part.handle_request::<R, T>(request, answer)
    }
}

fn catalog(origin: &str, zone: Zone) -> Catalog {
    let mut catalog = Catalog::new();
    let handler: Arc<dyn ZoneHandler> = Arc::new(zone);
    catalog.upsert(LowerName::from(name(origin)), vec![handler]);
    catalog
}

/// `proof`: how it says that something is not there.
fn signed_root(proof: NxProofKind) -> (Zone, DNSKEY) {
    let mut root = zone(".", proof);
    root.upsert_mut(address("good.example.", [192, 0, 2, 1]), 1);
    root.upsert_mut(address("tampered.example.", [192, 0, 2, 2]), 1);
    let delegation = RData::NS(rdata::NS(name("ns.island.example.")));
    root.upsert_mut(Record::from_rdata(name("island.example."), 60, delegation), 1);
    let pkcs8 = EcdsaSigningKey::generate_pkcs8(Algorithm::ECDSAP256SHA256).unwrap();
    let key = EcdsaSigningKey::from_pkcs8(&pkcs8, Algorithm::ECDSAP256SHA256).unwrap();
    let dnskey = DNSKEY::from_key(&key.to_public_key().unwrap());
    let week = Duration::from_secs(7 * 86400);
    let signer = DnssecSigner::new(dnskey.clone(), Box::new(key), Name::root(), week);
    root.add_zone_signing_key_mut(signer).unwrap();
    root.secure_zone_mut().unwrap();
    tamper(&mut root);
    (root, dnskey)
}

/// Another address under the signature of the first.
fn tamper(root: &mut Zone) {
    let key = RrKey::new(LowerName::from(name("tampered.example.")), RecordType::A);
    let records = root.records_get_mut();
    let signatures: Vec<_> = records[&key].rrsigs().to_vec();
    assert!(!signatures.is_empty());
    let mut forged = RecordSet::new(name("tampered.example."), RecordType::A, 1);
    forged.insert(address("tampered.example.", [203, 0, 113, 66]), 1);
    for signature in signatures {
        forged.insert_rrsig(signature);
    }
    records.insert(key, Arc::new(forged));
}

fn zone(origin: &str, proof: NxProofKind) -> Zone {
    let mut zone = Zone::empty(name(origin), ZoneType::Primary, AxfrPolicy::Deny, Some(proof));
    zone.upsert_mut(Record::from_rdata(name(origin), 60, RData::SOA(soa())), 1);
    let server = RData::NS(rdata::NS(name("ns.example.")));
    zone.upsert_mut(Record::from_rdata(name(origin), 60, server), 1);
    zone
}

fn soa() -> rdata::SOA {
    rdata::SOA::new(name("ns.example."), name("admin.example."), 1, 60, 60, 600, 60)
}

fn address(host: &str, octets: [u8; 4]) -> Record {
    Record::from_rdata(name(host), 60, RData::A(rdata::A(octets.into())))
}
