//! A world and a call as plain text, and what the crate answers. The reference reads the same two structures, so
//! they hold nothing that the crate has already understood.

use vambrace_policy::command::CommandPolicy;
use vambrace_policy::url::{UrlPolicy, UrlSettings};
use vambrace_policy::{
    Action, Content, CountMatches, CreateDirectory, Decision, DeleteFile, EditFiles, Epoch, Facts, FileEdits,
    GitRules, HardLinks, Isolation, Kind, Kinds, ListFiles, OnWrite, OperatorRule, PermissionList, Permit,
    Policy, PolicySettings, ReadFile, ReadOutput, RequestRules, Scope, ScopeSettings, SearchFiles, Sends,
    Standing, Subject, Symlinks, ToolMode, Verdict, WriteFile,
};
use vambrace_types::{Bearings, ByteLimit, Caller, Door, ErrorCode, PathProblem, Role, ScopedPath, ToolName};

use crate::tool;

pub(crate) const EPOCH: Epoch = Epoch(7);

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) workspace: Vec<String>,
    pub(crate) service: String,
    pub(crate) shared: Vec<String>,
    pub(crate) shared_inside_own: bool,
    pub(crate) isolation: &'static str,
    pub(crate) block_patterns: Vec<String>,
    pub(crate) mode: String,
    pub(crate) rules: Vec<Rule>,
    pub(crate) on_known: &'static str,
    pub(crate) on_pattern: &'static str,
}

#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) tool: Option<&'static str>,
    pub(crate) path: Option<&'static str>,
    pub(crate) verdict: &'static str,
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) role: &'static str,
    pub(crate) tool: &'static str,
    /// As the agent writes them. Tools of one path take the first; tools without a path take none.
    pub(crate) paths: Vec<String>,
    pub(crate) suspended: bool,
    pub(crate) known_secret: bool,
    pub(crate) secret_pattern: bool,
    pub(crate) placeholder: bool,
}

impl Call {
    pub(crate) fn of(tool: &'static str, path: Option<&str>) -> Call {
        Call {
            role: "dev",
            tool,
            paths: path.into_iter().map(str::to_owned).collect(),
            suspended: false,
            known_secret: false,
            secret_pattern: false,
            placeholder: false,
        }
    }
}

/// Ordered by strictness. The code is empty for an allowed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Word {
    Allow,
    Ask,
    Deny,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) word: Word,
    pub(crate) code: String,
}

impl Answer {
    pub(crate) fn allow() -> Answer {
        Answer { word: Word::Allow, code: String::new() }
    }

    pub(crate) fn deny(code: &str) -> Answer {
        Answer { word: Word::Deny, code: code.to_owned() }
    }

    pub(crate) fn ask() -> Answer {
        Answer { word: Word::Ask, code: "ApprovalRequired".to_owned() }
    }
}

impl World {
    /// One project without services, in which everything may act.
    pub(crate) fn plain() -> World {
        World {
            workspace: vec!["/p/mono".to_owned()],
            service: String::new(),
            shared: Vec::new(),
            shared_inside_own: false,
            isolation: "STRICT",
            block_patterns: Vec::new(),
            mode: "all".to_owned(),
            rules: Vec::new(),
            on_known: "deny",
            on_pattern: "ask",
        }
    }

    pub(crate) fn bearings(&self) -> Bearings {
        let workspace: Vec<&str> = self.workspace.iter().map(String::as_str).collect();
        let shared: Vec<&str> = self.shared.iter().map(String::as_str).collect();
        Bearings::new(&workspace, &self.service, &shared)
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope::new(ScopeSettings {
            bearings: self.bearings(),
            isolation: match self.isolation {
                "STRICT" => Isolation::Strict,
                "SHARED" => Isolation::Shared,
                other => panic!("no isolation {other}"),
            },
            block_patterns: self.block_patterns.clone(),
            shared_inside_own: self.shared_inside_own,
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
        })
        .unwrap()
    }

    pub(crate) fn policy(&self) -> Policy {
        self.policy_at(EPOCH)
    }

    pub(crate) fn policy_at(&self, epoch: Epoch) -> Policy {
        Policy::new(self.settings(), epoch)
    }

    pub(crate) fn settings(&self) -> PolicySettings {
        let rules = self.rules.iter().map(|rule| {
            let subject = rule.tool.map_or(Subject::Everything, subject);
            OperatorRule::new(subject, rule.path, verdict(rule.verdict), "because", "vambrace.yaml:1")
                .unwrap()
        });
        PolicySettings {
            scope: self.scope(),
            mode: ToolMode::parse(&self.mode).unwrap(),
            rules: rules.collect(),
            on_write: OnWrite {
                known: verdict(self.on_known),
                pattern: verdict(self.on_pattern),
                ..OnWrite::REFUSE
            },
            command: CommandPolicy::default(),
            git: GitRules::default(),
            url: UrlPolicy::new(UrlSettings::default()),
            requests: RequestRules::default(),
            grants: Vec::new(),
            allowed_commands: Vec::new(),
            permissions: PermissionList::default(),
        }
    }
}

fn verdict(word: &str) -> Verdict {
    match word {
        "allow" => Verdict::Allow,
        "ask" => Verdict::Ask,
        "deny" => Verdict::Deny,
        other => panic!("no verdict {other}"),
    }
}

