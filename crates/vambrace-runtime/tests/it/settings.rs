//! What a scenario's `settings.json` can say, with the defaults of the strict profile.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use vambrace_audit::{AlertSettings, DefenceAction};
use vambrace_knowledge::Sharing;
use vambrace_policy::{
    HardLinks, Isolation, OnWrite, OperatorRule, PermissionList, Subject, Symlinks, ToolMode, Verdict,
};
use vambrace_redact::{Baseline, FingerprintKey, KnownValue, Marking, Redactor, RedactorSettings};
use vambrace_runtime::{Corridor, OnAuditFailure, Relearned};
use vambrace_tools::{Limits, Toolbox};
use vambrace_types::{ByteLimit, DEFAULT_READ, DEFAULT_REPLY, Role, Secret};

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) role: String,
    pub(crate) mode: String,
    pub(crate) service: String,
    pub(crate) shared: Vec<String>,
    pub(crate) isolation: String,
    pub(crate) block: Vec<String>,
    pub(crate) symlinks: String,
    pub(crate) hard_links: String,
    pub(crate) rules: Vec<RuleText>,
    /// Texts that stand as `{{NAME}}` in the other files, in parts, so that no file holds anything like a credential.
    pub(crate) words: BTreeMap<String, Vec<String>>,
    /// Which of the words are known to be secret.
    pub(crate) known: Vec<String>,
    /// Findings that somebody has accepted: the name of the rule, and the word.
    pub(crate) accepted: Vec<(String, String)>,
    pub(crate) placeholders: String,
    pub(crate) on_write: String,
    pub(crate) time_ms: u64,
    pub(crate) reply_bytes: u64,
    pub(crate) read_bytes: u64,
    pub(crate) on_audit_failure: String,
    /// The record cannot be opened at all.
    pub(crate) audit_broken: bool,
    /// The record cannot be opened, and the kill switch beside it can be read.
    pub(crate) audit_full: bool,
    pub(crate) mirror: bool,
    /// Every line waits for the disk.
    pub(crate) durable: bool,
    /// A person has stopped the caller before the call.
    pub(crate) stopped: bool,
    pub(crate) defence: String,
    pub(crate) lock_wait_ms: u64,
    /// Questions are kept for a person.
    pub(crate) approvals: bool,
    /// Who may use memory, and who shares it.
    #[serde(skip)]
    pub(crate) permissions: PermissionList,
    /// What is done when it is time to look for new secrets.
    #[serde(skip)]
    pub(crate) relearn: Option<fn() -> Relearned>,
    pub(crate) knowledge_scope: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleText {
    pub(crate) tool: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) decision: String,
    #[serde(default)]
    pub(crate) reason: String,
}

/// The operator's key of numbered placeholders.
pub(crate) fn fingerprint_key() -> FingerprintKey {
    FingerprintKey::new(Secret::new(vec![3; 32]))
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            role: "dev".to_owned(),
            mode: "all".to_owned(),
            service: String::new(),
            shared: Vec::new(),
            isolation: "strict".to_owned(),
            block: Vec::new(),
            symlinks: "inside".to_owned(),
            hard_links: "deny_writes".to_owned(),
            rules: Vec::new(),
            words: BTreeMap::new(),
            known: Vec::new(),
            accepted: Vec::new(),
            placeholders: "plain".to_owned(),
            on_write: "refuse".to_owned(),
            time_ms: 30_000,
            reply_bytes: DEFAULT_REPLY.bytes(),
            read_bytes: DEFAULT_READ.bytes(),
            on_audit_failure: "deny_writes".to_owned(),
            audit_broken: false,
            audit_full: false,
            mirror: false,
            durable: false,
            stopped: false,
            defence: "alert".to_owned(),
            lock_wait_ms: 5_000,
            approvals: false,
            permissions: PermissionList::default(),
            relearn: None,
            knowledge_scope: "shared".to_owned(),
        }
    }
}

impl Settings {
    pub(crate) fn sharing(&self) -> Sharing {
        match self.knowledge_scope.as_str() {
            "shared" => Sharing::Everybody,
            "channel" => Sharing::Channel,
            "user" => Sharing::Person,
            other => panic!("no scope {other}"),
        }
    }

