//! Which credentials are planted: their documented forms, written down apart from the rules that look for them.
//!
//! Facts only: prefix, alphabet, length, checksum. The values are made at run time.

/// What a piece of a credential is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// These very characters.
    Fixed(&'static str),
    /// So many of an alphabet.
    Chars(Alphabet, usize),
    /// GitHub's and npm's six digits: the CRC-32 of the run before them, in base 62.
    Crc62,
    /// Grafana's eight: the CRC-32 of everything before the last underscore, in hex.
    Crc16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    Base62,
    Letters,
    Lower36,
    Upper36,
    Hex,
    Digits,
    UrlSafe,
    Base64,
    Base32,
    /// Of age keys, in capitals.
    Bech32,
}

impl Alphabet {
    pub(super) fn characters(self) -> &'static [u8] {
        match self {
            Base62 => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            Letters => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            Lower36 => b"0123456789abcdefghijklmnopqrstuvwxyz",
            Upper36 => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            Hex => b"0123456789abcdef",
            Digits => b"0123456789",
            UrlSafe => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_",
            Base64 => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/",
            Base32 => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            Bech32 => b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Parts(&'static [Part]),
    /// A header and claims that decode, and a signature.
    Jwt,
    /// A whole block, with a body of so many lines.
    Pem(&'static str, usize),
    /// What a person or a generator would choose: letters, digits and marks.
    Password,
    Uuid,
}

/// Where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Setting {
    /// Its form gives it away, so the name before it says nothing.
    Anywhere,
    /// Only this name says what it is.
    Named(&'static str),
    /// A larger form around it: what is before and after.
    Within(&'static str, &'static str),
    /// A line of its own kind of file: what is before and after.
    Line(&'static str, &'static str),
}

#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) setting: Setting,
}

use Alphabet::{Base32, Base62, Base64, Bech32, Digits, Hex, Letters, Lower36, Upper36, UrlSafe};
use Form::{Jwt, Parts, Password, Pem, Uuid};
use Part::{Chars, Crc16, Crc62, Fixed};
use Setting::{Anywhere, Line, Named, Within};

const fn own(name: &'static str, parts: &'static [Part]) -> Kind {
    Kind { name, form: Parts(parts), setting: Anywhere }
}

const fn named(name: &'static str, field: &'static str, parts: &'static [Part]) -> Kind {
    Kind { name, form: Parts(parts), setting: Named(field) }
}

const fn placed(name: &'static str, form: Form, setting: Setting) -> Kind {
    Kind { name, form, setting }
}

pub(super) const KINDS: &[Kind] = &[
    // Clouds.
    own("AWS access key id", &[Fixed("AKIA"), Chars(Base32, 16)]),
    own("AWS temporary key id", &[Fixed("ASIA"), Chars(Base32, 16)]),
    named("AWS secret access key", "aws_secret_access_key", &[Chars(Base64, 40)]),
    own("Google API key", &[Fixed("AIza"), Fixed("Sy"), Chars(UrlSafe, 33)]),
    own("Google OAuth secret", &[Fixed("GOCSPX-"), Chars(UrlSafe, 28)]),
    placed(
        "Azure storage key",
        Parts(&[Chars(Base64, 86), Fixed("==")]),
        Within("AccountName=depot;AccountKey=", ";"),
    ),
    own("Azure client secret", &[Chars(Base62, 3), Fixed("8Q~"), Chars(UrlSafe, 34)]),
    own("DigitalOcean token", &[Fixed("dop_v1_"), Chars(Hex, 64)]),
    own("Databricks token", &[Fixed("dapi"), Chars(Hex, 32)]),
    own("Alibaba key id", &[Fixed("LTAI"), Chars(Base62, 20)]),
    named("Cloudflare token", "cloudflare_api_token", &[Chars(UrlSafe, 40)]),
    named("Heroku key", "heroku_api_key", &[Fixed("HRKU-"), Chars(UrlSafe, 60)]),
    own("Fly token", &[Fixed("fo1_"), Chars(UrlSafe, 43)]),
    own("Supabase token", &[Fixed("sbp_"), Chars(Hex, 40)]),
    own("PlanetScale token", &[Fixed("pscale_tkn_"), Chars(UrlSafe, 43)]),
    // Forges, registries, builds.
    own("GitHub token, classic", &[Fixed("ghp_"), Chars(Base62, 30), Crc62]),
    own("GitHub token, OAuth", &[Fixed("gho_"), Chars(Base62, 30), Crc62]),
    own("GitHub token, server", &[Fixed("ghs_"), Chars(Base62, 30), Crc62]),
    own(
        "GitHub token, fine-grained",
        &[Fixed("github_pat_"), Chars(Base62, 22), Fixed("_"), Chars(Base62, 59)],
    ),
    own("GitLab token", &[Fixed("glpat-"), Chars(UrlSafe, 20)]),
    own("GitLab deploy token", &[Fixed("gldt-"), Chars(UrlSafe, 20)]),
    own("npm token", &[Fixed("npm_"), Chars(Base62, 30), Crc62]),
    own("PyPI token", &[Fixed("pypi-"), Fixed("AgEIcHlwaS5vcmc"), Chars(UrlSafe, 130)]),
    own("RubyGems key", &[Fixed("rubygems_"), Chars(Hex, 48)]),
    named("crates.io token", "cargo_registry_token", &[Fixed("cio"), Chars(Base62, 32)]),
    own("Docker Hub token", &[Fixed("dckr_pat_"), Chars(UrlSafe, 27)]),
    named("NuGet key", "nuget_api_key", &[Fixed("oy2"), Chars(Lower36, 43)]),
    own("Clojars token", &[Fixed("CLOJARS_"), Chars(Hex, 60)]),
    own(
        "Atlassian token",
        &[Fixed("ATATT3xFf"), Fixed("GF0"), Chars(UrlSafe, 176), Fixed("="), Chars(Upper36, 8)],
    ),
    own("Buildkite token", &[Fixed("bkua_"), Chars(Hex, 40)]),
    named(
        "CircleCI token",
        "circleci_token",
        &[Fixed("CCIPAT_"), Chars(Base62, 22), Fixed("_"), Chars(Hex, 40)],
    ),
    own("SonarQube token", &[Fixed("squ_"), Chars(Hex, 40)]),
    own("Sourcegraph token", &[Fixed("sgp_"), Chars(Hex, 40)]),
    own("Doppler token", &[Fixed("dp.pt."), Chars(Base62, 43)]),
    own("Pulumi token", &[Fixed("pul-"), Chars(Hex, 40)]),
    own("Terraform Cloud token", &[Chars(Base62, 14), Fixed(".atlasv1."), Chars(Base62, 67)]),
    own("Vault token", &[Fixed("hvs."), Chars(UrlSafe, 95)]),
    // Chat and mail.
    own(
        "Slack bot token",
        &[Fixed("xoxb-"), Chars(Digits, 12), Fixed("-"), Chars(Digits, 13), Fixed("-"), Chars(Base62, 24)],
    ),
    own(
        "Slack app token",
        &[Fixed("xapp-1-A"), Chars(Upper36, 10), Fixed("-"), Chars(Digits, 13), Fixed("-"), Chars(Hex, 64)],
    ),
    placed(
        "Slack webhook",
        Parts(&[Chars(Base62, 24)]),
        Within("https://hooks.slack.com/services/T0AB1CD2EF/B0GH3IJ4KL/", ""),
    ),
    own(
        "Discord bot token",
        &[Fixed("M"), Chars(Base62, 23), Fixed("."), Chars(Base62, 6), Fixed("."), Chars(UrlSafe, 38)],
    ),
    placed(
        "Discord webhook",
        Parts(&[Chars(UrlSafe, 68)]),
        Within("https://discord.com/api/webhooks/1122334455667788990/", ""),
    ),
    own("Telegram bot token", &[Chars(Digits, 10), Fixed(":AA"), Chars(UrlSafe, 33)]),
    own("SendGrid key", &[Fixed("SG."), Chars(UrlSafe, 22), Fixed("."), Chars(UrlSafe, 43)]),
    named("Mailgun key", "mailgun_api_key", &[Fixed("key-"), Chars(Hex, 32)]),
    named("Mailchimp key", "mailchimp_api_key", &[Chars(Hex, 32), Fixed("-us12")]),
    own("Brevo key", &[Fixed("xkeysib-"), Chars(Hex, 64), Fixed("-"), Chars(Base62, 16)]),
    named("Twilio key", "twilio_api_key", &[Fixed("SK"), Chars(Hex, 32)]),
    // Payment and trade.
    own("Stripe live key", &[Fixed("sk_live_"), Chars(Base62, 24)]),
    own("Stripe live key, long", &[Fixed("sk_live_51"), Chars(Base62, 97)]),
    own("Stripe restricted key", &[Fixed("rk_live_"), Chars(Base62, 24)]),
    own("Stripe webhook secret", &[Fixed("whsec_"), Chars(Base62, 32)]),
    own("Shopify token", &[Fixed("shpat_"), Chars(Hex, 32)]),
    own("Square secret", &[Fixed("sq0csp-"), Chars(UrlSafe, 43)]),
    own("EasyPost key", &[Fixed("EZAK"), Chars(Base62, 54)]),
    own("Flutterwave key", &[Fixed("FLWSECK-"), Chars(Hex, 32), Fixed("-X")]),
    own("Shippo token", &[Fixed("shippo_live_"), Chars(Hex, 40)]),
    // Models.
    own("OpenAI key", &[Fixed("sk-"), Chars(Base62, 20), Fixed("T3Blbk"), Fixed("FJ"), Chars(Base62, 20)]),
    own(
        "OpenAI project key",
        &[Fixed("sk-proj-"), Chars(UrlSafe, 74), Fixed("T3Blbk"), Fixed("FJ"), Chars(UrlSafe, 74)],
    ),
    own("Anthropic key", &[Fixed("sk-ant-"), Fixed("api03-"), Chars(UrlSafe, 93), Fixed("AA")]),
    own("Hugging Face token", &[Fixed("hf_"), Chars(Letters, 34)]),
    own("Replicate token", &[Fixed("r8_"), Chars(Base62, 37)]),
    own("Groq key", &[Fixed("gsk_"), Chars(Base62, 52)]),
    own("Perplexity key", &[Fixed("pplx-"), Chars(Base62, 48)]),
    own("xAI key", &[Fixed("xai-"), Chars(Base62, 80)]),
    // Monitoring and work.
    own("Grafana service token", &[Fixed("glsa_"), Chars(Base62, 32), Fixed("_"), Crc16]),
    own("New Relic key", &[Fixed("NRAK-"), Chars(Upper36, 27)]),
    named("Datadog key", "dd_api_key", &[Chars(Hex, 32)]),
    own("Dynatrace token", &[Fixed("dt0c01."), Chars(Base32, 24), Fixed("."), Chars(Base32, 64)]),
    own("Sentry user token", &[Fixed("sntryu_"), Chars(Hex, 64)]),
    own("Linear key", &[Fixed("lin_api_"), Chars(Base62, 40)]),
    own("Notion token", &[Fixed("ntn_"), Chars(Digits, 11), Chars(Base62, 35)]),
    own("Airtable token", &[Fixed("pat"), Chars(Base62, 14), Fixed("."), Chars(Hex, 64)]),
    own("Figma token", &[Fixed("figd_"), Chars(UrlSafe, 40)]),
    own("Postman key", &[Fixed("PMAK-"), Chars(Hex, 24), Fixed("-"), Chars(Hex, 34)]),
    own("Contentful token", &[Fixed("CFPAT-"), Chars(UrlSafe, 43)]),
    own("Typeform token", &[Fixed("tfp_"), Chars(UrlSafe, 59)]),
    own("Tailscale key", &[Fixed("tskey-auth-"), Chars(Base62, 17), Fixed("-"), Chars(Base62, 32)]),
    own("Adafruit key", &[Fixed("aio_"), Chars(Base62, 28)]),
    own("Prefect key", &[Fixed("pnu_"), Chars(Base62, 36)]),
    placed("Plaid token", Uuid, Within("access-production-", "")),
    // Keys and tokens of no vendor.
    placed("private key, RSA", Pem("RSA ", 25), Anywhere),
    placed("private key, PKCS 8", Pem("", 26), Anywhere),
    placed("private key, EC", Pem("EC ", 3), Anywhere),
    placed("private key, OpenSSH", Pem("OPENSSH ", 6), Anywhere),
    placed("JWT", Jwt, Anywhere),
    own("age key", &[Fixed("AGE-SECRET-"), Fixed("KEY-1"), Chars(Bech32, 58)]),
    // In a larger form.
    placed("PostgreSQL URL", Password, Within("postgres://orders:", "@db.internal:5432/orders")),
    placed("MySQL URL", Password, Within("mysql://shop:", "@10.4.0.7/shop")),
    placed("MongoDB URL", Password, Within("mongodb+srv://svc:", "@cluster0.ab1cd.mongodb.net/app")),
    placed("Redis URL", Password, Within("redis://:", "@cache-1.internal:6379/0")),
    placed("AMQP URL", Password, Within("amqp://queue:", "@mq.internal:5672/jobs")),
    placed("URL with a password", Password, Within("https://deploy:", "@git.corp.internal/team/app.git")),
    placed("JDBC URL", Password, Within("jdbc:postgresql://db:5432/app?user=app&password=", "&ssl=true")),
    placed("ADO connection string", Password, Within("Server=db1;Database=app;User Id=app;Password=", ";")),
    placed(".netrc", Password, Line("machine git.corp.internal login deploy password ", "")),
    placed(".npmrc", Uuid, Line("//registry.corp.internal/:_authToken=", "")),
    placed(".pgpass", Password, Line("db.internal:5432:orders:app:", "")),
    placed(
        "Docker config",
        Parts(&[Chars(Base64, 54), Fixed("==")]),
        Line("\t\t\"r.corp.internal\": {\"auth\": \"", "\"}"),
    ),
    placed(
        "kubeconfig key",
        Parts(&[Fixed("LS0tLS1CRUdJTi"), Chars(Base64, 400)]),
        Line("    client-key-data: ", ""),
    ),
    placed("kubeconfig token", Parts(&[Chars(Base62, 64)]), Line("    token: ", "")),
    placed("cookie", Parts(&[Chars(Base62, 40)]), Line("Cookie: lang=en; sessionid=", "; theme=dark")),
    placed("basic header", Parts(&[Chars(Base64, 30), Fixed("==")]), Line("Authorization: Basic ", "")),
    placed("bearer header", Parts(&[Chars(Base62, 43)]), Line("Authorization: Bearer ", "")),
    placed("X-Api-Key header", Parts(&[Chars(Base62, 32)]), Line("X-Api-Key: ", "")),
    placed("curl -u", Password, Line("curl -u admin:", " https://api.corp.internal/v1/jobs")),
    // Only a name.
    placed("password", Password, Named("db_password")),
    named("API key", "api_key", &[Chars(Base62, 32)]),
    named("client secret", "client_secret", &[Chars(UrlSafe, 40)]),
    named("access token", "access_token", &[Chars(Base62, 40)]),
    named("secret key", "secret_key", &[Chars(Base62, 50)]),
    named("encryption key, hex", "encryption_key", &[Chars(Hex, 64)]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        let mut names: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KINDS.len());
        assert!(KINDS.len() >= 100, "{}", KINDS.len());
    }
}