pub(crate) fn caller(role: &str) -> Caller {
    Caller::local(Role::parse(role).unwrap(), Door::McpStdio)
}

pub(crate) fn path_code(problem: &PathProblem) -> ErrorCode {
    match problem {
        PathProblem::Nul | PathProblem::TooLong => ErrorCode::InvalidPath,
        PathProblem::Outside => ErrorCode::PathOutsideProject,
    }
}

/// Stages 4 to 6 of the walk: authorize, understand the arguments, decide.
pub(crate) fn ask_crate(policy: &Policy, call: &Call) -> Answer {
    if let Err(denial) = policy.authorize(&caller(call.role), tool::capability(call.tool)) {
        return Answer::deny(denial.code().as_str());
    }
    decide(policy, call)
}

/// Stages 5 and 6 alone: what `decide` says when nobody asked `authorize` before it.
pub(crate) fn decide(policy: &Policy, call: &Call) -> Answer {
    let bearings = policy.scope().bearings();
    let parsed: Result<Vec<ScopedPath>, PathProblem> =
        call.paths.iter().map(|text| ScopedPath::parse(text, bearings)).collect();
    let paths = match parsed {
        Ok(paths) => paths,
        Err(problem) => return Answer::deny(path_code(&problem).as_str()),
    };
    let first = paths.first().cloned();
    let asked = Asked { policy, call };
    match (call.tool, first) {
        ("read_file", Some(path)) => asked.of(ReadFile { path, max_bytes: ByteLimit::new(9), lines: None }),
        ("write_file", Some(path)) => asked.of(WriteFile { path, content: Content("text".to_owned()) }),
        ("search_file", Some(path)) => asked.of(SearchFiles {
            path,
            pattern: "x".to_owned(),
            recursive: true,
            include_ignored: false,
            limit: 10,
        }),
        ("count_matches", Some(path)) => {
            asked.of(CountMatches { path, pattern: "x".to_owned(), recursive: true, include_ignored: false })
        }
        ("list_files" | "list_directory", Some(path)) => asked.of(ListFiles { path, recursive: false }),
        ("delete_file", Some(path)) => asked.of(DeleteFile { path }),
        ("create_directory", Some(path)) => asked.of(CreateDirectory { path }),
        ("edit_file", Some(_)) => {
            let edit = |path| FileEdits { path, edits: vec![Content("text".to_owned())] };
            asked.of(EditFiles { files: paths.into_iter().map(edit).collect() })
        }
        ("read_output", None) => {
            asked.of(ReadOutput { handle: "h".to_owned(), offset: 0, limit: ByteLimit::new(9) })
        }
        // The other tools have no action yet: what their role and mode say is all there is.
        (_, _) => Answer::allow(),
    }
}

struct Asked<'a> {
    policy: &'a Policy,
    call: &'a Call,
}

impl Asked<'_> {
    fn of<A: Action>(&self, action: A) -> Answer {
        match decide_action(self.policy, self.call, action) {
            Decision::Allow(permit) => allowed(permit),
            Decision::Ask(pending) => {
                assert_eq!(pending.question().to_tool_error().code.as_str(), "ApprovalRequired");
                Answer::ask()
            }
            Decision::Deny(denial) => Answer::deny(denial.code().as_str()),
        }
    }
}

fn allowed<A: Action>(permit: Permit<A>) -> Answer {
    assert!(permit.redeem(EPOCH).is_ok(), "a permit opens its own door");
    Answer::allow()
}

pub(crate) fn decide_action<A: Action>(policy: &Policy, call: &Call, action: A) -> Decision<A> {
    let named = |found: bool, name: &str| if found { vec![name.to_owned()] } else { Vec::new() };
    let facts = Facts {
        known_secrets: named(call.known_secret, "DATABASE_PASSWORD"),
        secret_patterns: named(call.secret_pattern, "private-key"),
        placeholder: call.placeholder,
        sent_secrets: Vec::new(),
        sightings: Vec::new(),
    };
    let standing =
        if call.suspended { Standing::Suspended { since: "yesterday".to_owned() } } else { Standing::Free };
    policy.decide(&caller(call.role), &standing, &ToolName::of(call.tool), action, &facts)
}

/// A tool or a kind, as the configuration would find it.
fn subject(name: &str) -> Subject {
    let kinds = match name {
        "read_file" | "search_file" | "count_matches" => Kinds::SHOWS_TEXT,
        "list_files" => Kinds::SHOWS_NAMES,
        "write_file" | "edit_file" => Kinds::CHANGES_AND_SHOWS,
        "delete_file" | "create_directory" => Kinds::CHANGES,
        "read_output" => Kinds::NONE,
        "web_fetch" => Kinds::SENDS,
        "fetch_url" => Kinds { sends: Sends::Page, ..Kinds::NONE },
        "a2a_notify" => Kinds { sends: Sends::News, ..Kinds::NONE },
        "reads" => return Subject::Kind(Kind::Reads),
        "writes" => return Subject::Kind(Kind::Writes),
        "runs" => return Subject::Kind(Kind::Runs),
        "sends" => return Subject::Kind(Kind::Sends),
        _ => Kinds::NONE,
    };
    Subject::Tool { name: name.to_owned(), kinds }
}