    /// With one known secret, under the name that its redactions show.
    pub(crate) fn knowing(name: &str, value: &str) -> Settings {
        Settings {
            words: BTreeMap::from([(name.to_owned(), vec![value.to_owned()])]),
            known: vec![name.to_owned()],
            ..Settings::default()
        }
    }

    pub(crate) fn fill(&self, text: &str) -> String {
        let fill = |text: String, (name, parts): (&String, &Vec<String>)| {
            text.replace(&format!("{{{{{name}}}}}"), &parts.concat())
        };
        self.words.iter().fold(text.to_owned(), fill)
    }

    pub(crate) fn caller_role(&self) -> Role {
        Role::parse(&self.role).unwrap()
    }

    pub(crate) fn tool_mode(&self) -> ToolMode {
        ToolMode::parse(&self.mode).unwrap()
    }

    pub(crate) fn isolation(&self) -> Isolation {
        pick(&self.isolation, &[("strict", Isolation::Strict), ("shared", Isolation::Shared)])
    }

    pub(crate) fn symlinks(&self) -> Symlinks {
        pick(&self.symlinks, &[("inside", Symlinks::Inside), ("deny", Symlinks::Deny)])
    }

    pub(crate) fn hard_links(&self) -> HardLinks {
        let all =
            [("deny_writes", HardLinks::ReadOnly), ("allow", HardLinks::Allow), ("deny", HardLinks::Deny)];
        pick(&self.hard_links, &all)
    }

    pub(crate) fn operator_rules(&self) -> Vec<OperatorRule> {
        let verdicts = [("allow", Verdict::Allow), ("ask", Verdict::Ask), ("deny", Verdict::Deny)];
        let tools = Corridor::every_tool(&Toolbox::default());
        let rule = |(place, rule): (usize, &RuleText)| {
            let verdict = pick(&rule.decision, &verdicts);
            let set_at = format!("rules[{place}]");
            let subject = match &rule.tool {
                Some(name) => {
                    let tool = tools.iter().find(|(known, _)| known.as_str() == name);
                    Subject::Tool { name: name.clone(), kinds: tool.unwrap().1 }
                }
                None => Subject::Everything,
            };
            OperatorRule::new(subject, rule.path.as_deref(), verdict, &rule.reason, &set_at).unwrap()
        };
        self.rules.iter().enumerate().map(rule).collect()
    }

    pub(crate) fn on_write(&self) -> OnWrite {
        let all = [("refuse", OnWrite::REFUSE), ("warn", OnWrite::WARN), ("off", OnWrite::OFF)];
        pick(&self.on_write, &all)
    }

    pub(crate) fn redactor(&self) -> Redactor {
        let word = |name: &String| self.words.get(name).unwrap().concat();
        let known = |name: &String| KnownValue { name: name.clone(), value: Secret::new(word(name)) };
        let known = self.known.iter().map(known).collect();
        let accept =
            |(rule, name): &(String, String)| Baseline::fingerprint("salt", rule, word(name).as_bytes());
        let marking = pick(&self.placeholders, &[("plain", Marking::Plain), ("numbered", Marking::Numbered)]);
        Redactor::new(RedactorSettings {
            known,
            baseline: Baseline::new("salt", self.accepted.iter().map(accept)),
            marking,
            key: Some(fingerprint_key()),
            ..RedactorSettings::default()
        })
        .unwrap()
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits {
            time: Duration::from_millis(self.time_ms),
            read: ByteLimit::new(self.read_bytes),
            read_most: ByteLimit::new(10 << 20),
            reply: ByteLimit::new(self.reply_bytes),
            // Far more than specification 004 gives: a busy machine must not turn a search into a denial.
            pattern_time: Duration::from_secs(20),
        }
    }

    pub(crate) fn on_audit_failure(&self) -> OnAuditFailure {
        let all = [
            ("warn", OnAuditFailure::Warn),
            ("deny_writes", OnAuditFailure::DenyWrites),
            ("deny_all", OnAuditFailure::DenyAll),
        ];
        pick(&self.on_audit_failure, &all)
    }

    pub(crate) fn alerts(&self) -> AlertSettings {
        AlertSettings { action: DefenceAction::parse(&self.defence).unwrap(), ..AlertSettings::default() }
    }
}

#[track_caller]
fn pick<T: Copy>(word: &str, all: &[(&str, T)]) -> T {
    all.iter().find(|(name, _)| *name == word).unwrap_or_else(|| panic!("no such setting: {word}")).1
}
