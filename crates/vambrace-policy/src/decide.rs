//! The entry: one question, one decision.

use vambrace_types::{Caller, ErrorCode, ScopedPath, ToolError, ToolName};

use crate::command::CommandPolicy;
use crate::url::{Grants, ProgramGrant, UrlPolicy};
use crate::{
    Access, Action, Capability, Denial, Effect, Epoch, GitRules, MemoryGrant, MemoryRefusal, Obligations,
    OnWrite, OperatorRule, PermissionList, Permit, Reason, RequestRules, Runs, Scope, Sighting, ToolMode,
    Verdict, Withheld, role_has,
};

#[derive(Debug, Clone)]
pub struct PolicySettings {
    pub scope: Scope,
    pub mode: ToolMode,
    pub rules: Vec<OperatorRule>,
    pub on_write: OnWrite,
    pub command: CommandPolicy,
    pub git: GitRules,
    pub url: UrlPolicy,
    pub requests: RequestRules,
    /// Hosts that programs may reach, through the proxy.
    pub grants: Vec<ProgramGrant>,
    /// Programs that declared command tools may start (specification 000); empty blocks all.
    pub allowed_commands: Vec<String>,
    /// Who may read and change memory.
    pub permissions: PermissionList,
}

/// What one action's own rules said beside "no".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judgement {
    pub rule: Option<String>,
    /// Paths that only judging brought to light, for the operator's rules. The scope has judged them already.
    pub touched: Vec<(ScopedPath, Access)>,
    pub question: Option<Question>,
}

impl Judgement {
    pub fn by(rule: &str) -> Judgement {
        Judgement { rule: Some(rule.to_owned()), touched: Vec::new(), question: None }
    }
}

/// What others found out about an action, for policy to weigh: rule names, never values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub known_secrets: Vec<String>,
    pub secret_patterns: Vec<String>,
    pub placeholder: bool,
    /// Known secrets in what would be sent away.
    pub sent_secrets: Vec<String>,
    /// Everything that the scan of a text to be written found, and where.
    pub sightings: Vec<Sighting>,
}

/// Whether a person has stopped this caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Free,
    Suspended { since: String },
}

#[derive(Debug)]
pub enum Decision<A: Action> {
    Allow(Permit<A>),
    Ask(Pending<A>),
    Deny(Denial),
}

/// An action that waits for a person's word.
#[derive(Debug)]
pub struct Pending<A: Action> {
    question: Question,
    answerer: Answerer,
    permit: Permit<A>,
}

/// Whose yes is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answerer {
    /// The user of the MCP client that calls, where the operator lets dialogs count.
    ClientsUser,
    /// Somebody beside the client: it changes the machine, leaves it, or lets a secret through.
    Operator,
}

impl Answerer {
    fn of(capability: Capability) -> Answerer {
        match capability {
            Capability::ManageSystem | Capability::PushGit => Answerer::Operator,
            Capability::ReadFiles
            | Capability::WriteFiles
            | Capability::ReadOutput
            | Capability::ReadPosture
            | Capability::ReadGit
            | Capability::CommitGit
            | Capability::RunPrograms
            | Capability::RunTests
            | Capability::InstallDependencies
            | Capability::FetchWeb
            | Capability::SendNotifications
            | Capability::ReadKnowledge
            | Capability::ReadMemory
            | Capability::WriteMemory
            | Capability::UseDeclaredTools => Answerer::ClientsUser,
        }
    }
}

impl<A: Action> Pending<A> {
    pub fn question(&self) -> &Question {
        &self.question
    }

    pub fn action(&self) -> &A {
        self.permit.action()
    }

    pub fn answerer(&self) -> Answerer {
        self.answerer
    }

    pub fn into_question(self) -> Question {
        self.question
    }

    /// INVARIANT: called by the walk alone, with a person's yes in hand; `cargo xtask tidy` looks.
    pub fn approve(self) -> Permit<A> {
        self.permit
    }
}

/// A decision that only a person can make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub rule: String,
    pub what: String,
}

impl Question {
    /// For when nobody can be asked.
    pub fn to_tool_error(&self) -> ToolError {
        ToolError::new(
            ErrorCode::ApprovalRequired,
            format!("A person has to approve this call: {}", self.what),
        )
        .suggestion("Tell the person you work for what you want to do and why; do not try another way round.")
        .rule(self.rule.clone())
    }
}

#[derive(Debug)]
pub struct Policy {
    settings: PolicySettings,
    epoch: Epoch,
}

