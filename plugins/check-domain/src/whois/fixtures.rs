//! Answers in the styles of the registries, with made up contents.

/// One answer and what is to be read from it.
pub(super) struct Fixture {
    pub(super) style: &'static str,
    pub(super) name: &'static str,
    pub(super) tld: &'static str,
    pub(super) text: &'static str,
    pub(super) registrar: Option<&'static str>,
    /// RFC 3339.
    pub(super) expires: Option<&'static str>,
    pub(super) servers: Option<&'static [&'static str]>,
    pub(super) privacy: Option<bool>,
    /// The first statuses.
    pub(super) statuses: &'static [&'static str],
}

const NS: Option<&[&str]> = Some(&["ns1.example.net", "ns2.example.net"]);

#[rustfmt::skip]
pub(super) const FIXTURES: &[Fixture] = &[
    Fixture {
        style: "generic registry (ICANN)", name: "example.com", tld: "com",
        text: "   Domain Name: EXAMPLE.COM\r\n   Registry Domain ID: 1_DOMAIN_COM-X\r\n   Registrar WHOIS Server: whois.registrar.example\r\n   Registrar URL: http://www.registrar.example\r\n   Updated Date: 2025-03-31T07:36:34Z\r\n   Creation Date: 2013-02-21T19:24:57Z\r\n   Registry Expiry Date: 2031-02-21T19:24:57Z\r\n   Registrar: Registrar Example, LLC\r\n   Registrar IANA ID: 9999\r\n   Registrar Abuse Contact Email: abuse@registrar.example\r\n   Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited\r\n   Name Server: NS2.EXAMPLE.NET\r\n   Name Server: NS1.EXAMPLE.NET\r\n   DNSSEC: unsigned\r\n>>> Last update of whois database: 2026-01-11T23:35:30Z <<<\r\n\r\nNOTICE: The expiration date displayed in this record is the date the\r\nregistrar's sponsorship of the domain name registration in the registry is\r\ncurrently set to expire. This date does not necessarily reflect the expiration\r\ndate of the domain name registrant's agreement with the sponsoring\r\nregistrar.\r\n\r\nTERMS OF USE: You are not authorized to access or query our Whois\r\ndatabase through the use of electronic processes that are high-volume and\r\nautomated. We reserve the right to restrict your access if a limit is exceeded.\r\n",
        registrar: Some("Registrar Example, LLC"), expires: Some("2031-02-21T19:24:57Z"), servers: NS, privacy: None, statuses: &["clientTransferProhibited"],
    },
    Fixture {
        style: "registrar (thick)", name: "example.com", tld: "",
        text: "Domain Name: example.com\nRegistry Domain ID: 1\nRegistrar WHOIS Server: whois.registrar.example\nUpdated Date: 2025-01-01T00:00:00-0700\nCreation Date: 1999-09-15T00:00:00-0700\nRegistrar Registration Expiration Date: 2028-09-13T00:00:00-0700\nRegistrar: Registrar Example, Inc.\nDomain Status: clientHold (https://www.icann.org/epp#clientHold)\nRegistrant Name: REDACTED FOR PRIVACY\nRegistrant Organization: Example LLC\nRegistrant Email: https://www.registrar.example/contact\nAdmin Name: REDACTED FOR PRIVACY\nName Server: ns1.example.net\nName Server: ns2.example.net\nURL of the ICANN WHOIS Data Problem Reporting System: http://wdprs.internic.net/\n>>> Last update of WHOIS database: 2026-06-08T11:56:31-0700 <<<\n",
        registrar: Some("Registrar Example, Inc."), expires: Some("2028-09-13T07:00:00Z"), servers: NS, privacy: Some(true), statuses: &["clientHold"],
    },
    Fixture {
        style: "generic registry, both expiries", name: "example.shop", tld: "shop",
        text: "Domain Name: EXAMPLE.SHOP\nRegistrar Registration Expiration Date: 2027-06-01T00:00:00Z\nRegistry Expiry Date: 2028-06-01T00:00:00.0Z\nRegistrar: Registrar Example\nRegistrant Organization: Example LLC\nName Server: \nDNSSEC: unsigned\n",
        registrar: Some("Registrar Example"), expires: Some("2028-06-01T00:00:00Z"), servers: Some(&[]), privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".org of old", name: "example.org", tld: "org",
        text: "Domain ID:D1-LROR\nDomain Name:EXAMPLE.ORG\nCreated On:05-Oct-1997 04:00:00 UTC\nLast Updated On:23-Jun-2028 20:00:11 UTC\nExpiration Date:04-Oct-2030 04:00:00 UTC\nSponsoring Registrar:Registrar Example Inc. (R1-LROR)\nStatus:OK\nRegistrant Name:Domains By Proxy, LLC\nRegistrant FAX Ext.:\nName Server:NS1.EXAMPLE.NET\nName Server:NS2.EXAMPLE.NET\nName Server:\n",
        registrar: Some("Registrar Example Inc. (R1-LROR)"), expires: Some("2030-10-04T04:00:00Z"), servers: NS, privacy: Some(true), statuses: &["ok"],
    },
    Fixture {
        style: "sentences, blocks by indent", name: "example.com", tld: "",
        text: "Registrant:\nExample LLC\n   1 Example Street\n   Example City, EX 12345\n   US\n\n   Domain Name: EXAMPLE.COM\n\n   Administrative Contact:\n      Example, Hostmaster   hostmaster@example.com\n\n   Record expires on 04-Jan-2031.\n   Record created on 05-Jan-1996.\n   Database last updated on 14-Jun-2026 05:00:36 EDT.\n\n   Domain servers in listed order:\n\n   NS1.EXAMPLE.NET              192.0.2.1\n   NS2.EXAMPLE.NET              192.0.2.2\n",
        registrar: None, expires: Some("2031-01-04T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".de", name: "example.de", tld: "de",
        text: "% Restricted rights.\n%\n% The above data may only be used within the scope of technical necessities.\n\nDomain: example.de\nDomain-Ace: example.de\nNserver: ns1.example.net\nNserver: ns2.example.net 192.0.2.2\nStatus: connect\nChanged: 2018-03-12T21:44:25+01:00\n",
        registrar: None, expires: None, servers: NS, privacy: None, statuses: &["connect"],
    },
    Fixture {
        style: ".uk", name: "example.co.uk", tld: "co.uk",
        text: "\r\n    Domain name:\r\n        example.co.uk\r\n\r\n    Data validation:\r\n        Nominet was able to match the registrant's name and address against a 3rd party data source on 10-Dec-2029\r\n\r\n    Registrar:\r\n        Registrar Example Ltd t/a Example [Tag = EXAMPLE-TAG]\r\n        URL: http://www.registrar.example\r\n\r\n    Relevant dates:\r\n        Registered on: before Aug-1996\r\n        Expiry date:  05-Dec-2030\r\n        Last updated:  23-Oct-2025\r\n\r\n    Registration status:\r\n        Registered until expiry date.\r\n\r\n    Name servers:\r\n        ns1.example.net\r\n        ns2.example.net           192.0.2.1  2001:db8::1\r\n\r\n    WHOIS lookup made at 11:55:41 18-Apr-2029\r\n\r\n-- \r\nThis WHOIS information is provided for free by the central registry, which\r\nincludes restrictions on: (A) use of the data for advertising (C) exceeding query rate or volume\r\nlimits. Access may be withdrawn or restricted at any time. \r\n",
        registrar: Some("Registrar Example Ltd t/a Example"), expires: Some("2030-12-05T00:00:00Z"), servers: NS, privacy: None, statuses: &["registered until expiry date"],
    },
    Fixture {
        style: ".gg", name: "example.gg", tld: "gg",
        text: "Domain:\n     example.gg\n\nDomain Status:\n     Active\n     Transfer Prohibited by Registrar\n\nRegistrant:\n     Example LLC\n\nRegistrar:\n     Registrar Example Inc. (http://www.registrar.example)\n\nRelevant dates:\n     Registered on 30th April 2003 at 00:04:00.000\n     Registry fee due on 30th April each year\n\nRegistration status:\n     Registered until cancelled\n\nName servers:\n     ns1.example.net\n     ns2.example.net\n\nWHOIS lookup made on Mon, 15 Mar 2029 at 19:28:23 GMT\n",
        registrar: Some("Registrar Example Inc."), expires: None, servers: NS, privacy: Some(false), statuses: &["active"],
    },
    Fixture {
        style: ".jp", name: "example.jp", tld: "jp",
        text: "[ JPRS database provides information on network administration. Its use is    ]\n[ restricted to network administration purposes.                              ]\n\nDomain Information: [ドメイン情報]\n[Domain Name]                   EXAMPLE.JP\n\n[登録者名]                      Example, Inc.\n[Registrant]                    Example, Inc.\n\n[Name Server]                   ns1.example.net\n[Name Server]                   ns2.example.net\n[Signing Key]                   \n\n[登録年月日]                    2010/09/22\n[有効期限]                      2030/09/30\n[状態]                          Active\n[最終更新]                      2029/10/01 01:05:09 (JST)\n\nContact Information: [公開連絡窓口]\n[名前]                          Example, Inc.\n[Name]                          Example, Inc.\n[Email]                         hostmaster@example.com\n[Postal Address]                Example-ku\n                                Example Tower\n",
        registrar: None, expires: Some("2030-09-30T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["active"],
    },
    Fixture {
        style: ".co.jp", name: "example.co.jp", tld: "co.jp",
        text: "Domain Information:\na. [Domain Name]                EXAMPLE.CO.JP\ng. [Organization]               Example Corporation\nl. [Organization Type]          Corporation\nm. [Administrative Contact]     EX00000JP\np. [Name Server]                ns1.example.net\np. [Name Server]                ns2.example.net\ns. [Signing Key]                \n[State]                         Connected (2030/09/30)\n[Lock Status]                   AgentChangeLocked\n[Registered Date]               2019/09/27\n[Connected Date]                2019/09/27\n[Last Update]                   2029/10/01 01:00:44 (JST)\n",
        registrar: None, expires: Some("2030-09-30T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["connected"],
    },
    Fixture {
        style: ".kr", name: "example.kr", tld: "kr",
        text: "query : example.kr\n\n\n# KOREAN(UTF8)\n\n도메인이름                  : example.kr\n등록인                      : 예시 주식회사\n등록일                      : 2000. 01. 02.\n최근 정보 변경일             : 2020. 03. 04.\n사용 종료일                 : 2031. 01. 02.\n정보공개여부                 : Y\n등록대행자                  : Registrar Example(http://registrar.example)\nDNSSEC                      : 미서명\n\n1차 네임서버 정보\n   호스트이름               : ns1.example.net\n\n# ENGLISH\n\nDomain Name                 : example.kr\nRegistrant                  : Example Corp.\nRegistered Date             : 2000. 01. 02.\nLast Updated Date           : 2020. 03. 04.\nExpiration Date             : 2031. 01. 02.\nPublishes                   : Y\nAuthorized Agency           : Registrar Example(http://registrar.example)\n\nPrimary Name Server\n   Host Name                : ns1.example.net\n   IP Address               : 192.0.2.1\n\nSecondary Name Server\n   Host Name                : ns2.example.net\n",
        registrar: Some("Registrar Example"), expires: Some("2031-01-02T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".br", name: "example.com.br", tld: "com.br",
        text: "\n% Copyright (c) Nic.br\n%  The use of the data below is only permitted as described in\n%  full by the terms of use.\n\ndomain:      example.com.br\nowner:       Exemplo Ltda\nownerid:     00.000.000/0001-00\ncountry:     BR\nowner-c:     EXEXE1\nnserver:     ns1.example.net\nnsstat:      20290418 AA\nnslastaa:    20290418\nnserver:     ns2.example.net\nnsstat:      20290418 NOT SYNC ZONE\nsaci:        yes\ncreated:     19990518 #162310\nchanged:     20290417\nexpires:     20300518\nstatus:      published\n\nnic-hdl-br:  EXEXE1\nperson:      Exemplo\ne-mail:      exemplo@example.com\ncreated:     20100520\nchanged:     20180324\nexpires:     20270101\n",
        registrar: None, expires: Some("2030-05-18T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["published"],
    },
    Fixture {
        style: ".cn", name: "example.cn", tld: "cn",
        text: "Domain Name: example.cn\nROID: 20030311s10001s00000000-cn\nDomain Status: clientDeleteProhibited\nRegistrant: 示例公司\nRegistrant Contact Email: hostmaster@example.com\nSponsoring Registrar: 注册商示例有限公司\nName Server: ns1.example.net\nName Server: ns2.example.net\nRegistration Time: 2003-03-17 12:20:05\nExpiration Time: 2032-03-17 12:48:36\nDNSSEC: unsigned\n",
        registrar: Some("注册商示例有限公司"), expires: Some("2032-03-17T12:48:36Z"), servers: NS, privacy: Some(false), statuses: &["clientDeleteProhibited"],
    },
    Fixture {
        style: ".ru", name: "example.ru", tld: "ru",
        text: "% By submitting a query to the Whois Service\n% you agree to abide by the following terms of use.\n\ndomain:        EXAMPLE.RU\nnserver:       ns1.example.net. 192.0.2.1, 2001:db8::1\nnserver:       ns2.example.net.\nstate:         REGISTERED, DELEGATED, VERIFIED\nperson:        Private Person\nregistrar:     EXAMPLE-RU\nadmin-contact: https://www.registrar.example/whois\ncreated:       1997-09-23T09:45:07Z\npaid-till:     2030-09-30T21:00:00Z\nfree-date:     2030-11-01\nsource:        TCI\n\nLast updated on 2029-12-08T22:51:30Z\n",
        registrar: Some("EXAMPLE-RU"), expires: Some("2030-09-30T21:00:00Z"), servers: NS, privacy: Some(true), statuses: &["registered", "delegated", "verified"],
    },
    Fixture {
        style: ".fr (RPSL)", name: "example.fr", tld: "fr",
        text: "%%\n%% This is the AFNIC Whois server.\n%%\n\ndomain:                        example.fr\nstatus:                        ACTIVE\neppstatus:                     serverTransferProhibited\nhold:                          NO\nholder-c:                      ANO00-FRNIC\nadmin-c:                       ANO00-FRNIC\nregistrar:                     REGISTRAR EXAMPLE SAS\nExpiry Date:                   2030-12-31T23:00:00Z\ncreated:                       1994-12-31T23:00:00Z\nlast-update:                   2029-01-31T23:05:07.728924Z\nsource:                        FRNIC\n\nnserver:                       ns1.example.net\nnserver:                       ns2.example.net\nsource:                        FRNIC\n\nregistrar:                     REGISTRAR EXAMPLE SAS\naddress:                       1 rue de l'Exemple\nregistered:                    1997-12-29T00:00:00Z\nsource:                        FRNIC\n\nnic-hdl:                       ANO00-FRNIC\ntype:                          PERSON\ncontact:                       Ano Nymous\nregistrar:                     OTHER EXAMPLE\nchanged:                       2024-03-20T07:07:28Z anonymous@nowhere.example\neligdate:                      2031-12-30T17:15:32Z\n",
        registrar: Some("REGISTRAR EXAMPLE SAS"), expires: Some("2030-12-31T23:00:00Z"), servers: NS, privacy: Some(true), statuses: &["active", "serverTransferProhibited"],
    },
    Fixture {
        style: ".it", name: "example.it", tld: "it",
        text: "\n*********************************************************************\n* Please note that the following result could be a subgroup of      *\n* the data contained in the database.                               *\n*********************************************************************\n\nDomain:             example.it\nStatus:             inactive / pendingDelete\nSigned:             no\nCreated:            1999-12-10 00:00:00\nLast Update:        2018-05-07 00:54:15\nExpire Date:        2030-04-21\n\nRegistrant\n  Organization:     Esempio SpA\n  Address:          Via Esempio 1\n                    Milano\n                    IT\n  Created:          2018-03-02 19:04:02\n  Last Update:      2018-03-02 19:04:02\n\nTechnical Contacts\n  Name:             hidden\n\nRegistrar\n  Organization:     Registrar Example International\n  Name:             EXAMPLE-REG\n  Web:              https://www.registrar.example/\n  DNSSEC:           no\n\n\nNameservers\n  ns1.example.net\n  ns2.example.net\n\n",
        registrar: Some("Registrar Example International"), expires: Some("2030-04-21T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["inactive", "pendingDelete"],
    },
    Fixture {
        style: ".eu", name: "example.eu", tld: "eu",
        text: "% The WHOIS service offered by EURid is provided for information purposes only.\n%\n\nDomain: example.eu\nScript: LATIN\n\nRegistrant:\n        NOT DISCLOSED!\n        Visit www.registry.example for the web-based WHOIS.\n\nTechnical:\n        Organisation: Example vzw\n        Email: tech@example.com\n\nRegistrar:\n        Name: Registrar Example vzw\n        Website: https://www.registrar.example\n\nName servers:\n        ns1.example.net (192.0.2.1)\n        ns1.example.net (2001:db8::1)\n        ns2.example.net\n\nKeys:\n        flags:KSK protocol:3 algorithm:RSA_SHA256 pubKey:AwEAAcOQ\n\nPlease visit www.registry.example for more info.\n",
        registrar: Some("Registrar Example vzw"), expires: None, servers: NS, privacy: Some(true), statuses: &[],
    },
    Fixture {
        style: ".be", name: "example.be", tld: "be",
        text: "% .be Whois Server 6.1\n%\n\nDomain:\texample.be\nStatus:\tNOT AVAILABLE\nRegistered:\tTue Dec 12 2000\n\nRegistrant:\n\tNot shown, please visit www.registry.example for webbased whois.\n\nRegistrar Technical Contacts:\n\tOrganisation:\tOther Example Inc.\n\nRegistrar:\n\tName:\t Registrar Example Inc.\n\tWebsite: http://www.registrar.example\n\nNameservers:\n\tns2.example.net\n\tns1.example.net\n\nKeys:\n\nFlags:\n\tclientTransferProhibited\n",
        registrar: Some("Registrar Example Inc."), expires: None, servers: NS, privacy: Some(true), statuses: &["not available", "clientTransferProhibited"],
    },
    Fixture {
        style: ".nl", name: "example.nl", tld: "nl",
        text: "Domain name: example.nl\nStatus:      in quarantine\n\nReseller:\n   Reseller Example\n   Examplestraat 61\n\nRegistrar:\n   Registrar Example B.V.\n   Examplestraat 62\n   3512AB Utrecht\n   Netherlands\n\nAbuse Contact:\n   +31.000000000\n   abuse@registrar.example\n\nDNSSEC:      yes\n\nDomain nameservers:\n   ns1.example.net\n   ns2.example.net\n\nCreation Date: 1998-02-20\n\nUpdated Date: 2025-09-12\n\nRecord maintained by: SIDN BV\n\nCopyright notice\nNo part of this publication may be reproduced\n",
        registrar: Some("Registrar Example B.V."), expires: None, servers: NS, privacy: None, statuses: &["redemptionPeriod"],
    },
    Fixture {
        style: ".pl", name: "example.pl", tld: "pl",
        text: "\nDOMAIN NAME:           example.pl\nregistrant type:       organization\nnameservers:           ns1.example.net. [192.0.2.1]\n                       ns2.example.net.\ncreated:               1999.10.27 13:00:00\nlast modified:         2027.10.17 07:01:25\nrenewal date:          2030.10.26 15:00:00\n\noption created:        2014.06.02 23:44:16\noption expiration date:       2033.06.02 23:44:16\n\ndnssec:                Unsigned\nTECHNICAL CONTACT:\ncompany: Example\nstreet: ul. Example 1\nlast modified: 2017.03.27\n\n\nREGISTRAR:\nRegistrar Example Sp. z o.o.\nul. Example 2\nPoland/Polska\n+48.000000000\n\nWHOIS database responses: http://www.registry.example\n",
        registrar: Some("Registrar Example Sp. z o.o."), expires: Some("2030-10-26T15:00:00Z"), servers: NS, privacy: None, statuses: &[],
    },
    Fixture {
        style: ".se", name: "example.se", tld: "se",
        text: "# Copyright (c) 1997- The Swedish Internet Foundation.\n# All rights reserved.\n# The information obtained through searches, or otherwise, is protected\n# by the Swedish Copyright Act.\n\nstate:            active\ndomain:           example.se\nholder:           (not shown)\ncreated:          2011-04-15\nmodified:         2021-02-16\nexpires:          2032-04-15\ntransferred:      2031-02-03\nnserver:          ns1.example.net 192.0.2.1\nnserver:          ns2.example.net\ndnssec:           signed delegation\nregistry-lock:    unlocked\nstatus:           ok\nregistrar:        Registrar Example AB\n",
        registrar: Some("Registrar Example AB"), expires: Some("2032-04-15T00:00:00Z"), servers: NS, privacy: Some(true), statuses: &["active", "ok"],
    },
    Fixture {
        style: ".fi", name: "example.fi", tld: "fi",
        text: "\ndomain.............: example.fi\nstatus.............: Registered\ncreated............: 18.7.2012 04:04:23\nexpires............: 7.8.2032 22:16:55\navailable..........: 7.9.2032 22:16:55\nmodified...........: 19.3.2029\nholder transfer....: 28.1.2014\nRegistryLock.......: no\n\nNameservers\n\nnserver............: ns1.example.net [OK]\nnserver............: ns2.example.net [OK]\n\nDNSSEC\n\ndnssec.............: no\n\nHolder\n\nname...............: Esimerkki Oy\naddress............: Esimerkkitie 5\nholder email.......: \n\nRegistrar\n\nregistrar..........: Registrar Example Oy\nwww................: www.registrar.example\n\n>>> Last update of WHOIS database: 17.4.2029 8:46:14 (EET) <<<\n",
        registrar: Some("Registrar Example Oy"), expires: Some("2032-08-07T22:16:55Z"), servers: NS, privacy: Some(false), statuses: &["registered"],
    },
    Fixture {
        style: ".tr", name: "example.com.tr", tld: "com.tr",
        text: "** Domain Name: example.com.tr\nDomain Status: Active\nFrozen Status: -\nTransfer Status: The domain is LOCKED to transfer.\n\n** Registrant:\n   Hidden upon user request\n\n** Registrar:\nNIC Handle\t\t: exa1\nOrganization Name\t: Registrar Example A.S.\nAddress\t\t\t: Hidden upon user request\n\n** Domain Servers:\nns1.example.net\nns2.example.net 192.0.2.2\n\n** Additional Info:\nCreated on..............: 2001-Aug-23.\nExpires on..............: 2030-Aug-22.\n",
        registrar: Some("Registrar Example A.S."), expires: Some("2030-08-22T00:00:00Z"), servers: NS, privacy: Some(true), statuses: &["active"],
    },
    Fixture {
        style: ".mx", name: "example.mx", tld: "mx",
        text: "\nDomain Name:       example.mx\n\nCreated On:        2009-05-12\nExpiration Date:   2030-05-11\nLast Updated On:   2029-04-12\nRegistrar:         Registrar Example\nURL:               http://www.registrar.example/\n\nRegistrant:\n   Name:           Ejemplo SA\n   City:           Ejemplo\n   State:          California\n   Country:        Mexico\n\nAdministrative Contact:\n   Name:           Other\n   State:          California\n\nName Servers:\n   DNS:            ns1.example.net\n   DNS:            ns2.example.net\n\nDNSSEC DS Records:\n",
        registrar: Some("Registrar Example"), expires: Some("2030-05-11T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".cl", name: "example.cl", tld: "cl",
        text: "%%\n%% This is the NIC Chile Whois server.\n%%\n\nDomain name: example.cl\nRegistrant name: Ejemplo SpA\nRegistrant organisation: \nRegistrar name: Registrar Example Inc.\nRegistrar URL: https://registrar.example/\nCreation date: 2002-10-22 17:48:23 CLST\nExpiration date: 2030-11-20 14:48:02 CLST\nName server: ns1.example.net\nName server: ns2.example.net\n\n%%\n%% For communication with domain contacts please use website.\n",
        registrar: Some("Registrar Example Inc."), expires: Some("2030-11-20T17:48:02Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".hk", name: "example.com.hk", tld: "com.hk",
        text: " -------------------------------------------------------------------------------\n Whois server by HKIRC\n -------------------------------------------------------------------------------\n .hk top level Domain names can be registered via HKIRC-Accredited Registrars. \n -------------------------------------------------------------------------------\n\nDomain Name:  EXAMPLE.COM.HK \n\nDomain Status: Active \n\nRegistrar Name: Registrar Example Company Limited\n\nRegistrar Contact Information: Email: enquiry@registrar.example  Hotline: +000\n\nReseller: \n\nRegistrant Contact Information:\n\nCompany English Name (It should be the same as the registered name): EXAMPLE LIMITED\nAddress:  1 EXAMPLE STREET \nCountry: Hong Kong (HK)\nEmail:  admin@example.com \nDomain Name Commencement Date: 14-07-1998\nExpiry Date: 07-03-2030 \nRe-registration Status:  Complete \n\nAdministrative Contact Information:\n\nGiven name:  Example\n\nName Servers Information:\n\nNS1.EXAMPLE.NET \nNS2.EXAMPLE.NET\n\nStatus Information:\n\nDomain Prohibit Status: \n\n\nWHOIS Terms of Use \nBy using this WHOIS search enquiry service you agree to these terms of use.\n",
        registrar: Some("Registrar Example Company Limited"), expires: Some("2030-03-07T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["active"],
    },
    Fixture {
        style: ".tw", name: "example.com.tw", tld: "com.tw",
        text: "Domain Name: example.com.tw\n   Domain Status: clientUpdateProhibited,clientTransferProhibited\n   Registrant:\n      Example Inc.\n      Hostmaster  hostmaster@example.com\n\n   Administrative Contact:\n      Hostmaster  hostmaster@example.com\n\n   Record expires on 2030-11-09 (YYYY-MM-DD)\n   Record created on 2000-08-29 (YYYY-MM-DD)\n\n   Domain servers in listed order:\n      ns1.example.net      192.0.2.1\n      ns2.example.net\n\nRegistration Service Provider: Registrar Example, Inc.\nRegistration Service URL: http://www.registrar.example/\n\n[Provided by Registry Gateway Services]\n",
        registrar: Some("Registrar Example, Inc."), expires: Some("2030-11-09T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["clientUpdateProhibited", "clientTransferProhibited"],
    },
    Fixture {
        style: ".sg of old (tabs)", name: "example.com.sg", tld: "com.sg",
        text: "----------------------------------------------------------------------\n SGNIC WHOIS Server\n----------------------------------------------------------------------\n\nThe following data is provided for information purposes only.\n\n    Registrar:\t\tREGISTRAR EXAMPLE PTE LTD\n\n    Domain Name:\tEXAMPLE.COM.SG\n    Creation Date:\t05-Jul-2002 17:42:32\n    Modified Date:\t03-Jun-2029 17:54:56\n    Expiration Date:\t04-Jul-2030 00:00:00\n    Domain Status:\tOK\n    Domain Status:\tVerifiedID@SG-Not Required\n\n    Registrant:\n\n        Name:\t\t\tEXAMPLE PTE LTD (SGNIC-ORG1)\n\n    Technical Contact:\n\n        Name:\t\t\tEXAMPLE (SGNIC-PER1)\n        Email:\t\t\thostmaster@example.com\n\n    Name Servers:\n\n        NS1.EXAMPLE.NET\n        NS2.EXAMPLE.NET (192.0.2.2)\n\n",
        registrar: Some("REGISTRAR EXAMPLE PTE LTD"), expires: Some("2030-07-04T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["ok"],
    },
    Fixture {
        style: ".ua", name: "example.com.ua", tld: "com.ua",
        text: "% This is the Ukrainian Whois query server #P.\n% The Whois is subject to Terms of use\n%\n\ndomain:           example.com.ua\ndom-public:       NO\nmnt-by:           ua.example\nnserver:          ns1.example.net\nnserver:          ns2.example.net\nstatus:           clientDeleteProhibited\ncreated:          2002-12-04 00:00:00+02\nmodified:         2029-11-02 11:28:26+02\nexpires:          2030-12-04 00:00:00+02\nsource:           UAEPP\n\n% Registrar:\n% ==========\nregistrar:        ua.example\norganization:     Registrar Example Inc.\nurl:              http://registrar.example\nsource:           UAEPP\n\n% Registrant:\n% ===========\nperson:           not published\nperson-loc:       not published\norganization-loc: not published\nstatus:           linked\ncreated:          2018-02-27 21:07:26+02\nsource:           UAEPP\n\n\n% Query time:     2 msec\n",
        registrar: Some("Registrar Example Inc."), expires: Some("2030-12-03T22:00:00Z"), servers: NS, privacy: Some(true), statuses: &["clientDeleteProhibited"],
    },
    Fixture {
        style: ".cz", name: "example.cz", tld: "cz",
        text: "%  (c) 2006-2029 CZ.NIC\n%\n% Whoisd Server Version: 3.12.0\n% Timestamp: Tue Feb 23 08:27:34 2029\n\ndomain:       example.cz\nregistrant:   EX-0001\nnsset:        EXAMPLECZ\nkeyset:       EXAMPLEKEY\nregistrar:    REG-EXAMPLE\nstatus:       Sponsoring registrar change forbidden\nregistered:   19.09.1997 02:00:00\nchanged:      12.01.2027 16:58:49\nexpire:       28.10.2030\n\ncontact:      EX-0001\norg:          Example s.r.o.\nname:         Example\nregistrar:    REG-OTHER\ncreated:      11.01.2017 14:42:32\n\nnsset:        EXAMPLECZ\nnserver:      ns1.example.net (192.0.2.1)\nnserver:      ns2.example.net\nregistrar:    REG-OTHER\ncreated:      12.01.2017 16:58:49\n",
        registrar: Some("REG-EXAMPLE"), expires: Some("2030-10-28T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["sponsoring registrar change forbidden"],
    },
    Fixture {
        style: ".sk", name: "example.sk", tld: "sk",
        text: "Domain:                       example.sk\nRegistrant:                   Example\nAdmin Contact:                Example\nRegistrar:                    EXAM-0002\nCreated:                      2003-07-24\nUpdated:                      2028-07-03\nValid Until:                  2030-07-24\nNameserver:                   ns1.example.net\nNameserver:                   ns2.example.net\nEPP Status:                   ok\n\nRegistrar:                    EXAM-0002\nName:                         Registrar Example s. r. o.\nOrganization:                 Registrar Example s. r. o.\nCreated:                      2017-09-01\n\nContact:                      Example\nName:                         Hostmaster\nOrganization:                 Example Limited\n",
        registrar: Some("Registrar Example s. r. o."), expires: Some("2030-07-24T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["ok"],
    },
    Fixture {
        style: ".ro", name: "example.ro", tld: "ro",
        text: "\n% The WHOIS service offered by ROTLD and the access to the records in the ROTLD WHOIS database\n% are provided for information purposes and to be used within the scope of technical or\n% administrative necessities.\n\n  Domain Name: example.ro\n  Registered On: Before 2001\n  Expires On: 2030-09-17\n  Registrar: Registrar Example Inc.\n  Referral URL: www.registrar.example\n\n  DNSSEC: Inactive\n\n  Nameserver: ns1.example.net\n  Nameserver: ns2.example.net\n\n  Domain Status: OK\n",
        registrar: Some("Registrar Example Inc."), expires: Some("2030-09-17T00:00:00Z"), servers: NS, privacy: None, statuses: &["ok"],
    },
    Fixture {
        style: ".lt", name: "example.lt", tld: "lt",
        text: "% Hello, this is the DOMREG whois service.\n%\n\nDomain:\t\t\texample.lt\nStatus:\t\t\tregistered\nRegistered:\t\t1999-06-07\nExpires:\t\t2030-06-08\n%\nRegistrar:\t\tRegistrar Example UAB\nRegistrar website:\thttp://www.registrar.example\nRegistrar email:\tinfo@registrar.example\n%\nContact organization:\tPavyzdys UAB\nContact email:\t\tinfo@example.com\n%\nNameserver:\t\tns1.example.net\nNameserver:\t\tns2.example.net\t[192.0.2.1]\n",
        registrar: Some("Registrar Example UAB"), expires: Some("2030-06-08T00:00:00Z"), servers: NS, privacy: None, statuses: &["registered"],
    },
    Fixture {
        style: ".lv", name: "example.lv", tld: "lv",
        text: "[Domain]\nDomain: example.lv\nStatus: active\n\n[Holder]\nType: Natural person\nVisit: https://www.registry.example/whois/contact/example.lv to contact.\n\n[Tech]\nType: Legal person\nName: Tech Example\n\n[Registrar]\nType: Legal person\nName: Registrar Example SIA\nEmail: info@registrar.example\n\n[Nservers]\nNserver: ns1.example.net\nNserver: ns2.example.net\n\n[Whois]\nUpdated: 2029-02-11T18:12:27.072052+00:00\n\n[Disclaimer]\n% The WHOIS service is provided solely for informational purposes.\n",
        registrar: Some("Registrar Example SIA"), expires: None, servers: NS, privacy: None, statuses: &["active"],
    },
    Fixture {
        style: ".ee", name: "example.ee", tld: "ee",
        text: "\nSearch results may not be used for commercial, advertising, recompilation,\nrepackaging, redistribution, reuse, obscuring or other similar activities.\n\nEstonia .ee Top Level Domain WHOIS server\n\nDomain:\nname:       example.ee\nstatus:     ok (paid and in zone)\nregistered: 2010-07-04 04:34:46 +03:00\nchanged:    2019-10-07 17:50:09 +03:00\nexpire:     2030-11-09\noutzone:    \ndelete:     \n\nRegistrant:\nname:       Näide OÜ\norg id:     0000000\ncountry:    EE\nemail:      hostmaster@example.com\nchanged:    2019-10-07 17:50:09 +03:00\n\nAdministrative contact:\nname:       Not Disclosed - Visit www.registry.example for webbased WHOIS\n\nRegistrar:\nname:       Registrar Example OÜ\nurl:        http://www.registrar.example\nchanged:    2016-01-04 18:23:09 +02:00\n\nName servers:\nnserver:   ns1.example.net\nnserver:   ns2.example.net\nchanged:   2010-11-10 14:15:06 +02:00\n",
        registrar: Some("Registrar Example OÜ"), expires: Some("2030-11-09T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["ok"],
    },
    Fixture {
        style: ".gov", name: "example.gov", tld: "gov",
        text: "% DOTGOV WHOIS Server ready\n   Domain Name: EXAMPLE.GOV\n   Status: ACTIVE\n\n>>> Last update of whois database: 2029-02-12T02:29:32Z <<<\n\nPlease be advised that this whois server only contains information pertaining\nto the .GOV domain.\n",
        registrar: None, expires: None, servers: None, privacy: None, statuses: &["active"],
    },
    Fixture {
        style: ".edu", name: "example.edu", tld: "edu",
        text: "This Registry database contains ONLY .EDU domains.\nThe data in the EDUCAUSE Whois database is provided\nby EDUCAUSE for information purposes.\n-------------------------------------------------------------\n\nDomain Name: EXAMPLE.EDU\n\nRegistrant:\n\tExample University\n\t1 Example Road\n\tExample City, EX 00000\n\tUS\n\nAdministrative Contact:\n\tDomain Admin\n\tExample University\n\nName Servers:\n\tNS1.EXAMPLE.NET\n\tNS2.EXAMPLE.NET\n\nDomain record activated:    07-Oct-1985\nDomain record last updated: 26-Dec-2029\nDomain expires:             31-Jul-2031\n",
        registrar: None, expires: Some("2031-07-31T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".ar", name: "example.com.ar", tld: "com.ar",
        text: "% La información a la que estás accediendo se provee exclusivamente para\n% fines relacionados con operaciones sobre nombres de dominios y DNS.\n\ndomain:\t\texample.com.ar\nregistrant:\t00000000000\nregistrar:\tnicar\nregistered:\t2019-11-01 12:21:37.677445\nchanged:\t2019-11-01 12:28:38.182736\nexpire:\t\t2030-11-01 00:00:00\n\ncontact:\t00000000000\nname:\t\tEJEMPLO SA\nregistrar:\tnicar\ncreated:\t2013-10-29 00:00:00\n\nnserver:\tns1.example.net ()\nnserver:\tns2.example.net (192.0.2.1/32)\nregistrar:\tnicar\ncreated:\t2019-11-01 12:28:37.824369\n",
        registrar: Some("nicar"), expires: Some("2030-11-01T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".ie of old", name: "example.ie", tld: "ie",
        text: "% Rights restricted by copyright; http://iedr.ie/index.php/mnudomregs/mnudnssearch/96\n% Do not remove this notice\n\nDomain:                  example.ie\nDomain Holder:           Example, Inc\nAdmin-c:                 EXA410-IEDR\nRegistrar Abuse Contact: abuse@registrar.example\nRegistration Date:       21-March-2002\nRenewal Date:            21-March-2031\nHolder-type:             Billable\nLocked status:           YES\nRenewal status:          Active\nIn-zone:                 1\nNserver:                 ns1.example.net\nNserver:                 ns2.example.net\n",
        registrar: None, expires: Some("2031-03-21T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".il", name: "example.co.il", tld: "co.il",
        text: "\n% The data in the WHOIS database of the .il registry is provided\n% by ISOC-IL for information purposes.\n\nquery:        example.co.il\n\nreg-name:     example\ndomain:       example.co.il\n\ndescr:        Example LLC.\ndescr:        1 Example Street\nphone:        +000 0 0000000\nadmin-c:      EX-EX0001-IL\nnserver:      ns1.example.net\nnserver:      ns2.example.net\n\nassigned:     05-06-1999\nvalidity:     05-06-2030\nDNSSEC:       unsigned\nstatus:       Transfer Locked\nchanged:      registrar AT ns.example 19990605 (Assigned)\n\nperson:       Example\naddress       Example Inc.\nnic-hdl:      EX-EX0001-IL\nchanged:      Managing Registrar 20170329\n\nregistrar name: Registrar Example Ltd\nregistrar info: https://www.registrar.example\n",
        registrar: Some("Registrar Example Ltd"), expires: Some("2030-06-05T00:00:00Z"), servers: NS, privacy: None, statuses: &["transfer locked"],
    },
    Fixture {
        style: ".is", name: "example.is", tld: "is",
        text: "% This is the ISNIC Whois server.\n%\n% Rights restricted by copyright.\n\ndomain:       example.is\nregistrant:   EXA25-IS\nadmin-c:      EXA24-IS\nnserver:      ns1.example.net\nnserver:      ns2.example.net\ndnssec:       unsigned delegation\ncreated:      January 18 2000\nexpires:      September  6 2031\nsource:       ISNIC\n\nrole:         Example ehf.\nnic-hdl:      EXA25-IS\naddress:      Example 1\ne-mail:       hostmaster@example.com\ncreated:      September 28 2016\nsource:       ISNIC\n",
        registrar: None, expires: Some("2031-09-06T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".ir", name: "example.ir", tld: "ir",
        text: "% This is the IRNIC Whois server v1.6.2.\n% Available on web at http://whois.nic.ir/\n\ndomain:\t\texample.ir\nascii:\t\texample.ir\nremarks:\t(Domain Holder) Example Inc.\nholder-c:\tex438-irnic\nadmin-c:\tex103-irnic\nnserver:\tns1.example.net\nnserver:\tns2.example.net\nlast-updated:\t2029-11-07\nexpire-date:\t2030-12-22\nsource:\t\tIRNIC # Filtered\n\nnic-hdl:\tex438-irnic\norg:\t\tExample Inc.\ne-mail:\t\thostmaster@example.com\n",
        registrar: None, expires: Some("2030-12-22T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".kz", name: "example.kz", tld: "kz",
        text: "Whois Server for the KZ top level domain name.\nThis server is maintained by KazNIC Organization, a ccTLD manager for Kazakhstan Republic.\n\nDomain Name............: example.kz\n\nOrganization Using Domain Name\nName...................: Example LLP\nOrganization Name......: Example LLP\nState..................: CA\n\nAdministrative Contact/Agent\nNIC Handle.............: C000000000000-KZ\nName...................: Other\n\nNameserver in listed order\n\nPrimary server.........: ns1.example.net\nPrimary ip address.....: 192.0.2.1\n\nSecondary server.......: ns2.example.net\nSecondary ip address...: 192.0.2.2\n\n\nDomain created: 1999-06-07 13:01:43 (GMT+0:00)\nLast modified : 2022-11-28 03:16:59 (GMT+0:00)\nDomain status : clientTransferProhibited - status prohibits domain transfer, and more\n                clientDeleteProhibited - status prevents deletion\n\nRegistar created: OTHER\nCurrent Registar: EXAMPLE.KZ\n",
        registrar: Some("EXAMPLE.KZ"), expires: None, servers: NS, privacy: Some(false), statuses: &["clientTransferProhibited", "clientDeleteProhibited"],
    },
    Fixture {
        style: ".th", name: "example.co.th", tld: "co.th",
        text: "Whois Server Version 2.1.6\n\nDomain Name: EXAMPLE.CO.TH\nRegistrar: Registrar Example Co., Ltd\nName Server: NS1.EXAMPLE.NET\nName Server: NS2.EXAMPLE.NET\nDNSSEC: unsigned\nStatus: ACTIVE\nUpdated date: 04 Sep 2028\nCreated date: 08 Oct 1999\nExp date: 07 Oct 2030\nDomain Holder Organization: Example Co., Ltd. (บริษัท ตัวอย่าง จำกัด)\nDomain Holder Street: 1 Example\n\nTech Contact: EXA1\nTech Organization: Personal\n",
        registrar: Some("Registrar Example Co., Ltd"), expires: Some("2030-10-07T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["active"],
    },
    Fixture {
        style: ".my", name: "example.com.my", tld: "com.my",
        text: "Welcome to .my DOMAIN REGISTRY Whois Server\n\n---------------------------------------------------------------------\n\n\na  [Domain Name]               example.com.my\nb  [Registration No.]          D1A000001\nc  [Record Created]            19-JUN-2009\nd  [Record Expired]            19-JUN-2030\ne  [Record Last Modified]      24-FEB-2026\nh  [Registration Service Provider] Registrar Example Sdn Bhd\n\ni  [Primary Name Server]       ns1.example.net\n   [Secondary Name Server]     ns2.example.net\n",
        registrar: Some("Registrar Example Sdn Bhd"), expires: Some("2030-06-19T00:00:00Z"), servers: NS, privacy: None, statuses: &[],
    },
    Fixture {
        style: ".nz", name: "example.co.nz", tld: "co.nz",
        text: "Domain Name: example.co.nz\nRegistrar URL: https://www.registrar.example/\nUpdated Date: 2029-04-07T09:13:29Z\nCreation Date: 1997-05-04T12:00:00Z\nOriginal Created: 1997-05-04T12:00:00Z\nRegistrar: Registrar Example. Inc\nDomain Status: clientDeleteProhibited https://icann.org/epp#clientDeleteProhibited\nName Server: ns1.example.net\nName Server: ns2.example.net\nDNSSEC: unsigned\n>>> Last update of WHOIS database: 2029-09-23T16:12:23Z <<<\n",
        registrar: Some("Registrar Example. Inc"), expires: None, servers: NS, privacy: None, statuses: &["clientDeleteProhibited"],
    },
    Fixture {
        style: ".au", name: "example.com.au", tld: "com.au",
        text: "Domain Name: example.com.au\nRegistry Domain ID: 0-AU\nRegistrar WHOIS Server: whois.auda.org.au\nLast Modified: 2029-11-28T02:05:12Z\nRegistrar Name: Registrar Example Inc.\nReseller Name:\nStatus: serverRenewProhibited https://afilias.com.au/get-au/whois-status-codes#serverRenewProhibited\nStatus Reason: Not Currently Eligible For Renewal\nRegistrant Contact ID: EX-1\nRegistrant Contact Name: Domain Administrator\nTech Contact Name: Other\nName Server: ns1.example.net\nName Server IP: 192.0.2.1\nName Server: ns2.example.net\nDNSSEC: unsigned\nRegistrant: EXAMPLE PTY LTD\nEligibility Type: Company\n",
        registrar: Some("Registrar Example Inc."), expires: None, servers: NS, privacy: Some(false), statuses: &["serverRenewProhibited"],
    },
    Fixture {
        style: ".za of old", name: "example.co.za", tld: "co.za",
        text: "Domain Name:\n    example.co.za\n\nRegistrant:\n    Example (Pty) Ltd\n    Email: hostmaster@example.com\n    Tel: +27.000000000\n\nRegistrar:\n    Registrar Example [ ID = example ]\n\nRelevant Dates:\n    Registration Date: 2001-06-20\n    Renewal Date:      2030-06-20\n\nDomain Status:\n    Registered until Renewal Date\n\nPending Timer Events:\n    None\n\nName Servers:\n    ns1.example.net\n    ns2.example.net\n\nWHOIS lookup made at 2029-04-25T18:02Z\n",
        registrar: Some("Registrar Example"), expires: Some("2030-06-20T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["registered until renewal date"],
    },
    Fixture {
        style: ".pt", name: "example.pt", tld: "pt",
        text: "Domain: example.pt\nDomain Status: Registered\nCreation Date: 30/10/2002 00:00:00\nExpiration Date: 02/11/2030 23:59:00\nOwner Name: EXEMPLO S.A.\nOwner Address: Av. Exemplo, 40\nAdmin Name: Other\nName Server: ns1.example.net | IPv4: 192.0.2.1 and IPv6: \nName Server: ns2.example.net | IPv4: 192.0.2.2 and IPv6: 2001:db8::2\n",
        registrar: None, expires: Some("2030-11-02T23:59:00Z"), servers: NS, privacy: Some(false), statuses: &["registered"],
    },
    Fixture {
        style: "Freenom (month first, shown by another date)", name: "example.tk", tld: "tk",
        text: "   Domain name:\n      EXAMPLE.TK is Active\n\n   Owner contact:\n      Organization: Example Inc.\n      Name:         Hostmaster\n      State:        Nevada\n\n   Domain Nameservers:\n      NS1.EXAMPLE.NET\n      NS2.EXAMPLE.NET\n\n   Domain registered: 09/17/2014\n   Record will expire on: 12/11/2031\n   Record maintained by: Dot TK Domain Registry\n",
        registrar: None, expires: Some("2031-12-11T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".ve of old", name: "example.co.ve", tld: "co.ve",
        text: "Servidor Whois del Centro de Información de Red de Venezuela (NIC.VE)\n\nTitular:\nEjemplo C.A. \t\thostmaster@example.com\n   Ejemplo C.A.\n   Caracas\n\n   Nombre de Dominio: example.co.ve\n\n   Contacto Administrativo:\n      Ejemplo \t\thostmaster@example.com\n\n   Fecha de Vencimiento: 2030-03-06 00:00:00\n   Ultima Actualización: 2029-11-17 20:35:01\n   Fecha de Creación: 2003-03-06 00:00:00\n\n   Estatus del dominio: ACTIVO\n\n   Servidor(es) de Nombres de Dominio:\n\n   - ns1.example.net\n   - ns2.example.net\n\nNIC-Venezuela - CONATEL\n",
        registrar: None, expires: Some("2030-03-06T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["activo"],
    },
    Fixture {
        style: ".kg", name: "example.kg", tld: "kg",
        text: "% This is the .kg ccTLD Whois server\n\nDomain EXAMPLE.KG (ACTIVE)\n\nAdministrative Contact:\n   PID: AI-00000-KG\n   Name: Other\n\nRecord created: Tue Feb 10 09:42:42 2004\nRecord last updated on:  Wed Mar  5 00:13:49 2029\nRecord expires on: Sat Mar 28 23:59:00 2031\n\nName servers in the listed order:\n\nNS1.EXAMPLE.NET 192.0.2.1\nNS2.EXAMPLE.NET\n",
        registrar: None, expires: Some("2031-03-28T23:59:00Z"), servers: NS, privacy: None, statuses: &[],
    },
    Fixture {
        style: ".bg", name: "example.bg", tld: "bg",
        text: "DOMAIN NAME: example.bg\nrequested on: 12/07/2009 00:00:00 EET\nprocessed from: 13/07/2009 12:00:07 EEST\nactivated on: 13/07/2009 12:00:07 EEST\nexpires at: 12/07/2030 23:00:00 EEST\nregistration status: Registered\n\nREGISTRANT:\nExample EAD\n  bul. Example 41\n  SOFIA, 1592\n\nADMINISTRATIVE CONTACT:\n  Other\n  other@example.com\n\nNAME SERVER INFORMATION:\nns1.example.net\nns2.example.net (192.0.2.2)\n\nDNSSEC: Inactive\n",
        registrar: None, expires: Some("2030-07-12T20:00:00Z"), servers: NS, privacy: Some(false), statuses: &["registered"],
    },
    Fixture {
        style: ".li", name: "example.li", tld: "li",
        text: "Domain name:\nexample.li\n\nHolder of domain name:\nBeispiel AG\nBeispielstrasse 8\nLI-9490 Vaduz\n\nRegistrar:\nRegistrar Beispiel AG\n\nFirst registration date:\n1996-02-08\n\nDNSSEC:N\n\nName servers:\nns1.example.net    [192.0.2.1]\nns2.example.net\nns2.example.net    [2001:db8::2]\n",
        registrar: Some("Registrar Beispiel AG"), expires: None, servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: ".rs", name: "example.rs", tld: "rs",
        text: "% The data in the Whois database are provided by RNIDS\n\nDomain name: example.rs\nDomain status: Active https://www.registry.example/en/domain-name-status-codes#Active\nRegistration date: 26.03.2008 16:18:03\nModification date: 11.02.2029 08:24:15\nExpiration date: 06.03.2030 16:18:03\nConfirmed: 26.03.2008 16:18:03\nRegistrar: Registrar Example d.o.o.\n\nRegistrant: Primer doo\nAddress: Primer 129, Beograd\n\nDNS: ns1.example.net - 192.0.2.1\nDNS: ns2.example.net - \nDNSSEC signed: no\n\nWhois Timestamp: 07.11.2031 20:57:08\n",
        registrar: Some("Registrar Example d.o.o."), expires: Some("2030-03-06T16:18:03Z"), servers: NS, privacy: Some(false), statuses: &["active"],
    },
    Fixture {
        style: "French, unseen", name: "example.sn", tld: "sn",
        text: "Nom de domaine : example.sn\nStatut : Actif\nBureau d'enregistrement : Registrar Exemple SARL\nDate de création : 2010-01-05\nDernière modification : 2029-01-05\nDate d'expiration : 05/01/2031\nTitulaire : Exemple SA\nServeurs de noms : ns1.example.net, ns2.example.net\n",
        registrar: Some("Registrar Exemple SARL"), expires: Some("2031-01-05T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["actif"],
    },
    Fixture {
        style: "Russian, unseen", name: "example.test", tld: "test",
        text: "Домен: example.test\nРегистратор: ООО Пример\nДата регистрации: 2001-02-03\nСрок действия: 3 февраля 2031\nСерверы DNS: ns1.example.net ns2.example.net\n",
        registrar: Some("ООО Пример"), expires: Some("2031-02-03T00:00:00Z"), servers: NS, privacy: None, statuses: &[],
    },
    Fixture {
        style: "columns without a colon, unseen", name: "example.test", tld: "test",
        text: "Domain Name           example.test\nSponsoring Registrar  Registrar Example\nCreated On            1 May 2001\nValid Until           30 April 2031\nName Servers          ns1.example.net\n                      ns2.example.net\n",
        registrar: Some("Registrar Example"), expires: Some("2031-04-30T00:00:00Z"), servers: NS, privacy: None, statuses: &[],
    },
    Fixture {
        style: "camel case and equals, unseen", name: "example.test", tld: "test",
        text: "domainName = example.test\nregistrarName = Registrar Example\nexpirationDate = 2031-04-30T10:00:00+0200\nnameServers = ns1.example.net;ns2.example.net\n",
        registrar: Some("Registrar Example"), expires: Some("2031-04-30T08:00:00Z"), servers: NS, privacy: None, statuses: &[],
    },
    Fixture {
        style: "carriage returns only", name: "example.test", tld: "test",
        text: "Domain Name: example.test\rRegistrar: Registrar Example\rExpires: 2031-04-30\rName Server: ns1.example.net\rName Server: ns2.example.net\r",
        registrar: Some("Registrar Example"), expires: Some("2031-04-30T00:00:00Z"), servers: NS, privacy: None, statuses: &[],
    },
    Fixture {
        style: ".dk", name: "example.dk", tld: "dk",
        text: "# Copyright (c) 2002 - 2029 by Punktum dk A/S\n#\n# Version: 5.3.0\n\nDomain:               example.dk\nDNS:                  example.dk\nRegistered:           1999-01-28\nExpires:              2031-03-31\nRegistrar:            Registrar Example ApS\nRegistration period:  1 year\nDNSSEC:               Unsigned delegation\nStatus:               Active\n\nRegistrant\nHandle:               ***N/A***\nName:                 Eksempel A/S\n\nNameservers\nHostname:             ns1.example.net\nHostname:             ns2.example.net\n",
        registrar: Some("Registrar Example ApS"), expires: Some("2031-03-31T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["active"],
    },
    Fixture {
        style: ".im", name: "example.im", tld: "im",
        text: "Domain Name: example.im\nDomain Managers\nName: Redacted\nAddress\nRedacted\nDomain Owners / Registrant\nName: Redacted\nAddress\nRedacted\nAdministrative Contact\nName: Redacted\nDomain Details\nExpiry Date: 04/03/2031 00:59:56\nName Server:ns1.example.net.\nName Server:ns2.example.net.\n",
        registrar: None, expires: Some("2031-03-04T00:59:56Z"), servers: NS, privacy: Some(true), statuses: &[],
    },
    Fixture {
        style: ".uz", name: "example.uz", tld: "uz",
        text: "% Uzbekistan Whois Server Version 1.0\n\n% Domain names in the .uz domain can now be registered\n% with many different competing registrars.\n\n   Domain Name: EXAMPLE.UZ\n   Registrar: Registrar Example\n   Whois Server: www.registry.example\n   Name Server: ns1.example.net. 192.0.2.1\n   Name Server: ns2.example.net. not.defined.\n   Status: RESERVED\n   Creation Date: 13-Apr-2006\n   Expiration Date: 01-May-2031\n\n% >>> Last update of whois database: Fri, 03 May 2029 13:20:24 +0500 <<<\n",
        registrar: Some("Registrar Example"), expires: Some("2031-05-01T00:00:00Z"), servers: NS, privacy: None, statuses: &["reserved"],
    },
    Fixture {
        style: ".io of old", name: "example.io", tld: "io",
        text: "\nDomain : example.io\nStatus : Live\nExpiry : 2031-09-30\n\nNS 1   : ns1.example.net\nNS 2   : ns2.example.net\n\nOwner  : Example, Inc.\nOwner  : 1 Example Street\n\nCheck for 'example.ac' --- http://www.registry.example/\n",
        registrar: None, expires: Some("2031-09-30T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &["live"],
    },
    Fixture {
        style: ".tn", name: "example.tn", tld: "tn",
        text: "NIC Whois server for cTLDs : .tn\n\nAll rights reserved\n\nDomain name.........: example.tn\nCreation date.......: 14-05-2009 00:00:00 GMT+1\nDomain status.......: Active\nRegistrar...........: Registrar Exemple\n\nOwner Contact\nName................: Exemple\n\nAdministrative contact\nName................: Autre\n\nDNSSEC..............: unsigned\n\nDNS servers\nName................: ns1.example.net.\nName................: ns2.example.net.\n",
        registrar: Some("Registrar Exemple"), expires: None, servers: NS, privacy: Some(false), statuses: &["active"],
    },
    Fixture {
        style: ".uy, unseen", name: "example.com.uy", tld: "com.uy",
        text: "% Copyright (c) Uruguay\nTitular: Ejemplo SA\nNombre de Dominio: example.com.uy\nFecha de Creacion: 2001-02-03\nFecha Vencimiento: 03/02/2031\nServidores de Nombres de Dominio:\n  - ns1.example.net\n  - ns2.example.net\n",
        registrar: None, expires: Some("2031-02-03T00:00:00Z"), servers: NS, privacy: Some(false), statuses: &[],
    },
    Fixture {
        style: "redemption", name: "example.net", tld: "net",
        text: "Domain Name: EXAMPLE.NET\nRegistry Expiry Date: 2025-05-01T00:00:00Z\nRegistrar: Registrar Example\nDomain Status: redemptionPeriod https://icann.org/epp#redemptionPeriod\nDomain Status: pendingDelete https://icann.org/epp#pendingDelete\nName Server: ns1.example.net\nName Server: ns2.example.net\n",
        registrar: Some("Registrar Example"), expires: Some("2025-05-01T00:00:00Z"), servers: NS, privacy: None, statuses: &["redemptionPeriod", "pendingDelete"],
    },
];
