//! The labels of names, contacts and servers, in folded words ([`super::words`]).

use super::label::Label;

pub(super) fn listed(joined: &str) -> Option<Label> {
    Some(match joined {
        "domain"
        | "domain name"
        | "domainname"
        | "domain name ascii"
        | "domain ascii"
        | "ascii"
        | "dominio"
        | "nombre de dominio"
        | "nombre del dominio"
        | "nome do dominio"
        | "nom de domaine"
        | "nazwa domeny"
        | "alan adi"
        | "domain adi"
        | "domene"
        | "domeeni"
        | "nome a dominio"
        | "domaine"
        | "domena"
        | "domene navn"
        | "domanennamn"
        | "домен"
        | "доменное имя"
        | "ドメイン名"
        | "域名"
        | "도메인이름"
        | "도메인 이름"
        | "网域名称" => Label::Domain,
        "registrar"
        | "registrar name"
        | "registrar organization"
        | "registrar organisation"
        | "registrar company"
        | "registrar company name"
        | "registrar of record"
        | "sponsoring registrar"
        | "sponsoring registrar name"
        | "sponsoring registrar organization"
        | "current registrar"
        | "current registar"
        | "registar"
        | "registrars"
        | "registrar information"
        | "registrar info name"
        | "registered by"
        | "registered through"
        | "registered via"
        | "registration service provider"
        | "domain registrar"
        | "authorized agency"
        | "authorised agency"
        | "registrator"
        | "registraator"
        | "registrador"
        | "registratore"
        | "registreerija"
        | "rejestrator"
        | "bureau d enregistrement"
        | "kayit operatoru"
        | "kayit kurulusu"
        | "agente registrador"
        | "proveedor"
        | "регистратор"
        | "реєстратор"
        | "注册商"
        | "注册服务机构"
        | "登録業者"
        | "등록대행자"
        | "所属注册机构" => Label::Registrar,
        "server name" => Label::Host,
        "host name" | "hostname" | "host" | "primary" | "secondary" => Label::HostName,
        "status"
        | "statuses"
        | "domain status"
        | "epp status"
        | "eppstatus"
        | "status code"
        | "registration status"
        | "registry status"
        | "query status"
        | "status information"
        | "domaintype"
        | "domain type"
        | "domain state"
        | "estado"
        | "estatus"
        | "estatus del dominio"
        | "estado del dominio"
        | "estado do dominio"
        | "stato"
        | "statut"
        | "statut du domaine"
        | "durum"
        | "stan"
        | "stav"
        | "статус"
        | "состояние"
        | "状态"
        | "状態"
        | "域名状态"
        | "도메인 상태" => Label::Status,
        "state" => Label::State,
        "flags" => Label::Flags,
        "nic hdl" | "nic hdl br" | "nic handle" | "handle" | "contact handle" | "contact"
        | "role" | "personname" | "person name" | "contact id" => Label::Handle,
        "nsset" | "keyset" | "nameserver set" | "key set" | "ns list" => Label::Set,
        "person" | "person loc" => Label::Person,
        "name" | "full name" | "nome" | "nom" | "nombre" | "nimi" | "名前" => Label::Name,
        "organization"
        | "organisation"
        | "org"
        | "org name"
        | "organization name"
        | "organisation name"
        | "organization loc"
        | "company"
        | "company name"
        | "company english name" => Label::Organization,
        "contact information" | "contact details" | "zone c" | "zone contact" => Label::Contact,
        "email" | "e mail" | "mail" | "email address" => Label::Email,
        "whois server"
        | "who is server"
        | "registrar whois server"
        | "registrar whois"
        | "referral server"
        | "referralserver"
        | "whois"
        | "refer" => Label::WhoisServer,
        _ => return None,
    })
}

