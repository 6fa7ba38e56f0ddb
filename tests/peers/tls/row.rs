//! Server configurations: the facts that hand and eye read off them, and the grade that follows
//! from the table. The comment of a row is its arithmetic: protocol + key exchange + cipher.

use super::judge::Seen;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    OpenSsl,
    Nginx,
    TlsLite,
}

pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) stack: Stack,
    pub(crate) leaf: &'static str,
    /// Arguments of `s_server`, directives of nginx, or versions and ciphers of tlslite-ng.
    pub(crate) options: &'static [&'static str],
    /// Accepted, oldest first.
    pub(crate) versions: &'static [&'static str],
    /// The weakest and the strongest suite, in bits.
    pub(crate) bits: (u64, u64),
    pub(crate) key: (&'static str, u64),
    /// The group's bits, where DHE is accepted below TLS 1.3.
    pub(crate) group: Option<u64>,
    pub(crate) grade: &'static str,
}

impl Row {
    /// Where a judge saw something else.
    pub(crate) fn differences(&self, judge: &str, seen: &Seen) -> Vec<String> {
        let mut found = Vec::new();
        if seen.versions != self.versions {
            found.push(format!("{judge} saw {:?}", seen.versions));
        }
        if seen.bits != Some(self.bits) {
            found.push(format!("{judge} saw suites of {:?} bits", seen.bits));
        }
        if seen.group != self.group {
            found.push(format!("{judge} saw a group of {:?} bits", seen.group));
        }
        // sslscan tells the strength of an EC key in place of its size.
        let is_told = judge != "sslscan" || self.key.0 == "RSA";
        if is_told && seen.key_bits.is_some_and(|bits| bits != self.key.1) {
            found.push(format!("{judge} saw a key of {:?} bits", seen.key_bits));
        }
        found
    }

    /// No library of today meets it: only scanners that speak by themselves do.
    pub(crate) fn is_beyond_openssl(&self) -> bool {
        self.stack == Stack::TlsLite
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.versions.contains(&"TLSv1.2") || self.versions.contains(&"TLSv1.3")
    }
}

const RSA: (&str, u64) = ("RSA", 2048);
const P256: (&str, u64) = ("EC", 256);
const V12: &[&str] = &["TLSv1.2"];
const V13: &[&str] = &["TLSv1.3"];
const MODERN: &[&str] = &["TLSv1.2", "TLSv1.3"];
const ALL: &[&str] = &["TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"];
const HSTS: &str = "add_header Strict-Transport-Security 'max-age=31536000' always";
const SHORT_HSTS: &str = "add_header Strict-Transport-Security 'max-age=86400' always";
const INTERMEDIATE: &str = "ssl_ciphers ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384:\
                            ECDHE-RSA-CHACHA20-POLY1305";
const PROTOCOLS_MODERN: &str = "ssl_protocols TLSv1.2 TLSv1.3";

/// OpenSSL as it comes, without HSTS. 30 + 27 + 36 = 93; no HSTS: A.
const S_SERVER: Row = Row {
    name: "openssl",
    stack: Stack::OpenSsl,
    leaf: "rsa2048",
    options: &["-no_dhe"],
    versions: MODERN,
    bits: (128, 256),
    key: RSA,
    group: None,
    grade: "A",
};
/// nginx with today's protocols, AEAD only, and HSTS of a year. 30 + 27 + 36 = 93: A+.
const NGINX: Row = Row {
    name: "nginx-intermediate",
    stack: Stack::Nginx,
    options: &[PROTOCOLS_MODERN, INTERMEDIATE, HSTS],
    grade: "A+",
    ..S_SERVER
};
/// Only here: SSL 3, RC4, 3DES. No 1.3 and no HSTS.
const TLSLITE: Row = Row { stack: Stack::TlsLite, ..S_SERVER };