impl Policy {
    /// Called by `vambrace-config` and tests alone; `cargo xtask tidy` looks.
    pub fn new(settings: PolicySettings, epoch: Epoch) -> Policy {
        Policy { settings, epoch }
    }

    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub fn scope(&self) -> &Scope {
        &self.settings.scope
    }

    /// What a cage may show and let be changed. A program reads what it likes of what it sees, so what any rule refuses or
    /// asks about is kept from all of them.
    pub fn scope_of_programs(&self) -> Scope {
        self.settings.scope.narrowed_by(&self.settings.rules)
    }

    pub fn command(&self) -> &CommandPolicy {
        &self.settings.command
    }

    pub fn url(&self) -> &UrlPolicy {
        &self.settings.url
    }

    /// The hosts that the programs of a permitted job may reach: what the operator lists for them, and what a person named
    /// for this one run. A permit of another policy is granted nothing.
    pub fn grants<A: Runs>(&self, permit: &Permit<A>) -> Grants {
        if permit.epoch() != self.epoch {
            return Grants::mint(Vec::new(), self.epoch);
        }
        let job = permit.action().job();
        let cut_off = self.settings.rules.iter().any(OperatorRule::cuts_off_programs);
        let listed = self.settings.grants.iter().filter(|grant| !cut_off && grant.is_for(job.programs()));
        let entries = listed.map(|grant| grant.entry.clone()).chain(job.hosts.iter().cloned());
        Grants::mint(entries.collect(), self.epoch)
    }

    /// For the attacks on the proxy, which need one that leads nowhere.
    pub fn grants_nobody(&self) -> Grants {
        Grants::nobody(self.epoch)
    }

    pub fn on_write(&self) -> OnWrite {
        self.settings.on_write
    }

    /// What a caller is told about an action that was let pass.
    pub fn warnings(&self, facts: &Facts) -> Vec<String> {
        self.settings.on_write.warnings(facts)
    }

    /// Before anything else: a caller that a person has stopped gets no further, whatever it asks.
    pub fn admit(&self, standing: &Standing) -> Result<(), Denial> {
        match standing {
            Standing::Free => Ok(()),
            Standing::Suspended { since } => {
                Err(Denial::new(Reason::Suspended { since: since.clone() }, "defence"))
            }
        }
    }