pub(super) fn registrant(joined: &str) -> Option<Label> {
    let mut rest = None;
    for name in REGISTRANTS {
        if joined == *name {
            return Some(Label::Registrant);
        }
        if let Some(tail) = joined.strip_prefix(name).and_then(|tail| tail.strip_prefix(' ')) {
            rest = Some(tail);
            break;
        }
    }
    match rest? {
        "name" | "contact name" | "full name" | "person" => Some(Label::RegistrantName),
        "organization"
        | "organisation"
        | "org"
        | "company"
        | "company name"
        | "contact company"
        | "organization name"
        | "organisation name"
        | "contact organization"
        | "contact organisation" => Some(Label::RegistrantOrganization),
        "email" | "e mail" | "contact email" | "contact e mail" => Some(Label::RegistrantEmail),
        "contact"
        | "contacts"
        | "contact information"
        | "information"
        | "details"
        | "info"
        | "c"
        | "contact details" => Some(Label::Registrant),
        _ => Some(Label::Other),
    }
}

/// Longer names before those they begin with.
const REGISTRANTS: &[&str] = &[
    "organization using domain name",
    "holder of domain name",
    "domain name holder",
    "domain owners registrant",
    "domain holder",
    "domain owner",
    "domain registrant",
    "registered owner",
    "registrant",
    "holder",
    "owner",
    "titular",
    "titulaire",
    "titolare",
    "inhaber",
    "domeninhaber",
    "domaninhaber",
    "proprietario",
    "licensee",
    "registrante",
    "abonent",
    "haltija",
    "sahibi",
    "владелец",
    "администратор домена",
    "등록인",
    "登録者名",
    "注册人",
    "注册者",
];

pub(super) fn is_name_servers(words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let is_named = words.iter().any(|word| SERVERS.contains(word))
        || ((has("server") || has("servers"))
            && ["name", "domain", "primary", "secondary", "tertiary"].iter().any(|word| has(word)));
    is_named && words.iter().all(|word| SERVERS.contains(word) || SERVER_WORDS.contains(word))
        || matches!(
            words.join(" ").as_str(),
            "servidores"
                | "servidor de nombres de dominio"
                | "servidores de nombres de dominio"
                | "servidores de nombres"
                | "servidor dns"
                | "servidores dns"
                | "servidor de nomes"
                | "servidores de nomes"
                | "serveur de noms"
                | "serveurs de noms"
                | "serveurs dns"
                | "nomi server"
                | "сервер dns"
                | "серверы dns"
                | "ネームサーバ"
                | "域名服务器"
                | "dns服务器"
                | "네임서버"
        )
}

const SERVERS: &[&str] = &[
    "dns",
    "nameserver",
    "nameservers",
    "namservers",
    "ns",
    "nserver",
    "nservers",
    "nsentry",
    "nimipalvelimet",
    "namnserver",
    "namnservrar",
];
const SERVER_WORDS: &[&str] = &[
    "addresses",
    "authoritative",
    "current",
    "delegated",
    "domain",
    "entry",
    "fifth",
    "fourth",
    "host",
    "hostname",
    "hosts",
    "in",
    "information",
    "list",
    "listed",
    "name",
    "names",
    "of",
    "order",
    "primary",
    "record",
    "records",
    "secondary",
    "server",
    "servers",
    "tertiary",
    "the",
    "third",
    "zone",
];

/// Whether a label is that of another contact: words of contacts, and the role of one.
pub(super) fn is_contact(words: &[&str]) -> bool {
    words.iter().all(|word| CONTACT_WORDS.contains(word))
        && words.iter().any(|word| CONTACT_ROLES.contains(word))
}

const CONTACT_WORDS: &[&str] = &[
    "abuse",
    "admin",
    "administrative",
    "administrativo",
    "administrator",
    "agent",
    "billing",
    "c",
    "cobranza",
    "contact",
    "contacto",
    "contacts",
    "de",
    "details",
    "info",
    "information",
    "person",
    "registrar",
    "reseller",
    "support",
    "tech",
    "technical",
    "tecnico",
    "zone",
];
const CONTACT_ROLES: &[&str] = &[
    "abuse",
    "admin",
    "administrative",
    "administrativo",
    "administrator",
    "billing",
    "cobranza",
    "contacts",
    "reseller",
    "support",
    "tech",
    "technical",
    "tecnico",
];
