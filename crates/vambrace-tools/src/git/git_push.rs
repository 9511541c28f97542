//! `git_push`: two calls. The first shows what would be pushed and returns a token; the second, with the token, pushes
//! exactly that commit after a person has said yes. There is no way to force.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, PushBranch, PushStage};
use vambrace_process::Finished;
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use super::report::{self, Pushed};
use super::{demand_whole, failure, git, next_step};
use crate::confirmation::LIFE;
use crate::{About, CallContext, Hands, Hints, Tool};

pub(crate) struct GitPushTool;

const NAME: &str = "git_push";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitPushArgs {
    /// Name of a configured remote, such as origin.
    remote: String,
    /// Name of the local branch; it is pushed to the branch of the same name.
    branch: String,
    /// The token that the call without it returned. Without a token nothing is pushed.
    confirm: Option<String>,
}

/// What `confirm` holds: the commit that was shown, and the keyed hash that binds it to the call.
struct Token<'t> {
    commit: &'t str,
    keyed: &'t str,
}

impl<'t> Token<'t> {
    fn parse(text: &'t str) -> Result<Token<'t>, ToolError> {
        let parts = text.split_once(':').filter(|(commit, _)| is_commit(commit));
        let (commit, keyed) = parts.ok_or_else(|| {
            ToolError::new(ErrorCode::ConfirmationInvalid, "The confirmation token is not one of ours.")
                .suggestion("Call again without `confirm` to see what would be pushed and to get a token.")
        })?;
        Ok(Token { commit, keyed })
    }
}

/// A full name of SHA-1 or SHA-256: what is written here becomes a word of git's.
fn is_commit(text: &str) -> bool {
    [40, 64].contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// `file` is not among them: pushing to a folder runs that folder's hooks. THREAT: P07.
const REACHABLE: &[&str] = &[
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "protocol.ssh.allow=always",
    "http.followRedirects=false",
    "core.sshCommand=ssh -F none -oBatchMode=yes -oProxyCommand=none -oPermitLocalCommand=no",
];

fn push(args: &GitPushArgs, dry_run: bool, source: &str) -> Vec<String> {
    let target = format!("{source}:refs/heads/{}", args.branch);
    let settings = REACHABLE.iter().flat_map(|setting| ["-c", setting]);
    let rehearsal = if dry_run { &["--dry-run"][..] } else { &[] };
    let words =
        ["push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--no-force-with-lease"];
    let further = ["--no-recurse-submodules", "--receive-pack=git-receive-pack", "--", &args.remote, &target];
    git(settings.chain(words).chain(rehearsal.iter().copied()).chain(further))
}

impl Tool for GitPushTool {
    type Args = GitPushArgs;
    type Action = PushBranch;

    fn about(&self) -> About {
        About::of(
            NAME,
            "Push a branch",
            "Pushes a branch to the branch of the same name, in two calls: the first shows what would be \
                      pushed and returns a token, the second repeats it with confirm set to the token and needs a \
                      person's approval. Never forces.",
            Hints { read_only: false, destructive: true, idempotent: true, open_world: true },
        )
    }

    fn plan(&self, args: GitPushArgs, context: &CallContext<'_>) -> Result<PushBranch, ToolError> {
        let (stage, steps) = match args.confirm.as_deref() {
            None => {
                let source = format!("refs/heads/{}", args.branch);
                let commit = git(["rev-parse", "--verify", &format!("{source}^{{commit}}")]);
                (PushStage::Rehearsal, vec![commit, push(&args, true, &source)])
            }
            Some(token) => {
                let token = Token::parse(token)?;
                let stage =
                    PushStage::Confirmed { commit: token.commit.to_owned(), token: token.keyed.to_owned() };
                (stage, vec![push(&args, false, token.commit)])
            }
        };
        let GitPushArgs { remote, branch, .. } = args;
        let (folder, time) = (context.service()?, context.toolbox.time_most);
        Ok(PushBranch { remote, branch, stage, steps, folder, time })
    }

    async fn run(&self, permit: Permit<PushBranch>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let PushBranch { remote, branch, stage, .. } = permit.action().clone();
        let caller = hands.caller().id.as_str();
        match stage {
            PushStage::Rehearsal => {
                let finished = hands.run(permit, None).await?;
                let (commit, lines) = rehearsed(&finished)?;
                let parts = [NAME, caller, &remote, &branch, &commit];
                let token = format!("{commit}:{}", hands.confirmations().issue(&parts));
                Ok(RawOutput::new(Tree::map([
                    ("pushed", Tree::Bool(false)),
                    ("would", shown(lines)),
                    ("commit", Tree::Text(commit)),
                    ("confirm", Tree::Text(token)),
                    ("expires_in", Tree::bytes(LIFE.as_secs())),
                ])))
            }
            PushStage::Confirmed { commit, token } => {
                let parts = [NAME, caller, &remote, &branch, &commit];
                hands.confirmations().check(&token, &parts)?;
                let finished = hands.run(permit, None).await?;
                let lines = accepted(&finished, &String::from_utf8_lossy(&finished.stdout))?;
                Ok(RawOutput::new(Tree::map([
                    ("pushed", Tree::Bool(true)),
                    ("refs", shown(lines)),
                    ("commit", Tree::Text(commit)),
                ])))
            }
        }
    }
}

fn rehearsed(finished: &Finished) -> Result<(String, Vec<Pushed>), ToolError> {
    demand_whole(finished)?;
    let output = String::from_utf8_lossy(&finished.stdout).into_owned();
    let (commit, rest) = output.split_once('\n').unwrap_or((&output, ""));
    if !is_commit(commit) {
        return Err(failure(finished));
    }
    Ok((commit.to_owned(), accepted(finished, rest)?))
}

/// What the remote said to each branch; one refusal is a failure of the whole, with its reason.
fn accepted(finished: &Finished, output: &str) -> Result<Vec<Pushed>, ToolError> {
    demand_whole(finished)?;
    let lines = report::pushed(output);
    if let Some(refused) = lines.iter().find(|line| line.what == "rejected") {
        let message = format!("The remote refuses `{}`: `{}`.", refused.to, refused.summary);
        return Err(ToolError::new(ErrorCode::CommandFailed, message).suggestion(next_step(&refused.summary)));
    }
    if finished.exit.code() == 0 && !lines.is_empty() { Ok(lines) } else { Err(failure(finished)) }
}

fn shown(lines: Vec<Pushed>) -> Tree {
    let lines = lines.into_iter().map(|line| {
        Tree::map([
            ("what", Tree::text(line.what)),
            ("from", Tree::Text(line.from)),
            ("to", Tree::Text(line.to)),
            ("summary", Tree::Text(line.summary)),
        ])
    });
    Tree::List(lines.collect())
}

#[cfg(test)]
mod tests {
    use vambrace_redact::{Redactor, RedactorSettings};

    use super::*;
    use crate::git::ended;

    /// A token that the redactor took for a secret could never come back.
    #[test]
    fn a_token_survives_redaction() {
        let commit: String = (0..40).map(|n| char::from_digit((n * 7 + n / 5) % 16, 16).unwrap()).collect();
        let keyed: String = (0..64).map(|n| char::from_digit((n * 11 + n / 3) % 16, 16).unwrap()).collect();
        let token = format!("{commit}:6a0b1c2d.{keyed}");
        let redactor = Redactor::new(RedactorSettings::default()).unwrap();
        assert_eq!(redactor.text(&token).value.as_str(), token);
        let tree = redactor.plain_tree(Tree::map([("confirm", Tree::text(&token))])).value;
        assert!(format!("{tree:?}").contains(&token), "{tree:?}");
    }

    #[track_caller]
    fn check(token: &str, ours: bool) {
        assert_eq!(Token::parse(token).is_ok(), ours, "{token}");
    }

    #[test]
    fn a_token_begins_with_a_whole_commit() {
        check(&format!("{}:5f.aa", "a1".repeat(20)), true);
        check(&format!("{}:5f.aa", "a1".repeat(32)), true);
        check(&"a1".repeat(20), false);
        check("--force:x", false);
        check(&format!("+{}:x", "a".repeat(39)), false);
        check("HEAD:x", false);
        check("", false);
    }

    fn arguments() -> GitPushArgs {
        GitPushArgs { remote: "origin".to_owned(), branch: "feat/x".to_owned(), confirm: None }
    }

    #[test]
    fn a_rehearsal_pushes_nothing_and_nothing_is_forced() {
        for dry_run in [true, false] {
            let words = push(&arguments(), dry_run, "abc");
            assert_eq!(words.iter().any(|word| word == "--dry-run"), dry_run);
            assert!(
                !words
                    .iter()
                    .any(|word| word.starts_with('+') || word == "-f" || word.starts_with("--force"))
            );
            assert_eq!(words.last().unwrap(), "abc:refs/heads/feat/x");
        }
    }

    #[test]
    fn a_refusal_of_the_remote_is_told() {
        let commit = "a".repeat(40);
        let line = |flag: &str, summary: &str| format!("{commit}\nTo h\n{flag}\ta:b\t{summary}\nDone\n");
        let ok = rehearsed(&ended(0, &line("*", "[new branch]"), "")).unwrap();
        assert_eq!((ok.0, ok.1.len()), (commit.clone(), 1));
        let refused = rehearsed(&ended(1, &line("!", "[rejected] (fetch first)"), "")).unwrap_err();
        assert!(refused.message.contains("fetch first"), "{}", refused.message);
        let unreachable = "fatal: unable to access 'http://h/': Could not resolve host: h\n";
        let away = rehearsed(&ended(128, &format!("{commit}\n"), unreachable)).unwrap_err();
        assert!(away.suggestion.contains("sandbox.net"), "{}", away.suggestion);
        assert!(rehearsed(&ended(128, "", "fatal: Needed a single revision\n")).is_err());
    }
}