    /// Stage 4, before arguments are looked at; also what `tools/list` shows.
    pub fn authorize(&self, caller: &Caller, capability: Capability) -> Result<(), Denial> {
        let task = caller.task.as_ref();
        let roles = [Some(caller.role), task.and_then(|task| task.role)];
        if let Some(role) = roles.into_iter().flatten().find(|role| !role_has(*role, capability)) {
            // Specification 001 has words of its own for a role that only reads.
            if let Some(Err(refusal)) = self.permission(caller, capability) {
                return Err(refusal.into());
            }
            let reason = Reason::RoleLacks { role, capability };
            return Err(Denial::new(reason, format!("rbac.{}", role.as_str())));
        }
        let effect = capability.effect();
        let mode =
            task.and_then(|task| task.mode).map_or(self.settings.mode, |mode| self.settings.mode.and(mode));
        if !mode.includes(effect) {
            let needed = match effect {
                Effect::Read => "read",
                Effect::Write => "write",
                Effect::Command => "command",
            };
            let reason = Reason::ModeLacks { mode: mode.describe(), needed };
            return Err(Denial::new(reason, "tool_mode"));
        }
        match self.permission(caller, capability) {
            Some(Err(refusal)) => Err(refusal.into()),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// What the lists of specification 001 say; nothing about what is not memory.
    pub fn permission(
        &self,
        caller: &Caller,
        capability: Capability,
    ) -> Option<Result<MemoryGrant, MemoryRefusal>> {
        self.settings.permissions.ruling(caller, capability)
    }

    /// Who may read and change memory.
    pub fn permissions(&self) -> &PermissionList {
        &self.settings.permissions
    }

    /// Stage 6. Collects every rule's word and takes the strictest, so the order of rules cannot matter.
    pub fn decide<A: Action>(
        &self,
        caller: &Caller,
        standing: &Standing,
        tool: &ToolName,
        action: A,
        facts: &Facts,
    ) -> Decision<A> {
        if let Err(denial) = self.admit(standing) {
            return Decision::Deny(denial);
        }
        if let Err(denial) = self.authorize(caller, A::CAPABILITY) {
            return Decision::Deny(denial);
        }
        let mut rule = "rbac";
        for (path, access) in action.targets() {
            match self.settings.scope.judge(path, access) {
                Ok(allowed_by) => rule = allowed_by,
                Err(denial) => return Decision::Deny(denial),
            }
        }
        let judgement = match action.judge(&self.settings, caller) {
            Ok(judgement) => judgement,
            Err(denial) => return Decision::Deny(denial),
        };
        let rule = judgement.rule.clone().unwrap_or_else(|| rule.to_owned());
        let own = judgement.question.clone().map_or(Weight::Allow, Weight::Ask);
        let found = self.weigh_facts(facts);
        // Whichever rule's question is put in the end: a yes to it lets the secret through as well.
        let answerer =
            if let Weight::Ask(_) = found { Answerer::Operator } else { Answerer::of(A::CAPABILITY) };
        let weight = own.max(found).max(self.weigh_rules(tool, &action, &judgement));
        let permit = |action: A| {
            let obligations = Obligations::of(caller.role, A::CAPABILITY);
            let targets = touched(&action, &judgement);
            let rules = self.settings.rules.iter();
            let withheld = rules.filter_map(|rule| rule.withholds(tool, A::KINDS, &targets)).collect();
            Permit::mint(action, self.epoch, rule, obligations, Withheld(withheld))
        };
        match weight {
            Weight::Deny(denial) => Decision::Deny(denial),
            Weight::Ask(question) => Decision::Ask(Pending { question, answerer, permit: permit(action) }),
            Weight::Allow => Decision::Allow(permit(action)),
        }
    }

    fn weigh_facts(&self, facts: &Facts) -> Weight {
        if facts.placeholder {
            return Weight::Deny(Denial::new(Reason::Placeholder, "redact.placeholder"));
        }
        // THREAT: P02, whatever may be written into files: what has left cannot be called back.
        if !facts.sent_secrets.is_empty() {
            let reason = Reason::SecretSent { names: facts.sent_secrets.clone() };
            return Weight::Deny(Denial::new(reason, "redact.sent"));
        }
        let weigh = |names: &[String], verdict: Verdict, rule: &str| match (names.is_empty(), verdict) {
            (true, _) | (false, Verdict::Allow) => Weight::Allow,
            (false, Verdict::Ask) => Weight::Ask(Question {
                rule: rule.to_owned(),
                what: format!("the text to be written looks like it holds a secret ({}).", names.join(", ")),
            }),
            (false, Verdict::Deny) => {
                Weight::Deny(Denial::new(Reason::KnownSecret { names: names.to_vec() }, rule.to_owned()))
            }
        };
        let known = weigh(&facts.known_secrets, self.settings.on_write.known, "redact.on_write:known");
        known.max(weigh(&facts.secret_patterns, self.settings.on_write.pattern, "redact.on_write:pattern"))
    }

    fn weigh_rules<A: Action>(&self, tool: &ToolName, action: &A, judgement: &Judgement) -> Weight {
        let targets = touched(action, judgement);
        let applying = self.settings.rules.iter().filter(|rule| rule.applies(tool, A::KINDS, &targets));
        applying.fold(Weight::Allow, |strictest, rule| {
            strictest.max(match rule.verdict_on(A::KINDS) {
                Verdict::Allow => Weight::Allow,
                Verdict::Ask => Weight::Ask(Question {
                    rule: format!("rules ({})", rule.set_at()),
                    what: if rule.reason().is_empty() {
                        "a rule of the operator asks for it.".to_owned()
                    } else {
                        rule.reason().to_owned()
                    },
                }),
                Verdict::Deny => {
                    let reason = Reason::OperatorRule {
                        reason: rule.reason().to_owned(),
                        only_asks: rule.verdict() == Verdict::Ask,
                    };
                    Weight::Deny(Denial::new(reason, format!("rules ({})", rule.set_at())))
                }
            })
        })
    }
}

/// What the call names itself, and what judging it brought to light.
fn touched<'a, A: Action>(action: &'a A, judgement: &'a Judgement) -> Vec<&'a ScopedPath> {
    let named = action.targets().into_iter().map(|(path, _)| path);
    named.chain(judgement.touched.iter().map(|(path, _)| path)).collect()
}

/// One rule's word, ordered by strictness alone.
enum Weight {
    Allow,
    Ask(Question),
    Deny(Denial),
}

impl Weight {
    fn max(self, other: Weight) -> Weight {
        match (&self, &other) {
            (Weight::Deny(_), _) => self,
            (_, Weight::Deny(_)) => other,
            (Weight::Ask(_), _) => self,
            (_, Weight::Ask(_)) => other,
            (Weight::Allow, Weight::Allow) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_beyond_the_workspace_is_for_operators_to_answer() {
        let grave = Capability::ALL.into_iter().filter(|one| Answerer::of(*one) == Answerer::Operator);
        assert_eq!(grave.collect::<Vec<_>>(), [Capability::PushGit, Capability::ManageSystem]);
    }
}