pub(crate) static ROWS: &[Row] = &[
    S_SERVER,
    // 30 + 27 + 36 = 93; no HSTS: A.
    Row { name: "1.3-only", options: &["-tls1_3"], versions: V13, ..S_SERVER },
    // 30 + 27 + 36 = 93; no 1.3: A.
    Row { name: "1.2-only", options: &["-tls1_2", "-no_dhe"], versions: V12, ..S_SERVER },
    // 30 + 27 + 40 = 97; no 1.3: A.
    Row {
        name: "1.2-aead-256",
        options: &["-tls1_2", "-no_dhe", "-cipher", "ECDHE-RSA-AES256-GCM-SHA384"],
        versions: V12,
        bits: (256, 256),
        ..S_SERVER
    },
    // 30 + 27 + 32 = 89; no AEAD: B.
    Row {
        name: "1.2-cbc",
        options: &["-tls1_2", "-no_dhe", "-cipher", "ECDHE-RSA-AES128-SHA"],
        versions: V12,
        bits: (128, 128),
        grade: "B",
        ..S_SERVER
    },
    // 30 + 27 + 32 = 89; RSA key exchange chosen, no 1.3: B.
    Row {
        name: "1.2-rsa-exchange",
        options: &["-tls1_2", "-no_dhe", "-cipher", "AES128-GCM-SHA256"],
        versions: V12,
        bits: (128, 128),
        grade: "B",
        ..S_SERVER
    },
    // 95: 28 + 27 + 36 = 91; neither 1.2 nor 1.3: C.
    Row {
        name: "1.1-only",
        options: &["-tls1_1", "-no_dhe", "-cipher", "DEFAULT:@SECLEVEL=0"],
        versions: &["TLSv1.1"],
        grade: "C",
        ..S_SERVER
    },
    // 90: 27 + 27 + 36 = 90; neither 1.2 nor 1.3: C.
    Row {
        name: "1.0-only",
        options: &["-tls1", "-no_dhe", "-cipher", "DEFAULT:@SECLEVEL=0"],
        versions: &["TLSv1.0"],
        grade: "C",
        ..S_SERVER
    },
    // (90 + 100) / 2 = 95: 28 + 27 + 36 = 91; 1.0 accepted: B.
    Row {
        name: "1.0-to-1.3",
        options: &["-min_protocol", "TLSv1", "-no_dhe", "-cipher", "DEFAULT:@SECLEVEL=0"],
        versions: ALL,
        grade: "B",
        ..S_SERVER
    },
    // The same without 1.3: B.
    Row {
        name: "1.0-to-1.2",
        options: &[
            "-min_protocol",
            "TLSv1",
            "-no_tls1_3",
            "-no_dhe",
            "-cipher",
            "DEFAULT:@SECLEVEL=0",
        ],
        versions: &["TLSv1.0", "TLSv1.1", "TLSv1.2"],
        grade: "B",
        ..S_SERVER
    },
    // EC 256: 30 + 30 + 36 = 96; no HSTS: A.
    Row { name: "ecdsa", leaf: "p256", key: P256, ..S_SERVER },
    // RSA 4096: 30 + 30 + 36 = 96; no HSTS: A.
    Row { name: "rsa-4096", leaf: "rsa4096", key: ("RSA", 4096), ..S_SERVER },
    // RSA 1024: 30 + 24 + 36 = 90; a key below 2048: B.
    Row {
        name: "rsa-1024",
        leaf: "rsa1024",
        options: &["-no_dhe", "-no_tls1", "-no_tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"],
        key: ("RSA", 1024),
        grade: "B",
        ..S_SERVER
    },
    // DHE 2048, as OpenSSL chooses for RSA 2048: 30 + 27 + 40 = 97; no 1.3: A.
    Row {
        name: "dhe-2048-only",
        options: &["-tls1_2", "-cipher", "DHE-RSA-AES256-GCM-SHA384"],
        versions: V12,
        bits: (256, 256),
        group: Some(2048),
        ..S_SERVER
    },
    // Encryption of nothing: 0 bits make 0 points; and w1: F.
    Row {
        name: "null",
        options: &[
            "-tls1_2",
            "-no_dhe",
            "-cipher",
            "ECDHE-RSA-AES256-GCM-SHA384:eNULL:!aNULL:@SECLEVEL=0",
        ],
        versions: V12,
        bits: (0, 256),
        grade: "F",
        ..S_SERVER
    },
    // Anonymous suites (w1): F.
    Row {
        name: "anonymous",
        options: &[
            "-tls1_2",
            "-cipher",
            "ECDHE-RSA-AES256-GCM-SHA384:AECDH-AES256-SHA:@SECLEVEL=0",
        ],
        versions: V12,
        bits: (256, 256),
        grade: "F",
        ..S_SERVER
    },
    // EC 256: 30 + 30 + 40 = 100; no 1.3: A.
    Row {
        name: "1.2-ecdsa-chacha",
        leaf: "p256",
        options: &["-tls1_2", "-no_dhe", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"],
        versions: V12,
        bits: (256, 256),
        key: P256,
        ..S_SERVER
    },
    // 30 + 27 + 40 = 97; no HSTS: A.
    Row {
        name: "aes-256-only",
        options: &[
            "-no_dhe",
            "-cipher",
            "ECDHE-RSA-AES256-GCM-SHA384",
            "-ciphersuites",
            "TLS_AES_256_GCM_SHA384",
        ],
        bits: (256, 256),
        ..S_SERVER
    },
    // SHA-1 on the leaf: F.
    Row {
        name: "sha-1",
        leaf: "sha1",
        options: &["-no_dhe", "-no_tls1", "-no_tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"],
        grade: "F",
        ..S_SERVER
    },
    // Not valid: F.
    Row { name: "self-signed", leaf: "self-signed", grade: "F", ..S_SERVER },
    Row { name: "expired", leaf: "expired", grade: "F", ..S_SERVER },
    Row { name: "other-name", leaf: "other-name", grade: "F", ..S_SERVER },
    NGINX,
    // EC 256: 30 + 30 + 36 = 96: A+.
    Row {
        name: "nginx-modern",
        leaf: "p256",
        options: &["ssl_protocols TLSv1.3", HSTS],
        versions: V13,
        key: P256,
        ..NGINX
    },
    // 93, no HSTS: A.
    Row { name: "nginx-no-hsts", options: &[PROTOCOLS_MODERN, INTERMEDIATE], grade: "A", ..NGINX },
    // 93, HSTS of a day: A.
    Row {
        name: "nginx-short-hsts",
        options: &[PROTOCOLS_MODERN, INTERMEDIATE, SHORT_HSTS],
        grade: "A",
        ..NGINX
    },
    // 93, no 1.3: A.
    Row {
        name: "nginx-1.2-hsts",
        options: &["ssl_protocols TLSv1.2", INTERMEDIATE, HSTS],
        versions: V12,
        grade: "A",
        ..NGINX
    },
    // (90 + 100) / 2 = 95: 28 + 27 + 36 = 91; 1.0 accepted: B.
    Row {
        name: "nginx-old",
        options: &[
            "ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3",
            "ssl_ciphers HIGH:!aNULL:!MD5:!ARIA:!CAMELLIA:!PSK:@SECLEVEL=0",
            HSTS,
        ],
        versions: ALL,
        grade: "B",
        ..NGINX
    },
    // RSA key exchange chosen by 1.2, but there is 1.3: 30 + 27 + 36 = 93: A+.
    Row {
        name: "nginx-rsa-and-1.3",
        options: &[PROTOCOLS_MODERN, "ssl_ciphers AES128-GCM-SHA256", HSTS],
        ..NGINX
    },
    // 3DES only: 30 + 27 + 8 = 65; a 64-bit block cipher chosen: C.
    Row {
        name: "tlslite-3des",
        options: &["3", "3", "3des"],
        versions: V12,
        bits: (112, 112),
        group: Some(2048),
        grade: "C",
        ..TLSLITE
    },
    // (80 + 100) / 2 = 90: 27 + 27 + 36; SSL 3 with CBC: C.
    Row {
        name: "tlslite-ssl3-cbc",
        options: &["0", "3", "aes128,aes256"],
        versions: &["SSLv3", "TLSv1.0", "TLSv1.1", "TLSv1.2"],
        group: Some(2048),
        grade: "C",
        ..TLSLITE
    },
    // SSL 3 and nothing better: F.
    Row {
        name: "tlslite-ssl3-only",
        options: &["0", "0", "aes128,aes256"],
        versions: &["SSLv3"],
        group: Some(2048),
        grade: "F",
        ..TLSLITE
    },
    // RC4 accepted by 1.2: C.
    Row {
        name: "tlslite-rc4",
        options: &["3", "3", "aes128gcm,rc4"],
        versions: V12,
        bits: (128, 128),
        group: Some(2048),
        grade: "C",
        ..TLSLITE
    },
    // RC4 is all there is: F.
    Row {
        name: "tlslite-rc4-only",
        options: &["1", "3", "rc4"],
        versions: &["TLSv1.0", "TLSv1.1", "TLSv1.2"],
        bits: (128, 128),
        grade: "F",
        ..TLSLITE
    },
];
